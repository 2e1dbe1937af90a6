// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The tree of calls: reading the trace into nodes, and writing tasks in their order.
 *
 * By task, a pass over the trace writes the lines of the first task directly and stores those of
 * the others. If these become too many, the last tasks are dropped, and another pass is made for
 * them.
 */
#include "stats/calltree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stats/calltree_nodes.h"
#include "base/array.h"
#include "base/error.h"
#include "base/vec.h"
#include "event/names.h"
#include "table/feed.h"

#define MAX_LEVEL   1000 /* a larger depth in a file is wrong */
#define MAX_NODES   (1u << 18)
#define MAX_TEXT    (32u << 20) /* of stored events, and of stored tasks */
#define TEXT_LIMIT  (128u << 20)
#define LINE_LIMIT  (64u << 10)
#define TASKS_LIMIT (32u << 20)
#define NAMES_LIMIT (8u << 20)
#define CPUS_LIMIT  (4u << 20)

/* ---- memory ---- */

/* Prints everything, which frees nodes and texts. */
static void tree_make_room(struct calltree *ct)
{
	for (size_t i = ct->first; i < ct->tasks.n && i < ct->cut; i++)
		tree_put(ct, ct->tasks.at[i]);
}

static struct call_node *new_node(struct calltree *ct)
{
	struct call_node *n = ct->free;

	if (!n && ct->used == ct->max_nodes) {
		/* If nearly all nodes are open, printing would free very few, each time. */
		if (ct->nr_open > ct->max_nodes - ct->max_nodes / 8)
			return NULL;
		tree_make_room(ct);
		n = ct->free;
	}
	if (n)
		ct->free = n->next;
	else if (ct->used < ct->max_nodes)
		n = &ct->nodes[ct->used++];
	if (n)
		*n = (struct call_node){.dur = ROW_NULL, .retval = ROW_NULL, .depth = ROW_NULL};
	return n;
}

static void give_back(struct calltree *ct, struct call_node *n)
{
	if (n->text)
		ct->text -= strlen(n->text);
	free(n->text);
	ct->nr_open -= n->open;
	*n = (struct call_node){.next = ct->free};
	ct->free = n;
}

void tree_release(struct calltree *ct, struct call_node *top)
{
	struct call_node *n = top;

	top->next = NULL;
	for (;;) {
		struct call_node *parent = n->parent, *next = n->next;

		if (n->inner.first) {
			struct call_node *inner = n->inner.first;

			n->inner.first = NULL;
			n = inner;
			continue;
		}
		give_back(ct, n);
		if (n == top)
			return;
		n = next ? next : parent;
	}
}

/* Frees all nodes of a task. */
static void tree_clear(struct calltree *ct, struct tree_task *t)
{
	while (t->roots.first) {
		struct call_node *n = t->roots.first;

		tree_unlink(t, n);
		tree_release(ct, n);
	}
	t->inmost = t->off = NULL;
	t->irq_shown = false;
}

/* ---- lists ---- */

static struct node_list *siblings(struct tree_task *t, const struct call_node *n)
{
	return n->parent ? &n->parent->inner : &t->roots;
}

static void link_last(struct tree_task *t, struct call_node *n, struct call_node *parent)
{
	struct node_list *list;

	n->parent = parent;
	list = siblings(t, n);
	n->prev = list->last;
	n->next = NULL;
	*(list->last ? &list->last->next : &list->first) = n;
	list->last = n;
}

void tree_unlink(struct tree_task *t, struct call_node *n)
{
	struct node_list *list = siblings(t, n);

	*(n->prev ? &n->prev->next : &list->first) = n->next;
	*(n->next ? &n->next->prev : &list->last) = n->prev;
	n->prev = n->next = NULL;
}

/*
 * Appends a zeroed node to the task's innermost open call, or to its roots; NULL if there are too
 * many.
 */
static struct call_node *tree_append(struct calltree *ct, struct tree_task *t,
				     enum call_node_kind kind)
{
	struct call_node *n = new_node(ct);

