// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of the kinds of probes, what is common to matching, listing and describing them, and
 * the lists that are kept between attach points. A new kind is an entry here and a function in one
 * of probes_*.c.
 */
#include "probe/probes.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>

#include "base/array.h"
#include "base/error.h"
#include "base/pattern.h"
#include "base/suggest.h"
#include "base/vec.h"
#include "event/event.h"
#include "probe/provider.h"
#include "scan/trace.h"
#include "symbols/dwarf.h"
#include "symbols/elf.h"
#include "symbols/names.h"

#define BTF_FILE "/sys/kernel/btf/vmlinux"

/* NULL without memory. */
static struct probe_cache *world_cache(struct probe_world *w)
{
	if (!w->cache)
		w->cache = calloc(1, sizeof(struct probe_cache));
	return w->cache;
}

void probe_world_close(struct probe_world *w)
{
	struct probe_cache *c = w->cache;

	if (!c)
		return;
	tracefs_events_free(&c->events);
	if (c->has_traceable)
		traceable_free(&c->traceable);
	btf_set_close(&c->types);
	free(c);
	w->cache = NULL;
}

const char *world_path(const struct probe_world *w, const char *file, char *path, size_t cap)
{
	int n = snprintf(path, cap, "%s/%s", w->tracefs ? w->tracefs : "", file);

	return n > 0 && (size_t)n < cap ? path : "";
}

/* ---- events ---- */

static int recorded_events(struct probe_world *w, struct tracefs_events *list)
{
	const struct events *ev = w->trace->events;

	for (size_t i = 0; i < ev->nr; i++) {
		const struct event *e = ev->list[i];
		struct tracefs_event *entry;

		if (e->added)
			continue;
		entry = vec_push(list);
		if (!entry)
			return -ENOMEM;
		entry->system = e->system;
		entry->name = e->name;
	}
	return 0;
}

static int load_events(struct probe_world *w, struct tracefs_events *list, struct spur_error *err)
{
	struct tracefs fs = {0};

	if (w->trace)
		return recorded_events(w, list);
	if (!w->tracefs || strlen(w->tracefs) >= sizeof(fs.path))
		return error_set(err, -ENOENT, "tracefs is not mounted");
	memcpy(fs.path, w->tracefs, strlen(w->tracefs));
	return tracefs_events_load(&fs, NULL, list, err);
}

const struct tracefs_events *world_events(struct match *m)
{
	struct probe_cache *c = world_cache(m->world);
	struct spur_error err = {0};

	if (!c) {
		match_no_memory(m);
		return NULL;
	}
	if (!c->has_events && load_events(m->world, &c->events, &err)) {
		tracefs_events_free(&c->events);
		m->world->denied |= err.code == -EACCES;
		match_error(m, "the kernel's events cannot be listed: %s", err.text);
		return NULL;
	}
	c->has_events = true;
	return &c->events;
}

/* ---- functions and types ---- */

const struct traceable *world_traceable(struct probe_world *w)
{
	struct probe_cache *c = world_cache(w);
	char path[512];

	if (c && !c->has_traceable) {
		traceable_load(&c->traceable, w->traceable
						      ? w->traceable
						      : world_path(w, "available_filter_functions",
								   path, sizeof(path)));
		/* A user's list without functions has none; the kernel's may not be there. */
		if (w->traceable && !c->traceable.names.n)
			c->traceable.known = true;
		c->has_traceable = true;
	}
	return c ? &c->traceable : NULL;
}

const struct btf *world_btf(struct probe_world *w)
{
	struct probe_cache *c = world_cache(w);
	struct spur_error ignored = {0};

	if (c && !c->looked_for_types) {
		c->looked_for_types = true;
		btf_set_open(&c->types, w->btf, &ignored);
	}
	return c ? c->types.kernel : NULL;
}

const struct btf *world_btf_of(struct probe_world *w, const char *module)
{
	const struct btf *kernel = world_btf(w);
	struct probe_cache *c = world_cache(w);

	return kernel && strcmp(module, WHOLE_KERNEL) ? btf_set_of(&c->types, module) : kernel;
}

bool world_btf_path(const struct probe_world *w, const char *file, char *path, size_t cap)
{
	const char *kernel = w->btf ? w->btf : BTF_FILE, *slash = strrchr(kernel, '/');

	return (size_t)snprintf(path, cap, "%.*s%s", slash ? (int)(slash - kernel) + 1 : 0, kernel,
				file) < cap;
}

