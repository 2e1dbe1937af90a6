// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The output of a script's actions, and messages. Text is written as it is; in JSON each message is
 * an object on a line of its own.
 */
#include "script/show.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cursor.h"
#include "base/json.h"
#include "base/nanoseconds.h"
#include "base/safe.h"
#include "base/vec.h"
#include "code/code.h"

int output_open(struct output *o)
{
	struct output_state *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	buf_init(&s->line, SHOW_TEXT);
	buf_init(&s->text, SHOW_TEXT);
	buf_init(&s->key, SHOW_TEXT);
	o->state = s;
	return 0;
}

void output_close(struct output *o)
{
	struct output_state *s = o->state;

	if (!s)
		return;
	vec_each (f, &s->formats)
		format_free(*f);
	vec_free(&s->formats);
	buf_free(&s->line);
	buf_free(&s->text);
	buf_free(&s->key);
	users_free(s->users);
	free(s);
	o->state = NULL;
}

/* ---- messages ---- */

void output_text(struct output *o, const char *type, const char *text, size_t len)
{
	if (!o->json && o->clean)
		buf_put_safe(o->to, text, len);
	else if (!o->json)
		buf_put(o->to, text, len);
	if (!o->json)
		return;
	buf_puts(o->to, "{\"type\": \"");
	buf_puts(o->to, type);
	buf_puts(o->to, "\", \"data\": ");
	buf_json_string(o->to, text, len);
	buf_puts(o->to, "}\n");
}

/* The buffer for a message: the output itself, unless it becomes JSON. */
static struct buf *begin_text(struct output *o)
{
	if (!o->json)
		return o->to;
	buf_reset(&o->state->line);
	return &o->state->line;
}

static void end_text(struct output *o, const char *type)
{
	if (o->json)
		output_text(o, type, o->state->line.data, o->state->line.len);
}

void output_attached(struct output *o, size_t nr)
{
	const char *s = nr == 1 ? "" : "s";

	if (o->json && o->style == OUTPUT_0_17)
		buf_printf(o->to, "{\"type\": \"attached_probes\", \"data\": {\"probes\": %zu}}\n",
			   nr);
	else if (o->json)
		buf_printf(o->to,
			   "{\"type\": \"attached_probes\", \"count\": %zu, "
			   "\"data\": {\"probes\": %zu}}\n",
			   nr, nr);
	else if (o->style == OUTPUT_0_17)
		buf_printf(o->to, "Attaching %zu probe%s...\n", nr, s);
	else
		buf_printf(o->to, "Attached %zu probe%s\n", nr, s);
}

void output_lost(struct output *o, uint64_t n)
{
	const bool newer = o->style == OUTPUT_0_26;
	struct buf *to = newer && !o->json && o->errors ? o->errors : o->to;
	const unsigned long long events = n;

	if (!o->json)
		buf_printf(to, "Lost %llu events\n", events);
	else if (newer)
		buf_printf(to,
			   "{\"type\": \"lost_events\", \"count\": %llu, "
			   "\"data\": {\"events\": %llu}}\n",
			   events, events);
	else
		buf_printf(to, "{\"type\": \"lost_events\", \"data\": {\"events\": %llu}}\n",
			   events);
}

void output_end(struct output *o)
{
	if (!o->json)
		buf_puts(o->to, "\n\n");
}

/* ---- actions ---- */

/* An argument's bytes that are there. */
static const uint8_t *arg_bytes(const struct action *a, uint32_t i, const void *args, size_t len,
				size_t *left)
{
	size_t at = i < a->nr_args && a->args[i].offset < len ? a->args[i].offset : len;

	*left = len - at;
	return (const uint8_t *)args + at;
}

static void act_printf(struct output *o, const struct action *a, const void *args, size_t len)
{
	output_format(o, a, args, len, o->clean, begin_text(o));
	end_text(o, "printf");
}

/* `more`: members between the message and its place. */
static void tell_json(struct output *o, const struct action *a, const char *text, const char *type,
		      const char *more)
{
	const char *name = "";
	uint32_t line = 0, column = 0;

	if (o->source)
		source_place(o->source, a->at.from, &name, &line, &column);
	buf_printf(o->to, "{\"type\": \"%s\", \"msg\": ", type);
	buf_json_string(o->to, text, strlen(text));
	buf_printf(o->to, "%s, \"filename\": ", more);
	buf_json_string(o->to, name, strlen(name));
	buf_printf(o->to, ", \"line\": %u, \"col\": %u}\n", line, column);
}

