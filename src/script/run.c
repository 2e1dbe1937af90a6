// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What running live and over a file have in common: programs in the executor, actions, output,
 * files of packets.
 */
#include "script/run.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/vec.h"
#include "import/sources.h"
#include "scan/trace.h"
#include "script/unwind.h"

/* ---- files of packets ---- */

/*
 * The format of libpcap. A file begins with
 *
 *	u32 magic	byte order; times are in nanoseconds
 *	u16 major, minor
 *	u32 zone, accuracy	both are always 0
 *	u32 most		bytes that a packet can have
 *	u32 link		what packets begin with
 *
 * Each packet is u32 seconds, nanoseconds, length in the file, length of the whole; then its bytes.
 */

#define MAGIC_NS     0xa1b23c4d
#define MOST	     65535
#define LINKTYPE_RAW 101

#define SECOND 1000000000u

struct pcap {
	FILE *file;
};

struct head {
	uint32_t magic;
	uint16_t major, minor;
	uint32_t zone, accuracy, most, link;
};

struct packet_head {
	uint32_t seconds, ns, length, whole;
};

int pcap_create(const char *path, struct pcap **out, struct spur_error *err)
{
	const struct head h = {
		.magic = MAGIC_NS, .major = 2, .minor = 4, .most = MOST, .link = LINKTYPE_RAW};
	struct pcap *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return error_set(err, -ENOMEM, "out of memory");
	rc = source_spare(path, "packets go to a file of another name", err);
	p->file = rc < 0 ? NULL : fopen(path, "we");
	if (rc == 0 && !p->file)
		rc = error_sys(err, -errno, "%s", path);
	if (rc == 0 && (fwrite(&h, sizeof(h), 1, p->file) != 1 || fflush(p->file) != 0))
		rc = error_sys(err, -errno, "%s", path);
	if (rc < 0) {
		pcap_close(p);
		return rc;
	}
	*out = p;
	return 0;
}

int pcap_write(struct pcap *p, uint64_t ns, const void *bytes, uint32_t length, uint32_t whole)
{
	const struct packet_head h = {(uint32_t)(ns / SECOND), (uint32_t)(ns % SECOND), length,
				      whole};

	if (length > MOST)
		return -EMSGSIZE;
	if (fwrite(&h, sizeof(h), 1, p->file) != 1)
		return -errno;
	return length && fwrite(bytes, length, 1, p->file) != 1 ? -errno : 0;
}

int pcap_flush(struct pcap *p)
{
	return fflush(p->file) == 0 ? 0 : -errno;
}

void pcap_close(struct pcap *p)
{
	if (!p)
		return;
	if (p->file)
		fclose(p->file);
	free(p);
}

/*
 * Packets that skboutput() sends, and their files: one for each path, created before anything is
 * attached, even if no packet ever comes.
 */

/* An earlier action that writes to the same file; or itself. Only those of packets have a file. */
static size_t first_of(const struct unit *u, size_t i)
{
	const struct action *a = u->actions.at[i];

	for (size_t k = 0; a->kind == ACT_PACKET && k < i; k++)
		if (u->actions.at[k]->kind == ACT_PACKET &&
		    strcmp(u->actions.at[k]->format, a->format) == 0)
			return k;
	return i;
}

int packets_open(struct script *s, struct spur_error *err)
{
	const struct unit *u = &s->unit;
	int rc = 0;

	if (u->packets < 0)
		return 0;
	s->packets = calloc(u->actions.n + 1, sizeof(*s->packets));
	if (!s->packets)
		return error_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < u->actions.n && rc == 0; i++) {
		const size_t first = first_of(u, i);

		if (u->actions.at[i]->kind != ACT_PACKET)
			continue;
		if (first < i)
			s->packets[i] = s->packets[first];
		else
			rc = pcap_create(u->actions.at[i]->format, &s->packets[i], err);
	}
	return rc;
}

void packets_close(struct script *s)
{
	for (size_t i = 0; s->packets && i < s->unit.actions.n; i++)
		if (first_of(&s->unit, i) == i)
			pcap_close(s->packets[i]);
	free(s->packets);
	s->packets = NULL;
}

static void packets_take(struct script *s, const struct action *a, const uint8_t *args, size_t len)
{
	struct pcap *to = s->packets ? s->packets[a->number] : NULL;
	struct packet_record head;
	uint32_t skip;
	int rc;

	if (!to || len < sizeof(head))
		return;
	memcpy(&head, args, sizeof(head));
	len -= sizeof(head);
	if (head.length < len)
		len = head.length;
	skip = (uint64_t)a->top < len ? (uint32_t)a->top : (uint32_t)len;
	rc = pcap_write(to, head.ns + (uint64_t)s->out.clock_offset[a->div],
			args + sizeof(head) + skip, (uint32_t)len - skip,
			head.whole > skip ? head.whole - skip : 0);
	if (rc < 0)
		run_fail(s, rc, a->format);
}

