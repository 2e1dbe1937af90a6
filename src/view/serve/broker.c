// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The broker: the privileged process, and the side of the process that asks it.
 *
 * The broker treats the process that asks as if a hostile file had taken it over: the worst that
 * process can do is to record events of this kernel, one recording at a time, within limits, into a
 * file in a new folder that belongs to root until it is finished. The folder and the file are used
 * by their descriptors from the start, never by a path: once they belong to the user, a path could
 * lead anywhere.
 */
#include "view/serve/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/pattern.h"
#include "base/vec.h"
#include "record/session.h"
#include "view/serve/confine.h"

/* ---- a recording, in a child ---- */

/*
 * session_record() needs a process without threads, and returns when the recording is over. News of
 * it come through a pipe, in pieces that are written whole.
 */

struct broker_run {
	pid_t pid;  /* 0: none runs */
	int stop;   /* closing it ends the recording */
	int status; /* struct broker_news come from it */
};

struct broker_file {
	int folder;
	const char *name;
};

struct broker_news {
	enum { NEWS_STARTED, NEWS_STATUS, NEWS_ENDED } kind;
	int32_t rc;
	struct session_status status;
	struct spur_error error;
};

_Static_assert(sizeof(struct broker_news) <= PIPE_BUF, "news must be written whole");

static void tell(int fd, const struct broker_news *news)
{
	/* Without a reader the recording ends by itself, because the other pipe is closed, too. */
	(void)!write(fd, news, sizeof(*news));
}

static void on_start(void *arg)
{
	const struct broker_news news = {.kind = NEWS_STARTED};

	tell(*(int *)arg, &news);
}

static void on_status(void *arg, const struct session_status *s)
{
	const struct broker_news news = {.kind = NEWS_STATUS, .status = *s};

	tell(*(int *)arg, &news);
}

/*
 * The folder is the working directory: what leads to it may be changed by other users. The name
 * has no folder in it.
 */
static void record(const struct tracefs *fs, const struct request *req,
		   const struct broker_file *file, uint32_t seconds, int stop, int status)
{
	const struct session_options opt = {
		.output = file->name,
		.file = {.version = 7},
		.duration = (uint64_t)seconds * 1000000000,
		.stop_fd = stop,
		.save_fd = -1,
		.started = on_start,
		.status = on_status,
		.arg = &status,
	};
	struct broker_news news = {.kind = NEWS_ENDED};
	struct session_result res = {0};

	if (fchdir(file->folder) != 0)
		news.rc = error_sys(&news.error, -errno, "the folder of the recording");
	else
		news.rc = session_record(fs, req, &opt, &res, &news.error);
	news.status = res.last;
	tell(status, &news);
}

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void wait_for(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static void broker_run_close(struct broker_run *run)
{
	close_one(&run->stop);
	close_one(&run->status);
	if (run->pid > 0)
		wait_for(run->pid);
	*run = (struct broker_run){.stop = -1, .status = -1};
}

/* Records into a file of that name in an open folder. */
static int broker_run_start(struct broker_run *run, const struct tracefs *fs,
			    const struct request *req, const struct broker_file *file,
			    uint32_t seconds, struct spur_error *err)
{
	int stop[2], status[2];

	if (pipe2(stop, O_CLOEXEC) != 0)
		return error_sys(err, -errno, "recording");
	if (pipe2(status, O_CLOEXEC) != 0) {
		int rc = error_sys(err, -errno, "recording");

		close(stop[0]);
		close(stop[1]);
		return rc;
	}
	run->pid = fork();
	if (run->pid == 0) {
		close(stop[1]);
		close(status[0]);
		record(fs, req, file, seconds, stop[0], status[1]);
		_exit(0);
	}
	close(stop[0]);
	close(status[1]);
	run->stop = stop[1];
	run->status = status[0];
	if (run->pid > 0)
		return 0;
	error_sys(err, -errno, "recording");
	run->pid = 0;
	broker_run_close(run);
	return -EAGAIN;
}

/* The next news; false: there will be none. With ms 0 it does not wait. */
static bool broker_run_news(struct broker_run *run, struct broker_news *news, int ms, bool *none)
{
	struct pollfd fd = {.fd = run->status, .events = POLLIN};

	*none = false;
	if (poll(&fd, 1, ms) <= 0) {
		*none = true;
		return true;
	}
	return read(run->status, news, sizeof(*news)) == (ssize_t)sizeof(*news);
}

/* ---- what is asked ---- */

#define MAX_SECONDS 3600u
#define MAX_BYTES   (1ull << 30)
#define MAX_TOTAL   (4ull << 30) /* bytes of all recordings together */
#define MAX_NUMBER  32		 /* of recordings */
#define MAX_EVENTS  500		 /* names in an answer, and events that are recorded */
#define START_MS    30000
#define LOOK_MS	    500
#define FILE_NAME   "trace.dat"

struct serving {
	int fd;
	uid_t uid; /* the user that gets recordings; 0: root keeps them */
	gid_t gid;
	struct broker_run run;
	struct broker_status status;
	int temp, folder; /* of the recording that runs, and that one's folder; -1: none */
	char name[64];	  /* of the folder */
	int file;	  /* of one that is finished and not handed over; -1: none */
	uint32_t number;  /* of recordings that are finished */
	uint64_t total;	  /* their bytes */
	struct broker_question question;
	struct broker_answer answer;
};

/* ---- words ---- */

/* The texts of a question one by one; NULL: it has fewer. */
static const char *text_of(const struct broker_question *a, uint32_t number)
{
	const char *at = a->text, *end = a->text + a->len;

	for (; number && at < end; number--)
		at += strlen(at) + 1;
	return at < end ? at : NULL;
}

static bool is_printable(const char *s, const char *but)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f || strchr(but, *s))
			return false;
	return true;
}

