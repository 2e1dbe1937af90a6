// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writes a trace with events of its own: three requests of a server. With a second argument, it
 * also copies the switches of that trace.
 *
 *	cc -o write write.c $(pkg-config --cflags --libs spur)
 *	./write new.dat [trace.dat]
 *	spur report new.dat
 */
#include <stdio.h>

#include <spur/writer.h>

#define SERVER_PID 4711

static void write_requests(struct spur_writer *w)
{
	static const struct spur_field_spec fields[] = {
		{"id", SPUR_FIELD_UNSIGNED, 4},
		{"status", SPUR_FIELD_SIGNED, 4},
		{"path", SPUR_FIELD_TEXT, 0},
	};
	const int request = spur_writer_event(w, "server", "request", fields, 3);

	spur_writer_comm(w, SERVER_PID, "server");
	for (uint32_t i = 0; i < 3; i++) {
		spur_writer_begin(w, request, 1000000 + i * 500, i % 2, SERVER_PID);
		spur_writer_number(w, 0, i);
		spur_writer_number(w, 1, i == 2 ? (uint64_t)-1 : 0);
		spur_writer_text(w, 2, i == 2 ? "/missing" : "/index.html");
		spur_writer_end(w);
	}
}

/* Copies the records that pass a filter. The trace must stay open until the file is written. */
static int copy_switches(struct spur_writer *w, struct spur_trace *t, struct spur_error *err)
{
	struct spur_cursor *c;
	const struct spur_record *r;
	int rc = spur_cursor_open(t, &c, err);

	if (rc == 0)
		rc = spur_cursor_filter(c, "sched/sched_switch", err);
	while (rc == 0 && (r = spur_cursor_next(c)) != NULL)
		spur_writer_copy(w, t, r);
	spur_cursor_close(c);
	return rc == 0 ? spur_trace_damage(t, err) : rc;
}

int main(int argc, char **argv)
{
	struct spur_error err = {0};
	struct spur_trace *t = NULL;
	struct spur_writer *w;

	if (argc != 2 && argc != 3) {
		fprintf(stderr, "usage: write NEW [FILE]\n");
		return SPUR_USAGE;
	}
	if (spur_writer_open(argv[1], &w, &err) == 0) {
		write_requests(w);
		if (argc == 3 && spur_trace_open(argv[2], &t, &err) == 0)
			copy_switches(w, t, &err);
		/* Reports the first error of all calls that wrote records. */
		spur_writer_finish(w, &err);
	}
	spur_trace_close(t);
	if (err.code)
		fprintf(stderr, "write: %s\n", err.text);
	return spur_error_status(err.code);
}
