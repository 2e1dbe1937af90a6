// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Saves a recording whose process was killed: reads the note that it left, counts the events in the
 * files and in the kernel, and saves the rest of the buffers.
 */
#include "record/rescue.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/vec.h"
#include "dat/dat.h"
#include "dat/tracing.h"
#include "record/session_state.h"

/* ---- the note ---- */

bool rescue_path(const char *path, char *absolute, size_t cap)
{
	char here[RESCUE_PATH_CAP];
	int n;

	if (*path == '/')
		n = snprintf(absolute, cap, "%s", path);
	else if (getcwd(here, sizeof(here)))
		n = snprintf(absolute, cap, "%s/%s", here, path);
	else
		n = -1;
	return n >= 0 && (size_t)n < cap;
}

/* The note consists of lines, so a path must not have line ends. */
static void put_path(struct buf *to, const char *path)
{
	for (; *path; path++)
		if (*path == '\n')
			buf_puts(to, "\\n");
		else if (*path == '\\')
			buf_puts(to, "\\\\");
		else
			buf_putc(to, *path);
	buf_putc(to, '\n');
}

static char *unescape(char *path)
{
	char *to = path;

	for (const char *from = path; *from; from++)
		if (*from != '\\' || !from[1])
			*to++ = *from;
		else
			*to++ = *++from == 'n' ? '\n' : *from;
	*to = '\0';
	return path;
}

static void put_file(struct buf *to, const char *word, const struct rescue_file *f)
{
	if (!f->path[0])
		return;
	buf_printf(to, "%s %llu %llu ", word, (unsigned long long)f->dev,
		   (unsigned long long)f->ino);
	put_path(to, f->path);
	if (!f->nr_base)
		return;
	buf_puts(to, strcmp(word, "was") == 0 ? "wasbase" : "base");
	for (size_t i = 0; i < f->nr_base; i++)
		buf_printf(to, " %llu", (unsigned long long)f->base[i]);
	buf_putc(to, '\n');
}

void rescue_note_put(const struct rescue_note *n, struct buf *to)
{
	if (n->temp[0]) {
		buf_puts(to, "temp ");
		put_path(to, n->temp);
	}
	put_file(to, "file", &n->file);
	put_file(to, "was", &n->was);
	vec_each (instance, &n->streams)
		if (*instance)
			buf_printf(to, "stream %s\n", *instance);
		else
			buf_puts(to, "nostream\n");
	buf_printf(to, "data %s\n", n->data);
	if (n->flight) {
		buf_printf(to, "flight %u %s ", n->version, n->compression);
		put_path(to, n->flight);
	}
	if (n->tracer)
		buf_printf(to, "tracer %s\n", n->tracer);
}

static bool take_path(char *to, char *value)
{
	return snprintf(to, RESCUE_PATH_CAP, "%s", unescape(value)) < RESCUE_PATH_CAP;
}

static bool take_file(struct rescue_file *f, char *value)
{
	char *end;

	f->dev = strtoull(value, &end, 10);
	if (*end != ' ')
		return false;
	f->ino = strtoull(end + 1, &end, 10);
	return *end == ' ' && take_path(f->path, end + 1);
}

static bool take_base(struct rescue_file *f, char *value)
{
	size_t cap = 1;

	for (const char *p = value; *p; p++)
		cap += *p == ' ';
	free(f->base);
	f->nr_base = 0;
	f->base = calloc(cap, sizeof(*f->base));
	for (char *end; f->base && *value && f->nr_base < cap; value = end) {
		f->base[f->nr_base++] = strtoull(value, &end, 10);
		if (end == value)
			return false;
		end += *end == ' ';
	}
	return f->base != NULL;
}

static bool take_stream(struct rescue_note *n, const char *instance)
{
	const char **slot = vec_push(&n->streams);

	if (slot)
		*slot = instance;
	return slot != NULL;
}

static bool take_flight(struct rescue_note *n, char *value)
{
	char *end, *path;

	n->version = (unsigned int)strtoul(value, &end, 10);
	path = *end == ' ' ? strchr(end + 1, ' ') : NULL;
	if (!path)
		return false;
	*path = '\0';
	n->compression = end + 1;
	n->flight = unescape(path + 1);
	return true;
}

