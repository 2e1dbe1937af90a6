/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Included where no condition holds. */
#define SPUR_FAR 1
