// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Filters: adding rules and finding the events they are about, running them over records, and
 * showing them to people.
 *
 * filter_add() works on a rule that becomes part of the filter only at its end, so that a refused
 * text leaves nothing but its mistake. f->programs holds &filter_unbound for every event
 * that a rule is about until its first record comes.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/num.h"
#include "base/suggest.h"
#include "event/filter.h"
#include "event/filter/tree.h"
#include "event/names.h"

/* Trees, names and programs of one filter; a hostile text ends here. */
#define MEMORY_LIMIT ((size_t)256 * 1024 * 1024)

struct filter *filter_new(struct events *ev)
{
	struct filter *f = calloc(1, sizeof(*f));
	struct filter_rules *rules = calloc(1, sizeof(*rules));
	const struct filter_program **programs = calloc(ev->nr ? ev->nr : 1, sizeof(*programs));

	if (!f || !rules || !programs || pthread_mutex_init(&rules->lock, NULL)) {
		free(programs);
		free(rules);
		free(f);
		return NULL;
	}
	arena_init(&rules->arena, MEMORY_LIMIT);
	*f = (struct filter){
		.events = ev, .programs = programs, .nr_events = ev->nr, .rules = rules};
	return f;
}

static void rule_free(struct filter_rule *rule)
{
	vec_free(&rule->events);
	free(rule->wanted);
	rule->wanted = NULL;
}

void filter_free(struct filter *f)
{
	if (!f)
		return;
	vec_each (rule, &f->rules->list)
		rule_free(rule);
	vec_each (pattern, &f->rules->patterns)
		pattern_free(*pattern);
	vec_free(&f->rules->list);
	vec_free(&f->rules->patterns);
	arena_free(&f->rules->arena);
	pthread_mutex_destroy(&f->rules->lock);
	free(f->rules);
	free(f->programs);
	free(f);
}

struct filter_mistake filter_mistake(const struct filter *f)
{
	return f->rules->mistake;
}

bool filter_failed(const struct filter *f)
{
	return __atomic_load_n(&f->rules->failed, __ATOMIC_RELAXED);
}

int filter_fail(struct filter_parser *p, enum filter_reason reason, size_t pos, size_t len,
		const char *fmt, ...)
{
	char message[300];
	va_list ap;

	p->filter->rules->mistake =
		(struct filter_mistake){.reason = reason, .offset = pos, .len = len ? len : 1};
	va_start(ap, fmt);
	vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	return error_set(p->err, -EINVAL, "filter, column %zu: %s", pos + 1, message);
}

int filter_no_memory(struct filter_parser *p)
{
	p->filter->rules->mistake = (struct filter_mistake){.reason = FILTER_NO_MEMORY, .len = 1};
	return error_sys(p->err, -ENOMEM, "filter");
}

/* ---- the events ------------------------------------------------------------------------ */

/* A part of the text, with blanks at its ends removed. */
struct span {
	const char *at;
	size_t len;
};

static struct span trim(const char *s, size_t len)
{
	while (len && strchr(" \t\n\v\f\r", *s))
		s++, len--;
	while (len && strchr(" \t\n\v\f\r", s[len - 1]))
		len--;
	return (struct span){s, len};
}

/* Takes what is in front of the next '/', skipping empty parts; false at the end. */
static bool next_part(const char **s, const char *end, struct span *part)
{
	const char *slash;

	while (*s < end && **s == '/')
		(*s)++;
	if (*s == end)
		return false;
	slash = memchr(*s, '/', (size_t)(end - *s));
	slash = slash ? slash : end;
	*part = trim(*s, (size_t)(slash - *s));
	*s = slash;
	return true;
}

