/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The environment: everything a script may refer to outside itself, as types of C, tracepoints,
 * functions and symbols. It is the running kernel or a recording. Results are views that are valid
 * as long as the environment.
 *
 * Everything is read when it is first needed: most scripts need neither BTF nor kallsyms.
 *
 * Private to src/lang.
 */
#ifndef LANG_ENV_H
#define LANG_ENV_H

#include "lang/ast.h"
#include "symbols/names.h"
#include "symbols/types.h"

struct env;

struct env_ops {
	/*
	 * The fields of a tracepoint as a struct, with offsets in the program's context. Fields
	 * that all tracepoints have are left out: programs cannot read them. Dynamic fields
	 * (__data_loc) are TYPE_TEXT if they are characters, else TYPE_ARRAY with count 0: see
	 * env_dynamic(). TYPE_TEXT that is not dynamic reaches from its offset to the end of the
	 * record.
	 */
	bool (*tracepoint)(struct env *e, const char *system, const char *name,
			   struct type *fields);

	/*
	 * The parameters and the result of a kernel function (fentry, kprobe); the arguments of a
	 * raw tracepoint's programs. The module is NULL for the kernel itself.
	 */
	bool (*function)(struct env *e, const char *module, const char *name, struct proto *p);
	bool (*raw_tracepoint)(struct env *e, const char *name, struct proto *p);

	/*
	 * The id of a function in the BTF of the kernel or of a module; 0: there is none. *module
	 * names the module to search, or is NULL, and is set to the module that has it.
	 */
	uint32_t (*function_id)(struct env *e, const char **module, const char *name);

	/* The same for the type of the function that a tracepoint calls. */
	uint32_t (*raw_tracepoint_id)(struct env *e, const char **module, const char *name);

	/* "struct task_struct", "union x", "enum y", or the name of a typedef. */
	bool (*type)(struct env *e, const char *name, struct type *t);

	/* The value of an enumerator, and its enum. */
	bool (*enumerator)(struct env *e, const char *name, int64_t *value, struct type *in);

	/* The address of a symbol of the kernel, "name" or "module:name"; 0: there is none. */
	uint64_t (*symbol)(struct env *e, const char *name);

	/* Offers names of types, as type() takes them, to `near`. */
	void (*near_type)(struct env *e, const char *name, struct nearest *near);

	/* Why no types are known, as text; NULL if they are. */
	const char *(*no_types)(struct env *e);

	void (*free)(struct env *e);
};

struct env {
	const struct env_ops *ops;
	struct arena *arena; /* the caller's, for results */
	struct cdefs *own;   /* the script's definitions, searched before the kernel's; or NULL.
				  The caller that sets it frees it */
	struct env_kernel *kernel;    /* the BTF of the kernel and its modules */
	struct programs *programs;    /* user programs that have been opened */
	struct loaded_types *loaded;  /* BPF programs that have been opened */
	const char *const *debuginfo; /* places of their debug files: symbols/elf.h; or NULL */
	bool offline;
};

/*
 * The running kernel. tracefs is its mount point, btf the file that describes the kernel's types
 * (NULL: the usual one, with those of modules next to it). Files may be missing; then their names
 * are not found. NULL without memory.
 */
struct env *env_live(const char *tracefs, const char *btf, struct arena *arena);

/* A recording, which must outlive it. Types are known if it is of the running kernel. */
struct spur_trace;
struct env *env_file(struct spur_trace *trace, struct arena *arena);

void env_free(struct env *e);

/*
 * Searches the script's definitions, then C's own types ("unsigned int", "u32", "size_t", which
 * need no definition), then the environment.
 */
bool env_type(struct env *e, const char *name, struct type *t);

/* The same for a probe in the program `path`, or NULL; its own types come before the kernel's. */
bool env_type_in(struct env *e, const char *path, const char *name, struct type *t);

/*
 * Replaces a struct that is only named (size 0) by its description in the script or in a module.
 * False if there is none.
 */
bool env_complete(struct env *e, struct type *t);

/* Appends " (did you mean 'a' or 'b'?)", or nothing; slow. */
void env_near_type(struct env *e, const char *name, struct buf *to);

/* Why a header's definition of a type was not understood, and its file; NULL: there is none. */
const char *env_skipped_type(struct env *e, const char *name, const char **file);

bool env_enumerator(struct env *e, const char *name, int64_t *value, struct type *in);

/* Whether a member of a tracepoint is __data_loc (1), __rel_loc (2), or neither (0). */
int env_dynamic(const struct member *m);

/* ---- programs: from their debug information ---- */

/* A type of a program, named as env_type() takes it. */
bool env_user_type(struct env *e, const char *path, const char *name, struct type *t);

/*
 * The parameters and the result of a function, and where the parameters are at `address` (as the
 * file is linked), which is its entry unless the probe is inside of it. The symbol is as in the
 * file, or NULL. False if that is not known.
 */
bool env_user_function(struct env *e, const char *path, const char *symbol, uint64_t address,
		       struct proto *p);

/* Why nothing is known about a program; "" if something is. */
const char *env_no_user_types(struct env *e, const char *path);

/* A function of a BPF program: type `type` of the kernel's BTF object `btf`. */
bool env_bpf_function(struct env *e, uint32_t btf, uint32_t type, struct proto *p);

/* ---- definitions in the script: struct, union, enum, typedef ---- */

struct cdefs;

/*
 * Parses the definitions of a script. Names that they do not define are looked up in the
 * environment when they are needed. Errors are reported to the source.
 */
int cdefs_parse(const struct script_ast *ast, struct env *e, struct cdefs **out);
void cdefs_free(struct cdefs *d);

#endif
