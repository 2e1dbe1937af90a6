// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Saving the recording of a killed recorder, with a directory that stands for tracefs: which file
 * gets what was left in the kernel. An event is in the file already, another one in the kernel.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "fake_tracefs.h"
#include "file_dir.h"
#include "out_file.h"
#include "record/rescue.h"

#define OTHER	  "of somebody else"
#define PAGE_SIZE 4096u

/* What is at the path of the recording, or of the flight, when it is saved. */
enum there {
	NOTHING,
	UNFINISHED,
	FINISHED,
	OVERWRITTEN,
	REPLACED, /* the recording has only its temporary name */
};

static const struct rescue_case {
	const char *about;
	enum there there;
	const char *name;		/* of the file */
	const char *wanted;		/* where the event is found that was in the kernel */
	bool flight, guardian, drained; /* drained: there is nothing in the kernel */
	uint64_t soft, hard;		/* limit of the size of files; 0: none */
} cases[] = {
	{"the file", UNFINISHED, "t.dat", "t.dat"},
	{"a line end in its name", UNFINISHED, "a\nb\\n.dat", "a\nb\\n.dat"},
	{"a finished file", FINISHED, "t.dat", "t.dat.saved"},
	{"a finished file, guardian", FINISHED, "t.dat", "t.dat.saved", .guardian = true},
	{"an overwritten file", OVERWRITTEN, "t.dat", "t.dat.saved"},
	{"an overwritten file, guardian", OVERWRITTEN, "t.dat", "t.dat.saved", .guardian = true},
	{"an overwritten file, no events", OVERWRITTEN, "t.dat", "", .drained = true},
	{"a finished file, no events", FINISHED, "t.dat", "", .drained = true},
	{"a flight, no events", NOTHING, "t.dat", "", .flight = true, .drained = true},
	{"a file without a name", REPLACED, "t.dat", "t.dat.saved"},
	{"a file without a name, guardian", REPLACED, "t.dat", "t.dat", .guardian = true},
	{"a flight", NOTHING, "t.dat", "t.dat", .flight = true},
	{"a flight, line end", NOTHING, "a\nb", "a\nb", .flight = true},
	{"a flight whose name is used", OVERWRITTEN, "t.dat", "t.dat.saved", .flight = true},
	{"a flight, guardian", OVERWRITTEN, "t.dat", "t.dat", .flight = true, .guardian = true},
	{"a flight without its folder", NOTHING, "no/t.dat", "t.dat.saved", .flight = true},
	{"a large limit", UNFINISHED, "t.dat", "t.dat", .soft = 1ull << 36, .hard = 1ull << 36},
	{"a small soft limit", UNFINISHED, "t.dat", "t.dat", .soft = 1ull << 16},
	{"a small limit, a new file", FINISHED, "t.dat", NULL, .soft = 1ull << 16,
	 .hard = 1ull << 16},
	{"a small limit", UNFINISHED, "t.dat", NULL, .soft = 1ull << 16, .hard = 1ull << 16},
};

static void make_page(uint8_t *page, uint64_t ts)
{
	const uint64_t commit = 8;
	const uint32_t event = 1; /* four bytes of data, at the time of the page */

	memset(page, 0, PAGE_SIZE);
	memcpy(page, &ts, 8);
	memcpy(page + 8, &commit, 8);
	memcpy(page + 16, &event, 4);
}

static void fake_kernel(struct tracefs *fs)
{
	static const char *const files[][2] = {
		{"events/header_page", "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				       "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				       "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n"},
		{"events/header_event", "x\n"},
		{"events/enable", "0\n"},
		{"events/ftrace/function/format", "name: function\nID: 1\nformat:\n"},
		{"available_events", ""},
		{"printk_formats", ""},
		{"saved_cmdlines", ""},
		{"saved_cmdlines_size", "128\n"},
		{"current_tracer", "nop\n"},
		{"trace_clock", "[local] global\n"},
		{"per_cpu/cpu0/stats", ""},
		{"instances/i/trace", ""},
		{"instances/i/tracing_on", "1\n"},
		{"instances/i/current_tracer", "nop\n"},
		{"instances/i/trace_clock", "[local] global\n"},
		{"instances/i/buffer_total_size_kb", "1408\n"},
		{"instances/i/per_cpu/cpu0/stats", "entries: 1\noverrun: 0\nread events: 1\n"},
	};
	uint8_t page[PAGE_SIZE];
	char path[600];
	FILE *f;

	fake_tracefs(fs);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		fake_file(fs, files[i][0], files[i][1]);
	snprintf(path, sizeof(path), "%s/instances/i/per_cpu/cpu0/trace_pipe_raw", fs->path);
	f = fopen(path, "w");
	assert_non_null(f);
	make_page(page, 2000);
	assert_int_equal(fwrite(page, sizeof(page), 1, f), 1);
	fclose(f);
}

