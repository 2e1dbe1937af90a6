// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * CTF 1.8: a folder with metadata and streams, as LTTng, babeltrace2 and spur write it.
 *
 * A stream's file is made of packets, whose context says how long each is, of which CPU, and how
 * many events had been discarded when it ended. One packet at a time is in memory.
 */
#include "import/ctf/ctf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/file.h"
#include "base/nanoseconds.h"
#include "base/scoped.h"
#include "base/strings.h"
#include "base/vec.h"

#define META_LIMIT   (256u << 20)
#define META_MAGIC   0x75d11d57u
#define META_HEAD    37
#define PACKET_MAGIC 0xc1fc1fc1u
#define HEAD_ROOM    (64u << 10) /* bytes in which a packet must say how long it is */
#define MAX_PACKET   (256u << 20)
#define MAX_FILES    65536
#define STEPS	     4096 /* events between two looks at stop and progress */

struct ctf {
	struct ctf_metadata m;
	const struct source_input *in;
	uint64_t done, total; /* bytes of streams */
	uint64_t residue;     /* nanoseconds of the clock's offset that are no microsecond */
};

/* One stream's file. */
struct file {
	const char *name;
	int fd;
	uint64_t size, at;
	uint8_t *data;
	size_t cap;
	uint64_t discarded; /* up to the packet before */
	int running;	    /* the task that the CPU switched to */
};

static bool recognise(const struct source_input *in)
{
	struct stat st;

	return in->folder && fstatat(in->fd, "metadata", &st, 0) == 0 && S_ISREG(st.st_mode);
}

/* ---- metadata ------------------------------------------------------------------------- */

/* Metadata may lie in packets, each with a head; their content makes the text. */
static int unpack_metadata(struct buf *raw, struct buf *text, struct spur_error *err)
{
	size_t at = 0;

	while (at < raw->len) {
		struct cursor c = cursor_over(raw->data + at, raw->len - at, false);
		uint32_t content, packet;

		if (cursor_u32(&c) != META_MAGIC)
			c.big_endian = true;
		cursor_skip(&c, 16 + 4);
		content = cursor_u32(&c) / 8;
		packet = cursor_u32(&c) / 8;
		if (cursor_failed(&c) || content < META_HEAD || packet < content ||
		    packet > raw->len - at)
			return error_set(err, -EBADMSG, "metadata: a packet at %zu makes no sense",
					 at);
		buf_put(text, raw->data + at + META_HEAD, content - META_HEAD);
		at += packet;
	}
	return buf_full(text) ? error_set(err, -ENOMEM, "metadata: there is too much of it") : 0;
}

static bool is_packed(const struct buf *raw)
{
	const uint8_t *p = (const uint8_t *)raw->data;

	return raw->len >= 4 &&
	       (load_uint(p, 4, false) == META_MAGIC || load_uint(p, 4, true) == META_MAGIC);
}

static int read_metadata(struct ctf *c, struct spur_error *err)
{
	scoped_fd fd = openat(c->in->fd, "metadata", O_RDONLY | O_CLOEXEC);
	struct buf raw, text;
	int rc;

	if (fd < 0)
		return error_sys(err, -errno, "metadata");
	buf_init(&raw, META_LIMIT);
	buf_init(&text, META_LIMIT);
	rc = file_read_fd(fd, "metadata", &raw, err);
	if (rc == 0 && is_packed(&raw)) {
		rc = unpack_metadata(&raw, &text, err);
		if (rc == 0)
			rc = ctf_metadata_read(&c->m, text.data, text.len, err);
	} else if (rc == 0) {
		rc = ctf_metadata_read(&c->m, raw.data, raw.len, err);
	}
	buf_free(&text);
	buf_free(&raw);
	return rc;
}

/* ---- what the metadata say about the whole trace ---------------------------------------- */

static void set_machine(struct ctf *c)
{
	const char *whole = ctf_variable(&c->m, "uname");
	const char *host = ctf_variable(&c->m, "hostname");
	const char *release = ctf_variable(&c->m, "kernel_release");
	char text[512];

	if (*whole) {
		c->m.im->uname = whole;
	} else if (*host || *release) {
		snprintf(text, sizeof(text), "Linux %.100s %.100s %.100s", *host ? host : "(none)",
			 release, ctf_variable(&c->m, "machine"));
		c->m.im->uname = import_name(c->m.im, text, strlen(text));
		if (!c->m.im->uname)
			c->m.im->uname = "";
	}
}

static void set_clock(struct ctf *c)
{
	struct ctf_metadata *m = &c->m;
	const char *own = ctf_variable(m, "trace_clock");
	__int128 ns;

	if (!m->freq)
		m->freq = NS_PER_S;
	ns = (__int128)m->offset * NS_PER_S / (__int128)m->freq + (__int128)m->offset_s * NS_PER_S;
	m->im->clock = *own ? own : "mono";
	if (ns <= 0 || ns > INT64_MAX)
		return;
	m->im->has_date = true;
	m->im->date_us = (int64_t)(ns / 1000);
	c->residue = (uint64_t)(ns % 1000);
}

