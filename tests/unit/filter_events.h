/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events and records to try filters on: as format texts and bytes, so that spur's registry and
 * libtraceevent can both be fed with them. The common part of a record is what Linux has.
 */
#ifndef TESTS_FILTER_EVENTS_H
#define TESTS_FILTER_EVENTS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <spur/record.h>

#define COMMON_FIELDS                                                                              \
	"format:\n"                                                                                \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static const struct {
	const char *system;
	const char *format;
} filter_formats[] = {
	{"ftrace", "name: function\nID: 1\n" COMMON_FIELDS
		   "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
		   "\tfield:unsigned long parent_ip;\toffset:16;\tsize:8;\tsigned:0;\n"
		   "\nprint fmt: \" %lx <-- %lx\", REC->ip, REC->parent_ip\n"},
	{"sched", "name: sched_switch\nID: 300\n" COMMON_FIELDS
		  "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:1;\n"
		  "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
		  "\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
		  "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
		  "\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:1;\n"
		  "\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
		  "\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n"
		  "\nprint fmt: \"%s:%d\", REC->prev_comm, REC->prev_pid\n"},
	{"sched", "name: sched_wakeup\nID: 301\n" COMMON_FIELDS
		  "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:1;\n"
		  "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
		  "\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
		  "\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n"
		  "\nprint fmt: \"%s:%d\", REC->comm, REC->pid\n"},
	{"test",
	 "name: numbers\nID: 400\n" COMMON_FIELDS "\tfield:u8 a8;\toffset:8;\tsize:1;\tsigned:0;\n"
	 "\tfield:s8 b8;\toffset:9;\tsize:1;\tsigned:1;\n"
	 "\tfield:u16 a16;\toffset:10;\tsize:2;\tsigned:0;\n"
	 "\tfield:s16 b16;\toffset:12;\tsize:2;\tsigned:1;\n"
	 "\tfield:u32 a32;\toffset:16;\tsize:4;\tsigned:0;\n"
	 "\tfield:s32 b32;\toffset:20;\tsize:4;\tsigned:1;\n"
	 "\tfield:u64 a64;\toffset:24;\tsize:8;\tsigned:0;\n"
	 "\tfield:s64 b64;\toffset:32;\tsize:8;\tsigned:1;\n"
	 "\tfield:unsigned long flags;\toffset:40;\tsize:8;\tsigned:0;\n"
	 "\tfield:void * func;\toffset:48;\tsize:8;\tsigned:0;\n"
	 "\tfield:unsigned int zero;\toffset:56;\tsize:4;\tsigned:0;\n"
	 "\nprint fmt: \"%d\", REC->a8\n"},
	{"test", "name: words\nID: 401\n" COMMON_FIELDS
		 "\tfield:__data_loc char[] name;\toffset:8;\tsize:4;\tsigned:1;\n"
		 "\tfield:__rel_loc char[] path;\toffset:12;\tsize:4;\tsigned:1;\n"
		 "\tfield:char raw[4];\toffset:16;\tsize:4;\tsigned:1;\n"
		 "\tfield:unsigned int cpu;\toffset:20;\tsize:4;\tsigned:0;\n"
		 "\nprint fmt: \"%s\", __get_str(name)\n"},
};

#define NR_FILTER_FORMATS (sizeof(filter_formats) / sizeof(filter_formats[0]))

static const char filter_kallsyms[] = "ffffffff81000000 T _stext\n"
				      "ffffffff81000100 T schedule\n"
				      "ffffffff81000200 t do_idle\n"
				      "ffffffff81000300 t tcp_sendmsg\t[tcp]\n"
				      "ffffffff81000400 T _etext\n";

static const char filter_comms[] = "42 bash\n7 kworker/0:1\n99 Xorg\n";

enum filter_record {
	R_FUNCTION,
	R_SWITCH,
	R_SWITCH_IDLE,
	R_WAKEUP,
	R_NUMBERS,
	R_WORDS,
	R_SHORT, /* a sched_switch that ends in the middle of its first own field */
	NR_FILTER_RECORDS,
};

struct filter_bytes {
	uint8_t bytes[128];
	uint32_t size;
	uint32_t cpu;
};

static inline void put_bytes(struct filter_bytes *r, size_t offset, const void *p, size_t size)
{
	memcpy(r->bytes + offset, p, size);
	if (offset + size > r->size)
		r->size = (uint32_t)(offset + size);
}

