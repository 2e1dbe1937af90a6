// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Definitions of C in scripts. The expected layouts are those the compiler of this test makes: the
 * same text is given to both.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lang/env.h"

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

/* ---- a script made of nothing but definitions ---- */

struct script {
	struct arena arena;
	struct source source;
	struct env env;
	struct cdefs *defs;
	int ret;
};

/* The environment of the tests knows one struct, one typedef and one enumerator. */
static bool known_member(const struct types *in, const struct type *t, size_t number,
			 struct member *m)
{
	*m = (struct member){
		.name = "next", .offset = number * 8, .type = {.kind = TYPE_POINTER, .size = 8}};
	return number < 2;
}

static const struct types known_types = {.member = known_member};

static bool known_type(struct env *e, const char *name, struct type *t)
{
	if (!strcmp(name, "struct list_head"))
		*t = (struct type){.in = &known_types, .id = 1, .kind = TYPE_STRUCT, .size = 16};
	else if (!strcmp(name, "sector_t"))
		*t = (struct type){.kind = TYPE_INTEGER, .size = 8};
	else
		return false;
	return true;
}

static bool known_enumerator(struct env *e, const char *name, int64_t *value, struct type *in)
{
	*value = 16;
	*in = (struct type){.kind = TYPE_INTEGER, .size = 4};
	return !strcmp(name, "TASK_COMM_LEN");
}

static const struct env_ops known_ops = {.type = known_type, .enumerator = known_enumerator};

/* The text of a header, if there is one, comes before that of the script. */
static void script_parse_with(struct script *s, const char *header, const char *text)
{
	const uint32_t from = header ? (uint32_t)strlen(header) + 1 : 0;
	struct c_text c = {.at = {from, from + (uint32_t)strlen(text)}};
	struct c_text first = {.next = &c, .at = {0, from - 1}, .origin = C_OF_SYSTEM};
	struct script_ast ast = {.source = &s->source, .c = header ? &first : &c};

	arena_init(&s->arena, 64 << 20);
	source_init(&s->source, &s->arena);
	if (header)
		assert_true(source_add(&s->source, "x.h", header, from - 1, (struct span){0}));
	assert_true(source_add(&s->source, "test", text, strlen(text), (struct span){0}));
	s->env = (struct env){.ops = &known_ops, .arena = &s->arena};
	s->ret = cdefs_parse(&ast, &s->env, &s->defs);
	s->env.own = s->defs;
}

static void script_parse(struct script *s, const char *text)
{
	script_parse_with(s, NULL, text);
}

static void script_done(struct script *s)
{
	cdefs_free(s->defs);
	source_free(&s->source);
	arena_free(&s->arena);
}

/* ---- layouts ---- */