/* What names events: nothing in it is a path, an option or a second line. */
static bool is_event_name(const char *s)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_:*?-";

	return *s && strlen(s) < 200 && !s[strspn(s, letters)];
}

static bool matches(const struct tracefs_event *e, const char *match)
{
	char name[512];

	snprintf(name, sizeof(name), "%s:%s", e->system, e->name);
	if (is_glob(match))
		return fnmatch(match, name, 0) == 0 || tracefs_event_matches(e, match);
	return strstr(name, match);
}

/* ---- questions ---- */

static int tell_events(struct serving *s, struct spur_error *err)
{
	const char *match = text_of(&s->question, 0);
	struct broker_answer *t = &s->answer;
	struct tracefs_events list;
	struct tracefs fs;
	uint64_t shown = 0;
	int rc;

	if (!match || strlen(match) > 200 || !is_printable(match, "/"))
		return error_set(err, -EINVAL, "events are looked for by a part of their name");
	rc = tracefs_find(&fs, err);
	if (rc == 0)
		rc = tracefs_events_load(&fs, NULL, &list, err);
	if (rc < 0)
		return rc;
	vec_each (e, &list) {
		int n;

		if (!matches(e, match) || t->total++ >= MAX_EVENTS || shown != t->total - 1)
			continue;
		n = snprintf(t->text + t->len, sizeof(t->text) - t->len, "%s:%s\n", e->system,
			     e->name);
		if (n < 0 || (size_t)n >= sizeof(t->text) - t->len)
			continue;
		t->len += (uint32_t)n;
		shown++;
	}
	tracefs_events_free(&list);
	return 0;
}

static void take_news(struct serving *s, const struct broker_news *news)
{
	const struct session_status *st = &news->status;

	if (news->kind == NEWS_STARTED)
		return;
	s->status.seconds = st->seconds;
	s->status.events = st->events;
	s->status.lost = st->lost;
	s->status.bytes = st->bytes;
	if (st->bytes > MAX_BYTES)
		close_one(&s->run.stop);
}