static inline void put_number(struct filter_bytes *r, size_t offset, uint64_t v, size_t size)
{
	uint8_t bytes[8];

	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)(v >> (8 * i));
	put_bytes(r, offset, bytes, size);
}

static inline void put_text(struct filter_bytes *r, size_t offset, const char *text, size_t size)
{
	char field[32] = {0};

	memcpy(field, text, strlen(text) < size ? strlen(text) : size);
	put_bytes(r, offset, field, size);
}

static inline void put_common(struct filter_bytes *r, unsigned int id, int pid, uint32_t cpu)
{
	memset(r, 0, sizeof(*r));
	r->cpu = cpu;
	put_number(r, 0, id, 2);
	put_number(r, 2, 1, 1);
	put_number(r, 4, (uint64_t)pid, 4);
}

static inline void put_switch(struct filter_bytes *r, const char *prev, int prev_pid, int prio,
			      int64_t state, const char *next, int next_pid, int next_prio)
{
	put_text(r, 8, prev, 16);
	put_number(r, 24, (uint64_t)prev_pid, 4);
	put_number(r, 28, (uint64_t)prio, 4);
	put_number(r, 32, (uint64_t)state, 8);
	put_text(r, 40, next, 16);
	put_number(r, 56, (uint64_t)next_pid, 4);
	put_number(r, 60, (uint64_t)next_prio, 4);
}

static inline void put_numbers(struct filter_bytes *r)
{
	put_number(r, 8, 200, 1);
	put_number(r, 9, (uint64_t)-2, 1);
	put_number(r, 10, 60000, 2);
	put_number(r, 12, (uint64_t)-300, 2);
	put_number(r, 16, 0xfffffff0, 4);
	put_number(r, 20, (uint64_t)-100, 4);
	put_number(r, 24, 0x8000000000000001, 8);
	put_number(r, 32, (uint64_t)-1, 8);
	put_number(r, 40, 0x16, 8);
	put_number(r, 48, 0xffffffff81000234, 8);
	put_number(r, 56, 0, 4);
}

/* A record of each kind. */
static inline void filter_records(struct filter_bytes r[NR_FILTER_RECORDS])
{
	put_common(&r[R_FUNCTION], 1, 7, 3);
	put_number(&r[R_FUNCTION], 8, 0xffffffff81000110, 8);
	put_number(&r[R_FUNCTION], 16, 0xffffffff81000210, 8);

	put_common(&r[R_SWITCH], 300, 42, 1);
	put_switch(&r[R_SWITCH], "bash", 42, 120, 1, "kworker/0:1", 7, 100);

	put_common(&r[R_SWITCH_IDLE], 300, 0, 0);
	put_switch(&r[R_SWITCH_IDLE], "swapper/0", 0, 120, 0, "sixteen letters!", 99, 49);

	put_common(&r[R_WAKEUP], 301, 42, 1);
	put_text(&r[R_WAKEUP], 8, "Xorg", 16);
	put_number(&r[R_WAKEUP], 24, 99, 4);
	put_number(&r[R_WAKEUP], 28, (uint64_t)-51, 4);
	put_number(&r[R_WAKEUP], 32, 1, 4);

	put_common(&r[R_NUMBERS], 400, 1234, 2);
	put_numbers(&r[R_NUMBERS]);

	/* The texts lie behind the fields: "hello" at 24, "/bin/sh" at 32, counted from 16 on. */
	put_common(&r[R_WORDS], 401, 42, 5);
	put_number(&r[R_WORDS], 8, 6 << 16 | 24, 4);
	put_number(&r[R_WORDS], 12, 8 << 16 | (32 - 16), 4);
	put_bytes(&r[R_WORDS], 16, "abcd", 4);
	put_number(&r[R_WORDS], 20, 77, 4);
	put_text(&r[R_WORDS], 24, "hello", 8);
	put_text(&r[R_WORDS], 32, "/bin/sh", 8);

	put_common(&r[R_SHORT], 300, 42, 1);
	put_bytes(&r[R_SHORT], 8, "bash", 4);
}

static inline struct spur_record filter_record_of(const struct filter_bytes *b)
{
	return (struct spur_record){.data = b->bytes, .size = b->size, .cpu = b->cpu, .ts = 1000};
}

#endif