#define DEFINITIONS                                                                                \
	struct plain {                                                                             \
		char a;                                                                            \
		int b;                                                                             \
		short c;                                                                           \
		u64 d;                                                                             \
		char e;                                                                            \
	};                                                                                         \
	struct packed_one {                                                                        \
		char a;                                                                            \
		int b;                                                                             \
		u64 c;                                                                             \
	} __attribute__((packed));                                                                 \
	struct __attribute__((packed)) packed_front {                                              \
		char a;                                                                            \
		u32 b;                                                                             \
	};                                                                                         \
	struct aligned_one {                                                                       \
		char a;                                                                            \
		char b __attribute__((aligned(8)));                                                \
	};                                                                                         \
	struct aligned_all {                                                                       \
		int a;                                                                             \
	} __attribute__((aligned(64)));                                                            \
	struct bits {                                                                              \
		unsigned a : 3, b : 5;                                                             \
		int c : 20;                                                                        \
		u64 d : 40;                                                                        \
		u8 e : 7;                                                                          \
	};                                                                                         \
	struct bits_zero {                                                                         \
		u32 a : 3;                                                                         \
		u32 : 0;                                                                           \
		u32 b : 3;                                                                         \
	};                                                                                         \
	struct bits_gap {                                                                          \
		u16 a : 3;                                                                         \
		u16 : 4;                                                                           \
		u16 b : 9;                                                                         \
		u16 c : 2;                                                                         \
	};                                                                                         \
	struct bits_packed {                                                                       \
		u32 a : 3;                                                                         \
		u32 b : 30;                                                                        \
		u8 c;                                                                              \
	} __attribute__((packed));                                                                 \
	struct inside {                                                                            \
		char a;                                                                            \
		struct {                                                                           \
			short b;                                                                   \
			union {                                                                    \
				int c;                                                             \
				u64 d;                                                             \
			};                                                                         \
		} in;                                                                              \
	};                                                                                         \
	struct nameless {                                                                          \
		char a;                                                                            \
		union {                                                                            \
			u32 b;                                                                     \
			struct {                                                                   \
				u16 c, d;                                                          \
			};                                                                         \
		};                                                                                 \
		u8 e;                                                                              \
	};                                                                                         \
	struct dims {                                                                              \
		u16 a[3][5];                                                                       \
		char *b[4];                                                                        \
		u8 c[sizeof(int) * 2 + 1];                                                         \
	};                                                                                         \
	struct functions {                                                                         \
		void (*a)(int, char *);                                                            \
		int (*(*b)(void))[3];                                                              \
		int *(*c[2])(void);                                                                \
	};                                                                                         \
	struct itself {                                                                            \
		struct itself *next;                                                               \
		struct itself **all;                                                               \
		const struct later *l;                                                             \
	};                                                                                         \
	struct later {                                                                             \
		int a;                                                                             \
		struct plain b;                                                                    \
	};                                                                                         \
	struct flexible {                                                                          \
		int n;                                                                             \
		u64 data[];                                                                        \
	};                                                                                         \
	struct empty_one {                                                                         \
	};                                                                                         \
	union both {                                                                               \
		char a[5];                                                                         \
		u16 b;                                                                             \
	};                                                                                         \
	enum colour { RED, GREEN = 5, BLUE, DARK = -2, MASK = 1 << 4 | 3 };                        \
	enum wide { FIRST, HUGE_ONE = 0x100000000 };                                               \
	typedef struct {                                                                           \
		int x, y;                                                                          \
	} point_t;                                                                                 \
	typedef point_t points_t[3], *point_ptr;                                                   \
	typedef enum { ON = 'a', OFF = '\n' } lamp_t;                                              \
	struct uses {                                                                              \
		points_t p;                                                                        \
		point_ptr q;                                                                       \
		enum colour c;                                                                     \
		lamp_t l;                                                                          \
		long double *d;                                                                    \
	};                                                                                         \
	struct many_words {                                                                        \
		long unsigned int a;                                                               \
		unsigned b;                                                                        \
		short int c;                                                                       \
		long long d;                                                                       \
		volatile const char e;                                                             \
		signed char f;                                                                     \
		_Bool g;                                                                           \
		float h;                                                                           \
		double i;                                                                          \
		size_t j;                                                                          \
		int8_t k;                                                                          \
		uint64_t l;                                                                        \
	}

DEFINITIONS;

#define STRINGIFY(...) #__VA_ARGS__
#define TEXT_OF(x)     STRINGIFY(x)

/* clang-format off */
static const struct {
	const char *type;
	uint64_t size, align;
} sizes[] = {
#define S(t) {#t, sizeof(t), __alignof__(t)}
	S(struct plain), S(struct packed_one), S(struct packed_front), S(struct aligned_one),
	S(struct aligned_all), S(struct bits), S(struct bits_zero), S(struct bits_gap),
	S(struct bits_packed), S(struct inside), S(struct nameless), S(struct dims),
	S(struct functions), S(struct itself), S(struct later), S(struct flexible),
	S(struct empty_one), S(union both), S(enum colour), S(enum wide), S(point_t),
	S(points_t), S(point_ptr), S(lamp_t), S(struct uses), S(struct many_words),
};

static const struct {
	const char *type, *member;
	uint64_t offset, size;
} members[] = {
#define M(t, m) {#t, #m, offsetof(t, m), sizeof(((t *)0)->m)}
	M(struct plain, b), M(struct plain, c), M(struct plain, d), M(struct plain, e),
	M(struct packed_one, b), M(struct packed_one, c), M(struct packed_front, b),
	M(struct aligned_one, b), M(struct bits_packed, c), M(struct inside, in),
	M(struct nameless, b), M(struct nameless, c), M(struct nameless, d), M(struct nameless, e),
	M(struct dims, b), M(struct dims, c), M(struct functions, b), M(struct functions, c),
	M(struct itself, all), M(struct itself, l), M(struct later, b),
	M(union both, b), M(struct uses, p), M(struct uses, q), M(struct uses, c),
	M(struct uses, l), M(struct uses, d), M(struct many_words, a), M(struct many_words, b),
	M(struct many_words, c), M(struct many_words, d), M(struct many_words, e),
	M(struct many_words, f), M(struct many_words, g), M(struct many_words, h),
	M(struct many_words, i), M(struct many_words, j), M(struct many_words, k),
	M(struct many_words, l),
};
/* clang-format on */

