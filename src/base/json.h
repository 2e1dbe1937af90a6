/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writing JSON and CSV text into a buffer.
 *
 * A struct json_writer puts commas where they belong. The functions for values return nothing;
 * those for a key return the writer, so that a member is one line:
 *
 *	struct json_writer w = {&buf};
 *
 *	json_object(&w);
 *	json_put_text(json_key(&w, "comm"), comm);
 *	json_put_u64(json_key(&w, "pid"), pid);
 *	json_array(json_key(&w, "cpus"));
 *	...
 *	json_end_array(&w);
 *	json_end_object(&w);
 *
 * The caller must close every bracket and give every member a key.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stddef.h>

#include "base/buf.h"

/*
 * A JSON string with its quotes. Control characters are escaped. Bytes that are not UTF-8 become
 * the characters of the same number, so that the result is always valid.
 */
void buf_json_string(struct buf *b, const char *s, size_t n);

/* One CSV cell (RFC 4180): quoted if necessary, and always UTF-8, like strings of JSON. */
void buf_csv_cell(struct buf *b, const char *s, size_t n);

struct json_writer {
	struct buf *out;
	bool comma;  /* a value has been written, so the next one needs a comma before it */
	bool spaced; /* a space follows each comma and colon, for people who read it */
};

/*
 * Writes the comma that is due before the next value or key. For callers that write to `out`
 * directly.
 */
static inline void json_separate(struct json_writer *w)
{
	if (w->comma)
		buf_puts(w->out, w->spaced ? ", " : ",");
	w->comma = true;
}

static inline void json_open(struct json_writer *w, char bracket)
{
	json_separate(w);
	buf_putc(w->out, bracket);
	w->comma = false;
}

static inline void json_close(struct json_writer *w, char bracket)
{
	buf_putc(w->out, bracket);
	w->comma = true;
}

static inline void json_object(struct json_writer *w)
{
	json_open(w, '{');
}

static inline void json_end_object(struct json_writer *w)
{
	json_close(w, '}');
}

static inline void json_array(struct json_writer *w)
{
	json_open(w, '[');
}

static inline void json_end_array(struct json_writer *w)
{
	json_close(w, ']');
}

/* Begins a new line before the next value or key, after the comma that it may need. */
static inline void json_newline(struct json_writer *w)
{
	buf_puts(w->out, w->comma ? ",\n" : "\n");
	w->comma = false;
}

/* The key of the next value: n bytes that need no escapes. */
struct json_writer *json_key_word(struct json_writer *w, const char *key, size_t n);

/* The same for a string. Inlined, so that the compiler computes the length of a constant. */
__attribute__((always_inline)) static inline struct json_writer *json_key(struct json_writer *w,
									  const char *key)
{
	return json_key_word(w, key, strlen(key));
}

/* The key of the next value, from any bytes. */
static inline struct json_writer *json_key_bytes(struct json_writer *w, const char *key, size_t n)
{
	json_separate(w);
	buf_json_string(w->out, key, n);
	buf_puts(w->out, w->spaced ? ": " : ":");
	w->comma = false;
	return w;
}

static inline void json_put_bytes(struct json_writer *w, const char *s, size_t n)
{
	json_separate(w);
	buf_json_string(w->out, s, n);
}

/* A string, or null where there is none. */
static inline void json_put_text(struct json_writer *w, const char *s)
{
	json_separate(w);
	if (s)
		buf_json_string(w->out, s, strlen(s));
	else
		buf_put(w->out, "null", 4);
}

static inline void json_put_u64(struct json_writer *w, uint64_t v)
{
	json_separate(w);
	buf_u64(w->out, v);
}

static inline void json_put_i64(struct json_writer *w, int64_t v)
{
	json_separate(w);
	buf_i64(w->out, v);
}

/* null if the number is the one that means "no value". */
static inline void json_put_i64_or_null(struct json_writer *w, int64_t v, int64_t none)
{
	if (v == none)
		json_put_text(w, NULL);
	else
		json_put_i64(w, v);
}

static inline void json_put_null(struct json_writer *w)
{
	json_put_text(w, NULL);
}

static inline void json_put_bool(struct json_writer *w, bool v)
{
	json_separate(w);
	buf_puts(w->out, v ? "true" : "false");
}

/* Text that is JSON already: true, null, a number in another format. */
static inline void json_put_raw(struct json_writer *w, const char *json)
{
	json_separate(w);
	buf_puts(w->out, json);
}

/* The same, formatted: json_put_printf(w, "%.3f", ms). */
void json_put_printf(struct json_writer *w, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
