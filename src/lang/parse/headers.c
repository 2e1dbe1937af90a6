// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The numbers that headers in angle brackets define. Types come from BTF, but BTF has no macros: a
 * name in capital letters that nothing else knows is looked up in the headers that the script
 * includes. No header is read before such a name is used.
 *
 * A lexer of its own reads the headers, and only its preprocessor runs. Its limits bound
 * everything: the number and depth of files, the size of all texts, the work for conditions.
 */
#include "lang/parse/preprocess.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "base/file.h"
#include "lang/parse/lexer.h"

/* ---- reading headers ---- */

enum {
	MAX_MEMORY = 64 << 20,
	MAX_HEADERS = 4096,
	MAX_NUMBER = 1 << 16, /* bytes of a definition with everything replaced */
};

/* "(__force fmode_t)1": __force is for a checker of the kernel's source. */
static const char FORCE[] = "__force";

struct headers {
	const struct header_files *files;
	const struct pp *script;
	struct arena arena;
	struct source source;
	struct lexer lex;
	struct map seen; /* names in angle brackets, and paths; by their hash */
	unsigned int nr_files;
};

struct headers *headers_new(const struct header_files *files)
{
	struct headers *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->files = files;
	arena_init(&h->arena, MAX_MEMORY);
	source_init(&h->source, &h->arena);
	h->source.no_warnings = true;
	lex_init(&h->lex, &h->source, NULL);
	h->lex.headers = h;
	return h;
}

void headers_free(struct headers *h)
{
	if (!h)
		return;
	map_free(&h->seen);
	lex_free(&h->lex);
	source_free(&h->source);
	arena_free(&h->arena);
	free(h);
}

void headers_define(struct headers *h, const char *name, const char *body)
{
	pp_define(&h->lex, name, body);
}

const struct pp *headers_script(const struct headers *h)
{
	return h->script;
}

/* Whether the text is new, and remembers it; false without memory. */
static bool is_new(struct headers *h, const char *text)
{
	const uint64_t key = map_hash(text, strlen(text));

	return !map_get(&h->seen, key) && map_set(&h->seen, key, h);
}

static bool push_text(struct headers *h, const char *path, struct buf *text)
{
	uint32_t end;

	if (!source_add(&h->source, path, buf_str(text), text->len, (struct span){0, 0}))
		return false;
	end = (uint32_t)h->source.text.len - 1;
	return lex_push(&h->lex, (struct span){end - (uint32_t)text->len, end}, false,
			(struct span){0, 0});
}

/* False: there is no such header. A header that was read before is not read again. */
static bool add(struct headers *h, const char *name, const char *by)
{
	struct buf path, text;
	bool found;

	if (*name == '/' || strstr(name, ".."))
		return false;
	if (!by && !is_new(h, name))
		return true;
	if (h->nr_files >= MAX_HEADERS)
		return false;
	buf_init(&path, PATH_MAX);
	buf_init(&text, SOURCE_LIMIT);
	found = h->files->read(h->files, name, by, &path, &text);
	if (found && !buf_full(&path) && !buf_full(&text) && is_new(h, buf_str(&path))) {
		h->nr_files++;
		push_text(h, buf_str(&path), &text);
	}
	buf_free(&path);
	buf_free(&text);
	return found;
}

void headers_push(struct headers *h, const char *name, size_t len, bool quoted)
{
	const struct source_part *in = source_part_of(&h->source, lex_top(&h->lex)->pos);
	char copy[NAME_MAX + 1];

	if (!len || len >= sizeof(copy) || memchr(name, '\0', len))
		return;
	memcpy(copy, name, len);
	copy[len] = '\0';
	if (!quoted || !in || !add(h, copy, in->name))
		add(h, copy, NULL);
}

bool headers_include(struct headers *h, const char *name)
{
	const bool found = add(h, name, NULL);

	pp_directives_only(&h->lex);
	return found;
}

