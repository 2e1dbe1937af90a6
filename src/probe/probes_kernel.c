// SPDX-License-Identifier: GPL-2.0-or-later
/* Probes in code of the kernel: functions, iterators, and functions of BPF programs. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/pattern.h"
#include "base/vec.h"
#include "code/sys.h"
#include "probe/provider.h"
#include "symbols/btf.h"
#include "symbols/ksyms.h"

/*
 * Functions of the kernel: kprobe[:MODULE]:FUNCTION[+OFFSET] or an address, kretprobe, fentry and
 * fexit; and iterators.
 *
 * A function with an exact name is not checked: the kernel does that, and reading its list of
 * functions takes longer than starting a script.
 */

#define KALLSYMS  "/proc/kallsyms"
#define LIST_MOST (1u << 20)

static const char *kallsyms(const struct probe_world *w)
{
	return w->kallsyms ? w->kallsyms : KALLSYMS;
}

/* NULL for functions of the kernel itself, and where it does not matter. */
static const char *module_named(const char *word)
{
	return !strcmp(word, KSYMS_KERNEL) || !strcmp(word, "*") || !*word ? NULL : word;
}

/* ---- targets ---- */

/* Names of kprobes have a module only if the user gave it; those of fentry always have one. */
static struct probe_target *add_function(struct match *m, const char *module, const char *name,
					 uint64_t offset)
{
	char more[32] = "";
	struct probe_target *t;

	if (offset)
		snprintf(more, sizeof(more), "+%" PRIu64, offset);
	t = match_add(m, "%s%s%s%s", module ? module : "", module ? ":" : "", name, more);
	if (!t)
		return NULL;
	t->symbol = t->func = name;
	t->offset = offset;
	return t;
}

struct function_query {
	const char *module, *pattern; /* as written; module NULL: not given */
	bool fentry;
};

static int add_found(struct match *m, const struct function_query *q, const struct ksyms *found)
{
	vec_each (s, found) {
		const char *own = s->module ? s->module : KSYMS_KERNEL;
		const char *shown =
			q->fentry || (q->module && is_glob(q->module)) ? own : q->module;
		struct probe_target *t;

		/* Parts that the compiler split off may have the same name. */
		if (strstr(s->name, ".part.") || strstr(s->name, ".cold"))
			continue;
		t = add_function(m, shown, s->name, 0);
		if (!t)
			return match_no_memory(m);
		t->module = s->module;
		t->address = s->addr;
	}
	return 0;
}

static int find_functions(struct match *m, const struct function_query *q)
{
	const size_t most = m->listing || !m->world->max_probes ? LIST_MOST : m->world->max_probes;
	const size_t before = m->to->n;
	struct spur_error err = {0};
	struct ksyms found = {0};
	const struct traceable *traceable = world_traceable(m->world);
	int ret;

	if (!traceable)
		return match_no_memory(m);
	/* Without that list every symbol of text would do, and most of them cannot be probed. */
	if (m->listing && !traceable->known)
		return 0;
	ret = ksyms_find(kallsyms(m->world), q->module ? module_named(q->module) : NULL, q->pattern,
			 most, traceable, m->world->arena, &found, NULL, &err);
	if (!ret)
		ret = add_found(m, q, &found);
	else if (ret != -ENOENT)
		ret = match_error(m, "%s", err.text);
	vec_free(&found);
	if (ret && ret != -ENOENT)
		return ret;
	return m->to->n > before ? 0
				 : match_missing(m, "No matches for %s %s%s%s.", m->provider->name,
						 q->module ? q->module : "", q->module ? ":" : "",
						 q->pattern);
}

/* ---- kprobes ---- */

static int match_address(struct match *m, uint64_t address)
{
	struct probe_target *t;

	if (!m->world->unsafe && !m->listing)
		return match_error(m, "a kprobe at an address is unsafe (use --unsafe)");
	t = match_add(m, "%s", m->word[m->nr_words - 1]);
	if (!t)
		return match_no_memory(m);
	t->address = address;
	t->found = false;
	return 0;
}

