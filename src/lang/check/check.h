/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/lang: programs as the checker and the lowering see them, and builtins, each of
 * which has a function for both.
 *
 * The checker runs over all programs until the types of maps and variables no longer change: a
 * probe may read a map that a later probe writes. Types that are unknown after that are guessed: a
 * map is a number if it is only used in calculations. Only the last round reports what is still
 * unknown.
 */
#ifndef LANG_CHECK_H
#define LANG_CHECK_H

#include <string.h>

#include "lang/ast.h"
#include "lang/compile.h"
#include "lang/env.h"
#include "code/unit.h"
#include "probe/probes.h"

/* For "%.*s": a variable's name as written; a macro or function appends "~" and a number. */
#define VAR_NAME(name) (int)strcspn(name, "~"), name

/* A variable of a program. */
struct var {
	struct var *next;  /* of the program */
	struct var *outer; /* next visible one */
	const char *name;
	struct span at;
	struct vtype type;
	bool declared;	/* by let with a type: assignments must fit */
	bool located;	/* of a declared pointer: an assignment has set its address space */
	bool addressed; /* &$x: it must be in memory */
	/* Set by the lowering: where it is. */
	bool placed, in_scratch;
	uint32_t offset;
};

/* One body to compile: that of a probe, for all targets that can share its code. */
struct program {
	struct program *next;
	const struct probe_def *def;
	struct node *predicate, *body; /* its own copies */
	struct probe_targets targets;
	struct span at;
	struct var *vars;
	bool flat;	     /* variables outlive their blocks: one is used after its block */
	uint32_t stands_for; /* number of probes, if not one for each target */
	enum unit_runs runs;
	/* What it uses, found before the types. */
	bool uses_args, uses_regs, uses_name, uses_place, uses_kstack, uses_objects, uses_types,
		reads_kernel, loops;
	bool counts_rounds;		/* one of its loops is_counted */
	struct probe_syscalls syscalls; /* at is not NULL: one program for all of these calls */
	bool raw;	 /* attached as a raw tracepoint: its arguments are not used */
	bool has_fields; /* `args` is a struct: */
	struct type fields;
	bool has_proto; /* … or parameters */
	struct proto proto;
	struct usdt_places *usdt; /* where the arguments of a USDT probe are; read when needed */
};

/* The first of the probes that run a program; NULL: user space itself starts it. */
static inline const struct probe_target *program_target(const struct program *p)
{
	return p->targets.n ? p->targets.at[0] : NULL;
}

static inline enum probe_type program_probe(const struct program *p)
{
	return p->targets.n ? p->targets.at[0]->type : PT_BEGIN;
}

/* An option of the script, declared by a call of getopt(). */
struct known_option {
	struct known_option *next;
	const char *name, *help;
	const struct node *usual; /* its default; NULL: false */
};

struct checker {
	struct script_ast *ast;
	struct source *source;
	struct env *env;
	struct unit *unit;
	const struct compile_options *opt;
	struct arena *arena;
	struct program *programs, *at; /* all; the current one */
	struct var *visible;	       /* visible variables, innermost first */
	unsigned int loops;	       /* around the current statement */
	const struct node *function;   /* N_FUNC whose body is being checked, or NULL */
	unsigned int loops_outside;    /* loops that are around that call */
	uint64_t rounds;	       /* of all those loops together, at most */
	bool unknown_rounds;	       /* … and some of them are not known */
	bool last;		       /* the last round, which reports unknown types */
	bool guess;		       /* unknown types are guessed: see check_all() */
	bool changed;		       /* this round has learned something */
	bool no_memory;
	struct {
		const struct attach_point **at;
		size_t n, cap;
	} missing;		      /* attach points that matched nothing */
	bool stores_depths;	      /* len() is used for stored stacks */
	uint64_t named;		      /* options that getopt() has read, one bit each */
	const struct node *assigned;  /* the value that is assigned to a map directly */
	struct known_option *options; /* all options of the script */
};

/* ---- builtins ---- */

struct lower;
struct value;

