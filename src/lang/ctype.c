// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The types that C has without anybody defining them, and the few names of the same that every
 * system has: scripts use them on kernels without BTF.
 */
#include <string.h>

#include "lang/env_parts.h"

#define MAX_WORDS 5

struct base {
	const char *name;
	uint8_t size;
	bool is_signed, is_char, is_bool;
	enum type_kind kind;
};

enum {
	B_VOID,
	B_BOOL,
	B_CHAR,
	B_SCHAR,
	B_UCHAR,
	B_SHORT,
	B_USHORT,
	B_INT,
	B_UINT,
	B_LONG,
	B_ULONG,
	B_LLONG,
	B_ULLONG,
	B_FLOAT,
	B_DOUBLE,
	B_LONG_DOUBLE,
};

#define INTEGER(name, type, is_signed)                                                             \
	{                                                                                          \
		name, sizeof(type), is_signed, false, false, TYPE_INTEGER                          \
	}

static const struct base bases[] = {
	[B_VOID] = {"void", 0, false, false, false, TYPE_VOID},
	[B_BOOL] = {"bool", 1, false, false, true, TYPE_INTEGER},
	[B_CHAR] = {"char", 1, true, true, false, TYPE_INTEGER},
	[B_SCHAR] = INTEGER("signed char", char, true),
	[B_UCHAR] = INTEGER("unsigned char", char, false),
	[B_SHORT] = INTEGER("short", short, true),
	[B_USHORT] = INTEGER("unsigned short", short, false),
	[B_INT] = INTEGER("int", int, true),
	[B_UINT] = INTEGER("unsigned int", int, false),
	[B_LONG] = INTEGER("long", long, true),
	[B_ULONG] = INTEGER("unsigned long", long, false),
	[B_LLONG] = INTEGER("long long", long long, true),
	[B_ULLONG] = INTEGER("unsigned long long", long long, false),
	[B_FLOAT] = {"float", sizeof(float), true, false, false, TYPE_FLOAT},
	[B_DOUBLE] = {"double", sizeof(double), true, false, false, TYPE_FLOAT},
	[B_LONG_DOUBLE] = {"long double", sizeof(long double), true, false, false, TYPE_FLOAT},
};

/* Other names of single words. */
static const struct {
	const char *name;
	uint8_t base;
} aliases[] = {
	{"_Bool", B_BOOL},	   {"u8", B_UCHAR},	  {"u16", B_USHORT},
	{"u32", B_UINT},	   {"u64", B_ULLONG},	  {"s8", B_SCHAR},
	{"s16", B_SHORT},	   {"s32", B_INT},	  {"s64", B_LLONG},
	{"__u8", B_UCHAR},	   {"__u16", B_USHORT},	  {"__u32", B_UINT},
	{"__u64", B_ULLONG},	   {"__s8", B_SCHAR},	  {"__s16", B_SHORT},
	{"__s32", B_INT},	   {"__s64", B_LLONG},	  {"__be16", B_USHORT},
	{"__be32", B_UINT},	   {"__be64", B_ULLONG},  {"__le16", B_USHORT},
	{"__le32", B_UINT},	   {"__le64", B_ULLONG},  {"uint8_t", B_UCHAR},
	{"uint16_t", B_USHORT},	   {"uint32_t", B_UINT},  {"uint64_t", B_ULLONG},
	{"int8_t", B_SCHAR},	   {"int16_t", B_SHORT},  {"int32_t", B_INT},
	{"int64_t", B_LLONG},	   {"uint8", B_UCHAR},	  {"uint16", B_USHORT},
	{"uint32", B_UINT},	   {"uint64", B_ULLONG},  {"int8", B_SCHAR},
	{"int16", B_SHORT},	   {"int32", B_INT},	  {"int64", B_LLONG},
	{"size_t", B_ULONG},	   {"ssize_t", B_LONG},	  {"uintptr_t", B_ULONG},
	{"intptr_t", B_LONG},	   {"ptrdiff_t", B_LONG}, {"pid_t", B_INT},
	{"uid_t", B_UINT},	   {"gid_t", B_UINT},	  {"loff_t", B_LLONG},
	{"uint", B_UINT},	   {"ushort", B_USHORT},  {"ulong", B_ULONG},
	{"sa_family_t", B_USHORT},
};

static const char *base_name(const struct types *in, const struct type *t)
{
	return t->id < sizeof(bases) / sizeof(bases[0]) ? bases[t->id].name : "";
}

