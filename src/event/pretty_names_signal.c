// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of signals, of their codes, and of the numbers in calls that deal with them. */
#include "event/pretty_tables.h"

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
