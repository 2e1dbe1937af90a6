// SPDX-License-Identifier: LGPL-2.1-or-later
/* Names of the numbers in system calls on processes, their memory and their signals. */
#include "event/pretty_tables.h"

/* clang-format off */

/* ---- life and death ---- */

/* The signal that the parent gets at the child's end sits in the lowest byte. */
static const struct named clone_flags_names[] = {
	FLAG(CLONE_VM, 0x100),
	FLAG(CLONE_FS, 0x200),
	FLAG(CLONE_FILES, 0x400),
	FLAG(CLONE_SIGHAND, 0x800),
	FLAG(CLONE_PIDFD, 0x1000),
	FLAG(CLONE_PTRACE, 0x2000),
	FLAG(CLONE_VFORK, 0x4000),
	FLAG(CLONE_PARENT, 0x8000),
	FLAG(CLONE_THREAD, 0x10000),
	FLAG(CLONE_NEWNS, 0x20000),
	FLAG(CLONE_SYSVSEM, 0x40000),
	FLAG(CLONE_SETTLS, 0x80000),
	FLAG(CLONE_PARENT_SETTID, 0x100000),
	FLAG(CLONE_CHILD_CLEARTID, 0x200000),
	FLAG(CLONE_DETACHED, 0x400000),
	FLAG(CLONE_UNTRACED, 0x800000),
	FLAG(CLONE_CHILD_SETTID, 0x1000000),
	FLAG(CLONE_NEWCGROUP, 0x2000000),
	FLAG(CLONE_NEWUTS, 0x4000000),
	FLAG(CLONE_NEWIPC, 0x8000000),
	FLAG(CLONE_NEWUSER, 0x10000000),
	FLAG(CLONE_NEWPID, 0x20000000),
	FLAG(CLONE_NEWNET, 0x40000000),
	FLAG(CLONE_IO, 0x80000000),
	PART(SIGHUP, 1, 0xff),
	PART(SIGKILL, 9, 0xff),
	PART(SIGUSR1, 10, 0xff),
	PART(SIGUSR2, 12, 0xff),
	PART(SIGTERM, 15, 0xff),
	PART(SIGCHLD, 17, 0xff),
};
NAME_SET(clone_flags, SET_WIDE);

static const struct named unshare_names[] = {
	FLAG(CLONE_NEWTIME, 0x80),
	FLAG(CLONE_VM, 0x100),
	FLAG(CLONE_FS, 0x200),
	FLAG(CLONE_FILES, 0x400),
	FLAG(CLONE_SIGHAND, 0x800),
	FLAG(CLONE_THREAD, 0x10000),
	FLAG(CLONE_NEWNS, 0x20000),
	FLAG(CLONE_SYSVSEM, 0x40000),
	FLAG(CLONE_NEWCGROUP, 0x2000000),
	FLAG(CLONE_NEWUTS, 0x4000000),
	FLAG(CLONE_NEWIPC, 0x8000000),
	FLAG(CLONE_NEWUSER, 0x10000000),
	FLAG(CLONE_NEWPID, 0x20000000),
	FLAG(CLONE_NEWNET, 0x40000000),
};
NAME_SET(unshare, 0);

#define WAIT_FLAGS                                                                                 \
	FLAG(WCONTINUED, 8), FLAG(WNOWAIT, 0x1000000), FLAG(__WNOTHREAD, 0x20000000),              \
		FLAG(__WALL, 0x40000000), FLAG(__WCLONE, 0x80000000)

static const struct named wait_options_names[] = {
	FLAG(WNOHANG, 1),
	FLAG(WUNTRACED, 2),
	WAIT_FLAGS,
};
NAME_SET(wait_options, 0);

static const struct named waitid_options_names[] = {
	FLAG(WNOHANG, 1),
	FLAG(WSTOPPED, 2),
	FLAG(WEXITED, 4),
	WAIT_FLAGS,
};
NAME_SET(waitid_options, 0);

static const struct named waitid_type_names[] = {
	IS(P_ALL, 0),
	IS(P_PID, 1),
	IS(P_PGID, 2),
	IS(P_PIDFD, 3),
};
NAME_SET(waitid_type, SET_NUMBER);

static const struct named pidfd_open_names[] = {
	FLAG(PIDFD_THREAD, 0x80),
	FLAG(PIDFD_NONBLOCK, 0x800),
};
NAME_SET(pidfd_open, 0);

static const struct named pidfd_signal_names[] = {
	FLAG(PIDFD_SIGNAL_THREAD, 1),
	FLAG(PIDFD_SIGNAL_THREAD_GROUP, 2),
	FLAG(PIDFD_SIGNAL_PROCESS_GROUP, 4),
};
NAME_SET(pidfd_signal, 0);