static int compile_name(struct filter_parser *p, struct pattern *pattern, struct span name)
{
	struct spur_error why = {0};
	struct buf re;
	int ret;

	/* Put together first, as libtraceevent does: in "a\|b" each anchor holds for one. */
	buf_init(&re, PATTERN_MAX + 1);
	buf_putc(&re, '^');
	buf_put(&re, name.at, name.len);
	buf_putc(&re, '$');
	ret = buf_full(&re) ? error_set(&why, -EINVAL, "it is too long")
			    : pattern_regex(pattern, re.data, re.len, &why);
	buf_free(&re);
	if (ret)
		return filter_fail(p, FILTER_BAD_EVENT_NAME, (size_t)(name.at - p->reader.text),
				   name.len, "this name is no valid regular expression: %s",
				   why.text);
	return 0;
}

static bool is_match(const struct pattern *p, const char *s)
{
	return pattern_match(p, s, strlen(s));
}

/* Says that no event has that name, and what might have been meant. */
static int no_event(struct filter_parser *p, struct span system, struct span name,
		    struct span whole)
{
	const struct events *ev = p->filter->events;
	struct suggest near = suggest_for(name.at, name.len);
	size_t pos = (size_t)(whole.at - p->reader.text);
	int len = (int)(whole.len < 60 ? whole.len : 60);

	if (memmem(whole.at, whole.len, "==", 2) || memmem(whole.at, whole.len, "=~", 2))
		return filter_fail(p, FILTER_NO_EVENT, pos, whole.len,
				   "no event is named '%.*s'; a filter starts with its events: "
				   "'EVENT: FIELD == VALUE'",
				   len, whole.at);
	for (size_t i = 0; i < ev->nr; i++) {
		suggest_try(&near, ev->list[i]->name);
		if (!system.len)
			suggest_try(&near, ev->list[i]->system);
	}
	if (suggest_best(&near))
		return filter_fail(p, FILTER_NO_EVENT, pos, whole.len,
				   "no event is named '%.*s'; did you mean '%.60s'?", len, whole.at,
				   suggest_best(&near));
	return filter_fail(p, FILTER_NO_EVENT, pos, whole.len, "no event is named '%.*s'", len,
			   whole.at);
}

/* Adds the events that match; returns how many, or -ENOMEM. */
static long add_matching(struct filter_parser *p, const struct pattern *system,
			 const struct pattern *name)
{
	const struct events *ev = p->filter->events;
	long found = 0;

	for (uint32_t i = 0; i < p->filter->nr_events; i++) {
		const struct event *e = ev->list[i];
		bool by_name = is_match(name, e->name);

		if (system ? !by_name || !is_match(system, e->system)
			   : !by_name && !is_match(name, e->system))
			continue;
		if (!vec_add(&p->rule->events, &i))
			return filter_no_memory(p);
		p->rule->wanted[i / 64] |= (uint64_t)1 << (i % 64);
		found++;
	}
	return found;
}

/* One name of the list: "EVENT", "SYSTEM" or "SYSTEM/EVENT". */
static int find_one(struct filter_parser *p, const char *text, size_t len)
{
	const char *end = text + len;
	struct span whole = trim(text, len), first, second = {0}, rest;
	struct pattern system = {0}, name = {0};
	long found = 0;
	int ret;

	if (!next_part(&text, end, &first))
		return filter_fail(p, FILTER_NO_NAME, (size_t)(whole.at - p->reader.text), 1,
				   "the name of an event is missing");
	next_part(&text, end, &second);
	if (next_part(&text, end, &rest))
		return filter_fail(p, FILTER_BAD_EVENT_NAME, (size_t)(rest.at - p->reader.text),
				   rest.len, "an event is EVENT or SYSTEM/EVENT");
	ret = compile_name(p, &name, second.at ? second : first);
	if (!ret && second.at)
		ret = compile_name(p, &system, first);
	if (!ret) {
		found = add_matching(p, second.at ? &system : NULL, &name);
		ret = found < 0 ? (int)found : 0;
	}
	pattern_free(&system);
	pattern_free(&name);
	if (!ret && !found)
		ret = no_event(p, second.at ? first : second, second.at ? second : first, whole);
	return ret;
}

