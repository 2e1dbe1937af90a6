// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads from /proc what processes have mapped where, before they are gone. */
#include "record/maps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/vec.h"

#define LINE_CAP  8192
#define LIST_SIZE (4u << 20)

/* The program that a process runs; its name when that cannot be seen. */
static void program_of(pid_t pid, char *path, size_t cap)
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	n = readlink(link, path, cap - 1);
	path[n > 0 ? n : 0] = '\0';
	if (n <= 0)
		snprintf(path, cap, "[%d]", (int)pid);
}

/* Adds a line for every mapped file, as long as there is room; how many there are. */
static unsigned int add_lines(FILE *maps, struct buf *to)
{
	unsigned int n = 0;
	char *line = NULL;
	size_t cap = 0;

	while (getline(&line, &cap, maps) > 0) {
		unsigned long long start, end;
		int path = 0;

		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%llx-%llx %*s %*s %*s %*s %n", &start, &end, &path) < 2 ||
		    !path || !line[path])
			continue;
		buf_printf(to, "%llx %llx %s\n", start, end, line + path);
		if (buf_full(to))
			break;
		n++;
	}
	free(line);
	return n;
}

void maps_take(struct maps *m, pid_t pid)
{
	char name[LINE_CAP], file[64];
	struct maps_process *p = NULL;
	struct buf lines;
	unsigned int n;
	FILE *maps;

	snprintf(file, sizeof(file), "/proc/%d/maps", (int)pid);
	maps = fopen(file, "re");
	if (!maps)
		return;
	buf_init(&lines, LIST_SIZE);
	n = add_lines(maps, &lines);
	fclose(maps);
	program_of(pid, name, sizeof(name));
	vec_each (old, m)
		if (old->pid == pid)
			p = old;
	if (n && !p)
		p = vec_push(m);
	/* A process that is just ending has nothing mapped any more. */
	if (n && p) {
		free(p->text);
		p->pid = pid;
		p->text = NULL;
		if (asprintf(&p->text, "%x %x %s\n%s", (unsigned int)pid, n, name,
			     buf_str(&lines)) < 0)
			p->text = NULL;
	}
	buf_free(&lines);
}

void maps_put(const struct maps *m, struct buf *to)
{
	vec_each (p, m)
		if (p->text)
			buf_puts(to, p->text);
}

void maps_free(struct maps *m)
{
	vec_each (p, m)
		free(p->text);
	vec_free(m);
}
