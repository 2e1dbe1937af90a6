// SPDX-License-Identifier: GPL-2.0-or-later
/* Types of a script's values: sizes, names, which are the same, and what C's types become. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lang/env.h"
#include "code/vtype.h"

static void assert_name(const struct vtype *t, const char *name)
{
	struct buf text;

	buf_init(&text, 4096);
	vtype_name(t, &text);
	assert_string_equal(buf_str(&text), name);
	buf_free(&text);
}

/* ---- kinds of a fixed size ---- */

static const struct {
	enum vkind kind;
	uint32_t size, align;
	bool number, aggregation;
	const char *name;
} fixed_kinds[] = {
	{V_NONE, 0, 1, false, false, "none"},	   {V_BOOL, 1, 1, true, false, "bool"},
	{V_KSTACK, 8, 8, true, false, "kstack_t"}, {V_USTACK, 16, 8, false, false, "ustack_t"},
	{V_KSYM, 8, 8, true, false, "ksym_t"},	   {V_USYM, 16, 8, false, false, "usym_t"},
	{V_INET, 20, 4, false, false, "inet"},	   {V_MAC, 6, 1, false, false, "mac_address"},
	{V_TIME, 8, 8, true, false, "timestamp"},  {V_CGROUP, 8, 8, true, false, "cgroup_path_t"},
	{V_USER, 4, 4, true, false, "username"},   {V_ERRNO, 8, 8, true, false, "strerror_t"},
	{V_COUNT, 8, 8, false, true, "count_t"},   {V_SUM, 8, 8, false, true, "usum_t"},
	{V_AVG, 16, 8, false, true, "uavg_t"},	   {V_MIN, 16, 8, false, true, "umin_t"},
	{V_MAX, 16, 8, false, true, "umax_t"},	   {V_STATS, 16, 8, false, true, "ustats_t"},
	{V_HIST, 0, 8, false, true, "hist_t"},
};

static void test_fixed(void **state)
{
	for (size_t i = 0; i < sizeof(fixed_kinds) / sizeof(fixed_kinds[0]); i++) {
		struct vtype t = vtype_fixed(fixed_kinds[i].kind);

		assert_int_equal(t.size, fixed_kinds[i].size);
		assert_int_equal(vtype_align(&t), fixed_kinds[i].align);
		assert_int_equal(vtype_is_number(&t), fixed_kinds[i].number);
		assert_int_equal(vtype_is_aggregation(&t), fixed_kinds[i].aggregation);
		assert_name(&t, fixed_kinds[i].name);
	}
}

/* ---- what C's types become ---- */

static const struct {
	const char *c;
	uint64_t array; /* 0: none */
	unsigned int stars;
	enum vkind kind;
	uint32_t size;
	bool is_signed;
	const char *name;
} c_types[] = {
	{"char", 0, 0, V_INT, 1, true, "int8"},
	{"unsigned char", 0, 0, V_INT, 1, false, "uint8"},
	{"u64", 0, 0, V_INT, 8, false, "uint64"},
	{"long unsigned int", 0, 0, V_INT, 8, false, "uint64"},
	{"int", 0, 0, V_INT, 4, true, "int32"},
	{"bool", 0, 0, V_BOOL, 1, false, "bool"},
	{"double", 0, 0, V_NONE, 0, false, "none"},
	{"void", 0, 0, V_NONE, 0, false, "none"},
	{"char", 16, 0, V_STRING, 16, false, "string[16]"},
	{"u8", 6, 0, V_ARRAY, 6, false, "uint8[6]"},
	{"int", 3, 0, V_ARRAY, 12, false, "int32[3]"},
	{"int", 3, 1, V_ARRAY, 24, false, "int32 *[3]"},
	{"char", 0, 1, V_POINTER, 8, false, "char *"},
	{"char", 0, 2, V_POINTER, 8, false, "char **"},
	{"void", 0, 1, V_POINTER, 8, false, "void *"},
	{"u16", 0, 1, V_POINTER, 8, false, "uint16 *"},
};

