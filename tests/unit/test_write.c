// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writing trace.dat files: every kind of file, copies of every kind as every other, and what is
 * refused. Files that are not finished, or not easily, are in test_unfinished.c.
 */
#include <pthread.h>

#include "write_fixture.h"

/* ---- from beginning to end ------------------------------------------------------------- */

static void test_targets(void **state)
{
	const struct dat_contents c = usual();

	for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
		struct dat_out *o = create_full(&targets[i], &c);
		struct spur_error err = {0};

		assert_int_equal(dat_out_finish(o, &c, &err), 0);
		check_finished();
	}
}

/* No page at all, in so many buffers; finished by its writer or by somebody else. */
static void test_empty(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(targets); i++)
		for (size_t n = 0; n <= ARRAY_SIZE(buffers); n++)
			for (int left = 0; left < 2; left++) {
				struct dat_contents c = usual();
				struct dat_out *o;
				struct dat *d;

				c.nr_buffers = n;
				o = create(&targets[i], &c);
				if (left)
					dat_out_abandon(o);
				else
					assert_int_equal(dat_out_finish(o, &c, NULL), 0);
				finish_file();
				d = reopen();
				assert_string_equal(d->damage.text, "");
				if (n)
					check_cpu(d, 0, 2, 0);
				dat_close(d);
			}
}

/* Any number of pages at a time gives the same data. */
static void test_portions(void **state)
{
	static const uint32_t portions[] = {1, 3, 10, 25, 100};
	const struct dat_contents c = usual();

	for (size_t i = 0; i < ARRAY_SIZE(targets); i++)
		for (size_t k = 0; k < ARRAY_SIZE(portions); k++) {
			struct dat_out *o = create(&targets[i], &c);
			struct dat *d;

			assert_int_equal(put_pages(o, 0, 2, portions[k]), 0);
			assert_int_equal(dat_out_finish(o, &c, NULL), 0);
			d = reopen();
			check_cpu(d, 0, 2, pages_of(0, 2));
			assert_int_equal(d->damage.code, 0);
			dat_close(d);
		}
}

/* Those who write to the file themselves. */
static void test_place(void **state)
{
	const struct target t = {7, "none", true};
	const struct dat_contents c = usual();
	uint64_t room, place;
	struct dat_out *o;
	uint8_t page[PAGE];
	struct dat *d;

	skip_without_holes(&t);
	o = create(&t, &c);
	for (uint32_t i = 0; i < 3; i++) {
		make_page(page, 0, 0, i);
		place = dat_out_place(o, 0, 0, &room);
		assert_true(room >= 64 << 20);
		assert_int_equal(place % PAGE, 0);
		assert_int_equal(pwrite(dat_out_fd(o), page, PAGE, (off_t)place), PAGE);
		dat_out_advance(o, 0, 0, PAGE);
		assert_int_equal(dat_out_place(o, 0, 0, &room), place + PAGE);
	}
	/* Half a page does not count. */
	dat_out_advance(o, 0, 0, PAGE / 2);
	assert_int_equal(dat_out_finish(o, &c, NULL), 0);
	d = reopen();
	check_cpu(d, 0, 0, 3);
	dat_close(d);
}

/* Pages of any size, in version 7 of several sizes in one file. */
static void check_page_sizes(const struct target *t, uint32_t top, uint32_t other)
{
	const struct dat_out_buffer list[] = {
		{.name = "", .page_size = top, .cpus = top_cpus, .nr_cpus = 2},
		{.name = "one", .page_size = other, .cpus = top_cpus, .nr_cpus = 1},
	};
	const uint32_t sizes[] = {top, other};
	struct dat_contents c = usual();
	uint8_t *data = malloc(top + other);
	struct dat_pages *pages;
	struct dat_page page;
	struct dat_out *o;
	struct dat *d;

	c.buffers = list;
	c.nr_buffers = 2;
	o = create(t, &c);
	memset(data, 7, top + other);
	for (size_t b = 0; b < 2; b++)
		for (uint32_t i = 0; i < 12; i++)
			assert_int_equal(dat_out_pages(o, b, 0, data, 1), 0);
	assert_int_equal(dat_out_finish(o, &c, NULL), 0);
	d = reopen();
	assert_int_equal(d->damage.code, 0);
	for (size_t b = 0; b < 2; b++) {
		assert_int_equal(d->buffers[b].cpus[0].offset % sizes[b], 0);
		assert_int_equal(dat_pages_open(d, &d->buffers[b], &d->buffers[b].cpus[0], &pages),
				 0);
		assert_int_equal(dat_pages_get(pages, 11, &page), 1);
		assert_int_equal(page.size, sizes[b]);
		assert_memory_equal(page.data, data, page.size);
		assert_int_equal(dat_pages_get(pages, 12, &page), 0);
		dat_pages_close(pages);
	}
	dat_close(d);
	free(data);
}

