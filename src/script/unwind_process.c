// SPDX-License-Identifier: GPL-2.0-or-later
/* What processes have mapped, for programs that cannot ask the kernel, or do not know a file. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/vec.h"
#include "script/unwind_parts.h"

#define MAPS_LIMIT (64u << 20)
#define MAX_PAGES  4096	       /* of one mapping that are put in advance */
#define PATIENCE   200000000ll /* ns after which a process is worth another look */
#define FEW	   1024	       /* processes remembered */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct mapping {
	uint64_t start, end, offset;
	const char *path;
};

/* "7f0000000000-7f0000001000 r-xp 00001000 08:01 1234   /usr/lib/libc.so.6": code of a file. */
static bool read_line(char *line, struct mapping *m)
{
	char mode[8];
	int used = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %n", &m->start, &m->end,
		   mode, &m->offset, &used) < 4 ||
	    !used || mode[2] != 'x' || line[used] != '/' || m->end <= m->start)
		return false;
	m->path = line + used;
	return true;
}

struct visit {
	struct unwinder *u;
	pid_t pid;
	const struct unwind_note *note; /* of one address, or NULL */
	uint64_t space;
	bool found;
};

/* What is mapped can be opened even when its name means something else here, or is gone. */
static bool open_mapped(const struct visit *v, const struct mapping *m,
			const struct unwind_file_key *key, struct unwind_file *file)
{
	char path[128];

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)v->pid,
		 m->start, m->end);
	return unwind_file(v->u, path, key, file) || unwind_file(v->u, m->path, key, file);
}

static void put_pages(const struct visit *v, const struct mapping *m,
		      const struct unwind_file *file)
{
	const struct unwind_page page = {file->first, file->nr,
					 m->start - m->offset + (uint64_t)file->bias, now_ns()};
	struct unwind_page_key key = {v->space, m->start >> UNWIND_PAGE_BITS};
	const uint64_t last = (m->end - 1) >> UNWIND_PAGE_BITS;

	for (unsigned int i = 0; key.page <= last && i < MAX_PAGES; i++, key.page++)
		unwind_page(v->u, &key, &page);
}

static void see_mapping(struct visit *v, const struct mapping *m)
{
	struct unwind_file file;

	if (v->note) {
		if (v->note->addr < m->start || v->note->addr >= m->end)
			return;
		v->found = true;
		open_mapped(v, m, &v->note->file, &file);
	} else if (open_mapped(v, m, NULL, &file)) {
		put_pages(v, m, &file);
	}
}

static void see_process(struct visit *v)
{
	struct buf text;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)v->pid);
	buf_init(&text, MAPS_LIMIT);
	if (!file_read(path, &text, NULL) && text.len) {
		char *line, *rest = text.data;

		while ((line = strsep(&rest, "\n")) && !v->found) {
			struct mapping m;

			if (read_line(line, &m))
				see_mapping(v, &m);
		}
	}
	buf_free(&text);
}

/* Where the stack of a process began: word 28 of its "stat", of which the second is a name. */
static bool start_stack(pid_t pid, uint64_t *addr)
{
	struct buf text;
	char path[64];
	const char *s;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	buf_init(&text, 65536);
	s = file_read(path, &text, NULL) || !text.len ? NULL : strrchr(text.data, ')');
	for (int i = 2; s && i < 28; i++) {
		s = strchr(s, ' ');
		s = s ? s + 1 : NULL;
	}
	*addr = s ? strtoull(s, NULL, 10) : 0;
	buf_free(&text);
	return *addr != 0;
}

/* Whether a process was looked at a moment ago. */
static bool is_recent(struct unwinder *u, pid_t pid)
{
	const uint64_t now = now_ns();
	struct known_process *p;

	vec_each (known, &u->processes)
		if (known->pid == pid) {
			const bool recent = now - known->ns < PATIENCE;

			known->ns = recent ? known->ns : now;
			return recent;
		}
	if (u->processes.n >= FEW)
		u->processes.n = 0;
	p = vec_push(&u->processes);
	if (p)
		*p = (struct known_process){pid, now};
	return false;
}

void unwind_process(struct unwinder *u, pid_t pid)
{
	struct visit v = {.u = u, .pid = pid};
	uint64_t stack;

	if (is_recent(u, pid) || !start_stack(pid, &stack))
		return;
	v.space = unwind_space((uint32_t)pid, stack);
	see_process(&v);
}

void unwind_note(struct unwinder *u, const void *note, size_t len)
{
	struct unwind_note n;
	struct visit v = {.u = u, .note = &n};

	if (len < sizeof(n))
		return;
	memcpy(&n, note, sizeof(n));
	v.pid = (pid_t)n.pid;
	if (!n.file.inode) {
		unwind_process(u, v.pid);
		return;
	}
	see_process(&v);
	/* The process is gone: the next one that has it mapped will say so. */
	if (!v.found)
		unwind_forget(u, &n.file);
}