static bool take_line(struct rescue_note *n, char *line)
{
	char *value = strchr(line, ' ');

	if (strcmp(line, "nostream") == 0)
		return take_stream(n, NULL);
	if (!value)
		return false;
	*value++ = '\0';
	if (strcmp(line, "temp") == 0)
		return take_path(n->temp, value);
	if (strcmp(line, "file") == 0)
		return take_file(&n->file, value);
	if (strcmp(line, "was") == 0)
		return take_file(&n->was, value);
	if (strcmp(line, "base") == 0)
		return take_base(&n->file, value);
	if (strcmp(line, "wasbase") == 0)
		return take_base(&n->was, value);
	if (strcmp(line, "stream") == 0)
		return take_stream(n, value);
	if (strcmp(line, "flight") == 0)
		return take_flight(n, value);
	if (strcmp(line, "data") == 0)
		n->data = value;
	if (strcmp(line, "tracer") == 0)
		n->tracer = value;
	return true;
}

static void rescue_note_free(struct rescue_note *n)
{
	vec_free(&n->streams);
	free(n->file.base);
	free(n->was.base);
	free(n->text);
	*n = (struct rescue_note){0};
}

/* False if the text is no note. Call rescue_note_free() in any case. */
static bool rescue_note_parse(struct rescue_note *n, const char *text)
{
	bool good = true;

	*n = (struct rescue_note){.data = "trace_pipe_raw", .text = strdup(text)};
	for (char *line = n->text, *next; line && *line && good; line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		good = take_line(n, line);
	}
	return good && n->streams.n;
}

/* ---- counting ---- */

/* Counts the events of a page; a page that cannot be decoded has none. */
static void tally_page(struct tally *t, const struct ring_layout *layout, const void *data,
		       size_t size)
{
	struct ring_page p;
	struct ring_event e;

	if (ring_page_open(&p, layout, data, size) < 0)
		return;
	while (ring_page_next(&p, &e)) {
		t->events++;
		t->last = e.ts;
	}
}

int tally_file(struct tally *t, struct dat *d, size_t buffer, uint32_t cpu)
{
	const struct dat_buffer *b = &d->buffers[buffer];
	struct dat_pages *pages;
	struct dat_page page;
	uint32_t k = 0;
	int rc;

	while (k < b->nr_cpus && b->cpus[k].cpu != cpu)
		k++;
	if (k == b->nr_cpus || !b->cpus[k].size)
		return 0;
	rc = dat_pages_open(d, b, &b->cpus[k], &pages);
	if (rc < 0)
		return rc;
	for (uint64_t i = 0; (rc = dat_pages_get(pages, i, &page)) > 0; i++)
		tally_page(t, &b->layout, page.data, page.size);
	dat_pages_close(pages);
	return rc;
}

bool tally_kernel(const struct tracefs *fs, const char *instance, uint32_t cpu, uint64_t *taken,
		  uint64_t *left)
{
	return meta_stat(fs, instance, cpu, "\nread events: ", taken) &&
	       meta_stat(fs, instance, cpu, "entries: ", left);
}

/* ---- saving ---- */

#define OPTION_LIMIT (64u << 20)
#define ARENA_LIMIT  ((size_t)256 << 20)
#define FILE_CAP     96
#define DRAIN_ROUNDS 20 /* events that were being written when the buffer was stopped appear late */

#define LOST_BEFORE (1ull << 31) /* in a page's commit: events were lost before it … */
#define LOST_STORED (1ull << 30) /* … and their number stands after the data */

struct rescue {
	const struct tracefs *fs;
	bool late;	     /* other programs may have made files since the recorder died */
	bool fresh;	     /* `out` is a file that this process has made */
	struct rlimit limit; /* of the size of files, as it was; rlim_max 0: unchanged */
	struct rescue_note note;
	struct rescue_result res;
	struct dat_out *out; /* NULL: there is no file to write to */
	struct dat *d;	     /* the file as the recorder left it */
	struct dat_contents c;
	const uint64_t *base;
	size_t nr_base;
	struct dat_cut cut;
	struct setup setup; /* for the statistics */
	struct meta meta;
	bool described;
};

/* ---- pages ---- */

/* Marks a page of this machine like the kernel marks one after a loss. */
static void mark_page(uint8_t *page, const struct ring_layout *layout, uint64_t lost)
{
	struct ring_page p;
	unsigned long commit, number;

	if (ring_page_open(&p, layout, page, layout->page_size) < 0)
		return;
	memcpy(&commit, page + layout->commit_offset, sizeof(commit));
	number = (unsigned long)(lost + (p.lost > 0 ? (uint64_t)p.lost : 0));
	if (lost != DAT_CUT_UNKNOWN && p.lost >= 0 && layout->page_size - p.end >= sizeof(number)) {
		memcpy(page + p.end, &number, sizeof(number));
		commit |= LOST_STORED;
	}
	commit |= LOST_BEFORE;
	memcpy(page + layout->commit_offset, &commit, sizeof(commit));
}

