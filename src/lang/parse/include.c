// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The files and headers that a script includes, and where they are. Headers in angle brackets are
 * searched where the build of the kernel searches, and begin with what its compiler and its
 * configuration define.
 *
 * Such a header is looked for when it is included, so that a missing one is an error at its line.
 * It is read when a name or the first item after it may need it. A name in capital letters that
 * nothing else knows is a number of a header.
 */
#include "lang/parse/preprocess.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "lang/parse/lexer.h"

/* ---- files in quotes ---- */

/* Each is read once. This also ends files that include each other. */

static bool read_before(const struct pp *pp, const char *path)
{
	for (const struct pp_file *f = pp->files; f; f = f->next)
		if (!strcmp(f->path, path))
			return true;
	return false;
}

/* DIR/NAME, with dir_len characters of DIR; only NAME if it is absolute or there is no DIR. */
static char *join_path(struct lexer *l, const char *dir, size_t dir_len, const char *name)
{
	const size_t len = strlen(name);
	char *path;

	if (*name == '/' || !dir_len)
		return arena_strdup(l->arena, name);
	path = arena_alloc(l->arena, dir_len + len + 2);
	if (path) {
		memcpy(path, dir, dir_len);
		path[dir_len] = '/';
		memcpy(path + dir_len + 1, name, len);
	}
	return path;
}

static char *find_file(struct lexer *l, const char *name, struct span by)
{
	const struct source_part *in = source_part_of(l->source, by.from);
	const char *slash = in ? strrchr(in->name, '/') : NULL;
	char *path = join_path(l, in ? in->name : "", slash ? (size_t)(slash - in->name) : 0, name);

	if (path && access(path, F_OK) == 0)
		return path;
	for (const char *const *dir = l->opt ? l->opt->include_dirs : NULL; dir && *dir; dir++) {
		path = join_path(l, *dir, strlen(*dir), name);
		if (path && access(path, F_OK) == 0)
			return path;
	}
	return NULL;
}

static int add_text(struct lexer *l, const char *path, struct span by, struct span *text)
{
	struct spur_error err = {0};
	struct buf content;
	int r;

	buf_init(&content, SOURCE_LIMIT);
	r = file_read(path, &content, &err);
	if (r < 0) {
		lex_error(l, by, "%s", err.text);
	} else if (!source_add(l->source, path, content.data, content.len, by)) {
		lex_no_memory(l);
		r = -ENOMEM;
	} else {
		*text = (struct span){(uint32_t)(l->source->text.len - content.len - 1),
				      (uint32_t)l->source->text.len - 1};
		r = 1;
	}
	buf_free(&content);
	return r;
}

int pp_add_file(struct lexer *l, const char *name, struct span by, struct span *text)
{
	struct pp_file *f;
	char *path;

	if (l->opt && l->opt->no_files) {
		lex_error(l, by, "files cannot be read from here");
		return -EPERM;
	}
	path = find_file(l, name, by);
	if (!path)
		return -ENOENT;
	if (read_before(&l->pp, path))
		return 0;
	f = lex_alloc(l, sizeof(*f));
	if (!f)
		return -ENOMEM;
	if (l->pp.nr_files++ >= PP_MAX_FILES) {
		lex_error(l, by, "more than %d files are included", PP_MAX_FILES);
		return -E2BIG;
	}
	*f = (struct pp_file){l->pp.files, path};
	l->pp.files = f;
	return add_text(l, path, by, text);
}

/* ---- headers in angle brackets ---- */

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

enum { MOST_HEADERS = 256, MOST_ROOTS = 3 };

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

/* A header that was included and has not been read yet. */
struct pp_header {
	struct pp_header *next;
	const char *name;
	unsigned int order; /* definitions of the script before it */
};

struct pp_headers {
	struct header_files files; /* first: read_file() gets its address */
	const struct parse_options *opt;
	struct headers *known; /* NULL: nothing has been read yet */
	char roots[MOST_ROOTS][PATH_MAX / 2];
	struct pp_header *unread, **last; /* in the order of the script */
	unsigned int n;
};

