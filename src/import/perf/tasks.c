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
	struct perf_process *ps = map_get(&p->processes, (uint32_t)pid), **slot;

	if (ps || p->all.n >= MAX_PROCESSES)
		return ps;
	ps = calloc(1, sizeof(*ps));
	slot = ps ? vec_push(&p->all) : NULL;
	if (!slot || !map_set(&p->processes, (uint32_t)pid, ps)) {
		if (slot)
			p->all.n--;
		free(ps);
		import_fail(p->im, -ENOMEM);
		return NULL;
	}
	ps->pid = pid;
	*slot = ps;
	return ps;
}

void perf_tasks_free(struct perf *p)
{
	vec_each (it, &p->all) {
		vec_free(&(*it)->maps);
		free(*it);
	}
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

static const struct import_field number = {.size = 4, .is_signed = true};
static const struct import_field comm = {.kind = IMPORT_CHARS, .nr = COMM_SIZE};

static void name_fields(struct import_field *fields, const struct import_field *const *kinds,
			const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		fields[i] = *kinds[i];
		fields[i].name = names[i];
	}
}

static bool need_rename(struct perf *p)
{
	static const struct import_field *const kinds[] = {&number, &comm, &comm, &number};
	static const char *const names[] = {"pid", "oldcomm", "newcomm", "oom_score_adj"};

	if (p->rename.id)
		return true;
	name_fields(p->rename_fields, kinds, names, 4);
	p->rename = (struct import_type){.system = "task",
					 .name = "task_rename",
					 .fields = p->rename_fields,
					 .nr_fields = 4};
	return import_type(p->im, &p->rename, NULL);
}

static bool need_fork(struct perf *p)
{
	static const struct import_field *const kinds[] = {&comm, &number, &comm, &number};
	static const char *const names[] = {"parent_comm", "parent_pid", "child_comm", "child_pid"};

	if (p->fork.id)
		return true;
	name_fields(p->fork_fields, kinds, names, 4);
	p->fork = (struct import_type){.system = "sched",
				       .name = "sched_process_fork",
				       .fields = p->fork_fields,
				       .nr_fields = 4};
	return import_type(p->im, &p->fork,
			   "\"comm=%s pid=%d child_comm=%s child_pid=%d\", REC->parent_comm, "
			   "REC->parent_pid, REC->child_comm, REC->child_pid");
}

static bool need_exit(struct perf *p)
{
	static const struct import_field *const kinds[] = {&comm, &number};
	static const char *const names[] = {"comm", "pid"};

	if (p->leave.id)
		return true;
	name_fields(p->leave_fields, kinds, names, 2);
	p->leave = (struct import_type){.system = "sched",
					.name = "sched_process_exit",
					.fields = p->leave_fields,
					.nr_fields = 2};
	return import_type(p->im, &p->leave, NULL);
}

/* u32 pid, u32 tid, the name */
void perf_comm(struct perf *p, const struct perf_record *r)
{
	struct cursor c = r->body;
	struct import_context x;
	const int pid = (int)cursor_u32(&c), tid = (int)cursor_u32(&c);
	const char *name = cursor_string(&c);
	char old[COMM_SIZE] = "";

	(void)pid;
	if (!name)
		return;
	memcpy(old, name_of(p, tid), strnlen(name_of(p, tid), COMM_SIZE - 1));
	import_comm(p->im, tid, name, strlen(name));
	if (p->has_rename || !context_of(p, r->body, &x) || !need_rename(p))
		return;
	import_begin(p->im, &p->rename);
	import_set(p->im, &p->rename_fields[0], (uint64_t)tid);
	set_name(p, &p->rename_fields[1], old);
	set_name(p, &p->rename_fields[2], name);
	import_end(p->im, &x);
}

/* u32 pid, u32 parent's, u32 tid, u32 parent's, u64 time */
void perf_fork(struct perf *p, const struct perf_record *r, bool leaves)
{
	struct cursor c = r->body;
	struct import_context x;
	const int pid = (int)cursor_u32(&c), ppid = (int)cursor_u32(&c);
	const int tid = (int)cursor_u32(&c), ptid = (int)cursor_u32(&c);
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
	if (!context_of(p, r->body, &x))
		return;
	if (leaves && !p->has_exit && need_exit(p)) {
		x.pid = tid;
		import_begin(p->im, &p->leave);
		set_name(p, &p->leave_fields[0], name);
		import_set(p->im, &p->leave_fields[1], (uint64_t)tid);
		import_end(p->im, &x);
	} else if (!leaves && !p->has_fork && need_fork(p)) {
		x.pid = ptid;
		import_begin(p->im, &p->fork);
		set_name(p, &p->fork_fields[0], name);
		import_set(p->im, &p->fork_fields[1], (uint64_t)ptid);
		set_name(p, &p->fork_fields[2], name);
		import_set(p->im, &p->fork_fields[3], (uint64_t)tid);
		import_end(p->im, &x);
	}
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
