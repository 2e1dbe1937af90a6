// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Tasks: their names, how they come and go, and what is mapped in them; and the kernel's symbols,
 * when the file was recorded on this machine since it was booted.
 */
#include "import/perf/perf.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/file.h"
#include "base/vec.h"

#define MAX_MAPS      200000 /* of all processes */
#define MAX_PROCESSES 100000
#define MAX_PARENTS   32
#define MISC_DATA     (1 << 13) /* of mmap: not to be executed */
#define PROT_EXECUTE  4
#define COMM_SIZE     16
#define KALLSYMS      (64u << 20)

static struct perf_process *process_of(struct perf *p, int pid)
{
	struct perf_process *ps = map_get(&p->processes, (uint32_t)pid);

	if (ps || p->all.n >= MAX_PROCESSES)
		return ps;
	ps = import_get(p->im, &p->processes, (uint32_t)pid, sizeof(*ps));
	if (!ps)
		return NULL;
	ps->pid = pid;
	if (vec_add(&p->all, &ps))
		return ps;
	import_fail(p->im, -ENOMEM);
	return NULL;
}

void perf_tasks_free(struct perf *p)
{
	vec_each (it, &p->all)
		vec_free(&(*it)->maps);
	vec_free(&p->all);
	map_free(&p->processes);
}

/* ---- events --------------------------------------------------------------------------- */

static const char *name_of(const struct perf *p, int pid)
{
	const size_t place = (size_t)map_get(&p->im->comm_of, (uint32_t)pid);

	return place ? p->im->comms.at[place - 1].name : "";
}

/* Where a record is from; false when it is about the time before the recording. */
static bool context_of(struct perf *p, struct cursor c, struct import_context *x)
{
	struct perf_sample s = {0};

	perf_sample_id(p, c, &s);
	*x = (struct import_context){.cpu = s.cpu, .ts = s.time, .pid = (int)s.tid};
	return s.has_time && s.time;
}

static void set_name(struct perf *p, const struct import_field *f, const char *name)
{
	import_set_text(p->im, f, name, strlen(name));
}

#define NUMBER(n)                                                                                  \
	{                                                                                          \
		.name = (n), .size = 4, .is_signed = true                                          \
	}
#define COMM(n)                                                                                    \
	{                                                                                          \
		.name = (n), .kind = IMPORT_CHARS, .nr = COMM_SIZE                                 \
	}

static const struct import_known rename_event = {
	.system = "task",
	.name = "task_rename",
	.fields = {NUMBER("pid"), COMM("oldcomm"), COMM("newcomm"), NUMBER("oom_score_adj")},
};

static const struct import_known fork_event = {
	.system = "sched",
	.name = "sched_process_fork",
	.print = "\"comm=%s pid=%d child_comm=%s child_pid=%d\", REC->parent_comm, "
		 "REC->parent_pid, REC->child_comm, REC->child_pid",
	.fields = {COMM("parent_comm"), NUMBER("parent_pid"), COMM("child_comm"),
		   NUMBER("child_pid")},
};

static const struct import_known exit_event = {
	.system = "sched",
	.name = "sched_process_exit",
	.fields = {COMM("comm"), NUMBER("pid")},
};

/* u32 pid, u32 tid, the name */
void perf_comm(struct perf *p, const struct perf_record *r)
{
	struct cursor c = r->body;
	struct import_context x;
	const int pid = (int)cursor_u32(&c), tid = (int)cursor_u32(&c);
	const char *name = cursor_string(&c);
	const struct import_field *to;
	char old[COMM_SIZE] = "";

	(void)pid;
	if (!name)
		return;
	memcpy(old, name_of(p, tid), strnlen(name_of(p, tid), COMM_SIZE - 1));
	import_comm(p->im, tid, name, strlen(name));
	if (p->has_rename || !context_of(p, r->body, &x))
		return;
	to = import_begin_known(p->im, &p->rename, &rename_event);
	if (!to)
		return;
	import_set(p->im, &to[0], (uint64_t)tid);
	set_name(p, &to[1], old);
	set_name(p, &to[2], name);
	import_end(p->im, &x);
}