void packets_flush(struct script *s)
{
	for (size_t i = 0; s->packets && i < s->unit.actions.n && !s->ended; i++) {
		int rc = s->packets[i] ? pcap_flush(s->packets[i]) : 0;

		if (rc < 0)
			run_fail(s, rc, s->unit.actions.at[i]->format);
	}
}

#define TEXT_LIMIT  (256u << 20)
#define FLUSH_BYTES (64u << 10)

void run_fail(struct script *s, int rc, const char *what)
{
	s->ended = true;
	if (s->rc < 0)
		return;
	s->rc = rc;
	error_sys(&s->err, rc, "%s", what);
}

/* ---- beginning and end ---- */

static size_t find_stack(void *arg, const struct vtype *t, int64_t id, uint64_t *frames, size_t max)
{
	struct script *s = arg;

	return s->ops->stack(s, t, id, frames, max);
}

/*
 * The wall time at 0 of each clock. The clock of a recording is wall time if the file has the
 * offset; otherwise it is not known.
 */
static void find_clock_offsets(int64_t *offsets)
{
	static const clockid_t clocks[] = {
		[CLOCK_OF_BOOT] = CLOCK_BOOTTIME,
		[CLOCK_OF_MONOTONIC] = CLOCK_MONOTONIC,
		[CLOCK_OF_TAI] = CLOCK_TAI,
	};
	struct timespec wall, t;

	for (int i = 0; i < 3; i++) {
		clock_gettime(CLOCK_REALTIME, &wall);
		clock_gettime(clocks[i], &t);
		offsets[i] = (wall.tv_sec - t.tv_sec) * 1000000000 + (wall.tv_nsec - t.tv_nsec);
	}
}

