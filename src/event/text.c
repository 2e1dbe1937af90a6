// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Expressions as text: what %s makes of a field, a list of flags, some bytes, and what %p makes of
 * an address.
 *
 * The loops are bounded by the record's size and by PLAN_MAX_TEXT, whatever a format asks for.
 */
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/array.h"
#include "event/names.h"
#include "event/plan.h"

static const struct spec plain = {.conv = CONV_STRING};

/* ---- fields ---------------------------------------------------------------------------- */

/* A pointer to a string of the kernel: some are known by their address. */
static void print_kernel_string(struct run *x, const struct event_field *f)
{
	const bool native = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	const char *text;
	uint64_t addr = 0;
	size_t left;
	const uint8_t *p = run_bytes(x, f->offset, &left);

	/* Read in this machine's byte order, as libtraceevent does. */
	if (f->size <= left)
		addr = load_uint(p, f->size, native);
	text = printk_format_find(x->events->printk, addr);
	if (text)
		buf_puts(x->out, text);
	else
		buf_hex(x->out, addr);
}

static void print_field(struct run *x, const struct expr *e, const struct spec *s, int star)
{
	const struct event_field *f = e->field.at;
	const uint8_t *p;
	size_t left;

	if (!f)
		return;
	if (!(f->flags & FIELD_ARRAY) && f->size == x->events->long_size) {
		print_kernel_string(x, f);
		return;
	}
	p = run_bytes(x, f->offset, &left);
	/* Fields of size 0 reach to the end of the record. */
	if (f->size && f->size < left)
		left = f->size;
	spec_string(x->out, s, star, (const char *)p, strnlen((const char *)p, left));
}

static void print_dynamic_string(struct run *x, const struct expr *e, const struct spec *s,
				 int star)
{
	uint32_t offset, len;
	const char *text;

	if (!e->field.at)
		return;
	run_dynamic(x, e->field.at, &offset, &len);
	if (!len)
		return;
	len = (uint32_t)run_text(x, offset, &text);
	spec_string(x->out, s, star, text, len);
}

/* ---- names ----------------------------------------------------------------------------- */

static void put_unnamed(struct run *x, int64_t value)
{
	buf_put(x->out, "0x", 2);
	buf_hex(x->out, (uint64_t)value);
}

static void print_flags(struct run *x, const struct expr *e, const struct spec *s, int star)
{
	int64_t value = (int64_t)expr_number(x, e->names.value);
	bool some = false;

	for (size_t i = 0; i < e->names.nr && run_goes_on(x); i++) {
		const struct expr_name *name = &e->names.list[i];

		if (!value && name->value < 0) {
			spec_string(x->out, s, star, name->text, name->len);
			break;
		}
		if (name->value <= 0 || (value & name->value) != name->value)
			continue;
		if (some && e->names.delim)
			buf_puts(x->out, e->names.delim);
		spec_string(x->out, s, star, name->text, name->len);
		some = true;
		value &= ~name->value;
	}
	if (!value)
		return;
	if (some && e->names.delim)
		buf_puts(x->out, e->names.delim);
	put_unnamed(x, value);
}

static void print_symbol(struct run *x, const struct expr *e, const struct spec *s, int star)
{
	int64_t value = (int64_t)expr_number(x, e->names.value);

	for (size_t i = 0; i < e->names.nr; i++) {
		const struct expr_name *name = &e->names.list[i];

		if (name->value == value) {
			spec_string(x->out, s, star, name->text, name->len);
			return;
		}
	}
	put_unnamed(x, value);
}

/* ---- bytes ----------------------------------------------------------------------------- */

/* The bytes that __print_hex() or __print_array() shows; false when the argument has none. */
static bool bytes_of(struct run *x, const struct expr *e, const uint8_t **p, size_t *left)
{
	uint32_t offset, len;

	e = expr_uncast(e);
	if ((e->kind != EXPR_FIELD && e->kind != EXPR_DYNAMIC) || !e->field.at)
		return false;
	offset = e->field.at->offset;
	if (e->kind == EXPR_DYNAMIC)
		run_dynamic(x, e->field.at, &offset, &len);
	*p = run_bytes(x, offset, left);
	return true;
}