	if (!n) {
		ct->result->incomplete |= kind == NODE_CALL;
		return NULL;
	}
	n->kind = kind;
	n->ts = n->end = ct->record.ts;
	n->cpu = n->end_cpu = ct->record.cpu;
	n->in_irq = ct->flags & 0x08;
	n->step = t->inmost ? 1 : 0;
	link_last(t, n, t->inmost);
	return n;
}

/* ---- calls ---- */

static bool in_entry(const struct calltree *ct, uint64_t addr)
{
	return addr >= ct->irq_from && addr < ct->irq_to;
}

static uint32_t level_of(int64_t depth)
{
	return depth < 0 ? 0 : depth > MAX_LEVEL ? MAX_LEVEL : (uint32_t)depth;
}

/* How many levels something of depth `depth` is below a call of depth `around`. */
static uint32_t step_below(int64_t depth, int64_t around)
{
	int64_t step;

	if (depth == ROW_NULL || around == ROW_NULL || __builtin_sub_overflow(depth, around, &step))
		return 1;
	return step < 1 ? 1 : level_of(step);
}

/* Whether the record is in an interrupt of a kind that is not shown. */
static bool tree_left_out(const struct calltree *ct)
{
	const struct selection *s = ct->opt->events;

	return s && ((s->no_irqs && (ct->flags & 0x08)) || (s->no_softirqs && (ct->flags & 0x10)));
}

static void describe(const struct calltree *ct, struct call_node *n, const struct call_row *c)
{
	n->ts = c->ts;
	n->id = c->id;
	n->depth = c->depth;
	n->name = c->func ? c->func : "?";
	n->in_irq |= in_entry(ct, (uint64_t)c->addr);
}

/* Adds a call that has begun; ends one; adds one of which only the end is known. */
static void tree_begin(struct calltree *ct, struct tree_task *t, const struct call_row *c)
{
	const bool filtered = ct->opt->nr_functions;
	const uint32_t level = t->inmost ? t->inmost->level + 1 : filtered ? 0 : level_of(c->depth);
	struct call_node *n;

	if (ct->opt->depth && level >= ct->opt->depth)
		return;
	n = tree_append(ct, t, NODE_CALL);
	if (!n)
		return;
	describe(ct, n, c);
	n->level = level;
	n->step = t->inmost ? 1 : level;
	n->open = true;
	ct->nr_open++;
	t->inmost = n;
}

/* Counts a call that is too short to be shown, together with those just before it. */
static void hide(struct calltree *ct, struct tree_task *t, struct call_node *n)
{
	struct call_node *before = n->prev;

	if (before && before->kind == NODE_HIDDEN) {
		before->id++;
		before->dur = ns_add(before->dur, n->dur);
		before->end = n->end;
		before->depth = n->depth < before->depth ? n->depth : before->depth;
		tree_unlink(t, n);
		tree_release(ct, n);
		return;
	}
	while (n->inner.first) {
		struct call_node *inner = n->inner.first;

		tree_unlink(t, inner);
		tree_release(ct, inner);
	}
	n->kind = NODE_HIDDEN;
	n->id = 1;
}

static bool too_short(const struct calltree *ct, const struct call_node *n)
{
	return !n->missing && !n->begun && n->dur < ct->opt->min;
}

static void finish(const struct calltree *ct, struct call_node *n, const struct call_row *c)
{
	n->missing = c->open;
	n->dur = c->open ? ROW_NULL : c->dur;
	n->retval = c->retval;
	n->caller = c->parent_id == ROW_NULL ? c->parent : NULL;
	if (!c->open) {
		n->end = ct->record.ts;
		n->end_cpu = ct->record.cpu;
	} else {
		n->end = c->ts + (c->dur > 0 ? (uint64_t)c->dur : 0);
	}
}

