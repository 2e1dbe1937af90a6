/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the numbers in system calls are called; event/pretty.h prints with it.
 *
 *	pretty/numbers.c	system calls by number, per architecture (generated)
 *	pretty/calls.c		system calls by name: their arguments, and what kind each one is
 *	pretty/names_*.c	names of flags and enumerations, one `name_set` for each kind
 *	pretty/arch.c		architectures: which of the above hold for a machine
 *	pretty/value.c		one value in words; errors
 *
 * All of it is constant data.
 */
#ifndef EVENT_PRETTY_TABLES_H
#define EVENT_PRETTY_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/buf.h"

#define PRETTY_ARGS 6

/* ---- names ------------------------------------------------------------------------------- */

/*
 * One name. It holds for a value v when (v & mask) == value. A flag's mask is its value; the names
 * of a field of bits share the field's mask; a plain enumeration has all bits in its mask.
 */
struct named {
	uint32_t value;
	uint32_t mask;
	const char *name;
	uint32_t len;
};

enum name_set_flags {
	SET_WIDE = 1 << 0,   /* a long: its upper half counts, elsewhere that is garbage */
	SET_NUMBER = 1 << 1, /* what has no name is shown in decimal */
	SET_OCTAL = 1 << 2,  /* … in octal: permissions among flags */
};

/*
 * All names of a kind. They are tried in order until no bit is left, and each takes the bits of its
 * mask: the name that a field has when it is 0 comes before all flags, and a flag of several bits
 * before those that are part of it.
 */
struct name_set {
	const struct named *at;
	uint16_t n;
	uint16_t flags; /* enum name_set_flags */
};

/* The rows of a table of names: a flag, a value of a field of bits, a value of its own. */
#define FLAG(name, value)                                                                          \
	{                                                                                          \
		value, value, #name, sizeof(#name) - 1                                             \
	}
#define PART(name, value, mask)                                                                    \
	{                                                                                          \
		value, mask, #name, sizeof(#name) - 1                                              \
	}
#define IS(name, value)                                                                            \
	{                                                                                          \
		value, UINT32_MAX, #name, sizeof(#name) - 1                                        \
	}

/* A set: its name, enum name_set_flags, and the rows. */
#define NAME_SET(set, how, ...)                                                                    \
	static const struct named set##_names[] = {__VA_ARGS__};                                   \
	const struct name_set pretty_##set = {                                                     \
		.at = set##_names,                                                                 \
		.n = ARRAY_SIZE(set##_names),                                                      \
		.flags = how,                                                                      \
	}

/* ---- kinds of arguments ------------------------------------------------------------------ */

/*
 * Every set of names: the kind of argument it belongs to, the table, and whether the numbers
 * differ between architectures (then an unknown machine gets none).
 */
