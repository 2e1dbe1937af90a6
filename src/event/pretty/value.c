// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * One value in words: numbers, names of flags, text. Everything here runs once per argument of
 * every system call in a report, so it appends to the buffer directly.
 *
 * Values come from registers. Of an argument that is an int the upper half is garbage and is cut
 * off; of a long on a 32-bit machine there is no upper half, which is why its size is known.
 */
#include "base/array.h"
#include "base/num.h"
#include "event/pretty_tables.h"

/* ---- errors ---- */

/*
 * The names up to ERANGE mean the same everywhere; the others are those of the architectures that
 * follow the generic headers, which are all that arch.c knows.
 */
#define LAST_UNIVERSAL 34
#define FIRST_INTERNAL 512

static const struct error_name errors[] = {
	[1] = {"EPERM", "Operation not permitted"},
	[2] = {"ENOENT", "No such file or directory"},
	[3] = {"ESRCH", "No such process"},
	[4] = {"EINTR", "Interrupted system call"},
	[5] = {"EIO", "Input/output error"},
	[6] = {"ENXIO", "No such device or address"},
	[7] = {"E2BIG", "Argument list too long"},
	[8] = {"ENOEXEC", "Exec format error"},
	[9] = {"EBADF", "Bad file descriptor"},
	[10] = {"ECHILD", "No child processes"},
	[11] = {"EAGAIN", "Resource temporarily unavailable"},
	[12] = {"ENOMEM", "Cannot allocate memory"},
	[13] = {"EACCES", "Permission denied"},
	[14] = {"EFAULT", "Bad address"},
	[15] = {"ENOTBLK", "Block device required"},
	[16] = {"EBUSY", "Device or resource busy"},
	[17] = {"EEXIST", "File exists"},
	[18] = {"EXDEV", "Invalid cross-device link"},
	[19] = {"ENODEV", "No such device"},
	[20] = {"ENOTDIR", "Not a directory"},
	[21] = {"EISDIR", "Is a directory"},
	[22] = {"EINVAL", "Invalid argument"},
	[23] = {"ENFILE", "Too many open files in system"},
	[24] = {"EMFILE", "Too many open files"},
	[25] = {"ENOTTY", "Inappropriate ioctl for device"},
	[26] = {"ETXTBSY", "Text file busy"},
	[27] = {"EFBIG", "File too large"},
	[28] = {"ENOSPC", "No space left on device"},
	[29] = {"ESPIPE", "Illegal seek"},
	[30] = {"EROFS", "Read-only file system"},
	[31] = {"EMLINK", "Too many links"},
	[32] = {"EPIPE", "Broken pipe"},
	[33] = {"EDOM", "Numerical argument out of domain"},
	[34] = {"ERANGE", "Numerical result out of range"},
	[35] = {"EDEADLK", "Resource deadlock avoided"},
	[36] = {"ENAMETOOLONG", "File name too long"},
	[37] = {"ENOLCK", "No locks available"},
	[38] = {"ENOSYS", "Function not implemented"},
	[39] = {"ENOTEMPTY", "Directory not empty"},
	[40] = {"ELOOP", "Too many levels of symbolic links"},
	[42] = {"ENOMSG", "No message of desired type"},
	[43] = {"EIDRM", "Identifier removed"},
	[44] = {"ECHRNG", "Channel number out of range"},
	[45] = {"EL2NSYNC", "Level 2 not synchronized"},
	[46] = {"EL3HLT", "Level 3 halted"},
	[47] = {"EL3RST", "Level 3 reset"},
	[48] = {"ELNRNG", "Link number out of range"},
	[49] = {"EUNATCH", "Protocol driver not attached"},
	[50] = {"ENOCSI", "No CSI structure available"},
	[51] = {"EL2HLT", "Level 2 halted"},
	[52] = {"EBADE", "Invalid exchange"},
	[53] = {"EBADR", "Invalid request descriptor"},
	[54] = {"EXFULL", "Exchange full"},
	[55] = {"ENOANO", "No anode"},
	[56] = {"EBADRQC", "Invalid request code"},
	[57] = {"EBADSLT", "Invalid slot"},
	[59] = {"EBFONT", "Bad font file format"},
	[60] = {"ENOSTR", "Device not a stream"},
	[61] = {"ENODATA", "No data available"},
	[62] = {"ETIME", "Timer expired"},
	[63] = {"ENOSR", "Out of streams resources"},
	[64] = {"ENONET", "Machine is not on the network"},
	[65] = {"ENOPKG", "Package not installed"},
	[66] = {"EREMOTE", "Object is remote"},
	[67] = {"ENOLINK", "Link has been severed"},
	[68] = {"EADV", "Advertise error"},
	[69] = {"ESRMNT", "Srmount error"},
	[70] = {"ECOMM", "Communication error on send"},
	[71] = {"EPROTO", "Protocol error"},
	[72] = {"EMULTIHOP", "Multihop attempted"},
	[73] = {"EDOTDOT", "RFS specific error"},
	[74] = {"EBADMSG", "Bad message"},
	[75] = {"EOVERFLOW", "Value too large for defined data type"},
	[76] = {"ENOTUNIQ", "Name not unique on network"},
	[77] = {"EBADFD", "File descriptor in bad state"},
	[78] = {"EREMCHG", "Remote address changed"},
	[79] = {"ELIBACC", "Can not access a needed shared library"},
	[80] = {"ELIBBAD", "Accessing a corrupted shared library"},
	[81] = {"ELIBSCN", ".lib section in a.out corrupted"},
	[82] = {"ELIBMAX", "Attempting to link in too many shared libraries"},
	[83] = {"ELIBEXEC", "Cannot exec a shared library directly"},
	[84] = {"EILSEQ", "Invalid or incomplete multibyte or wide character"},
	[85] = {"ERESTART", "Interrupted system call should be restarted"},
	[86] = {"ESTRPIPE", "Streams pipe error"},
	[87] = {"EUSERS", "Too many users"},
	[88] = {"ENOTSOCK", "Socket operation on non-socket"},
	[89] = {"EDESTADDRREQ", "Destination address required"},
	[90] = {"EMSGSIZE", "Message too long"},
	[91] = {"EPROTOTYPE", "Protocol wrong type for socket"},
	[92] = {"ENOPROTOOPT", "Protocol not available"},
	[93] = {"EPROTONOSUPPORT", "Protocol not supported"},
	[94] = {"ESOCKTNOSUPPORT", "Socket type not supported"},
	[95] = {"EOPNOTSUPP", "Operation not supported"},
	[96] = {"EPFNOSUPPORT", "Protocol family not supported"},
	[97] = {"EAFNOSUPPORT", "Address family not supported by protocol"},
	[98] = {"EADDRINUSE", "Address already in use"},
	[99] = {"EADDRNOTAVAIL", "Cannot assign requested address"},
	[100] = {"ENETDOWN", "Network is down"},
	[101] = {"ENETUNREACH", "Network is unreachable"},
	[102] = {"ENETRESET", "Network dropped connection on reset"},
	[103] = {"ECONNABORTED", "Software caused connection abort"},
	[104] = {"ECONNRESET", "Connection reset by peer"},
	[105] = {"ENOBUFS", "No buffer space available"},
	[106] = {"EISCONN", "Transport endpoint is already connected"},
	[107] = {"ENOTCONN", "Transport endpoint is not connected"},
	[108] = {"ESHUTDOWN", "Cannot send after transport endpoint shutdown"},
	[109] = {"ETOOMANYREFS", "Too many references: cannot splice"},
	[110] = {"ETIMEDOUT", "Connection timed out"},
	[111] = {"ECONNREFUSED", "Connection refused"},
	[112] = {"EHOSTDOWN", "Host is down"},
	[113] = {"EHOSTUNREACH", "No route to host"},
	[114] = {"EALREADY", "Operation already in progress"},
	[115] = {"EINPROGRESS", "Operation now in progress"},
	[116] = {"ESTALE", "Stale file handle"},
	[117] = {"EUCLEAN", "Structure needs cleaning"},
	[118] = {"ENOTNAM", "Not a XENIX named type file"},
	[119] = {"ENAVAIL", "No XENIX semaphores available"},
	[120] = {"EISNAM", "Is a named type file"},
	[121] = {"EREMOTEIO", "Remote I/O error"},
	[122] = {"EDQUOT", "Disk quota exceeded"},
	[123] = {"ENOMEDIUM", "No medium found"},
	[124] = {"EMEDIUMTYPE", "Wrong medium type"},
	[125] = {"ECANCELED", "Operation canceled"},
	[126] = {"ENOKEY", "Required key not available"},
	[127] = {"EKEYEXPIRED", "Key has expired"},
	[128] = {"EKEYREVOKED", "Key has been revoked"},
	[129] = {"EKEYREJECTED", "Key was rejected by service"},
	[130] = {"EOWNERDEAD", "Owner died"},
	[131] = {"ENOTRECOVERABLE", "State not recoverable"},
	[132] = {"ERFKILL", "Operation not possible due to RF-kill"},
	[133] = {"EHWPOISON", "Memory page has hardware error"},
};

