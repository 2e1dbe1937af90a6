// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Converting. Small traces of every kind become every other kind; all that they say and contain has
 * to be found again.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "dat/copy.h"
#include "file_dir.h"

static const struct {
	unsigned int version;
	const char *compression;
} targets[] = {{6, "none"}, {7, "none"}, {7, "zlib"}, {7, "zstd"}, {7, "any"}, {0, NULL}};
#define NR_TARGETS (sizeof(targets) / sizeof(targets[0]))

static const struct dat_content contents[] = {
	{.nr_cpus = 3, .cpus = {0, 1, 2}, .pages = {5, 0, 30}, .chunk_pages = 4},
	{.nr_cpus = 1, .cpus = {0}, .pages = {1}, .chunk_pages = 1},
	{.nr_cpus = 2, .cpus = {1, 2}, .pages = {3, 2}, .chunk_pages = 4},
	{.text = true, .chunk_pages = 4},
};

/* ---- what has to be the same ---- */

static bool is_layout(unsigned int id)
{
	return id == DAT_OPT_BUFFER || id == DAT_OPT_CPUCOUNT ||
	       (id >= DAT_OPT_STRINGS && id <= DAT_OPT_BUFFER_TEXT);
}

/* Version 6 keeps VERSION with zeros behind it, and first. */
static bool same_option(const struct dat_option *a, const struct dat_option *b)
{
	if (a->id == DAT_OPT_VERSION)
		return strcmp((const char *)a->data.data, (const char *)b->data.data) == 0;
	return a->data.size == b->data.size &&
	       memcmp(a->data.data, b->data.data, a->data.size) == 0;
}

static void compare_options(const struct dat *a, const struct dat *b)
{
	size_t n = 0, m = 0;

	for (size_t i = 0; i < a->nr_options; i++) {
		const struct dat_option *o = &a->options[i], *other = dat_option_find(b, o->id);

		if (is_layout(o->id))
			continue;
		n++;
		if (!other || !same_option(o, other))
			fail_msg("option %u is not the same", o->id);
	}
	for (size_t i = 0; i < b->nr_options; i++)
		m += !is_layout(b->options[i].id);
	assert_int_equal(n, m);
}

static void compare_blobs(const struct dat_blob *a, const struct dat_blob *b)
{
	assert_int_equal(a->size, b->size);
	assert_memory_equal(a->data, b->data, a->size);
}

static void compare_tables(const struct dat *a, const struct dat *b)
{
	compare_blobs(&a->header_page, &b->header_page);
	compare_blobs(&a->header_event, &b->header_event);
	compare_blobs(&a->kallsyms, &b->kallsyms);
	compare_blobs(&a->printk, &b->printk);
	assert_int_equal(a->nr_formats, b->nr_formats);
	assert_int_equal(a->nr_ftrace_formats, b->nr_ftrace_formats);
	assert_int_equal(a->nr_systems, b->nr_systems);
	for (size_t i = 0; i < a->nr_formats; i++) {
		assert_string_equal(a->formats[i].system, b->formats[i].system);
		compare_blobs(&a->formats[i].text, &b->formats[i].text);
	}
	/* There may be newlines behind the names. */
	assert_true(b->cmdlines.size >= a->cmdlines.size);
	assert_memory_equal(a->cmdlines.data, b->cmdlines.data, a->cmdlines.size);
}

static void compare_text(struct dat *a, struct dat *b)
{
	char x[4096], y[4096];
	uint64_t pos = 0;
	int64_t n, m;

	do {
		n = dat_text_read(a, &a->buffers[0], pos, x, 100);
		m = dat_text_read(b, &b->buffers[0], pos, y, (size_t)n);
		assert_true(n >= 0 && m == n);
		assert_memory_equal(x, y, n);
		pos += (uint64_t)n;
	} while (n);
	assert_true(pos > 0);
}

