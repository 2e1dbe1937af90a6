// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads a trace.dat the way KernelShark does, through libtracecmd: walk FILE
 *
 * Every record of every CPU of every buffer is read, then all again and formatted, as the rows of
 * its table are; the times of a CPU must not go backwards. Prints how many records there were:
 *
 *	cpu BUFFER NUMBER COUNT		"-" is the top buffer
 *	type SYSTEM EVENT COUNT
 */
#include <err.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trace-cmd.h>

/* Events in the order of their first record. */
struct type {
	int id;
	const char *system, *name;
	unsigned long long count;
};

struct types {
	struct type *at;
	size_t n;
};

static struct type *type_of(struct types *types, const struct tep_event *event)
{
	for (size_t i = 0; i < types->n; i++)
		if (types->at[i].id == event->id)
			return &types->at[i];
	types->at = realloc(types->at, (types->n + 1) * sizeof(*types->at));
	if (!types->at)
		errx(2, "no memory");
	types->at[types->n] = (struct type){event->id, event->system, event->name, 0};
	return &types->at[types->n++];
}

static unsigned long long count_records(struct tracecmd_input *input, int cpu, struct types *types)
{
	struct tep_handle *tep = tracecmd_get_tep(input);
	struct tep_record *record = tracecmd_read_cpu_first(input, cpu);
	unsigned long long count = 0, last = 0;

	for (; record; record = tracecmd_read_data(input, cpu)) {
		struct tep_event *event = tep_find_event_by_record(tep, record);

		if (!event)
			errx(2, "CPU %d, record %llu: no such event", cpu, count);
		if (record->ts < last)
			errx(2, "CPU %d, record %llu: time goes backwards", cpu, count);
		last = record->ts;
		type_of(types, event)->count++;
		count++;
		tracecmd_free_record(record);
	}
	return count;
}

/* Not while counting: to format a function's entry, the library takes the exit that follows it. */
static void format_records(struct tracecmd_input *input, int cpu)
{
	struct tep_handle *tep = tracecmd_get_tep(input);
	struct tep_record *record = tracecmd_read_cpu_first(input, cpu);
	struct trace_seq text;

	trace_seq_init(&text);
	for (; record; record = tracecmd_read_data(input, cpu)) {
		trace_seq_reset(&text);
		tep_print_event(tep, &text, record, "%s", TEP_PRINT_INFO);
		tracecmd_free_record(record);
	}
	trace_seq_destroy(&text);
}

static void walk_buffer(struct tracecmd_input *input, const char *name, struct types *types)
{
	int cpus = tep_get_cpus(tracecmd_get_tep(input));

	for (int cpu = 0; cpu < cpus; cpu++) {
		unsigned long long count = count_records(input, cpu, types);

		format_records(input, cpu);
		if (count)
			printf("cpu %s %d %llu\n", name, cpu, count);
	}
}

static int by_name(const void *one, const void *other)
{
	const struct type *a = one, *b = other;
	int order = strcmp(a->system, b->system);

	return order ? order : strcmp(a->name, b->name);
}

int main(int argc, char **argv)
{
	struct tracecmd_input *input;
	struct types types = {0};

	if (argc != 2)
		errx(1, "usage: walk FILE");
	input = tracecmd_open(argv[1], 0);
	if (!input)
		errx(2, "%s: libtracecmd does not open it", argv[1]);
	walk_buffer(input, "-", &types);
	for (int i = 0; i < tracecmd_buffer_instances(input); i++) {
		const char *name = tracecmd_buffer_instance_name(input, i);
		struct tracecmd_input *buffer = tracecmd_buffer_instance_handle(input, i);

		if (!buffer)
			errx(2, "%s: no buffer %s", argv[1], name);
		walk_buffer(buffer, name, &types);
		tracecmd_close(buffer);
	}
	qsort(types.at, types.n, sizeof(*types.at), by_name);
	for (size_t i = 0; i < types.n; i++)
		printf("type %s %s %llu\n", types.at[i].system, types.at[i].name,
		       types.at[i].count);
	tracecmd_close(input);
	free(types.at);
	return 0;
}
