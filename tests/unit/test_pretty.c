// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pretty printing of system calls and signals, one row a record.
 *
 * A call's row has its arguments as the event's format declares them, their values, and the text.
 * A row of raw_syscalls has the machine, the call's number and the registers.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "event_fixture.h"

#include "event/pretty.h"

#define UNAME "Linux host 6.18.0 x86_64"

/* A trace with one event. */
struct fixture {
	struct events *ev;
	struct event_printer printer;
	struct pretty *pretty;
	struct event *event;
	struct buf data, text;
};

static void fixture_open(struct fixture *x, const char *machine, bool big_endian,
			 unsigned int long_size)
{
	x->ev = fixture_events(big_endian, long_size);
	x->pretty = pretty_new(machine);
	assert_non_null(x->pretty);
	buf_init(&x->data, 1 << 16);
	buf_init(&x->text, 1 << 16);
}

static void fixture_event(struct fixture *x, const char *system, const char *name,
			  const char *fields, const char *print_fmt)
{
	fixture_add(x->ev, system, name, 1, fields, print_fmt);
	assert_int_equal(events_seal(x->ev), 0);
	assert_int_equal(event_printer_init(&x->printer, x->ev), 0);
	x->event = events_find(x->ev, system, name);
	assert_non_null(x->event);
}

static void fixture_close(struct fixture *x)
{
	event_printer_done(&x->printer);
	pretty_free(x->pretty);
	events_free(x->ev);
	buf_free(&x->data);
	buf_free(&x->text);
}

/* What a record prints as, or NULL when it is left alone (and then nothing may be appended). */
static const char *fixture_print(struct fixture *x, const char *record)
{
	struct spur_record r = fixture_record(&x->data, 1, record, x->ev->big_endian);

	buf_reset(&x->text);
	if (!pretty_print(x->pretty, &x->printer, x->event, &r, &x->text)) {
		assert_int_equal(x->text.len, 0);
		return NULL;
	}
	return buf_str(&x->text);
}

static void expect(const char *text, const char *wanted, const char *what)
{
	if (!text || !wanted ? text != wanted : strcmp(text, wanted))
		fail_msg("%s:\n\tprinted  %s\n\texpected %s", what, text ? text : "(nothing)",
			 wanted ? wanted : "(nothing)");
}

/* "int fd, size_t count" as the fields of an event: words one after the other from `offset`. */
static void declare_args(struct buf *b, const char *args, unsigned int offset, unsigned int size)
{
	buf_puts(b, "int __syscall_nr @8:4s");
	while (*args) {
		size_t n = strcspn(args, ",");

		buf_printf(b, ", %.*s @%u:%u", (int)n, args, offset, size);
		offset += size;
		args += n;
		args += strspn(args, ", ");
	}
}

/* "1 0x20" as words of a record. */
static void put_words(struct buf *b, const char *values, unsigned int size)
{
	while (*values) {
		size_t n = strcspn(values, " ");

		buf_printf(b, " %u:%.*s", size, (int)n, values);
		values += n;
		values += strspn(values, " ");
	}
}

/* ---- calls with an event of their own ---- */

struct call_case {
	const char *name;
	const char *args;
	const char *values;
	const char *text;
};

