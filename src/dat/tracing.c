// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reading a tracing directory. Whether a name is a directory is found out by opening it as one:
 * some file systems do not say what an entry is.
 */
#include "dat/tracing.h"

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
#include "base/order.h"
#include "base/vec.h"
#include "dat/dat.h"
#include "dat/load.h"

#define FILE_LIMIT ((size_t)256 << 20)
#define PATH_CAP   4096
#define USUAL_PAGE 4096

static int no_memory(struct spur_error *err)
{
	return error_set(err, -ENOMEM, "out of memory for what describes the trace");
}

/* ---- files ---------------------------------------------------------------------------- */

int dat_tracing_path(struct arena *arena, const char *path, struct dat_span *to,
		     struct spur_error *err)
{
	struct buf b;
	int rc;

	buf_init(&b, FILE_LIMIT);
	rc = file_read(path, &b, err);
	if (rc == 0) {
		to->data = arena_strndup(arena, b.data, b.len);
		to->size = b.len;
		if (!to->data)
			rc = no_memory(err);
	}
	buf_free(&b);
	return rc;
}

/* A file of the directory. */
static int dat_tracing_file(const struct dat_tracing *t, const char *file, struct dat_span *to,
			    struct spur_error *err)
{
	char path[PATH_CAP];

	if (snprintf(path, sizeof(path), "%s/%s", t->path, file) >= (int)sizeof(path))
		return error_sys(err, -ENAMETOOLONG, "%s", t->path);
	return dat_tracing_path(t->arena, path, to, err);
}

static bool is_missing(int rc)
{
	return rc == -ENOENT || rc == -ENOTDIR;
}

int dat_tracing_optional(const struct dat_tracing *t, const char *file, struct dat_span *to,
			 struct spur_error *err)
{
	struct spur_error why = {0};
	int rc = dat_tracing_file(t, file, to, &why);

	if (rc == 0)
		return 0;
	*to = (struct dat_span){"", 0};
	return is_missing(rc) ? 0 : error_set(err, rc, "%s", why.text);
}

/* ---- directories ---------------------------------------------------------------------- */