static const char *skip_blanks(const char *s, const char *end)
{
	while (s < end && isspace((unsigned char)*s))
		s++;
	return s;
}

static const char *skip_name(const char *s, const char *end)
{
	while (s < end && lex_is_name(*s))
		s++;
	return s;
}

/* The end of a cast with __force, or s. */
static const char *skip_force(const char *s, const char *end)
{
	const char *from, *at = s + 1;
	bool forced = false;

	if (*s != '(')
		return s;
	do {
		from = skip_blanks(at, end);
		at = skip_name(from, end);
		forced |=
			(size_t)(at - from) == strlen(FORCE) && !memcmp(from, FORCE, strlen(FORCE));
	} while (at != from);
	return forced && at < end && *at == ')' ? at + 1 : s;
}

static bool is_capital(const char *s, const char *end)
{
	for (; s < end; s++)
		if (islower((unsigned char)*s))
			return false;
	return true;
}

/* Appends numbers, names in capital letters and operators; false if there is anything else. */
static bool put_number(const char *s, const char *end, struct buf *to)
{
	bool any = false;

	while (s < end) {
		const char *next = skip_name(s, end), *forced = skip_force(s, end);

		if (next > s) {
			if (!lex_is_digit(*s) && !is_capital(s, next))
				return false;
			buf_put(to, s, (size_t)(next - s));
			any = true;
		} else if (forced > s) {
			next = forced;
		} else if (isspace((unsigned char)*s)) {
			buf_putc(to, ' ');
			next = s + 1;
		} else if (strchr("()+-*/%|&^~<>=!?:", *s) && *s) {
			buf_putc(to, *s);
			next = s + 1;
		} else {
			return false;
		}
		s = next;
	}
	return any && !buf_full(to);
}

bool headers_number(struct headers *h, const struct pp *script, const char *name, size_t len,
		    struct buf *to)
{
	const struct define *d = pp_lookup(&h->lex.pp, name, len);
	struct define *force = pp_lookup(&h->lex.pp, FORCE, strlen(FORCE));
	const char *from, *end;
	struct buf full;
	bool ok;

	if (!d || d->is_function)
		return false;
	/* For compilers it is defined as nothing, but skip_force() needs it. */
	if (force)
		force->gone = true;
	buf_init(&full, MAX_NUMBER);
	h->script = script;
	ok = pp_expand_text(&h->lex, (struct span){0, 0}, name, len, &full) && full.len;
	h->script = NULL;
	if (ok) {
		from = skip_blanks(full.data, full.data + full.len);
		for (end = full.data + full.len; end > from && isspace((unsigned char)end[-1]);)
			end--;
		ok = !((size_t)(end - from) == len && !memcmp(from, name, len)) &&
		     put_number(from, end, to);
	}
	buf_free(&full);
	return ok;
}

/* ---- the headers of a script ---- */

/*
 * They are searched where the build of the kernel searches, and begin with what its compiler and
 * its configuration define.
 */

#if defined(__x86_64__) || defined(__i386__)
#define ARCH "x86"
#elif defined(__aarch64__)
#define ARCH "arm64"
#elif defined(__riscv)
#define ARCH "riscv"
#elif defined(__powerpc__)
#define ARCH "powerpc"
#elif defined(__s390__)
#define ARCH "s390"
#else
#define ARCH "arm"
#endif

enum { MOST_HEADERS = 64, MOST_ROOTS = 3 };

/* In the kernel's source and build, in the order of its Makefile. */
static const char *const folders[] = {
	"arch/" ARCH "/include",      "arch/" ARCH "/include/generated",      "include",
	"arch/" ARCH "/include/uapi", "arch/" ARCH "/include/generated/uapi", "include/uapi",
	"include/generated/uapi",
};

static const char *const system_folders[] = {
#ifdef __x86_64__
	"/usr/include/x86_64-linux-gnu",
#elif defined(__aarch64__)
	"/usr/include/aarch64-linux-gnu",
#endif
	"/usr/include",
};