enum {
	BUILTIN_VARIABLE = 1 << 0,  /* pid: no parentheses */
	BUILTIN_AGGREGATE = 1 << 1, /* can only be assigned to a map */
	BUILTIN_STATEMENT = 1 << 2, /* has no value */
	BUILTIN_UNSAFE = 1 << 3,    /* needs --unsafe */
	BUILTIN_KERNEL = 1 << 4,    /* the program must run in the kernel */
	BUILTIN_LIVE = 1 << 5,	    /* not for recordings */
	BUILTIN_MAPS = 1 << 6,	    /* a map argument without keys is the whole map */
	BUILTIN_WORDS = 1 << 7,	    /* arguments may be special words, or types */
	BUILTIN_EFFECT = 1 << 8,    /* its value may be ignored */
	BUILTIN_BOTH = 1 << 9,	    /* pid and pid(): as a variable it has no arguments */
	BUILTIN_OF_PROBE = 1 << 10, /* whether it may be used, or its type, depends on the probe */
};

struct builtin {
	const char *name;
	unsigned int min, max; /* arguments */
	unsigned int flags;
	/*
	 * Sets the node's type; the arguments have been checked.
	 */
	bool (*check)(struct checker *c, struct node *n);
	void (*lower)(struct lower *l, struct node *n, struct value *v);
	int what; /* for functions that several builtins share */
};

const struct builtin *builtin_find(const char *name, bool variable);
/* The most similar name, for a message; NULL: there is none. */
const char *builtin_nearest(const char *name);

extern const struct builtin builtins_const[], builtins_kernel[], builtins_maps[], builtins_output[],
	builtins_probe[], builtins_string[], builtins_symbols[], builtins_task[], builtins_text[],
	builtins_unwind[];
#define BUILTIN_END                                                                                \
	{                                                                                          \
		NULL, 0, 0, 0, NULL, NULL, 0                                                       \
	}

/* ---- statements and expressions ---- */

/* All of these return false after an error, which was reported. */

bool check_expr(struct checker *c, struct node *n);
bool check_call(struct checker *c, struct node *n);
bool check_statements(struct checker *c, struct node *list);
bool check_leaves(const struct node *n); /* whether the next statement can never run */
bool check_function(struct checker *c, struct node *n); /* a call */
bool check_map(struct checker *c, struct node *n);

/* Reports a builtin that may not be used here. */
bool check_permitted(struct checker *c, const struct node *n);
/* Reports a helper of the kernel that the program may not call. */
bool check_helper(struct checker *c, const struct node *n, int helper);

/* A value is assigned to a map: learns its type, or reports that it does not fit. */
bool check_map_value(struct checker *c, struct node *map, const struct vtype *t, struct span at);
bool check_map_declarations(struct checker *c);
void check_map_unused(struct checker *c); /* warns about declared maps that are not used */
struct map_def *check_map_named(struct checker *c, const char *name, struct span at);
/* A map without keys that stands for all of it. */
bool check_whole_map(struct checker *c, struct node *map);
bool check_field(struct checker *c, struct node *n);
bool check_index(struct checker *c, struct node *n);
bool check_offsetof(struct checker *c, struct node *n);
bool check_unary(struct checker *c, struct node *n);
bool check_binary(struct checker *c, struct node *n);
bool check_ternary(struct checker *c, struct node *n);
bool check_step(struct checker *c, struct node *n);
/* A variable or map is changed by a number: a bool becomes a number. */
bool check_counted(struct checker *c, struct node *n);
/* … and its value then has this type. */
bool check_grown(struct checker *c, struct node *n, const struct vtype *t);
/* Warns about a number of a binary operator that the common type of both cannot hold. */
void check_signs(struct checker *c, const struct node *n);
/* The type of a binary operator's result. */
struct vtype check_result(const struct node *n);
bool check_cast(struct checker *c, struct node *n);

/* After the error that a name is unknown: where it was looked for, if the script has headers. */
void check_hint_headers(struct checker *c, const char *name);