static void test_of_c(void **state)
{
	for (size_t i = 0; i < sizeof(c_types) / sizeof(c_types[0]); i++) {
		struct arena arena;
		struct vtype v;
		struct type t;
		struct env e = {.ops = &(const struct env_ops){0}};

		arena_init(&arena, 1 << 20);
		assert_true(env_type(&e, c_types[i].c, &t));
		for (unsigned int n = 0; n < c_types[i].stars; n++)
			assert_true(type_pointer_to(&t, &arena, &t));
		if (c_types[i].array)
			assert_true(type_array_of(&t, c_types[i].array, &arena, &t));
		v = vtype_of_c(&t, SPACE_KERNEL);
		assert_int_equal(v.kind, c_types[i].kind);
		assert_int_equal(v.size, c_types[i].size);
		assert_int_equal(v.is_signed, c_types[i].is_signed);
		assert_name(&v, c_types[i].name);
		assert_true(vtype_same(&v, &v));
		arena_free(&arena);
	}
}

/* Where what a pointer points at is: said by the pointer, or by where it was found. */
static void test_spaces(void **state)
{
	static const struct {
		enum vspace found;
		bool user;
		enum vspace at;
	} cases[] = {
		{SPACE_KERNEL, false, SPACE_KERNEL}, {SPACE_KERNEL, true, SPACE_USER},
		{SPACE_USER, false, SPACE_USER},     {SPACE_CTX, false, SPACE_KERNEL},
		{SPACE_CTX, true, SPACE_USER},	     {SPACE_OWN, false, SPACE_KERNEL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct type t = {.kind = TYPE_POINTER, .size = 8, .user = cases[i].user};
		struct vtype v = vtype_of_c(&t, cases[i].found);

		assert_int_equal(v.space, cases[i].at);
	}
}

/* ---- tuples and records ---- */

static void test_tuple(void **state)
{
	const struct vtype types[] = {vtype_int(1, true), vtype_int(8, false), vtype_string(5)};
	const char *names[] = {"a", "b", "c"};
	struct vtype tuple, record, nested, inner[2];
	struct arena arena;

	arena_init(&arena, 1 << 20);
	assert_true(vtype_tuple(&tuple, types, NULL, 3, &arena));
	assert_int_equal(tuple.kind, V_TUPLE);
	assert_int_equal(tuple.elems[0].offset, 0);
	assert_int_equal(tuple.elems[1].offset, 8);
	assert_int_equal(tuple.elems[2].offset, 16);
	assert_int_equal(tuple.size, 24);
	assert_int_equal(vtype_align(&tuple), 8);
	assert_name(&tuple, "(int8,uint64,string[5])");

	assert_true(vtype_tuple(&record, types, names, 3, &arena));
	assert_name(&record, "(a=int8,b=uint64,c=string[5])");
	assert_false(vtype_same(&tuple, &record));

	inner[0] = types[0];
	inner[1] = tuple;
	assert_true(vtype_tuple(&nested, inner, NULL, 2, &arena));
	assert_int_equal(nested.elems[1].offset, 8);
	assert_int_equal(nested.size, 32);
	assert_name(&nested, "(int8,(int8,uint64,string[5]))");

	assert_true(vtype_tuple(&tuple, types, NULL, 0, &arena));
	assert_int_equal(tuple.size, 0);
	assert_name(&tuple, "()");
	arena_free(&arena);
}

static void test_tuple_too_large(void **state)
{
	const struct vtype types[] = {vtype_string(UINT32_MAX), vtype_string(UINT32_MAX)};
	struct vtype tuple;
	struct arena arena;

	arena_init(&arena, 1 << 20);
	assert_false(vtype_tuple(&tuple, types, NULL, 2, &arena));
	arena_free(&arena);
}

/* ---- which are the same ---- */

static void test_same(void **state)
{
	struct vtype a = vtype_int(4, true), b = vtype_int(4, false);
	struct vtype s16 = vtype_string(16), s17 = vtype_string(17);
	struct vtype k3 = vtype_fixed(V_KSTACK), k5 = vtype_fixed(V_KSTACK);
	struct vtype sum = vtype_fixed(V_SUM), usum = vtype_fixed(V_SUM);
	struct vtype t1 = vtype_fixed(V_TIME), t2 = vtype_fixed(V_TIME);

	assert_false(vtype_same(&a, &b));
	b.is_signed = true;
	assert_true(vtype_same(&a, &b));
	assert_false(vtype_same(&s16, &s17));
	assert_false(vtype_same(&a, &s16));
	k3.depth = 3;
	k5.depth = 5;
	assert_false(vtype_same(&k3, &k5));
	sum.is_signed = true;
	assert_false(vtype_same(&sum, &usum));
	assert_name(&sum, "sum_t");
	t1.text = "%H";
	t2.text = "%M";
	assert_false(vtype_same(&t1, &t2));
	t2.text = (const char[]){'%', 'H', '\0'};
	assert_true(vtype_same(&t1, &t2));
}

/* ---- numbers of several types ---- */

static const struct {
	int64_t value;
	bool is_signed;
	const char *name;
} literals[] = {
	{0, true, "int8"},	    {1, true, "int8"},		{127, true, "int8"},
	{128, true, "int16"},	    {32767, true, "int16"},	{32768, true, "int32"},
	{1ll << 31, true, "int64"}, {-1, false, "uint64"},	{-1, true, "int8"},
	{-128, true, "int8"},	    {-129, true, "int16"},	{-32769, true, "int32"},
	{INT64_MIN, true, "int64"}, {INT64_MAX, true, "int64"},
};

static void test_literals(void **state)
{
	for (size_t i = 0; i < sizeof(literals) / sizeof(literals[0]); i++) {
		const struct vtype t = vtype_literal(literals[i].value, literals[i].is_signed);

		assert_name(&t, literals[i].name);
	}
}

static const struct {
	int bits[2];	  /* below 0: signed */
	const char *name; /* of what holds both, in either order */
	bool cuts[2];	  /* whether numbers of each change when they become such */
} joins[] = {
	{{8, 8}, "uint8", {false, false}},    {{8, 16}, "uint16", {false, false}},
	{{-8, -64}, "int64", {false, false}}, {{-8, 8}, "int16", {false, false}},
	{{-32, 8}, "int32", {false, false}},  {{-32, 32}, "int64", {false, false}},
	{{-8, 64}, "int64", {false, true}},   {{-64, 32}, "int64", {false, false}},
	{{-64, 64}, "int64", {false, true}},
};

static const struct {
	int from, to; /* bits, below 0: signed */
	bool cuts;
} casts[] = {
	{-8, -8, false}, {-8, -16, false}, {-16, -8, true}, {8, 8, false},  {16, 8, true},
	{8, -8, true},	 {8, -16, false},  {-8, 8, true},   {-8, 64, true}, {64, -64, true},
};

static struct vtype of_bits(int bits)
{
	return vtype_int((unsigned int)(bits < 0 ? -bits : bits) / 8, bits < 0);
}

static void test_joins(void **state)
{
	struct vtype both, five = vtype_literal(5, true), many = vtype_literal(200, true);
	const struct vtype byte = vtype_int(1, true), small = vtype_int(1, false);
	const struct vtype whole = vtype_int(8, false);

	for (size_t i = 0; i < sizeof(joins) / sizeof(joins[0]); i++) {
		const struct vtype a = of_bits(joins[i].bits[0]), b = of_bits(joins[i].bits[1]);

		both = vtype_join(&a, &b);
		assert_name(&both, joins[i].name);
		both = vtype_join(&b, &a);
		assert_name(&both, joins[i].name);
		assert_int_equal(vtype_cuts(&a, &both), joins[i].cuts[0]);
		assert_int_equal(vtype_cuts(&b, &both), joins[i].cuts[1]);
	}
	/* Literals are as what they meet. */
	both = vtype_join(&byte, &five);
	assert_name(&both, "int8");
	both = vtype_join(&many, &byte);
	assert_name(&both, "int16");
	both = vtype_join(&five, &many);
	assert_name(&both, "int16");
	both = vtype_join(&both, &small);
	assert_name(&both, "uint8");
	both = vtype_join(&five, &whole);
	assert_name(&both, "uint64");
	assert_int_equal(both.as_unsigned, 0);
}

static void test_casts(void **state)
{
	const struct vtype five = vtype_literal(5, true), many = vtype_literal(300, true);
	const struct vtype byte = vtype_int(1, false), whole = vtype_int(8, false);

	for (size_t i = 0; i < sizeof(casts) / sizeof(casts[0]); i++) {
		const struct vtype from = of_bits(casts[i].from), to = of_bits(casts[i].to);

		assert_int_equal(vtype_cuts(&from, &to), casts[i].cuts);
	}
	assert_false(vtype_cuts(&five, &byte));
	assert_false(vtype_cuts(&five, &whole));
	assert_true(vtype_cuts(&many, &byte));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fixed),		cmocka_unit_test(test_of_c),
		cmocka_unit_test(test_spaces),		cmocka_unit_test(test_tuple),
		cmocka_unit_test(test_tuple_too_large), cmocka_unit_test(test_same),
		cmocka_unit_test(test_literals),	cmocka_unit_test(test_joins),
		cmocka_unit_test(test_casts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
