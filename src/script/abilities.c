// SPDX-License-Identifier: GPL-2.0-or-later
/* What the kernel can do for scripts: a table entry for each thing that can be tried. */
#include "script/script.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "code/features.h"
#include "code/sys.h"
#include "probe/attach.h"
#include "symbols/btf.h"

#define BTF_PATH "/sys/kernel/btf/vmlinux"
#define REFCOUNT "/sys/bus/event_source/devices/uprobe/format/ref_ctr_offset"
#define LOG_SIZE 4096
#define ZERO	 INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0)
#define EXIT	 INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)
#define RETURN_0 ZERO, EXIT

static const struct bpf_insn nothing[] = {RETURN_0};

struct trial {
	const char *name;
	bool (*yes)(struct bpf_features *f, int what);
	int what;
	int64_t (*number)(void);
};

static bool is_fd(int fd)
{
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* ---- helpers ---- */

static bool helper(struct bpf_features *f, int what)
{
	return bpf_has_helper(f, BPF_PROG_TYPE_KPROBE, what);
}

/*
 * Loads a program for a function of the kernel's BTF: a descriptor or a negative errno. The
 * verifier's log, of LOG_SIZE bytes, may be NULL.
 */
static int load_for(const char *function, uint32_t attach_type, const struct bpf_insn *insns,
		    size_t nr, char *log)
{
	struct spur_error err = {0};
	struct btf *btf;
	uint32_t id;
	bool own;
	int rc = btf_open(BTF_PATH, NULL, &btf, &err);

	if (rc < 0)
		return rc;
	id = btf_function_id(btf, function, &own);
	btf_free(btf);
	return !id ? -ENOENT
		   : sys_prog_load(&(struct sys_prog){.type = BPF_PROG_TYPE_TRACING,
						      .attach_type = attach_type,
						      .attach_btf_id = id,
						      .insns = insns,
						      .nr = nr,
						      .license = "GPL",
						      .log = log,
						      .log_size = log ? LOG_SIZE : 0});
}

/* d_path() needs a struct path that the verifier knows: the argument of dentry_open(). */
static bool d_path(struct bpf_features *f, int what)
{
	const struct bpf_insn insns[] = {
		INSN(BPF_LDX | BPF_MEM | BPF_DW, 1, 1, 0, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 2, 10, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, 0, -8),
		INSN(BPF_ST | BPF_MEM | BPF_DW, 2, 0, 0, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 3, 0, 0, 8),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, what),
		RETURN_0,
	};

	return is_fd(load_for("dentry_open", BPF_TRACE_FENTRY, insns, ARRAY_SIZE(insns), NULL));
}

/* The verifier first checks whether such a program may call it, then its arguments. */
static bool traced_helper(struct bpf_features *f, int what)
{
	const struct bpf_insn insns[] = {INSN(BPF_JMP | BPF_CALL, 0, 0, 0, what), RETURN_0};
	char log[LOG_SIZE] = "";

	if (is_fd(load_for("sched_fork", BPF_TRACE_FENTRY, insns, 3, log)))
		return true;
	log[LOG_SIZE - 1] = '\0';
	return strstr(log, "call ") && !strstr(log, "unknown func") && !strstr(log, "cannot use") &&
	       !strstr(log, "invalid func");
}

/* ---- features ---- */

static bool feature(struct bpf_features *f, int what)
{
	return bpf_has(f, (enum bpf_feature)what);
}

static bool loops(struct bpf_features *f, int what)
{
	const struct bpf_insn insns[] = {
		ZERO,
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, 0, 0, 0, 1),
		INSN(BPF_JMP | BPF_JLT | BPF_K, 0, 0, -2, 4),
		EXIT,
	};

	return is_fd(sys_prog_load(&(struct sys_prog){
		.type = BPF_PROG_TYPE_TRACEPOINT, .insns = insns, .nr = 4, .license = "GPL"}));
}

static bool btf(struct bpf_features *f, int what)
{
	return access(BTF_PATH, R_OK) == 0;
}

