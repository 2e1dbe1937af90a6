/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/lang: what the checker and the lowering know about a program, and the table of
 * builtin variables and functions, each of which has a function of either.
 *
 * The checker runs over all programs until the types of maps and variables change no more: a map
 * may be read in a probe that stands before the one that writes it. What is unknown after that is
 * guessed: a map is a number if only numbers are computed with it. Only in the last round it
 * complains about what is still unknown.
 */
#ifndef LANG_CHECK_H
#define LANG_CHECK_H

#include <string.h>

#include "lang/ast.h"
#include "lang/compile.h"
#include "lang/env.h"
#include "code/unit.h"
#include "probe/probes.h"

/* For "%.*s": a variable's name as it was written; in a macro or function it has a number. */
#define VAR_NAME(name) (int)strcspn(name, "~"), name

/* A variable of a program. */
struct var {
	struct var *next;  /* of the program */
	struct var *outer; /* next in sight */
	const char *name;
	struct span at;
	struct vtype type;
	bool declared;	/* by let with a type: assignments must fit it */
	bool located;	/* of a declared pointer: an assignment has shown whose memory is meant */
	bool addressed; /* &$x: it needs a place in memory */
	/* The lowering's: where it lives. */
	bool placed, in_scratch;
	uint32_t offset;
};

/* One body to be compiled: a probe's, for targets that do not make a difference to it. */
struct program {
	struct program *next;
	const struct probe_def *def;
	struct node *predicate, *body; /* copies of its own */
	struct probe_targets targets;
	struct span at;
	struct var *vars;
	bool flat;	     /* variables outlive their blocks: one is used behind it */
	uint32_t stands_for; /* probes, if not one for each target */
	enum unit_runs runs;
	/* What it uses, found before types are. */
	bool uses_args, uses_regs, uses_name, uses_place, uses_kstack, uses_objects, uses_types,
		reads_kernel, loops;
	bool counts_rounds;		/* a loop in it is_counted */
	struct probe_syscalls syscalls; /* at not NULL: one program for all of them */
	bool raw;	 /* attached as a raw tracepoint: its arguments are not asked for */
	bool has_fields; /* `args` is a struct: */
	struct type fields;
	bool has_proto; /* … or parameters */
	struct proto proto;
	struct usdt_places *usdt; /* where a USDT probe's arguments are, once somebody asked */
};

/* An option of the script's, which a call of getopt() makes. */
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
	struct program *programs, *at; /* all; the one that is looked at */
	struct var *visible;	       /* variables in sight, innermost first */
	unsigned int loops;	       /* around the statement */
	const struct node *function;   /* N_FUNC whose body is looked at, or NULL */
	unsigned int loops_outside;    /* of the loops, those around that call */
	uint64_t rounds;	       /* that these may have at most, all together */
	bool unknown_rounds;	       /* … of which some are not known */
	bool last;		       /* the round that complains */
	bool guess;		       /* other rounds learn no more: see check_all() */
	bool changed;		       /* something was learned in this round */
	struct {
		const struct attach_point **at;
		size_t n, cap;
	} missing;		      /* attach points that matched nothing */
	bool stores_depths;	      /* len() is asked about stacks that were stored */
	uint64_t named;		      /* options that getopt() asked for, a bit each */
	const struct node *assigned;  /* what a map is assigned directly */
	struct known_option *options; /* what it can be asked for */
};

/* ---- builtins ---- */

struct lower;
struct value;

enum {
	BUILTIN_VARIABLE = 1 << 0,  /* pid: no parentheses */
	BUILTIN_AGGREGATE = 1 << 1, /* only as what a map is assigned */
	BUILTIN_STATEMENT = 1 << 2, /* has no value */
	BUILTIN_UNSAFE = 1 << 3,    /* with --unsafe only */
	BUILTIN_KERNEL = 1 << 4,    /* needs the kernel to run the program */
	BUILTIN_LIVE = 1 << 5,	    /* a recording cannot give it */
	BUILTIN_MAPS = 1 << 6,	    /* an argument without keys is a map as a whole */
	BUILTIN_WORDS = 1 << 7, /* arguments may be words that mean something here only, or types */
	BUILTIN_EFFECT = 1 << 8, /* has a value that may be left alone */
};

struct builtin {
	const char *name;
	unsigned int min, max; /* arguments */
	unsigned int flags;
	/* Arguments have been checked; sets the node's type. 0 or a negative errno, told. */
	int (*check)(struct checker *c, struct node *n);
	void (*lower)(struct lower *l, struct node *n, struct value *v);
	int what; /* for functions that serve several */
};

const struct builtin *builtin_find(const char *name, bool variable);
/* The nearest name, for a message; NULL: none. */
const char *builtin_nearest(const char *name);

extern const struct builtin builtins_const[], builtins_kernel[], builtins_maps[], builtins_output[],
	builtins_probe[], builtins_string[], builtins_symbols[], builtins_task[], builtins_text[],
	builtins_unwind[];
#define BUILTIN_END                                                                                \
	{                                                                                          \
		NULL, 0, 0, 0, NULL, NULL, 0                                                       \
	}

/* ---- bodies: compile.c ---- */

/* NULL without memory, or of an empty list. */
struct node *ast_copy(const struct node *list, struct arena *arena);
/* Puts the processes of -p in front of a predicate (compile.c); false without memory. */
bool limit_to_pids(struct checker *c, enum probe_type type, struct span at,
		   struct node **predicate);
/* Finds out what a body uses. */
void find_uses(const struct node *list, struct program *p);

