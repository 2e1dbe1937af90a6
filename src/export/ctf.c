// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CTF 1.8, which babeltrace2 and Trace Compass read: a folder with a stream for every CPU.
 *
 * A stream is made of packets:
 *
 *	u32 magic, u32 stream           0
 *	u64 begin, u64 end              8   times of the first and the last event
 *	u64 content size, packet size   24  in bits
 *	u64 number of the packet        40
 *	u64 events discarded            48  since the stream began, up to the packet's first event
 *	u32 CPU                         56
 *	events                          60
 *
 * Events are discarded between packets only: where some were lost a new one begins. CPUs are
 * written one after the other, so that one file is open at a time.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/newfolder.h"
#include "export/ctf_parts.h"
#include "export/formats.h"
#include "scan/lane.h"

#define MAGIC	    0xc1fc1fc1u
#define PACKET_HEAD 60
#define PACKET_SIZE (128u << 10) /* a packet is closed when it has become larger */
#define STEPS	    4096	 /* records between two looks at stop and progress */
#define META_LIMIT  (512u << 20)
#define PATH_ROOM   4096

struct stream {
	struct ctf_trace *ctf;
	uint32_t buffer, cpu;
	struct outlet out;
	size_t packet; /* where the open one begins in the outlet's buffer */
	bool open;
	uint64_t begin, end; /* times of the open packet */
	uint64_t number;     /* of packets */
	uint64_t discarded;
	struct select_stack stack;
};

/* What all files of an export have in common. */
struct writing {
	const struct export_job *job;
	struct ctf_trace *ctf;
	struct event_printer printer; /* filters ask it for names of tasks */
	const char *folder;
	uint64_t done, total; /* pages */
	bool unknown_losses;
	uint64_t backwards; /* events that seem to be before the one before them */
};

/* ---- packets ---- */

static void open_packet(struct stream *s, uint64_t ts)
{
	s->packet = s->out.buf.len;
	s->begin = s->end = ts;
	s->open = true;
	buf_fill(&s->out.buf, 0, PACKET_HEAD);
}

/* Its head can be written now that all of it is known. */
static void close_packet(struct stream *s)
{
	const uint64_t bits = (s->out.buf.len - s->packet) * 8;
	char head[PACKET_HEAD];
	struct buf to = {.data = head, .cap = sizeof(head), .limit = sizeof(head)};

	if (!s->open)
		return;
	s->open = false;
	ctf_put_uint(s->ctf, MAGIC, 4, &to);
	ctf_put_uint(s->ctf, s->buffer, 4, &to);
	ctf_put_uint(s->ctf, s->begin, 8, &to);
	ctf_put_uint(s->ctf, s->end, 8, &to);
	ctf_put_uint(s->ctf, bits, 8, &to);
	ctf_put_uint(s->ctf, bits, 8, &to);
	ctf_put_uint(s->ctf, s->number++, 8, &to);
	ctf_put_uint(s->ctf, s->discarded, 8, &to);
	ctf_put_uint(s->ctf, s->cpu, 4, &to);
	if (s->out.buf.len - s->packet >= PACKET_HEAD)
		memcpy(s->out.buf.data + s->packet, head, PACKET_HEAD);
	outlet_turn(&s->out);
}

/* A reader sees the number grow from one packet to the next, so there must be one before. */
static void lose(struct writing *w, struct stream *s, int64_t lost, uint64_t ts)
{
	if (!lost)
		return;
	if (!s->open && !s->number)
		open_packet(s, ts);
	close_packet(s);
	if (lost < 0)
		w->unknown_losses = true;
	s->discarded += lost > 0 ? (uint64_t)lost : 1;
}

/* ---- events ---- */

static bool wanted(struct writing *w, struct stream *s, struct event *e,
		   const struct spur_record *r)
{
	const struct selection *sel = w->job->select;
	struct spur_trace *t = w->ctf->trace;

	if (!sel || !select_refuses(sel, t))
		return true;
	return (e || !sel->nr_filters) && select_record(sel, &s->stack, t, &w->printer, e, r);
}

