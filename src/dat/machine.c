// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading a tracing directory: formats of all events, and what else describes a machine. */
#include "dat/machine.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/vec.h"
#include "dat/dat.h"
#include "dat/load.h"

#define ARENA_LIMIT  ((size_t)768 << 20)
#define FILE_LIMIT   ((size_t)256 << 20)
#define FORMAT_LIMIT ((size_t)1 << 20)
#define PATH_CAP     4096
#define USUAL_PAGE   4096
#define MAX_OPTIONS  3

static int no_memory(struct spur_error *err)
{
	return error_set(err, -ENOMEM, "out of memory for what describes a machine");
}

/* ---- files ----------------------------------------------------------------------------- */

static int read_path(struct dat_machine *m, const char *path, size_t limit, struct dat_span *to,
		     struct spur_error *err)
{
	struct buf b;
	int rc;

	buf_init(&b, limit);
	rc = file_read(path, &b, err);
	if (rc == 0) {
		to->data = arena_strndup(&m->arena, b.data, b.len);
		to->size = b.len;
		if (!to->data)
			rc = no_memory(err);
	}
	buf_free(&b);
	return rc;
}

static bool join(char *path, size_t cap, const char *dir, const char *file)
{
	return snprintf(path, cap, "%s/%s", dir, file) < (int)cap;
}

/* A file a directory need not have, a copy of one least of all: empty then. */
static void read_if_there(struct dat_machine *m, const char *dir, const char *file,
			  struct dat_span *to)
{
	char path[PATH_CAP];

	*to = (struct dat_span){"", 0};
	if (!join(path, sizeof(path), dir, file) || read_path(m, path, FILE_LIMIT, to, NULL) < 0)
		*to = (struct dat_span){"", 0};
}

/* One without which nothing can be read. */
static int read_needed(struct dat_machine *m, const char *dir, const char *file,
		       struct dat_span *to, struct spur_error *err)
{
	char path[PATH_CAP];

	if (!join(path, sizeof(path), dir, file))
		return error_sys(err, -ENAMETOOLONG, "%s", dir);
	return read_path(m, path, FILE_LIMIT, to, err);
}

/* ---- formats --------------------------------------------------------------------------- */

struct formats {
	struct dat_span *at;
	size_t n, cap;
};