/* ---- the checker's parts ---- */

int check_expr(struct checker *c, struct node *n);
int check_call(struct checker *c, struct node *n);
int check_statements(struct checker *c, struct node *list);
bool check_leaves(const struct node *n); /* whether what follows a statement can never run */
int check_function(struct checker *c, struct node *n); /* a call: check.c */
int check_returned(struct checker *c, struct node *n); /* a return in its body */
int check_map(struct checker *c, struct node *n);

/* Whether the builtin that a node names may be used: told otherwise. */
int check_permitted(struct checker *c, const struct node *n);
/* Whether the program may call a helper of the kernel's: told otherwise. */
int check_helper(struct checker *c, const struct node *n, int helper);

/* What a map is assigned; learns, or complains about, its value's type. */
int check_map_value(struct checker *c, struct node *map, const struct vtype *t, struct span at);
int check_map_declarations(struct checker *c);
void check_map_unused(struct checker *c); /* warns about declarations of others */
struct map_def *check_map_named(struct checker *c, const char *name, struct span at);
int check_field(struct checker *c, struct node *n);
int check_index(struct checker *c, struct node *n);
int check_offsetof(struct checker *c, struct node *n);
int check_unary(struct checker *c, struct node *n);
int check_binary(struct checker *c, struct node *n);
int check_ternary(struct checker *c, struct node *n);
int check_step(struct checker *c, struct node *n);
/* A variable or map whose value is changed by a number: what is true or false becomes one. */
int check_counted(struct checker *c, struct node *n);
/* … and what it holds then is of this type. */
int check_grown(struct checker *c, struct node *n, const struct vtype *t);
/* The number that an operator makes of its two. */
struct vtype check_result(const struct node *n);
int check_cast(struct checker *c, struct node *n);

int check_fail(struct checker *c, const struct node *n, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* For an operator that divides: what is told when that is by 0. */
int check_divisor(struct checker *c, struct node *n);

/* The variable of that name in sight; of flat programs any. NULL: there is none. */
struct var *check_find_var(struct checker *c, const char *name);

/* Of a stack: its mode and depth. */
int check_stack(struct checker *c, struct node *n);

/* An argument that must be a constant number or text: told otherwise. */
int check_const_int(struct checker *c, const struct node *call, const struct node *arg, int64_t *v);
int check_const_text(struct checker *c, const struct node *call, const struct node *arg);
int check_number(struct checker *c, const struct node *call, const struct node *arg);
/* One that is like a string: an array of characters, or a pointer to some, may be. */
int check_text(struct checker *c, const struct node *call, struct node *arg);
unsigned int node_count(const struct node *list);
struct node *node_nth(const struct node *n, unsigned int i); /* argument i of a call */

/* A type as the script has written it. */
int check_type_name(struct checker *c, const struct type_name *t, struct vtype *out);

/* The number of a string of the unit, for values of V_PROBE; negative without memory. */
int64_t check_string_number(struct checker *c, const char *text);

/* If it is `func` of a function of the kernel, makes it the function's address, as of ksym(). */
void check_func_symbol(struct checker *c, struct node *n);

/* An action of the unit, with arguments laid out from the nodes of a list. */
struct action *check_action(struct checker *c, struct node *n, enum action_kind kind,
			    struct node *args);

bool node_is_int(const struct node *n);
void node_set_int(struct node *n, bool is_signed); /* the type of a number */

/*
 * Where pointers point of which nothing else is known: as the probe is the kernel's or a process's.
 */
enum vspace check_space(const struct checker *c);

/* How the place of a text in the context is found: vtype.mode. */
enum {
	TEXT_AT_PLACE = 1,   /* __data_loc */
	TEXT_RELATIVE = 2,   /* __rel_loc */
	TEXT_TO_THE_END = 3, /* it begins at the field, and ends where it ends */
};

/* A field of a tracepoint whose place or length is not fixed. */
struct vtype vtype_dynamic(const struct checker *c, const struct member *m);

/* The type a value has once it is stored in a variable, map or record of output. */
struct vtype vtype_stored(const struct vtype *t);

/*
 * Makes a type hold values of another one as well: numbers stay numbers, strings grow. 1 when it
 * has changed, 0 when not, -EINVAL when it cannot.
 */
int vtype_widen(struct checker *c, struct vtype *to, const struct vtype *t);

/* Complains that a value does not fit what is there: "@x", "$y". */
int check_mismatch(struct checker *c, struct span at, const char *name, const struct vtype *has,
		   const struct vtype *t);

const struct vtype *vtype_copy(struct checker *c, const struct vtype *t); /* in the arena */

/* ---- values that are known when a script is compiled ---- */

/*
 * Called once a node has its type: when what it is made of is constant it becomes so, too. All
 * return 0.
 */
int fold_unary(struct node *n);
int fold_binary(struct node *n);
int fold_cast(struct node *n);

/*
 * Whether an operator takes two numbers for signed: when one is, and the other one is too, or is
 * the same number with a sign. What is constant and not below 0 is as the other one is, and so is
 * what only held such constants.
 */
bool fold_both_signed(const struct node *a, const struct node *b);

/* Whether a constant is a number that the script has written, or is computed from such only. */
bool fold_is_literal(const struct node *n);

/* A parameter of the command line: a number, a text, or 0 when it was not given. */
int fold_param(struct node *n, const char *text, bool given);

/* What a binary operator makes of two numbers; false when it is no operator of numbers. */
bool fold_operate(int op, bool is_signed, int64_t a, int64_t b, int64_t *result);

#endif