/* What the kernel uses among itself. A tracer sees the first of them, a program does not. */
static const struct error_name internal_errors[] = {
	[512 - FIRST_INTERNAL] = {"ERESTARTSYS", "interrupted, run again if SA_RESTART is set"},
	[513 - FIRST_INTERNAL] = {"ERESTARTNOINTR", "interrupted, run again"},
	[514 - FIRST_INTERNAL] = {"ERESTARTNOHAND", "interrupted, run again if no handler runs"},
	[515 - FIRST_INTERNAL] = {"ENOIOCTLCMD", "no such ioctl command"},
	[516 - FIRST_INTERNAL] = {"ERESTART_RESTARTBLOCK",
				  "interrupted, continued by restart_syscall"},
	[517 - FIRST_INTERNAL] = {"EPROBE_DEFER", "driver asks to be probed later"},
	[518 - FIRST_INTERNAL] = {"EOPENSTALE", "open found a stale entry"},
	[519 - FIRST_INTERNAL] = {"ENOPARAM", "parameter not supported"},
	[521 - FIRST_INTERNAL] = {"EBADHANDLE", "illegal NFS file handle"},
	[522 - FIRST_INTERNAL] = {"ENOTSYNC", "update synchronization mismatch"},
	[523 - FIRST_INTERNAL] = {"EBADCOOKIE", "cookie is stale"},
	[524 - FIRST_INTERNAL] = {"ENOTSUPP", "operation is not supported"},
	[525 - FIRST_INTERNAL] = {"ETOOSMALL", "buffer or request is too small"},
	[526 - FIRST_INTERNAL] = {"ESERVERFAULT", "untranslatable server error"},
	[527 - FIRST_INTERNAL] = {"EBADTYPE", "type not supported by server"},
	[528 - FIRST_INTERNAL] = {"EJUKEBOX", "request started, completes later"},
	[529 - FIRST_INTERNAL] = {"EIOCBQUEUED", "queued, completes later"},
	[530 - FIRST_INTERNAL] = {"ERECALLCONFLICT", "conflict with recalled state"},
	[531 - FIRST_INTERNAL] = {"ENOGRACE", "no grace period"},
};

