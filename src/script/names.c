// SPDX-License-Identifier: GPL-2.0-or-later
/* Names for numbers: errors, signals, system calls, users, and what memory was asked for. */
#include "script/show.h"

#include <stdlib.h>
#include <sys/utsname.h>

#include "base/file.h"
#include "base/map.h"
#include "event/pretty_tables.h"

void show_errno(struct buf *to, int64_t code)
{
	char room[128];
	const char *text;

	/* The number of a result is negative, that of errno is not; both mean the same. */
	if (code < 0 && code > -4096)
		code = -code;
	if (code < INT32_MIN || code > INT32_MAX) {
		buf_printf(to, "Unknown error %lld", (long long)code);
		return;
	}
	text = strerror_r((int)code, room, sizeof(room));
	buf_puts(to, text);
}

void show_signal(struct buf *to, int64_t number)
{
	buf_puts(to, number >= 0 && number <= 64 ? strsignal((int)number) : "N/A");
}

void show_syscall(struct buf *to, int64_t number)
{
	struct utsname u;
	struct arch_walk w = {0};

	w.arch = uname(&u) ? NULL : pretty_arch_find(u.machine);
	while (number >= 0 && w.arch && pretty_arch_next_call(&w)) {
		if (w.nr == (uint64_t)number) {
			buf_put(to, w.name, w.len);
			return;
		}
	}
	buf_printf(to, "unknown syscall: %lld", (long long)number);
}

/* ---- users ------------------------------------------------------------------------------ */

enum { PASSWD_LIMIT = 4 << 20 };

/* /etc/passwd once, its lines cut at their colons, by number. */
struct users {
	struct buf text;
	struct map by_uid;
};

/* "name:password:number:…" */
static void add_user(struct users *u, char *line)
{
	char *colon = strchr(line, ':'), *number = colon ? strchr(colon + 1, ':') : NULL, *end;
	unsigned long uid;

	if (!number)
		return;
	*colon = '\0';
	uid = strtoul(number + 1, &end, 10);
	if (end == number + 1 || *end != ':' || uid > UINT32_MAX || map_get(&u->by_uid, uid))
		return;
	map_set(&u->by_uid, uid, line);
}

static struct users *users_read(void)
{
	struct users *u = calloc(1, sizeof(*u));
	char *line, *next;

	if (!u)
		return NULL;
	buf_init(&u->text, PASSWD_LIMIT);
	if (file_read("/etc/passwd", &u->text, NULL))
		buf_reset(&u->text);
	buf_str(&u->text);
	for (line = u->text.data; *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		else
			next = line + strlen(line);
		add_user(u, line);
	}
	return u;
}

const char *users_name(struct users **u, uint32_t uid)
{
	const char *name;

	if (!*u)
		*u = users_read();
	name = *u ? map_get(&(*u)->by_uid, uid) : NULL;
	return name ? name : "";
}

void users_free(struct users *u)
{
	if (!u)
		return;
	map_free(&u->by_uid);
	buf_free(&u->text);
	free(u);
}
