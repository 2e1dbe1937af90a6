// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Events of CTF as records. The members of structs become fields, those of structs in structs too,
 * with both names; what is no number, text or array of numbers becomes a text.
 *
 * Contexts are fields as well, but for what every record has: the task and its flags. Names of
 * LTTng's kernel tracer are changed to those of Linux, which analyses look for.
 */
#include "import/ctf/ctf.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cursor.h"
#include "base/vec.h"

/* ---- values ---- */

/*
 * Values in packets. Numbers may have any size and begin at any bit: in little-endian order the
 * lowest bits of a byte come first, in big-endian order the highest ones.
 *
 * Whatever a hostile trace describes, the work is bounded by the bits that are read: types that
 * take none of them, nested in each other, must not be counted through.
 */

#define FREE_VISITS  10000 /* of values in a packet, before there must be bits to them */
#define VISITS_A_BIT 64
#define MAX_RENDERED 1000 /* elements of an array that is shown as text */

static void fail(struct ctf_reader *r)
{
	r->bits.failed = true;
}

static bool visit(struct ctf_reader *r)
{
	if (++r->visits > FREE_VISITS + VISITS_A_BIT * r->bits.at)
		fail(r);
	return !r->bits.failed;
}

static void align(struct ctf_reader *r, const struct ctf_type *t)
{
	const uint64_t align = t->align ? t->align : 1;
	const uint64_t rest = r->bits.at % align;

	if (rest)
		r->bits.at += align - rest;
	if (r->bits.at > r->bits.end)
		fail(r);
}

static uint64_t read_parts(const struct ctf_bits *b, uint64_t at, uint32_t size, bool big)
{
	uint64_t v = 0;

	for (uint32_t done = 0; done < size;) {
		const uint32_t skip = (uint32_t)((at + done) % 8);
		const uint32_t left = size - done, n = left < 8 - skip ? left : 8 - skip;
		const uint64_t part =
			b->data[(at + done) / 8] >> (big ? 8 - skip - n : skip) & ((1u << n) - 1);

		v = big ? v << n | part : v | part << done;
		done += n;
	}
	return v;
}

static uint64_t read_bits(struct ctf_reader *r, const struct ctf_type *t)
{
	struct ctf_bits *b = &r->bits;
	const bool big = t->order == CTF_NATIVE ? b->big_endian : t->order == CTF_BIG;
	uint64_t v;

	align(r, t);
	if (b->failed || t->size > b->end - b->at) {
		fail(r);
		return 0;
	}
	if (b->at % 8 == 0 && (t->size == 8 || t->size == 16 || t->size == 32 || t->size == 64))
		v = load_uint(b->data + b->at / 8, t->size / 8, big);
	else
		v = read_parts(b, b->at, t->size, big);
	b->at += t->size;
	return v;
}

/* A time of fewer bits is the next one that ends with these. */
static void take_time(struct ctf_reader *r, const struct ctf_type *t, uint64_t v)
{
	const uint64_t mask = t->size < 64 ? (1ull << t->size) - 1 : UINT64_MAX;
	uint64_t time = (r->clock & ~mask) | v;

	if (t->size < 64 && time < r->clock)
		time += mask + 1;
	r->clock = time;
}

static uint64_t read_number(struct ctf_reader *r, const struct ctf_type *t)
{
	const struct ctf_type *number = t->kind == CTF_ENUM ? t->of : t;
	uint64_t v;

	if (!visit(r))
		return 0;
	v = read_bits(r, number);
	if (number->is_time && !r->bits.failed)
		take_time(r, number, v);
	if (number->is_signed && number->size < 64 && v >> (number->size - 1))
		v |= UINT64_MAX << number->size;
	return v;
}

static const char *read_string(struct ctf_reader *r, const struct ctf_type *t, size_t *len)
{
	struct ctf_bits *b = &r->bits;
	const char *start, *end;

	*len = 0;
	if (!visit(r))
		return NULL;
	align(r, t);
	b->at = (b->at + 7) & ~7ull;
	if (b->failed || b->at >= b->end) {
		fail(r);
		return NULL;
	}
	start = (const char *)b->data + b->at / 8;
	end = memchr(start, 0, (size_t)((b->end - b->at) / 8));
	if (!end) {
		fail(r);
		return NULL;
	}
	*len = (size_t)(end - start);
	b->at += (*len + 1) * 8;
	return start;
}

/* ---- what refers to numbers ----------------------------------------------------------- */

