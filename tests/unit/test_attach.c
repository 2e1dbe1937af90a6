// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Attaching a guest to its host. The host is a trace with kvm_entry and other events in it; what it
 * tells of the guest's CPUs is a row in `searches`.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/vec.h"
#include "dat/write.h"
#include "file_dir.h"
#include "out_file.h"
#include "scan/vcpus.h"

#define ENTRY_ID 77
#define OTHER_ID 78

#define COMMON                                                                                     \
	"format:\n"                                                                                \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"                               \
	"\tfield:unsigned int vcpu_id;\toffset:8;\tsize:4;\tsigned:0;\n\n"                         \
	"print fmt: \"vcpu %u\", REC->vcpu_id\n"

/* What happened on the host, in this order. */
static const struct {
	uint16_t id;
	int32_t pid;
	uint32_t vcpu;
} happened[] = {
	{OTHER_ID, 10, 9},  {ENTRY_ID, 101, 1}, {ENTRY_ID, 100, 0}, {ENTRY_ID, 101, 1},
	{ENTRY_ID, 200, 0}, {OTHER_ID, 300, 5}, {ENTRY_ID, 103, 3},
};
#define NR_HAPPENED (sizeof(happened) / sizeof(happened[0]))

static const struct dat_content content = {
	.nr_cpus = 2, .cpus = {0, 1}, .pages = {2, 1}, .chunk_pages = 2};

static void put_page(struct dat_file *f, struct buf *b)
{
	size_t start = b->len;

	file_put(f, b, 1000, 8);
	file_put(f, b, NR_HAPPENED * 16, f->kind.long_size);
	for (size_t i = 0; i < NR_HAPPENED; i++) {
		file_put(f, b, f->kind.big_endian ? 3u << 27 | 1 : 1 << 5 | 3, 4);
		file_put(f, b, happened[i].id, 2);
		file_put(f, b, 0, 2);
		file_put(f, b, (uint32_t)happened[i].pid, 4);
		file_put(f, b, happened[i].vcpu, 4);
	}
	buf_fill(b, 0, FILE_PAGE - (b->len - start));
}

/* A host's trace: the small one, with other events. `kvm` is what the system is called. */
static void put_host(struct file_dir *dir, const struct dat_kind *kind, const char *kvm)
{
	static const char entry[] = "name: kvm_entry\nID: 77\n" COMMON;
	static const char other[] = "name: other\nID: 78\n" COMMON;
	const struct dat_span formats[] = {{entry, sizeof(entry) - 1}, {other, sizeof(other) - 1}};
	const struct dat_out_system systems[] = {{kvm, formats, 2}};
	const struct dat_out_options opt = {.version = kind->version, .compression = kind->codec};
	struct dat_file f = {.kind = *kind};
	struct spur_error err = {0};
	struct dat_contents c;
	struct dat_out *out;
	struct buf page;
	struct dat *d;

	file_dir_put(dir, "small.dat", kind, &content, 0);
	d = file_open(dir, "small.dat");
	assert_int_equal(dat_contents_of(d, &c, &err), 0);
	c.systems = systems;
	c.nr_systems = 1;
	c.nr_options = 0;
	if (create_file(file_in(dir, "host.dat"), &opt, &c, &out, &err) < 0)
		fail_msg("%s", err.text);
	buf_init(&page, 2 * FILE_PAGE);
	put_page(&f, &page);
	assert_int_equal(dat_out_pages(out, 0, 0, page.data, 1), 0);
	buf_free(&page);
	assert_int_equal(dat_out_finish(out, &c, &err), 0);
	dat_close(d);
}

static struct spur_trace *open_host(struct file_dir *dir)
{
	struct spur_error err = {0};
	struct spur_trace *t;

	if (trace_open(file_in(dir, "host.dat"), NULL, &t, &err) < 0)
		fail_msg("%s", err.text);
	return t;
}

/* ---- tasks and CPUs ---- */

