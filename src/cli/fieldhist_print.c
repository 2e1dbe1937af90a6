// SPDX-License-Identifier: GPL-2.0-or-later
/* `spur hist EVENT.field`: counts and histograms as text, JSON and CSV. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "cli/fieldhist.h"
#include "cli/onefile.h"
#include "event/names.h"

#define BAR_WIDTH 40
#define MAX_WIDTH 60

static size_t nr_shown(const struct hist_shown *s, size_t n)
{
	return s->o->top && (uint64_t)s->o->top < n ? (size_t)s->o->top : n;
}

static void put_names(const struct hist_shown *s, const char *between, unsigned int n,
		      struct buf *to)
{
	for (unsigned int i = 0; i < n; i++) {
		buf_puts(to, i ? between : "");
		buf_put(to, s->h->fields[i].name, s->h->fields[i].len);
	}
}

/* ---- text ---- */

static void put_values(const struct hist_shown *s, const struct hist_entry *e, const size_t *widths,
		       struct buf *to)
{
	struct buf text;

	buf_init(&text, 1u << 16);
	for (unsigned int i = 0; i < s->h->nr; i++) {
		buf_reset(&text);
		fieldhist_put(s->h, i, &e->values[i], &text);
		buf_put_left(to, text.data, text.len < widths[i] ? text.len : widths[i], widths[i]);
		buf_puts(to, "  ");
	}
	buf_free(&text);
}

static void find_widths(const struct hist_shown *s, size_t n, size_t *widths)
{
	struct buf text;

	buf_init(&text, 1u << 16);
	for (unsigned int i = 0; i < s->h->nr; i++) {
		widths[i] = s->h->fields[i].len;
		for (size_t k = 0; k < n; k++) {
			buf_reset(&text);
			fieldhist_put(s->h, i, &s->h->entries.at[k]->values[i], &text);
			if (text.len > widths[i])
				widths[i] = text.len < MAX_WIDTH ? text.len : MAX_WIDTH;
		}
	}
	buf_free(&text);
}

static void put_counts(const struct hist_shown *s, struct buf *to)
{
	const struct fieldhist *h = s->h;
	const size_t n = nr_shown(s, h->entries.n);
	size_t widths[HIST_KEYS];
	uint64_t most = 1;

	find_widths(s, n, widths);
	for (unsigned int i = 0; i < h->nr; i++) {
		buf_put_left(to, h->fields[i].name, h->fields[i].len, widths[i]);
		buf_puts(to, "  ");
	}
	buf_puts(to, "     count       %\n");
	for (size_t i = 0; i < n; i++)
		if (h->entries.at[i]->count > most)
			most = h->entries.at[i]->count;
	for (size_t i = 0; i < n; i++) {
		const uint64_t count = h->entries.at[i]->count;
		const size_t bar = (size_t)((double)count / (double)most * BAR_WIDTH);

		put_values(s, h->entries.at[i], widths, to);
		buf_printf(to, "%10llu  %6.2f |", (unsigned long long)count,
			   100.0 * (double)count / (double)(h->total ? h->total : 1));
		buf_fill(to, '@', bar);
		buf_fill(to, ' ', BAR_WIDTH - bar);
		buf_puts(to, "|\n");
	}
	if (n < h->entries.n)
		buf_printf(to, "(%zu more; --top 0 shows all)\n", h->entries.n - n);
}

static void put_histograms(const struct hist_shown *s, struct buf *to)
{
	const struct fieldhist *h = s->h;
	size_t i = 0, shown = 0;

	while (i < h->entries.n && (!s->o->top || shown < (size_t)s->o->top)) {
		struct bars bars = {0};
		size_t next;

		for (unsigned int k = 0; k < h->nr_by; k++) {
			buf_puts(to, k ? ", " : shown ? "\n" : "");
			buf_printf(to, "%.*s ", (int)h->fields[k].len, h->fields[k].name);
			fieldhist_put(h, k, &h->entries.at[i]->values[k], to);
		}
		buf_puts(to, h->nr_by ? ":\n" : "");
		if (!fieldhist_bars(h, i, &next, &bars))
			return;
		bars_print(&bars, h->mode == HIST_LOG2 ? BARS_POWERS : BARS_NUMBERS, "", to);
		bars_free(&bars);
		i = next;
		shown++;
	}
	if (i < h->entries.n)
		buf_puts(to, "(more; --top 0 shows all)\n");
}