const struct error_name *pretty_errno(unsigned int code, bool known_arch)
{
	const struct error_name *e = NULL;

	if (code < ARRAY_SIZE(errors) && (known_arch || code <= LAST_UNIVERSAL))
		e = &errors[code];
	else if (code >= FIRST_INTERNAL && code - FIRST_INTERNAL < ARRAY_SIZE(internal_errors))
		e = &internal_errors[code - FIRST_INTERNAL];
	return e && e->name ? e : NULL;
}

/* ---- signals ---- */

static const struct named *find_value(const struct name_set *set, uint32_t v)
{
	for (size_t i = 0; i < set->n; i++)
		if (set->at[i].value == v)
			return &set->at[i];
	return NULL;
}

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
	return sig < ARRAY_SIZE(signals) ? signals[sig] : NULL;
}

const struct named *pretty_signal_code(const struct name_set *sets, unsigned int sig, int32_t code)
{
	static const uint8_t kinds[] = {
		[4] = A_SIGILL_CODE,   [5] = A_SIGTRAP_CODE,  [7] = A_SIGBUS_CODE,
		[8] = A_SIGFPE_CODE,   [11] = A_SIGSEGV_CODE, [17] = A_SIGCHLD_CODE,
		[29] = A_SIGPOLL_CODE, [31] = A_SIGSYS_CODE,
	};
	uint8_t kind = A_SI_CODE;

	if (code > 0 && code != 0x80)
		kind = sig < ARRAY_SIZE(kinds) ? kinds[sig] : A_NONE;
	return kind ? find_value(&sets[kind - A_FIRST_SET], (uint32_t)code) : NULL;
}

