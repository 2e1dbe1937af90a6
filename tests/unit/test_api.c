// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The public API: traces are written, opened, walked, filtered, tabulated and copied through
 * include/spur alone.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <spur/table.h>
#include <spur/trace.h>
#include <spur/writer.h>

#define NR 50

/* Where a test's files are. */
struct place {
	char folder[64];
	char one[96], two[96];
};

static int make_place(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	snprintf(p->folder, sizeof(p->folder), "/tmp/spur-api-XXXXXX");
	assert_non_null(mkdtemp(p->folder));
	snprintf(p->one, sizeof(p->one), "%s/one.dat", p->folder);
	snprintf(p->two, sizeof(p->two), "%s/two.dat", p->folder);
	*state = p;
	return 0;
}

static int remove_place(void **state)
{
	struct place *p = *state;

	unlink(p->one);
	unlink(p->two);
	assert_int_equal(rmdir(p->folder), 0);
	free(p);
	return 0;
}

static const struct spur_field_spec request_fields[] = {
	{"id", SPUR_FIELD_UNSIGNED, 8},
	{"status", SPUR_FIELD_SIGNED, 2},
	{"path", SPUR_FIELD_TEXT, 0},
};

/* NR requests, the last one first, 100 ns apart, on three CPUs. */
static void write_requests(const char *path, uint64_t start)
{
	struct spur_error err = {0};
	struct spur_writer *w;
	int request;

	assert_int_equal(spur_writer_open(path, &w, &err), 0);
	request = spur_writer_event(w, "server", "request", request_fields, 3);
	assert_true(request >= 0);
	assert_int_equal(spur_writer_comm(w, 17, "httpd"), 0);
	for (uint32_t i = NR; i-- > 0;) {
		char text[32];

		snprintf(text, sizeof(text), "/page/%u", i);
		spur_writer_begin(w, request, start + i * 100, i % 3, 17);
		spur_writer_number(w, 0, i);
		spur_writer_number(w, 1, i % 2 ? (uint64_t)-5 : 5);
		spur_writer_text(w, 2, text);
		assert_int_equal(spur_writer_end(w), 0);
	}
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(spur_writer_finish(w, &err), 0);
}

static struct spur_trace *open_trace(const char *path)
{
	struct spur_error err = {0};
	struct spur_trace *t;

	assert_int_equal(spur_trace_open(path, &t, &err), 0);
	return t;
}

static struct spur_cursor *open_cursor(struct spur_trace *t, const char *filter)
{
	struct spur_error err = {0};
	struct spur_cursor *c;

	assert_int_equal(spur_cursor_open(t, &c, &err), 0);
	if (filter)
		assert_int_equal(spur_cursor_filter(c, filter, &err), 0);
	return c;
}

static unsigned int count(struct spur_cursor *c)
{
	unsigned int n = 0;

	while (spur_cursor_next(c))
		n++;
	return n;
}

static void test_walk(void **state)
{
	const struct place *p = *state;
	struct spur_trace *t;
	struct spur_cursor *c;
	const struct spur_record *r;
	uint32_t i = 0;

	write_requests(p->one, 5000);
	t = open_trace(p->one);
	c = open_cursor(t, NULL);
	assert_null(spur_cursor_trace(c));
	while ((r = spur_cursor_next(c))) {
		char text[80];

		assert_int_equal(r->ts, 5000 + i * 100);
		assert_int_equal(r->cpu, i % 3);
		assert_int_equal(spur_record_pid(t, r), 17);
		assert_string_equal(spur_record_comm(c, r), "httpd");
		snprintf(text, sizeof(text), "id=%u status=%d path=/page/%u", i, i % 2 ? -5 : 5, i);
		assert_string_equal(spur_record_text(c, r), text);
		assert_ptr_equal(spur_cursor_trace(c), t);
		i++;
	}
	assert_int_equal(i, NR);
	spur_cursor_close(c);
	assert_int_equal(spur_trace_damage(t, NULL), 0);
	assert_string_equal(spur_trace_path(t), p->one);
	spur_trace_close(t);
}

