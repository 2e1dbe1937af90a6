// SPDX-License-Identifier: GPL-2.0-or-later
/* Restoring: files without an end, files nobody has finished, and pages without a file. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dat/restore.h"
#include "dat/write.h"
#include "file_dir.h"
#include "out_file.h"

static const struct dat_content content = {
	.nr_cpus = 3, .cpus = {0, 1, 2}, .pages = {5, 2, 30}, .chunk_pages = 4};

/* How much trace data there is. */
static size_t data_size(struct dat *d)
{
	size_t sum = 0;

	for (size_t i = 0; i < d->nr_buffers; i++)
		for (uint32_t cpu = 0; cpu < d->nr_cpus; cpu++) {
			struct buf b;

			buf_init(&b, 1u << 20);
			file_read_data(d, &d->buffers[i], cpu, &b);
			sum += b.len;
			buf_free(&b);
		}
	return sum;
}

static int restore(struct file_dir *dir, const char *name, const char *output,
		   struct dat_restore *r, struct spur_error *err)
{
	char to[FILE_PATH];

	if (output)
		snprintf(to, sizeof(to), "%s", file_in(dir, output));
	*r = (struct dat_restore){.output = output ? to : NULL};
	*err = (struct spur_error){0};
	return dat_restore_file(file_in(dir, name), r, err);
}

/* ---- files that are cut off ---- */

static void test_complete(void **state)
{
	struct dat_restore r;
	struct spur_error err;
	struct file_dir dir;

	file_dir_open(&dir);
	for (size_t k = 0; k < FILE_NR_KINDS; k++) {
		file_dir_put(&dir, "in.dat", &file_kinds[k], &content, 0);
		assert_int_equal(restore(&dir, "in.dat", NULL, &r, &err), 0);
		assert_int_equal(r.done, DAT_RESTORED_NOTHING);
		assert_int_equal(r.damage, 0);
	}
	file_dir_close(&dir);
}

static void check_cut(struct file_dir *dir, const struct dat_kind *kind, size_t missing)
{
	struct dat_restore r;
	struct spur_error err;
	struct dat *cut, *whole;
	size_t before;
	int rc;

	file_dir_put(dir, "in.dat", kind, &content, missing);
	cut = file_open(dir, "in.dat");
	before = data_size(cut);
	rc = restore(dir, "in.dat", "out.dat", &r, &err);
	if (rc < 0)
		fail_msg("%s", err.text);
	assert_int_equal(r.done, DAT_RESTORED_WRITTEN);
	assert_true(r.damage != 0);
	whole = file_open(dir, "out.dat");
	assert_int_equal(whole->damage.code, 0);
	/* The last page may have got back its full length. */
	assert_true(data_size(whole) / FILE_PAGE == (before + FILE_PAGE - 1) / FILE_PAGE ||
		    data_size(whole) / FILE_PAGE == before / FILE_PAGE);
	dat_close(whole);
	rc = restore(dir, "in.dat", NULL, &r, &err);
	/* What is more than cut off stays as it is. */
	assert_int_equal(rc, r.damage == -EBADMSG ? -EBADMSG : 0);
	whole = file_open(dir, "in.dat");
	if (rc == 0)
		assert_int_equal(whole->damage.code, 0);
	else
		assert_int_equal(whole->file_size, cut->file_size);
	dat_close(whole);
	dat_close(cut);
	assert_int_equal(file_dir_count(dir), 2);
}

static void test_cut_off(void **state)
{
	struct file_dir dir;

	file_dir_open(&dir);
	for (size_t k = 0; k < FILE_NR_KINDS; k++)
		for (size_t missing = 300; missing < 1500; missing += 41)
			check_cut(&dir, &file_kinds[k], missing);
	file_dir_close(&dir);
}

/* ---- files nobody has finished ---- */

static void put_unfinished(struct file_dir *dir, const struct dat_kind *kind, bool sparse)
{
	const struct dat_out_options opt = {
		.version = kind->version, .compression = kind->codec, .sparse = sparse};
	struct spur_error err = {0};
	struct dat_contents c;
	struct dat_out *out;
	struct dat *d;

	file_dir_put(dir, "whole.dat", kind, &content, 0);
	d = file_open(dir, "whole.dat");
	assert_int_equal(dat_contents_of(d, &c, &err), 0);
	if (create_file(file_in(dir, "in.dat"), &opt, &c, &out, &err) < 0)
		fail_msg("%s", err.text);
	for (size_t b = 0; b < d->nr_buffers; b++)
		for (uint32_t i = 0; i < d->buffers[b].nr_cpus; i++) {
			struct buf data;

			buf_init(&data, 1u << 20);
			file_read_data(d, &d->buffers[b], d->buffers[b].cpus[i].cpu, &data);
			assert_int_equal(dat_out_pages(out, b, i, data.data, data.len / FILE_PAGE),
					 0);
			buf_free(&data);
		}
	dat_out_abandon(out);
	dat_close(d);
}

