// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Threads that move pages from the kernel's buffers to a file. Each stream, a CPU of a buffer, has
 * one thread that reads it, and a mover: splice() or read(). Pages of a compressed file go
 * through a queue to one more thread, which compresses and writes them.
 */
#include "record/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "ring/ring.h"

#define MOVE_BYTES (1u << 20) /* moved at once, at most */

/* One CPU of one buffer. Used by one thread, except for the atomic members. */
struct stream {
	size_t buffer; /* in the file */
	uint32_t cpu;  /* its index in the buffer's list */
	uint32_t page_size;
	int fd;
	const struct mover *mover;
	int pipe[2];	     /* splice: pages that are being moved */
	char *pages;	     /* read: the same */
	struct queue *queue; /* of a compressed file, or NULL */
	atomic_ullong bytes;
	unsigned long long
		before; /* bytes in earlier files; used by the thread that changes files */
	atomic_ullong sampled_bytes, sampled_events; /* of the pages that were counted */
	atomic_int error;			     /* negative errno: it has stopped */
};

/*
 * The events of a stream's first pages are all counted; after these, those of one page in a
 * megabyte.
 */
#define SAMPLE_ALL 64

/* How many of n moved pages are to be counted. */
static inline size_t stream_sample_size(const struct stream *s, size_t n)
{
	unsigned long long counted = atomic_load(&s->sampled_bytes) / s->page_size;
	size_t wanted = counted < SAMPLE_ALL ? SAMPLE_ALL - (size_t)counted : 1;

	return n < wanted ? n : wanted;
}

/* Counts the events of a moved page. */
static void stream_sample(struct stream *s, const void *page)
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

/* ---- the queue: pages on their way to the thread that compresses them ---- */

#define QUEUE_BLOCKS 4 /* at most: some megabytes */

struct block {
	struct dat_out *out;
	struct stream *stream;
	char *pages;
	size_t n;
};

struct queue {
	pthread_t thread;
	pthread_mutex_t lock; /* guards all that follows */
	pthread_cond_t changed;
	struct block blocks[QUEUE_BLOCKS];
	size_t first, n;
	bool busy; /* the thread is writing a block that it has removed */
	bool ending;
	int error;
};

static void *compress(void *arg)
{
	struct queue *q = arg;

	pthread_mutex_lock(&q->lock);
	for (;;) {
		struct block b;
		int rc;

		while (!q->n && !q->ending)
			pthread_cond_wait(&q->changed, &q->lock);
		if (!q->n)
			break;
		b = q->blocks[q->first];
		q->first = (q->first + 1) % QUEUE_BLOCKS;
		q->n--;
		q->busy = true;
		pthread_cond_broadcast(&q->changed);
		pthread_mutex_unlock(&q->lock);
		rc = dat_out_pages(b.out, b.stream->buffer, b.stream->cpu, b.pages,
				   b.n / b.stream->page_size);
		free(b.pages);
		pthread_mutex_lock(&q->lock);
		q->busy = false;
		if (rc < 0 && !q->error)
			q->error = rc;
		pthread_cond_broadcast(&q->changed);
	}
	pthread_mutex_unlock(&q->lock);
	return NULL;
}

static struct queue *queue_new(void)
{
	struct queue *q = calloc(1, sizeof(*q));

	if (!q)
		return NULL;
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->changed, NULL);
	if (pthread_create(&q->thread, NULL, compress, q) != 0) {
		free(q);
		return NULL;
	}
	pthread_setname_np(q->thread, "spur-compress");
	return q;
}

/* Adds copies of pages; waits while the queue is full. */
static int queue_put(struct queue *q, struct dat_out *out, struct stream *s, const void *pages,
		     size_t n)
{
	struct block b = {out, s, malloc(n), n};
	int rc;

	if (!b.pages)
		return -ENOMEM;
	memcpy(b.pages, pages, n);
	pthread_mutex_lock(&q->lock);
	while (q->n == QUEUE_BLOCKS && !q->error)
		pthread_cond_wait(&q->changed, &q->lock);
	rc = q->error;
	if (rc == 0) {
		q->blocks[(q->first + q->n++) % QUEUE_BLOCKS] = b;
		pthread_cond_broadcast(&q->changed);
	}
	pthread_mutex_unlock(&q->lock);
	if (rc < 0)
		free(b.pages);
	return rc;
}

