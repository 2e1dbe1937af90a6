/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The types of a script's values. Types of C (structs, pointers, arrays) are those of
 * symbols/types.h, whether they come from BTF, DWARF, the format of a tracepoint, or the script
 * itself.
 *
 * A value is either a number in a register (numbers, pointers, everything up to 8 bytes that is not
 * an aggregate) or `size` bytes in memory. In memory numbers are in host byte order, strings are
 * NUL-terminated and padded with NULs.
 */
#ifndef CODE_VTYPE_H
#define CODE_VTYPE_H

#include "symbols/types.h"

enum vkind {
	V_NONE,	   /* no value, or not known yet */
	V_INT,	   /* size 1, 2, 4 or 8; is_signed */
	V_BOOL,	   /* size 1 */
	V_STRING,  /* size bytes, including the terminator */
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
	/* Aggregations in maps; struct map_def has their layout. */
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

/* The address space of a pointer's target or of a struct. */
enum vspace {
	SPACE_OWN,    /* the program's own: scratch, map values, the stack */
	SPACE_CTX,    /* the context: fixed offsets are read directly */
	SPACE_KERNEL, /* read by helpers */
	SPACE_USER,
};

#define VTYPE_STACK_DEPTH 127 /* frames, the kernel's default */
#define VTYPE_MAX_DEPTH	  1024
enum vstack_mode { STACK_BPFTRACE, STACK_PERF, STACK_RAW, STACK_BUILD_ID };
extern const char *const vtype_stack_modes[STACK_BUILD_ID + 1]; /* as scripts name them */
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
	uint8_t as_unsigned; /* V_INT whose sign is not decided: see vtype_literal() */
	enum vspace space;
	/* V_POINTER: what it points at; V_STRUCT, V_ARRAY: itself; V_INT: an enum or unknown. */
	struct type c;
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
 * The type of a number in the script: the smallest signed type that can hold it, or uint64. A
 * number that is not negative becomes unsigned when it is combined with unsigned numbers:
 * `as_unsigned` is its size then.
 */
struct vtype vtype_literal(int64_t value, bool is_signed);
/* The type that can hold numbers of both; int64 for uint64 and a signed type. */
struct vtype vtype_join(const struct vtype *a, const struct vtype *b);
/* Whether a number of the first type may become another one in the second type. */
bool vtype_cuts(const struct vtype *from, const struct vtype *to);

/*
 * The type of a C type's value in that space: integers, pointers, arrays of char (strings),
 * structs, arrays; V_NONE if it has no value (void, floating point). The size is 0 for text whose
 * length only the kernel knows (TYPE_TEXT), and for types that are too large for a value. The type
 * of a bit field is that of its integer.
 */
struct vtype vtype_of_c(const struct type *c, enum vspace space);

/* Lays out a tuple (names NULL) or record as C lays out a struct; false without memory. */
bool vtype_tuple(struct vtype *out, const struct vtype *types, const char *const *names, uint32_t n,
		 struct arena *arena);

/* ---- asking ---- */

/* Whether it fits a register and is handled as a number. */
bool vtype_is_number(const struct vtype *t);
bool vtype_is_aggregation(const struct vtype *t);
bool vtype_is_summed(const struct vtype *t); /* an aggregation whose value is a number */
bool vtype_is_chart(const struct vtype *t);  /* … whose value has several lines */
uint32_t vtype_align(const struct vtype *t);

/* The same kind, layout and meaning: one can be stored in place of the other. */
bool vtype_same(const struct vtype *a, const struct vtype *b);
/* The element of a tuple that another one's element i is: a record's by its name. NULL: none. */
const struct velem *vtype_elem_like(const struct vtype *t, const struct vtype *other, uint32_t i);

/* As a user would write it: "uint32", "string[64]", "struct file *", "(int64,string[16])". */
void vtype_name(const struct vtype *t, struct buf *to);

#endif
