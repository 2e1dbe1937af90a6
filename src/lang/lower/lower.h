/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/lang: from a checked tree to the IR.
 *
 * Small things live in registers and in the frame, large ones (keys, strings, records of output) in
 * a scratch area of the CPU. Both are given back at the end of every statement, except for what
 * variables hold. Code inside loops is a function of its own that the kernel calls back; it reaches
 * the variables through the address of the first function's frame.
 */
#ifndef LANG_LOWER_H
#define LANG_LOWER_H

#include <linux/bpf.h>

#include "lang/check/check.h"

/* Memory: a register with an address, and a distance from it. */
struct mem {
	ir_reg base; /* 0: there is none */
	int64_t offset;
};

struct value {
	struct vtype type;
	ir_reg reg;	 /* the number, unless it lies in memory */
	struct mem mem;	 /* where it lies: in the space that type.space says */
	ir_reg length;	 /* of a string, with its terminator, when it is known at run time; or 0 */
	struct mem want; /* set by whoever asks: it would like to have it there … */
	uint32_t capacity; /* … where there are that many bytes */
};

/* A function of the IR that code is being added to. */
struct lower_func {
	struct ir_func *f;
	ir_reg ctx;  /* 0: not asked for yet */
	ir_reg vars; /* the first function's frame */
	ir_reg scratch;
	ir_label end;
	bool is_callback;
	bool zero_used, scratch_used;
	size_t zero_from, scratch_from, begun; /* instructions of the beginning */
};

/* A function of the script whose body is being added. */
struct lower_call {
	struct lower_call *outer;
	const struct node *n; /* N_FUNC */
	struct ir_func *f;
	ir_label end; /* in f, where its returns go */
};

/* 0: nothing. */
enum lower_return { RETURN_PROGRAM = 1, RETURN_FUNCTION };

struct lower {
	struct checker *c;
	struct unit *unit;
	struct program *prog;
	const struct compile_features *features;
	struct ir_prog *ir;
	struct ir_func *f; /* == in.f */
	struct lower_func in;
	struct lower_call *call; /* innermost function of the script, or NULL */
	uint32_t number;	 /* of the first probe that runs it */
	ir_reg syscall;	 /* of many in one program: the number of the name of the one it runs for */
	uint32_t ctx_at; /* loops: where in the frame the context's address is */
	uint32_t
		return_at; /* loops: what a return or exit() inside one leaves, enum lower_return */
	uint32_t rounds_at; /* loops that are counted: how many rounds are left */
	uint32_t frame_used, scratch_used;
	uint32_t frame_vars, scratch_vars; /* of them for variables */
	uint32_t scratch_most;		   /* that was used at once */
	bool scratch_missing;		   /* too much was asked for */
	struct span at;			   /* of the expression, for what is told while it runs */
	bool failed;			   /* something could not be lowered, and was told */
};

#define LOWER_FRAME 224 /* bytes of the frame that values may take */

/*
 * Of the scratch area: what an array of the kernel's can have per CPU. Where strings may be longer,
 * the area is an element of a common array for each CPU, and can be as large as these.
 */
#define LOWER_SCRATCH	   32768
#define LOWER_SCRATCH_WIDE (4u << 20)

uint32_t lower_scratch_limit(const struct unit *u);

/* ---- memory: memory.c ---- */

/* Memory until the end of the statement, aligned to 8 bytes. */
struct mem mem_alloc(struct lower *l, uint32_t size);
/* The same of the scratch area: the verifier does not know what it holds. */
struct mem mem_alloc_scratch(struct lower *l, uint32_t size);
/* The place somebody wants a value to be, if it fits there, or new memory. */
struct mem mem_result(struct lower *l, struct value *v, uint32_t size);
bool mem_same(struct mem a, struct mem b);
ir_reg mem_address(struct lower *l, struct mem m);
void mem_zero(struct lower *l, struct mem m, uint32_t size);
void mem_copy(struct lower *l, struct mem to, struct mem from, uint32_t size);
/* The context's text in an array: what lies behind its NUL is not copied. */
void mem_copy_text(struct lower *l, struct mem to, struct mem from, uint32_t size);
void mem_text(struct lower *l, struct mem to, const char *text, size_t len, uint32_t size);
ir_reg mem_load(struct lower *l, struct mem m, uint32_t size, bool is_signed);
void mem_store(struct lower *l, struct mem m, uint32_t size, ir_reg v);
void mem_store_const(struct lower *l, struct mem m, uint32_t size, int64_t v);

