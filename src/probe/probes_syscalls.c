// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tracepoints of system calls by the calls' numbers. The tracepoints are named after functions of
 * the kernel, which for a few calls are called otherwise than the call.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "event/pretty_tables.h"
#include "probe/probes_parts.h"

#define MAX_CALLS 4096

static const struct {
	const char *call, *function;
} other_names[] = {
	{"fstat", "newfstat"},	    {"fstatat", "newfstatat"}, {"lstat", "newlstat"},
	{"sendfile", "sendfile64"}, {"stat", "newstat"},       {"umount2", "umount"},
	{"uname", "newuname"},
};

static const char *function_of(const char *call, size_t len)
{
	for (size_t i = 0; i < sizeof(other_names) / sizeof(other_names[0]); i++)
		if (strlen(other_names[i].call) == len && !memcmp(other_names[i].call, call, len))
			return other_names[i].function;
	return NULL;
}

/* "openat" of syscalls:sys_enter_openat; NULL when it is another event. */
static const char *call_of(const struct probe_target *t, bool *is_exit)
{
	if (t->type != PT_TRACEPOINT || strcmp(t->system, "syscalls"))
		return NULL;
	*is_exit = !strncmp(t->event, "sys_exit_", 9);
	if (*is_exit)
		return t->event + 9;
	return strncmp(t->event, "sys_enter_", 10) ? NULL : t->event + 10;
}

static int by_call(const void *a, const void *b)
{
	const struct probe_target *const *x = a, *const *y = b;
	bool ignored;

	return strcmp(call_of(*x, &ignored), call_of(*y, &ignored));
}

static size_t find(const char *const *names, size_t n, const char *name, size_t len)
{
	size_t low = 0, high = n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const int order = strncmp(names[middle], name, len);

		if (!order && !names[middle][len])
			return middle;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return n;
}

static bool all_calls(const struct probe_targets *targets, bool *is_exit)
{
	for (size_t i = 0; i < targets->n; i++) {
		bool this_exit;

		if (!call_of(targets->at[i], &this_exit) || (i && this_exit != *is_exit))
			return false;
		*is_exit = this_exit;
	}
	return targets->n > 0;
}

/* The first number that a call has is its own; others are those of x32 programs. */
static void fill(struct probe_syscalls *to, const struct probe_target **sorted,
		 const char *const *names, size_t n)
{
	struct arch_walk walk = {0};
	struct utsname machine = {0};
	size_t used = 0;

	uname(&machine);
	walk.arch = pretty_arch_find(machine.machine);
	while (walk.arch && pretty_arch_next_call(&walk)) {
		const char *function = function_of(walk.name, walk.len);
		const size_t i = function ? find(names, n, function, strlen(function))
					  : find(names, n, walk.name, walk.len);

		if (i == n || !sorted[i] || walk.nr >= MAX_CALLS || to->at[walk.nr])
			continue;
		to->at[walk.nr] = sorted[i];
		sorted[i] = NULL;
		used++;
		if (walk.nr >= to->n)
			to->n = walk.nr + 1;
	}
	to->nr_left = n - used;
}

bool probes_syscalls(struct probe_world *w, const struct probe_targets *targets,
		     struct probe_syscalls *to)
{
	const struct probe_target **sorted;
	const char **names;
	bool ignored;

	*to = (struct probe_syscalls){0};
	if (!all_calls(targets, &to->is_exit))
		return false;
	sorted = arena_array(w->arena, targets->n, sizeof(*sorted));
	names = arena_array(w->arena, targets->n, sizeof(*names));
	to->at = arena_array(w->arena, MAX_CALLS, sizeof(*to->at));
	if (!sorted || !names || !to->at)
		return false;
	memcpy(sorted, targets->at, targets->n * sizeof(*sorted));
	qsort(sorted, targets->n, sizeof(*sorted), by_call);
	for (size_t i = 0; i < targets->n; i++)
		names[i] = call_of(sorted[i], &ignored);
	fill(to, sorted, names, targets->n);
	return true;
}
