// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The functions of a file, sorted by where they are in it. The table is read at the first look-up;
 * until then the file is only held open. Of several names for the same place the one is taken that
 * people write: the one with the fewest underscores in front, then the shortest.
 *
 * Mangled names of C++ are shown in full if the machine has a C++ library to ask, and otherwise
 * as far as symbols/names.h can tell.
 */
#include "script/symbols_file.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/vec.h"
#include "symbols/elf.h"
#include "symbols/names.h"
#include "symbols/frames.h"
#include "symbols/notes.h"

enum {
	NAMES_LIMIT = 512 << 20, /* bytes of all names of a file */
	JIT_LIMIT = 128 << 20,
	JIT_FUNCTIONS = 2 << 20,
	MAX_FILES = 4096,
};

struct function_at {
	uint64_t start, size;
	const char *name;
};

struct symbol_file {
	int fd; /* -1: none, or no longer needed */
	bool read, id_read;
	const char *const *debuginfo;
	bool lines;	       /* may be asked for */
	struct binary *binary; /* stays open for them if it has debug information; or NULL */
	struct debug *debug;   /* opened when the first line is asked for; or NULL */
	bool debug_tried;
	struct map sources; /* struct source by offset + 1 */
	struct build_id id;
	struct arena names;
	struct {
		struct function_at *at;
		size_t n, cap;
	} functions;
};

struct symbol_files {
	const char *const *debuginfo;
	bool lines;
	struct hash_seed seed;
	struct map by_number;
	struct {
		struct symbol_file **at;
		size_t n, cap;
	} all;
};

/* ---- files ------------------------------------------------------------------------------ */

struct symbol_files *symbol_files_new(void)
{
	struct symbol_files *f = calloc(1, sizeof(*f));

	if (f)
		f->seed = hash_seed_new();
	return f;
}

void symbol_files_use_debuginfo(struct symbol_files *f, const char *const *places, bool lines)
{
	f->debuginfo = places;
	f->lines = lines;
}

void symbol_file_free(struct symbol_file *f)
{
	if (!f)
		return;
	if (f->fd >= 0)
		close(f->fd);
	debug_close(f->debug);
	binary_close(f->binary);
	map_free(&f->sources);
	vec_free(&f->functions);
	arena_free(&f->names);
	free(f);
}

void symbol_files_free(struct symbol_files *f)
{
	if (!f)
		return;
	vec_each (one, &f->all)
		symbol_file_free(*one);
	vec_free(&f->all);
	map_free(&f->by_number);
	free(f);
}

static struct symbol_file *file_new(int fd)
{
	struct symbol_file *f = calloc(1, sizeof(*f));

	if (!f) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	f->fd = fd;
	arena_init(&f->names, NAMES_LIMIT);
	return f;
}

