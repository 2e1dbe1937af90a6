// SPDX-License-Identifier: GPL-2.0-or-later
/* The tree of calls as lines: one walk over a task's nodes, which frees what it has printed. */
#include <string.h>

#include "stats/calltree_nodes.h"
#include "base/array.h"

#define PIECE	    (64u << 10) /* text is written in pieces of so many bytes */
#define MOST_INDENT 1000	/* levels; deeper lines are not indented */

/* ---- parts of lines ---- */

enum colour { PLAIN, TASK, TIME, LONG, LONGER, NR_COLOURS };

static void paint(const struct calltree *ct, enum colour c, struct buf *out)
{
	static const char *const escapes[NR_COLOURS] = {
		[PLAIN] = "\033[0m", [TASK] = "\033[36m",   [TIME] = "\033[32m",
		[LONG] = "\033[33m", [LONGER] = "\033[31m",
	};

	if (ct->opt->emit->colour)
		buf_puts(out, escapes[c]);
}

/* Newlines in untrusted text are replaced. */
static void put_text(const char *text, size_t len, struct buf *out)
{
	for (size_t i = 0; i < len; i++)
		buf_putc(out, (unsigned char)text[i] < ' ' || text[i] == 0x7f ? ' ' : text[i]);
}

static void put_word(const char *text, struct buf *out)
{
	put_text(text, strlen(text), out);
}

/* The kernel's marks for what takes long. */
static char mark_of(int64_t ns)
{
	static const struct {
		int64_t more_than;
		char mark;
	} marks[] = {
		{1000000000, '$'}, {100000000, '@'}, {10000000, '*'},
		{1000000, '#'},	   {100000, '!'},    {10000, '+'},
	};

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		if (ns > marks[i].more_than)
			return marks[i].mark;
	return ' ';
}

static void put_duration(const struct calltree *ct, int64_t ns, struct buf *out)
{
	const char mark = ns == ROW_NULL ? ' ' : mark_of(ns);

	if (ns == ROW_NULL) {
		buf_fill(out, ' ', 17);
		return;
	}
	if (mark != ' ')
		paint(ct, mark == '+' || mark == '!' ? LONG : LONGER, out);
	buf_printf(out, "%c %7lld.%03lld us ", mark, (long long)(ns / 1000),
		   (long long)(ns % 1000));
	if (mark != ' ')
		paint(ct, PLAIN, out);
}

static void put_time_and_cpu(struct calltree *ct, const struct tree_task *t, uint64_t ts,
			     uint32_t cpu, struct buf *out)
{
	paint(ct, TIME, out);
	emit_time(ct->opt->emit, t->buffer, ts, out);
	paint(ct, PLAIN, out);
	buf_puts(out, " | ");
	buf_u64_pad(out, cpu, 3, ' ');
	buf_puts(out, ") ");
	ct->shown_ts = ts;
	ct->shown_cpu = cpu;
}

/* Everything in front of a function or a comment. */
static void begin_line(struct calltree *ct, struct tree_task *t, uint64_t ts, uint32_t cpu,
		       int64_t dur, size_t level)
{
	put_time_and_cpu(ct, t, ts, cpu, &t->text);
	put_duration(ct, dur, &t->text);
	buf_puts(&t->text, "|  ");
	if (level <= MOST_INDENT)
		buf_fill(&t->text, ' ', 2 * level);
}

/* ---- calls ---- */

/* Errors in decimal, all else in hexadecimal, as the kernel does it. */
static void put_retval(const struct calltree *ct, int64_t retval, struct buf *out)
{
	const bool is_error = retval < 0 && retval >= -4095;
	const struct event_options *o = &ct->opt->emit->plugins;

	buf_puts(out, " ret=");
	if (o->retval_dec || (is_error && !o->retval_hex)) {
		buf_i64(out, retval);
	} else {
		buf_puts(out, "0x");
		buf_hex(out, (uint64_t)retval);
	}
}

/* The text at a call's end: " name ret=0x1, end not recorded". */
static void put_about(const struct calltree *ct, const struct call_node *n, bool named,
		      struct buf *out)
{
	const bool retval = n->retval != ROW_NULL && !ct->opt->emit->plugins.retval_skip;
	const char *missing = n->missing == ROW_OPEN_END     ? "end not recorded"
			      : n->missing == ROW_OPEN_START ? "begin not recorded"
							     : NULL;

	if (!named && !retval && !missing && !n->caller)
		return;
	buf_puts(out, " /*");
	if (named) {
		buf_putc(out, ' ');
		put_word(n->name, out);
	}
	if (n->caller && !named) {
		buf_puts(out, " <-");
		put_word(n->caller, out);
	}
	if (retval)
		put_retval(ct, n->retval, out);
	if (missing)
		buf_printf(out, "%s%s", named || retval || n->caller ? ", " : " ", missing);
	buf_puts(out, " */");
}