/* clang-format off */
#define PRETTY_SETS(X) \
	X(ACCESS_MODE, access_mode, 0) \
	X(ARCH_PRCTL, arch_prctl, 0) \
	X(AT_ACCESS, at_access, 0) \
	X(AT_FLAGS, at_flags, 0) \
	X(AT_HANDLE, at_handle, 0) \
	X(AT_UNLINK, at_unlink, 0) \
	X(BPF_CMD, bpf_cmd, 0) \
	X(CAPABILITY, capability, 0) \
	X(CLOCK_ID, clock_id, 0) \
	X(CLONE_FLAGS, clone_flags, 1) \
	X(CLOSE_RANGE, close_range, 0) \
	X(DNOTIFY, dnotify, 0) \
	X(EPOLL_CREATE, epoll_create, 1) \
	X(EPOLL_OP, epoll_op, 0) \
	X(EVENTFD, eventfd, 1) \
	X(FADVISE, fadvise, 1) \
	X(FALLOCATE, fallocate, 0) \
	X(FANOTIFY_INIT, fanotify_init, 0) \
	X(FANOTIFY_MARK, fanotify_mark, 0) \
	X(FANOTIFY_MASK, fanotify_mask, 0) \
	X(FCNTL_CMD, fcntl_cmd, 1) \
	X(FD_FLAGS, fd_flags, 0) \
	X(FILE_MODE, file_mode, 0) \
	X(FLOCK_OP, flock_op, 0) \
	X(FSCONFIG_CMD, fsconfig_cmd, 0) \
	X(FSMOUNT_FLAGS, fsmount_flags, 0) \
	X(FSOPEN_FLAGS, fsopen_flags, 0) \
	X(FSPICK_FLAGS, fspick_flags, 0) \
	X(FUTEX2_FLAGS, futex2_flags, 0) \
	X(FUTEX_OP, futex_op, 0) \
	X(GETRANDOM, getrandom, 0) \
	X(INOTIFY_INIT, inotify_init, 1) \
	X(INOTIFY_MASK, inotify_mask, 0) \
	X(IOCTL_CMD, ioctl_cmd, 1) \
	X(IOPRIO_WHICH, ioprio_which, 0) \
	X(IO_URING_ENTER, io_uring_enter, 0) \
	X(IO_URING_OP, io_uring_op, 0) \
	X(IPC_CALL, ipc_call, 0) \
	X(IPC_CMD, ipc_cmd, 0) \
	X(IPC_FLAGS, ipc_flags, 0) \
	X(IPPROTO, ipproto, 0) \
	X(IPV6_OPT, ipv6_opt, 0) \
	X(IP_OPT, ip_opt, 0) \
	X(ITIMER, itimer, 0) \
	X(KCMP_TYPE, kcmp_type, 0) \
	X(KEYCTL_CMD, keyctl_cmd, 0) \
	X(KEY_SERIAL, key_serial, 0) \
	X(LANDLOCK_RULE, landlock_rule, 0) \
	X(LANDLOCK_RULESET, landlock_ruleset, 0) \
	X(LEASE, lease, 0) \
	X(MADVISE, madvise, 1) \
	X(MBIND_FLAGS, mbind_flags, 0) \
	X(MEMBARRIER_CMD, membarrier_cmd, 0) \
	X(MEMFD_FLAGS, memfd_flags, 0) \
	X(MEMPOLICY, mempolicy, 0) \
	X(MEMPOLICY_GET, mempolicy_get, 0) \
	X(MLOCK2, mlock2, 0) \
	X(MLOCKALL, mlockall, 1) \
	X(MMAP_FLAGS, mmap_flags, 1) \
	X(MMAP_PROT, mmap_prot, 1) \
	X(MODULE_FLAGS, module_flags, 0) \
	X(MOUNT_ATTR, mount_attr, 0) \
	X(MOUNT_FLAGS, mount_flags, 0) \
	X(MOVE_MOUNT, move_mount, 0) \
	X(MREMAP, mremap, 0) \
	X(MSG_FLAGS, msg_flags, 1) \
	X(MSGRCV_FLAGS, msgrcv_flags, 0) \
	X(MSYNC, msync, 0) \
	X(NETLINK, netlink, 0) \
	X(OPEN_FLAGS, open_flags, 1) \
	X(OPEN_TREE, open_tree, 1) \
	X(PERF_OPEN, perf_open, 0) \
	X(PERSONALITY, personality, 0) \
	X(PIDFD_OPEN, pidfd_open, 1) \
	X(PIDFD_SIGNAL, pidfd_signal, 0) \
	X(PIPE_FLAGS, pipe_flags, 1) \
	X(PKEY_RIGHTS, pkey_rights, 0) \
	X(PRCTL_OPTION, prctl_option, 0) \
	X(PRIO_WHICH, prio_which, 0) \
	X(PTRACE_REQUEST, ptrace_request, 1) \
	X(REBOOT_CMD, reboot_cmd, 0) \
	X(REBOOT_MAGIC, reboot_magic, 0) \
	X(RENAME, rename, 0) \
	X(RLIMIT, rlimit, 1) \
	X(RUSAGE_WHO, rusage_who, 0) \
	X(RWF_FLAGS, rwf_flags, 0) \
	X(SA_FLAGS, sa_flags, 1) \
	X(SCHED_POLICY, sched_policy, 0) \
	X(SEALS, seals, 0) \
	X(SECCOMP_FLAGS, seccomp_flags, 0) \
	X(SECCOMP_OP, seccomp_op, 0) \
	X(SEEK, seek, 0) \
	X(SEM_CMD, sem_cmd, 0) \
	X(SHM_FLAGS, shm_flags, 0) \
	X(SHUTDOWN, shutdown, 0) \
	X(SIGNALFD, signalfd, 1) \
	X(SIGNAL_RESULT, signal_result, 0) \
	X(SIGPROCMASK, sigprocmask, 1) \
	X(SOCKETCALL, socketcall, 0) \
	X(SOCK_CREATE, sock_create, 1) \
	X(SOCK_DOMAIN, sock_domain, 0) \
	X(SOCK_LEVEL, sock_level, 1) \
	X(SOCK_OPT, sock_opt, 1) \
	X(SOCK_TYPE, sock_type, 1) \
	X(SPLICE, splice, 0) \
	X(STATX_MASK, statx_mask, 0) \
	X(SWAP_FLAGS, swap_flags, 0) \
	X(SYNC_RANGE, sync_range, 0) \
	X(SYSLOG, syslog, 0) \
	X(TCP_OPT, tcp_opt, 0) \
	X(TIMERFD, timerfd, 1) \
	X(TIMERFD_SET, timerfd_set, 0) \
	X(TIMER_FLAGS, timer_flags, 0) \
	X(UDP_OPT, udp_opt, 0) \
	X(UMOUNT, umount, 0) \
	X(UNSHARE, unshare, 0) \
	X(USERFAULTFD, userfaultfd, 1) \
	X(WAITID_OPTIONS, waitid_options, 0) \
	X(WAITID_TYPE, waitid_type, 0) \
	X(WAIT_OPTIONS, wait_options, 0) \
	X(XATTR_FLAGS, xattr_flags, 0)