static void test_fields(void **state)
{
	const struct place *p = *state;
	struct spur_trace *t;
	struct spur_cursor *c;
	struct spur_event *e;
	const struct spur_field *f;
	const struct spur_record *r;
	unsigned int n, own = 0;
	uint64_t value;
	size_t size;

	write_requests(p->one, 0);
	t = open_trace(p->one);
	e = spur_event_find(t, "server", "request");
	assert_non_null(e);
	assert_string_equal(spur_event_system(e), "server");
	assert_string_equal(spur_event_name(e), "request");
	n = spur_event_fields(e);
	assert_null(spur_event_field_at(e, n));
	for (unsigned int i = 0; i < n; i++) {
		f = spur_event_field_at(e, i);
		if (strncmp(spur_field_name(f), "common_", 7) == 0)
			continue;
		assert_string_equal(spur_field_name(f), request_fields[own].name);
		assert_int_equal(spur_field_type(f), request_fields[own].type);
		own++;
	}
	assert_int_equal(own, 3);
	assert_string_equal(spur_field_declaration(spur_event_field(e, "id")), "u64");
	assert_null(spur_event_field(e, "nothing"));

	c = open_cursor(t, "request: id == 3");
	r = spur_cursor_next(c);
	assert_non_null(r);
	assert_int_equal(spur_field_number(t, spur_event_field(e, "status"), r, &value), 0);
	assert_int_equal((int64_t)value, -5);
	assert_string_equal(spur_field_text(c, spur_event_field(e, "status"), r), "-5");
	assert_string_equal(spur_field_text(c, spur_event_field(e, "path"), r), "/page/3");
	assert_string_equal(spur_field_bytes(t, spur_event_field(e, "path"), r, &size), "/page/3");
	assert_int_equal(size, sizeof("/page/3"));
	spur_cursor_close(c);

	n = 0;
	while (spur_trace_event_at(t, n) && spur_trace_event_at(t, n) != e)
		n++;
	assert_in_range(n, 0, spur_trace_events(t) - 1);
	assert_null(spur_trace_event_at(t, spur_trace_events(t)));
	spur_trace_close(t);
}

static void test_choose(void **state)
{
	static const struct {
		const char *filter;
		uint64_t since, until;
		unsigned int n;
	} cases[] = {
		{NULL, 0, 0, NR},
		{"request", 0, 0, NR},
		{"server/request: status < 0", 0, 0, NR / 2},
		{"request: path == \"/page/7\"", 0, 0, 1},
		{"request: COMM == \"sh\"", 0, 0, 0},
		{NULL, 1500, 0, NR - 5},
		{NULL, 1500, 1700, 3},
		{"request: id == 6", 1500, 1700, 1},
		{NULL, 100000, 0, 0},
	};
	const struct place *p = *state;
	struct spur_error err = {0};
	struct spur_trace *t;
	struct spur_cursor *c;

	write_requests(p->one, 1000);
	t = open_trace(p->one);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		c = open_cursor(t, cases[i].filter);
		spur_cursor_until(c, cases[i].until);
		if (cases[i].since)
			spur_cursor_seek(c, cases[i].since);
		assert_int_equal(count(c), cases[i].n);
		/* Once more, from the start and from the end. */
		spur_cursor_seek(c, cases[i].since);
		assert_int_equal(count(c), cases[i].n);
		spur_cursor_close(c);
	}
	c = open_cursor(t, "request: id == 1");
	assert_int_equal(spur_cursor_filter(c, "request: id == 2", &err), 0);
	assert_int_equal(count(c), 2);
	assert_int_equal(spur_cursor_filter(c, "nothing", &err), -EINVAL);
	assert_int_equal(err.code, -EINVAL);
	assert_int_equal(spur_cursor_filter(c, "request: id ==", NULL), -EINVAL);
	spur_cursor_close(c);
	spur_trace_close(t);
}

static void test_several(void **state)
{
	const struct place *p = *state;
	const char *paths[] = {p->one, p->two};
	struct spur_error err = {0};
	struct spur_trace *t[2];
	struct spur_cursor *c;
	const struct spur_record *r;
	uint64_t last = 0;
	unsigned int of[2] = {0};

	write_requests(p->one, 1000);
	write_requests(p->two, 1050);
	assert_int_equal(spur_traces_open(paths, 2, t, &err), 0);
	assert_int_equal(spur_cursor_open_all(t, 2, &c, &err), 0);
	assert_int_equal(spur_cursor_filter(c, "request: status > 5 || status == 5", &err), 0);
	while ((r = spur_cursor_next(c))) {
		assert_true(r->ts >= last);
		last = r->ts;
		of[spur_cursor_trace(c) == t[1]]++;
		assert_string_equal(spur_record_comm(c, r), "httpd");
	}
	/* Numbers compare unsigned: all pass. */
	assert_int_equal(of[0], NR);
	assert_int_equal(of[1], NR);
	spur_cursor_close(c);
	spur_traces_close(t, 2);
	assert_null(t[1]);
	unlink(p->two);
	assert_int_equal(spur_traces_open(paths, 2, t, &err), -ENOENT);
	assert_null(t[0]);
}