static void compare_data(struct dat *a, struct dat *b)
{
	assert_int_equal(a->nr_buffers, b->nr_buffers);
	for (size_t i = 0; i < a->nr_buffers; i++) {
		assert_string_equal(a->buffers[i].name, b->buffers[i].name);
		assert_string_equal(a->buffers[i].clock, b->buffers[i].clock);
		assert_int_equal(a->buffers[i].text, b->buffers[i].text);
		for (uint32_t cpu = 0; !a->buffers[i].text && cpu < a->nr_cpus; cpu++) {
			struct buf x, y;

			buf_init(&x, 1u << 20);
			buf_init(&y, 1u << 20);
			file_read_data(a, &a->buffers[i], cpu, &x);
			file_read_data(b, &b->buffers[i], cpu, &y);
			assert_int_equal(x.len, y.len);
			assert_memory_equal(x.data, y.data, x.len);
			buf_free(&x);
			buf_free(&y);
		}
	}
	if (a->nr_buffers && a->buffers[0].text)
		compare_text(a, b);
}

static void compare(struct dat *a, struct dat *b)
{
	assert_int_equal(b->damage.code, 0);
	assert_false(b->unfinished);
	assert_int_equal(a->big_endian, b->big_endian);
	assert_int_equal(a->long_size, b->long_size);
	assert_int_equal(a->nr_cpus, b->nr_cpus);
	compare_tables(a, b);
	compare_options(a, b);
	compare_data(a, b);
}

/* ---- tests ---- */

static int convert(struct file_dir *dir, struct dat *from, const char *to, size_t target,
		   struct spur_error *err)
{
	const struct dat_convert how = {.version = targets[target].version,
					.compression = targets[target].compression};

	return dat_convert(from, file_in(dir, to), &how, err);
}

static void check_conversion(struct file_dir *dir, size_t target)
{
	struct spur_error err = {0};
	struct dat *from = file_open(dir, "in.dat"), *to;

	if (convert(dir, from, "out.dat", target, &err) < 0)
		fail_msg("%s", err.text);
	to = file_open(dir, "out.dat");
	assert_int_equal(to->version,
			 targets[target].version ? targets[target].version : from->version);
	if (targets[target].compression && strcmp(targets[target].compression, "any") != 0)
		assert_string_equal(to->compression, targets[target].compression);
	compare(from, to);
	dat_close(to);
	dat_close(from);
	assert_int_equal(file_dir_count(dir), 2);
}

static void test_every_kind(void **state)
{
	struct file_dir dir;

	file_dir_open(&dir);
	for (size_t k = 0; k < FILE_NR_KINDS; k++)
		for (size_t c = 0; c < sizeof(contents) / sizeof(contents[0]); c++) {
			file_dir_put(&dir, "in.dat", &file_kinds[k], &contents[c], 0);
			for (size_t t = 0; t < NR_TARGETS; t++)
				check_conversion(&dir, t);
		}
	file_dir_close(&dir);
}

/* The file itself as the target: replaced as a whole. */
static void test_onto_itself(void **state)
{
	struct spur_error err = {0};
	struct file_dir dir;

	file_dir_open(&dir);
	for (size_t k = 0; k < FILE_NR_KINDS; k++) {
		struct dat *before, *after;
		struct stat st;

		file_dir_put(&dir, "in.dat", &file_kinds[k], &contents[0], 0);
		chmod(file_in(&dir, "in.dat"), 0600);
		before = file_open(&dir, "in.dat");
		assert_int_equal(convert(&dir, before, "in.dat", k % NR_TARGETS, &err), 0);
		after = file_open(&dir, "in.dat");
		compare(before, after);
		dat_close(before);
		dat_close(after);
		assert_int_equal(stat(file_in(&dir, "in.dat"), &st), 0);
		assert_int_equal(st.st_mode & 0777, 0600);
	}
	assert_int_equal(file_dir_count(&dir), 1);
	file_dir_close(&dir);
}

/*
 * A file that is cut off anywhere converts, but not onto itself; what was made of it is complete.
 */
