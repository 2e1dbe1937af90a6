// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a reader of another format adds to an import: event types, names, buffers, records.
 *
 * A record's bytes are made field by field, as the type lays them out; what is not set is 0. Texts
 * and arrays of any length lie after the fields, which say where.
 */
#include "import/import.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cursor.h"
#include "base/vec.h"

#define ARENA_LIMIT  (512u << 20)
#define NAMES_LIMIT  (128u << 20)
#define SYMBOL_LIMIT (256u << 20)
#define MAX_BUFFERS  1000
#define MAX_NAME     200
#define NR_IDS	     65536
#define FIRST_ID     200 /* lower ones are ftrace's own */
#define SYMBOL_START 0xffffffff81000000ull
#define SYMBOL_SIZE  16 /* bytes of a function whose size is not known */

int import_init(struct import *im, const char *path)
{
	*im = (struct import){
		.path = path,
		.long_size = 8,
		.clock = "local",
		.uname = "",
		.from = "",
		.next_id = FIRST_ID,
		.big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
	};
	arena_init(&im->arena, ARENA_LIMIT);
	intern_init(&im->names, NAMES_LIMIT);
	buf_init(&im->symbols, SYMBOL_LIMIT);
	buf_init(&im->printk, SYMBOL_LIMIT);
	buf_init(&im->maps, SYMBOL_LIMIT);
	buf_init(&im->record, IMPORT_MAX_RECORD);
	spool_init(&im->spool);
	im->ids = arena_array(&im->arena, NR_IDS / 64, sizeof(*im->ids));
	return im->ids ? 0 : import_fail(im, -ENOMEM);
}

void import_free(struct import *im)
{
	spool_free(&im->spool);
	buf_free(&im->symbols);
	buf_free(&im->printk);
	buf_free(&im->maps);
	buf_free(&im->record);
	vec_free(&im->formats);
	vec_free(&im->comms);
	vec_free(&im->buffers);
	map_free(&im->comm_of);
	map_free(&im->symbol_of);
	intern_free(&im->names);
	arena_free(&im->arena);
}

int import_fail(struct import *im, int rc)
{
	if (im->rc == 0)
		im->rc = rc;
	return im->rc;
}

void import_remark(struct import *im, int damage, const char *fmt, ...)
{
	va_list ap;

	if (*im->remark && (im->damage || !damage))
		return;
	im->damage = damage;
	va_start(ap, fmt);
	vsnprintf(im->remark, sizeof(im->remark), fmt, ap);
	va_end(ap);
}

bool import_goes_on(struct import *im, uint64_t done, uint64_t total)
{
	if (im->job.stop && *im->job.stop)
		import_fail(im, -EINTR);
	else if (im->job.progress)
		im->job.progress(im->job.arg, done < total ? done : total, total);
	return im->rc == 0;
}

/* ---- memory --------------------------------------------------------------------------- */

void *import_alloc(struct import *im, size_t size)
{
	void *p = arena_alloc(&im->arena, size);

	if (!p)
		import_fail(im, -ENOMEM);
	return p;
}

void *import_get(struct import *im, struct map *map, uint64_t key, size_t size)
{
	void *p = map_get(map, key);

	if (p)
		return p;
	p = import_alloc(im, size);
	if (!p || map_set(map, key, p))
		return p;
	import_fail(im, -ENOMEM);
	return NULL;
}

/* ---- names ---------------------------------------------------------------------------- */

const char *import_name(struct import *im, const char *text, size_t len)
{
	const char *name = intern_text(&im->names, text, len);

	if (!name)
		import_fail(im, -ENOMEM);
	return name;
}

/* Words that have another meaning in formats of events: see src/event/format.c. */
static bool is_reserved(const char *name, size_t len)
{
	static const char *const words[] = {"LOCAL_PR_FMT", "STA_PR_FMT", "VIF_PR_FMT"};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (len == strlen(words[i]) && memcmp(name, words[i], len) == 0)
			return true;
	return false;
}

const char *import_identifier(struct import *im, const char *text, size_t len)
{
	char name[MAX_NAME + 1];
	size_t n = 0;

	if (!len || isdigit((unsigned char)*text))
		name[n++] = '_';
	for (size_t i = 0; i < len && n < MAX_NAME; i++)
		name[n++] = isalnum((unsigned char)text[i]) ? text[i] : '_';
	if (is_reserved(name, n))
		name[n++] = '_';
	return import_name(im, name, n);
}