/* A recording that was killed never says that it is complete. What is missing is not known. */
static void check_is_cut(const struct dat *d)
{
	assert_int_equal(d->damage.code, -ENODATA);
	assert_non_null(strstr(d->damage.text, "the recorder was killed"));
	assert_true(d->cut.is);
	assert_int_equal(d->cut.nr, 6);
	for (uint32_t i = 0; i < d->cut.nr; i++) {
		assert_int_equal(d->cut.cpus[i].buffer, i / 3);
		assert_int_equal(d->cut.cpus[i].cpu, i % 3);
		assert_true(d->cut.cpus[i].after == DAT_CUT_UNKNOWN);
		assert_int_equal(d->cut.cpus[i].between, 0);
	}
}

static void test_unfinished(void **state)
{
	const size_t all = (size_t)2 * (5 + 2 + 30) * FILE_PAGE;
	struct file_dir dir;

	file_dir_open(&dir);
	for (size_t k = 0; k < 2 * FILE_NR_KINDS; k++) {
		const struct dat_kind *kind = &file_kinds[k / 2];
		struct dat_restore r;
		struct spur_error err;
		struct dat *d;
		size_t copied;

		put_unfinished(&dir, kind, k % 2);
		assert_int_equal(restore(&dir, "in.dat", "out.dat", &r, &err), 0);
		d = file_open(&dir, "out.dat");
		assert_false(d->unfinished);
		check_is_cut(d);
		copied = data_size(d);
		dat_close(d);
		assert_int_equal(restore(&dir, "in.dat", NULL, &r, &err), 0);
		assert_int_equal(r.done, DAT_RESTORED_FINISHED);
		d = file_open(&dir, "in.dat");
		assert_false(d->unfinished);
		/* A file that was not made by a recorder may have no space for another option. */
		if (kind->version > 6 || k % 2)
			check_is_cut(d);
		assert_int_equal(data_size(d), copied);
		/* Pages that waited to be compressed together with others are lost. */
		if (strcmp(kind->codec, "none") == 0)
			assert_int_equal(copied, all);
		else
			assert_true(copied > 0 && copied <= all);
		dat_close(d);
		assert_int_equal(file_dir_count(&dir), 3);
	}
	file_dir_close(&dir);
}

/* ---- pages without a file ---- */

/* Names, and which instance and CPU they mean in sorted order. */
static const struct {
	const char *names[4];
	struct {
		const char *instance;
		uint32_t cpu;
	} want[4];
	int rc;
} names[] = {
	{{"trace.dat.cpu1", "trace.dat.cpu0"}, {{"", 0}, {"", 1}}, 0},
	{{"a/t.cpu10", "a/t.cpu2"}, {{"", 2}, {"", 10}}, 0},
	{{"t.cpu0", "t.net.cpu0", "t.net.cpu3"}, {{"", 0}, {"net", 0}, {"net", 3}}, 0},
	{{"t.x.cpu0", "t.x.cpu1"}, {{"", 0}, {"", 1}}, 0},
	{{"one", "two", "three"}, {{"", 0}, {"", 1}, {"", 2}}, 0},
	{{"t.cpu5", "other"}, {{"", 0}, {"", 1}}, 0},
	{{"t.cpu", "t.cpux", "t.cpu99999999"}, {{"", 0}, {"", 1}, {"", 2}}, 0},
	{{"t.cpu3", "u.cpu4"}, {{"", 0}, {"", 1}}, 0},
	{{"t.cpu1", "t.cpu01"}, .rc = -EINVAL},
};

static void test_names(void **state)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct dat_leftover files[4] = {{0}};
		struct spur_error err = {0};
		struct arena arena;
		size_t n = 0;

		arena_init(&arena, 1u << 20);
		for (; n < 4 && names[i].names[n]; n++)
			files[n].path = names[i].names[n];
		assert_int_equal(dat_leftovers_sort(files, n, &arena, &err), names[i].rc);
		for (size_t k = 0; !names[i].rc && k < n; k++) {
			assert_string_equal(files[k].instance, names[i].want[k].instance);
			assert_int_equal(files[k].cpu, names[i].want[k].cpu);
		}
		arena_free(&arena);
	}
}

