// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Three walls: another user (who cannot become root again), landlock (which
 * files), seccomp (which system calls).
 *
 * A call that is not on the list fails with EPERM rather than killing the process: a library that
 * tries something can continue without it: one question fails, not the whole view. New processes
 * and new sockets are among what fails; threads are not.
 *
 * A recorder stays root, because tracefs belongs to root, but with only two of root's capabilities,
 * and it cannot run other programs.
 */
#include "view/serve/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"

/* ---- another user ---- */

/* What recording takes of root: the user gets the file, and symbols have their addresses. */
static const int of_recorder[] = {CAP_CHOWN, CAP_SYSLOG};

static bool is_of_recorder(int capability)
{
	for (size_t i = 0; i < ARRAY_SIZE(of_recorder); i++)
		if (of_recorder[i] == capability)
			return true;
	return false;
}

/* Programs that this process runs get none of the recorder's others. */
static bool drop_from_bounding_set(void)
{
	for (int i = 0; prctl(PR_CAPBSET_READ, i, 0, 0, 0) >= 0; i++)
		if (!is_of_recorder(i) && prctl(PR_CAPBSET_DROP, i, 0, 0, 0) != 0)
			return false;
	return true;
}

/*
 * Gives up all capabilities, or all but those of a recorder. They can be had without being root,
 * and survive a change of the user: those that programs inherit, and those that root had asked to
 * keep.
 */
static int drop_capabilities(bool recorder, struct spur_error *err)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct kept[2] = {0};
	bool done;

	/* The bounding set comes first: lowering it needs a capability, too. */
	done = !recorder || drop_from_bounding_set();
	/* A kernel that does not know ambient capabilities (EINVAL) has none of them. */
	done = done &&
	       (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) == 0 || errno == EINVAL);
	done = done && (!recorder || syscall(__NR_capget, &head, kept) == 0);
	for (int i = 0; i < 64; i++)
		if (!is_of_recorder(i))
			kept[i / 32].permitted &= ~(1u << i % 32);
	for (int i = 0; i < 2; i++) {
		kept[i].effective = kept[i].permitted;
		kept[i].inheritable = 0;
	}
	done = done && syscall(__NR_capset, &head, kept) == 0;
	return done ? 0 : error_sys(err, -errno, "giving up capabilities");
}

static int drop_root(const struct confine_options *opt, struct spur_error *err)
{
	const bool root = geteuid() == 0;
	const uid_t uid = root ? opt->uid : geteuid();
	const gid_t gid = root ? opt->gid : getegid();
	int rc;

	if (root && (!uid || !gid))
		return error_set(err, -EINVAL, "there is nobody else to be than root");
	if ((root && setgroups(0, NULL) != 0) || setresgid(gid, gid, gid) != 0 ||
	    setresuid(uid, uid, uid) != 0)
		return error_sys(err, -errno, "giving up root");
	rc = drop_capabilities(false, err);
	if (rc < 0)
		return rc;
	if (setuid(0) == 0 || (root && setgid(0) == 0))
		return error_set(err, -EPERM, "root could not be given up");
	return 0;
}

/* ---- landlock, whose headers may be older than the kernel ---- */

#ifndef __NR_landlock_create_ruleset
#define __NR_landlock_create_ruleset 444
#define __NR_landlock_add_rule	     445
#define __NR_landlock_restrict_self  446
#endif

#define LL_VERSION     1u /* flag of landlock_create_ruleset() */
#define LL_PATH	       1  /* kind of rule */
#define LL_WRITE_FILE  (1u << 1)
#define LL_READ_FILE   (1u << 2)
#define LL_READ_DIR    (1u << 3)
#define LL_REMOVE_DIR  (1u << 4)
#define LL_REMOVE_FILE (1u << 5)
#define LL_MAKE_REG    (1u << 8)
#define LL_TRUNCATE    (1u << 14)
#define LL_READ	       (LL_READ_FILE | LL_READ_DIR)
#define LL_WRITE       (LL_READ | LL_WRITE_FILE | LL_REMOVE_FILE | LL_MAKE_REG | LL_TRUNCATE)

struct ll_ruleset {
	uint64_t fs, net, scoped;
};

struct ll_path {
	uint64_t access;
	int32_t fd;
} __attribute__((packed));