/* ---- the kinds of probes ---- */

#define TEXT_LIMIT 8192

/* By name, as lists show them. */
static const struct provider providers[] = {
	{PT_BEGIN, "begin", "BEGIN", 0, 0, "0", OFFLINE, match_plain},
	{PT_BENCH, "bench", "BENCH", 1, 1, "1", OFFLINE, match_named},
	{PT_END, "end", "END", 0, 0, "0", OFFLINE, match_plain},
	{PT_FENTRY, "fentry", "f kfunc", 1, 3, "1 or 3", 0, match_fentry},
	{PT_FEXIT, "fexit", "fr kretfunc", 1, 3, "1 or 3", 0, match_fentry},
	{PT_HARDWARE, "hardware", "h", 1, 2, "1 or 2", IN_KERNEL, match_counter},
	{PT_INTERVAL, "interval", "i", 1, 2, "1 or 2", OFFLINE, match_time},
	{PT_ITER, "iter", "it", 1, 2, "1 or 2", IN_KERNEL, match_iter},
	{PT_KPROBE, "kprobe", "k", 1, 2, "1 or 2", IN_KERNEL | OFFLINE, match_kernel},
	{PT_KRETPROBE, "kretprobe", "kr", 1, 2, "1 or 2", OFFLINE, match_kernel},
	{PT_PROFILE, "profile", "p", 1, 2, "1 or 2", 0, match_time},
	{PT_RAWTRACEPOINT, "rawtracepoint", "rt", 1, 2, "2 or 1", IN_KERNEL, match_raw_tracepoint},
	{PT_SELF, "self", "", 2, 2, "2", 0, match_self},
	{PT_SOFTWARE, "software", "s", 1, 2, "1 or 2", IN_KERNEL, match_counter},
	{PT_TEST, "test", "TEST", 1, 1, "1", OFFLINE, match_named},
	{PT_TRACEPOINT, "tracepoint", "t", 1, 2, "2", IN_KERNEL | OFFLINE, match_tracepoint},
	{PT_UPROBE, "uprobe", "u", 1, 3, "2 or 3", IN_USER | OFFLINE, match_user},
	{PT_URETPROBE, "uretprobe", "ur", 1, 3, "2 or 3", OFFLINE, match_user},
	{PT_USDT, "usdt", "U", 1, 3, "2 or 3", IN_USER, match_usdt},
	{PT_WATCHPOINT, "watchpoint", "w", 3, 3, "3", 0, match_watchpoint},
};

#define NR_PROVIDERS ARRAY_SIZE(providers)

/* Names are the same in capital letters; short aliases are not: u and U are different probes. */
static bool is_name(const char *name, const char *word, size_t len)
{
	return strlen(word) == len &&
	       (len > 2 ? !strncasecmp(name, word, len) : !memcmp(name, word, len));
}

static bool has_word(const char *words, const char *word)
{
	for (const char *s = words; *s; s += strspn(s, " ")) {
		size_t n = strcspn(s, " ");

		if (is_name(s, word, n))
			return true;
		s += n;
	}
	return false;
}

static const struct provider *provider_named(const char *name)
{
	for (size_t i = 0; i < NR_PROVIDERS; i++)
		if (is_name(providers[i].name, name, strlen(providers[i].name)) ||
		    has_word(providers[i].aliases, name))
			return &providers[i];
	return NULL;
}

enum probe_type probe_type_named(const char *name)
{
	const struct provider *p = provider_named(name);

	return p ? p->type : PT_TYPES;
}

const char *probe_type_name(enum probe_type t)
{
	for (size_t i = 0; i < NR_PROVIDERS; i++)
		if (providers[i].type == t)
			return providers[i].name;
	return "";
}

/* ---- telling ---- */

static void tell(struct match *m, int code, const char *fmt, va_list ap)
{
	char text[TEXT_LIMIT];

	vsnprintf(text, sizeof(text), fmt, ap);
	if (m->source)
		source_error(m->source, m->at, "%s", text);
	else
		error_set(m->err, code, "%s", text);
}