static void tree_end(struct calltree *ct, struct tree_task *t, const struct call_row *c)
{
	struct call_node *n = t->inmost;
	bool inmost, shown = true;

	/* Calls of probes and of the tracer need not be nested in each other. */
	while (n && (!n->open || n->id != c->id))
		n = n->parent;
	if (!n)
		return;
	finish(ct, n, c);
	n->open = false;
	ct->nr_open--;
	inmost = n == t->inmost;
	while (t->inmost && !t->inmost->open)
		t->inmost = t->inmost->parent;
	if (inmost && too_short(ct, n)) {
		hide(ct, t, n);
		shown = false;
	}
	if (!t->inmost && shown)
		tree_put(ct, t);
}

/* ---- calls that are known by their ends ---- */

/* Whether a node that came before the call's end is inside the call. */
static bool is_inside(const struct call_node *n, const struct call_row *c)
{
	if (n->kind != NODE_CALL && n->kind != NODE_HIDDEN)
		return n->ts >= c->ts;
	/* Its begin is from another clock of the kernel and cannot be compared. */
	return !n->open && n->end > c->ts && n->depth != ROW_NULL && n->depth > c->depth;
}

static void take_in(struct tree_task *t, struct call_node *n, const struct call_row *c)
{
	struct call_node *from = n;

	if (c->depth == ROW_NULL)
		return;
	while (from->prev && is_inside(from->prev, c))
		from = from->prev;
	while (from != n) {
		struct call_node *next = from->next;

		tree_unlink(t, from);
		link_last(t, from, n);
		from->step = step_below(from->depth, c->depth);
		from = next;
	}
}

static void tree_only_end(struct calltree *ct, struct tree_task *t, const struct call_row *c)
{
	const bool outmost = !t->inmost && (c->depth == ROW_NULL || c->depth <= 0);
	struct call_node *n = tree_append(ct, t, NODE_CALL);

	if (!n)
		return;
	describe(ct, n, c);
	finish(ct, n, c);
	n->only_end = true;
	n->step = t->inmost ? step_below(c->depth, t->inmost->depth) : level_of(c->depth);
	take_in(t, n, c);
	if (too_short(ct, n) && !t->inmost && !tree_function(ct, n->name)) {
		tree_unlink(t, n);
		tree_release(ct, n);
	} else if (too_short(ct, n)) {
		hide(ct, t, n);
	} else if (outmost) {
		tree_put(ct, t);
	}
}

/* ---- writing ---- */

static void write_out(struct calltree *ct, const char *data, size_t len)
{
	if (ct->rc == 0 && len)
		ct->rc = ct->opt->write(ct->opt->write_arg, data, len);
	ct->any |= len > 0;
}

static void write_task(struct calltree *ct, struct tree_task *t)
{
	const bool titled = ct->opt->order == CALLTREE_BY_TIME ? ct->titled == t : t->titled;
	struct buf title;

	if (t->text.len && !titled) {
		buf_init(&title, LINE_LIMIT);
		tree_put_title(ct, t, !ct->any, &title);
		write_out(ct, title.data, title.len);
		buf_free(&title);
		ct->titled = t;
		t->titled = true;
	}
	write_out(ct, t->text.data, t->text.len);
	buf_reset(&t->text);
}

static void give_up(struct calltree *ct, struct tree_task *t)
{
	ct->kept -= t->counted;
	t->counted = 0;
	buf_free(&t->text);
	buf_init(&t->text, TEXT_LIMIT);
}

/* The nodes of dropped tasks are freed after printing. */
static void keep_text(struct calltree *ct, struct tree_task *t)
{
	size_t end = ct->cut < ct->tasks.n ? ct->cut : ct->tasks.n;

	ct->kept += t->text.len - t->counted;
	t->counted = t->text.len;
	while (ct->kept > ct->max_text && end > ct->first + 1) {
		give_up(ct, ct->tasks.at[--end]);
		ct->cut = end;
	}
}

void tree_deliver(struct calltree *ct, struct tree_task *t)
{
	if (t->text.full)
		ct->rc = ct->rc ? ct->rc : -ENOMEM;
	if (ct->opt->order == CALLTREE_BY_TIME || t->order == ct->first)
		write_task(ct, t);
	else if (tree_active(ct, t))
		keep_text(ct, t);
	else
		buf_reset(&t->text);
}

