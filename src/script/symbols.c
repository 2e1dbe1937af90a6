// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names for addresses: the symbols of files, and above them those of the kernel and of processes.
 */
#include "script/symbols.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/nanoseconds.h"
#include "base/scoped.h"
#include "base/vec.h"
#include "event/names.h"
#include "symbols/elf.h"
#include "symbols/lines.h"
#include "symbols/names.h"

/*
 * The functions of a file, sorted by offset. The table is read at the first look-up; until then the
 * file is only open. If several names have the same place, the one that people would write wins:
 * the one with the fewest leading underscores, then the shortest.
 *
 * Mangled names of C++ are shown in full if the machine has a C++ library, otherwise as far as
 * symbols/names.h can decode them.
 */

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
	bool lines;	       /* symbol_file_source() may be called */
	struct binary *binary; /* stays open for them if it has debug information; or NULL */
	struct debug *debug;   /* opened for the first line; or NULL */
	bool debug_tried;
	struct map sources; /* struct source_lines by offset + 1 */
	struct build_id id;
	struct arena names;
	struct {
		struct function_at *at;
		size_t n, cap;
	} functions;
};

/* ---- files ---- */

static void symbol_file_free(struct symbol_file *f)
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

/* ---- tables ---- */

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

/* Sorts the table; of symbols with the same place only the first stays. */
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
	scoped_fd fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY);
	struct stat st;
	bool fine;

	if (fd < 0)
		return false;
	fine = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       (st.st_uid == owner || st.st_uid == 0) && !file_read_fd(fd, path, text, NULL);
	return fine;
}

/*
 * /tmp/perf-PID.map; NULL if there is none, or if it does not belong to that user or to root:
 * everybody can write to /tmp. symbol_file_free() frees it.
 */
static struct symbol_file *symbol_file_of_jit(const char *path, uid_t owner)
{
	struct symbol_file *f = NULL;
	struct buf text;

	buf_init(&text, JIT_LIMIT);
	if (read_jit_file(path, owner, &text))
		f = file_new(-1);
	for (char *line, *rest = text.data; f && (line = strsep(&rest, "\n"));)
		if (f->functions.n >= JIT_FUNCTIONS || !take_jit_line(f, line))
			break;
	buf_free(&text);
	if (f) {
		f->read = true;
		finish_table(f);
	}
	return f;
}

/* ---- names ---- */

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

/* Fills in name and offset. */
static bool symbol_file_find(struct symbol_file *f, uint64_t offset, bool demangle,
			     struct symbol_at *at)
{
	struct function_at *found;
	size_t i;

	if (!f->read)
		read_table(f);
	binary_search(i, 0, f->functions.n, f->functions.at[i].start <= offset);
	if (!i)
		return false;
	found = &f->functions.at[i - 1];
	/* One without a size (of assembly) reaches to the next. */
	if (found->size && offset - found->start >= found->size)
		return false;
	if (demangle)
		demangle_name(f, &found->name);
	at->name = found->name;
	at->offset = offset - found->start;
	return true;
}

/* ---- source lines ---- */

struct source_lines {
	struct source_frame *at;
	size_t n;
};

static struct source_lines *read_source(struct symbol_file *f, uint64_t offset, bool demangle)
{
	struct source_frame frames[FRAMES_MAX];
	struct source_lines *s = arena_alloc(&f->names, sizeof(*s));
	uint64_t addr;

