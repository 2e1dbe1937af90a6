// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A small reader of BTF; see btf.h for the layout.
 *
 * Invariants: at[i] is where type first + i begins, and its twelve bytes and whatever its kind says
 * follows them lie inside the types; strings end with a zero byte. Names and ids of other types are
 * checked where they are used: they may point anywhere, and form cycles.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/scoped.h"
#include "base/vec.h"
#include "symbols/btf.h"
#include "symbols/btf_record.h"

#define BTF_MAGIC     0xeb9f
#define BTF_MAX_SIZE  (256u << 20)
#define BTF_KIND_FLAG (1u << 31)

/* Bytes after the twelve that every type has: so many, and so many per element. */
static const struct {
	uint8_t fixed, each;
} tails[BTF_KINDS] = {
	[BTF_INT] = {4, 0},	[BTF_ARRAY] = {12, 0},	 [BTF_STRUCT] = {0, 12},
	[BTF_UNION] = {0, 12},	[BTF_ENUM] = {0, 8},	 [BTF_FUNC_PROTO] = {0, 8},
	[BTF_VAR] = {4, 0},	[BTF_DATASEC] = {0, 12}, [BTF_DECL_TAG] = {4, 0},
	[BTF_ENUM64] = {0, 12},
};

/* ---- types by number ---- */

bool btf_read(const struct btf *b, uint32_t id, struct btf_record *r)
{
	struct cursor c;
	uint32_t info;

	if (id < b->first)
		return b->base && btf_read(b->base, id, r);
	if (id - b->first >= b->where.n)
		return false;
	c = cursor_over(b->section, b->section_len, b->big_endian);
	cursor_skip(&c, b->where.at[id - b->first]);
	r->name = cursor_u32(&c);
	info = cursor_u32(&c);
	r->size = cursor_u32(&c);
	r->count = info & 0xffff;
	r->kind = info >> 24 & 0x1f;
	r->flag = info & BTF_KIND_FLAG;
	r->tail = c;
	return !cursor_failed(&c);
}

const char *btf_string(const struct btf *b, uint32_t offset)
{
	if (offset < b->first_string)
		return b->base ? btf_string(b->base, offset) : "";
	offset -= b->first_string;
	return offset < b->strings_len ? b->strings + offset : "";
}

/* Looks through typedefs and qualifiers; false when there are too many or they lead nowhere. */
static bool plain_record(const struct btf *b, uint32_t *id, struct btf_record *r, bool *user)
{
	for (unsigned int i = 0; i < BTF_MAX_STEPS; i++) {
		if (!*id || !btf_read(b, *id, r))
			return false;
		switch (r->kind) {
		case BTF_TYPE_TAG:
			if (user && !strcmp(btf_string(b, r->name), "user"))
				*user = true;
			break;
		case BTF_TYPEDEF:
		case BTF_VOLATILE:
		case BTF_CONST:
		case BTF_RESTRICT: break;
		default: return true;
		}
		*id = r->size;
	}
	return false;
}

static void integer_of(const struct btf *b, struct btf_record *r, struct type *t)
{
	uint32_t encoding = cursor_u32(&r->tail);

	t->kind = TYPE_INTEGER;
	t->is_signed = encoding >> 24 & 1;
	t->is_bool = encoding >> 24 & 4;
	t->is_char = r->size == 1 && !strcmp(btf_string(b, r->name), "char");
}

/* A type without typedefs and qualifiers. */
static struct type btf_view(const struct btf *b, uint32_t id)
{
	struct type t = {.in = &b->types, .kind = id ? TYPE_UNKNOWN : TYPE_VOID};
	struct btf_record r, pointee;

	if (!plain_record(b, &id, &r, NULL)) {
		if (!id)
			t.kind = TYPE_VOID; /* const void */
		return t;
	}
	t.id = id;
	t.size = r.size;
	switch (r.kind) {
	case BTF_INT: integer_of(b, &r, &t); break;
	case BTF_ENUM:
	case BTF_ENUM64:
		t.kind = TYPE_INTEGER;
		t.is_signed = r.flag;
		t.is_enum = true;
		break;
	case BTF_FLOAT: t.kind = TYPE_FLOAT; break;
	case BTF_STRUCT:
	case BTF_UNION:
		t.kind = TYPE_STRUCT;
		t.is_union = r.kind == BTF_UNION;
		break;
	case BTF_FWD:
		t.kind = TYPE_STRUCT; /* only its name is known here */
		t.size = 0;
		t.is_union = r.flag;
		break;
	case BTF_PTR:
		t.kind = TYPE_POINTER;
		t.size = 0; /* a word, whatever that is there */
		id = r.size;
		plain_record(b, &id, &pointee, &t.user);
		break;
	case BTF_ARRAY:
		t.kind = TYPE_ARRAY;
		t.size = 0;
		cursor_skip(&r.tail, 8);
		t.count = cursor_u32(&r.tail);
		break;
	case BTF_FUNC_PROTO: t.kind = TYPE_FUNCTION; break;
	default: t.size = 0;
	}
	return t;
}

