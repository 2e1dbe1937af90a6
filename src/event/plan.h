/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Print plans: a print format compiled into a short list of operations.
 *
 * An operation copies the literal text before a conversion and then prints the conversion's value.
 * What most formats consist of (a number at a fixed place, a string) has operations of its own that
 * touch nothing but the record; the rest evaluates the argument's tree. Running a plan allocates
 * nothing, looks nothing up by name and writes at most PLAN_MAX_TEXT bytes.
 */
#ifndef EVENT_PLAN_H
#define EVENT_PLAN_H

#include "event/event.h"
#include "event/expr.h"
#include "event/spec.h"

#define PLAN_MAX_OPS  1000
#define PLAN_MAX_TEXT (1024 * 1024)

/* Literals are copied in steps of this size, so that much may be read after their end. */
#define PLAN_TEXT_STEP 16

enum plan_kind {
	PLAN_LITERAL, /* nothing after the literal */
	PLAN_DECIMAL, /* a plain number in the record… */
	PLAN_HEX,     /* …in base 16 */
	PLAN_CHARS,   /* a plain %s of characters in the record */
	PLAN_DYNAMIC, /* a plain %s of __get_str() */
	PLAN_NUMBER,
	PLAN_STRING,
	PLAN_POINTER,
};

struct plan_op {
	uint8_t kind;  /* enum plan_kind */
	uint8_t size;  /* PLAN_DECIMAL, PLAN_HEX: bytes to load, 1, 2, 4 or 8 */
	bool negative; /* PLAN_DECIMAL: the number has a sign */
	bool after_0x; /* the literal ends with 0x */
	uint32_t literal_len;
	uint32_t offset; /* of what is printed, in the record */
	uint32_t end;	 /* of the field: a shorter record has it not */
	const char *literal;
	const struct event_field *field; /* when the argument is nothing but a field, maybe cast */
	const struct spec *spec;
	const struct expr *arg;
	const struct expr *star; /* the argument a '*' stands for, or NULL */
};

struct event_plan {
	struct plan_op *ops;
	uint32_t nr_ops;
	bool plugin_func; /* calls a function that is only known while plugins are on */

	/* trace_printk()'s binary form: the format is found by address, arguments in the record. */
	bool printk;
	const struct event_field *ip, *fmt, *buf;
};

/* One event being printed. */
struct run {
	struct event_printer *printer;
	const struct events *events;
	const struct spur_record *record;
	struct buf *out;
	size_t start; /* of this event's text in out */
	bool raw;     /* `report -R`: function names are followed by their addresses */
	bool cut;     /* a NUL was printed; the peer shows nothing after it */
};

/* False when the event's text has become too long or was cut. */
static inline bool run_goes_on(const struct run *x)
{
	return !x->cut && x->out->len - x->start < PLAN_MAX_TEXT;
}

/* Compiles a format and its arguments into e->plan; false (and *why) when they do not match. */
bool plan_compile(struct event *e, const char *format, struct expr *const *args, size_t nr_args,
		  const char **why);

void plan_run(struct run *x, const struct event_plan *plan);

/* Prints an operation's value without the literal before it. */
void plan_run_op(struct run *x, const struct plan_op *op);

/* ---- values ---- */

/* The value of an expression as a number. */
uint64_t expr_number(struct run *x, const struct expr *e);

/* An expression's text by a %s conversion. */
void expr_print(struct run *x, const struct expr *e, const struct spec *s, int star);

/* Calls a plugin's function, which may append to x->out. */
uint64_t expr_call(struct run *x, const struct expr *e);

/* An expression's text by a %p conversion and the letters after it. */
void pointer_print(struct run *x, const struct expr *e, const struct spec *s, int star);

/* A function's name for an address, by the letter of %pS, %ps, %pF or %pf. */
void pointer_print_function(struct run *x, uint64_t addr, char letter);

/* The bytes at an offset of the record and how many there are; never NULL. */
const uint8_t *run_bytes(const struct run *x, uint64_t offset, size_t *left);

/*
 * Where a __data_loc or __rel_loc field says its data are. Neither need lie in the record: use
 * run_bytes(). Data that do not fit have length 0.
 */
void run_dynamic(const struct run *x, const struct event_field *f, uint32_t *offset, uint32_t *len);

/* The length of the text at an offset, up to its NUL or the record's end. */
size_t run_text(const struct run *x, uint64_t offset, const char **text);

/* ---- trace_printk() ---- */

void printk_print(struct run *x, const struct event_plan *plan);

#endif
