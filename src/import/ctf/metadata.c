// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * CTF's metadata: blocks that describe the trace, its clock and environment, streams and events.
 *
 *	event {
 *		name = "sched_switch";
 *		id = 5;
 *		stream_id = 0;
 *		fields := struct { … };
 *	};
 */
#include "import/ctf/ctf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/vec.h"

#define MAX_EVENTS  60000
#define MAX_STREAMS 4096
#define MAX_PATH    128

/* An entry of a block: a path, and a value or a type. */
struct entry {
	char path[MAX_PATH];
	struct ctf_type *type; /* or NULL: a value */
	const char *text;      /* of the value, when it is one; */
	int64_t number;	       /* or else this */
};

/* What a block is being read into. */
struct block {
	struct ctf_event *event;
	struct ctf_stream *stream;
};

static void set_trace(struct ctf_parser *p, struct block *b, const struct entry *e)
{
	if (strcmp(e->path, "byte_order") == 0 && e->text)
		p->m->big_endian = strcmp(e->text, "be") == 0 || strcmp(e->text, "network") == 0;
	else if (strcmp(e->path, "packet.header") == 0)
		p->m->packet_header = e->type;
}

static void set_clock(struct ctf_parser *p, struct block *b, const struct entry *e)
{
	if (strcmp(e->path, "freq") == 0 && e->number > 0)
		p->m->freq = (uint64_t)e->number;
	else if (strcmp(e->path, "offset_s") == 0)
		p->m->offset_s = e->number;
	else if (strcmp(e->path, "offset") == 0)
		p->m->offset = e->number;
}

static void set_env(struct ctf_parser *p, struct block *b, const struct entry *e)
{
	struct ctf_variable *v = e->text ? vec_push(&p->m->env) : NULL;

	if (v)
		*v = (struct ctf_variable){import_name(p->m->im, e->path, strlen(e->path)),
					   e->text};
}

static void set_stream(struct ctf_parser *p, struct block *b, const struct entry *e)
{
	if (strcmp(e->path, "id") == 0)
		b->stream->id = (uint64_t)e->number;
	else if (strcmp(e->path, "packet.context") == 0)
		b->stream->packet_context = e->type;
	else if (strcmp(e->path, "event.header") == 0)
		b->stream->event_header = e->type;
	else if (strcmp(e->path, "event.context") == 0)
		b->stream->event_context = e->type;
}

static void set_event(struct ctf_parser *p, struct block *b, const struct entry *e)
{
	if (strcmp(e->path, "name") == 0 && e->text)
		b->event->name = e->text;
	else if (strcmp(e->path, "id") == 0)
		b->event->id = (uint64_t)e->number;
	else if (strcmp(e->path, "stream_id") == 0)
		b->event->stream = (uint64_t)e->number;
	else if (strcmp(e->path, "context") == 0)
		b->event->context = e->type;
	else if (strcmp(e->path, "fields") == 0)
		b->event->fields = e->type;
}

static void set_nothing(struct ctf_parser *p, struct block *b, const struct entry *e)
{
}

static const struct block_kind {
	const char *name;
	void (*set)(struct ctf_parser *p, struct block *b, const struct entry *e);
} kinds[] = {
	{"trace", set_trace},	{"clock", set_clock}, {"env", set_env},
	{"stream", set_stream}, {"event", set_event}, {"callsite", set_nothing},
};

/* ---- reading -------------------------------------------------------------------------- */

static bool parse_path(struct ctf_parser *p, struct entry *e)
{
	struct ctf_lexer *l = &p->lex;
	size_t len = 0;

	if (l->word != CTF_NAME)
		return ctf_parse_fail(p, "a name is missing");
	while (l->word == CTF_NAME || ctf_lexer_is(l, ".")) {
		const bool dot = l->word != CTF_NAME;

		if (len + (dot ? 1 : l->len) >= sizeof(e->path))
			return ctf_parse_fail(p, "a name is too long");
		memcpy(e->path + len, dot ? "." : l->text, dot ? 1 : l->len);
		len += dot ? 1 : l->len;
		ctf_lexer_next(l);
	}
	e->path[len] = '\0';
	return true;
}

static bool parse_value(struct ctf_parser *p, struct entry *e)
{
	struct ctf_lexer *l = &p->lex;
	const bool negative = ctf_lexer_take(l, "-");

	if (l->word == CTF_NUMBER)
		e->number = negative ? (int64_t)(0 - (uint64_t)l->number) : l->number;
	else if (l->word == CTF_NAME || l->word == CTF_TEXT)
		e->text = import_name(p->m->im, l->text, l->len);
	else
		return ctf_parse_fail(p, "a value is missing");
	while (l->word != CTF_END && !ctf_lexer_is(l, ";") && !ctf_lexer_is(l, "}"))
		ctf_lexer_next(l);
	return true;
}

