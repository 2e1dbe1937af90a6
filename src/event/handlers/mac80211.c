// SPDX-License-Identifier: GPL-2.0-or-later
/* Wireless: what changed about a basic service set, over four lines. */
#include "event/handlers/handlers.h"

#define INDENT 65

/* The numbers of the text: how they are shown, and what comes behind them. */
static const struct {
	const char *name;
	bool hex;
	const char *after;
} numbers[] = {
	{"assoc", false, " "},
	{"aid", false, " "},
	{"cts", false, " "},
	{"shortpre", false, " "},
	{"shortslot", false, " "},
	{"dtimper", false, " \n"},
	{"bcnint", false, " "},
	{"assoc_cap", true, " "},
	{"basic_rates", true, " "},
	{"enable_beacon", false, "\n"},
	{"ht_operation_mode", false, ""},
};

#define NR_NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

struct bss_info {
	const struct event_field *wiphy, *vif;
	struct bound_field vif_type;
	struct bound_field num[NR_NUMBERS];
};

static void *bss_bind(struct events *ev, struct event *e)
{
	struct bss_info *d = arena_alloc(&ev->arena, sizeof(*d));

	if (!d)
		return NULL;
	d->wiphy = handler_field(e, "wiphy_name");
	d->vif = handler_field(e, "vif_name");
	d->vif_type = handler_bind_field(e, "vif_type");
	for (size_t i = 0; i < NR_NUMBERS; i++)
		d->num[i] = handler_bind_field(e, numbers[i].name);
	return d;
}

static void print_text(const struct event_printer *p, const struct event_field *f, const char *name,
		       const struct spur_record *r, struct buf *out)
{
	const char *text;
	size_t len;

	if (!f) {
		buf_puts(out, "NOTFOUND:");
		buf_puts(out, name);
		return;
	}
	text = handler_text(p->events, f, r, &len);
	buf_put(out, text, len);
}

/* As %d and %#x of an int. */
static void print_number(bool hex, uint64_t val, struct buf *out)
{
	if (hex && (uint32_t)val)
		buf_hex_pad(out, (uint32_t)val, 1);
	else
		buf_i64(out, (int32_t)val);
}

static void print_after(const char *after, struct buf *out)
{
	for (; *after; after++) {
		buf_putc(out, *after);
		if (*after == '\n')
			buf_fill(out, ' ', INDENT);
	}
}

static bool bss_print(struct event_printer *p, struct event *e, const struct spur_record *r,
		      struct buf *out)
{
	const struct bss_info *d = e->handler_data;
	uint64_t val;

	print_text(p, d->wiphy, "wiphy_name", r, out);
	buf_puts(out, " vif:");
	print_text(p, d->vif, "vif_name", r, out);
	if (bound_show(p->events, &d->vif_type, r, &val, out)) {
		buf_putc(out, '(');
		print_number(false, val, out);
		buf_putc(out, ')');
	}
	print_after("\n", out);
	for (size_t i = 0; i < NR_NUMBERS; i++) {
		if (bound_get(p->events, &d->num[i], r, &val)) {
			buf_puts(out, numbers[i].name);
			buf_putc(out, ':');
			print_number(numbers[i].hex, val, out);
		}
		print_after(numbers[i].after, out);
	}
	return true;
}

const struct event_handler mac80211_handlers[] = {
	{.system = "mac80211",
	 .name = "drv_bss_info_changed",
	 .bind = bss_bind,
	 .print = bss_print},
	{.name = NULL},
};
