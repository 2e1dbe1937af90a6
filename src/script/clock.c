// SPDX-License-Identifier: GPL-2.0-or-later
/* Points in time, as strftime(3) shows them, with %f for microseconds. */
#include "script/show.h"

#include <time.h>

enum { TIME_TEXT = 1024 };

/* The format with %f replaced; %% is stepped over. */
static void replace_micros(struct buf *to, const char *format, unsigned int micros)
{
	for (const char *p = format; *p; p++) {
		if (p[0] != '%' || !p[1]) {
			buf_putc(to, *p);
			continue;
		}
		if (p[1] == 'f')
			buf_u64_pad(to, micros, 6, '0');
		else
			buf_put(to, p, 2);
		p++;
	}
}

void show_time(struct buf *to, const char *format, int64_t wall_ns, bool micros)
{
	int64_t rest = wall_ns % 1000000000, seconds = wall_ns / 1000000000;
	struct buf with;
	struct tm tm;
	time_t t;
	size_t n;

	if (rest < 0) {
		rest += 1000000000;
		seconds--;
	}
	t = (time_t)seconds;
	if (!*format || !localtime_r(&t, &tm))
		return;
	buf_init(&with, TIME_TEXT);
	if (micros && strstr(format, "%f")) {
		replace_micros(&with, format, (unsigned int)(rest / 1000));
		format = buf_str(&with);
	}
	if (buf_room(to, TIME_TEXT)) {
		n = strftime(to->data + to->len, TIME_TEXT, format, &tm);
		if (n)
			to->len += n;
		else
			buf_puts(to, "(?)");
	}
	buf_free(&with);
}