static bool btf_target(const struct types *in, const struct type *t, struct type *to)
{
	const struct btf *b = (const struct btf *)in;
	struct btf_record r;

	if (!btf_read(b, (uint32_t)t->id, &r))
		return false;
	if (r.kind == BTF_PTR)
		*to = btf_view(b, r.size);
	else if (r.kind == BTF_ARRAY)
		*to = btf_view(b, cursor_u32(&r.tail));
	else
		return false;
	return true;
}

static bool btf_member(const struct types *in, const struct type *t, size_t number,
		       struct member *m)
{
	const struct btf *b = (const struct btf *)in;
	uint32_t offset, bits = 0;
	struct btf_record r;

	if (!btf_read(b, (uint32_t)t->id, &r) || number >= r.count ||
	    (r.kind != BTF_STRUCT && r.kind != BTF_UNION))
		return false;
	cursor_skip(&r.tail, number * 12);
	*m = (struct member){.name = btf_string(b, cursor_u32(&r.tail))};
	m->type = btf_view(b, cursor_u32(&r.tail));
	offset = cursor_u32(&r.tail);
	if (r.flag) {
		bits = offset >> 24;
		offset &= 0xffffff;
	}
	if (bits)
		member_set_bits(m, offset, bits);
	else
		m->offset = offset / 8;
	return !cursor_failed(&r.tail);
}

static const char *btf_name(const struct types *in, const struct type *t)
{
	const struct btf *b = (const struct btf *)in;
	struct btf_record r;

	return t->id && btf_read(b, (uint32_t)t->id, &r) ? btf_string(b, r.name) : "";
}

static bool btf_enumerator_at(const struct types *in, const struct type *t, size_t number,
			      struct enumerator *e)
{
	const struct btf *b = (const struct btf *)in;
	struct btf_record r;
	uint64_t low, high = 0;

	if (!btf_read(b, (uint32_t)t->id, &r) || number >= r.count ||
	    (r.kind != BTF_ENUM && r.kind != BTF_ENUM64))
		return false;
	cursor_skip(&r.tail, number * (r.kind == BTF_ENUM ? 8 : 12));
	e->name = btf_string(b, cursor_u32(&r.tail));
	low = cursor_u32(&r.tail);
	if (r.kind == BTF_ENUM64)
		high = cursor_u32(&r.tail);
	else if (r.flag)
		high = (uint64_t)((int64_t)(int32_t)low >> 32);
	e->value = (int64_t)(high << 32 | (low & UINT32_MAX));
	return !cursor_failed(&r.tail);
}

/* ---- loading ---- */

/* Finds where each type begins. Names are searched when they are needed. */
static int index_types(struct btf *b, struct spur_error *err)
{
	struct cursor c = cursor_over(b->section, b->section_len, b->big_endian);

	while (cursor_left(&c)) {
		uint32_t at = (uint32_t)(c.pos - c.base), info, kind;

		cursor_skip(&c, 4);
		info = cursor_u32(&c);
		cursor_skip(&c, 4);
		kind = info >> 24 & 0x1f;
		/* A newer kind: types after it cannot be found, those before it can. */
		if (!kind || kind >= BTF_KINDS)
			break;
		cursor_skip(&c, tails[kind].fixed + (uint64_t)tails[kind].each * (info & 0xffff));
		if (cursor_failed(&c))
			return error_set(err, -EBADMSG, "a type of the BTF is cut off");
		if (!vec_add(&b->where, &at))
			return -ENOMEM;
	}
	return 0;
}

/* A part of the data after the header, by offset and length. */
static const uint8_t *part(const struct btf *b, size_t size, uint32_t head, uint32_t offset,
			   uint32_t len)
{
	uint64_t start = (uint64_t)head + offset;

	return start <= size && len <= size - start ? b->data + start : NULL;
}