/* Registers as a block have numbers of their own only where the architecture is old enough. */
#define PTRACE_REQUESTS                                                                            \
	IS(PTRACE_TRACEME, 0), IS(PTRACE_PEEKTEXT, 1), IS(PTRACE_PEEKDATA, 2),                     \
		IS(PTRACE_PEEKUSR, 3), IS(PTRACE_POKETEXT, 4), IS(PTRACE_POKEDATA, 5),             \
		IS(PTRACE_POKEUSR, 6), IS(PTRACE_CONT, 7), IS(PTRACE_KILL, 8),                     \
		IS(PTRACE_SINGLESTEP, 9), IS(PTRACE_ATTACH, 16), IS(PTRACE_DETACH, 17),            \
		IS(PTRACE_SYSCALL, 24), IS(PTRACE_SETOPTIONS, 0x4200),                             \
		IS(PTRACE_GETEVENTMSG, 0x4201), IS(PTRACE_GETSIGINFO, 0x4202),                     \
		IS(PTRACE_SETSIGINFO, 0x4203), IS(PTRACE_GETREGSET, 0x4204),                       \
		IS(PTRACE_SETREGSET, 0x4205), IS(PTRACE_SEIZE, 0x4206),                            \
		IS(PTRACE_INTERRUPT, 0x4207), IS(PTRACE_LISTEN, 0x4208),                           \
		IS(PTRACE_PEEKSIGINFO, 0x4209), IS(PTRACE_GETSIGMASK, 0x420a),                     \
		IS(PTRACE_SETSIGMASK, 0x420b), IS(PTRACE_SECCOMP_GET_FILTER, 0x420c),              \
		IS(PTRACE_SECCOMP_GET_METADATA, 0x420d), IS(PTRACE_GET_SYSCALL_INFO, 0x420e),      \
		IS(PTRACE_GET_RSEQ_CONFIGURATION, 0x420f), IS(PTRACE_SET_SYSCALL_INFO, 0x4212)

static const struct named ptrace_request_names[] = {PTRACE_REQUESTS};
NAME_SET(ptrace_request, 0);

static const struct named ptrace_request_regs_names[] = {
	PTRACE_REQUESTS,	  IS(PTRACE_GETREGS, 12),   IS(PTRACE_SETREGS, 13),
	IS(PTRACE_GETFPREGS, 14), IS(PTRACE_SETFPREGS, 15),
};
NAME_SET(ptrace_request_regs, 0);

static const struct named kcmp_type_names[] = {
	IS(KCMP_FILE, 0),    IS(KCMP_VM, 1), IS(KCMP_FILES, 2),	  IS(KCMP_FS, 3),
	IS(KCMP_SIGHAND, 4), IS(KCMP_IO, 5), IS(KCMP_SYSVSEM, 6), IS(KCMP_EPOLL_TFD, 7),
};
NAME_SET(kcmp_type, SET_NUMBER);

/* ---- scheduling and limits ---- */

static const struct named sched_policy_names[] = {
	PART(SCHED_OTHER, 0, 0xff), PART(SCHED_FIFO, 1, 0xff),
	PART(SCHED_RR, 2, 0xff),    PART(SCHED_BATCH, 3, 0xff),
	PART(SCHED_IDLE, 5, 0xff),  PART(SCHED_DEADLINE, 6, 0xff),
	PART(SCHED_EXT, 7, 0xff),   FLAG(SCHED_RESET_ON_FORK, 0x40000000),
};
NAME_SET(sched_policy, 0);

static const struct named prio_which_names[] = {
	IS(PRIO_PROCESS, 0),
	IS(PRIO_PGRP, 1),
	IS(PRIO_USER, 2),
};
NAME_SET(prio_which, SET_NUMBER);

static const struct named ioprio_which_names[] = {
	IS(IOPRIO_WHO_PROCESS, 1),
	IS(IOPRIO_WHO_PGRP, 2),
	IS(IOPRIO_WHO_USER, 3),
};
NAME_SET(ioprio_which, SET_NUMBER);

static const struct named rlimit_names[] = {
	IS(RLIMIT_CPU, 0),	 IS(RLIMIT_FSIZE, 1),  IS(RLIMIT_DATA, 2),
	IS(RLIMIT_STACK, 3),	 IS(RLIMIT_CORE, 4),   IS(RLIMIT_RSS, 5),
	IS(RLIMIT_NPROC, 6),	 IS(RLIMIT_NOFILE, 7), IS(RLIMIT_MEMLOCK, 8),
	IS(RLIMIT_AS, 9),	 IS(RLIMIT_LOCKS, 10), IS(RLIMIT_SIGPENDING, 11),
	IS(RLIMIT_MSGQUEUE, 12), IS(RLIMIT_NICE, 13),  IS(RLIMIT_RTPRIO, 14),
	IS(RLIMIT_RTTIME, 15),
};
NAME_SET(rlimit, SET_NUMBER);