struct symbol_file *symbol_files_get(struct symbol_files *f, uint64_t dev, uint64_t inode,
				     const char *path)
{
	uint64_t number = hash_add(&f->seed, hash_add(&f->seed, 0, dev), inode);
	struct symbol_file *file = map_get(&f->by_number, number), **slot;

	if (file || f->all.n >= MAX_FILES)
		return file;
	file = file_new(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
	slot = file ? vec_push(&f->all) : NULL;
	if (!slot) {
		symbol_file_free(file);
		return NULL;
	}
	*slot = file;
	file->debuginfo = f->debuginfo;
	file->lines = f->lines;
	map_set(&f->by_number, number, file);
	return file;
}

/* ---- tables ----------------------------------------------------------------------------- */

/* The C library's own names for its functions count as the ugliest. */
static size_t underscores(const char *name)
{
	return strncmp(name, "__GI_", 5) ? strspn(name, "_") : SIZE_MAX;
}

static int compare_functions(const void *a, const void *b)
{
	const struct function_at *x = a, *y = b;
	size_t p, q;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	p = underscores(x->name);
	q = underscores(y->name);
	if (p != q)
		return p < q ? -1 : 1;
	p = strlen(x->name);
	q = strlen(y->name);
	return p != q ? (p < q ? -1 : 1) : strcmp(x->name, y->name);
}

/* Sorts, and keeps the first of those that begin at the same place. */
static void finish_table(struct symbol_file *f)
{
	struct function_at *at = f->functions.at;
	size_t n = 0;

	if (!f->functions.n)
		return;
	qsort(at, f->functions.n, sizeof(*at), compare_functions);
	for (size_t i = 0; i < f->functions.n; i++) {
		if (n && at[n - 1].start == at[i].start) {
			if (at[i].size > at[n - 1].size)
				at[n - 1].size = at[i].size;
			continue;
		}
		at[n++] = at[i];
	}
	f->functions.n = n;
}

static bool add_function(struct symbol_file *f, uint64_t start, uint64_t size, const char *name,
			 size_t len)
{
	struct function_at *to = vec_push(&f->functions);

	if (!to)
		return false;
	*to = (struct function_at){
		.start = start,
		.size = size,
		.name = arena_strndup(&f->names, name, len),
	};
	if (!to->name)
		f->functions.n--;
	return to->name != NULL;
}

struct reading {
	struct symbol_file *f;
	const struct binary *b;
};

static int take_symbol(void *arg, const struct binary_symbol *symbol)
{
	struct reading *r = arg;
	uint64_t offset;

	if (!symbol->function || !symbol->name_len ||
	    !binary_code_offset(r->b, symbol->addr, &offset))
		return 0;
	return add_function(r->f, offset, symbol->size, symbol->name, symbol->name_len) ? 0 : -1;
}

static int take_notes(void *arg, struct cursor notes)
{
	struct symbol_file *f = arg;

	return note_build_id(notes, &f->id);
}

/* NULL when there is no file, or nothing that can be read as one. */
static struct binary *open_binary(struct symbol_file *f)
{
	struct binary *b = NULL;
	char path[64];

	if (f->fd < 0)
		return NULL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", f->fd);
	if (binary_open_debug(path, f->debuginfo, &b, NULL) < 0)
		return NULL;
	f->id_read = true;
	binary_each_notes(b, take_notes, f);
	return b;
}

static void read_table(struct symbol_file *f)
{
	struct binary *b = open_binary(f);
	struct reading r = {.f = f, .b = b};

	f->read = true;
	if (f->fd < 0)
		return;
	if (b) {
		binary_each_symbol(b, take_symbol, &r);
		if (f->lines && binary_has_debug(b))
			f->binary = b;
		else
			binary_close(b);
	}
	finish_table(f);
	close(f->fd);
	f->fd = -1;
}

/* "START SIZE NAME", terminated; whatever else a line is, it is passed over. */
static bool take_jit_line(struct symbol_file *f, char *line)
{
	char *end, *name;
	const uint64_t start = strtoull(line, &end, 16), size = strtoull(end, &name, 16);

	name += strspn(name, " ");
	return !size || !*name || add_function(f, start, size, name, strlen(name));
}

static bool read_jit_file(const char *path, uid_t owner, struct buf *text)
{
	/* It may be a pipe, or lead elsewhere. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY);
	struct stat st;
	bool fine;

	if (fd < 0)
		return false;
	fine = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       (st.st_uid == owner || st.st_uid == 0) && !file_read_fd(fd, path, text, NULL);
	close(fd);
	return fine;
}

struct symbol_file *symbol_file_of_jit(const char *path, uid_t owner)
{
	struct symbol_file *f = NULL;
	struct buf text;

	buf_init(&text, JIT_LIMIT);
	if (read_jit_file(path, owner, &text))
		f = file_new(-1);
	for (char *line = text.data, *next; f && line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (f->functions.n >= JIT_FUNCTIONS || !take_jit_line(f, line))
			break;
	}
	buf_free(&text);
	if (f) {
		f->read = true;
		finish_table(f);
	}
	return f;
}

/* ---- names ------------------------------------------------------------------------------ */

#ifdef HAVE_DLOPEN
/* Allocated, or NULL. The library stays: there will be more names. */
static char *demangled_in_full(const char *name)
{
	char *(*demangle)(const char *, char *, size_t *, int *);
	void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
	char *text = NULL;
	int status = 0;

	if (!library)
		return NULL;
	*(void **)&demangle = dlsym(library, "__cxa_demangle");
	if (demangle)
		text = demangle(name, NULL, NULL, &status);
	dlclose(library);
	return text;
}
#else
static char *demangled_in_full(const char *name)
{
	return NULL;
}
#endif

/* Replaces a mangled name for good. */
static void demangle_name(struct symbol_file *f, const char **name)
{
	char *text, short_name[512];
	const char *nicer = NULL;

	if (strncmp(*name, "_Z", 2))
		return;
	text = demangled_in_full(*name);
	if (text)
		nicer = arena_strdup(&f->names, text);
	else if (cxx_name(*name, strlen(*name), short_name, sizeof(short_name)))
		nicer = arena_strdup(&f->names, short_name);
	if (nicer)
		*name = nicer;
	free(text);
}

bool symbol_file_find(struct symbol_file *f, uint64_t offset, bool demangle, struct symbol_at *at)
{
	struct function_at *found;
	size_t low = 0, high;

	if (!f->read)
		read_table(f);
	high = f->functions.n;
	while (low < high) {
		size_t mid = (low + high) / 2;

		if (f->functions.at[mid].start <= offset)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return false;
	found = &f->functions.at[low - 1];
	/* One without a size (of assembly) reaches to the next. */
	if (found->size && offset - found->start >= found->size)
		return false;
	if (demangle)
		demangle_name(f, &found->name);
	at->name = found->name;
	at->offset = offset - found->start;
	return true;
}

/* ---- source lines ----------------------------------------------------------------------- */

struct source {
	struct source_frame *at;
	size_t n;
};

static struct source *read_source(struct symbol_file *f, uint64_t offset, bool demangle)
{
	struct source_frame frames[FRAMES_MAX];
	struct source *s = arena_alloc(&f->names, sizeof(*s));
	uint64_t addr;

	if (!s)
		return NULL;
	*s = (struct source){0};
	if (binary_code_addr(f->binary, offset, &addr))
		s->n = frames_at(f->debug, addr, &f->names, frames);
	s->at = arena_array(&f->names, s->n + 1, sizeof(*s->at));
	if (!s->at)
		return NULL;
	memcpy(s->at, frames, s->n * sizeof(*s->at));
	for (size_t i = 0; demangle && i < s->n; i++)
		demangle_name(f, &s->at[i].function);
	return s;
}

size_t symbol_file_source(struct symbol_file *f, uint64_t offset, bool demangle,
			  const struct source_frame **frames)
{
	struct source *s;

	if (!f->read)
		read_table(f);
	if (f->binary && !f->debug_tried)
		f->debug = debug_open(f->binary);
	f->debug_tried = true;
	if (!f->debug)
		return 0;
	s = map_get(&f->sources, offset + 1);
	if (!s) {
		s = read_source(f, offset, demangle);
		if (!s || !map_set(&f->sources, offset + 1, s))
			return 0;
	}
	*frames = s->at;
	return s->n;
}

const struct build_id *symbol_file_id(struct symbol_file *f)
{
	if (!f->id_read) {
		f->id_read = true;
		binary_close(open_binary(f));
	}
	return f->id.len ? &f->id : NULL;
}
