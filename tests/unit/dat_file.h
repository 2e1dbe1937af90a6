/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Small trace.dat files, made in memory: every version, byte order, size of a long and compressor.
 *
 *	struct dat_file f;
 *	dat_file_make(&f, &kind, &content);
 *	fd = dat_file_fd(&f, f.b.len);
 *
 * All of them have two buffers, "" and "inst", with the same CPUs. Record k of page i of a CPU has
 * the time (i + 1) * 1000 + k and 8 bytes of data, both words of which are k; unless the test makes
 * the pages itself.
 */
#ifndef TESTS_DAT_FILE_H
#define TESTS_DAT_FILE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <zlib.h>
#include <zstd.h>

#include "base/buf.h"
#include "dat/dat.h"

#define FILE_PAGE     256u
#define FILE_RECORDS  5 /* on a page */
#define FILE_MAX_CPUS 4

#define FILE_KALLSYMS "0000 T start\n1000 t end\n"
#define FILE_PRINTK   "0x10 : \"hello\"\n"
#define FILE_CMDLINES "1 init\n2 kthreadd\n"
#define FILE_CLOCKS   "local [global] counter\n"
#define FILE_UNAME    "Linux box 6.1"
#define FILE_MAPS     "1f 3 /bin/wl\n2000 3000 /bin/wl\n1000 2000 /bin/wl\n5000 6000 /lib/c\n"
#define FILE_TEXT     "# tracer: wakeup\n"

struct dat_kind {
	unsigned int version;
	bool big_endian;
	unsigned int long_size;
	const char *codec; /* version 7: "none", "zlib", "zstd" */
};

struct dat_file;

struct dat_content {
	uint32_t nr_cpus;
	uint32_t cpus[FILE_MAX_CPUS]; /* their numbers; version 6 has 0, 1, … whatever they are */
	uint32_t pages[FILE_MAX_CPUS]; /* of each */
	uint32_t chunk_pages;	       /* in a compressed chunk */
	bool text;		       /* a latency trace instead of pages */
	/* Appends FILE_PAGE bytes: a page of the CPU at that place above. NULL: as said above. */
	void (*put_page)(const struct dat_file *f, struct buf *b, uint32_t cpu, uint32_t index,
			 const void *arg);
	const void *arg;
};

/* Where things are that a test may want to damage. */
struct dat_places {
	size_t page_size, compressor, options_pointer, options, options_next, cpu_count, cpu_table;
	size_t data[FILE_MAX_CPUS], data_end, headers, formats_count, option_buffer, second_options;
	size_t buffer_section, strings;
};

struct dat_file {
	struct dat_kind kind;
	struct buf b;
	struct buf strings;
	struct dat_places at;
};

static inline void file_store(const struct dat_file *f, void *to, uint64_t v, unsigned int size)
{
	uint8_t *p = to;

	for (unsigned int i = 0; i < size; i++)
		p[i] = (uint8_t)(v >> 8 * (f->kind.big_endian ? size - 1 - i : i));
}

static inline void file_put(const struct dat_file *f, struct buf *b, uint64_t v, unsigned int size)
{
	uint8_t bytes[8];

	file_store(f, bytes, v, size);
	buf_put(b, bytes, size);
}

static inline void file_patch(struct dat_file *f, size_t at, uint64_t v, unsigned int size)
{
	file_store(f, f->b.data + at, v, size);
}

static inline void file_put_string(struct buf *b, const char *s)
{
	buf_put(b, s, strlen(s) + 1);
}

static inline void file_align(struct buf *b)
{
	buf_fill(b, 0, (FILE_PAGE - b->len % FILE_PAGE) % FILE_PAGE);
}

/* ---- tables ---------------------------------------------------------------------------- */

static inline void file_put_sized(const struct dat_file *f, struct buf *b, const char *text,
				  unsigned int width)
{
	file_put(f, b, strlen(text), width);
	buf_puts(b, text);
}

static inline void file_put_headers(const struct dat_file *f, struct buf *b)
{
	unsigned int size = f->kind.long_size;
	char text[300];

	snprintf(text, sizeof(text),
		 "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		 "\tfield: local_t commit;\toffset:8;\tsize:%u;\tsigned:1;\n"
		 "\tfield: char data;\toffset:%u;\tsize:%u;\tsigned:1;\n",
		 size, 8 + size, FILE_PAGE - 8 - size);
	file_put_string(b, "header_page");
	file_put_sized(f, b, text, 8);
	file_put_string(b, "header_event");
	file_put_sized(f, b, "# compressed entry header\n", 8);
}

