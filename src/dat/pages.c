// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reading pages of one CPU, in any order; reading them one after the other is fastest.
 *
 * The file is never mapped: if a mapped file shrinks, its reader is killed, and mapped pages would
 * stay in memory. A window of the file is read instead, which grows as long as the pages are read
 * in order. Compressed data are decompressed one chunk at a time. A page never
 * crosses the end of its chunk, so a chunk that is not a whole number of pages only loses its own
 * last page.
 *
 * The region [offset, offset + size) of a CPU lies inside the file as it was when it was opened.
 */
#include "dat/load.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/vec.h"

/* ---- an index of chunks --------------------------------------------------------------- */

/*
 * Trace data are compressed in chunks of some pages each:
 *
 *	u32 number of chunks, each:
 *		u32 stored size    u32 full size    data
 *
 * Nothing in the file tells where chunk n is. This index holds places that readers passed: every
 * stride-th chunk up to the frontier, the farthest any reader has been. It has a fixed number of
 * entries. When they are used up it forgets every second one and doubles the stride, so that a file
 * of any size costs a few hundred kilobytes and a search at most stride steps.
 */

#define MAX_ENTRIES 8192

/* A place between two chunks. */
struct chunk_place {
	uint64_t offset; /* in the file, of the chunk that follows */
	uint64_t number; /* of that chunk */
	uint64_t page;	 /* the number of its first page */
	uint64_t bytes;	 /* uncompressed bytes before it */
};

/* Shared by all who read the CPU's data. All functions lock. */
struct dat_chunks {
	pthread_mutex_t *lock;
	vec_of(struct chunk_place) entries; /* [i] is chunk i * stride */
	uint64_t stride;
	uint64_t count;
	uint64_t pages_each;
	struct chunk_place first;
	struct chunk_place frontier;
	bool begun;
	bool complete; /* the frontier is the end */
};

struct dat_chunks *dat_chunks_new(struct dat *d)
{
	struct dat_chunks *c = arena_alloc(&d->arena, sizeof(*c));

	if (c)
		*c = (struct dat_chunks){.lock = &d->lock, .stride = 1};
	return c;
}

void dat_chunks_free(struct dat_chunks *c)
{
	if (c)
		vec_free(&c->entries);
}

/*
 * The first chunk's place, how many chunks there are (0: as many as there is space for) and how
 * many pages the first one has. Only the first call counts.
 */
static void chunks_begin(struct dat_chunks *c, uint64_t offset, uint64_t count, uint64_t pages_each)
{
	pthread_mutex_lock(c->lock);
	if (!c->begun) {
		c->begun = true;
		c->first.offset = offset;
		c->frontier = c->first;
		c->count = count;
		c->pages_each = pages_each;
	}
	pthread_mutex_unlock(c->lock);
}

static void thin_out(struct dat_chunks *c)
{
	for (size_t i = 0; 2 * i < c->entries.n; i++)
		c->entries.at[i] = c->entries.at[2 * i];
	c->entries.n = (c->entries.n + 1) / 2;
	c->stride *= 2;
}

static void remember(struct dat_chunks *c, const struct chunk_place *place)
{
	if (place->number % c->stride || place->number / c->stride != c->entries.n)
		return;
	if (c->entries.n == MAX_ENTRIES) {
		thin_out(c);
		if (place->number % c->stride)
			return;
	}
	vec_add(&c->entries, place);
}

/* A reader stepped from one place to the next. */
static void chunks_learn(struct dat_chunks *c, const struct chunk_place *from,
			 const struct chunk_place *to)
{
	pthread_mutex_lock(c->lock);
	if (from->number == c->frontier.number) {
		remember(c, from);
		c->frontier = *to;
		if (to->page - from->page > c->pages_each)
			c->pages_each = to->page - from->page;
	}
	pthread_mutex_unlock(c->lock);
}

/* A reader found the end. */
static void chunks_learn_end(struct dat_chunks *c, const struct chunk_place *end)
{
	pthread_mutex_lock(c->lock);
	if (end->number == c->frontier.number)
		c->complete = true;
	pthread_mutex_unlock(c->lock);
}

/* The last known place at or before that page. */
static struct chunk_place chunks_find(struct dat_chunks *c, uint64_t page)
{
	struct chunk_place place;
	size_t after = 0;

