// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Constants that scripts can use without a header, whether it is installed or not. The values are
 * those of the headers spur was built with, and of the kernel's own headers where they never
 * change.
 */
#include "base/array.h"
#include "lang/parse/preprocess.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/futex.h>
#include <linux/if_ether.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "event/pretty_tables.h"

struct constant {
	const char *name;
	int64_t value;
	bool is_unsigned; /* it does not fit an int64 */
};

#define C(name)                                                                                    \
	{                                                                                          \
#name, (int64_t)(name), false                                                      \
	}
#define U(name)                                                                                    \
	{                                                                                          \
#name, (int64_t)(name), true                                                       \
	}
#define K(name, value)                                                                             \
	{                                                                                          \
#name, value, false                                                                \
	}

/* clang-format off */
static const struct constant constants[] = {
	/* errno.h */
	C(E2BIG), C(EACCES), C(EADDRINUSE), C(EADDRNOTAVAIL), C(EADV), C(EAFNOSUPPORT), C(EAGAIN),
	C(EALREADY), C(EBADE), C(EBADF), C(EBADFD), C(EBADMSG), C(EBADR), C(EBADRQC), C(EBADSLT),
	C(EBFONT), C(EBUSY), C(ECANCELED), C(ECHILD), C(ECHRNG), C(ECOMM), C(ECONNABORTED),
	C(ECONNREFUSED), C(ECONNRESET), C(EDEADLK), C(EDEADLOCK), C(EDESTADDRREQ), C(EDOM),
	C(EDOTDOT), C(EDQUOT), C(EEXIST), C(EFAULT), C(EFBIG), C(EHOSTDOWN), C(EHOSTUNREACH),
	C(EHWPOISON), C(EIDRM), C(EILSEQ), C(EINPROGRESS), C(EINTR), C(EINVAL), C(EIO), C(EISCONN),
	C(EISDIR), C(EISNAM), C(EKEYEXPIRED), C(EKEYREJECTED), C(EKEYREVOKED), C(EL2HLT),
	C(EL2NSYNC), C(EL3HLT), C(EL3RST), C(ELIBACC), C(ELIBBAD), C(ELIBEXEC), C(ELIBMAX),
	C(ELIBSCN), C(ELNRNG), C(ELOOP), C(EMEDIUMTYPE), C(EMFILE), C(EMLINK), C(EMSGSIZE),
	C(EMULTIHOP), C(ENAMETOOLONG), C(ENAVAIL), C(ENETDOWN), C(ENETRESET), C(ENETUNREACH),
	C(ENFILE), C(ENOANO), C(ENOBUFS), C(ENOCSI), C(ENODATA), C(ENODEV), C(ENOENT), C(ENOEXEC),
	C(ENOKEY), C(ENOLCK), C(ENOLINK), C(ENOMEDIUM), C(ENOMEM), C(ENOMSG), C(ENONET), C(ENOPKG),
	C(ENOPROTOOPT), C(ENOSPC), C(ENOSR), C(ENOSTR), C(ENOSYS), C(ENOTBLK), C(ENOTCONN),
	C(ENOTDIR), C(ENOTEMPTY), C(ENOTNAM), C(ENOTRECOVERABLE), C(ENOTSOCK), C(ENOTSUP),
	C(ENOTTY), C(ENOTUNIQ), C(ENXIO), C(EOPNOTSUPP), C(EOVERFLOW), C(EOWNERDEAD), C(EPERM),
	C(EPFNOSUPPORT), C(EPIPE), C(EPROTO), C(EPROTONOSUPPORT), C(EPROTOTYPE), C(ERANGE),
	C(EREMCHG), C(EREMOTE), C(EREMOTEIO), C(ERESTART), C(ERFKILL), C(EROFS), C(ESHUTDOWN),
	C(ESOCKTNOSUPPORT), C(ESPIPE), C(ESRCH), C(ESRMNT), C(ESTALE), C(ESTRPIPE), C(ETIME),
	C(ETIMEDOUT), C(ETOOMANYREFS), C(ETXTBSY), C(EUCLEAN), C(EUNATCH), C(EUSERS),
	C(EWOULDBLOCK), C(EXDEV), C(EXFULL),
	/* fcntl.h */
	C(AT_EMPTY_PATH), C(AT_FDCWD), C(AT_REMOVEDIR), C(AT_SYMLINK_FOLLOW),
	C(AT_SYMLINK_NOFOLLOW), C(F_DUPFD), C(F_DUPFD_CLOEXEC), C(F_GETFD), C(F_GETFL),
	C(F_GETLEASE), C(F_GETLK), C(F_GETOWN), C(F_GETPIPE_SZ), C(F_RDLCK), C(F_SETFD),
	C(F_SETFL), C(F_SETLEASE), C(F_SETLK), C(F_SETLKW), C(F_SETOWN), C(F_SETPIPE_SZ),
	C(F_UNLCK), C(F_WRLCK), C(LOCK_EX), C(LOCK_NB), C(LOCK_SH), C(LOCK_UN), C(O_ACCMODE),
	C(O_APPEND), C(O_ASYNC), C(O_CLOEXEC), C(O_CREAT), C(O_DIRECT), C(O_DIRECTORY), C(O_DSYNC),
	C(O_EXCL), C(O_NOATIME), C(O_NOCTTY), C(O_NOFOLLOW), C(O_NONBLOCK),
	C(O_PATH), C(O_RDONLY), C(O_RDWR), C(O_SYNC), C(O_TMPFILE), C(O_TRUNC), C(O_WRONLY),
	C(SEEK_CUR), C(SEEK_END), C(SEEK_SET),
	/* sys/stat.h */
	C(S_IFBLK), C(S_IFCHR), C(S_IFDIR), C(S_IFIFO), C(S_IFLNK), C(S_IFMT), C(S_IFREG),
	C(S_IFSOCK), C(S_IRGRP), C(S_IROTH), C(S_IRUSR), C(S_IRWXG), C(S_IRWXO), C(S_IRWXU),
	C(S_ISGID), C(S_ISUID), C(S_ISVTX), C(S_IWGRP), C(S_IWOTH), C(S_IWUSR), C(S_IXGRP),
	C(S_IXOTH), C(S_IXUSR),
	/* signal.h */
	C(SA_NOCLDSTOP), C(SA_NOCLDWAIT), C(SA_NODEFER), C(SA_ONSTACK), C(SA_RESETHAND),
	C(SA_RESTART), C(SA_SIGINFO), C(SIGABRT), C(SIGALRM), C(SIGBUS), C(SIGCHLD), C(SIGCONT),
	C(SIGFPE), C(SIGHUP), C(SIGILL), C(SIGINT), C(SIGIO), C(SIGIOT), C(SIGKILL), C(SIGPIPE),
	C(SIGPROF), C(SIGPWR), C(SIGQUIT), C(SIGSEGV), C(SIGSTOP), C(SIGSYS), C(SIGTERM),
	C(SIGTRAP), C(SIGTSTP), C(SIGTTIN), C(SIGTTOU), C(SIGURG), C(SIGUSR1), C(SIGUSR2),
	C(SIGVTALRM), C(SIGWINCH), C(SIGXCPU), C(SIGXFSZ), C(SI_ASYNCIO), C(SI_KERNEL),
	C(SI_MESGQ), C(SI_QUEUE), C(SI_SIGIO), C(SI_TIMER), C(SI_TKILL), C(SI_USER),
	/* sys/socket.h */
	C(AF_ALG), C(AF_BLUETOOTH), C(AF_CAN), C(AF_INET), C(AF_INET6), C(AF_LOCAL), C(AF_NETLINK),
	C(AF_PACKET), C(AF_UNIX), C(AF_UNSPEC), C(MSG_CMSG_CLOEXEC), C(MSG_CTRUNC),
	C(MSG_DONTROUTE), C(MSG_DONTWAIT), C(MSG_EOR), C(MSG_ERRQUEUE), C(MSG_FASTOPEN),
	C(MSG_MORE), C(MSG_NOSIGNAL), C(MSG_OOB), C(MSG_PEEK), C(MSG_TRUNC), C(MSG_WAITALL),
	C(MSG_WAITFORONE), C(SHUT_RD), C(SHUT_RDWR), C(SHUT_WR), C(SOCK_CLOEXEC), C(SOCK_DCCP),
	C(SOCK_DGRAM), C(SOCK_NONBLOCK), C(SOCK_PACKET), C(SOCK_RAW), C(SOCK_RDM),
	C(SOCK_SEQPACKET), C(SOCK_STREAM), C(SOL_IP), C(SOL_IPV6), C(SOL_NETLINK), C(SOL_PACKET),
	C(SOL_RAW), C(SOL_SOCKET), C(SOL_TCP), C(SO_ACCEPTCONN), C(SO_BINDTODEVICE),
	C(SO_BROADCAST), C(SO_BSDCOMPAT), C(SO_DEBUG), C(SO_DOMAIN), C(SO_DONTROUTE), C(SO_ERROR),
	C(SO_KEEPALIVE), C(SO_LINGER), C(SO_MARK), C(SO_NOFCS), C(SO_NO_CHECK), C(SO_OOBINLINE),
	C(SO_PASSCRED), C(SO_PASSSEC), C(SO_PEERCRED), C(SO_PEERNAME), C(SO_PEERSEC),
	C(SO_PRIORITY), C(SO_PROTOCOL), C(SO_RCVBUF), C(SO_RCVBUFFORCE), C(SO_RCVLOWAT),
	C(SO_RCVTIMEO), C(SO_REUSEADDR), C(SO_REUSEPORT), C(SO_RXQ_OVFL), C(SO_SNDBUF),
	C(SO_SNDBUFFORCE), C(SO_SNDLOWAT), C(SO_SNDTIMEO), C(SO_TYPE),
	/* netinet/in.h */
	C(INADDR_ANY), C(INADDR_BROADCAST), C(INADDR_LOOPBACK), C(INADDR_NONE), C(IPPROTO_AH),
	C(IPPROTO_DCCP), C(IPPROTO_DSTOPTS), C(IPPROTO_EGP), C(IPPROTO_ENCAP), C(IPPROTO_ESP),
	C(IPPROTO_FRAGMENT), C(IPPROTO_GRE), C(IPPROTO_HOPOPTS), C(IPPROTO_ICMP),
	C(IPPROTO_ICMPV6), C(IPPROTO_IDP), C(IPPROTO_IGMP), C(IPPROTO_IP), C(IPPROTO_IPIP),
	C(IPPROTO_IPV6), C(IPPROTO_MPLS), C(IPPROTO_NONE), C(IPPROTO_PIM), C(IPPROTO_PUP),
	C(IPPROTO_RAW), C(IPPROTO_ROUTING), C(IPPROTO_RSVP), C(IPPROTO_SCTP), C(IPPROTO_TCP),
	C(IPPROTO_UDP), C(IPPROTO_UDPLITE),
	/* linux/if_ether.h */
	C(ETH_ALEN), C(ETH_DATA_LEN), C(ETH_FRAME_LEN), C(ETH_HLEN), C(ETH_P_8021Q), C(ETH_P_ALL),
	C(ETH_P_ARP), C(ETH_P_IP), C(ETH_P_IPV6), C(ETH_P_PPP_DISC), C(ETH_P_PPP_SES),
	C(ETH_P_RARP),
	/* sys/mman.h */
	C(MADV_DODUMP), C(MADV_DOFORK), C(MADV_DONTDUMP), C(MADV_DONTFORK), C(MADV_DONTNEED),
	C(MADV_FREE), C(MADV_HUGEPAGE), C(MADV_HWPOISON), C(MADV_MERGEABLE), C(MADV_NOHUGEPAGE),
	C(MADV_NORMAL), C(MADV_RANDOM), C(MADV_REMOVE), C(MADV_SEQUENTIAL), C(MADV_UNMERGEABLE),
	C(MADV_WILLNEED), C(MAP_ANONYMOUS), C(MAP_DENYWRITE), C(MAP_EXECUTABLE), C(MAP_FIXED),
	C(MAP_GROWSDOWN), C(MAP_LOCKED), C(MAP_NONBLOCK), C(MAP_NORESERVE), C(MAP_POPULATE),
	C(MAP_PRIVATE), C(MAP_SHARED), C(MAP_STACK), C(MREMAP_FIXED), C(MREMAP_MAYMOVE),
	C(MS_ASYNC), C(MS_INVALIDATE), C(MS_SYNC), C(PROT_EXEC), C(PROT_NONE), C(PROT_READ),
	C(PROT_WRITE),
	/* sched.h */
	C(CLONE_CHILD_CLEARTID), C(CLONE_CHILD_SETTID), C(CLONE_DETACHED), C(CLONE_FILES),
	C(CLONE_FS), C(CLONE_IO), C(CLONE_NEWIPC), C(CLONE_NEWNET), C(CLONE_NEWNS),
	C(CLONE_NEWPID), C(CLONE_NEWUSER), C(CLONE_NEWUTS), C(CLONE_PARENT),
	C(CLONE_PARENT_SETTID), C(CLONE_PTRACE), C(CLONE_SETTLS), C(CLONE_SIGHAND),
	C(CLONE_SYSVSEM), C(CLONE_THREAD), C(CLONE_UNTRACED), C(CLONE_VFORK), C(CLONE_VM),
	C(SCHED_BATCH), C(SCHED_DEADLINE), C(SCHED_FIFO), C(SCHED_IDLE), C(SCHED_OTHER),
	C(SCHED_RR),
	/* linux/futex.h */
	C(FUTEX_WAIT), C(FUTEX_WAKE), C(FUTEX_REQUEUE), C(FUTEX_CMP_REQUEUE), C(FUTEX_WAKE_OP),
	C(FUTEX_LOCK_PI), C(FUTEX_UNLOCK_PI), C(FUTEX_TRYLOCK_PI), C(FUTEX_WAIT_BITSET),
	C(FUTEX_WAKE_BITSET), C(FUTEX_PRIVATE_FLAG), C(FUTEX_CLOCK_REALTIME), C(FUTEX_CMD_MASK),
	/* poll.h */
	C(POLLERR), C(POLLHUP), C(POLLIN), C(POLLNVAL), C(POLLOUT), C(POLLPRI), C(POLLRDBAND),
	C(POLLRDHUP), C(POLLRDNORM), C(POLLWRBAND), C(POLLWRNORM),
	/* sys/epoll.h */
	C(EPOLLERR), C(EPOLLET), C(EPOLLHUP), C(EPOLLIN), C(EPOLLONESHOT), C(EPOLLOUT),
	C(EPOLLPRI), C(EPOLLRDBAND), C(EPOLLRDHUP), C(EPOLLRDNORM), C(EPOLLWRBAND), C(EPOLLWRNORM),
	/* sys/resource.h */
	C(PRIO_PGRP), C(PRIO_PROCESS), C(PRIO_USER), C(RLIMIT_AS), C(RLIMIT_CORE), C(RLIMIT_CPU),
	C(RLIMIT_DATA), C(RLIMIT_FSIZE), C(RLIMIT_LOCKS), C(RLIMIT_MEMLOCK), C(RLIMIT_MSGQUEUE),
	C(RLIMIT_NICE), C(RLIMIT_NOFILE), C(RLIMIT_NPROC), C(RLIMIT_RSS), C(RLIMIT_RTPRIO),
	C(RLIMIT_RTTIME), C(RLIMIT_SIGPENDING), C(RLIMIT_STACK), C(RUSAGE_CHILDREN),
	C(RUSAGE_SELF), C(RUSAGE_THREAD),
	/* sys/wait.h */
	C(WCONTINUED), C(WEXITED), C(WNOHANG), C(WNOWAIT), C(WSTOPPED), C(WUNTRACED),
	/* time.h */
	C(CLOCK_BOOTTIME), C(CLOCK_BOOTTIME_ALARM), C(CLOCK_MONOTONIC), C(CLOCK_MONOTONIC_COARSE),
	C(CLOCK_MONOTONIC_RAW), C(CLOCK_PROCESS_CPUTIME_ID), C(CLOCK_REALTIME),
	C(CLOCK_REALTIME_ALARM), C(CLOCK_REALTIME_COARSE), C(CLOCK_TAI),
	C(CLOCK_THREAD_CPUTIME_ID),
	/* sys/prctl.h */
	C(PR_GET_CHILD_SUBREAPER), C(PR_GET_DUMPABLE), C(PR_GET_KEEPCAPS), C(PR_GET_NAME),
	C(PR_GET_NO_NEW_PRIVS), C(PR_GET_PDEATHSIG), C(PR_GET_SECCOMP), C(PR_GET_TIMERSLACK),
	C(PR_SET_CHILD_SUBREAPER), C(PR_SET_DUMPABLE), C(PR_SET_KEEPCAPS), C(PR_SET_NAME),
	C(PR_SET_NO_NEW_PRIVS), C(PR_SET_PDEATHSIG), C(PR_SET_SECCOMP), C(PR_SET_TIMERSLACK),
	/* unistd.h */
	C(F_OK), C(R_OK), C(W_OK), C(X_OK),
	/* linux/capability.h */
	C(CAP_AUDIT_CONTROL), C(CAP_AUDIT_READ), C(CAP_AUDIT_WRITE), C(CAP_BLOCK_SUSPEND),
	C(CAP_BPF), C(CAP_CHOWN), C(CAP_DAC_OVERRIDE), C(CAP_DAC_READ_SEARCH), C(CAP_FOWNER),
	C(CAP_FSETID), C(CAP_IPC_LOCK), C(CAP_IPC_OWNER), C(CAP_KILL), C(CAP_LEASE),
	C(CAP_LINUX_IMMUTABLE), C(CAP_MAC_ADMIN), C(CAP_MAC_OVERRIDE), C(CAP_MKNOD),
	C(CAP_NET_ADMIN), C(CAP_NET_BIND_SERVICE), C(CAP_NET_BROADCAST), C(CAP_NET_RAW),
	C(CAP_PERFMON), C(CAP_SETFCAP), C(CAP_SETGID), C(CAP_SETPCAP), C(CAP_SETUID),
	C(CAP_SYSLOG), C(CAP_SYS_ADMIN), C(CAP_SYS_BOOT), C(CAP_SYS_CHROOT), C(CAP_SYS_MODULE),
	C(CAP_SYS_NICE), C(CAP_SYS_PACCT), C(CAP_SYS_PTRACE), C(CAP_SYS_RAWIO),
	C(CAP_SYS_RESOURCE), C(CAP_SYS_TIME), C(CAP_SYS_TTY_CONFIG), C(CAP_WAKE_ALARM),
	/* limits.h */
	C(CHAR_MAX), C(CHAR_MIN), C(INT_MAX), C(INT_MIN), C(IOV_MAX), C(LLONG_MAX), C(LLONG_MIN),
	C(LONG_MAX), C(LONG_MIN), C(NAME_MAX), C(PATH_MAX), C(SCHAR_MAX), C(SCHAR_MIN),
	C(SHRT_MAX), C(SHRT_MIN), C(UCHAR_MAX), C(UINT_MAX), U(ULLONG_MAX), U(ULONG_MAX),
	C(USHRT_MAX),
	/* stdint.h */
	C(INT16_MAX), C(INT16_MIN), C(INT32_MAX), C(INT32_MIN), C(INT64_MAX), C(INT64_MIN),
	C(INT8_MAX), C(INT8_MIN), U(SIZE_MAX), C(SSIZE_MAX), C(UINT16_MAX), C(UINT32_MAX),
	U(UINT64_MAX), C(UINT8_MAX),
	/* linux/sched.h: the state of a task */
	K(TASK_RUNNING, 0), K(TASK_INTERRUPTIBLE, 1), K(TASK_UNINTERRUPTIBLE, 2),
	K(__TASK_STOPPED, 4), K(__TASK_TRACED, 8), K(EXIT_DEAD, 0x10), K(EXIT_ZOMBIE, 0x20),
	K(EXIT_TRACE, 0x30), K(TASK_PARKED, 0x40), K(TASK_DEAD, 0x80), K(TASK_WAKEKILL, 0x100),
	K(TASK_WAKING, 0x200), K(TASK_NOLOAD, 0x400), K(TASK_NEW, 0x800), K(TASK_KILLABLE, 0x102),
	K(TASK_STOPPED, 0x104), K(TASK_TRACED, 0x108), K(TASK_IDLE, 0x402), K(TASK_NORMAL, 3),
	K(TASK_COMM_LEN, 0x10),
	/* linux/sched.h: its flags */
	K(PF_IDLE, 2), K(PF_EXITING, 4), K(PF_WQ_WORKER, 0x20), K(PF_MEMALLOC, 0x800),
	K(PF_KSWAPD, 0x20000), K(PF_KTHREAD, 0x200000),
	/* others */
	K(NULL, 0),
};
/* clang-format on */