/* Reads from the kernel's or a process's memory; what cannot be read is 0. */
void mem_read(struct lower *l, struct mem to, uint32_t size, enum vspace space, ir_reg address);
/* The helper that does it; its result for text is the length, or negative. */
int mem_reader(const struct lower *l, enum vspace space, bool text);
/* A string; its length with the terminator (0 when it cannot be read), and NULs behind it. */
ir_reg mem_read_text(struct lower *l, struct mem to, uint32_t size, enum vspace space,
		     ir_reg address);
/* The same, of not more than `most` bytes with the terminator: a register that is 1 to size. */
ir_reg mem_read_some_text(struct lower *l, struct mem to, uint32_t size, ir_reg most,
			  enum vspace space, ir_reg address);

/* ---- values: expression.c ---- */

void lower_expr(struct lower *l, struct node *n, struct value *v);
ir_reg lower_number(struct lower *l, struct node *n);
/* The value of a node in memory, as that type. */
void lower_into(struct lower *l, struct node *n, const struct vtype *as, struct mem to,
		struct value *v);
/* Puts a value that is there already into memory. */
void value_store(struct lower *l, const struct value *v, const struct vtype *as, struct mem to);
/* A number out of memory, or of another space. */
void set_number(struct value *v, ir_reg reg);
void set_memory(struct value *v, struct mem m);
/* Makes sure that it lies in memory of our own. */
void value_own(struct lower *l, struct value *v);
/* Goes to the label when the condition does not hold. */
void lower_unless(struct lower *l, struct node *n, ir_label label);
ir_reg lower_truth(struct lower *l, struct node *n);
ir_reg lower_operate(struct lower *l, struct node *n, bool is_signed, ir_reg a, ir_reg b);
/* 1 or 0: equal bytes, or strings. */
ir_reg lower_equal(struct lower *l, struct value *a, struct value *b);

/* ---- members and memory: value.c ---- */

uint32_t largest_word(uint32_t size);
void place_value(struct lower *l, struct value *v, struct mem m);
/* Where the field that a node names lies, without reading it. */
void member_place(struct lower *l, struct node *n, struct value *v);
void lower_member(struct lower *l, struct node *n, struct value *v);
void lower_index(struct lower *l, struct node *n, struct value *v);
/* The number of the system call of a program on raw_syscalls. */
ir_reg lower_syscall_number(struct lower *l, bool is_exit);
/* Leaves such a program when the call is one of a 32-bit process. */
void lower_skip_narrow_call(struct lower *l);
/* args.NAME where it is no field of a struct; false: it is. builtin/probe.c */
bool lower_argument(struct lower *l, struct node *n, struct value *v);

/* ---- stacks: builtin/symbols.c, builtin/maps.c ---- */

#define LOWER_STACKS 16384 /* in each of the kernel's maps that hold them */

/* The number of the stack that is there now; below 0: there is none, or it was lost. */
ir_reg lower_stack_number(struct lower *l, const struct vtype *t);

/* The map that holds stacks of a type. */
uint32_t lower_stacks(struct lower *l, const struct vtype *t);
/* For len() of what is stored: how many frames the stack of that number has. */
void lower_note_depth(struct lower *l, const struct vtype *t, ir_reg id, uint32_t stacks);

/* ---- what is like a string: builtin/string.c ---- */

/* Its bytes in memory of our own: type.size of them. */
void lower_text(struct lower *l, struct node *n, struct value *v);
/* The power of two that has room for so many bytes. */
uint32_t text_capacity(uint32_t size);