#define TEXT_OF(x)  #x
#define VALUE_OF(x) TEXT_OF(x)

/* Names that compilers define and headers test. */
static const struct {
	const char *name, *body;
} predefined[] = {
	{"__STDC__", "1"},
	{"__STDC_VERSION__", "201710L"},
	{"__GNUC__", VALUE_OF(__GNUC__)},
	{"__GNUC_MINOR__", VALUE_OF(__GNUC_MINOR__)},
	{"__GNUC_PATCHLEVEL__", VALUE_OF(__GNUC_PATCHLEVEL__)},
	{"__linux__", "1"},
	{"__CHAR_BIT__", "8"},
	{"__SIZEOF_INT__", "4"},
	{"__SIZEOF_LONG_LONG__", "8"},
	{"__ORDER_LITTLE_ENDIAN__", "1234"},
	{"__ORDER_BIG_ENDIAN__", "4321"},
	{"__BYTE_ORDER__", VALUE_OF(__BYTE_ORDER__)},
#ifdef __LP64__
	{"__LP64__", "1"},
	{"_LP64", "1"},
	{"__SIZEOF_LONG__", "8"},
	{"__SIZEOF_POINTER__", "8"},
#else
	{"__SIZEOF_LONG__", "4"},
	{"__SIZEOF_POINTER__", "4"},
#endif
#ifdef __x86_64__
	{"__x86_64__", "1"},
	{"__x86_64", "1"},
#endif
#ifdef __aarch64__
	{"__aarch64__", "1"},
#endif
};

struct pp_header {
	struct pp_header *next;
	const char *name;
};

struct pp_headers {
	struct header_files files; /* first: read_file() gets its address */
	const struct parse_options *opt;
	struct headers *known; /* NULL: nothing has been read yet */
	char roots[MOST_ROOTS][PATH_MAX / 2];
	struct pp_header *first, **last; /* included by the script, in its order */
	struct pp_header *unread;
	unsigned int n;
};

static bool read_path(struct buf *path, struct buf *text, const char *dir, size_t dir_len,
		      const char *below, const char *name)
{
	struct stat st;

	buf_reset(path);
	buf_put(path, dir, dir_len);
	if (*below)
		buf_printf(path, "/%s", below);
	buf_printf(path, "/%s", name);
	return !buf_full(path) && !stat(buf_str(path), &st) && S_ISREG(st.st_mode) &&
	       !file_read(buf_str(path), text, NULL);
}

static bool read_file(const struct header_files *files, const char *name, const char *by,
		      struct buf *path, struct buf *text)
{
	const struct pp_headers *h = (const struct pp_headers *)files;

	if (by) {
		const char *slash = strrchr(by, '/');

		return slash && read_path(path, text, by, (size_t)(slash - by), "", name);
	}
	for (const char *const *dir = h->opt ? h->opt->include_dirs : NULL; dir && *dir; dir++)
		if (read_path(path, text, *dir, strlen(*dir), "", name))
			return true;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		for (size_t k = 0; k < MOST_ROOTS && h->roots[k][0]; k++)
			if (read_path(path, text, h->roots[k], strlen(h->roots[k]), folders[i],
				      name))
				return true;
	for (size_t i = 0; i < sizeof(system_folders) / sizeof(system_folders[0]); i++)
		if (read_path(path, text, system_folders[i], strlen(system_folders[i]), "", name))
			return true;
	return false;
}