static int put_event(struct writing *w, struct stream *s, struct event *e,
		     const struct spur_record *r)
{
	struct ctf_trace *c = w->ctf;
	uint64_t ts = r->ts - (uint64_t)c->clock_offset;
	const int number = ctf_class_of(c, e);
	struct buf *out = &s->out.buf;

	if (number < 0)
		return number;
	if (s->number + s->open && ts < s->end) {
		ts = s->end;
		w->backwards++;
	}
	if (!s->open)
		open_packet(s, ts);
	s->end = ts;
	if (s->buffer < 32)
		c->classes[number].buffers |= 1u << s->buffer;
	ctf_put_uint(c, (uint64_t)number, 2, out);
	ctf_put_uint(c, ts, 8, out);
	ctf_put_context(c, r, out);
	ctf_put_fields(c, &c->classes[number], r, out);
	if (out->len - s->packet >= PACKET_SIZE)
		close_packet(s);
	return s->out.rc;
}

static int watch(struct writing *w, const struct lane *l)
{
	const struct walk_options *o = &w->job->walk;

	if (o->stop && *o->stop)
		return -EINTR;
	if (o->progress)
		o->progress(o->progress_arg, w->done + l->page_index, w->total);
	return 0;
}

static int put_lane(struct writing *w, struct stream *s, struct lane *l)
{
	const struct walk_options *o = &w->job->walk;
	int64_t lost = 0;
	int rc = 0;

	if (o->since)
		lane_seek_time(l, o->since, l->nr_pages / 2);
	for (uint64_t i = 0; rc == 0 && lane_next(l); i++) {
		const struct spur_record *r = &l->rec;
		struct event *e;

		if (i % STEPS == 0)
			rc = watch(w, l);
		if (r->ts < o->since)
			continue;
		if (o->until && r->ts > o->until)
			break;
		/* A loss before an event that is left out still was one. */
		lost = lost > 0 && r->lost > 0 ? lost + r->lost : r->lost ? r->lost : lost;
		e = events_of_record(w->ctf->trace->events, r);
		if (rc < 0 || !wanted(w, s, e, r))
			continue;
		lose(w, s, lost, r->ts - (uint64_t)w->ctf->clock_offset);
		lost = 0;
		rc = put_event(w, s, e, r);
	}
	if (rc == 0 && l->ended && l->pending) {
		lose(w, s, l->pending, s->end);
		open_packet(s, s->end);
	}
	close_packet(s);
	w->done += l->nr_pages;
	return rc;
}

/* ---- files ---- */

static int create_file(const struct writing *w, const char *name, char *path,
		       struct spur_error *err)
{
	int fd;

	if (snprintf(path, PATH_ROOM, "%s/%s", w->folder, name) >= PATH_ROOM)
		return error_sys(err, -ENAMETOOLONG, "%s", w->folder);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	return fd < 0 ? error_sys(err, -errno, "%s", path) : fd;
}

static int close_file(int fd, int rc, const char *path, struct spur_error *err)
{
	if (close(fd) < 0 && rc == 0)
		rc = -errno;
	return rc < 0 && rc != -EINTR ? error_sys(err, rc, "%s", path) : rc;
}

static int put_cpu(struct writing *w, const struct trace_buffer *b, const struct dat_cpu *cpu,
		   struct spur_error *err)
{
	struct stream s = {.ctf = w->ctf, .buffer = b->index, .cpu = cpu->cpu};
	char name[64], path[PATH_ROOM];
	struct lane lane;
	int fd, rc = lane_open(&lane, b, cpu);

	/* Data that cannot be read at all have been noted as damage; the rest can. */
	if (rc < 0)
		return rc == -EBADMSG ? 0 : error_sys(err, rc, "%s", w->ctf->trace->dat->path);
	snprintf(name, sizeof(name), "channel_%u_%u", b->index, cpu->cpu);
	fd = create_file(w, name, path, err);
	if (fd >= 0) {
		outlet_init(&s.out, fd);
		rc = put_lane(w, &s, &lane);
		outlet_empty(&s.out);
		rc = close_file(fd, rc < 0 ? rc : s.out.rc, path, err);
		outlet_free(&s.out);
		/* A CPU without events has no stream. */
		if (rc == 0 && !s.number)
			unlink(path);
	}
	lane_close(&lane);
	return fd < 0 ? fd : rc;
}