/* A task may have a newline in its name; in a trace's list of names that would end the line. */
static const char *comm_name(struct import *im, const char *text, size_t len)
{
	const char *name;
	struct buf line;

	if (!memchr(text, '\n', len))
		return import_name(im, text, len);
	buf_init(&line, len + 1);
	for (size_t i = 0; i < len; i++)
		buf_putc(&line, text[i] == '\n' ? '?' : text[i]);
	name = buf_full(&line) ? NULL : import_name(im, line.data, line.len);
	buf_free(&line);
	return name;
}

void import_comm(struct import *im, int pid, const char *text, size_t len)
{
	const uint64_t key = (uint32_t)pid;
	size_t place = (size_t)map_get(&im->comm_of, key);
	const char *name;
	struct import_comm *c;

	/* The idle task has a name of its own in every trace. */
	if (pid <= 0 || !len || im->rc < 0)
		return;
	if (place && strlen(im->comms.at[place - 1].name) == len &&
	    memcmp(im->comms.at[place - 1].name, text, len) == 0)
		return;
	name = comm_name(im, text, len);
	if (!name)
		return;
	c = place ? &im->comms.at[place - 1] : vec_push(&im->comms);
	if (!c || (!place && !map_set(&im->comm_of, key, (void *)im->comms.n))) {
		import_fail(im, -ENOMEM);
		return;
	}
	*c = (struct import_comm){pid, name};
}

uint32_t import_buffer(struct import *im, const char *name)
{
	const char *kept;

	if (!*name)
		return 0;
	for (size_t i = 0; i < im->buffers.n; i++)
		if (strcmp(im->buffers.at[i], name) == 0)
			return (uint32_t)i + 1;
	/* No recording has so many. */
	if (im->buffers.n >= MAX_BUFFERS) {
		import_fail(im, -EBADMSG);
		return 0;
	}
	kept = import_name(im, name, strlen(name));
	if (!kept || !string_refs_add(&im->buffers, kept)) {
		import_fail(im, -ENOMEM);
		return 0;
	}
	return (uint32_t)im->buffers.n;
}

uint64_t import_symbol(struct import *im, const char *name, size_t len)
{
	const char *known = import_name(im, name, len);
	size_t place = (size_t)map_get(&im->symbol_of, (uintptr_t)known);
	uint64_t addr;

	if (!known)
		return 0;
	if (!place) {
		place = ++im->next_symbol;
		addr = SYMBOL_START + (uint64_t)place * SYMBOL_SIZE;
		buf_printf(&im->symbols, "%016" PRIx64 " t %s\n", addr, known);
		if (!map_set(&im->symbol_of, (uintptr_t)known, (void *)place) ||
		    buf_full(&im->symbols))
			import_fail(im, -ENOMEM);
	}
	return SYMBOL_START + (uint64_t)place * SYMBOL_SIZE;
}

/* ---- systems of events ---------------------------------------------------------------- */

/* Which system an event is of when only its name is known: most begin with their system's, … */
static const char *const plain_systems[] = {
	"sched",  "timer",   "kmem",   "block",	    "workqueue", "power", "cpuhp", "rcu",
	"signal", "task",    "net",    "napi",	    "skb",	 "sock",  "tcp",   "udp",
	"ext4",	  "jbd2",    "xfs",    "btrfs",	    "writeback", "kvm",	  "lock",  "scsi",
	"nvme",	  "thermal", "clk",    "regulator", "gpio",	 "i2c",	  "spi",   "regmap",
	"rpm",	  "module",  "cgroup", "ipi",	    "dma_fence", "drm",	  "usb",
};

/* … others with one of these words. */
static const struct {
	const char *system, *prefixes; /* words */
} other_systems[] = {
	{"irq", "irq_handler_ softirq_ tasklet_"},
	{"timer", "hrtimer_ itimer_ tick_"},
	{"kmem", "kmalloc kfree mm_page_ rss_stat"},
	{"power", "cpu_ pm_qos_ clock_"},
	{"raw_syscalls", "sys_enter sys_exit"},
	{"net", "netif_"},
	{"skb", "consume_skb"},
	{"sock", "inet_"},
	{"vmscan", "mm_vmscan_"},
	{"compaction", "mm_compaction_"},
	{"filemap", "mm_filemap_"},
	{"lock", "contention_"},
	{"irq_vectors", "call_function_ local_timer_ reschedule_"},
	{"exceptions", "page_fault_"},
	{"xhci-hcd", "xhci_"},
	{"osnoise", "osnoise"},
};

