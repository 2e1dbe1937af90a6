/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tests of the writer share: contents with known pages, every kind of file they can be
 * written as, and faults.
 *
 * The calls by which the library changes a file are defined here, so that any of them can be made
 * to fail, to be cut short, or to be the last one that has an effect. For one test program only.
 */
#ifndef TESTS_WRITE_FIXTURE_H
#define TESTS_WRITE_FIXTURE_H

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "dat/write.h"
#include "dat_file.h"
#include "out_file.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define PAGE	      4096u
#define OWN_PAGE      4096u /* of the page cache: where a write may be torn */

/* ---- faults ---------------------------------------------------------------------------- */

enum fault {
	NO_FAULT,
	DIE,  /* from here on nothing reaches the file any more */
	TEAR, /* the same, but of this write what fits on the page it begins on does */
	KILL, /* the process ends here */
	FAIL, /* this call fails, others do not */
};

static struct {
	enum fault fault;
	long left;	  /* calls before it happens; negative when it has */
	bool no_collapse; /* a file system that cannot */
	bool no_punch;	  /* one that cannot do that either */
	size_t most_copy; /* bytes that can be copied at once: the disk is nearly full; 0: any */
	uint64_t longest; /* file that may be; 0: any */
	uint64_t full_at; /* file offset from which on the disk is full; 0: never */
} faults;

/* Whether a call is not to have an effect. */
static inline bool strikes(void)
{
	if (!faults.fault || faults.left-- > 0)
		return false;
	if (faults.fault == KILL)
		raise(SIGKILL);
	errno = EIO;
	return faults.fault == FAIL ? faults.left == -1 : true;
}

ssize_t pwrite(int fd, const void *data, size_t n, off_t offset)
{
	if (strikes()) {
		if (faults.left == -1 && faults.fault == TEAR && offset % OWN_PAGE + n > OWN_PAGE)
			syscall(SYS_pwrite64, fd, data, OWN_PAGE - offset % OWN_PAGE, offset);
		errno = faults.fault == FAIL ? ENOSPC : EIO;
		return -1;
	}
	if (faults.most_copy && n > faults.most_copy && offset % OWN_PAGE == 0) {
		errno = ENOSPC;
		return -1;
	}
	if (faults.full_at && (uint64_t)offset + n > faults.full_at) {
		if ((uint64_t)offset >= faults.full_at) {
			errno = ENOSPC;
			return -1;
		}
		n = faults.full_at - (uint64_t)offset;
	}
	return syscall(SYS_pwrite64, fd, data, n, offset);
}

int ftruncate(int fd, off_t size)
{
	if (strikes())
		return -1;
	if (faults.longest && (uint64_t)size > faults.longest) {
		errno = EFBIG;
		return -1;
	}
	return (int)syscall(SYS_ftruncate, fd, size);
}

int fallocate(int fd, int mode, off_t offset, off_t n)
{
	if (strikes())
		return -1;
	if (faults.no_collapse && (mode & FALLOC_FL_COLLAPSE_RANGE)) {
		errno = EOPNOTSUPP;
		return -1;
	}
	if (faults.no_punch && (mode & FALLOC_FL_PUNCH_HOLE)) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return (int)syscall(SYS_fallocate, fd, mode, offset, n);
}

ssize_t copy_file_range(int from, off64_t *in, int to, off64_t *out, size_t n, unsigned int flags)
{
	if (strikes()) {
		if (faults.left == -1 && faults.fault == TEAR)
			syscall(SYS_copy_file_range, from, in, to, out, n / 2, flags);
		errno = EIO;
		return -1;
	}
	if (faults.most_copy && n > faults.most_copy) {
		errno = ENOSPC;
		return -1;
	}
	return syscall(SYS_copy_file_range, from, in, to, out, n, flags);
}

/* No test takes the power away, so waiting for the disk would show nothing and take minutes. */
int fdatasync(int fd)
{
	(void)fd;
	return strikes() ? -1 : 0;
}

static inline void no_faults(void)
{
	memset(&faults, 0, sizeof(faults));
}

/* ---- what is written ------------------------------------------------------------------- */

struct target {
	unsigned int version;
	const char *codec;
	bool sparse;
};

static const struct target targets[] = {
	{6, "none", false}, {6, "none", true}, {7, "none", false}, {7, "none", true},
	{7, "zlib", false}, {7, "zlib", true}, {7, "zstd", false}, {7, "zstd", true},
};

static char directory[64], path[100];
static bool holes; /* whether files here may be long enough for them */

static inline struct dat_out_options options_of(const struct target *t)
{
	return (struct dat_out_options){
		.version = t->version, .compression = t->codec, .sparse = t->sparse};
}

