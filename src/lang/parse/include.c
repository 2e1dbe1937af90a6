// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The headers that a script includes in angle brackets, and where they are. Types come from BTF,
 * but BTF has no macros: a name in capital letters that nothing else knows is looked up in the
 * headers. No header is read before such a name is used.
 *
 * They are searched where the build of the kernel searches, and begin with what its compiler and
 * its configuration define.
 */
#include "lang/parse/preprocess.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "base/file.h"
#include "lang/parse/lexer.h"

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