	if (!s)
		return NULL;
	*s = (struct source_lines){0};
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

/* See symbols_source(). */
static size_t symbol_file_source(struct symbol_file *f, uint64_t offset, bool demangle,
				 const struct source_frame **frames)
{
	struct source_lines *s;

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

/* NULL when it has none. */
static const struct build_id *symbol_file_id(struct symbol_file *f)
{
	if (!f->id_read) {
		f->id_read = true;
		binary_close(open_binary(f));
	}
	return f->id.len ? &f->id : NULL;
}

/*
 * The kernel's symbols come from kallsyms, those of a process from its mapped files and from the
 * list that a JIT compiler may write to /tmp/perf-PID.map:
 *
 *	START SIZE NAME
 *
 * Processes are cached by number. A look-up outside of the known mappings of a process reads them
 * again, as long as it lives: it may have loaded a library since.
 */

enum {
	KALLSYMS_LIMIT = 256 << 20,
	MAPS_LIMIT = 64 << 20,
	MAX_MAPPINGS = 1 << 20,
	MAX_PROCESSES = 1 << 16,
	MAX_EXECS = 4,
	MAX_LOOKS = 4096,
};

/* How long after a process was noted its mappings are read again, and again. */
static const unsigned int look_ms[] = {5, 50};

/* Where the kernel is, on machines that can run scripts. */
#define KERNEL_HALF (1ull << 63)

struct mapping {
	uint64_t start, end, offset;
	struct symbol_file *file; /* NULL: no file, or one that cannot be read */
	char *path;
};

/* Executable ones, by address. */
struct mappings {
	struct mapping *at;
	size_t n, cap;
};

struct process {
	struct mappings mappings;
	/* Of its earlier programs, before an exec, the last one first: stacks may be of these. */
	struct mappings before[MAX_EXECS];
	struct symbol_file *jit;
	bool jit_tried;
	unsigned int misses; /* look-ups in vain since the maps were read */
};

/* A process whose mappings will be read again. */
struct look {
	uint64_t due; /* ns */
	uint32_t pid;
	unsigned int round;
};

struct symbolizer {
	char *proc; /* NULL: processes are not read */
	bool demangle;
	struct symbols *kernel;
	bool borrowed; /* the kernel's */
	struct buf kallsyms;
	struct map processes;
	/* The files of all processes, by device and inode. */
	struct hash_seed seed;
	struct map by_number;
	struct {
		struct symbol_file **at;
		size_t n, cap;
	} files;
	const char *const *debuginfo; /* for them */
	bool lines;
	struct {
		struct process **at;
		size_t n, cap;
	} all;
	struct {
		struct look *at;
		size_t n, cap;
	} looks;
};

struct symbolizer *symbols_open(const char *proc, bool demangle)
{
	struct symbolizer *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	buf_init(&s->kallsyms, KALLSYMS_LIMIT);
	s->demangle = demangle;
	s->proc = proc ? strdup(proc) : NULL;
	s->seed = hash_seed_new();
	if (s->proc || !proc)
		return s;
	symbols_close(s);
	return NULL;
}

static void forget_mappings(struct mappings *all)
{
	vec_each (m, all)
		free(m->path);
	vec_free(all);
}

void symbols_close(struct symbolizer *s)
{
	if (!s)
		return;
	vec_each (p, &s->all) {
		forget_mappings(&(*p)->mappings);
		for (int i = 0; i < MAX_EXECS; i++)
			forget_mappings(&(*p)->before[i]);
		symbol_file_free((*p)->jit);
		free(*p);
	}
	vec_free(&s->all);
	vec_free(&s->looks);
	map_free(&s->processes);
	vec_each (file, &s->files)
		symbol_file_free(*file);
	vec_free(&s->files);
	map_free(&s->by_number);
	if (!s->borrowed)
		symbols_free(s->kernel);
	buf_free(&s->kallsyms);
	free(s->proc);
	free(s);
}

/* ---- the kernel ---- */

void symbols_use_debuginfo(struct symbolizer *s, const char *const *places, bool lines)
{
	s->debuginfo = places;
	s->lines = lines;
}

void symbols_use_kernel(struct symbolizer *s, struct symbols *kernel)
{
	if (!s->borrowed)
		symbols_free(s->kernel);
	s->kernel = kernel;
	s->borrowed = kernel != NULL;
}

static void read_kallsyms(struct symbolizer *s)
{
	char path[PATH_MAX];

	s->kernel = symbols_new();
	snprintf(path, sizeof(path), "%s/kallsyms", s->proc);
	if (s->kernel && !file_read(path, &s->kallsyms, NULL))
		symbols_add_ref(s->kernel, s->kallsyms.data, s->kallsyms.len);
}

bool symbols_kernel(struct symbolizer *s, uint64_t addr, struct symbol_at *at)
{
	/* A recording may be of a machine whose kernel is at other addresses. */
	const uint64_t lowest = s->borrowed ? 1 : KERNEL_HALF;
	const struct symbol *sym, *all;
	size_t n;

	*at = (struct symbol_at){0};
	if (addr < lowest)
		return false;
	if (!s->kernel && s->proc)
		read_kallsyms(s);
	sym = symbols_find(s->kernel, addr);
	/* A user who may not see addresses reads a list of zeros. */
	if (!sym || sym->addr < lowest)
		return false;
	/* Of several names bpftrace shows the last one in kallsyms, which is the first one here. */
	all = symbols_all(s->kernel, &n);
	while (sym > all && sym[-1].addr == sym->addr)
		sym--;
	*at = (struct symbol_at){.name = sym->name, .offset = addr - sym->addr};
	return true;
}

/* ---- processes ---- */

/* "7f0000000000-7f0000001000 r-xp 00001000 08:01 1234   /usr/lib/libc.so.6" */
static bool parse_mapping(const char *line, struct mapping *m, unsigned long long *dev,
			  unsigned long long *inode, const char **path)
{
	unsigned int major, minor;
	char mode[8];
	int used = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %llu %n", &m->start,
		   &m->end, mode, &m->offset, &major, &minor, inode, &used) < 7 ||
	    mode[2] != 'x' || m->end <= m->start)
		return false;
	*dev = (unsigned long long)major << 32 | minor;
	*path = line + used;
	return true;
}