/* ---- one CPU ---- */

/*
 * Moves all pages that can be read from a descriptor to the file. The first page is marked with a
 * loss before it.
 */
static int move_pages(struct rescue *r, int fd, size_t buffer, uint32_t k, uint64_t lost,
		      struct tally *t)
{
	const struct ring_layout layout =
		ring_layout_default(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, sizeof(long),
				    r->c.buffers[buffer].page_size);
	uint8_t *page = calloc(1, layout.page_size);
	int rc = page ? 0 : -ENOMEM;

	while (rc == 0) {
		ssize_t got = read(fd, page, layout.page_size);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			rc = got < 0 && errno != EAGAIN ? -errno : 0;
			break;
		}
		memset(page + got, 0, layout.page_size - (size_t)got);
		if (lost)
			mark_page(page, &layout, lost);
		lost = 0;
		rc = dat_out_pages(r->out, buffer, k, page, 1);
		if (rc == 0)
			tally_page(t, &layout, page, layout.page_size);
	}
	free(page);
	return rc;
}

static void drain_cpu(struct rescue *r, size_t buffer, uint32_t k, const char *instance,
		      struct dat_cut_cpu *cut)
{
	const size_t index = r->cut.nr - 1;
	const bool based = index < r->nr_base;
	uint64_t taken = 0, left = 0, all;
	struct tally had = {0}, got = {0};
	char file[FILE_CAP];
	bool known;
	int rc = tally_file(&had, r->d, buffer, cut->cpu), fd = -1;

	known = tally_kernel(r->fs, instance, cut->cpu, &taken, &left) && based && rc == 0;
	all = had.events + (based ? r->base[index] : 0);
	cut->between = !known ? DAT_CUT_UNKNOWN : taken > all ? taken - all : 0;
	snprintf(file, sizeof(file), "per_cpu/cpu%u/%s", cut->cpu, r->note.data);
	if (dat_out_is_open(r->out))
		fd = tracefs_open(r->fs, instance, file, O_RDONLY | O_NONBLOCK, NULL);
	rc = 0;
	for (int i = 0; i < DRAIN_ROUNDS && fd >= 0 && rc == 0; i++) {
		rc = move_pages(r, fd, buffer, k, i ? 0 : cut->between, &got);
		if (!tally_kernel(r->fs, instance, cut->cpu, &taken, &left) || !left)
			break;
	}
	if (fd >= 0)
		close(fd);
	if (rc < 0 && !r->res.err.code)
		error_sys(&r->res.err, rc, "%s: saving what was left of CPU %u", r->note.file.path,
			  cut->cpu);
	r->res.events += got.events;
	cut->last = got.events ? got.last : had.last;
	all += got.events + (known ? cut->between : 0);
	if (!known)
		cut->after = left ? DAT_CUT_UNKNOWN : 0;
	else
		cut->after = taken + left > all ? taken + left - all : 0;
	/* There was no page to mark. */
	if (!got.events) {
		cut->after = cut->between == DAT_CUT_UNKNOWN ? DAT_CUT_UNKNOWN
							     : cut->after + cut->between;
		cut->between = 0;
	}
}

/* ---- all of it ---- */

static void stop_buffers(const struct rescue *r)
{
	vec_each (instance, &r->note.streams)
		if (*instance && strcmp(r->note.data, "trace_pipe_raw") == 0)
			tracefs_write(r->fs, *instance, "tracing_on", TRACEFS_REPLACE, "0", NULL);
}

static int describe(struct rescue *r)
{
	struct setup_buffer *b;

	plan_init(&r->setup.plan);
	r->described = true;
	b = arena_array(&r->setup.plan.arena, r->note.streams.n, sizeof(*b));
	if (!b)
		return -ENOMEM;
	for (size_t i = 0; i < r->note.streams.n; i++)
		b[i] = (struct setup_buffer){.name = i ? r->note.streams.at[i] : "",
					     .instance = r->note.streams.at[i]};
	r->setup.buffers = b;
	r->setup.nr_buffers = r->note.streams.n;
	return 0;
}

