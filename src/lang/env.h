/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a script may refer to outside itself: types of C, tracepoints, functions, symbols. The
 * running kernel answers (env/env.c), or a recording (env/env.c). Answers are views that are
 * valid as long as the environment.
 *
 * Nothing is read before it is asked for: most scripts need neither BTF nor kallsyms.
 */
#ifndef LANG_ENV_H
#define LANG_ENV_H

#include "lang/ast.h"
#include "symbols/nearest.h"
#include "symbols/types.h"

struct env;

struct env_ops {
	/*
	 * The fields of a tracepoint as a struct, with offsets in the program's context, those that
	 * all tracepoints have left out: programs cannot read them. Dynamic fields (__data_loc) are
	 * TYPE_TEXT when they are characters, else TYPE_ARRAY with count 0: see env_dynamic().
	 * TYPE_TEXT that is not dynamic reaches from its offset to the end of the record.
	 */
	bool (*tracepoint)(struct env *e, const char *system, const char *name,
			   struct type *fields);

	/*
	 * Parameters of a function of the kernel (fentry, kprobe) and what it returns; what the
	 * programs of a raw tracepoint are given. The module is NULL for the kernel itself.
	 */
	bool (*function)(struct env *e, const char *module, const char *name, struct proto *p);
	bool (*raw_tracepoint)(struct env *e, const char *name, struct proto *p);

	/*
	 * The number of a function in the kernel's BTF, or in that of a module: its name is then
	 * left in *module, which may also be asked for by it; 0: there is none.
	 */
	uint32_t (*function_id)(struct env *e, const char **module, const char *name);

	/* The same for the type of what is called at a tracepoint, wherever that is described. */
	uint32_t (*raw_tracepoint_id)(struct env *e, const char **module, const char *name);

	/* "struct task_struct", "union x", "enum y", or the name of a typedef. */
	bool (*type)(struct env *e, const char *name, struct type *t);

	/* The value of an enumerator, and the enum it is in. */
	bool (*enumerator)(struct env *e, const char *name, int64_t *value, struct type *in);

	/* The address of a symbol of the kernel, "name" or "module:name"; 0: there is none. */
	uint64_t (*symbol)(struct env *e, const char *name);

	/* Shows names like this one to `near`: of types as type() takes them. */
	void (*near_type)(struct env *e, const char *name, struct nearest *near);

	/* Why types are not known at all: words, or NULL when they are. */
	const char *(*no_types)(struct env *e);

	void (*free)(struct env *e);
};

struct env {
	const struct env_ops *ops;
	struct arena *arena; /* of the caller: for what is answered */
	struct cdefs *own;   /* the script's definitions, asked before the kernel; or NULL. Freed
				  by whoever set it */
	struct programs *programs;    /* user programs that were asked about */
	struct loaded_types *loaded;  /* of BPF programs that were asked about */
	const char *const *debuginfo; /* places of their debug files: symbols/elf.h; or NULL */
	bool offline;
};

/*
 * The running kernel; tracefs is where it is mounted, btf the file that describes its types (NULL:
 * the usual one, which modules' lie beside). What is missing is not found. NULL without memory.
 */
struct env *env_live(const char *tracefs, const char *btf, struct arena *arena);

/* A recording, which must outlive it. Types are known when it comes from the running kernel. */
struct spur_trace;
struct env *env_file(struct spur_trace *trace, struct arena *arena);

void env_free(struct env *e);

/*
 * The script's definitions first, then C's own types ("unsigned int", "u32", "size_t"; these need
 * nobody to describe them), then the environment's.
 */
bool env_type(struct env *e, const char *name, struct type *t);

/* The same for a probe in a program, whose own types come before the kernel's; NULL: none. */
bool env_type_in(struct env *e, const char *path, const char *name, struct type *t);

/*
 * A struct of which somebody knows only the name (size 0) may be described by another: by the
 * script, or by a module. Replaces it; false when nobody knows what is in it.
 */
bool env_complete(struct env *e, struct type *t);

/* " (did you mean 'a' or 'b'?)", or ""; takes a while. */
void env_near_type(struct env *e, const char *name, struct buf *to);

bool env_enumerator(struct env *e, const char *name, int64_t *value, struct type *in);

/* The name of the enumerator with that value, NULL: none has it. */
const char *env_enumerator_name(const struct type *t, int64_t value);

/* "struct task_struct", "int", "u64", …: appends the type's name as C would write it. */
void env_type_name(const struct type *t, struct buf *to);

/* Whether a member of a tracepoint is __data_loc (1), __rel_loc (2), or neither (0). */
int env_dynamic(const struct member *m);

/* ---- programs: from their debug information ---- */

/* A type of a program, named as env_type() takes it. */
bool env_user_type(struct env *e, const char *path, const char *name, struct type *t);

/*
 * What a function takes and returns, and where its parameters are at `address` (as the file was
 * linked), which is its entry unless somebody probes its middle. The symbol is as the file has it,
 * or NULL. False when that is not known.
 */
bool env_user_function(struct env *e, const char *path, const char *symbol, uint64_t address,
		       struct proto *p);

/* Why nothing is known about a program; "" when something is. */
const char *env_no_user_types(struct env *e, const char *path);

/* What a function of a BPF program takes and returns: type `type` of the kernel's BTF `btf`. */
bool env_bpf_function(struct env *e, uint32_t btf, uint32_t type, struct proto *p);

/* ---- definitions in the script: struct, union, enum, typedef ---- */

struct cdefs;

/*
 * Parses what the script has of C. Names that it does not define are looked up in the environment
 * when they are needed. Errors are told to the source.
 */
int cdefs_parse(const struct script_ast *ast, struct env *e, struct cdefs **out);
void cdefs_free(struct cdefs *d);

#endif