/* Any besides the kernel's own. */
static bool module_btf(struct bpf_features *f, int what)
{
	glob_t found;
	bool yes = false;

	if (glob("/sys/kernel/btf/*", 0, NULL, &found) == 0) {
		yes = found.gl_pathc > 1;
		globfree(&found);
	}
	return yes;
}

static bool refcount(struct bpf_features *f, int what)
{
	return access(REFCOUNT, F_OK) == 0;
}

/* The log of the verifier has it: "processed 2 insns (limit 1000000) …". */
static int64_t instruction_limit(void)
{
	char log[4096] = "";
	const char *limit;

	is_fd(sys_prog_load(&(struct sys_prog){.type = BPF_PROG_TYPE_KPROBE,
					       .insns = nothing,
					       .nr = 2,
					       .license = "GPL",
					       .log = log,
					       .log_size = sizeof(log)}));
	log[sizeof(log) - 1] = '\0';
	limit = strstr(log, "(limit ");
	return limit ? strtoll(limit + 7, NULL, 10) : -1;
}

/* ---- maps ---- */

static bool map_type(struct bpf_features *f, int what)
{
	return is_fd(sys_map_create(
		&(struct sys_map){.type = (uint32_t)what,
				  .key_size = 4,
				  .value_size = what == BPF_MAP_TYPE_STACK_TRACE ? 8 : 4,
				  .entries = 1}));
}

/* ---- probes ---- */

static bool program(struct bpf_features *f, int what)
{
	return is_fd(sys_prog_load(&(struct sys_prog){
		.type = (uint32_t)what, .insns = nothing, .nr = 2, .license = "GPL"}));
}

static bool fentry(struct bpf_features *f, int what)
{
	const int prog = load_for("sched_fork", BPF_TRACE_FENTRY, nothing, 2, NULL);
	const bool yes = prog >= 0 && is_fd(sys_raw_tracepoint_open(NULL, prog));

	is_fd(prog);
	return yes;
}

static bool iterator(struct bpf_features *f, int what)
{
	static const char *const names[] = {"bpf_iter_task", "bpf_iter_task_file",
					    "bpf_iter_task_vma"};
	const int prog = load_for(names[what], BPF_TRACE_ITER, nothing, 2, NULL);
	const bool yes = prog >= 0 && is_fd(sys_link_create(prog, 0, BPF_TRACE_ITER));

	is_fd(prog);
	return yes;
}

/*
 * Tries a link to many functions with a function or file that does not exist: a kernel with such
 * links reports that, others return another error.
 */
static bool multi(struct bpf_features *f, int what)
{
	const char *symbol = "ksys_read";
	const uint64_t offset = 0;
	const int prog = sys_prog_load(&(struct sys_prog){.type = BPF_PROG_TYPE_KPROBE,
							  .attach_type = (uint32_t)what,
							  .insns = nothing,
							  .nr = 2,
							  .license = "GPL"});
	struct link_request r = {.prog_fd = (uint32_t)prog, .attach_type = (uint32_t)what};
	int link;

	if (prog < 0)
		return false;
	if (what == ATTACH_UPROBE_MULTI) {
		r.uprobe_multi.path = (uint64_t)(uintptr_t) "/";
		r.uprobe_multi.offsets = (uint64_t)(uintptr_t)&offset;
		r.uprobe_multi.count = 1;
		link = sys_bpf(BPF_LINK_CREATE, &r,
			       offsetof(struct link_request, uprobe_multi) +
				       sizeof(r.uprobe_multi));
	} else {
		r.kprobe_multi.symbols = (uint64_t)(uintptr_t)&symbol;
		r.kprobe_multi.count = 1;
		link = sys_bpf(BPF_LINK_CREATE, &r,
			       offsetof(struct link_request, kprobe_multi) +
				       sizeof(r.kprobe_multi));
	}
	is_fd(prog);
	return is_fd(link) || link == -EBADF || link == -ENOENT || link == -ESRCH;
}

