// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The undo log as a file; its layout is in journal.h.
 *
 * An entry is on the file before its change is made, so the log never lacks a change.
 */
#include "tracefs/journal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/scoped.h"

#define HEAD_SIZE   4096
#define AT_SELECTOR 4088
#define SLOT_SIZE   (64u << 10)
#define AT_ENTRIES  (HEAD_SIZE + 2 * SLOT_SIZE)
#define TEXT_LIMIT  (64u << 20) /* a list of all functions of a large kernel has 2 MB */
#define TRIES	    100

int journal_folder(bool make)
{
	struct stat st;
	int fd;

	if (make && mkdir(JOURNAL_FOLDER, 0700) < 0 && errno != EEXIST)
		return -errno;
	fd = open(JOURNAL_FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || st.st_uid != geteuid() || (st.st_mode & 022)) {
		close(fd);
		return -EPERM;
	}
	return fd;
}

/* ---- writing ---- */

/* Creates the log without a name; or with a hidden one where the file system needs one. */
static int create_log(int folder, char *hidden, size_t cap, const char *tag)
{
	int fd = openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	*hidden = '\0';
	if (fd >= 0)
		return fd;
	snprintf(hidden, cap, ".%s", tag);
	unlinkat(folder, hidden, 0);
	return openat(folder, hidden, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0600);
}

/*
 * It is locked before it has its name, because a log without a lock counts as that of a dead
 * process. Names with a dot in front are no logs.
 */