static void test_page_sizes(void **state)
{
	static const uint32_t sizes[] = {128, 4096, 65536, 1 << 20};

	for (size_t i = 0; i < ARRAY_SIZE(targets); i++)
		for (size_t k = 0; k < ARRAY_SIZE(sizes); k++) {
			check_page_sizes(&targets[i], sizes[k], sizes[k]);
			if (targets[i].version == 7)
				check_page_sizes(&targets[i], sizes[k], 8192);
		}
}

static void *fill(void *arg)
{
	struct dat_out *o = arg;

	return put_pages(o, 0, 2, 1) ? o : NULL;
}

static void test_threads(void **state)
{
	const struct dat_contents c = usual();

	for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
		struct dat_out *o;
		pthread_t thread;
		struct dat *d;
		void *failed;

		if (!targets[i].sparse)
			continue;
		o = create(&targets[i], &c);
		assert_int_equal(pthread_create(&thread, NULL, fill, o), 0);
		assert_int_equal(put_pages(o, 1, 0, 1), 0);
		assert_int_equal(put_pages(o, 0, 0, 1), 0);
		pthread_join(thread, &failed);
		assert_null(failed);
		assert_int_equal(dat_out_finish(o, &c, NULL), 0);
		d = reopen();
		check_cpu(d, 0, 0, 3);
		check_cpu(d, 0, 2, 25);
		check_cpu(d, 1, 0, 11);
		dat_close(d);
	}
}

/* ---- copies ---------------------------------------------------------------------------- */

static const struct dat_kind kinds[] = {
	{6, false, 8, "none"}, {6, true, 4, "none"},  {7, false, 8, "none"},
	{7, true, 4, "none"},  {7, false, 4, "zlib"}, {7, true, 8, "zstd"},
};

static void copy_cpu(struct dat *d, struct dat_out *o, size_t buffer, uint32_t cpu)
{
	const struct dat_buffer *b = &d->buffers[buffer];
	struct dat_pages *pages;
	struct dat_page page;

	assert_int_equal(dat_pages_open(d, b, &b->cpus[cpu], &pages), 0);
	for (uint64_t i = 0; dat_pages_get(pages, i, &page) == 1; i++)
		assert_int_equal(dat_out_pages(o, buffer, cpu, page.data, 1), 0);
	dat_pages_close(pages);
}

static void check_same_blob(const struct dat_blob *a, const struct dat_blob *b)
{
	assert_int_equal(a->size, b->size);
	assert_memory_equal(a->data, b->data, a->size);
}

static void check_same_pages(struct dat *a, struct dat *b, const struct dat_buffer *buffer,
			     uint32_t cpu)
{
	const struct dat_buffer *other = buffer_of(b, buffer->name);
	const struct dat_cpu *data = cpu_of(other, buffer->cpus[cpu].cpu);
	struct dat_pages *p, *q;
	struct dat_page x, y;

	assert_non_null(data);
	assert_int_equal(dat_pages_open(a, buffer, &buffer->cpus[cpu], &p), 0);
	assert_int_equal(dat_pages_open(b, other, data, &q), 0);
	for (uint64_t i = 0;; i++) {
		int rc = dat_pages_get(p, i, &x);

		assert_int_equal(dat_pages_get(q, i, &y), rc);
		if (rc != 1)
			break;
		assert_int_equal(x.size, y.size);
		assert_memory_equal(x.data, y.data, x.size);
	}
	dat_pages_close(p);
	dat_pages_close(q);
}

/* What options mean; in which order they stand in a file is not the same everywhere. */
static void check_same_options(const struct dat *a, const struct dat *b)
{
	assert_string_equal(a->uname, b->uname);
	assert_string_equal(a->clocks, b->clocks);
	assert_string_equal(a->trace_version, b->trace_version);
	assert_int_equal(a->date_offset, b->date_offset);
	assert_int_equal(a->ts_offset, b->ts_offset);
	assert_int_equal(a->trace_id, b->trace_id);
	assert_int_equal(a->tsc2nsec.offset, b->tsc2nsec.offset);
	assert_int_equal(a->nr_time_shifts, b->nr_time_shifts);
	assert_int_equal(a->nr_guests, b->nr_guests);
	assert_int_equal(a->nr_processes, b->nr_processes);
	assert_non_null(dat_option_find(b, 900));
}

