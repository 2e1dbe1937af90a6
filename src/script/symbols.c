// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel's symbols come from kallsyms, those of a process from the files it has mapped
 * (symbols_file.c) and from the list that its compiler may have left in /tmp/perf-PID.map:
 *
 *	START SIZE NAME
 *
 * Processes are kept by number. A look-up that falls outside of what is known of a process reads
 * its maps again, as long as it lives: it may have loaded something since.
 */
#include "script/symbols.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/map.h"
#include "base/vec.h"
#include "event/names.h"
#include "script/symbols_file.h"

enum {
	KALLSYMS_LIMIT = 256 << 20,
	MAPS_LIMIT = 64 << 20,
	MAX_MAPPINGS = 1 << 20,
	MAX_PROCESSES = 1 << 16,
	MAX_EXECS = 4,
	MAX_LOOKS = 4096,
};

#define NS_PER_MS 1000000ull

/* How long after a process was noted it is looked at again, and again. */
static const unsigned int look_ms[] = {5, 50};
#define NR_LOOKS (sizeof(look_ms) / sizeof(look_ms[0]))

/* Where the kernel is, on machines that scripts are run on. */
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
	/* Of the programs it was before, the last one first: there are stacks of these, too. */
	struct mappings before[MAX_EXECS];
	struct symbol_file *jit;
	bool jit_tried;
	unsigned int misses; /* look-ups in vain since the maps were read */
};

/* A process that will be looked at again. */
struct look {
	uint64_t due; /* ns */
	uint32_t pid;
	unsigned int round;
};

struct symbolizer {
	char *proc; /* NULL: nobody is asked */
	bool demangle;
	struct symbols *kernel;
	bool borrowed; /* the kernel's */
	struct buf kallsyms;
	struct map processes;
	struct symbol_files *files;
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
	s->files = symbol_files_new();
	if ((s->proc || !proc) && s->files)
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
	symbol_files_free(s->files);
	if (!s->borrowed)
		symbols_free(s->kernel);
	buf_free(&s->kallsyms);
	free(s->proc);
	free(s);
}

/* ---- the kernel ------------------------------------------------------------------------- */

void symbols_use_debuginfo(struct symbolizer *s, const char *const *places, bool lines)
{
	symbol_files_use_debuginfo(s->files, places, lines);
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
	/* A recording may come from a machine that has its kernel elsewhere. */
	const uint64_t lowest = s->borrowed ? 1 : KERNEL_HALF;
	const struct symbol *sym, *all;
	size_t n;

	*at = (struct symbol_at){0};
	if (addr < lowest)
		return false;
	if (!s->kernel && s->proc)
		read_kallsyms(s);
	sym = symbols_find(s->kernel, addr);
	/* Who may not see addresses reads a list of zeros. */
	if (!sym || sym->addr < lowest)
		return false;
	/* Of several names bpftrace shows the one kallsyms lists last, which comes first here. */
	all = symbols_all(s->kernel, &n);
	while (sym > all && sym[-1].addr == sym->addr)
		sym--;
	*at = (struct symbol_at){.name = sym->name, .offset = addr - sym->addr};
	return true;
}

/* ---- processes -------------------------------------------------------------------------- */

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

		/* What is mapped can be opened even if its name is gone. */
		if (gone && !gone[10])
			*gone = '\0';
		snprintf(file, sizeof(file), "%s/%u/map_files/%" PRIx64 "-%" PRIx64, s->proc, pid,
			 m.start, m.end);
		m.file = symbol_files_get(s->files, dev, inode, file);
		m.path = strdup(path);
	}
	to = vec_push(&p->mappings);
	if (to)
		*to = m;
	else
		free(m.path);
}

/* Makes room for those of another program, and keeps what was known. */
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
		for (char *line = text.data, *next; line && *line; line = next) {
			next = strchr(line, '\n');
			if (next)
				*next++ = '\0';
			add_mapping(s, p, pid, line);
		}
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
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return ((uint64_t)t.tv_sec * 1000 + look_ms[round]) * NS_PER_MS + (uint64_t)t.tv_nsec;
}

int symbols_look_again(struct symbolizer *s)
{
	const uint64_t now = due_in_round(0) - look_ms[0] * NS_PER_MS;
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < s->looks.n;) {
		struct look *l = &s->looks.at[i];
		struct process *p = l->due <= now ? map_get(&s->processes, l->pid) : NULL;

		if (l->due <= now &&
		    (!p || !read_mappings(s, p, l->pid, false) || ++l->round == NR_LOOKS)) {
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
	size_t low = 0, high = all->n;

	while (low < high) {
		size_t mid = (low + high) / 2;
		const struct mapping *m = &all->at[mid];

		if (addr < m->start)
			high = mid;
		else if (addr >= m->end)
			low = mid + 1;
		else
			return m;
	}
	return NULL;
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