static bool parse_entry(struct ctf_parser *p, struct entry *e)
{
	*e = (struct entry){0};
	if (!parse_path(p, e))
		return false;
	if (ctf_lexer_take(&p->lex, ":=")) {
		e->type = ctf_parse_type(p, 0, NULL);
		if (!e->type)
			return false;
	} else if (!ctf_lexer_take(&p->lex, "=")) {
		return ctf_parse_fail(p, "a = is missing");
	} else if (!parse_value(p, e)) {
		return false;
	}
	return ctf_lexer_take(&p->lex, ";") || ctf_parse_fail(p, "a ; is missing");
}

static bool is_defined_here(const struct ctf_lexer *l)
{
	return ctf_lexer_named(l, "struct") || ctf_lexer_named(l, "variant") ||
	       ctf_lexer_named(l, "enum");
}

static bool parse_entries(struct ctf_parser *p, const struct block_kind *kind, struct block *b)
{
	while (!ctf_lexer_take(&p->lex, "}")) {
		struct entry e;

		if (ctf_parse_definition(p, 0)) {
			if (p->why)
				return false;
			continue;
		}
		if (is_defined_here(&p->lex)) {
			if (!ctf_parse_type(p, 0, NULL) || !ctf_lexer_take(&p->lex, ";"))
				return ctf_parse_fail(p, "a ; is missing");
			continue;
		}
		if (!parse_entry(p, &e))
			return false;
		kind->set(p, b, &e);
	}
	ctf_lexer_take(&p->lex, ";");
	return true;
}

static bool begin_block(struct ctf_parser *p, const struct block_kind *kind, struct block *b)
{
	if (kind->set == set_stream) {
		b->stream = p->m->streams.n < MAX_STREAMS ? vec_push(&p->m->streams) : NULL;
		if (!b->stream)
			return ctf_parse_fail(p, "there are too many streams");
		b->stream->buffer = "";
	}
	if (kind->set == set_event) {
		b->event = arena_alloc(p->m->arena, sizeof(*b->event));
		if (!b->event || p->m->events.n >= MAX_EVENTS || !vec_add(&p->m->events, &b->event))
			return ctf_parse_fail(p, "there are too many events");
		b->event->name = "";
	}
	return true;
}

static bool parse_block(struct ctf_parser *p)
{
	struct block b = {0};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!ctf_lexer_named(&p->lex, kinds[i].name))
			continue;
		ctf_lexer_next(&p->lex);
		if (!ctf_lexer_take(&p->lex, "{"))
			return ctf_parse_fail(p, "a { is missing");
		return begin_block(p, &kinds[i], &b) && parse_entries(p, &kinds[i], &b);
	}
	if (is_defined_here(&p->lex))
		return ctf_parse_type(p, 0, NULL) &&
		       (ctf_lexer_take(&p->lex, ";") || ctf_parse_fail(p, "a ; is missing"));
	return ctf_parse_fail(p, "a word that is not known");
}

/* ---- looking things up ---------------------------------------------------------------- */

static uint64_t event_key(uint64_t stream, uint64_t id)
{
	return stream << 40 ^ id;
}

static void index_events(struct ctf_metadata *m)
{
	vec_each (it, &m->events)
		if (!map_set(&m->by_id, event_key((*it)->stream, (*it)->id), *it))
			import_fail(m->im, -ENOMEM);
}

struct ctf_event *ctf_event_of(const struct ctf_metadata *m, uint64_t stream, uint64_t id)
{
	struct ctf_event *e = map_get(&m->by_id, event_key(stream, id));

	return e && e->id == id && e->stream == stream ? e : NULL;
}

struct ctf_stream *ctf_stream_of(struct ctf_metadata *m, uint64_t id)
{
	vec_each (s, &m->streams)
		if (s->id == id)
			return s;
	return NULL;
}

const char *ctf_variable(const struct ctf_metadata *m, const char *name)
{
	vec_each (v, &m->env)
		if (v->name && v->value && strcmp(v->name, name) == 0)
			return v->value;
	return "";
}

void ctf_metadata_free(struct ctf_metadata *m)
{
	vec_free(&m->events);
	vec_free(&m->streams);
	vec_free(&m->env);
	map_free(&m->names);
	map_free(&m->by_id);
	map_free(&m->calls);
	buf_free(&m->text);
	free(m->numbers);
}

int ctf_metadata_read(struct ctf_metadata *m, const char *text, size_t len, struct spur_error *err)
{
	struct ctf_parser p = {.m = m};

	ctf_lexer_start(&p.lex, text, len);
	while (p.lex.word != CTF_END && !p.why && !p.lex.bad)
		if (!ctf_parse_definition(&p, 0) && !ctf_lexer_take(&p.lex, ";"))
			parse_block(&p);
	if (m->im->rc < 0)
		return m->im->rc;
	if (p.why || p.lex.bad)
		return error_set(err, -EBADMSG, "metadata, line %u: %s", p.lex.line,
				 p.why ? p.why : "a text without an end");
	index_events(m);
	return m->im->rc;
}