static const struct {
	int32_t pids[4];
	size_t most;
	struct dat_vcpu want[4];
	int rc;
	const char *why;
} searches[] = {
	{{100, 101}, 0, {{0, 100}, {1, 101}}, 0, NULL},
	{{101, 100, 103, 999}, 0, {{0, 100}, {1, 101}, {3, 103}}, 0, NULL},
	{{200}, 0, {{0, 200}}, 0, NULL},
	{{100, 101, 103}, 2, {{0, 100}, {1, 101}}, 0, NULL},
	{{0}, 2, {{0, 100}, {1, 101}}, 0, NULL},
	{{0}, 0, {{0, 0}}, -EINVAL, "100 and 200 both ran CPU 0"},
	{{300}, 0, {{0, 0}}, -EINVAL, "none of these tasks"},
};

static size_t count_pids(const int32_t *pids)
{
	size_t n = 0;

	while (n < 4 && pids[n])
		n++;
	return n;
}

static void check_search(struct spur_trace *host, size_t i)
{
	struct spur_error err = {0};
	struct vcpus found = {0};
	int rc = vcpus_find(host, searches[i].pids, count_pids(searches[i].pids), searches[i].most,
			    NULL, &found, &err);

	assert_int_equal(rc, searches[i].rc);
	if (rc < 0)
		assert_non_null(strstr(err.text, searches[i].why));
	for (size_t k = 0; !rc && k < 4 && searches[i].want[k].pid; k++) {
		assert_true(k < found.n);
		assert_int_equal(found.at[k].cpu, searches[i].want[k].cpu);
		assert_int_equal(found.at[k].pid, searches[i].want[k].pid);
	}
	vec_free(&found);
}

static void test_search(void **state)
{
	struct file_dir dir;

	file_dir_open(&dir);
	for (size_t k = 0; k < FILE_NR_KINDS; k++) {
		struct spur_trace *host;

		put_host(&dir, &file_kinds[k], "kvm");
		host = open_host(&dir);
		for (size_t i = 0; i < sizeof(searches) / sizeof(searches[0]); i++)
			check_search(host, i);
		trace_close(host);
	}
	file_dir_close(&dir);
}

static void test_no_kvm(void **state)
{
	struct spur_error err = {0};
	struct spur_trace *host;
	struct vcpus found = {0};
	struct file_dir dir;

	file_dir_open(&dir);
	put_host(&dir, &file_kinds[0], "other");
	host = open_host(&dir);
	assert_int_equal(vcpus_find(host, NULL, 0, 0, NULL, &found, &err), -EINVAL);
	assert_non_null(strstr(err.text, "neither kvm_entry nor kvm_exit"));
	trace_close(host);
	file_dir_close(&dir);
}

/* ---- options ---- */

static const struct dat_time_sample shifts[] = {{0, 500, 1, 0}, {20, -7, 6, 1}};
static const struct dat_vcpu vcpus[] = {{0, 100}, {1, 101}};

static void attach(struct file_dir *dir, uint32_t nr_shifts)
{
	struct dat_attach a = {.host = file_open(dir, "host.dat"),
			       .guest = file_open(dir, "guest.dat"),
			       .vcpus = vcpus,
			       .nr_vcpus = 2,
			       .shifts = shifts,
			       .nr_shifts = nr_shifts,
			       .nr_cpus = 3,
			       .name = "box"};
	struct spur_error err = {0};

	if (dat_attach(&a, &err) < 0)
		fail_msg("%s", err.text);
	dat_close(a.host);
	dat_close(a.guest);
}

static void check_host(struct file_dir *dir, uint64_t *id)
{
	struct dat *host = file_open(dir, "host.dat"), *guest = file_open(dir, "guest.dat");

	assert_int_equal(host->damage.code, 0);
	assert_true(host->trace_id != 0);
	assert_int_equal(host->nr_guests, 1);
	assert_string_equal(host->guests[0].name, "box");
	assert_true(host->guests[0].trace_id == guest->trace_id);
	assert_int_equal(host->guests[0].nr_cpus, 2);
	assert_int_equal(host->guests[0].cpus[1].cpu, 1);
	assert_int_equal(host->guests[0].cpus[1].pid, 101);
	*id = host->trace_id;
	dat_close(host);
	dat_close(guest);
}

