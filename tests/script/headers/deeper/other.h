/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Included by the header in the folder above, which it includes in turn. */
#include "../mine.h"

struct other {
	short s;
	char name[3];
};