	pthread_mutex_lock(c->lock);
	place = page < c->frontier.page ? c->first : c->frontier;
	if (page < c->frontier.page)
		binary_search(after, 0, c->entries.n, c->entries.at[after].page <= page);
	if (after)
		place = c->entries.at[after - 1];
	pthread_mutex_unlock(c->lock);
	return place;
}

/* The number of chunks; false while chunks_begin() has not been called. */
static bool chunks_count(struct dat_chunks *c, uint64_t *count)
{
	bool begun;

	pthread_mutex_lock(c->lock);
	begun = c->begun;
	*count = c->count;
	pthread_mutex_unlock(c->lock);
	return begun;
}

/* Where everything ends, true when that is known; else an upper bound as far as one can guess. */
static bool chunks_end(struct dat_chunks *c, struct chunk_place *end)
{
	uint64_t more;
	bool complete;

	pthread_mutex_lock(c->lock);
	*end = c->frontier;
	complete = c->complete;
	if (!complete && c->count > end->number &&
	    !__builtin_mul_overflow(c->count - end->number, c->pages_each, &more))
		end->page += more;
	pthread_mutex_unlock(c->lock);
	return complete;
}

/* ---- the window ----------------------------------------------------------------------- */

#define MIN_READ    (16u << 10)
#define MAX_WINDOW  (256u << 10)
#define ALL_WINDOWS (64u << 20) /* of the CPUs of a buffer together, when they are many */

/* Chunks of trace-cmd have 10 pages. Chunks beyond these bounds are damaged or an attack. */
#define MAX_CHUNK    (64u << 20)
#define CHUNK_SPARE  64 /* pages that may compress to nothing */
#define CHUNK_RATIO  4096
#define FREE_MEMORY  (1u << 20) /* per reader, not counted; beyond that all share a budget */
#define LARGE_MEMORY ((size_t)1 << 30)

struct chunk {
	struct chunk_place at;
	uint64_t pages;
	uint32_t stored, size;
};

struct dat_pages {
	struct dat *d;
	const struct dat_cpu *cpu;
	uint64_t end;	   /* of the region, in the file */
	uint64_t nr_pages; /* when it is not compressed */
	uint32_t unit;	   /* bytes of a page; 1 for text */
	bool compressed;
	bool small; /* takes turns with others, and leaves large chunks to them */

	/* The window: bytes [at, at + len) of the file. */
	uint8_t *window;
	size_t cap, len, want;
	uint64_t at;

	/* The open chunk (none if it has 0 pages), and its decompressed data. */
	struct chunk chunk;
	bool decoded;
	int chunk_error;
	uint8_t *out;
	size_t out_cap, out_len;
	uint64_t count;	      /* of chunks; 0: as many as there is room for */
	uint32_t last_stored; /* of the chunk looked at last */
	size_t reserved;
	void *context;
};

/* Replaces memory by at least n bytes; its content is lost. */
static bool make_room(struct dat_pages *p, uint8_t **memory, size_t *cap, size_t n)
{
	uint8_t *bigger;

	if (n <= *cap)
		return true;
	if (n > FREE_MEMORY) {
		size_t sum = atomic_fetch_add(&p->d->chunk_memory, n) + n;

		p->reserved += n;
		if (sum > LARGE_MEMORY)
			return false;
	}
	bigger = malloc(n);
	if (!bigger)
		return false;
	free(*memory);
	*memory = bigger;
	*cap = n;
	return true;
}

static int fail(struct dat_pages *p, int code, uint64_t offset, const char *why)
{
	dat_note_damage(p->d, code, offset, "CPU %u: %s", p->cpu->cpu, why);
	return code;
}

/*
 * Makes the window hold `need` bytes from offset on, which the caller knows to lie in the region,
 * and more of what follows when the reader goes straight on.
 */
static int load_window(struct dat_pages *p, uint64_t offset, size_t need, size_t most)
{
	bool straight = p->len && offset >= p->at && offset - p->at <= p->len;
	size_t n;
	int64_t got;

	p->want = straight ? p->want * 2 : MIN_READ;
	if (p->want > MAX_WINDOW || (p->small && !p->compressed))
		p->want = MAX_WINDOW;
	n = p->want < most ? p->want : most;
	if (n > p->cap)
		n = p->cap;
	if (n > p->end - offset)
		n = (size_t)(p->end - offset);
	if (n < need)
		n = need;
	p->len = 0;
	if (!make_room(p, &p->window, &p->cap, n))
		return fail(p, -ENOMEM, offset, "not enough memory to read its data");
	got = dat_read(p->d, p->window, n, offset);
	if (got < 0)
		return fail(p, (int)got, offset, "its data cannot be read");
	if ((size_t)got < need)
		return fail(p, -ENODATA, offset, "the file has become shorter");
	p->at = offset;
	p->len = (size_t)got;
	return 0;
}