static void set_buffers(struct ctf *c)
{
	char name[40];

	vec_each (s, &c->m.streams) {
		snprintf(name, sizeof(name), "buffer_%" PRIu64, s->id);
		s->buffer = ctf_variable(&c->m, name);
	}
}

/* ---- packets -------------------------------------------------------------------------- */

static uint64_t nanoseconds(const struct ctf *c, uint64_t cycles)
{
	const struct ctf_metadata *m = &c->m;

	if (m->freq == NS_PER_S)
		return cycles + c->residue;
	return (uint64_t)((unsigned __int128)cycles * NS_PER_S / m->freq) + c->residue;
}

/* The time in a header is one, whatever else there is in it. */
static void read_struct(struct ctf_reader *r, const struct ctf_type *t)
{
	if (t)
		ctf_read_any(r, t, NULL, NULL, 0);
}

/* Which event follows, and when; false at the packet's end. */
static bool read_header(struct ctf_reader *r, const struct ctf_stream *s, uint64_t *id)
{
	if (r->bits.at >= r->bits.end)
		return false;
	r->nr_known = 0;
	read_struct(r, s->event_header);
	*id = 0;
	/* Of two, one in a variant, the last one counts. */
	ctf_find_known(r, "id", id);
	return !r->bits.failed;
}

static int damaged(const struct file *f, const char *what, struct spur_error *err)
{
	return error_set(err, -EBADMSG, "stream %s, packet at %" PRIu64 ": %s", f->name, f->at,
			 what);
}

static int read_events(struct ctf *c, struct file *f, struct ctf_stream *s, struct ctf_reader *r,
		       uint32_t cpu, struct spur_error *err)
{
	struct import_context x = {.cpu = cpu, .buffer = import_buffer(c->m.im, s->buffer)};
	uint64_t id, before;

	for (uint64_t i = 0; c->m.im->rc == 0; i++) {
		struct ctf_event *e;

		before = r->bits.at;
		if (!read_header(r, s, &id))
			break;
		e = ctf_event_of(&c->m, s->id, id);
		if (!e)
			return damaged(f, "an event that the metadata do not describe", err);
		x.ts = nanoseconds(c, r->clock);
		if (!ctf_put_event(&c->m, s, e, r, &x, &f->running))
			return damaged(f, "an event does not fit into it", err);
		if (r->bits.at == before)
			return damaged(f, "events without any bits", err);
		if (i % STEPS == 0)
			import_goes_on(c->m.im, c->done + f->at, c->total);
	}
	return r->bits.failed ? damaged(f, "an event does not fit into it", err) : 0;
}

static void put_losses(struct ctf *c, struct file *f, const struct ctf_stream *s,
		       const struct ctf_reader *r, uint32_t cpu, uint64_t begin)
{
	uint64_t discarded;

	if (!ctf_find_known(r, "events_discarded", &discarded))
		return;
	/* The number is of the whole stream, up to the end of the packet. */
	if (discarded > f->discarded && discarded - f->discarded <= INT64_MAX)
		import_lost(c->m.im, import_buffer(c->m.im, s->buffer), cpu, nanoseconds(c, begin),
			    (int64_t)(discarded - f->discarded));
	f->discarded = discarded;
}

/* Makes sure that so many bytes from the packet's start on are in memory. */
static int load(struct file *f, uint64_t want, uint64_t *have)
{
	int64_t got;

	if (want > f->size - f->at)
		want = f->size - f->at;
	if (want > f->cap) {
		uint8_t *data = realloc(f->data, (size_t)want);

		if (!data)
			return -ENOMEM;
		f->data = data;
		f->cap = (size_t)want;
	}
	got = file_read_at(f->fd, f->data, (size_t)want, f->at);
	if (got < 0)
		return (int)got;
	*have = (uint64_t)got;
	return 0;
}

static struct ctf_stream *read_head(struct ctf *c, struct file *f, struct ctf_reader *r,
				    struct spur_error *err)
{
	struct ctf_stream *s;
	uint64_t magic, id = 0;

	read_struct(r, c->m.packet_header);
	if (ctf_find_known(r, "magic", &magic) && magic != PACKET_MAGIC) {
		damaged(f, "it does not begin as one", err);
		return NULL;
	}
	ctf_find_known(r, "stream_id", &id);
	s = ctf_stream_of(&c->m, id);
	if (!s) {
		damaged(f, "a stream that the metadata do not describe", err);
		return NULL;
	}
	read_struct(r, s->packet_context);
	if (r->bits.failed) {
		damaged(f, "its head is longer than it", err);
		return NULL;
	}
	return s;
}

