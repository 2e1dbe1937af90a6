// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * trace.dat files of every kind (dat_file.h makes them): whole, cut off at every byte, with every
 * byte changed, and with particular lies in them (`lies`, where a new one is one line).
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dat_file.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static const struct dat_kind kinds[] = {
	{6, false, 8, "none"}, {6, false, 4, "none"}, {6, true, 8, "none"},  {6, true, 4, "none"},
	{7, false, 8, "none"}, {7, false, 4, "none"}, {7, true, 8, "none"},  {7, true, 4, "none"},
	{7, false, 8, "zlib"}, {7, true, 4, "zlib"},  {7, false, 8, "zstd"}, {7, true, 4, "zstd"},
};

static const struct dat_content usual = {
	.nr_cpus = 3,
	.cpus = {0, 1, 4},
	.pages = {5, 0, 2},
	.chunk_pages = 2,
};

static const struct dat_content text = {.nr_cpus = 1, .text = true};

/* What a whole walk over a file's data finds. */
struct walk {
	uint64_t pages, records, errors;
	bool wrong; /* a record that no page was given */
};

static void walk_page(const struct dat_buffer *b, const struct dat_page *page, uint64_t index,
		      struct walk *w)
{
	struct ring_page ring;
	struct ring_event e;
	uint32_t k = 0;

	w->pages++;
	if (ring_page_open(&ring, &b->layout, page->data, page->size) < 0)
		return;
	for (; ring_page_next(&ring, &e); k++)
		if (e.ts != (index + 1) * 1000 + k || e.size != 8 ||
		    load_uint(e.data, 4, b->layout.big_endian) != k)
			w->wrong = true;
	w->records += k;
}

static void walk_cpu(struct dat *d, const struct dat_buffer *b, const struct dat_cpu *cpu,
		     struct walk *w)
{
	struct dat_pages *pages;
	struct dat_page page;
	uint64_t bytes, most;

	if (dat_pages_open(d, b, cpu, &pages) < 0) {
		w->errors++;
		return;
	}
	most = dat_pages_estimate(pages);
	for (uint64_t i = 0; i < most + 1; i++) {
		int rc = dat_pages_get(pages, i, &page);

		if (rc == 0)
			break;
		if (rc > 0)
			walk_page(b, &page, i, w);
		else
			w->errors++;
	}
	dat_pages_bytes(pages, &bytes);
	dat_pages_close(pages);
}

static struct walk walk_all(struct dat *d)
{
	struct walk w = {0};
	char line[512];

	for (size_t i = 0; i < d->nr_buffers; i++) {
		const struct dat_buffer *b = &d->buffers[i];
		uint64_t pos = 0;
		int64_t n;

		for (uint32_t k = 0; k < b->nr_cpus; k++)
			walk_cpu(d, b, &b->cpus[k], &w);
		while (b->text && pos < 1u << 20 &&
		       (n = dat_text_read(d, b, pos, line, sizeof(line))) > 0)
			pos += (uint64_t)n;
	}
	return w;
}

static struct dat *open_whole(const struct dat_file *f)
{
	struct spur_error err = {0};
	struct dat *d;

	if (dat_open_fd(dat_file_fd(f, f->b.len), "test", NULL, &d, &err) != 0)
		fail_msg("%s", err.text);
	if (d->damage.code)
		fail_msg("%s at %llu", d->damage.text, (unsigned long long)d->damage.offset);
	return d;
}

static void check_blob(const struct dat_blob *b, const char *want)
{
	assert_int_equal(b->size, strlen(want));
	assert_string_equal((const char *)b->data, want);
}

