// SPDX-License-Identifier: GPL-2.0-or-later
/* Events of the running kernel, and filters and fields of them as expressions of a script. */
#include "measure/live.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "table/selector.h"
#include "base/error.h"
#include "base/suggest.h"
#include "base/vec.h"
#include "script/script.h"

#define FORMAT_LIMIT (1u << 20)
#define MAX_EVENTS   512 /* that one name may match */
#define MAX_PATH     512

/* ---- events ---- */

int live_events_open(struct live_events *le, struct spur_error *err)
{
	int rc;

	*le = (struct live_events){0};
	rc = tracefs_find(&le->fs, err);
	if (rc == 0)
		rc = tracefs_events_load(&le->fs, NULL, &le->all, err);
	if (rc < 0)
		return rc;
	le->events = events_new();
	if (!le->events)
		return error_set(err, -ENOMEM, "out of memory");
	le->events->long_size = sizeof(long);
	le->events->big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	return 0;
}

void live_events_close(struct live_events *le)
{
	if (le->events)
		events_free(le->events);
	vec_each (text, &le->texts)
		buf_free(text);
	vec_free(&le->texts);
	tracefs_events_free(&le->all);
	*le = (struct live_events){0};
}

static int add_format(struct live_events *le, const struct tracefs_event *e, struct spur_error *err)
{
	struct buf *text, path;
	int rc;

	if (events_find(le->events, e->system, e->name))
		return 0;
	text = vec_push(&le->texts);
	if (!text)
		return error_set(err, -ENOMEM, "out of memory");
	buf_init(text, FORMAT_LIMIT);
	buf_init(&path, MAX_PATH);
	buf_printf(&path, "events/%s/%s/format", e->system, e->name);
	rc = tracefs_read(&le->fs, NULL, buf_str(&path), text, err);
	buf_free(&path);
	return rc < 0 ? rc : events_add(le->events, e->system, text->data, text->len, err);
}

static bool part_matches(const char *pattern, size_t len, const char *text)
{
	struct pattern p;
	bool same;

	if (pattern_glob(&p, pattern, len, NULL) < 0)
		return false;
	same = pattern_match(&p, text, strlen(text));
	pattern_free(&p);
	return same;
}

static bool is_meant(const struct selector_text *t, const struct tracefs_event *e)
{
	const char *colon = memchr(t->event, ':', t->event_len);
	const size_t system = colon ? (size_t)(colon - t->event) : 0;
	const char *name = colon ? colon + 1 : t->event;

	return (!colon || part_matches(t->event, system, e->system)) &&
	       part_matches(name, t->event_len - (size_t)(name - t->event), e->name);
}

static int no_event(const struct live_events *le, const struct selector_text *t,
		    struct spur_error *err)
{
	const char *colon = memchr(t->event, ':', t->event_len);
	const char *name = colon ? colon + 1 : t->event;
	struct suggest near = suggest_for(name, (size_t)(t->event + t->event_len - name));

	for (size_t i = 0; i < le->all.n; i++)
		suggest_try(&near, le->all.at[i].name);
	return error_set(err, -EINVAL, "the kernel has no event '%.*s'%s", (int)t->event_len,
			 t->event, suggest_hint(&near));
}

int live_choice(struct live_events *le, const struct selector_text *text, struct event_selector *c,
		struct spur_error *err)
{
	size_t found = 0;

	*c = (struct event_selector){0};
	for (size_t i = 0; i < le->all.n; i++) {
		int rc;

		if (!is_meant(text, &le->all.at[i]))
			continue;
		if (++found > MAX_EVENTS)
			return error_set(err, -EINVAL, "'%.*s' means too many events",
					 (int)text->event_len, text->event);
		rc = add_format(le, &le->all.at[i], err);
		if (rc < 0)
			return rc;
	}
	if (!found)
		return no_event(le, text, err);
	if (events_seal(le->events) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	return selector_parse_parts(c, le->events, text, err);
}

/* ---- expressions ---- */

int live_put_field(struct buf *to, struct event *e, const char *name, size_t len,
		   struct spur_error *err)
{
	static const char *const words[] = {
		[REF_PID] = "tid", [REF_COMM] = "comm", [REF_CPU] = "cpu"};
	struct field_ref ref = {0};
	int rc = field_ref_find(e, name, len, &ref, err);

