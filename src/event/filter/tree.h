/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Private to src/event: event filters. Words, the syntax tree, and what is made of it for an event:
 *
 *	text --filter_parse()--> nodes --filter_bind()--> bound tests --filter_compile()--> program
 *
 * Nodes know names, bound tests know offsets. A node's height is at most FILTER_MAX_DEPTH, which
 * bounds every recursion over a tree. Nodes live in the filter's arena and never change.
 */
#ifndef EVENT_FILTER_TREE_H
#define EVENT_FILTER_TREE_H

#include <pthread.h>

#include "base/arena.h"
#include "base/pattern.h"
#include "base/vec.h"
#include "event/filter.h"

enum filter_op {
	FILTER_OP_NONE,
	FILTER_OP_AND,
	FILTER_OP_OR,
	FILTER_OP_NOT,
	FILTER_OP_EQ,
	FILTER_OP_NE,
	FILTER_OP_LT,
	FILTER_OP_LE,
	FILTER_OP_GT,
	FILTER_OP_GE,
	FILTER_OP_REGEX,
	FILTER_OP_NOT_REGEX,
	FILTER_OP_TILDE, /* between values a glob, in front of one its complement */
	FILTER_OP_BIT_OR,
	FILTER_OP_BIT_XOR,
	FILTER_OP_BIT_AND,
	FILTER_OP_SHIFT_LEFT,
	FILTER_OP_SHIFT_RIGHT,
	FILTER_OP_ADD,
	FILTER_OP_SUB,
	FILTER_OP_MUL,
	FILTER_OP_DIV,
	FILTER_OP_MOD,
	FILTER_OP_DOT,
	FILTER_OP_LOAD_NUMBER, /* only in programs */
	FILTER_OP_LOAD_FIELD,
	FILTER_OP_LOAD_CPU,
};

static inline bool op_is_compare(enum filter_op op)
{
	return op >= FILTER_OP_EQ && op <= FILTER_OP_TILDE;
}

static inline bool op_is_arithmetic(enum filter_op op)
{
	return op >= FILTER_OP_BIT_OR && op <= FILTER_OP_MOD;
}

/* How an operator is written. */
const char *filter_op_text(enum filter_op op);

/* What an operator of numbers yields: 0 where mathematics has no answer. */
uint64_t filter_calculate(enum filter_op op, uint64_t a, uint64_t b);

/* ---- words ----------------------------------------------------------------------------- */

enum word_kind {
	FILTER_WORD_END,
	FILTER_WORD_NUMBER,
	FILTER_WORD_NAME,
	FILTER_WORD_TEXT,
	FILTER_WORD_OP,
	FILTER_WORD_OPEN,
	FILTER_WORD_CLOSE,
	FILTER_WORD_COMMA,
	FILTER_WORD_BAD,
};

struct filter_word {
	enum word_kind kind;
	enum filter_op op;
	size_t pos, len;  /* in the filter's text, quotes included */
	const char *text; /* of a text or name; of a bad word, what is wrong with it */
	size_t text_len;
	bool single; /* a text in single quotes */
	uint64_t number;
	enum filter_reason reason; /* of a bad word */
};

struct word_reader {
	const char *text;
	size_t len;
	size_t pos;
	struct arena *arena; /* for texts put together of several */
};

/* ---- the syntax tree ------------------------------------------------------------------- */

enum filter_node_kind {
	NODE_CHAIN, /* terms with && and || between them */
	NODE_NOT,
	NODE_COMPARE,
	NODE_ARITHMETIC,
	NODE_COMPLEMENT,
	NODE_NUMBER,
	NODE_TEXT,
	NODE_FIELD,
};

struct filter_node {
	enum filter_node_kind kind;
	enum filter_op op;
	uint32_t height;
	size_t pos, len; /* where it stands in the filter's text */
	union {
		struct { /* NODE_NOT and NODE_COMPLEMENT have only the left one */
			const struct filter_node *left, *right;
			const struct pattern *pattern; /* of a comparison with =~ !~ ~ */
		};
		struct {
			const struct filter_node **items;
			enum filter_op *ops; /* ops[i] stands before items[i] */
			size_t n;
		};
		struct {
			uint64_t number;
			bool negative;
		};
		struct {
			const char *text; /* a text, or a field's name; NUL-terminated */
			size_t text_len;
			bool single;   /* NODE_TEXT in single quotes */
			bool function; /* NODE_FIELD with ".function" */
		};
	};
};

static inline bool node_is_term(const struct filter_node *n)
{
	return n->kind <= NODE_COMPARE;
}

