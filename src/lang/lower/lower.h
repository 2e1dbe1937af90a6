/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/lang: from a checked tree to the IR.
 *
 * Small values are in registers and in the frame, large ones (keys, strings, records of output) in
 * a scratch area of the CPU. Both are freed at the end of every statement, except for variables.
 * The body of a loop is a function that the kernel calls back; it finds the variables through the
 * address of the first function's frame.
 */
#ifndef LANG_LOWER_H
#define LANG_LOWER_H

#include <linux/bpf.h>

#include "lang/check/check.h"

/* Memory: a register with an address, and an offset. */
struct mem {
	ir_reg base; /* 0: there is none */
	int64_t offset;
};

struct value {
	struct vtype type;
	ir_reg reg;	   /* the number, unless it is in memory */
	struct mem mem;	   /* where it is, in the address space type.space */
	ir_reg length;	   /* of a string with its terminator, if known at run time; or 0 */
	struct mem want;   /* set by the caller: where it would like to have the value … */
	uint32_t capacity; /* … and how many bytes there are */
};

/* The function of the IR that code is added to. */
struct lower_func {
	struct ir_func *f;
	ir_reg ctx;  /* 0: not used yet */
	ir_reg vars; /* the frame of the first function */
	ir_reg scratch;
	ir_label end;
	bool is_callback;
	bool zero_used, scratch_used;
	size_t zero_from, scratch_from, begun; /* instructions of the prologue */
};

/* A function of the script whose body is being lowered. */
struct lower_call {
	struct lower_call *outer;
	const struct node *n; /* N_FUNC */
	struct ir_func *f;
	ir_label end; /* in f: its returns jump here */
};

/* 0: nothing. */
enum lower_return { RETURN_PROGRAM = 1, RETURN_FUNCTION };

struct lower {
	struct checker *c;
	struct unit *unit;
	struct program *prog;
	struct bpf_features *features; /* as in compile_options */
	struct ir_prog *ir;
	struct ir_func *f; /* == in.f */
	struct lower_func in;
	struct lower_call *call; /* innermost function of the script, or NULL */
	uint32_t number;	 /* of the first probe that runs the program */
	ir_reg syscall;	    /* one program for many calls: the number of the current call's name */
	uint32_t ctx_at;    /* loops: offset of the context's address in the frame */
	uint32_t return_at; /* loops: enum lower_return, set by a return or exit() in a loop */
	uint32_t rounds_at; /* counted loops: how many rounds are left */
	uint64_t around;    /* the rounds of all loops around, LOWER_UNKNOWN when not known */
	uint32_t frame_used, scratch_used;
	uint32_t frame_vars, scratch_vars; /* the part of them for variables */
	uint32_t scratch_most;		   /* the highest scratch_used */
	bool scratch_missing;		   /* more was needed than there is */
	struct span at;			   /* of the current expression, for messages at run time */
	bool failed;			   /* an error was reported */
};

#define LOWER_FRAME 224 /* bytes of the frame for values */

/*
 * The size of the scratch area: what a per-CPU array of the kernel can hold. If strings may be
 * longer, the area is an element, one for each CPU, of an ordinary array, whose elements can be
 * larger.
 */
#define LOWER_SCRATCH	   32768
#define LOWER_SCRATCH_WIDE (4u << 20)

uint32_t lower_scratch_limit(const struct unit *u);

/* ---- memory: memory.c ---- */

/* Memory until the end of the statement, aligned to 8 bytes. */
struct mem mem_alloc(struct lower *l, uint32_t size);
/* The same in the scratch area: the verifier does not know its contents. */
struct mem mem_alloc_scratch(struct lower *l, uint32_t size);
/* The place where the caller wants a value, if it fits there, or new memory. */
struct mem mem_result(struct lower *l, struct value *v, uint32_t size);
bool mem_same(struct mem a, struct mem b);
/* The memory from an offset on. */
struct mem mem_at(struct mem m, int64_t offset);
ir_reg mem_address(struct lower *l, struct mem m);
void mem_zero(struct lower *l, struct mem m, uint32_t size);
void mem_copy(struct lower *l, struct mem to, struct mem from, uint32_t size);
/* A text of the context in an array: bytes after its NUL are not copied. */
void mem_copy_text(struct lower *l, struct mem to, struct mem from, uint32_t size);
void mem_text(struct lower *l, struct mem to, const char *text, size_t len, uint32_t size);
ir_reg mem_load(struct lower *l, struct mem m, uint32_t size, bool is_signed);
/* A number of that type. */
ir_reg mem_load_as(struct lower *l, struct mem m, const struct vtype *t);
void mem_store(struct lower *l, struct mem m, uint32_t size, ir_reg v);
void mem_store_const(struct lower *l, struct mem m, uint32_t size, int64_t v);