static const struct call_case calls[] = {
	{"openat", "int dfd, const char * filename, int flags, umode_t mode",
	 "0xffffff9c 0x7ffe0010 0x80241 0x1b6",
	 "openat(dfd=AT_FDCWD, filename=0x7ffe0010, flags=O_WRONLY|O_CREAT|O_TRUNC|O_CLOEXEC, "
	 "mode=0666)"},
	{"openat", "int dfd, const char * filename, int flags, umode_t mode",
	 "0xffffffffffffff9c 0 0x80000 0x7f00",
	 "openat(dfd=AT_FDCWD, filename=NULL, flags=O_RDONLY|O_CLOEXEC)"},
	{"open", "const char * filename, int flags, umode_t mode", "1 0x410002 0x180",
	 "open(filename=0x1, flags=O_RDWR|O_TMPFILE, mode=0600)"},
	{"open", "const char * filename, int flags, umode_t mode", "1 0x101000 0",
	 "open(filename=0x1, flags=O_RDONLY|O_SYNC)"},
	{"open", "const char * filename, int flags, umode_t mode", "1 0x40001003 0",
	 "open(filename=0x1, flags=O_ACCMODE|O_DSYNC|0x40000000)"},
	{"close", "unsigned int fd", "0xffffffff", "close(fd=-1)"},
	{"getpid", "", "", "getpid()"},
	{"lseek", "unsigned int fd, off_t offset, unsigned int whence", "3 0xffffffffffffffff 2",
	 "lseek(fd=3, offset=-1, whence=SEEK_END)"},
	{"lseek", "unsigned int fd, off_t offset, unsigned int whence", "3 0 9",
	 "lseek(fd=3, offset=0, whence=9)"},
	{"access", "const char * filename, int mode", "1 0", "access(filename=0x1, mode=F_OK)"},
	{"access", "const char * filename, int mode", "1 6",
	 "access(filename=0x1, mode=R_OK|W_OK)"},
	{"unlinkat", "int dfd, const char * pathname, int flag", "5 1 0x200",
	 "unlinkat(dfd=5, pathname=0x1, flag=AT_REMOVEDIR)"},
	{"faccessat2", "int dfd, const char * filename, int mode, int flags", "5 1 0 0x200",
	 "faccessat2(dfd=5, filename=0x1, mode=F_OK, flags=AT_EACCESS)"},
	{"statx",
	 "int dfd, const char * filename, unsigned flags, unsigned int mask, struct statx * buffer",
	 "0xffffff9c 1 0x4100 0x7ff 2",
	 "statx(dfd=AT_FDCWD, filename=0x1, flags=AT_SYMLINK_NOFOLLOW|AT_STATX_DONT_SYNC, "
	 "mask=STATX_BASIC_STATS, buffer=0x2)"},
	{"newfstatat", "int dfd, const char * filename, struct stat * statbuf, int flag",
	 "3 1 2 0x1000", "newfstatat(dfd=3, filename=0x1, statbuf=0x2, flag=AT_EMPTY_PATH)"},
	{"newstat", "const char * filename, struct stat * statbuf", "1 2",
	 "newstat(filename=0x1, statbuf=0x2)"},
	{"mknod", "const char * filename, umode_t mode, unsigned dev", "1 0x21b6 0x103",
	 "mknod(filename=0x1, mode=S_IFCHR|0666, dev=makedev(1, 3))"},
	{"chmod", "const char * filename, umode_t mode", "1 0x9ed",
	 "chmod(filename=0x1, mode=04755)"},
	{"chown", "const char * filename, uid_t user, gid_t group", "1 0xffffffff 1000",
	 "chown(filename=0x1, user=-1, group=1000)"},
	{"umask", "int mask", "18", "umask(mask=022)"},
	{"fcntl", "unsigned int fd, unsigned int cmd, unsigned long arg", "3 4 0x802",
	 "fcntl(fd=3, cmd=F_SETFL, arg=O_RDWR|O_NONBLOCK)"},
	{"fcntl", "unsigned int fd, unsigned int cmd, unsigned long arg", "3 2 1",
	 "fcntl(fd=3, cmd=F_SETFD, arg=FD_CLOEXEC)"},
	{"fcntl", "unsigned int fd, unsigned int cmd, unsigned long arg", "3 1 0x1234",
	 "fcntl(fd=3, cmd=F_GETFD)"},
	{"fcntl", "unsigned int fd, unsigned int cmd, unsigned long arg", "3 1030 10",
	 "fcntl(fd=3, cmd=F_DUPFD_CLOEXEC, arg=10)"},
	{"fcntl", "unsigned int fd, unsigned int cmd, unsigned long arg", "3 6 0x7ff0",
	 "fcntl(fd=3, cmd=F_SETLK, arg=0x7ff0)"},
	{"ioctl", "unsigned int fd, unsigned int cmd, unsigned long arg", "1 0x5413 0x7ff0",
	 "ioctl(fd=1, cmd=TIOCGWINSZ, arg=0x7ff0)"},
	{"ioctl", "unsigned int fd, unsigned int cmd, unsigned long arg", "1 0xc0104501 0",
	 "ioctl(fd=1, cmd=_IOC(_IOC_READ|_IOC_WRITE, 0x45, 0x1, 0x10), arg=0)"},
	{"flock", "unsigned int fd, unsigned int cmd", "3 6", "flock(fd=3, cmd=LOCK_EX|LOCK_NB)"},
	{"epoll_ctl", "int epfd, int op, int fd, struct epoll_event * event", "3 1 4 0x10",
	 "epoll_ctl(epfd=3, op=EPOLL_CTL_ADD, fd=4, event=0x10)"},
	{"mount", "char * dev_name, char * dir_name, char * type, unsigned long flags, void * data",
	 "1 2 3 0xc0ed000e 0",
	 "mount(dev_name=0x1, dir_name=0x2, type=0x3, "
	 "flags=MS_MGC_VAL|MS_NOSUID|MS_NODEV|MS_NOEXEC, data=NULL)"},
	{"mmap",
	 "unsigned long addr, unsigned long len, unsigned long prot, unsigned long flags, "
	 "unsigned long fd, unsigned long off",
	 "0 8192 3 0x22 0xffffffff 0",
	 "mmap(addr=NULL, len=8192, prot=PROT_READ|PROT_WRITE, flags=MAP_PRIVATE|MAP_ANONYMOUS, "
	 "fd=-1, off=0)"},
	{"mmap",
	 "unsigned long addr, unsigned long len, unsigned long prot, unsigned long flags, "
	 "unsigned long fd, unsigned long off",
	 "0x1000 1 0 0x54040073 3 0x2000",
	 "mmap(addr=0x1000, len=1, prot=PROT_NONE, "
	 "flags=MAP_SHARED_VALIDATE|MAP_FIXED|MAP_ANONYMOUS|MAP_32BIT|MAP_HUGETLB|MAP_HUGE_2MB, "
	 "fd=3, off=0x2000)"},
	{"madvise", "unsigned long start, size_t len_in, int behavior", "0x1000 4096 4",
	 "madvise(start=0x1000, len_in=4096, behavior=MADV_DONTNEED)"},
	{"clone",
	 "unsigned long clone_flags, unsigned long newsp, int * parent_tidptr, int * child_tidptr, "
	 "unsigned long tls",
	 "0x1200011 0 0 0x7ff0 0",
	 "clone(clone_flags=CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD, newsp=NULL, "
	 "parent_tidptr=NULL, child_tidptr=0x7ff0, tls=NULL)"},
	{"unshare", "unsigned long unshare_flags", "0x20080",
	 "unshare(unshare_flags=CLONE_NEWTIME|CLONE_NEWNS)"},
	{"wait4", "pid_t upid, int * stat_addr, int options, struct rusage * ru",
	 "0xffffffffffffffff 0 3 0",
	 "wait4(upid=-1, stat_addr=NULL, options=WNOHANG|WUNTRACED, ru=NULL)"},
	{"kill", "pid_t pid, int sig", "0xfffffff6 15", "kill(pid=-10, sig=SIGTERM)"},
	{"kill", "pid_t pid, int sig", "1 0", "kill(pid=1, sig=0)"},
	{"kill", "pid_t pid, int sig", "1 34", "kill(pid=1, sig=SIGRT_2)"},
	{"prctl",
	 "int option, unsigned long arg2, unsigned long arg3, unsigned long arg4, unsigned long "
	 "arg5",
	 "1 9 0 0 0", "prctl(option=PR_SET_PDEATHSIG, arg2=SIGKILL, arg3=0, arg4=0, arg5=0)"},
	{"prctl",
	 "int option, unsigned long arg2, unsigned long arg3, unsigned long arg4, unsigned long "
	 "arg5",
	 "23 21 0 0 0",
	 "prctl(option=PR_CAPBSET_READ, arg2=CAP_SYS_ADMIN, arg3=0, arg4=0, arg5=0)"},
	{"sched_setscheduler", "pid_t pid, int policy, struct sched_param * param",
	 "0 0x40000001 2",
	 "sched_setscheduler(pid=0, policy=SCHED_FIFO|SCHED_RESET_ON_FORK, param=0x2)"},
	{"clock_gettime", "const clockid_t which_clock, struct __kernel_timespec * tp", "1 2",
	 "clock_gettime(which_clock=CLOCK_MONOTONIC, tp=0x2)"},
	{"clock_gettime", "const clockid_t which_clock, struct __kernel_timespec * tp",
	 "0xffffffffffffff82 2",
	 "clock_gettime(which_clock=MAKE_PROCESS_CPUCLOCK(15, CPUCLOCK_SCHED), tp=0x2)"},
	{"clock_gettime", "const clockid_t which_clock, struct __kernel_timespec * tp",
	 "0xffffffe3 2", "clock_gettime(which_clock=FD_TO_CLOCKID(3), tp=0x2)"},
	{"futex",
	 "u32 * uaddr, int op, u32 val, const struct __kernel_timespec * utime, u32 * uaddr2, u32 "
	 "val3",
	 "0x10 0x189 2 0 0 0xffffffff",
	 "futex(uaddr=0x10, op=FUTEX_WAIT_BITSET|FUTEX_PRIVATE_FLAG|FUTEX_CLOCK_REALTIME, val=2, "
	 "utime=NULL, uaddr2=NULL, val3=0xffffffff)"},
	{"socket", "int family, int type, int protocol", "2 0x80001 6",
	 "socket(family=AF_INET, type=SOCK_STREAM|SOCK_CLOEXEC, protocol=IPPROTO_TCP)"},
	{"socket", "int family, int type, int protocol", "16 3 15",
	 "socket(family=AF_NETLINK, type=SOCK_RAW, protocol=NETLINK_KOBJECT_UEVENT)"},
	{"socket", "int family, int type, int protocol", "17 0x803 0x300",
	 "socket(family=AF_PACKET, type=SOCK_RAW|SOCK_NONBLOCK, protocol=0x300)"},
	{"socket", "int family, int type, int protocol", "1 5 0",
	 "socket(family=AF_UNIX, type=SOCK_SEQPACKET, protocol=0)"},
	{"setsockopt", "int fd, int level, int optname, char * optval, int optlen", "3 1 2 0x10 4",
	 "setsockopt(fd=3, level=SOL_SOCKET, optname=SO_REUSEADDR, optval=0x10, optlen=4)"},
	{"setsockopt", "int fd, int level, int optname, char * optval, int optlen", "3 6 1 0x10 4",
	 "setsockopt(fd=3, level=SOL_TCP, optname=TCP_NODELAY, optval=0x10, optlen=4)"},
	{"shmget", "key_t key, size_t size, int shmflg", "0 4096 0x380",
	 "shmget(key=0, size=4096, shmflg=IPC_CREAT|0600)"},
	{"bpf", "int cmd, union bpf_attr * uattr, unsigned int size", "5 0x10 144",
	 "bpf(cmd=BPF_PROG_LOAD, uattr=0x10, size=144)"},
	{"bpf", "int cmd, union bpf_attr * uattr, unsigned int size", "99 0x10 144",
	 "bpf(cmd=99, uattr=0x10, size=144)"},
	{"reboot", "int magic1, int magic2, unsigned int cmd, void * arg",
	 "0xfee1dead 672274793 0x4321fedc 0",
	 "reboot(magic1=LINUX_REBOOT_MAGIC1, magic2=LINUX_REBOOT_MAGIC2, "
	 "cmd=LINUX_REBOOT_CMD_POWER_OFF, arg=NULL)"},
	{"personality", "unsigned int personality", "0xffffffff",
	 "personality(personality=0xffffffff)"},
	/* an argument that an older kernel names differently */
	{"lseek", "unsigned int fd, off_t offset, unsigned int origin", "3 0 1",
	 "lseek(fd=3, offset=0, origin=SEEK_CUR)"},
	/* calls that no table knows, by type and custom */
	{"brand_new", "int dfd, const char * path, unsigned int flags, umode_t mode, size_t len",
	 "0xffffff9c 0 0x10 0x1ed 7",
	 "brand_new(dfd=AT_FDCWD, path=NULL, flags=0x10, mode=0755, len=7)"},
	{"brand_new", "int fd, int sig, long delta, unsigned long cookie, u32 n",
	 "3 9 0xffffffffffffffff 0x20 5",
	 "brand_new(fd=3, sig=SIGKILL, delta=-1, cookie=0x20, n=5)"},
};

