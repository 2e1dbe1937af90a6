// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A live recording works in rounds. A round reads all CPUs, then emits the records up to the latest
 * time that the previous rounds have seen. That time was past on all CPUs when it was seen, so all
 * records up to it have been read by now. Later records wait for the next round. This needs a
 * common clock, so buffers with different clocks are followed separately.
 *
 * If a CPU could not be read to its end, it is complete only up to its last record.
 */
#include "record/live.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/vec.h"
#include "dat/dat.h"
#include "event/names.h"
#include "record/session_state.h"
#include "report/follow.h"
#include "tracefs/tracefs.h"

struct live_feed {
	struct dat_feed feed; /* first */
	int fd;
	const struct ring_layout *layout;
	struct {
		uint8_t **at;
		size_t n, cap;
	} pages; /* those before `first` are gone */
	size_t first;
	uint64_t number; /* of the page at `first` */
	uint64_t last;	 /* the ring buffer's time of the last record, when there was one */
	bool any;
};

#define PAGES_BEHIND 64 /* that are stored */
#define FILE_CAP     64

/* Frees the pages before that number. */
static void drop_before(struct live_feed *f, uint64_t number)
{
	while (f->number < number && f->first < f->pages.n) {
		free(f->pages.at[f->first++]);
		f->number++;
	}
	if (f->first < f->pages.n / 2 || !f->first)
		return;
	memmove(f->pages.at, f->pages.at + f->first,
		(f->pages.n - f->first) * sizeof(*f->pages.at));
	f->pages.n -= f->first;
	f->first = 0;
}

static int get_page(struct dat_feed *feed, uint64_t number, struct dat_page *page)
{
	struct live_feed *f = (struct live_feed *)feed;

	/* A lane that only looks ahead may pass pages without records and come back. */
	if (number > PAGES_BEHIND)
		drop_before(f, number - PAGES_BEHIND);
	if (number < f->number || number - f->number >= f->pages.n - f->first)
		return 0;
	*page = (struct dat_page){
		.data = f->pages.at[f->first + (number - f->number)],
		.size = f->layout->page_size,
		.offset = number * f->layout->page_size,
	};
	return 1;
}

/* Call live_feed_close() also after a failure. */
static int live_feed_open(struct live_feed *f, const struct tracefs *fs, const char *instance,
			  uint32_t cpu, const struct ring_layout *layout, struct spur_error *err)
{
	char file[FILE_CAP];

	*f = (struct live_feed){.feed.get = get_page, .layout = layout};
	snprintf(file, sizeof(file), "per_cpu/cpu%u/trace_pipe_raw", cpu);
	f->fd = tracefs_open(fs, instance, file, O_RDONLY | O_NONBLOCK, err);
	return f->fd < 0 ? f->fd : 0;
}

static void live_feed_close(struct live_feed *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
	drop_before(f, UINT64_MAX);
	vec_free(&f->pages);
}

/* Remembers the time of a page's last record. */
static void note_time(struct live_feed *f, const uint8_t *page)
{
	struct ring_page p;
	struct ring_event e;

	if (ring_page_open(&p, f->layout, page, f->layout->page_size) < 0)
		return;
	while (ring_page_next(&p, &e)) {
		f->last = e.ts;
		f->any = true;
	}
}

/* Reads the next page: 1, 0 if there is none, or a negative errno. */
static int read_page(const struct live_feed *f, uint8_t *page, size_t size)
{
	ssize_t n;

	do
		n = read(f->fd, page, size);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	memset(page + n, 0, size - (size_t)n);
	return n > 0;
}

/* Reads at most so many pages. Returns their number, or a negative errno. */
static int64_t live_feed_read(struct live_feed *f, size_t most)
{
	const size_t size = f->layout->page_size;
	int64_t n = 0;

	while ((size_t)n < most) {
		uint8_t *page = malloc(size), **slot;
		int rc = page ? read_page(f, page, size) : -ENOMEM;

		slot = rc > 0 ? vec_push(&f->pages) : NULL;
		if (!slot) {
			free(page);
			return rc < 0 ? rc : rc > 0 ? -ENOMEM : n;
		}
		*slot = page;
		note_time(f, page);
		n++;
	}
	return n;
}

/* ---- the session ---- */

