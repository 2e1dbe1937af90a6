// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "record/stream_parts.h"
#include "ring/ring.h"

/* Of a stream: the kernel's buffer and a pipe. Of the rest of the process: more than it has. */
#define FDS_OF_STREAM 3
#define OTHER_FDS     256

#define FILE_CAP	 96
#define DEFAULT_INTERVAL 1000000 /* us: even a trickle gets to the disk every second */
#define EARLY_PAUSE	 1000	 /* us, after a kernel has called us for less than a page */

/* A thread and its streams. */
struct reader {
	struct recorder *r;
	pthread_t thread;
	struct stream **streams;
	size_t nr;
	struct pollfd *fds; /* the end first, then the streams */
};

struct recorder {
	struct recorder_options opt;
	struct stream *streams;
	size_t nr_streams;
	struct reader *readers;
	size_t nr_readers, started;
	pthread_rwlock_t lock; /* guards out: moving holds it for reading */
	struct dat_out *out;
	atomic_ullong in_file; /* bytes moved into out */
	struct queue *queue;
	int end;    /* eventfd: readable when it is time to end */
	int failed; /* eventfd: readable when a stream has failed */
	int full;   /* eventfd: readable when a stream has enough in its file */
};

/* ---- how many events ---- */

void stream_sample(struct stream *s, const void *page)
{
	struct ring_layout layout = ring_layout_default(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
							sizeof(long), s->page_size);
	struct ring_page p;
	struct ring_event e;
	unsigned long long n = 0;

	if (ring_page_open(&p, &layout, page, s->page_size) < 0)
		return;
	while (ring_page_next(&p, &e))
		n++;
	atomic_fetch_add(&s->sampled_bytes, s->page_size);
	atomic_fetch_add(&s->sampled_events, n);
}

uint64_t recorder_events(const struct recorder *r)
{
	double sum = 0;

	for (size_t i = 0; i < r->nr_streams; i++) {
		double seen = (double)atomic_load(&r->streams[i].sampled_bytes);
		double events = (double)atomic_load(&r->streams[i].sampled_events);
		double unseen = (double)atomic_load(&r->streams[i].bytes) - seen;

		sum += events + (seen > 0 && unseen > 0 ? unseen / seen * events : 0);
	}
	return (uint64_t)sum;
}

/* ---- threads ---- */

static void wake(int eventfd_)
{
	const uint64_t one = 1;
	ssize_t n = write(eventfd_, &one, sizeof(one));

	(void)n; /* it is readable already */
}

static void fail(struct recorder *r, struct stream *s, int error)
{
	atomic_store(&s->error, error);
	wake(r->failed);
}

/* Whether the file has enough with what was moved now. */
static bool is_enough(struct recorder *r, const struct stream *s, unsigned long long n)
{
	unsigned long long all = atomic_fetch_add(&r->in_file, n) + n;

	return (r->opt.enough && atomic_load(&s->bytes) - s->before >= r->opt.enough) ||
	       (r->opt.enough_all && all >= r->opt.enough_all);
}

/* Moves what a stream has, at most `rounds` times a megabyte. Whether there was anything. */
static bool move(struct recorder *r, struct stream *s, bool rest, unsigned int rounds)
{
	bool any = false;

	while (rounds-- && !atomic_load(&s->error)) {
		int64_t n;

		pthread_rwlock_rdlock(&r->lock);
		n = s->mover->move(s, r->out, rest);
		if (n > 0)
			atomic_fetch_add(&s->bytes, (unsigned long long)n);
		if (n > 0 && is_enough(r, s, (unsigned long long)n))
			wake(r->full);
		pthread_rwlock_unlock(&r->lock);
		if (n < 0)
			fail(r, s, (int)n);
		if (n <= 0)
			break;
		any = true;
	}
	return any;
}

static void pause_us(unsigned int us)
{
	struct timespec t = {us / 1000000, (long)(us % 1000000) * 1000};

	nanosleep(&t, NULL);
}

/* One round: waits, then moves what is there. False when it is time to end. */
static bool read_round(struct reader *rd)
{
	struct recorder *r = rd->r;
	unsigned int interval = r->opt.interval_us ? r->opt.interval_us : DEFAULT_INTERVAL;
	bool any = false;
	int ready;

	for (size_t i = 0; i < rd->nr; i++)
		rd->fds[i + 1].fd = atomic_load(&rd->streams[i]->error) ? -1 : rd->streams[i]->fd;
	ready = poll(rd->fds, r->opt.busy ? 1 : rd->nr + 1,
		     r->opt.busy ? 0 : (int)((interval + 999) / 1000));
	if (rd->fds[0].revents)
		return false;
	for (size_t i = 0; i < rd->nr; i++)
		if (ready == 0 || r->opt.busy || rd->fds[i + 1].revents)
			any |= move(r, rd->streams[i], false, 16);
	if (!any && ready > 0)
		pause_us(EARLY_PAUSE);
	return true;
}

