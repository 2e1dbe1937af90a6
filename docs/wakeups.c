// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Shows the ten tasks that waited longest for a CPU after they had been woken.
 *
 *	cc -o wakeups wakeups.c $(pkg-config --cflags --libs spur)
 *	./wakeups trace.dat
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <spur/table.h>

#define WORST 10

struct wakeup {
	int64_t ts, latency, cpu, pid;
	char comm[32];
};

/* Inserts a wakeup into the sorted list of the worst ones. A full list drops the least one. */
static int insert(struct wakeup *worst, int n, const struct wakeup *w)
{
	int at = n < WORST ? n : WORST - 1;

	if (n == WORST && worst[at].latency >= w->latency)
		return n;
	while (at > 0 && worst[at - 1].latency < w->latency) {
		worst[at] = worst[at - 1];
		at--;
	}
	worst[at] = *w;
	return n < WORST ? n + 1 : n;
}

/* The number of wakeups found, or a negative errno. */
static int find_worst(struct spur_trace *t, struct wakeup *worst, struct spur_error *err)
{
	const struct spur_table *table = spur_table_find("wakeups");
	const int ts = spur_table_column(table, "ts"), cpu = spur_table_column(table, "target_cpu"),
		  pid = spur_table_column(table, "pid"), comm = spur_table_column(table, "comm"),
		  latency = spur_table_column(table, "latency");
	struct spur_rows *rows;
	int n = 0, rc = spur_rows_open(t, table, 0, 0, &rows, err);

	if (rc < 0)
		return rc;
	while ((rc = spur_rows_next(rows, err)) > 0) {
		struct wakeup w = {.cpu = -1};
		const char *name = spur_row_text(rows, comm);

		/* A task that did not run before the trace ended has no latency. */
		if (spur_row_number(rows, latency, &w.latency) < 0)
			continue;
		spur_row_number(rows, ts, &w.ts);
		spur_row_number(rows, cpu, &w.cpu);
		spur_row_number(rows, pid, &w.pid);
		snprintf(w.comm, sizeof(w.comm), "%s", name ? name : "<...>");
		n = insert(worst, n, &w);
	}
	spur_rows_close(rows);
	return rc < 0 ? rc : n;
}

int main(int argc, char **argv)
{
	struct wakeup worst[WORST];
	struct spur_error err = {0};
	struct spur_trace *t = NULL;
	int n = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: wakeups FILE\n");
		return SPUR_USAGE;
	}
	if (spur_trace_open(argv[1], &t, &err) == 0)
		n = find_worst(t, worst, &err);
	for (int i = 0; i < n; i++)
		printf("%" PRId64 " ns: %s-%" PRId64 " on CPU %" PRId64 ", woken at %" PRId64 "\n",
		       worst[i].latency, worst[i].comm, worst[i].pid, worst[i].cpu, worst[i].ts);
	if (t && !err.code)
		spur_trace_damage(t, &err);
	spur_trace_close(t);
	if (err.code)
		fprintf(stderr, "wakeups: %s\n", err.text);
	return spur_error_status(err.code);
}