int match_kernel(struct match *m)
{
	const bool is_return = m->provider->type == PT_KRETPROBE;
	const char *word = m->word[m->nr_words - 1], *module = m->nr_words > 1 ? m->word[0] : NULL;
	struct function_query q = {.module = module};
	struct probe_target *t;
	uint64_t offset, address;
	int ret;

	if (word_number(word, &address) && !module && !is_return)
		return match_address(m, address);
	ret = split_offset(m, word, &q.pattern, &offset);
	if (ret)
		return ret;
	if (!*q.pattern)
		return match_error(m, "kprobes should be attached to a function");
	if (offset && is_return)
		return match_error(m, "Offset not allowed");
	if (is_glob(q.pattern) || (module && is_glob(module)))
		return offset ? match_error(m, "an offset makes sense for one function only")
			      : find_functions(m, &q);
	t = add_function(m, module, q.pattern, offset);
	if (!t)
		return match_no_memory(m);
	t->module = module ? module_named(module) : NULL;
	t->found = false;
	return 0;
}

/* ---- fentry, fexit ---- */

int match_fentry(struct match *m)
{
	const char *name = m->word[m->nr_words - 1];
	struct function_query q = {.pattern = name, .fentry = true};
	struct probe_target *t;

	if (!strcmp(m->word[0], "bpf"))
		return match_bpf(m);
	if (m->nr_words > 2)
		return match_error(m, "Only the 'bpf' variant of this probe supports 4 arguments");
	if (!*name)
		return match_error(m, "fentry/fexit should specify a function");
	if (m->nr_words > 1)
		q.module = m->word[0];
	if (is_glob(name) || (q.module && is_glob(q.module)))
		return find_functions(m, &q);
	t = add_function(m, q.module ? q.module : KSYMS_KERNEL, name, 0);
	if (!t)
		return match_no_memory(m);
	t->module = q.module ? module_named(q.module) : NULL;
	t->found = false;
	return 0;
}

/* ---- iterators ---- */

static const char *const iterators[] = {
	"bpf_link", "bpf_map", "bpf_map_elem", "bpf_prog",   "bpf_sk_storage_map",
	"cgroup",   "dmabuf",  "ipv6_route",   "kmem_cache", "ksym",
	"netlink",  "sockmap", "task",	       "task_file",  "task_vma",
	"tcp",	    "udp",     "unix",
};

static bool has_iterator(struct probe_world *w, const char *name)
{
	const struct btf *btf = world_btf(w);
	char function[128];
	struct arena scratch;
	struct proto p;
	bool found;

	if (!btf ||
	    snprintf(function, sizeof(function), "bpf_iter_%s", name) >= (int)sizeof(function))
		return false;
	arena_init(&scratch, 1 << 20);
	found = btf_function(btf, function, &scratch, &p);
	arena_free(&scratch);
	return found;
}

static int add_iterator(struct match *m, const char *name)
{
	struct probe_target *t = match_add(m, "%s", name);

	if (!t)
		return match_no_memory(m);
	t->event = t->func = name;
	t->symbol = match_text(m, "bpf_iter_%s", name);
	/* The path where it is pinned for other readers. */
	t->path = m->nr_words > 1 ? m->word[1] : NULL;
	return t->symbol ? 0 : match_no_memory(m);
}

static int list_iterators(struct match *m)
{
	struct pattern pattern;
	int ret = 0;

	if (pattern_glob(&pattern, m->word[0], strlen(m->word[0]), NULL))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(iterators) && !ret; i++)
		if (pattern_match(&pattern, iterators[i], strlen(iterators[i])) &&
		    has_iterator(m->world, iterators[i]))
			ret = add_iterator(m, iterators[i]);
	pattern_free(&pattern);
	return ret;
}

int match_iter(struct match *m)
{
	const char *name = m->word[0];

	if (m->listing)
		return list_iterators(m);
	if (!*name)
		return match_error(m, "iter should specify a iterator's name");
	if (is_glob(name))
		return match_error(m, "iter probe type does not support wildcards");
	if (!has_iterator(m->world, name))
		return match_error(m, "iter %s not available for your kernel version.", name);
	return add_iterator(m, name);
}