static int not_dot(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

/* The formats of the events in a system's directory, sorted by name. */
static int read_system(struct dat_machine *m, const char *dir, struct formats *f,
		       struct spur_error *err)
{
	struct dirent **list;
	int n = scandir(dir, &list, not_dot, alphasort), rc = 0;

	if (n < 0)
		return error_sys(err, -errno, "%s", dir);
	for (int i = 0; i < n; i++) {
		char path[PATH_CAP];
		struct dat_span text, *slot;

		/* Directories have files beside the events' folders. */
		if (rc == 0 &&
		    snprintf(path, sizeof(path), "%s/%s/format", dir, list[i]->d_name) <
			    (int)sizeof(path) &&
		    access(path, F_OK) == 0) {
			rc = read_path(m, path, FORMAT_LIMIT, &text, err);
			slot = rc == 0 ? vec_push(f) : NULL;
			if (slot)
				*slot = text;
			else if (rc == 0)
				rc = no_memory(err);
		}
		free(list[i]);
	}
	free(list);
	return rc;
}

/* Moves what has been gathered into the arena. */
static const struct dat_span *keep(struct dat_machine *m, struct formats *f)
{
	struct dat_span *copy = arena_array(&m->arena, f->n + 1, sizeof(*copy));

	if (copy && f->n)
		memcpy(copy, f->at, f->n * sizeof(*copy));
	f->n = 0;
	return copy;
}

struct systems {
	struct dat_out_system *at;
	size_t n, cap;
};

static int add_system(struct dat_machine *m, const char *dir, const char *name, struct systems *s,
		      struct spur_error *err)
{
	struct formats f = {0};
	struct dat_out_system *slot;
	size_t n;
	int rc = read_system(m, dir, &f, err);

	n = f.n;
	if (rc == 0 && n && strcmp(name, "ftrace") == 0) {
		m->contents.ftrace = keep(m, &f);
		m->contents.nr_ftrace = n;
		rc = m->contents.ftrace ? 0 : no_memory(err);
	} else if (rc == 0 && n) {
		slot = vec_push(s);
		if (slot) {
			slot->name = arena_strdup(&m->arena, name);
			slot->formats = keep(m, &f);
			slot->nr = n;
		}
		rc = slot && slot->name && slot->formats ? 0 : no_memory(err);
	}
	vec_free(&f);
	return rc;
}

static int read_systems(struct dat_machine *m, const char *events, struct systems *s,
			struct spur_error *err)
{
	struct dirent **list;
	int n = scandir(events, &list, not_dot, alphasort), rc = 0;

	if (n < 0)
		return error_sys(err, -errno, "%s", events);
	for (int i = 0; i < n; i++) {
		char path[PATH_CAP];

		/* "enable", "header_page" and their like are files. */
		if (rc == 0 && join(path, sizeof(path), events, list[i]->d_name) &&
		    (list[i]->d_type == DT_DIR || list[i]->d_type == DT_UNKNOWN ||
		     list[i]->d_type == DT_LNK))
			rc = add_system(m, path, list[i]->d_name, s, err);
		free(list[i]);
	}
	free(list);
	return rc;
}

static int read_events(struct dat_machine *m, const char *tracing, struct spur_error *err)
{
	struct systems s = {0};
	char events[PATH_CAP];
	struct dat_out_system *list;
	int rc;

	if (!join(events, sizeof(events), tracing, "events"))
		return error_sys(err, -ENAMETOOLONG, "%s", tracing);
	rc = read_systems(m, events, &s, err);
	if (rc == 0 && !s.n && !m->contents.nr_ftrace)
		rc = error_set(err, -ENODEV, "%s has no formats of events", tracing);
	if (rc == 0) {
		list = arena_array(&m->arena, s.n + 1, sizeof(*list));
		if (list && s.n)
			memcpy(list, s.at, s.n * sizeof(*list));
		m->contents.systems = list;
		m->contents.nr_systems = s.n;
		rc = list ? 0 : no_memory(err);
	}
	vec_free(&s);
	return rc;
}

/* ---- the rest -------------------------------------------------------------------------- */

/* The largest CPU number of per_cpu + 1; 0 when the directory has none. */
static uint32_t count_cpus(const char *tracing)
{
	char path[PATH_CAP], rest;
	struct dirent **list;
	unsigned int cpu;
	uint32_t most = 0;
	int n;

	if (!join(path, sizeof(path), tracing, "per_cpu"))
		return 0;
	n = scandir(path, &list, not_dot, NULL);
	for (int i = 0; i < n; i++) {
		if (sscanf(list[i]->d_name, "cpu%u%c", &cpu, &rest) == 1 && cpu < DAT_MAX_CPUS &&
		    cpu >= most)
			most = cpu + 1;
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	return most;
}

/* The kernel tells how long its long is; what the program was built for may be another. */
static unsigned int long_size(const struct dat_contents *c)
{
	struct ring_layout l = ring_layout_default(c->big_endian, sizeof(long), USUAL_PAGE);

	ring_layout_parse(&l, c->header_page.data, c->header_page.size);
	return l.commit_size;
}

/* The size of sub-buffers: where the data of a page begin, and how many bytes of them there are. */
static uint32_t page_size(const struct dat_contents *c)
{
	const char *field = strstr(c->header_page.data, " data;");
	unsigned int offset, size;

	if (field && sscanf(field, " data; offset:%u; size:%u;", &offset, &size) == 2 &&
	    offset < RING_MIN_PAGE && size <= RING_MAX_PAGE && ring_page_size_ok(offset + size))
		return offset + size;
	return (uint32_t)sysconf(_SC_PAGESIZE);
}

/* The word in brackets of "[local] global counter"; "local" when there is none. */
static const char *clock_of(struct dat_machine *m, const struct dat_span *clocks)
{
	const char *open = memchr(clocks->data, '[', clocks->size);
	const char *close = open ? strchr(open, ']') : NULL;
	const char *word =
		close ? arena_strndup(&m->arena, open + 1, (size_t)(close - open - 1)) : NULL;

	return word ? word : "local";
}

static bool add_text(struct dat_machine *m, struct dat_out_option *list, unsigned int id,
		     const char *text)
{
	const char *copy = arena_strdup(&m->arena, text);

	if (copy)
		list[m->contents.nr_options++] =
			(struct dat_out_option){(uint16_t)id, {copy, strlen(copy) + 1}};
	return copy;
}

static bool add_options(struct dat_machine *m, const struct dat_span *clocks, bool copy)
{
	struct dat_out_option *list = arena_array(&m->arena, MAX_OPTIONS, sizeof(*list));
	struct utsname u;
	char text[sizeof(u) + 8];

	m->contents.options = list;
	if (!list || (clocks->size && !add_text(m, list, DAT_OPT_TRACECLOCK, clocks->data)) ||
	    !add_text(m, list, DAT_OPT_VERSION, "spur " SPUR_VERSION))
		return false;
	if (copy || uname(&u) != 0)
		return true;
	snprintf(text, sizeof(text), "%s %s %s %s", u.sysname, u.nodename, u.release, u.machine);
	return add_text(m, list, DAT_OPT_UNAME, text);
}

static bool describe(struct dat_machine *m, const char *tracing, bool copy)
{
	struct dat_out_buffer *top = arena_alloc(&m->arena, sizeof(*top));
	struct dat_span clocks;

	if (!top)
		return false;
	read_if_there(m, tracing, "trace_clock", &clocks);
	m->contents.nr_cpus = count_cpus(tracing);
	*top = (struct dat_out_buffer){
		.name = "", .clock = clock_of(m, &clocks), .page_size = page_size(&m->contents)};
	m->contents.buffers = top;
	m->contents.nr_buffers = 1;
	m->contents.page_size = top->page_size;
	return add_options(m, &clocks, copy);
}

int dat_machine_read(struct dat_machine *m, const char *tracing, const char *kallsyms, bool copy,
		     struct spur_error *err)
{
	struct dat_contents *c = &m->contents;
	int rc;

	*m = (struct dat_machine){0};
	arena_init(&m->arena, ARENA_LIMIT);
	c->big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	rc = read_needed(m, tracing, "events/header_page", &c->header_page, err);
	if (rc == 0)
		rc = read_needed(m, tracing, "events/header_event", &c->header_event, err);
	if (rc == 0)
		rc = read_events(m, tracing, err);
	if (rc == 0)
		rc = read_path(m, kallsyms ? kallsyms : "/proc/kallsyms", FILE_LIMIT, &c->kallsyms,
			       err);
	if (rc < 0)
		return rc;
	c->long_size = long_size(c);
	read_if_there(m, tracing, "printk_formats", &c->printk);
	read_if_there(m, tracing, "saved_cmdlines", &c->cmdlines);
	return describe(m, tracing, copy) ? 0 : no_memory(err);
}

void dat_machine_free(struct dat_machine *m)
{
	arena_free(&m->arena);
}
