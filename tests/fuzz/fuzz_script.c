// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer: the text of a script. A first byte below 128 is the first character of the text; with
 * any other one the bytes that follow choose from a list of tokens, which gets further than
 * letters.
 */
#include <stdlib.h>
#include <string.h>

#include "lang/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const tokens[] = {
	"{",
	"}",
	"(",
	")",
	"[",
	"]",
	";",
	",",
	":",
	"?",
	".",
	"..",
	"->",
	"=",
	"==",
	"!=",
	"<",
	">",
	"<=",
	">=",
	"<<",
	">>",
	"+",
	"-",
	"*",
	"/",
	"%",
	"&",
	"|",
	"^",
	"!",
	"~",
	"&&",
	"||",
	"++",
	"--",
	"+=",
	"<<=",
	"\n",
	" ",
	" ",
	"\t",
	"\"",
	"\\",
	"'",
	"/*",
	"*/",
	"//",
	"#",
	"$",
	"@",
	"$x",
	"$y",
	"@m",
	"@m[",
	"$1",
	"$#",
	"$0",
	"1",
	"0",
	"0x1f",
	"1e6",
	"10ms",
	"1_0",
	"09",
	"5zz",
	"99999999999999999999",
	"\"s\"",
	"\"\\n\\x41\"",
	"BEGIN",
	"begin",
	"END {",
	"kprobe:f",
	"uprobe:/bin/x:f",
	"interval:1s",
	"t:a:b",
	"a=",
	"struct",
	"union",
	"enum",
	"typedef",
	"struct T { int a; };",
	"if",
	"else",
	"if (1) {",
	"} else {",
	"while",
	"while (1) {",
	"for",
	"for ($i : 0..3) {",
	"for ($k : @m) {",
	"unroll",
	"unroll(2) {",
	"break",
	"continue",
	"return",
	"let",
	"let @m = hash(1);",
	"macro",
	"macro m(a, $b, @c) {",
	"m(",
	"m($x, $y, @m)",
	"import",
	"import \"x\";",
	"config = {",
	"config",
	"sizeof(",
	"offsetof(",
	"typeof(",
	"typeinfo(",
	"comptime",
	"true",
	"false",
	"_",
	"pid",
	"comm",
	"args",
	"arg0",
	"printf(",
	"count()",
	"nsecs",
	"(uint8)",
	"(struct T *)",
	"(int8[2])",
	"uint64",
	"string[4]",
	"(a=1)",
	"(1,)",
	"()",
	"\n#define X ",
	"\n#define F(a, b) ",
	"F(",
	"F(1, X)",
	"X",
	"\n#if ",
	"\n#ifdef X\n",
	"\n#ifndef X\n",
	"\n#else\n",
	"\n#elif ",
	"\n#endif\n",
	"defined(X)",
	"\n#undef X\n",
	"##",
	"\n#include <x>\n",
	"\n#error ",
	"fn",
	"BEGIN { ",
	" }\n",
	"a",
	"b",
	"\377",
};

static void put_tokens(struct buf *to, const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		buf_puts(to, tokens[data[i] % (sizeof(tokens) / sizeof(*tokens))]);
		if (data[i] & 0x80)
			buf_putc(to, ' ');
	}
}

/* What a walker of the tree may rely on. */
static void check_height(const struct node *n, unsigned int height)
{
	for (; n; n = n->next) {
		if (n->height > height || !n->height || n->at.from > n->at.to)
			abort();
		check_height(n->a, n->height - 1);
		check_height(n->b, n->height - 1);
		check_height(n->c, n->height - 1);
		check_height(n->list, n->height - 1);
	}
}

static void check_tree(const struct script_ast *ast)
{
	if (!ast->probes)
		abort();
	for (const struct probe_def *p = ast->probes; p; p = p->next) {
		if (!p->points || !p->points->nr_parts)
			abort();
		check_height(p->predicate, AST_MAX_HEIGHT);
		check_height(p->body, AST_MAX_HEIGHT);
	}
	for (const struct c_text *c = ast->c; c; c = c->next)
		if (c->at.from >= c->at.to || c->at.to > ast->source->text.len)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct parse_options opt = {.no_files = true};
	struct script_ast ast;
	struct source source;
	struct arena arena;
	struct buf text, out;

	buf_init(&text, SOURCE_LIMIT);
	buf_init(&out, 4 << 20);
	arena_init(&arena, 64 << 20);
	source_init(&source, &arena);
	if (size && data[0] >= 0x80)
		put_tokens(&text, data + 1, size - 1);
	else
		buf_put(&text, data, size);
	source_add(&source, "stdin", text.data, text.len, (struct span){0, 0});
	if (parse_bpftrace(&source, &opt, &ast) == 0) {
		if (source.errors)
			abort();
		check_tree(&ast);
		ast_dump(&ast, &out);
	} else if (!source.errors || !source.messages.len) {
		abort();
	}
	source_free(&source);
	arena_free(&arena);
	buf_free(&text);
	buf_free(&out);
	return 0;
}