/* ---- the folder ---- */

static int make_folder(struct serving *s, struct spur_error *err)
{
	close_one(&s->file);
	s->temp = file_open_temp();
	if (s->temp < 0)
		return error_sys(err, s->temp, "%s", file_temp());
	s->folder = file_make_folder_at(s->temp, "spur-view", s->name, sizeof(s->name));
	if (s->folder >= 0)
		return 0;
	close_one(&s->temp);
	return error_sys(err, s->folder, "a folder in %s", file_temp());
}

static void drop_folder(struct serving *s)
{
	unlinkat(s->folder, FILE_NAME, 0);
	unlinkat(s->temp, s->name, AT_REMOVEDIR);
	close_one(&s->folder);
	close_one(&s->temp);
}

/* The user gets the file, and the folder, in which root does nothing any more. */
static bool keep_file(struct serving *s)
{
	struct stat st;

	s->file = openat(s->folder, FILE_NAME, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (s->file < 0 || fstat(s->file, &st) != 0)
		return false;
	s->number++;
	s->total += (uint64_t)st.st_size;
	snprintf(s->status.path, sizeof(s->status.path), "%.400s/%s/" FILE_NAME, file_temp(),
		 s->name);
	if (s->uid && fchown(s->file, s->uid, s->gid) == 0)
		(void)!fchown(s->folder, s->uid, s->gid);
	close_one(&s->folder);
	close_one(&s->temp);
	return true;
}

/* The recording is over. */
static void take_end(struct serving *s, const struct broker_news *news)
{
	const bool good = news && (news->rc == 0 || news->rc == -ENODATA);

	broker_run_close(&s->run);
	if (good)
		take_news(s, news);
	if (good && keep_file(s)) {
		s->status.state = BROKER_DONE;
		return;
	}
	s->status.state = BROKER_FAILED;
	snprintf(s->status.error, sizeof(s->status.error), "%s",
		 news && *news->error.text ? news->error.text : "the recording ended unexpectedly");
	close_one(&s->file);
	drop_folder(s);
}

/* Reads what there is to know; waits until the recording runs, or is over, if that is wanted. */
static void look_at_run(struct serving *s, bool until_started, bool until_ended)
{
	struct broker_news news;
	bool none, waits = until_started || until_ended;

	while (s->run.pid) {
		if (!broker_run_news(&s->run, &news, waits ? START_MS : 0, &none)) {
			take_end(s, NULL);
			return;
		}
		if (none && (!until_ended || s->run.stop >= 0))
			return;
		if (none)
			continue;
		if (news.kind == NEWS_ENDED) {
			take_end(s, &news);
			return;
		}
		take_news(s, &news);
		if (news.kind == NEWS_STARTED && until_started)
			return;
	}
}

/* Ends the recording that runs, if one does, and waits for that. */
static void end_run(struct serving *s)
{
	close_one(&s->run.stop);
	look_at_run(s, false, true);
}

static int fill_request(const struct serving *s, struct request *r, struct spur_error *err)
{
	const char *filter = text_of(&s->question, 0);

	if (!filter || s->question.nr < 2 || s->question.nr - 1 > MAX_EVENTS)
		return error_set(err, -EINVAL, "choose between 1 and %d events", MAX_EVENTS);
	if (strlen(filter) > 1000 || !is_printable(filter, ""))
		return error_set(err, -EINVAL, "the filter is no such");
	for (uint32_t i = 1; i < s->question.nr; i++) {
		const char *name = text_of(&s->question, i);
		struct request_event *e;

		if (!name || !is_event_name(name))
			return error_set(err, -EINVAL, "an event's name is no such");
		e = request_add_event(r, WANT_EVENTS, name);
		if (!e)
			return error_set(err, -ENOMEM, "out of memory");
		e->filter = *filter ? filter : NULL;
	}
	return 0;
}

static int begin(struct serving *s, struct spur_error *err)
{
	uint32_t seconds = s->question.seconds;
	struct request r = {0};
	struct tracefs fs;
	int rc;

	look_at_run(s, false, false);
	if (s->run.pid)
		return error_set(err, -EBUSY, "a recording runs already");
	if (s->number >= MAX_NUMBER || s->total >= MAX_TOTAL)
		return error_set(
			err, -EDQUOT,
			"there are %u recordings of %llu MB already: start spur view again",
			s->number, (unsigned long long)(s->total >> 20));
	if (!seconds || seconds > MAX_SECONDS)
		seconds = MAX_SECONDS;
	rc = fill_request(s, &r, err);
	if (rc == 0)
		rc = tracefs_find(&fs, err);
	if (rc == 0)
		rc = make_folder(s, err);
	if (rc == 0) {
		const struct broker_file file = {.folder = s->folder, .name = FILE_NAME};

		s->status = (struct broker_status){.state = BROKER_RECORDING};
		rc = broker_run_start(&s->run, &fs, &r, &file, seconds, err);
		if (rc == 0)
			look_at_run(s, true, false);
		else
			drop_folder(s);
	}
	request_free(&r);
	if (rc == 0 && s->status.state == BROKER_FAILED)
		rc = error_set(err, -EINVAL, "%s", s->status.error);
	return rc;
}

/* The descriptor of the file that is handed over, or a negative errno. */
static int finish(struct serving *s, struct spur_error *err)
{
	int fd;

	end_run(s);
	if (s->status.state == BROKER_FAILED)
		return error_set(err, -EIO, "%s", s->status.error);
	if (s->file < 0)
		return error_set(err, -ENOENT, "there is no recording");
	/* It is closed when it has been sent. */
	fd = s->file;
	s->file = -1;
	return fd;
}

/* ---- the socket ---- */

static void send_answer(int to, const struct broker_answer *answer, int fd)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec io = {(void *)answer, offsetof(struct broker_answer, text) + answer->len};
	struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1};

	if (fd >= 0) {
		memset(&control, 0, sizeof(control));
		m.msg_control = &control;
		m.msg_controllen = sizeof(control);
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.head), &fd, sizeof(int));
	}
	(void)!sendmsg(to, &m, MSG_NOSIGNAL);
}