static int give_name(struct journal *j, int folder, const char *hidden, const char *tag)
{
	char from[32];

	snprintf(from, sizeof(from), "/proc/self/fd/%d", j->fd);
	for (int i = 0; i < TRIES; i++) {
		char name[OWNER_TAG_CAP + 8];

		snprintf(name, sizeof(name), "%s-%d", tag, i);
		if (*hidden ? renameat2(folder, hidden, folder, name, RENAME_NOREPLACE) == 0
			    : linkat(AT_FDCWD, from, folder, name, AT_SYMLINK_FOLLOW) == 0) {
			snprintf(j->path, sizeof(j->path), JOURNAL_FOLDER "/%s", name);
			return 0;
		}
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

static int write_head(const struct journal *j, const struct tracefs *fs, const char *tag)
{
	char boot[64];
	struct buf text;
	int rc;

	owner_boot(boot, sizeof(boot));
	buf_init(&text, AT_SELECTOR);
	buf_printf(&text, "spur-undo 1\n%s\n%s\n%s\n", boot, tag, fs->path);
	rc = buf_full(&text) ? -ENAMETOOLONG : file_write_at(j->fd, text.data, text.len, 0, NULL);
	buf_free(&text);
	return rc;
}

int journal_create(struct journal *j, const struct tracefs *fs, struct spur_error *err)
{
	char tag[OWNER_TAG_CAP], hidden[OWNER_TAG_CAP + 1] = "";
	int folder = journal_folder(true), rc;
	struct owner self;

	*j = (struct journal){.fd = -1};
	owner_self(&self);
	owner_tag(&self, tag, sizeof(tag));
	if (folder >= 0)
		j->fd = create_log(folder, hidden, sizeof(hidden), tag);
	if (j->fd < 0)
		j->fd = memfd_create("spur-undo", MFD_CLOEXEC);
	rc = j->fd < 0 ? -errno : flock(j->fd, LOCK_EX | LOCK_NB) < 0 ? -errno : 0;
	if (rc == 0)
		rc = write_head(j, fs, tag);
	/* Even without a name, the guardian can use it. */
	if (rc == 0 && folder >= 0 && give_name(j, folder, hidden, tag) < 0 && *hidden)
		unlinkat(folder, hidden, 0);
	if (folder >= 0)
		close(folder);
	return rc < 0 ? error_sys(err, rc, "the undo log") : 0;
}

int journal_add(struct journal *j, const struct back *b, struct spur_error *err)
{
	const char *texts[3] = {b->instance, b->file, b->text};
	off_t end = lseek(j->fd, 0, SEEK_END);
	struct buf entry;
	uint32_t head[4] = {b->kind};
	int rc;

	if (end < AT_ENTRIES)
		end = AT_ENTRIES;
	for (size_t i = 0; i < 3; i++)
		head[i + 1] = (uint32_t)strlen(texts[i]);
	buf_init(&entry, TEXT_LIMIT);
	buf_put(&entry, head, sizeof(head));
	for (size_t i = 0; i < 3; i++)
		buf_put(&entry, texts[i], head[i + 1]);
	rc = buf_full(&entry) ? -ENOMEM
			      : file_write_at(j->fd, entry.data, entry.len, (uint64_t)end, NULL);
	buf_free(&entry);
	return rc < 0 ? error_sys(err, rc, "the undo log; nothing is changed without it") : 0;
}

int journal_note(struct journal *j, const char *note, struct spur_error *err)
{
	const uint32_t slot = j->slot == 1 ? 2 : 1, size = (uint32_t)strlen(note);
	const uint64_t at = HEAD_SIZE + (uint64_t)(slot - 1) * SLOT_SIZE;
	int rc = size > SLOT_SIZE - 4 ? -EFBIG : 0;

	if (rc == 0)
		rc = file_write_at(j->fd, &size, sizeof(size), at, NULL);
	if (rc == 0)
		rc = file_write_at(j->fd, note, size, at + 4, NULL);
	/* Writing these four bytes switches from one note to the other. */
	if (rc == 0)
		rc = file_write_at(j->fd, &slot, sizeof(slot), AT_SELECTOR, NULL);
	if (rc == 0)
		j->slot = slot;
	return rc < 0 ? error_sys(err, rc, "the undo log") : 0;
}

void journal_end(struct journal *j)
{
	if (j->fd < 0)
		return;
	/* Truncated first, because the guardian has it open. */
	if (ftruncate(j->fd, 0) == 0 && j->path[0])
		unlink(j->path);
	close(j->fd);
	j->fd = -1;
}

/* ---- reading ---- */

static char *read_text(int fd, uint32_t n, uint64_t at)
{
	char *text = n <= TEXT_LIMIT ? malloc((size_t)n + 1) : NULL;

	if (!text || file_read_at(fd, text, n, at) != (int64_t)n) {
		free(text);
		return NULL;
	}
	text[n] = '\0';
	return text;
}

static char *read_note(int fd)
{
	uint32_t slot = 0, size = 0;
	uint64_t at;
	char *text;

	file_read_at(fd, &slot, sizeof(slot), AT_SELECTOR);
	if (slot != 1 && slot != 2)
		return strdup("");
	at = HEAD_SIZE + (uint64_t)(slot - 1) * SLOT_SIZE;
	file_read_at(fd, &size, sizeof(size), at);
	text = size <= SLOT_SIZE - 4 ? read_text(fd, size, at + 4) : NULL;
	return text ? text : strdup("");
}

/* Reads the entry at *at, and advances *at. 1, or 0 if there is no complete entry. */
static int read_entry(int fd, uint64_t *at, struct backs *backs)
{
	uint32_t head[4];
	uint64_t place = *at + sizeof(head);
	char *texts[3] = {0};
	int rc = file_read_at(fd, head, sizeof(head), *at) == sizeof(head);

	for (size_t i = 0; i < 3 && rc > 0; i++) {
		texts[i] = read_text(fd, head[i + 1], place);
		place += head[i + 1];
		rc = texts[i] ? 1 : 0;
	}
	if (rc > 0 && head[0] == BACK_FORGET)
		backs_forget(backs);
	else if (rc > 0)
		rc = backs_add(backs, (enum back_kind)head[0], texts[0], texts[1], texts[2]) < 0
			     ? -ENOMEM
			     : 1;
	for (size_t i = 0; i < 3; i++)
		free(texts[i]);
	*at = place;
	return rc;
}

int journal_read(int fd, struct backs *backs, char **note)
{
	uint64_t at = AT_ENTRIES;
	int rc;

	*backs = (struct backs){0};
	*note = read_note(fd);
	while ((rc = read_entry(fd, &at, backs)) > 0)
		;
	return *note ? rc : -ENOMEM;
}

static bool take_line(const char **at, char *to, size_t cap)
{
	size_t n = strcspn(*at, "\n");

	if (!(*at)[n] || n >= cap)
		return false;
	memcpy(to, *at, n);
	to[n] = '\0';
	*at += n + 1;
	return true;
}

bool journal_head(int fd, struct journal_head *h)
{
	char text[AT_SELECTOR + 1], magic[16];
	int64_t got = file_read_at(fd, text, AT_SELECTOR, 0);
	const char *at = text;

	if (got <= 0)
		return false;
	text[got] = '\0';
	return take_line(&at, magic, sizeof(magic)) && strcmp(magic, "spur-undo 1") == 0 &&
	       take_line(&at, h->boot, sizeof(h->boot)) && take_line(&at, h->tag, sizeof(h->tag)) &&
	       take_line(&at, h->fs, sizeof(h->fs)) && owner_parse(h->tag, &h->owner);
}

static bool is_locked(int folder, const char *name)
{
	scoped_fd fd = openat(folder, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);

	return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0;
}

static bool has_log(int folder, pid_t pid, bool locked)
{
	scoped_dir dir = folder >= 0 ? fdopendir(folder) : NULL;
	const struct dirent *e;
	bool found = false;

	while (dir && !found && (e = readdir(dir))) {
		char *end;

		if (strtol(e->d_name, &end, 10) == pid && *end == '.')
			found = !locked || is_locked(dirfd(dir), e->d_name);
	}
	return found;
}

bool journal_is_used(pid_t pid)
{
	return has_log(journal_folder(false), pid, true);
}

/* Whether a process is the guardian of that owner; true, too, if a guardian cannot be looked at. */
static bool is_guardian(const char *process, const struct owner *o)
{
	char path[PATH_MAX], name[sizeof(JOURNAL_GUARD) + 1] = "";
	struct journal_head h;
	scoped_fd comm = -1, log = -1;

	snprintf(path, sizeof(path), "/proc/%s/comm", process);
	comm = open(path, O_RDONLY | O_CLOEXEC);
	if (comm < 0 || file_read_at(comm, name, sizeof(name) - 1, 0) < 0 ||
	    strcmp(name, JOURNAL_GUARD "\n") != 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%s/fd/%d", process, JOURNAL_FD);
	log = open(path, O_RDONLY | O_CLOEXEC);
	if (log < 0)
		return errno != ENOENT && errno != ESRCH;
	return journal_head(log, &h) && h.owner.pid == o->pid && h.owner.start == o->start &&
	       h.owner.pidns == o->pidns;
}

/*
 * Whether the folder of logs that a process of root sees has one of that owner. Others could have
 * mounted anything there.
 */
static bool sees_log(const char *process, const struct owner *o)
{
	char path[PATH_MAX];
	struct stat st;
	int folder;

	snprintf(path, sizeof(path), "/proc/%s", process);
	if (stat(path, &st) < 0 || st.st_uid != 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%s/root" JOURNAL_FOLDER, process);
	folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return folder >= 0 && has_log(folder, o->pid, false);
}

/* Whether there is a log in another /run, or a guardian has one. */
static bool is_elsewhere(const struct owner *o)
{
	scoped_dir dir = opendir("/proc");
	const struct dirent *e;
	bool found = false;

	while (dir && !found && (e = readdir(dir)))
		found = *e->d_name >= '1' && *e->d_name <= '9' &&
			(is_guardian(e->d_name, o) || sees_log(e->d_name, o));
	return found;
}

bool journal_exists(const struct owner *o)
{
	const int folder = journal_folder(false);

	if (folder < 0 ? folder != -ENOENT : has_log(folder, o->pid, false))
		return true;
	return is_elsewhere(o);
}