static void check_tables(const struct dat *d)
{
	static const struct {
		const char *system, *text;
	} formats[] = {
		{"ftrace", "name: function\nID: 1\n"},
		{"ftrace", "name: print\nID: 5\n"},
		{"irq", "name: softirq_entry\nID: 20\n"},
		{"sched", "name: sched_switch\nID: 30\n"},
		{"sched", ""},
	};

	assert_true(d->has_header && d->has_ftrace && d->has_formats);
	assert_true(d->has_kallsyms && d->has_printk && d->has_cmdlines);
	check_blob(&d->kallsyms, FILE_KALLSYMS);
	check_blob(&d->printk, FILE_PRINTK);
	check_blob(&d->cmdlines, FILE_CMDLINES);
	check_blob(&d->header_event, "# compressed entry header\n");
	assert_int_equal(d->nr_ftrace_formats, 2);
	assert_int_equal(d->nr_formats, ARRAY_SIZE(formats));
	for (size_t i = 0; i < d->nr_formats; i++) {
		assert_string_equal(d->formats[i].system, formats[i].system);
		check_blob(&d->formats[i].text, formats[i].text);
	}
}

static void check_maps(const struct dat *d)
{
	uint64_t start = 0;

	assert_int_equal(d->nr_processes, 1);
	assert_string_equal(d->processes[0].name, "/bin/wl");
	assert_string_equal(dat_map_find(d, 0x1f, 0x2abc, &start), "/bin/wl");
	assert_true(start == 0x1000);
	assert_string_equal(dat_map_find(d, 0x1f, 0x5000, &start), "/lib/c");
	assert_true(start == 0x5000);
	assert_null(dat_map_find(d, 0x1f, 0x6000, &start));
	assert_null(dat_map_find(d, 0x20, 0x5000, &start));
}

static void check_options(const struct dat *d)
{
	const struct dat_time_shift *s = d->time_shifts;

	assert_string_equal(d->uname, FILE_UNAME);
	assert_string_equal(d->trace_version, "3.4");
	assert_string_equal(d->clocks, FILE_CLOCKS);
	assert_string_equal(d->clock, "global");
	assert_true(d->has_date && d->date_offset == 16000);
	assert_true(d->has_ts_offset && d->ts_offset == -5);
	assert_true(d->trace_id == 0xabcdef);
	assert_true(d->tsc2nsec.valid && d->tsc2nsec.mult == 3 && d->tsc2nsec.shift == 2 &&
		    d->tsc2nsec.offset == 9);
	check_maps(d);
	assert_int_equal(d->nr_guests, 1);
	assert_string_equal(d->guests[0].name, "vm");
	assert_int_equal(d->guests[0].cpus[0].pid, 4711);
	assert_int_equal(d->nr_time_shifts, 1);
	assert_true(s->peer_trace_id == 0x1234 && s->flags == 1 && s->nr_cpus == 1);
	assert_int_equal(s->cpus[0].nr, 2);
	assert_true(s->cpus[0].samples[0].time == 1000 && s->cpus[0].samples[1].time == 2000);
	assert_true(s->cpus[0].samples[0].offset == 5 && s->cpus[0].samples[1].offset == -7);
	assert_true(s->cpus[0].samples[0].scaling == 1 && s->cpus[0].samples[0].fraction == 31);
	assert_string_equal((const char *)dat_option_find(d, DAT_OPT_CPUSTAT)->data.data,
			    "CPU: 0\nentries: 0\n");
	check_blob(&dat_option_find(d, 900)->data, "new");
	check_blob(&dat_option_find(d, DAT_OPT_HOOK)->data, "");
	assert_null(dat_option_find(d, DAT_OPT_LAST_BOOT_INFO));
}

static void check_buffers(const struct dat *d, const struct dat_kind *kind)
{
	static const char *const names[] = {"", "inst"};

	assert_int_equal(d->nr_buffers, 2);
	for (size_t i = 0; i < d->nr_buffers; i++) {
		const struct dat_buffer *b = &d->buffers[i];

		assert_string_equal(b->name, names[i]);
		assert_string_equal(b->clock, "global");
		assert_int_equal(b->page_size, FILE_PAGE);
		assert_int_equal(b->compressed, strcmp(kind->codec, "none") != 0);
		assert_int_equal(b->layout.commit_size, kind->long_size);
		assert_int_equal(b->nr_cpus, usual.nr_cpus);
		for (uint32_t k = 0; k < b->nr_cpus; k++) {
			assert_int_equal(b->cpus[k].cpu, kind->version == 6 ? k : usual.cpus[k]);
			assert_true(b->cpus[k].size == b->cpus[k].claimed_size);
		}
	}
}