/* A CPU's pages in a file of their own. */
static void put_leftover(struct file_dir *dir, struct dat *d, uint32_t cpu, const char *name,
			 size_t missing)
{
	struct buf data;

	buf_init(&data, 1u << 20);
	file_read_data(d, &d->buffers[0], cpu, &data);
	file_dir_write(dir, name, data.data, data.len - missing);
	buf_free(&data);
}

static void check_leftovers(struct file_dir *dir, const struct dat_kind *kind, size_t missing)
{
	const struct dat_out_options opt = {.version = 7};
	char paths[2][FILE_PATH], output[FILE_PATH];
	struct dat_leftover files[2] = {{.path = paths[0]}, {.path = paths[1]}};
	struct spur_error err = {0};
	struct dat_contents c;
	struct arena arena;
	struct dat *d, *out;

	file_dir_put(dir, "in.dat", kind, &content, 0);
	d = file_open(dir, "in.dat");
	put_leftover(dir, d, 2, "t.cpu4", missing);
	put_leftover(dir, d, 0, "t.x.cpu1", 0);
	snprintf(paths[0], sizeof(paths[0]), "%s", file_in(dir, "t.x.cpu1"));
	snprintf(paths[1], sizeof(paths[1]), "%s", file_in(dir, "t.cpu4"));
	snprintf(output, sizeof(output), "%s", file_in(dir, "out.dat"));
	arena_init(&arena, 1u << 20);
	assert_int_equal(dat_leftovers_sort(files, 2, &arena, &err), 0);
	assert_int_equal(dat_contents_of(d, &c, &err), 0);
	if (dat_restore_pages(output, &opt, &c, files, 2, NULL, &err) < 0)
		fail_msg("%s", err.text);
	out = file_open(dir, "out.dat");
	assert_int_equal(out->damage.code, 0);
	assert_int_equal(out->nr_buffers, 2);
	assert_string_equal(out->buffers[1].name, "x");
	assert_string_equal(out->clock, "global");
	assert_int_equal(out->nr_cpus, 5);
	/* Its identity and statistics are those of another recording. */
	assert_null(dat_option_find(out, DAT_OPT_TRACEID));
	assert_null(dat_option_find(out, DAT_OPT_CPUSTAT));
	assert_non_null(dat_option_find(out, DAT_OPT_UNAME));
	assert_int_equal(files[0].pages, missing > FILE_PAGE - 16 ? 29 : 30);
	assert_int_equal(data_size(out), (files[0].pages + 5) * FILE_PAGE);
	dat_close(out);
	dat_close(d);
	arena_free(&arena);
}

static void test_leftovers(void **state)
{
	static const size_t missing[] = {0, 1, 100, 200, FILE_PAGE};
	struct file_dir dir;

	file_dir_open(&dir);
	for (size_t k = 0; k < FILE_NR_KINDS; k++)
		for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++)
			check_leftovers(&dir, &file_kinds[k], missing[i]);
	file_dir_close(&dir);
}

/* What are no pages is left out and counted; where nothing else is there, no file is made. */
static void test_no_pages(void **state)
{
	const struct dat_out_options opt = {.version = 7};
	uint8_t noise[4 * FILE_PAGE];
	struct dat_leftover file = {.instance = ""};
	struct spur_error err = {0};
	struct dat_contents c;
	struct file_dir dir;
	char path[FILE_PATH];
	struct dat *d;

	file_dir_open(&dir);
	file_dir_put(&dir, "in.dat", &file_kinds[0], &content, 0);
	memset(noise, 0x5a, sizeof(noise));
	file_dir_write(&dir, "t.cpu0", noise, sizeof(noise));
	snprintf(path, sizeof(path), "%s", file_in(&dir, "t.cpu0"));
	file.path = path;
	d = file_open(&dir, "in.dat");
	assert_int_equal(dat_contents_of(d, &c, &err), 0);
	assert_int_equal(
		dat_restore_pages(file_in(&dir, "out.dat"), &opt, &c, &file, 1, NULL, &err),
		-EBADMSG);
	assert_int_equal(file.bad, 4);
	assert_int_equal(file_dir_count(&dir), 2);
	dat_close(d);
	file_dir_close(&dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_complete),   cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_unfinished), cmocka_unit_test(test_names),
		cmocka_unit_test(test_leftovers),  cmocka_unit_test(test_no_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
