// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The tables of `spur dump`: layouts, formats, symbols, names of tasks.
 *
 * Version 6 has them in one row. In version 7 an option names the section of each; they are shown
 * from the last such option to the first, as trace-cmd does, and behind them those that were found
 * although no option names them.
 */
#include "base/cursor.h"
#include "cli/dump.h"

static void show_sized(struct dump *p, uint32_t item, const char *name, const struct dat_blob *text)
{
	/* A text that was found has an offset, even when it is empty. */
	if (!text->offset)
		return;
	dump_say(p, ITEM(SUMMARY) | item, "\t[%s, %zu bytes]\n", name, text->size);
	dump_text(p, item, text);
}

static void show_headers(struct dump *p)
{
	show_sized(p, ITEM(HEAD_PAGE), "Header page", &p->dat->header_page);
	show_sized(p, ITEM(HEAD_EVENT), "Header event", &p->dat->header_event);
}

static void show_ftrace(struct dump *p)
{
	const struct dat *d = p->dat;

	dump_say(p, ITEM(SUMMARY) | ITEM(FTRACE), "\t[Ftrace format, %zu events]\n",
		 d->nr_ftrace_formats);
	for (size_t i = 0; i < d->nr_ftrace_formats; i++)
		dump_text(p, ITEM(FTRACE), &d->formats[i].text);
}

static void show_events(struct dump *p)
{
	const struct dat *d = p->dat;
	size_t at = d->nr_ftrace_formats;

	dump_say(p, ITEM(SUMMARY) | ITEM(EVENTS) | ITEM(SYSTEMS),
		 "\t[Events format, %zu systems]\n", d->nr_systems);
	for (size_t i = 0; i < d->nr_systems; i++) {
		const struct dat_system *s = &d->systems[i];

		dump_say(p, ITEM(SYSTEMS), "\t\t%.1023s %u [system, events]\n", s->name,
			 s->nr_formats);
		for (uint32_t k = 0; k < s->nr_formats && at < d->nr_formats; k++)
			dump_text(p, ITEM(EVENTS), &d->formats[at++].text);
	}
}

static void show_kallsyms(struct dump *p)
{
	show_sized(p, ITEM(KALLSYMS), "Kallsyms", &p->dat->kallsyms);
}

static void show_printk(struct dump *p)
{
	show_sized(p, ITEM(PRINTK), "Trace printk", &p->dat->printk);
}

static void show_cmdlines(struct dump *p)
{
	show_sized(p, ITEM(CMDLINES), "Saved command lines", &p->dat->cmdlines);
}

/* In the order of version 6. */
static const struct table {
	unsigned int id; /* enum dat_option_id */
	size_t has;	 /* offset of the flag that says the file has it */
	uint32_t items;	 /* which print the head of its section */
	void (*show)(struct dump *p);
} tables[] = {
	{DAT_OPT_HEADER_INFO, offsetof(struct dat, has_header), ITEM(HEAD_PAGE) | ITEM(HEAD_EVENT),
	 show_headers},
	{DAT_OPT_FTRACE_EVENTS, offsetof(struct dat, has_ftrace), ITEM(FTRACE), show_ftrace},
	{DAT_OPT_EVENT_FORMATS, offsetof(struct dat, has_formats), ITEM(SYSTEMS) | ITEM(EVENTS),
	 show_events},
	{DAT_OPT_KALLSYMS, offsetof(struct dat, has_kallsyms), ITEM(KALLSYMS), show_kallsyms},
	{DAT_OPT_PRINTK, offsetof(struct dat, has_printk), ITEM(PRINTK), show_printk},
	{DAT_OPT_CMDLINES, offsetof(struct dat, has_cmdlines), ITEM(CMDLINES), show_cmdlines},
};
#define NR_TABLES (sizeof(tables) / sizeof(tables[0]))

static bool has(const struct dat *d, const struct table *t)
{
	return *(const bool *)((const char *)d + t->has);
}

/* The section of a table: where its option says, else any of its kind. */
static const struct dat_section *section_of(const struct dump *p, unsigned int id,
					    const struct dat_option *o)
{
	const struct dat *d = p->dat;
	struct cursor c = cursor_over(o ? (const void *)o->data.data : "", o ? o->data.size : 0,
				      d->big_endian);
	const struct dat_section *s = o ? dump_find_section(p, cursor_u64(&c)) : NULL;

	if (s && s->id == id)
		return s;
	for (size_t i = 0; i < d->nr_sections; i++)
		if (d->sections[i].id == id)
			return &d->sections[i];
	return NULL;
}

/* Shows a table the first time it is asked to; `shown` has a bit for each. */
static void show_table(struct dump *p, size_t which, const struct dat_option *o, uint32_t *shown)
{
	const struct table *t = &tables[which];
	const struct dat_section *s;

	if ((*shown & 1u << which) || !has(p->dat, t))
		return;
	*shown |= 1u << which;
	s = section_of(p, t->id, o);
	if (s)
		dump_section_head(p, t->items, s);
	t->show(p);
}

void dump_tables(struct dump *p)
{
	const struct dat *d = p->dat;
	uint32_t shown = 0;

	for (size_t i = d->version < 7 ? 0 : d->nr_options; i-- > 0;)
		for (size_t k = 0; k < NR_TABLES; k++)
			if (tables[k].id == d->options[i].id)
				show_table(p, k, &d->options[i], &shown);
	for (size_t k = 0; k < NR_TABLES; k++)
		show_table(p, k, NULL, &shown);
}