static int read_packet(struct ctf *c, struct file *f, struct spur_error *err)
{
	struct ctf_reader r = {.bits.big_endian = c->m.big_endian};
	uint64_t have = 0, content, packet, cpu = 0, begin = 0;
	struct ctf_stream *s;
	int rc = load(f, HEAD_ROOM, &have);

	if (rc < 0)
		return error_sys(err, rc, "stream %s", f->name);
	r.bits.data = f->data;
	r.bits.end = have * 8;
	s = read_head(c, f, &r, err);
	if (!s)
		return -EBADMSG;
	packet = content = (f->size - f->at) * 8;
	ctf_find_known(&r, "packet_size", &packet);
	if (!ctf_find_known(&r, "content_size", &content) || content > packet)
		content = packet;
	if (packet % 8 || packet / 8 > MAX_PACKET || packet < r.bits.at || content < r.bits.at)
		return damaged(f, "its size makes no sense", err);
	ctf_find_known(&r, "cpu_id", &cpu);
	if (cpu >= IMPORT_MAX_CPUS)
		return damaged(f, "its CPU makes no sense", err);
	ctf_find_known(&r, "timestamp_begin", &begin);
	put_losses(c, f, s, &r, (uint32_t)cpu, begin);
	rc = load(f, packet / 8, &have);
	if (rc < 0)
		return error_sys(err, rc, "stream %s", f->name);
	r.bits.data = f->data;
	r.bits.end = content < have * 8 ? content : have * 8;
	r.clock = begin;
	r.visits = 0;
	rc = read_events(c, f, s, &r, (uint32_t)cpu, err);
	if (rc == 0 && have < packet / 8)
		rc = damaged(f, "the file ends inside it", err);
	f->at += packet / 8;
	return rc;
}

/* ---- streams -------------------------------------------------------------------------- */

/* What is wrong with a stream ends it; what was read before stays. */
static void read_stream(struct ctf *c, const char *name)
{
	struct file f = {.name = name, .fd = openat(c->in->fd, name, O_RDONLY | O_CLOEXEC)};
	struct spur_error err = {0};
	struct stat st;
	int rc = 0;

	if (f.fd < 0 || fstat(f.fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		if (f.fd >= 0)
			close(f.fd);
		return;
	}
	f.size = (uint64_t)st.st_size;
	while (rc == 0 && c->m.im->rc == 0 && f.at < f.size)
		rc = read_packet(c, &f, &err);
	if (rc == -ENOMEM)
		import_fail(c->m.im, rc);
	else if (rc < 0)
		import_remark(c->m.im, rc == -EBADMSG ? rc : -ENODATA, "%s", err.text);
	c->done += f.size;
	free(f.data);
	close(f.fd);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* All files except the metadata. Their order has no effect, but must not depend on the disk. */
static int list_streams(struct ctf *c, struct strings *list)
{
	const int fd = openat(c->in->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *it;
	int rc = 0;

	if (!folder) {
		rc = -errno;
		if (fd >= 0)
			close(fd);
		return rc;
	}
	while (rc == 0 && (it = readdir(folder)) != NULL && list->n < MAX_FILES) {
		struct stat st;

		if (*it->d_name == '.' || strcmp(it->d_name, "metadata") == 0 ||
		    fstatat(c->in->fd, it->d_name, &st, 0) < 0 || !S_ISREG(st.st_mode))
			continue;
		if (!strings_add(list, it->d_name))
			rc = -ENOMEM;
		c->total += (uint64_t)st.st_size;
	}
	closedir(folder);
	if (list->n)
		qsort(list->at, list->n, sizeof(*list->at), by_name);
	return rc;
}

static int read_streams(struct ctf *c)
{
	struct strings list = {0};
	int rc = list_streams(c, &list);

	for (size_t i = 0; rc == 0 && i < list.n && c->m.im->rc == 0; i++)
		read_stream(c, list.at[i]);
	strings_free(&list);
	return rc < 0 ? rc : c->m.im->rc;
}

static int read_ctf(const struct source_input *in, struct import *im, struct spur_error *err)
{
	struct ctf *c = calloc(1, sizeof(*c));
	int rc;

	if (!c)
		return error_set(err, -ENOMEM, "out of memory");
	c->in = in;
	c->m.im = im;
	c->m.arena = &im->arena;
	buf_init(&c->m.text, IMPORT_MAX_TEXT);
	c->m.numbers = calloc(CTF_MAX_NUMBERS, sizeof(*c->m.numbers));
	rc = c->m.numbers ? read_metadata(c, err) : -ENOMEM;
	if (rc == 0) {
		im->big_endian = c->m.big_endian;
		c->m.lttng = strcmp(ctf_variable(&c->m, "tracer_name"), "lttng-modules") == 0;
		set_machine(c);
		set_clock(c);
		set_buffers(c);
		rc = read_streams(c);
	} else if (err->code) {
		error_prefix(err, "%s", in->path);
	}
	ctf_metadata_free(&c->m);
	free(c);
	return rc;
}

const struct import_source source_ctf = {
	.name = "ctf",
	.about = "CTF 1.8, a folder as LTTng and babeltrace2 write it",
	.recognise = recognise,
	.read = read_ctf,
};