int match_error(struct match *m, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	tell(m, -EINVAL, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

int match_missing(struct match *m, const char *fmt, ...)
{
	va_list ap;

	if (m->quiet || m->listing)
		return -ENOENT;
	va_start(ap, fmt);
	tell(m, -ENOENT, fmt, ap);
	va_end(ap);
	return -ENOENT;
}

void match_hint(struct match *m, const char *fmt, ...)
{
	char text[TEXT_LIMIT];
	va_list ap;

	if (m->quiet || m->listing || !m->source)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	source_hint(m->source, "%s", text);
}

void match_warning(struct match *m, const char *fmt, ...)
{
	char text[TEXT_LIMIT];
	va_list ap;

	if (m->quiet || m->listing || !m->source)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	source_warning(m->source, m->at, "%s", text);
}

int match_no_memory(struct match *m)
{
	match_error(m, "there is no memory for so many probes");
	return -ENOMEM;
}

/* ---- targets ---- */

static char *text_of(struct arena *arena, const char *fmt, va_list ap)
{
	struct buf b;
	char *text;

	buf_init(&b, TEXT_LIMIT);
	buf_vprintf(&b, fmt, ap);
	text = buf_full(&b) ? NULL : arena_strndup(arena, b.data, b.len);
	buf_free(&b);
	return text;
}

char *match_text(struct match *m, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = text_of(m->world->arena, fmt, ap);
	va_end(ap);
	return text;
}

struct probe_target *match_add(struct match *m, const char *fmt, ...)
{
	struct probe_target *t = arena_alloc(m->world->arena, sizeof(*t));
	struct probe_target **slot;
	const char *rest;
	va_list ap;

	va_start(ap, fmt);
	rest = text_of(m->world->arena, fmt, ap);
	va_end(ap);
	if (!t || !rest)
		return NULL;
	t->type = m->provider->type;
	t->name = m->own_name ? m->own_name
			      : match_text(m, "%s%s%s", m->provider->name, *rest ? ":" : "", rest);
	t->func = "";
	t->pid = m->world->pid;
	t->found = true;
	slot = t->name ? vec_push(m->to) : NULL;
	if (!slot)
		return NULL;
	*slot = t;
	return t;
}

/* ---- words ---- */

/* As literals of the language: 0x10, 1_000, 1e6. */
bool word_number(const char *s, uint64_t *value)
{
	char digits[32], *end, *power;
	size_t n = 0;

	if (*s < '0' || *s > '9')
		return false;
	for (; *s && n + 1 < sizeof(digits); s++)
		if (*s != '_')
			digits[n++] = *s;
	digits[n] = '\0';
	errno = 0;
	*value = strtoull(digits, &end, 0);
	if (errno || *s)
		return false;
	if (*end != 'e' || end[1] < '0' || end[1] > '9')
		return !*end;
	for (unsigned long e = strtoul(end + 1, &power, 10); e; e--)
		if (__builtin_mul_overflow(*value, 10, value) || !*value)
			return false;
	return !*power;
}

int split_offset(struct match *m, const char *word, const char **name, uint64_t *offset)
{
	const char *plus = strchr(word, '+');

	*offset = 0;
	*name = word;
	if (!plus)
		return 0;
	if (strchr(plus + 1, '+'))
		return match_error(m, "Cannot take more than one offset");
	if (!word_number(plus + 1, offset))
		return match_error(m, "Invalid offset: '%s' is not a number", plus + 1);
	*name = arena_strndup(m->world->arena, word, (size_t)(plus - word));
	return *name ? 0 : match_no_memory(m);
}

/* ---- one attach point ---- */

int match_wrong_count(struct match *m)
{
	return match_error(m, "%s probe type requires %s arguments, found %u", m->provider->name,
			   m->provider->counts, m->nr_words);
}

static int match_provider(struct match *m)
{
	const struct provider *p = m->provider;

	if (m->nr_words < p->least || m->nr_words > p->most)
		return m->listing ? 0 : match_wrong_count(m);
	if (!m->world->trace)
		return p->match(m);
	if (!(p->flags & OFFLINE))
		return match_error(m, "a recording cannot give '%s': it has no %s probes", m->text,
				   p->name);
	switch (p->type) {
	case PT_KPROBE:
	case PT_KRETPROBE:
	case PT_UPROBE:
	case PT_URETPROBE: return match_recorded(m);
	default: return p->match(m);
	}
}

static int unknown_kind(struct match *m, const char *kind)
{
	struct suggest s = suggest_for(kind, strlen(kind));

	for (size_t i = 0; i < NR_PROVIDERS; i++)
		suggest_try(&s, providers[i].name);
	match_error(m, "Invalid probe type: %s", kind);
	if (suggest_best(&s))
		match_hint(m, "did you mean '%s'?", suggest_best(&s));
	return -EINVAL;
}

/* A pattern for the kind matches kinds that list probes of the kernel or of a program. */
static int each_provider(struct match *m, const char *kind, bool *any)
{
	const bool user = m->world->pid || (m->nr_words && strchr(m->word[0], '/'));
	const unsigned int wanted = user ? IN_USER : IN_KERNEL;
	struct pattern pattern;
	int ret = pattern_glob(&pattern, kind, strlen(kind), m->err);

	if (ret)
		return match_error(m, "No probe type matched for %s", kind);
	for (size_t i = 0; i < NR_PROVIDERS && (!ret || ret == -ENOENT); i++) {
		const struct provider *p = &providers[i];

		if (!(p->flags & wanted) || !pattern_match(&pattern, p->name, strlen(p->name)) ||
		    m->nr_words < p->least || m->nr_words > p->most ||
		    (m->world->trace && !(p->flags & OFFLINE)))
			continue;
		m->provider = p;
		*any = true;
		ret = match_provider(m);
	}
	pattern_free(&pattern);
	return ret;
}

static int match_kind(struct match *m, const char *kind)
{
	bool any = false;
	int ret;

	if (!is_glob(kind)) {
		m->provider = provider_named(kind);
		return m->provider ? match_provider(m) : unknown_kind(m, kind);
	}
	ret = each_provider(m, kind, &any);
	if (!any && !ret)
		return match_error(m, "No probe type matched for %s", kind);
	return ret;
}

/* Targets have pointers to words, and may outlive the syntax tree. */
static bool copy_words(struct match *m, const struct attach_point *p)
{
	struct arena *arena = m->world->arena;

	m->text = arena_strdup(arena, p->text);
	m->own_name = p->name ? arena_strdup(arena, p->name) : NULL;
	if (!m->text || (p->name && !m->own_name))
		return false;
	for (m->nr_words = 0; m->nr_words + 1 < p->nr_parts && m->nr_words < PROBE_WORDS;
	     m->nr_words++) {
		m->word[m->nr_words] = arena_strdup(arena, p->parts[m->nr_words + 1]);
		if (!m->word[m->nr_words])
			return false;
	}
	return true;
}

static int match_point(struct match *m, const struct attach_point *p)
{
	const size_t before = m->to->n;
	const uint32_t most = m->world->max_probes;
	int ret;

	if (!p->nr_parts)
		return match_error(m, "Invalid attachpoint definition");
	if (!copy_words(m, p))
		return match_no_memory(m);
	ret = match_kind(m, p->parts[0]);
	if (ret == -ENOENT && m->to->n > before)
		ret = 0; /* one kind of several had nothing */
	if (!ret && most && m->to->n - before > most)
		ret = match_error(m,
				  "Can't attach to %zu probes because it exceeds the current limit "
				  "of %u probes.",
				  m->to->n - before, most);
	return ret;
}

int probes_match(struct probe_world *w, struct source *source, const struct attach_point *p,
		 bool quiet, struct probe_targets *to)
{
	const size_t before = to->n;
	struct spur_error ignored = {0};
	struct match m = {
		.world = w,
		.quiet = quiet,
		.to = to,
		.source = source,
		.at = p->at,
		.err = &ignored,
	};
	const int ret = match_point(&m, p);

	if (ret)
		to->n = before;
	return ret;
}

/* ---- suggestions ---- */

void probes_suggest(struct probe_world *w, const struct probe_target *t, struct spur_error *err)
{
	const char *name = t->type == PT_RAWTRACEPOINT ? t->event : t->symbol;
	struct nearest near;
	size_t len = strlen(err->text);

	if (t->found || !name)
		return;
	near = nearest_to(name, strlen(name));
	if (t->type == PT_RAWTRACEPOINT)
		suggest_tracepoint(w, &near);
	else
		suggest_function(w, t, &near);
	snprintf(err->text + len, sizeof(err->text) - len, "%s", nearest_words(&near));
}

/* ---- lists ---- */

static int by_name(const void *a, const void *b)
{
	const struct probe_target *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

/* Takes "t:sched:*" apart, in place: the kind's text is returned. */
static const char *split_words(struct match *m, char *text)
{
	char *kind = text;

	while ((text = strchr(text, ':')) && m->nr_words < PROBE_WORDS) {
		*text++ = '\0';
		m->word[m->nr_words++] = text;
	}
	return kind;
}

/* A name as a pattern, so that it is searched, not assumed to exist. */
static const char *pattern_of(struct match *m, const char *word)
{
	char *pattern = arena_alloc(m->world->arena, strlen(word) + 3);

	if (pattern)
		snprintf(pattern, strlen(word) + 3, "[%c]%s", word[0], word + 1);
	return pattern;
}

/* A single word is searched in all names. */
static int list_pattern(struct match *m, char *text)
{
	const char *kind = split_words(m, text);

	/* A file that does not exist: no probe has such a name. */
	if (!m->nr_words && strchr(kind, '/') && !is_glob(kind))
		return 0;
	if (!m->nr_words && !provider_named(kind)) {
		m->word[m->nr_words] = is_glob(kind) ? kind : pattern_of(m, kind);
		if (!m->word[m->nr_words++])
			return match_no_memory(m);
		kind = "*";
	}
	return match_kind(m, kind);
}

static int report_list(const struct probe_targets *found,
		       int (*each)(void *arg, const struct probe_target *t), void *arg)
{
	if (found->n)
		qsort(found->at, found->n, sizeof(*found->at), by_name);
	for (size_t i = 0; i < found->n; i++) {
		int ret;

		if (i && !strcmp(found->at[i]->name, found->at[i - 1]->name))
			continue;
		ret = each(arg, found->at[i]);
		if (ret)
			return ret;
	}
	return 0;
}

int probes_list(struct probe_world *w, const char *pattern,
		int (*each)(void *arg, const struct probe_target *t), void *arg,
		struct spur_error *err)
{
	struct probe_targets found = {0};
	struct match m = {
		.world = w,
		.text = pattern,
		.listing = true,
		.to = &found,
		.err = err,
	};
	char *text = arena_strdup(w->arena, *pattern ? pattern : "*");
	int ret;

	if (!text)
		return error_set(err, -ENOMEM, "out of memory for the list of probes");
	ret = list_pattern(&m, text);
	if (!ret || ret == -ENOENT)
		ret = report_list(&found, each, arg);
	vec_free(&found);
	return ret;
}

/* Probes in detail, one line for each field of an event or parameter that a script can use. */

#define LINE_LIMIT  65536
#define ARENA_LIMIT (16 << 20)

/* ---- the kernel's functions ---- */

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

/* The text after the name and its parenthesis; NULL if the text is not as expected. */
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
	buf_init(&text, LINE_LIMIT);
	if (btf_prototype(btf, t->symbol, &text))
		s = parameters(buf_str(&text), t->symbol);
	if (s && !strncmp(s, "void)", 5))
		s = strchr(s, ')');
	for (size_t i = 0; s && *s && *s != ')'; i++) {
		const size_t len = parameter_len(s);

		/* The first argument of an iterator is not for scripts. */
		if (i || t->type != PT_ITER)
			put_declaration(s, len, to);
		s += len;
		s += strspn(s, ", ");
	}
	if (s && (t->type == PT_FEXIT || t->type == PT_KRETPROBE))
		put_return(text.data, t->symbol, to);
	buf_free(&text);
}

/* The parameters of a raw tracepoint, as its declaration has them. */
static void describe_raw(struct probe_world *w, const struct probe_target *t, struct buf *to)
{
	const struct btf *btf = t->module ? world_btf_of(w, t->module) : world_btf(w);
	struct arena scratch;
	struct buf type;
	struct proto p;

	if (!btf)
		return;
	arena_init(&scratch, ARENA_LIMIT);
	buf_init(&type, LINE_LIMIT);
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

/* ---- programs' functions ---- */

/* Here the stars are at the type: "struct buf* out". */
static void put_parameters(const struct proto *p, struct buf *to)
{
	struct buf type;

	buf_init(&type, LINE_LIMIT);
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

static bool is_of_function(enum probe_type t)
{
	return t == PT_KPROBE || t == PT_KRETPROBE || t == PT_FENTRY || t == PT_FEXIT ||
	       t == PT_ITER;
}

void probe_describe(struct probe_world *w, const struct probe_target *t, struct buf *to)
{
	if (t->system && t->event)
		describe_event(w, t, to);
	else if (t->type == PT_RAWTRACEPOINT && t->event)
		describe_raw(w, t, to);
	else if (t->type == PT_UPROBE && t->path && t->address)
		describe_user(w, t, to);
	else if (is_of_function(t->type) && t->symbol && !t->bpf_prog)
		describe_kernel(w, t, to);
}