static void remember(struct ctf_reader *r, const char *name, const struct ctf_type *t, uint64_t v)
{
	if (name && r->nr_known < CTF_MAX_KNOWN)
		r->known[r->nr_known++] = (struct ctf_known){name, t, v};
}

static const struct ctf_known *find(const struct ctf_reader *r, const char *name)
{
	for (size_t i = r->nr_known; i > 0; i--)
		if (strcmp(r->known[i - 1].name, name) == 0)
			return &r->known[i - 1];
	return NULL;
}

bool ctf_find_known(const struct ctf_reader *r, const char *name, uint64_t *value)
{
	const struct ctf_known *k = find(r, name);

	if (k)
		*value = k->value;
	return k;
}

static uint64_t read_length(struct ctf_reader *r, const struct ctf_type *t)
{
	const struct ctf_known *k;
	uint64_t length = t->length;

	if (t->kind == CTF_SEQUENCE) {
		k = find(r, t->refers);
		if (!k)
			fail(r);
		length = k ? k->value : 0;
	}
	align(r, t->of);
	/* Elements may take no bits; no real trace has that many of them. */
	if (length > r->bits.end - (r->bits.failed ? 0 : r->bits.at) + 1)
		fail(r);
	return r->bits.failed ? 0 : length;
}

static const struct ctf_member *read_tag(struct ctf_reader *r, const struct ctf_type *t)
{
	const struct ctf_known *k = t->refers ? find(r, t->refers) : NULL;
	const struct ctf_type *tag = k ? k->type : NULL;

	for (uint32_t i = 0; tag && tag->kind == CTF_ENUM && i < tag->nr_labels; i++) {
		const struct ctf_label *l = &tag->labels[i];
		const bool inside =
			tag->of->is_signed
				? (int64_t)k->value >= l->first && (int64_t)k->value <= l->last
				: k->value >= (uint64_t)l->first && k->value <= (uint64_t)l->last;

		for (uint32_t m = 0; inside && m < t->nr_members; m++)
			if (t->members[m].name == l->name)
				return &t->members[m];
	}
	fail(r);
	return NULL;
}

/* ---- anything ------------------------------------------------------------------------- */

static void put_number(const struct ctf_type *t, uint64_t v, struct buf *out)
{
	const struct ctf_type *number = t->kind == CTF_ENUM ? t->of : t;

	if (number->base == 16)
		buf_printf(out, "0x%" PRIx64, v);
	else if (number->is_signed)
		buf_i64(out, (int64_t)v);
	else
		buf_u64(out, v);
}

static void put_float(const struct ctf_type *t, uint64_t v, struct buf *out)
{
	const uint32_t bits = (uint32_t)v;
	double d;
	float f;

	memcpy(&f, &bits, sizeof(f));
	memcpy(&d, &v, sizeof(d));
	buf_printf(out, "%.17g", t->size == 32 ? (double)f : d);
}

static void read_elements(struct ctf_reader *r, const struct ctf_type *t, struct buf *out,
			  int depth)
{
	const uint64_t length = read_length(r, t);

	if (out)
		buf_putc(out, '[');
	for (uint64_t i = 0; i < length && !r->bits.failed; i++) {
		const bool shown = out && i < MAX_RENDERED;

		if (shown && i)
			buf_puts(out, ", ");
		ctf_read_any(r, t->of, NULL, shown ? out : NULL, depth + 1);
	}
	if (out)
		buf_putc(out, ']');
}

static void read_members(struct ctf_reader *r, const struct ctf_type *t, struct buf *out, int depth)
{
	align(r, t);
	if (out)
		buf_putc(out, '{');
	for (uint32_t i = 0; i < t->nr_members && !r->bits.failed; i++) {
		if (out)
			buf_printf(out, "%s%s=", i ? ", " : "", t->members[i].name);
		ctf_read_any(r, t->members[i].type, t->members[i].name, out, depth + 1);
	}
	if (out)
		buf_putc(out, '}');
}