/* ---- tables ---- */

static const struct spur_field_spec waking_fields[] = {
	{"comm", SPUR_FIELD_TEXT, 0},
	{"pid", SPUR_FIELD_SIGNED, 4},
	{"prio", SPUR_FIELD_SIGNED, 4},
	{"target_cpu", SPUR_FIELD_SIGNED, 4},
};

static const struct spur_field_spec switch_fields[] = {
	{"prev_comm", SPUR_FIELD_TEXT, 0},   {"prev_pid", SPUR_FIELD_SIGNED, 4},
	{"prev_prio", SPUR_FIELD_SIGNED, 4}, {"prev_state", SPUR_FIELD_SIGNED, 8},
	{"next_comm", SPUR_FIELD_TEXT, 0},   {"next_pid", SPUR_FIELD_SIGNED, 4},
	{"next_prio", SPUR_FIELD_SIGNED, 4},
};

/* Task 9 is woken at 1000 and runs 250 ns later. Task 8 is woken and never runs. */
static void write_wakeup(const char *path)
{
	struct spur_error err = {0};
	struct spur_writer *w;
	int waking, switched;

	assert_int_equal(spur_writer_open(path, &w, &err), 0);
	waking = spur_writer_event(w, "sched", "sched_waking", waking_fields, 4);
	switched = spur_writer_event(w, "sched", "sched_switch", switch_fields, 7);
	for (int pid = 9; pid >= 8; pid--) {
		spur_writer_begin(w, waking, 1000, 0, 3);
		spur_writer_text(w, 0, pid == 9 ? "nine" : "eight");
		spur_writer_number(w, 1, (uint64_t)pid);
		spur_writer_end(w);
	}
	spur_writer_begin(w, switched, 1250, 0, 3);
	spur_writer_text(w, 0, "three");
	spur_writer_number(w, 1, 3);
	spur_writer_text(w, 4, "nine");
	spur_writer_number(w, 5, 9);
	spur_writer_end(w);
	assert_int_equal(spur_writer_finish(w, &err), 0);
}

static void test_rows(void **state)
{
	const struct place *p = *state;
	const struct spur_table *table = spur_table_find("wakeups");
	const int latency = spur_table_column(table, "latency"),
		  pid = spur_table_column(table, "pid"), comm = spur_table_column(table, "comm"),
		  open = spur_table_column(table, "open");
	struct spur_error err = {0};
	struct spur_rows *rows;
	struct spur_trace *t;
	unsigned int n = 0;

	write_wakeup(p->one);
	t = open_trace(p->one);
	assert_int_equal(spur_table_possible(table, t), 1);
	assert_int_equal(spur_table_possible(spur_table_find("block"), t), 0);
	assert_int_equal(spur_rows_open(t, table, 0, 0, &rows, &err), 0);
	while (spur_rows_next(rows, &err) > 0) {
		int64_t value, who;

		assert_int_equal(spur_row_number(rows, pid, &who), 0);
		assert_int_equal(spur_row_number(rows, comm, &value), -EINVAL);
		assert_int_equal(spur_row_number(rows, 1000, &value), -EINVAL);
		assert_null(spur_row_text(rows, -1));
		assert_string_equal(spur_row_text(rows, comm), who == 9 ? "nine" : "eight");
		assert_int_equal(spur_row_number(rows, latency, &value), who == 9 ? 0 : -ENODATA);
		/* A column that is one of a few names is a text. */
		assert_int_equal(spur_row_number(rows, open, &value), -EINVAL);
		if (who == 9) {
			assert_string_equal(spur_row_text(rows, latency), "250");
			assert_null(spur_row_text(rows, open));
		} else {
			assert_null(spur_row_text(rows, latency));
			assert_string_equal(spur_row_text(rows, open), "end");
		}
		n++;
	}
	assert_int_equal(err.code, 0);
	assert_int_equal(n, 2);
	assert_int_equal(spur_row_number(rows, latency, &(int64_t){0}), -ENODATA);
	spur_rows_close(rows);
	assert_int_equal(spur_rows_open(t, table, 1001, 0, &rows, &err), 0);
	assert_int_equal(spur_rows_next(rows, &err), 0);
	spur_rows_close(rows);
	spur_trace_close(t);
}