static void put_text(const struct hist_shown *s, struct buf *to)
{
	const struct fieldhist *h = s->h;

	buf_printf(to, "%s%s%s: %llu event%s\n", h->opt.what, h->opt.by ? " by " : "",
		   h->opt.by ? h->opt.by : "", (unsigned long long)h->total,
		   h->total == 1 ? "" : "s");
	if (fieldhist_is_ranges(h))
		put_histograms(s, to);
	else if (h->total)
		put_counts(s, to);
	if (h->rest)
		buf_printf(to, "%llu events had other values: too many to count each\n",
			   (unsigned long long)h->rest);
	if (h->missing)
		buf_printf(to, "%llu more did not have the fields\n",
			   (unsigned long long)h->missing);
	if (s->stopped)
		buf_puts(to, ONEFILE_STOPPED);
}

/* ---- for programs ---- */

static void put_json_value(const struct hist_shown *s, unsigned int i, const struct hist_value *v,
			   struct buf *to)
{
	struct buf text;

	buf_json_string(to, s->h->fields[i].name, s->h->fields[i].len);
	buf_puts(to, ": ");
	if (!v->text && !s->h->fields[i].is_text && s->h->fields[i].as != AS_HEX) {
		if (s->h->fields[i].is_signed)
			buf_i64(to, v->number);
		else
			buf_u64(to, (uint64_t)v->number);
		return;
	}
	buf_init(&text, 1u << 16);
	fieldhist_put(s->h, i, v, &text);
	buf_json_string(to, text.data, text.len);
	buf_free(&text);
}

static void put_json_entries(const struct hist_shown *s, struct buf *to)
{
	const struct fieldhist *h = s->h;
	const bool ranges = fieldhist_is_ranges(h);
	size_t i = 0, shown = 0;

	while (i < h->entries.n && (!s->o->top || shown < (size_t)s->o->top)) {
		const struct hist_entry *e = h->entries.at[i];
		struct bars bars = {0};

		buf_puts(to, shown++ ? ",\n{" : "\n{");
		for (unsigned int k = 0; k < (ranges ? h->nr_by : h->nr); k++) {
			put_json_value(s, k, &e->values[k], to);
			buf_puts(to, ", ");
		}
		if (!ranges) {
			buf_printf(to, "\"count\": %llu}", (unsigned long long)e->count);
			i++;
			continue;
		}
		if (!fieldhist_bars(h, i, &i, &bars))
			return;
		buf_puts(to, "\"histogram\": ");
		bars_json(&bars, to);
		buf_putc(to, '}');
		bars_free(&bars);
	}
}

static void put_json(const struct hist_shown *s, struct buf *to)
{
	const struct fieldhist *h = s->h;

	buf_puts(to, "{\"hist\": ");
	buf_json_string(to, h->opt.what, strlen(h->opt.what));
	buf_printf(to, ", \"events\": %llu, \"rest\": %llu, \"missing\": %llu, \"complete\": %s, ",
		   (unsigned long long)h->total, (unsigned long long)h->rest,
		   (unsigned long long)h->missing, s->stopped ? "false" : "true");
	buf_puts(to, fieldhist_is_ranges(h) ? "\"histograms\": [" : "\"values\": [");
	put_json_entries(s, to);
	buf_puts(to, "]}\n");
}

static void put_csv(const struct hist_shown *s, struct buf *to)
{
	const struct fieldhist *h = s->h;
	struct buf text;

	buf_init(&text, 1u << 16);
	put_names(s, ",", h->nr, to);
	buf_puts(to, ",count\n");
	for (size_t i = 0; i < nr_shown(s, h->entries.n); i++) {
		const struct hist_entry *e = h->entries.at[i];

		for (unsigned int k = 0; k < h->nr; k++) {
			buf_reset(&text);
			fieldhist_put(h, k, &e->values[k], &text);
			buf_csv_cell(to, text.data, text.len);
			buf_putc(to, ',');
		}
		buf_printf(to, "%llu\n", (unsigned long long)e->count);
	}
	buf_free(&text);
}

int hist_print(const struct hist_shown *s)
{
	struct buf out;
	int rc;

	buf_init(&out, ONEFILE_TEXT);
	if (s->o->json)
		put_json(s, &out);
	else if (s->o->csv)
		put_csv(s, &out);
	else
		put_text(s, &out);
	rc = cli_write(out.data, out.len);
	buf_free(&out);
	return rc;
}