static inline const uint8_t *in_window(const struct dat_pages *p, uint64_t offset, size_t n)
{
	uint64_t skip = offset - p->at;

	return offset >= p->at && skip <= p->len && n <= p->len - skip ? p->window + skip : NULL;
}

static int get_plain(struct dat_pages *p, uint64_t index, struct dat_page *page)
{
	uint64_t offset;
	size_t n = p->unit;

	if (index >= p->nr_pages)
		return 0;
	offset = p->cpu->offset + index * p->unit;
	if (n > p->end - offset)
		n = (size_t)(p->end - offset);
	page->data = in_window(p, offset, n);
	if (__builtin_expect(!page->data, 0)) {
		int rc = load_window(p, offset, n, MAX_WINDOW);

		if (rc)
			return rc;
		page->data = p->window;
	}
	page->size = n;
	page->offset = offset;
	return 1;
}

/* ---- compressed ----------------------------------------------------------------------- */

static struct chunk_place place_after(const struct chunk *c)
{
	return (struct chunk_place){
		.offset = c->at.offset + 8 + c->stored,
		.number = c->at.number + 1,
		.page = c->at.page + c->pages,
		.bytes = c->at.bytes + (c->pages ? c->size : 0),
	};
}

static int no_more(struct dat_pages *p, const struct chunk_place *at)
{
	bool cut = p->end == p->d->file_size;

	if (p->count && at->number < p->count)
		fail(p, cut ? -ENODATA : -EBADMSG, at->offset,
		     cut ? "cut off: its last chunks are missing"
			 : "it has fewer chunks than it should");
	return 0;
}

static bool plausible(const struct dat_pages *p, const struct chunk *c)
{
	uint64_t spare = CHUNK_SPARE * (uint64_t)(p->unit > 1 ? p->unit : 4096);

	/* No compressor makes data much larger. */
	return c->size <= MAX_CHUNK && c->stored / 2 <= c->size + MIN_READ &&
	       dat_codec_plausible(c->stored, c->size, spare, CHUNK_RATIO);
}

/* Reads the head of the chunk at a place. 1, 0 when none is there, or an errno. */
static int read_chunk(struct dat_pages *p, const struct chunk_place *at, struct chunk *c)
{
	const uint8_t *head;
	uint64_t room;

	if (p->count && at->number >= p->count)
		return 0;
	if (at->offset >= p->end || p->end - at->offset < 8)
		return no_more(p, at);
	head = in_window(p, at->offset, 8);
	if (!head) {
		/* Large chunks are stepped over without reading them. */
		size_t most = p->last_stored > MIN_READ ? 4096 : MAX_WINDOW;
		int rc = load_window(p, at->offset, 8, most);

		if (rc)
			return rc;
		head = p->window;
	}
	*c = (struct chunk){
		.at = *at,
		.stored = (uint32_t)load_uint(head, 4, p->d->big_endian),
		.size = (uint32_t)load_uint(head + 4, 4, p->d->big_endian),
	};
	room = p->end - at->offset - 8;
	if (c->stored > room && p->end < p->d->file_size) {
		fail(p, -EBADMSG, at->offset, "a chunk reaches over the end of its data");
		return 0;
	}
	p->last_stored = c->stored;
	if (!plausible(p, c))
		fail(p, -EBADMSG, at->offset, "a chunk has an impossible size");
	else
		c->pages = ((uint64_t)c->size + p->unit - 1) / p->unit;
	return 1;
}

/* Opens the chunk that holds a page. 1, 0 when there is none, or an errno. */
static int seek_chunk(struct dat_pages *p, uint64_t index)
{
	struct chunk_place at = place_after(&p->chunk), known;
	struct chunk c;
	int rc;

	if (!p->chunk.pages || at.page != index) {
		known = chunks_find(p->cpu->chunks, index);
		if (!p->chunk.pages || at.page > index || known.page > at.page)
			at = known;
	}
	for (;;) {
		struct chunk_place next;

		rc = read_chunk(p, &at, &c);
		if (rc == 0)
			chunks_learn_end(p->cpu->chunks, &at);
		if (rc <= 0)
			return rc;
		next = place_after(&c);
		chunks_learn(p->cpu->chunks, &at, &next);
		if (index - c.at.page < c.pages)
			break;
		at = next;
	}
	p->chunk = c;
	p->decoded = false;
	return 1;
}