static bool is_well_formed(const struct broker_question *a, ssize_t size)
{
	const size_t head = offsetof(struct broker_question, text);
	uint32_t nr = 0;

	if (size < (ssize_t)head || a->len > sizeof(a->text) || (size_t)size != head + a->len ||
	    (a->len && a->text[a->len - 1]))
		return false;
	for (uint32_t i = 0; i < a->len; i++)
		nr += !a->text[i];
	return nr == a->nr;
}

static void answer(struct serving *s, ssize_t size)
{
	struct broker_answer *t = &s->answer;
	int fd = -1, rc = -EINVAL;

	memset(t, 0, sizeof(*t));
	if (is_well_formed(&s->question, size)) {
		switch (s->question.what) {
		case BROKER_EVENTS: rc = tell_events(s, &t->error); break;
		case BROKER_RECORD: rc = begin(s, &t->error); break;
		case BROKER_STATUS:
			look_at_run(s, false, false);
			rc = 0;
			break;
		case BROKER_FINISH: rc = fd = finish(s, &t->error); break;
		default: break;
		}
	}
	t->number = s->question.number;
	t->rc = rc < 0 ? rc : 0;
	t->status = s->status;
	send_answer(s->fd, t, fd);
	if (fd >= 0)
		close(fd);
}

/* Without confinement there is no broker: untrusted code would talk to a process of root. */
static bool confine_self(void (*note)(void *arg, const char *text))
{
	scoped_buf notes = buf_new(1000);

	if (confine_recorder(&notes, NULL) < 0)
		return false;
	if (notes.len) {
		notes.data[notes.len - 1] = '\0'; /* a newline */
		note(NULL, notes.data);
	}
	return true;
}