/* Three buffers; how many pages each CPU gets. */
static const uint32_t top_cpus[] = {0, 1, 2, 3}, one_cpus[] = {1, 3}, two_cpus[] = {0};
static const struct {
	size_t buffer;
	uint32_t cpu, pages;
} amounts[] = {{0, 0, 3}, {0, 2, 25}, {0, 3, 1}, {1, 0, 11}};

static const struct dat_out_buffer buffers[] = {
	{.name = "", .clock = "local", .page_size = PAGE, .cpus = top_cpus, .nr_cpus = 4},
	{.name = "one", .clock = "global", .page_size = PAGE, .cpus = one_cpus, .nr_cpus = 2},
	{.name = "two", .clock = "mono", .page_size = PAGE, .cpus = two_cpus, .nr_cpus = 1},
	{.name = "none", .clock = "", .page_size = PAGE},
};

static const struct dat_span formats[] = {{"name: a\n", 8}, {"", 0}, {"name: c\n", 8}};
static const struct dat_out_system systems[] = {{"x", formats, 2}, {"y", formats + 2, 1}};
static const struct dat_out_option some_options[] = {
	{DAT_OPT_UNAME, {"Linux", 6}},
	{DAT_OPT_VERSION, {"spur 1", 7}},
	{DAT_OPT_CPUSTAT, {"CPU: 0\n", 8}},
};

static inline struct dat_contents usual(void)
{
	return (struct dat_contents){
		.long_size = 8,
		.page_size = PAGE,
		.nr_cpus = 4,
		.header_page = {"page", 4},
		.header_event = {"event", 5},
		.ftrace = formats,
		.nr_ftrace = 3,
		.systems = systems,
		.nr_systems = 2,
		.kallsyms = {FILE_KALLSYMS, sizeof(FILE_KALLSYMS) - 1},
		.printk = {FILE_PRINTK, sizeof(FILE_PRINTK) - 1},
		.cmdlines = {FILE_CMDLINES, sizeof(FILE_CMDLINES) - 1},
		.options = some_options,
		.nr_options = ARRAY_SIZE(some_options),
		.buffers = buffers,
		.nr_buffers = ARRAY_SIZE(buffers),
	};
}

static inline uint32_t pages_of(size_t buffer, uint32_t cpu)
{
	for (size_t i = 0; i < ARRAY_SIZE(amounts); i++)
		if (amounts[i].buffer == buffer && amounts[i].cpu == cpu)
			return amounts[i].pages;
	return 0;
}

static inline void make_page(uint8_t *page, size_t buffer, uint32_t cpu, uint32_t index)
{
	uint32_t seed = (uint32_t)buffer * 7919 + cpu * 104729 + index * 31 + 1;
	uint64_t ts = 1000ull * (index + 1), commit = PAGE - 16;

	for (size_t i = 0; i < PAGE; i++) {
		/* Half of it compresses well. */
		seed = seed * 1103515245 + 12345;
		page[i] = i % 256 < 128 ? (uint8_t)(seed >> 16) : (uint8_t)index;
	}
	memcpy(page, &ts, 8);
	memcpy(page + 8, &commit, 8);
}

/* Hands over the pages of a CPU, so many at a time. */
static inline int put_pages(struct dat_out *o, size_t buffer, uint32_t cpu, uint32_t at_once)
{
	const uint32_t n = pages_of(buffer, cpu);
	uint8_t *pages = malloc((size_t)(n + 1) * PAGE);
	int rc = 0;

	for (uint32_t i = 0; i < n; i++)
		make_page(pages + (size_t)i * PAGE, buffer, cpu, i);
	for (uint32_t i = 0; i < n && !rc; i += at_once)
		rc = dat_out_pages(o, buffer, cpu, pages + (size_t)i * PAGE,
				   n - i < at_once ? n - i : at_once);
	free(pages);
	return rc;
}

static inline struct dat_out *create(const struct target *t, const struct dat_contents *c)
{
	struct dat_out_options opt = options_of(t);
	struct spur_error err = {0};
	struct dat_out *o;

	unlink(path);
	if (create_file(path, &opt, c, &o, &err))
		fail_msg("%s", err.text);
	return o;
}

static inline struct dat_out *create_full(const struct target *t, const struct dat_contents *c)
{
	struct dat_out *o = create(t, c);

	for (size_t b = 0; b < ARRAY_SIZE(buffers); b++)
		for (uint32_t k = 0; k < buffers[b].nr_cpus; k++)
			assert_int_equal(put_pages(o, b, k, 4), 0);
	return o;
}

/* ---- what is read ---------------------------------------------------------------------- */