/* Waits until everything in the queue is written. */
static int queue_wait(struct queue *q)
{
	int rc;

	pthread_mutex_lock(&q->lock);
	while (q->n || q->busy)
		pthread_cond_wait(&q->changed, &q->lock);
	rc = q->error;
	pthread_mutex_unlock(&q->lock);
	return rc;
}

/* Ends the thread after the last block, and frees. The first error of writing, or 0. */
static int queue_free(struct queue *q)
{
	int rc;

	pthread_mutex_lock(&q->lock);
	q->ending = true;
	pthread_cond_broadcast(&q->changed);
	pthread_mutex_unlock(&q->lock);
	pthread_join(q->thread, NULL);
	rc = q->error;
	pthread_cond_destroy(&q->changed);
	pthread_mutex_destroy(&q->lock);
	free(q);
	return rc;
}

/*
 * Ways to move pages from the kernel to a file.
 *
 * splice() hands the ring buffer's own pages to the file system through a pipe, whole pages only;
 * a page that is still being written is left, and read at the end. Recording 4 million events
 * this way takes a quarter of the time that the mapped ring buffer takes, which needs two system
 * calls and a copy for every page.
 */

/* ---- read ---- */

static int read_open(struct stream *s)
{
	s->pages = malloc(MOVE_BYTES > s->page_size ? MOVE_BYTES : s->page_size);
	return s->pages ? 0 : -ENOMEM;
}

static void read_close(struct stream *s)
{
	free(s->pages);
	s->pages = NULL;
}

static int write_pages(struct stream *s, struct dat_out *out, size_t n)
{
	return s->queue ? queue_put(s->queue, out, s, s->pages, n)
			: dat_out_pages(out, s->buffer, s->cpu, s->pages, n / s->page_size);
}

/* read() also returns pages that are not full, so `rest` makes no difference. */
static int64_t read_move(struct stream *s, struct dat_out *out, bool rest)
{
	size_t n = 0;
	int rc = 0;

	(void)rest;
	while (n + s->page_size <= MOVE_BYTES) {
		ssize_t got = read(s->fd, s->pages + n, s->page_size);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno != EAGAIN)
			rc = -errno;
		if (got <= 0)
			break;
		n += s->page_size;
	}
	for (size_t i = 0, k = stream_sample_size(s, n / s->page_size); i < k; i++)
		stream_sample(s, s->pages + i * s->page_size);
	/* Pages that were read are written even if reading then fails. */
	if (n)
		rc = write_pages(s, out, n);
	return rc < 0 ? rc : (int64_t)n;
}

const struct mover mover_read = {"read", read_open, read_close, read_move};

/* ---- splice ---- */

static void splice_close(struct stream *s)
{
	close(s->pipe[0]);
	close(s->pipe[1]);
	read_close(s);
}

static int splice_open(struct stream *s)
{
	int rc = read_open(s);

	if (rc < 0)
		return rc;
	if (pipe2(s->pipe, O_CLOEXEC) != 0) {
		rc = -errno;
		read_close(s);
		return rc;
	}
	/* A larger pipe means fewer calls; it works with any. */
	fcntl(s->pipe[0], F_SETPIPE_SZ, MOVE_BYTES);
	return 0;
}

/* Reads some of the spliced pages back from the file, to count their events. */
static void sample_file(struct stream *s, const struct dat_out *out, uint64_t place, uint64_t n)
{
	size_t pages = stream_sample_size(s, n / s->page_size);

	for (size_t i = 0; i < pages; i++)
		if (pread(dat_out_fd(out), s->pages, s->page_size,
			  (off_t)(place + i * s->page_size)) == (ssize_t)s->page_size)
			stream_sample(s, s->pages);
}