static int decode_chunk(struct dat_pages *p)
{
	const struct chunk *c = &p->chunk;
	uint64_t room = p->end - c->at.offset - 8;
	size_t stored = c->stored < room ? c->stored : (size_t)room;
	const uint8_t *in = in_window(p, c->at.offset, 8 + stored);
	int64_t got;
	int rc;

	p->out_len = 0;
	if (p->small && (c->size > FREE_MEMORY || stored > FREE_MEMORY))
		return -E2BIG;
	if (!in) {
		rc = load_window(p, c->at.offset, 8 + stored, MAX_WINDOW);
		if (rc)
			return rc;
		in = p->window;
	}
	if (!make_room(p, &p->out, &p->out_cap, c->size))
		return fail(p, -ENOMEM, c->at.offset, "not enough memory for its chunks");
	if (stored < c->stored) {
		p->out_len = p->d->codec->salvage(p->context, in + 8, stored, p->out, c->size);
		fail(p, -ENODATA, c->at.offset, "cut off: its last chunk is not complete");
		return 0;
	}
	got = p->d->codec->decode(p->context, in + 8, stored, p->out, c->size);
	if (got < 0)
		return fail(p, -EBADMSG, c->at.offset, "a chunk cannot be decompressed");
	p->out_len = (size_t)got;
	if (p->out_len < c->size)
		fail(p, -EBADMSG, c->at.offset, "a chunk is smaller than it should be");
	return 0;
}

/* The bytes from a page on up to the end of its chunk. */
static int open_page(struct dat_pages *p, uint64_t index, const uint8_t **data, size_t *size)
{
	uint64_t skip;

	if (index - p->chunk.at.page >= p->chunk.pages) {
		int rc = seek_chunk(p, index);

		if (rc <= 0)
			return rc;
	}
	if (!p->decoded) {
		p->chunk_error = decode_chunk(p);
		p->decoded = true;
	}
	if (p->chunk_error)
		return p->chunk_error;
	skip = (index - p->chunk.at.page) * p->unit;
	if (skip >= p->out_len)
		return p->chunk.stored > p->end - p->chunk.at.offset - 8 ? 0 : -EBADMSG;
	*data = p->out + skip;
	*size = p->out_len - (size_t)skip;
	return 1;
}

/* ---- the interface -------------------------------------------------------------------- */

/*
 * The number of chunks. Some writers store it in their own byte order instead of the file's, and it
 * is 0 until a recording is complete.
 */
static uint64_t chunk_count(const struct dat_cpu *cpu, uint32_t count)
{
	uint64_t most = cpu->claimed_size / 8;

	if (count > most)
		count = __builtin_bswap32(count);
	return count > most ? 0 : count;
}

static int begin_chunks(struct dat_pages *p)
{
	const struct dat_cpu *cpu = p->cpu;
	uint8_t head[12] = {0};
	uint64_t pages;

	if (chunks_count(cpu->chunks, &p->count))
		return 0;
	if (cpu->size) {
		size_t n = cpu->size < sizeof(head) ? (size_t)cpu->size : sizeof(head);
		int64_t got = dat_read(p->d, head, n, cpu->offset);

		if (got < 0)
			return fail(p, (int)got, cpu->offset, "its data cannot be read");
	}
	p->count = chunk_count(cpu, (uint32_t)load_uint(head, 4, p->d->big_endian));
	pages = load_uint(head + 8, 4, p->d->big_endian);
	pages = pages > MAX_CHUNK ? CHUNK_SPARE : (pages + p->unit - 1) / p->unit;
	/* The first chunk of a recording may have fewer pages than those after it. */
	if (pages < DAT_CHUNK_PAGES && p->count > 1)
		pages = DAT_CHUNK_PAGES;
	chunks_begin(cpu->chunks, cpu->offset + 4, p->count, pages);
	return 0;
}