	if (rc < 0)
		return rc;
	if (!ref.field)
		buf_puts(to, words[ref.kind]);
	else if (strcmp(ref.field->name, "common_pid") == 0)
		buf_puts(to, "tid");
	else if (strncmp(ref.field->name, "common_", 7) == 0)
		return error_set(err, -EINVAL, "'%s' is known of recorded events only",
				 ref.field->name);
	else
		buf_printf(to, "args.%s", ref.field->name);
	return 0;
}

/* The state of the reader of a filter. */
struct reading {
	struct buf *to;
	struct event *event;
	const char *at, *end;
	char joined[FILTER_MAX_DEPTH + 2]; /* by depth of parentheses: the last '&' or '|' */
	unsigned int depth;
	struct spur_error *err;
};

static int refuse(const struct reading *r, const char *what)
{
	return error_set(r->err, -EINVAL, "a live filter cannot have %s: '%.*s'", what,
			 (int)(r->end - r->at), r->at);
}

static int put_text(struct reading *r)
{
	const char quote = *r->at, *from = ++r->at;

	while (r->at < r->end && *r->at != quote)
		r->at++;
	if (r->at == r->end || memchr(from, '"', (size_t)(r->at - from)) ||
	    memchr(from, '\\', (size_t)(r->at - from)))
		return refuse(r, "such a text");
	buf_printf(r->to, "\"%.*s\"", (int)(r->at - from), from);
	r->at++;
	return 0;
}

static int put_word(struct reading *r)
{
	const char *from = r->at;

	while (r->at < r->end && (isalnum((unsigned char)*r->at) || *r->at == '_'))
		r->at++;
	if (r->at < r->end && *r->at == '.')
		return refuse(r, "the name of a function");
	if (isdigit((unsigned char)*from)) {
		buf_put(r->to, from, (size_t)(r->at - from));
		return 0;
	}
	return live_put_field(r->to, r->event, from, (size_t)(r->at - from), r->err);
}

/*
 * The report reads && and || from left to right; in scripts && binds more. So a filter with both
 * needs parentheses.
 */
static int note_join(struct reading *r, char c)
{
	char *last = &r->joined[r->depth];

	if (*last && *last != c)
		return refuse(r, "&& and || side by side without parentheses");
	*last = c;
	return 0;
}

static int put_operator(struct reading *r)
{
	const char c = *r->at, next = r->at + 1 < r->end ? r->at[1] : '\0';
	int rc = 0;

	if (c == '~' || ((c == '=' || c == '!') && next == '~'))
		return refuse(r, "patterns");
	if ((c == '&' || c == '|') && next == c) {
		rc = note_join(r, c);
		buf_putc(r->to, c);
		r->at++;
	} else if (c == '(') {
		if (r->depth == FILTER_MAX_DEPTH)
			return refuse(r, "so many parentheses");
		r->joined[++r->depth] = '\0';
	} else if (c == ')' && r->depth) {
		r->depth--;
	}
	buf_putc(r->to, c);
	r->at++;
	return rc;
}

int live_put_filter(struct buf *to, struct event *e, const char *filter, size_t len,
		    struct spur_error *err)
{
	struct reading r = {.to = to, .event = e, .at = filter, .end = filter + len, .err = err};
	int rc = 0;