#define PERIOD_NS   50000000ull
#define LEAST_NS    10000000ull /* between two rounds, because writing an event may take a while */
#define ROUND_BYTES (64u << 20) /* read in a round by all CPUs together */
#define LEAST_PAGES 16		/* of each CPU, however many there are */
#define NAMES_LIMIT (16u << 20)

/* Buffers with the same clock. */
struct group {
	const char *clock;
	struct report rep;
	struct emit_source *sources;
	struct follow *follow;
	uint64_t seen;	/* the latest time read */
	uint64_t until; /* of this round: records up to here are complete */
};

/* One CPU of one buffer. */
struct source {
	struct live_feed feed;
	struct group *group;
	const struct trace_buffer *buffer;
	uint32_t cpu;
};

struct live {
	struct session s; /* first */
	const struct live_options *opt;
	struct spur_trace *trace;
	struct group *groups;
	size_t nr_groups;
	struct source *sources;
	size_t nr_sources;
	size_t most_pages; /* read from each CPU in a round */
	struct buf names;
	uint64_t round_end;
	bool over; /* no more records are wanted */
};

/* ---- the trace in memory ---- */

/*
 * Makes a file that has everything but records, and opens it like any other: so formats and names
 * are parsed once.
 */
static int open_trace(struct live *v, struct spur_error *err)
{
	const struct dat_out_options opt = {.version = 7};
	int fd = memfd_create("spur", MFD_CLOEXEC);
	int again = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
	struct dat_out *out;
	int rc;

	if (again < 0) {
		rc = error_sys(err, -errno, "memory for the description of the trace");
		if (fd >= 0)
			close(fd);
		return rc;
	}
	rc = dat_out_create_fd(fd, "the trace", &opt, &v->s.meta.contents, &out, err);
	if (rc == 0)
		rc = dat_out_finish(out, &v->s.meta.contents, err);
	if (rc < 0) {
		close(again);
		return rc;
	}
	rc = trace_open_fd(again, "the trace", &v->opt->trace, &v->trace, err);
	if (rc == 0 && v->trace->nr_buffers != v->s.setup.nr_buffers)
		rc = error_set(err, -EIO, "the description of the trace lacks a buffer");
	return rc;
}

/* ---- sources ---- */

static struct group *group_of(struct live *v, const char *clock)
{
	struct group *g;

	for (size_t i = 0; i < v->nr_groups; i++)
		if (strcmp(v->groups[i].clock, clock) == 0)
			return &v->groups[i];
	g = &v->groups[v->nr_groups++];
	g->clock = clock;
	return g;
}

/* Makes the CPUs of a buffer read. */
static int add_buffer(struct live *v, size_t index, struct spur_error *err)
{
	const struct trace_buffer *b = &v->trace->buffers[index];
	struct dat_buffer *data = &v->trace->dat->buffers[index];
	const char *instance = v->s.setup.buffers[index].instance;
	struct group *g = group_of(v, v->s.meta.contents.buffers[index].clock);

	if (!g->sources)
		g->sources = calloc(v->trace->nr_buffers, sizeof(*g->sources));
	if (!g->sources)
		return -ENOMEM;
	g->sources[g->rep.nr_sources++] =
		(struct emit_source){.buffer = b, .label = index ? data->name : NULL};
	for (uint32_t i = 0; i < data->nr_cpus && instance; i++) {
		struct source *src = &v->sources[v->nr_sources++];
		int rc = live_feed_open(&src->feed, v->s.fs, instance, data->cpus[i].cpu,
					&data->layout, err);

		if (rc < 0)
			return rc;
		src->group = g;
		src->buffer = b;
		src->cpu = data->cpus[i].cpu;
		data->cpus[i].feed = &src->feed.feed;
	}
	return 0;
}

static int add_buffers(struct live *v, struct spur_error *err)
{
	const uint32_t nr = v->trace->nr_buffers;
	size_t cpus = 0, page = 1;
	int rc = 0;

	for (uint32_t i = 0; i < nr; i++) {
		cpus += v->trace->dat->buffers[i].nr_cpus;
		if (v->trace->dat->buffers[i].page_size > page)
			page = v->trace->dat->buffers[i].page_size;
	}
	v->groups = calloc(nr + 1, sizeof(*v->groups));
	v->sources = calloc(cpus + 1, sizeof(*v->sources));
	if (!v->groups || !v->sources)
		return -ENOMEM;
	v->most_pages = ROUND_BYTES / (cpus * page + 1);
	if (v->most_pages < LEAST_PAGES)
		v->most_pages = LEAST_PAGES;
	for (uint32_t i = 0; i < nr && rc == 0; i++)
		rc = add_buffer(v, i, err);
	return rc;
}