static void put_leaf(struct calltree *ct, struct tree_task *t, const struct call_node *n,
		     size_t level)
{
	begin_line(ct, t, n->ts, n->cpu, n->dur, level);
	put_word(n->name, &t->text);
	buf_puts(&t->text, "();");
	put_about(ct, n, false, &t->text);
	buf_putc(&t->text, '\n');
	ct->shown_ts = n->end;
	ct->shown_cpu = n->end_cpu;
}

static void put_begin(struct calltree *ct, struct tree_task *t, const struct call_node *n,
		      size_t level)
{
	begin_line(ct, t, n->ts, n->cpu, n->dur, level);
	put_word(n->name, &t->text);
	buf_puts(&t->text, "()");
	if (n->caller) {
		buf_puts(&t->text, " /* <-");
		put_word(n->caller, &t->text);
		buf_puts(&t->text, " */");
	}
	buf_puts(&t->text, " {\n");
}

static void put_end(struct calltree *ct, struct tree_task *t, const struct call_node *n,
		    size_t level)
{
	/* An unknown end is not before the lines inside the call. */
	const uint64_t end = n->missing && n->end < ct->shown_ts ? ct->shown_ts : n->end;

	begin_line(ct, t, end, n->end_cpu, n->dur, level);
	buf_putc(&t->text, '}');
	put_about(ct, n, true, &t->text);
	buf_putc(&t->text, '\n');
}

/* ---- what stands between calls ---- */

static void put_event(struct calltree *ct, const struct call_node *n, struct buf *out)
{
	buf_puts(out, "/* ");
	put_word(n->text ? n->text : "", out);
	buf_puts(out, " */");
}

/* Damaged traces have calls that end before they begin. */
static void put_span(struct buf *out, int64_t ns)
{
	buf_span(out, ns > 0 ? (uint64_t)ns : 0);
}

static void put_off(struct calltree *ct, const struct call_node *n, struct buf *out)
{
	buf_puts(out, "/* scheduled out");
	if (n->dur != ROW_NULL) {
		buf_puts(out, " for ");
		put_span(out, n->dur);
	}
	buf_puts(out, " */");
}

static void put_lost(struct calltree *ct, const struct call_node *n, struct buf *out)
{
	paint(ct, LONGER, out);
	buf_printf(out, "CPU:%u [", n->cpu);
	if (n->id > 0)
		buf_printf(out, "%lld ", (long long)n->id);
	buf_puts(out, "EVENTS DROPPED]");
	paint(ct, PLAIN, out);
}

static void put_hidden(struct calltree *ct, const struct call_node *n, struct buf *out)
{
	buf_printf(out, "/* %lld call%s, ", (long long)n->id, n->id == 1 ? "" : "s");
	put_span(out, n->dur);
	buf_puts(out, " */");
}

static void put_other(struct calltree *ct, struct tree_task *t, const struct call_node *n,
		      size_t level)
{
	static void (*const put[])(struct calltree * ct, const struct call_node *n,
				   struct buf *out) = {
		[NODE_EVENT] = put_event,
		[NODE_OFF] = put_off,
		[NODE_LOST] = put_lost,
		[NODE_HIDDEN] = put_hidden,
	};

	begin_line(ct, t, n->ts, n->cpu, ROW_NULL, level);
	put[n->kind](ct, n, &t->text);
	buf_putc(&t->text, '\n');
}

/* ---- interrupts ---- */

static void put_irq(struct calltree *ct, struct tree_task *t, uint64_t ts, uint32_t cpu,
		    bool begins)
{
	put_time_and_cpu(ct, t, ts, cpu, &t->text);
	buf_puts(&t->text, begins ? "    ==========>  |\n" : "    <==========  |\n");
}

/*
 * Where it is noted that the current lines are inside an interrupt, but the call around them is
 * not.
 */
static bool *irq_around(struct tree_task *t, struct call_node *parent)
{
	return parent ? &parent->irq_shown : &t->irq_shown;
}

static void close_irq(struct calltree *ct, struct tree_task *t, struct call_node *parent)
{
	bool *shown = irq_around(t, parent);

	if (*shown)
		put_irq(ct, t, ct->shown_ts, ct->shown_cpu, false);
	*shown = false;
}

static void mark_irq(struct calltree *ct, struct tree_task *t, const struct call_node *n)
{
	bool *shown = irq_around(t, n->parent);
	const bool is_placed = n->kind == NODE_CALL || n->kind == NODE_EVENT;
	const bool is_new = n->in_irq && !(n->parent && n->parent->in_irq);

	if (n->kind == NODE_CALL && is_new && !*shown) {
		put_irq(ct, t, n->ts, n->cpu, true);
		*shown = true;
	} else if (n->kind == NODE_OFF || (is_placed && !is_new)) {
		close_irq(ct, t, n->parent);
	}
}

