// SPDX-License-Identifier: GPL-2.0-or-later
/* Why a task waited, for programs. What is not known is null. */
#include "stats/why_parts.h"
#include "base/json.h"
#include "base/vec.h"

struct object {
	struct buf *to;
	bool some; /* members so far */
};

static struct object open_object(struct buf *to)
{
	buf_putc(to, '{');
	return (struct object){to, false};
}

static void name(struct object *o, const char *text)
{
	buf_puts(o->to, o->some ? ", " : "");
	buf_json_string(o->to, text, strlen(text));
	buf_puts(o->to, ": ");
	o->some = true;
}

static void text(struct object *o, const char *member, const char *value)
{
	name(o, member);
	if (value)
		buf_json_string(o->to, value, strlen(value));
	else
		buf_puts(o->to, "null");
}

static void number(struct object *o, const char *member, int64_t value)
{
	name(o, member);
	if (value == ROW_NULL)
		buf_puts(o->to, "null");
	else
		buf_i64(o->to, value);
}

static void amount(struct object *o, const char *member, uint64_t value)
{
	name(o, member);
	buf_u64(o->to, value);
}

static void truth(struct object *o, const char *member, bool value)
{
	name(o, member);
	buf_puts(o->to, value ? "true" : "false");
}

static void frames(struct object *o, const char *member, const char *stack)
{
	size_t left = stack ? strlen(stack) : 0, len;

	if (!stack)
		return;
	name(o, member);
	buf_putc(o->to, '[');
	while (left) {
		const char *frame = why_frame(stack, &left, &len);

		buf_json_string(o->to, frame, len);
		buf_puts(o->to, left ? ", " : "");
	}
	buf_putc(o->to, ']');
}

static void put_call(struct object *o, const struct why_call *c)
{
	static const char *const known[] = {
		[WHY_NONE] = "none", [WHY_UNKNOWN] = "unknown", [WHY_UNRECORDED] = "not recorded"};
	struct object in;

	if (c->known != WHY_FOUND) {
		text(o, "call", known[c->known]);
		return;
	}
	name(o, "call");
	in = open_object(o->to);
	text(&in, "name", c->name);
	number(&in, "nr", c->nr);
	text(&in, "args", c->args);
	amount(&in, "entered", c->ts);
	buf_putc(o->to, '}');
}

static void put_request(struct object *o, const struct why_request *r)
{
	struct object in;

	if (!r->found)
		return;
	name(o, "request");
	in = open_object(o->to);
	text(&in, "device", r->device);
	text(&in, "rwbs", r->rwbs);
	number(&in, "sector", r->sector);
	number(&in, "bytes", r->bytes);
	number(&in, "dur", r->dur);
	number(&in, "pid", r->pid);
	buf_putc(o->to, '}');
}

static void put_wake(struct object *o, const struct why_wake *w)
{
	static const char *const contexts[] = {[WHY_IN_TASK] = "task",
					       [WHY_IN_SOFTIRQ] = "softirq",
					       [WHY_IN_IRQ] = "irq",
					       [WHY_IN_NMI] = "nmi"};
	struct object in;

	name(o, "wakeup");
	if (!w->found) {
		buf_puts(o->to, "null");
		return;
	}
	in = open_object(o->to);
	amount(&in, "ts", w->ts);
	number(&in, "cpu", w->cpu);
	text(&in, "context", contexts[w->context]);
	number(&in, "pid", w->pid);
	text(&in, "comm", w->pid ? w->comm : "<idle>");
	truth(&in, "new", w->is_new);
	if (w->context == WHY_IN_TASK) {
		put_call(&in, &w->call);
	} else {
		number(&in, "irq", w->irq);
		text(&in, "irq_name", w->irq_name);
		text(&in, "softirq", w->softirq);
	}
	if (w->signal) {
		number(&in, "signal", w->signal);
		text(&in, "signal_name", w->signal_name);
	}
	if (w->inner) {
		text(&in, "in", w->inner);
		text(&in, "function", w->function);
	}
	put_request(&in, &w->request);
	frames(&in, "stack", w->stack);
	buf_putc(o->to, '}');
}

