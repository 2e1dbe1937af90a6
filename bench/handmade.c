// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Bytecode written by hand, to compare a compiler with: handmade count|comm|hist COMMAND...
 *
 * Attaches a program to the raw tracepoint or tracepoint of all system calls, as the script of the same
 * meaning would be, and runs the command.
 */
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define INSN(c, d, s, o, i)	((struct bpf_insn){.code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i)})
#define MOV_REG(d, s)		INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define MOV_IMM(d, i)		INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define ALU_IMM(op, d, i)	INSN(BPF_ALU64 | (op) | BPF_K, d, 0, 0, i)
#define ALU_REG(op, d, s)	INSN(BPF_ALU64 | (op) | BPF_X, d, s, 0, 0)
#define LOAD(size, d, s, o)	INSN(BPF_LDX | BPF_MEM | (size), d, s, o, 0)
#define STORE(size, d, s, o)	INSN(BPF_STX | BPF_MEM | (size), d, s, o, 0)
#define STORE_IMM(size, d, o, i) INSN(BPF_ST | BPF_MEM | (size), d, 0, o, i)
#define JUMP_IMM(op, d, i, o)	INSN(BPF_JMP | (op) | BPF_K, d, 0, o, i)
#define CALL(f)			INSN(BPF_JMP | BPF_CALL, 0, 0, 0, f)
#define EXIT()			INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)
#define MAP(d, fd)		INSN(BPF_LD | BPF_DW | BPF_IMM, d, BPF_PSEUDO_MAP_FD, 0, fd), INSN(0, 0, 0, 0, 0)

static int bpf(int cmd, union bpf_attr *a)
{
	return (int)syscall(SYS_bpf, cmd, a, sizeof(*a));
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int map(uint32_t type, uint32_t key, uint32_t value, uint32_t entries)
{
	union bpf_attr a = {.map_type = type, .key_size = key, .value_size = value, .max_entries = entries};
	int fd = bpf(BPF_MAP_CREATE, &a);

	if (fd < 0)
		die("map");
	return fd;
}

static int load(uint32_t type, const struct bpf_insn *insns, size_t n)
{
	static char log[65536];
	union bpf_attr a = {.prog_type = type};
	int fd;

	a.insns = (uint64_t)(uintptr_t)insns;
	a.insn_cnt = (uint32_t)n;
	a.license = (uint64_t)(uintptr_t) "GPL";
	a.log_buf = (uint64_t)(uintptr_t)log;
	a.log_size = sizeof(log);
	a.log_level = 1;
	fd = bpf(BPF_PROG_LOAD, &a);
	if (fd < 0) {
		fputs(log, stderr);
		die("program");
	}
	return fd;
}

static void attach_raw(int prog)
{
	union bpf_attr a = {0};

	a.raw_tracepoint.name = (uint64_t)(uintptr_t) "sys_enter";
	a.raw_tracepoint.prog_fd = (uint32_t)prog;
	if (bpf(BPF_RAW_TRACEPOINT_OPEN, &a) < 0)
		die("raw tracepoint");
}

static void attach_event(int prog)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .sample_period = 1};
	FILE *f = fopen("/sys/kernel/tracing/events/raw_syscalls/sys_enter/id", "r");
	int fd, id;

	if (!f || fscanf(f, "%d", &id) != 1)
		die("tracepoint");
	attr.config = (uint64_t)id;
	fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0);
	if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog) != 0 || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) != 0)
		die("perf_event_open");
	fclose(f);
}

#define N(x) (sizeof(x) / sizeof((x)[0]))

/* @ = count() */
static void count(void)
{
	const int fd = map(BPF_MAP_TYPE_PERCPU_ARRAY, 4, 16, 1);
	const struct bpf_insn p[] = {
		STORE_IMM(BPF_W, 10, -4, 0), MAP(1, fd), MOV_REG(2, 10), ALU_IMM(BPF_ADD, 2, -4), CALL(1),
		JUMP_IMM(BPF_JEQ, 0, 0, 4), STORE_IMM(BPF_DW, 0, 0, 1), LOAD(BPF_DW, 1, 0, 8),
		ALU_IMM(BPF_ADD, 1, 1), STORE(BPF_DW, 0, 1, 8), MOV_IMM(0, 0), EXIT(),
	};

	attach_raw(load(BPF_PROG_TYPE_RAW_TRACEPOINT, p, N(p)));
}