/* The file of that number; opened at `path` when it is new. NULL when it cannot be. */
static struct symbol_file *get_file(struct symbolizer *s, uint64_t dev, uint64_t inode,
				    const char *path)
{
	uint64_t number = hash_add(&s->seed, hash_add(&s->seed, 0, dev), inode);
	struct symbol_file *file = map_get(&s->by_number, number), **slot;

	if (file || s->files.n >= MAX_FILES)
		return file;
	file = file_new(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
	slot = file ? vec_push(&s->files) : NULL;
	if (!slot) {
		symbol_file_free(file);
		return NULL;
	}
	*slot = file;
	file->debuginfo = s->debuginfo;
	file->lines = s->lines;
	map_set(&s->by_number, number, file);
	return file;
}

static void add_mapping(struct symbolizer *s, struct process *p, uint32_t pid, char *line)
{
	struct mapping m = {0}, *to;
	unsigned long long dev, inode;
	const char *path;
	char file[PATH_MAX];

	if (p->mappings.n >= MAX_MAPPINGS || !parse_mapping(line, &m, &dev, &inode, &path))
		return;
	if (path[0] == '/') {
		char *gone = strstr(path, " (deleted)");

		/* A mapped file can be opened even if it was deleted. */
		if (gone && !gone[10])
			*gone = '\0';
		snprintf(file, sizeof(file), "%s/%u/map_files/%" PRIx64 "-%" PRIx64, s->proc, pid,
			 m.start, m.end);
		m.file = get_file(s, dev, inode, file);
		m.path = strdup(path);
	}
	to = vec_push(&p->mappings);
	if (to)
		*to = m;
	else
		free(m.path);
}

/* Moves the mappings to `before`, because another program was executed. */
static void put_aside(struct process *p)
{
	forget_mappings(&p->before[MAX_EXECS - 1]);
	memmove(p->before + 1, p->before, (MAX_EXECS - 1) * sizeof(p->before[0]));
	p->before[0] = p->mappings;
	p->mappings = (struct mappings){0};
}

/* Leaves what is known when the process is gone. */
static bool read_mappings(struct symbolizer *s, struct process *p, uint32_t pid, bool changed)
{
	char path[PATH_MAX];
	struct buf text;
	bool fine;

	snprintf(path, sizeof(path), "%s/%u/maps", s->proc, pid);
	buf_init(&text, MAPS_LIMIT);
	fine = !file_read(path, &text, NULL) && text.len;
	if (fine) {
		if (changed)
			put_aside(p);
		forget_mappings(&p->mappings);
		for (char *line, *rest = text.data; (line = strsep(&rest, "\n"));)
			add_mapping(s, p, pid, line);
	}
	buf_free(&text);
	p->misses = 0;
	return fine;
}

static struct process *process_of(struct symbolizer *s, uint32_t pid)
{
	struct process *p = map_get(&s->processes, pid), **slot;

	if (p || s->all.n >= MAX_PROCESSES)
		return p;
	p = calloc(1, sizeof(*p));
	slot = p ? vec_push(&s->all) : NULL;
	if (!slot) {
		free(p);
		return NULL;
	}
	*slot = p;
	map_set(&s->processes, pid, p);
	read_mappings(s, p, pid, false);
	return p;
}

static uint64_t due_in_round(unsigned int round)
{
	return clock_now_ns(CLOCK_MONOTONIC) + look_ms[round] * NS_PER_MS;
}

int symbols_look_again(struct symbolizer *s)
{
	const uint64_t now = clock_now_ns(CLOCK_MONOTONIC);
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < s->looks.n;) {
		struct look *l = &s->looks.at[i];
		struct process *p = l->due <= now ? map_get(&s->processes, l->pid) : NULL;

		if (l->due <= now && (!p || !read_mappings(s, p, l->pid, false) ||
				      ++l->round == ARRAY_SIZE(look_ms))) {
			*l = s->looks.at[--s->looks.n];
			continue;
		}
		if (p)
			l->due = due_in_round(l->round);
		next = l->due < next ? l->due : next;
		i++;
	}
	return s->looks.n ? (int)((next - now) / NS_PER_MS + 1) : -1;
}