static void test_kinds(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct dat_file f;
		struct walk w;
		struct dat *d;

		dat_file_make(&f, &kinds[i], &usual);
		d = open_whole(&f);
		assert_int_equal(d->version, kinds[i].version);
		assert_int_equal(d->big_endian, kinds[i].big_endian);
		assert_int_equal(d->long_size, kinds[i].long_size);
		assert_int_equal(d->page_size, FILE_PAGE);
		assert_int_equal(d->nr_cpus, kinds[i].version == 6 ? 3 : 5);
		assert_string_equal(d->compression, kinds[i].codec);
		check_tables(d);
		check_options(d);
		check_buffers(d, &kinds[i]);
		w = walk_all(d);
		assert_false(w.wrong);
		assert_int_equal(w.errors, 0);
		assert_int_equal(w.pages, 2 * 7);
		assert_int_equal(w.records, 2 * 7 * FILE_RECORDS);
		assert_int_equal(d->damage.code, 0);
		dat_close(d);
		dat_file_free(&f);
	}
}

/* A recording of nothing is complete, although its trace data have no size. */
static void test_empty(void **state)
{
	static const struct dat_content nothing = {.nr_cpus = 0};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct dat_file f;
		struct dat *d;

		dat_file_make(&f, &kinds[i], &nothing);
		d = open_whole(&f);
		assert_int_equal(d->nr_buffers, 2);
		assert_int_equal(walk_all(d).pages, 0);
		assert_int_equal(d->damage.code, 0);
		if (kinds[i].version == 7) {
			assert_int_equal(d->nr_sections, 12);
			assert_int_equal(d->sections[7].size, 0);
			assert_string_equal(dat_string(d, d->sections[11].description), "strings");
		}
		dat_close(d);
		dat_file_free(&f);
	}
}

/* Whether version 6 has a list of options is known even when nothing is in it. */
static void test_no_options(void **state)
{
	static const struct {
		const char *tag; /* in the place of "options" */
		bool has_options;
	} cases[] = {{"options  ", true}, {"flyrecord", false}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct spur_error err = {0};
		struct dat_file f;
		struct dat *d;

		dat_file_make(&f, &kinds[0], &usual);
		memcpy(f.b.data + f.at.options - 10, cases[i].tag, 10);
		file_patch(&f, f.at.options, DAT_OPT_DONE, 2);
		assert_int_equal(dat_open_fd(dat_file_fd(&f, f.b.len), "test", NULL, &d, &err), 0);
		assert_int_equal(d->has_options, cases[i].has_options);
		assert_int_equal(d->nr_options, 0);
		dat_close(d);
		dat_file_free(&f);
	}
}

static void test_sections(void **state)
{
	static const struct dat_kind kind = {7, false, 8, "zstd"};
	static const uint16_t ids[] = {16, 17, 18, 19, 20, 21, 0, 3, 0, 3, 0, 15};
	struct dat_file f;
	struct dat *d;

	dat_file_make(&f, &kind, &usual);
	d = open_whole(&f);
	assert_int_equal(d->nr_sections, ARRAY_SIZE(ids));
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		assert_int_equal(d->sections[i].id, ids[i]);
	assert_string_equal(dat_string(d, d->sections[0].description), "headers");
	assert_string_equal(dat_string(d, d->sections[9].description), "buffer flyrecord inst");
	assert_string_equal(dat_string(d, UINT32_MAX), "");
	assert_true(d->sections[3].full_size == strlen(FILE_KALLSYMS) + 4);
	assert_true(d->options_offset == d->sections[6].offset);
	assert_true(d->sections[6].next == d->sections[8].offset);
	assert_true(d->sections[10].next == 0);
	assert_true(d->options[0].section == d->sections[6].offset);
	dat_close(d);
	dat_file_free(&f);
}