static int put_metadata(const struct writing *w, struct spur_error *err)
{
	char path[PATH_ROOM];
	struct buf text;
	int fd, rc;

	fd = create_file(w, "metadata", path, err);
	if (fd < 0)
		return fd;
	buf_init(&text, META_LIMIT);
	ctf_put_metadata(w->ctf, &text);
	rc = buf_full(&text) ? -ENOMEM : file_write_fd(fd, text.data, text.len);
	buf_free(&text);
	return close_file(fd, rc, path, err);
}

static void count_pages(struct writing *w)
{
	for (size_t i = 0; i < w->job->nr_traces; i++) {
		const struct spur_trace *t = w->job->traces[i];

		for (uint32_t k = 0; k < t->nr_buffers; k++) {
			const struct dat_buffer *b = t->buffers[k].data;

			for (uint32_t n = 0; !b->text && b->page_size && n < b->nr_cpus; n++)
				w->total += b->cpus[n].size / b->page_size;
		}
	}
}

static int put_buffers(struct writing *w, struct spur_error *err)
{
	const struct spur_trace *t = w->ctf->trace;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < t->nr_buffers; i++) {
		const struct trace_buffer *b = &t->buffers[i];

		if (b->data->text)
			export_note(w->job,
				    "%s: what a latency tracer left is text and has no "
				    "events: it is left out",
				    t->dat->path);
		for (uint32_t k = 0; rc == 0 && !b->data->text && k < b->data->nr_cpus; k++)
			if (b->data->cpus[k].size &&
			    walk_asks_cpu(&w->job->walk, b->data->cpus[k].cpu))
				rc = put_cpu(w, b, &b->data->cpus[k], err);
	}
	return rc;
}

static int put_trace(struct writing *w, struct spur_trace *t, struct spur_error *err)
{
	const char *tracer = export_setting(w->job, "tracer");
	struct ctf_trace ctf;
	int rc = ctf_trace_init(&ctf, t, err);

	/* Readers refuse to merge traces of which only some have such times. */
	ctf.absolute = ctf.id.has_wall || w->job->nr_traces > 1;
	ctf.tracer = tracer ? tracer : "spur";
	w->ctf = &ctf;
	if (rc == 0 && event_printer_init(&w->printer, t->events) < 0)
		rc = error_set(err, -ENOMEM, "out of memory");
	if (rc == 0) {
		rc = put_buffers(w, err);
		event_printer_done(&w->printer);
	}
	if (rc == 0)
		rc = put_metadata(w, err);
	ctf_trace_free(&ctf);
	return rc;
}

/* Several traces have a folder each, which readers find below the one they are given. */
static int put_traces(struct writing *w, const char *top, struct spur_error *err)
{
	int rc = 0;

	w->folder = top;
	for (size_t i = 0; rc == 0 && i < w->job->nr_traces; i++) {
		char folder[PATH_ROOM];

		if (w->job->nr_traces > 1) {
			if (snprintf(folder, sizeof(folder), "%s/trace_%zu", top, i) >= PATH_ROOM)
				return error_sys(err, -ENAMETOOLONG, "%s", top);
			if (mkdir(folder, 0777) < 0)
				return error_sys(err, -errno, "%s", folder);
			w->folder = folder;
		}
		rc = put_trace(w, w->job->traces[i], err);
	}
	return rc;
}

static void tell(const struct writing *w)
{
	if (w->unknown_losses)
		export_note(w->job, "how many events were lost is not known of all losses: those "
				    "count as one");
	if (w->backwards)
		export_note(w->job,
			    "%llu events are earlier than the one before them on their CPU: they "
			    "have that one's time",
			    (unsigned long long)w->backwards);
}

static int run(const struct export_job *job, struct spur_error *err)
{
	struct writing w = {.job = job};
	struct newfolder folder;
	int rc = newfolder_create(&folder, job->target, err);

	if (rc < 0)
		return rc;
	count_pages(&w);
	rc = put_traces(&w, folder.temp, err);
	if (rc < 0) {
		newfolder_drop(&folder);
		return rc;
	}
	tell(&w);
	return newfolder_keep(&folder, err);
}

static const struct export_setting_info settings[] = {
	{"tracer", "the tracer's name in the environment; perf: Trace Compass reads it as perf's"},
	{0},
};

const struct export_format export_ctf = {
	.name = "ctf",
	.about = "CTF 1.8, for babeltrace2 and Trace Compass",
	.suffix = ".ctf",
	.kind = EXPORT_FOLDER,
	.settings = settings,
	.run = run,
};