static int read_header(struct btf *b, size_t size, struct spur_error *err)
{
	struct cursor c;
	uint32_t head, types, types_len, strings, strings_len;

	if (size >= 2)
		b->big_endian = load_uint(b->data, 2, true) == BTF_MAGIC;
	c = cursor_over(b->data, size, b->big_endian);
	if (cursor_u16(&c) != BTF_MAGIC)
		return error_set(err, -EBADMSG, "it is no BTF");
	cursor_skip(&c, 2);
	head = cursor_u32(&c);
	types = cursor_u32(&c);
	types_len = cursor_u32(&c);
	strings = cursor_u32(&c);
	strings_len = cursor_u32(&c);
	b->section = part(b, size, head, types, types_len);
	b->strings = (const char *)part(b, size, head, strings, strings_len);
	b->section_len = types_len;
	b->strings_len = strings_len;
	if (cursor_failed(&c) || !b->section || !b->strings ||
	    (strings_len && b->strings[strings_len - 1]))
		return error_set(err, -EBADMSG, "the header of the BTF makes no sense");
	return 0;
}

static int follow_base(struct btf *b, struct spur_error *err)
{
	uint32_t types = 0, strings = 0;

	b->first = 1;
	if (!b->base)
		return 0;
	if (b->base->big_endian != b->big_endian)
		return error_set(err, -EBADMSG, "the module's BTF is of another machine");
	if (__builtin_add_overflow(b->base->first, b->base->where.n, &types) ||
	    __builtin_add_overflow(b->base->first_string, b->base->strings_len, &strings))
		return error_set(err, -EBADMSG, "the BTF has too many types");
	b->first = types;
	b->first_string = strings;
	return 0;
}

static int parse(struct btf *b, size_t size, struct spur_error *err)
{
	int ret = size > BTF_MAX_SIZE ? error_set(err, -EBADMSG, "the BTF is too large")
				      : read_header(b, size, err);

	if (!ret)
		ret = follow_base(b, err);
	return ret ? ret : index_types(b, err);
}

static const struct types btf_types = {
	.target = btf_target,
	.member = btf_member,
	.name = btf_name,
	.enumerator = btf_enumerator_at,
};

/* Parses the data and owns it: memory, or a mapping if `mapped`. */
static int take(uint8_t *data, size_t size, size_t mapped, const struct btf *base, struct btf **out,
		struct spur_error *err)
{
	struct btf *b = calloc(1, sizeof(*b));
	int ret = -ENOMEM;

	if (!b) {
		if (mapped)
			munmap(data, mapped);
		else
			free(data);
		return error_sys(err, ret, "BTF");
	}
	b->types = btf_types;
	b->base = base;
	b->data = data;
	b->mapped = mapped;
	b->index = calloc(1, sizeof(*b->index));
	if (b->index && data)
		ret = parse(b, size, err);
	if (ret) {
		btf_free(b);
		return error_sys(err, ret, "BTF");
	}
	*out = b;
	return 0;
}

int btf_parse(const void *data, size_t size, const struct btf *base, struct btf **out,
	      struct spur_error *err)
{
	uint8_t *copy = malloc(size ? size : 1);

	*out = NULL;
	if (copy)
		memcpy(copy, data, size);
	return take(copy, size, 0, base, out, err);
}

/*
 * Files of sysfs do not shrink, and newer kernels let them be mapped. Any other file could be
 * truncated while it is mapped.
 */