static void test_text(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct dat_file f;
		struct dat *d;
		char piece[64];
		uint64_t pos = 0;
		int64_t n;

		dat_file_make(&f, &kinds[i], &text);
		d = open_whole(&f);
		assert_int_equal(d->nr_buffers, 1);
		assert_true(d->buffers[0].text);
		while ((n = dat_text_read(d, &d->buffers[0], pos, piece, sizeof(piece))) > 0)
			for (int64_t k = 0; k < n; k++, pos++)
				assert_int_equal(piece[k], FILE_TEXT[pos % strlen(FILE_TEXT)]);
		assert_int_equal(n, 0);
		assert_int_equal(pos, 100 * strlen(FILE_TEXT));
		dat_close(d);
		dat_file_free(&f);
	}
}

/* However short a file is, it opens with what is left of it, and says that something is missing. */
static void check_cuts(const struct dat_kind *kind, const struct dat_content *content, size_t step)
{
	struct dat_file f;
	struct walk before = {0};

	dat_file_make(&f, kind, content);
	for (size_t size = 1; size < f.b.len; size += step) {
		struct spur_error err = {0};
		struct dat *d;
		struct walk w;
		int rc = dat_open_fd(dat_file_fd(&f, size), "test", NULL, &d, &err);

		if (rc) {
			assert_int_equal(rc, -ENODATA);
			assert_true(size < 40);
			continue;
		}
		w = walk_all(d);
		/* Text goes on to the end of the file, and nobody misses strings. */
		if (d->damage.code != -ENODATA && !content->text && size != f.at.strings)
			fail_msg("%u/%s cut at %zu of %zu: %d %s", kind->version, kind->codec, size,
				 f.b.len, d->damage.code, d->damage.text);
		assert_false(w.wrong);
		assert_true(w.records <= 14 * FILE_RECORDS);
		/* More of a file never shows less. */
		if (w.records < before.records)
			fail_msg("%u/%s cut at %zu of %zu: %llu records after %llu", kind->version,
				 kind->codec, size, f.b.len, (unsigned long long)w.records,
				 (unsigned long long)before.records);
		before = w;
		dat_close(d);
	}
	dat_file_free(&f);
}

static void test_cuts(void **state)
{
	/* Every byte for every second kind; the others differ in the order of bytes only. */
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		check_cuts(&kinds[i], &usual, i % 2 ? 7 : 1);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i += 5)
		check_cuts(&kinds[i], &text, 3);
}

/* All data of a file without its last options are found again. */
static void test_recover(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct spur_error err = {0};
		struct dat_file f;
		struct dat *d;
		struct walk w;

		if (kinds[i].version < 7)
			continue;
		dat_file_make(&f, &kinds[i], &usual);
		assert_int_equal(
			dat_open_fd(dat_file_fd(&f, f.at.second_options), "test", NULL, &d, &err),
			0);
		assert_int_equal(d->damage.code, -ENODATA);
		assert_int_equal(d->nr_buffers, 1);
		assert_true(d->buffers[0].recovered);
		check_tables(d);
		check_options(d);
		w = walk_all(d);
		assert_false(w.wrong);
		assert_int_equal(w.records, 7 * FILE_RECORDS);
		dat_close(d);
		dat_file_free(&f);
	}
}

/* A changed byte may change anything but our ability to end. */
static void check_changes(const struct dat_kind *kind, uint8_t change)
{
	struct dat_file f;

	dat_file_make(&f, kind, &usual);
	for (size_t at = 0; at < f.b.len; at++) {
		struct spur_error err = {0};
		struct dat *d;

		f.b.data[at] ^= (char)change;
		if (dat_open_fd(dat_file_fd(&f, f.b.len), "test", NULL, &d, &err) == 0) {
			struct walk w = walk_all(d);

			/* No byte of the file is read as data twice. */
			if (w.records > 100 * FILE_RECORDS)
				fail_msg("byte %zu: %llu records", at,
					 (unsigned long long)w.records);
			dat_close(d);
		} else if (!*err.text) {
			fail_msg("byte %zu: refused without a word", at);
		}
		f.b.data[at] ^= (char)change;
	}
	dat_file_free(&f);
}