static void *read_streams(void *arg)
{
	struct reader *rd = arg;

	while (read_round(rd))
		;
	for (size_t i = 0; i < rd->nr; i++)
		while (move(rd->r, rd->streams[i], true, 16))
			;
	return NULL;
}

/* ---- making ---- */

static int open_stream(struct recorder *r, const struct tracefs *fs, const char *instance,
		       uint32_t cpu, struct stream *s, struct spur_error *err)
{
	char file[FILE_CAP];
	int rc;

	snprintf(file, sizeof(file), "per_cpu/cpu%u/%s", cpu,
		 r->opt.data_file ? r->opt.data_file : "trace_pipe_raw");
	s->fd = tracefs_open(fs, instance, file, O_RDONLY | O_NONBLOCK, err);
	if (s->fd < 0)
		return s->fd;
	s->mover = r->opt.mover ? r->opt.mover : r->opt.compressed ? &mover_read : &mover_splice;
	rc = s->mover->open(s);
	if (rc < 0) {
		close(s->fd);
		s->fd = -1;
		return error_sys(err, rc, "%s", file);
	}
	return 0;
}

/* A large machine needs more descriptors than a process may have unless it asks. */
static void raise_limit(size_t descriptors)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= descriptors)
		return;
	limit.rlim_cur = descriptors < limit.rlim_max ? descriptors : limit.rlim_max;
	/* Otherwise opening them tells what is wrong. */
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int open_streams(struct recorder *r, const struct tracefs *fs,
			const struct recorder_source *sources, size_t nr, const uint32_t *cpus,
			uint32_t nr_cpus, struct spur_error *err)
{
	r->streams = calloc(nr * nr_cpus + 1, sizeof(*r->streams));
	if (!r->streams)
		return error_set(err, -ENOMEM, "out of memory");
	for (size_t b = 0; b < nr; b++)
		for (uint32_t c = 0; c < nr_cpus && sources[b].instance; c++) {
			struct stream *s = &r->streams[r->nr_streams];
			int rc;

			s->buffer = b;
			s->cpu = c;
			s->page_size = sources[b].page_size;
			rc = open_stream(r, fs, sources[b].instance, cpus[c], s, err);
			if (rc < 0)
				return rc;
			r->nr_streams++;
		}
	return 0;
}

/* Streams of the same CPU go to the same thread. */
static int deal_streams(struct recorder *r, uint32_t nr_cpus, struct spur_error *err)
{
	size_t nr = r->opt.threads && r->opt.threads < nr_cpus ? r->opt.threads : nr_cpus;

	r->readers = calloc(nr, sizeof(*r->readers));
	if (!r->readers)
		return error_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < nr; i++) {
		struct reader *rd = &r->readers[i];

		rd->r = r;
		rd->streams = calloc(r->nr_streams + 1, sizeof(*rd->streams));
		rd->fds = calloc(r->nr_streams + 1, sizeof(*rd->fds));
		r->nr_readers++;
		if (!rd->streams || !rd->fds)
			return error_set(err, -ENOMEM, "out of memory");
		rd->fds[0] = (struct pollfd){r->end, POLLIN, 0};
	}
	for (size_t i = 0; i < r->nr_streams; i++) {
		struct reader *rd = &r->readers[r->streams[i].cpu % nr];

		rd->streams[rd->nr++] = &r->streams[i];
		rd->fds[rd->nr].events = POLLIN;
	}
	return 0;
}

int recorder_new(const struct tracefs *fs, const struct recorder_source *sources, size_t nr,
		 const uint32_t *cpus, uint32_t nr_cpus, const struct recorder_options *opt,
		 struct recorder **out, struct spur_error *err)
{
	struct recorder *r = calloc(1, sizeof(*r));
	pthread_rwlockattr_t attr;
	int rc;

	*out = NULL;
	if (!r)
		return error_set(err, -ENOMEM, "out of memory");
	r->opt = *opt;
	raise_limit(OTHER_FDS + nr * nr_cpus * FDS_OF_STREAM);
	pthread_rwlockattr_init(&attr);
	/* Whoever exchanges the file must not wait for threads that always read. */
	pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&r->lock, &attr);
	pthread_rwlockattr_destroy(&attr);
	r->end = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r->failed = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r->full = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	rc = r->end < 0 || r->failed < 0 || r->full < 0 ? error_sys(err, -errno, "an eventfd") : 0;
	if (rc == 0)
		rc = open_streams(r, fs, sources, nr, cpus, nr_cpus, err);
	if (rc == 0)
		rc = deal_streams(r, nr_cpus, err);
	if (rc < 0) {
		recorder_free(r);
		return rc;
	}
	*out = r;
	return 0;
}

