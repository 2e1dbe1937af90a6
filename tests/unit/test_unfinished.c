// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Unfinished trace.dat files: left by their writer, by one that died or failed at every single step
 * of finishing them, on a full disk, and with lies in them.
 */
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "base/scoped.h"
#include "write_fixture.h"

static void test_unfinished(void **state)
{
	const struct dat_contents c = usual();

	for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
		if (targets[i].sparse && !holes)
			continue;
		dat_out_abandon(create_full(&targets[i], &c));
		check_unfinished();
		finish_file();
		check_finished();
		finish_file();
		check_finished();
	}
}

/* ---- dying and failing ----------------------------------------------------------------- */

/* The data of a file that a writer left at some step, before and after it has been finished. */
static uint64_t check_left(void)
{
	struct dat *d = reopen();

	check_all(d);
	dat_close(d);
	finish_file();
	return check_whole();
}

/* How holes are taken out, by what the file system can do and how full it is. */
enum way { COLLAPSE, MOVE, MOVE_PIECES, NR_WAYS };

static void choose_way(enum way way)
{
	faults.no_collapse = way != COLLAPSE;
	faults.no_punch = way == MOVE_PIECES;
	faults.most_copy = way == MOVE_PIECES ? PAGE : 0;
}

/* Finishes a file, or what somebody else left of one; false when that ends before the step. */
static bool finish_struck(struct dat_out *o, enum fault fault, long step, enum way way)
{
	const struct dat_contents c = usual();
	bool struck;

	faults.fault = fault;
	faults.left = step;
	choose_way(way);
	if (o)
		dat_out_finish(o, &c, NULL);
	else
		dat_finish_file(path, NULL);
	struck = faults.left < 0;
	no_faults();
	return struck;
}

/* Pages of a file made from another one may wait in memory. */
static bool can_strike(const struct target *t)
{
	return t->sparse ? holes : strcmp(t->codec, "none") == 0;
}

static void strike_all(enum fault fault)
{
	const struct dat_contents c = usual();

	for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
		long steps = 0;

		if (!can_strike(&targets[i]))
			continue;
		for (enum way way = 0; way < (targets[i].sparse ? NR_WAYS : 1); way++)
			for (long step = 0;
			     finish_struck(create_full(&targets[i], &c), fault, step, way);
			     step++) {
				uint64_t size = check_left();

				/* A hole that could not be taken out may have stayed. */
				assert_true(size < 1 << 20 || fault == FAIL);
				steps++;
			}
		assert_true(steps > 5);
		check_finished();
	}
}

static void test_died(void **state)
{
	strike_all(DIE);
}

static void test_torn(void **state)
{
	strike_all(TEAR);
}

/* A call that fails once: the file is finished all the same, or remains what it was. */
static void test_failed(void **state)
{
	strike_all(FAIL);
}

/* Finishing what a dead writer left may be interrupted too. */
static void test_died_twice(void **state)
{
	const struct dat_contents c = usual();

	for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
		if (!can_strike(&targets[i]))
			continue;
		for (enum way way = 0; way < (targets[i].sparse ? NR_WAYS : 1); way++)
			for (long step = 0;; step++) {
				dat_out_abandon(create_full(&targets[i], &c));
				if (!finish_struck(NULL, DIE, step, way))
					break;
				assert_true(check_left() < 1 << 20);
			}
		check_finished();
	}
}

/* The same with a real end. */
static void test_killed(void **state)
{
	const struct target t = {7, "zstd", true};
	const struct dat_contents c = usual();

	skip_without_holes(&t);
	for (long step = 0; step < 20; step += 5) {
		pid_t child = fork();
		int status;

		if (!child) {
			finish_struck(create_full(&t, &c), KILL, step, COLLAPSE);
			_exit(0);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSIGNALED(status));
		assert_true(check_left() < 1 << 20);
	}
}

/* The disk is full in the middle of a page: only whole ones count. */
static void test_half_a_page(void **state)
{
	const struct target t = {7, "none", true};
	const struct dat_contents c = usual();
	uint64_t room, place;
	struct dat_out *o;
	struct dat *d;

	skip_without_holes(&t);
	for (int finish = 0; finish < 2; finish++) {
		o = create(&t, &c);
		place = dat_out_place(o, 1, 0, &room);
		faults.full_at = place + 5 * PAGE + 1000;
		assert_int_equal(put_pages(o, 1, 0, 100), -ENOSPC);
		assert_int_equal(dat_out_place(o, 1, 0, &room), place + 5 * PAGE);
		no_faults();
		if (finish)
			assert_int_equal(dat_out_finish(o, &c, NULL), 0);
		else
			dat_out_abandon(o);
		d = reopen();
		check_cpu(d, 1, 0, 5);
		dat_close(d);
	}
}

/* ---- file systems ---------------------------------------------------------------------- */