/* What versions of landlock know: how many rights of files, the size of the struct. */
static const struct {
	unsigned int rights;
	size_t size;
	uint64_t net, scoped;
} ll_versions[] = {
	{13, 8, 0, 0}, {14, 8, 0, 0}, {15, 8, 0, 0}, {15, 16, 3, 0}, {16, 16, 3, 0}, {16, 24, 3, 3},
};

static int allow(int ruleset, uint64_t known, const char *const *folders, uint64_t access,
		 struct spur_error *err)
{
	for (; folders && *folders; folders++) {
		struct ll_path rule = {.access = access & known};
		int rc = 0;

		rule.fd = open(*folders, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (rule.fd < 0 || syscall(__NR_landlock_add_rule, ruleset, LL_PATH, &rule, 0) != 0)
			rc = error_sys(err, -errno, "%s", *folders);
		if (rule.fd >= 0)
			close(rule.fd);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int restrict_files(const struct confine_options *opt, struct buf *notes,
			  struct spur_error *err)
{
	struct ll_ruleset set = {0};
	long version = syscall(__NR_landlock_create_ruleset, NULL, 0, LL_VERSION);
	int fd, rc;

	if (version < 1) {
		buf_puts(notes, "the kernel has no landlock: files are not restricted\n");
		return 0;
	}
	if (version > (long)ARRAY_SIZE(ll_versions))
		version = (long)ARRAY_SIZE(ll_versions);
	set.fs = (1ull << ll_versions[version - 1].rights) - 1;
	set.net = ll_versions[version - 1].net;
	set.scoped = ll_versions[version - 1].scoped;
	fd = (int)syscall(__NR_landlock_create_ruleset, &set, ll_versions[version - 1].size, 0);
	if (fd < 0)
		return error_sys(err, -errno, "landlock");
	rc = allow(fd, set.fs, opt->writable, LL_WRITE, err);
	if (rc == 0)
		rc = allow(fd, set.fs, opt->readable, LL_READ, err);
	if (rc == 0)
		rc = allow(fd, set.fs, opt->emptied, LL_REMOVE_DIR, err);
	if (rc == 0 && syscall(__NR_landlock_restrict_self, fd, 0) != 0)
		rc = error_sys(err, -errno, "landlock");
	close(fd);
	return rc;
}

/* ---- seccomp ---- */

#if defined(__x86_64__)
#define OUR_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_ARCH AUDIT_ARCH_AARCH64
#endif

/* Who is restricted. */
enum who { SERVER, ON_TERMINAL, RECORDER };

#ifdef OUR_ARCH

static const int permitted[] = {
	/* clang-format off */
	/* Files that are open, and those that landlock permits. */
	__NR_read, __NR_write, __NR_readv, __NR_writev, __NR_pread64, __NR_pwrite64,
	__NR_preadv, __NR_pwritev, __NR_lseek, __NR_openat, __NR_close, __NR_fstat,
	__NR_newfstatat, __NR_statx, __NR_statfs, __NR_fstatfs, __NR_faccessat, __NR_readlinkat,
	__NR_getdents64, __NR_fcntl, __NR_ftruncate, __NR_fallocate, __NR_fsync, __NR_fdatasync,
	__NR_unlinkat, __NR_renameat, __NR_linkat, __NR_flock, __NR_dup, __NR_dup3, __NR_getcwd,
	__NR_fadvise64, __NR_copy_file_range, __NR_fchmod,
	/* Memory; what becomes code is not. */
	__NR_munmap, __NR_mremap, __NR_madvise, __NR_brk,
	/* Threads. */
	__NR_futex, __NR_exit, __NR_exit_group, __NR_set_robust_list, __NR_set_tid_address,
	__NR_rt_sigaction, __NR_rt_sigprocmask, __NR_rt_sigreturn, __NR_rt_sigtimedwait,
	__NR_sigaltstack, __NR_gettid, __NR_getpid, __NR_sched_yield, __NR_sched_getaffinity,
	__NR_wait4, __NR_restart_syscall, __NR_membarrier, __NR_getpriority, __NR_rseq,
	/* Time, and what there is of it. */
	__NR_clock_gettime, __NR_clock_getres, __NR_clock_nanosleep, __NR_nanosleep,
	__NR_gettimeofday, __NR_getrusage, __NR_sysinfo, __NR_uname, __NR_times,
	/* Connections that are there. */
	__NR_accept, __NR_accept4, __NR_recvfrom, __NR_recvmsg, __NR_sendfile,
	__NR_shutdown, __NR_getsockname, __NR_getpeername, __NR_getsockopt,
	__NR_setsockopt, __NR_ppoll, __NR_pselect6, __NR_epoll_create1, __NR_epoll_ctl,
	__NR_epoll_pwait, __NR_eventfd2, __NR_pipe2, __NR_signalfd4,
	/* Who one is, and chance. */
	__NR_getuid, __NR_geteuid, __NR_getgid, __NR_getegid, __NR_getppid, __NR_getrandom,
#ifdef __NR_renameat2
	__NR_renameat2,
#endif
#ifdef __NR_faccessat2
	__NR_faccessat2,
#endif
#ifdef __x86_64__
	/* The older names, which arm64 never had. */
	__NR_open, __NR_stat, __NR_lstat, __NR_access, __NR_readlink, __NR_unlink, __NR_rename,
	__NR_rmdir, __NR_dup2, __NR_poll, __NR_select, __NR_epoll_wait, __NR_time, __NR_link,
	__NR_arch_prctl, __NR_getdents,
#endif
	/* clang-format on */
};

/* A recorder also makes folders (one in tracefs), and starts processes that read buffers. */
static const int permitted_to_recorder[] = {
	/* clang-format off */
	__NR_mkdirat, __NR_fchdir, __NR_fchown, __NR_splice, __NR_setsid, __NR_sched_setaffinity,
	__NR_pipe2,
#ifdef __NR_close_range
	__NR_close_range,
#endif
#ifdef __x86_64__
	__NR_mkdir,
#endif
	/* clang-format on */
};

#define MAX_INSTRUCTIONS ((ARRAY_SIZE(permitted) + ARRAY_SIZE(permitted_to_recorder)) * 2 + 120)

struct program {
	struct sock_filter at[MAX_INSTRUCTIONS];
	unsigned short n;
};

static void add(struct program *p, uint16_t code, uint32_t k, uint8_t yes, uint8_t no)
{
	p->at[p->n++] = (struct sock_filter){code, yes, no, k};
}

#define LOAD(p, field) add(p, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field), 0, 0)
#define RETURN(p, k)   add(p, BPF_RET | BPF_K, k, 0, 0)

/* Skips the next `length` instructions, which are about this call, when it is another one. */
static void unless_call(struct program *p, int number, uint8_t length)
{
	add(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, length);
}

/* A call that is about this process, or harmless, when its first argument is this. */
static void only_with(struct program *p, int number, uint32_t first)
{
	unless_call(p, number, 4);
	LOAD(p, args[0]);
	add(p, BPF_JMP | BPF_JEQ | BPF_K, first, 0, 1);
	RETURN(p, SECCOMP_RET_ALLOW);
	RETURN(p, SECCOMP_RET_ERRNO | EPERM);
}

/* A call that is permitted when an argument, by its place, has none of these (lower) bits. */
static void only_without(struct program *p, int number, uint32_t argument, uint32_t bits)
{
	unless_call(p, number, 4);
	add(p, BPF_LD | BPF_W | BPF_ABS, argument, 0, 0);
	add(p, BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
	RETURN(p, SECCOMP_RET_ERRNO | EPERM);
	RETURN(p, SECCOMP_RET_ALLOW);
}

#define ARGUMENT(n) (uint32_t) offsetof(struct seccomp_data, args[n])

/* What ncurses does to its terminal. Those with a 2 are of newer libcs and not in every header. */
static const uint32_t of_terminals[] = {
	TCGETS,	   TCSETS,     TCSETSW,	   TCSETSF,    TCFLSH,	   TIOCGWINSZ,
	TIOCGPGRP, 0x802c542a, 0x402c542b, 0x402c542c, 0x402c542d,
};

static void add_terminal(struct program *p)
{
	unless_call(p, __NR_ioctl, 2 * ARRAY_SIZE(of_terminals) + 2);
	LOAD(p, args[1]);
	for (size_t i = 0; i < ARRAY_SIZE(of_terminals); i++) {
		add(p, BPF_JMP | BPF_JEQ | BPF_K, of_terminals[i], 0, 1);
		RETURN(p, SECCOMP_RET_ALLOW);
	}
	RETURN(p, SECCOMP_RET_ERRNO | EPERM);
	/* Ctrl-Z is passed on to oneself. */
	only_with(p, __NR_kill, (uint32_t)getpid());
	only_with(p, __NR_getpgid, 0);
#ifdef __x86_64__
	unless_call(p, __NR_getpgrp, 1);
	RETURN(p, SECCOMP_RET_ALLOW);
#endif
}

static void add_calls(struct program *p, const int *calls, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unless_call(p, calls[i], 1);
		RETURN(p, SECCOMP_RET_ALLOW);
	}
}

/* A recorder has processes, which run no other programs, and talk by a socket of their own. */
static void add_recorder(struct program *p)
{
	only_without(p, __NR_clone, ARGUMENT(0),
		     CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
			     CLONE_NEWPID | CLONE_NEWNET);
	only_with(p, __NR_socketpair, AF_UNIX);
	add_calls(p, permitted_to_recorder, ARRAY_SIZE(permitted_to_recorder));
}

static void add_threads(struct program *p)
{
	unless_call(p, __NR_clone, 4);
	LOAD(p, args[0]);
	add(p, BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1);
	RETURN(p, SECCOMP_RET_ALLOW);
	RETURN(p, SECCOMP_RET_ERRNO | EPERM);
}

/*
 * clone() is for threads only, but for a recorder. What clone3() is for cannot be seen, so that
 * there is no such call: libc then uses clone().
 */
static void add_filters(struct program *p, enum who who)
{
	LOAD(p, arch);
	add(p, BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCH, 1, 0);
	RETURN(p, SECCOMP_RET_KILL_PROCESS);
	LOAD(p, nr);
	if (who == RECORDER)
		add_recorder(p);
	else
		add_threads(p);
	unless_call(p, __NR_clone3, 1);
	RETURN(p, SECCOMP_RET_ERRNO | ENOSYS);
	only_with(p, __NR_prctl, PR_SET_NAME);
	only_with(p, __NR_prlimit64, 0);
	only_with(p, __NR_tgkill, (uint32_t)getpid());
	/* Nothing becomes code any more. */
	only_without(p, __NR_mmap, ARGUMENT(2), PROT_EXEC);
	only_without(p, __NR_mprotect, ARGUMENT(2), PROT_EXEC);
	/* With this a socket that has stopped listening would connect to anybody. */
	only_without(p, __NR_sendto, ARGUMENT(3), MSG_FASTOPEN);
	only_without(p, __NR_sendmsg, ARGUMENT(2), MSG_FASTOPEN);
	if (who == ON_TERMINAL)
		add_terminal(p);
	add_calls(p, permitted, ARRAY_SIZE(permitted));
	RETURN(p, SECCOMP_RET_ERRNO | EPERM);
}

static int restrict_calls(enum who who, struct buf *notes, struct spur_error *err)
{
	struct program p = {.n = 0};
	struct sock_fprog filter = {.filter = p.at};

	add_filters(&p, who);
	filter.len = p.n;
	if (syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) == 0)
		return 0;
	if (errno != ENOSYS && errno != EINVAL)
		return error_sys(err, -errno, "seccomp");
	buf_puts(notes, "the kernel has no seccomp filters: system calls are not restricted\n");
	return 0;
}

#else

static int restrict_calls(enum who who, struct buf *notes, struct spur_error *err)
{
	buf_puts(notes, "system calls are not restricted on this kind of machine\n");
	return 0;
}

#endif

/* No program that is run from now on gets privileges that this process does not have. */
static int refuse_privileges(struct spur_error *err)
{
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0
							   : error_sys(err, -errno, "no_new_privs");
}

int confine(const struct confine_options *opt, struct buf *notes, struct spur_error *err)
{
	int rc = drop_root(opt, err);

	if (rc == 0)
		rc = refuse_privileges(err);
	if (rc == 0)
		rc = restrict_files(opt, notes, err);
	return rc < 0 ? rc : restrict_calls(opt->terminal ? ON_TERMINAL : SERVER, notes, err);
}

int confine_recorder(struct buf *notes, struct spur_error *err)
{
	int rc = drop_capabilities(true, err);

	if (rc == 0)
		rc = refuse_privileges(err);
	return rc < 0 ? rc : restrict_calls(RECORDER, notes, err);
}
