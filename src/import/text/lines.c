// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Lines of the kernel's text, and what all of them begin with:
 *
 *	            bash-1977    [000] d..2. 17284.993652: sched_switch: prev_comm=…
 *	            bash-1977  (   1977) [000] .... 17284.993652: …
 *	            bash-1977    [000]  17284.993652: …
 *	    bash-1977      0d..2. 1234us+: …
 *
 * Depending on options there is the process between the task and the CPU, and no flags. The last
 * one is the latency format: microseconds since the trace began, or since the machine did, and a
 * sign for how long it was until the next line.
 */
#include "import/text/text.h"

#include <ctype.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/nanoseconds.h"
#include "base/num.h"

#define WINDOW (256u << 10)

void text_file_init(struct text_file *f, int fd)
{
	*f = (struct text_file){.fd = fd};
	buf_init(&f->window, WINDOW + TEXT_MAX_LINE + 1);
}

void text_file_free(struct text_file *f)
{
	buf_free(&f->window);
}

static void refill(struct text_file *f)
{
	const size_t left = f->window.len - f->pos;
	int64_t got;

	memmove(f->window.data, f->window.data + f->pos, left);
	f->window.len = left;
	f->pos = 0;
	if (!buf_room(&f->window, WINDOW)) {
		f->ended = true;
		return;
	}
	got = file_read_at(f->fd, f->window.data + left, WINDOW, f->at);
	if (got <= 0) {
		f->ended = true;
		f->rc = got < 0 ? (int)got : f->rc;
		return;
	}
	f->at += (uint64_t)got;
	f->window.len += (size_t)got;
}

const char *text_file_next(struct text_file *f, size_t *len)
{
	for (;;) {
		const size_t left = f->window.len - f->pos;
		const char *start = f->window.data + f->pos;
		const char *end = left ? memchr(start, '\n', left) : NULL;

		if (end) {
			*len = (size_t)(end - start);
			f->pos += *len + 1;
		} else if (left >= TEXT_MAX_LINE || (f->ended && left)) {
			*len = left < TEXT_MAX_LINE ? left : TEXT_MAX_LINE;
			f->pos += *len;
		} else if (f->ended) {
			return NULL;
		} else {
			refill(f);
			continue;
		}
		if (*len > TEXT_MAX_LINE)
			*len = TEXT_MAX_LINE;
		return start;
	}
}

/* ---- pieces --------------------------------------------------------------------------- */

void skip_blanks(struct piece *p)
{
	while (p->len && (*p->at == ' ' || *p->at == '\t'))
		piece_skip(p, 1);
}

bool take_text(struct piece *p, const char *text)
{
	const size_t len = strlen(text);

	if (p->len < len || memcmp(p->at, text, len) != 0)
		return false;
	piece_skip(p, len);
	return true;
}

void text_comm(struct import *im, int pid, struct piece comm)
{
	if (!piece_is(comm, "<...>"))
		import_comm(im, pid, comm.at, comm.len);
}

bool take_decimal(struct piece *p, uint64_t *v)
{
	size_t n = 0;

	*v = 0;
	for (; n < p->len && isdigit((unsigned char)p->at[n]); n++)
		if (__builtin_mul_overflow(*v, 10, v) ||
		    __builtin_add_overflow(*v, (uint64_t)(p->at[n] - '0'), v))
			return false;
	piece_skip(p, n);
	return n > 0;
}

bool take_hexadecimal(struct piece *p, uint64_t *v)
{
	size_t n = 0;

	*v = 0;
	for (; n < p->len && num_hex_digit(p->at[n]) >= 0; n++) {
		if (*v >> 60)
			return false;
		*v = *v << 4 | (uint64_t)num_hex_digit(p->at[n]);
	}
	piece_skip(p, n);
	return n > 0;
}

/* ---- heads ---------------------------------------------------------------------------- */

#define IRQS_OFF	  0x01
#define NEED_RESCHED_LAZY 0x02
#define NEED_RESCHED	  0x04
#define HARDIRQ		  0x08
#define SOFTIRQ		  0x10
#define PREEMPT_RESCHED	  0x20
#define NMI		  0x40
#define BH_OFF		  0x80