void ctf_read_any(struct ctf_reader *r, const struct ctf_type *t, const char *name, struct buf *out,
		  int depth)
{
	const struct ctf_member *chosen;
	const char *text;
	uint64_t v;
	size_t len;

	if (depth > CTF_MAX_DEPTH || !visit(r)) {
		fail(r);
		return;
	}
	switch (t->kind) {
	case CTF_INTEGER:
	case CTF_ENUM:
		v = read_number(r, t);
		remember(r, name, t, v);
		if (out)
			put_number(t, v, out);
		break;
	case CTF_FLOAT:
		v = read_bits(r, t);
		if (out)
			put_float(t, v, out);
		break;
	case CTF_STRING:
		text = read_string(r, t, &len);
		if (out && text)
			buf_put(out, text, len);
		break;
	case CTF_STRUCT: read_members(r, t, out, depth); break;
	case CTF_VARIANT:
		chosen = read_tag(r, t);
		if (chosen)
			ctf_read_any(r, chosen->type, chosen->name, out, depth + 1);
		break;
	default: read_elements(r, t, out, depth);
	}
}

/* ---- fields ---- */

#define MAX_FIELDS 300
#define MAX_ARRAY  512 /* numbers with a place in the record */
#define MAX_NAME   200
#define MAX_COMM   64

struct fields {
	struct import_field *at;
	size_t n, cap;
};

/* ---- names ---------------------------------------------------------------------------- */