/* ---- filters --------------------------------------------------------------------------- */

enum own_field { /* does an event of the rule have a field of that name? */
		 OWN_UNKNOWN,
		 OWN_YES,
		 OWN_NO,
};

/* One filter_add(). */
struct filter_rule {
	const char *text;
	const struct filter_node *expr;	  /* NULL: every record of the events */
	vec_of(uint32_t) events;	  /* indices, in the order of the names */
	uint64_t *wanted;		  /* the same as a set */
	enum own_field own_comm, own_cpu; /* guarded by the lock */
};

struct filter_rules {
	pthread_mutex_t lock; /* guards what is bound late */
	struct arena arena;
	vec_of(struct filter_rule) list;
	vec_of(struct pattern *) patterns; /* to be freed */
	struct filter_mistake mistake;
	bool failed;
};

static inline bool rule_is_about(const struct filter_rule *rule, uint32_t index)
{
	return rule->wanted[index / 64] >> (index % 64) & 1;
}

/* What a parser knows; shared by the parts that read names and expressions. */
struct filter_parser {
	struct filter *filter;
	struct filter_rule *rule;
	struct word_reader reader;
	struct filter_word word; /* the next one */
	size_t depth;
	struct spur_error *err;
};

/* Records a mistake in the text at [pos, pos + len). Returns -EINVAL. */
int filter_fail(struct filter_parser *p, enum filter_reason reason, size_t pos, size_t len,
		const char *fmt, ...) __attribute__((format(printf, 5, 6)));
int filter_no_memory(struct filter_parser *p);

/* Reads the expression at the reader's position; NULL after a failure. */
const struct filter_node *filter_parse(struct filter_parser *p);

/* Refuses what only the events' fields can tell: a word on the right that is no field. */
int filter_check_words(struct filter_parser *p, const struct filter_node *node);

/* ---- bound tests ----------------------------------------------------------------------- */

enum text_kind {
	TEXT_LITERAL,
	TEXT_FIELD,
	TEXT_COMM,
	TEXT_FUNCTION, /* the function at the address in the field */
	TEXT_HEX,      /* the number in the field */
};

struct text_source {
	enum text_kind kind;
	const struct event_field *field;
	const char *literal;
	size_t len;
};

struct text_test {
	enum filter_op op;
	struct text_source left, right;
	const struct pattern *pattern;
};

/* One step of a calculation on a stack. */
struct filter_step {
	uint8_t op; /* enum filter_op */
	uint8_t size;
	bool is_signed;
	uint32_t offset;
	uint64_t number;
};

/* A calculation that leaves two numbers, compared with op. */
struct filter_values {
	size_t n;
	struct filter_step steps[];
};

enum test_kind {
	TEST_FIELD, /* a field with a number */
	TEST_CPU,   /* the record's CPU with a number */
	TEST_VALUES,
	TEST_TEXT,
};

/* Where a program goes on; the other values are indices of tests. */
#define GO_MATCH UINT32_MAX
#define GO_MISS	 (UINT32_MAX - 1)

struct filter_test {
	uint8_t kind;
	uint8_t op; /* a comparison, or FILTER_OP_BIT_AND: any bit in common */
	uint8_t size;
	bool is_signed; /* the field's sign is extended */
	bool signed_compare;
	uint32_t offset;
	uint32_t on_true, on_false;
	union {
		uint64_t number;
		const struct filter_values *values;
		const struct text_test *text;
	};
};

enum bound_kind {
	BOUND_FALSE,
	BOUND_TRUE,
	BOUND_TEST,
	BOUND_NOT,
	BOUND_CHAIN,
};

/* A term bound to an event's fields. Terms that are always true or false do not occur inside. */
struct filter_bound {
	enum bound_kind kind;
	const struct filter_node *node; /* BOUND_TEST: where it comes from */
	struct filter_test test;
	struct filter_bound **items; /* BOUND_NOT has one */
	enum filter_op *ops;
	size_t n;
};

/*
 * Binds a rule's expression. Bound tests go to `memory`, what they point to stays in the filter.
 * NULL without memory. The lock must be held.
 */
struct filter_bound *filter_bind(const struct filter *f, struct filter_rule *rule, struct event *e,
				 struct arena *memory);

/* All rules about the event, of which one has to be true. */
struct filter_bound *filter_bind_all(const struct filter *f, struct event *e, struct arena *memory);

/* The tests of all rules in the order in which they run; the first one starts. */
struct filter_program {
	bool always; /* the result when there are no tests */
	uint32_t n;
	struct filter_test tests[];
};

extern const struct filter_program filter_unbound;

#endif