	/* The syntax is valid: a filter has been made of the text. */
	while (rc == 0 && r.at < r.end) {
		const unsigned char c = (unsigned char)*r.at;

		if (c == '"' || c == '\'')
			rc = put_text(&r);
		else if (isalnum(c) || c == '_')
			rc = put_word(&r);
		else
			rc = put_operator(&r);
	}
	return rc;
}

/* ---- which tasks ---- */

static void put_pids(struct buf *to, const char *list, const char *pid, const char ** or)
{
	while (*list) {
		char *end;
		const long long first = strtoll(list, &end, 10);
		const long long last = *end == '-' ? strtoll(end + 1, &end, 10) : first;

		buf_printf(to, "%s(%s >= %lld && %s <= %lld)", * or, pid, first, pid, last);
		* or = " || ";
		list = *end == ',' ? end + 1 : end + strlen(end);
	}
}

static int put_comm(struct buf *to, const struct pattern *p, const char *comm, const char ** or,
		    struct spur_error *err)
{
	const bool plain = p->text && !strpbrk(p->text, "\"\\") && !p->negate && !p->fold;

	if (p->kind == PATTERN_EXACT && plain)
		buf_printf(to, "%s%s == \"%s\"", * or, comm, p->text);
	else if (p->kind == PATTERN_FRONT && plain)
		buf_printf(to, "%sstrncmp(%s, \"%s\", %zu) == 0", * or, comm, p->text, p->len);
	else if (p->kind == PATTERN_ALL && !p->negate)
		buf_printf(to, "%s1", * or);
	else
		return error_set(err, -EINVAL, "--task: live, only NAME and NAME* are possible");
	* or = " || ";
	return 0;
}

static void put_cpus(struct buf *to, const struct live_who *who, const char *cpu)
{
	const char * or = "";

	buf_puts(to, " && (");
	for (uint32_t i = 0; i < who->nr_cpus; i++)
		if (who->cpus[i / 64] >> (i % 64) & 1) {
			buf_printf(to, "%s%s == %u", or, cpu, i);
			or = " || ";
		}
	buf_putc(to, ')');
}

int live_put_who(struct buf *to, const struct live_who *who, const char *pid, const char *comm,
		 const char *cpu, struct spur_error *err)
{
	const char * or = "";
	int rc = 0;

	buf_putc(to, '(');
	for (size_t i = 0; i < who->nr_pids; i++)
		put_pids(to, who->pids[i], pid, & or);
	for (size_t i = 0; rc == 0 && i < who->nr_comms; i++)
		rc = put_comm(to, &who->comms[i], comm, & or, err);
	if (!* or)
		buf_putc(to, '1');
	buf_putc(to, ')');
	if (rc == 0 && who->cpus)
		put_cpus(to, who, cpu);
	return rc;
}

/* ---- running ---- */

int64_t live_number(const struct vtype *t, const uint8_t *v)
{
	const uint32_t size = t->size > 8 ? 8 : t->size;
	uint64_t n = 0;

	/* Numbers are in the byte order of this machine. */
	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
		memcpy((uint8_t *)&n + 8 - size, v, size);
	else
		memcpy(&n, v, size);
	if (t->is_signed && size && size < 8)
		return (int64_t)(n << (64 - 8 * size)) >> (64 - 8 * size);
	return (int64_t)n;
}

void live_put_interval(struct buf *to, uint64_t ns)
{
	buf_printf(to, "interval:us:%llu", (unsigned long long)((ns + 999) / 1000));
}

/* The script prints nothing but its maps. */
static int on_write(void *arg, const char *data, size_t len, bool errors)
{
	return 0;
}

int live_script_run(struct script_options *opt, const struct buf *text, struct spur_error *err)
{
	struct script *s = NULL;
	int rc, status;

	opt->name = "live";
	opt->write = on_write;
	opt->text = text->data;
	opt->len = text->len;
	opt->style = OUTPUT_0_26;
	opt->print_fd = -1;
	opt->quiet = true;
	rc = script_open(opt, &s, err);
	if (rc == 0)
		rc = script_run(s, &status, err);
	/* The kernel or the compiler has refused our script. */
	if (rc < 0 && s && *script_messages(s)) {
		*err = (struct spur_error){0};
		error_set(err, rc, "%.300s", script_messages(s));
	}
	script_close(s);
	return rc;
}
