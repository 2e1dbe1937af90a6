// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Shows when each task was switched to.
 *
 *	cc -o walk walk.c $(pkg-config --cflags --libs spur)
 *	./walk trace.dat
 */
#include <inttypes.h>
#include <stdio.h>

#include <spur/trace.h>

static void walk(struct spur_trace *t, struct spur_cursor *c)
{
	const struct spur_record *r;

	while ((r = spur_cursor_next(c)) != NULL) {
		const struct spur_field *next =
			spur_event_field(spur_record_event(t, r), "next_pid");
		uint64_t pid;

		if (next && spur_field_number(t, next, r, &pid) == 0)
			printf("%" PRIu64 " cpu %u to %d: %s\n", r->ts, r->cpu, (int)pid,
			       spur_record_text(c, r));
	}
}

int main(int argc, char **argv)
{
	struct spur_error err = {0};
	struct spur_trace *t = NULL;
	struct spur_cursor *c = NULL;

	if (argc != 2) {
		fprintf(stderr, "usage: walk FILE\n");
		return SPUR_USAGE;
	}
	if (spur_trace_open(argv[1], &t, &err) == 0 && spur_cursor_open(t, &c, &err) == 0 &&
	    spur_cursor_filter(c, "sched/sched_switch", &err) == 0)
		walk(t, c);
	spur_cursor_close(c);
	/* A damaged file is read as far as possible; only now is it known what was missing. */
	if (t && !err.code)
		spur_trace_damage(t, &err);
	spur_trace_close(t);
	if (err.code)
		fprintf(stderr, "walk: %s\n", err.text);
	return spur_error_status(err.code);
}