/* Without holes the data wait in other files. */
static void test_spill(void **state)
{
	const struct dat_contents c = usual();

	for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
		struct dat_out *o;
		uint64_t room;

		if (!targets[i].sparse)
			continue;
		faults.longest = 64 << 20;
		o = create_full(&targets[i], &c);
		assert_int_equal(dat_out_place(o, 0, 0, &room), 0);
		assert_int_equal(room, 0);
		assert_int_equal(dat_out_finish(o, &c, NULL), 0);
		no_faults();
		check_finished();
	}
}

/* Fills two CPUs until the disk is full; how many pages each got. */
static void fill_disk(struct dat_out *o, uint32_t *pages)
{
	uint8_t page[PAGE];
	int rc[2] = {0, 0};

	pages[0] = pages[1] = 0;
	while (!rc[0] || !rc[1])
		for (uint32_t cpu = 0; cpu < 2; cpu++) {
			if (rc[cpu])
				continue;
			make_page(page, 0, cpu, pages[cpu]);
			rc[cpu] = dat_out_pages(o, 0, cpu, page, 1);
			pages[cpu] += !rc[cpu];
		}
	assert_int_equal(rc[0], -ENOSPC);
	assert_int_equal(rc[1], -ENOSPC);
}

static void record_until_full(const struct target *t)
{
	struct dat_contents c = usual();
	struct spur_error err = {0};
	struct dat_out *o = create(t, &c);
	struct buf names;
	uint32_t pages[2];
	struct dat *d;

	fill_names(&names, 100);
	c.cmdlines = (struct dat_span){names.data, names.len};
	fill_disk(o, pages);
	assert_true(pages[0] > 50 && pages[1] > 50);
	if (dat_out_finish(o, &c, &err))
		fail_msg("%s", err.text);
	d = reopen();
	check_cpu(d, 0, 0, pages[0]);
	check_cpu(d, 0, 1, pages[1]);
	assert_int_equal(d->damage.code, 0);
	/* No hole has stayed: the file is as long as its data, and some for the rest. */
	assert_true(d->file_size < (uint64_t)(pages[0] + pages[1]) * PAGE + (256 << 10));
	assert_true(d->cmdlines.size >= names.len);
	dat_close(d);
	unlink(path);
	buf_free(&names);
}

static bool make_small(const char *type, const char *mountpoint)
{
	char command[400];

	if (strcmp(type, "tmpfs") == 0)
		return mount("spur", mountpoint, "tmpfs", 0, "size=4m") == 0;
	snprintf(command, sizeof(command),
		 "exec >/dev/null 2>&1; PATH=$PATH:/sbin:/usr/sbin; truncate -s 16M %s/image && "
		 "mkfs.%s -q %s/image && mount -o loop %s/image %s",
		 directory, type, directory, directory, mountpoint);
	return system(command) == 0;
}

/* In a child, whose mounts go with it. */
static void run_on_small(const char *type)
{
	char mountpoint[80];

	snprintf(mountpoint, sizeof(mountpoint), "%s/small", directory);
	mkdir(mountpoint, 0755);
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    !make_small(type, mountpoint))
		_exit(77);
	snprintf(path, sizeof(path), "%s/f.dat", mountpoint);
	for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
		if (!targets[i].sparse)
			continue;
		record_until_full(&targets[i]);
		/* The same without holes. */
		faults.longest = 64 << 20;
		record_until_full(&targets[i]);
		no_faults();
	}
	umount(mountpoint);
	_exit(0);
}