/* A file with an event, as a recorder leaves it. */
static void make_recording(const char *path, bool finished)
{
	static const uint32_t cpus[] = {0};
	static const struct dat_out_buffer buffer = {
		.name = "", .clock = "local", .page_size = PAGE_SIZE, .cpus = cpus, .nr_cpus = 1};
	const struct dat_contents c = {
		.long_size = 8,
		.page_size = PAGE_SIZE,
		.nr_cpus = 1,
		.header_page = {"page", 4},
		.header_event = {"event", 5},
		.buffers = &buffer,
		.nr_buffers = 1,
	};
	const struct dat_out_options opt = {.sparse = true};
	struct spur_error err = {0};
	uint8_t page[PAGE_SIZE];
	struct dat_out *out;

	if (create_file(path, &opt, &c, &out, &err) < 0)
		fail_msg("%s", err.text);
	make_page(page, 1000);
	assert_int_equal(dat_out_pages(out, 0, 0, page, 1), 0);
	if (finished)
		assert_int_equal(dat_out_finish(out, &c, NULL), 0);
	else
		dat_out_abandon(out);
}

static void note_file(struct rescue_file *f, const char *path, const char *now)
{
	struct stat st;

	assert_int_equal(stat(now, &st), 0);
	snprintf(f->path, sizeof(f->path), "%s", path);
	f->dev = (uint64_t)st.st_dev;
	f->ino = (uint64_t)st.st_ino;
	f->base = calloc(1, sizeof(*f->base));
	f->nr_base = 1;
}

static void put_other(const char *path)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(OTHER, f);
	fclose(f);
}

/* Makes what is there, and the note. */
static void prepare(struct file_dir *dir, const struct rescue_case *c, struct buf *text)
{
	struct rescue_note *n = calloc(1, sizeof(*n));
	const char *instances[] = {"i"};
	char path[FILE_PATH], temp[FILE_PATH];

	snprintf(path, sizeof(path), "%s", file_in(dir, c->name));
	snprintf(temp, sizeof(temp), "%s", file_in(dir, ".temp"));
	*n = (struct rescue_note){.data = "trace_pipe_raw", .version = 7, .compression = "none"};
	n->streams.at = instances;
	n->streams.n = 1;
	if (c->flight)
		n->flight = path;
	if (c->there != NOTHING && !c->flight) {
		const char *at = c->there == REPLACED ? temp : path;

		make_recording(at, c->there == FINISHED);
		note_file(&n->file, path, at);
	}
	if (c->there == REPLACED)
		snprintf(n->temp, sizeof(n->temp), "%s", temp);
	if (c->there == REPLACED || c->there == OVERWRITTEN)
		put_other(path);
	rescue_note_put(n, text);
	free(n->file.base);
	free(n);
}

static unsigned int count_events(const char *path)
{
	struct tally t = {0};
	struct dat *d;

	assert_int_equal(dat_open(path, NULL, &d, NULL), 0);
	assert_int_equal(tally_file(&t, d, 0, 0), 0);
	dat_close(d);
	return (unsigned int)t.events;
}

static void check_case(const struct rescue_case *c)
{
	const bool is_recording = c->there == UNFINISHED || c->there == REPLACED;
	struct rescue_result res = {0};
	struct file_dir dir;
	struct tracefs fs;
	struct rescue *r;
	struct buf note;
	char other[64] = "";
	FILE *f;

	buf_init(&note, 1u << 20);
	fake_kernel(&fs);
	file_dir_open(&dir);
	if (c->drained)
		fake_file(&fs, "instances/i/per_cpu/cpu0/stats",
			  "entries: 0\noverrun: 0\nread events: 2\n");
	if (c->hard)
		setrlimit(RLIMIT_FSIZE, &(struct rlimit){1ull << 36, 1ull << 36});
	prepare(&dir, c, &note);
	if (c->soft)
		setrlimit(RLIMIT_FSIZE,
			  &(struct rlimit){c->soft, c->hard ? c->hard : RLIM_INFINITY});
	r = c->guardian ? rescue_before(&fs, buf_str(&note)) : rescue_begin(&fs, buf_str(&note));
	assert_non_null(r);
	assert_int_equal(rescue_failed(r), !c->wanted);
	rescue_end(r, &res);
	if (c->wanted)
		assert_string_equal(res.err.text, "");
	if (c->wanted && *c->wanted) {
		assert_string_equal(res.path, file_in(&dir, c->wanted));
		assert_int_equal(res.events, 1);
		assert_int_equal(count_events(res.path), is_recording ? 2 : 1);
	} else if (c->wanted) {
		assert_string_equal(res.path, "");
	}
	/* Nothing but the file that was there, and what is wanted. */
	assert_int_equal(file_dir_count(&dir),
			 (c->there != NOTHING) +
				 (c->wanted && *c->wanted &&
				  (c->there == NOTHING || strcmp(c->name, c->wanted) != 0)));
	/* What was there and is not the recording has not been changed. */
	if (c->wanted && strcmp(c->name, c->wanted) != 0 &&
	    (c->there == OVERWRITTEN || c->there == REPLACED)) {
		f = fopen(file_in(&dir, c->name), "r");
		assert_non_null(f);
		assert_non_null(fgets(other, sizeof(other), f));
		fclose(f);
		assert_string_equal(other, OTHER);
	}
	if (c->there == FINISHED)
		assert_int_equal(count_events(file_in(&dir, c->name)), 1);
	buf_free(&note);
	file_dir_close(&dir);
	fake_end(&fs);
}

/* Each in a process of its own: limits cannot be raised again. */
static void test_cases(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		pid_t child = fork();
		int status;

		if (!child) {
			signal(SIGXFSZ, SIG_IGN);
			check_case(&cases[i]);
			_exit(0);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		if (status)
			fail_msg("%s", cases[i].about);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