static void print_hex(struct run *x, const struct expr *e, const struct spec *s, int star)
{
	const uint8_t *p;
	size_t left;
	uint32_t count;

	if (!bytes_of(x, e->bytes.data, &p, &left))
		return;
	count = (uint32_t)expr_number(x, e->bytes.count);
	for (size_t i = 0; i < count && i < left && run_goes_on(x); i++) {
		if (i && e->kind == EXPR_HEX)
			buf_putc(x->out, ' ');
		spec_hex_byte(x->out, p[i], false);
	}
}

static void put_element(struct run *x, const uint8_t *p, uint32_t size)
{
	/* In this machine's byte order, as libtraceevent does. */
	uint64_t v = load_uint(p, size, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);

	if (x->events->compat == COMPAT_31)
		buf_u64(x->out, v);
	else
		put_unnamed(x, (int64_t)v);
}

static void print_array(struct run *x, const struct expr *e, const struct spec *s, int star)
{
	const bool old = x->events->compat == COMPAT_31;
	const uint8_t *p;
	size_t left;
	uint32_t count, size;

	if (!bytes_of(x, e->bytes.data, &p, &left))
		return;
	count = (uint32_t)expr_number(x, e->bytes.count);
	size = (uint32_t)expr_number(x, e->bytes.size);
	if (!old)
		buf_putc(x->out, '{');
	for (uint32_t i = 0; i < count && run_goes_on(x); i++) {
		bool bad = size != 1 && size != 2 && size != 4 && size != 8;

		if (bad ? !left : size > left)
			break;
		if (i)
			buf_putc(x->out, old ? ' ' : ',');
		if (bad) {
			buf_put(x->out, "BAD SIZE:", 9);
			buf_i64(x->out, (int32_t)size);
			buf_put(x->out, " 0x", 3);
			buf_hex(x->out, *p);
			size = 1;
		} else {
			put_element(x, p, size);
		}
		p += size;
		left -= size;
	}
	if (!old)
		buf_putc(x->out, '}');
}

/* ---- bit masks ------------------------------------------------------------------------- */

/* Text that a width may apply to is built in the printer's scratch buffer first. */
static void print_scratch(struct run *x, const struct spec *s, int star)
{
	struct buf *text = &x->printer->scratch;

	spec_string(x->out, s, star, text->data, text->len);
}

/* The mask's bytes, cut to the record. */
static const uint8_t *mask_of(const struct run *x, const struct expr *e, size_t *size)
{
	uint32_t offset, len;
	const uint8_t *p;

	run_dynamic(x, e->field.at, &offset, &len);
	p = run_bytes(x, offset, size);
	if (len < *size)
		*size = len;
	return p;
}

/* The i-th byte of a mask, counted from the one with bit 0. */
static uint8_t mask_byte(const struct run *x, const uint8_t *p, size_t size, size_t i)
{
	return p[x->events->big_endian ? size - 1 - i : i];
}

/* As the kernel prints masks: "ff,ffffffff", highest bits first. */
static void print_bitmask(struct run *x, const struct expr *e, const struct spec *s, int star)
{
	struct buf *text = &x->printer->scratch;
	const uint8_t *p;
	size_t size;

	if (!e->field.at)
		return;
	p = mask_of(x, e, &size);
	buf_reset(text);
	for (size_t i = size; i-- > 0;) {
		spec_hex_byte(text, mask_byte(x, p, size, i), false);
		if (i && i % 4 == 0)
			buf_putc(text, ',');
	}
	print_scratch(x, s, star);
}