/* ---- places ---- */

static bool is_file(struct buf *path, const char *dir, size_t dir_len, const char *below,
		    const char *name)
{
	struct stat st;

	buf_reset(path);
	buf_put(path, dir, dir_len);
	if (*below)
		buf_printf(path, "/%s", below);
	buf_printf(path, "/%s", name);
	return !buf_full(path) && !stat(buf_str(path), &st) && S_ISREG(st.st_mode);
}

/* The path of a header; false if there is none. */
static bool find_header(const struct pp_headers *h, const char *name, struct buf *path)
{
	for (const char *const *dir = h->opt ? h->opt->include_dirs : NULL; dir && *dir; dir++)
		if (is_file(path, *dir, strlen(*dir), "", name))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		for (size_t k = 0; k < MOST_ROOTS && h->roots[k][0]; k++)
			if (is_file(path, h->roots[k], strlen(h->roots[k]), folders[i], name))
				return true;
	for (size_t i = 0; i < ARRAY_SIZE(system_folders); i++)
		if (is_file(path, system_folders[i], strlen(system_folders[i]), "", name))
			return true;
	return false;
}

static bool read_file(const struct header_files *files, const char *name, const char *by,
		      struct buf *path, struct buf *text)
{
	const struct pp_headers *h = (const struct pp_headers *)files;
	const char *slash = by ? strrchr(by, '/') : NULL;

	if (by && (!slash || !is_file(path, by, (size_t)(slash - by), "", name)))
		return false;
	return (by || find_header(h, name, path)) && !file_read(buf_str(path), text, NULL);
}