/* @[comm] = count() */
static void by_comm(void)
{
	const int fd = map(BPF_MAP_TYPE_PERCPU_HASH, 16, 8, 4096);
	const struct bpf_insn p[] = {
		MOV_REG(1, 10), ALU_IMM(BPF_ADD, 1, -16), MOV_IMM(2, 16), CALL(16), MAP(1, fd), MOV_REG(2, 10),
		ALU_IMM(BPF_ADD, 2, -16), CALL(1), JUMP_IMM(BPF_JEQ, 0, 0, 4), LOAD(BPF_DW, 1, 0, 0),
		ALU_IMM(BPF_ADD, 1, 1), STORE(BPF_DW, 0, 1, 0), INSN(BPF_JMP | BPF_JA, 0, 0, 9, 0),
		STORE_IMM(BPF_DW, 10, -24, 1), MAP(1, fd), MOV_REG(2, 10), ALU_IMM(BPF_ADD, 2, -16), MOV_REG(3, 10),
		ALU_IMM(BPF_ADD, 3, -24), MOV_IMM(4, 0), CALL(2), MOV_IMM(0, 0), EXIT(),
	};

	attach_raw(load(BPF_PROG_TYPE_RAW_TRACEPOINT, p, N(p)));
}

/* @ = hist(args.id): the number of the highest bit, by halves */
static void hist(void)
{
	const int fd = map(BPF_MAP_TYPE_PERCPU_ARRAY, 4, 8 + 65 * 8, 1);
	struct bpf_insn p[64] = {
		LOAD(BPF_DW, 6, 1, 8), MOV_IMM(7, 0), JUMP_IMM(BPF_JSLT, 6, 0, 0), MOV_REG(7, 6),
		ALU_IMM(BPF_ADD, 7, 1), JUMP_IMM(BPF_JLT, 6, 1, 0), MOV_IMM(7, 2),
	};
	size_t n = 7, end;

	for (int half = 32; half; half /= 2) {
		p[n++] = MOV_REG(1, 6);
		p[n++] = ALU_IMM(BPF_RSH, 1, half);
		p[n++] = JUMP_IMM(BPF_JEQ, 1, 0, 2);
		p[n++] = MOV_REG(6, 1);
		p[n++] = ALU_IMM(BPF_ADD, 7, half);
	}
	p[2].off = (int16_t)(n - 3);
	p[5].off = (int16_t)(n - 6);
	const struct bpf_insn rest[] = {
		STORE_IMM(BPF_W, 10, -4, 0), MAP(1, fd), MOV_REG(2, 10), ALU_IMM(BPF_ADD, 2, -4), CALL(1),
		JUMP_IMM(BPF_JEQ, 0, 0, 7), STORE_IMM(BPF_DW, 0, 0, 1), JUMP_IMM(BPF_JGT, 7, 64, 5),
		ALU_IMM(BPF_LSH, 7, 3), ALU_REG(BPF_ADD, 0, 7), LOAD(BPF_DW, 1, 0, 8), ALU_IMM(BPF_ADD, 1, 1),
		STORE(BPF_DW, 0, 1, 8), MOV_IMM(0, 0), EXIT(),
	};

	end = n + N(rest);
	memcpy(p + n, rest, sizeof(rest));
	attach_event(load(BPF_PROG_TYPE_TRACEPOINT, p, end));
}

int main(int argc, char **argv)
{
	int status;
	pid_t pid;

	if (argc < 3)
		return 1;
	if (strcmp(argv[1], "count") == 0)
		count();
	else if (strcmp(argv[1], "comm") == 0)
		by_comm();
	else
		hist();
	pid = fork();
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	return waitpid(pid, &status, 0) == pid && status == 0 ? 0 : 1;
}