/* ---- suggestions ---- */

void suggest_function(struct probe_world *w, const struct probe_target *t, struct nearest *near)
{
	struct spur_error ignored = {0};
	struct traceable any = {0};
	struct ksyms found = {0};

	ksyms_find(kallsyms(w), t->module, t->symbol, LIST_MOST, &any, w->arena, &found, near,
		   &ignored);
	vec_free(&found);
}

/*
 * Functions of BPF programs: fentry:bpf:[ID:]NAME. The kernel lists programs by number; the names
 * of their functions are in the BTF that they were loaded with. Those without it cannot be probed.
 */

#define MAX_PROGRAMS 65536

struct bpf_query {
	struct match *m;
	uint64_t id; /* 0: any */
	struct pattern name;
	uint32_t prog, btf; /* the current ones */
};

static int add_bpf_function(struct bpf_query *q, const char *name, uint32_t type)
{
	struct match *m = q->m;
	struct probe_target *t = match_add(m, "bpf:%u:%s", q->prog, name);

	if (!t)
		return match_no_memory(m);
	t->symbol = t->func = arena_strdup(m->world->arena, name);
	t->bpf_prog = q->prog;
	t->bpf_btf = q->btf;
	t->bpf_type = type;
	t->found = true;
	return t->symbol ? 0 : match_no_memory(m);
}

static int add_functions(struct bpf_query *q, const struct prog_functions *f, const struct btf *b)
{
	int rc = 0;

	for (size_t i = 0; i < f->n && rc == 0; i++) {
		const char *name = btf_function_name(b, f->types[i]);

		if (name && *name && pattern_match(&q->name, name, strlen(name)))
			rc = add_bpf_function(q, name, f->types[i]);
	}
	return rc;
}

/* Programs come and go: one that cannot be read any more is skipped. */
static int query_program(struct bpf_query *q)
{
	struct prog_functions f = {0};
	struct btf *b = NULL;
	void *data = NULL;
	size_t size;
	int fd = progs_open(q->prog), rc = 0;

	if (fd < 0)
		return 0;
	if (progs_functions(fd, &f) == 0 && f.n && progs_btf(f.btf, &data, &size) == 0 &&
	    btf_parse(data, size, NULL, &b, NULL) == 0) {
		q->btf = f.btf;
		rc = add_functions(q, &f, b);
		btf_free(b);
	}
	free(data);
	free(f.types);
	close(fd);
	return rc;
}

static int look_at_all(struct bpf_query *q)
{
	int rc = 0;

	for (size_t i = 0; i < MAX_PROGRAMS && rc == 0; i++) {
		rc = progs_next(&q->prog);
		if (rc == -ENOENT)
			return 0;
		if (rc < 0) {
			q->m->world->denied |= rc == -EPERM;
			return match_error(q->m, "the kernel does not list BPF programs: %s",
					   strerror(-rc));
		}
		if (!q->id || q->id == q->prog)
			rc = query_program(q);
	}
	return rc;
}

int match_bpf(struct match *m)
{
	const char *name = m->word[m->nr_words - 1];
	const bool numbered = m->nr_words > 2 && strcmp(m->word[1], "*") != 0;
	const size_t before = m->to->n;
	struct bpf_query q = {.m = m};
	int rc;

	if (m->nr_words < 2 || !*name)
		return match_error(m, "fentry/fexit should specify a function");
	if (numbered && (!word_number(m->word[1], &q.id) || !q.id || q.id > UINT32_MAX))
		return match_error(m, "'%s' is not the number of a BPF program", m->word[1]);
	if (pattern_glob(&q.name, name, strlen(name), NULL))
		return match_error(m, "'%s' is no pattern", name);
	rc = look_at_all(&q);
	pattern_free(&q.name);
	if (rc < 0 || m->to->n > before || m->listing)
		return rc;
	return numbered ? match_missing(m, "BPF program %s has no function '%s'", m->word[1], name)
			: match_missing(m, "no BPF program has a function '%s'", name);
}