/* Finds the events that text[0, len) names and adds them to the rule. */
static int filter_find_events(struct filter_parser *p, const char *text, size_t len)
{
	const char *end = text + len;
	int ret;

	for (;;) {
		const char *comma = memchr(text, ',', (size_t)(end - text));

		ret = find_one(p, text, (size_t)((comma ? comma : end) - text));
		if (ret || !comma)
			return ret;
		text = comma + 1;
	}
}

/* ---- adding ---------------------------------------------------------------------------- */

static int read_rule(struct filter_parser *p, size_t len)
{
	const char *text = p->rule->text, *colon = strchr(text, ':');
	size_t words = (p->filter->nr_events + 63) / 64;
	int ret;

	p->rule->wanted = calloc(words ? words : 1, sizeof(uint64_t));
	if (!p->rule->wanted)
		return filter_no_memory(p);
	ret = filter_find_events(p, text, colon ? (size_t)(colon - text) : len);
	if (ret || !colon)
		return ret;
	p->reader.pos = (size_t)(colon + 1 - text);
	p->rule->expr = filter_parse(p);
	if (!p->rule->expr)
		return p->filter->rules->mistake.reason == FILTER_NO_MEMORY ? -ENOMEM : -EINVAL;
	return filter_check_words(p, p->rule->expr);
}

int filter_add(struct filter *f, const char *text, struct spur_error *err)
{
	struct filter_rule rule = {0};
	struct filter_parser p = {.filter = f, .rule = &rule, .err = err};
	size_t len = strnlen(text, FILTER_MAX_TEXT + 1);
	int ret;

	f->rules->mistake = (struct filter_mistake){0};
	if (len > FILTER_MAX_TEXT)
		return filter_fail(&p, FILTER_SYNTAX, FILTER_MAX_TEXT, 1,
				   "a filter has at most %d bytes", FILTER_MAX_TEXT);
	rule.text = arena_strndup(&f->rules->arena, text, len);
	if (!rule.text)
		return filter_no_memory(&p);
	p.reader = (struct word_reader){.text = rule.text, .len = len, .arena = &f->rules->arena};
	ret = read_rule(&p, len);
	if (!ret && !vec_add(&f->rules->list, &rule))
		ret = filter_no_memory(&p);
	if (ret) {
		rule_free(&rule);
		return ret;
	}
	f->any = true;
	for (size_t i = 0; i < rule.events.n; i++)
		f->programs[rule.events.at[i]] = &filter_unbound;
	return 0;
}

/* ---- making programs ---- */

/*
 * A program is a list of tests in the order of the text. Each says which test is next when it is
 * true and when it is false; that is always a later one, so that a program ends.
 */

const struct filter_program filter_unbound;

static uint32_t count_tests(const struct filter_bound *t)
{
	uint32_t n = t->kind == BOUND_TEST;

	for (size_t i = 0; i < t->n; i++)
		n += count_tests(t->items[i]);
	return n;
}

/*
 * Puts a term's tests into the program in front of what is there already, since a test has to know
 * where those after it start. Returns where the term starts.
 */
static uint32_t emit(struct filter_program *prog, uint32_t *start, const struct filter_bound *t,
		     uint32_t on_true, uint32_t on_false)
{
	switch (t->kind) {
	case BOUND_FALSE: return on_false;
	case BOUND_TRUE: return on_true;
	case BOUND_NOT: return emit(prog, start, t->items[0], on_false, on_true);
	case BOUND_TEST:
		prog->tests[--*start] = t->test;
		prog->tests[*start].on_true = on_true;
		prog->tests[*start].on_false = on_false;
		return *start;
	case BOUND_CHAIN: break;
	}
	/* True goes on with the next term after &&, false with the next one after ||. */
	for (size_t i = t->n; i-- > 0;) {
		uint32_t entry = emit(prog, start, t->items[i], on_true, on_false);

		if (!i)
			return entry;
		if (t->ops[i] == FILTER_OP_AND)
			on_true = entry;
		else
			on_false = entry;
	}
	return on_false;
}