/* Up to trace-cmd 3.1 the size of a CPU's data does not include the number of chunks. */
static void widen(struct dat_pages *p)
{
	if (p->cpu->size && p->count)
		p->end += p->d->file_size - p->end < 4 ? p->d->file_size - p->end : 4;
}

static int open_pages(struct dat *d, const struct dat_buffer *b, const struct dat_cpu *cpu,
		      uint32_t unit, struct dat_pages **out)
{
	struct dat_pages *p;
	size_t cap = b->nr_cpus > 1 ? ALL_WINDOWS / b->nr_cpus : MAX_WINDOW;
	int rc = 0;

	*out = NULL;
	if (!unit || (b->compressed && !d->codec))
		return -EBADMSG;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->d = d;
	p->cpu = cpu;
	p->unit = unit;
	p->end = cpu->offset + cpu->size;
	p->nr_pages = (cpu->size + unit - 1) / unit;
	p->compressed = b->compressed;
	if (cap > MAX_WINDOW)
		cap = MAX_WINDOW;
	if (cap < unit)
		cap = unit;
	if (cap > cpu->size)
		cap = (size_t)cpu->size;
	if (!make_room(p, &p->window, &p->cap, cap ? cap : 1))
		rc = -ENOMEM;
	if (!rc && p->compressed) {
		p->context = d->codec->open();
		rc = p->context ? begin_chunks(p) : -ENOMEM;
		widen(p);
	}
	if (rc) {
		dat_pages_close(p);
		return rc;
	}
	*out = p;
	return 0;
}

int dat_pages_open(struct dat *d, const struct dat_buffer *b, const struct dat_cpu *cpu,
		   struct dat_pages **out)
{
	return open_pages(d, b, cpu, b->page_size, out);
}

int dat_pages_open_small(struct dat *d, const struct dat_buffer *b, const struct dat_cpu *cpu,
			 struct dat_pages **out)
{
	const int rc = dat_pages_open(d, b, cpu, out);

	if (rc == 0)
		(*out)->small = true;
	return rc;
}

void dat_pages_close(struct dat_pages *p)
{
	if (!p)
		return;
	if (p->context)
		p->d->codec->close(p->context);
	atomic_fetch_sub(&p->d->chunk_memory, p->reserved);
	free(p->window);
	free(p->out);
	free(p);
}

int dat_pages_get(struct dat_pages *p, uint64_t index, struct dat_page *page)
{
	int rc;

	if (p->cpu->feed)
		return p->cpu->feed->get(p->cpu->feed, index, page);
	if (!p->compressed)
		return get_plain(p, index, page);
	rc = open_page(p, index, &page->data, &page->size);
	if (rc <= 0)
		return rc;
	if (page->size > p->unit)
		page->size = p->unit;
	page->offset = index * p->unit;
	return 1;
}

uint64_t dat_pages_estimate(const struct dat_pages *p)
{
	struct chunk_place end;

	if (!p->compressed)
		return p->nr_pages;
	/* The number of chunks is unknown: assumes that data are at most 64 times as large. */
	if (!chunks_end(p->cpu->chunks, &end) && !p->count && end.offset < p->end)
		end.page += (p->end - end.offset) / p->unit * 64 + 64;
	return end.page;
}

int dat_pages_bytes(struct dat_pages *p, uint64_t *bytes)
{
	struct chunk_place end;
	int rc;

	*bytes = p->cpu->size;
	if (!p->compressed)
		return 0;
	rc = seek_chunk(p, UINT64_MAX);
	chunks_end(p->cpu->chunks, &end);
	*bytes = end.bytes;
	return rc < 0 ? rc : 0;
}

int64_t dat_text_read(struct dat *d, const struct dat_buffer *b, uint64_t pos, void *to, size_t n)
{
	const struct dat_cpu *text = &b->stored_text;
	struct dat_pages *p;
	const uint8_t *data = NULL;
	size_t size = 0;
	int rc;

	if (!b->compressed) {
		if (pos >= text->size)
			return 0;
		if (n > text->size - pos)
			n = (size_t)(text->size - pos);
		return dat_read(d, to, n, text->offset + pos);
	}
	rc = open_pages(d, b, text, 1, &p);
	if (rc)
		return rc;
	rc = open_page(p, pos, &data, &size);
	if (rc > 0 && n > size)
		n = size;
	if (rc > 0)
		memcpy(to, data, n);
	dat_pages_close(p);
	return rc > 0 ? (int64_t)n : rc;
}
