/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A kernel for tests of probes: its symbols, and BTF made by hand.
 *
 * The types are numbered in the order of add_types(), from 1; each line there says which it is.
 */
#ifndef TEST_PROBE_KERNEL_H
#define TEST_PROBE_KERNEL_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

static const char kernel_symbols[] = "ffffffff81000000 T _stext\n"
				     "ffffffff81001000 T vfs_read\n"
				     "ffffffff81002000 T do_open\n"
				     "ffffffff81003000 t twice\n"
				     "ffffffff81003800 t once\n"
				     "ffffffff81004000 t twice\n"
				     "ffffffff81005000 t copy.isra.0\n"
				     "ffffffff81005100 t copy.cold\n"
				     "ffffffff81006000 T tcp_one\n"
				     "ffffffff81006100 T tcp_two\n"
				     "ffffffff81006200 t tcp_two.cold\n"
				     "ffffffff81006300 t __pfx_tcp_two\n"
				     "ffffffff81007000 T many\n"
				     "ffffffff81007100 T by_value\n"
				     "ffffffff81007200 T enable\n"
				     "ffffffff81007300 T nothing\n"
				     "ffffffff81007400 T call_me\n"
				     "ffffffff81008000 D jiffies\n"
				     "a line that is none\n"
				     "ffffffffc0000000 t tun_open\t[tun]\n"
				     "ffffffffc0001000 t bpf_prog_x\t[bpf]\n";

/* ---- BTF ---- */

enum {
	KIND_INT = 1,
	KIND_PTR = 2,
	KIND_ARRAY = 3,
	KIND_STRUCT = 4,
	KIND_UNION = 5,
	KIND_ENUM = 6,
	KIND_FWD = 7,
	KIND_TYPEDEF = 8,
	KIND_CONST = 10,
	KIND_FUNC = 12,
	KIND_PROTO = 13,
	KIND_FLOAT = 16,
	KIND_TAG = 18,
	KIND_ENUM64 = 19,
};

struct btf_maker {
	struct buf types, strings;
	uint32_t before; /* bytes of the kernel's strings, for a module */
};

static void put32(struct buf *b, uint32_t v)
{
	buf_put(b, &v, 4);
}

static uint32_t text(struct btf_maker *m, const char *s)
{
	uint32_t at = m->before + (uint32_t)m->strings.len;

	buf_put(&m->strings, s, strlen(s) + 1);
	return at;
}

static void type(struct btf_maker *m, const char *name, uint32_t kind, uint32_t count,
		 uint32_t size_or_type)
{
	put32(&m->types, *name ? text(m, name) : 0);
	put32(&m->types, kind << 24 | count);
	put32(&m->types, size_or_type);
}

static void integer(struct btf_maker *m, const char *name, uint32_t size, uint32_t encoding)
{
	type(m, name, KIND_INT, 0, size);
	put32(&m->types, encoding << 24 | size * 8);
}

/* With bits the struct's flag must be set, and then every member's offset has them. */
static void member(struct btf_maker *m, const char *name, uint32_t type_id, uint32_t bit,
		   uint32_t bits)
{
	put32(&m->types, *name ? text(m, name) : 0);
	put32(&m->types, type_id);
	put32(&m->types, bits << 24 | bit);
}

static void enumerator(struct btf_maker *m, const char *name, int32_t value)
{
	put32(&m->types, text(m, name));
	put32(&m->types, (uint32_t)value);
}

static void param(struct btf_maker *m, const char *name, uint32_t type_id)
{
	put32(&m->types, *name ? text(m, name) : 0);
	put32(&m->types, type_id);
}

#define FLAG (1u << 7) /* of the kind's byte: members have bits; an enum is signed */

