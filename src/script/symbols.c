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
};

/* Where the kernel is, on any machine of 64 bits. */
#define KERNEL_HALF (1ull << 63)

struct mapping {
	uint64_t start, end, offset;
	struct symbol_file *file; /* NULL: no file, or one that cannot be read */
	char *path;
};

struct process {
	struct {
		struct mapping *at;
		size_t n, cap;
	} mappings; /* executable ones, by address */
	struct symbol_file *jit;
	bool jit_tried;
	unsigned int misses; /* look-ups in vain since the maps were read */
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

static void forget_mappings(struct process *p)
{
	vec_each (m, &p->mappings)
		free(m->path);
	vec_free(&p->mappings);
}

void symbols_close(struct symbolizer *s)
{
	if (!s)
		return;
	vec_each (p, &s->all) {
		forget_mappings(*p);
		symbol_file_free((*p)->jit);
		free(*p);
	}
	vec_free(&s->all);
	map_free(&s->processes);
	symbol_files_free(s->files);
	if (!s->borrowed)
		symbols_free(s->kernel);
	buf_free(&s->kallsyms);
	free(s->proc);
	free(s);
}

/* ---- the kernel ------------------------------------------------------------------------- */

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
	const struct symbol *sym, *all;
	size_t n;

	*at = (struct symbol_at){0};
	if (addr < KERNEL_HALF)
		return false;
	if (!s->kernel && s->proc)
		read_kallsyms(s);
	sym = symbols_find(s->kernel, addr);
	/* Who may not see addresses reads a list of zeros. */
	if (!sym || sym->addr < KERNEL_HALF)
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

/* Leaves what is known when the process is gone. */
static bool read_mappings(struct symbolizer *s, struct process *p, uint32_t pid)
{
	char path[PATH_MAX];
	struct buf text;
	bool fine;

	snprintf(path, sizeof(path), "%s/%u/maps", s->proc, pid);
	buf_init(&text, MAPS_LIMIT);
	fine = !file_read(path, &text, NULL) && text.len;
	if (fine) {
		forget_mappings(p);
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
	read_mappings(s, p, pid);
	return p;
}

void symbols_note_pid(struct symbolizer *s, uint32_t pid, bool changed)
{
	struct process *known = map_get(&s->processes, pid);

	if (!s->proc)
		return;
	if (!known)
		process_of(s, pid);
	else if (changed)
		read_mappings(s, known, pid);
}

static const struct mapping *find_mapping(const struct process *p, uint64_t addr)
{
	size_t low = 0, high = p->mappings.n;

	while (low < high) {
		size_t mid = (low + high) / 2;
		const struct mapping *m = &p->mappings.at[mid];

		if (addr < m->start)
			high = mid;
		else if (addr >= m->end)
			low = mid + 1;
		else
			return m;
	}
	return NULL;
}

/* Inside its namespaces a process has another number, and another /tmp. */
static void read_jit(struct symbolizer *s, struct process *p, uint32_t pid)
{
	char path[PATH_MAX];
	uint32_t inner = pid;
	struct buf status;
	const char *line;

	p->jit_tried = true;
	snprintf(path, sizeof(path), "%s/%u/status", s->proc, pid);
	buf_init(&status, MAPS_LIMIT);
	if (!file_read(path, &status, NULL) && (line = strstr(status.data, "\nNSpid:"))) {
		for (line += 7; *line && *line != '\n';) {
			char *end;
			unsigned long n = strtoul(line, &end, 10);

			if (end == line)
				break;
			inner = (uint32_t)n;
			line = end;
		}
	}
	buf_free(&status);
	snprintf(path, sizeof(path), "%s/%u/root/tmp/perf-%u.map", s->proc, pid, inner);
	p->jit = symbol_file_of_jit(path);
	if (!p->jit && inner == pid) {
		snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
		p->jit = symbol_file_of_jit(path);
	}
}

bool symbols_user(struct symbolizer *s, uint32_t pid, uint64_t addr, struct symbol_at *at)
{
	struct process *p = s->proc ? process_of(s, pid) : NULL;
	const struct mapping *m;

	*at = (struct symbol_at){0};
	if (!p)
		return false;
	m = find_mapping(p, addr);
	/* Every doubling of the misses is worth another look at a process that loads things. */
	if (!m && !(p->misses & (p->misses + 1)) && read_mappings(s, p, pid))
		m = find_mapping(p, addr);
	if (!m)
		p->misses++;
	if (m && m->file) {
		at->module = m->path;
		return symbol_file_find(m->file, addr - m->start + m->offset, s->demangle, at);
	}
	if (!p->jit_tried)
		read_jit(s, p, pid);
	return p->jit && symbol_file_find(p->jit, addr, s->demangle, at);
}
