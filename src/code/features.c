// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Features are found out by loading programs of a few instructions, never from a version:
 * distributions backport, and configurations leave out.
 */
#include "code/features.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "code/sys.h"

#define MOV(d, i) INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define CALL(i)	  INSN(BPF_JMP | BPF_CALL, 0, 0, 0, i)
#define EXIT	  INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

static int load(const struct bpf_insn *insns, size_t nr, uint32_t type, char *log,
		uint32_t log_size)
{
	return sys_prog_load(&(struct sys_prog){.type = type,
						.insns = insns,
						.nr = nr,
						.license = "GPL",
						.log = log,
						.log_size = log_size});
}

/* Whether it is a descriptor, which is closed. */
static bool was_open(int fd)
{
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool loads(const struct bpf_insn *insns, size_t nr)
{
	return was_open(load(insns, nr, BPF_PROG_TYPE_RAW_TRACEPOINT, NULL, 0));
}

static bool creates(uint32_t type, uint32_t key, uint32_t value, uint32_t entries, uint32_t flags)
{
	return was_open(sys_map_create(&(struct sys_map){.type = type,
							 .key_size = key,
							 .value_size = value,
							 .entries = entries,
							 .flags = flags}));
}

/* ---- one for each ---- */

static bool has_sdiv(struct bpf_features *f)
{
	const struct bpf_insn insns[] = {MOV(0, 4), INSN(BPF_ALU64 | BPF_DIV | BPF_K, 0, 0, 1, 2),
					 EXIT};

	return loads(insns, 3);
}

static bool has_ringbuf(struct bpf_features *f)
{
	return creates(BPF_MAP_TYPE_RINGBUF, 0, 0, (uint32_t)sysconf(_SC_PAGESIZE), 0);
}

static bool has_mmapable(struct bpf_features *f)
{
	return creates(BPF_MAP_TYPE_ARRAY, 4, 8, 1, BPF_F_MMAPABLE);
}

static bool has_map_value(struct bpf_features *f)
{
	const int map = sys_map_create(&(struct sys_map){
		.type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 8, .entries = 1});
	const struct bpf_insn insns[] = {
		INSN(BPF_LD | BPF_IMM | BPF_DW, 1, BPF_PSEUDO_MAP_VALUE, 0, map),
		INSN(0, 0, 0, 0, 0),
		INSN(BPF_LDX | BPF_MEM | BPF_DW, 0, 1, 0, 0),
		EXIT,
	};
	const bool yes = map >= 0 && loads(insns, 4);

	was_open(map);
	return yes;
}

static bool has_test_run(struct bpf_features *f)
{
	const struct bpf_insn insns[] = {MOV(0, 0), EXIT};
	const int fd = load(insns, 2, BPF_PROG_TYPE_RAW_TRACEPOINT, NULL, 0);
	const bool yes = fd >= 0 && !sys_prog_test_run(fd, NULL, 0, NULL);

	was_open(fd);
	return yes;
}

static bool has_batch(struct bpf_features *f)
{
	const int map = sys_map_create(&(struct sys_map){
		.type = BPF_MAP_TYPE_PERCPU_HASH, .key_size = 4, .value_size = 8, .entries = 1});
	uint32_t at = 0, key, count = 1;
	uint64_t value;
	int rc = -EINVAL;

	if (map >= 0) {
		rc = sys_map_lookup_batch(map, NULL, &at, &key, &value, &count);
		close(map);
	}
	return !rc || rc == -ENOENT;
}

/* Programs of perf events run in NMIs: all programs may use what these may. */
static bool has_late_alloc(struct bpf_features *f)
{
	const int map = sys_map_create(&(struct sys_map){.type = BPF_MAP_TYPE_HASH,
							 .key_size = 4,
							 .value_size = 4,
							 .entries = 1,
							 .flags = BPF_F_NO_PREALLOC});
	const struct bpf_insn insns[] = {
		INSN(BPF_LD | BPF_IMM | BPF_DW, 1, BPF_PSEUDO_MAP_FD, 0, map),
		INSN(0, 0, 0, 0, 0),
		MOV(0, 0),
		EXIT,
	};
	const int fd = map < 0 ? map : load(insns, 4, BPF_PROG_TYPE_PERF_EVENT, NULL, 0);

	was_open(map);
	return was_open(fd);
}

static bool has_raw_tp_helper(struct bpf_features *f, int helper)
{
	return bpf_has_helper(f, BPF_PROG_TYPE_RAW_TRACEPOINT, helper);
}

static const struct feature {
	const char *name;
	bool (*probe)(struct bpf_features *f);
	int helper; /* when it is one of raw tracepoint programs */
} features[FEATURES] = {
	[FEATURE_SDIV] = {"sdiv", has_sdiv},
	[FEATURE_RINGBUF] = {"ringbuf", has_ringbuf},
	[FEATURE_LOOP] = {"loop", NULL, BPF_FUNC_loop},
	[FEATURE_FOR_EACH] = {"for_each_map_elem", NULL, BPF_FUNC_for_each_map_elem},
	[FEATURE_PROBE_READ] = {"probe_read_kernel", NULL, BPF_FUNC_probe_read_kernel},
	[FEATURE_COOKIE] = {"get_attach_cookie", NULL, BPF_FUNC_get_attach_cookie},
	[FEATURE_BOOT_TIME] = {"ktime_get_boot_ns", NULL, BPF_FUNC_ktime_get_boot_ns},
	[FEATURE_PERCPU_ELEM] = {"map_lookup_percpu_elem", NULL, BPF_FUNC_map_lookup_percpu_elem},
	[FEATURE_TEST_RUN] = {"raw_tp_test_run", has_test_run},
	[FEATURE_MMAPABLE] = {"mmapable", has_mmapable},
	[FEATURE_MAP_VALUE] = {"map_value", has_map_value},
	[FEATURE_BATCH] = {"map_batch", has_batch},
	[FEATURE_LATE_ALLOC] = {"late_alloc", has_late_alloc},
};

void bpf_features_init(struct bpf_features *f)
{
	memset(f, 0, sizeof(*f));
}

void bpf_features_user(struct bpf_features *f)
{
	memset(f->state, FEATURE_YES, sizeof(f->state));
	memset(f->helper, FEATURE_YES, sizeof(f->helper));
}

bool bpf_has(struct bpf_features *f, enum bpf_feature what)
{
	if (f->state[what] == FEATURE_UNKNOWN) {
		const struct feature *x = &features[what];
		const bool yes = x->probe ? x->probe(f) : has_raw_tp_helper(f, x->helper);

		f->state[what] = yes ? FEATURE_YES : FEATURE_NO;
	}
	return f->state[what] == FEATURE_YES;
}

const char *bpf_feature_name(enum bpf_feature what)
{
	return features[what].name;
}

/* ---- helpers ---- */

static const uint32_t classes[] = {
	BPF_PROG_TYPE_RAW_TRACEPOINT,
	BPF_PROG_TYPE_TRACEPOINT,
	BPF_PROG_TYPE_KPROBE,
	BPF_PROG_TYPE_PERF_EVENT,
};

static int class_of(uint32_t prog_type)
{
	for (size_t n = 0; n < ARRAY_SIZE(classes); n++)
		if (classes[n] == prog_type)
			return (int)n;
	return -1;
}

/*
 * A call without arguments fails for nearly all helpers; the verifier's log shows why, and it first
 * checks whether the program may call the helper at all.
 */
static bool try_helper(uint32_t prog_type, int helper)
{
	static const char *const refusals[] = {"unknown func", "invalid func", "cannot use helper",
					       "program of this type cannot use"};
	const struct bpf_insn insns[] = {CALL(helper), MOV(0, 0), EXIT};
	char log[4096] = "";
	const int fd = load(insns, 3, prog_type, log, sizeof(log));

	if (was_open(fd))
		return true;
	log[sizeof(log) - 1] = '\0';
	for (size_t n = 0; n < ARRAY_SIZE(refusals); n++)
		if (strstr(log, refusals[n]))
			return false;
	return log[0] != '\0';
}

bool bpf_has_helper(struct bpf_features *f, uint32_t prog_type, int helper)
{
	const int class = class_of(prog_type);

	if (helper < 0 || helper >= 256)
		return false;
	if (class < 0)
		return try_helper(prog_type, helper);
	if (f->helper[class][helper] == FEATURE_UNKNOWN)
		f->helper[class][helper] = try_helper(prog_type, helper) ? FEATURE_YES : FEATURE_NO;
	return f->helper[class][helper] == FEATURE_YES;
}