bool tree_function(const struct calltree *ct, const char *name)
{
	for (size_t i = 0; i < ct->opt->nr_functions; i++)
		if (pattern_match(&ct->opt->functions[i], name, strlen(name)))
			return true;
	return !ct->opt->nr_functions;
}

/* ---- tasks ---- */

static uint64_t key_of(uint64_t buffer, int pid, uint32_t cpu)
{
	return buffer << 34 | task_key(pid, cpu);
}

static struct tree_task *find_task(struct calltree *ct, int pid)
{
	struct tree_task *t =
		slots_find(&ct->by_key, key_of(ct->record.buffer, pid, ct->record.cpu));

	return t && t->known && tree_active(ct, t) ? t : NULL;
}

/* Whether an event other than a call is in the range of time. */
static bool in_range(const struct calltree *ct)
{
	const struct walk_options *w = &ct->opt->walk;

	return ct->record.ts >= w->since && (!w->until || ct->record.ts <= w->until);
}

static void add_loss(struct calltree *ct, struct tree_task *t)
{
	struct call_node *n;

	if (!t || !tree_active(ct, t) || !in_range(ct) || (ct->opt->nr_functions && !t->inmost))
		return;
	n = tree_append(ct, t, NODE_LOST);
	if (n)
		n->id = ct->record.lost;
}

static bool init_task(struct calltree *ct, struct tree_task *t, const struct call_row *c,
		      uint32_t cpu)
{
	const char *comm = c->comm ? c->comm : "";

	comm = intern_text(&ct->names, comm, strlen(comm));
	if (!vec_add(&ct->tasks, &t))
		return false;
	t->known = true;
	t->pid = c->pid;
	t->comm = comm ? comm : "";
	t->buffer = &ct->trace->buffers[c->id >> CALL_ID_BITS];
	t->cpu = cpu;
	t->order = ct->tasks.n - 1;
	buf_init(&t->text, TEXT_LIMIT);
	/* The task was not known when the loss was reported. */
	if (ct->record.lost)
		add_loss(ct, t);
	return true;
}

/* Inside a call that is shown everything is shown, even if the task has another name by now. */
static bool is_wanted(const struct calltree *ct, const struct call_row *c, bool inside)
{
	const struct calltree_options *o = ct->opt;

	if (!inside && o->wanted && !o->wanted(o->wanted_arg, c->pid, c->comm))
		return false;
	return !tree_left_out(ct);
}

/* ---- what else was recorded ---- */

/* Notes a loss for the tasks that were on the CPU before and after it. */
static void note_loss(struct calltree *ct, struct tree_task *now, struct tree_task *before)
{
	ct->losses++;
	add_loss(ct, before);
	if (now != before)
		add_loss(ct, now);
}

/* Called for every record, before the analysis of calls gets it. */
static void watch(void *arg, struct event *e, const struct spur_record *r)
{
	struct calltree *ct = arg;
	struct tree_task *t;

	ct->event = e;
	ct->record = *r;
	ct->flags = events_record_flags(ct->trace->events, r);
	ct->told = false;
	t = find_task(ct, events_record_pid(ct->trace->events, r));
	ct->cpu = slots_get(&ct->cpus, (uint64_t)r->buffer << 32 | r->cpu);
	if (r->lost)
		note_loss(ct, t, ct->cpu ? ct->cpu->last : NULL);
	if (ct->cpu)
		ct->cpu->last = t;
}