static int not_dot(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static void free_names(struct dirent **names, int n)
{
	for (int i = 0; i < n; i++)
		free(names[i]);
	if (n >= 0)
		free(names);
}

/* The names in a directory, sorted: how many, or a negative errno without words. */
static int names_in(const struct dat_tracing *t, const char *dir, struct dirent ***names)
{
	char path[PATH_CAP];
	int n;

	if (snprintf(path, sizeof(path), "%s/%s", t->path, dir) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	n = scandir(path, names, not_dot, alphasort);
	return n < 0 ? -errno : n;
}

/* ---- the machine ---------------------------------------------------------------------- */

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

int dat_tracing_headers(const struct dat_tracing *t, struct dat_contents *c, struct spur_error *err)
{
	int rc = dat_tracing_file(t, "events/header_page", &c->header_page, err);

	if (rc == 0)
		rc = dat_tracing_file(t, "events/header_event", &c->header_event, err);
	if (rc < 0)
		return rc;
	c->big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	c->long_size = long_size(c);
	c->page_size = page_size(c);
	return 0;
}

int dat_tracing_cpus(const struct dat_tracing *t, uint32_t **cpus, uint32_t *n,
		     struct spur_error *err)
{
	struct dirent **names;
	int found = names_in(t, "per_cpu", &names);

	*n = 0;
	*cpus = arena_array(t->arena, found > 0 ? (size_t)found : 1, sizeof(**cpus));
	for (int i = 0; *cpus && i < found; i++) {
		unsigned int cpu;
		char rest;

		if (sscanf(names[i]->d_name, "cpu%u%c", &cpu, &rest) == 1 && cpu < DAT_MAX_CPUS)
			(*cpus)[(*n)++] = cpu;
	}
	free_names(names, found);
	if (!*cpus)
		return no_memory(err);
	qsort(*cpus, *n, sizeof(**cpus), order_u32);
	return found < 0 && !is_missing(found) ? error_sys(err, found, "%s/per_cpu", t->path) : 0;
}

const char *dat_tracing_uname(struct arena *arena)
{
	struct utsname u;
	char text[sizeof(u) + 8];

	if (uname(&u) != 0)
		return NULL;
	snprintf(text, sizeof(text), "%s %s %s %s", u.sysname, u.nodename, u.release, u.machine);
	return arena_strdup(arena, text);
}

/* ---- formats -------------------------------------------------------------------------- */

/* Moves the formats of the current system into the arena. */
static int end_system(struct dat_tracing *t, struct spur_error *err)
{
	struct dat_out_system *s = t->systems.n ? &t->systems.at[t->systems.n - 1] : NULL;

	if (!t->formats.n)
		return 0;
	s->formats = arena_copy(t->arena, t->formats.at, t->formats.n, sizeof(*t->formats.at));
	s->nr = t->formats.n;
	t->formats.n = 0;
	return s->formats ? 0 : no_memory(err);
}

static int begin_system(struct dat_tracing *t, const char *name, struct spur_error *err)
{
	struct dat_out_system *s = t->systems.n ? &t->systems.at[t->systems.n - 1] : NULL;
	int rc;

	if (s && strcmp(s->name, name) == 0)
		return 0;
	rc = end_system(t, err);
	if (rc < 0)
		return rc;
	name = arena_strdup(t->arena, name);
	s = name ? vec_push(&t->systems) : NULL;
	if (!s)
		return no_memory(err);
	s->name = name;
	return 0;
}

int dat_tracing_event(struct dat_tracing *t, const char *system, const char *event,
		      struct spur_error *err)
{
	struct spur_error why = {0};
	struct dat_span format;
	char file[PATH_CAP];
	int rc;

	if (snprintf(file, sizeof(file), "events/%s/%s/format", system, event) >= (int)sizeof(file))
		return error_sys(err, -ENAMETOOLONG, "%.40s", system);
	rc = dat_tracing_file(t, file, &format, &why);
	if (rc < 0)
		return is_missing(rc) ? 0 : error_set(err, rc, "%s", why.text);
	rc = begin_system(t, system, err);
	if (rc < 0)
		return rc;
	return vec_add(&t->formats, &format) ? 0 : no_memory(err);
}

int dat_tracing_system(struct dat_tracing *t, const char *system, struct spur_error *err)
{
	struct dirent **names;
	char dir[PATH_CAP];
	int n, rc = 0;

	if (snprintf(dir, sizeof(dir), "events/%s", system) >= (int)sizeof(dir))
		return error_sys(err, -ENAMETOOLONG, "%.40s", system);
	n = names_in(t, dir, &names);
	if (n < 0)
		return is_missing(n) ? 0 : error_sys(err, n, "%s/%s", t->path, dir);
	for (int i = 0; i < n && rc == 0; i++)
		rc = dat_tracing_event(t, system, names[i]->d_name, err);
	free_names(names, n);
	return rc;
}

int dat_tracing_systems(struct dat_tracing *t, struct spur_error *err)
{
	struct dirent **names;
	int n = names_in(t, "events", &names), rc = 0;

	if (n < 0)
		return error_sys(err, n, "%s/events", t->path);
	for (int i = 0; i < n && rc == 0; i++)
		rc = dat_tracing_system(t, names[i]->d_name, err);
	free_names(names, n);
	return rc;
}

int dat_tracing_formats(struct dat_tracing *t, struct dat_contents *c, struct spur_error *err)
{
	int rc = end_system(t, err);
	struct dat_out_system *copy;

	if (rc < 0)
		return rc;
	copy = arena_array(t->arena, t->systems.n + 1, sizeof(*copy));
	if (!copy)
		return no_memory(err);
	c->systems = copy;
	c->nr_systems = 0;
	vec_each (s, &t->systems) {
		if (strcmp(s->name, "ftrace") == 0) {
			c->ftrace = s->formats;
			c->nr_ftrace = s->nr;
		} else {
			copy[c->nr_systems++] = *s;
		}
	}
	return 0;
}

void dat_tracing_free(struct dat_tracing *t)
{
	vec_free(&t->formats);
	vec_free(&t->systems);
}

/* ---- all of a machine ----------------------------------------------------------------- */

#define ARENA_LIMIT ((size_t)768 << 20)
#define MAX_OPTIONS 3

/* The word in brackets of "[local] global counter"; "local" when there is none. */
static const char *clock_of(struct dat_machine *m, const struct dat_span *clocks)
{
	const char *open = memchr(clocks->data, '[', clocks->size);
	const char *close = open ? strchr(open, ']') : NULL;
	const char *word =
		close ? arena_strndup(&m->arena, open + 1, (size_t)(close - open - 1)) : NULL;

	return word ? word : "local";
}

/* What lives as long as the arena; NULL: none. */
static void add_text(struct dat_machine *m, struct dat_out_option *list, unsigned int id,
		     const char *text)
{
	if (text)
		list[m->contents.nr_options++] =
			(struct dat_out_option){(uint16_t)id, {text, strlen(text) + 1}};
}

static bool describe(struct dat_machine *m, const struct dat_span *clocks, bool copy)
{
	struct dat_out_buffer *top = arena_alloc(&m->arena, sizeof(*top));
	struct dat_out_option *list = arena_array(&m->arena, MAX_OPTIONS, sizeof(*list));

	if (!top || !list)
		return false;
	*top = (struct dat_out_buffer){
		.name = "", .clock = clock_of(m, clocks), .page_size = m->contents.page_size};
	m->contents.buffers = top;
	m->contents.nr_buffers = 1;
	m->contents.options = list;
	add_text(m, list, DAT_OPT_TRACECLOCK, clocks->size ? clocks->data : NULL);
	add_text(m, list, DAT_OPT_VERSION, "spur " SPUR_VERSION);
	add_text(m, list, DAT_OPT_UNAME, copy ? NULL : dat_tracing_uname(&m->arena));
	return true;
}

static int read_formats(struct dat_tracing *t, struct dat_contents *c, struct spur_error *err)
{
	int rc = dat_tracing_systems(t, err);

	if (rc == 0)
		rc = dat_tracing_formats(t, c, err);
	dat_tracing_free(t);
	if (rc == 0 && !c->nr_systems && !c->nr_ftrace)
		rc = error_set(err, -ENODEV, "%s has no formats of events", t->path);
	return rc;
}

int dat_machine_read(struct dat_machine *m, const char *tracing, const char *kallsyms, bool copy,
		     struct spur_error *err)
{
	struct dat_contents *c = &m->contents;
	struct dat_tracing t = {.path = tracing, .arena = &m->arena};
	struct dat_span clocks = {"", 0};
	uint32_t *cpus, nr_cpus = 0;
	int rc;

	*m = (struct dat_machine){.contents.kallsyms = {"", 0}};
	arena_init(&m->arena, ARENA_LIMIT);
	if (!kallsyms && !copy)
		kallsyms = "/proc/kallsyms";
	rc = dat_tracing_headers(&t, c, err);
	if (rc == 0)
		rc = read_formats(&t, c, err);
	if (rc == 0 && kallsyms)
		rc = dat_tracing_path(&m->arena, kallsyms, &c->kallsyms, err);
	if (rc == 0)
		rc = dat_tracing_optional(&t, "printk_formats", &c->printk, err);
	if (rc == 0)
		rc = dat_tracing_optional(&t, "saved_cmdlines", &c->cmdlines, err);
	if (rc == 0)
		rc = dat_tracing_optional(&t, "trace_clock", &clocks, err);
	if (rc == 0)
		rc = dat_tracing_cpus(&t, &cpus, &nr_cpus, err);
	if (rc < 0)
		return rc;
	c->nr_cpus = nr_cpus ? cpus[nr_cpus - 1] + 1 : 0;
	return describe(m, &clocks, copy) ? 0 : no_memory(err);
}

void dat_machine_free(struct dat_machine *m)
{
	arena_free(&m->arena);
}