/* __NR_read and SYS_read of <syscall.h>. */
static bool syscall_number(const char *name, int64_t *value)
{
	struct arch_walk w = {0};
	struct utsname u;

	if (strncmp(name, "__NR_", 5) == 0)
		name += 5;
	else if (strncmp(name, "SYS_", 4) == 0)
		name += 4;
	else
		return false;
	w.arch = uname(&u) ? NULL : pretty_arch_find(u.machine);
	while (w.arch && pretty_arch_next_call(&w))
		if (w.len == strlen(name) && memcmp(w.name, name, w.len) == 0) {
			*value = w.nr;
			return true;
		}
	return false;
}

bool constant_header(const char *name)
{
	/* clang-format off */
	static const char *const headers[] = {
		"errno.h", "fcntl.h", "limits.h", "linux/capability.h", "linux/errno.h",
		"linux/fcntl.h", "linux/futex.h", "linux/if_ether.h", "linux/limits.h",
		"linux/sched.h", "linux/signal.h", "linux/socket.h", "linux/stddef.h",
		"linux/types.h", "netinet/in.h", "netinet/tcp.h", "poll.h", "sched.h", "signal.h",
		"stdbool.h", "stddef.h", "stdint.h", "sys/epoll.h", "sys/mman.h", "sys/prctl.h",
		"sys/resource.h", "sys/socket.h", "sys/stat.h", "sys/syscall.h", "sys/types.h",
		"sys/wait.h", "syscall.h", "time.h", "unistd.h",
	};
	/* clang-format on */

	for (size_t i = 0; i < ARRAY_SIZE(headers); i++)
		if (strcmp(headers[i], name) == 0)
			return true;
	return false;
}

bool constant_find(const char *name, int64_t *value, bool *is_signed)
{
	*is_signed = true;
	for (size_t i = 0; i < ARRAY_SIZE(constants); i++)
		if (strcmp(constants[i].name, name) == 0) {
			*value = constants[i].value;
			*is_signed = !constants[i].is_unsigned;
			return true;
		}
	return syscall_number(name, value);
}
