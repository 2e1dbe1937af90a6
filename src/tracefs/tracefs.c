// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds tracefs, reads and writes its files, and lists its events. */
#include "tracefs/tracefs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/scoped.h"
#include "base/vec.h"

#define PATH_CAP    512
#define FILE_LIMIT  (256u << 20) /* kallsyms of a large kernel has 15 MB */
#define LOG_LIMIT   (64u << 10)
#define SHORT_LIMIT 4096

static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

/* O_PATH, because any other way to open the folder makes debugfs mount tracefs there. */
bool tracefs_is_live(const char *path)
{
	scoped_fd fd = open(path, O_PATH | O_CLOEXEC);
	struct statfs fs;
	bool is = fd >= 0 && fstatfs(fd, &fs) == 0 && fs.f_type == TRACEFS_MAGIC;

	return is;
}

int tracefs_look(struct tracefs *fs, struct spur_error *err)
{
	memset(fs, 0, sizeof(*fs));
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		if (!tracefs_is_live(places[i]))
			continue;
		snprintf(fs->path, sizeof(fs->path), "%s", places[i]);
		if (access(fs->path, R_OK | X_OK) == 0)
			return 0;
		return error_set(err, -errno,
				 "%s: not accessible: tracing needs root, or CAP_DAC_OVERRIDE",
				 fs->path);
	}
	if (access(places[0], F_OK) != 0)
		return error_set(err, -ENODEV,
				 "this kernel has no tracefs (CONFIG_TRACING): "
				 "%s does not exist",
				 places[0]);
	return error_set(err, -ENOENT, "tracefs is not mounted at %s", places[0]);
}

int tracefs_find(struct tracefs *fs, struct spur_error *err)
{
	struct spur_error why = {0};
	int rc = tracefs_look(fs, &why);

	if (rc != -ENOENT)
		return rc < 0 ? error_set(err, rc, "%s", why.text) : 0;
	if (mount("nodev", places[0], "tracefs", 0, NULL) != 0)
		return error_sys(err, -errno, "tracefs is not mounted at %s and cannot be",
				 places[0]);
	snprintf(fs->path, sizeof(fs->path), "%s", places[0]);
	return 0;
}

bool tracefs_path(const struct tracefs *fs, const char *instance, const char *file, char *path,
		  size_t cap)
{
	int n;

	if (file[0] == '/')
		n = snprintf(path, cap, "%s", file);
	else if (instance && *instance)
		n = snprintf(path, cap, "%s/instances/%s/%s", fs->path, instance, file);
	else
		n = snprintf(path, cap, "%s/%s", fs->path, file);
	return n > 0 && (size_t)n < cap;
}

bool tracefs_has(const struct tracefs *fs, const char *instance, const char *file)
{
	char path[PATH_CAP];

	return tracefs_path(fs, instance, file, path, sizeof(path)) && access(path, F_OK) == 0;
}

static int open_path(const struct tracefs *fs, const char *instance, const char *file, int flags,
		     char *path, struct spur_error *err)
{
	int fd;

	if (!tracefs_path(fs, instance, file, path, PATH_CAP))
		return error_set(err, -ENAMETOOLONG, "%s: the name is too long", file);
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? error_sys(err, -errno, "%s", path) : fd;
}

int tracefs_open(const struct tracefs *fs, const char *instance, const char *file, int flags,
		 struct spur_error *err)
{
	char path[PATH_CAP];

	return open_path(fs, instance, file, flags, path, err);
}

int tracefs_read(const struct tracefs *fs, const char *instance, const char *file, struct buf *to,
		 struct spur_error *err)
{
	char path[PATH_CAP];

	if (!tracefs_path(fs, instance, file, path, sizeof(path)))
		return error_set(err, -ENAMETOOLONG, "%s: the name is too long", file);
	return file_read(path, to, err);
}

/* A short file in memory of the caller's. */
static int read_short(const struct tracefs *fs, const char *instance, const char *file, char *text,
		      size_t cap, struct spur_error *err)
{
	char path[PATH_CAP];
	int n;

	if (!tracefs_path(fs, instance, file, path, sizeof(path)))
		return error_set(err, -ENAMETOOLONG, "%s: the name is too long", file);
	n = file_read_text(AT_FDCWD, path, text, cap);
	return n < 0 ? error_sys(err, n, "%s", path) : 0;
}

int tracefs_read_line(const struct tracefs *fs, const char *instance, const char *file, char *line,
		      size_t cap, struct spur_error *err)
{
	int rc = read_short(fs, instance, file, line, cap, err);

	if (rc == 0)
		line[strcspn(line, "\n")] = '\0';
	return rc;
}

