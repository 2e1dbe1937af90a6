/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Amounts for people: each writes to the memory it is given and returns that. */
#ifndef CLI_AMOUNT_H
#define CLI_AMOUNT_H

#include <stddef.h>
#include <stdint.h>

const char *amount_bytes(char *text, size_t cap, uint64_t bytes); /* "12.3 MB" */
const char *amount_time(char *text, size_t cap, uint64_t ns);	  /* "1.500 s" */
const char *amount_count(char *text, size_t cap, double count);	  /* "12.3 k" */

#endif