/* ---- values ---- */

#define AT_FDCWD (-100)

/* Commands of fcntl() that say what its argument is. */
enum {
	F_DUPFD = 0,
	F_GETFD = 1,
	F_SETFD = 2,
	F_GETFL = 3,
	F_SETFL = 4,
	F_SETOWN = 8,
	F_GETOWN = 9,
	F_SETSIG = 10,
	F_GETSIG = 11,
	F_SETLEASE = 1024,
	F_GETLEASE = 1025,
	F_NOTIFY = 1026,
	F_DUPFD_QUERY = 1027,
	F_DUPFD_CLOEXEC = 1030,
	F_SETPIPE_SZ = 1031,
	F_GETPIPE_SZ = 1032,
	F_ADD_SEALS = 1033,
	F_GET_SEALS = 1034,
};

enum { PR_SET_PDEATHSIG = 1, PR_CAPBSET_READ = 23, PR_CAPBSET_DROP = 24 };
enum { AF_INET = 2, AF_INET6 = 10, AF_NETLINK = 16, AF_PACKET = 17 };
enum { SOL_IP = 0, SOL_SOCKET = 1, SOL_TCP = 6, SOL_UDP = 17, SOL_IPV6 = 41 };

#define O_CREAT	    0x40
#define __O_TMPFILE 0x400000

#define MAX_ERRNO 4095

static void put_hex(uint64_t v, struct buf *out)
{
	buf_put(out, "0x", 2);
	buf_hex(out, v);
}

/* A number of which nothing is known. */
static void put_word(uint64_t v, struct buf *out)
{
	if (v)
		put_hex(v, out);
	else
		buf_putc(out, '0');
}

/* As C writes them: a leading zero, at least three digits. */
static void put_octal(uint64_t v, struct buf *out)
{
	char digits[24];
	unsigned int n = sizeof(digits);

	do {
		digits[--n] = (char)('0' + (v & 7));
		v >>= 3;
	} while (v);
	digits[--n] = '0';
	while (sizeof(digits) - n < 3)
		digits[--n] = '0';
	buf_put(out, digits + n, sizeof(digits) - n);
}

static void put_pointer(uint64_t v, struct buf *out)
{
	if (v)
		put_hex(v, out);
	else
		buf_put(out, "NULL", 4);
}

/* A word with its sign. */
static int64_t as_long(uint64_t v, unsigned int size)
{
	return size == 4 ? (int32_t)v : (int64_t)v;
}

/* ---- names ------------------------------------------------------------------------------- */

static void put_unnamed(const struct name_set *set, uint64_t v, struct buf *out)
{
	if (set->flags & SET_OCTAL)
		put_octal(v, out);
	else if (set->flags & SET_NUMBER)
		buf_i64(out, set->flags & SET_WIDE ? (int64_t)v : (int32_t)v);
	else
		put_word(v, out);
}