static bool no_target(const struct types *in, const struct type *t, struct type *to)
{
	return false;
}

static bool no_member(const struct types *in, const struct type *t, size_t number, struct member *m)
{
	return false;
}

static const struct types base_types = {
	.target = no_target,
	.member = no_member,
	.name = base_name,
};

static struct type base_type(unsigned int number)
{
	const struct base *b = &bases[number];

	return (struct type){
		.in = &base_types,
		.id = number,
		.kind = b->kind,
		.size = b->size,
		.is_signed = b->is_signed,
		.is_char = b->is_char,
		.is_bool = b->is_bool,
	};
}

/* ---- several words in any order ---- */

struct words {
	unsigned int n_unsigned, n_signed, n_char, n_short, n_int, n_long, n_float, n_double;
	unsigned int n_bool, n_void;
};

static bool count_word(struct words *w, const char *s, size_t len)
{
	static const struct {
		const char *word;
		size_t at;
	} known[] = {
		{"unsigned", offsetof(struct words, n_unsigned)},
		{"signed", offsetof(struct words, n_signed)},
		{"__signed__", offsetof(struct words, n_signed)},
		{"char", offsetof(struct words, n_char)},
		{"short", offsetof(struct words, n_short)},
		{"int", offsetof(struct words, n_int)},
		{"long", offsetof(struct words, n_long)},
		{"float", offsetof(struct words, n_float)},
		{"double", offsetof(struct words, n_double)},
		{"bool", offsetof(struct words, n_bool)},
		{"void", offsetof(struct words, n_void)},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strlen(known[i].word) == len && !memcmp(known[i].word, s, len)) {
			++*(unsigned int *)((char *)w + known[i].at);
			return true;
		}
	}
	return false;
}

/* The integer of a length, signed or not. */
static int integer_of_words(const struct words *w)
{
	bool is_unsigned = w->n_unsigned;

	if (w->n_unsigned + w->n_signed > 1 || w->n_int > 1)
		return -1;
	if (w->n_char == 1 && !w->n_int && !w->n_short && !w->n_long)
		return is_unsigned ? B_UCHAR : w->n_signed ? B_SCHAR : B_CHAR;
	if (w->n_char)
		return -1;
	if (w->n_short)
		return w->n_short > 1 || w->n_long ? -1 : is_unsigned ? B_USHORT : B_SHORT;
	if (w->n_long > 2)
		return -1;
	if (w->n_long)
		return (w->n_long == 1 ? B_LONG : B_LLONG) + is_unsigned;
	return w->n_int || w->n_unsigned || w->n_signed ? B_INT + is_unsigned : -1;
}

static int base_of_words(const struct words *w, unsigned int n)
{
	if (n == 1 && w->n_void)
		return B_VOID;
	if (n == 1 && w->n_bool)
		return B_BOOL;
	if (n == 1 && w->n_float)
		return B_FLOAT;
	if (n == 1 && w->n_double)
		return B_DOUBLE;
	if (n == 2 && w->n_double == 1 && w->n_long == 1)
		return B_LONG_DOUBLE;
	if (w->n_void || w->n_bool || w->n_float || w->n_double)
		return -1;
	return integer_of_words(w);
}

bool ctype_base(const char *name, struct type *t)
{
	struct words w = {0};
	unsigned int n = 0;
	int found;

	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++) {
		if (!strcmp(aliases[i].name, name)) {
			*t = base_type(aliases[i].base);
			return true;
		}
	}
	for (const char *s = name; *s; n++) {
		size_t len = strcspn(s, " ");

		if (n == MAX_WORDS || !count_word(&w, s, len))
			return false;
		s += len;
		s += strspn(s, " ");
	}
	found = base_of_words(&w, n);
	if (found < 0)
		return false;
	*t = base_type((unsigned int)found);
	return true;
}

enum ctype_tag ctype_tag(const char **name)
{
	static const char *const tags[] = {
		[TAG_STRUCT] = "struct ", [TAG_UNION] = "union ", [TAG_ENUM] = "enum "};

	for (unsigned int i = TAG_STRUCT; i <= TAG_ENUM; i++) {
		size_t len = strlen(tags[i]);

		if (!strncmp(*name, tags[i], len)) {
			*name += len;
			*name += strspn(*name, " ");
			return i;
		}
	}
	return TAG_NONE;
}
