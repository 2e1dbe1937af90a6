// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/parquet_store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/vec.h"

#define LOCK	 "lock"
#define PART_MAX 200 /* bytes of a part: names of files have a limit of 255 */
#define TRIES	 100

/* ---- names ---- */

static bool is_plain(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '_' || c == '.';
}

void pq_put_part(struct buf *to, const char *text)
{
	static const struct hash_seed seed = {0x452821e638d01377, 0xbe5466cf34e90c6c};
	const size_t start = to->len;

	for (const char *p = text; *p; p++) {
		if (to->len - start > PART_MAX - 20) {
			/* The rest as a number: it still is a name of its own. */
			buf_printf(to, "~%016llx",
				   (unsigned long long)hash_bytes(&seed, text, strlen(text)));
			return;
		}
		if (is_plain((unsigned char)*p))
			buf_putc(to, *p);
		else
			buf_printf(to, "%%%02X", (unsigned char)*p);
	}
}

/* "OUT/table=PART/PLACE/ID.parquet"; freed by the caller. */
static char *file_path(const struct pq_store *s, const char *part, const char *place)
{
	char *path;

	if (asprintf(&path, "%s/table=%s/%s/%s.parquet", s->out, part, place, s->trace_id) < 0)
		return NULL;
	return path;
}

/* ---- folders ---- */

static int make_folder(const char *path)
{
	return mkdir(path, 0777) == 0 || errno == EEXIST ? 0 : -errno;
}

/* All folders of a path behind `from`; the last part is a file. */
static int make_parents(char *path, size_t from)
{
	int rc = 0;

	for (char *p = path + from; rc == 0 && (p = strchr(p, '/')) != NULL; p++) {
		*p = '\0';
		rc = make_folder(path);
		*p = '/';
	}
	return rc;
}