static const struct named rusage_who_names[] = {
	IS(RUSAGE_SELF, 0),
	IS(RUSAGE_THREAD, 1),
	IS(RUSAGE_CHILDREN, (uint32_t)-1),
};
NAME_SET(rusage_who, SET_NUMBER);

/* ---- time ---- */

static const struct named clock_id_names[] = {
	IS(CLOCK_REALTIME, 0),		IS(CLOCK_MONOTONIC, 1),	    IS(CLOCK_PROCESS_CPUTIME_ID, 2),
	IS(CLOCK_THREAD_CPUTIME_ID, 3), IS(CLOCK_MONOTONIC_RAW, 4), IS(CLOCK_REALTIME_COARSE, 5),
	IS(CLOCK_MONOTONIC_COARSE, 6),	IS(CLOCK_BOOTTIME, 7),	    IS(CLOCK_REALTIME_ALARM, 8),
	IS(CLOCK_BOOTTIME_ALARM, 9),	IS(CLOCK_SGI_CYCLE, 10),    IS(CLOCK_TAI, 11),
};
NAME_SET(clock_id, SET_NUMBER);

static const struct named timer_flags_names[] = {
	FLAG(TIMER_ABSTIME, 1),
};
NAME_SET(timer_flags, 0);

static const struct named itimer_names[] = {
	IS(ITIMER_REAL, 0),
	IS(ITIMER_VIRTUAL, 1),
	IS(ITIMER_PROF, 2),
};
NAME_SET(itimer, SET_NUMBER);

/* ---- futexes ---- */

static const struct named futex_op_names[] = {
	PART(FUTEX_WAIT, 0, 0x7f),
	PART(FUTEX_WAKE, 1, 0x7f),
	PART(FUTEX_FD, 2, 0x7f),
	PART(FUTEX_REQUEUE, 3, 0x7f),
	PART(FUTEX_CMP_REQUEUE, 4, 0x7f),
	PART(FUTEX_WAKE_OP, 5, 0x7f),
	PART(FUTEX_LOCK_PI, 6, 0x7f),
	PART(FUTEX_UNLOCK_PI, 7, 0x7f),
	PART(FUTEX_TRYLOCK_PI, 8, 0x7f),
	PART(FUTEX_WAIT_BITSET, 9, 0x7f),
	PART(FUTEX_WAKE_BITSET, 10, 0x7f),
	PART(FUTEX_WAIT_REQUEUE_PI, 11, 0x7f),
	PART(FUTEX_CMP_REQUEUE_PI, 12, 0x7f),
	PART(FUTEX_LOCK_PI2, 13, 0x7f),
	FLAG(FUTEX_PRIVATE_FLAG, 128),
	FLAG(FUTEX_CLOCK_REALTIME, 256),
};
NAME_SET(futex_op, 0);

static const struct named futex2_flags_names[] = {
	PART(FUTEX2_SIZE_U8, 0, 3),  PART(FUTEX2_SIZE_U16, 1, 3), PART(FUTEX2_SIZE_U32, 2, 3),
	PART(FUTEX2_SIZE_U64, 3, 3), FLAG(FUTEX2_NUMA, 4),	  FLAG(FUTEX2_MPOL, 8),
	FLAG(FUTEX2_PRIVATE, 128),
};
NAME_SET(futex2_flags, 0);

/* ---- what a process may ask about itself ---- */

