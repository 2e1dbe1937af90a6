// SPDX-License-Identifier: GPL-2.0-or-later
/* Writing the tables of a trace into a folder, and replacing the folder of an earlier export. */
#include "export/parquet/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/newfile.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/scoped.h"
#include "base/vec.h"

#define PART_MAX 200 /* bytes of a part: names of files have a limit of 255 */
#define ENDING	 ".parquet"
#define TRIES	 100

/* ---- names ---------------------------------------------------------------------------- */

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

/* "TABLE.parquet", which is not hidden; freed by the caller. */
static char *file_name(const char *table)
{
	scoped_buf b = buf_new(4 * PART_MAX);

	if (*table == '.')
		buf_puts(&b, "%2E");
	pq_put_part(&b, table + (*table == '.'));
	buf_puts(&b, ENDING);
	return buf_full(&b) ? NULL : strdup(buf_str(&b));
}

/* Back from a part of a path. */
static void take_part(const char *part, size_t len, char *to, size_t cap)
{
	size_t n = 0;

	for (size_t i = 0; i < len && n + 1 < cap; i++) {
		unsigned int byte;

		if (part[i] == '%' && i + 2 < len && sscanf(part + i + 1, "%2x", &byte) == 1) {
			to[n++] = (char)byte;
			i += 2;
		} else {
			to[n++] = part[i];
		}
	}
	to[n] = '\0';
}

/* "OUT/PLACE/ID"; freed by the caller. */
static char *trace_path(const struct pq_store *s, const char *place)
{
	char *path;

	return asprintf(&path, "%s/%s/%s", s->out, place, s->trace_id) < 0 ? NULL : path;
}

/* ---- folders -------------------------------------------------------------------------- */

static int make_folder(const char *path)
{
	return mkdir(path, 0777) == 0 || errno == EEXIST ? 0 : -errno;
}

/* All folders of a path after `from`, but for the last part. */
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