static uint8_t *map_file(const char *path, size_t *size)
{
	scoped_fd fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t *data = MAP_FAILED;
	struct statfs fs;
	struct stat st;

	if (fd < 0)
		return NULL;
	if (!fstatfs(fd, &fs) && fs.f_type == SYSFS_MAGIC && !fstat(fd, &st) && st.st_size > 0) {
		*size = (size_t)st.st_size;
		data = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	return data == MAP_FAILED ? NULL : data;
}

int btf_open(const char *path, const struct btf *base, struct btf **out, struct spur_error *err)
{
	struct buf text;
	size_t size;
	uint8_t *data = map_file(path, &size);
	int ret = 0;

	*out = NULL;
	if (data) {
		ret = take(data, size, size, base, out, err);
	} else {
		buf_init(&text, BTF_MAX_SIZE);
		ret = file_read(path, &text, err);
		if (ret) {
			buf_free(&text);
			return ret;
		}
		ret = take((uint8_t *)text.data, text.len, 0, base, out, err);
	}
	return ret ? error_prefix(err, "%s", path) : 0;
}

void btf_free(struct btf *b)
{
	if (!b)
		return;
	if (b->index)
		map_free(&b->index->functions);
	free(b->index);
	vec_free(&b->where);
	if (b->mapped)
		munmap(b->data, b->mapped);
	else
		free(b->data);
	free(b);
}

/* ---- by name ---- */

/*
 * BTF has each string once. So a name is first searched in the strings, some megabytes of text, and
 * then the types are compared with its offset. This takes less than a millisecond and no memory. An
 * index of functions is only built if many are looked up.
 */

#define MAX_PLACES	16 /* of one name in the strings, should they be there more than once */
#define FEW_LOOKUPS	16 /* without an index */
#define MAX_ENUMERATORS 1000000

/* ---- names in the strings ---- */

/* The next place of a name in the strings of one BTF, from offset `from` on; 0: none. */
static uint32_t next_place(const struct btf *b, const char *name, size_t len, size_t from)
{
	const char *end = b->strings + b->strings_len, *p = b->strings + from;

	/* The search includes the terminator; the NUL before the name is checked. */
	while (p < end && (p = memmem(p, (size_t)(end - p), name, len + 1))) {
		if (p > b->strings && !p[-1])
			return (uint32_t)(p - b->strings);
		p++;
	}
	return 0;
}

/* The offsets of a name in the strings of b and of its base, as types use them. */
struct places {
	uint32_t at[MAX_PLACES];
	size_t n;
};

static void find_places(const struct btf *b, const char *name, struct places *places)
{
	size_t len = strlen(name), from = 1;
	uint32_t at;

	if (!len)
		return;
	if (b->base)
		find_places(b->base, name, places);
	while (places->n < MAX_PLACES && from < b->strings_len &&
	       (at = next_place(b, name, len, from))) {
		places->at[places->n++] = b->first_string + at;
		from = at + len + 1;
	}
}

static uint32_t load32(const struct btf *b, size_t at)
{
	return (uint32_t)load_uint(b->section + at, 4, b->big_endian);
}

uint32_t btf_find(const struct btf *b, const char *name, uint32_t kinds)
{
	struct places places = {0};

	find_places(b, name, &places);
	for (size_t p = 0; p < places.n; p++) {
		for (size_t i = 0; i < b->where.n; i++) {
			if (load32(b, b->where.at[i]) != places.at[p])
				continue;
			if (kinds & BTF_KIND_BIT(load32(b, b->where.at[i] + 4) >> 24 & 0x1f))
				return b->first + (uint32_t)i;
		}
	}
	return 0;
}

/* ---- types ---- */

static const uint32_t wanted[] = {
	[BTF_WANT_STRUCT] = BTF_KIND_BIT(BTF_STRUCT),
	[BTF_WANT_UNION] = BTF_KIND_BIT(BTF_UNION),
	[BTF_WANT_ENUM] = BTF_KIND_BIT(BTF_ENUM) | BTF_KIND_BIT(BTF_ENUM64),
	[BTF_WANT_TYPEDEF] =
		BTF_KIND_BIT(BTF_TYPEDEF) | BTF_KIND_BIT(BTF_INT) | BTF_KIND_BIT(BTF_FLOAT),
};

bool btf_type(const struct btf *b, enum btf_want want, const char *name, struct type *t)
{
	uint32_t id = btf_find(b, name, wanted[want]);

	if (!id)
		return b->base && btf_type(b->base, want, name, t);
	*t = btf_view(b, id);
	return true;
}

bool btf_names(const struct btf *b, enum btf_want want, bool (*each)(void *arg, const char *name),
	       void *arg)
{
	if (b->base && !btf_names(b->base, want, each, arg))
		return false;
	for (size_t i = 0; i < b->where.n; i++) {
		uint32_t at = b->where.at[i];
		const char *name;

		if (!(wanted[want] & BTF_KIND_BIT(load32(b, at + 4) >> 24 & 0x1f)))
			continue;
		name = btf_string(b, load32(b, at));
		if (*name && !each(arg, name))
			return false;
	}
	return true;
}

static bool try_name(void *near, const char *name)
{
	nearest_try(near, name, strlen(name));
	return true;
}

void btf_nearest(const struct btf *b, enum btf_want want, struct nearest *near)
{
	btf_names(b, want, try_name, near);
}

/* ---- enumerators ---- */

/* The enum with an enumerator whose name is at that offset; 0: none. */
static uint32_t enum_with(const struct btf *b, uint32_t name, size_t *number)
{
	for (size_t i = 0; i < b->where.n; i++) {
		uint32_t at = b->where.at[i], info = load32(b, at + 4), kind = info >> 24 & 0x1f;
		uint32_t each = kind == BTF_ENUM ? 8 : 12;

		if (kind != BTF_ENUM && kind != BTF_ENUM64)
			continue;
		for (uint32_t j = 0; j < (info & 0xffff); j++) {
			if (load32(b, at + 12 + j * each) == name) {
				*number = j;
				return b->first + (uint32_t)i;
			}
		}
	}
	return 0;
}

bool btf_enumerator(const struct btf *b, const char *name, int64_t *value, struct type *in)
{
	struct places places = {0};
	struct enumerator e;
	size_t number;

	find_places(b, name, &places);
	for (size_t p = 0; p < places.n; p++) {
		uint32_t id = enum_with(b, places.at[p], &number);

		if (!id)
			continue;
		*in = btf_view(b, id);
		if (!in->in->enumerator(in->in, in, number, &e))
			return false;
		*value = e.value;
		return true;
	}
	return b->base && btf_enumerator(b->base, name, value, in);
}

/* ---- functions ---- */

/* Without memory the index is incomplete, and names that are missing are not found. */
static void build_index(const struct btf *b)
{
	struct btf_index *index = b->index;

	index->built = true;
	index->seed = hash_seed_new();
	for (size_t i = 0; i < b->where.n; i++) {
		uint32_t at = b->where.at[i];
		const char *name;

		if ((load32(b, at + 4) >> 24 & 0x1f) != BTF_FUNC)
			continue;
		name = btf_string(b, load32(b, at));
		if (*name &&
		    !map_set(&index->functions, hash_bytes(&index->seed, name, strlen(name)),
			     (void *)(uintptr_t)(b->first + i)))
			return;
	}
}

static uint32_t find_function(const struct btf *b, const char *name)
{
	struct btf_index *index = b->index;
	uint32_t id;
	struct btf_record r;

	if (!index->built && ++index->lookups <= FEW_LOOKUPS)
		return btf_find(b, name, BTF_KIND_BIT(BTF_FUNC));
	if (!index->built)
		build_index(b);
	id = (uint32_t)(uintptr_t)map_get(&index->functions,
					  hash_bytes(&index->seed, name, strlen(name)));
	/* Two names of the same hash: one of them is then not found. */
	return id && btf_read(b, id, &r) && !strcmp(btf_string(b, r.name), name) ? id : 0;
}

bool btf_function_record(const struct btf *b, const char *name, const struct btf **in,
			 struct btf_record *r)
{
	for (; b; b = b->base) {
		uint32_t id = find_function(b, name);

		if (id) {
			*in = b;
			return btf_read(b, id, r);
		}
	}
	return false;
}

uint32_t btf_function_id(const struct btf *b, const char *name, bool *own)
{
	uint32_t id = find_function(b, name);

	*own = id != 0;
	return id || !b->base ? id : find_function(b->base, name);
}

/* The parameters and the result of a prototype, without its first `skip` parameters. */
static bool btf_proto(const struct btf *b, uint32_t id, uint32_t skip, struct arena *arena,
		      struct proto *p)
{
	struct btf_record proto;
	uint32_t n;

	if (!btf_read(b, id, &proto) || proto.kind != BTF_FUNC_PROTO)
		return false;
	n = proto.count < PROTO_MAX_PARAMS ? proto.count : PROTO_MAX_PARAMS;
	*p = (struct proto){.ret = btf_view(b, proto.size)};
	p->at = arena_array(arena, n ? n : 1, sizeof(*p->at));
	if (!p->at)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t word = cursor_u32(&proto.tail), type = cursor_u32(&proto.tail);

		if (!word && !type)
			break; /* "…" */
		if (i < skip)
			continue;
		p->at[p->n].name = btf_string(b, word);
		p->at[p->n++].type = btf_view(b, type);
	}
	return !cursor_failed(&proto.tail);
}