const char *import_system(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(plain_systems); i++) {
		const size_t n = strlen(plain_systems[i]);

		if (len > n && memcmp(name, plain_systems[i], n) == 0 && name[n] == '_')
			return plain_systems[i];
	}
	for (size_t i = 0; i < ARRAY_SIZE(other_systems); i++)
		for (const char *p = other_systems[i].prefixes; *p; p += strspn(p, " ")) {
			const size_t n = strcspn(p, " ");

			if (len >= n && memcmp(name, p, n) == 0)
				return other_systems[i].system;
			p += n;
		}
	return "text";
}

/* ---- event types ---------------------------------------------------------------------- */

static const char common[] =
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

bool import_format(struct import *im, const char *system, const char *text, size_t len, int id)
{
	const struct import_event_format f = {system, {text, len}};

	if (id >= 0 && id < NR_IDS)
		im->ids[id / 64] |= 1ull << id % 64;
	if (im->formats.n < NR_IDS && vec_add(&im->formats, &f))
		return true;
	import_fail(im, -ENOMEM);
	return false;
}

static bool is_located(const struct import_field *f)
{
	return f->kind == IMPORT_TEXT || f->kind == IMPORT_NUMBERS;
}

static uint32_t field_size(const struct import_field *f)
{
	if (is_located(f))
		return 4;
	switch (f->kind) {
	case IMPORT_NUMBER: return f->size;
	case IMPORT_CHARS: return f->nr;
	case IMPORT_ARRAY: return f->nr * f->size;
	default: return 0;
	}
}

static uint32_t align_of(const struct import_field *f)
{
	if (is_located(f))
		return 4;
	return f->kind == IMPORT_CHARS || f->kind == IMPORT_LINE ? 1 : f->size;
}

static const char *type_name(const struct import_field *f)
{
	static const char *const names[2][9] = {
		{[1] = "unsigned char", [2] = "u16", [4] = "u32", [8] = "u64"},
		{[1] = "signed char", [2] = "s16", [4] = "s32", [8] = "s64"},
	};
	const bool array = f->kind != IMPORT_NUMBER;

	if (f->kind == IMPORT_CHARS || f->kind == IMPORT_TEXT || f->kind == IMPORT_LINE)
		return "char";
	if (f->is_long)
		return "unsigned long";
	/* An array of bytes must not look like an array of letters. */
	return array && f->size == 1 ? "byte" : names[f->is_signed][f->size];
}

static void put_field(struct buf *out, const struct import_field *f)
{
	const uint32_t size = field_size(f);

	buf_printf(out, "\tfield:");
	if (is_located(f))
		buf_printf(out, "__data_loc %s[] %s", type_name(f), f->name);
	else
		buf_printf(out, "%s %s", type_name(f), f->name);
	if (f->kind == IMPORT_CHARS || f->kind == IMPORT_ARRAY)
		buf_printf(out, "[%u]", f->nr);
	else if (f->kind == IMPORT_REST || f->kind == IMPORT_LINE)
		buf_puts(out, "[]");
	buf_printf(out, ";\toffset:%u;\tsize:%u;\tsigned:%d;\n", f->offset, size, f->is_signed);
}

static const char *conversion(const struct import_field *f)
{
	if (f->shown)
		return f->shown;
	if (f->kind != IMPORT_NUMBER)
		return "%s";
	return f->is_signed ? "%lld" : f->is_long ? "0x%llx" : "%llu";
}

static void put_argument(struct buf *out, const struct import_field *f)
{
	switch (f->kind) {
	case IMPORT_TEXT: buf_printf(out, ", __get_str(%s)", f->name); break;
	case IMPORT_NUMBERS:
		buf_printf(out,
			   ", __print_array(__get_dynamic_array(%s), __get_dynamic_array_len(%s) / "
			   "%u, %u)",
			   f->name, f->name, f->size, f->size);
		break;
	case IMPORT_ARRAY:
		buf_printf(out, ", __print_array(REC->%s, %u, %u)", f->name, f->nr, f->size);
		break;
	default: buf_printf(out, ", REC->%s", f->name);
	}
}

static void put_print(struct buf *out, const struct import_type *t)
{
	buf_puts(out, "\nprint fmt: \"");
	for (uint32_t i = 0; i < t->nr_fields; i++)
		if (t->fields[i].kind != IMPORT_REST)
			buf_printf(out, "%s%s=%s", i ? " " : "", t->fields[i].name,
				   conversion(&t->fields[i]));
	buf_putc(out, '"');
	for (uint32_t i = 0; i < t->nr_fields; i++)
		if (t->fields[i].kind != IMPORT_REST)
			put_argument(out, &t->fields[i]);
	buf_putc(out, '\n');
}

