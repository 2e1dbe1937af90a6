/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All formats; one that is added here is added to the table in formats.c, too. */
#ifndef EXPORT_FORMATS_H
#define EXPORT_FORMATS_H

#include "export/export.h"

extern const struct export_format export_json, export_csv;

#endif