/* Makes a descriptor that is readable when a buffer is full enough to be read at once. */
static int watch_buffers(struct live *v, struct spur_error *err)
{
	v->s.wake_fd = epoll_create1(EPOLL_CLOEXEC);
	if (v->s.wake_fd < 0)
		return error_sys(err, -errno, "waiting for events");
	for (size_t i = 0; i < v->nr_sources; i++) {
		struct epoll_event e = {.events = EPOLLIN};

		/* Without it the next round is early enough, unless there are very many events. */
		epoll_ctl(v->s.wake_fd, EPOLL_CTL_ADD, v->sources[i].feed.fd, &e);
	}
	return 0;
}

/* ---- names ---- */

/* Finds the name of a task that runs now and is in no list. */
static bool ask_name(void *arg, int pid, char *name, size_t cap)
{
	char path[32];

	(void)arg;
	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	if (file_read_text(AT_FDCWD, path, name, cap) <= 1)
		return false;
	name[strcspn(name, "\n")] = '\0';
	return true;
}

static void rename_task(void *arg, int pid, const char *name)
{
	struct live *v = arg;

	comms_rename(v->trace->events->comms, pid, name, strlen(name));
}

/*
 * To be called after the records have been read: then all earlier changes of tasks can be read,
 * too.
 */
static void update_names(struct live *v)
{
	const bool watching = taskinfo_watching(v->s.tasks);

	buf_reset(&v->names);
	if (!watching && tracefs_read(v->s.fs, "", "saved_cmdlines", &v->names, NULL) < 0)
		return;
	for (size_t i = 0; i < v->nr_groups; i++)
		follow_forget(v->groups[i].follow);
	if (watching)
		taskinfo_each_new(v->s.tasks, rename_task, v);
	else
		comms_update(v->trace->events->comms, v->names.data, v->names.len);
}

/* ---- reports ---- */

static int begin_group(struct live *v, struct group *g)
{
	const struct live_options *o = v->opt;
	int width = 0, rc;

	g->rep.traces = &v->trace;
	g->rep.nr_traces = 1;
	g->rep.sources = g->sources;
	g->rep.emit = o->emit;
	g->rep.options = o->format;
	g->rep.head = o->head;
	g->rep.write = o->write;
	g->rep.arg = o->arg;
	g->rep.watch = o->watch;
	g->rep.watch_arg = o->arg;
	for (uint32_t i = 1; i < v->trace->nr_buffers; i++)
		if ((int)strlen(v->trace->dat->buffers[i].name) > width)
			width = (int)strlen(v->trace->dat->buffers[i].name);
	g->rep.options.labelled = width > 0;
	g->rep.options.label_width = width;
	rc = follow_new(&g->rep, &g->follow);
	if (rc == 0 && taskinfo_pids_are_ours())
		follow_ask(g->follow, ask_name, NULL);
	return rc;
}

static int begin_groups(struct live *v, struct spur_error *err)
{
	int rc = 0;

	if (v->opt->opened)
		rc = v->opt->opened(v->opt->arg, v->trace, err);
	for (size_t i = 0; i < v->nr_groups && rc == 0; i++)
		rc = begin_group(v, &v->groups[i]);
	return rc < 0 ? rc : report_begin(&v->groups[0].rep);
}

/* ---- rounds ---- */

/*
 * Reads all CPUs and determines up to when records are complete. *more is set if not everything
 * could be read.
 */
static int read_all(struct live *v, bool *more, struct spur_error *err)
{
	bool any = false;

	for (size_t i = 0; i < v->nr_groups; i++)
		v->groups[i].until = v->groups[i].seen;
	*more = false;
	for (size_t i = 0; i < v->nr_sources; i++) {
		struct source *src = &v->sources[i];
		struct group *g = src->group;
		int64_t n = live_feed_read(&src->feed, v->most_pages);
		uint64_t last = trace_time(&src->buffer->time, src->feed.last, src->cpu);

		if (n < 0)
			return error_sys(err, (int)n, "reading CPU %u", src->cpu);
		any |= n > 0;
		if (src->feed.any && last > g->seen)
			g->seen = last;
		if ((size_t)n < v->most_pages)
			continue;
		*more = true;
		if (last < g->until)
			g->until = last;
	}
	if (any)
		update_names(v);
	return 0;
}