/* The broker itself; returns when the other end is closed. */
static void broker_serve(int fd, const struct broker_options *opt)
{
	struct serving *s = calloc(1, sizeof(*s));
	struct tracefs fs;
	ssize_t size = 1;

	/* After confinement tracefs could not be mounted. */
	tracefs_find(&fs, NULL);
	if (!s || !confine_self(opt->note)) {
		free(s);
		return;
	}
	s->fd = fd;
	s->uid = opt->uid;
	s->gid = opt->gid;
	s->run = (struct broker_run){.stop = -1, .status = -1};
	s->temp = s->folder = s->file = -1;
	prctl(PR_SET_NAME, "spur-broker", 0, 0, 0);
	/* Ctrl-C is for the other process. When that one ends, this one does, too. */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	while (size > 0) {
		struct pollfd wait = {.fd = fd, .events = POLLIN};

		if (poll(&wait, 1, s->run.pid ? LOOK_MS : -1) == 0) {
			look_at_run(s, false, false);
			continue;
		}
		size = recv(fd, &s->question, sizeof(s->question), MSG_TRUNC);
		if (size > 0)
			answer(s, size);
	}
	end_run(s);
	free(s);
}

/* ---- the side that asks: a question, an answer, one at a time ---- */

#define MAX_WAIT 120 /* seconds, for a recording's end: its file is put in order then */

/* The broker does not need what the other process has open. */
static void close_others(int fd)
{
	syscall(SYS_close_range, 3, fd - 1, 0);
	syscall(SYS_close_range, fd + 1, ~0u, 0);
}

int broker_start(const struct broker_options *opt, struct broker **out, struct spur_error *err)
{
	const struct timeval most = {.tv_sec = MAX_WAIT};
	struct broker *b;
	int ends[2];

	*out = NULL;
	if (geteuid() != 0)
		return error_set(err, -EPERM, "recording needs root");
	b = calloc(1, sizeof(*b));
	if (!b)
		return error_set(err, -ENOMEM, "out of memory");
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
		free(b);
		return error_sys(err, -errno, "the broker of recordings");
	}
	b->pid = fork();
	if (b->pid == 0) {
		close_others(ends[1]);
		broker_serve(ends[1], opt);
		_exit(0);
	}
	close(ends[1]);
	if (b->pid < 0) {
		int rc = error_sys(err, -errno, "the broker of recordings");

		close(ends[0]);
		free(b);
		return rc;
	}
	b->fd = ends[0];
	b->late = -1;
	setsockopt(b->fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof(most));
	pthread_mutex_init(&b->lock, NULL);
	*out = b;
	return 0;
}

void broker_end(struct broker *b)
{
	if (!b)
		return;
	close(b->fd);
	close_one(&b->late);
	wait_for(b->pid);
	pthread_mutex_destroy(&b->lock);
	free(b);
}

/* ---- questions; all with the lock ---- */

static int add_text(struct broker_question *a, const char *text, struct spur_error *err)
{
	const size_t len = strlen(text) + 1;

	if (len > sizeof(a->text) - a->len)
		return error_set(err, -E2BIG, "these are too many events");
	memcpy(a->text + a->len, text, len);
	a->len += (uint32_t)len;
	a->nr++;
	return 0;
}

/* The descriptor that came with an answer, or -1. */
static int take_fd(struct msghdr *m)
{
	int fd = -1;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
		    c->cmsg_len == CMSG_LEN(sizeof(int)))
			memcpy(&fd, CMSG_DATA(c), sizeof(int));
	return fd;
}