/* ---- others ---- */

void lower_statement(struct lower *l, struct node *n);

void lower_statements(struct lower *l, struct node *list); /* lower.c */
ir_reg lower_ctx(struct lower *l);
ir_reg lower_scratch(struct lower *l);
ir_reg lower_zero_key(struct lower *l);
void lower_begin(struct lower *l);
void lower_end(struct lower *l);
void var_place_all(struct lower *l);
struct mem var_mem(struct lower *l, struct var *v); /* lower.c */
void var_read(struct lower *l, struct var *var, struct value *v);
void var_write(struct lower *l, struct var *var, struct node *n);
void var_set(struct lower *l, struct var *var, const struct value *v);

ir_reg lower_key(struct lower *l, struct node *map); /* map.c */
void map_read(struct lower *l, struct node *n, struct value *v);
void map_assign(struct lower *l, struct node *map, struct node *n);
void map_step(struct lower *l, struct node *map, ir_reg by, struct value *before,
	      struct value *after);
void map_store(struct lower *l, struct node *map, ir_reg v);
/*
 * The address of the entry's value on this CPU, made of zeros when there is none; else goes to
 * `none`.
 */
ir_reg map_entry(struct lower *l, struct node *map, ir_label none);
/* Where the value of a map's entry is; 0: there is none. */
ir_reg map_address(struct lower *l, struct node *map);
ir_reg map_number(struct lower *l, const struct map_def *m, ir_reg key);
uint32_t map_internal(struct lower *l, int *slot, const char *name, enum map_kind kind,
		      uint32_t value_size, uint32_t entries);

void lower_action(struct lower *l, struct action *a, struct node *args); /* memory.c */
/* The record's head, and the record once its arguments are there; a length of 0 is all of it. */
void lower_head(struct lower *l, struct mem record, const struct action *a);
void lower_send(struct lower *l, const struct action *a, struct mem record, uint32_t size,
		ir_reg length);
/* Counts, for the probe, in an internal map of one number for each. */
void lower_count_probe(struct lower *l, int *slot, const char *name);
/* With -k: tells what a helper returned if it failed; a lookup does so with 0, others below it. */
void lower_result(struct lower *l, int helper, ir_reg rc);

void lower_loop(struct lower *l, struct node *n); /* lower/loop.c */

/* Functions of the script: lower.c. */
void lower_function(struct lower *l, struct node *n, struct value *v);
void lower_returned(struct lower *l, struct node *n);
/* After a loop in such a function: a return inside of it ends the function. */
void lower_leave_function(struct lower *l, ir_reg returned);

/*
 * Takes a step up to `rounds` times, until it goes to `done`. A step may be code of another
 * function: what it needs lies in the scratch area, nothing in registers.
 */
typedef void lower_step_fn(struct lower *l, const void *arg, ir_label done);
void lower_rounds(struct lower *l, uint32_t rounds, lower_step_fn *step, const void *arg);
/*
 * Starts a function that the kernel calls back, and ends it; `before` keeps what was under way. One
 * of its arguments is lower_frame_address(). The number that it has.
 */
uint32_t lower_body_begin(struct lower *l, unsigned int nr_args, unsigned int frame_arg,
			  struct lower_func *before);
void lower_body_end(struct lower *l, const struct lower_func *before);
ir_reg lower_frame_address(struct lower *l);

/* How many entries a map has. */
ir_reg lower_map_length(struct lower *l, const struct map_def *m);

/* Puts the process and the probe behind the first word of a user's stack or symbol. */
void lower_process(struct lower *l, struct mem m);

/* The number of the process in /proc: that of our namespace of processes. */
ir_reg lower_proc_pid(struct lower *l);
/* How many frames dw_ustack() finds. */
ir_reg lower_unwound_length(struct lower *l, const struct node *n);

void lower_mark_late_maps(
	struct unit *u); /* lang/lower/map.c: sets map_def.late once all is lowered */

int lower_program(struct checker *c, struct program *p, uint32_t number, struct unit_prog *out);

#endif