static void check_guest(struct file_dir *dir, uint64_t host_id, uint32_t nr_shifts)
{
	struct dat *guest = file_open(dir, "guest.dat");
	const struct dat_time_shift *s = &guest->time_shifts[0];

	assert_int_equal(guest->damage.code, 0);
	/* The one it had before is gone; its own identity is not. */
	assert_int_equal(guest->nr_time_shifts, 1);
	assert_int_equal(guest->trace_id, 0xabcdef);
	assert_true(s->peer_trace_id == host_id);
	assert_int_equal(s->nr_cpus, 3);
	for (uint32_t i = 0; i < 3; i++) {
		const struct dat_time_sample *want = &shifts[i && nr_shifts > 1 ? 1 : 0];

		assert_int_equal(s->cpus[i].nr, want->fraction ? 2 : 1);
		for (uint32_t k = 0; k < s->cpus[i].nr; k++) {
			assert_true(s->cpus[i].samples[k].offset == want->offset);
			assert_int_equal(s->cpus[i].samples[k].scaling, want->scaling);
			assert_int_equal(s->cpus[i].samples[k].fraction, want->fraction);
		}
		assert_int_equal(s->cpus[i].samples[0].time, want->time);
	}
	dat_close(guest);
}

static void test_options(void **state)
{
	struct file_dir dir;

	file_dir_open(&dir);
	for (size_t k = 0; k < FILE_NR_KINDS; k++) {
		uint64_t id, again;

		put_host(&dir, &file_kinds[k], "kvm");
		/* The two need not be of the same kind of machine. */
		file_dir_put(&dir, "guest.dat", &file_kinds[(k + 3) % FILE_NR_KINDS], &content, 0);
		attach(&dir, 1);
		check_host(&dir, &id);
		check_guest(&dir, id, 1);
		attach(&dir, 2);
		check_host(&dir, &again);
		assert_true(id == again);
		check_guest(&dir, id, 2);
		assert_int_equal(file_dir_count(&dir), 3);
	}
	file_dir_close(&dir);
}

static void test_same_recording(void **state)
{
	struct dat_attach a = {.shifts = shifts, .nr_shifts = 1, .name = ""};
	struct spur_error err = {0};
	struct file_dir dir;

	file_dir_open(&dir);
	file_dir_put(&dir, "guest.dat", &file_kinds[0], &content, 0);
	a.host = a.guest = file_open(&dir, "guest.dat");
	assert_int_equal(dat_attach(&a, &err), -EINVAL);
	assert_non_null(strstr(err.text, "same recording"));
	dat_close(a.host);
	file_dir_close(&dir);
}

static void read_bytes(struct file_dir *dir, const char *name, struct buf *to)
{
	struct spur_error err = {0};

	buf_init(to, 16u << 20);
	assert_int_equal(file_read(file_in(dir, name), to, &err), 0);
}

/* When one of the two cannot be written, the other is as it was. */
static void check_refusal(struct file_dir *dir, const char *host, const char *guest)
{
	static const char *const names[] = {"whole.dat", "cut.dat"};
	struct dat_attach a = {.host = file_open(dir, host),
			       .guest = file_open(dir, guest),
			       .vcpus = vcpus,
			       .nr_vcpus = 2,
			       .shifts = shifts,
			       .nr_shifts = 1,
			       .name = ""};
	struct spur_error err = {0};
	struct buf before[2], after;

	for (int i = 0; i < 2; i++)
		read_bytes(dir, names[i], &before[i]);
	/* The same small trace twice: its number is what tells recordings apart. */
	a.host->trace_id++;
	assert_int_equal(dat_attach(&a, &err), -ENODATA);
	assert_non_null(strstr(err.text, "is not replaced"));
	for (int i = 0; i < 2; i++) {
		read_bytes(dir, names[i], &after);
		assert_int_equal(after.len, before[i].len);
		assert_memory_equal(after.data, before[i].data, after.len);
		buf_free(&after);
		buf_free(&before[i]);
	}
	assert_int_equal(file_dir_count(dir), 2);
	dat_close(a.host);
	dat_close(a.guest);
}

static void test_refused(void **state)
{
	struct file_dir dir;

	file_dir_open(&dir);
	file_dir_put(&dir, "whole.dat", &file_kinds[0], &content, 0);
	file_dir_put(&dir, "cut.dat", &file_kinds[0], &content, 100);
	check_refusal(&dir, "whole.dat", "cut.dat");
	check_refusal(&dir, "cut.dat", "whole.dat");
	file_dir_close(&dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_search),	cmocka_unit_test(test_no_kvm),
		cmocka_unit_test(test_options), cmocka_unit_test(test_same_recording),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