static const struct named prctl_option_names[] = {
	IS(PR_SET_PDEATHSIG, 1),
	IS(PR_GET_PDEATHSIG, 2),
	IS(PR_GET_DUMPABLE, 3),
	IS(PR_SET_DUMPABLE, 4),
	IS(PR_GET_UNALIGN, 5),
	IS(PR_SET_UNALIGN, 6),
	IS(PR_GET_KEEPCAPS, 7),
	IS(PR_SET_KEEPCAPS, 8),
	IS(PR_GET_FPEMU, 9),
	IS(PR_SET_FPEMU, 10),
	IS(PR_GET_FPEXC, 11),
	IS(PR_SET_FPEXC, 12),
	IS(PR_GET_TIMING, 13),
	IS(PR_SET_TIMING, 14),
	IS(PR_SET_NAME, 15),
	IS(PR_GET_NAME, 16),
	IS(PR_GET_ENDIAN, 19),
	IS(PR_SET_ENDIAN, 20),
	IS(PR_GET_SECCOMP, 21),
	IS(PR_SET_SECCOMP, 22),
	IS(PR_CAPBSET_READ, 23),
	IS(PR_CAPBSET_DROP, 24),
	IS(PR_GET_TSC, 25),
	IS(PR_SET_TSC, 26),
	IS(PR_GET_SECUREBITS, 27),
	IS(PR_SET_SECUREBITS, 28),
	IS(PR_SET_TIMERSLACK, 29),
	IS(PR_GET_TIMERSLACK, 30),
	IS(PR_TASK_PERF_EVENTS_DISABLE, 31),
	IS(PR_TASK_PERF_EVENTS_ENABLE, 32),
	IS(PR_MCE_KILL, 33),
	IS(PR_MCE_KILL_GET, 34),
	IS(PR_SET_MM, 35),
	IS(PR_SET_CHILD_SUBREAPER, 36),
	IS(PR_GET_CHILD_SUBREAPER, 37),
	IS(PR_SET_NO_NEW_PRIVS, 38),
	IS(PR_GET_NO_NEW_PRIVS, 39),
	IS(PR_GET_TID_ADDRESS, 40),
	IS(PR_SET_THP_DISABLE, 41),
	IS(PR_GET_THP_DISABLE, 42),
	IS(PR_MPX_ENABLE_MANAGEMENT, 43),
	IS(PR_MPX_DISABLE_MANAGEMENT, 44),
	IS(PR_SET_FP_MODE, 45),
	IS(PR_GET_FP_MODE, 46),
	IS(PR_CAP_AMBIENT, 47),
	IS(PR_SVE_SET_VL, 50),
	IS(PR_SVE_GET_VL, 51),
	IS(PR_GET_SPECULATION_CTRL, 52),
	IS(PR_SET_SPECULATION_CTRL, 53),
	IS(PR_PAC_RESET_KEYS, 54),
	IS(PR_SET_TAGGED_ADDR_CTRL, 55),
	IS(PR_GET_TAGGED_ADDR_CTRL, 56),
	IS(PR_SET_IO_FLUSHER, 57),
	IS(PR_GET_IO_FLUSHER, 58),
	IS(PR_SET_SYSCALL_USER_DISPATCH, 59),
	IS(PR_PAC_SET_ENABLED_KEYS, 60),
	IS(PR_PAC_GET_ENABLED_KEYS, 61),
	IS(PR_SCHED_CORE, 62),
	IS(PR_SME_SET_VL, 63),
	IS(PR_SME_GET_VL, 64),
	IS(PR_SET_MDWE, 65),
	IS(PR_GET_MDWE, 66),
	IS(PR_SET_MEMORY_MERGE, 67),
	IS(PR_GET_MEMORY_MERGE, 68),
	IS(PR_RISCV_V_SET_CONTROL, 69),
	IS(PR_RISCV_V_GET_CONTROL, 70),
	IS(PR_RISCV_SET_ICACHE_FLUSH_CTX, 71),
	IS(PR_PPC_GET_DEXCR, 72),
	IS(PR_PPC_SET_DEXCR, 73),
	IS(PR_GET_SHADOW_STACK_STATUS, 74),
	IS(PR_SET_SHADOW_STACK_STATUS, 75),
	IS(PR_LOCK_SHADOW_STACK_STATUS, 76),
	IS(PR_TIMER_CREATE_RESTORE_IDS, 77),
	IS(PR_FUTEX_HASH, 78),
	IS(PR_SET_VMA, 0x53564d41),
	IS(PR_GET_AUXV, 0x41555856),
	IS(PR_SET_PTRACER, 0x59616d61),
};
NAME_SET(prctl_option, 0);

static const struct named arch_prctl_names[] = {
	IS(ARCH_SET_GS, 0x1001),
	IS(ARCH_SET_FS, 0x1002),
	IS(ARCH_GET_FS, 0x1003),
	IS(ARCH_GET_GS, 0x1004),
	IS(ARCH_GET_CPUID, 0x1011),
	IS(ARCH_SET_CPUID, 0x1012),
	IS(ARCH_GET_XCOMP_SUPP, 0x1021),
	IS(ARCH_GET_XCOMP_PERM, 0x1022),
	IS(ARCH_REQ_XCOMP_PERM, 0x1023),
	IS(ARCH_GET_XCOMP_GUEST_PERM, 0x1024),
	IS(ARCH_REQ_XCOMP_GUEST_PERM, 0x1025),
	IS(ARCH_MAP_VDSO_X32, 0x2001),
	IS(ARCH_MAP_VDSO_32, 0x2002),
	IS(ARCH_MAP_VDSO_64, 0x2003),
	IS(ARCH_CET_STATUS, 0x3001),
	IS(ARCH_GET_UNTAG_MASK, 0x4001),
	IS(ARCH_ENABLE_TAGGED_ADDR, 0x4002),
	IS(ARCH_GET_MAX_TAG_BITS, 0x4003),
	IS(ARCH_SHSTK_ENABLE, 0x5001),
	IS(ARCH_SHSTK_DISABLE, 0x5002),
	IS(ARCH_SHSTK_LOCK, 0x5003),
	IS(ARCH_SHSTK_UNLOCK, 0x5004),
	IS(ARCH_SHSTK_STATUS, 0x5005),
};
NAME_SET(arch_prctl, 0);