static const char *print_call(struct fixture *x, const struct call_case *c, const char *prefix)
{
	struct buf fields, record, name;
	const char *text;

	buf_init(&fields, 1 << 12);
	buf_init(&record, 1 << 12);
	buf_init(&name, 1 << 8);
	buf_printf(&name, "%s%s", prefix, c->name);
	declare_args(&fields, c->args, 16, x->ev->long_size);
	buf_puts(&record, "4:1 _4");
	put_words(&record, c->values, x->ev->long_size);
	fixture_event(x, "syscalls", buf_str(&name), buf_str(&fields), "\"\"");
	text = fixture_print(x, buf_str(&record));
	buf_free(&fields);
	buf_free(&record);
	buf_free(&name);
	return text;
}

static void test_calls(void **state)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct fixture x;

		fixture_open(&x, UNAME, false, 8);
		expect(print_call(&x, &calls[i], "sys_enter_"), calls[i].text, calls[i].name);
		fixture_close(&x);
	}
}

/* ---- results ---- */

static const struct {
	const char *machine, *name, *ret, *text;
} results[] = {
	{UNAME, "openat", "0xfffffffffffffffe", "openat = -1 ENOENT (No such file or directory)"},
	{UNAME, "openat", "3", "openat = 3"},
	{UNAME, "close", "0", "close = 0"},
	{UNAME, "mmap", "0x7f0000001000", "mmap = 0x7f0000001000"},
	{UNAME, "mmap", "0xfffffffffffffff4", "mmap = -1 ENOMEM (Cannot allocate memory)"},
	{UNAME, "brk", "0x55550000", "brk = 0x55550000"},
	{UNAME, "umask", "18", "umask = 022"},
	{UNAME, "sched_getscheduler", "1", "sched_getscheduler = SCHED_FIFO"},
	{UNAME, "read", "0xffffffffffffffff", "read = -1 EPERM (Operation not permitted)"},
	{UNAME, "read", "0xffffffffffffff7b",
	 "read = -1 EHWPOISON (Memory page has hardware error)"},
	{UNAME, "read", "0xfffffffffffffe00",
	 "read = ? ERESTARTSYS (interrupted, run again if SA_RESTART is set)"},
	{UNAME, "read", "0xfffffffffffffdfc",
	 "read = ? ERESTART_RESTARTBLOCK (interrupted, continued by restart_syscall)"},
	{UNAME, "read", "0xffffffffffffffd7", "read = -41"},
	{UNAME, "read", "0xfffffffffffff001", "read = -4095"},
	{UNAME, "read", "0xfffffffffffff000", "read = -4096"},
	/* Beyond ERANGE errors differ between architectures. */
	{NULL, "read", "0xffffffffffffffde", "read = -1 ERANGE (Numerical result out of range)"},
	{NULL, "read", "0xffffffffffffffdd", "read = -35"},
};