static void put_range(struct buf *text, size_t first, size_t last)
{
	if (text->len)
		buf_putc(text, ',');
	buf_u64(text, first);
	if (last > first) {
		buf_putc(text, '-');
		buf_u64(text, last);
	}
}

/* As a list of CPUs: "0-3,7". */
static void print_cpumask(struct run *x, const struct expr *e, const struct spec *s, int star)
{
	struct buf *text = &x->printer->scratch;
	const uint8_t *p;
	size_t size, first = 0;
	bool inside = false;

	if (!e->field.at)
		return;
	p = mask_of(x, e, &size);
	buf_reset(text);
	for (size_t i = 0; i < size; i++) {
		const uint8_t byte = mask_byte(x, p, size, i);

		/* Most bytes go on as the one before ended. */
		if (byte == (inside ? 0xff : 0))
			continue;
		for (unsigned int bit = 0; bit < 8; bit++) {
			if ((byte >> bit & 1) == inside)
				continue;
			if (inside)
				put_range(text, first, i * 8 + bit - 1);
			first = i * 8 + bit;
			inside = !inside;
		}
	}
	if (inside)
		put_range(text, first, size * 8 - 1);
	print_scratch(x, s, star);
}

/* ---- everything ------------------------------------------------------------------------ */

static void print_call(struct run *x, const struct expr *e, const struct spec *s, int star)
{
	expr_call(x, e);
}

static void print_atom(struct run *x, const struct expr *e, const struct spec *s, int star)
{
	spec_string(x->out, s, star, e->atom.text, e->atom.len);
}

/* Of the operators only a choice can have a text. */
static void print_choice(struct run *x, const struct expr *e, const struct spec *s, int star)
{
	if (e->op == OP_COND)
		expr_print(x, expr_number(x, e->left) ? e->right->left : e->right->right, s, star);
}

void expr_print(struct run *x, const struct expr *e, const struct spec *s, int star)
{
	static void (*const print[])(struct run *, const struct expr *, const struct spec *,
				     int) = {
		[EXPR_ATOM] = print_atom,	[EXPR_FIELD] = print_field,
		[EXPR_FLAGS] = print_flags,	[EXPR_SYMBOL] = print_symbol,
		[EXPR_HEX] = print_hex,		[EXPR_HEX_STR] = print_hex,
		[EXPR_ARRAY] = print_array,	[EXPR_STRING] = print_dynamic_string,
		[EXPR_BITMASK] = print_bitmask, [EXPR_CPUMASK] = print_cpumask,
		[EXPR_OP] = print_choice,	[EXPR_CALL] = print_call,
	};

	if (e->kind < ARRAY_SIZE(print) && print[e->kind])
		print[e->kind](x, e, s, star);
}

/* ---- calls ----------------------------------------------------------------------------- */

/* Where in the record an argument points to. */
static uint64_t place_of(struct run *x, const struct expr *e)
{
	uint32_t offset, len;

	e = expr_uncast(e);
	if (e->kind == EXPR_DYNAMIC) {
		run_dynamic(x, e->field.at, &offset, &len);
		return offset;
	}
	if (e->kind == EXPR_FIELD && e->field.at && e->field.at->flags & FIELD_ARRAY)
		return e->field.at->offset;
	return PRINT_NO_BYTES;
}

uint64_t expr_call(struct run *x, const struct expr *e)
{
	const struct print_func *func = e->call.func;
	uint64_t args[PRINT_FUNC_MAX_ARGS] = {0}, value = 0;
	struct buf texts;
	struct run inner = *x;

	buf_init(&texts, PLAN_MAX_TEXT);
	inner.out = &texts;
	inner.start = 0;
	for (unsigned int i = 0; i < func->nr_args; i++) {
		switch (func->args[i]) {
		case PRINT_ARG_NUMBER: args[i] = expr_number(x, e->call.args[i]); break;
		case PRINT_ARG_BYTES: args[i] = place_of(x, e->call.args[i]); break;
		case PRINT_ARG_STRING:
			/* An offset at first: the buffer may move while it grows. */
			args[i] = texts.len;
			expr_print(&inner, e->call.args[i], &plain, -1);
			buf_putc(&texts, '\0');
			break;
		}
	}
	for (unsigned int i = 0; i < func->nr_args; i++)
		if (func->args[i] == PRINT_ARG_STRING)
			args[i] = (uintptr_t)(texts.data + args[i]);
	if (!buf_full(&texts))
		value = func->call(x->printer, x->record, args, x->out);
	buf_free(&texts);
	return value;
}