static void test_tables(void **state)
{
	size_t n = 0;

	for (const struct spur_table *t; (t = spur_table_at(n)) != NULL; n++) {
		assert_ptr_equal(spur_table_find(spur_table_name(t)), t);
		assert_true(strlen(spur_table_about(t)) > 0);
		for (int i = 0; i < spur_table_columns(t); i++) {
			assert_int_equal(spur_table_column(t, spur_column_name(t, i)), i);
			assert_non_null(spur_column_about(t, i));
			assert_in_range(spur_column_type(t, i), 0, SPUR_COLUMN_TEXT);
		}
		assert_null(spur_column_name(t, spur_table_columns(t)));
		assert_int_equal(spur_column_type(t, 0), SPUR_COLUMN_TIME);
	}
	assert_in_range(n, 10, 100);
	assert_null(spur_table_at(n + 1));
	assert_null(spur_table_find("nothing"));
}

/* ---- writing ---- */

static void test_copy(void **state)
{
	const struct place *p = *state;
	struct spur_error err = {0};
	struct spur_trace *t;
	struct spur_cursor *c;
	const struct spur_record *r;
	struct spur_writer *w;
	int own;

	write_requests(p->one, 1000);
	t = open_trace(p->one);
	assert_int_equal(spur_writer_open(p->two, &w, &err), 0);
	/* It gets the number that the copied type has in its own file. */
	own = spur_writer_event(w, "mine", "mark", request_fields, 1);
	spur_writer_begin(w, own, 10, 0, 1);
	spur_writer_number(w, 0, 77);
	spur_writer_end(w);
	spur_writer_lost(w, 0, 20, 3);
	c = open_cursor(t, "request: id < 4");
	while ((r = spur_cursor_next(c)))
		assert_int_equal(spur_writer_copy(w, t, r), 0);
	spur_cursor_close(c);
	assert_int_equal(spur_writer_finish(w, &err), 0);
	spur_trace_close(t);

	t = open_trace(p->two);
	c = open_cursor(t, NULL);
	r = spur_cursor_next(c);
	assert_string_equal(spur_record_text(c, r), "id=77");
	r = spur_cursor_next(c);
	assert_int_equal(r->lost, 3);
	assert_string_equal(spur_record_comm(c, r), "httpd");
	assert_string_equal(spur_record_text(c, r), "id=0 status=5 path=/page/0");
	assert_int_equal(count(c), 3);
	spur_cursor_close(c);
	spur_trace_close(t);
}

static void test_refused(void **state)
{
	const struct place *p = *state;
	static const struct spur_field_spec wrong[] = {{"id", SPUR_FIELD_UNSIGNED, 3}};
	struct spur_error err = {0};
	struct spur_writer *w;
	int e;

	assert_int_equal(spur_writer_open(p->one, &w, &err), 0);
	assert_int_equal(spur_writer_event(w, "a", "b", wrong, 1), -EINVAL);
	assert_int_equal(spur_writer_begin(w, 0, 1, 0, 1), -EINVAL);
	assert_int_equal(spur_writer_finish(w, &err), -EINVAL);
	assert_non_null(strstr(err.text, "1, 2, 4 or 8 bytes"));

	err = (struct spur_error){0};
	assert_int_equal(spur_writer_open(p->one, &w, &err), 0);
	e = spur_writer_event(w, "server", "request", request_fields, 3);
	assert_int_equal(spur_writer_begin(w, e, 1, 0, 1), 0);
	assert_int_equal(spur_writer_text(w, 0, "x"), -EINVAL);
	assert_int_equal(spur_writer_end(w), -EINVAL);
	assert_int_equal(spur_writer_finish(w, &err), -EINVAL);
	assert_string_equal(err.text, "request: id is no text");

	err = (struct spur_error){0};
	assert_int_equal(spur_writer_open("/nowhere/at/all", &w, &err), 0);
	assert_true(spur_writer_finish(w, &err) < 0);
	spur_writer_discard(NULL);
	assert_int_equal(access(p->one, F_OK), -1);
	assert_true(strlen(spur_version()) >= 5);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, make_place, remove_place)
	const struct CMUnitTest tests[] = {
		CASE(test_walk), CASE(test_fields), CASE(test_choose), CASE(test_several),
		CASE(test_rows), CASE(test_tables), CASE(test_copy),   CASE(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