static void lay_out(struct import_type *t)
{
	uint32_t at = IMPORT_COMMON;

	for (uint32_t i = 0; i < t->nr_fields; i++) {
		struct import_field *f = &t->fields[i];
		const uint32_t align = align_of(f);

		at = (at + align - 1) / align * align;
		f->offset = at;
		at += field_size(f);
	}
	t->size = at;
}

/* Lays a type out, and adds its format. */
static bool make_type(struct import *im, struct import_type *t, uint16_t id, const char *print)
{
	struct buf text;
	const char *stays;

	t->id = id;
	lay_out(t);
	buf_init(&text, 1u << 20);
	buf_printf(&text, "name: %s\nID: %u\nformat:\n%s", t->name, id, common);
	for (uint32_t i = 0; i < t->nr_fields; i++)
		put_field(&text, &t->fields[i]);
	if (print)
		buf_printf(&text, "\nprint fmt: %s\n", print);
	else
		put_print(&text, t);
	stays = buf_full(&text) ? NULL : arena_strndup(&im->arena, text.data, text.len);
	if (!stays)
		import_fail(im, -ENOMEM);
	else
		import_format(im, t->system, stays, text.len, id);
	buf_free(&text);
	return im->rc == 0;
}

uint32_t import_id(struct import *im, uint32_t wanted)
{
	if (wanted && wanted < NR_IDS && !(im->ids[wanted / 64] >> wanted % 64 & 1))
		return wanted;
	while (im->next_id < NR_IDS && im->ids[im->next_id / 64] >> im->next_id % 64 & 1)
		im->next_id++;
	if (im->next_id < NR_IDS)
		return im->next_id;
	import_fail(im, -E2BIG);
	return 0;
}

bool import_type(struct import *im, struct import_type *t, const char *print)
{
	const uint32_t id = import_id(im, 0);

	return id && make_type(im, t, (uint16_t)id, print);
}

/* Pointers have the size that they have on the traced machine. */
static bool make_known(struct import *im, struct import_type *t, const struct import_known *known)
{
	struct import_field *fields = import_alloc(im, sizeof(known->fields));

	if (!fields)
		return false;
	memcpy(fields, known->fields, sizeof(known->fields));
	*t = (struct import_type){.system = known->system, .name = known->name, .fields = fields};
	for (; t->nr_fields < IMPORT_KNOWN_FIELDS && fields[t->nr_fields].name; t->nr_fields++)
		if (fields[t->nr_fields].is_long)
			fields[t->nr_fields].size = (uint8_t)im->long_size;
	return known->id ? make_type(im, t, known->id, known->print)
			 : import_type(im, t, known->print);
}

const struct import_field *import_begin_known(struct import *im, struct import_type *t,
					      const struct import_known *known)
{
	if (!t->id && !make_known(im, t, known))
		return NULL;
	import_begin(im, t);
	return t->fields;
}

/* ---- records -------------------------------------------------------------------------- */

/* Where `size` bytes lie in the record that is being made; NULL when it is cut before them. */
static uint8_t *place(struct import *im, uint32_t offset, size_t size)
{
	if (im->record.len < offset || im->record.len - offset < size)
		return NULL;
	return (uint8_t *)im->record.data + offset;
}

void import_begin(struct import *im, const struct import_type *t)
{
	uint8_t *p;

	buf_reset(&im->record);
	buf_fill(&im->record, 0, t->size);
	p = place(im, 0, IMPORT_COMMON);
	if (p)
		store_uint(p, t->id, 2, im->big_endian);
}

void import_set(struct import *im, const struct import_field *f, uint64_t value)
{
	uint8_t *p = place(im, f->offset, f->size);

	if (p)
		store_uint(p, value, f->size, im->big_endian);
}

/* Says where the data of a field begin that were appended, and how long they are. */
static void locate(struct import *im, const struct import_field *f, size_t at, size_t len)
{
	uint8_t *p = place(im, f->offset, 4);

	if (p && at <= UINT16_MAX && len <= UINT16_MAX)
		store_uint(p, len << 16 | at, 4, im->big_endian);
}