void pretty_names_print(const struct name_set *set, uint64_t v, struct buf *out)
{
	const struct named *at = set->at;
	uint32_t done = 0;
	bool any = false;

	if (!(set->flags & SET_WIDE))
		v = (uint32_t)v;
	/* Most enumerations count from 0: the name is where its number says. */
	if (v < set->n && at[v].value == v && at[v].mask == UINT32_MAX) {
		buf_put(out, at[v].name, at[v].len);
		return;
	}
	for (size_t i = 0; i < set->n; i++) {
		if ((v & at[i].mask) != at[i].value || (at[i].mask & done))
			continue;
		if (at[i].mask == UINT32_MAX && v >> 32)
			continue;
		if (any)
			buf_putc(out, '|');
		buf_put(out, at[i].name, at[i].len);
		done |= at[i].mask;
		any = true;
		if (!(v & ~(uint64_t)done))
			return;
	}
	v &= ~(uint64_t)done;
	if (any)
		buf_putc(out, '|');
	put_unnamed(set, v, out);
}

static void put_set(const struct value_context *c, enum arg_kind kind, struct buf *out)
{
	const struct name_set *set = &c->sets[kind - A_FIRST_SET];
	uint64_t v = c->values[c->i];

	if (set->n)
		pretty_names_print(set, v, out);
	else
		put_word(v, out);
}

void pretty_signal_print(uint64_t sig, bool known_arch, struct buf *out)
{
	const char *name = known_arch && sig < 32 ? pretty_signal((unsigned int)sig) : NULL;

	if (name) {
		buf_puts(out, name);
	} else if (known_arch && sig >= 32 && sig <= 64) {
		buf_put(out, "SIGRT_", 6);
		buf_u64(out, sig - 32);
	} else {
		buf_i64(out, (int32_t)sig);
	}
}

/* ---- kinds ------------------------------------------------------------------------------- */

static void put_fd(uint64_t v, bool folder, struct buf *out)
{
	if (folder && (int32_t)v == AT_FDCWD)
		buf_put(out, "AT_FDCWD", 8);
	else
		buf_i64(out, (int32_t)v);
}

static void put_id(uint64_t v, struct buf *out)
{
	if ((uint32_t)v == UINT32_MAX)
		buf_put(out, "-1", 2);
	else
		buf_u64(out, (uint32_t)v);
}

/* The kernel's encoding of a device number in 32 bits. */
static void put_dev(uint64_t v, struct buf *out)
{
	buf_put(out, "makedev(", 8);
	buf_u64(out, (v & 0xfff00) >> 8);
	buf_put(out, ", ", 2);
	buf_u64(out, (v & 0xff) | ((v >> 12) & 0xfff00));
	buf_putc(out, ')');
}

/*
 * Besides the fixed clocks there is one for each process (the complement of its pid above three
 * bits that say what is counted) and one for each clock device that is open (of its descriptor,
 * marked by 3).
 */
static void put_clock(const struct value_context *c, struct buf *out)
{
	static const char *const counts[] = {"PROF", "VIRT", "SCHED"};
	int32_t clock = (int32_t)c->values[c->i];
	uint32_t low = (uint32_t)clock & 7;

	if (clock >= 0) {
		put_set(c, A_CLOCK_ID, out);
		return;
	}
	if (low == 3) {
		buf_puts(out, "FD_TO_CLOCKID(");
		buf_i64(out, ~(clock >> 3));
	} else if ((low & 3) < 3) {
		buf_puts(out, low & 4 ? "MAKE_THREAD_CPUCLOCK(" : "MAKE_PROCESS_CPUCLOCK(");
		buf_i64(out, ~(clock >> 3));
		buf_puts(out, ", CPUCLOCK_");
		buf_puts(out, counts[low & 3]);
	} else {
		buf_i64(out, clock);
		return;
	}
	buf_putc(out, ')');
}