/*
 * Whether the recorder has written names of tasks into the file: the space for them is empty lines
 * at first.
 */
static bool has_names(const struct dat_contents *c)
{
	for (size_t i = 0; i < c->cmdlines.size; i++)
		if (((const char *)c->cmdlines.data)[i] != '\n')
			return true;
	return false;
}

/* Writes what a recorder writes at its end, names of tasks and statistics, and the option CUT. */
static int last_words(struct rescue *r, bool is_cut)
{
	const struct dat_tracing t = {.path = r->fs->path, .arena = &r->meta.arena};
	struct meta *m = &r->meta;
	struct buf text;
	int rc = 0;

	arena_init(&m->arena, ARENA_LIMIT);
	m->fs = r->fs;
	m->setup = &r->setup;
	m->into = &m->arena;
	for (size_t i = 0; i < r->c.nr_options && rc == 0; i++)
		rc = meta_option(m, r->c.options[i].id, r->c.options[i].data.data,
				 r->c.options[i].data.size, NULL);
	if (rc == 0)
		rc = dat_tracing_cpus(&t, &m->cpus, &m->nr_cpus, NULL);
	/* The recorder's names are better than the kernel's. */
	if (rc == 0 && !has_names(&r->c))
		rc = dat_tracing_optional(&t, "saved_cmdlines", &r->c.cmdlines, NULL);
	if (rc == 0)
		rc = meta_last_options(m, NULL);
	buf_init(&text, OPTION_LIMIT);
	dat_cut_put(&r->cut, r->c.big_endian, &text);
	if (rc == 0 && is_cut)
		rc = buf_full(&text) ? -ENOMEM
				     : meta_option(m, DAT_OPT_CUT, text.data, text.len, NULL);
	buf_free(&text);
	r->c.options = m->options.at;
	r->c.nr_options = m->options.n;
	return rc;
}

/* The limit was meant for the recorder, and saving needs little more than it has written. */
static void raise_limit(struct rescue *r)
{
	struct rlimit most;

	if (getrlimit(RLIMIT_FSIZE, &r->limit) < 0 || r->limit.rlim_cur == r->limit.rlim_max) {
		r->limit = (struct rlimit){0};
		return;
	}
	most = r->limit;
	most.rlim_cur = most.rlim_max;
	setrlimit(RLIMIT_FSIZE, &most);
}

static void restore_limit(const struct rescue *r)
{
	if (r->limit.rlim_max)
		setrlimit(RLIMIT_FSIZE, &r->limit);
}

/* The most bytes of pages that the kernel can have. */
static uint64_t buffers_size(const struct rescue *r)
{
	uint64_t sum = 0;
	int64_t kb;

	vec_each (instance, &r->note.streams)
		if (*instance &&
		    tracefs_read_number(r->fs, *instance, "buffer_total_size_kb", &kb, NULL) == 0 &&
		    kb > 0)
			sum += (uint64_t)kb << 10;
	return sum;
}

/*
 * Data that were read are no longer in the kernel. So nothing is read if a limit of this process
 * prevents writing to the file.
 */
static int check_limit(struct rescue *r)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY ||
	    (dat_out_end(r->out) <= limit.rlim_cur &&
	     buffers_size(r) <= limit.rlim_cur - dat_out_end(r->out)))
		return 0;
	dat_out_abandon(r->out);
	r->out = NULL;
	if (r->fresh)
		unlink(r->res.path);
	r->fresh = false;
	return error_sys(&r->res.err, -EFBIG, "%s: the size of files is limited", r->res.path);
}

static int drain(struct rescue *r)
{
	const bool was_open = dat_out_is_open(r->out);
	uint64_t missing;
	size_t cap = 1;

	for (size_t b = 0; b < r->c.nr_buffers; b++)
		cap += r->c.buffers[b].nr_cpus;
	r->cut.cpus = calloc(cap, sizeof(*r->cut.cpus));
	if (!r->cut.cpus)
		return -ENOMEM;
	for (size_t b = 0; b < r->c.nr_buffers && b < r->note.streams.n; b++) {
		uint32_t nr;
		const uint32_t *cpus = dat_out_cpus(r->out, b, &nr);

		for (uint32_t k = 0; k < nr && r->note.streams.at[b]; k++) {
			struct dat_cut_cpu *cut = &r->cut.cpus[r->cut.nr++];

			cut->buffer = (uint32_t)b;
			cut->cpu = cpus[k];
			drain_cpu(r, b, k, r->note.streams.at[b], cut);
		}
	}
	/*
	 * A recorder that was killed while it finished a complete file has not left anything out.
	 */
	return last_words(r, was_open || !dat_cut_missing(&r->cut, &missing) || missing);
}