static void test_results(void **state)
{
	for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
		struct call_case c = {results[i].name, "long ret", results[i].ret, NULL};
		struct fixture x;

		fixture_open(&x, results[i].machine, false, 8);
		expect(print_call(&x, &c, "sys_exit_"), results[i].text, results[i].name);
		fixture_close(&x);
	}
}

/* ---- raw_syscalls ---- */

static const struct {
	const char *machine;
	unsigned int long_size;
	bool big_endian;
	const char *nr;
	const char *registers; /* or what was returned */
	const char *text;
} raws[] =
	{
		{"Linux x86_64 6.1 x86_64", 8, false, "257", "0xffffff9c 0x10 0x80000 0 0 0",
		 "openat(dfd=AT_FDCWD, filename=0x10, flags=O_RDONLY|O_CLOEXEC)"},
		{"Linux aarch64 6.1 x86_64 GNU/Linux", 8, false, "0", "3 0x10 4096 0 0 0",
		 "read(fd=3, buf=0x10, count=4096)"},
		{"x86_64", 8, false, "39", "1 2 3 4 5 6", "getpid()"},
		{"x86_64", 8, false, "0x40000000", "3 0x10 4096 0 0 0",
		 "read(fd=3, buf=0x10, count=4096)"},
		{"x86_64", 8, false, "0x40000202", "1 0x5401 0 0 0 0",
		 "ioctl(fd=1, cmd=TCGETS, arg=0)"},
		{"x86_64", 8, false, "462", "0x1000 4096 0 0 0 0",
		 "mseal(start=0x1000, len=4096, flags=0)"},
		{"x86_64", 8, false, "134", "1 2 3 4 5 0", "uselib(0x1, 0x2, 0x3, 0x4, 0x5, 0)"},
		{"x86_64", 8, false, "999", "1 2 3 4 5 6", NULL},
		{"x86_64", 8, false, "0xffffffffffffffff", "1 2 3 4 5 6", NULL},
		{"x86_64", 8, false, "56", "0x11 1 2 3 4 0",
		 "clone(clone_flags=SIGCHLD, newsp=0x1, parent_tidptr=0x2, child_tidptr=0x3, "
		 "tls=0x4)"},
		{"aarch64", 8, false, "220", "0x11 1 2 3 4 0",
		 "clone(clone_flags=SIGCHLD, newsp=0x1, parent_tidptr=0x2, tls=0x3, "
		 "child_tidptr=0x4)"},
		{"s390x", 8, true, "120", "1 0x11 2 3 4 0",
		 "clone(newsp=0x1, clone_flags=SIGCHLD, parent_tidptr=0x2, child_tidptr=0x3, "
		 "tls=0x4)"},
		{"aarch64", 8, false, "56", "0xffffff9c 0x10 0x84000 0 0 0",
		 "openat(dfd=AT_FDCWD, filename=0x10, flags=O_RDONLY|O_DIRECTORY|O_CLOEXEC)"},
		{"ppc64le", 8, false, "286", "0xffffff9c 0x10 0x24000 0 0 0",
		 "openat(dfd=AT_FDCWD, filename=0x10, flags=O_RDONLY|O_DIRECTORY|O_DIRECT)"},
		{"ppc64le", 8, false, "54", "0 0x402c7413 0x10 0 0 0",
		 "ioctl(fd=0, cmd=TCGETS, arg=0x10)"},
		{"ppc64le", 8, false, "54", "0 0x40047a99 0x10 0 0 0",
		 "ioctl(fd=0, cmd=0x40047a99, arg=0x10)"},
		{"riscv64", 8, false, "259", "1 2 0 0 0 0",
		 "riscv_flush_icache(start=0x1, end=0x2, flags=0)"},
		{"loongarch64", 8, false, "64", "1 0x10 5 0 0 0", "write(fd=1, buf=0x10, count=5)"},
		{"s390x", 8, true, "90", "0x10 0 0 0 0 0", "mmap(arg=0x10)"},
		{"s390x", 8, true, "222", "3 0 10 0 0 0", "readahead(fd=3, offset=0, count=10)"},
		{"i686", 4, false, "5", "0x10 0x241 0x1b6 0 0 0",
		 "open(filename=0x10, flags=O_WRONLY|O_CREAT|O_TRUNC, mode=0666)"},
		{"i686", 4, false, "192", "0 4096 3 0x22 0xffffffff 0",
		 "mmap2(addr=NULL, len=4096, prot=PROT_READ|PROT_WRITE, "
		 "flags=MAP_PRIVATE|MAP_ANONYMOUS, "
		 "fd=-1, pgoff=0)"},
		{"i686", 4, false, "19", "3 0xfffffff0 1 0 0 0",
		 "lseek(fd=3, offset=-16, whence=SEEK_CUR)"},
		{"i686", 4, false, "180", "3 0x10 5 0x80000000 1 0",
		 "pread64(fd=3, buf=0x10, count=5, pos_l=0x80000000, pos_h=0x1)"},
		{"i686", 4, false, "422", "0x10 0 1 0 0 0",
		 "futex_time64(uaddr=0x10, op=FUTEX_WAIT, val=1, utime=NULL, uaddr2=NULL, val3=0)"},
		{"armv7l", 4, false, "180", "3 0x10 5 0 0x80000000 1",
		 "pread64(fd=3, buf=0x10, count=5, pad=0, pos_l=0x80000000, pos_h=0x1)"},
		{"armv7l", 4, false, "0xf0002", "0x1000 0x2000 0 0 0 0",
		 "cacheflush(start=0x1000, end=0x2000, flags=0)"},
		{"mips64", 8, false, "1", "1 2 3 4 5 6", NULL},
		{"", 8, false, "1", "1 2 3 4 5 6", NULL},
		{NULL, 8, false, "1", "1 2 3 4 5 6", NULL},
},
  raw_exits[] = {
	  {"x86_64", 8, false, "257", "0xfffffffffffffffe",
	   "openat = -1 ENOENT (No such file or directory)"},
	  {"x86_64", 8, false, "999", "0xffffffffffffffda",
	   "NR 999 = -1 ENOSYS (Function not implemented)"},
	  {"x86_64", 8, false, "0xffffffffffffffff", "5", "NR -1 = 5"},
	  {"i686", 4, false, "3", "0xfffffff2", "read = -1 EFAULT (Bad address)"},
	  {"s390x", 8, true, "4", "12", "write = 12"},
	  {"mips", 4, true, "4003", "0xfffffffc", "NR 4003 = -1 EINTR (Interrupted system call)"},
};