static void check_full_disk(const char *type)
{
	char image[100];
	pid_t child;
	int status;

	if (geteuid() != 0 || !holes)
		skip();
	child = fork();
	if (!child)
		run_on_small(type);
	assert_int_equal(waitpid(child, &status, 0), child);
	snprintf(image, sizeof(image), "%s/image", directory);
	unlink(image);
	snprintf(image, sizeof(image), "%s/small", directory);
	rmdir(image);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_full_tmpfs(void **state)
{
	check_full_disk("tmpfs");
}

static void test_full_ext4(void **state)
{
	check_full_disk("ext4");
}

/* ---- other processes that write to the file -------------------------------------------- */

/* What is left of a file: so many bytes, or a text that was written over it from its begin on. */
static const struct {
	enum left { LEFT_ALL, LEFT_NOTHING, LEFT_HEAD, LEFT_META, LEFT_HALF_A_PAGE } left;
	bool text;
} overwritten[] = {
	{LEFT_ALL, false},  {LEFT_NOTHING, false},     {LEFT_NOTHING, true}, {LEFT_HEAD, false},
	{LEFT_META, false}, {LEFT_HALF_A_PAGE, false}, {LEFT_ALL, true},
};

static void overwrite_with(const struct dat_out *o, enum left left, bool text)
{
	uint64_t room, last = dat_out_place(o, 1, 0, &room), size = 0;

	if (left == LEFT_HEAD)
		size = 100;
	if (left == LEFT_META)
		size = dat_out_place(o, 0, 1, &room);
	if (left == LEFT_HALF_A_PAGE)
		size = last - PAGE + 10;
	if (left != LEFT_ALL)
		assert_int_equal(truncate(path, (off_t)size), 0);
	if (text) {
		scoped_fd fd = open(path, O_WRONLY | O_CLOEXEC);

		for (int i = 0; i < 1000; i++)
			assert_int_equal(write(fd, "of somebody else\n", 17), 17);
	}
}

static void test_overwritten(void **state)
{
	const struct dat_contents c = usual();

	for (size_t i = 0; i < ARRAY_SIZE(targets); i++)
		for (size_t k = 0; k < ARRAY_SIZE(overwritten); k++) {
			const bool intact = overwritten[k].left == LEFT_ALL && !overwritten[k].text;
			struct dat_out *o;

			if (!targets[i].sparse || !holes ||
			    (targets[i].version == 7 && strcmp(targets[i].codec, "none") != 0 &&
			     overwritten[k].left > LEFT_HEAD))
				continue;
			o = create(&targets[i], &c);
			assert_true(dat_out_is_whole(o));
			dat_out_abandon(o);
			o = create_full(&targets[i], &c);
			overwrite_with(o, overwritten[k].left, overwritten[k].text);
			assert_int_equal(dat_out_is_whole(o), intact);
			dat_out_abandon(o);
		}
}

/* ---- lies ------------------------------------------------------------------------------ */

static void overwrite(uint64_t offset, const void *data, size_t n)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	assert_int_equal(pwrite(fd, data, n, (off_t)offset), n);
	close(fd);
}

/* Every byte of DAT_OPT_REGIONS with other values in it: opened, walked over, finished. */
static void lie_about(const struct target *t, const struct dat_option *option, size_t i,
		      uint8_t value)
{
	const struct dat_contents c = usual();
	struct dat_pages *pages;
	struct dat_page page;
	struct dat *d;

	dat_out_abandon(create_full(t, &c));
	overwrite(option->data.offset + i, &value, 1);
	d = reopen();
	for (size_t b = 0; b < d->nr_buffers; b++)
		for (uint32_t k = 0; k < d->buffers[b].nr_cpus; k++) {
			if (dat_pages_open(d, &d->buffers[b], &d->buffers[b].cpus[k], &pages))
				continue;
			for (uint64_t n = 0; n < 40 && dat_pages_get(pages, n, &page); n++)
				;
			dat_pages_close(pages);
		}
	dat_close(d);
	dat_finish_file(path, NULL);
	truncate(path, 0);
}

static void test_lies(void **state)
{
	static const uint8_t values[] = {0, 1, 0x7f, 0xff};
	static const size_t which[] = {1, 2, 3, 7}; /* of the targets */
	char usual_path[sizeof(path)];

	/* Thousands of files; where there is no disk behind them this takes a second. */
	memcpy(usual_path, path, sizeof(path));
	if (access("/dev/shm", W_OK) == 0)
		snprintf(path, sizeof(path), "/dev/shm/spur-%d.dat", (int)getpid());
	for (size_t n = 0; n < ARRAY_SIZE(which); n++) {
		const size_t i = which[n];
		const struct dat_contents c = usual();
		const struct dat_option *option;
		struct dat *d;

		if (targets[i].sparse && !holes)
			continue;
		dat_out_abandon(create_full(&targets[i], &c));
		d = reopen();
		option = dat_option_find(d, DAT_OPT_REGIONS);
		assert_non_null(option);
		for (size_t at = 0; at < 200 && at < option->data.size; at++)
			for (size_t k = 0; k < ARRAY_SIZE(values); k++)
				lie_about(&targets[i], option, at, values[k]);
		dat_close(d);
	}
	unlink(path);
	memcpy(path, usual_path, sizeof(path));
}

/* Who writes a file has it for himself. */
static void test_locked(void **state)
{
	const struct target t = {7, "none", false};
	const struct dat_contents c = usual();
	struct dat_out *o = create(&t, &c);
	pid_t child = fork();
	int status;

	if (!child) {
		struct spur_error err = {0};
		int rc = dat_finish_file(path, &err);

		_exit(rc == -EBUSY && strstr(err.text, "is being written by process") ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	dat_out_abandon(o);
	finish_file();
}

/* ---- all of it ------------------------------------------------------------------------- */

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unfinished),  cmocka_unit_test(test_died),
		cmocka_unit_test(test_torn),	    cmocka_unit_test(test_failed),
		cmocka_unit_test(test_died_twice),  cmocka_unit_test(test_killed),
		cmocka_unit_test(test_half_a_page), cmocka_unit_test(test_spill),
		cmocka_unit_test(test_full_tmpfs),  cmocka_unit_test(test_full_ext4),
		cmocka_unit_test(test_lies),	    cmocka_unit_test(test_locked),
		cmocka_unit_test(test_overwritten),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