static bool has_events(const struct rescue *r)
{
	uint32_t *cpus = NULL, nr = 0;
	struct arena arena;
	bool any = r->note.tracer != NULL;

	arena_init(&arena, ARENA_LIMIT);
	dat_tracing_cpus(&(struct dat_tracing){.path = r->fs->path, .arena = &arena}, &cpus, &nr,
			 NULL);
	vec_each (instance, &r->note.streams)
		for (uint32_t k = 0; k < nr && *instance && !any; k++) {
			uint64_t taken, left;

			any = tally_kernel(r->fs, *instance, cpus[k], &taken, &left) && left;
		}
	arena_free(&arena);
	return any;
}

/* Whether a path still leads to the same file. */
static bool is_same(const struct rescue_file *f)
{
	struct stat st;

	return f->path[0] && stat(f->path, &st) == 0 && (uint64_t)st.st_dev == f->dev &&
	       (uint64_t)st.st_ino == f->ino;
}

/* ---- files that do not exist yet ---- */

/* Makes a file with everything but the events, as the session would have begun it. */
static int make_file(struct rescue *r, struct session *s, const char *path)
{
	struct session_options opt = {
		.output = path,
		.file = {.version = r->note.version, .compression = r->note.compression},
		.meta = {.all_formats = true},
	};
	struct request request = {0};
	struct request_buffer *b = request_add_buffer(&request, "");
	struct buf text;
	int rc = b ? 0 : -ENOMEM;

	buf_init(&text, OPTION_LIMIT);
	if (rc == 0)
		b->tracer = r->note.tracer;
	s->fs = r->fs;
	s->req = &request;
	s->opt = &opt;
	s->end = 1;
	s->setup = r->setup;
	if (rc == 0)
		rc = meta_begin(&s->meta, r->fs, &s->setup, NULL, &opt.meta, &r->res.err);
	if (rc == 0 && session_is_text(s))
		rc = session_take_text(s, &text, &r->res.err);
	if (rc == 0)
		rc = session_open_file(s, &r->res.err);
	if (rc == 0)
		rc = session_name_file(s, &r->res.err);
	if (rc == 0)
		session_trail_read(s, &r->note.file);
	session_unwatch_file(s);
	dat_out_abandon(s->out);
	free(s->trail[0].base);
	free(s->trail[1].base);
	meta_free(&s->meta);
	buf_free(&text);
	request_free(&request);
	return rc;
}

/* Opens the file for what is in the buffers; false if it has been finished, or on failure. */
static bool reopen(struct rescue *r, const struct rescue_file *f)
{
	if (dat_out_reopen(f->path, &r->out, &r->d, &r->c, &r->res.err) != 0)
		return false;
	snprintf(r->res.path, sizeof(r->res.path), "%s", f->path);
	r->base = f->base;
	r->nr_base = f->nr_base;
	return true;
}

/* Makes the file and opens it. reserved: there is an empty file already, which was made for it. */
static void make_new(struct rescue *r, const char *path, bool reserved)
{
	struct session *s = calloc(1, sizeof(*s));
	struct session_result unheard;

	if (!s)
		return;
	r->res.err = (struct spur_error){0};
	s->res = &unheard;
	if (make_file(r, s, path) == 0)
		r->fresh = reopen(r, &r->note.file);
	if (!r->fresh && reserved)
		unlink(path);
	free(s);
}

/*
 * The same at the next free place near a path; itself: which may be that path. What is there was
 * made by others since the recorder died, or it is the recording.
 */
static void make_near(struct rescue *r, const char *near, bool itself)
{
	char path[SESSION_PATH_CAP];
	int rc = session_reserve(near, itself, path);

	if (rc == 0) {
		make_new(r, path, true);
		return;
	}
	r->res.err = (struct spur_error){0};
	error_sys(&r->res.err, rc, "%s", near);
}

static void make_flight(struct rescue *r)
{
	if (!r->note.flight || !has_events(r))
		return;
	if (r->late)
		make_near(r, r->note.flight, true);
	else
		make_new(r, r->note.flight, false);
}

