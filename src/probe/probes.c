// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of the kinds of probes, and what is common to matching and listing them. A new kind is
 * an entry here and a function in a probes_*.c.
 */
#include "probe/probes.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/suggest.h"
#include "base/vec.h"
#include "base/pattern.h"
#include "probe/probes_parts.h"
#include "symbols/nearest.h"

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

#define NR_PROVIDERS (sizeof(providers) / sizeof(providers[0]))

static bool has_word(const char *words, const char *word)
{
	size_t len = strlen(word);

	for (const char *s = words; len && *s; s += strspn(s, " ")) {
		size_t n = strcspn(s, " ");

		if (n == len && !memcmp(s, word, len))
			return true;
		s += n;
	}
	return false;
}

static const struct provider *provider_named(const char *name)
{
	for (size_t i = 0; i < NR_PROVIDERS; i++)
		if (!strcmp(providers[i].name, name) || has_word(providers[i].aliases, name))
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

/* ---- telling --------------------------------------------------------------------------- */

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

/* ---- targets --------------------------------------------------------------------------- */

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

/* ---- words ----------------------------------------------------------------------------- */

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

/* ---- one attach point ------------------------------------------------------------------ */

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

/* A pattern for a kind means those that list what is in the kernel, or in a program. */
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

/* Targets keep pointers to words, and may outlive the tree they come from. */
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

/* ---- what was meant -------------------------------------------------------------------- */

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

/* ---- lists ----------------------------------------------------------------------------- */

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

/* A pattern of one name only, so that it is looked for and not believed. */
static const char *pattern_of(struct match *m, const char *word)
{
	char *pattern = arena_alloc(m->world->arena, strlen(word) + 3);

	if (pattern)
		snprintf(pattern, strlen(word) + 3, "[%c]%s", word[0], word + 1);
	return pattern;
}

/* A word on its own is looked for in the names of everything. */
static int list_pattern(struct match *m, char *text)
{
	const char *kind = split_words(m, text);

	/* A file that is not there: no probe has such a name. */
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