static inline void file_put_ftrace(const struct dat_file *f, struct buf *b)
{
	file_put(f, b, 2, 4);
	file_put_sized(f, b, "name: function\nID: 1\n", 8);
	file_put_sized(f, b, "name: print\nID: 5\n", 8);
}

static inline void file_put_events(const struct dat_file *f, struct buf *b)
{
	file_put(f, b, 2, 4);
	file_put_string(b, "irq");
	file_put(f, b, 1, 4);
	file_put_sized(f, b, "name: softirq_entry\nID: 20\n", 8);
	file_put_string(b, "sched");
	file_put(f, b, 2, 4);
	file_put_sized(f, b, "name: sched_switch\nID: 30\n", 8);
	file_put_sized(f, b, "", 8);
}

static inline void file_put_kallsyms(const struct dat_file *f, struct buf *b)
{
	file_put_sized(f, b, FILE_KALLSYMS, 4);
}

static inline void file_put_printk(const struct dat_file *f, struct buf *b)
{
	file_put_sized(f, b, FILE_PRINTK, 4);
}

static inline void file_put_cmdlines(const struct dat_file *f, struct buf *b)
{
	file_put_sized(f, b, FILE_CMDLINES, 8);
}

static const struct {
	unsigned int id;
	const char *name;
	void (*put)(const struct dat_file *f, struct buf *b);
} file_tables[] = {
	{DAT_OPT_HEADER_INFO, "headers", file_put_headers},
	{DAT_OPT_FTRACE_EVENTS, "ftrace events", file_put_ftrace},
	{DAT_OPT_EVENT_FORMATS, "events format", file_put_events},
	{DAT_OPT_KALLSYMS, "kallsyms", file_put_kallsyms},
	{DAT_OPT_PRINTK, "printk", file_put_printk},
	{DAT_OPT_CMDLINES, "command lines", file_put_cmdlines},
};
#define FILE_NR_TABLES (sizeof(file_tables) / sizeof(file_tables[0]))

/* ---- options --------------------------------------------------------------------------- */

static inline void file_put_option(const struct dat_file *f, struct buf *b, unsigned int id,
				   const void *data, size_t size)
{
	file_put(f, b, id, 2);
	file_put(f, b, size, 4);
	buf_put(b, data, size);
}

static inline void file_put_text_option(const struct dat_file *f, struct buf *b, unsigned int id,
					const char *text)
{
	file_put_option(f, b, id, text, strlen(text) + 1);
}

/* Two samples for one CPU, the later one first. */
static inline void file_put_time_shift(const struct dat_file *f, struct buf *b)
{
	struct buf o;

	buf_init(&o, 1000);
	file_put(f, &o, 0x1234, 8);
	file_put(f, &o, 1, 4);
	file_put(f, &o, 1, 4);
	file_put(f, &o, 2, 4);
	file_put(f, &o, 2000, 8);
	file_put(f, &o, 1000, 8);
	file_put(f, &o, (uint64_t)-7, 8);
	file_put(f, &o, 5, 8);
	file_put(f, &o, 3, 8);
	file_put(f, &o, 1, 8);
	file_put(f, &o, 32, 8);
	file_put(f, &o, 31, 8);
	file_put_option(f, b, DAT_OPT_TIME_SHIFT, o.data, o.len);
	buf_free(&o);
}

static inline void file_put_guest(const struct dat_file *f, struct buf *b)
{
	struct buf o;

	buf_init(&o, 1000);
	file_put_string(&o, "vm");
	file_put(f, &o, 0x77, 8);
	file_put(f, &o, 1, 4);
	file_put(f, &o, 0, 4);
	file_put(f, &o, 4711, 4);
	file_put_option(f, b, DAT_OPT_GUEST, o.data, o.len);
	buf_free(&o);
}