/* Report an error; that a value is not known in the last round; that there is no memory. */
bool check_fail(struct checker *c, const struct node *n, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
bool check_unknown(struct checker *c, const struct node *n);
bool check_no_memory(struct checker *c);

/* For a division: reports a constant 0, else adds the warning for 0 at run time. */
bool check_divisor(struct checker *c, struct node *n);

/* The visible variable of that name; in a flat program any. NULL: there is none. */
struct var *check_find_var(struct checker *c, const char *name);

/* The mode and depth of a stack. */
bool check_stack(struct checker *c, struct node *n);

/* Report an argument that is not a constant number, not a constant text, not a number. */
bool check_const_int(struct checker *c, const struct node *call, const struct node *arg,
		     int64_t *v);
bool check_const_text(struct checker *c, const struct node *call, const struct node *arg);
bool check_number(struct checker *c, const struct node *call, const struct node *arg);
/* An argument that is like a string: also an array of characters or a pointer to them. */
bool check_text(struct checker *c, const struct node *call, struct node *arg);
unsigned int node_count(const struct node *list);
struct node *node_nth(const struct node *n, unsigned int i); /* argument i of a call */

/* The type that the script has written. */
bool check_type_name(struct checker *c, const struct type_name *t, struct vtype *out);

/* The type that sizeof() and the like are of: a written one, or that of a value. */
bool check_operand_type(struct checker *c, const struct node *n, struct vtype *out);

/* The number of a string in the unit, for values of V_PROBE; negative without memory. */
int64_t check_string_number(struct checker *c, const char *text);

/* If the node is `func` of a kernel function, turns it into the address, as of ksym(). */
void check_func_symbol(struct checker *c, struct node *n);

/*
 * A new action of the unit; its arguments are laid out as the nodes of the list. NULL without
 * memory, which check_no_memory() has noted.
 */
struct action *check_action(struct checker *c, struct node *n, enum action_kind kind,
			    struct node *args);

bool node_is_int(const struct node *n);
void node_set_int(struct node *n, bool is_signed); /* makes it a number */

/* Where a pointer points if nothing else is known: as the probe, to the kernel or to a process. */
enum vspace check_space(const struct checker *c);
/* Where a value of this type points. */
enum vspace check_space_of(const struct checker *c, const struct vtype *t);

/* How a text in the context is found: vtype.mode. */
enum {
	TEXT_AT_PLACE = 1,   /* __data_loc */
	TEXT_RELATIVE = 2,   /* __rel_loc */
	TEXT_TO_THE_END = 3, /* from the field to the end of the record */
};

/* A field of a tracepoint with a variable place or length. */
struct vtype vtype_dynamic(const struct checker *c, const struct member *m);

/* The type of a value after it is stored in a variable, map or record of output. */
struct vtype vtype_stored(const struct vtype *t);

/*
 * Widens a type so that it can also hold values of another one: numbers stay numbers, strings grow.
 * 1: it has changed, 0: it has not, -EINVAL: impossible.
 */
int vtype_widen(struct checker *c, struct vtype *to, const struct vtype *t);
/* The same for a type that is learned: false if it is impossible. */
bool check_widen(struct checker *c, struct vtype *to, const struct vtype *t);

/* The name of a type, for messages. */
const char *check_type_text(struct checker *c, const struct vtype *t);

/* Reports that a value does not fit the type of "@x" or "$y". */
bool check_mismatch(struct checker *c, struct span at, const char *name, const struct vtype *has,
		    const struct vtype *t);

/* Whether a constant number is one of the type. */
bool check_const_fits(const struct node *value, const struct vtype *t);
/* Warns about a value that may become another number in the type of what it is assigned to. */
void check_cut(struct checker *c, const struct node *value, const struct vtype *to);

const struct vtype *vtype_copy(struct checker *c, const struct vtype *t); /* in the arena */

/* ---- values that are known when a script is compiled ---- */

/*
 * Called after a node has its type: if its operands are constant, it becomes constant, too.
 */
void fold_unary(struct node *n);
void fold_binary(struct node *n);
void fold_cast(struct node *n);

/*
 * Whether an operator treats two numbers as signed: one of them is. A constant that is not negative
 * is as signed as the other operand, and so is a variable that only holds such constants.
 */
bool fold_both_signed(int op, const struct node *a, const struct node *b);

/* Whether a number is a constant whose type follows from its value: the script does not cast it. */
bool fold_is_untyped(const struct node *n);

/* Whether a constant is a number in the script, or computed only from such numbers. */
bool fold_is_literal(const struct node *n);

/* A parameter of the command line: a number, a text, or 0 if it was not given. */
void fold_param(struct node *n, const char *text, bool given);

bool op_is_comparison(int op);

/* The result of a binary operator; false if it is not an operator of numbers. */
bool fold_operate(int op, bool is_signed, int64_t a, int64_t b, int64_t *result);

#endif