static void test_layout(void **state)
{
	struct script s;
	struct member m;
	struct type t;

	script_parse(&s, TEXT_OF(DEFINITIONS;));
	assert_string_equal(buf_str(&s.source.messages), "");
	assert_int_equal(s.ret, 0);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		assert_true(env_type(&s.env, sizes[i].type, &t));
		if (type_size(&t) != sizes[i].size || type_align(&t) != sizes[i].align)
			fail_msg("%s: %d aligned to %d", sizes[i].type, (int)type_size(&t),
				 (int)type_align(&t));
	}
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		assert_true(env_type(&s.env, members[i].type, &t));
		assert_true(type_member(&t, members[i].member, strlen(members[i].member), &m));
		if (m.offset != members[i].offset || type_size(&m.type) != members[i].size)
			fail_msg("%s.%s: %d bytes at %d", members[i].type, members[i].member,
				 (int)type_size(&m.type), (int)m.offset);
	}
	/* An array without a length has no size, which the compiler refuses to tell. */
	assert_true(env_type(&s.env, "struct flexible", &t));
	assert_true(type_member(&t, "data", 4, &m));
	assert_int_equal(m.offset, offsetof(struct flexible, data));
	assert_int_equal(type_size(&m.type), 0);
	script_done(&s);
}

/* ---- bit fields: sets each in a struct of the compiler and reads it by what was laid out ---- */

static uint64_t read_bits(const void *data, const struct member *m)
{
	uint64_t v = 0;

	memcpy(&v, (const char *)data + m->offset, m->type.size);
	return v >> m->bit & (m->bits < 64 ? (1ull << m->bits) - 1 : UINT64_MAX);
}

