// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What lies in the folder of a fleet: listing it, and looking at files.
 *
 * Listing opens folders only. Folders that are links are not entered, so that there are no circles;
 * what is neither a file nor a link to one is passed over, and so is whatever a name begins with a
 * dot, as programs that copy files call what is not complete yet.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/vec.h"
#include "query/fleet_parts.h"
#include "stream/lane.h"

#define MAX_DEPTH    24
#define MAX_FILES    (1u << 21)
#define NS_PER_S     1000000000ull
#define S_PER_DAY    86400
#define RECORD_BYTES 48 /* as a guess */

static const char magic[] = {0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g'};

/* ---- what a path says ---- */

/* Days since 1970 of "YYYY-MM-DD"; -1: it is none. */
static long day_of(const char *text)
{
	struct tm tm = {0};
	const char *end = strlen(text) == DATE_TEXT - 1 ? strptime(text, "%Y-%m-%d", &tm) : NULL;
	char back[DATE_TEXT + 32];
	time_t at;

	if (!end || *end)
		return -1;
	at = timegm(&tm);
	/* The 31st of June would be the first of July. */
	if (at < 0 || !gmtime_r(&at, &tm) || !strftime(back, sizeof(back), "%Y-%m-%d", &tm) ||
	    strcmp(back, text) != 0)
		return -1;
	return (long)(at / S_PER_DAY);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A name as a folder has it: what cannot stand there is %XX. */
static char *unquoted(const char *text, size_t len)
{
	char *to = malloc(len + 1);
	size_t n = 0;

	for (size_t i = 0; to && i < len; i++) {
		int high = -1, low = -1;

		if (text[i] == '%' && i + 2 < len) {
			high = hex_digit(text[i + 1]);
			low = hex_digit(text[i + 2]);
		}
		if (high >= 0 && low >= 0 && (high || low)) {
			to[n++] = (char)(high << 4 | low);
			i += 2;
		} else {
			to[n++] = text[i];
		}
	}
	if (to)
		to[n] = '\0';
	return to;
}

/* Takes host and date from the folders below the top one. False without memory. */
static bool read_path(struct fleet_file *file, const char *below)
{
	for (const char *slash; (slash = strchr(below, '/')); below = slash + 1) {
		const size_t len = (size_t)(slash - below);

		if (len > 5 && strncmp(below, "host=", 5) == 0) {
			free(file->host);
			file->host = unquoted(below + 5, len - 5);
			if (!file->host)
				return false;
		}
		if (len == 5 + DATE_TEXT - 1 && strncmp(below, "date=", 5) == 0) {
			char text[DATE_TEXT];
			long day;

			snprintf(text, sizeof(text), "%.*s", DATE_TEXT - 1, below + 5);
			day = day_of(text);
			if (day < 0)
				continue;
			memcpy(file->date, text, sizeof(text));
			file->midnight = (uint64_t)day * S_PER_DAY * NS_PER_S;
		}
	}
	return true;
}

/* ---- listing ---- */

struct listing {
	struct fleet *fleet;
	size_t top; /* length of the top folder's name */
	struct spur_error *err;
};

static int add_file(struct listing *l, const char *path)
{
	struct fleet *f = l->fleet;
	struct fleet_file *file;

	if (f->files.n >= MAX_FILES)
		return error_set(l->err, -EFBIG, "more than %u files", MAX_FILES);
	file = vec_push(&f->files);
	if (file)
		file->path = strdup(path);
	if (!file || !file->path || !read_path(file, path + l->top))
		return error_set(l->err, -ENOMEM, "out of memory");
	return 0;
}

static int list_folder(struct listing *l, const char *path, unsigned int depth);

static int list_entry(struct listing *l, const char *folder, const char *name, unsigned int depth)
{
	struct stat st;
	char *path;
	int rc = 0;

	if (asprintf(&path, "%s/%s", folder, name) < 0)
		return error_set(l->err, -ENOMEM, "out of memory");
	if (lstat(path, &st) < 0)
		st.st_mode = 0;
	if (S_ISDIR(st.st_mode))
		rc = list_folder(l, path, depth + 1);
	else if (S_ISREG(st.st_mode) ||
		 (S_ISLNK(st.st_mode) && stat(path, &st) == 0 && S_ISREG(st.st_mode)))
		rc = add_file(l, path);
	free(path);
	return rc;
}

static int list_folder(struct listing *l, const char *path, unsigned int depth)
{
	const struct query_options *o = &l->fleet->query->opt;
	struct dirent **list = NULL;
	const char *why = NULL;
	int n, rc = 0;

	if (o->stop && *o->stop)
		return error_set(l->err, -EINTR, "stopped");
	n = depth < MAX_DEPTH ? scandir(path, &list, NULL, alphasort) : -1;
	if (n < 0)
		why = depth < MAX_DEPTH ? strerror(errno) : "folders in it are too deep";
	if (n < 0 && depth == 0)
		return error_sys(l->err, -errno, "%s", path);
	if (n < 0) {
		struct fleet_file folder = {.path = (char *)path};

		fleet_tell(l->fleet, &folder, why);
	}
	for (int i = 0; i < n; i++) {
		if (rc == 0 && list[i]->d_name[0] != '.')
			rc = list_entry(l, path, list[i]->d_name, depth);
		free(list[i]);
	}
	free(list);
	return rc;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct fleet_file *)a)->path, ((const struct fleet_file *)b)->path);
}