static void raw_fields(struct buf *b, unsigned int size, const char *last, unsigned int count)
{
	buf_printf(b, "long id @8:%us, %s @%u:%u", size, last, 8 + size, size * count);
}

static void test_raw(void **state)
{
	for (size_t i = 0; i < sizeof(raws) / sizeof(raws[0]); i++) {
		struct buf fields, record;
		struct fixture x;

		buf_init(&fields, 1 << 10);
		buf_init(&record, 1 << 10);
		fixture_open(&x, raws[i].machine, raws[i].big_endian, raws[i].long_size);
		raw_fields(&fields, raws[i].long_size, "unsigned long args[6]", 6);
		fixture_event(&x, "raw_syscalls", "sys_enter", buf_str(&fields), "\"\"");
		put_words(&record, raws[i].nr, raws[i].long_size);
		put_words(&record, raws[i].registers, raws[i].long_size);
		expect(fixture_print(&x, buf_str(&record) + 1), raws[i].text, raws[i].nr);
		fixture_close(&x);
		buf_free(&fields);
		buf_free(&record);
	}
}

static void test_raw_exits(void **state)
{
	for (size_t i = 0; i < sizeof(raw_exits) / sizeof(raw_exits[0]); i++) {
		struct buf fields, record;
		struct fixture x;

		buf_init(&fields, 1 << 10);
		buf_init(&record, 1 << 10);
		fixture_open(&x, raw_exits[i].machine, raw_exits[i].big_endian,
			     raw_exits[i].long_size);
		raw_fields(&fields, raw_exits[i].long_size, "long ret", 1);
		fixture_event(&x, "raw_syscalls", "sys_exit", buf_str(&fields), "\"\"");
		put_words(&record, raw_exits[i].nr, raw_exits[i].long_size);
		put_words(&record, raw_exits[i].registers, raw_exits[i].long_size);
		expect(fixture_print(&x, buf_str(&record) + 1), raw_exits[i].text, raw_exits[i].nr);
		fixture_close(&x);
		buf_free(&fields);
		buf_free(&record);
	}
}

