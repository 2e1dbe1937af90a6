// SPDX-License-Identifier: GPL-2.0-or-later
/* The option that says who the tasks are: what it means, and files in which it is damaged. */
#include "write_fixture.h"

#define KEPT   "1 0\ns 7 7 1 0 sh\n"
#define A_LIFE "1 3\nc 7 7 1 300 true\ns 7 7 1 999 sh\nn 7 8 9 500 x y\nn 8 7 1 200 \n"

#define LARGE (4u << 20) /* more than a file has room for */

/* A file that is being written, with the option behind the usual ones. */
struct writing {
	struct dat_out_option options[ARRAY_SIZE(some_options) + 1];
	struct dat_contents c;
	struct dat_out *o;
};

static void set_tasks(struct writing *w, const char *text, size_t len)
{
	w->options[ARRAY_SIZE(some_options)] = (struct dat_out_option){DAT_OPT_TASKS, {text, len}};
}

static void begin(struct writing *w, const struct target *t, const char *text, size_t len)
{
	memcpy(w->options, some_options, sizeof(some_options));
	set_tasks(w, text, len);
	w->c = usual();
	w->c.options = w->options;
	w->c.nr_options = ARRAY_SIZE(w->options);
	w->o = create_full(t, &w->c);
}

/* Writes a file with the option and opens it. */
static struct dat *with_option(const struct target *t, const char *text, size_t len)
{
	struct writing w;

	begin(&w, t, text, len);
	assert_int_equal(dat_out_finish(w.o, &w.c, NULL), 0);
	return reopen();
}

/* One whose option has become larger than its room; the text is the caller's. */
static char *begin_and_grow(struct writing *w, const struct target *t)
{
	char *text = malloc(LARGE);

	assert_non_null(text);
	memset(text, '1', LARGE);
	begin(w, t, KEPT, strlen(KEPT));
	set_tasks(w, text, LARGE);
	return text;
}

static void check_task(const struct dat_task *t, enum dat_task_kind kind, uint64_t ts, int tgid,
		       int ppid, const char *name)
{
	assert_int_equal(t->kind, kind);
	assert_true(kind == DAT_TASK_THERE || t->ts == ts);
	assert_int_equal(t->tgid, tgid);
	assert_int_equal(t->ppid, ppid);
	assert_string_equal(t->name, name);
}

/* In all kinds of files; in the order of time, whatever that of the lines is. */
static void test_read(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
		struct dat *d = with_option(&targets[i], A_LIFE, strlen(A_LIFE));
		const struct dat_task *t;
		size_t n;

		check_all(d);
		assert_string_equal(d->damage.text, "");
		assert_int_equal(d->tasks_lost, 3);
		t = dat_task_find(d, 7, &n);
		assert_int_equal(n, 3);
		check_task(&t[0], DAT_TASK_THERE, 0, 7, 1, "sh");
		check_task(&t[1], DAT_TASK_CHANGED, 300, 7, 1, "true");
		check_task(&t[2], DAT_TASK_NEW, 500, 8, 9, "x y");
		t = dat_task_find(d, 8, &n);
		assert_int_equal(n, 1);
		check_task(t, DAT_TASK_NEW, 200, 7, 1, "");
		assert_null(dat_task_find(d, 9, &n));
		assert_int_equal(n, 0);
		assert_null(dat_task_find(d, -1, &n));
		dat_close(d);
	}
}

/* What makes no sense is said once; all the rest of the file is there, and what came before it. */
static void test_damaged(void **state)
{
#define CASE(text, entries)                                                                        \
	{                                                                                          \
		text, sizeof(text) - 1, entries                                                    \
	}
	static const struct {
		const char *text;
		size_t len;
		size_t entries;
	} cases[] = {
		CASE("", 0),
		CASE("1", 0),
		CASE("1 ", 0),
		CASE("1 0", 0),
		CASE("1 x\n", 0),
		CASE("x 0\n", 0),
		CASE("-1 0\n", 0),
		CASE("1 99999999999999999999\n", 0),
		CASE(KEPT "s", 1),
		CASE(KEPT "s 8", 1),
		CASE(KEPT "s 8 8 1 0", 1),
		CASE(KEPT "s 8 8 1 0 ", 1),
		CASE(KEPT "s 8 8 1 0 name", 1),
		CASE(KEPT "x 8 8 1 0 name\n", 1),
		CASE(KEPT "\0 8 8 1 0 name\n", 1),
		CASE(KEPT "s  8 8 1 0 name\n", 1),
		CASE(KEPT "s -8 8 1 0 name\n", 1),
		CASE(KEPT "s 0 8 1 0 name\n", 1),
		CASE(KEPT "s 2147483648 8 1 0 name\n", 1),
		CASE(KEPT "s 8 8 18446744073709551616 0 name\n", 1),
		CASE(KEPT "s 8 8 1 18446744073709551616 name\n", 1),
		CASE(KEPT "\n", 1),
		CASE(KEPT "\xff\xff\xff\xff", 1),
	};
#undef CASE

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct target *t = &targets[i % ARRAY_SIZE(targets)];
		struct dat *d = with_option(t, cases[i].text, cases[i].len);

		check_all(d);
		if (d->damage.code != -EBADMSG || !strstr(d->damage.text, "TASKS"))
			fail_msg("case %zu: %d %s", i, d->damage.code, d->damage.text);
		assert_int_equal(d->nr_tasks, cases[i].entries);
		dat_close(d);
	}
}