/* Small: these threads hardly use any stack, and boards have little memory. */
#define STACK_BYTES (128u << 10)

static int start_reader(struct reader *rd)
{
	pthread_attr_t attr;
	int rc;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	rc = pthread_create(&rd->thread, &attr, read_streams, rd);
	pthread_attr_destroy(&attr);
	if (rc == 0)
		pthread_setname_np(rd->thread, "spur-reader");
	return -rc;
}

static int set_priority(const struct recorder *r, pthread_t thread, struct spur_error *err)
{
	struct sched_param p = {.sched_priority = r->opt.priority};
	int rc = r->opt.priority ? pthread_setschedparam(thread, SCHED_FIFO, &p) : 0;

	return rc ? error_sys(err, -rc, "real-time priority %d", r->opt.priority) : 0;
}

int recorder_start(struct recorder *r, struct dat_out *out, struct spur_error *err)
{
	r->out = out;
	if (r->opt.compressed) {
		r->queue = queue_new();
		if (!r->queue)
			return error_set(err, -ENOMEM, "the thread that compresses cannot start");
		for (size_t i = 0; i < r->nr_streams; i++)
			r->streams[i].queue = r->queue;
	}
	while (r->started < r->nr_readers) {
		int rc = start_reader(&r->readers[r->started]);

		if (rc < 0)
			return error_sys(err, rc, "a thread that reads cannot start");
		rc = set_priority(r, r->readers[r->started++].thread, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

void recorder_switch(struct recorder *r, struct dat_out *out, void (*between)(void *arg), void *arg)
{
	uint64_t told;
	ssize_t n;

	pthread_rwlock_wrlock(&r->lock);
	if (r->queue)
		queue_wait(r->queue);
	between(arg);
	r->out = out;
	for (size_t i = 0; i < r->nr_streams; i++)
		r->streams[i].before = atomic_load(&r->streams[i].bytes);
	atomic_store(&r->in_file, 0);
	n = read(r->full, &told, sizeof(told));
	(void)n; /* nobody had told */
	pthread_rwlock_unlock(&r->lock);
}

int64_t recorder_replace(struct recorder *r, struct dat_out *out,
			 int64_t (*copy)(struct dat_out *to, const struct dat_out *from, bool last))
{
	int64_t rc;

	pthread_rwlock_wrlock(&r->lock);
	if (r->queue)
		queue_wait(r->queue);
	rc = copy(out, r->out, true);
	if (rc >= 0)
		r->out = out;
	pthread_rwlock_unlock(&r->lock);
	return rc;
}

int recorder_failed(const struct recorder *r, struct spur_error *err)
{
	for (size_t i = 0; i < r->nr_streams; i++) {
		int rc = atomic_load(&r->streams[i].error);

		if (rc < 0)
			return error_sys(err, rc, "recording");
	}
	return 0;
}

int recorder_event(const struct recorder *r)
{
	return r->failed;
}

int recorder_full(const struct recorder *r)
{
	return r->full;
}

static void end_threads(struct recorder *r)
{
	wake(r->end);
	for (size_t i = 0; i < r->started; i++)
		pthread_join(r->readers[i].thread, NULL);
	r->started = 0;
}

int recorder_drain(struct recorder *r, struct spur_error *err)
{
	int rc = 0;

	end_threads(r);
	if (r->queue) {
		rc = queue_free(r->queue);
		r->queue = NULL;
	}
	if (rc < 0)
		return error_sys(err, rc, "recording");
	return recorder_failed(r, err);
}

uint64_t recorder_bytes(const struct recorder *r)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < r->nr_streams; i++)
		sum += atomic_load(&r->streams[i].bytes);
	return sum;
}

uint64_t recorder_largest(const struct recorder *r)
{
	uint64_t most = 0;

	for (size_t i = 0; i < r->nr_streams; i++) {
		uint64_t n = atomic_load(&r->streams[i].bytes) - r->streams[i].before;

		most = n > most ? n : most;
	}
	return most;
}

void recorder_free(struct recorder *r)
{
	if (!r)
		return;
	end_threads(r);
	if (r->queue)
		queue_free(r->queue);
	for (size_t i = 0; i < r->nr_streams; i++) {
		r->streams[i].mover->close(&r->streams[i]);
		close(r->streams[i].fd);
	}
	for (size_t i = 0; i < r->nr_readers; i++) {
		free(r->readers[i].streams);
		free(r->readers[i].fds);
	}
	free(r->readers);
	free(r->streams);
	pthread_rwlock_destroy(&r->lock);
	if (r->end >= 0)
		close(r->end);
	if (r->failed >= 0)
		close(r->failed);
	if (r->full >= 0)
		close(r->full);
	free(r);
}