/* clang-format on */

enum arg_kind {
	A_NONE,	       /* nothing known: by the type that the format says, else hexadecimal */
	A_HEX,	       /* a word */
	A_INT,	       /* decimal, 32 bits */
	A_UINT,	       /* … unsigned */
	A_LONG,	       /* decimal, a word */
	A_SIZE,	       /* … unsigned */
	A_PTR,	       /* an address, or NULL */
	A_STR,	       /* the address of a string */
	A_BUF,	       /* the address of bytes; the argument after it says how many */
	A_FD,	       /* a file descriptor */
	A_DFD,	       /* a folder's, or AT_FDCWD */
	A_ID,	       /* a user or group, or -1 */
	A_OCTAL,       /* permissions */
	A_CREATE_MODE, /* … of a file that the flags before it say to create */
	A_DEV,	       /* a device number */
	A_SIGNAL,
	A_CLOCK,     /* CLOCK_ID, or the clock of a process or file */
	A_IOCTL,     /* IOCTL_CMD, or what the number is made of */
	A_PROTOCOL,  /* of a socket; its family is two arguments before */
	A_SOCKOPT,   /* depends on the level before it */
	A_FCNTL_ARG, /* depends on the command before it */
	A_PRCTL_ARG, /* depends on the option before it */
	A_FIRST_SET,

	A_BEFORE_SETS = A_FIRST_SET - 1,
#define X(kind, set, abi) A_##kind,
	PRETTY_SETS(X)
#undef X
		A_END,
};

#define PRETTY_NR_SETS (A_END - A_FIRST_SET)

#define X(kind, set, abi) extern const struct name_set pretty_##set;
PRETTY_SETS(X)
#undef X

/* ---- system calls ------------------------------------------------------------------------ */

enum pretty_arch_bit {
	ON_X86_64 = 1 << 0,
	ON_I386 = 1 << 1,
	ON_ARM64 = 1 << 2,
	ON_RISCV64 = 1 << 3,
	ON_LOONGARCH64 = 1 << 4,
	ON_ARM = 1 << 5,
	ON_S390X = 1 << 6,
	ON_PPC64 = 1 << 7,
};

struct call_arg {
	const char *name;
	uint8_t kind; /* enum arg_kind */
};

/*
 * A system call's arguments, with the names the kernel gives them. A call that differs between
 * architectures has several rows, one after the other, the one for all the rest last.
 */
struct call_spec {
	const char *name;
	struct call_arg args[PRETTY_ARGS]; /* ends at the first without a name */
	uint8_t ret;			   /* enum arg_kind; A_NONE: a number */
	uint8_t on;			   /* enum pretty_arch_bit; 0: everywhere else */
};

