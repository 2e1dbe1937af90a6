/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A text parsed, and what came of it compared: for tests of the parser. */
#ifndef TESTS_PARSE_FIXTURE_H
#define TESTS_PARSE_FIXTURE_H

#include "lang/parse.h"

struct parsed {
	struct arena arena;
	struct source source;
	struct script_ast ast;
	struct buf dump;
	int result;
};

static inline void parse_named(struct parsed *p, const char *name, const char *text,
			       const struct parse_options *opt)
{
	arena_init(&p->arena, 64 << 20);
	source_init(&p->source, &p->arena);
	buf_init(&p->dump, 16 << 20);
	assert_true(source_add(&p->source, name, text, strlen(text), (struct span){0, 0}));
	p->result = parse_bpftrace(&p->source, opt, &p->ast);
	if (p->result == 0)
		ast_dump(&p->ast, &p->dump);
}

static inline void parse(struct parsed *p, const char *text)
{
	static const struct parse_options no_files = {.no_files = true};

	parse_named(p, "stdin", text, &no_files);
}

static inline void parsed_free(struct parsed *p)
{
	buf_free(&p->dump);
	source_free(&p->source);
	arena_free(&p->arena);
}

/* Says which case it is, which an assertion in a loop does not. */
static inline void compare(const char *text, const char *got, const char *wanted)
{
	if (strcmp(got, wanted) != 0)
		fail_msg("%s\n--- wanted\n%s--- got\n%s", text, wanted, got);
}

static inline void check(const char *text, const char *wanted)
{
	struct parsed p;

	parse(&p, text);
	compare(text, p.result ? buf_str(&p.source.messages) : buf_str(&p.dump), wanted);
	parsed_free(&p);
}

#endif