static const struct named capability_names[] = {
	IS(CAP_CHOWN, 0),
	IS(CAP_DAC_OVERRIDE, 1),
	IS(CAP_DAC_READ_SEARCH, 2),
	IS(CAP_FOWNER, 3),
	IS(CAP_FSETID, 4),
	IS(CAP_KILL, 5),
	IS(CAP_SETGID, 6),
	IS(CAP_SETUID, 7),
	IS(CAP_SETPCAP, 8),
	IS(CAP_LINUX_IMMUTABLE, 9),
	IS(CAP_NET_BIND_SERVICE, 10),
	IS(CAP_NET_BROADCAST, 11),
	IS(CAP_NET_ADMIN, 12),
	IS(CAP_NET_RAW, 13),
	IS(CAP_IPC_LOCK, 14),
	IS(CAP_IPC_OWNER, 15),
	IS(CAP_SYS_MODULE, 16),
	IS(CAP_SYS_RAWIO, 17),
	IS(CAP_SYS_CHROOT, 18),
	IS(CAP_SYS_PTRACE, 19),
	IS(CAP_SYS_PACCT, 20),
	IS(CAP_SYS_ADMIN, 21),
	IS(CAP_SYS_BOOT, 22),
	IS(CAP_SYS_NICE, 23),
	IS(CAP_SYS_RESOURCE, 24),
	IS(CAP_SYS_TIME, 25),
	IS(CAP_SYS_TTY_CONFIG, 26),
	IS(CAP_MKNOD, 27),
	IS(CAP_LEASE, 28),
	IS(CAP_AUDIT_WRITE, 29),
	IS(CAP_AUDIT_CONTROL, 30),
	IS(CAP_SETFCAP, 31),
	IS(CAP_MAC_OVERRIDE, 32),
	IS(CAP_MAC_ADMIN, 33),
	IS(CAP_SYSLOG, 34),
	IS(CAP_WAKE_ALARM, 35),
	IS(CAP_BLOCK_SUSPEND, 36),
	IS(CAP_AUDIT_READ, 37),
	IS(CAP_PERFMON, 38),
	IS(CAP_BPF, 39),
	IS(CAP_CHECKPOINT_RESTORE, 40),
};
NAME_SET(capability, SET_NUMBER);

static const struct named personality_names[] = {
	{UINT32_MAX, UINT32_MAX, "0xffffffff", 10}, /* asks, sets nothing */
	PART(PER_LINUX, 0, 0xff),
	PART(PER_SVR4, 1, 0xff),
	PART(PER_BSD, 6, 0xff),
	PART(PER_LINUX32, 8, 0xff),
	FLAG(UNAME26, 0x20000),
	FLAG(ADDR_NO_RANDOMIZE, 0x40000),
	FLAG(FDPIC_FUNCPTRS, 0x80000),
	FLAG(MMAP_PAGE_ZERO, 0x100000),
	FLAG(ADDR_COMPAT_LAYOUT, 0x200000),
	FLAG(READ_IMPLIES_EXEC, 0x400000),
	FLAG(ADDR_LIMIT_32BIT, 0x800000),
	FLAG(SHORT_INODE, 0x1000000),
	FLAG(WHOLE_SECONDS, 0x2000000),
	FLAG(STICKY_TIMEOUTS, 0x4000000),
	FLAG(ADDR_LIMIT_3GB, 0x8000000),
};
NAME_SET(personality, 0);

/* ---- memory ---- */

#define PROT_FLAGS                                                                                 \
	IS(PROT_NONE, 0), FLAG(PROT_READ, 1), FLAG(PROT_WRITE, 2), FLAG(PROT_EXEC, 4),             \
		FLAG(PROT_SEM, 8), FLAG(PROT_GROWSDOWN, 0x1000000), FLAG(PROT_GROWSUP, 0x2000000)

static const struct named mmap_prot_names[] = {PROT_FLAGS};
NAME_SET(mmap_prot, SET_WIDE);

static const struct named mmap_prot_arm64_names[] = {
	PROT_FLAGS,
	FLAG(PROT_BTI, 0x10),
	FLAG(PROT_MTE, 0x20),
};
NAME_SET(mmap_prot_arm64, SET_WIDE);

static const struct named mmap_prot_ppc_names[] = {
	PROT_FLAGS,
	FLAG(PROT_SAO, 0x10),
};
NAME_SET(mmap_prot_ppc, SET_WIDE);

#define MAP_TYPES                                                                                  \
	PART(MAP_SHARED, 1, 0xf), PART(MAP_PRIVATE, 2, 0xf), PART(MAP_SHARED_VALIDATE, 3, 0xf),    \
		PART(MAP_DROPPABLE, 8, 0xf), FLAG(MAP_FIXED, 0x10), FLAG(MAP_ANONYMOUS, 0x20)