/* What each letter of the first three columns stands for. */
static const struct {
	char letter;
	uint8_t column, flags;
} letters[] = {
	{'d', 0, IRQS_OFF},
	{'D', 0, IRQS_OFF | BH_OFF},
	{'b', 0, BH_OFF},
	{'X', 0, 0},
	{'N', 1, NEED_RESCHED | PREEMPT_RESCHED},
	{'n', 1, NEED_RESCHED},
	{'p', 1, PREEMPT_RESCHED},
	{'B', 1, NEED_RESCHED | NEED_RESCHED_LAZY | PREEMPT_RESCHED},
	{'b', 1, NEED_RESCHED | NEED_RESCHED_LAZY},
	{'L', 1, NEED_RESCHED_LAZY | PREEMPT_RESCHED},
	{'l', 1, NEED_RESCHED_LAZY},
	{'Z', 2, NMI | HARDIRQ},
	{'z', 2, NMI},
	{'H', 2, HARDIRQ | SOFTIRQ},
	{'h', 2, HARDIRQ},
	{'s', 2, SOFTIRQ},
};

static bool take_flag(char c, unsigned int column, uint8_t *flags)
{
	if (c == '.')
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(letters); i++)
		if (letters[i].letter == c && letters[i].column == column) {
			*flags |= letters[i].flags;
			return true;
		}
	return false;
}

static bool take_depth(char c, unsigned int shift, uint8_t *depth)
{
	const int digit = num_hex_digit(c);

	if (digit >= 0)
		*depth |= (uint8_t)(digit << shift);
	return digit >= 0 || c == '.';
}

/* Three letters, and one or two depths; older kernels have fewer. */
static bool take_flags(struct piece *p, struct text_head *h)
{
	size_t n = 0;

	while (n < p->len && p->at[n] != ' ')
		n++;
	if (n < 3 || n > 5 || n == p->len)
		return false;
	for (unsigned int i = 0; i < 3; i++)
		if (!take_flag(p->at[i], i, &h->flags))
			return false;
	for (size_t i = 3; i < n; i++)
		if (!take_depth(p->at[i], i == 3 ? 0 : 4, &h->preempt_count))
			return false;
	piece_skip(p, n);
	return true;
}

/* "17284.993652: ", with nine digits from newer kernels on request, or "123456: ". */
static bool take_time(struct piece *p, struct text_head *h)
{
	uint64_t whole, part, unit;
	size_t before;

	if (!take_decimal(p, &whole))
		return false;
	if (take_text(p, ": ")) {
		h->ts = whole;
		h->ticks = true;
		return true;
	}
	if (!take_text(p, "."))
		return false;
	before = p->len;
	if (!take_decimal(p, &part))
		return false;
	unit = before - p->len == 6 ? 1000 : before - p->len == 9 ? 1 : 0;
	if (!unit || !take_text(p, ": ") || whole > UINT64_MAX / NS_PER_S - 1)
		return false;
	h->ts = whole * NS_PER_S + part * unit;
	return true;
}

/* "0d..2. 1234us+: " */
static bool take_latency(struct piece *p, struct text_head *h)
{
	uint64_t cpu, us;

	if (!take_decimal(p, &cpu) || cpu >= IMPORT_MAX_CPUS || !take_flags(p, h))
		return false;
	h->cpu = (uint32_t)cpu;
	skip_blanks(p);
	if (!take_decimal(p, &us))
		return false;
	if (take_text(p, ": ")) {
		h->ts = us;
		h->ticks = true;
		return true;
	}
	if (!take_text(p, "us") || !p->len || us > UINT64_MAX / 1000)
		return false;
	piece_skip(p, 1);
	h->ts = us * 1000;
	return take_text(p, ": ");
}