const char *btf_function_name(const struct btf *b, uint32_t id)
{
	struct btf_record r;

	return btf_read(b, id, &r) && r.kind == BTF_FUNC ? btf_string(b, r.name) : NULL;
}

bool btf_function_with_id(const struct btf *b, uint32_t id, struct arena *arena, struct proto *p)
{
	struct btf_record r;

	return btf_read(b, id, &r) && r.kind == BTF_FUNC && btf_proto(b, r.size, 0, arena, p);
}

bool btf_function(const struct btf *b, const char *name, struct arena *arena, struct proto *p)
{
	struct btf_record r;

	return btf_function_record(b, name, &b, &r) && btf_proto(b, r.size, 0, arena, p);
}

/* ---- raw tracepoints ---- */

/*
 * The type of a tracepoint's function has its parameters, but no names. The functions that the
 * kernel generates for each tracepoint have names, in versions that describe them. The first
 * parameter of all of them is private.
 */
static bool named_params(const struct btf *b, const char *name, struct arena *arena,
			 struct proto *p)
{
	static const char *const makes[] = {"__probestub_", "__traceiter_"};
	struct btf_record r;
	struct buf full;
	bool found = false;

	buf_init(&full, 256);
	for (size_t i = 0; i < ARRAY_SIZE(makes) && !found; i++) {
		const struct btf *in = b;

		buf_reset(&full);
		buf_printf(&full, "%s%s", makes[i], name);
		found = !buf_full(&full) && btf_function_record(b, buf_str(&full), &in, &r) &&
			btf_proto(in, r.size, 1, arena, p);
	}
	buf_free(&full);
	return found;
}