#define MAP_FLAGS_END                                                                              \
	FLAG(MAP_POPULATE, 0x8000), FLAG(MAP_NONBLOCK, 0x10000), FLAG(MAP_STACK, 0x20000),         \
		FLAG(MAP_HUGETLB, 0x40000), FLAG(MAP_SYNC, 0x80000),                               \
		FLAG(MAP_FIXED_NOREPLACE, 0x100000), PART(MAP_HUGE_16KB, 14u << 26, 63u << 26),    \
		PART(MAP_HUGE_64KB, 16u << 26, 63u << 26),                                         \
		PART(MAP_HUGE_1MB, 20u << 26, 63u << 26),                                          \
		PART(MAP_HUGE_2MB, 21u << 26, 63u << 26),                                          \
		PART(MAP_HUGE_16MB, 24u << 26, 63u << 26),                                         \
		PART(MAP_HUGE_32MB, 25u << 26, 63u << 26),                                         \
		PART(MAP_HUGE_512MB, 29u << 26, 63u << 26),                                        \
		PART(MAP_HUGE_1GB, 30u << 26, 63u << 26),                                          \
		PART(MAP_HUGE_16GB, 34u << 26, 63u << 26)

static const struct named mmap_flags_names[] = {
	MAP_TYPES,
	FLAG(MAP_GROWSDOWN, 0x100),
	FLAG(MAP_DENYWRITE, 0x800),
	FLAG(MAP_EXECUTABLE, 0x1000),
	FLAG(MAP_LOCKED, 0x2000),
	FLAG(MAP_NORESERVE, 0x4000),
	MAP_FLAGS_END,
};
NAME_SET(mmap_flags, SET_WIDE);

static const struct named mmap_flags_x86_names[] = {
	MAP_TYPES,
	FLAG(MAP_32BIT, 0x40),
	FLAG(MAP_ABOVE4G, 0x80),
	FLAG(MAP_GROWSDOWN, 0x100),
	FLAG(MAP_DENYWRITE, 0x800),
	FLAG(MAP_EXECUTABLE, 0x1000),
	FLAG(MAP_LOCKED, 0x2000),
	FLAG(MAP_NORESERVE, 0x4000),
	MAP_FLAGS_END,
};
NAME_SET(mmap_flags_x86, SET_WIDE);

static const struct named mmap_flags_ppc_names[] = {
	MAP_TYPES,
	FLAG(MAP_NORESERVE, 0x40),
	FLAG(MAP_LOCKED, 0x80),
	FLAG(MAP_GROWSDOWN, 0x100),
	FLAG(MAP_DENYWRITE, 0x800),
	FLAG(MAP_EXECUTABLE, 0x1000),
	MAP_FLAGS_END,
};
NAME_SET(mmap_flags_ppc, SET_WIDE);

static const struct named mremap_names[] = {
	FLAG(MREMAP_MAYMOVE, 1),
	FLAG(MREMAP_FIXED, 2),
	FLAG(MREMAP_DONTUNMAP, 4),
};
NAME_SET(mremap, SET_WIDE);

static const struct named madvise_names[] = {
	IS(MADV_NORMAL, 0),	      IS(MADV_RANDOM, 1),	   IS(MADV_SEQUENTIAL, 2),
	IS(MADV_WILLNEED, 3),	      IS(MADV_DONTNEED, 4),	   IS(MADV_FREE, 8),
	IS(MADV_REMOVE, 9),	      IS(MADV_DONTFORK, 10),	   IS(MADV_DOFORK, 11),
	IS(MADV_MERGEABLE, 12),	      IS(MADV_UNMERGEABLE, 13),	   IS(MADV_HUGEPAGE, 14),
	IS(MADV_NOHUGEPAGE, 15),      IS(MADV_DONTDUMP, 16),	   IS(MADV_DODUMP, 17),
	IS(MADV_WIPEONFORK, 18),      IS(MADV_KEEPONFORK, 19),	   IS(MADV_COLD, 20),
	IS(MADV_PAGEOUT, 21),	      IS(MADV_POPULATE_READ, 22),  IS(MADV_POPULATE_WRITE, 23),
	IS(MADV_DONTNEED_LOCKED, 24), IS(MADV_COLLAPSE, 25),	   IS(MADV_HWPOISON, 100),
	IS(MADV_SOFT_OFFLINE, 101),   IS(MADV_GUARD_INSTALL, 102), IS(MADV_GUARD_REMOVE, 103),
};
NAME_SET(madvise, SET_NUMBER);

static const struct named msync_names[] = {
	FLAG(MS_ASYNC, 1),
	FLAG(MS_INVALIDATE, 2),
	FLAG(MS_SYNC, 4),
};
NAME_SET(msync, 0);

static const struct named mlock2_names[] = {
	FLAG(MLOCK_ONFAULT, 1),
};
NAME_SET(mlock2, 0);