static void test_changes(void **state)
{
	static const uint8_t changes[] = {0xff, 0x01, 0x80};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i += 2)
		check_changes(&kinds[i], changes[i / 2 % ARRAY_SIZE(changes)]);
}

static const struct {
	const char *bytes;
	size_t size;
	int code;
	const char *says;
} refused[] = {
	{"", 0, -EBADMSG, "empty"},
	{"hello, world", 12, -EBADMSG, "not a trace file"},
	{"\x17\x08", 2, -ENODATA, "cut off"},
	{"\x17\x08\x44tracing", 10, -ENODATA, "cut off"},
	{"\x17\x08\x44tracing6\0\0", 13, -ENODATA, "cut off"},
	{"\x17\x08\x44tracing5\0\0\0\0\0\0\0", 18, -EBADMSG, "version 5"},
	{"\x17\x08\x44tracing8\0\0\0\0\0\0\0", 18, -EBADMSG, "version 8"},
	{"\x17\x08\x44tracing????\0\0\0\0\0\0", 20, -EBADMSG, "no number"},
	{"\x17\x08\x44tracing7\0\0\x08\0\x10\0\0lz4\0001\0\0\0\0\0\0\0\0\0", 32, -EBADMSG, "lz4"},
};

static void test_refused(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		struct spur_error err = {0};
		struct dat *d;

		assert_int_equal(dat_open_fd(dat_bytes_fd(refused[i].bytes, refused[i].size),
					     "test", NULL, &d, &err),
				 refused[i].code);
		assert_null(d);
		assert_int_equal(err.code, refused[i].code);
		if (!strstr(err.text, refused[i].says) || strncmp(err.text, "test: ", 6) != 0)
			fail_msg("\"%s\" does not say %s", err.text, refused[i].says);
	}
}

