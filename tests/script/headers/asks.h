/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Knows what was defined before it was included. */
#ifdef SPUR_BEFORE
#define SPUR_ASKED (SPUR_BEFORE + 1)
#else
#define SPUR_ASKED 0
#endif
#ifdef SPUR_AFTER
#error "this is defined too early"
#endif
struct spur_asks {
	char text[SPUR_ASKED];
};