static inline struct dat *reopen(void)
{
	struct spur_error err = {0};
	struct dat *d;

	if (dat_open(path, NULL, &d, &err))
		fail_msg("%s", err.text);
	return d;
}

static const struct dat_buffer *buffer_of(const struct dat *d, const char *name)
{
	for (size_t i = 0; i < d->nr_buffers; i++)
		if (strcmp(d->buffers[i].name, name) == 0)
			return &d->buffers[i];
	return NULL;
}

static const struct dat_cpu *cpu_of(const struct dat_buffer *b, uint32_t cpu)
{
	for (uint32_t i = 0; i < b->nr_cpus; i++)
		if (b->cpus[i].cpu == cpu)
			return &b->cpus[i];
	return NULL;
}

static inline void check_cpu(struct dat *d, size_t buffer, uint32_t cpu, uint32_t n)
{
	const struct dat_buffer *b = buffer_of(d, buffers[buffer].name);
	const struct dat_cpu *data = b ? cpu_of(b, buffers[buffer].cpus[cpu]) : NULL;
	uint8_t expected[PAGE];
	struct dat_pages *pages;
	struct dat_page page;

	assert_non_null(data);
	assert_int_equal(dat_pages_open(d, b, data, &pages), 0);
	for (uint32_t i = 0; i < n; i++) {
		make_page(expected, buffer, cpu, i);
		assert_int_equal(dat_pages_get(pages, i, &page), 1);
		assert_int_equal(page.size, PAGE);
		assert_memory_equal(page.data, expected, PAGE);
	}
	assert_int_equal(dat_pages_get(pages, n, &page), 0);
	dat_pages_close(pages);
}

/* All the data, and everything else that is said beforehand. */
static inline void check_all(struct dat *d)
{
	for (size_t b = 0; b < ARRAY_SIZE(buffers); b++) {
		assert_non_null(buffer_of(d, buffers[b].name));
		for (uint32_t k = 0; k < buffers[b].nr_cpus; k++)
			check_cpu(d, b, k, pages_of(b, k));
	}
	assert_int_equal(d->nr_buffers, ARRAY_SIZE(buffers));
	assert_int_equal(d->nr_formats, 6);
	assert_int_equal(d->nr_cpus, 4);
	assert_string_equal(d->uname, "Linux");
	assert_string_equal(d->trace_version, "spur 1");
	assert_string_equal(buffer_of(d, "one")->clock, "global");
	assert_int_equal(d->kallsyms.size, sizeof(FILE_KALLSYMS) - 1);
	assert_non_null(dat_option_find(d, DAT_OPT_CPUSTAT));
}

/* Finished, and how long the file is. */
static inline uint64_t check_whole(void)
{
	struct dat *d = reopen();
	uint64_t size = d->file_size;

	check_all(d);
	assert_string_equal(d->damage.text, "");
	assert_false(d->unfinished);
	assert_null(dat_option_find(d, DAT_OPT_REGIONS));
	dat_close(d);
	return size;
}

static inline void check_finished(void)
{
	assert_true(check_whole() < 1 << 20);
}

static inline void check_unfinished(void)
{
	struct dat *d = reopen();

	check_all(d);
	assert_true(d->unfinished);
	assert_int_equal(d->damage.code, -ENODATA);
	dat_close(d);
}

static inline void finish_file(void)
{
	struct spur_error err = {0};

	if (dat_finish_file(path, &err))
		fail_msg("%s", err.text);
}

static inline void skip_without_holes(const struct target *t)
{
	if (t->sparse && !holes)
		skip();
}

static inline void fill_names(struct buf *names, size_t lines)
{
	buf_init(names, SIZE_MAX);
	for (size_t i = 0; i < lines; i++)
		buf_printf(names, "%zu process-number-%zu\n", i + 1, i * 7919);
}

/* ---- files -------------------------------------------------------------------------------- */

static inline int set_up(void **state)
{
	const struct rlimit any = {RLIM_INFINITY, RLIM_INFINITY};
	const char *tmp = getenv("TMPDIR");
	struct rlimit limit;

	snprintf(directory, sizeof(directory), "%.40s/spur-XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/f.dat", directory);
	setrlimit(RLIMIT_FSIZE, &any);
	getrlimit(RLIMIT_FSIZE, &limit);
	holes = limit.rlim_cur > (rlim_t)16 << 40;
	/* Where files are limited, what is too long fails, as for those who run into the limit. */
	signal(SIGXFSZ, SIG_IGN);
	return 0;
}

static inline int tear_down(void **state)
{
	/* A test that failed may have been at another place. */
	unlink(path);
	snprintf(path, sizeof(path), "%s/f.dat", directory);
	unlink(path);
	return rmdir(directory);
}

#endif
