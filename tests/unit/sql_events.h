/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events for tests of SQL: a schema without a tracefs. */
#ifndef TESTS_SQL_EVENTS_H
#define TESTS_SQL_EVENTS_H

#include "event_fixture.h"
#include "tracefs/sqlhist/sqlhist.h"

static const struct {
	const char *system, *name;
	const char *fields;
} sql_events[] = {
	{"sched", "sched_waking",
	 "char comm[16] @8:16s, pid_t pid @24:4s, int prio @28:4s, int target_cpu @32:4s"},
	{"sched", "sched_switch",
	 "char prev_comm[16] @8:16s, pid_t prev_pid @24:4s, int prev_prio @28:4s, "
	 "long prev_state @32:8s, char next_comm[16] @40:16s, pid_t next_pid @56:4s, "
	 "int next_prio @60:4s"},
	{"kmem", "kmalloc",
	 "unsigned long call_site @8:8, const void * ptr @16:8, size_t bytes_req @24:8, "
	 "size_t bytes_alloc @32:8, gfp_t gfp_flags @40:4"},
	{"kmem", "kfree", "unsigned long call_site @8:8, const void * ptr @16:8"},
	{"raw_syscalls", "sys_enter", "long id @8:8s, unsigned long args[6] @16:48"},
	{"raw_syscalls", "sys_exit", "long id @8:8s, long ret @16:8s"},
	{"syscalls", "sys_enter_openat", "int __syscall_nr @8:4s, const char * filename @16:8"},
	{"irq", "irq_handler_entry", "int irq @8:4s, __data_loc char[] name @12:4s"},
	{"irq", "irq_handler_exit", "int irq @8:4s, int ret @12:4s"},
	{"first", "twice", "u8 small @8:1"},
	{"second", "twice", "u16 middle @8:2"},
	{"regmap", "drop_region", "unsigned int from @8:4, unsigned int to @12:4"},
};

#define NR_SQL_EVENTS (sizeof(sql_events) / sizeof(sql_events[0]))

static inline int sql_events_find(void *arg, const char *system, const char *name, struct event **e,
				  struct spur_error *err)
{
	struct events *ev = arg;
	int found = 0;

	*e = NULL;
	for (size_t i = 0; i < ev->nr; i++) {
		if (strcmp(ev->list[i]->name, name) != 0 ||
		    (system && strcmp(ev->list[i]->system, system) != 0))
			continue;
		if (!found++)
			*e = ev->list[i];
	}
	return found;
}

static inline void sql_events_each(void *arg, void (*fn)(void *to, const char *name), void *to)
{
	const struct events *ev = arg;

	for (size_t i = 0; i < ev->nr; i++)
		fn(to, ev->list[i]->name);
}

/* The schema's argument is the registry, which the caller frees. */
static inline struct sql_schema sql_events_schema(void)
{
	struct events *ev = fixture_events(false, 8);

	for (size_t i = 0; i < NR_SQL_EVENTS; i++)
		fixture_add(ev, sql_events[i].system, sql_events[i].name, (int)i + 100,
			    sql_events[i].fields, "\"\"");
	return (struct sql_schema){.find = sql_events_find, .each = sql_events_each, .arg = ev};
}

#endif