/* ---- pointers ---- */

/*
 * The kernel's pointer conversions, as far as libtraceevent knows them:
 *
 *	%pS %ps %pF %pf   the function at an address
 *	%pM %pm           a hardware address; R: reversed, F: with dashes
 *	%pI4 %pi4         an IPv4 address; h, n, b, l: its byte order
 *	%pI6 %pi6 %pI6c   an IPv6 address; c: compressed
 *	%pIS %piS         the address in a sockaddr; p: with its port
 *	%pU               a UUID; L, l: little-endian, B, L: in capitals
 *	%ph               some bytes; C, D, N: what stands between them
 *
 * Anything else is printed as an address, and the letters after the p are ordinary text.
 */

void pointer_print_function(struct run *x, uint64_t addr, char letter)
{
	const struct symbol *sym = symbols_find(x->events->symbols, addr);
	bool with_addr = x->raw && x->events->compat != COMPAT_31;

	if (sym) {
		buf_puts(x->out, sym->name);
		if (letter == 'F' || letter == 'S') {
			buf_put(x->out, "+0x", 3);
			buf_hex(x->out, addr - sym->addr);
		}
		if (!with_addr)
			return;
	}
	if (with_addr)
		buf_put(x->out, " (", 2);
	buf_put(x->out, "0x", 2);
	buf_hex(x->out, addr);
	if (with_addr)
		buf_putc(x->out, ')');
}

/* ---- what must be a field ---------------------------------------------------------------- */

/* The field that an argument stands for, or NULL. Calls are made; the text says what is neither. */
static const struct event_field *field_of(struct run *x, const struct expr *e)
{
	if (e->kind == EXPR_CALL) {
		expr_call(x, e);
		return NULL;
	}
	e = expr_uncast(e);
	if (e->kind == EXPR_FIELD)
		return e->field.at;
	buf_puts(x->out, "ARG TYPE NOT FIELD BUT ");
	buf_u64(x->out, e->kind);
	return NULL;
}

/* Copies bytes of the record; those that it lacks are 0. */
static void copy_bytes(const struct run *x, uint32_t offset, void *to, size_t size)
{
	size_t left;
	const uint8_t *p = run_bytes(x, offset, &left);

	memset(to, 0, size);
	memcpy(to, p, left < size ? left : size);
}

/* The bytes of a field of exactly that size; false after the text says `wrong`, or what else is. */
static bool take_field(struct run *x, const struct expr *e, uint8_t *to, size_t size,
		       const char *wrong)
{
	const struct event_field *f = field_of(x, e);

	if (!f)
		return false;
	if (f->size == size)
		copy_bytes(x, f->offset, to, size);
	else
		buf_puts(x->out, wrong);
	return f->size == size;
}

static void print_mac(struct run *x, const struct expr *e, const char *letters)
{
	uint8_t mac[6];
	bool reverse = letters[1] == 'R';
	char between = ':';

	if (!take_field(x, e, mac, sizeof(mac), "INVALIDMAC"))
		return;
	if (letters[0] == 'm')
		between = '\0';
	else if (letters[1] == 'F')
		between = '-';
	for (int i = 0; i < 6; i++) {
		if (i && between)
			buf_putc(x->out, between);
		spec_hex_byte(x->out, mac[reverse ? 5 - i : i], false);
	}
}