/* u32 pid, u32 parent's, u32 tid, u32 parent's, u64 time */
void perf_fork(struct perf *p, const struct perf_record *r, bool leaves)
{
	struct cursor c = r->body;
	struct import_context x;
	const int pid = (int)cursor_u32(&c), ppid = (int)cursor_u32(&c);
	const int tid = (int)cursor_u32(&c), ptid = (int)cursor_u32(&c);
	const struct import_field *to;
	char name[COMM_SIZE] = "";

	if (cursor_failed(&c))
		return;
	memcpy(name, name_of(p, leaves ? tid : ptid), strnlen(name_of(p, leaves ? tid : ptid), 15));
	if (!leaves) {
		struct perf_process *ps = pid != ppid ? process_of(p, pid) : NULL;

		if (ps)
			ps->parent = ppid;
		import_comm(p->im, tid, name, strlen(name));
	}
	if ((leaves ? p->has_exit : p->has_fork) || !context_of(p, r->body, &x))
		return;
	x.pid = leaves ? tid : ptid;
	to = leaves ? import_begin_known(p->im, &p->leave, &exit_event)
		    : import_begin_known(p->im, &p->fork, &fork_event);
	if (!to)
		return;
	set_name(p, &to[0], name);
	import_set(p->im, &to[1], (uint64_t)x.pid);
	if (!leaves) {
		set_name(p, &to[2], name);
		import_set(p->im, &to[3], (uint64_t)tid);
	}
	import_end(p->im, &x);
}

/* ---- mappings ------------------------------------------------------------------------- */

/* u32 pid, u32 tid, u64 address, u64 length, u64 offset in the file; more of it; the path */
void perf_mmap(struct perf *p, const struct perf_record *r, bool second)
{
	struct cursor c = r->body;
	const int pid = (int)cursor_u32(&c);
	struct perf_process *ps;
	struct perf_map *m;
	uint64_t addr, len, offset, end;
	uint32_t prot = PROT_EXECUTE;
	const char *path, *symbol;

	cursor_u32(&c);
	addr = cursor_u64(&c);
	len = cursor_u64(&c);
	offset = cursor_u64(&c);
	if (second) {
		cursor_skip(&c, 24);
		prot = cursor_u32(&c);
		cursor_u32(&c);
	}
	path = cursor_string(&c);
	if (!path)
		return;
	if (pid == -1) {
		symbol = strchr(path, ']');
		if (strncmp(path, "[kernel.kallsyms]", 17) == 0 && symbol && symbol[1]) {
			p->reloc_symbol = import_name(p->im, symbol + 1, strlen(symbol + 1));
			p->reloc_address = offset;
		}
		return;
	}
	if (!(prot & PROT_EXECUTE) || (!second && r->misc & MISC_DATA) || *path != '/' ||
	    strchr(path, '\n') || __builtin_add_overflow(addr, len, &end) || p->nr_maps >= MAX_MAPS)
		return;
	ps = process_of(p, pid);
	m = ps ? vec_push(&ps->maps) : NULL;
	if (!m)
		return;
	*m = (struct perf_map){addr, end, import_name(p->im, path, strlen(path))};
	p->nr_maps++;
}

/* A process that was forked has its parent's mappings until it has its own. */
static const struct perf_process *maps_of(struct perf *p, const struct perf_process *ps)
{
	for (int i = 0; ps && !ps->maps.n && i < MAX_PARENTS; i++)
		ps = ps->parent ? map_get(&p->processes, (uint32_t)ps->parent) : NULL;
	return ps;
}

void perf_put_maps(struct perf *p)
{
	struct buf *out = &p->im->maps;

	vec_each (it, &p->all) {
		const struct perf_process *ps = maps_of(p, *it);

		if (!ps || !ps->maps.n || out->len > KALLSYMS)
			continue;
		buf_printf(out, "%x %zx %s\n", (unsigned int)(*it)->pid, ps->maps.n,
			   name_of(p, (*it)->pid));
		vec_each (m, &ps->maps)
			buf_printf(out, "%" PRIx64 " %" PRIx64 " %s\n", m->start, m->end,
				   m->path ? m->path : "?");
	}
}

/* ---- the kernel's symbols ------------------------------------------------------------- */

/* The line "ADDRESS T SYMBOL" says that the kernel lies where it lay. */
static bool lies_there(const struct perf *p, struct buf *text)
{
	char line[128];
	const char *found;
	int n = snprintf(line, sizeof(line), "%016" PRIx64 " T %s\n", p->reloc_address,
			 p->reloc_symbol);

	if (n < 0 || (size_t)n >= sizeof(line))
		return false;
	found = memmem(text->data, text->len, line, (size_t)n);
	return found && (found == text->data || found[-1] == '\n');
}

void perf_put_symbols(struct perf *p)
{
	struct utsname here;
	struct buf text;

	if (!p->kernel_stacks || !p->reloc_symbol || !p->reloc_address || p->im->symbols.len ||
	    uname(&here) < 0 || strcmp(here.release, p->release) != 0 ||
	    strcmp(here.nodename, p->host) != 0)
		return;
	buf_init(&text, KALLSYMS);
	if (file_read("/proc/kallsyms", &text, NULL) == 0 && lies_there(p, &text))
		buf_put(&p->im->symbols, text.data, text.len);
	buf_free(&text);
}
