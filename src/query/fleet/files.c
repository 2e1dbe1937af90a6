// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The files of a fleet: listing them, reading host and date from their paths, opening them and
 * finding out their type.
 *
 * Listing opens folders only. Links to folders are not followed, so that there are no circles.
 * Everything other than files and links to files is skipped, and so are names that begin with a
 * dot, which programs that copy files give to incomplete ones. If a file may have rows that are
 * needed, it is examined once in a session: a trace's first and last records, or the footer of
 * Parquet.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/nanoseconds.h"
#include "base/num.h"
#include "base/order.h"
#include "base/vec.h"
#include "query/fleet/private.h"
#include "scan/lane.h"
#include "table/table.h"

#define PARQUET_NAME ".parquet"
#define MAX_DEPTH    24
#define MAX_FILES    (1u << 21)
#define S_PER_DAY    86400
#define RECORD_BYTES 48 /* as a guess */
#define LOST	     "lost"
#define LOSSES	     "losses"

/* ---- what a path says ---- */

/* Days since 1970 of "YYYY-MM-DD"; -1 if it is no date. */
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

/* Decodes a name of a folder, in which %XX stands for characters that are not allowed there. */
static char *unquoted(const char *text, size_t len)
{
	char *to = malloc(len + 1);
	size_t n = 0;

	for (size_t i = 0; to && i < len; i++) {
		int high = -1, low = -1;

		if (text[i] == '%' && i + 2 < len) {
			high = num_hex_digit(text[i + 1]);
			low = num_hex_digit(text[i + 2]);
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

/* Notes the value of a folder called NAME=VALUE. False without memory. */
static bool note_value(char **to, const char *name, const char *folder, size_t len)
{
	const size_t n = strlen(name);

	if (len <= n || strncmp(folder, name, n) != 0)
		return true;
	free(*to);
	*to = unquoted(folder + n, len - n);
	return *to;
}

/* The name of a file of one trace, or of its folder, is the trace's id. */
static void note_id(struct fleet_file *file, const char *name, size_t len)
{
	if (len != sizeof(file->id) - 1 || strspn(name, "0123456789abcdef") < len)
		return;
	memcpy(file->id, name, len);
	file->id[len] = '\0';
}

/* Reads from the path of a Parquet file which table and trace it has. False without memory. */
static bool note_parquet(struct fleet_file *file)
{
	const char *slash = strrchr(file->path, '/'), *name = slash ? slash + 1 : file->path;
	const size_t all = strlen(name), end = strlen(PARQUET_NAME);
	const bool named = all > end && strcmp(name + all - end, PARQUET_NAME) == 0;
	const char *above = slash ? memrchr(file->path, '/', (size_t)(slash - file->path)) : NULL;

	file->parquet = true;
	above = above ? above + 1 : file->path;
	if (slash)
		note_id(file, above, (size_t)(slash - above));
	note_id(file, name, named ? all - end : all);
	if (!file->table)
		file->table = unquoted(name, named ? all - end : all);
	return file->table;
}

/* Notes host, date and table of the folders below the top one. False without memory. */
static bool read_path(struct fleet_file *file, const char *below)
{
	const size_t all = strlen(below), end = strlen(PARQUET_NAME);
	const bool parquet = all > end && strcmp(below + all - end, PARQUET_NAME) == 0;

	for (const char *slash; (slash = strchr(below, '/')); below = slash + 1) {
		const size_t len = (size_t)(slash - below);

		if (!note_value(&file->host, "host=", below, len) ||
		    !note_value(&file->table, "table=", below, len))
			return false;
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
	return !parquet || note_parquet(file);
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

int fleet_list_files(struct fleet *f, const char *path, struct spur_error *err)
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
	/* The folders above are read, too, because the user may name a folder "…/host=web7". */
	rc = S_ISDIR(st.st_mode) ? list_folder(&l, top, 0) : add_file(&l, top);
	free(top);
	order_vec(&f->files, by_path);
	if (rc == 0 && !f->files.n)
		rc = error_set(err, -ENOENT, "%s: there are no files in this folder", path);
	return rc;
}

void fleet_free_files(struct fleet *f)
{
	vec_each (file, &f->files) {
		free(file->path);
		free(file->host);
		free(file->table);
		free(file->about);
	}
	vec_free(&f->files);
}

/* ---- what a file is ---- */

static const char magic[] = {0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g'};

/* The last page of a CPU is read to its end, because its last record has the last time. */
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

/* Reads identity and times of a trace; false if that fails, with the reason in a->why. */
static bool examine_trace(struct fleet_about *a, struct spur_trace *t)
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

/* Reads the range of times and the number of rows from Parquet's footer. */
static void examine_parquet(struct fleet_about *a, const struct parquet *p)
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
		/* A row group without statistics may have any time. */
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

/* The type of a file, by its first bytes and its name. */
static enum what type_of_file(const struct fleet_file *file, int *fd, char *why, size_t cap)
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

/* Opens a file of a known type, and examines it if it is new. */
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
			examine_parquet(file->about, in->parquet);
		return rc == 0 && !file->parquet && !note_parquet(file) ? -ENOMEM : rc;
	}
	rc = trace_open_fd(fd, file->path, NULL, &in->trace, err);
	if (rc == 0 && is_new && !examine_trace(file->about, in->trace))
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
	what = type_of_file(file, &fd, why, sizeof(why));
	if (what == IS_TRACE || what == IS_PARQUET)
		rc = open_as(file, what, fd, in, err);
	else if (fd >= 0)
		close(fd);
	if (rc < 0) {
		error_set(err, rc, "%s", *why ? why : "this is no trace");
		fleet_close(in);
	}
	/* Data about an examined file do not change: other threads may read them. */
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
	/* The message may begin with the path already. */
	const bool named = strncmp(why, file->path, strlen(file->path)) == 0;

	f->incomplete = true;
	if (file->told || !f->query->opt.note)
		return;
	file->told = true;
	query_tell(f->query, "%s%s%s", named ? "" : file->path, named ? "" : ": ", why);
}

const char *file_value(const struct fleet_file *file, enum fleet_column column)
{
	/* A Parquet file may have rows of several traces. */
	const bool known = file->state == FLEET_GOOD && !file->parquet;

	switch (column) {
	case FLEET_HOST: return file->host ? file->host : known ? file->about->id.host : NULL;
	case FLEET_DATE: return *file->date ? file->date : known ? file->about->date : NULL;
	default: return *file->id ? file->id : known ? file->about->id.trace_id : NULL;
	}
}

/* ---- tables of Parquet ---- */

/* Exported tables have the names that they have in SQL, except `losses`. */
static const char *const no_events[] = {"traces", LOSSES, "clock_sync", NULL};

bool fleet_is_event(const struct fleet_file *file)
{
	for (size_t i = 0; no_events[i]; i++)
		if (strcasecmp(file->table, no_events[i]) == 0)
			return false;
	return !table_find(file->table);
}

const char *fleet_event_name(const char *table)
{
	const char *colon = strchr(table, ':');

	return colon ? colon + 1 : table;
}

static bool ends_with_event(const char *table, const char *event)
{
	const char *name = fleet_event_name(table);

	return name != table && strcasecmp(name, event) == 0;
}

static enum fleet_match match_event(const struct fleet_file *file, const char *name)
{
	const size_t system = (size_t)(fleet_event_name(name) - name);
	const char *known = file->state == FLEET_GOOD ? file->about->system : "";

	if (strcasecmp(file->table, name) == 0)
		return FLEET_ROWS;
	/* "system:event" is always unambiguous, and a file may have its event's system. */
	if (ends_with_event(name, file->table))
		return !*known || strncasecmp(known, name, system - 1) == 0 ? FLEET_ROWS
									    : FLEET_NO_ROWS;
	return ends_with_event(file->table, name) ? FLEET_SEVERAL : FLEET_NO_ROWS;
}

enum fleet_match fleet_match(const struct fleet_file *file, const struct fleet_table *t)
{
	bool has;

	if (!file->parquet || !t->name)
		return FLEET_ROWS;
	if (t->kind == FLEET_EVENTS && strcasecmp(t->name, "events") != 0)
		return match_event(file, t->name);
	if (t->kind == FLEET_EVENTS)
		has = fleet_is_event(file);
	else
		has = strcasecmp(file->table, strcasecmp(t->name, LOST) == 0 ? LOSSES : t->name) ==
		      0;
	return has ? FLEET_ROWS : FLEET_NO_ROWS;
}

/* Whether a column is read or limited. */
static bool uses(const struct fleet_question *q, const struct limit_list *l, const char *name)
{
	bool found = false;

	for (size_t i = 0; i < q->nr; i++)
		found |= strcasecmp(q->table->columns.at[q->columns[i]].name, name) == 0;
	vec_each (limit, l)
		found |= strcasecmp(q->table->columns.at[limit->column].name, name) == 0;
	return found;
}

void fleet_note_parquet(struct fleet *f, const struct file_list *list,
			const struct fleet_question *q, const struct limit_list *l)
{
	const char *text = NULL;
	bool any = false;

	if (f->noted == f->query->statement)
		return;
	if (strcasecmp(q->table->name, "events") == 0 && uses(q, l, "text")) {
		for (size_t i = 0; i < list->n; i++)
			any |= f->files.at[list->at[i]].parquet;
		text = "Parquet has no texts of events: the column text is NULL in its rows";
	} else if (strcasecmp(q->table->name, "files") == 0) {
		vec_each (file, &f->files)
			any |= file->parquet;
		text = "files has no rows of Parquet: ask traces for them";
	}
	if (!any)
		return;
	f->noted = f->query->statement;
	query_tell(f->query, "%s", text);
}