/* Binds all rules about an event and makes a program of them. NULL without memory. */
static const struct filter_program *filter_compile(const struct filter *f, struct event *e)
{
	struct filter_program *prog = NULL;
	struct filter_bound *all;
	struct arena memory;
	uint32_t n;

	arena_init(&memory, f->rules->arena.limit);
	all = filter_bind_all(f, e, &memory);
	if (all) {
		n = count_tests(all);
		prog = arena_alloc(&f->rules->arena, sizeof(*prog) + n * sizeof(prog->tests[0]));
	}
	if (prog) {
		uint32_t start = n;

		prog->n = n;
		prog->always = emit(prog, &start, all, GO_MATCH, GO_MISS) == GO_MATCH;
	}
	arena_free(&memory);
	return prog;
}

/* ---- running programs ---- */

/* What a program runs over. Nothing is written but the pointer to an event's program, once. */
struct subject {
	const struct events *events;
	struct comm_overlay *learned;
	const struct spur_record *record;
};

uint64_t filter_calculate(enum filter_op op, uint64_t a, uint64_t b)
{
	switch (op) {
	case FILTER_OP_BIT_OR: return a | b;
	case FILTER_OP_BIT_XOR: return a ^ b;
	case FILTER_OP_BIT_AND: return a & b;
	case FILTER_OP_SHIFT_LEFT: return b < 64 ? a << b : 0;
	case FILTER_OP_SHIFT_RIGHT: return b < 64 ? a >> b : 0;
	case FILTER_OP_ADD: return a + b;
	case FILTER_OP_SUB: return a - b;
	case FILTER_OP_MUL: return a * b;
	case FILTER_OP_DIV: return b ? a / b : 0;
	case FILTER_OP_MOD: return b ? a % b : 0;
	default: return 0;
	}
}

static inline uint64_t load(const struct subject *s, uint32_t offset, uint8_t size, bool is_signed)
{
	return is_signed ? (uint64_t)record_int(s->events, s->record, offset, size)
			 : record_uint(s->events, s->record, offset, size);
}

static inline bool compare(enum filter_op op, uint64_t a, uint64_t b, bool is_signed)
{
	/* With the smallest signed number moved to 0, signed numbers compare like unsigned. */
	uint64_t sign = is_signed ? (uint64_t)1 << 63 : 0;

	switch (op) {
	case FILTER_OP_EQ: return a == b;
	case FILTER_OP_NE: return a != b;
	case FILTER_OP_LT: return (a ^ sign) < (b ^ sign);
	case FILTER_OP_LE: return (a ^ sign) <= (b ^ sign);
	case FILTER_OP_GT: return (a ^ sign) > (b ^ sign);
	case FILTER_OP_GE: return (a ^ sign) >= (b ^ sign);
	case FILTER_OP_BIT_AND: return a & b;
	default: return false;
	}
}

static bool test_values(const struct subject *s, const struct filter_test *t)
{
	/* A tree of that height needs one place more than it is high; two of them stand here. */
	uint64_t stack[FILTER_MAX_DEPTH + 3];
	const struct filter_values *v = t->values;
	size_t n = 0;

	for (const struct filter_step *step = v->steps; step < v->steps + v->n; step++) {
		switch (step->op) {
		case FILTER_OP_LOAD_NUMBER: stack[n++] = step->number; break;
		case FILTER_OP_LOAD_CPU: stack[n++] = s->record->cpu; break;
		case FILTER_OP_LOAD_FIELD:
			stack[n++] = load(s, step->offset, step->size, step->is_signed);
			break;
		default: n--; stack[n - 1] = filter_calculate(step->op, stack[n - 1], stack[n]);
		}
	}
	return compare(t->op, stack[0], stack[1], t->signed_compare);
}

#define HEX_TEXT (2 + NUM_MAX_HEX)

struct text {
	const char *at;
	size_t len;
};

