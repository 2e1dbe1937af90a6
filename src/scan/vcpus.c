// SPDX-License-Identifier: LGPL-2.1-or-later
/* Finding the tasks that run a guest's CPUs: kvm_entry and kvm_exit name the CPU. */
#include "scan/vcpus.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "scan/scan.h"

static const char *const event_names[] = {"kvm_entry", "kvm_exit"};
#define NR_EVENTS ARRAY_SIZE(event_names)

struct search {
	struct spur_trace *host;
	struct map wanted; /* pids + 1; empty: all */
	struct map seen;
	struct event *events[NR_EVENTS];
	const struct event_field *cpu[NR_EVENTS];
	struct vcpus *found;
};

static uint64_t pid_key(int pid)
{
	return (uint64_t)(uint32_t)pid + 1;
}

static int find_events(struct search *s, struct spur_error *err)
{
	bool any = false;

	for (size_t i = 0; i < NR_EVENTS; i++) {
		s->events[i] = events_find(s->host->events, "kvm", event_names[i]);
		if (s->events[i])
			s->cpu[i] = event_field_find(s->events[i], "vcpu_id");
		any = any || s->cpu[i];
	}
	if (any)
		return 0;
	return error_set(err, -EINVAL,
			 "%s has neither kvm_entry nor kvm_exit events, which tell what task runs "
			 "what CPU of the guest; say so with CPU=PID",
			 s->host->dat->path);
}

/* Handles a record of one of the events; 0 or -ENOMEM. */
static int look_at(struct search *s, const struct spur_record *r)
{
	const struct events *ev = s->host->events;
	const struct event *e = events_of_record(ev, r);
	const int pid = events_record_pid(ev, r);
	struct dat_vcpu *v;
	uint64_t cpu;

	for (size_t i = 0; i < NR_EVENTS; i++) {
		if (!s->cpu[i] || e != s->events[i])
			continue;
		if (map_get(&s->seen, pid_key(pid)) ||
		    (s->wanted.n && !map_get(&s->wanted, pid_key(pid))) ||
		    !field_number(ev, s->cpu[i], r, &cpu))
			return 0;
		v = vec_push(s->found);
		if (!v || !map_set(&s->seen, pid_key(pid), s))
			return -ENOMEM;
		*v = (struct dat_vcpu){.cpu = (uint32_t)cpu, .pid = pid};
		return 0;
	}
	return 0;
}

static int walk(struct search *s, size_t most, const volatile int *stop)
{
	const struct spur_record *r;
	struct scan scan;
	int rc;

	scan_init(&scan, &(struct scan_options){.stop = stop});
	rc = scan_add_trace(&scan, s->host);
	while (rc == 0 && (!most || s->found->n < most) && (r = scan_next(&scan))) {
		rc = look_at(s, r);
		/* All wanted tasks have been found. */
		if (s->wanted.n && s->found->n == s->wanted.n)
			break;
	}
	if (rc == 0 && scan_stopped(&scan))
		rc = -EINTR;
	scan_free(&scan);
	return rc;
}

static int by_cpu(const void *a, const void *b)
{
	const struct dat_vcpu *x = a, *y = b;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

static int check_found(struct search *s, struct spur_error *err)
{
	struct vcpus *v = s->found;

	if (!v->n)
		return error_set(err, -EINVAL, "%s: %s", s->host->dat->path,
				 s->wanted.n ? "none of these tasks ran a CPU of a guest"
					     : "no task ran a CPU of a guest");
	qsort(v->at, v->n, sizeof(*v->at), by_cpu);
	for (size_t i = 1; i < v->n; i++)
		if (v->at[i].cpu == v->at[i - 1].cpu)
			return error_set(err, -EINVAL,
					 "%s: tasks %d and %d both ran CPU %u of a guest; name the "
					 "tasks of this one",
					 s->host->dat->path, v->at[i - 1].pid, v->at[i].pid,
					 v->at[i].cpu);
	return 0;
}

int vcpus_find(struct spur_trace *host, const int32_t *pids, size_t nr_pids, size_t most,
	       const volatile int *stop, struct vcpus *v, struct spur_error *err)
{
	struct search s = {.host = host, .found = v};
	int rc = find_events(&s, err);

	for (size_t i = 0; rc == 0 && i < nr_pids; i++)
		if (!map_set(&s.wanted, pid_key(pids[i]), &s))
			rc = -ENOMEM;
	if (rc == 0)
		rc = walk(&s, most, stop);
	if (rc == 0)
		rc = check_found(&s, err);
	map_free(&s.wanted);
	map_free(&s.seen);
	return rc < 0 ? error_sys(err, rc, "%s", host->dat->path) : 0;
}
