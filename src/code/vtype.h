/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The types of a script's values. What C describes (structs, pointers, arrays) is seen through
 * symbols/types.h, wherever the description comes from: BTF, DWARF, the format of a tracepoint, or
 * the script itself.
 *
 * A value is either a number in a register (numbers, pointers, everything up to 8 bytes that is no
 * aggregate) or lies in memory, as long as `size` says. In memory numbers are in host byte order,
 * strings are NUL-terminated and padded with NULs.
 */
#ifndef CODE_VTYPE_H
#define CODE_VTYPE_H

#include "symbols/types.h"

enum vkind {
	V_NONE,	   /* no value, or not known yet */
	V_INT,	   /* size 1, 2, 4 or 8; is_signed */
	V_BOOL,	   /* size 1 */
	V_STRING,  /* size bytes, the terminator among them */
	V_BUFFER,  /* u32 length, then size - 4 bytes */
	V_POINTER, /* 8 bytes; to `c`, or to a value of the script's, `to` */
	V_STRUCT,  /* `c`, size bytes of it; also unions */
	V_ARRAY,   /* `c` is the array's type */
	V_TUPLE,   /* elems */
	V_RECORD,  /* elems with names */
	V_KSTACK,  /* s64 hash of frames in the stack map, negative: an error; `mode`, `depth` */
	V_USTACK,  /* the same, then u32 pid, u32 probe; param: of dw_ustack(), with build ids */
	V_KSYM,	   /* u64 address */
	V_USYM,	   /* u64 address, u32 pid, u32 probe number */
	V_INET,	   /* u32 4 or 16: bytes that count; 16 bytes of address */
	V_MAC,	   /* 6 bytes */
	V_TIME,	   /* strftime(): u64 nanoseconds; `text` is the format, mode an enum vclock */
	V_CGROUP,  /* cgroup_path(): u64 id, its path; `text` is a glob of mount points or NULL */
	V_USER,	   /* username: u32 uid; prints as a name */
	V_ERRNO,   /* strerror(): s64; prints as words */
	V_SIGNAL,  /* signal_name(): s64; prints as a name */
	V_SYSCALL, /* syscall_name(): s64; prints as a name */
	V_PROBE,   /* probe and func names known to the unit: u64 index in unit.strings */
	/* Values that maps aggregate; see struct map_def for how they lie in the map. */
	V_COUNT,
	V_SUM,
	V_AVG,
	V_MIN,
	V_MAX,
	V_STATS,
	V_HIST,	   /* param[0]: bits of sub-buckets, 0 to 5 */
	V_LHIST,   /* param[0..2]: min, max, step */
	V_TSERIES, /* param[0..1]: interval in ns, number of buckets; mode: enum vseries */
	V_KINDS
};

/* Where memory is that a pointer points at, or a struct lies in. */
enum vspace {
	SPACE_OWN,    /* the program's own: scratch, map values, the stack */
	SPACE_CTX,    /* the context: fixed offsets are read directly */
	SPACE_KERNEL, /* read by helpers */
	SPACE_USER,
};

#define VTYPE_STACK_DEPTH 127 /* frames, as many as the kernel gives by default */
#define VTYPE_MAX_DEPTH	  1024
enum vstack_mode { STACK_BPFTRACE, STACK_PERF, STACK_RAW, STACK_BUILD_ID };
enum vclock { CLOCK_OF_BOOT, CLOCK_OF_MONOTONIC, CLOCK_OF_TAI };
enum vseries { SERIES_NONE, SERIES_AVG, SERIES_MAX, SERIES_MIN, SERIES_SUM };

struct vtype;

struct velem {
	const char *name; /* of a record's element, or NULL */
	const struct vtype *type;
	uint32_t offset;
};

struct vtype {
	enum vkind kind;
	uint32_t size;
	bool is_signed;
	uint8_t as_unsigned; /* V_INT whose sign is not settled: see vtype_literal() */
	enum vspace space;
	struct type
		c; /* V_POINTER: what it points at; V_STRUCT, V_ARRAY: itself; V_INT: an enum, or
				      kind TYPE_UNKNOWN */
	const struct vtype *to;	   /* V_POINTER: a type that C does not have; or NULL */
	const struct velem *elems; /* V_TUPLE, V_RECORD */
	uint32_t nr_elems;
	int mode;
	uint32_t depth;
	int64_t param[3];
	const char *text;
};

/* ---- making them; everything they point at is in the arena ---- */

/* Of a kind whose size is always the same: see enum vkind. */
struct vtype vtype_fixed(enum vkind kind);
struct vtype vtype_int(unsigned int bytes, bool is_signed);
struct vtype vtype_string(uint32_t size);

/*
 * Of a number that the script has written: the smallest signed one that holds it, or uint64. One
 * that is not below 0 becomes unsigned where it meets unsigned numbers: `as_unsigned` are the bytes
 * that it then has.
 */
struct vtype vtype_literal(int64_t value, bool is_signed);
/* The type that holds numbers of both. Of uint64 and int64 it is the first. */
struct vtype vtype_join(const struct vtype *a, const struct vtype *b);
struct vtype vtype_pointer(const struct type *to, enum vspace space);

/*
 * What a C type is as a value when it is found in that space: integers, pointers, arrays of char
 * (strings), structs, arrays; V_NONE for what is no value (void, floating point). The size of text
 * of which only the kernel knows how long it is (TYPE_TEXT) is 0, that of what is larger than a
 * value can be, too. A bit field's type is that of the integer that holds it.
 */
struct vtype vtype_of_c(const struct type *c, enum vspace space);

/* Lays out a tuple (names NULL) or record as C lays out a struct; false without memory. */
bool vtype_tuple(struct vtype *out, const struct vtype *const *types, const char *const *names,
		 uint32_t n, struct arena *arena);

/* ---- asking ---- */

/* Whether it fits a register and is handled as a number. */
bool vtype_is_number(const struct vtype *t);
bool vtype_is_aggregation(const struct vtype *t);
bool vtype_is_summed(const struct vtype *t); /* an aggregation that comes to a number */
uint32_t vtype_align(const struct vtype *t);

/* The same kind, layout and meaning: what may be stored where the other one was. */
bool vtype_same(const struct vtype *a, const struct vtype *b);
/* The element of a tuple that another one's element i is: a record's by its name. NULL: none. */
const struct velem *vtype_elem_like(const struct vtype *t, const struct vtype *other, uint32_t i);

/* As a user would write it: "uint32", "string[64]", "struct file *", "(int64,string[16])". */
void vtype_name(const struct vtype *t, struct buf *to);

#endif