static inline void file_put_options(const struct dat_file *f, struct buf *b, uint32_t cpus)
{
	uint8_t number[16];

	file_put_text_option(f, b, DAT_OPT_DATE, "0x10");
	file_put_text_option(f, b, DAT_OPT_OFFSET, "-5");
	file_put_text_option(f, b, DAT_OPT_TRACECLOCK, FILE_CLOCKS);
	file_put_text_option(f, b, DAT_OPT_UNAME, FILE_UNAME);
	file_put_text_option(f, b, DAT_OPT_VERSION, "3.4");
	file_put_text_option(f, b, DAT_OPT_CPUSTAT, "CPU: 0\nentries: 0\n");
	file_put_text_option(f, b, DAT_OPT_PROCMAPS, FILE_MAPS);
	file_store(f, number, 0xabcdef, 8);
	file_put_option(f, b, DAT_OPT_TRACEID, number, 8);
	file_store(f, number, 3, 4);
	file_store(f, number + 4, 2, 4);
	file_store(f, number + 8, 9, 8);
	file_put_option(f, b, DAT_OPT_TSC2NSEC, number, 16);
	file_put_option(f, b, DAT_OPT_HOOK, "", 0);
	file_put_option(f, b, 900, "new", 3);
	file_put_time_shift(f, b);
	file_put_guest(f, b);
	file_store(f, number, cpus, 4);
	file_put_option(f, b, DAT_OPT_CPUCOUNT, number, 4);
}

/* ---- pages ----------------------------------------------------------------------------- */

static inline void file_put_page(const struct dat_file *f, struct buf *b, uint32_t index)
{
	size_t start = b->len;

	file_put(f, b, (index + 1) * 1000ull, 8);
	file_put(f, b, FILE_RECORDS * 12, f->kind.long_size);
	for (uint32_t k = 0; k < FILE_RECORDS; k++) {
		uint32_t delta = k ? 1 : 0;

		file_put(f, b, f->kind.big_endian ? 2u << 27 | delta : delta << 5 | 2, 4);
		file_put(f, b, k, 4);
		file_put(f, b, k, 4);
	}
	buf_fill(b, 0, FILE_PAGE - (b->len - start));
}

static inline size_t file_compress(const struct dat_file *f, const void *in, size_t n, void *out,
				   size_t cap)
{
	uLongf len = cap;

	if (strcmp(f->kind.codec, "zstd") == 0)
		return ZSTD_compress(out, cap, in, n, 1);
	compress2(out, &len, in, n, 1);
	return len;
}

static inline bool file_compressed(const struct dat_file *f)
{
	return f->kind.version == 7 && strcmp(f->kind.codec, "none") != 0;
}

static inline void file_put_block(const struct dat_file *f, struct buf *b, const void *in, size_t n)
{
	size_t cap = n + n / 8 + 1000;
	void *out = malloc(cap);
	size_t len = file_compress(f, in, n, out, cap);

	file_put(f, b, len, 4);
	file_put(f, b, n, 4);
	buf_put(b, out, len);
	free(out);
}

static inline void file_put_chunks(const struct dat_file *f, struct buf *b, const struct buf *data,
				   size_t chunk)
{
	file_put(f, b, (data->len + chunk - 1) / chunk, 4);
	for (size_t at = 0; at < data->len; at += chunk)
		file_put_block(f, b, data->data + at,
			       data->len - at < chunk ? data->len - at : chunk);
}

/* The pages of a CPU; how many bytes they take in the file. */
static inline size_t file_put_data(const struct dat_file *f, struct buf *b,
				   const struct dat_content *c, uint32_t cpu)
{
	size_t start = b->len;
	struct buf data;

	buf_init(&data, 64u << 20);
	for (uint32_t i = 0; i < c->pages[cpu]; i++) {
		if (c->put_page)
			c->put_page(f, &data, cpu, i, c->arg);
		else
			file_put_page(f, &data, i);
	}
	if (file_compressed(f))
		file_put_chunks(f, b, &data, (size_t)c->chunk_pages * FILE_PAGE);
	else
		buf_put(b, data.data, data.len);
	buf_free(&data);
	return b->len - start;
}

static inline void file_put_latency(struct buf *b, uint32_t lines)
{
	for (uint32_t i = 0; i < lines; i++)
		buf_puts(b, FILE_TEXT);
}

/* ---- version 6 ------------------------------------------------------------------------- */

