// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counting values of fields in the running kernel: a script whose only map has the fields as its
 * key. Ranges by powers of two are the map's values, all others are part of the key.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "measure/fieldhist_live.h"
#include "base/array.h"
#include "base/error.h"
#include "code/unit.h"
#include "script/script.h"

#define SCRIPT_LIMIT (1u << 20)
#define TEXT_LIMIT   4096
#define COUNTS	     "n"
#define ENTRIES	     "16384"
#define FEW_ENTRIES  "2048" /* of histograms */

struct counting {
	struct fieldhist *h;
	const struct fieldhist_live *o;
};

/* ---- the script ---- */

static int put_key(const struct hist_field *f, struct event *e, struct buf *to,
		   struct spur_error *err)
{
	static const char *const before[] = {[AS_SYM] = "ksym(",
					     [AS_SYSCALL] = "syscall_name(",
					     [AS_USECS] = "(",
					     [AS_BUCKETS] = "("};
	struct field_ref ref;
	int rc = field_ref_find(e, f->name, f->len, &ref, err);

	if (rc < 0)
		return rc;
	if (f->as == AS_LOG2 || f->as == AS_EXECNAME || f->as == AS_SYM_OFFSET)
		return error_set(err, -EINVAL,
				 "live, .log2, .execname and .sym-offset are not possible");
	if (f->as <= AS_SYSCALL && f->as < ARRAY_SIZE(before) && before[f->as])
		buf_puts(to, before[f->as]);
	rc = live_put_field(to, e, f->name, f->len, err);
	if (f->as == AS_USECS)
		buf_puts(to, " / 1000)");
	else if (f->as == AS_BUCKETS)
		buf_printf(to, " / %lld * %lld)", (long long)f->step, (long long)f->step);
	else if (f->as == AS_SYM || f->as == AS_SYSCALL)
		buf_putc(to, ')');
	return rc;
}

/* A number of unknown range is counted in ranges of powers of two. */
static int choose_mode(struct fieldhist *h, struct event *e, struct spur_error *err)
{
	struct hist_field *f = &h->fields[h->nr - 1];
	struct field_ref ref;
	int rc = field_ref_find(e, f->name, f->len, &ref, err);

	if (rc < 0)
		return rc;
	if (fieldhist_is_ranges(h) && field_ref_is_text(&ref))
		return error_set(err, -EINVAL, "'%.*s' is text: there are no ranges of it",
				 (int)f->len, f->name);
	if (h->mode == HIST_AUTO)
		h->mode = h->nr - h->nr_by == 1 && f->as == AS_IS && ref.kind == REF_NUMBER &&
					  !fieldhist_is_id(ref.field)
				  ? HIST_LOG2
				  : HIST_COUNT;
	return 0;
}

static int put_statement(const struct fieldhist *h, struct event *e, struct buf *to,
			 struct spur_error *err)
{
	const unsigned int last = h->nr - 1, keys = h->mode == HIST_LOG2 ? last : h->nr;
	int rc = 0;

	buf_puts(to, "\t\t@" COUNTS "[");
	for (unsigned int i = 0; rc == 0 && i < keys; i++) {
		buf_puts(to, i ? ", " : "");
		rc = put_key(&h->fields[i], e, to, err);
		if (h->mode == HIST_LINEAR && i == last)
			buf_printf(to, " / %lld * %lld", (long long)h->step, (long long)h->step);
	}
	buf_puts(to, keys ? "] = " : "0] = ");
	if (h->mode == HIST_LOG2) {
		buf_puts(to, "hist(");
		if (rc == 0)
			rc = put_key(&h->fields[last], e, to, err);
		buf_puts(to, ");\n");
	} else {
		buf_puts(to, "count();\n");
	}
	return rc;
}

static int put_event(const struct fieldhist *h, const struct live_who *who, struct event *e,
		     struct buf *to, struct spur_error *err)
{
	int rc = 0;

	buf_printf(to, "\ntracepoint:%s:%s\n{\n\tif (", e->system, e->name);
	if (h->event.filter_len) {
		buf_putc(to, '(');
		rc = live_put_filter(to, e, h->event.filter, h->event.filter_len, err);
		buf_puts(to, ") && ");
	}
	if (rc == 0)
		rc = live_put_who(to, who, "tid", "comm", "cpu", err);
	buf_puts(to, ") {\n");
	if (rc == 0)
		rc = put_statement(h, e, to, err);
	buf_puts(to, "\t}\n}\n");
	return rc;
}

static void put_timer(struct buf *to, uint64_t ns, const char *what)
{
	if (!ns)
		return;
	buf_putc(to, '\n');
	live_put_interval(to, ns);
	buf_printf(to, "\n{\n\t%s;\n}\n", what);
}

