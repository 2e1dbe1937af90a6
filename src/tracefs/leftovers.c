// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Leftovers of killed processes in the kernel: undo logs, instances, probes, and an event that the
 * kernel has turned on for them.
 *
 * A log is a leftover only while this process holds its lock.
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
#include "base/file.h"
#include "base/vec.h"
#include "tracefs/journal.h"
#include "tracefs/state.h"

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
 * Whether a log that could be locked has to be cleaned up. Another process may have done so after
 * the log was found and before it was locked. If the owner is alive although its log is not locked,
 * nothing is done.
 */
static bool is_dead(int fd, const char *path, const struct tracefs *fs, struct journal_head *h)
{
	char boot[64];
	struct stat st;

	if (fstat(fd, &st) < 0 || !st.st_nlink || !S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return false;
	/* An empty log has been undone already. */
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

static int remove_instances(const struct tracefs *fs, bool (*is_left)(const char *instance),
			    void (*removed)(void *arg, const char *instance), void *arg,
			    struct spur_error *err)
{
	struct instances list;
	int rc = instances_load(fs, &list, err);

	if (rc < 0)
		return rc;
	vec_each (name, &list) {
		struct spur_error why = {0};
		int gone;

		if (!is_left(*name))
			continue;
		gone = tracefs_remove_instance(fs, *name, &why);
		if (gone == 0)
			removed(arg, *name);
		else if (rc == 0 && gone != -EBUSY && gone != -ENOENT)
			rc = error_set(err, gone, "%s", why.text);
	}
	instances_free(&list);
	return rc;
}

int leftovers_instances(const struct tracefs *fs, void (*removed)(void *arg, const char *instance),
			void *arg, struct spur_error *err)
{
	return remove_instances(fs, instance_is_leftover, removed, arg, err);
}

bool probe_is_leftover(const struct dynamic_event *e)
{
	struct owner o;

	return owner_of_group(e->group, &o) && owner_state(&o) == OWNER_DEAD &&
	       !journal_is_used(o.pid);
}

static bool probe_is_orphan(const struct dynamic_event *e)
{
	struct owner o;

	return owner_of_group(e->group, &o) && owner_state(&o) == OWNER_DEAD && !journal_exists(&o);
}

static int remove_probes(const struct tracefs *fs, bool (*is_left)(const struct dynamic_event *e),
			 void (*removed)(void *arg, const char *probe), void *arg,
			 struct spur_error *err)
{
	struct dynamic_events list;
	int rc = dynamic_load(fs, &list, err);

	if (rc < 0)
		return rc;
	for (size_t i = list.n; i-- > 0;) {
		const struct dynamic_event *e = &list.at[i];
		char line[256];

		if (!is_left(e) ||
		    snprintf(line, sizeof(line), "-:%s/%s", e->group, e->name) >= (int)sizeof(line))
			continue;
		if (tracefs_write(fs, NULL, "dynamic_events", TRACEFS_APPEND, line, NULL) == 0)
			removed(arg, line + 2);
	}
	dynamic_free(&list);
	return 0;
}

int leftovers_probes(const struct tracefs *fs, void (*removed)(void *arg, const char *probe),
		     void *arg, struct spur_error *err)
{
	return remove_probes(fs, probe_is_leftover, removed, arg, err);
}

void leftovers_orphans(const struct tracefs *fs, void (*removed)(void *arg, const char *name),
		       void *arg)
{
	remove_instances(fs, instance_is_orphan, removed, arg, NULL);
	remove_probes(fs, probe_is_orphan, removed, arg, NULL);
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

/* ---- the switch that the kernel leaves on ---- */

#define SWITCH "events/bpf_trace/bpf_trace_printk/enable"
#define NOTE   ".events.bpf_trace.bpf_trace_printk.enable" /* undo logs do not begin with a dot */

#define EVERY 10000 /* us */
#define TRIES 1000  /* until the kernel has turned it on, which takes longer on a busy machine */
#define CALM  10    /* checks in a row in which it must be off */

static int open_note(int flags)
{
	int folder = journal_folder(flags & O_CREAT), fd;

	if (folder < 0)
		return -1;
	fd = openat(folder, NOTE, O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags, 0600);
	close(folder);
	return fd;
}

/* A note is the boot's ID. A note of an earlier boot is ignored. */
static bool is_noted(int fd)
{
	char boot[64], text[64] = "";

	owner_boot(boot, sizeof(boot));
	return file_read_at(fd, text, sizeof(text) - 1, 0) > 0 && strcmp(text, boot) == 0;
}

static void note(int fd)
{
	char boot[64];

	owner_boot(boot, sizeof(boot));
	if (ftruncate(fd, 0) == 0)
		file_write_at(fd, boot, strlen(boot), 0, NULL);
}

static bool is_on(const struct tracefs *fs)
{
	int64_t on = 0;

	return tracefs_read_number(fs, NULL, SWITCH, &on, NULL) == 0 && on;
}

void kernelswitch_begin(struct kernelswitch *s, const struct tracefs *fs)
{
	s->fd = open_note(O_CREAT);
	if (s->fd >= 0 && flock(s->fd, LOCK_SH) == 0 && !is_noted(s->fd) && !is_on(fs))
		note(s->fd);
}

/*
 * Newer kernels turn it on later, from a work queue, possibly twice. So it must stay off for a
 * while.
 */
static void turn_off(const struct tracefs *fs, bool wait)
{
	for (int i = 0; wait && i < TRIES && !is_on(fs); i++)
		usleep(EVERY);
	for (int i = 0, calm = 0; i < TRIES && calm < CALM; i++, calm++) {
		if (is_on(fs)) {
			tracefs_write(fs, NULL, SWITCH, TRACEFS_REPLACE, "0", NULL);
			calm = 0;
		}
		if (wait)
			usleep(EVERY);
	}
}

/*
 * Whether all others have ended. A process that fails to upgrade its lock has lost it, so if
 * several end at the same time, one of them succeeds.
 */
static bool is_last(int fd)
{
	return flock(fd, LOCK_EX | LOCK_NB) == 0;
}

void kernelswitch_end(struct kernelswitch *s, const struct tracefs *fs, bool wait)
{
	if (s->fd < 0)
		return;
	if (is_last(s->fd) && is_noted(s->fd)) {
		turn_off(fs, wait);
		if (ftruncate(s->fd, 0) < 0)
			note(s->fd);
	}
	close(s->fd);
	s->fd = -1;
}

/* Opens and locks the note of killed processes; -1 if there is none. */
static int left_note(void)
{
	int fd = open_note(0);

	if (fd >= 0 && !(is_last(fd) && is_noted(fd))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

bool kernelswitch_is_left(void)
{
	int fd = left_note();

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

bool kernelswitch_clean(const struct tracefs *fs)
{
	struct kernelswitch s = {.fd = left_note()};
	const bool left = s.fd >= 0;

	kernelswitch_end(&s, fs, false);
	return left;
}