static inline void file_put_v6_buffer(struct dat_file *f, const struct dat_content *c)
{
	size_t table;

	buf_put(&f->b, "flyrecord", 10);
	table = f->at.cpu_table = f->b.len;
	buf_fill(&f->b, 0, c->nr_cpus * 16);
	file_put_sized(f, &f->b, "[global]", 8);
	for (uint32_t i = 0; i < c->nr_cpus; i++) {
		size_t size;

		file_align(&f->b);
		f->at.data[i] = f->b.len;
		size = file_put_data(f, &f->b, c, i);
		file_patch(f, table + i * 16, f->at.data[i], 8);
		file_patch(f, table + i * 16 + 8, size, 8);
	}
	f->at.data_end = f->b.len;
}

static inline void file_make_v6(struct dat_file *f, const struct dat_content *c)
{
	struct dat_places top;
	size_t pointer;

	f->at.headers = f->b.len;
	for (size_t i = 0; i < FILE_NR_TABLES; i++) {
		if (file_tables[i].id == DAT_OPT_FTRACE_EVENTS)
			f->at.formats_count = f->b.len;
		file_tables[i].put(f, &f->b);
	}
	f->at.cpu_count = f->b.len;
	file_put(f, &f->b, c->nr_cpus, 4);
	buf_put(&f->b, "options  ", 10);
	f->at.options = f->b.len;
	file_put_options(f, &f->b, c->nr_cpus);
	pointer = f->at.option_buffer = f->b.len + 6;
	if (!c->text)
		file_put_option(f, &f->b, DAT_OPT_BUFFER, "\0\0\0\0\0\0\0\0inst", 13);
	file_put(f, &f->b, 0, 2);
	if (c->text) {
		buf_put(&f->b, "latency  ", 10);
		file_put_latency(&f->b, 100);
		return;
	}
	file_put_v6_buffer(f, c);
	top = f->at;
	file_align(&f->b);
	file_patch(f, pointer, f->b.len, 8);
	file_put_v6_buffer(f, c);
	f->at = top;
}

/* ---- version 7 ------------------------------------------------------------------------- */

static inline size_t file_put_section(struct dat_file *f, unsigned int id, const char *name,
				      bool compressed)
{
	size_t at = f->b.len;

	file_put(f, &f->b, id, 2);
	file_put(f, &f->b, compressed, 2);
	file_put(f, &f->b, f->strings.len, 4);
	file_put(f, &f->b, 0, 8);
	file_put_string(&f->strings, name);
	return at;
}

static inline void file_end_section(struct dat_file *f, size_t at)
{
	file_patch(f, at + 8, f->b.len - at - DAT_SECTION_HEADER, 8);
}

static inline size_t file_put_table(struct dat_file *f, unsigned int id, const char *name,
				    const struct buf *table)
{
	size_t at = file_put_section(f, id, name, file_compressed(f));

	if (file_compressed(f))
		file_put_block(f, &f->b, table->data, table->len);
	else
		buf_put(&f->b, table->data, table->len);
	file_end_section(f, at);
	return at;
}

/* Options are never compressed; returns where the offset of the next ones is to be put. */
static inline size_t file_put_option_section(struct dat_file *f, const struct buf *options)
{
	size_t at = file_put_section(f, DAT_OPT_DONE, "options", false);

	buf_put(&f->b, options->data, options->len);
	file_put(f, &f->b, DAT_OPT_DONE, 2);
	file_put(f, &f->b, 8, 4);
	file_put(f, &f->b, 0, 8);
	file_end_section(f, at);
	return f->b.len - 8;
}

static inline void file_put_v7_text(struct dat_file *f, struct buf *options)
{
	size_t at = file_put_section(f, DAT_OPT_BUFFER_TEXT, "buffer latency ", file_compressed(f));
	struct buf text, o;

	buf_init(&text, 1u << 20);
	buf_init(&o, 1u << 20);
	file_put_latency(&text, 100);
	if (file_compressed(f))
		file_put_chunks(f, &f->b, &text, 1000);
	else
		buf_put(&f->b, text.data, text.len);
	file_end_section(f, at);
	file_put(f, &o, at, 8);
	file_put_string(&o, "");
	file_put_string(&o, "global");
	file_put_option(f, options, DAT_OPT_BUFFER_TEXT, o.data, o.len);
	buf_free(&text);
	buf_free(&o);
}