static struct text field_text(const struct subject *s, const struct event_field *f)
{
	size_t size;
	const char *at = (const char *)field_bytes(s->events, f, s->record, &size);

	return at ? (struct text){at, strnlen(at, size)} : (struct text){"", 0};
}

static struct text comm_text(const struct subject *s)
{
	int pid = events_record_pid(s->events, s->record);
	struct text t = {"", 0};

	if (s->learned)
		t.at = overlay_find(s->learned, pid, &t.len);
	else if (s->events->comms)
		t.at = comms_find(s->events->comms, pid, &t.len);
	return t;
}

static struct text number_text(const struct subject *s, const struct text_source *source,
			       char space[HEX_TEXT])
{
	const struct event_field *f = source->field;
	uint64_t v = 0;

	field_number(s->events, f, s->record, &v);
	if (source->kind == TEXT_FUNCTION && s->events->symbols) {
		const struct symbol *symbol = symbols_find(s->events->symbols, v);

		if (symbol)
			return (struct text){symbol->name, symbol->len};
	}
	space[0] = '0';
	space[1] = 'x';
	return (struct text){space, 2 + num_hex(space + 2, v)};
}

static struct text get_text(const struct subject *s, const struct text_source *source,
			    char space[HEX_TEXT])
{
	switch (source->kind) {
	case TEXT_LITERAL: return (struct text){source->literal, source->len};
	case TEXT_FIELD: return field_text(s, source->field);
	case TEXT_COMM: return comm_text(s);
	default: return number_text(s, source, space);
	}
}

static bool test_text(const struct subject *s, const struct text_test *test)
{
	char left_space[HEX_TEXT], right_space[HEX_TEXT];
	struct text left = get_text(s, &test->left, left_space), right;

	if (test->pattern)
		return pattern_match(test->pattern, left.at, left.len) !=
		       (test->op == FILTER_OP_NOT_REGEX);
	right = get_text(s, &test->right, right_space);
	return (left.len == right.len && !memcmp(left.at, right.at, left.len)) ==
	       (test->op == FILTER_OP_EQ);
}

static inline bool run_test(const struct subject *s, const struct filter_test *t)
{
	switch (t->kind) {
	case TEST_FIELD:
		return compare(t->op, load(s, t->offset, t->size, t->is_signed), t->number,
			       t->signed_compare);
	case TEST_CPU: return compare(t->op, s->record->cpu, t->number, t->signed_compare);
	case TEST_VALUES: return test_values(s, t);
	default: return test_text(s, t->text);
	}
}

static bool run(const struct filter_program *prog, const struct subject *s)
{
	const struct filter_test *t = prog->tests;
	uint32_t go;

	if (!prog->n)
		return prog->always;
	for (;;) {
		go = run_test(s, t) ? t->on_true : t->on_false;
		if (go >= GO_MISS)
			return go == GO_MATCH;
		t = &prog->tests[go];
	}
}