/* What the records of every trace have. */
static bool is_task(const char *name)
{
	static const char *const names[] = {"pid",  "tid",	"vpid",	 "vtid",
					    "comm", "procname", "flags", "preempt_count"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static bool ends_with(const char *text, const char *end)
{
	const size_t n = strlen(text), k = strlen(end);

	return n >= k && strcmp(text + n - k, end) == 0;
}

/* LTTng calls tid what Linux calls pid, and pid what it calls tgid. */
static const char *linux_name(const struct ctf_metadata *m, const struct ctf_event *e,
			      const char *name)
{
	char text[MAX_NAME];
	const size_t len = strlen(name);

	if (!m->lttng || strncmp(e->name, "sched_", 6) != 0 || len >= sizeof(text) - 2)
		return name;
	if (ends_with(name, "tid"))
		snprintf(text, sizeof(text), "%.*spid", (int)len - 3, name);
	else if (ends_with(name, "pid"))
		snprintf(text, sizeof(text), "%.*stgid", (int)len - 3, name);
	else
		return name;
	return import_name(m->im, text, strlen(text));
}

static const struct {
	const char *from, *system, *to;
} renamed[] = {
	{"irq_softirq_entry", "irq", "softirq_entry"},
	{"irq_softirq_exit", "irq", "softirq_exit"},
	{"irq_softirq_raise", "irq", "softirq_raise"},
	{"timer_hrtimer_start", "timer", "hrtimer_start"},
	{"timer_hrtimer_cancel", "timer", "hrtimer_cancel"},
	{"timer_hrtimer_expire_entry", "timer", "hrtimer_expire_entry"},
	{"timer_hrtimer_expire_exit", "timer", "hrtimer_expire_exit"},
	{"power_cpu_idle", "power", "cpu_idle"},
	{"power_cpu_frequency", "power", "cpu_frequency"},
};

/* "system:name", or a name alone. */
static void name_event(struct ctf_metadata *m, struct ctf_event *e)
{
	static const char entry[] = "syscall_entry_", leave[] = "syscall_exit_";
	const char *colon = strchr(e->name, ':');
	struct import_type *t = &e->type;
	char text[MAX_NAME];

	if (colon) {
		t->system = import_identifier(m->im, e->name, (size_t)(colon - e->name));
		t->name = import_identifier(m->im, colon + 1, strlen(colon + 1));
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(renamed); i++)
		if (strcmp(renamed[i].from, e->name) == 0) {
			t->system = renamed[i].system;
			t->name = renamed[i].to;
			return;
		}
	e->leads = strncmp(e->name, entry, sizeof(entry) - 1) == 0 ||
		   strncmp(e->name, leave, sizeof(leave) - 1) == 0;
	if (e->leads) {
		const bool enters = e->name[8] == 'e' && e->name[9] == 'n';

		snprintf(text, sizeof(text), "sys_%s_%.150s", enters ? "enter" : "exit",
			 e->name + (enters ? sizeof(entry) : sizeof(leave)) - 1);
		t->system = "syscalls";
		t->name = import_identifier(m->im, text, strlen(text));
		return;
	}
	t->system = *e->name ? import_system(e->name, strlen(e->name)) : "ctf";
	if (strcmp(t->system, "text") == 0)
		t->system = "ctf";
	t->name = import_identifier(m->im, *e->name ? e->name : "event",
				    strlen(*e->name ? e->name : "event"));
}

/* ---- types ---------------------------------------------------------------------------- */

static bool is_number(const struct ctf_type *t)
{
	return t->kind == CTF_INTEGER || t->kind == CTF_ENUM;
}

static bool is_list(const struct ctf_type *t)
{
	return t->kind == CTF_ARRAY || t->kind == CTF_SEQUENCE;
}

static bool is_letters(const struct ctf_type *t)
{
	return is_list(t) && t->of->kind == CTF_INTEGER && t->of->is_text && t->of->size == 8;
}

static uint8_t bytes_of(const struct ctf_type *t)
{
	const uint32_t bits = t->kind == CTF_ENUM ? t->of->size : t->size;

	return bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8;
}

static struct import_field field_of(const struct ctf_type *t)
{
	const struct ctf_type *number = is_list(t) ? t->of : t;
	struct import_field f = {.kind = IMPORT_TEXT};

	if (!is_number(number) || is_letters(t))
		return f;
	f.kind = t->kind == CTF_SEQUENCE ? IMPORT_NUMBERS
		 : t->kind == CTF_ARRAY
			 ? (t->length && t->length <= MAX_ARRAY ? IMPORT_ARRAY : IMPORT_NUMBERS)
			 : IMPORT_NUMBER;
	f.size = bytes_of(number);
	f.nr = (uint32_t)t->length;
	if (number->kind == CTF_ENUM)
		number = number->of;
	f.is_signed = number->is_signed;
	if (number->base == 16 && f.kind == IMPORT_NUMBER)
		f.shown = "0x%llx";
	return f;
}

static bool taken(const struct fields *list, const char *name)
{
	vec_each (f, list)
		if (strcmp(f->name, name) == 0)
			return true;
	return false;
}

static bool add_field(struct ctf_metadata *m, struct fields *list, struct import_field f,
		      const char *name)
{
	char text[MAX_NAME + 16];

	snprintf(text, sizeof(text), "%s%.*s", strncmp(name, "common_", 7) == 0 ? "_" : "",
		 MAX_NAME, name);
	f.name = import_identifier(m->im, text, strlen(text));
	for (unsigned int i = 2; f.name && taken(list, f.name); i++) {
		snprintf(text, sizeof(text), "%.*s_%u", MAX_NAME, name, i);
		f.name = import_identifier(m->im, text, strlen(text));
	}
	return f.name && list->n < MAX_FIELDS && vec_add(list, &f);
}

/* Whether a member is there only to say how long the next one is. */
static bool is_length(const struct ctf_type *t, uint32_t i)
{
	const struct ctf_member *at = &t->members[i];
	const struct ctf_type *next = i + 1 < t->nr_members ? at[1].type : NULL;

	return is_number(at->type) && next && next->kind == CTF_SEQUENCE &&
	       next->refers == at->name && *at->name == '_';
}

/* The members of a struct as fields, in the order in which they are read later. */
static bool add_members(struct ctf_metadata *m, const struct ctf_event *e, struct fields *list,
			struct ctf_type *t, const char *prefix, bool context, int depth)
{
	char name[MAX_NAME + 1];

	if (depth > CTF_MAX_DEPTH)
		return false;
	for (uint32_t i = 0; i < t->nr_members; i++) {
		struct ctf_member *member = &t->members[i];
		const char *own = context ? member->name : linux_name(m, e, member->name);
		bool ok = true;

		member->left_out = is_length(t, i) || (context && is_task(member->name));
		snprintf(name, sizeof(name), "%s%s%.100s", prefix, *prefix ? "_" : "",
			 own ? own : "");
		if (member->type->kind == CTF_STRUCT)
			ok = add_members(m, e, list, member->type, name, false, depth + 1);
		else if (!member->left_out)
			ok = add_field(m, list, field_of(member->type), name);
		if (!ok)
			return false;
	}
	return true;
}

static bool add_all(struct ctf_metadata *m, const struct ctf_stream *s, struct ctf_event *e,
		    struct fields *list)
{
	static const struct import_field number = {.size = 4, .is_signed = true};

	if (e->leads && !add_field(m, list, number, "__syscall_nr"))
		return false;
	if (e->fields && !add_members(m, e, list, e->fields, "", false, 0))
		return false;
	e->nr_own = (uint32_t)list->n;
	if (s->event_context && !add_members(m, e, list, s->event_context, "", true, 0))
		return false;
	return !e->context || add_members(m, e, list, e->context, "", true, 0);
}

/*
 * ftrace's own events end with what reaches to the record's end: addresses of a stack, the text of
 * a marker. What looks at them looks for it there.
 */
static const char *settle_ftrace(struct ctf_event *e, struct fields *list)
{
	struct import_field *last = list->n ? &list->at[list->n - 1] : NULL;

	if (strcmp(e->type.system, "ftrace") != 0 || !last || list->n != e->nr_own)
		return NULL;
	vec_each (f, list)
		if (f != last && (f->kind == IMPORT_TEXT || f->kind == IMPORT_NUMBERS))
			return NULL;
	if (last->kind == IMPORT_NUMBERS) {
		last->kind = IMPORT_REST;
		last->is_long = last->size == 8;
	} else if (last->kind == IMPORT_TEXT) {
		last->kind = IMPORT_LINE;
		if (strcmp(e->type.name, "print") == 0 && list->n == 2)
			return "\"%ps: %s\", (void *)REC->ip, REC->buf";
	}
	return NULL;
}

static void settle(struct ctf_metadata *m, const struct ctf_stream *s, struct ctf_event *e)
{
	struct fields list = {0};
	const char *print = NULL;

	e->settled = true;
	name_event(m, e);
	e->broken = !e->type.name || !e->type.system || !add_all(m, s, e, &list);
	if (!e->broken)
		print = settle_ftrace(e, &list);
	e->type.fields = arena_copy(m->arena, list.at, list.n, sizeof(*list.at));
	e->type.nr_fields = (uint32_t)list.n;
	e->broken = e->broken || !e->type.fields || !import_type(m->im, &e->type, print);
	vec_free(&list);
}

/* ---- records -------------------------------------------------------------------------- */

struct putting {
	struct ctf_metadata *m;
	struct ctf_reader *r;
	struct ctf_event *event;
	struct ctf_task task;
	uint32_t next; /* field */
	/* The name of the task, in the packet. */
	const char *comm;
	size_t comm_len;
	/* Of a switch. */
	char prev_comm[MAX_COMM], next_comm[MAX_COMM];
};

static void keep_comm(struct putting *p, const char *name, const char *text, size_t len)
{
	char *to = strcmp(name, "prev_comm") == 0   ? p->prev_comm
		   : strcmp(name, "next_comm") == 0 ? p->next_comm
						    : NULL;

	if (to && text)
		snprintf(to, MAX_COMM, "%.*s", (int)(len < MAX_COMM ? len : MAX_COMM - 1), text);
}

static void put_letters(struct putting *p, const struct ctf_type *t, const struct import_field *to)
{
	const uint64_t length = read_length(p->r, t);

	buf_reset(&p->m->text);
	for (uint64_t i = 0; i < length && !p->r->bits.failed; i++)
		buf_putc(&p->m->text, (char)read_number(p->r, t->of));
	if (to)
		import_set_text(p->m->im, to, p->m->text.data,
				strnlen(p->m->text.data, p->m->text.len));
}

static void put_list(struct putting *p, const struct ctf_type *t, const struct import_field *to)
{
	const uint64_t length = read_length(p->r, t);
	size_t n = 0;

	for (uint64_t i = 0; i < length && !p->r->bits.failed; i++) {
		const uint64_t v = read_number(p->r, t->of);

		if (n < CTF_MAX_NUMBERS)
			p->m->numbers[n++] = v;
	}
	if (n < length)
		p->m->im->cut++;
	import_set_numbers(p->m->im, to, p->m->numbers, n);
}

/* A value for a field of its own. */
static void put_value(struct putting *p, const struct ctf_member *member)
{
	const struct import_field *to = &p->event->type.fields[p->next++];
	const struct ctf_type *t = member->type;
	const char *text;
	uint64_t v;
	size_t len;

	if (is_number(t)) {
		v = read_number(p->r, t);
		remember(p->r, member->name, t, v);
		import_set(p->m->im, to, v);
	} else if (t->kind == CTF_STRING) {
		text = read_string(p->r, t, &len);
		if (text)
			import_set_text(p->m->im, to, text, len);
		keep_comm(p, member->name, text, len);
	} else if (is_letters(t)) {
		put_letters(p, t, to);
		keep_comm(p, member->name, p->m->text.data,
			  strnlen(p->m->text.data, p->m->text.len));
	} else if (is_list(t) && is_number(t->of)) {
		put_list(p, t, to);
	} else {
		buf_reset(&p->m->text);
		ctf_read_any(p->r, t, member->name, &p->m->text, 0);
		import_set_text(p->m->im, to, p->m->text.data, p->m->text.len);
	}
}

/* Numbers and a name that every record has. */
static void put_task(struct putting *p, const struct ctf_member *member)
{
	const struct ctf_type *t = member->type;
	const char *name = member->name;
	uint64_t v;

	if (t->kind == CTF_STRING) {
		p->comm = read_string(p->r, t, &p->comm_len);
		return;
	}
	if (is_letters(t)) {
		const uint64_t at = p->r->bits.at;

		put_letters(p, t, NULL);
		if (!p->r->bits.failed && at % 8 == 0) {
			p->comm = (const char *)p->r->bits.data + at / 8;
			p->comm_len = strnlen(p->m->text.data, p->m->text.len);
		}
		return;
	}
	if (!is_number(t)) {
		ctf_read_any(p->r, t, name, NULL, 0);
		return;
	}
	v = read_number(p->r, t);
	remember(p->r, name, t, v);
	if (strcmp(name, "flags") == 0) {
		p->task.flags = (uint8_t)v;
	} else if (strcmp(name, "preempt_count") == 0) {
		p->task.preempt_count = (uint8_t)v;
	} else if (ends_with(name, "tid") || !p->task.has_pid) {
		p->task.pid = (int)v;
		p->task.has_pid = true;
	}
}

static void put_members(struct putting *p, const struct ctf_type *t, bool context)
{
	if (!t)
		return;
	align(p->r, t);
	for (uint32_t i = 0; i < t->nr_members && !p->r->bits.failed; i++) {
		const struct ctf_member *member = &t->members[i];

		if (member->type->kind == CTF_STRUCT)
			put_members(p, member->type, false);
		else if (context && is_task(member->name))
			put_task(p, member);
		else if (member->left_out)
			ctf_read_any(p->r, member->type, member->name, NULL, 0);
		else if (p->next < p->event->type.nr_fields)
			put_value(p, member);
		else
			p->r->bits.failed = true;
	}
}

/* The same number for both ends of a system call. */
static int32_t call_number(struct ctf_metadata *m, const char *name)
{
	const char *rest = strchr(strchr(name, '_') + 1, '_'), *known;
	intptr_t number;

	known = rest ? import_name(m->im, rest, strlen(rest)) : NULL;
	number = (intptr_t)map_get(&m->calls, (uintptr_t)known);
	if (!number && known) {
		number = --m->next_call;
		if (!map_set(&m->calls, (uintptr_t)known, (void *)number))
			import_fail(m->im, -ENOMEM);
	}
	return (int32_t)number;
}

static bool find_pid(const struct ctf_reader *r, const char *tid, const char *pid, int *to)
{
	uint64_t v;

	if (!ctf_find_known(r, tid, &v) && !ctf_find_known(r, pid, &v))
		return false;
	*to = (int)v;
	return true;
}

/* An event without a pid is of the task that the CPU switched to. Switches also have names. */
static void follow_task(struct putting *p, int *running)
{
	const bool switches = strcmp(p->event->type.name, "sched_switch") == 0;
	int pid = *running;

	if (switches && find_pid(p->r, "prev_tid", "prev_pid", &pid))
		import_comm(p->m->im, pid, p->prev_comm, strlen(p->prev_comm));
	if (!p->task.has_pid)
		p->task.pid = pid;
	if (switches && find_pid(p->r, "next_tid", "next_pid", running))
		import_comm(p->m->im, *running, p->next_comm, strlen(p->next_comm));
}

bool ctf_put_event(struct ctf_metadata *m, struct ctf_stream *s, struct ctf_event *e,
		   struct ctf_reader *r, struct import_context *x, int *running)
{
	struct putting p = {.m = m, .r = r, .event = e};

	if (!e->settled)
		settle(m, s, e);
	if (e->broken || !m->numbers)
		return false;
	import_begin(m->im, &e->type);
	/* Contexts come first, but their fields stand after the event's own. */
	p.next = e->nr_own;
	put_members(&p, s->event_context, true);
	put_members(&p, e->context, true);
	p.next = e->leads;
	if (e->leads)
		import_set(m->im, &e->type.fields[0], (uint64_t)(int64_t)call_number(m, e->name));
	put_members(&p, e->fields, false);
	if (r->bits.failed)
		return false;
	follow_task(&p, running);
	x->pid = p.task.pid;
	x->flags = p.task.flags;
	x->preempt_count = p.task.preempt_count;
	if (p.comm && *p.comm != '<')
		import_comm(m->im, x->pid, p.comm, p.comm_len);
	import_end(m->im, x);
	return true;
}