int tracefs_read_number(const struct tracefs *fs, const char *instance, const char *file,
			int64_t *value, struct spur_error *err)
{
	char line[64], *end;
	int rc = tracefs_read_line(fs, instance, file, line, sizeof(line), err);

	if (rc < 0)
		return rc;
	*value = strtoll(line, &end, 0);
	return end == line ? error_set(err, -EBADMSG, "%s: no number: '%s'", file, line) : 0;
}

int tracefs_read_choice(const struct tracefs *fs, const char *instance, const char *file,
			char *word, size_t cap, struct spur_error *err)
{
	char text[SHORT_LIMIT];
	int rc = read_short(fs, instance, file, text, sizeof(text), err);
	const char *open = rc < 0 ? NULL : strchr(text, '[');
	const char *from = open ? open + 1 : text;

	if (rc < 0)
		return rc;
	snprintf(word, cap, "%.*s", (int)strcspn(from, open ? "]" : " \t\n"), from);
	return 0;
}

/* The last message of the kernel's error log, if it is about this text. */
static bool kernel_words(const struct tracefs *fs, const char *instance, const char *text,
			 char *words, size_t cap)
{
	struct buf log;
	char *command, *said = NULL, *head;
	size_t len = strcspn(text, "\n");

	buf_init(&log, LOG_LIMIT);
	words[0] = '\0';
	if (tracefs_read(fs, instance, "error_log", &log, NULL) < 0)
		goto out;
	for (char *at = log.data; (command = strstr(at, "\n  Command: ")); at = said)
		said = command + strlen("\n  Command: ");
	/* The kernel shows the command that was written, or at least its end. */
	if (!said || len == 0 || (strncmp(said, text, len) != 0 && !strstr(said, text)))
		goto out;
	said[-(long)strlen("\n  Command: ")] = '\0';
	head = strrchr(log.data, '\n');
	head = strstr(head ? head : log.data, "error: ");
	if (head)
		snprintf(words, cap, "%s", head + strlen("error: "));
out:
	buf_free(&log);
	return words[0];
}

static int write_error(const struct tracefs *fs, const char *instance, const char *path,
		       const char *text, int code, struct spur_error *err)
{
	char words[200];
	int len = (int)strcspn(text, "\n");

	if ((code == -EINVAL || code == -ENOENT || code == -EEXIST) &&
	    kernel_words(fs, instance, text, words, sizeof(words)))
		return error_set(err, code, "%s: '%.*s': %s", path, len, text, words);
	return error_sys(err, code, "%s: writing '%.*s'", path, len > 120 ? 120 : len, text);
}

int tracefs_write(const struct tracefs *fs, const char *instance, const char *file,
		  enum tracefs_how how, const char *text, struct spur_error *err)
{
	int flags = O_WRONLY | (how == TRACEFS_APPEND ? O_APPEND : O_TRUNC), rc = 0;
	char path[PATH_CAP];
	int fd = open_path(fs, instance, file, flags, path, err);