/* One answer, whatever question it is of. */
static int take_answer(struct broker *b, int *fd, struct spur_error *err)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec io = {&b->answer, sizeof(b->answer)};
	struct msghdr m = {
		.msg_iov = &io,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	const ssize_t n = recvmsg(b->fd, &m, MSG_CMSG_CLOEXEC);

	*fd = -1;
	if (n <= 0)
		return error_set(err, -EPIPE, "the process that records does not answer");
	*fd = take_fd(&m);
	if (n < (ssize_t)offsetof(struct broker_answer, text) ||
	    b->answer.len > sizeof(b->answer.text) ||
	    (size_t)n != offsetof(struct broker_answer, text) + b->answer.len)
		return error_set(err, -EPROTO, "the process that records answers nonsense");
	b->answer.error.text[sizeof(b->answer.error.text) - 1] = '\0';
	b->answer.status.path[sizeof(b->answer.status.path) - 1] = '\0';
	return 0;
}

/* The answer to a question that was cancelled: the next question gets the recording. */
static void keep_late(struct broker *b, int fd)
{
	if (fd < 0)
		return;
	close_one(&b->late);
	b->late = fd;
	memcpy(b->late_path, b->answer.status.path, sizeof(b->late_path));
}

static int ask(struct broker *b, enum broker_what what, int *fd, struct spur_error *err)
{
	const ssize_t n = offsetof(struct broker_question, text) + b->question.len;
	int rc;

	b->question.what = what;
	b->question.number++;
	if (send(b->fd, &b->question, (size_t)n, MSG_NOSIGNAL) != n)
		return error_set(err, -EPIPE, "the process that records does not answer");
	while ((rc = take_answer(b, fd, err)) == 0 && b->answer.number != b->question.number) {
		keep_late(b, *fd);
		*fd = -1;
	}
	if (rc == 0 && b->answer.rc < 0)
		rc = error_set(err, b->answer.rc, "%s", b->answer.error.text);
	return rc;
}

static void begin_question(struct broker *b)
{
	pthread_mutex_lock(&b->lock);
	b->question.nr = b->question.len = b->question.seconds = 0;
}

/* Ends a question; a descriptor that is not expected is closed. */
static int end(struct broker *b, int rc, int fd)
{
	pthread_mutex_unlock(&b->lock);
	close_one(&fd);
	return rc;
}

int broker_events(struct broker *b, const char *match, struct buf *names, uint64_t *total,
		  struct spur_error *err)
{
	int fd = -1, rc;

	begin_question(b);
	rc = add_text(&b->question, match, err);
	if (rc == 0)
		rc = ask(b, BROKER_EVENTS, &fd, err);
	if (rc == 0) {
		buf_put(names, b->answer.text, b->answer.len);
		*total = b->answer.total;
	}
	return end(b, rc, fd);
}

int broker_record(struct broker *b, const struct broker_wish *wish, struct spur_error *err)
{
	int fd = -1, rc;

	begin_question(b);
	b->question.seconds = wish->seconds;
	rc = add_text(&b->question, wish->filter ? wish->filter : "", err);
	for (size_t i = 0; i < wish->nr && rc == 0; i++)
		rc = add_text(&b->question, wish->events[i], err);
	if (rc == 0)
		rc = ask(b, BROKER_RECORD, &fd, err);
	return end(b, rc, fd);
}

int broker_status(struct broker *b, struct broker_status *out, struct spur_error *err)
{
	int fd = -1, rc;

	begin_question(b);
	rc = ask(b, BROKER_STATUS, &fd, err);
	if (rc == 0)
		*out = b->answer.status;
	return end(b, rc, fd);
}

int broker_finish(struct broker *b, char *path, size_t cap, struct spur_error *err)
{
	int fd = -1, rc;

	begin_question(b);
	rc = ask(b, BROKER_FINISH, &fd, err);
	if (rc == 0 && fd < 0)
		rc = error_set(err, -EPROTO, "the process that records gave no file");
	if (rc == -ENOENT && b->late >= 0) {
		fd = b->late;
		b->late = -1;
		snprintf(path, cap, "%s", b->late_path);
		rc = 0;
	} else if (rc == 0) {
		snprintf(path, cap, "%s", b->answer.status.path);
	}
	if (rc < 0)
		return end(b, rc, fd);
	end(b, 0, -1);
	return fd;
}