/* ---- what pointers point to, where the kernel recorded it ---- */

#define OPEN_FIELDS                                                                                \
	"int __syscall_nr @8:4s, const char * filename @16:8, int flags @24:8, "                   \
	"umode_t mode @32:8, __data_loc char[] __filename_val @40:4"
#define WRITE_FIELDS                                                                               \
	"int __syscall_nr @8:4s, unsigned int fd @16:8, const char * buf @24:8, "                  \
	"size_t count @32:8, __data_loc char[] __buf_val @40:4"
#define NAME_FIELDS                                                                                \
	"int __syscall_nr @8:4s, void * blob @16:8, size_t n @24:8, "                              \
	"__data_loc char[] __blob_val @32:4"

static const struct {
	const char *name, *fields, *print_fmt, *record, *text;
} pointed[] = {
	{"open", OPEN_FIELDS, "\"%s\", __get_str(__filename_val)",
	 "4:2 _4 8:0x7f00 8:0 8:0 4:0xc002c '/etc/passwd':12",
	 "open(filename=\"/etc/passwd\", flags=O_RDONLY)"},
	{"open", OPEN_FIELDS, "\"%s\", __get_str(__filename_val)",
	 "4:2 _4 8:0x7f00 8:0 8:0 4:0x8002c x610a225c7f80fe00",
	 "open(filename=\"a\\n\\\"\\\\\\x7f\\x80\\xfe\", flags=O_RDONLY)"},
	/* without an end */
	{"open", OPEN_FIELDS, "\"%s\", __get_str(__filename_val)",
	 "4:2 _4 8:0x7f00 8:0 8:0 4:0x3002c 'abc':3", "open(filename=\"abc\", flags=O_RDONLY)"},
	/* NULL, a pointer that could not be followed, and one that leads out of the record */
	{"open", OPEN_FIELDS, "\"%s\", __get_str(__filename_val)",
	 "4:2 _4 8:0 8:0 8:0 4:0x1002c _1", "open(filename=NULL, flags=O_RDONLY)"},
	{"open", OPEN_FIELDS, "\"%s\", __get_str(__filename_val)", "4:2 _4 8:0x7f00 8:0 8:0 4:0x2c",
	 "open(filename=0x7f00, flags=O_RDONLY)"},
	{"open", OPEN_FIELDS, "\"%s\", __get_str(__filename_val)",
	 "4:2 _4 8:0x7f00 8:0 8:0 4:0x8ffff", "open(filename=0x7f00, flags=O_RDONLY)"},
	{"write", WRITE_FIELDS, "\"%s\", __print_dynamic_array(__buf_val, 1)",
	 "4:1 _4 8:1 8:0x7f00 8:3 4:0x3002c x610062", "write(fd=1, buf=\"a\\x00b\", count=3)"},
	{"write", WRITE_FIELDS, "\"%s\", __print_dynamic_array(__buf_val, 1)",
	 "4:1 _4 8:1 8:0x7f00 8:4096 4:0x2002c 'hi':2", "write(fd=1, buf=\"hi\"..., count=4096)"},
	/* in a call that no table knows the print format says whether it is text */
	{"new", NAME_FIELDS, "\"%s\", __print_dynamic_array(__blob_val, 1)",
	 "4:1 _4 8:0x7f00 8:2 4:0x20024 x0041", "new(blob=\"\\x00A\", n=2)"},
	{"new", NAME_FIELDS, "\"%s\", __get_str(__blob_val)",
	 "4:1 _4 8:0x7f00 8:2 4:0x30024 x410042", "new(blob=\"A\", n=2)"},
};

