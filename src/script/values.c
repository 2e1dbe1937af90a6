// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One value, by its type: a table of small printers, one for each kind; and stacks and addresses,
 * with names where they have any.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <linux/bpf.h>

#include "base/cursor.h"
#include "base/json.h"
#include "base/safe.h"
#include "script/show.h"
#include "script/symbols.h"
#include "symbols/elf.h"
#include "symbols/lines.h"
#include "symbols/types.h"

/* Stacks and single addresses, with names where they have any. */

enum { INDENT = 8, KEY_INDENT = 4 };

static uint64_t load_word(const uint8_t *v, size_t len, size_t at, unsigned int size)
{
	if (len < size || len - size < at)
		return 0;
	return load_uint(v + at, size, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

/* An address without a name, as C++ writes a pointer: 0 is just "0". */
static void put_address(struct buf *to, uint64_t addr)
{
	if (addr)
		buf_puts(to, "0x");
	buf_hex(to, addr);
}

static void put_symbol(struct buf *to, const struct symbol_at *at, bool offset)
{
	buf_puts(to, at->name);
	if (offset) {
		buf_putc(to, '+');
		buf_u64(to, at->offset);
	}
}

static void put_kernel(const struct show *s, uint64_t addr, bool offset)
{
	struct symbol_at at;

	if (s->o->symbols && symbols_kernel(s->o->symbols, addr, &at))
		put_symbol(s->to, &at, offset);
	else
		put_address(s->to, addr);
}

static void put_user(const struct show *s, uint32_t pid, uint64_t addr, bool offset, bool module)
{
	struct symbol_at at = {0};
	bool known = s->o->symbols && symbols_user(s->o->symbols, pid, addr, &at);

	if (known)
		put_symbol(s->to, &at, offset);
	else
		put_address(s->to, addr);
	if (module)
		buf_printf(s->to, " (%s)", known && at.module ? at.module : "[unknown]");
}

static void put_build_id(const struct show *s, const uint8_t *id, size_t len, uint64_t offset)
{
	for (size_t i = 0; i < BPF_BUILD_ID_SIZE; i++)
		buf_printf(s->to, "%02x", i < len ? id[i] : 0);
	buf_printf(s->to, " 0x%02" PRIx64, offset);
}

/* The offset of an address in its mapped file, if the mapping is known. */
static void put_file_offset(const struct show *s, uint32_t pid, uint64_t addr)
{
	uint64_t offset = 0;
	const struct build_id *id =
		s->o->symbols ? symbols_user_file(s->o->symbols, pid, addr, &offset) : NULL;

	if (id)
		put_build_id(s, id->bytes, id->len, offset);
	else
		buf_hex(s->to, addr);
}

/* The part before the name. */
static void begin_frame(const struct show *s, bool perf, uint64_t addr)
{
	if (perf) {
		buf_putc(s->to, '\t');
		buf_hex(s->to, addr);
		buf_putc(s->to, ' ');
	} else {
		buf_fill(s->to, ' ', s->key && s->o->style == OUTPUT_0_17 ? KEY_INDENT : INDENT);
	}
}

static void put_line(const struct show *s, const struct source_frame *f)
{
	if (!*f->file)
		return;
	buf_putc(s->to, '@');
	buf_puts(s->to, f->file);
	buf_putc(s->to, ':');
	buf_u64(s->to, f->line);
}

/*
 * A frame of a program: functions that were inlined come first, on lines of their own. `place` is
 * the address for source lines.
 */
static void put_user_frame(const struct show *s, bool perf, uint32_t pid, uint64_t addr,
			   uint64_t place)
{
	const struct source_frame *frames = NULL;
	const bool lines = s->o->unit->config.show_debug_info && s->o->style == OUTPUT_0_26;
	const size_t n =
		lines && s->o->symbols ? symbols_source(s->o->symbols, pid, place, &frames) : 0;

	for (size_t i = 0; i + 1 < n; i++) {
		begin_frame(s, perf, addr);
		buf_puts(s->to, perf ? "" : "[inlined] ");
		buf_puts(s->to, *frames[i].function ? frames[i].function : "[unknown]");
		if (perf)
			buf_puts(s->to, " (inlined)");
		else
			put_line(s, &frames[i]);
		buf_putc(s->to, '\n');
	}
	begin_frame(s, perf, addr);
	put_user(s, pid, addr, true, perf);
	if (n && !perf)
		put_line(s, &frames[n - 1]);
}

/* All frames but the first are return addresses, which are after the call. */
static void put_frame(const struct show *s, const struct vtype *t, uint32_t pid, uint64_t addr,
		      bool first)
{
	const bool perf = t->mode == STACK_PERF;

	if (t->mode == STACK_RAW || t->mode == STACK_BUILD_ID) {
		if (t->mode == STACK_RAW || t->kind != V_USTACK)
			buf_hex(s->to, addr);
		else
			put_file_offset(s, pid, addr);
		buf_putc(s->to, '\n');
		return;
	}
	if (t->kind == V_USTACK) {
		put_user_frame(s, perf, pid, addr, first ? addr : addr - 1);
	} else {
		begin_frame(s, perf, addr);
		put_kernel(s, addr, true);
	}
	buf_putc(s->to, '\n');
}

/* Frames that the kernel has found the files of, as far as it could. */
static void put_found(const struct show *s, uint32_t pid, const uint64_t *words, size_t n)
{
	struct bpf_stack_build_id f;
	const size_t each = sizeof(f) / sizeof(*words);

	buf_putc(s->to, '\n');
	for (size_t i = 0; i + each <= n; i += each) {
		memcpy(&f, &words[i], sizeof(f));
		if (f.status == BPF_STACK_BUILD_ID_VALID)
			put_build_id(s, f.build_id, sizeof(f.build_id), f.offset);
		else
			put_file_offset(s, pid, f.ip);
		buf_putc(s->to, '\n');
	}
}

void show_stack(const struct show *s, const struct vtype *t, const uint8_t *v, size_t len)
{
	int64_t id = (int64_t)load_word(v, len, 0, 8);
	uint32_t pid = t->kind == V_USTACK ? (uint32_t)load_word(v, len, 8, 4) : 0;
	uint64_t *frames = s->o->state->frames;
	size_t n;

	if (id < 0 || !s->o->stack)
		return;
	n = s->o->stack(s->o->arg, t, id, frames, sizeof(s->o->state->frames) / sizeof(*frames));
	if (!n)
		return;
	if (unit_has_build_ids(t)) {
		put_found(s, pid, frames, n);
		return;
	}
	if (n > SHOW_FRAMES)
		n = SHOW_FRAMES;
	if (t->depth && n > t->depth)
		n = t->depth;
	buf_putc(s->to, '\n');
	for (size_t i = 0; i < n && frames[i]; i++)
		put_frame(s, t, pid, frames[i], i == 0);
}

/*
 * Kinds that are words are quoted in JSON: their printer writes plain text, and show_value() puts
 * it between quotes. Those that nest (tuples, structs, arrays) know both forms.
 */

/* ---- numbers ---- */

static uint64_t load(const uint8_t *v, size_t len, unsigned int size)
{
	uint8_t whole[8] = {0};

	if (size > 8)
		size = 8;
	if (len >= size && (size == 8 || size == 4 || size == 2 || size == 1))
		return load_uint(v, size, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	/* Cut off, or of an odd size: the bytes are the lowest ones. */
	memcpy(whole, v, len < size ? len : size);
	return load_uint(whole, 8, false);
}

static uint64_t load_int(const uint8_t *v, size_t len, unsigned int size, bool is_signed)
{
	uint64_t n = load(v, len, size);

	if (is_signed && size && size < 8)
		n = (uint64_t)((int64_t)(n << (64 - 8 * size)) >> (64 - 8 * size));
	return n;
}

bool value_number(const struct vtype *t, const uint8_t *v, size_t len, uint64_t *n)
{
	switch (t->kind) {
	case V_INT: *n = load_int(v, len, t->size, t->is_signed); return true;
	case V_BOOL: *n = load(v, len, 1) != 0; return true;
	case V_USER: *n = load(v, len, 4); return true;
	case V_POINTER:
	case V_KSYM:
	case V_USYM:
	case V_ERRNO:
	case V_SIGNAL:
	case V_SYSCALL:
	case V_CGROUP:
	case V_TIME:
	case V_COUNT:
	case V_SUM:
	case V_MIN:
	case V_MAX: *n = load(v, len, 8); return true;
	case V_AVG: *n = (uint64_t)agg_average(t, v, len); return true;
	default: return false;
	}
}

void show_number(const struct show *s, uint64_t n, bool is_signed)
{
	if (!is_signed)
		buf_u64(s->to, n / (uint64_t)s->div);
	else if (s->div == -1)
		buf_i64(s->to, (int64_t)-n);
	else
		buf_i64(s->to, (int64_t)n / s->div);
}

static void show_int(const struct show *s, const struct vtype *t, const uint8_t *v, size_t len)
{
	uint64_t n = load_int(v, len, t->size, t->is_signed);
	const char *name;

	if (!s->json && t->c.in) {
		name = type_enumerator_name(&t->c, (int64_t)n);
		if (name) {
			buf_puts(s->to, name);
			return;
		}
	}
	show_number(s, n, t->is_signed);
}

static void show_bool(const struct show *s, const struct vtype *t, const uint8_t *v, size_t len)
{
	buf_puts(s->to, load(v, len, 1) ? "true" : "false");
}

static void show_pointer(const struct show *s, const struct vtype *t, const uint8_t *v, size_t len)
{
	uint64_t n = load(v, len, 8);

	if (s->json) {
		buf_u64(s->to, n);
		return;
	}
	buf_puts(s->to, "0x");
	buf_hex(s->to, n);
}

static void show_plain(const struct show *s, const struct vtype *t, const uint8_t *v, size_t len)
{
	uint64_t n = 0;

	value_number(t, v, len, &n);
	show_number(s, n, t->kind != V_COUNT && t->is_signed);
}

static void show_stats(const struct show *s, const struct vtype *t, const uint8_t *v, size_t len)
{
	static const char *const words[3][4] = {
		{"{ .count = ", ", .average = ", ", .total = ", " }"},
		{"{\"count\": ", ", \"average\": ", ", \"total\": ", "}"},
		{"count ", ", average ", ", total ", ""},
	};
	const char *const *word = words[s->json ? 1 : s->o->style == OUTPUT_0_17 ? 2 : 0];
	uint64_t average = (uint64_t)agg_average(t, v, len);
	struct show plain = *s;

	plain.div = 1;
	buf_puts(s->to, word[0]);
	buf_u64(s->to, bucket_at(v, len, 0));
	buf_puts(s->to, word[1]);
	show_number(&plain, average, t->is_signed);
	buf_puts(s->to, word[2]);
	show_number(&plain, bucket_at(v, len, 1), t->is_signed);
	buf_puts(s->to, word[3]);
}

/* ---- words ---- */

size_t string_len(const struct vtype *t, const uint8_t *v, size_t len)
{
	return strnlen((const char *)v, len < t->size ? len : t->size);
}

static void show_string(const struct show *s, const struct vtype *t, const uint8_t *v, size_t len)
{
	const struct unit_config *config = &s->o->unit->config;
	size_t n = string_len(t, v, len);

	buf_put(s->to, v, n);
	/* A string that fills the buffer of str() was probably longer. */
	if (n && n + 1 >= config->max_strlen && t->size >= config->max_strlen)
		buf_puts(s->to, config->str_trunc_trailer);
}

void show_bytes(struct buf *to, const uint8_t *p, size_t n, enum bytes_how how)
{
	static const char hex[] = "0123456789abcdef";

	for (size_t i = 0; i < n; i++) {
		char text[4] = {'\\', 'x', hex[p[i] >> 4], hex[p[i] & 15]};

		if (how == BYTES_ASCII && p[i] >= 32 && p[i] <= 126) {
			buf_putc(to, (char)p[i]);
		} else if (how == BYTES_SPACED) {
			if (i)
				buf_putc(to, ' ');
			buf_put(to, text + 2, 2);
		} else {
			buf_put(to, text, 4);
		}
	}
}

const uint8_t *buffer_bytes(const struct vtype *t, const uint8_t *v, size_t len, size_t *n)
{
	uint64_t want = load(v, len, 4);
	size_t most = len < t->size ? len : t->size;

	most = most > 4 ? most - 4 : 0;
	*n = want < most ? (size_t)want : most;
	return *n ? v + 4 : v;
}

static void show_buffer(const struct show *s, const struct vtype *t, const uint8_t *v, size_t len)
{
	size_t n;
	const uint8_t *p = buffer_bytes(t, v, len, &n);

	show_bytes(s->to, p, n, BYTES_ASCII);
}

static void show_inet(const struct show *s, const struct vtype *t, const uint8_t *v, size_t len)
{
	uint8_t addr[16] = {0};
	char text[INET6_ADDRSTRLEN];
	int family = load(v, len, 4) == 16 ? AF_INET6 : AF_INET;

	if (len > 4)
		memcpy(addr, v + 4, len - 4 < sizeof(addr) ? len - 4 : sizeof(addr));
	if (inet_ntop(family, addr, text, sizeof(text)))
		buf_puts(s->to, text);
}

static void show_mac(const struct show *s, const struct vtype *t, const uint8_t *v, size_t len)
{
	static const char hex[] = "0123456789ABCDEF";

	for (size_t i = 0; i < 6; i++) {
		uint8_t b = i < len ? v[i] : 0;

		if (i)
			buf_putc(s->to, ':');
		buf_putc(s->to, hex[b >> 4]);
		buf_putc(s->to, hex[b & 15]);
	}
}

static void show_timestamp(const struct show *s, const struct vtype *t, const uint8_t *v,
			   size_t len)
{
	unsigned int clock = t->mode >= 0 && t->mode < 3 ? (unsigned int)t->mode : 0;
	uint64_t wall = load(v, len, 8) + (uint64_t)s->o->clock_offset[clock];

	show_time(s->to, t->text ? t->text : "", (int64_t)wall, true);
}

static void show_probe(const struct show *s, const struct vtype *t, const uint8_t *v, size_t len)
{
	uint64_t n = load(v, len, 8);

	if (n < s->o->unit->strings.n && s->o->unit->strings.at[n])
		buf_puts(s->to, s->o->unit->strings.at[n]);
}

static void show_kernel(const struct show *s, const struct vtype *t, const uint8_t *v, size_t len)
{
	put_kernel(s, load(v, len, 8), false);
}

static void show_user(const struct show *s, const struct vtype *t, const uint8_t *v, size_t len)
{
	put_user(s, (uint32_t)load_word(v, len, 8, 4), load_word(v, len, 0, 8), false, false);
}

/* Numbers that have a name. */
static void show_named(const struct show *s, const struct vtype *t, const uint8_t *v, size_t len)
{
	uint64_t n = 0;

	value_number(t, v, len, &n);
	switch (t->kind) {
	case V_ERRNO: show_errno(s->to, (int64_t)n); break;
	case V_SIGNAL: show_signal(s->to, (int64_t)n); break;
	case V_SYSCALL: show_syscall(s->to, (int64_t)n); break;
	case V_CGROUP: show_cgroup(s->to, n, t->text); break;
	default: buf_puts(s->to, users_name(&s->o->state->users, (uint32_t)n)); break;
	}
}

/* ---- structs, arrays, tuples ---- */

static struct show inside(const struct show *s)
{
	struct show in = *s;

	in.depth++;
	return in;
}

/* The part of a value from an offset on. */
static void show_part(const struct show *s, const struct vtype *t, const uint8_t *v, size_t len,
		      uint64_t offset)
{
	size_t at = offset < len ? (size_t)offset : len;

	show_value(s, t, v + at, len - at);
}

static void show_array(const struct show *s, const struct vtype *t, const uint8_t *v, size_t len)
{
	struct show in = inside(s);
	struct type of;
	struct vtype elem;
	uint64_t n = t->c.count;

	buf_putc(s->to, '[');
	if (type_target(&t->c, &of)) {
		elem = vtype_of_c(&of, t->space);
		if (elem.size && n > len / elem.size)
			n = len / elem.size;
		for (uint64_t i = 0; elem.size && i < n && !buf_full(s->to); i++) {
			if (i)
				buf_putc(s->to, ',');
			show_part(&in, &elem, v, len, i * elem.size);
		}
	}
	buf_putc(s->to, ']');
}

static void put_name(const struct show *s, const char *name)
{
	if (s->json) {
		buf_json_string(s->to, name, strlen(name));
		buf_puts(s->to, ": ");
		return;
	}
	buf_putc(s->to, '.');
	buf_puts(s->to, name);
	buf_puts(s->to, " = ");
}

/* Bits have no sign: see check_field(). */
static void show_bits(const struct show *s, const struct member *m, const uint8_t *v, size_t len)
{
	size_t at = m->offset < len ? (size_t)m->offset : len;
	uint64_t n = load(v + at, len - at, (unsigned int)m->type.size);
	unsigned int bits = m->bits < 64 ? m->bits : 64, shift = m->bit < 64 ? m->bit : 63;

	n >>= shift;
	n <<= 64 - bits;
	show_number(s, n >> (64 - bits), false);
}

/* Shows members one after the other; those of a nameless struct belong to the outer one. */
static bool show_members(const struct show *s, const struct type *t, enum vspace space,
			 const uint8_t *v, size_t len, bool first)
{
	struct show in = inside(s);
	struct member m;

	if (s->depth > SHOW_DEPTH || !t->in || !t->in->member)
		return first;
	for (size_t i = 0; !buf_full(s->to) && t->in->member(t->in, t, i, &m); i++) {
		size_t at = m.offset < len ? (size_t)m.offset : len;
		struct vtype type;

		if (!*m.name && m.type.kind == TYPE_STRUCT) {
			first = show_members(&in, &m.type, space, v + at, len - at, first);
			continue;
		}
		if (!first)
			buf_puts(s->to, ", ");
		first = false;
		put_name(s, m.name);
		if (m.bits) {
			show_bits(&in, &m, v, len);
			continue;
		}
		type = vtype_of_c(&m.type, space);
		show_value(&in, &type, v + at, len - at);
	}
	return first;
}

static void show_struct(const struct show *s, const struct vtype *t, const uint8_t *v, size_t len)
{
	size_t before;

	buf_puts(s->to, s->json ? "{" : "{ ");
	before = s->to->len;
	show_members(s, &t->c, t->space, v, len < t->size ? len : t->size, true);
	if (s->json)
		buf_putc(s->to, '}');
	else if (s->to->len == before && before)
		s->to->data[before - 1] = '}';
	else
		buf_puts(s->to, " }");
}

static void show_elems(const struct show *s, const struct vtype *t, const uint8_t *v, size_t len,
		       const char *between)
{
	struct show in = inside(s);

	for (uint32_t i = 0; i < t->nr_elems; i++) {
		if (i)
			buf_puts(s->to, between);
		if (t->kind == V_RECORD)
			put_name(s, t->elems[i].name ? t->elems[i].name : "");
		show_part(&in, t->elems[i].type, v, len, t->elems[i].offset);
	}
}

static void show_tuple(const struct show *s, const struct vtype *t, const uint8_t *v, size_t len)
{
	/* Several keys of a map are a tuple, but are shown without brackets. */
	bool bare = s->key && !s->depth;

	if (!bare)
		buf_putc(s->to, s->json ? '[' : '(');
	show_elems(s, t, v, len, s->json || (s->key && s->o->json) ? "," : ", ");
	if (!bare)
		buf_putc(s->to, s->json ? ']' : ')');
}

static void show_record(const struct show *s, const struct vtype *t, const uint8_t *v, size_t len)
{
	buf_puts(s->to, s->json ? "{" : "{ ");
	show_elems(s, t, v, len, ", ");
	buf_puts(s->to, s->json ? "}" : " }");
}

static void show_series(const struct show *s, const struct vtype *t, const uint8_t *v, size_t len)
{
	show_tseries(s, t, v, len, agg_last_epoch(t, v, len));
}

/* ---- all of them ---- */

static const struct {
	void (*show)(const struct show *s, const struct vtype *t, const uint8_t *v, size_t len);
	bool words; /* quoted in JSON */
} kinds[V_KINDS] = {
	[V_INT] = {show_int, false},	     [V_BOOL] = {show_bool, false},
	[V_STRING] = {show_string, true},    [V_BUFFER] = {show_buffer, true},
	[V_POINTER] = {show_pointer, false}, [V_STRUCT] = {show_struct, false},
	[V_ARRAY] = {show_array, false},     [V_TUPLE] = {show_tuple, false},
	[V_RECORD] = {show_record, false},   [V_KSTACK] = {show_stack, true},
	[V_USTACK] = {show_stack, true},     [V_KSYM] = {show_kernel, true},
	[V_USYM] = {show_user, true},	     [V_INET] = {show_inet, true},
	[V_MAC] = {show_mac, true},	     [V_TIME] = {show_timestamp, true},
	[V_CGROUP] = {show_named, true},     [V_USER] = {show_named, true},
	[V_ERRNO] = {show_named, true},	     [V_SIGNAL] = {show_named, true},
	[V_SYSCALL] = {show_named, true},    [V_PROBE] = {show_probe, true},
	[V_COUNT] = {show_plain, false},     [V_SUM] = {show_plain, false},
	[V_AVG] = {show_plain, false},	     [V_MIN] = {show_plain, false},
	[V_MAX] = {show_plain, false},	     [V_STATS] = {show_stats, false},
	[V_HIST] = {show_hist, false},	     [V_LHIST] = {show_lhist, false},
	[V_TSERIES] = {show_series, false},
};

void show_value(const struct show *s, const struct vtype *t, const uint8_t *v, size_t len)
{
	struct show plain;

	if ((unsigned int)t->kind >= V_KINDS || !kinds[t->kind].show || s->depth > SHOW_DEPTH) {
		buf_puts(s->to, "null");
		return;
	}
	if (!s->json || !kinds[t->kind].words) {
		kinds[t->kind].show(s, t, v, len);
		return;
	}
	plain = *s;
	plain.json = false;
	plain.to = &s->o->state->text;
	buf_reset(plain.to);
	kinds[t->kind].show(&plain, t, v, len);
	buf_json_string(s->to, plain.to->data, plain.to->len);
}

void output_value(struct output *o, const struct vtype *t, const void *value)
{
	struct show s = {.o = o, .to = o->to, .json = o->json, .div = 1};

	const size_t start = o->to->len;

	show_value(&s, t, value, t->size);
	if (o->clean)
		buf_clean(o->to, start);
}