static bool is_kernel(const struct header_files *files, const char *path)
{
	const struct pp_headers *h = (const struct pp_headers *)files;

	for (size_t i = 0; i < MOST_ROOTS && h->roots[i][0]; i++)
		if (!strncmp(path, h->roots[i], strlen(h->roots[i])))
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

/* ---- adding ---- */

/* The headers of the script, which may be empty; NULL without memory, or if none are read. */
static struct pp_headers *headers_of(struct lexer *l)
{
	struct pp_headers *h = l->pp.headers;

	if (h || (l->opt && (l->opt->no_files || l->opt->no_headers)))
		return h;
	h = lex_alloc(l, sizeof(*h));
	if (!h)
		return NULL;
	h->files.read = read_file;
	h->files.is_kernel = is_kernel;
	h->opt = l->opt;
	h->last = &h->unread;
	find_roots(h);
	l->pp.headers = h;
	return h;
}

/* Adds the name of a file that the script itself includes to the list for messages. */
static void note_included(struct lexer *l, const char *name, bool quoted, bool absent)
{
	struct included *one = arena_alloc(l->arena, sizeof(*one)), **end = &l->pp.included;
	struct buf text;

	buf_init(&text, PATH_MAX);
	buf_printf(&text, quoted ? "\"%s\"" : "<%s>", name);
	if (one)
		one->name = arena_strndup(l->arena, text.data, text.len);
	if (one && one->name) {
		one->absent = absent;
		while (*end)
			end = &(*end)->next;
		*end = one;
	} else {
		lex_no_memory(l);
	}
	buf_free(&text);
}

static void put_place(struct buf *to, const char *path, size_t len)
{
	char copy[PATH_MAX];

	if (to->len)
		buf_puts(to, ", ");
	buf_put(to, path, len);
	if (len < sizeof(copy)) {
		memcpy(copy, path, len);
		copy[len] = '\0';
		if (access(copy, F_OK) != 0)
			buf_puts(to, " (not there)");
	}
}

static void report_missing(struct lexer *l, const struct pp_headers *h, const char *name,
			   bool quoted, struct span at)
{
	const struct source_part *in = source_part_of(l->source, at.from);
	const char *slash = in ? strrchr(in->name, '/') : NULL;
	struct buf places;

	buf_init(&places, 4096);
	if (quoted)
		put_place(&places, slash ? in->name : ".", slash ? (size_t)(slash - in->name) : 1);
	for (const char *const *dir = h->opt ? h->opt->include_dirs : NULL; dir && *dir; dir++)
		put_place(&places, *dir, strlen(*dir));
	for (size_t k = 0; k < MOST_ROOTS && h->roots[k][0]; k++)
		put_place(&places, h->roots[k], strlen(h->roots[k]));
	for (size_t i = 0; i < ARRAY_SIZE(system_folders); i++)
		put_place(&places, system_folders[i], strlen(system_folders[i]));
	lex_error(l, at, "'%s' file not found", name);
	source_hint(l->source, "looked in %s", buf_str(&places));
	buf_free(&places);
}

void pp_add_header(struct lexer *l, const char *text, size_t len, bool quoted, struct span at)
{
	struct pp_headers *h = headers_of(l);
	struct pp_header *one = h ? arena_alloc(l->arena, sizeof(*one)) : NULL;
	const char *name = one ? arena_strndup(l->arena, text, len) : NULL;
	struct buf path;
	bool found;

	if (!h)
		return;
	if (!name) {
		lex_no_memory(l);
		return;
	}
	if (h->n++ >= MOST_HEADERS) {
		lex_error(l, at, "more than %d headers are included", MOST_HEADERS);
		return;
	}
	buf_init(&path, PATH_MAX);
	found = *name != '/' && !strstr(name, "..") && find_header(h, name, &path);
	buf_free(&path);
	if (!found && !constant_header(name)) {
		report_missing(l, h, name, quoted, at);
		return;
	}
	if (!found || !l->nr_in || !lex_top(l)->is_c)
		note_included(l, name, quoted, !found);
	*one = (struct pp_header){.name = name, .order = l->pp.nr_defines};
	*h->last = one;
	h->last = &one->next;
}

void pp_free_headers(struct lexer *l)
{
	if (l->pp.headers)
		headers_free(l->pp.headers->known);
}

void pp_include_file(struct lexer *l, const char *name, struct span at, bool by_header)
{
	struct span text;
	const int r = pp_add_file(l, name, at, &text);

	if (r > 0)
		lex_push(l, text, false, at);
	if (r == -ENOENT)
		pp_add_header(l, name, strlen(name), true, at);
	else if (r >= 0 && !by_header)
		note_included(l, name, true, false);
}

/* ---- reading ---- */

/* Reads what has not been read yet. As in the kernel's build, its configuration comes first. */
static bool read_headers(struct lexer *l, struct pp_headers *h)
{
	if (!h->known) {
		h->known = headers_new(&h->files, &l->pp);
		if (!h->known)
			return false;
		for (size_t i = 0; i < ARRAY_SIZE(predefined); i++)
			headers_define(h->known, predefined[i].name, predefined[i].body);
		if (headers_include(h->known, "linux/kconfig.h", 0))
			headers_define(h->known, "__KERNEL__", "1");
	}
	for (; h->unread; h->unread = h->unread->next)
		headers_include(h->known, h->unread->name, h->unread->order);
	h->last = &h->unread;
	return true;
}

struct buf *pp_header_text(struct lexer *l)
{
	struct pp_headers *h = l->pp.headers;
	struct buf *text;

	if (!h || (!h->unread && !h->known) || !read_headers(l, h))
		return NULL;
	text = headers_text(h->known);
	return text->len ? text : NULL;
}

struct define *pp_header_define(struct lexer *l, const char *name, size_t len)
{
	struct pp_headers *h = l->nr_in && lex_top(l)->is_c ? headers_of(l) : l->pp.headers;

	return h && read_headers(l, h) ? headers_define_of(h->known, name, len) : NULL;
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

	if (!h || !is_asked_for(name, len) || !read_headers(l, h))
		return NULL;
	buf_init(&text, PP_MAX_EXPANSION);
	if (headers_number(h->known, name, len, &text))
		value = arena_strndup(l->arena, text.data, text.len);
	buf_free(&text);
	return value;
}
