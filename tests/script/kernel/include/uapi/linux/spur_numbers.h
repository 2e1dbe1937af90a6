/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What of it programs may know. */
#ifndef UAPI_SPUR_NUMBERS_H
#define UAPI_SPUR_NUMBERS_H

#define SPUR_OTHER 0x20u

#endif