static inline void file_put_v7_buffer(struct dat_file *f, const struct dat_content *c,
				      const char *name, struct buf *options)
{
	char described[100];
	struct buf o;
	size_t at;

	snprintf(described, sizeof(described), "buffer flyrecord %s", name);
	at = file_put_section(f, DAT_OPT_BUFFER, described, file_compressed(f));
	buf_init(&o, 1u << 20);
	file_put(f, &o, at, 8);
	file_put_string(&o, name);
	file_put_string(&o, "global");
	file_put(f, &o, FILE_PAGE, 4);
	file_put(f, &o, c->nr_cpus, 4);
	for (uint32_t i = 0; i < c->nr_cpus; i++) {
		file_align(&f->b);
		f->at.data[i] = f->b.len;
		file_put(f, &o, c->cpus[i], 4);
		file_put(f, &o, f->b.len, 8);
		file_put(f, &o, file_put_data(f, &f->b, c, i), 8);
	}
	f->at.buffer_section = at;
	f->at.data_end = f->b.len;
	file_end_section(f, at);
	file_put_option(f, options, DAT_OPT_BUFFER, o.data, o.len);
	buf_free(&o);
}

static inline void file_make_v7(struct dat_file *f, const struct dat_content *c)
{
	struct dat_places top;
	struct buf options, table;
	uint8_t place[8];
	size_t next;

	f->at.compressor = f->b.len;
	file_put_string(&f->b, f->kind.codec);
	file_put_string(&f->b, "1");
	f->at.options_pointer = f->b.len;
	file_put(f, &f->b, 0, 8);
	buf_init(&options, 1u << 20);
	buf_init(&table, 1u << 20);
	f->at.headers = f->b.len;
	for (size_t i = 0; i < FILE_NR_TABLES; i++) {
		buf_reset(&table);
		file_tables[i].put(f, &table);
		file_store(f, place,
			   file_put_table(f, file_tables[i].id, file_tables[i].name, &table), 8);
		file_put_option(f, &options, file_tables[i].id, place, 8);
	}
	file_put_options(f, &options, 3);
	f->at.options = f->b.len;
	file_patch(f, f->at.options_pointer, f->b.len, 8);
	next = f->at.options_next = file_put_option_section(f, &options);
	buf_reset(&options);
	if (c->text)
		file_put_v7_text(f, &options);
	else
		file_put_v7_buffer(f, c, "", &options);
	file_patch(f, next, f->b.len, 8);
	f->at.second_options = f->b.len;
	f->at.option_buffer = f->b.len + DAT_SECTION_HEADER + 6;
	next = file_put_option_section(f, &options);
	top = f->at;
	if (!c->text) {
		buf_reset(&options);
		file_put_v7_buffer(f, c, "inst", &options);
		file_patch(f, next, f->b.len, 8);
		file_put_option_section(f, &options);
		f->at = top;
	}
	f->at.strings = f->b.len;
	file_put_table(f, DAT_OPT_STRINGS, "strings", &f->strings);
	buf_free(&options);
	buf_free(&table);
}

/* ---- files ----------------------------------------------------------------------------- */

static inline void dat_file_make(struct dat_file *f, const struct dat_kind *kind,
				 const struct dat_content *c)
{
	*f = (struct dat_file){.kind = *kind};
	buf_init(&f->b, 64u << 20);
	buf_init(&f->strings, 1u << 20);
	buf_put(&f->b, "\x17\x08\x44tracing", 10);
	file_put_string(&f->b, kind->version == 6 ? "6" : "7");
	buf_putc(&f->b, kind->big_endian);
	buf_putc(&f->b, (char)kind->long_size);
	f->at.page_size = f->b.len;
	file_put(f, &f->b, FILE_PAGE, 4);
	if (kind->version == 6)
		file_make_v6(f, c);
	else
		file_make_v7(f, c);
}

static inline void dat_file_free(struct dat_file *f)
{
	buf_free(&f->b);
	buf_free(&f->strings);
}

/* A descriptor of the file's first `size` bytes. */
static inline int dat_bytes_fd(const void *data, size_t size)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	return fd;
}

static inline int dat_file_fd(const struct dat_file *f, size_t size)
{
	return dat_bytes_fd(f->b.data, size);
}

#endif