/* Converts the result of a report: 1 if nothing more is to be done. */
static int go_on(struct live *v, int rc)
{
	if (rc == 0 || (rc < 0 && rc != -EPIPE && rc != -EINTR))
		return rc;
	v->over = true;
	command_signal(&v->s.command, SIGTERM);
	return 1;
}

static int one_round(struct live *v, bool *more, struct spur_error *err)
{
	int rc = read_all(v, more, err);

	for (size_t i = 0; i < v->nr_groups && rc == 0; i++)
		rc = go_on(v, follow_emit(v->groups[i].follow, v->groups[i].until));
	return rc;
}

static void keep_distance(const struct live *v)
{
	uint64_t passed = session_now() - v->round_end;
	struct timespec t = {.tv_nsec = (long)(LEAST_NS - passed)};

	if (passed < LEAST_NS)
		nanosleep(&t, NULL);
}

static bool reader_gone(const struct live *v)
{
	struct pollfd out = {v->opt->out_fd, 0, 0};

	return v->opt->out_fd >= 0 && poll(&out, 1, 0) > 0 &&
	       (out.revents & (POLLERR | POLLHUP)) != 0;
}

static int round_due(struct session *s, struct spur_error *err)
{
	struct live *v = (struct live *)s;
	bool more;
	int rc;

	if (reader_gone(v))
		return go_on(v, -EPIPE);
	keep_distance(v);
	rc = one_round(v, &more, err);
	v->round_end = session_now();
	return rc;
}

/* Tracing is off: reads and emits the rest. */
static int last_rounds(struct live *v, struct spur_error *err)
{
	bool more = true;
	int rc = 0;

	while (rc == 0 && more && !v->over)
		rc = one_round(v, &more, err);
	for (size_t i = 0; i < v->nr_groups && rc == 0 && !v->over; i++)
		rc = go_on(v, follow_end(v->groups[i].follow));
	return rc > 0 ? 0 : rc;
}

/* ---- from beginning to end ---- */

static int begin(struct live *v, struct spur_error *err)
{
	int rc;

	if (session_is_text(&v->s))
		return error_set(err, -EINVAL,
				 "what the tracer %s finds is a text, not events: 'spur record' or "
				 "'spur show' get it",
				 v->s.req->buffers.at[0].tracer);
	rc = session_begin(&v->s, err);
	if (rc == 0)
		rc = open_trace(v, err);
	if (rc == 0)
		rc = add_buffers(v, err);
	if (rc == 0)
		rc = watch_buffers(v, err);
	if (rc == 0)
		rc = begin_groups(v, err);
	if (rc == 0)
		rc = session_hide(&v->s, err);
	return rc;
}

/* The kernel's files must be closed before its settings are restored. */
static void close_all(struct live *v)
{
	if (v->s.wake_fd >= 0)
		close(v->s.wake_fd);
	for (size_t i = 0; i < v->nr_groups; i++) {
		follow_free(v->groups[i].follow);
		free(v->groups[i].sources);
	}
	for (size_t i = 0; i < v->nr_sources; i++)
		live_feed_close(&v->sources[i].feed);
	trace_close(v->trace);
	free(v->groups);
	free(v->sources);
	buf_free(&v->names);
}

int live_run(const struct tracefs *fs, const struct request *r, const struct live_options *opt,
	     struct session_result *res, struct spur_error *err)
{
	struct live *v = calloc(1, sizeof(*v));
	int rc;

	memset(res, 0, sizeof(*res));
	if (!v)
		return error_set(err, -ENOMEM, "out of memory");
	v->opt = opt;
	v->s = (struct session){.fs = fs,
				.req = r,
				.opt = &opt->session,
				.res = res,
				.round = round_due,
				.period = PERIOD_NS,
				.wake_fd = -1};
	buf_init(&v->names, NAMES_LIMIT);
	rc = begin(v, err);
	if (rc == 0) {
		rc = session_run(&v->s, err);
		if (rc == 0)
			rc = last_rounds(v, err);
		session_tell(&v->s, true);
		if (rc == 0 && opt->finished)
			rc = opt->finished(opt->arg, err);
	}
	close_all(v);
	session_clean_up(&v->s, &rc, err);
	free(v);
	return rc == -ENOMEM ? error_set(err, rc, "out of memory") : rc;
}