#define CHECK_BITS(type_, member_, value_)                                                         \
	do {                                                                                       \
		/* The integer around packed bits may be larger than the struct. */                \
		union {                                                                            \
			struct type_ x;                                                            \
			char room[sizeof(struct type_) + 8];                                       \
		} at;                                                                              \
		memset(&at, 0, sizeof(at));                                                        \
		at.x.member_ = (value_);                                                           \
		assert_true(env_type(&s.env, "struct " #type_, &t));                               \
		assert_true(type_member(&t, #member_, strlen(#member_), &m));                      \
		assert_int_equal(read_bits(&at, &m), (value_));                                    \
	} while (0)

static void test_bits(void **state)
{
	struct script s;
	struct member m;
	struct type t;

	script_parse(&s, TEXT_OF(DEFINITIONS;));
	assert_int_equal(s.ret, 0);
	CHECK_BITS(bits, a, 5u);
	CHECK_BITS(bits, b, 19u);
	CHECK_BITS(bits, c, 0x12345);
	CHECK_BITS(bits, d, 0x123456789full);
	CHECK_BITS(bits, e, 0x55);
	CHECK_BITS(bits_zero, b, 5u);
	CHECK_BITS(bits_gap, b, 0x155);
	CHECK_BITS(bits_gap, c, 2);
	CHECK_BITS(bits_packed, a, 5u);
	assert_int_equal(m.type.size, 1);
	CHECK_BITS(bits_packed, b, 0x2aaaaaaau);
	script_done(&s);
}

/* ---- names and enumerators ---- */

static void assert_type_name(struct script *s, const char *type, const char *member,
			     const char *name)
{
	struct member m;
	struct type t;
	struct buf text;

	assert_true(env_type(&s->env, type, &t));
	if (*member) {
		assert_true(type_member(&t, member, strlen(member), &m));
		t = m.type;
	}
	buf_init(&text, 1000);
	type_name(&t, &text);
	assert_string_equal(buf_str(&text), name);
	buf_free(&text);
}

static void test_names(void **state)
{
	struct script s;

	script_parse(&s, TEXT_OF(DEFINITIONS;));
	assert_type_name(&s, "struct plain", "", "struct plain");
	assert_type_name(&s, "struct plain", "d", "unsigned long long");
	assert_type_name(&s, "union both", "", "union both");
	assert_type_name(&s, "struct dims", "a", "unsigned short[3][5]");
	assert_type_name(&s, "struct dims", "b", "char *[4]");
	assert_type_name(&s, "struct functions", "a", "void (*)()");
	assert_type_name(&s, "struct itself", "all", "struct itself **");
	assert_type_name(&s, "struct itself", "l", "struct later *");
	assert_type_name(&s, "struct uses", "c", "enum colour");
	assert_type_name(&s, "point_t", "", "struct {…}");
	script_done(&s);
}

static void test_enums(void **state)
{
	static const struct {
		const char *name;
		int64_t value;
	} values[] = {
		{"RED", RED},		{"GREEN", GREEN}, {"BLUE", BLUE},
		{"DARK", DARK},		{"MASK", MASK},	  {"FIRST", FIRST},
		{"HUGE_ONE", HUGE_ONE}, {"ON", ON},	  {"OFF", OFF},
	};
	struct script s;
	struct type in;
	int64_t v;

	script_parse(&s, TEXT_OF(DEFINITIONS;));
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		assert_true(env_enumerator(&s.env, values[i].name, &v, &in));
		assert_int_equal(v, values[i].value);
		assert_string_equal(type_enumerator_name(&in, v), values[i].name);
	}
	assert_null(type_enumerator_name(&in, 12345));
	assert_true(env_type(&s.env, "enum colour", &in));
	assert_true(in.is_signed && in.is_enum);
	/* The value is read as it lies in memory, whoever knows its sign. */
	assert_string_equal(type_enumerator_name(&in, 0xfffffffe), "DARK");
	script_done(&s);
}

/* ---- what the environment knows ---- */

static void test_environment(void **state)
{
	struct script s;
	struct member m;
	struct type t, target;

	script_parse(&s, "struct a { struct list_head l; sector_t s; char comm[TASK_COMM_LEN]; "
			 "struct list_head *p; struct nobody *n; };");
	assert_string_equal(buf_str(&s.source.messages), "");
	assert_true(env_type(&s.env, "struct a", &t));
	assert_int_equal(t.size, 16 + 8 + 16 + 8 + 8);
	assert_true(type_member(&t, "p", 1, &m) && type_target(&m.type, &target));
	assert_int_equal(target.size, 16);
	assert_true(type_member(&t, "n", 1, &m) && type_target(&m.type, &target));
	assert_int_equal(target.size, 0);
	assert_false(type_member(&target, "x", 1, &m));
	assert_false(env_type(&s.env, "struct nobody", &t));
	script_done(&s);
}

/* What is not understood in a header is skipped, and nothing else. */
static void test_headers(void **state)
{
	static const char header[] =
		"struct first { nobody_t x; };\n"
		"static inline nobody_t f(int x) { if (x) { return 'x'; } return 1.5; }\n"
		"struct second { char a; } __attribute__((aligned(4)));\n"
		"extern nobody_t v; int (*g)(nobody_t);\n"
		"typedef nobody_t third, *fourth;\n"
		"enum { FIVE = 5, SIX = sizeof(struct second) + 2 };\n"
		"enum { FIVE = 6 };\n"
		"typedef struct second eight __attribute__((aligned(8)));\n"
		"__typeof__(struct second) nine(void);\n"
		"\n# /usr/include/broken.h\n"
		"struct broken { int x;\n"
		"\n## /kernel/list.h\n"
		"struct list_head { char a, b; };\n"
		"struct ten { struct list_head l; struct list_head *p; eight e; };\n"
		"__spur_pragma_pack (push, 2);\n"
		"struct packed { char a; long b; };\n"
		"__spur_pragma_pack (pop);\n"
		"struct not_packed { char a; long b; };\n";
	static const struct {
		const char *name;
		uint64_t size; /* 0: it is not known */
	} wanted[] = {
		{"struct first", 0},
		{"struct second", 4},
		{"third", 0},
		{"eight", 4},
		{"struct broken", 0},
		{"struct ten", 24},
		{"struct packed", 10},
		{"struct not_packed", 16},
		{"struct own", 12},
		/* The environment knows better what is in the kernel. */
		{"struct list_head", 16},
	};
	struct member m;
	struct script s;
	struct type t, target;
	const char *file;
	int64_t v;

	script_parse_with(&s, header,
			  "struct own { struct second s[2]; int last; }; enum { SIX = 7 };");
	assert_string_equal(buf_str(&s.source.messages), "");
	assert_int_equal(s.ret, 0);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		assert_int_equal(env_type(&s.env, wanted[i].name, &t), wanted[i].size != 0);
		if (wanted[i].size)
			assert_int_equal(type_size(&t), wanted[i].size);
	}
	assert_true(env_enumerator(&s.env, "FIVE", &v, &t) && v == 5);
	assert_true(env_enumerator(&s.env, "SIX", &v, &t) && v == 7);
	assert_true(env_type(&s.env, "struct ten", &t));
	assert_true(type_member(&t, "p", 1, &m) && type_target(&m.type, &target));
	assert_int_equal(target.size, 16);
	assert_string_equal(env_skipped_type(&s.env, "struct first", &file),
			    "the type 'nobody_t' is not known");
	assert_string_equal(file, "x.h");
	assert_non_null(env_skipped_type(&s.env, "fourth", &file));
	assert_string_equal(env_skipped_type(&s.env, "struct broken", &file),
			    "a bracket is not closed");
	assert_string_equal(file, "/usr/include/broken.h");
	assert_null(env_skipped_type(&s.env, "struct second", &file));
	script_done(&s);
}

/* Headers have more in them than scripts can use. */
static void test_passed_over(void **state)
{
	struct script s;
	struct type t;

	script_parse(&s, "#define X 1\n"
			 "int open(const char *path, int flags, ...);\n"
			 "static inline int twice(int x) { if (x) { return 2 * x; } return 0; }\n"
			 "extern int errno_of[4];\n"
			 "struct only_named;\n"
			 ";;\n"
			 "// struct no { }\n"
			 "/* struct no2 { } */ struct yes { int a; };\n");
	assert_string_equal(buf_str(&s.source.messages), "");
	assert_int_equal(s.ret, 0);
	assert_true(env_type(&s.env, "struct yes", &t));
	assert_false(env_type(&s.env, "struct only_named", &t));
	assert_false(env_type(&s.env, "struct no", &t));
	script_done(&s);
}

static void test_near(void **state)
{
	struct script s;
	struct type t;
	struct buf text;

	script_parse(&s, "struct queue { int nr_queued; struct { int h_nr_idle; }; int curr; };");
	buf_init(&text, 1000);
	env_near_type(&s.env, "struct queu", &text);
	assert_string_equal(buf_str(&text), " (did you mean 'queue'?)");
	assert_true(env_type(&s.env, "struct queue", &t));
	buf_reset(&text);
	type_near_members(&t, "nr_quued", &text);
	assert_string_equal(buf_str(&text), "nr_queued");
	buf_reset(&text);
	type_near_members(&t, "nr_running", &text);
	assert_string_equal(buf_str(&text), "nr_queued, h_nr_idle");
	buf_reset(&text);
	type_near_members(&t, "xyzzy", &text);
	assert_string_equal(buf_str(&text), "nr_queued, curr");
	buf_free(&text);
	script_done(&s);
}

/* ---- mistakes ---- */

static const struct {
	const char *text;
	const char *told; /* a part of the message */
} mistakes[] = {
	{"struct a { int x int y; }", "a ';' is missing"},
	{"struct a { int x;", "a bracket is not closed"},
	{"struct a { foo_t x; };", "the type 'foo_t' is not known"},
	{"struct a { struct b x; };", "nothing is known about the size of 'x'"},
	{"struct a { struct a x; };", "nothing is known about the size of 'x'"},
	{"struct a { void x; };", "nothing is known about the size of 'x'"},
	{"struct a { int f(void); };", "nothing is known about the size of 'f'"},
	{"struct a { int x; }; struct a { int y; };", "'a' is defined twice"},
	{"struct a { int x[-1]; };", "no negative length"},
	{"struct a { int x[1 / 0]; };", "division by zero"},
	{"struct a { int x; char y[sizeof(struct a)]; };", "nothing is known about the size"},
	{"enum { A = sizeof(void) };", "nothing is known about the size"},
	{"struct a { int x[N]; };", "'N' is not known"},
	{"struct a { int x[0x7fffffffffffffff]; };", "the array is too large"},
	{"struct a { char x[1 << 29]; char y[1 << 29]; char z; };", "becomes too large"},
	{"struct a { int x : 33; };", "there are no 33 bits"},
	{"struct a { int x : -1; };", "there are no -1 bits"},
	{"struct a { int x : 0; };", "'x' has no bits"},
	{"struct a { char *x : 3; };", "only integers"},
	{"struct a { int x; } __attribute__((aligned(3)));", "a power of two"},
	{"enum a { X, X };", "'X' is there already"},
	{"enum { 5 };", "the name of an enumerator is missing"},
	{"enum { A = };", "a constant is missing"},
	{"enum { A = (1 + 2 };", "a ')' is missing"},
	{"struct a { int x; char x; };", "'x' is there already"},
	{"struct a { int x; union { int y; char x; }; };", "'x' is there already"},
	{"typedef int a; typedef long a;", "'a' is already another type"},
	{"unsigned float x;", "'unsigned float' is no type"},
	{"struct ;", "a name or a '{' is missing"},
	{"5;", "a type is missing"},
	{"struct a { int (x; };", "a bracket is not closed"},
	{"struct a { int x[1e5]; };", "a constant is missing"},
};

static void test_mistakes(void **state)
{
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		struct script s;
		const char *messages;

		script_parse(&s, mistakes[i].text);
		messages = buf_str(&s.source.messages);
		if (s.ret == 0 || s.defs || !strstr(messages, mistakes[i].told))
			fail_msg("%s: %d %s", mistakes[i].text, s.ret, messages);
		script_done(&s);
	}
}

/* A mistake does not hide the next one, and points at its place. */
static void test_places(void **state)
{
	struct script s;
	const char *messages;

	script_parse(&s, "struct a { foo x; };\nstruct b { int y; };\nstruct c { bar_t z; };\n");
	messages = buf_str(&s.source.messages);
	assert_int_equal(s.source.errors, 2);
	assert_non_null(strstr(messages, "test:1:12-15: ERROR: the type 'foo' is not known"));
	assert_non_null(strstr(messages, "test:3:12-17: ERROR: the type 'bar_t' is not known"));
	script_done(&s);
}

/* ---- what has no end ---- */

static void repeat(struct buf *to, const char *text, unsigned int n)
{
	while (n--)
		buf_puts(to, text);
}

static const struct {
	const char *before, *again, *behind;
	unsigned int n;
	bool fine; /* it only is long */
} endless[] = {
	{"", "struct { ", "", 100000},
	{"", "struct { int a; union { ", "", 5000},
	{"struct a { int x", "[2]", "; };", 100000},
	{"struct a { int ", "*", "x; };", 300000},
	{"struct a { int ", "(", "x; };", 100000},
	{"enum { A = ", "(", "1", 100000},
	{"enum { A = ", "-", "1 };", 100000},
	{"enum { A = ", "1 ? ", "1", 100000},
	{"enum { A = 1", " + 1", " };", 100000, true},
	{"enum { A = ", "(int)", "1 };", 100000},
	{"struct a { ", "int x; ", "};", 100000},
	{"struct a { int x; } ", "__attribute__((packed)) ", ";", 50000, true},
	{"", "struct a { int x; };\n", "", 100000},
	{"", "\"", "", 100000},
	{"", "/*", "", 100000},
};

static void test_endless(void **state)
{
	for (size_t i = 0; i < sizeof(endless) / sizeof(endless[0]); i++) {
		struct script s;
		struct buf text;

		buf_init(&text, 8 << 20);
		buf_puts(&text, endless[i].before);
		repeat(&text, endless[i].again, endless[i].n);
		buf_puts(&text, endless[i].behind);
		script_parse(&s, buf_str(&text));
		if ((s.ret == 0) != endless[i].fine)
			fail_msg("%s%s…: %d %.200s", endless[i].before, endless[i].again, s.ret,
				 buf_str(&s.source.messages));
		script_done(&s);
		buf_free(&text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layout),	    cmocka_unit_test(test_bits),
		cmocka_unit_test(test_names),	    cmocka_unit_test(test_enums),
		cmocka_unit_test(test_environment), cmocka_unit_test(test_headers),
		cmocka_unit_test(test_passed_over), cmocka_unit_test(test_near),
		cmocka_unit_test(test_mistakes),    cmocka_unit_test(test_places),
		cmocka_unit_test(test_endless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