static void check_same(struct dat *a, struct dat *b)
{
	check_same_options(a, b);
	check_same_blob(&a->header_page, &b->header_page);
	check_same_blob(&a->header_event, &b->header_event);
	check_same_blob(&a->kallsyms, &b->kallsyms);
	check_same_blob(&a->printk, &b->printk);
	assert_true(b->cmdlines.size >= a->cmdlines.size);
	assert_memory_equal(a->cmdlines.data, b->cmdlines.data, a->cmdlines.size);
	assert_int_equal(a->nr_formats, b->nr_formats);
	assert_int_equal(a->nr_ftrace_formats, b->nr_ftrace_formats);
	for (size_t i = 0; i < a->nr_formats; i++) {
		assert_string_equal(a->formats[i].system, b->formats[i].system);
		check_same_blob(&a->formats[i].text, &b->formats[i].text);
	}
	assert_int_equal(a->big_endian, b->big_endian);
	assert_int_equal(a->long_size, b->long_size);
	assert_int_equal(a->nr_buffers, b->nr_buffers);
	for (size_t i = 0; i < a->nr_buffers; i++)
		for (uint32_t k = 0; k < a->buffers[i].nr_cpus; k++)
			check_same_pages(a, b, &a->buffers[i], k);
	assert_string_equal(b->damage.text, "");
}

static void copy(const struct dat_kind *kind, const struct dat_content *content,
		 const struct target *t)
{
	struct spur_error err = {0};
	struct dat_contents c;
	struct dat_file f;
	struct dat_out *o;
	struct dat *d, *b;

	dat_file_make(&f, kind, content);
	assert_int_equal(dat_open_fd(dat_file_fd(&f, f.b.len), "test", NULL, &d, &err), 0);
	assert_int_equal(dat_contents_of(d, &c, &err), 0);
	o = create(t, &c);
	for (size_t i = 0; i < d->nr_buffers; i++)
		for (uint32_t k = 0; k < d->buffers[i].nr_cpus; k++)
			copy_cpu(d, o, i, k);
	assert_int_equal(dat_out_finish(o, &c, &err), 0);
	b = reopen();
	assert_int_equal(b->version, t->version);
	assert_string_equal(b->compression, t->codec);
	check_same(d, b);
	if (content->text) {
		char text[sizeof(FILE_TEXT)] = "";

		assert_int_equal(dat_text_read(b, &b->buffers[0], 0, text, sizeof(text) - 1),
				 sizeof(text) - 1);
		assert_string_equal(text, FILE_TEXT);
	}
	dat_close(b);
	dat_close(d);
	dat_file_free(&f);
}

static void test_copies(void **state)
{
	static const struct dat_content contents[] = {
		{.nr_cpus = 3, .cpus = {0, 1, 4}, .pages = {5, 0, 33}, .chunk_pages = 2},
		{.nr_cpus = 1, .text = true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		for (size_t k = 0; k < ARRAY_SIZE(contents); k++)
			for (size_t n = 0; n < ARRAY_SIZE(targets); n++)
				copy(&kinds[i], &contents[k], &targets[n]);
}

/* ---- what is known at the end only ----------------------------------------------------- */

/* Names and options that are more than there is room for: version 6 keeps what fits. */
static void test_more_at_the_end(void **state)
{
	struct dat_out_option options[] = {
		{DAT_OPT_UNAME, {"Linux", 6}},	      {DAT_OPT_VERSION, {"spur 1", 7}},
		{DAT_OPT_CPUSTAT, {"CPU: 0\n", 8}},   {DAT_OPT_PROCMAPS, {"", 1}},
		{DAT_OPT_TRACECLOCK, {"[local]", 8}},
	};
	const struct dat_contents c = usual();
	struct dat_contents end = usual();
	struct buf names;
	char *large = calloc(1, 100000);

	fill_names(&names, 20000);
	options[3].data = (struct dat_span){large, 100000};
	end.cmdlines = (struct dat_span){names.data, names.len};
	end.options = options;
	end.nr_options = ARRAY_SIZE(options);
	for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
		struct dat_out *o = create_full(&targets[i], &c);
		struct dat *d;

		assert_int_equal(dat_out_finish(o, &end, NULL), 0);
		d = reopen();
		check_all(d);
		assert_int_equal(d->damage.code, 0);
		if (targets[i].version == 7) {
			assert_int_equal(d->cmdlines.size, names.len);
			assert_int_equal(d->nr_processes, 0);
			assert_non_null(dat_option_find(d, DAT_OPT_PROCMAPS));
			assert_string_equal(d->clocks, "[local]");
		} else if (targets[i].sparse) {
			assert_int_equal(d->cmdlines.data[d->cmdlines.size - 1], '\n');
			assert_memory_equal(d->cmdlines.data, names.data, 10000);
			assert_string_equal(d->clocks, "[local]");
		}
		dat_close(d);
	}
	buf_free(&names);
	free(large);
}

/* Names that are fewer than before leave nothing of those behind. */
static void test_less_at_the_end(void **state)
{
	struct dat_contents c = usual(), end = usual();
	struct buf names;

	fill_names(&names, 1000);
	c.cmdlines = (struct dat_span){names.data, names.len};
	for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
		struct dat *d;

		assert_int_equal(dat_out_finish(create_full(&targets[i], &c), &end, NULL), 0);
		d = reopen();
		check_all(d);
		assert_int_equal(strspn((const char *)d->cmdlines.data + end.cmdlines.size, "\n"),
				 d->cmdlines.size - end.cmdlines.size);
		dat_close(d);
	}
	buf_free(&names);
}

