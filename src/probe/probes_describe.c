// SPDX-License-Identifier: GPL-2.0-or-later
/* Probes in detail, a line for each thing a script can ask for: fields of events, parameters. */
#include <string.h>
#include <sys/utsname.h>

#include "probe/probes_cache.h"
#include "probe/probes_parts.h"
#include "symbols/dwarf.h"
#include "symbols/elf.h"

#define TEXT_LIMIT  65536
#define ARENA_LIMIT (16 << 20)

/* ---- the kernel's functions ------------------------------------------------------------ */

/* "struct file *file" as bpftrace has it: "struct file * file". */
static void put_declaration(const char *s, size_t len, struct buf *to)
{
	size_t name = len;

	while (name && s[name - 1] != '*' && s[name - 1] != ' ')
		name--;
	buf_puts(to, "    ");
	buf_put(to, s, name);
	if (name && s[name - 1] == '*')
		buf_putc(to, ' ');
	buf_put(to, s + name, len - name);
	buf_putc(to, '\n');
}

/* The length of the first parameter of a list: commas of functions in it do not count. */
static size_t parameter_len(const char *s)
{
	size_t n = 0;
	int depth = 0;

	for (; s[n] && (depth || (s[n] != ',' && s[n] != ')')); n++)
		depth += (s[n] == '(') - (s[n] == ')');
	return n;
}

/* What is behind the name and its parenthesis; NULL when the text is not as it should be. */
static const char *parameters(const char *text, const char *name)
{
	const char *s = strstr(text, name);

	return s && s[strlen(name)] == '(' ? s + strlen(name) + 1 : NULL;
}

static void put_return(const char *text, const char *name, struct buf *to)
{
	const size_t len = (size_t)(strstr(text, name) - text);

	if (!strncmp(text, "void ", 5))
		return;
	buf_puts(to, "    ");
	buf_put(to, text, len);
	buf_puts(to, len && text[len - 1] == ' ' ? "retval\n" : " retval\n");
}

static void describe_kernel(struct probe_world *w, const struct probe_target *t, struct buf *to)
{
	const struct btf *btf = world_btf(w);
	const char *s = NULL;
	struct buf text;

	if (!btf)
		return;
	buf_init(&text, TEXT_LIMIT);
	if (btf_prototype(btf, t->symbol, &text))
		s = parameters(buf_str(&text), t->symbol);
	if (s && !strncmp(s, "void)", 5))
		s = strchr(s, ')');
	for (size_t i = 0; s && *s && *s != ')'; i++) {
		const size_t len = parameter_len(s);

		/* What an iterator gets first is not for scripts. */
		if (i || t->type != PT_ITER)
			put_declaration(s, len, to);
		s += len;
		s += strspn(s, ", ");
	}
	if (s && t->type == PT_FEXIT)
		put_return(text.data, t->symbol, to);
	buf_free(&text);
}

/* The parameters of a raw tracepoint, as its declaration has them. */
static void describe_raw(struct probe_world *w, const struct probe_target *t, struct buf *to)
{
	const struct btf *btf = world_btf(w);
	struct arena scratch;
	struct buf type;
	struct proto p;

	if (!btf)
		return;
	arena_init(&scratch, ARENA_LIMIT);
	buf_init(&type, TEXT_LIMIT);
	if (!btf_raw_tracepoint(btf, t->event, &scratch, &p))
		p.n = 0;
	for (size_t i = 0; i < p.n; i++) {
		buf_reset(&type);
		type_name(&p.at[i].type, &type);
		buf_printf(to, "    %s %s\n", buf_str(&type), p.at[i].name);
	}
	buf_free(&type);
	arena_free(&scratch);
}

/* ---- programs' functions --------------------------------------------------------------- */

/* Here the stars are at the type: "struct buf* out". */
static void put_parameters(const struct proto *p, struct buf *to)
{
	struct buf type;

	buf_init(&type, TEXT_LIMIT);
	for (size_t i = 0; i < p->n; i++) {
		const char *star;

		buf_reset(&type);
		type_name(&p->at[i].type, &type);
		star = strstr(buf_str(&type), " *");
		buf_puts(to, "    ");
		buf_put(to, type.data, star ? (size_t)(star - type.data) : type.len);
		buf_printf(to, "%s %s\n", star ? star + 1 : "", p->at[i].name);
	}
	buf_free(&type);
}

static void describe_user(const struct probe_world *w, const struct probe_target *t, struct buf *to)
{
	struct utsname machine = {0};
	struct binary_info info;
	struct debug *debug;
	struct binary *b;
	struct arena scratch;
	struct proto p;

	if (binary_open_debug(t->path, w->debuginfo, &b, NULL))
		return;
	uname(&machine);
	info = binary_info(b);
	arena_init(&scratch, ARENA_LIMIT);
	debug = debug_open(b);
	if (debug &&
	    debug_function(debug, t->address, false,
			   abi_of_elf(info.machine, info.is_64, machine.machine), &scratch, &p))
		put_parameters(&p, to);
	debug_close(debug);
	arena_free(&scratch);
	binary_close(b);
}

void probe_describe(struct probe_world *w, const struct probe_target *t, struct buf *to)
{
	if (t->system && t->event)
		describe_event(w, t, to);
	else if (t->type == PT_RAWTRACEPOINT && t->event)
		describe_raw(w, t, to);
	else if (t->type == PT_UPROBE && t->path && t->address)
		describe_user(w, t, to);
	else if ((t->type == PT_FENTRY || t->type == PT_FEXIT || t->type == PT_ITER) && t->symbol &&
		 !t->bpf_prog)
		describe_kernel(w, t, to);
}