/* A row's arguments: pairs of a name and a kind without its A_. */
#define ARGS1(a, ka)		   .args = {{#a, A_##ka}}
#define ARGS2(a, ka, b, kb)	   .args = {{#a, A_##ka}, {#b, A_##kb}}
#define ARGS3(a, ka, b, kb, c, kc) .args = {{#a, A_##ka}, {#b, A_##kb}, {#c, A_##kc}}
#define ARGS4(a, ka, b, kb, c, kc, d, kd)                                                          \
	.args = {{#a, A_##ka}, {#b, A_##kb}, {#c, A_##kc}, {#d, A_##kd}}
#define ARGS5(a, ka, b, kb, c, kc, d, kd, e, ke)                                                   \
	.args = {{#a, A_##ka}, {#b, A_##kb}, {#c, A_##kc}, {#d, A_##kd}, {#e, A_##ke}}
#define ARGS6(a, ka, b, kb, c, kc, d, kd, e, ke, f, kf)                                            \
	.args = {{#a, A_##ka}, {#b, A_##kb}, {#c, A_##kc}, {#d, A_##kd}, {#e, A_##ke}, {#f, A_##kf}}

/* All of them; the last row has no name. */
extern const struct call_spec pretty_calls[];

/* The arguments of a call (under one of its names) on an architecture, or NULL. */
const struct call_spec *pretty_call_find(const char *name, size_t len, uint32_t arch_bit);

/* ---- architectures ----------------------------------------------------------------------- */

extern const char pretty_numbers_x86_64[];
extern const char pretty_numbers_i386[];
extern const char pretty_numbers_generic[];
extern const char pretty_numbers_arm[];
extern const char pretty_numbers_s390x[];
extern const char pretty_numbers_ppc64[];
extern const char pretty_numbers_x32[];
extern const char pretty_numbers_common[];

struct set_override {
	uint8_t kind;
	const struct name_set *set;
};

struct pretty_arch {
	const char *machines;	/* words; a final * stands for any rest */
	const char *numbers[3]; /* texts as in pretty/numbers.c */
	uint32_t bit;		/* enum pretty_arch_bit */
	uint32_t abi_bit;	/* of a call's number that is no part of it, or 0 */
	bool plain_ioctl;	/* ioctl numbers are put together as on x86 */
	const struct set_override *overrides;
	size_t nr_overrides;
};

/* The architecture that a uname text names, or NULL. */
const struct pretty_arch *pretty_arch_find(const char *machine);

/*
 * Fills sets[kind - A_FIRST_SET] with the architecture's names. NULL stands for an unknown
 * architecture, which gets no set whose numbers differ.
 */
void pretty_arch_sets(const struct pretty_arch *arch, const struct name_set *sets[PRETTY_NR_SETS]);

/*
 * Walks over the architecture's calls: false at the end, else the next name and number. The walk
 * starts as {.arch = arch}.
 */
struct arch_walk {
	const struct pretty_arch *arch;
	const char *pos;
	unsigned int text;
	uint32_t nr;
	const char *name; /* not NUL-terminated */
	size_t len;
};

bool pretty_arch_next_call(struct arch_walk *w);

/* ---- errors and signals ------------------------------------------------------------------ */

struct error_name {
	const char *name;
	const char *text;
};

/* The name of an error, or NULL. */
const struct error_name *pretty_errno(unsigned int code, bool known_arch);

/* The name of signal 1 … 31, or NULL. */
const char *pretty_signal(unsigned int sig);

/* The name of a si_code, which depends on the signal, or NULL. */
const struct named *pretty_signal_code(unsigned int sig, int32_t code);

/* ---- values ------------------------------------------------------------------------------ */

/* What the printers of values need to know about the call. */
struct value_context {
	const struct name_set *const *sets;
	const struct pretty_arch *arch;
	const uint64_t *values; /* of all arguments */
	unsigned int i;		/* the one to print */
	unsigned int size;	/* its bytes: 4 or 8 */
};

/* False when what the other arguments say makes this one meaningless. */
bool pretty_value_matters(const struct value_context *c, uint8_t kind);

void pretty_value_print(const struct value_context *c, uint8_t kind, struct buf *out);

/* What a call returned; an error with its name. */
void pretty_result_print(const struct value_context *c, uint8_t kind, struct buf *out);

/* Names for a value from a set; set may be NULL. */
void pretty_names_print(const struct name_set *set, uint64_t v, struct buf *out);

void pretty_signal_print(uint64_t sig, bool known_arch, struct buf *out);

/* Text in quotes, and text without, with everything that is not printable escaped. */
void pretty_text_quoted(const uint8_t *p, size_t n, struct buf *out);
void pretty_text_print(const uint8_t *p, size_t n, struct buf *out);

#endif
