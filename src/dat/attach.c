// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The options that tie two traces together:
 *
 *	TRACEID     u64
 *	GUEST       name\0, u64 the guest's TRACEID, u32 CPUs, each: u32 CPU, u32 pid
 *	TIME_SHIFT  u64 the host's TRACEID, u32 flags, u32 CPUs,
 *	            each: u32 n, u64 times[n], offsets[n], scalings[n]; then each: u64 fractions[n]
 *	TSC2NSEC    u32 multiplier, u32 shift, u64 offset
 *
 * Numbers are in the byte order of their file.
 */
#include "dat/copy.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/hash.h"
#include "dat/load.h"
#include "dat/write.h"

#define OPTION_LIMIT (64u << 20)
#define LAST_TIME    (UINT64_MAX >> 1)
#define MAX_NEW	     4 /* options that one file gets */

/* What becomes of one file's options. */
struct edit {
	const struct dat_attach *a;
	uint64_t host_id, guest_id;
	bool is_host;
	struct dat_out_option *list;
	size_t n;
	struct dat *file;
	int rc;
};

static void put(const struct edit *e, struct buf *b, uint64_t v, unsigned int size)
{
	buf_uint(b, v, size, e->file->big_endian);
}

static void put_guest(const struct edit *e, struct buf *b)
{
	const struct dat_attach *a = e->a;

	buf_put(b, a->name, strlen(a->name) + 1);
	put(e, b, e->guest_id, 8);
	put(e, b, a->nr_vcpus, 4);
	for (uint32_t i = 0; i < a->nr_vcpus; i++) {
		put(e, b, a->vcpus[i].cpu, 4);
		put(e, b, (uint32_t)a->vcpus[i].pid, 4);
	}
}

static const struct dat_time_sample *shift_of(const struct dat_attach *a, uint32_t cpu)
{
	return &a->shifts[cpu < a->nr_shifts ? cpu : a->nr_shifts - 1];
}

/* Readers do not scale by a single sample, so one with scaling is given at both ends of time. */
static uint32_t nr_samples(const struct dat_time_sample *s)
{
	return s->scaling == 1 && s->fraction == 0 ? 1 : 2;
}

static void put_time_shift(const struct edit *e, struct buf *b)
{
	const struct dat_attach *a = e->a;
	uint32_t cpus = a->nr_cpus ? a->nr_cpus : a->guest->nr_cpus;

	put(e, b, e->host_id, 8);
	put(e, b, 0, 4);
	put(e, b, cpus, 4);
	for (uint32_t i = 0; i < cpus; i++) {
		const struct dat_time_sample *s = shift_of(a, i);
		uint32_t n = nr_samples(s);

		put(e, b, n, 4);
		put(e, b, s->time, 8);
		if (n > 1)
			put(e, b, LAST_TIME, 8);
		for (uint32_t k = 0; k < n; k++)
			put(e, b, (uint64_t)s->offset, 8);
		for (uint32_t k = 0; k < n; k++)
			put(e, b, s->scaling, 8);
	}
	for (uint32_t i = 0; i < cpus; i++)
		for (uint32_t k = 0; k < nr_samples(shift_of(a, i)); k++)
			put(e, b, shift_of(a, i)->fraction, 8);
}

static void put_tsc(const struct edit *e, struct buf *b)
{
	const struct dat *host = e->a->host;

	put(e, b, host->tsc2nsec.mult, 4);
	put(e, b, host->tsc2nsec.shift, 4);
	put(e, b, host->tsc2nsec.offset, 8);
}

static void put_id(const struct edit *e, struct buf *b)
{
	put(e, b, e->is_host ? e->host_id : e->guest_id, 8);
}

static void add(struct edit *e, unsigned int id, void (*fill)(const struct edit *e, struct buf *b))
{
	struct buf b;
	char *data;

	buf_init(&b, OPTION_LIMIT);
	fill(e, &b);
	data = buf_full(&b) ? NULL : arena_strndup(&e->file->arena, b.data, b.len);
	if (data)
		e->list[e->n++] =
			(struct dat_out_option){.id = (uint16_t)id, .data = {data, b.len}};
	else
		e->rc = -ENOMEM;
	buf_free(&b);
}

