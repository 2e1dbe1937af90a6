// SPDX-License-Identifier: GPL-2.0-or-later
/* Switches that the kernel turns on by itself: the note that one was off, shared by lock. */
#include "tracefs/kernelswitch.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/file.h"
#include "tracefs/journal.h"

#define EVERY 10000 /* us */
#define TRIES 100   /* until the kernel has turned it on */
#define CALM  10    /* for how long it has to stay off */

/* The name begins with a dot, which undo logs do not. */
static int open_note(const char *file, int flags)
{
	int folder = journal_folder(flags & O_CREAT), fd;
	char name[128];

	if (folder < 0)
		return -1;
	snprintf(name, sizeof(name), ".%s", file);
	for (char *at = name; (at = strchr(at, '/'));)
		*at = '.';
	fd = openat(folder, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags, 0600);
	close(folder);
	return fd;
}

/* A note is the boot's ID. One of an earlier boot says nothing. */
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

static bool is_on(const struct tracefs *fs, const char *file)
{
	int64_t on = 0;

	return tracefs_read_number(fs, NULL, file, &on, NULL) == 0 && on;
}

void kernelswitch_begin(struct kernelswitch *s, const struct tracefs *fs, const char *file)
{
	s->fd = open_note(file, O_CREAT);
	if (s->fd >= 0 && flock(s->fd, LOCK_SH) == 0 && !is_noted(s->fd) && !is_on(fs, file))
		note(s->fd);
}

/*
 * Newer kernels turn it on from a work queue, some time after they were asked to. They may have
 * been asked twice, so it has to stay off for a while.
 */
static void turn_off(const struct tracefs *fs, const char *file, bool wait)
{
	for (int i = 0; wait && i < TRIES && !is_on(fs, file); i++)
		usleep(EVERY);
	for (int i = 0, calm = 0; i < TRIES && calm < CALM; i++, calm++) {
		if (is_on(fs, file)) {
			tracefs_write(fs, NULL, file, TRACEFS_REPLACE, "0", NULL);
			calm = 0;
		}
		if (wait)
			usleep(EVERY);
	}
}

/*
 * Whether all others have ended. Who fails to get the lock has none any more, so one of several
 * that end at the same time succeeds.
 */
static bool is_last(int fd)
{
	return flock(fd, LOCK_EX | LOCK_NB) == 0;
}

void kernelswitch_end(struct kernelswitch *s, const struct tracefs *fs, const char *file, bool wait)
{
	if (s->fd < 0)
		return;
	if (is_last(s->fd) && is_noted(s->fd)) {
		turn_off(fs, file, wait);
		if (ftruncate(s->fd, 0) < 0)
			note(s->fd);
	}
	close(s->fd);
	s->fd = -1;
}

/* The note of processes that were killed, locked; -1: there is none. */
static int left_note(const char *file)
{
	int fd = open_note(file, 0);

	if (fd >= 0 && !(is_last(fd) && is_noted(fd))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

bool kernelswitch_is_left(const char *file)
{
	int fd = left_note(file);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

bool kernelswitch_clean(const struct tracefs *fs, const char *file)
{
	struct kernelswitch s = {.fd = left_note(file)};
	const bool left = s.fd >= 0;

	kernelswitch_end(&s, fs, file, false);
	return left;
}