static int decode_all(struct script *s, struct spur_error *err)
{
	vm_helper helpers[VM_HELPERS] = {0};
	const struct vm_links links = {
		.helpers = run_helpers(helpers),
		.maps = s->maps,
		.nr_maps = s->unit.maps.n,
		.shared = !s->opt.trace,
	};

	s->progs = calloc(s->unit.progs.n + 1, sizeof(*s->progs));
	if (!s->progs)
		return error_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < s->unit.progs.n; i++) {
		struct span at;
		int rc;

		if (s->unit.progs.at[i].runs != RUNS_IN_USER)
			continue;
		rc = vm_decode(&s->code[i], &links, &s->progs[i], &at, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static bool is_stopped(const struct script *s)
{
	struct pollfd stop = {s->opt.stop_fd, POLLIN, 0};

	return s->opt.stop_fd >= 0 && poll(&stop, 1, 0) > 0;
}

/* A loop may run until the user stops the script. END runs even after that. */
static bool go_on(void *env)
{
	const struct script *s = env;

	vec_each (p, &s->unit.probes)
		if (p->prog == s->running && p->target->type == PT_END)
			return true;
	return !is_stopped(s);
}

int run_begin(struct script *s, const struct run_ops *ops, struct spur_error *err)
{
	s->ops = ops;
	buf_init(&s->text, TEXT_LIMIT);
	buf_init(&s->errors, TEXT_LIMIT);
	buf_init(&s->rows_memory, TEXT_LIMIT);
	vm_init(&s->vm, s);
	s->vm.go_on = go_on;
	s->symbols = symbols_open(s->opt.trace ? NULL : "/proc", s->unit.config.cpp_demangle);
	if (s->symbols)
		symbols_use_debuginfo(s->symbols, s->opt.debuginfo, s->unit.config.show_debug_info);
	if (s->symbols && s->opt.trace)
		symbols_use_kernel(s->symbols, s->opt.trace->events->symbols);
	s->out = (struct output){
		.unit = &s->unit,
		.to = &s->text,
		.errors = &s->errors,
		.json = s->opt.json,
		.clean = s->opt.clean,
		.style = s->opt.style,
		.symbols = s->symbols,
		.source = &s->source,
		.stack = find_stack,
		.arg = s,
	};
	if (!s->opt.trace)
		find_clock_offsets(s->out.clock_offset);
	if (!s->symbols || output_open(&s->out) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	return decode_all(s, err);
}

void run_end(struct script *s)
{
	for (size_t i = 0; s->progs && i < s->unit.progs.n; i++)
		vm_prog_free(s->progs[i]);
	free(s->progs);
	s->progs = NULL;
	if (s->ops) {
		output_close(&s->out);
		vm_free(&s->vm);
		symbols_close(s->symbols);
		buf_free(&s->text);
		buf_free(&s->errors);
		buf_free(&s->rows_memory);
	}
	free(s->record);
	s->record = NULL;
}

/* ---- output ---- */

void run_announce(struct script *s)
{
	struct output head = s->out;
	struct buf line;
	int rc;

	s->held = false;
	/* Tests attach nothing. */
	if (s->opt.quiet || s->opt.mode != SCRIPT_TRACE)
		return;
	buf_init(&line, 1024);
	head.to = &line;
	output_attached(&head, s->nr_attached);
	/* A message about the script goes to standard error, but in JSON to the output. */
	rc = s->opt.write(s->opt.arg, line.data, line.len,
			  !s->opt.json && s->opt.style == OUTPUT_0_26);
	if (rc < 0)
		run_fail(s, rc, "output");
	buf_free(&line);
}

void run_flush(struct script *s)
{
	struct buf *const both[] = {&s->text, &s->errors};

	if (s->held && s->text.len + s->errors.len < FLUSH_BYTES)
		return;
	if (s->held)
		run_announce(s);
	for (int i = 0; i < 2; i++) {
		int rc = both[i]->full ? -ENOMEM : 0;

		if (rc == 0 && both[i]->len)
			rc = s->opt.write(s->opt.arg, both[i]->data, both[i]->len, i == 1);
		if (rc < 0)
			run_fail(s, rc, "output");
		buf_reset(both[i]);
	}
}

/* ---- programs ---- */

void run_program(struct script *s, uint32_t prog, const void *ctx, size_t size)
{
	uint64_t result;
	int rc;

	s->running = prog;
	rc = vm_run(&s->vm, s->progs[prog], ctx, size, &result);
	/* It was stopped inside a loop, by the user. */
	if (rc == -ELOOP)
		s->ended = true;
	else if (rc < 0)
		run_fail(s, rc, "a program of the script");
}

void run_probes(struct script *s, enum probe_type type)
{
	for (size_t i = 0; i < s->unit.probes.n && s->rc == 0; i++) {
		const struct unit_probe *p = &s->unit.probes.at[i];

		if (p->target->type == type && s->progs[p->prog])
			run_program(s, p->prog, NULL, 0);
		/* After an exit() the other BEGIN probes are skipped; all END probes run. */
		if (s->ended && type == PT_BEGIN)
			break;
	}
}

/* ---- actions ---- */

static void show_map(struct script *s, const struct map_def *m, struct map_rows *rows, int64_t top,
		     int64_t div)
{
	int rc = 0;

	if (s->opt.map)
		rc = s->opt.map(s->opt.arg, &s->out, m, rows);
	else
		output_map(&s->out, m, rows, top, div);
	if (rc < 0)
		run_fail(s, rc, m->name);
}

static void print_map(struct script *s, const struct map_def *m, int64_t top, int64_t div)
{
	struct map_rows rows = {0};
	int rc = s->ops->rows(s, m, &rows, &s->err);

	if (rc < 0)
		run_fail(s, rc, m->name);
	else
		show_map(s, m, &rows, top, div);
	free(rows.at);
}

/* Reading a map without keys before it is set yields the default. */
static void print_asked(struct script *s, const struct action *a)
{
	struct map_rows rows = {0};
	uint8_t *zeros;

	if (!a->map->flagged || vtype_is_chart(&a->map->value) ||
	    s->ops->rows(s, a->map, &rows, &s->err) < 0 || rows.n) {
		free(rows.at);
		print_map(s, a->map, a->top, a->div);
		return;
	}
	free(rows.at);
	zeros = calloc(1, a->map->value_size + 8);
	if (zeros) {
		struct map_row none = {zeros, zeros};
		struct map_rows one = {.at = &none, .n = 1};

		show_map(s, a->map, &one, 0, 0);
	}
	free(zeros);
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(struct map_def *const *)a)->name, (*(struct map_def *const *)b)->name);
}

/* In the order of their names, whatever order they were mentioned in. */
void run_print_maps(struct script *s)
{
	const size_t n = s->unit.maps.n;
	const struct map_def **maps;

	if (!s->unit.config.print_maps_on_exit)
		return;
	output_end(&s->out);
	if (!n)
		return;
	maps = calloc(n, sizeof(*maps));
	if (!maps) {
		run_fail(s, -ENOMEM, "out of memory");
		return;
	}
	for (size_t i = 0; i < n; i++)
		maps[i] = s->unit.maps.at[i];
	qsort(maps, n, sizeof(*maps), by_name);
	for (size_t i = 0; i < n; i++)
		if (maps[i]->own)
			print_map(s, maps[i], 0, 0);
	free(maps);
}

static void show_file(struct script *s, const struct action *a, const void *args, size_t len)
{
	struct buf path;
	FILE *f;

	buf_init(&path, 1u << 16);
	output_format(&s->out, a, args, len, false, &path);
	f = fopen(buf_str(&path), "re");
	if (!f) {
		buf_printf(&s->errors, "ERROR: failed to open file '%s' (%s)\n", buf_str(&path),
			   strerror(errno));
	} else {
		char *text = malloc(s->unit.config.max_cat_bytes + 1);
		size_t n = text ? fread(text, 1, s->unit.config.max_cat_bytes, f) : 0;

		output_text(&s->out, "cat", text, n);
		free(text);
		fclose(f);
	}
	buf_free(&path);
}

static void run_command(struct script *s, const struct action *a, const void *args, size_t len)
{
	struct buf command;
	char part[4096];
	size_t n;
	FILE *f;

	buf_init(&command, 1u << 16);
	output_format(&s->out, a, args, len, false, &command);
	run_flush(s);
	f = popen(buf_str(&command), "re");
	while (f && (n = fread(part, 1, sizeof(part), f)) > 0)
		output_text(&s->out, "syscall", part, n);
	if (f)
		pclose(f);
	buf_free(&command);
}

/*
 * Thousands of these may be in the buffer, and each takes milliseconds: a user who stops the script
 * does not have to wait for them.
 */
static void do_slowly(struct script *s, const struct action *a, const void *args, size_t len)
{
	if (!s->at_end && is_stopped(s))
		s->left_out++;
	else if (a->kind == ACT_CAT)
		show_file(s, a, args, len);
	else
		run_command(s, a, args, len);
}

static void note_process(struct script *s, const void *args, size_t len)
{
	uint64_t pid = 0;

	memcpy(&pid, args, len < sizeof(pid) ? len : sizeof(pid));
	symbols_note_pid(s->symbols, (uint32_t)pid, true);
}

static void unwatch(struct script *s, const struct action *a, const void *args, size_t len)
{
	uint64_t address = 0;

	if (!s->ops->unwatch || !a->nr_args || len < a->args[0].offset + 8)
		return;
	memcpy(&address, (const char *)args + a->args[0].offset, 8);
	s->ops->unwatch(s, address);
}

static void leave(struct script *s, const struct action *a, const void *args, size_t len)
{
	int64_t status = 0;

	if (a->nr_args && len >= a->args[0].offset + 8)
		memcpy(&status, (const char *)args + a->args[0].offset, 8);
	s->status = (int)status;
	s->ended = true;
}

void run_record(struct script *s, const void *record, size_t size)
{
	struct action_record head;
	const struct action *a;
	const uint8_t *args;

	if (size < sizeof(head))
		return;
	memcpy(&head, record, sizeof(head));
	if (head.action >= s->unit.actions.n)
		return;
	a = s->unit.actions.at[head.action];
	args = (const uint8_t *)record + sizeof(head);
	size -= sizeof(head);
	switch (a->kind) {
	case ACT_PRINT_MAP: print_asked(s, a); break;
	case ACT_CLEAR: s->ops->clear(s, a->map); break;
	case ACT_ZERO: s->ops->zero(s, a->map); break;
	case ACT_CAT:
	case ACT_SYSTEM: do_slowly(s, a, args, size); break;
	case ACT_EXIT: leave(s, a, args, size); break;
	case ACT_NOTE_PID: note_process(s, args, size); break;
	case ACT_UNWATCH: unwatch(s, a, args, size); break;
	case ACT_UNWIND:
		if (s->unwinder)
			unwind_note(s->unwinder, args, size);
		break;
	case ACT_PACKET: packets_take(s, a, args, size); break;
	case ACT_ASSERT:
		output_action(&s->out, a, args, size);
		s->status = 1;
		s->ended = true;
		break;
	default: output_action(&s->out, a, args, size);
	}
	if (s->text.len >= FLUSH_BYTES || s->errors.len)
		run_flush(s);
}

#define RECORD_LIMIT (4u << 20)

static bool make_room(struct script *s, size_t size)
{
	uint8_t *more;

	if (size <= s->record_size)
		return true;
	more = size <= RECORD_LIMIT ? realloc(s->record, size) : NULL;
	if (!more)
		return false;
	s->record = more;
	s->record_size = size;
	return true;
}

void *run_reserve(struct script *s, uint64_t size)
{
	if (!make_room(s, size + 8))
		return NULL;
	memcpy(s->record, &size, 8);
	memset(s->record + 8, 0, size);
	return s->record + 8;
}

void run_submit(struct script *s)
{
	uint64_t size;

	memcpy(&size, s->record, 8);
	run_record(s, s->record + 8, size);
}
