// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Undo logs of processes that are gone: finding, describing and undoing them.
 *
 * A log counts as left only while its lock is held here.
 */
#include "tracefs/leftovers.h"

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
#include "base/vec.h"
#include "tracefs/state.h"
#include "tracefs/journal.h"

static void count(struct leftover *l)
{
	vec_each (b, l->backs) {
		l->nr_instances += b->kind == BACK_REMOVE;
		l->nr_settings += b->kind == BACK_WRITE;
		l->nr_lines += b->kind == BACK_LINE;
	}
}

static void drop(struct leftover *l)
{
	if (l->backs)
		backs_free(l->backs);
	free(l->backs);
	free(l->note);
	close(l->fd);
}

/*
 * Whether a log that could be locked has to be cleaned up. Another process may have done that
 * after the log was found and before it was locked. If the owner lives without holding its log, the
 * log is left alone.
 */
static bool is_dead(int fd, const char *path, const struct tracefs *fs, struct journal_head *h)
{
	char boot[64];
	struct stat st;

	if (fstat(fd, &st) < 0 || !st.st_nlink || !S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return false;
	/* One that is empty has been taken back. */
	if (!st.st_size) {
		unlink(path);
		return false;
	}
	if (!journal_head(fd, h))
		return false;
	owner_boot(boot, sizeof(boot));
	if (strcmp(boot, h->boot) != 0) {
		unlink(path);
		return false;
	}
	return strcmp(h->fs, fs->path) == 0 && owner_state(&h->owner) != OWNER_ALIVE;
}

static int add(struct leftovers *list, int fd, const char *path, const struct journal_head *h)
{
	struct leftover *l = vec_push(list);
	int rc;

	if (!l)
		return -ENOMEM;
	l->fd = fd;
	l->owner = h->owner;
	snprintf(l->tag, sizeof(l->tag), "%s", h->tag);
	snprintf(l->path, sizeof(l->path), "%s", path);
	l->backs = calloc(1, sizeof(*l->backs));
	rc = l->backs ? journal_read(fd, l->backs, &l->note) : -ENOMEM;
	if (rc < 0) {
		drop(l);
		list->n--;
		return rc;
	}
	count(l);
	return 0;
}

static int look_at(struct leftovers *list, DIR *dir, const char *name, const struct tracefs *fs)
{
	struct journal_head head;
	char path[96];
	int fd, rc = 0;

	if (name[0] == '.' ||
	    snprintf(path, sizeof(path), JOURNAL_FOLDER "/%s", name) >= (int)sizeof(path))
		return 0;
	fd = openat(dirfd(dir), name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 && is_dead(fd, path, fs, &head)) {
		rc = add(list, fd, path, &head);
		fd = -1;
	}
	if (fd >= 0)
		close(fd);
	return rc;
}

int leftovers_load(const struct tracefs *fs, struct leftovers *list, struct spur_error *err)
{
	int folder = journal_folder(false), rc = 0;
	const struct dirent *e;
	DIR *dir;

	*list = (struct leftovers){0};
	if (folder < 0)
		return 0;
	dir = fdopendir(folder);
	if (!dir) {
		close(folder);
		return error_set(err, -ENOMEM, "out of memory");
	}
	while (rc == 0 && (e = readdir(dir)))
		rc = look_at(list, dir, e->d_name, fs);
	closedir(dir);
	if (rc < 0) {
		leftovers_free(list);
		return error_sys(err, rc, JOURNAL_FOLDER);
	}
	return 0;
}

void leftovers_free(struct leftovers *list)
{
	vec_each (l, list)
		drop(l);
	vec_free(list);
}

int leftover_undo(struct leftover *l, const struct tracefs *fs,
		  void (*left)(void *arg, const char *instance, const char *file), void *arg,
		  struct spur_error *err)
{
	int rc = backs_run_late(l->backs, fs, left, arg, err);

	if (rc == 0)
		unlink(l->path);
	return rc;
}

int leftovers_probes(const struct tracefs *fs, void (*removed)(void *arg, const char *probe),
		     void *arg, struct spur_error *err)
{
	struct dynamic_events list;
	int rc = dynamic_load(fs, &list, err);

	if (rc < 0)
		return rc;
	for (size_t i = list.n; i-- > 0;) {
		const struct dynamic_event *e = &list.at[i];
		char line[256];
		struct owner o;

		if (!owner_of_group(e->group, &o) || owner_state(&o) != OWNER_DEAD ||
		    journal_is_used(o.pid) ||
		    snprintf(line, sizeof(line), "-:%s/%s", e->group, e->name) >= (int)sizeof(line))
			continue;
		if (tracefs_write(fs, NULL, "dynamic_events", TRACEFS_APPEND, line, NULL) == 0)
			removed(arg, line + 2);
	}
	dynamic_free(&list);
	return 0;
}

static void add_part(char *text, size_t cap, size_t n, const char *what, bool *first)
{
	const size_t len = strlen(text);

	if (!n)
		return;
	snprintf(text + len, cap - len, "%s%zu %s%s", *first ? ": " : ", ", n, what,
		 n == 1 ? "" : "s");
	*first = false;
}

void leftover_describe(const struct leftover *l, char *text, size_t cap)
{
	bool first = true;

	snprintf(text, cap, "process %d", (int)l->owner.pid);
	add_part(text, cap, l->nr_instances, "instance", &first);
	add_part(text, cap, l->nr_settings, "setting", &first);
	add_part(text, cap, l->nr_lines, "probe or trigger", &first);
}
