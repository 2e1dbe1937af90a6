// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The tree of calls: reading the trace, and writing tasks in their order.
 *
 * By task, a pass over the trace writes the lines of the first task as they come and keeps those
 * of the others. When they become too many, the last tasks are given up: another pass is made for
 * them.
 */
#include "stats/calltree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stats/calltree_parts.h"
#include "table/feed.h"
#include "base/error.h"
#include "base/vec.h"
#include "event/names.h"

#define MAX_NODES   (1u << 18)
#define MAX_TEXT    (32u << 20) /* of events that wait, and of tasks that wait */
#define TEXT_LIMIT  (128u << 20)
#define LINE_LIMIT  (64u << 10)
#define TASKS_LIMIT (32u << 20)
#define NAMES_LIMIT (8u << 20)
#define CPUS_LIMIT  (4u << 20)

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

/* The nodes of tasks that are given up stay until nobody is printing them. */
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

/* Whether something that is no call happened in the time that was asked for. */
static bool in_range(const struct calltree *ct)
{
	const struct walk_options *w = &ct->opt->walk;

	return ct->record.ts >= w->since && (!w->until || ct->record.ts <= w->until);
}

static void add_loss(struct calltree *ct, struct tree_task *t)
{
	struct node *n;

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
	struct tree_task **slot = vec_push(&ct->tasks);

	comm = intern_text(&ct->names, comm, strlen(comm));
	if (!slot)
		return false;
	*slot = t;
	t->known = true;
	t->pid = c->pid;
	t->comm = comm ? comm : "";
	t->buffer = &ct->trace->buffers[c->id >> CALL_ID_BITS];
	t->cpu = cpu;
	t->order = ct->tasks.n - 1;
	buf_init(&t->text, TEXT_LIMIT);
	/* Nobody knew the task when the loss was told. */
	if (ct->record.lost)
		add_loss(ct, t);
	return true;
}

/* What is inside of a call that is shown is so whatever the task is called by now. */
static bool is_wanted(const struct calltree *ct, const struct call_row *c, bool inside)
{
	const struct calltree_options *o = ct->opt;

	if (!inside && o->wanted && !o->wanted(o->wanted_arg, c->pid, c->comm))
		return false;
	return !tree_left_out(ct);
}

/* ---- what else was recorded ---- */

/* Whom it concerns: who was on the CPU before, and who is. */
static void note_loss(struct calltree *ct, struct tree_task *now, struct tree_task *before)
{
	ct->losses++;
	add_loss(ct, before);
	if (now != before)
		add_loss(ct, now);
}

/* Before a record is given to the calls. */
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
	struct node *n;
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

/* After a record has been given to the calls. */
static void look_at(struct calltree *ct)
{
	for (size_t i = 0; i < sizeof(ct->graph) / sizeof(ct->graph[0]); i++)
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
	struct feed *f = feed_new(ct->trace, &ct->opt->walk, err);
	size_t cut = SIZE_MAX;
	bool more = true;
	int rc;

	if (!f)
		return -ENOMEM;
	rc = feed_add(f, &calls_both_table, take_row, ct, err);
	if (rc == 0)
		rc = feed_watch(f, "*:*", watch, ct, err);
	while (rc == 0 && ct->rc == 0 && more) {
		ct->event = NULL;
		more = feed_step(f);
		if (more && ct->event)
			look_at(ct);
		for (size_t i = ct->cut; ct->cut < cut && i < ct->tasks.n; i++)
			tree_clear(ct, ct->tasks.at[i]);
		cut = ct->cut;
	}
	if (rc == 0 && ct->rc == 0)
		rc = feed_error(f, err);
	if (rc == 0 && ct->rc == 0)
		tree_make_room(ct);
	/* Names of functions go with the feed. */
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

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
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