/*
 * Opens the file again; false if there is nothing to write to it. A file that has been finished
 * meanwhile, or has another content, gets a second one beside it.
 */
static bool open_file(struct rescue *r, const struct rescue_file *f)
{
	char path[RESCUE_PATH_CAP];

	if (!is_same(f) && has_events(r))
		error_set(&r->res.err, -ENOENT, "%s is no longer the file that was recorded",
			  f->path);
	if (!is_same(f))
		return false;
	if (reopen(r, f))
		return true;
	snprintf(path, sizeof(path), "%s", f->path);
	/* Of a flight, what is in the buffers always belongs to the next file. */
	if (!r->note.flight && r->res.err.code != -EBUSY && has_events(r))
		make_near(r, path, false);
	else if (r->res.err.code == -EBADMSG || r->res.err.code == -ENODATA)
		r->res.err = (struct spur_error){0}; /* Nothing is left that could be saved. */
	return r->fresh;
}

/* ---- the interface ---- */

/* Gives the file its name, or the next free one. Without a name it is not found afterwards. */
static void name_file(struct rescue *r)
{
	struct rescue_note *n = &r->note;
	char path[SESSION_PATH_CAP];

	if (r->late) {
		if (session_reserve(n->file.path, true, path) < 0)
			return;
		snprintf(n->file.path, sizeof(n->file.path), "%s", path);
	}
	if (rename(n->temp, n->file.path) < 0 && r->late)
		unlink(n->file.path);
}

/*
 * Removes the file if it has no final name yet, because nothing has been recorded. But a recorder
 * that was killed right at the start may have recorded events already.
 */
static bool drop_unnamed(struct rescue *r)
{
	struct rescue_note *n = &r->note;

	if (!n->temp[0] || access(n->temp, F_OK) != 0)
		return false;
	if (n->file.nr_base && has_events(r)) {
		name_file(r);
		return false;
	}
	return unlink(n->temp) == 0;
}

/* Until a rotation has begun the next file, the previous one is written to. */
static void choose_file(struct rescue *r)
{
	struct rescue_note *n = &r->note;
	const bool unnamed = drop_unnamed(r);
	bool open = false;

	if (n->file.path[0] && n->file.nr_base && !unnamed) {
		open = open_file(r, &n->file);
	} else if (n->was.path[0] && n->was.nr_base) {
		if (!unnamed && is_same(&n->file))
			unlink(n->file.path);
		open = open_file(r, &n->was);
		n->was.path[0] = '\0';
	}
	if (!open && (!unnamed || n->flight))
		make_flight(r);
}

static struct rescue *begin(const struct tracefs *fs, const char *note, bool late)
{
	struct rescue *r = *note ? calloc(1, sizeof(*r)) : NULL;
	int rc;

	if (!r)
		return NULL;
	r->fs = fs;
	r->late = late;
	raise_limit(r);
	if (!rescue_note_parse(&r->note, note)) {
		rescue_end(r, NULL);
		return NULL;
	}
	stop_buffers(r);
	rc = describe(r);
	if (rc == 0)
		choose_file(r);
	if (rc == 0 && r->out)
		rc = check_limit(r);
	if (rc == 0 && r->out)
		rc = drain(r);
	if (rc < 0 && !r->res.err.code)
		error_sys(&r->res.err, rc, "%s: saving what was left", r->note.file.path);
	return r;
}

struct rescue *rescue_begin(const struct tracefs *fs, const char *note)
{
	return begin(fs, note, true);
}

bool rescue_failed(const struct rescue *r)
{
	return r && r->res.err.code && !r->fresh;
}

void rescue_end(struct rescue *r, struct rescue_result *res)
{
	if (!r)
		return;
	if (r->out) {
		struct spur_error *err = r->res.err.code ? NULL : &r->res.err;

		dat_out_finish(r->out, &r->c, err);
	}
	dat_close(r->d);
	/* It gets no more events, but it may not be finished. */
	if (is_same(&r->note.was))
		dat_finish_file(r->note.was.path, NULL);
	restore_limit(r);
	if (res)
		*res = r->res;
	if (r->described)
		setup_free(&r->setup);
	vec_free(&r->meta.options);
	arena_free(&r->meta.arena);
	free(r->cut.cpus);
	rescue_note_free(&r->note);
	free(r);
}

void *rescue_before(const struct tracefs *fs, const char *note)
{
	return begin(fs, note, false);
}

void rescue_after(void *rescue)
{
	rescue_end(rescue, NULL);
}