/* Reads memory of the kernel or of a process; 0 if it cannot be read. */
void mem_read(struct lower *l, struct mem to, uint32_t size, enum vspace space, ir_reg address);
/* Reads a number of up to 8 bytes there; 0 if it cannot be read. */
ir_reg mem_fetch(struct lower *l, uint32_t size, bool is_signed, enum vspace space, ir_reg address);
/* The helper for that; for text it returns the length, or is negative. */
int mem_reader(const struct lower *l, enum vspace space, bool text);
/* Reads a string and pads it with NULs; its length with the terminator, 0 if it cannot be read. */
ir_reg mem_read_text(struct lower *l, struct mem to, uint32_t size, enum vspace space,
		     ir_reg address);
/* The same, at most `most` bytes with the terminator: a register with 1 to size. */
ir_reg mem_read_some_text(struct lower *l, struct mem to, uint32_t size, ir_reg most,
			  enum vspace space, ir_reg address);

/* ---- expressions: expression.c ---- */

void lower_expr(struct lower *l, struct node *n, struct value *v);
ir_reg lower_number(struct lower *l, struct node *n);
/* Stores the value of a node in memory, as that type. */
void lower_into(struct lower *l, struct node *n, const struct vtype *as, struct mem to,
		struct value *v);
/* Stores a value. */
void value_store(struct lower *l, const struct value *v, const struct vtype *as, struct mem to);
/* Makes it a number in a register, or a value in memory. */
void set_number(struct value *v, ir_reg reg);
void set_memory(struct value *v, struct mem m);
/* The value of v->type in the program's own memory: a number is loaded, others stay there. */
void value_at(struct lower *l, struct value *v, struct mem m);
/* Copies the value to the program's own memory, if it is not there. */
void value_own(struct lower *l, struct value *v);
/* Jumps to the label if the condition does not hold. */
void lower_unless(struct lower *l, struct node *n, ir_label label);
ir_reg lower_truth(struct lower *l, struct node *n);
ir_reg lower_operate(struct lower *l, struct node *n, bool is_signed, ir_reg a, ir_reg b);
/* 1, or 0 if the condition holds. */
ir_reg lower_not(struct lower *l, enum ir_cond cond, ir_reg a, int64_t b);
/* A number, or `most` if it is larger: the branch shows the verifier the limit. */
ir_reg lower_limited(struct lower *l, ir_reg r, int64_t most);
/* 1 or 0: equal bytes, or strings. */
ir_reg lower_equal(struct lower *l, struct value *a, struct value *b);

/* ---- members of structs and arrays: value.c ---- */

uint32_t largest_word(uint32_t size);
void place_value(struct lower *l, struct value *v, struct mem m);
/* Where a field is, without reading it. */
void member_place(struct lower *l, struct node *n, struct value *v);
void lower_member(struct lower *l, struct node *n, struct value *v);
void lower_index(struct lower *l, struct node *n, struct value *v);
/* The number of the system call of a program on raw_syscalls. */
ir_reg lower_syscall_number(struct lower *l, bool is_exit);
/* Leaves such a program if the call is made by a 32-bit process. */
void lower_skip_narrow_call(struct lower *l);
/* args.NAME if it is not a field of a struct; false: it is one (builtin/probe.c). */
bool lower_argument(struct lower *l, struct node *n, struct value *v);

/* ---- stacks: builtin/symbols.c, builtin/maps.c ---- */

/* The number of the current stack; negative: there is none, or it was lost. */
ir_reg lower_stack_number(struct lower *l, const struct vtype *t);

/* The map for stacks of a type. */
uint32_t lower_stacks(struct lower *l, const struct vtype *t, enum unit_stacks which);
/* For len() of a stored stack: stores its number of frames. */
void lower_note_depth(struct lower *l, const struct vtype *t, ir_reg id, uint32_t stacks);

/* ---- values that are like a string: builtin/string.c ---- */

/* Copies type.size bytes of it to the program's own memory. */
void lower_text(struct lower *l, struct node *n, struct value *v);
/* The smallest power of two that is at least `size`. */
uint32_t text_capacity(uint32_t size);

/* ---- statements and variables: lower.c ---- */

void lower_statement(struct lower *l, struct node *n);
void lower_statements(struct lower *l, struct node *list);
ir_reg lower_ctx(struct lower *l);
ir_reg lower_scratch(struct lower *l);
ir_reg lower_zero_key(struct lower *l);
void lower_begin(struct lower *l);
void lower_end(struct lower *l);
void var_place_all(struct lower *l);
struct mem var_mem(struct lower *l, struct var *v);
void var_read(struct lower *l, struct var *var, struct value *v);
void var_write(struct lower *l, struct var *var, struct node *n);
void var_set(struct lower *l, struct var *var, const struct value *v);

/* ---- maps: map.c ---- */