/* An unknown command is taken apart: direction, type, number, size. */
static void put_ioctl(const struct value_context *c, struct buf *out)
{
	static const char *const directions[] = {"_IOC_NONE", "_IOC_WRITE", "_IOC_READ",
						 "_IOC_READ|_IOC_WRITE"};
	uint32_t v = (uint32_t)c->values[c->i];

	if (find_value(&c->sets[A_IOCTL_CMD - A_FIRST_SET], v) || !c->arch ||
	    !c->arch->plain_ioctl) {
		put_set(c, A_IOCTL_CMD, out);
		return;
	}
	buf_put(out, "_IOC(", 5);
	buf_puts(out, directions[v >> 30]);
	buf_put(out, ", ", 2);
	put_hex(v >> 8 & 0xff, out);
	buf_put(out, ", ", 2);
	put_hex(v & 0xff, out);
	buf_put(out, ", ", 2);
	put_hex(v >> 16 & 0x3fff, out);
	buf_putc(out, ')');
}

/* The argument that stands n before this one, or what stands for nothing. */
static uint32_t before(const struct value_context *c, unsigned int n)
{
	return c->i >= n ? (uint32_t)c->values[c->i - n] : UINT32_MAX;
}

static void put_protocol(const struct value_context *c, struct buf *out)
{
	switch (before(c, 2)) {
	case AF_INET:
	case AF_INET6: put_set(c, A_IPPROTO, out); break;
	case AF_NETLINK: put_set(c, A_NETLINK, out); break;
	/* It is in network order, so that decimal would say nothing. */
	case AF_PACKET: put_hex((uint32_t)c->values[c->i], out); break;
	default: buf_i64(out, (int32_t)c->values[c->i]);
	}
}

static void put_sockopt(const struct value_context *c, struct buf *out)
{
	switch (before(c, 1)) {
	case SOL_IP: put_set(c, A_IP_OPT, out); break;
	case SOL_SOCKET: put_set(c, A_SOCK_OPT, out); break;
	case SOL_TCP: put_set(c, A_TCP_OPT, out); break;
	case SOL_UDP: put_set(c, A_UDP_OPT, out); break;
	case SOL_IPV6: put_set(c, A_IPV6_OPT, out); break;
	default: buf_i64(out, (int32_t)c->values[c->i]);
	}
}

static void put_fcntl_arg(const struct value_context *c, struct buf *out)
{
	uint64_t v = c->values[c->i];

	switch (before(c, 1)) {
	case F_SETFD: put_set(c, A_FD_FLAGS, out); break;
	case F_SETFL: put_set(c, A_OPEN_FLAGS, out); break;
	case F_SETSIG: pretty_signal_print((uint32_t)v, c->arch, out); break;
	case F_SETLEASE: put_set(c, A_LEASE, out); break;
	case F_NOTIFY: put_set(c, A_DNOTIFY, out); break;
	case F_ADD_SEALS: put_set(c, A_SEALS, out); break;
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
	case F_DUPFD_QUERY:
	case F_SETOWN:
	case F_SETPIPE_SZ: buf_i64(out, (int32_t)v); break;
	default: put_pointer(v, out);
	}
}

static void put_prctl_arg(const struct value_context *c, struct buf *out)
{
	uint64_t v = c->values[c->i];

	switch (before(c, 1)) {
	case PR_SET_PDEATHSIG: pretty_signal_print((uint32_t)v, c->arch, out); break;
	case PR_CAPBSET_READ:
	case PR_CAPBSET_DROP: put_set(c, A_CAPABILITY, out); break;
	default:
		if (v > 9)
			put_hex(v, out);
		else
			buf_u64(out, v);
	}
}

/* All bits ask, and set nothing. */
static void put_personality(const struct value_context *c, struct buf *out)
{
	if ((uint32_t)c->values[c->i] == UINT32_MAX)
		put_hex(UINT32_MAX, out);
	else
		put_set(c, A_PERSONALITY, out);
}

bool pretty_value_matters(const struct value_context *c, uint8_t kind)
{
	if (kind == A_CREATE_MODE)
		return before(c, 1) & (O_CREAT | __O_TMPFILE);
	if (kind != A_FCNTL_ARG)
		return true;
	switch (before(c, 1)) {
	case F_GETFD:
	case F_GETFL:
	case F_GETOWN:
	case F_GETSIG:
	case F_GETLEASE:
	case F_GETPIPE_SZ:
	case F_GET_SEALS: return false;
	default: return true;
	}
}