/* From "-PID" on; names may have anything in them. */
static bool take_rest(struct piece *p, struct text_head *h)
{
	uint64_t pid, cpu;
	struct piece without;

	if (!take_text(p, "-") || !take_decimal(p, &pid) || pid > INT32_MAX || !p->len ||
	    *p->at != ' ')
		return false;
	h->pid = (int)pid;
	skip_blanks(p);
	if (p->len && isdigit((unsigned char)*p->at))
		return take_latency(p, h);
	if (take_text(p, "(")) {
		uint64_t process;

		skip_blanks(p);
		if (!take_decimal(p, &process))
			while (take_text(p, "-"))
				;
		if (!take_text(p, ")"))
			return false;
		skip_blanks(p);
	}
	if (!take_text(p, "[") || !take_decimal(p, &cpu) || cpu >= IMPORT_MAX_CPUS ||
	    !take_text(p, "] "))
		return false;
	skip_blanks(p);
	h->cpu = (uint32_t)cpu;
	without = *p;
	if (!take_flags(p, h)) {
		h->flags = h->preempt_count = 0;
		*p = without;
	}
	skip_blanks(p);
	return take_time(p, h);
}

bool text_head_parse(struct piece line, struct text_head *head, struct piece *rest)
{
	struct piece name = line;

	skip_blanks(&name);
	for (size_t i = 1; i < name.len && i < 64; i++) {
		struct piece p = {name.at + i, name.len - i};
		struct text_head h = {.comm = {name.at, i}};

		if (name.at[i] == '-' && take_rest(&p, &h)) {
			*head = h;
			*rest = p;
			return true;
		}
	}
	return false;
}

bool text_lost_parse(struct piece p, uint32_t *cpu, int64_t *lost)
{
	uint64_t v;

	if (!take_text(&p, "CPU:") || !take_decimal(&p, &v) || v >= IMPORT_MAX_CPUS ||
	    !take_text(&p, " [LOST "))
		return false;
	*cpu = (uint32_t)v;
	*lost = -1;
	if (take_decimal(&p, &v) && v <= INT64_MAX && v)
		*lost = (int64_t)v;
	return true;
}

/* ---- cells of the function tracers' texts --------------------------------------------- */

struct piece text_trim(struct piece p)
{
	skip_blanks(&p);
	while (p.len && p.at[p.len - 1] == ' ')
		p.len--;
	return p;
}

bool text_take_cell(struct piece *p, struct piece *cell)
{
	const char *bar = memchr(p->at, '|', p->len);

	if (!bar)
		return false;
	*cell = text_trim((struct piece){p->at, (size_t)(bar - p->at)});
	p->len -= (size_t)(bar + 1 - p->at);
	p->at = bar + 1;
	return true;
}

bool text_is_task(struct piece cell, struct piece *comm, int *pid)
{
	size_t at = cell.len;
	struct piece digits;
	uint64_t v;

	while (at && isdigit((unsigned char)cell.at[at - 1]))
		at--;
	if (at < 2 || at == cell.len || cell.at[at - 1] != '-')
		return false;
	digits = (struct piece){cell.at + at, cell.len - at};
	if (!take_decimal(&digits, &v) || v > INT32_MAX)
		return false;
	*comm = (struct piece){cell.at, at - 1};
	*pid = (int)v;
	return true;
}

bool text_read_duration(struct piece cell, uint64_t *ns)
{
	uint64_t whole, part = 0;
	unsigned int digits = 0;

	*ns = 0;
	if (cell.len && strchr("+!#*@$", *cell.at))
		piece_skip(&cell, 1);
	skip_blanks(&cell);
	if (!cell.len || *cell.at == '=' || *cell.at == '<')
		return true;
	if (!take_decimal(&cell, &whole) || whole > 1ull << 40)
		return false;
	if (take_text(&cell, "."))
		for (; cell.len && isdigit((unsigned char)*cell.at) && digits < 3; digits++) {
			part = part * 10 + (uint64_t)(*cell.at - '0');
			piece_skip(&cell, 1);
		}
	for (; digits < 3; digits++)
		part *= 10;
	*ns = whole * 1000 + part;
	return take_text(&cell, " us");
}

bool text_is_comment(struct piece p, struct piece *text)
{
	p = text_trim(p);
	if (!take_text(&p, "/* "))
		return false;
	if (p.len >= 3 && memcmp(p.at + p.len - 3, " */", 3) == 0)
		p.len -= 3;
	*text = p;
	return true;
}