ir_reg lower_key(struct lower *l, struct node *map);
/* The helpers for a map by its number: the address of a value, or 0; sets a value. */
ir_reg map_lookup(struct lower *l, uint32_t map, struct mem key);
ir_reg map_update(struct lower *l, uint32_t map, struct mem key, struct mem value, int64_t flags);
void map_read(struct lower *l, struct node *n, struct value *v);
void map_assign(struct lower *l, struct node *map, struct node *n);
void map_step(struct lower *l, struct node *map, ir_reg by, struct value *before,
	      struct value *after);
void map_store(struct lower *l, struct node *map, ir_reg v);
/*
 * The address of the entry's value on this CPU. A missing entry is created with zeros; jumps to
 * `none` if that fails.
 */
ir_reg map_entry(struct lower *l, struct node *map, ir_label none);
/* The address of the entry's value; 0: there is none. */
ir_reg map_address(struct lower *l, struct node *map);
ir_reg map_number(struct lower *l, const struct map_def *m, ir_reg key);
/* The condition that a value is not better than another, for min() and max(). */
enum ir_cond map_not_better(bool least, bool is_signed);
uint32_t map_internal(struct lower *l, int *slot, const char *name, enum map_kind kind,
		      uint32_t value_size, uint32_t entries);
/* The same for a hash with keys of that size. */
uint32_t map_keyed(struct lower *l, int *slot, const char *name, uint32_t key_size,
		   uint32_t value_size, uint32_t entries);

/* ---- records for user space: memory.c ---- */

void lower_action(struct lower *l, struct action *a, struct node *args);
/* Writes the head of a record; sends a complete record. Length 0: all of it. */
void lower_head(struct lower *l, struct mem record, const struct action *a);
void lower_send(struct lower *l, const struct action *a, struct mem record, uint32_t size,
		ir_reg length);
/* Adds 1 to the probe's entry of an internal map. */
void lower_count_probe(struct lower *l, int *slot, const char *name);
/* With -k: reports a helper that failed: a lookup returned 0, others a negative number. */
void lower_result(struct lower *l, int helper, ir_reg rc);

/* ---- functions of the script: lower.c ---- */

void lower_function(struct lower *l, struct node *n, struct value *v);
void lower_returned(struct lower *l, struct node *n);
/* After a loop in a function: a return in the loop ends the function, too. */
void lower_leave_function(struct lower *l, ir_reg returned);

/* ---- loops: loop.c ---- */

void lower_loop(struct lower *l, struct node *n);

/*
 * Runs a step up to `rounds` times, until it jumps to `done`. A step may be in a function of its
 * own: its data must be in the scratch area, not in registers.
 */
typedef void lower_step_fn(struct lower *l, const void *arg, ir_label done);
void lower_rounds(struct lower *l, uint32_t rounds, lower_step_fn *step, const void *arg);
/*
 * Begin and end a function that the kernel calls back; `before` saves the state of the current one.
 * One of its arguments is lower_frame_address(). Returns the function's number.
 */
uint32_t lower_body_begin(struct lower *l, unsigned int nr_args, unsigned int frame_arg,
			  struct lower_func *before);
void lower_body_end(struct lower *l, const struct lower_func *before);
/* Whether the rounds of its loops are counted; the frame has the rest at rounds_at. */
bool lower_counts_rounds(const struct lower *l);
ir_reg lower_frame_address(struct lower *l);

/* The number of entries of a map. */
ir_reg lower_map_length(struct lower *l, const struct map_def *m);

/* ---- the rounds of loops: rounds.c ---- */

#define LOWER_UNKNOWN UINT64_MAX

/* The rounds that a loop has at most, or LOWER_UNKNOWN. */
uint64_t lower_rounds_of(const struct program *p, const struct node *n);
/* Whether one of the statements is a loop over a map in another loop; `inside`: they are in one. */
bool lower_nests_map_loops(const struct node *list, bool inside);

/* ---- builtins that only show or pass on something ---- */

/* The first argument, a number. */
void lower_first(struct lower *l, struct node *n, struct value *v);

/* The helper that reads the clock of nsecs. */
int lower_clock(const struct lower *l);

/* ---- processes and stacks: builtin/ ---- */

/* Stores the process and the probe after the first word of a user stack or symbol. */
void lower_process(struct lower *l, struct mem m);

/* The number of the process in /proc: in spur's own pid namespace. */
ir_reg lower_proc_pid(struct lower *l);
/* The number of frames of dw_ustack(). */
ir_reg lower_unwound_length(struct lower *l, const struct node *n);

/* ---- all of it ---- */

/* Sets map_def.late, after all programs are lowered. */
void lower_mark_late_maps(struct unit *u);

int lower_program(struct checker *c, struct program *p, uint32_t number, struct unit_prog *out);

#endif