static const struct named mlockall_names[] = {
	FLAG(MCL_CURRENT, 1),
	FLAG(MCL_FUTURE, 2),
	FLAG(MCL_ONFAULT, 4),
};
NAME_SET(mlockall, 0);

static const struct named mlockall_ppc_names[] = {
	FLAG(MCL_CURRENT, 0x2000),
	FLAG(MCL_FUTURE, 0x4000),
	FLAG(MCL_ONFAULT, 0x8000),
};
NAME_SET(mlockall_ppc, 0);

static const struct named pkey_rights_names[] = {
	FLAG(PKEY_DISABLE_ACCESS, 1),
	FLAG(PKEY_DISABLE_WRITE, 2),
	FLAG(PKEY_DISABLE_EXECUTE, 4),
};
NAME_SET(pkey_rights, SET_WIDE);

/* ---- NUMA ---- */

static const struct named mempolicy_names[] = {
	PART(MPOL_DEFAULT, 0, 0x1fff),
	PART(MPOL_PREFERRED, 1, 0x1fff),
	PART(MPOL_BIND, 2, 0x1fff),
	PART(MPOL_INTERLEAVE, 3, 0x1fff),
	PART(MPOL_LOCAL, 4, 0x1fff),
	PART(MPOL_PREFERRED_MANY, 5, 0x1fff),
	PART(MPOL_WEIGHTED_INTERLEAVE, 6, 0x1fff),
	FLAG(MPOL_F_NUMA_BALANCING, 0x2000),
	FLAG(MPOL_F_RELATIVE_NODES, 0x4000),
	FLAG(MPOL_F_STATIC_NODES, 0x8000),
};
NAME_SET(mempolicy, 0);

static const struct named mempolicy_get_names[] = {
	FLAG(MPOL_F_NODE, 1),
	FLAG(MPOL_F_ADDR, 2),
	FLAG(MPOL_F_MEMS_ALLOWED, 4),
};
NAME_SET(mempolicy_get, 0);

static const struct named mbind_flags_names[] = {
	FLAG(MPOL_MF_STRICT, 1),
	FLAG(MPOL_MF_MOVE, 2),
	FLAG(MPOL_MF_MOVE_ALL, 4),
};
NAME_SET(mbind_flags, 0);

static const struct named membarrier_cmd_names[] = {
	IS(MEMBARRIER_CMD_QUERY, 0),
	IS(MEMBARRIER_CMD_GLOBAL, 1),
	IS(MEMBARRIER_CMD_GLOBAL_EXPEDITED, 2),
	IS(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 4),
	IS(MEMBARRIER_CMD_PRIVATE_EXPEDITED, 8),
	IS(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 16),
	IS(MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 32),
	IS(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 64),
	IS(MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ, 128),
	IS(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ, 256),
	IS(MEMBARRIER_CMD_GET_REGISTRATIONS, 512),
};
NAME_SET(membarrier_cmd, 0);

/* ---- signals and their codes ---- */

static const char *const signals[] = {
	[1] = "SIGHUP",	    [2] = "SIGINT",   [3] = "SIGQUIT",	 [4] = "SIGILL",   [5] = "SIGTRAP",
	[6] = "SIGABRT",    [7] = "SIGBUS",   [8] = "SIGFPE",	 [9] = "SIGKILL",  [10] = "SIGUSR1",
	[11] = "SIGSEGV",   [12] = "SIGUSR2", [13] = "SIGPIPE",	 [14] = "SIGALRM", [15] = "SIGTERM",
	[16] = "SIGSTKFLT", [17] = "SIGCHLD", [18] = "SIGCONT",	 [19] = "SIGSTOP", [20] = "SIGTSTP",
	[21] = "SIGTTIN",   [22] = "SIGTTOU", [23] = "SIGURG",	 [24] = "SIGXCPU", [25] = "SIGXFSZ",
	[26] = "SIGVTALRM", [27] = "SIGPROF", [28] = "SIGWINCH", [29] = "SIGIO",   [30] = "SIGPWR",
	[31] = "SIGSYS",
};

const char *pretty_signal(unsigned int sig)
{
	return sig < sizeof(signals) / sizeof(signals[0]) ? signals[sig] : NULL;
}

/* Codes that say who sent a signal; the negative ones are shown as they lie in 32 bits. */
static const struct named any_code[] = {
	IS(SI_USER, 0),
	IS(SI_KERNEL, 0x80),
	IS(SI_QUEUE, (uint32_t)-1),
	IS(SI_TIMER, (uint32_t)-2),
	IS(SI_MESGQ, (uint32_t)-3),
	IS(SI_ASYNCIO, (uint32_t)-4),
	IS(SI_SIGIO, (uint32_t)-5),
	IS(SI_TKILL, (uint32_t)-6),
	IS(SI_DETHREAD, (uint32_t)-7),
	IS(SI_ASYNCNL, (uint32_t)-60),
};