static void add_types(struct btf_maker *m)
{
	integer(m, "int", 4, 1);		/* 1 */
	integer(m, "char", 1, 1);		/* 2 */
	type(m, "", KIND_CONST, 0, 2);		/* 3: const char */
	type(m, "", KIND_PTR, 0, 3);		/* 4: const char * */
	integer(m, "unsigned long", 8, 0);	/* 5 */
	type(m, "size_t", KIND_TYPEDEF, 0, 5);	/* 6 */
	type(m, "dentry", KIND_STRUCT, 4, 192); /* 7 */
	member(m, "d_parent", 8, 24 * 8, 0);
	member(m, "d_name", 4, 32 * 8, 0);
	member(m, "d_iname", 9, 56 * 8, 0);
	member(m, "d_seen", 10, 96 * 8, 0);
	type(m, "", KIND_PTR, 0, 7);   /* 8: struct dentry * */
	type(m, "", KIND_ARRAY, 0, 0); /* 9: char[40] */
	put32(&m->types, 2), put32(&m->types, 1), put32(&m->types, 40);
	type(m, "", KIND_ARRAY, 0, 0); /* 10: int[3] */
	put32(&m->types, 1), put32(&m->types, 1), put32(&m->types, 3);
	type(m, "path", KIND_STRUCT, 2, 16); /* 11 */
	member(m, "mnt", 13, 0, 0);
	member(m, "dentry", 8, 64, 0);
	type(m, "file", KIND_STRUCT | FLAG, 4, 64); /* 12 */
	member(m, "f_path", 11, 16 * 8, 0);
	member(m, "f_mode", 1, 320, 3);
	member(m, "f_more", 1, 323, 5);
	member(m, "", 20, 48 * 8, 0);
	type(m, "", KIND_PTR, 0, 0);	     /* 13: void * */
	type(m, "", KIND_PTR, 0, 12);	     /* 14: struct file * */
	type(m, "user", KIND_TAG, 0, 3);     /* 15: const char, of a process */
	type(m, "", KIND_PTR, 0, 15);	     /* 16: const char __user * */
	type(m, "double", KIND_FLOAT, 0, 8); /* 17 */
	type(m, "pair", KIND_STRUCT, 2, 16); /* 18 */
	member(m, "first", 5, 0, 0);
	member(m, "second", 1, 64, 0);
	type(m, "big", KIND_STRUCT, 1, 40); /* 19 */
	member(m, "all", 10, 0, 0);
	type(m, "", KIND_UNION, 2, 8); /* 20: without a name */
	member(m, "f_count", 6, 0, 0);
	member(m, "f_ptr", 13, 0, 0);
	type(m, "", KIND_PROTO, 4, 5); /* 21: vfs_read */
	param(m, "file", 14), param(m, "buf", 16), param(m, "count", 6), param(m, "pos", 13);
	type(m, "vfs_read", KIND_FUNC, 0, 21); /* 22 */
	type(m, "", KIND_PROTO, 2, 1);	       /* 23: do_open */
	param(m, "dfd", 1), param(m, "name", 4);
	type(m, "do_open", KIND_FUNC, 0, 23); /* 24 */
	type(m, "", KIND_PROTO, 10, 0);	      /* 25: many */
	for (const char *s = "abcdefghij"; *s; s++)
		param(m, (const char[]){*s, '\0'}, *s == 'c' ? 17 : 1);
	type(m, "many", KIND_FUNC, 0, 25); /* 26 */
	type(m, "", KIND_PROTO, 4, 4);	   /* 27: by_value */
	param(m, "one", 1), param(m, "pair", 18), param(m, "big", 19), param(m, "last", 1);
	type(m, "by_value", KIND_FUNC, 0, 27); /* 28 */
	type(m, "", KIND_PROTO, 0, 0);	       /* 29 */
	type(m, "nothing", KIND_FUNC, 0, 29);  /* 30 */
	type(m, "", KIND_PTR, 0, 29);	       /* 31: void (*)() */
	type(m, "", KIND_PROTO, 2, 0);	       /* 32: call_me */
	param(m, "fn", 31), param(m, "common_pid", 1);
	type(m, "call_me", KIND_FUNC, 0, 32);	 /* 33 */
	type(m, "mood", KIND_ENUM | FLAG, 3, 4); /* 34 */
	enumerator(m, "CALM", 0), enumerator(m, "BUSY", 7), enumerator(m, "GONE", -1);
	type(m, "limits", KIND_ENUM64, 1, 8); /* 35 */
	enumerator(m, "FAR", 5), put32(&m->types, 1);
	integer(m, "_Bool", 1, 4);	  /* 36 */
	type(m, "later", KIND_FWD, 0, 0); /* 37: struct later; */
	type(m, "", KIND_PTR, 0, 37);	  /* 38 */
	type(m, "", KIND_PROTO, 3, 0);	  /* 39: what a tracepoint calls */
	param(m, "", 13), param(m, "", 36), param(m, "", 14);
	type(m, "", KIND_PTR, 0, 39);			 /* 40 */
	type(m, "btf_trace_begin", KIND_TYPEDEF, 0, 40); /* 41 */
	type(m, "btf_trace_named", KIND_TYPEDEF, 0, 40); /* 42 */
	type(m, "", KIND_PROTO, 3, 0);			 /* 43 */
	param(m, "__data", 13), param(m, "preempt", 36), param(m, "file", 14);
	type(m, "__probestub_named", KIND_FUNC, 0, 43); /* 44 */
	type(m, "", KIND_ARRAY, 0, 0);			/* 45: int[2][3] */
	put32(&m->types, 10), put32(&m->types, 1), put32(&m->types, 2);
	type(m, "box", KIND_STRUCT, 4, 48); /* 46 */
	member(m, "grid", 45, 0, 0);
	member(m, "mood", 34, 24 * 8, 0);
	member(m, "open", 36, 28 * 8, 0);
	member(m, "later", 38, 32 * 8, 0);
}

static void begin_btf(struct btf_maker *m)
{
	buf_init(&m->types, 1 << 20);
	buf_init(&m->strings, 1 << 20);
	buf_putc(&m->strings, '\0');
	m->before = 0;
}

static void end_btf(struct btf_maker *m, struct buf *to)
{
	uint16_t magic = 0xeb9f;

	buf_put(to, &magic, 2);
	buf_put(to, "\1\0", 2);
	put32(to, 24);
	put32(to, 0);
	put32(to, (uint32_t)m->types.len);
	put32(to, (uint32_t)m->types.len);
	put32(to, (uint32_t)m->strings.len);
	buf_put(to, m->types.data, m->types.len);
	buf_put(to, m->strings.data, m->strings.len);
	buf_free(&m->types);
	buf_free(&m->strings);
}

/* Fills `to` with the whole file. */
static inline void make_btf(struct buf *to)
{
	struct btf_maker m;

	begin_btf(&m);
	add_types(&m);
	end_btf(&m, to);
}

/* The file of a module with two types, which make tracepoints if they are called btf_trace_NAME. */
static inline void make_module_btf(struct buf *to, const char *one, const char *two)
{
	struct btf_maker kernel, m;

	begin_btf(&kernel);
	add_types(&kernel);
	begin_btf(&m);
	m.before = (uint32_t)kernel.strings.len;
	type(&m, one, KIND_TYPEDEF, 0, 40);
	type(&m, two, KIND_TYPEDEF, 0, 40);
	end_btf(&m, to);
	buf_free(&kernel.types);
	buf_free(&kernel.strings);
}

#endif
