/* Shows when each task was switched to: a trace walked in twenty lines. */
#include <inttypes.h>
#include <spur/trace.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	struct spur_error err = {0};
	struct spur_trace *t = NULL;
	struct spur_cursor *c = NULL;
	const struct spur_record *r;

	if (argc < 2 || spur_trace_open(argv[1], &t, &err) < 0 || spur_cursor_open(t, &c, &err) < 0)
		return fprintf(stderr, "walk: %s\n", argc < 2 ? "which file?" : err.text), 1;
	struct spur_event *sw = spur_event_find(t, "sched", "sched_switch");
	const struct spur_field *next = sw ? spur_event_field(sw, "next_pid") : NULL;
	while ((r = spur_cursor_next(c)) != NULL) {
		uint64_t pid;

		if (next && spur_record_event(t, r) == sw &&
		    spur_field_number(t, next, r, &pid) == 0)
			printf("%" PRIu64 " cpu %u to %d: %s\n", r->ts, r->cpu, (int)pid,
			       spur_record_text(c, r));
	}
	spur_cursor_close(c);
	spur_trace_close(t);
	return 0;
}