static const struct filter_program *bind_late(const struct filter *f, struct event *e)
{
	static const struct filter_program never;
	const struct filter_program **slot = &f->programs[e->index], *prog;
	struct filter_rules *rules = f->rules;

	pthread_mutex_lock(&rules->lock);
	prog = *slot;
	if (prog == &filter_unbound) {
		prog = filter_compile(f, e);
		if (!prog) {
			prog = &never;
			__atomic_store_n(&rules->failed, true, __ATOMIC_RELAXED);
		}
		__atomic_store_n(slot, prog, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&rules->lock);
	return prog;
}

enum filter_result filter_match(const struct filter *f, struct comm_overlay *learned,
				struct event *e, const struct spur_record *r)
{
	const struct subject s = {.events = f->events, .learned = learned, .record = r};
	const struct filter_program *prog;

	if (!f->any)
		return FILTER_NONE;
	if (e->index >= f->nr_events)
		return FILTER_NOEXIST;
	prog = __atomic_load_n(&f->programs[e->index], __ATOMIC_ACQUIRE);
	if (!prog)
		return FILTER_NOEXIST;
	if (prog == &filter_unbound)
		prog = bind_late(f, e);
	return run(prog, &s) ? FILTER_MATCH : FILTER_MISS;
}

/* ---- what became of a filter ----------------------------------------------------------- */

static void show_value(const struct filter_node *n, struct buf *out)
{
	bool nested;

	switch (n->kind) {
	case NODE_NUMBER: buf_i64(out, (int64_t)n->number); break;
	case NODE_FIELD:
		buf_put(out, n->text, n->text_len);
		if (n->function)
			buf_puts(out, ".function");
		break;
	case NODE_TEXT:
		buf_putc(out, '"');
		buf_put(out, n->text, n->text_len);
		buf_putc(out, '"');
		break;
	case NODE_COMPLEMENT:
		buf_putc(out, '~');
		show_value(n->left, out);
		break;
	default:
		nested = n->left->kind == NODE_ARITHMETIC;
		buf_puts(out, nested ? "(" : "");
		show_value(n->left, out);
		buf_puts(out, nested ? ") " : " ");
		buf_puts(out, filter_op_text(n->op));
		nested = n->right->kind == NODE_ARITHMETIC;
		buf_puts(out, nested ? " (" : " ");
		show_value(n->right, out);
		buf_puts(out, nested ? ")" : "");
	}
}

/* Chains read from left to right: "((a) && (b)) || (c)". */
static void show_bound(const struct filter_bound *t, struct buf *out)
{
	switch (t->kind) {
	case BOUND_FALSE: buf_puts(out, "FALSE"); break;
	case BOUND_TRUE: buf_puts(out, "TRUE"); break;
	case BOUND_TEST: show_value(t->node, out); break;
	case BOUND_NOT:
		buf_puts(out, "!(");
		show_bound(t->items[0], out);
		buf_putc(out, ')');
		break;
	case BOUND_CHAIN:
		buf_fill(out, '(', t->n - 1);
		show_bound(t->items[0], out);
		for (size_t i = 1; i < t->n; i++) {
			buf_printf(out, ") %s (", filter_op_text(t->ops[i]));
			show_bound(t->items[i], out);
			buf_putc(out, ')');
		}
		break;
	}
}

static void show_event(const struct filter *f, struct filter_rule *rule, struct event *e,
		       struct buf *out)
{
	struct arena memory;
	struct filter_bound *t;

	arena_init(&memory, f->rules->arena.limit);
	t = filter_bind(f, rule, e, &memory);
	if (t) {
		buf_printf(out, " '%s: ", e->name);
		show_bound(t, out);
		buf_puts(out, "'\n");
	}
	arena_free(&memory);
}

static int by_id(const void *a, const void *b)
{
	const struct event *const *x = a, *const *y = b;

	return ((*x)->id > (*y)->id) - ((*x)->id < (*y)->id);
}

/* The last name's events come first, and of each name those with the highest ids. */
static void show_rule(const struct filter *f, struct filter_rule *rule, struct buf *out)
{
	struct event **list = calloc(rule->events.n, sizeof(*list));
	size_t start = 0;

	if (!list)
		return;
	for (size_t i = 0; i < rule->events.n; i++) {
		list[i] = f->events->list[rule->events.at[i]];
		/* Within one name, indices increase. */
		if (i && rule->events.at[i] <= rule->events.at[i - 1]) {
			qsort(list + start, i - start, sizeof(*list), by_id);
			start = i;
		}
	}
	qsort(list + start, rule->events.n - start, sizeof(*list), by_id);
	for (size_t i = rule->events.n; i-- > 0;)
		show_event(f, rule, list[i], out);
	free(list);
}

void filter_show(const struct filter *f, struct buf *out)
{
	pthread_mutex_lock(&f->rules->lock);
	vec_each (rule, &f->rules->list)
		show_rule(f, rule, out);
	pthread_mutex_unlock(&f->rules->lock);
}