/* Whether an option is replaced by a new one. */
static bool is_replaced(const struct edit *e, const struct dat_out_option *o)
{
	struct cursor c = cursor_over(o->data.data, o->data.size, e->file->big_endian);

	switch (o->id) {
	case DAT_OPT_TIME_SHIFT: return !e->is_host;
	case DAT_OPT_TSC2NSEC: return !e->is_host && e->a->host->tsc2nsec.valid;
	case DAT_OPT_TRACEID: return !e->file->trace_id;
	case DAT_OPT_GUEST: return e->is_host && cursor_string(&c) && cursor_u64(&c) == e->guest_id;
	default: return false;
	}
}

static int edit_options(void *arg, struct dat *from, struct dat_contents *c, struct spur_error *err)
{
	struct edit *e = arg;

	e->file = from;
	e->list = arena_array(&from->arena, c->nr_options + MAX_NEW, sizeof(*e->list));
	if (!e->list)
		return error_sys(err, -ENOMEM, "%s", from->path);
	for (size_t i = 0; i < c->nr_options; i++)
		if (!is_replaced(e, &c->options[i]))
			e->list[e->n++] = c->options[i];
	if (!from->trace_id)
		add(e, DAT_OPT_TRACEID, put_id);
	if (e->is_host)
		add(e, DAT_OPT_GUEST, put_guest);
	else
		add(e, DAT_OPT_TIME_SHIFT, put_time_shift);
	if (!e->is_host && e->a->host->tsc2nsec.valid)
		add(e, DAT_OPT_TSC2NSEC, put_tsc);
	c->options = e->list;
	c->nr_options = e->n;
	return e->rc ? error_sys(err, e->rc, "%s", from->path) : 0;
}

static uint64_t id_of(const struct dat *d)
{
	struct hash_seed seed;

	if (d->trace_id)
		return d->trace_id;
	seed = hash_seed_new();
	return seed.a ? seed.a : 1;
}

/* A guest that counts ticks of the TSC needs to know how long these are, unless all do. */
static int check_clocks(const struct dat_attach *a, struct spur_error *err)
{
	const struct dat *host = a->host, *guest = a->guest;

	if (strcmp(guest->clock, "x86-tsc") != 0 || strcmp(host->clock, "x86-tsc") == 0 ||
	    host->tsc2nsec.valid || guest->tsc2nsec.valid)
		return 0;
	return error_set(err, -EINVAL,
			 "%s counts ticks of the TSC, and %s does not say how long these are: it "
			 "was recorded with the clock \"%.40s\" instead of tsc2nsec",
			 guest->path, host->path, host->clock);
}

static int rewrite(struct edit *e, struct dat *d, struct newfile *file, struct spur_error *err)
{
	const struct dat_convert how = {.edit = edit_options, .edit_arg = e, .job = e->a->job};

	return dat_convert_beside(d, d->path, &how, file, err);
}

/* Both files are complete before the first gets its name: neither ever refers to a missing one. */
static int rewrite_both(struct edit *host, struct edit *guest, struct spur_error *err)
{
	struct newfile new_host, new_guest;
	int rc = rewrite(host, host->a->host, &new_host, err);

	if (rc < 0)
		return rc;
	rc = rewrite(guest, guest->a->guest, &new_guest, err);
	if (rc == 0)
		rc = newfile_keep(&new_guest, err);
	if (rc < 0) {
		newfile_drop(&new_host);
		return rc;
	}
	return newfile_keep(&new_host, err);
}

int dat_attach(const struct dat_attach *a, struct spur_error *err)
{
	struct edit host = {.a = a, .is_host = true}, guest = {.a = a};
	int rc = check_clocks(a, err);

	if (rc < 0)
		return rc;
	host.host_id = guest.host_id = id_of(a->host);
	host.guest_id = guest.guest_id = id_of(a->guest);
	if (host.host_id == host.guest_id || dat_is_file(a->host, a->guest->path))
		return error_set(err, -EINVAL, "%s and %s are the same recording", a->host->path,
				 a->guest->path);
	return rewrite_both(&host, &guest, err);
}