/*
 * Writes the pipe's content to the file. Whole pages that were written count even if the rest
 * fails.
 */
static int empty_pipe(struct stream *s, struct dat_out *out, size_t n)
{
	uint64_t room, place = dat_out_place(out, s->buffer, s->cpu, &room);
	loff_t at = (loff_t)place;
	const bool full = n > room;
	int rc = 0;

	n = full ? (size_t)(room / s->page_size * s->page_size) : n;
	while (n && rc == 0) {
		ssize_t put = splice(s->pipe[0], NULL, dat_out_fd(out), &at, n, SPLICE_F_MOVE);

		if (put > 0)
			n -= (size_t)put;
		else if (put == 0 || errno != EINTR)
			rc = put == 0 ? -EIO : -errno;
	}
	sample_file(s, out, place, (uint64_t)at - place);
	dat_out_advance(out, s->buffer, s->cpu,
			((uint64_t)at - place) / s->page_size * s->page_size);
	return rc ? rc : full ? -EFBIG : 0;
}

static int64_t splice_move(struct stream *s, struct dat_out *out, bool rest)
{
	ssize_t n = splice(s->fd, NULL, s->pipe[1], NULL, MOVE_BYTES,
			   SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
	int rc;

	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return -errno;
	if (n <= 0)
		return rest ? read_move(s, out, true) : 0;
	rc = empty_pipe(s, out, (size_t)n);
	return rc < 0 ? rc : n;
}

const struct mover mover_splice = {"splice", splice_open, splice_close, splice_move};

/* A stream has the kernel's buffer and a pipe. The rest of the process has fewer than OTHER_FDS. */
#define FDS_OF_STREAM 3
#define OTHER_FDS     256

#define FILE_CAP	 96
#define DEFAULT_INTERVAL 1000000 /* us: even a trickle gets to the disk every second */
#define EARLY_PAUSE	 1000	 /* us, if the kernel has woken us for less than a page */

/* A thread and its streams. */
struct reader {
	struct recorder *r;
	pthread_t thread;
	struct stream **streams;
	size_t nr;
	struct pollfd *fds; /* first the event `end`, then the streams */
};

struct recorder {
	struct recorder_options opt;
	struct stream *streams;
	size_t nr_streams;
	struct reader *readers;
	size_t nr_readers, started;
	pthread_rwlock_t lock; /* guards out: held for reading while pages are moved */
	struct dat_out *out;
	atomic_ullong in_file; /* bytes moved into out */
	struct queue *queue;
	int end;    /* eventfd: readable when it is time to end */
	int failed; /* eventfd: readable when a stream has failed */
	int full;   /* eventfd: readable when a stream has enough in its file */
};

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

	(void)n; /* the event is set already */
}

static void fail(struct recorder *r, struct stream *s, int error)
{
	atomic_store(&s->error, error);
	wake(r->failed);
}

/* Whether the file has reached its size with these bytes. */
static bool is_enough(struct recorder *r, const struct stream *s, unsigned long long n)
{
	unsigned long long all = atomic_fetch_add(&r->in_file, n) + n;

	return (r->opt.enough && atomic_load(&s->bytes) - s->before >= r->opt.enough) ||
	       (r->opt.enough_all && all >= r->opt.enough_all);
}

/* Moves the data of a stream, at most `rounds` times a megabyte. Returns whether there were any. */
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

/* One round: waits, then moves the data. False when it is time to end. */
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

/* A large machine needs more descriptors than the default limit of a process. */
static void raise_limit(size_t descriptors)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= descriptors)
		return;
	limit.rlim_cur = descriptors < limit.rlim_max ? descriptors : limit.rlim_max;
	/* If this fails, opening them reports the error. */
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
	/*
	 * The thread that changes the file must not wait for threads that always hold the lock for
	 * reading.
	 */
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

/* These threads need little stack, and boards have little memory. */
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
	(void)n; /* the event was not set */
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

/*
 * The negative errno of the first stream that failed, with words in err, or 0. A failed stream
 * stops; the others continue.
 */
static int recorder_failed(const struct recorder *r, struct spur_error *err)
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