int catalogue_read(struct fleet *f, const char *path, struct spur_error *err)
{
	size_t len = strlen(path);
	struct listing l = {.fleet = f, .err = err};
	struct stat st;
	char *top;
	int rc;

	if (stat(path, &st) < 0)
		return error_sys(err, -errno, "%s", path);
	while (len > 1 && path[len - 1] == '/')
		len--;
	top = strndup(path, len);
	if (!top)
		return error_set(err, -ENOMEM, "out of memory");
	/* The folders above count, too, where the user names one "…/host=web7". */
	rc = S_ISDIR(st.st_mode) ? list_folder(&l, top, 0) : add_file(&l, top);
	free(top);
	if (f->files.n)
		qsort(f->files.at, f->files.n, sizeof(*f->files.at), by_path);
	if (rc == 0 && !f->files.n)
		rc = error_set(err, -ENOENT, "%s: there are no files in this folder", path);
	return rc;
}

void catalogue_free(struct fleet *f)
{
	vec_each (file, &f->files) {
		free(file->path);
		free(file->host);
		free(file->about);
	}
	vec_free(&f->files);
}

/* ---- looking at a file ---- */

const char *file_value(const struct fleet_file *file, enum fleet_column column)
{
	const bool known = file->state == FLEET_GOOD || file->state == FLEET_TWICE;

	switch (column) {
	case FLEET_HOST: return file->host ? file->host : known ? file->about->id.host : NULL;
	case FLEET_DATE: return *file->date ? file->date : known ? file->about->date : NULL;
	default: return known ? file->about->id.trace_id : NULL;
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

/* Whether it is a trace by its first bytes. *what is set to what it is otherwise. */
static int open_trace_file(const char *path, enum fleet_state *what, char *why, size_t cap)
{
	const size_t len = strlen(path);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char start[sizeof(magic)];
	ssize_t n = fd < 0 ? -1 : pread(fd, start, sizeof(start), 0);

	*what = FLEET_BAD;
	if (n == (ssize_t)sizeof(start) && memcmp(start, magic, sizeof(magic)) == 0)
		return fd;
	if (n < 0) {
		snprintf(why, cap, "%s", strerror(errno));
	} else if (len > 4 && strcmp(path + len - 4, ".dat") == 0) {
		snprintf(why, cap, "this is no trace.dat, in spite of its name");
	} else {
		*what = FLEET_FOREIGN;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

struct spur_trace *fleet_open(struct fleet_file *file)
{
	struct fleet_about *a = file->about ? file->about : calloc(1, sizeof(*a));
	struct spur_trace *t = NULL;
	struct spur_error err = {0};
	enum fleet_state what;
	int fd;

	file->about = a;
	if (!a || (file->state == FLEET_BAD || file->state == FLEET_FOREIGN))
		return NULL;
	fd = open_trace_file(file->path, &what, a->why, sizeof(a->why));
	if (fd < 0) {
		file->state = what;
		return NULL;
	}
	if (trace_open_fd(fd, file->path, NULL, &t, &err) < 0) {
		file->state = FLEET_BAD;
		snprintf(a->why, sizeof(a->why), "%s", err.text);
		return NULL;
	}
	if (file->state == FLEET_NEW)
		file->state = look(a, t) ? FLEET_GOOD : FLEET_BAD;
	if (file->state == FLEET_BAD) {
		trace_close(t);
		return NULL;
	}
	return t;
}

/* ---- looking at many ---- */

struct visit {
	struct fleet *fleet;
	const struct file_list *list;
	size_t next; /* with the lock held */
	void (*fn)(void *arg, size_t file, struct spur_trace *t);
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
		struct spur_trace *t;

		pthread_mutex_unlock(&f->lock);
		t = fleet_open(file);
		if (t && v->fn)
			v->fn(v->arg, number, t);
		trace_close(t);
		pthread_mutex_lock(&f->lock);
		v->no_memory |= !file->about;
	}
	pthread_mutex_unlock(&f->lock);
	return NULL;
}

int fleet_visit(struct fleet *f, const struct file_list *list,
		void (*fn)(void *arg, size_t file, struct spur_trace *t), void *arg)
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
