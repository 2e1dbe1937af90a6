// SPDX-License-Identifier: GPL-2.0-or-later
/* `spur info --findings`: what is worth a look in a trace, as text or JSON. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/safe.h"
#include "cli/cli.h"
#include "cli/onefile.h"
#include "query/findings.h"
#include "report/emit.h"

#define OUTPUT_LIMIT (64u << 20)

static bool counts_ns(const struct spur_trace *t)
{
	return !t->nr_buffers || t->buffers[0].nanoseconds;
}

/* ---- text ---- */

enum cell { VALUE, TIME, ON_CPU, TASK, WORDS, NR_CELLS };

static void put_duration(const struct spur_trace *t, int64_t ns, struct buf *to)
{
	if (!counts_ns(t))
		buf_printf(to, "%lld ticks", (long long)ns);
	else if (ns < 0)
		buf_printf(to, "%lld ns", (long long)ns);
	else
		buf_puts(to, amount_time((uint64_t)ns).text);
}

static void put_value(const struct spur_trace *t, const struct finding_row *r, struct buf *to)
{
	if (r->value == FINDING_NONE)
		buf_puts(to, "?");
	else if (r->unit == FINDING_NS)
		put_duration(t, r->value, to);
	else if (r->unit == FINDING_BYTES && r->value >= 0)
		buf_puts(to, amount_bytes((uint64_t)r->value).text);
	else
		buf_printf(to, "%lld", (long long)r->value);
	if (r->dur != FINDING_NONE) {
		buf_puts(to, " in ");
		put_duration(t, r->dur, to);
	}
}

/* As reports show it, but for the blanks in front. */
static void put_time(const struct spur_trace *t, int64_t ts, struct buf *to)
{
	const struct emit_options plain = {0};
	scoped_buf time = buf_new(64);

	if (ts == FINDING_NONE || !t->nr_buffers)
		return;
	emit_time(&plain, &t->buffers[0], (uint64_t)ts, &time);
	buf_str(&time);
	buf_puts(to, time.data + strspn(time.data, " "));
}

static void put_task(const struct finding_row *r, struct buf *to)
{
	if (r->comm)
		buf_puts(to, r->comm);
	if (r->pid != FINDING_NONE)
		buf_printf(to, "%s%lld", r->comm && *r->comm ? "-" : "", (long long)r->pid);
}

/* One cell, on one line, without control characters. */
static void put_cell(const struct spur_trace *t, const struct finding_row *r, enum cell c,
		     struct buf *to)
{
	switch (c) {
	case VALUE: put_value(t, r, to); break;
	case TIME: put_time(t, r->ts, to); break;
	case ON_CPU:
		if (r->cpu != FINDING_NONE)
			buf_printf(to, "CPU %lld", (long long)r->cpu);
		break;
	case TASK: put_task(r, to); break;
	default:
		buf_puts(to, r->text);
		if (r->buffer && *r->buffer)
			buf_printf(to, ", in buffer %s", r->buffer);
	}
	buf_clean(to, 0);
	for (size_t i = 0; i < to->len; i++)
		if (to->data[i] == '\n' || to->data[i] == '\t')
			to->data[i] = ' ';
}

static void measure(const struct spur_trace *t, const struct finding *f, size_t *widths)
{
	scoped_buf cell = buf_new(OUTPUT_LIMIT);

	for (enum cell c = 0; c < WORDS; c++) {
		widths[c] = 0;
		for (size_t i = 0; i < f->rows.n; i++) {
			buf_reset(&cell);
			put_cell(t, &f->rows.at[i], c, &cell);
			if (cell.len > widths[c])
				widths[c] = cell.len;
		}
	}
}

static void put_row(const struct spur_trace *t, const struct finding_row *r, const size_t *widths,
		    struct buf *out)
{
	scoped_buf cell = buf_new(OUTPUT_LIMIT);

	for (enum cell c = 0; c < NR_CELLS; c++) {
		const size_t width = c < WORDS ? widths[c] : 0;

		buf_reset(&cell);
		put_cell(t, r, c, &cell);
		if (c < WORDS && !width)
			continue;
		buf_puts(out, "  ");
		if (c <= TIME)
			buf_fill(out, ' ', width - cell.len);
		buf_put(out, cell.data, cell.len);
		if (c > TIME && c < WORDS)
			buf_fill(out, ' ', width - cell.len);
	}
	buf_putc(out, '\n');
}

static void put_finding(const struct spur_trace *t, const struct finding *f, bool colour,
			struct buf *out)
{
	size_t widths[NR_CELLS];

	buf_printf(out, colour ? "\033[1m%s\033[0m" : "%s", f->name);
	if (*f->about) {
		buf_puts(out, ": ");
		buf_put_safe(out, f->about, strlen(f->about));
	}
	buf_putc(out, '\n');
	measure(t, f, widths);
	for (size_t i = 0; i < f->rows.n; i++)
		put_row(t, &f->rows.at[i], widths, out);
	buf_putc(out, '\n');
}

static void put_nothing(const struct findings *all, struct buf *out)
{
	bool any = false;

	vec_each (f, all) {
		if (f->rows.n || f->needs || f->err.code)
			continue;
		buf_printf(out, "%s%s", any ? ", " : "nothing found: ", f->name);
		any = true;
	}
	if (any)
		buf_putc(out, '\n');
}