static void print_uuid(struct run *x, const struct expr *e, const char *letters)
{
	static const uint8_t guid[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
	bool upper = letters[1] == 'L' || letters[1] == 'B';
	bool little = letters[1] == 'L' || letters[1] == 'l';
	uint8_t uuid[16];

	if (!take_field(x, e, uuid, sizeof(uuid), "INVALIDUUID"))
		return;
	for (int i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			buf_putc(x->out, '-');
		spec_hex_byte(x->out, uuid[little ? guid[i] : i], upper);
	}
}

static void print_bytes(struct run *x, const struct expr *e, const char *letters, int count)
{
	uint32_t offset, len;
	const uint8_t *p;
	size_t left;
	char between = letters[1] == 'C' ? ':' : letters[1] == 'D' ? '-' : ' ';

	if (e->kind == EXPR_CALL) {
		expr_call(x, e);
		return;
	}
	if (e->kind != EXPR_DYNAMIC) {
		buf_puts(x->out, "ARG TYPE NOT FIELD BUT ");
		buf_u64(x->out, e->kind);
		return;
	}
	run_dynamic(x, e->field.at, &offset, &len);
	p = run_bytes(x, offset, &left);
	for (size_t i = 0; i < left && i < len && i < (uint32_t)count && run_goes_on(x); i++) {
		if (i && letters[1] != 'N')
			buf_putc(x->out, between);
		spec_hex_byte(x->out, p[i], false);
	}
}

/* ---- internet addresses ------------------------------------------------------------------ */

/* Whether the letter for the byte order asks for the bytes in reverse. */
static bool ip4_reversed(const struct run *x, char letter)
{
	return letter == 'l' || (letter == 'h' && !x->events->big_endian);
}

static void put_ip4(struct buf *out, const uint8_t *addr, bool reverse, bool zeros)
{
	for (int i = 0; i < 4; i++) {
		if (i)
			buf_putc(out, '.');
		buf_u64_pad(out, addr[reverse ? 3 - i : i], zeros ? 3 : 1, '0');
	}
}

static void put_ip6(struct buf *out, const uint8_t *addr, bool colons)
{
	for (int i = 0; i < 16; i++) {
		if (colons && i && i % 2 == 0)
			buf_putc(out, ':');
		spec_hex_byte(out, addr[i], false);
	}
}

/* Finds the longest run of at least two zero words among the first n. */
static int longest_zeros(const uint16_t *words, int n, int *len)
{
	int best = -1;

	*len = 1;
	for (int i = 0; i < n; i++) {
		int j = i;

		while (j < n && !words[j])
			j++;
		if (j - i > *len) {
			*len = j - i;
			best = i;
		}
	}
	return best;
}

/* The short form: "2001:db8::1", or "::ffff:192.0.2.1" when it carries an IPv4 address. */
static void put_ip6_short(struct buf *out, const uint8_t *addr)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	bool isatap = (addr[8] | 2) == 2 && !addr[9] && addr[10] == 0x5e && addr[11] == 0xfe;
	bool ip4 = !memcmp(addr, mapped, sizeof(mapped)) || isatap;
	uint16_t words[8];
	int n = ip4 ? 6 : 8, zeros, len;
	bool colon = false;

	for (int i = 0; i < 8; i++)
		words[i] = (uint16_t)(addr[2 * i] << 8 | addr[2 * i + 1]);
	zeros = longest_zeros(words, n, &len);
	for (int i = 0; i < n; i++) {
		if (i == zeros) {
			buf_put(out, "::", colon || !i ? 2 : 1);
			colon = false;
			i += len - 1;
			continue;
		}
		if (colon)
			buf_putc(out, ':');
		buf_hex(out, words[i]);
		colon = true;
	}
	if (!ip4)
		return;
	if (colon)
		buf_putc(out, ':');
	put_ip4(out, addr + 12, false, false);
}

