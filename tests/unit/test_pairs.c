// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pairs of events from hand-made records: what a file cannot easily be made of. A case is what is
 * asked for, what happens, and the rows that must come out. The usual is in tests/tables and
 * tests/latency.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "table/selector.h"
#include "table/pairs.h"
#include "event_fixture.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define MAX_STEPS     6

static const struct {
	const char *name;
	const char *fields;
} events[] = {
	{"begin", "int id @8:4s, char name[8] @12:8s, u64 wide @24:8, u64 args[2] @32:16"},
	{"end", "s64 id @8:8s, char name[4] @16:4s, unsigned short wide @20:2"},
	{"text", "__data_loc char[] name @8:4, pid_t pid @12:4s"},
	{"far", "int id @60000:4s"},
};

struct fixture {
	struct spur_trace trace;
	struct dat dat;
	struct dat_buffer data;
	struct trace_buffer buffer;
	struct table_source source;
	struct pairs *pairs;
	const struct table *table;
	void *analysis;
	struct buf record, rows;
	int failed;
};

static void put_row(void *arg, const void *row)
{
	struct fixture *f = arg;

	/* The name of the task is not known, and that of the buffer is empty. */
	for (uint32_t i = 0; i + 1 < f->table->nr_columns; i++) {
		const struct column *c = &f->table->columns[i];
		const char *text = row_is_text(c) ? row_text(c, row) : NULL;

		if (strcmp(c->name, "comm") == 0)
			continue;
		if (row_is_text(c))
			buf_printf(&f->rows, "%s ", text ? text : "-");
		else if (row_number(c, row) == ROW_NULL)
			buf_puts(&f->rows, "- ");
		else
			buf_printf(&f->rows, "%lld ", (long long)row_number(c, row));
	}
	buf_putc(&f->rows, '\n');
}

static void open_trace(struct fixture *f, bool big_endian)
{
	*f = (struct fixture){0};
	f->trace.events = fixture_events(big_endian, 8);
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		fixture_add(f->trace.events, "test", events[i].name, (int)i + 1, events[i].fields,
			    "\"\"");
	assert_int_equal(events_seal(f->trace.events), 0);
	f->data.name = "";
	f->trace.dat = &f->dat;
	f->trace.buffers = &f->buffer;
	f->trace.nr_buffers = 1;
	f->buffer = (struct trace_buffer){.trace = &f->trace, .data = &f->data};
	buf_init(&f->record, 1 << 16);
	buf_init(&f->rows, 64 << 20);
}

static void begin(struct fixture *f, const struct pairs_options *opt)
{
	struct spur_error err = {0};

	f->pairs = pairs_new(&f->trace, opt, &err);
	if (!f->pairs)
		print_error("%s\n", err.text);
	assert_non_null(f->pairs);
	f->table = pairs_table(f->pairs);
	f->source = (struct table_source){.table = f->table,
					  .trace = &f->trace,
					  .buffer = &f->buffer,
					  .row = put_row,
					  .arg = f,
					  .failed = &f->failed};
	f->analysis = table_begin(f->table, &f->source);
	assert_non_null(f->analysis);
}

static void close_fixture(struct fixture *f)
{
	table_free(f->table, f->analysis);
	pairs_free(f->pairs);
	events_free(f->trace.events);
	buf_free(&f->record);
	buf_free(&f->rows);
}

static void give(struct fixture *f, const char *name, uint64_t ts, uint32_t cpu, const char *data)
{
	struct event *e = events_find(f->trace.events, "test", name);
	struct spur_record r;

	r = fixture_record(&f->record, e->id, data, f->trace.events->big_endian);
	r.ts = ts;
	r.cpu = cpu;
	f->table->record(f->analysis, e, &r);
}

/* ---- cases ---- */

struct step {
	const char *event; /* NULL: the end */
	uint64_t ts;
	const char *data; /* of "lost": nothing; events are lost until then, from now on */
};

#define BEGIN(id) "4:" #id " 'n':8 _4 8:7"
#define END(id)	  "8:" #id " 'n':4 2:7"

static const struct {
	const char *name;
	struct pairs_options opt;
	bool big_endian;
	struct step steps[MAX_STEPS];
	const char *rows; /* ts dur from_cpu to_cpu pid key open */
} cases[] = {
	{"numbers of different sizes are equal",
	 {.from = "begin", .to = "end", .match = "id"},
	 false,
	 {{"begin", 10, BEGIN(5)},
	  {"begin", 12, BEGIN(-1)},
	  {"end", 20, END(-1)},
	  {"end", 25, END(5)}},
	 "12 8 0 0 1234 -1 - \n10 15 0 0 1234 5 - \n"},
	{"in the other byte order",
	 {.from = "begin", .to = "end", .match = "id,wide"},
	 true,
	 {{"begin", 10, BEGIN(-5)}, {"end", 20, END(-5)}},
	 "10 10 0 0 1234 -5,7 - \n"},
	{"texts in arrays of different lengths, and elsewhere in the record",
	 {.from = "begin", .to = "text", .match = "name"},
	 false,
	 {{"begin", 10, "4:1 'abc':8"}, {"text", 20, "4:0x40010 4:1 'abc':4"}},
	 "10 10 0 0 1234 abc - \n"},
	{"a text that lies outside of the record is none",
	 {.from = "begin", .to = "text", .match = "name"},
	 false,
	 {{"begin", 10, "4:1 '':8"}, {"text", 20, "4:0x4ff10 4:1"}},
	 "10 10 0 - 1234  end \n"},
	{"records that do not have the field are left out",
	 {.from = "begin", .to = "far", .match = "id"},
	 false,
	 {{"begin", 10, BEGIN(0)}, {"far", 20, "4:0"}},
	 "10 10 0 - 1234 0 end \n"},
	{"a clock that goes backwards tells nothing",
	 {.from = "begin", .to = "end"},
	 false,
	 {{"begin", 10, BEGIN(1)}, {"end", 9, END(1)}},
	 "10 - 0 0 1234 - - \n"},
	{"an event with itself",
	 {.from = "begin", .match = "id"},
	 false,
	 {{"begin", 10, BEGIN(1)}, {"begin", 11, BEGIN(2)}, {"begin", 20, BEGIN(1)}},
	 "10 10 0 0 1234 1 - \n11 9 0 - 1234 2 end \n20 0 0 - 1234 1 end \n"},
	{"globs mean several events",
	 {.from = "test:b*", .to = "*n?", .match = "id"},
	 false,
	 {{"begin", 10, BEGIN(1)}, {"end", 15, END(1)}},
	 "10 5 0 0 1234 1 - \n"},
	{"what is lost meanwhile may have been the end",
	 {.from = "begin", .to = "end", .match = "id"},
	 false,
	 {{"begin", 10, BEGIN(1)},
	  {"lost", 20, NULL},
	  {"begin", 15, BEGIN(2)},
	  {"begin", 20, BEGIN(3)},
	  {"end", 25, END(1)},
	  {"end", 26, END(3)}},
	 "10 - 0 0 1234 1 - \n20 6 0 0 1234 3 - \n15 - 0 - 1234 2 - \n"},
};

