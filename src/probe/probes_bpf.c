// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Functions of BPF programs: fentry:bpf:[ID:]NAME. The kernel lists programs by number; the names
 * of their functions are in the BTF that they were loaded with. Those without it cannot be probed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "code/progs.h"
#include "probe/probes_parts.h"
#include "symbols/btf_parts.h"

#define MAX_PROGRAMS 65536

struct bpf_query {
	struct match *m;
	uint64_t id; /* 0: any */
	struct pattern name;
	uint32_t prog, btf; /* that are looked at */
};

static int add_function(struct bpf_query *q, const char *name, uint32_t type)
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
		struct btf_record r;
		const char *name;

		if (!btf_read(b, f->types[i], &r) || r.kind != BTF_FUNC)
			continue;
		name = btf_string(b, r.name);
		if (*name && pattern_match(&q->name, name, strlen(name)))
			rc = add_function(q, name, f->types[i]);
	}
	return rc;
}

/* Programs come and go: one that cannot be looked at any more is none. */
static int look_at(struct bpf_query *q)
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
			rc = look_at(q);
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