/* A later version may say anything, and is none of our business. */
static void test_later(void **state)
{
	static const char text[] = "2 what\never";
	struct dat *d = with_option(&targets[2], text, sizeof(text) - 1);

	assert_int_equal(d->nr_tasks, 0);
	assert_string_equal(d->damage.text, "");
	dat_close(d);
}

/* The largest numbers that make sense, and a name with a NUL in it. */
static void test_extremes(void **state)
{
	static const char text[] = "1 18446744073709551615\n"
				   "n 2147483647 2147483647 2147483647 18446744073709551615 a\0b\n"
				   "s 1 0 0 0  init \n";
	struct dat *d = with_option(&targets[2], text, sizeof(text) - 1);
	const struct dat_task *t;
	size_t n;

	assert_string_equal(d->damage.text, "");
	t = dat_task_find(d, INT32_MAX, &n);
	assert_int_equal(n, 1);
	check_task(t, DAT_TASK_NEW, UINT64_MAX, INT32_MAX, INT32_MAX, "a");
	t = dat_task_find(d, 1, &n);
	assert_int_equal(n, 1);
	check_task(t, DAT_TASK_THERE, 0, 0, 0, " init ");
	dat_close(d);
}

/* It grows beyond all room while the disk fills up: the file is finished without it. */
static void test_full_disk(void **state)
{
	static const struct target t = {7, "none", true};
	struct writing w;
	struct dat *d;
	char *text;

	skip_without_holes(&t);
	text = begin_and_grow(&w, &t);
	faults.full_at = 1u << 20;
	assert_int_equal(dat_out_finish(w.o, &w.c, NULL), 0);
	no_faults();
	d = reopen();
	check_all(d);
	assert_string_equal(d->damage.text, "");
	assert_int_equal(d->nr_tasks, 0);
	dat_close(d);
	free(text);
}

#define GROWN KEPT "n 8 8 7 100 ls\n"

/* What was learned meanwhile is in a file whose writer died, and stays when it is finished. */
static void check_update(const struct target *t, size_t times)
{
	static const char names[] = "7 sh\n8 ls\n";
	struct writing w;

	begin(&w, t, KEPT, strlen(KEPT));
	for (size_t i = 0; i < times; i++) {
		w.c.cmdlines = (struct dat_span){names, sizeof(names) - 1};
		set_tasks(&w, GROWN, strlen(GROWN));
		assert_int_equal(dat_out_update(w.o, &w.c), 0);
	}
	dat_out_abandon(w.o);
	check_unfinished();
	for (int finished = 0; finished < 2; finished++) {
		struct dat *d = reopen();
		size_t n;

		assert_int_equal(d->unfinished, !finished);
		check_all(d);
		assert_memory_equal(d->cmdlines.data, names, sizeof(names) - 1);
		assert_true(d->cmdlines.size == sizeof(names) - 1 || t->version == 6);
		assert_int_equal(dat_task_find(d, 8, &n) != NULL, t->version > 6);
		assert_non_null(dat_task_find(d, 7, &n));
		assert_int_equal(n, 1);
		dat_close(d);
		finish_file();
	}
	check_finished();
}

static void test_update(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(targets); i++)
		for (size_t times = 1; times < 3 && targets[i].sparse; times++)
			if (holes)
				check_update(&targets[i], times);
}

/* Its writer dies at any moment while it does that or finishes: the file opens nevertheless. */
static void test_update_struck(void **state)
{
	static const struct target t = {7, "none", true};
	struct dat_contents c = usual();

	skip_without_holes(&t);
	for (int finishing = 0; finishing < 2; finishing++)
		for (long step = 0; step < 16; step++) {
			struct dat_out *o = create_full(&t, &c);

			c.cmdlines = (struct dat_span){"7 sh\n", 5};
			if (finishing)
				assert_int_equal(dat_out_update(o, &c), 0);
			faults.fault = step % 2 ? TEAR : DIE;
			faults.left = step / 2;
			if (finishing) {
				dat_out_finish(o, &c, NULL);
			} else {
				dat_out_update(o, &c);
				dat_out_abandon(o);
			}
			no_faults();
			finish_file();
			check_finished();
			c = usual();
		}
}

/* More than there is room for: names without the rest, or nothing. */
static void test_update_large(void **state)
{
	static const struct target t = {7, "none", true};
	struct writing w;
	struct dat *d;
	char *text;

	skip_without_holes(&t);
	text = begin_and_grow(&w, &t);
	w.c.cmdlines = (struct dat_span){"7 sh\n", 5};
	assert_int_equal(dat_out_update(w.o, &w.c), 0);
	w.c.cmdlines = (struct dat_span){text, LARGE};
	assert_int_equal(dat_out_update(w.o, &w.c), -ENOSPC);
	dat_out_abandon(w.o);
	finish_file();
	d = reopen();
	check_all(d);
	assert_int_equal(d->cmdlines.size, 5);
	assert_int_equal(d->nr_tasks, 1);
	dat_close(d);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),	      cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_later),	      cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_full_disk),     cmocka_unit_test(test_update),
		cmocka_unit_test(test_update_struck), cmocka_unit_test(test_update_large),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