static void test_open_fails(void **state)
{
	struct spur_error err = {0};
	struct dat *d;

	assert_int_equal(dat_open("/does/not/exist", NULL, &d, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/does/not/exist"));
	err = (struct spur_error){0};
	assert_int_equal(dat_open("/", NULL, &d, &err), -EISDIR);
}

/* One number in the file is replaced by another. */
#define AT(member) offsetof(struct dat_places, member)

static const struct lie {
	const char *name;
	unsigned int version;
	const char *codec;
	size_t where;	/* in struct dat_places */
	size_t plus;	/* bytes behind it */
	uint64_t value; /* to be stored there */
	unsigned int size;
	int code;
	const char *says;
	uint64_t records; /* that can still be read */
} lies[] = {
	{"no page size", 6, "none", AT(page_size), 0, 0, 4, -EBADMSG, "pages of 0", 0},
	{"odd page size", 6, "none", AT(page_size), 0, 3000, 4, -EBADMSG, "pages of 3000", 0},
	{"huge page size", 6, "none", AT(page_size), 0, 1u << 31, 4, -EBADMSG, "pages of", 0},
	{"no page size of a buffer", 7, "none", AT(option_buffer), 16, 0, 4, -EBADMSG, "pages of 0",
	 70},
	{"too many CPUs", 6, "none", AT(cpu_count), 0, 1u << 20, 4, -EBADMSG, "too many", 70},
	{"a size larger than the file", 6, "none", AT(cpu_table), 8, 1u << 30, 8, -ENODATA,
	 "CPU 0's data are missing", 70},
	{"an offset behind the file", 6, "none", AT(cpu_table), 0, 1ull << 40, 8, -ENODATA,
	 "CPU 0's data are missing", 45},
	{"offset and size overflow", 6, "none", AT(cpu_table), 0, UINT64_MAX - 100, 8, -ENODATA,
	 "CPU 0's data are missing", 45},
	{"too many formats", 6, "none", AT(formats_count), 0, UINT32_MAX, 4, -ENODATA, "ftrace", 0},
	{"headers of any size", 6, "none", AT(headers), 12, UINT64_MAX, 8, -ENODATA, "headers", 0},
	{"a buffer that is nowhere", 6, "none", AT(option_buffer), 0, 1ull << 40, 8, -ENODATA,
	 "\"inst\" are missing", 35},
	{"a buffer that is no buffer", 6, "none", AT(option_buffer), 0, 20, 8, -EBADMSG,
	 "\"inst\" are missing", 35},
	{"options that loop", 7, "none", AT(options_next), 0, 0, 0, -EBADMSG, "back at themselves",
	 70},
	{"options that are none", 7, "zstd", AT(options_next), 0, 33, 8, -EBADMSG,
	 "no options here", 70},
	{"options behind the file", 7, "zlib", AT(options_next), 0, 1ull << 50, 8, -ENODATA,
	 "options at offset", 70},
	{"no options", 7, "none", AT(options_pointer), 0, 0, 8, -ENODATA, "not finished", 70},
	{"an option over the end", 7, "none", AT(options), 18, UINT32_MAX, 4, -EBADMSG,
	 "without an end", 70},
	{"a section over the end", 7, "none", AT(headers), 8, 1ull << 40, 8, -ENODATA, "cut off",
	 70},
	{"a section of another kind", 7, "none", AT(headers), 0, 17, 2, -EBADMSG,
	 "not where it should be", 70},
	{"a section that expands", 7, "zstd", AT(headers), 20, 1u << 31, 4, -EBADMSG, "\"headers\"",
	 70},
	{"a chunk that expands", 7, "zlib", AT(data), 8, 1u << 31, 4, -EBADMSG, "impossible size",
	 60},
	{"a chunk that does not expand", 7, "zstd", AT(data), 12, 0, 4, -EBADMSG, "decompressed",
	 60},
	{"a chunk over the end", 7, "zstd", AT(data), 4, 1u << 28, 4, -EBADMSG, "over the end", 45},
	{"fewer chunks", 7, "zstd", AT(data), 0, 1, 4, 0, "", 55},
	{"more chunks", 7, "zstd", AT(data), 0, 4, 4, -EBADMSG, "fewer chunks", 70},
	{"chunks counted in another byte order", 7, "zstd", AT(data), 0, 3u << 24, 4, 0, "", 70},
	{"CPUs that overlap", 7, "none", AT(option_buffer), 48, 0, 0, -EBADMSG, "overlap", 60},
	{"a CPU of impossible number", 7, "none", AT(option_buffer), 24, UINT32_MAX, 4, -EBADMSG,
	 "CPU of number 4294967295", 45},
	{"more CPUs than there are", 7, "none", AT(option_buffer), 20, 1000, 4, -EBADMSG, "BUFFER",
	 70},
	{"data that are elsewhere", 7, "none", AT(option_buffer), 0, 40, 8, -EBADMSG,
	 "not where they should be", 70},
};

static void tell(struct dat_file *f, const struct lie *lie)
{
	size_t at;

	memcpy(&at, (const char *)&f->at + lie->where, sizeof(at));
	/* Two lies depend on where the file has things. */
	if (lie->where == AT(options_next) && !lie->size)
		file_patch(f, at, f->at.options, 8);
	else if (!lie->size)
		file_patch(f, at + lie->plus, f->at.data[0], 8);
	else
		file_patch(f, at + lie->plus, lie->value, lie->size);
}

static void test_lies(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
		struct dat_kind kind = {lies[i].version, i & 1, 8, lies[i].codec};
		struct dat_content content = usual;
		struct spur_error err = {0};
		struct dat_file f;
		struct dat *d;
		struct walk w;

		/* The lie about overlapping data makes two CPUs share all of theirs. */
		if (strcmp(lies[i].says, "overlap") == 0)
			content = (struct dat_content){
				.nr_cpus = 2, .cpus = {0, 1}, .pages = {5, 2}, .chunk_pages = 2};
		dat_file_make(&f, &kind, &content);
		tell(&f, &lies[i]);
		if (dat_open_fd(dat_file_fd(&f, f.b.len), "test", NULL, &d, &err))
			fail_msg("%s: %s", lies[i].name, err.text);
		w = walk_all(d);
		if (d->damage.code != lies[i].code || !strstr(d->damage.text, lies[i].says))
			fail_msg("%s: damage %d \"%s\"", lies[i].name, d->damage.code,
				 d->damage.text);
		if (lies[i].records && w.records != lies[i].records)
			fail_msg("%s: %llu records", lies[i].name, (unsigned long long)w.records);
		dat_close(d);
		dat_file_free(&f);
	}
}

/* More chunks than an index has room for, read in an order that jumps to and fro. */
static void check_jumps(const struct dat_kind *kind, uint32_t pages)
{
	const struct dat_content content = {.nr_cpus = 1, .pages = {pages}, .chunk_pages = 1};
	struct dat_pages *p, *other;
	struct dat_page page;
	struct dat_file f;
	struct dat *d;
	uint64_t at = 0, bytes;

	dat_file_make(&f, kind, &content);
	d = open_whole(&f);
	assert_int_equal(dat_pages_open(d, &d->buffers[0], &d->buffers[0].cpus[0], &p), 0);
	assert_int_equal(dat_pages_open(d, &d->buffers[0], &d->buffers[0].cpus[0], &other), 0);
	assert_true(dat_pages_estimate(p) >= pages);
	for (uint32_t i = 0; i < pages; i++) {
		struct walk w = {0};

		at = (at + 0x9e3779b1u) % pages;
		assert_int_equal(dat_pages_get(i % 3 ? p : other, i % 2 ? at : i, &page), 1);
		walk_page(&d->buffers[0], &page, i % 2 ? at : i, &w);
		assert_true(!w.wrong && w.records == FILE_RECORDS);
	}
	assert_int_equal(dat_pages_get(p, pages, &page), 0);
	assert_int_equal(dat_pages_get(p, UINT64_MAX, &page), 0);
	assert_int_equal(dat_pages_bytes(other, &bytes), 0);
	assert_int_equal(bytes, (uint64_t)pages * FILE_PAGE);
	assert_int_equal(dat_pages_estimate(other), pages);
	assert_int_equal(d->damage.code, 0);
	dat_pages_close(p);
	dat_pages_close(other);
	dat_close(d);
	dat_file_free(&f);
}

static void test_jumps(void **state)
{
	check_jumps(&kinds[0], 3000);
	check_jumps(&kinds[8], 300);
	check_jumps(&kinds[10], 20000);
}

static void test_limit(void **state)
{
	static const size_t limits[] = {1, 100, 1000, 10000};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		for (size_t k = 0; k < ARRAY_SIZE(limits); k++) {
			const struct dat_options opt = {.metadata_limit = limits[k]};
			struct spur_error err = {0};
			struct dat_file f;
			struct dat *d;
			int rc;

			dat_file_make(&f, &kinds[i], &usual);
			rc = dat_open_fd(dat_file_fd(&f, f.b.len), "test", &opt, &d, &err);
			assert_true(rc == 0 || rc == -ENOMEM);
			if (rc == 0) {
				assert_true(d->damage.code || limits[k] > 1000);
				assert_true(d->arena.used <= limits[k]);
			}
			dat_close(d);
			dat_file_free(&f);
		}
}

static void test_first_damage(void **state)
{
	struct dat_file f;
	struct dat *d;

	dat_file_make(&f, &kinds[0], &usual);
	d = open_whole(&f);
	dat_note_damage(d, -EBADMSG, 7, "CPU %d", 3);
	dat_note_damage(d, -ENODATA, 8, "later");
	assert_int_equal(d->damage.code, -EBADMSG);
	assert_int_equal(d->damage.offset, 7);
	assert_string_equal(d->damage.text, "CPU 3");
	dat_close(d);
	dat_file_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),	cmocka_unit_test(test_no_options),
		cmocka_unit_test(test_kinds),	cmocka_unit_test(test_sections),
		cmocka_unit_test(test_text),	cmocka_unit_test(test_cuts),
		cmocka_unit_test(test_recover), cmocka_unit_test(test_changes),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_open_fails),
		cmocka_unit_test(test_lies),	cmocka_unit_test(test_jumps),
		cmocka_unit_test(test_limit),	cmocka_unit_test(test_first_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