static void test_pointed(void **state)
{
	for (size_t i = 0; i < sizeof(pointed) / sizeof(pointed[0]); i++) {
		struct fixture x;
		struct buf name;

		buf_init(&name, 1 << 8);
		buf_printf(&name, "sys_enter_%s", pointed[i].name);
		fixture_open(&x, UNAME, false, 8);
		fixture_event(&x, "syscalls", buf_str(&name), pointed[i].fields,
			      pointed[i].print_fmt);
		expect(fixture_print(&x, pointed[i].record), pointed[i].text, pointed[i].record);
		fixture_close(&x);
		buf_free(&name);
	}
}

/* ---- signals ---- */

#define GENERATE                                                                                   \
	"int sig @8:4s, int errno @12:4s, int code @16:4s, char comm[16] @20:16s, "                \
	"pid_t pid @36:4s, int group @40:4s, int result @44:4s"
#define DELIVER                                                                                    \
	"int sig @8:4s, int errno @12:4s, int code @16:4s, unsigned long sa_handler @24:8, "       \
	"unsigned long sa_flags @32:8"

static const struct {
	const char *machine, *name, *fields, *record, *text;
} signals[] = {
	{UNAME, "signal_generate", GENERATE, "4:17 4:0 4:1 'bash':16 4:42 4:1 4:0",
	 "sig=SIGCHLD errno=0 code=CLD_EXITED comm=bash pid=42 grp=1 res=delivered"},
	{UNAME, "signal_generate", GENERATE, "4:9 4:0 4:0 'a\nb':16 4:42 4:1 4:2",
	 "sig=SIGKILL errno=0 code=SI_USER comm=a\\nb pid=42 grp=1 res=pending"},
	{UNAME, "signal_generate", GENERATE, "4:11 4:0 4:2 'x':16 4:42 4:0 4:9",
	 "sig=SIGSEGV errno=0 code=SEGV_ACCERR comm=x pid=42 grp=0 res=9"},
	{UNAME, "signal_deliver", DELIVER, "4:10 4:0 4:0xfffffffa _4 8:0x401000 8:0x14000004",
	 "sig=SIGUSR1 errno=0 code=SI_TKILL sa_handler=0x401000 "
	 "sa_flags=SA_SIGINFO|SA_RESTORER|SA_RESTART"},
	{UNAME, "signal_deliver", DELIVER, "4:64 4:1 4:77 _4 8:1 8:0",
	 "sig=SIGRT_32 errno=EPERM code=77 sa_handler=SIG_IGN sa_flags=0"},
	{NULL, "signal_deliver", DELIVER, "4:10 4:0 4:0 _4 8:0 8:4",
	 "sig=10 errno=0 code=0 sa_handler=SIG_DFL sa_flags=0x4"},
	{UNAME, "signal_deliver", DELIVER, "4:10 4:0 4:0 _4 8:0", NULL},
	{UNAME, "signal_deliver", "int sig @8:4s, int surprise @12:4s", "4:10 4:0", NULL},
	{UNAME, "signal_deliver", "int sig @8:2s", "4:10 4:0", NULL},
};

static void test_signals(void **state)
{
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		struct fixture x;

		fixture_open(&x, signals[i].machine, false, 8);
		fixture_event(&x, "signal", signals[i].name, signals[i].fields, "\"\"");
		expect(fixture_print(&x, signals[i].record), signals[i].text, signals[i].record);
		fixture_close(&x);
	}
}

/* ---- formats and records that are not what they should be ---- */

static const struct {
	const char *what, *system, *name, *fields, *record;
} strange[] = {
	{"an event of another kind", "sched", "sched_switch", "int pid @8:4s", "4:1"},
	{"a record that ends before the last argument", "syscalls", "sys_enter_dup2",
	 "int __syscall_nr @8:4s, unsigned int oldfd @16:8, unsigned int newfd @24:8",
	 "4:1 _4 8:1 4:2"},
	{"an empty record", "syscalls", "sys_exit_dup", "int __syscall_nr @8:4s, long ret @16:8s",
	 ""},
	{"an argument of three bytes", "syscalls", "sys_enter_dup",
	 "int __syscall_nr @8:4s, unsigned int fildes @16:3", "4:1 _4 8:1"},
	{"an argument that is an array", "syscalls", "sys_enter_dup",
	 "int __syscall_nr @8:4s, unsigned char fildes[8] @16:8", "4:1 _4 8:1"},
	{"an argument far outside", "syscalls", "sys_enter_dup",
	 "int __syscall_nr @8:4s, unsigned int fildes @4294967292:8", "4:1 _4 8:1"},
	{"seven arguments", "syscalls", "sys_enter_many",
	 "int __syscall_nr @8:4s, int a @16:8, int b @24:8, int c @32:8, int d @40:8, int e @48:8, "
	 "int f @56:8, int g @64:8",
	 "4:1 _4 8:1 8:1 8:1 8:1 8:1 8:1 8:1"},
	{"no result", "syscalls", "sys_exit_dup", "int __syscall_nr @8:4s", "4:1"},
	{"registers that are too few", "raw_syscalls", "sys_enter",
	 "long id @8:8s, unsigned long args[5] @16:40", "8:1 8:1 8:1 8:1 8:1 8:1"},
	{"registers that are not there", "raw_syscalls", "sys_enter",
	 "long id @8:8s, unsigned long args[6] @16:48", "8:1 8:1 8:1 8:1 8:1 8:1"},
	{"no number", "raw_syscalls", "sys_exit", "long ret @16:8s", "8:1 8:1"},
	{"an unknown name", "raw_syscalls", "sys_other", "long id @8:8s, long ret @16:8s",
	 "8:1 8:1"},
};