static void add_event(struct calltree *ct)
{
	struct tree_task *t = find_task(ct, events_record_pid(ct->trace->events, &ct->record));
	const struct selection *s = ct->opt->events;
	struct call_node *n;
	struct buf text;

	if (!t || !t->inmost)
		return;
	if (s && (!ct->cpu || !select_record(s, &ct->cpu->stack, ct->trace, &ct->printer, ct->event,
					     &ct->record)))
		return;
	if (ct->text > ct->max_text)
		tree_make_room(ct);
	n = tree_append(ct, t, NODE_EVENT);
	if (!n)
		return;
	ct->printer.time_style = !t->buffer->nanoseconds  ? TIME_AS_COUNTER
				 : ct->opt->emit->nanosec ? TIME_IN_NSEC
							  : TIME_IN_USEC;
	buf_init(&text, LINE_LIMIT);
	buf_printf(&text, "%s: ", ct->event->name);
	event_print(&ct->printer, ct->event, &ct->record, &text);
	n->text = strndup(text.data, text.len);
	ct->text += n->text ? strlen(n->text) : 0;
	buf_free(&text);
}

static void switch_tasks(struct calltree *ct)
{
	const struct events *ev = ct->trace->events;
	struct tree_task *t;

	if (!number_in(&ct->prev_pid, &ct->record) || !number_in(&ct->next_pid, &ct->record))
		return;
	t = find_task(ct, (int)number_get(ev, &ct->prev_pid, &ct->record));
	if (t && t->inmost && in_range(ct)) {
		t->off = tree_append(ct, t, NODE_OFF);
		t->off_losses = ct->losses;
		t->off_id = ++ct->next_off;
		if (t->off)
			t->off->id = t->off_id;
	}
	t = find_task(ct, (int)number_get(ev, &ct->next_pid, &ct->record));
	if (!t || !t->off)
		return;
	if (t->off->kind == NODE_OFF && t->off->id == t->off_id && t->off_losses == ct->losses &&
	    ct->record.ts >= t->off->ts)
		t->off->dur = (int64_t)(ct->record.ts - t->off->ts);
	t->off = NULL;
}

/* Called for every record, after the analysis of calls got it. */
static void look_at(struct calltree *ct)
{
	for (size_t i = 0; i < ARRAY_SIZE(ct->graph); i++)
		if (ct->event == ct->graph[i])
			return;
	if (ct->event == ct->sched_switch)
		switch_tasks(ct);
	else if (!ct->told && in_range(ct))
		add_event(ct);
}

/* ---- calls ---- */

static void take_row(void *arg, const void *row)
{
	struct calltree *ct = arg;
	const struct call_row *c = row;
	const uint32_t cpu = c->cpu == ROW_NULL ? ct->record.cpu : (uint32_t)c->cpu;
	const uint64_t key = key_of((uint64_t)c->id >> CALL_ID_BITS, (int)c->pid, cpu);
	struct tree_task *t = slots_find(&ct->by_key, key);
	const bool inside = t && t->inmost;

	ct->told = true;
	if (c->phase == CALL_ENDS) {
		if (t && tree_active(ct, t))
			tree_end(ct, t, c);
		return;
	}
	if (!is_wanted(ct, c, inside))
		return;
	if (c->phase == CALL_BEGINS && !inside && !(c->func && tree_function(ct, c->func)))
		return;
	t = t ? t : slots_get(&ct->by_key, key);
	ct->result->any = true;
	if (!t || (!t->known && !init_task(ct, t, c, cpu)))
		ct->rc = ct->rc ? ct->rc : -E2BIG;
	else if (!tree_active(ct, t))
		return;
	else if (c->phase == CALL_BEGINS)
		tree_begin(ct, t, c);
	else
		tree_only_end(ct, t, c);
}

/* ---- passes ---- */

static int run_pass(struct calltree *ct, struct spur_error *err)
{
	struct feed *f = feed_new(ct->trace, &ct->opt->walk);
	size_t cut = SIZE_MAX;
	bool more = true;
	int rc = 0;

	feed_add(f, &calls_both_table, take_row, ct);
	feed_watch(f, "*:*", watch, ct);
	while (ct->rc == 0 && more) {
		ct->event = NULL;
		more = feed_step(f);
		if (more && ct->event)
			look_at(ct);
		for (size_t i = ct->cut; ct->cut < cut && i < ct->tasks.n; i++)
			tree_clear(ct, ct->tasks.at[i]);
		cut = ct->cut;
	}
	if (ct->rc == 0)
		rc = feed_error(f, err);
	if (rc == 0 && ct->rc == 0)
		tree_make_room(ct);
	/* Names of functions are freed with the feed. */
	for (size_t i = 0; i < ct->tasks.n; i++)
		tree_clear(ct, ct->tasks.at[i]);
	feed_free(f);
	return rc ? rc : ct->rc;
}