	if (fd < 0)
		return fd;
	while (*text && rc == 0) {
		size_t len = strcspn(text, "\n");
		ssize_t n;

		/* For the kernel a newline ends a word, and words need a separator. */
		if (text[len] == '\n')
			len++;
		do
			n = write(fd, text, len);
		while (n < 0 && errno == EINTR);
		if (n < 0)
			rc = write_error(fs, instance, path, text, -errno, err);
		else if (n == 0)
			rc = error_set(err, -EIO, "%s: takes nothing", path);
		else
			text += n;
	}
	if (close(fd) != 0 && rc == 0)
		rc = error_sys(err, -errno, "%s", path);
	return rc;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_visible(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

int tracefs_each(const struct tracefs *fs, const char *instance, const char *dir,
		 int (*entry)(void *arg, const char *name), void *arg, struct spur_error *err)
{
	char path[PATH_CAP];
	struct dirent **names;
	int n, rc = 0;

	if (!tracefs_path(fs, instance, dir, path, sizeof(path)))
		return error_set(err, -ENAMETOOLONG, "%s: the name is too long", dir);
	n = scandir(path, &names, is_visible, by_name);
	if (n < 0)
		return error_sys(err, -errno, "%s", path);
	for (int i = 0; i < n; i++) {
		if (rc == 0)
			rc = entry(arg, names[i]->d_name);
		free(names[i]);
	}
	free(names);
	return rc;
}

static int instance_path(const struct tracefs *fs, const char *name, char *path,
			 struct spur_error *err)
{
	if (!*name || strchr(name, '/') || name[0] == '.' ||
	    snprintf(path, PATH_CAP, "%s/instances/%s", fs->path, name) >= PATH_CAP)
		return error_set(err, -EINVAL, "'%s' is no name for an instance", name);
	return 0;
}

int tracefs_make_instance(const struct tracefs *fs, const char *name, struct spur_error *err)
{
	char path[PATH_CAP];
	int rc = instance_path(fs, name, path, err);

	if (rc == 0 && mkdir(path, 0750) != 0)
		rc = error_sys(err, -errno, "%s: making the instance", path);
	return rc;
}

int tracefs_remove_instance(const struct tracefs *fs, const char *name, struct spur_error *err)
{
	char path[PATH_CAP];
	int rc = instance_path(fs, name, path, err);

	if (rc == 0 && rmdir(path) != 0)
		rc = error_sys(err, -errno, "%s: removing the instance", path);
	return rc;
}

bool tracefs_lists(const struct tracefs *fs, const char *instance, const char *file,
		   const char *word)
{
	size_t len = strlen(word);
	bool found = false;
	struct buf text;

	buf_init(&text, FILE_LIMIT);
	if (tracefs_read(fs, instance, file, &text, NULL) == 0)
		for (const char *at = text.data; *at && !found;) {
			size_t n = strcspn(at, " \t\n");

			found = n == len && memcmp(at, word, n) == 0;
			at += n;
			at += strspn(at, " \t\n");
		}
	buf_free(&text);
	return found;
}

/* ---- events ---- */

#define LIST_LIMIT (16u << 20)
#define WORD_CAP   256

static int by_system_and_name(const void *a, const void *b)
{
	const struct tracefs_event *x = a, *y = b;
	int order = strcmp(x->system, y->system);

	return order ? order : strcmp(x->name, y->name);
}

/* Splits a list of lines "system:name" in place. */
static int split_list(struct tracefs_events *list)
{
	for (char *at = list->names, *next; *at; at = next) {
		char *colon;
		struct tracefs_event *e;

		next = at + strcspn(at, "\n");
		if (*next)
			*next++ = '\0';
		colon = strchr(at, ':');
		if (!colon)
			continue;
		e = vec_push(list);
		if (!e)
			return -ENOMEM;
		*colon = '\0';
		e->system = at;
		e->name = colon + 1;
	}
	if (list->n)
		qsort(list->at, list->n, sizeof(*list->at), by_system_and_name);
	return 0;
}

int tracefs_events_load(const struct tracefs *fs, const char *instance, struct tracefs_events *list,
			struct spur_error *err)
{
	struct buf text;
	int rc;

	memset(list, 0, sizeof(*list));
	buf_init(&text, LIST_LIMIT);
	/* Events are the same for all instances, and only the top directory has the list. */
	if (!tracefs_has(fs, instance, "available_events"))
		instance = NULL;
	rc = tracefs_read(fs, instance, "available_events", &text, err);
	if (rc < 0) {
		buf_free(&text);
		return rc;
	}
	list->names = text.data;
	if (split_list(list) < 0) {
		tracefs_events_free(list);
		return error_set(err, -ENOMEM, "out of memory for the list of events");
	}
	return 0;
}

void tracefs_events_free(struct tracefs_events *list)
{
	vec_free(list);
	free(list->names);
	list->names = NULL;
}

static bool word_matches(const char *wanted, size_t len, const char *name)
{
	char glob[WORD_CAP];

	if (len == 0 || (len == 3 && memcmp(wanted, "all", 3) == 0))
		return true;
	if (len >= sizeof(glob))
		return false;
	memcpy(glob, wanted, len);
	glob[len] = '\0';
	return fnmatch(glob, name, 0) == 0;
}

/* The name of the system call whose entry or exit an event is, or NULL. */
static const char *syscall_of(const struct tracefs_event *e)
{
	if (strcmp(e->system, "syscalls") != 0)
		return NULL;
	if (strncmp(e->name, "sys_enter_", 10) == 0)
		return e->name + 10;
	return strncmp(e->name, "sys_exit_", 9) == 0 ? e->name + 9 : NULL;
}

bool tracefs_event_matches(const struct tracefs_event *e, const char *wanted)
{
	size_t len = strcspn(wanted, ":/");
	const char *rest = wanted[len] ? wanted + len + 1 : NULL;

	if (!rest)
		return word_matches(wanted, len, e->system) || word_matches(wanted, len, e->name);
	if (len == 7 && memcmp(wanted, "syscall", 7) == 0) {
		const char *name = syscall_of(e);

		return name && word_matches(rest, strlen(rest), name);
	}
	return word_matches(wanted, len, e->system) && word_matches(rest, strlen(rest), e->name);
}
