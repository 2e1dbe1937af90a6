// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Running a program over a record. Nothing is written but the pointer to the program, once per
 * event, when its first record comes.
 */
#include "event/filter_tree.h"

#include <string.h>

#include "base/num.h"
#include "event/names.h"

struct subject {
	const struct events *events;
	struct comm_overlay *learned;
	const struct spur_record *record;
};

/* ---- numbers --------------------------------------------------------------------------- */

uint64_t filter_calculate(enum filter_op op, uint64_t a, uint64_t b)
{
	switch (op) {
	case OP_BIT_OR: return a | b;
	case OP_BIT_XOR: return a ^ b;
	case OP_BIT_AND: return a & b;
	case OP_SHIFT_LEFT: return b < 64 ? a << b : 0;
	case OP_SHIFT_RIGHT: return b < 64 ? a >> b : 0;
	case OP_ADD: return a + b;
	case OP_SUB: return a - b;
	case OP_MUL: return a * b;
	case OP_DIV: return b ? a / b : 0;
	case OP_MOD: return b ? a % b : 0;
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
	case OP_EQ: return a == b;
	case OP_NE: return a != b;
	case OP_LT: return (a ^ sign) < (b ^ sign);
	case OP_LE: return (a ^ sign) <= (b ^ sign);
	case OP_GT: return (a ^ sign) > (b ^ sign);
	case OP_GE: return (a ^ sign) >= (b ^ sign);
	case OP_BIT_AND: return a & b;
	default: return false;
	}
}

static bool test_values(const struct subject *s, const struct test *t)
{
	/* A tree of that height needs one place more than it is high; two of them stand here. */
	uint64_t stack[FILTER_MAX_DEPTH + 3];
	const struct values *v = t->values;
	size_t n = 0;

	for (const struct step *step = v->steps; step < v->steps + v->n; step++) {
		switch (step->op) {
		case OP_LOAD_NUMBER: stack[n++] = step->number; break;
		case OP_LOAD_CPU: stack[n++] = s->record->cpu; break;
		case OP_LOAD_FIELD:
			stack[n++] = load(s, step->offset, step->size, step->is_signed);
			break;
		default: n--; stack[n - 1] = filter_calculate(step->op, stack[n - 1], stack[n]);
		}
	}
	return compare(t->op, stack[0], stack[1], t->signed_compare);
}

/* ---- texts ----------------------------------------------------------------------------- */

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
		       (test->op == OP_NOT_REGEX);
	right = get_text(s, &test->right, right_space);
	return (left.len == right.len && !memcmp(left.at, right.at, left.len)) ==
	       (test->op == OP_EQ);
}

/* ---- programs -------------------------------------------------------------------------- */

static inline bool run_test(const struct subject *s, const struct test *t)
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
	const struct test *t = prog->tests;
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
