// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Looking at the files of a fleet: what they are, and opening them.
 *
 * A file is looked at once in a session, when it may have rows that are asked for: a trace's first
 * and last records, or the footer of Parquet. Afterwards it is opened to be asked.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/vec.h"
#include "query/fleet/private.h"
#include "scan/lane.h"

#define RECORD_BYTES 48 /* as a guess */

static const char magic[] = {0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g'};

const char *file_value(const struct fleet_file *file, enum fleet_column column)
{
	/* Rows of Parquet may be of several traces. */
	const bool known = file->state == FLEET_GOOD && !file->parquet;

	switch (column) {
	case FLEET_HOST: return file->host ? file->host : known ? file->about->id.host : NULL;
	case FLEET_DATE: return *file->date ? file->date : known ? file->about->date : NULL;
	default: return *file->id ? file->id : known ? file->about->id.trace_id : NULL;
	}
}

/* The last page of a CPU is read to its end: what lies behind a page's beginning counts, too. */
static void add_lane_times(struct fleet_about *a, struct lane *l)
{
	uint64_t page = l->nr_pages, ts;

	while (page && !lane_page_time(l, page - 1, &ts))
		page--;
	if (!page)
		return;
	if (lane_next(l) && l->rec.ts < a->first)
		a->first = l->rec.ts;
	lane_seek(l, (struct lane_pos){.page = page - 1});
	while (lane_next(l))
		if (l->rec.ts > a->last)
			a->last = l->rec.ts;
}

static int find_times(struct fleet_about *a, const struct spur_trace *t)
{
	int rc = 0;

	a->first = UINT64_MAX;
	for (uint32_t i = 0; rc == 0 && i < t->nr_buffers; i++) {
		const struct trace_buffer *b = &t->buffers[i];

		for (uint32_t k = 0; rc == 0 && !b->data->text && k < b->data->nr_cpus; k++) {
			struct lane l;

			a->records += b->data->cpus[k].size * (b->data->compressed ? 4 : 1) /
				      RECORD_BYTES;
			if (!b->data->cpus[k].size)
				continue;
			rc = lane_open(&l, b, &b->data->cpus[k]);
			if (rc == 0) {
				add_lane_times(a, &l);
				lane_close(&l);
			}
		}
	}
	return rc;
}

/* What the trace is; false when it cannot be found out, and a->why says why. */
static bool look(struct fleet_about *a, struct spur_trace *t)
{
	struct spur_error err = {0};
	time_t at;
	struct tm tm;
	int rc = identity_make(&a->id, t, &err);

	if (rc == 0)
		rc = find_times(a, t);
	if (rc < 0) {
		snprintf(a->why, sizeof(a->why), "%s",
			 err.code ? err.text : "its records cannot be read");
		return false;
	}
	snprintf(a->clock, sizeof(a->clock), "%s", a->id.clock ? a->id.clock : "");
	a->id.clock = NULL;
	at = (time_t)a->id.date;
	if (!gmtime_r(&at, &tm) || !strftime(a->date, sizeof(a->date), "%Y-%m-%d", &tm))
		a->date[0] = '\0';
	return true;
}

/* What Parquet's footer tells of the rows. */
static void look_parquet(struct fleet_about *a, const struct parquet *p)
{
	const char *system = parquet_about(p, PQ_KEY_SYSTEM);
	const int ts = parquet_find(p, "ts");

	snprintf(a->system, sizeof(a->system), "%s", system ? system : "");
	a->records = parquet_nr_rows(p);
	a->first = UINT64_MAX;
	for (uint32_t i = 0; i < parquet_nr_groups(p); i++) {
		struct parquet_bounds b = {0};

		if (ts >= 0 && parquet_column(p, (uint32_t)ts)->kind == PARQUET_NUMBER)
			parquet_bounds(p, i, (uint32_t)ts, &b);
		/* Who says nothing of a group may have any time in it. */
		if (!b.known || b.min < 0 || !b.none_missing) {
			a->first = 0;
			a->last = UINT64_MAX;
			return;
		}
		a->first = (uint64_t)b.min < a->first ? (uint64_t)b.min : a->first;
		a->last = (uint64_t)b.max > a->last ? (uint64_t)b.max : a->last;
	}
}

/* ---- opening ---- */

enum what { IS_TRACE, IS_PARQUET, IS_FOREIGN, IS_BAD };

/* What it is, by its first bytes and by its name. */
static enum what first_look(const struct fleet_file *file, int *fd, char *why, size_t cap)
{
	const size_t len = strlen(file->path);
	char start[sizeof(magic)];
	ssize_t n;

	*fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	n = *fd < 0 ? -1 : pread(*fd, start, sizeof(start), 0);
	if (n == (ssize_t)sizeof(start) && memcmp(start, magic, sizeof(magic)) == 0 &&
	    !file->parquet)
		return IS_TRACE;
	if (n >= PARQUET_MAGIC_SIZE && memcmp(start, PARQUET_MAGIC, PARQUET_MAGIC_SIZE) == 0)
		return IS_PARQUET;
	if (n < 0)
		snprintf(why, cap, "%s", strerror(errno));
	else if (len > 4 && strcmp(file->path + len - 4, ".dat") == 0)
		snprintf(why, cap, "this is no trace.dat, in spite of its name");
	else if (file->parquet)
		snprintf(why, cap, "this is no Parquet file, in spite of its name");
	else
		return IS_FOREIGN;
	return IS_BAD;
}

/* Opens it as what it is, and looks at what is new. */
static int open_as(struct fleet_file *file, enum what what, int fd, struct fleet_input *in,
		   struct spur_error *err)
{
	const bool is_new = file->state == FLEET_NEW;
	int rc;

	if (!is_new && (what == IS_PARQUET) != file->parquet) {
		close(fd);
		return error_set(err, -EBADMSG, "it has become another kind of file");
	}
	if (what == IS_PARQUET) {
		rc = parquet_open(fd, &in->parquet, err);
		if (rc == 0 && is_new)
			look_parquet(file->about, in->parquet);
		return rc == 0 && !file->parquet && !fleet_take_parquet(file) ? -ENOMEM : rc;
	}
	rc = trace_open_fd(fd, file->path, NULL, &in->trace, err);
	if (rc == 0 && is_new && !look(file->about, in->trace))
		rc = error_set(err, -EBADMSG, "%s", file->about->why);
	return rc;
}

bool fleet_open(struct fleet_file *file, struct fleet_input *in, struct spur_error *err)
{
	char why[sizeof(file->about->why)] = "";
	enum what what;
	int fd, rc = -EBADMSG;

	*in = (struct fleet_input){0};
	if (!file->about)
		file->about = calloc(1, sizeof(*file->about));
	if (!file->about || file->state == FLEET_BAD || file->state == FLEET_FOREIGN) {
		error_set(err, -EBADMSG, "%s", file->about ? file->about->why : "out of memory");
		return false;
	}
	what = first_look(file, &fd, why, sizeof(why));
	if (what == IS_TRACE || what == IS_PARQUET)
		rc = open_as(file, what, fd, in, err);
	else if (fd >= 0)
		close(fd);
	if (rc < 0) {
		error_set(err, rc, "%s", *why ? why : "this is no trace");
		fleet_close(in);
	}
	/* What is known of a file stays: others may be looking at it. */
	if (file->state != FLEET_NEW)
		return rc == 0;
	file->state = rc == 0 ? FLEET_GOOD : what == IS_FOREIGN ? FLEET_FOREIGN : FLEET_BAD;
	if (rc < 0)
		snprintf(file->about->why, sizeof(file->about->why), "%s", err->text);
	return rc == 0;
}

void fleet_close(struct fleet_input *in)
{
	trace_close(in->trace);
	parquet_close(in->parquet);
	*in = (struct fleet_input){0};
}

/* ---- looking at many ---- */

struct visit {
	struct fleet *fleet;
	const struct file_list *list;
	size_t next; /* with the lock held */
	void (*fn)(void *arg, size_t file, struct fleet_input *in);
	void *arg;
	bool no_memory;
};

static bool stopped(const struct fleet *f)
{
	return f->query->opt.stop && *f->query->opt.stop;
}

static void *visitor(void *arg)
{
	struct visit *v = arg;
	struct fleet *f = v->fleet;

	pthread_mutex_lock(&f->lock);
	while (v->next < v->list->n && !stopped(f)) {
		const size_t number = v->list->at[v->next++];
		struct fleet_file *file = &f->files.at[number];
		struct spur_error err = {0};
		struct fleet_input in;

		pthread_mutex_unlock(&f->lock);
		if (fleet_open(file, &in, &err) && v->fn)
			v->fn(v->arg, number, &in);
		fleet_close(&in);
		pthread_mutex_lock(&f->lock);
		v->no_memory |= !file->about;
	}
	pthread_mutex_unlock(&f->lock);
	return NULL;
}

int fleet_visit(struct fleet *f, const struct file_list *list,
		void (*fn)(void *arg, size_t file, struct fleet_input *in), void *arg)
{
	struct visit v = {.fleet = f, .list = list, .fn = fn, .arg = arg};
	pthread_t *crew = calloc(f->threads, sizeof(*crew));
	size_t n = 0;

	if (!crew)
		return -ENOMEM;
	/* This thread is one of them. */
	while (n + 1 < f->threads && n + 1 < list->n &&
	       pthread_create(&crew[n], NULL, visitor, &v) == 0)
		n++;
	visitor(&v);
	while (n)
		pthread_join(crew[--n], NULL);
	free(crew);
	return stopped(f) ? -EINTR : v.no_memory ? -ENOMEM : 0;
}

void fleet_tell(struct fleet *f, struct fleet_file *file, const char *why)
{
	const struct query_options *o = &f->query->opt;
	struct buf text;

	f->incomplete = true;
	if (file->told || !o->note)
		return;
	file->told = true;
	buf_init(&text, 8192);
	/* What failed may begin with the path already. */
	if (strncmp(why, file->path, strlen(file->path)) == 0)
		buf_puts(&text, why);
	else
		buf_printf(&text, "%s: %s", file->path, why);
	o->note(o->arg, buf_str(&text));
	buf_free(&text);
}