void pretty_value_print(const struct value_context *c, uint8_t kind, struct buf *out)
{
	uint64_t v = c->values[c->i];

	switch (kind) {
	case A_INT: buf_i64(out, (int32_t)v); break;
	case A_UINT: buf_u64(out, (uint32_t)v); break;
	case A_LONG: buf_i64(out, as_long(v, c->size)); break;
	case A_SIZE: buf_u64(out, v); break;
	case A_PTR:
	case A_STR:
	case A_BUF: put_pointer(v, out); break;
	case A_FD: put_fd(v, false, out); break;
	case A_DFD: put_fd(v, true, out); break;
	case A_ID: put_id(v, out); break;
	case A_OCTAL:
	case A_CREATE_MODE: put_octal((uint32_t)v, out); break;
	case A_DEV: put_dev(v, out); break;
	case A_SIGNAL: pretty_signal_print((uint32_t)v, c->arch, out); break;
	case A_CLOCK: put_clock(c, out); break;
	case A_IOCTL: put_ioctl(c, out); break;
	case A_PROTOCOL: put_protocol(c, out); break;
	case A_SOCKOPT: put_sockopt(c, out); break;
	case A_FCNTL_ARG: put_fcntl_arg(c, out); break;
	case A_PRCTL_ARG: put_prctl_arg(c, out); break;
	case A_PERSONALITY: put_personality(c, out); break;
	default:
		if (kind >= A_FIRST_SET && kind < A_END)
			put_set(c, kind, out);
		else
			put_word(v, out);
	}
}

/* ---- results ----------------------------------------------------------------------------- */

/*
 * When a call fails, a program sees -1 and errno. Errors that tell the kernel to repeat the call
 * never reach it.
 */
static bool put_error(unsigned int code, bool known_arch, struct buf *out)
{
	const struct error_name *e = pretty_errno(code, known_arch);

	if (!e)
		return false;
	buf_puts(out, code >= 512 ? "? " : "-1 ");
	buf_puts(out, e->name);
	buf_put(out, " (", 2);
	buf_puts(out, e->text);
	buf_putc(out, ')');
	return true;
}

void pretty_result_print(const struct value_context *c, uint8_t kind, struct buf *out)
{
	int64_t ret = as_long(c->values[0], c->size);

	if (ret < 0 && ret >= -MAX_ERRNO && put_error((unsigned int)-ret, c->arch, out))
		return;
	if (kind == A_NONE || ret < 0)
		buf_i64(out, ret);
	else
		pretty_value_print(c, kind, out);
}

/* ---- text -------------------------------------------------------------------------------- */

static void put_escaped(uint8_t b, struct buf *out)
{
	static const char digit[] = "0123456789abcdef";
	const char hex[] = {'\\', 'x', digit[b >> 4], digit[b & 15]};
	char short_form = 0;

	switch (b) {
	case '\n': short_form = 'n'; break;
	case '\t': short_form = 't'; break;
	case '\r': short_form = 'r'; break;
	case '\\':
	case '"': short_form = (char)b; break;
	}
	if (short_form) {
		buf_putc(out, '\\');
		buf_putc(out, short_form);
	} else {
		buf_put(out, hex, sizeof(hex));
	}
}

void pretty_text_print(const uint8_t *p, size_t n, struct buf *out)
{
	size_t from = 0;

	for (size_t i = 0; i < n; i++) {
		if (p[i] >= 0x20 && p[i] < 0x7f && p[i] != '"' && p[i] != '\\')
			continue;
		buf_put(out, p + from, i - from);
		put_escaped(p[i], out);
		from = i + 1;
	}
	buf_put(out, p + from, n - from);
}

void pretty_text_quoted(const uint8_t *p, size_t n, struct buf *out)
{
	buf_putc(out, '"');
	pretty_text_print(p, n, out);
	buf_putc(out, '"');
}