/* ---- the walk ---- */

struct walker {
	size_t level; /* of the node */
	size_t base;  /* of the root, which stands at the margin when the tree starts there */
};

/* Replaces a root that was not selected by what is inside of it. */
static struct call_node *replace_root(struct calltree *ct, struct tree_task *t, struct call_node *n)
{
	struct call_node *after = n->next;

	for (struct call_node *in = n->inner.first, *next; in; in = next) {
		next = in->next;
		in->parent = NULL;
		in->step += n->step;
	}
	if (n->inner.first) {
		*(n->prev ? &n->prev->next : &t->roots.first) = n->inner.first;
		n->inner.first->prev = n->prev;
		n->inner.last->next = after;
		*(after ? &after->prev : &t->roots.last) = n->inner.last;
		after = n->inner.first;
		n->inner = (struct node_list){0};
		n->prev = n->next = NULL;
	} else {
		tree_unlink(t, n);
	}
	tree_release(ct, n);
	return after;
}

/* Goes to the next root, or to one that replaces it; NULL if there are no more. */
static struct call_node *enter_root(struct calltree *ct, struct tree_task *t, struct call_node *n,
				    struct walker *w)
{
	const bool filtered = ct->opt->nr_functions;

	while (n && filtered && n->only_end && !n->begun &&
	       !(n->kind == NODE_CALL && tree_function(ct, n->name)))
		n = replace_root(ct, t, n);
	if (n) {
		w->level = n->step;
		w->base = filtered && n->kind == NODE_CALL ? n->step : 0;
	}
	return n;
}

/* Removes the calls inside a call at the depth limit. */
static void prune(struct calltree *ct, struct tree_task *t, struct call_node *n)
{
	for (struct call_node *in = n->inner.first, *next; in; in = next) {
		next = in->next;
		if (in->kind == NODE_CALL || in->kind == NODE_HIDDEN) {
			tree_unlink(t, in);
			tree_release(ct, in);
		}
	}
}

/* Prints the node's line; false when it is too deep to be shown. */
static bool enter(struct calltree *ct, struct tree_task *t, struct call_node *n,
		  const struct walker *w)
{
	const size_t level = w->level - w->base;

	if (n->begun)
		return true;
	if (n->kind == NODE_CALL && ct->opt->depth && level >= ct->opt->depth)
		return false;
	if (n->only_end && ct->opt->depth && level + 1 >= ct->opt->depth)
		prune(ct, t, n);
	mark_irq(ct, t, n);
	n->begun = true;
	if (n->kind != NODE_CALL)
		put_other(ct, t, n, level);
	else if (n->inner.first || n->open)
		put_begin(ct, t, n, level);
	else
		put_leaf(ct, t, n, level);
	return true;
}

void tree_put(struct calltree *ct, struct tree_task *t)
{
	struct walker w;
	struct call_node *n = enter_root(ct, t, t->roots.first, &w);

	while (n) {
		struct call_node *parent, *next;
		const bool fresh = !n->begun;
		const bool shown = enter(ct, t, n, &w);

		if (shown && n->inner.first) {
			n = n->inner.first;
			w.level += n->step;
			continue;
		}
		/*
		 * A call whose begin was printed earlier is not a leaf, even if it has no nodes
		 * inside.
		 */
		for (bool is_leaf = fresh || !shown;; is_leaf = false) {
			if (n->open)
				goto out;
			if (!is_leaf && n->kind == NODE_CALL) {
				close_irq(ct, t, n);
				put_end(ct, t, n, w.level - w.base);
			}
			parent = n->parent;
			next = n->next;
			w.level -= n->step;
			tree_unlink(t, n);
			tree_release(ct, n);
			if (next || !parent)
				break;
			n = parent;
		}
		if (t->text.len >= PIECE)
			tree_deliver(ct, t);
		n = parent ? next : enter_root(ct, t, next, &w);
		if (parent)
			w.level += n->step;
	}
	close_irq(ct, t, NULL);
out:
	tree_deliver(ct, t);
}

void tree_put_title(const struct calltree *ct, const struct tree_task *t, bool first,
		    struct buf *out)
{
	if (first)
		buf_puts(out, "#       TIME   CPU        DURATION     FUNCTION CALLS\n");
	buf_putc(out, '\n');
	paint(ct, TASK, out);
	put_word(*t->comm ? t->comm : "<...>", out);
	buf_printf(out, "-%lld", (long long)t->pid);
	if (!t->pid)
		buf_printf(out, " on CPU %u", t->cpu);
	if (t->buffer->index) {
		buf_puts(out, " in ");
		put_word(t->buffer->data->name, out);
	}
	paint(ct, PLAIN, out);
	buf_putc(out, '\n');
}