/* The first ones are those of bpftrace 0.26; the others are printed by other versions. */
static const struct trial helpers[] = {
	{"dpath", d_path, BPF_FUNC_d_path},
	{"get_tai_ns", helper, BPF_FUNC_ktime_get_tai_ns},
	{"get_func_ip", helper, BPF_FUNC_get_func_ip},
	{"lookup_percpu_elem", helper, BPF_FUNC_map_lookup_percpu_elem},
	{"probe_read", helper, BPF_FUNC_probe_read},
	{"probe_read_str", helper, BPF_FUNC_probe_read_str},
	{"probe_read_user", helper, BPF_FUNC_probe_read_user},
	{"probe_read_user_str", helper, BPF_FUNC_probe_read_user_str},
	{"probe_read_kernel", helper, BPF_FUNC_probe_read_kernel},
	{"probe_read_kernel_str", helper, BPF_FUNC_probe_read_kernel_str},
	{"get_current_cgroup_id", helper, BPF_FUNC_get_current_cgroup_id},
	{"send_signal", helper, BPF_FUNC_send_signal},
	{"override_return", helper, BPF_FUNC_override_return},
	{"get_boot_ns", helper, BPF_FUNC_ktime_get_boot_ns},
	{"skboutput", traced_helper, BPF_FUNC_skb_output},
	{"jiffies64", helper, BPF_FUNC_jiffies64},
	{"for_each_map_elem", helper, BPF_FUNC_for_each_map_elem},
	{"get_ns_current_pid_tgid", helper, BPF_FUNC_get_ns_current_pid_tgid},
	{"loop", helper, BPF_FUNC_loop},
};

static const struct trial features[] = {
	{"Instruction limit", NULL, 0, instruction_limit},
	{"module btf", module_btf},
	{"map batch", feature, FEATURE_BATCH},
	{"btf", btf},
	{"Loop support", loops},
	{"uprobe refcount", refcount},
	{"signed division", feature, FEATURE_SDIV},
	{"attach cookie", feature, FEATURE_COOKIE},
};

static const struct trial maps[] = {
	{"hash", map_type, BPF_MAP_TYPE_HASH},
	{"array", map_type, BPF_MAP_TYPE_ARRAY},
	{"percpu hash", map_type, BPF_MAP_TYPE_PERCPU_HASH},
	{"percpu array", map_type, BPF_MAP_TYPE_PERCPU_ARRAY},
	{"stack_trace", map_type, BPF_MAP_TYPE_STACK_TRACE},
	{"perf_event_array", map_type, BPF_MAP_TYPE_PERF_EVENT_ARRAY},
	{"ringbuf", feature, FEATURE_RINGBUF},
};

static const struct trial probes[] = {
	{"kprobe_multi", multi, ATTACH_KPROBE_MULTI},
	{"uprobe_multi", multi, ATTACH_UPROBE_MULTI},
	{"kprobe_session", multi, ATTACH_KPROBE_SESSION},
	{"iter", iterator, 0},
	{"kprobe", program, BPF_PROG_TYPE_KPROBE},
	{"tracepoint", program, BPF_PROG_TYPE_TRACEPOINT},
	{"perf_event", program, BPF_PROG_TYPE_PERF_EVENT},
	{"fentry", fentry},
	{"kfunc", fentry},
	{"raw_tp_special", feature, FEATURE_TEST_RUN},
	{"iter:task", iterator, 0},
	{"iter:task_file", iterator, 1},
	{"iter:task_vma", iterator, 2},
};

bool ability_try(struct bpf_features *f, enum ability_group group, size_t number,
		 struct ability *out)
{
	static const struct {
		const struct trial *at;
		size_t n;
	} groups[ABILITY_GROUPS] = {
		[ABILITY_HELPER] = {helpers, ARRAY_SIZE(helpers)},
		[ABILITY_FEATURE] = {features, ARRAY_SIZE(features)},
		[ABILITY_MAP] = {maps, ARRAY_SIZE(maps)},
		[ABILITY_PROBE] = {probes, ARRAY_SIZE(probes)},
	};
	const struct trial *t;

	if (number >= groups[group].n)
		return false;
	t = &groups[group].at[number];
	*out = (struct ability){.name = t->name};
	if (t->number)
		out->number = t->number();
	else
		out->yes = t->yes(f, t->what);
	return true;
}