/* A message about a place in the script; it shows that place. */
static void tell(struct output *o, const struct action *a, bool error, const char *text)
{
	struct buf *to = o->errors ? o->errors : o->to;
	struct source *source = o->source;
	unsigned int errors, warnings;
	size_t before;

	if (!source) {
		buf_printf(to, "%s: %s\n", error ? "ERROR" : "WARNING", text);
		return;
	}
	/* The source formats the message; it is removed again from the compiler's messages. */
	before = source->messages.len;
	errors = source->errors;
	warnings = source->warnings;
	source->errors = source->warnings = 0;
	if (error)
		source_error(source, a->at, "%s", text);
	else
		source_warning(source, a->at, "%s", text);
	buf_put(to, source->messages.data + before, source->messages.len - before);
	source->messages.len = before;
	source->errors = errors;
	source->warnings = warnings;
}

/* errorf(), warnf() and assert(). */
static void act_tell(struct output *o, const struct action *a, const void *args, size_t len)
{
	const bool error = a->kind != ACT_WARNF;
	struct buf *text = &o->state->line;

	buf_reset(text);
	output_format(o, a, args, len, o->clean, text);
	if (o->json)
		tell_json(o, a, buf_str(text), error ? "print_error" : "print_warning", "");
	else
		tell(o, a, error, buf_str(text));
}

/* With -k: a helper could not do what it should. */
static void act_failed(struct output *o, const struct action *a, const void *args, size_t len)
{
	const char *name = bpf_helper_name((int)a->top);
	int64_t rc = 0;
	char room[128], text[256];
	const char *why;

	memcpy(&rc, args, len < sizeof(rc) ? len : sizeof(rc));
	why = rc ? strerror_r((int)-rc, room, sizeof(room)) : "there is no such entry";
	name = name ? name : "call a helper";
	if (o->json) {
		snprintf(text, sizeof(text), ", \"helper\": \"%s\", \"retcode\": %lld", name,
			 (long long)rc);
		tell_json(o, a, why, "helper_error", text);
	} else {
		snprintf(text, sizeof(text), "Failed to %s: %s (%lld)", name, why, (long long)rc);
		tell(o, a, false, text);
	}
}

static void act_print(struct output *o, const struct action *a, const void *args, size_t len)
{
	struct show s = {.o = o, .to = o->to, .json = o->json, .div = 1};
	size_t left;
	const uint8_t *v = arg_bytes(a, 0, args, len, &left);

	if (!a->nr_args)
		return;
	if (o->json)
		buf_puts(o->to, "{\"type\": \"value\", \"data\": ");
	show_value(&s, a->args[0].type, v, left);
	buf_puts(o->to, o->json ? "}\n" : "\n");
}

static void act_time(struct output *o, const struct action *a, const void *args, size_t len)
{
	const int64_t wall = o->wall_ns ? o->wall_ns : (int64_t)clock_now_ns(CLOCK_REALTIME);

	show_time(begin_text(o), a->format ? a->format : "%H:%M:%S\n", wall, false);
	end_text(o, "time");
}

static void act_join(struct output *o, const struct action *a, const void *args, size_t len)
{
	const char *between = a->format ? a->format : " ";
	struct buf *to = begin_text(o);
	size_t left;
	const uint8_t *v = arg_bytes(a, 0, args, len, &left);
	struct cursor c = cursor_over(v, left, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	uint32_t n = cursor_u32(&c);

	for (uint32_t i = 0; i < n && cursor_left(&c); i++) {
		size_t most = cursor_left(&c), chars = strnlen((const char *)c.pos, most);

		if (i)
			buf_puts(to, between);
		buf_put(to, c.pos, chars);
		cursor_skip(&c, chars < most ? chars + 1 : chars);
	}
	if (!o->json)
		buf_putc(to, '\n');
	end_text(o, "join");
}

static void (*const acts[ACT_KINDS])(struct output *o, const struct action *a, const void *args,
				     size_t len) = {
	[ACT_PRINTF] = act_printf, [ACT_ERRORF] = act_tell,   [ACT_WARNF] = act_tell,
	[ACT_PRINT] = act_print,   [ACT_TIME] = act_time,     [ACT_JOIN] = act_join,
	[ACT_ASSERT] = act_tell,   [ACT_FAILED] = act_failed,
};

bool output_action(struct output *o, const struct action *a, const void *args, size_t len)
{
	const size_t start = o->to->len;

	if ((unsigned int)a->kind >= ACT_KINDS || !acts[a->kind])
		return false;
	acts[a->kind](o, a, args, len);
	/* A format has texts of the script in it; its values have been cleaned one by one. */
	if (o->clean && (a->kind == ACT_PRINT || a->kind == ACT_JOIN))
		buf_clean(o->to, start);
	return true;
}
