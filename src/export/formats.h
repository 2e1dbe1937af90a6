/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All formats; one that is added here is added to the table in formats.c, too. */
#ifndef EXPORT_FORMATS_H
#define EXPORT_FORMATS_H

#include "export/export.h"

extern const struct export_format export_json, export_csv;
extern const struct export_format export_ctf;
extern const struct export_format export_folded, export_speedscope, export_pprof;
extern const struct export_format export_dot, export_callgrind, export_sqlite;
extern const struct export_format export_perfetto, export_chrome;
extern const struct export_format export_parquet;
extern const struct export_format export_clickhouse;

#endif