static void print_ip4(struct run *x, const struct expr *e, const char *letters)
{
	uint8_t addr[4];

	if (take_field(x, e, addr, sizeof(addr), "INVALIDIPv4"))
		put_ip4(x->out, addr, ip4_reversed(x, letters[2]), letters[0] == 'i');
}

static void print_ip6(struct run *x, const struct expr *e, const char *letters)
{
	uint8_t addr[16];

	if (!take_field(x, e, addr, sizeof(addr), "INVALIDIPv6"))
		return;
	if (letters[0] == 'I' && letters[2] == 'c')
		put_ip6_short(x->out, addr);
	else
		put_ip6(x->out, addr, letters[0] == 'I');
}

/* A sockaddr's bytes, zero-filled, and how long it claims to be; false when there is none. */
static bool sockaddr_of(struct run *x, const struct expr *e, void *to, size_t size, uint32_t *len)
{
	uint32_t offset;

	if (e->kind == EXPR_CALL) {
		expr_call(x, e);
		return false;
	}
	e = expr_uncast(e);
	if (e->kind == EXPR_FIELD) {
		if (!e->field.at)
			return false;
		offset = e->field.at->offset;
		*len = e->field.at->size;
	} else if (e->kind == EXPR_DYNAMIC) {
		run_dynamic(x, e->field.at, &offset, len);
	} else {
		buf_puts(x->out, "ARG NOT FIELD NOR DYNAMIC ARRAY BUT TYPE ");
		buf_u64(x->out, e->kind);
		return false;
	}
	copy_bytes(x, offset, to, size);
	return true;
}

static void print_sockaddr(struct run *x, const struct expr *e, const char *letters)
{
	union {
		sa_family_t family;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} sa;
	const char *l = letters + 2;
	bool upper = letters[0] == 'I';
	bool port = upper && *l == 'p';
	bool compressed = upper && l[port] == 'c';
	uint32_t len;

	l += port + compressed;
	if (!sockaddr_of(x, e, &sa, sizeof(sa), &len))
		return;
	if (sa.family == AF_INET && len < sizeof(sa.in)) {
		buf_puts(x->out, "INVALIDIPv4");
	} else if (sa.family == AF_INET6 && len < sizeof(sa.in6)) {
		buf_puts(x->out, "INVALIDIPv6");
	} else if (sa.family == AF_INET) {
		put_ip4(x->out, (const uint8_t *)&sa.in.sin_addr, ip4_reversed(x, *l), !upper);
		if (port)
			buf_printf(x->out, ":%d", ntohs(sa.in.sin_port));
	} else if (sa.family == AF_INET6) {
		if (port)
			buf_putc(x->out, '[');
		if (compressed)
			put_ip6_short(x->out, sa.in6.sin6_addr.s6_addr);
		else
			put_ip6(x->out, sa.in6.sin6_addr.s6_addr, upper);
		if (port)
			buf_printf(x->out, "]:%d", ntohs(sa.in6.sin6_port));
	}
}

static void print_ip(struct run *x, const struct expr *e, const char *letters)
{
	switch (letters[1]) {
	case '4': print_ip4(x, e, letters); break;
	case '6': print_ip6(x, e, letters); break;
	case 'S': print_sockaddr(x, e, letters); break;
	default: break;
	}
}

void pointer_print(struct run *x, const struct expr *e, const struct spec *s, int star)
{
	const char *letters = s->text + s->pointer;

	switch (letters[0]) {
	case 'F':
	case 'f':
	case 'S':
	case 's': pointer_print_function(x, expr_number(x, e), letters[0]); break;
	case 'M':
	case 'm': print_mac(x, e, letters); break;
	case 'I':
	case 'i': print_ip(x, e, letters); break;
	case 'U': print_uuid(x, e, letters); break;
	case 'h': print_bytes(x, e, letters, s->stars ? star : 1); break;
	default: spec_address(x->out, expr_number(x, e)); break;
	}
}