/* The folder may go from under us when the export that holds the lock ends just now. */
static int try_lock(struct pq_store *s)
{
	struct stat st;

	if (mkdir(s->temp, 0777) < 0 && errno != EEXIST)
		return -errno;
	s->folder = open(s->temp, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (s->folder < 0)
		return errno == ENOENT ? -EAGAIN : -errno;
	s->lock = openat(s->folder, LOCK, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (s->lock < 0)
		return errno == ENOENT ? -EAGAIN : -errno;
	if (flock(s->lock, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	return fstat(s->lock, &st) == 0 && st.st_nlink ? 0 : -EAGAIN;
}

static void let_go(struct pq_store *s)
{
	if (s->lock >= 0)
		close(s->lock);
	if (s->folder >= 0)
		close(s->folder);
	s->lock = s->folder = -1;
}

static int take_lock(struct pq_store *s)
{
	int rc = -EAGAIN;

	for (int i = 0; i < TRIES && rc == -EAGAIN; i++) {
		let_go(s);
		rc = try_lock(s);
	}
	if (rc < 0)
		let_go(s);
	return rc;
}

/* The next name in a folder that begins with `start`, or NULL. */
static const char *next_name(DIR *d, const char *start)
{
	const struct dirent *e;

	while ((e = readdir(d)) != NULL)
		if (strncmp(e->d_name, start, strlen(start)) == 0)
			return e->d_name;
	return NULL;
}

static void empty_temp(const struct pq_store *s, bool lock_too)
{
	DIR *d = opendir(s->temp);
	const char *name;

	while (d && (name = next_name(d, "")) != NULL)
		if (strcmp(name, LOCK) != 0 && name[0] != '.')
			unlinkat(s->folder, name, 0);
	if (d)
		closedir(d);
	if (lock_too)
		unlinkat(s->folder, LOCK, 0);
}

/* ---- earlier exports of the trace ---- */

static void add_earlier(struct pq_store *s, const char *place)
{
	struct pq_place *p;

	if (strncmp(place, "date=", 5) != 0 || strstr(place, "..") ||
	    strlen(place) >= sizeof(p->text))
		return;
	p = vec_push(&s->earlier);
	if (p)
		snprintf(p->text, sizeof(p->text), "%s", place);
}

/* Where one that was killed was about to put its files; and where this one will. */
static int exchange_places(struct pq_store *s)
{
	struct pq_place was = {""};
	const int64_t n = file_read_at(s->lock, was.text, sizeof(was.text) - 1, 0);

	if (n > 0)
		add_earlier(s, was.text);
	if (ftruncate(s->lock, 0) < 0)
		return -errno;
	return file_write_at(s->lock, s->place.text, strlen(s->place.text), 0, NULL);
}

static void find_host(struct pq_store *s, const char *date, const char *host)
{
	struct pq_place p;
	char *path;

	if (snprintf(p.text, sizeof(p.text), "%s/%s", date, host) >= (int)sizeof(p.text))
		return;
	path = file_path(s, "traces", p.text);
	if (path && access(path, F_OK) == 0)
		add_earlier(s, p.text);
	free(path);
}

/* The table of traces tells where the trace's files are: a moved or renamed trace is the same. */
static void find_earlier(struct pq_store *s)
{
	const char *date, *host;
	char path[4096];
	DIR *dates, *hosts;

	snprintf(path, sizeof(path), "%s/table=traces", s->out);
	dates = opendir(path);
	while (dates && (date = next_name(dates, "date=")) != NULL) {
		snprintf(path, sizeof(path), "%s/table=traces/%s", s->out, date);
		hosts = opendir(path);
		while (hosts && (host = next_name(hosts, "host=")) != NULL)
			find_host(s, date, host);
		if (hosts)
			closedir(hosts);
	}
	if (dates)
		closedir(dates);
}

/* Folders that have become empty go, too. */
static void remove_file(const struct pq_store *s, const char *part, const char *place)
{
	char *path = file_path(s, part, place), *slash;

	if (path && unlink(path) == 0)
		while ((slash = strrchr(path, '/')) != NULL && slash > path + strlen(s->out)) {
			*slash = '\0';
			if (rmdir(path) < 0)
				break;
		}
	free(path);
}

static bool is_kept(const char *part, const char *const *tables, size_t n)
{
	struct buf b;
	bool same = false;

	buf_init(&b, 4 * PART_MAX);
	for (size_t i = 0; i < n && !same; i++) {
		buf_reset(&b);
		pq_put_part(&b, tables[i]);
		same = strcmp(buf_str(&b), part) == 0;
	}
	buf_free(&b);
	return same;
}

/* Back from a part of a path. */
static void take_part(const char *part, char *to, size_t cap)
{
	size_t n = 0;

	for (; *part && n + 1 < cap; part++) {
		unsigned int byte;

		if (part[0] == '%' && sscanf(part + 1, "%2x", &byte) == 1) {
			to[n++] = (char)byte;
			part += 2;
		} else {
			to[n++] = *part;
		}
	}
	to[n] = '\0';
}

static void clear_table(struct pq_store *s, const char *part, const char *const *tables, size_t n)
{
	char name[PART_MAX + 56];
	bool goes;

	take_part(part, name, sizeof(name));
	goes = !is_kept(part, tables, n) && (!s->chosen || s->chosen(s->arg, name));
	vec_each (p, &s->earlier) {
		if (strcmp(p->text, s->place.text) != 0)
			remove_file(s, part, p->text);
		else if (goes)
			remove_file(s, part, p->text);
	}
}

void pq_store_clear(struct pq_store *s, const char *const *tables, size_t n)
{
	DIR *d = opendir(s->out);
	const char *name;

	while (d && (name = next_name(d, "table=")) != NULL)
		clear_table(s, name + strlen("table="), tables, n);
	if (d)
		closedir(d);
}

/* ---- one export ---- */

int pq_store_open(struct pq_store *s, struct spur_error *err)
{
	int rc;

	s->folder = s->lock = -1;
	rc = make_folder(s->out);
	if (rc < 0)
		return error_sys(err, rc, "%s", s->out);
	if (asprintf(&s->temp, "%s/.spur-%s", s->out, s->trace_id) < 0) {
		s->temp = NULL;
		return error_set(err, -ENOMEM, "out of memory");
	}
	rc = take_lock(s);
	if (rc == -EBUSY)
		return error_set(err, rc, "%s: another export of the same trace is under way",
				 s->out);
	if (rc == 0)
		rc = exchange_places(s);
	if (rc < 0)
		return error_sys(err, rc, "%s", s->temp);
	empty_temp(s, false);
	find_earlier(s);
	return 0;
}

int pq_store_keep(struct pq_store *s, const char *name, const char *table, struct spur_error *err)
{
	struct buf part;
	char *path = NULL;
	int rc = -ENOMEM;

	buf_init(&part, 4 * PART_MAX);
	pq_put_part(&part, table);
	if (!buf_full(&part))
		path = file_path(s, buf_str(&part), s->place.text);
	/* Another export may just have removed a folder, which was empty. */
	for (int i = 0; path && i < TRIES && (i == 0 || rc == -ENOENT); i++) {
		rc = make_parents(path, strlen(s->out) + 1);
		if (rc == 0 && renameat(s->folder, name, AT_FDCWD, path) < 0)
			rc = -errno;
	}
	if (rc < 0)
		error_sys(err, rc, "%s", path ? path : table);
	free(path);
	buf_free(&part);
	return rc;
}

void pq_store_close(struct pq_store *s)
{
	/* Without the lock the folder is someone else's. */
	if (s->lock >= 0) {
		empty_temp(s, true);
		rmdir(s->temp);
	}
	let_go(s);
	free(s->temp);
	vec_free(&s->earlier);
}