/* ---- refusals -------------------------------------------------------------------------- */

static void test_refused(void **state)
{
	static const uint32_t wrong_cpus[] = {1, 1};
	static const struct dat_out_buffer text = {.name = "", .is_text = true, .text = {"x", 1}};
	const struct dat_out_buffer two_texts[] = {text, text};
	const struct dat_out_buffer text_and_more[] = {text, buffers[1]};
	const struct dat_out_buffer odd = {.name = "", .page_size = 1000};
	const struct dat_out_buffer order = {
		.name = "", .page_size = PAGE, .cpus = wrong_cpus, .nr_cpus = 2};
	const struct dat_out_buffer late_top[] = {buffers[1], buffers[0]};
	const struct dat_out_buffer sizes[] = {buffers[0], {.name = "x", .page_size = 8192}};
	const struct {
		struct dat_out_options opt;
		const struct dat_out_buffer *buffers;
		size_t n;
		const char *words;
	} cases[] = {
		{{.version = 5}, buffers, 1, "only 6 and 7"},
		{{.version = 6, .compression = "zstd"}, buffers, 1, "cannot be compressed"},
		{{.compression = "rar"}, buffers, 1, "no compression \"rar\""},
		{{.version = 7}, two_texts, 2, "only the first"},
		{{.version = 6}, text_and_more, 2, "next to text"},
		{{.version = 7}, &odd, 1, "1000 bytes"},
		{{.version = 7}, &order, 1, "not in order"},
		{{.version = 7}, late_top, 2, "does not come first"},
		{{.version = 6}, sizes, 2, "8192 bytes"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct dat_contents c = usual();
		struct spur_error err = {0};
		struct dat_out *o;

		unlink(path);
		c.buffers = cases[i].buffers;
		c.nr_buffers = cases[i].n;
		assert_int_equal(create_file(path, &cases[i].opt, &c, &o, &err), -EINVAL);
		assert_null(o);
		if (!strstr(err.text, cases[i].words) || !strstr(err.text, path))
			fail_msg("case %zu: %s", i, err.text);
		assert_int_equal(access(path, F_OK), -1);
	}
}

/* Calls that make no sense. */
static void test_misuse(void **state)
{
	const struct target row = {7, "none", false};
	const struct dat_contents c = usual();
	struct dat_out *o = create(&row, &c);
	uint8_t page[PAGE];

	make_page(page, 0, 0, 0);
	assert_int_equal(dat_out_pages(o, 4, 0, page, 1), -EINVAL);
	assert_int_equal(dat_out_pages(o, 0, 4, page, 1), -EINVAL);
	assert_int_equal(dat_out_pages(o, 0, 2, page, 1), 0);
	/* Without holes there is no way back. */
	assert_int_equal(dat_out_pages(o, 0, 1, page, 1), -EINVAL);
	assert_int_equal(dat_out_pages(o, 0, 2, page, 1), 0);
	assert_int_equal(dat_out_finish(o, &c, NULL), 0);
}

/* ---- all of it ------------------------------------------------------------------------- */

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_targets),		cmocka_unit_test(test_page_sizes),
		cmocka_unit_test(test_empty),		cmocka_unit_test(test_portions),
		cmocka_unit_test(test_place),		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_copies),		cmocka_unit_test(test_more_at_the_end),
		cmocka_unit_test(test_less_at_the_end), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_misuse),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