static bool same_recording(const struct finding *a, const struct finding *b)
{
	return a->needs && b->needs && strcmp(a->record, b->record) == 0;
}

/* What was not recorded: those that need the same events together. */
static void put_missing(const struct findings *all, struct buf *out)
{
	for (size_t i = 0; i < all->n; i++) {
		const struct finding *f = &all->at[i];
		size_t first = 0;

		while (first < i && !same_recording(&all->at[first], f))
			first++;
		if (!f->needs || first < i)
			continue;
		buf_printf(out, "not recorded: %s", f->name);
		for (size_t k = i + 1; k < all->n; k++)
			if (same_recording(f, &all->at[k]))
				buf_printf(out, ", %s", all->at[k].name);
		buf_puts(out, " (spur record ");
		buf_put_safe(out, f->record, strlen(f->record));
		buf_puts(out, ")\n");
	}
}

static void put_text(const struct spur_trace *t, const struct findings *all, bool colour,
		     struct buf *out)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->at[i].rows.n)
			put_finding(t, &all->at[i], colour, out);
	put_nothing(all, out);
	put_missing(all, out);
}

/* ---- JSON ---- */

static void json_text(struct json_writer *w, const char *name, const char *value)
{
	if (value)
		json_put_text(json_key(w, name), value);
}

static void json_number(struct json_writer *w, const char *name, int64_t n)
{
	if (n != FINDING_NONE)
		json_put_i64(json_key(w, name), n);
}

static void json_row(const struct spur_trace *t, const struct finding_row *r, struct json_writer *w)
{
	static const char *const units[NR_FINDING_UNITS] = {
		[FINDING_NS] = "ns", [FINDING_COUNT] = "count", [FINDING_BYTES] = "bytes"};

	json_object(w);
	json_text(w, "unit", r->unit == FINDING_NS && !counts_ns(t) ? "ticks" : units[r->unit]);
	if (r->value == FINDING_NONE)
		json_put_raw(json_key(w, "value"), "null");
	json_number(w, "value", r->value);
	json_number(w, "ts", r->ts);
	json_number(w, "dur", r->dur);
	json_number(w, "cpu", r->cpu);
	json_number(w, "pid", r->pid);
	json_text(w, "comm", r->comm);
	json_text(w, "buffer", r->buffer);
	json_text(w, "text", r->text);
	json_end_object(w);
}

static void json_finding(const struct spur_trace *t, const struct finding *f, struct json_writer *w)
{
	json_object(w);
	json_text(w, "name", f->name);
	json_text(w, "about", f->about);
	json_text(w, "needs", f->needs);
	json_text(w, "record", f->record);
	json_text(w, "error", f->err.code ? f->err.text : NULL);
	json_array(json_key(w, "rows"));
	for (size_t i = 0; i < f->rows.n; i++)
		json_row(t, &f->rows.at[i], w);
	json_end_array(w);
	json_end_object(w);
}

static void put_json(const struct spur_trace *t, const struct findings *all, struct buf *b)
{
	struct json_writer w = {b};

	json_object(&w);
	json_text(&w, "file", t->dat->path);
	json_array(json_key(&w, "findings"));
	for (size_t i = 0; i < all->n; i++)
		json_finding(t, &all->at[i], &w);
	json_end_array(&w);
	json_end_object(&w);
	buf_putc(b, '\n');
}

/* ---- all of them ---- */

static int write_all(const struct spur_trace *t, const struct findings *all, bool json, bool colour,
		     struct spur_error *err)
{
	scoped_buf out = buf_new(OUTPUT_LIMIT);
	int rc;

	if (json)
		put_json(t, all, &out);
	else
		put_text(t, all, colour, &out);
	rc = out.full ? -ENOMEM : cli_write_coloured(out.data, out.len);
	return cli_result(rc, "writing the findings", err);
}

/* Says which queries failed; the exit status of the first one. */
static int print_failures(const struct findings *all)
{
	int status = SPUR_OK;

	vec_each (f, all) {
		if (!f->err.code)
			continue;
		cli_error("finding %s: %s", f->name, f->err.text);
		if (status == SPUR_OK)
			status = (int)spur_error_status(f->err.code);
	}
	return status;
}

int findings_show(struct spur_trace *t, const char *names, int64_t rows, bool json, bool colour)
{
	struct progress progress;
	const struct findings_options opt = {
		.names = *names ? names : NULL,
		.rows = (uint64_t)rows,
		.stop = &cli_stop,
		.progress = isatty(STDERR_FILENO) ? progress_show : NULL,
		.arg = &progress,
	};
	struct findings all;
	struct spur_error err = {0};
	int rc, status, failed;

	progress_begin(&progress);
	rc = findings_make(t, &opt, &all, &err);
	progress_end(&progress);
	status = cli_result(rc, "looking for findings", &err);
	if (rc == 0) {
		status = write_all(t, &all, json, colour, &err);
		failed = print_failures(&all);
		if (status == SPUR_OK)
			status = failed;
		if (status == SPUR_OK)
			onefile_say_missing(t);
	}
	findings_free(&all);
	return status;
}
