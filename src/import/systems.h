/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef IMPORT_SYSTEMS_H
#define IMPORT_SYSTEMS_H

#include <stddef.h>

/* The system that an event of this name belongs to; "text" when nothing is known about it. */
const char *import_system(const char *name, size_t len);

#endif