static const struct named ill_code[] = {
	IS(ILL_ILLOPC, 1), IS(ILL_ILLOPN, 2), IS(ILL_ILLADR, 3),
	IS(ILL_ILLTRP, 4), IS(ILL_PRVOPC, 5), IS(ILL_PRVREG, 6),
	IS(ILL_COPROC, 7), IS(ILL_BADSTK, 8), IS(ILL_BADIADDR, 9),
};

static const struct named trap_code[] = {
	IS(TRAP_BRKPT, 1),  IS(TRAP_TRACE, 2), IS(TRAP_BRANCH, 3),
	IS(TRAP_HWBKPT, 4), IS(TRAP_UNK, 5),   IS(TRAP_PERF, 6),
};

static const struct named bus_code[] = {
	IS(BUS_ADRALN, 1),    IS(BUS_ADRERR, 2),    IS(BUS_OBJERR, 3),
	IS(BUS_MCEERR_AR, 4), IS(BUS_MCEERR_AO, 5),
};

static const struct named fpe_code[] = {
	IS(FPE_INTDIV, 1),  IS(FPE_INTOVF, 2),	  IS(FPE_FLTDIV, 3), IS(FPE_FLTOVF, 4),
	IS(FPE_FLTUND, 5),  IS(FPE_FLTRES, 6),	  IS(FPE_FLTINV, 7), IS(FPE_FLTSUB, 8),
	IS(FPE_FLTUNK, 14), IS(FPE_CONDTRAP, 15),
};

static const struct named segv_code[] = {
	IS(SEGV_MAPERR, 1),  IS(SEGV_ACCERR, 2),  IS(SEGV_BNDERR, 3),  IS(SEGV_PKUERR, 4),
	IS(SEGV_ACCADI, 5),  IS(SEGV_ADIDERR, 6), IS(SEGV_ADIPERR, 7), IS(SEGV_MTEAERR, 8),
	IS(SEGV_MTESERR, 9), IS(SEGV_CPERR, 10),
};

static const struct named cld_code[] = {
	IS(CLD_EXITED, 1),  IS(CLD_KILLED, 2),	IS(CLD_DUMPED, 3),
	IS(CLD_TRAPPED, 4), IS(CLD_STOPPED, 5), IS(CLD_CONTINUED, 6),
};

static const struct named poll_code[] = {
	IS(POLL_IN, 1),	 IS(POLL_OUT, 2), IS(POLL_MSG, 3),
	IS(POLL_ERR, 4), IS(POLL_PRI, 5), IS(POLL_HUP, 6),
};

static const struct named sys_code[] = {
	IS(SYS_SECCOMP, 1),
	IS(SYS_USER_DISPATCH, 2),
};

#define CODES(table)                                                                               \
	{                                                                                          \
		table, sizeof(table) / sizeof(table[0]), 0                                         \
	}

/* By signal. */
static const struct name_set codes[] = {
	[4] = CODES(ill_code),	 [5] = CODES(trap_code),  [7] = CODES(bus_code),
	[8] = CODES(fpe_code),	 [11] = CODES(segv_code), [17] = CODES(cld_code),
	[29] = CODES(poll_code), [31] = CODES(sys_code),
};

const struct named *pretty_signal_code(unsigned int sig, int32_t code)
{
	static const struct name_set any = CODES(any_code);
	const struct name_set *set = &any;

	if (code > 0 && code != 0x80) {
		if (sig >= sizeof(codes) / sizeof(codes[0]))
			return NULL;
		set = &codes[sig];
	}
	for (size_t i = 0; i < set->n; i++)
		if (set->at[i].value == (uint32_t)code)
			return &set->at[i];
	return NULL;
}

static const struct named signal_result_names[] = {
	IS(delivered, 0), IS(ignored, 1), IS(pending, 2), IS(overflow, 3), IS(lost_info, 4),
};
NAME_SET(signal_result, SET_NUMBER);

static const struct named sa_flags_names[] = {
	FLAG(SA_NOCLDSTOP, 1),
	FLAG(SA_NOCLDWAIT, 2),
	FLAG(SA_SIGINFO, 4),
	FLAG(SA_UNSUPPORTED, 0x400),
	FLAG(SA_EXPOSE_TAGBITS, 0x800),
	FLAG(SA_RESTORER, 0x4000000),
	FLAG(SA_ONSTACK, 0x8000000),
	FLAG(SA_RESTART, 0x10000000),
	FLAG(SA_NODEFER, 0x40000000),
	FLAG(SA_RESETHAND, 0x80000000),
};
NAME_SET(sa_flags, SET_WIDE);

static const struct named sigprocmask_names[] = {
	IS(SIG_BLOCK, 0),
	IS(SIG_UNBLOCK, 1),
	IS(SIG_SETMASK, 2),
};
NAME_SET(sigprocmask, SET_NUMBER);