static int write_script(struct fieldhist *h, const struct fieldhist_live *o, struct buf *to,
			struct spur_error *err)
{
	struct live_events kernel;
	struct event_selector c = {0};
	int rc = live_events_open(&kernel, err);

	if (rc == 0)
		rc = live_choice(&kernel, &h->event, &c, err);
	if (rc == 0)
		rc = choose_mode(h, c.at[0], err);
	buf_printf(to, "config = {\n\tprint_maps_on_exit = false;\n}\n\n");
	buf_printf(to, "let @" COUNTS " = percpuhash(%s);\n",
		   h->mode == HIST_LOG2 ? FEW_ENTRIES : ENTRIES);
	for (size_t i = 0; rc == 0 && i < c.n; i++)
		rc = put_event(h, &o->who, c.at[i], to, err);
	put_timer(to, o->interval, "print(@" COUNTS ")");
	put_timer(to, o->duration, "exit()");
	buf_puts(to, "\nend\n{\n\tprint(@" COUNTS ");\n}\n");
	selector_free(&c);
	live_events_close(&kernel);
	return rc == 0 && buf_full(to) ? error_set(err, -ENOMEM, "the script is too long") : rc;
}

/* ---- its map ---- */

/* A number with a name is treated as text: only the name is known here. */
static int take_key(struct counting *c, struct output *o, unsigned int i, const struct vtype *t,
		    const uint8_t *v, struct hist_value *to)
{
	struct hist_field *f = &c->h->fields[i];
	struct buf *usual = o->to, text;

	f->is_text = t->kind != V_INT;
	f->is_signed |= t->is_signed;
	if (!f->is_text) {
		to->number = live_number(t, v);
		return 0;
	}
	buf_init(&text, TEXT_LIMIT);
	o->to = &text;
	output_value(o, t, v);
	o->to = usual;
	to->text = strdup(buf_str(&text));
	buf_free(&text);
	return to->text ? 0 : -ENOMEM;
}

static int take_row(struct counting *c, struct output *o, const struct map_def *m,
		    const struct map_row *row)
{
	struct fieldhist *h = c->h;
	const unsigned int keys = h->mode == HIST_LOG2 ? h->nr - 1 : h->nr;
	struct hist_value values[HIST_KEYS] = {0}, copy[HIST_KEYS];
	uint64_t count;
	int rc = 0;

	for (unsigned int i = 0; rc == 0 && i < keys; i++) {
		const bool tuple = m->key.kind == V_TUPLE;
		const struct vtype *t =
			tuple && i < m->key.nr_elems ? m->key.elems[i].type : &m->key;
		const uint32_t offset = tuple && i < m->key.nr_elems ? m->key.elems[i].offset : 0;

		rc = take_key(c, o, i, t, row->key + offset, &values[i]);
	}
	for (uint32_t k = 0; rc == 0 && h->mode == HIST_LOG2 && k < agg_hist_buckets(0); k++) {
		int64_t to;

		memcpy(&count, row->value + k * sizeof(count), sizeof(count));
		if (!count)
			continue;
		memcpy(copy, values, sizeof(copy));
		for (unsigned int i = 0; i < keys; i++)
			copy[i].text = values[i].text ? strdup(values[i].text) : NULL;
		agg_hist_range(k, 0, &copy[keys].number, &to);
		if (k == 0)
			copy[keys].number = -1;
		fieldhist_count(h, copy, count);
	}
	if (rc == 0 && h->mode != HIST_LOG2) {
		memcpy(&count, row->value, sizeof(count));
		fieldhist_count(h, values, count);
		return 0;
	}
	fieldhist_free_values(h, values);
	return rc;
}

static int on_map(void *arg, struct output *o, const struct map_def *m, const struct map_rows *rows)
{
	struct counting *c = arg;
	int rc = 0;

	fieldhist_clear(c->h);
	for (size_t i = 0; rc == 0 && i < rows->n; i++)
		rc = take_row(c, o, m, &rows->at[i]);
	return rc == 0 ? c->o->show(c->o->arg, c->h) : rc;
}

static void on_note(void *arg, const char *text)
{
	const struct counting *c = arg;

	if (c->o->note)
		c->o->note(c->o->arg, text);
}

int fieldhist_live(struct fieldhist *h, const struct fieldhist_live *o, struct spur_error *err)
{
	struct counting c = {.h = h, .o = o};
	struct script_options opt = {
		.stop_fd = o->stop_fd, .map = on_map, .note = on_note, .arg = &c};
	struct buf text;
	int rc;

	buf_init(&text, SCRIPT_LIMIT);
	rc = write_script(h, o, &text, err);
	if (rc == 0)
		rc = live_script_run(&opt, &text, err);
	buf_free(&text);
	return rc;
}