static void test_cases(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct fixture f;
		uint64_t last = 0;

		open_trace(&f, cases[i].big_endian);
		begin(&f, &cases[i].opt);
		for (size_t k = 0; k < MAX_STEPS && cases[i].steps[k].event; k++) {
			const struct step *s = &cases[i].steps[k];

			if (s->data)
				give(&f, s->event, s->ts, 0, s->data);
			else
				f.table->losing(f.analysis, 1, last, s->ts);
			last = s->data && s->ts > last ? s->ts : last;
		}
		f.table->end(f.analysis, last);
		if (strcmp(buf_str(&f.rows), cases[i].rows) != 0)
			print_error("%s:\n%sinstead of\n%s", cases[i].name, buf_str(&f.rows),
				    cases[i].rows);
		assert_string_equal(buf_str(&f.rows), cases[i].rows);
		assert_int_equal(f.failed, 0);
		close_fixture(&f);
	}
}

static const struct {
	struct pairs_options opt;
	int code;
	const char *words;
} wrong[] = {
	{{.from = "bgin", .to = "end"}, -ENOENT, "did you mean 'begin'?"},
	{{.from = "test:", .to = "end"}, -ENOENT, "no event 'test:'"},
	{{.from = "", .to = "end"}, -EINVAL, "[system:]name"},
	{{.from = "begin/id==1", .to = "end"}, -EINVAL, "ends with a slash"},
	{{.from = "begin/", .to = "end"}, -EINVAL, "ends with a slash"},
	{{.from = "begin/nosuch==1/", .to = "end"}, -EINVAL, "nosuch"},
	{{.from = "begin/id==/", .to = "end"}, -EINVAL, "'id==', column"},
	{{.from = "begin", .to = "end", .match = "idd"}, -ENOENT, "did you mean 'id'?"},
	{{.from = "begin", .to = "end", .match = "id="}, -EINVAL, "FROMFIELD=TOFIELD"},
	{{.from = "begin", .to = "end", .match = ","}, -EINVAL, "FROMFIELD=TOFIELD"},
	{{.from = "begin", .to = "end", .match = "args=id"}, -EINVAL, "neither a number nor text"},
	{{.from = "begin", .to = "end", .match = "name=id"}, -EINVAL, "cannot be matched"},
	{{.from = "begin", .to = "*", .match = "name"}, -ENOENT, "no field 'name'"},
	{{.from = "begin", .to = "end", .match = "id,id,id,id,id,id,id,id,id"},
	 -EINVAL,
	 "no more than 8"},
};

static void test_wrong(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct spur_error err = {0};
		struct fixture f;

		open_trace(&f, false);
		f.pairs = pairs_new(&f.trace, &wrong[i].opt, &err);
		if (f.pairs)
			print_error("%zu is taken\n", i);
		assert_null(f.pairs);
		if (!strstr(err.text, wrong[i].words) || err.code != wrong[i].code)
			print_error("%zu: %d: %s\n", i, err.code, err.text);
		assert_non_null(strstr(err.text, wrong[i].words));
		assert_int_equal(err.code, wrong[i].code);
		close_fixture(&f);
	}
}

/* Beginnings without an end take no more than so much memory: the oldest is forgotten. */
static void test_many(void **state)
{
	const struct pairs_options opt = {.from = "begin", .to = "end", .match = "id"};
	const unsigned int many = (1u << 17) + 10;
	struct fixture f;
	char data[64];

	open_trace(&f, false);
	begin(&f, &opt);
	for (unsigned int i = 0; i < many; i++) {
		snprintf(data, sizeof(data), "4:%u", i);
		give(&f, "begin", 10 + i, 0, data);
	}
	assert_true(pairs_forgotten(f.pairs) == 10);
	give(&f, "end", 1 << 30, 0, "8:9");
	assert_int_equal(f.rows.len, 0);
	give(&f, "end", 1 << 30, 0, "8:10");
	assert_true(f.rows.len > 0);
	assert_true(f.table->pending(f.analysis, 21));
	assert_false(f.table->pending(f.analysis, 20));
	close_fixture(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