static void test_cut_off(void **state)
{
	struct file_dir dir;

	file_dir_open(&dir);
	for (size_t k = 0; k < FILE_NR_KINDS; k++)
		for (size_t missing = 1; missing < 1500; missing += 37) {
			struct spur_error err = {0};
			struct dat *from, *to;

			file_dir_put(&dir, "in.dat", &file_kinds[k], &contents[0], missing);
			from = file_open(&dir, "in.dat");
			if (convert(&dir, from, "out.dat", missing % NR_TARGETS, &err) < 0)
				fail_msg("%s", err.text);
			to = file_open(&dir, "out.dat");
			assert_int_equal(to->damage.code, 0);
			/* Version 6 cannot be without a buffer. */
			if (from->nr_buffers)
				assert_int_equal(to->nr_buffers, from->nr_buffers);
			dat_close(to);
			if (from->damage.code)
				assert_int_equal(convert(&dir, from, "in.dat", 0, &err),
						 from->damage.code);
			dat_close(from);
			assert_int_equal(file_dir_count(&dir), 2);
		}
	file_dir_close(&dir);
}

/* Stopped in the middle, there is nothing. */
static void test_stopped(void **state)
{
	const volatile int stop = 1;
	const struct dat_convert how = {.job.stop = &stop};
	struct spur_error err = {0};
	struct file_dir dir;
	struct dat *from;

	file_dir_open(&dir);
	file_dir_put(&dir, "in.dat", &file_kinds[0], &contents[0], 0);
	from = file_open(&dir, "in.dat");
	assert_int_equal(dat_convert(from, file_in(&dir, "out.dat"), &how, &err), -EINTR);
	assert_int_equal(file_dir_count(&dir), 1);
	dat_close(from);
	file_dir_close(&dir);
}

static void watch(void *arg, uint64_t done, uint64_t total)
{
	uint64_t *last = arg;

	assert_true(done <= total && done >= *last);
	*last = done;
}

static void test_progress(void **state)
{
	const struct dat_content many = {
		.nr_cpus = 2, .cpus = {0, 1}, .pages = {400, 300}, .chunk_pages = 10};
	struct spur_error err = {0};
	struct file_dir dir;

	file_dir_open(&dir);
	for (size_t k = 0; k < FILE_NR_KINDS; k++) {
		uint64_t last = 0;
		const struct dat_convert how = {.job = {.progress = watch, .arg = &last}};
		struct dat *from;

		file_dir_put(&dir, "in.dat", &file_kinds[k], &many, 0);
		from = file_open(&dir, "in.dat");
		assert_int_equal(dat_convert(from, file_in(&dir, "out.dat"), &how, &err), 0);
		assert_true(last > 700);
		dat_close(from);
	}
	file_dir_close(&dir);
}

static const struct {
	const char *name, *why;
	int code;
} bad_targets[] = {
	{"no/such/directory", "No such file or directory", -ENOENT},
	{".", "not a file", -EINVAL},
};

static void test_bad_target(void **state)
{
	struct file_dir dir;
	struct dat *from;

	file_dir_open(&dir);
	file_dir_put(&dir, "in.dat", &file_kinds[0], &contents[0], 0);
	from = file_open(&dir, "in.dat");
	for (size_t i = 0; i < sizeof(bad_targets) / sizeof(bad_targets[0]); i++) {
		struct spur_error err = {0};

		assert_int_equal(convert(&dir, from, bad_targets[i].name, 0, &err),
				 bad_targets[i].code);
		assert_non_null(strstr(err.text, bad_targets[i].why));
		assert_int_equal(file_dir_count(&dir), 1);
	}
	dat_close(from);
	file_dir_close(&dir);
}

/* A link stays one, and what it leads to is replaced. */
static void test_link(void **state)
{
	struct spur_error err = {0};
	struct file_dir dir;
	struct dat *from;
	struct stat st;

	file_dir_open(&dir);
	file_dir_put(&dir, "in.dat", &file_kinds[0], &contents[0], 0);
	assert_int_equal(symlink("in.dat", file_in(&dir, "link")), 0);
	from = file_open(&dir, "link");
	assert_int_equal(convert(&dir, from, "link", 3, &err), 0);
	dat_close(from);
	assert_int_equal(lstat(file_in(&dir, "link"), &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	from = file_open(&dir, "in.dat");
	assert_string_equal(from->compression, "zstd");
	dat_close(from);
	file_dir_close(&dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_kind), cmocka_unit_test(test_onto_itself),
		cmocka_unit_test(test_cut_off),	   cmocka_unit_test(test_stopped),
		cmocka_unit_test(test_progress),   cmocka_unit_test(test_bad_target),
		cmocka_unit_test(test_link),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
