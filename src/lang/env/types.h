/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/lang: where an environment finds its types. Other files use lang/env.h. */
#ifndef LANG_ENV_TYPES_H
#define LANG_ENV_TYPES_H

#include "lang/env.h"
#include "symbols/btf.h"

struct event;

/* ---- C's own types ---- */

/* "unsigned int", "long unsigned", "u32", "void", …, words separated by single spaces. */
bool ctype_base(const char *name, struct type *t);

/* The tag that a name begins with, as "struct ", "union " or "enum ", which is removed. */
enum ctype_tag { TAG_NONE, TAG_STRUCT, TAG_UNION, TAG_ENUM };
enum ctype_tag ctype_tag(const char **name);

/* ---- the kernel's types ---- */

struct env_module {
	char *name;
	struct btf *btf;
};

struct env_answer {
	char *name;
	bool found;
	struct type type;
};

/* The BTF of a kernel and its modules; each is opened when it is first needed. */
struct env_kernel {
	const char *path; /* of the kernel's BTF; NULL: there is none */
	struct btf *btf;
	bool tried, tried_modules;
	struct spur_error why; /* why it could not be opened */
	struct {
		struct env_module *at;
		size_t n, cap;
	} modules;
	struct {
		struct env_answer *at;
		size_t n, cap;
	} answers; /* a cache: scripts use the same few types again and again */
};

#define ENV_KERNEL_BTF "/sys/kernel/btf/vmlinux"

/* Members of struct env_ops, for both environments. */
bool env_kernel_type(struct env *e, const char *name, struct type *t);
bool env_kernel_enumerator(struct env *e, const char *name, int64_t *value, struct type *in);
bool env_kernel_function(struct env *e, const char *module, const char *name, struct proto *p);
uint32_t env_kernel_function_id(struct env *e, const char **module, const char *name);
bool env_kernel_raw_tracepoint(struct env *e, const char *name, struct proto *p);
uint32_t env_kernel_raw_tracepoint_id(struct env *e, const char **module, const char *name);
void env_kernel_near(struct env *e, const char *name, struct nearest *near);
const char *env_kernel_missing(struct env *e);

void env_kernel_close(struct env_kernel *k);

/* ---- tracepoints ---- */

/* The fields of an event as a struct. The event must outlive the environment. */
bool env_event_fields(struct env *e, struct event *event, struct type *fields);

/* ---- BPF programs and user programs ---- */

void loaded_free(struct loaded_types *all);
void programs_free(struct programs *p);

/* ---- definitions of the script ---- */

bool cdefs_type(const struct cdefs *d, const char *name, struct type *t);
bool cdefs_enumerator(const struct cdefs *d, const char *name, int64_t *value, struct type *in);
/* Why a header's definition of a type was skipped, and its file; NULL: there is none. */
const char *cdefs_skipped(const struct cdefs *d, const char *name, const char **file);
void cdefs_near(const struct cdefs *d, const char *name, struct nearest *near);

#endif