/* Debian has two packages: linux-headers-6.1.0-1-amd64 and linux-headers-6.1.0-1-common. */
static void find_roots(struct pp_headers *h)
{
	struct utsname u = {0};
	char *flavour;

	if (h->opt && h->opt->kernel_source) {
		snprintf(h->roots[0], sizeof(h->roots[0]), "%s", h->opt->kernel_source);
		if (h->opt->kernel_build)
			snprintf(h->roots[1], sizeof(h->roots[1]), "%s", h->opt->kernel_build);
		return;
	}
	uname(&u);
	snprintf(h->roots[0], sizeof(h->roots[0]), "/lib/modules/%s/source", u.release);
	if (h->opt && h->opt->kernel_build)
		snprintf(h->roots[1], sizeof(h->roots[1]), "%s", h->opt->kernel_build);
	else
		snprintf(h->roots[1], sizeof(h->roots[1]), "/lib/modules/%s/build", u.release);
	flavour = strrchr(u.release, '-');
	if (flavour)
		*flavour = '\0';
	snprintf(h->roots[2], sizeof(h->roots[2]), "/usr/src/linux-headers-%s-common", u.release);
}

/* The headers of the script, which may be empty; NULL without memory. */
static struct pp_headers *headers_of(struct lexer *l)
{
	struct pp_headers *h = l->pp.headers;

	if (h || (l->opt && l->opt->no_files))
		return h;
	h = arena_alloc(l->arena, sizeof(*h));
	if (!h)
		return NULL;
	h->files.read = read_file;
	h->opt = l->opt;
	h->last = &h->first;
	l->pp.headers = h;
	return h;
}

void pp_add_header(struct lexer *l, const char *name, size_t len)
{
	struct pp_headers *h = headers_of(l);
	struct pp_header *one = h && h->n < MOST_HEADERS && !memmem(name, len, "..", 2)
					? arena_alloc(l->arena, sizeof(*one))
					: NULL;

	if (!one)
		return;
	one->name = arena_strndup(l->arena, name, len);
	if (!one->name)
		return;
	*h->last = one;
	h->last = &one->next;
	if (!h->unread)
		h->unread = one;
	h->n++;
}

void pp_free_headers(struct lexer *l)
{
	if (l->pp.headers)
		headers_free(l->pp.headers->known);
}

/* As in the kernel's build, its configuration and __KERNEL__ come first. */
static bool open_headers(struct pp_headers *h)
{
	h->known = headers_new(&h->files);
	if (!h->known)
		return false;
	find_roots(h);
	for (size_t i = 0; i < sizeof(predefined) / sizeof(predefined[0]); i++)
		headers_define(h->known, predefined[i].name, predefined[i].body);
	if (headers_include(h->known, "linux/kconfig.h"))
		headers_define(h->known, "__KERNEL__", "1");
	return true;
}

static void read_headers(struct lexer *l, struct pp_headers *h)
{
	for (; h->unread; h->unread = h->unread->next)
		if (!headers_include(h->known, h->unread->name))
			l->source->absent = h->unread->name;
}

/* Whether a name is looked up in headers: not BEGIN, END and known constants. */
static bool is_asked_for(const char *name, size_t len)
{
	char copy[128];
	int64_t value;
	bool is_signed, capital = false;

	if (len < 2 || len >= sizeof(copy))
		return false;
	for (size_t i = 0; i < len; i++) {
		if (islower((unsigned char)name[i]))
			return false;
		capital |= isupper((unsigned char)name[i]) != 0;
	}
	memcpy(copy, name, len);
	copy[len] = '\0';
	return capital && strcmp(copy, "BEGIN") != 0 && strcmp(copy, "END") != 0 &&
	       !constant_find(copy, &value, &is_signed);
}

const char *pp_header_value(struct lexer *l, const char *name, size_t len)
{
	struct pp_headers *h = l->pp.headers;
	const char *value = NULL;
	struct buf text;

	if (!h || !is_asked_for(name, len) || (!h->known && !open_headers(h)))
		return NULL;
	read_headers(l, h);
	buf_init(&text, PP_MAX_EXPANSION);
	if (headers_number(h->known, &l->pp, name, len, &text))
		value = arena_strndup(l->arena, text.data, text.len);
	buf_free(&text);
	return value;
}
