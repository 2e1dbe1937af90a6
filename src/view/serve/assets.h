/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files of web/, as tools/embed-files puts them into the program. */
#ifndef VIEW_SERVE_ASSETS_H
#define VIEW_SERVE_ASSETS_H

#include <stddef.h>

struct asset {
	const char *name;
	const unsigned char *data;
	size_t size;
};

/* Up to one without a name. */
extern const struct asset assets[];

#endif