static bool typedef_params(const struct btf *b, const char *name, struct arena *arena,
			   struct proto *p)
{
	struct type fn, target;
	struct buf full;
	bool found;

	buf_init(&full, 256);
	buf_printf(&full, "btf_trace_%s", name);
	found = !buf_full(&full) && btf_type(b, BTF_WANT_TYPEDEF, buf_str(&full), &fn) &&
		fn.kind == TYPE_POINTER && type_target(&fn, &target) &&
		target.kind == TYPE_FUNCTION &&
		btf_proto((const struct btf *)target.in, (uint32_t)target.id, 1, arena, p);
	buf_free(&full);
	return found;
}

bool btf_raw_tracepoint(const struct btf *b, const char *name, struct arena *arena, struct proto *p)
{
	struct proto named;

	if (!typedef_params(b, name, arena, p))
		return named_params(b, name, arena, p);
	if (named_params(b, name, arena, &named) && named.n == p->n)
		*p = named;
	return true;
}

uint32_t btf_raw_tracepoint_id(const struct btf *b, const char *name)
{
	struct buf full;
	uint32_t id;

	buf_init(&full, 256);
	buf_printf(&full, "btf_trace_%s", name);
	id = buf_full(&full) ? 0 : btf_find(b, buf_str(&full), BTF_KIND_BIT(BTF_TYPEDEF));
	buf_free(&full);
	return id;
}

/* ---- the kernel and its modules ---- */

#define KERNEL "/sys/kernel/btf/vmlinux"

int btf_set_open(struct btf_set *s, const char *path, struct spur_error *err)
{
	*s = (struct btf_set){.path = path ? path : KERNEL};
	return btf_open(s->path, NULL, &s->kernel, err);
}

void btf_set_close(struct btf_set *s)
{
	btf_free(s->module);
	btf_free(s->kernel);
	s->module = s->kernel = NULL;
}

static void load_module(struct btf_set *s, const char *module)
{
	const char *slash = strrchr(s->path, '/');
	int len = slash ? (int)(slash - s->path) + 1 : 0;
	char file[PATH_MAX];

	btf_free(s->module);
	s->module = NULL;
	snprintf(s->loaded, sizeof(s->loaded), "%s", module);
	if (snprintf(file, sizeof(file), "%.*s%s", len, s->path, module) < (int)sizeof(file))
		btf_open(file, s->kernel, &s->module, NULL);
}

const struct btf *btf_set_of(struct btf_set *s, const char *module)
{
	if (!module || !*module || !s->kernel)
		return s->kernel;
	if (strlen(module) >= sizeof(s->loaded))
		return NULL;
	if (strcmp(s->loaded, module) != 0)
		load_module(s, module);
	return s->module;
}