static void test_strange(void **state)
{
	for (size_t i = 0; i < sizeof(strange) / sizeof(strange[0]); i++) {
		struct fixture x;

		fixture_open(&x, UNAME, false, 8);
		fixture_event(&x, strange[i].system, strange[i].name, strange[i].fields, "\"\"");
		expect(fixture_print(&x, strange[i].record), NULL, strange[i].what);
		expect(fixture_print(&x, strange[i].record), NULL, "the same again");
		fixture_close(&x);
	}
}

/* Numbers and registers at random, on all architectures: whatever they are, they fit the buffer. */
static void test_any_registers(void **state)
{
	static const char *const machines[] = {"x86_64", "i686",	"aarch64", "riscv64",
					       "armv7l", "loongarch64", "s390x",   "ppc64"};
	uint64_t random = 1;

	for (size_t m = 0; m < sizeof(machines) / sizeof(machines[0]); m++) {
		struct fixture x;

		fixture_open(&x, machines[m], false, 8);
		fixture_event(&x, "raw_syscalls", "sys_enter",
			      "long id @8:8s, unsigned long args[6] @16:48", "\"\"");
		for (unsigned int i = 0; i < 4000; i++) {
			uint8_t bytes[64] = {0};
			struct spur_record r = {.data = bytes, .size = sizeof(bytes)};
			uint64_t nr = i % 500;

			memcpy(bytes + 8, &nr, 8);
			for (unsigned int k = 0; k < 6; k++) {
				uint64_t v;

				random = random * 6364136223846793005u + 1442695040888963407u;
				v = random >> (random >> 58);
				memcpy(bytes + 16 + 8 * k, &v, 8);
			}
			buf_reset(&x.text);
			if (pretty_print(x.pretty, &x.printer, x.event, &r, &x.text)) {
				assert_true(x.text.len > 2 && x.text.len < 1500);
				assert_int_equal(x.text.data[x.text.len - 1], ')');
			}
			assert_false(buf_full(&x.text));
		}
		fixture_close(&x);
	}
}

/* ---- threads ---- */

#define THREADS	   4
#define NR_EVENTS  50
#define REPETITION 200

struct shared {
	struct fixture x;
	struct event *events[NR_EVENTS];
};

static void *print_all(void *arg)
{
	static const uint8_t bytes[24] = {[16] = 7};
	struct shared *s = arg;
	const struct spur_record r = {.data = bytes, .size = sizeof(bytes)};
	struct event_printer printer = s->x.printer;
	uintptr_t wrong = 0;
	struct buf out;

	buf_init(&out, 1 << 12);
	for (unsigned int i = 0; i < NR_EVENTS * REPETITION; i++) {
		buf_reset(&out);
		if (!pretty_print(s->x.pretty, &printer, s->events[i % NR_EVENTS], &r, &out) ||
		    strncmp(buf_str(&out), "call", 4) || !strstr(out.data, "(fd=7)"))
			wrong++;
	}
	buf_free(&out);
	return (void *)wrong;
}

static void test_threads(void **state)
{
	pthread_t threads[THREADS];
	struct shared s;

	fixture_open(&s.x, UNAME, false, 8);
	for (unsigned int i = 0; i < NR_EVENTS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "sys_enter_call%u", i);
		fixture_add(s.x.ev, "syscalls", name, (int)i + 1,
			    "int __syscall_nr @8:4s, int fd @16:8", "\"\"");
	}
	assert_int_equal(events_seal(s.x.ev), 0);
	assert_int_equal(event_printer_init(&s.x.printer, s.x.ev), 0);
	for (unsigned int i = 0; i < NR_EVENTS; i++)
		s.events[i] = s.x.ev->list[i];
	for (unsigned int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, print_all, &s), 0);
	for (unsigned int i = 0; i < THREADS; i++) {
		void *wrong;

		pthread_join(threads[i], &wrong);
		assert_null(wrong);
	}
	fixture_close(&s.x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),	cmocka_unit_test(test_results),
		cmocka_unit_test(test_raw),	cmocka_unit_test(test_raw_exits),
		cmocka_unit_test(test_pointed), cmocka_unit_test(test_signals),
		cmocka_unit_test(test_strange), cmocka_unit_test(test_any_registers),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
