// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What lies in the folder of a fleet, and what the names of folders and files say of it.
 *
 * Listing opens folders only. Folders that are links are not entered, so that there are no circles;
 * what is neither a file nor a link to one is passed over, and so is whatever a name begins with a
 * dot, as programs that copy files call what is not complete yet.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/error.h"
#include "base/vec.h"
#include "query/fleet/private.h"

#define PARQUET_NAME ".parquet"
#define MAX_DEPTH    24
#define MAX_FILES    (1u << 21)
#define NS_PER_S     1000000000ull
#define S_PER_DAY    86400

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

/* Keeps the value of a folder called NAME=VALUE. False without memory. */
static bool take_value(char **to, const char *name, const char *folder, size_t len)
{
	const size_t n = strlen(name);

	if (len <= n || strncmp(folder, name, n) != 0)
		return true;
	free(*to);
	*to = unquoted(folder + n, len - n);
	return *to;
}

/* A file of one trace, or the folder that it is in, is called by the trace's number. */
static void take_id(struct fleet_file *file, const char *name, size_t len)
{
	if (len != sizeof(file->id) - 1 || strspn(name, "0123456789abcdef") < len)
		return;
	memcpy(file->id, name, len);
	file->id[len] = '\0';
}

bool fleet_take_parquet(struct fleet_file *file)
{
	const char *slash = strrchr(file->path, '/'), *name = slash ? slash + 1 : file->path;
	const size_t all = strlen(name), end = strlen(PARQUET_NAME);
	const bool named = all > end && strcmp(name + all - end, PARQUET_NAME) == 0;

	const char *above = slash ? memrchr(file->path, '/', (size_t)(slash - file->path)) : NULL;

	file->parquet = true;
	above = above ? above + 1 : file->path;
	if (slash)
		take_id(file, above, (size_t)(slash - above));
	take_id(file, name, named ? all - end : all);
	if (!file->table)
		file->table = unquoted(name, named ? all - end : all);
	return file->table;
}

/* Takes host, date and table from the folders below the top one. False without memory. */
static bool read_path(struct fleet_file *file, const char *below)
{
	const size_t all = strlen(below), end = strlen(PARQUET_NAME);
	const bool parquet = all > end && strcmp(below + all - end, PARQUET_NAME) == 0;

	for (const char *slash; (slash = strchr(below, '/')); below = slash + 1) {
		const size_t len = (size_t)(slash - below);

		if (!take_value(&file->host, "host=", below, len) ||
		    !take_value(&file->table, "table=", below, len))
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
	return !parquet || fleet_take_parquet(file);
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
		free(file->table);
		free(file->about);
	}
	vec_free(&f->files);
}