/* Folders that have become empty go, too. */
static void remove_parents(const struct pq_store *s, char *path)
{
	char *slash;

	while ((slash = strrchr(path, '/')) != NULL && slash > path + strlen(s->out)) {
		*slash = '\0';
		if (rmdir(path) < 0)
			return;
	}
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

/*
 * Makes the temporary folder: beside OUT, so that even programs that read hidden folders do not see
 * it in OUT; or in OUT, if it could not be renamed from outside.
 */
static int make_temp(struct pq_store *s)
{
	struct stat in, above;
	char *real = realpath(s->out, NULL), *slash, *inside;
	int fd = -EXDEV;

	if (!real)
		return -errno;
	slash = strrchr(real, '/');
	if (slash && slash > real) {
		*slash = '\0';
		if (stat(real, &above) == 0 && stat(s->out, &in) == 0 &&
		    in.st_dev == above.st_dev) {
			*slash = '/';
			fd = beside_folder(real, &s->temp);
		}
		*slash = '/';
	}
	if ((fd == -EXDEV || fd == -EACCES || fd == -EROFS || fd == -EPERM) &&
	    asprintf(&inside, "%s/spur", real) >= 0) {
		fd = beside_folder(inside, &s->temp);
		free(inside);
	}
	free(real);
	return fd;
}

/* ---- earlier exports of the trace ----------------------------------------------------- */

static void find_host(struct pq_store *s, const char *date, const char *host)
{
	struct pq_place p;
	char *path;

	if (snprintf(p.text, sizeof(p.text), "%s/%s", date, host) >= (int)sizeof(p.text))
		return;
	path = trace_path(s, p.text);
	if (path && access(path, F_OK) == 0)
		vec_add(&s->earlier, &p);
	free(path);
}

/*
 * Finds folders with the trace's id anywhere in OUT, because a trace may have been moved or
 * renamed. Removes empty folders: a killed export has left them, or another export will make them
 * again.
 */
static void find_earlier(struct pq_store *s)
{
	DIR *dates = opendir(s->out), *hosts;
	const char *date, *host;
	char path[4096];

	s->earlier.n = 0;
	while (dates && (date = next_name(dates, "date=")) != NULL) {
		snprintf(path, sizeof(path), "%s/%s", s->out, date);
		hosts = opendir(path);
		while (hosts && (host = next_name(hosts, "host=")) != NULL)
			if (unlinkat(dirfd(hosts), host, AT_REMOVEDIR) < 0)
				find_host(s, date, host);
		if (hosts)
			closedir(hosts);
		rmdir(path);
	}
	if (dates)
		closedir(dates);
}

/* The earlier folder to replace: the one at the same place, or any. */
static const struct pq_place *choose_earlier(const struct pq_store *s)
{
	vec_each (p, &s->earlier)
		if (strcmp(p->text, s->place.text) == 0)
			return p;
	return s->earlier.n ? &s->earlier.at[0] : NULL;
}

/* ---- tables that this export is not about --------------------------------------------- */

static int copy_file(const struct pq_store *s, int from, const char *name)
{
	scoped_fd in = openat(from, name, O_RDONLY | O_CLOEXEC);
	int out = in < 0 ? -1
			 : openat(s->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	int rc = out < 0 ? -errno : 0;
	ssize_t n;

	while (rc == 0 && (n = copy_file_range(in, NULL, out, NULL, 1u << 30, 0)) != 0)
		rc = n < 0 ? -errno : 0;
	if (out >= 0 && close(out) < 0 && rc == 0)
		rc = -errno;
	return rc;
}

/* A file stays as it is: it gets a second name, or a copy where there are none. */
static int carry_file(const struct pq_store *s, int from, const char *name)
{
	const size_t len = strlen(name), end = strlen(ENDING);
	char table[PART_MAX + 56];

	if (len <= end || strcmp(name + len - end, ENDING) != 0)
		return 0;
	take_part(name, len - end, table, sizeof(table));
	if (!s->chosen || s->chosen(s->arg, table) ||
	    faccessat(s->folder, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	if (linkat(from, name, s->folder, name, 0) == 0 || errno == ENOENT)
		return 0;
	return errno == EEXIST ? 0 : copy_file(s, from, name);
}

static int carry_over(const struct pq_store *s, const char *earlier)
{
	const int from = open(earlier, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = from < 0 ? NULL : fdopendir(from);
	const char *name;
	int rc = 0;

	while (d && rc == 0 && (name = next_name(d, "")) != NULL)
		rc = carry_file(s, from, name);
	if (d)
		closedir(d);
	else if (from >= 0)
		close(from);
	return rc;
}

/* ---- one export ----------------------------------------------------------------------- */

int pq_store_open(struct pq_store *s, struct spur_error *err)
{
	int rc;

	s->folder = -1;
	rc = make_folder(s->out);
	if (rc == 0)
		rc = make_temp(s);
	if (rc < 0)
		return error_sys(err, rc, "%s", s->out);
	s->folder = rc;
	return 0;
}

int pq_store_name(struct pq_store *s, const char *file, const char *table, struct spur_error *err)
{
	char *name = file_name(table);
	int rc = name ? 0 : -ENOMEM;

	if (rc == 0 && renameat(s->folder, file, s->folder, name) < 0)
		rc = -errno;
	free(name);
	return rc < 0 ? error_sys(err, rc, "the table %s", table) : 0;
}

/*
 * If the process is killed at any moment, one of the two folders is complete at the earlier place.
 */
static int exchange(struct pq_store *s, const char *path, const char *earlier)
{
	char *aside;
	int rc = 0;

	if (renameat2(AT_FDCWD, s->temp, AT_FDCWD, earlier, RENAME_EXCHANGE) == 0)
		return strcmp(earlier, path) == 0 || rename(earlier, path) == 0 ? 0 : -errno;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	/* If the file system cannot do that, the trace is missing for a moment. */
	if (asprintf(&aside, "%s0", s->temp) < 0)
		return -ENOMEM;
	if (rename(earlier, aside) < 0)
		rc = -errno;
	if (rc == 0 && rename(s->temp, path) < 0) {
		rc = -errno;
		/* Under the hidden name the next export would remove it. */
		rename(aside, earlier);
	} else if (rc == 0 && rename(aside, s->temp) < 0) {
		beside_remove(aside);
	}
	free(aside);
	return rc;
}

/* One try: -EAGAIN if another export has changed the place meanwhile. */
static int try_keep(struct pq_store *s, char *path)
{
	const struct pq_place *p;
	char *earlier;
	int rc;

	find_earlier(s);
	rc = make_parents(path, strlen(s->out) + 1);
	if (rc < 0)
		return rc == -ENOENT ? -EAGAIN : rc;
	p = choose_earlier(s);
	if (!p) {
		rc = rename(s->temp, path) == 0 ? 0 : -errno;
	} else {
		earlier = trace_path(s, p->text);
		rc = earlier ? carry_over(s, earlier) : -ENOMEM;
		if (rc == 0)
			rc = exchange(s, path, earlier);
		if (rc == 0 && strcmp(earlier, path) != 0)
			remove_parents(s, earlier);
		free(earlier);
	}
	return rc == -ENOENT || rc == -ENOTEMPTY || rc == -EEXIST ? -EAGAIN : rc;
}

/* Two exports at the same time may have left the trace in two places. */
static void remove_others(struct pq_store *s)
{
	find_earlier(s);
	vec_each (p, &s->earlier) {
		char *path = strcmp(p->text, s->place.text) == 0 ? NULL : trace_path(s, p->text);

		beside_remove(s->temp);
		if (path && rename(path, s->temp) == 0)
			remove_parents(s, path);
		free(path);
	}
}

int pq_store_keep(struct pq_store *s, struct spur_error *err)
{
	char *path = trace_path(s, s->place.text);
	int rc = path ? -EAGAIN : -ENOMEM;

	for (int i = 0; i < TRIES && rc == -EAGAIN; i++)
		rc = try_keep(s, path);
	if (rc == 0)
		remove_others(s);
	free(path);
	return rc < 0 ? error_sys(err, rc, "%s", s->out) : 0;
}

void pq_store_close(struct pq_store *s)
{
	/* After an exchange, the temporary name is that of the old folder. */
	if (s->temp)
		beside_remove(s->temp);
	if (s->folder >= 0)
		close(s->folder);
	s->folder = -1;
	free(s->temp);
	vec_free(&s->earlier);
}