void import_set_text(struct import *im, const struct import_field *f, const char *text, size_t len)
{
	const size_t at = im->record.len;
	uint8_t *p;

	if (f->kind == IMPORT_CHARS) {
		p = place(im, f->offset, f->nr);
		if (p && f->nr)
			memcpy(p, text, len < f->nr ? len : f->nr - 1);
		return;
	}
	/* All of the record's texts together must be where 16 bits reach. */
	if (at + len > IMPORT_MAX_TEXT) {
		len = at < IMPORT_MAX_TEXT ? IMPORT_MAX_TEXT - at : 0;
		im->cut++;
	}
	buf_put(&im->record, text, len);
	buf_putc(&im->record, '\0');
	if (f->kind == IMPORT_TEXT)
		locate(im, f, at, len + 1);
}

void import_set_numbers(struct import *im, const struct import_field *f, const uint64_t *v,
			size_t n)
{
	size_t most = f->kind == IMPORT_ARRAY ? f->nr : IMPORT_MAX_TEXT / 8;
	size_t at;

	if (n > most)
		n = most;
	if (f->kind == IMPORT_ARRAY) {
		uint8_t *p = place(im, f->offset, (size_t)f->nr * f->size);

		for (size_t i = 0; p && i < n; i++)
			store_uint(p + i * f->size, v[i], f->size, im->big_endian);
		return;
	}
	if (f->kind == IMPORT_NUMBERS)
		buf_fill(&im->record, 0, -im->record.len % 8);
	at = im->record.len;
	if (at + n * f->size > IMPORT_MAX_TEXT) {
		n = at < IMPORT_MAX_TEXT ? (IMPORT_MAX_TEXT - at) / f->size : 0;
		im->cut++;
	}
	buf_fill(&im->record, 0, n * f->size);
	for (size_t i = 0; i < n && !buf_full(&im->record); i++)
		store_uint((uint8_t *)im->record.data + at + i * f->size, v[i], f->size,
			   im->big_endian);
	if (f->kind == IMPORT_NUMBERS)
		locate(im, f, at, n * f->size);
}

void import_end(struct import *im, const struct import_context *c)
{
	uint8_t *p = place(im, 0, IMPORT_COMMON);

	if (!p)
		return;
	p[2] = c->flags;
	p[3] = c->preempt_count;
	store_uint(p + 4, (uint32_t)c->pid, 4, im->big_endian);
	if (buf_full(&im->record))
		im->cut++;
	import_raw(im, c, im->record.data, im->record.len);
}

static void add(struct import *im, uint32_t buffer, uint32_t cpu, const struct spool_record *r)
{
	int rc;

	if (im->rc < 0)
		return;
	if (cpu >= IMPORT_MAX_CPUS) {
		import_fail(im, -EBADMSG);
		return;
	}
	if (cpu >= im->nr_cpus)
		im->nr_cpus = cpu + 1;
	rc = spool_add(&im->spool, spool_key(buffer, cpu), r);
	if (rc < 0)
		import_fail(im, rc);
}

void import_raw(struct import *im, const struct import_context *c, const void *data, size_t size)
{
	struct spool_record r = {.ts = c->ts, .data = data};

	if (size > IMPORT_MAX_RECORD) {
		size = IMPORT_MAX_RECORD;
		im->cut++;
	}
	r.size = (uint32_t)size;
	if (r.size > im->largest)
		im->largest = r.size;
	im->events++;
	add(im, c->buffer, c->cpu, &r);
}

void import_lost(struct import *im, uint32_t buffer, uint32_t cpu, uint64_t ts, int64_t lost)
{
	if (lost > 0)
		im->lost += (uint64_t)lost;
	add(im, buffer, cpu, &(struct spool_record){.ts = ts, .lost = lost});
}

#define STACK_PRINT "\"\\t=> %ps\\n\", (void *)REC->caller[0]"
#define CALLER                                                                                     \
	{                                                                                          \
		.name = "caller", .kind = IMPORT_REST, .is_long = true                             \
	}

static const struct import_known stacks[2] = {
	{"ftrace",
	 "kernel_stack",
	 4,
	 STACK_PRINT,
	 {{.name = "size", .size = 4, .is_signed = true}, CALLER}},
	{"ftrace", "user_stack", 12, STACK_PRINT, {{.name = "tgid", .size = 4}, CALLER}},
};

void import_stack(struct import *im, const struct import_context *c, bool user, int tgid,
		  const uint64_t *addresses, size_t n)
{
	const struct import_field *to = import_begin_known(im, &im->stacks[user], &stacks[user]);

	if (!to)
		return;
	import_set(im, &to[0], user ? (uint64_t)tgid : n);
	import_set_numbers(im, &to[1], addresses, n);
	import_end(im, c);
}