void symbols_note_pid(struct symbolizer *s, uint32_t pid, bool changed)
{
	struct look *l;
	struct process *known = map_get(&s->processes, pid);

	if (!s->proc)
		return;
	if (!known)
		process_of(s, pid);
	else if (changed)
		read_mappings(s, known, pid, true);
	if (known && !changed)
		return;
	l = s->looks.n < MAX_LOOKS ? vec_push(&s->looks) : NULL;
	if (l)
		*l = (struct look){.due = due_in_round(0), .pid = pid};
}

static const struct mapping *find_mapping(const struct mappings *all, uint64_t addr)
{
	size_t i;

	binary_search(i, 0, all->n, all->at[i].end <= addr);
	return i < all->n && all->at[i].start <= addr ? &all->at[i] : NULL;
}

/* Inside its namespaces a process has another number. */
static uint32_t inner_pid(const char *status, uint32_t pid)
{
	const char *line = strstr(status, "\nNSpid:");

	for (line = line ? line + 7 : ""; *line && *line != '\n';) {
		char *end;
		const unsigned long n = strtoul(line, &end, 10);

		if (end == line)
			break;
		pid = (uint32_t)n;
		line = end;
	}
	return pid;
}

/* It has another /tmp there, too. */
static void read_jit(struct symbolizer *s, struct process *p, uint32_t pid)
{
	char path[PATH_MAX];
	struct buf status;
	const char *line;
	uint32_t inner;
	uid_t owner;

	p->jit_tried = true;
	snprintf(path, sizeof(path), "%s/%u/status", s->proc, pid);
	buf_init(&status, MAPS_LIMIT);
	if (!file_read(path, &status, NULL) && (line = strstr(status.data, "\nUid:"))) {
		owner = (uid_t)strtoul(line + 5, NULL, 10);
		inner = inner_pid(status.data, pid);
		snprintf(path, sizeof(path), "%s/%u/root/tmp/perf-%u.map", s->proc, pid, inner);
		p->jit = symbol_file_of_jit(path, owner);
		if (!p->jit && inner == pid) {
			snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
			p->jit = symbol_file_of_jit(path, owner);
		}
	}
	buf_free(&status);
}

static const struct mapping *mapping_of(struct symbolizer *s, struct process *p, uint32_t pid,
					uint64_t addr)
{
	const struct mapping *m = find_mapping(&p->mappings, addr);

	/* Every doubling of the misses is worth another look at a process that loads things. */
	if (!m && !(p->misses & (p->misses + 1)) && read_mappings(s, p, pid, false))
		m = find_mapping(&p->mappings, addr);
	if (!m)
		p->misses++;
	for (int i = 0; i < MAX_EXECS && !m; i++)
		m = find_mapping(&p->before[i], addr);
	return m;
}

bool symbols_user(struct symbolizer *s, uint32_t pid, uint64_t addr, struct symbol_at *at)
{
	struct process *p = s->proc ? process_of(s, pid) : NULL;
	const struct mapping *m;

	*at = (struct symbol_at){0};
	if (!p)
		return false;
	m = mapping_of(s, p, pid, addr);
	if (m && m->file) {
		at->module = m->path;
		return symbol_file_find(m->file, addr - m->start + m->offset, s->demangle, at);
	}
	if (!p->jit_tried)
		read_jit(s, p, pid);
	return p->jit && symbol_file_find(p->jit, addr, s->demangle, at);
}

size_t symbols_source(struct symbolizer *s, uint32_t pid, uint64_t addr,
		      const struct source_frame **frames)
{
	struct process *p = s->proc ? process_of(s, pid) : NULL;
	const struct mapping *m = p ? mapping_of(s, p, pid, addr) : NULL;

	if (!m || !m->file)
		return 0;
	return symbol_file_source(m->file, addr - m->start + m->offset, s->demangle, frames);
}

const struct build_id *symbols_user_file(struct symbolizer *s, uint32_t pid, uint64_t addr,
					 uint64_t *offset)
{
	struct process *p = s->proc ? process_of(s, pid) : NULL;
	const struct mapping *m = p ? mapping_of(s, p, pid, addr) : NULL;

	if (!m || !m->file)
		return NULL;
	*offset = addr - m->start + m->offset;
	return symbol_file_id(m->file);
}
