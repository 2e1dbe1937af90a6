/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is wrong with a filter, in libtraceevent's words. */
#ifndef UNIT_FILTER_WORDS_H
#define UNIT_FILTER_WORDS_H

#include "base/array.h"
#include "event/filter.h"

static inline const char *filter_reason_text(enum filter_reason reason)
{
	static const char *const texts[] = {
		[FILTER_FINE] = "",
		[FILTER_NO_MEMORY] = "failed to allocate memory",
		[FILTER_BAD_EVENT_NAME] = "invalid event name",
		[FILTER_NO_EVENT] = "no event found",
		[FILTER_NO_NAME] = "no filter found",
		[FILTER_SYNTAX] = "syntax error",
		[FILTER_BAD_RIGHT] = "illegal rvalue",
		[FILTER_BAD_LEFT] = "illegal lvalue for string comparison",
		[FILTER_BAD_REGEX] = "regex did not compute",
		[FILTER_BAD_TEXT_COMPARE] = "illegal comparison for string",
		[FILTER_BAD_NUMBER_COMPARE] = "illegal comparison for integer",
		[FILTER_BAD_TOKEN] = "illegal token",
		[FILTER_BAD_PAREN] = "open parenthesis cannot come here",
		[FILTER_UNBALANCED] = "unbalanced number of parenthesis",
		[FILTER_UNKNOWN_TOKEN] = "unknown token",
	};

	return (size_t)reason < ARRAY_SIZE(texts) ? texts[reason] : "";
}

#endif