static int run_passes(struct calltree *ct, struct spur_error *err)
{
	int rc;

	do {
		ct->cut = SIZE_MAX;
		slots_init(&ct->cpus, sizeof(struct tree_cpu), CPUS_LIMIT);
		rc = run_pass(ct, err);
		slots_free(&ct->cpus);
		if (rc < 0 || ct->opt->order == CALLTREE_BY_TIME)
			break;
		for (size_t i = ct->first; i < ct->tasks.n && i < ct->cut; i++) {
			write_task(ct, ct->tasks.at[i]);
			give_up(ct, ct->tasks.at[i]);
		}
		rc = ct->rc;
		ct->first = ct->cut;
	} while (rc == 0 && ct->first < ct->tasks.n);
	return rc;
}

/* ---- all of it ---- */

static void bind_events(struct calltree *ct)
{
	static const char *const names[] = {"funcgraph_entry", "fgraph_retaddr_entry",
					    "funcgraph_exit"};
	struct events *ev = ct->trace->events;
	const struct symbol *from, *to;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		ct->graph[i] = events_find(ev, "ftrace", names[i]);
	ct->sched_switch = events_find(ev, "sched", "sched_switch");
	if (ct->sched_switch && event_ready(ct->sched_switch) != EVENT_BROKEN) {
		ct->prev_pid = number_of(ct->sched_switch, "prev_pid");
		ct->next_pid = number_of(ct->sched_switch, "next_pid");
	}
	from = symbols_find_name(ev->symbols, "__irqentry_text_start");
	to = symbols_find_name(ev->symbols, "__irqentry_text_end");
	ct->irq_from = from && to ? from->addr : 0;
	ct->irq_to = from && to ? to->addr : 0;
}

static int init(struct calltree *ct)
{
	const struct calltree_options *o = ct->opt;
	int rc = event_printer_init(&ct->printer, ct->trace->events);

	ct->printer.raw = o->emit->raw;
	ct->printer.no_handlers = o->emit->no_plugins;
	ct->printer.opt = o->emit->plugins;
	ct->max_nodes = o->max_nodes ? o->max_nodes : MAX_NODES;
	ct->max_text = o->max_text ? o->max_text : MAX_TEXT;
	intern_init(&ct->names, NAMES_LIMIT);
	slots_init(&ct->by_key, sizeof(struct tree_task), TASKS_LIMIT);
	ct->nodes = calloc(ct->max_nodes, sizeof(*ct->nodes));
	bind_events(ct);
	return rc < 0 ? rc : ct->nodes ? 0 : -ENOMEM;
}

int calltree_run(struct spur_trace *t, const struct calltree_options *opt,
		 struct calltree_result *result, struct spur_error *err)
{
	struct calltree ct = {.trace = t, .opt = opt, .result = result};
	int rc;

	*result = (struct calltree_result){0};
	rc = init(&ct);
	if (rc == 0)
		rc = run_passes(&ct, err);
	for (size_t i = 0; i < ct.tasks.n; i++)
		buf_free(&ct.tasks.at[i]->text);
	vec_free(&ct.tasks);
	free(ct.nodes);
	slots_free(&ct.by_key);
	intern_free(&ct.names);
	event_printer_done(&ct.printer);
	if (rc == -E2BIG && !err->code)
		return error_set(err, rc, "%s: more tasks than can be kept", t->dat->path);
	return rc == -ENOMEM && !err->code ? error_set(err, rc, "out of memory") : rc;
}