static void put_shares(struct object *o, const struct why *w)
{
	static const char *const of[] = {[WHY_TASK] = "task",
					 [WHY_IDLE] = "idle",
					 [WHY_UNKNOWN_TASK] = "unknown",
					 [WHY_OTHERS] = "others"};

	name(o, "cpus");
	buf_putc(o->to, '[');
	vec_each (p, &w->pieces) {
		struct object in;

		buf_puts(o->to, p == w->pieces.at ? "" : ", ");
		in = open_object(o->to);
		number(&in, "cpu", p->cpu);
		amount(&in, "from", p->from);
		amount(&in, "to", p->to);
		buf_putc(o->to, '}');
	}
	buf_putc(o->to, ']');
	name(o, "meanwhile");
	buf_putc(o->to, '[');
	vec_each (s, &w->shares) {
		struct object in;

		buf_puts(o->to, s == w->shares.at ? "" : ", ");
		in = open_object(o->to);
		text(&in, "of", of[s->of]);
		number(&in, "cpu", s->cpu);
		number(&in, "pid", s->pid);
		text(&in, "comm", s->comm);
		number(&in, "prio", s->prio);
		amount(&in, "dur", s->ns);
		amount(&in, "times", s->times);
		buf_putc(o->to, '}');
	}
	buf_putc(o->to, ']');
}

static void put_interrupts(struct object *o, const struct why *w)
{
	name(o, "interrupts");
	buf_putc(o->to, '[');
	vec_each (i, &w->interrupts) {
		struct object in;

		buf_puts(o->to, i == w->interrupts.at ? "" : ", ");
		in = open_object(o->to);
		text(&in, "kind", i->soft ? "softirq" : "irq");
		number(&in, "number", i->number);
		text(&in, "name", i->name);
		amount(&in, "dur", i->ns);
		amount(&in, "times", i->times);
		buf_putc(o->to, '}');
	}
	buf_putc(o->to, ']');
}

static void put_chain(struct object *o, const struct why *w)
{
	static const char *const ends[] = {
		[WHY_END_NONE] = NULL,	   [WHY_END_INTERRUPT] = "interrupt",
		[WHY_END_BEGIN] = "begin", [WHY_END_IDLE] = "idle",
		[WHY_END_SELF] = "self",   [WHY_END_UNKNOWN] = "unknown",
		[WHY_END_DEPTH] = "depth"};

	name(o, "chain");
	buf_putc(o->to, '[');
	vec_each (l, &w->links) {
		struct object in;

		buf_puts(o->to, l == w->links.at ? "" : ", ");
		in = open_object(o->to);
		number(&in, "pid", l->pid);
		text(&in, "comm", l->comm);
		amount(&in, "from", l->from);
		amount(&in, "to", l->to);
		amount(&in, "running", l->ran);
		amount(&in, "runnable", l->waited);
		truth(&in, "earlier", l->earlier);
		put_wake(&in, &l->wake);
		buf_putc(o->to, '}');
	}
	buf_putc(o->to, ']');
	text(o, "chain_end", ends[w->end]);
}

static void put_wait(struct object *o, const struct why *w)
{
	text(o, "state", w->state);
	text(o, "reason", w->reason);
	amount(o, "from", w->from);
	amount(o, "to", w->to);
	amount(o, "dur", w->to - w->from);
	text(o, "open", w->open);
	number(o, "cpu", w->cpu);
	text(o, "next", w->next);
	number(o, "next_cpu", w->next_cpu);
	put_wake(o, &w->wake);
	if (strcmp(w->state, "runnable") == 0) {
		number(o, "by", w->by);
		put_shares(o, w);
		put_interrupts(o, w);
		return;
	}
	put_call(o, &w->call);
	if (w->same_futex)
		truth(o, "same_futex", true);
	if (w->lock) {
		text(o, "lock", w->lock);
		amount(o, "lock_addr", w->lock_addr);
	}
	frames(o, "stack", w->stack);
	put_chain(o, w);
}

static void put_running(struct object *o, const struct why *w)
{
	struct object in;

	name(o, "running");
	if (!w->running) {
		buf_puts(o->to, "null");
		return;
	}
	in = open_object(o->to);
	amount(&in, "from", w->run_from);
	amount(&in, "to", w->run_to);
	number(&in, "cpu", w->run_cpu);
	buf_putc(o->to, '}');
}

static void put_lines(struct object *o, const struct why *w)
{
	struct buf words;

	buf_init(&words, WHY_WORDS);
	why_text(w, 0, &words);
	name(o, "words");
	buf_json_string(o->to, words.data, words.len);
	buf_free(&words);
}

void why_json(const struct why *w, struct buf *to)
{
	struct object o = open_object(to);

	number(&o, "pid", w->asked.pid);
	text(&o, "comm", w->comm);
	amount(&o, "at", w->asked.moment);
	text(&o, "unit", w->ticks ? "ticks" : "ns");
	truth(&o, "known", w->found);
	put_running(&o, w);
	if (w->waits)
		put_wait(&o, w);
	name(&o, "notes");
	buf_putc(to, '[');
	vec_each (note, &w->notes) {
		buf_puts(to, note == w->notes.at ? "" : ", ");
		buf_json_string(to, *note, strlen(*note));
	}
	buf_putc(to, ']');
	put_lines(&o, w);
	buf_putc(to, '}');
}
