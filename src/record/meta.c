// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Describes a recording: formats of events, symbols, buffers, and the options of the file, at its
 * beginning and at its end.
 */
#include "record/meta.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/nanoseconds.h"
#include "base/scoped.h"
#include "base/vec.h"
#include "dat/dat.h"
#include "dat/tracing.h"
#include "ring/ring.h"
#include "record/taskinfo.h"
#include "tracefs/owner.h"

#define META_LIMIT (512u << 20)
#define PATH_CAP   512

static int meta_no_memory(struct spur_error *err)
{
	return error_set(err, -ENOMEM, "out of memory for what describes the trace");
}

/* A file of tracefs (or of the machine) in the arena, terminated. */
static int meta_read(struct meta *m, const char *instance, const char *file, struct dat_span *to,
		     struct spur_error *err)
{
	char path[PATH_CAP];

	if (!tracefs_path(m->fs, instance, file, path, sizeof(path)))
		return error_sys(err, -ENAMETOOLONG, "%s", file);
	return dat_tracing_path(m->into, path, to, err);
}

int meta_option(struct meta *m, uint16_t id, const void *data, size_t size, struct spur_error *err)
{
	struct dat_out_option *o = vec_push(&m->options);
	void *copy = arena_alloc(m->into, size ? size : 1);

	if (!o || !copy)
		return meta_no_memory(err);
	memcpy(copy, data, size);
	*o = (struct dat_out_option){id, {copy, size}};
	m->contents.options = m->options.at;
	m->contents.nr_options = m->options.n;
	return 0;
}

/* ---- clocks ---- */

/*
 * The clock of a trace: its offset from the time of day, and the factors that convert ticks of the
 * TSC to nanoseconds.
 *
 * The trace's clock can be read only by recording something: a marker in an instance made for this,
 * with the time of day taken before and after.
 */

#define TRIES	 8
#define PAGE_CAP 65536
#define NAME_CAP 64

/* Finds the time stamp of the last event of a CPU's buffer, and empties the buffer. */
static bool last_time(const struct meta *m, const char *instance, uint32_t cpu, uint64_t *ts)
{
	const struct ring_layout layout = ring_layout_default(
		__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, sizeof(long), m->contents.page_size);
	uint8_t page[PAGE_CAP];
	struct ring_page p;
	struct ring_event e;
	char file[NAME_CAP];
	bool found = false;
	ssize_t n;
	int fd;

	snprintf(file, sizeof(file), "per_cpu/cpu%u/trace_pipe_raw", cpu);
	fd = tracefs_open(m->fs, instance, file, O_RDONLY | O_NONBLOCK, NULL);
	if (fd < 0)
		return false;
	while (layout.page_size <= sizeof(page) && (n = read(fd, page, layout.page_size)) > 0)
		if (ring_page_open(&p, &layout, page, (size_t)n) == 0)
			while (ring_page_next(&p, &e)) {
				*ts = e.ts;
				found = true;
			}
	close(fd);
	return found;
}

/* One measurement; the shorter the time between its two readings of the clock, the better. */
static bool measure(struct meta *m, const char *instance, uint64_t *offset, uint64_t *width)
{
	uint64_t before = clock_now_ns(CLOCK_REALTIME), after, ts = 0;
	bool found = false;

	if (tracefs_write(m->fs, instance, "trace_marker", TRACEFS_APPEND, "date", NULL) < 0)
		return false;
	after = clock_now_ns(CLOCK_REALTIME);
	for (uint32_t i = 0; i < m->nr_cpus && !found; i++)
		found = last_time(m, instance, m->cpus[i], &ts);
	*offset = before + (after - before) / 2 - ts;
	*width = after - before;
	return found;
}

static int measure_offset(struct meta *m, const char *instance, uint64_t *best)
{
	const char *clock = m->contents.buffers[0].clock;
	uint64_t narrowest = UINT64_MAX;
	int rc = tracefs_write(m->fs, instance, "trace_clock", TRACEFS_REPLACE, clock, NULL);

	for (int i = 0; i < TRIES && rc == 0; i++) {
		uint64_t offset, width;

		if (measure(m, instance, &offset, &width) && width < narrowest) {
			narrowest = width;
			*best = offset;
		}
	}
	return rc < 0 ? rc : narrowest == UINT64_MAX ? -EIO : 0;
}

/* Nanoseconds between the clock of the trace and the time of day. */
static int meta_date(struct meta *m, struct spur_error *err)
{
	char name[NAME_CAP], text[32];
	uint64_t offset = 0;
	int rc;

	owner_instance(name, sizeof(name), "date");
	rc = undo_make_instance(m->undo, name, err);
	if (rc < 0)
		return rc;
	rc = measure_offset(m, name, &offset);
	tracefs_remove_instance(m->fs, name, NULL);
	if (rc < 0)
		return error_sys(err, rc, "--date: the trace's clock cannot be read");
	/* Files have it in microseconds. */
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)(offset / 1000));
	return meta_option(m, DAT_OPT_DATE, text, strlen(text) + 1, err);
}

/* Reads from a perf event's page how to convert the TSC: multiplier, shift and offset. */
static bool read_tsc(uint32_t *mult, uint32_t *shift, uint64_t *offset)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
	};
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	scoped_fd fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	const struct perf_event_mmap_page *page;
	bool found = false;

	if (fd < 0)
		return false;
	page = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (page != MAP_FAILED) {
		found = page->cap_user_time && page->cap_user_time_zero;
		*mult = page->time_mult;
		*shift = page->time_shift;
		*offset = page->time_zero;
		munmap((void *)page, size);
	}
	return found;
}

/* Adds the option that converts ticks of the TSC to nanoseconds. */
static int meta_tsc(struct meta *m, struct spur_error *err)
{
	struct {
		uint32_t mult, shift;
		uint64_t offset;
	} data = {0};

	if (!read_tsc(&data.mult, &data.shift, &data.offset))
		return error_set(
			err, -ENOTSUP,
			"--tsc2nsec: perf does not say how this machine's TSC is converted");
	return meta_option(m, DAT_OPT_TSC2NSEC, &data, sizeof(data), err);
}

/* ---- formats ---- */

#define SYMBOLS_AT_ONCE (16u << 10)

static int by_name(const void *a, const void *b)
{
	const struct setup_event *x = a, *y = b;
	int order = strcmp(x->system, y->system);

	return order ? order : strcmp(x->name, y->name);
}

/* Adds the events of a buffer that are on although this session has not turned them on. */
static int add_enabled(struct meta *m, struct setup_event **list, size_t *n, size_t *cap,
		       struct spur_error *err)
{
	for (size_t i = 0; i < m->setup->nr_buffers; i++) {
		const char *instance = m->setup->buffers[i].instance;
		struct dat_span on;
		int rc;

		if (!instance)
			continue;
		rc = meta_read(m, instance, "set_event", &on, err);
		if (rc < 0)
			return rc;
		for (char *at = (char *)on.data, *next; *at; at = next) {
			char *colon;
			struct setup_event *e;

			next = at + strcspn(at, "\n");
			if (*next)
				*next++ = '\0';
			colon = strchr(at, ':');
			if (!colon)
				continue;
			*colon = '\0';
			e = vec_push_((void **)list, n, cap, sizeof(*e));
			if (!e)
				return meta_no_memory(err);
			*e = (struct setup_event){at, colon + 1};
		}
	}
	return 0;
}

/* The events of the setup and those that are on, each once, by system and name. */
static int recorded_events(struct meta *m, struct setup_event **list, size_t *n,
			   struct spur_error *err)
{
	size_t cap = 0, kept = 0;
	int rc;

	*list = NULL;
	*n = 0;
	rc = add_enabled(m, list, n, &cap, err);
	for (size_t i = 0; i < m->setup->events.n && rc == 0; i++) {
		struct setup_event *e = vec_push_((void **)list, n, &cap, sizeof(*e));

		if (!e)
			return meta_no_memory(err);
		*e = m->setup->events.at[i];
	}
	if (rc < 0 || !*n)
		return rc;
	qsort(*list, *n, sizeof(**list), by_name);
	for (size_t i = 0; i < *n; i++)
		if (!kept || by_name(&(*list)[kept - 1], &(*list)[i]) != 0)
			(*list)[kept++] = (*list)[i];
	*n = kept;
	return 0;
}

static int add_recorded(struct meta *m, struct dat_tracing *t, struct spur_error *err)
{
	struct setup_event *list;
	size_t n;
	int rc = recorded_events(m, &list, &n, err);

	/* All of ftrace's own are there already. */
	for (size_t i = 0; i < n && rc == 0; i++)
		if (strcmp(list[i].system, "ftrace") != 0)
			rc = dat_tracing_event(t, list[i].system, list[i].name, err);
	free(list);
	return rc;
}

/*
 * Probes are in a group of their owner in the kernel, "spur_PID_START". In files they are in
 * "spur", so that the name is the same for each recording.
 */
static void name_probes(struct dat_contents *c)
{
	struct dat_out_system *own = NULL;

	for (size_t i = 0; i < c->nr_systems; i++) {
		const struct dat_out_system *s = &c->systems[i];
		struct owner o;

		if (strcmp(s->name, "spur") == 0)
			return;
		if (!owner_of_group(s->name, &o))
			continue;
		/* With two groups, equal names would be confused. */
		if (own)
			return;
		own = (struct dat_out_system *)s;
	}
	if (own)
		own->name = "spur";
}

/* Formats of ftrace's own events, and of those that are recorded. */
static int meta_formats(struct meta *m, struct spur_error *err)
{
	struct dat_tracing t = {.path = m->fs->path, .arena = &m->arena};
	int rc;

	if (m->opt.all_formats) {
		rc = dat_tracing_systems(&t, err);
	} else {
		rc = dat_tracing_system(&t, "ftrace", err);
		if (rc == 0)
			rc = add_recorded(m, &t, err);
	}
	if (rc == 0)
		rc = dat_tracing_formats(&t, &m->contents, err);
	if (rc == 0)
		name_probes(&m->contents);
	dat_tracing_free(&t);
	return rc;
}

/* ---- symbols ---- */

/* Whether a format prints an address as a symbol: %ps, %pS, %pf, %pF, %pB. */
static bool prints_symbols(const struct dat_span *format)
{
	const char *print = strstr(format->data, "print fmt:");

	for (const char *at = print; at && (at = strstr(at, "%p")); at += 2)
		if (strchr("sSfFB", at[2]) && at[2])
			return true;
	return false;
}

/* Whether a buffer may hold stacks or functions, or what a user writes into trace_marker. */
static bool buffer_needs_symbols(const struct meta *m, const struct setup_buffer *b)
{
	static const char *const options[] = {"options/stacktrace", "options/userstacktrace"};
	char tracer[64];
	int64_t on;

	if (!b->instance)
		return false;
	if (!b->made ||
	    tracefs_read_line(m->fs, b->instance, "current_tracer", tracer, sizeof(tracer), NULL) <
		    0 ||
	    strcmp(tracer, "nop") != 0)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		if (tracefs_read_number(m->fs, b->instance, options[i], &on, NULL) == 0 && on)
			return true;
	return false;
}

/* Whether the trace has functions or stacks, which are of little use as addresses. */
static bool needs_symbols(const struct meta *m)
{
	for (size_t i = 0; i < m->setup->nr_buffers; i++)
		if (buffer_needs_symbols(m, &m->setup->buffers[i]))
			return true;
	/* A trigger may take stacks. */
	for (size_t i = 0; i < m->setup->plan.n; i++)
		if (strncmp(m->setup->plan.at[i].text, "stacktrace", 10) == 0)
			return true;
	return false;
}

/* Whether some event prints an address; the trace can be read without its symbol. */
static bool uses_symbols(const struct dat_contents *c)
{
	for (size_t i = 0; i < c->nr_systems; i++)
		for (size_t k = 0; k < c->systems[i].nr; k++)
			if (prints_symbols(&c->systems[i].formats[k]))
				return true;
	return false;
}

/*
 * In many kernels half of the symbols name the padding in front of functions, where nothing runs.
 * They are left out while the list is read, so that it needs less memory.
 */
static bool is_code_symbol(const char *line, size_t n)
{
	return !memmem(line, n, " __pfx_", 7);
}

/* "ffffffff81000000 T name": text, weak or not. */
static bool is_function(const char *line, size_t n)
{
	const char *space = memchr(line, ' ', n);

	return space && space + 1 < line + n && strchr("tTwW", space[1]);
}

static void keep_symbols(struct buf *symbols, size_t from, bool (*keep)(const char *line, size_t n))
{
	char *to = symbols->data + from;
	const char *at = to, *end = symbols->data + symbols->len;
	const char *next;

	/* The text after the last newline is not a whole line yet. */
	for (; (next = memchr(at, '\n', (size_t)(end - at))); at = next + 1) {
		size_t n = (size_t)(next + 1 - at);

		if (keep(at, n)) {
			memmove(to, at, n);
			to += n;
		}
	}
	memmove(to, at, (size_t)(end - at));
	symbols->len = (size_t)(to - symbols->data) + (size_t)(end - at);
}

/* The start of the last line, which may be incomplete. */
static size_t last_line(const struct buf *b)
{
	const char *newline = b->len ? memrchr(b->data, '\n', b->len) : NULL;

	return newline ? (size_t)(newline + 1 - b->data) : 0;
}

static int read_symbols(struct meta *m, struct spur_error *err)
{
	int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC), rc = 0;
	ssize_t n = 1;

	if (fd < 0)
		return error_sys(err, -errno, "/proc/kallsyms");
	while (n > 0 && rc == 0) {
		size_t from = last_line(&m->symbols);

		if (!buf_room(&m->symbols, SYMBOLS_AT_ONCE)) {
			rc = meta_no_memory(err);
			break;
		}
		n = read(fd, m->symbols.data + m->symbols.len, SYMBOLS_AT_ONCE);
		if (n < 0)
			rc = error_sys(err, -errno, "/proc/kallsyms");
		m->symbols.len += n > 0 ? (size_t)n : 0;
		keep_symbols(&m->symbols, from, is_code_symbol);
	}
	close(fd);
	return rc;
}

static void take_symbols(struct meta *m, enum meta_symbols which)
{
	m->which = which;
	m->contents.kallsyms = (struct dat_span){buf_str(&m->symbols), m->symbols.len};
}

int meta_symbols(struct meta *m, struct spur_error *err)
{
	const bool needed = needs_symbols(m), used = needed || uses_symbols(&m->contents);
	int rc = used ? read_symbols(m, err) : 0;

	m->least = needed ? META_FUNCTIONS : META_NONE;
	take_symbols(m, used ? META_ALL : META_NONE);
	return rc;
}

bool meta_can_shrink(const struct meta *m)
{
	return m->which > m->least;
}

bool meta_shrink(struct meta *m)
{
	if (!meta_can_shrink(m))
		return false;
	if (m->which == META_ALL)
		keep_symbols(&m->symbols, 0, is_function);
	else
		buf_reset(&m->symbols);
	take_symbols(m, m->which - 1);
	return true;
}

/* ---- options: the machine, the clock, the buffers ---- */

#define STATS_CAP    1024
#define MAPS_LIMIT   (64u << 20)
#define FILE_CAP     64
#define PIDS_LIMIT   (1u << 20)
#define FILTER_LIMIT (64u << 10)

static int text_option(struct meta *m, uint16_t id, const char *text, struct spur_error *err)
{
	return meta_option(m, id, text, strlen(text) + 1, err);
}

static int add_clock(struct meta *m, struct spur_error *err)
{
	const char *instance = m->setup->buffers[0].instance;
	struct dat_span clocks;
	int rc = meta_read(m, instance ? instance : "", "trace_clock", &clocks, err);

	return rc < 0 ? rc : text_option(m, DAT_OPT_TRACECLOCK, clocks.data, err);
}

static int add_machine(struct meta *m, struct spur_error *err)
{
	const char *text = dat_tracing_uname(m->into);

	return text ? text_option(m, DAT_OPT_UNAME, text, err) : 0;
}

/* Adds a random number that identifies the recording; 0 means that there is none. */
static int add_identity(struct meta *m, struct spur_error *err)
{
	uint64_t id = 0;

	while (!id)
		if (getrandom(&id, sizeof(id), 0) < 0)
			return error_sys(err, -errno, "a number for the recording");
	return meta_option(m, DAT_OPT_TRACEID, &id, sizeof(id), err);
}

/* ---- the tasks whose events are recorded ---- */

/* The line after this one, or the end. */
static const char *next_line(const char *line)
{
	const size_t n = strcspn(line, "\n");

	return line + n + (line[n] == '\n');
}

/* Removes the pids that the other text does not have. The kernel sorts them. */
static void keep_common(struct buf *pids, const char *other)
{
	size_t len = 0;

	for (const char *at = buf_str(pids), *next; *at && *other; at = next) {
		const unsigned long pid = strtoul(at, NULL, 10);

		next = next_line(at);
		while (*other && strtoul(other, NULL, 10) < pid)
			other = next_line(other);
		if (*other && strtoul(other, NULL, 10) == pid) {
			memmove(pids->data + len, at, (size_t)(next - at));
			len += (size_t)(next - at);
		}
	}
	pids->len = len;
}

/*
 * The option does not say of which buffer it is, and readers use it for all of them. So it has the
 * tasks that are followed in each buffer that has such a filter: all of their switches were
 * recorded.
 */
bool meta_followed(const struct meta *m, struct buf *text)
{
	scoped_buf all = buf_new(PIDS_LIMIT);
	bool is = false, children = true;

	for (size_t i = 0; i < m->setup->nr_buffers; i++) {
		const char *instance = m->setup->buffers[i].instance;
		scoped_buf pids = buf_new(PIDS_LIMIT);
		int64_t fork = 0;

		if (!instance || tracefs_read(m->fs, instance, "set_event_pid", &pids, NULL) < 0 ||
		    !isdigit((unsigned char)*buf_str(&pids)))
			continue;
		tracefs_read_number(m->fs, instance, "options/event-fork", &fork, NULL);
		children &= fork != 0;
		if (is)
			keep_common(&all, buf_str(&pids));
		else
			buf_puts(&all, buf_str(&pids));
		is = true;
	}
	if (is)
		buf_printf(text, "1 %d\n%s", children, buf_str(&all));
	return is;
}

static int add_followed(struct meta *m, struct spur_error *err)
{
	scoped_buf text = buf_new(PIDS_LIMIT + FILE_CAP);

	return meta_followed(m, &text) ? text_option(m, DAT_OPT_FOLLOWED, buf_str(&text), err) : 0;
}

/* ---- options of the beginning ---- */

/* An event's filter as the kernel has it now, if there is one. */
static void put_filter(const struct meta *m, const struct setup_buffer *b, const char *event,
		       struct buf *to)
{
	char file[FILE_CAP];
	struct buf filter;

	snprintf(file, sizeof(file), "events/sched/%s/filter", event);
	buf_init(&filter, FILTER_LIMIT);
	if (tracefs_read(m->fs, b->instance, file, &filter, NULL) == 0) {
		const char *text = buf_str(&filter);
		const size_t len = strcspn(text, "\n");

		if (len && strncmp(text, "none", len) != 0)
			buf_printf(to, "%s\tsched:%s\t%.*s\n", b->name, event, (int)len, text);
	}
	buf_free(&filter);
}

/* Adds the filters of the scheduler's events that tables are made from. */
static int add_filters(struct meta *m, struct spur_error *err)
{
	static const char *const events[] = {"sched_switch", "sched_waking", "sched_wakeup",
					     "sched_wakeup_new"};
	struct buf text;
	int rc = 0;

	buf_init(&text, PIDS_LIMIT);
	for (size_t i = 0; i < m->setup->nr_buffers; i++) {
		const struct setup_buffer *b = &m->setup->buffers[i];

		for (size_t k = 0; b->instance && k < ARRAY_SIZE(events); k++)
			put_filter(m, b, events[k], &text);
	}
	if (text.len) {
		struct buf option;

		buf_init(&option, PIDS_LIMIT + FILE_CAP);
		buf_printf(&option, "1\n%s", buf_str(&text));
		rc = text_option(m, DAT_OPT_FILTERS, buf_str(&option), err);
		buf_free(&option);
	}
	buf_free(&text);
	return rc;
}

/* Adds the options that are known at the beginning: clock, machine, program, identity … */
static int meta_first_options(struct meta *m, struct spur_error *err)
{
	int rc = add_clock(m, err);

	if (rc == 0)
		rc = add_machine(m, err);
	if (rc == 0)
		rc = text_option(m, DAT_OPT_VERSION, "spur " SPUR_VERSION, err);
	if (rc == 0)
		rc = add_identity(m, err);
	if (rc == 0)
		rc = add_followed(m, err);
	if (rc == 0)
		rc = add_filters(m, err);
	if (rc == 0 && m->opt.has_ts_offset) {
		char text[24];

		snprintf(text, sizeof(text), "%lld", (long long)m->opt.ts_offset);
		rc = text_option(m, DAT_OPT_OFFSET, text, err);
	}
	if (rc == 0 && m->opt.date)
		rc = meta_date(m, err);
	if (rc == 0 && m->opt.tsc2nsec)
		rc = meta_tsc(m, err);
	for (const char *const *hook = m->opt.hooks; hook && *hook && rc == 0; hook++)
		rc = text_option(m, DAT_OPT_HOOK, *hook, err);
	return rc;
}

/* ---- options of the end, statistics ---- */

static int read_stats(const struct tracefs *fs, const char *instance, uint32_t cpu, char *text,
		      size_t cap)
{
	struct buf b;
	char file[FILE_CAP];
	int rc;

	snprintf(file, sizeof(file), "per_cpu/cpu%u/stats", cpu);
	buf_init(&b, 64u << 10);
	rc = tracefs_read(fs, instance, file, &b, NULL);
	snprintf(text, cap, "%s", rc == 0 ? b.data : "");
	buf_free(&b);
	return rc;
}

static int add_stats(struct meta *m, const struct setup_buffer *b, struct spur_error *err)
{
	int rc = 0;

	if (*b->name) {
		char head[300];

		snprintf(head, sizeof(head), "\nBuffer: %.256s\n\n", b->name);
		rc = text_option(m, DAT_OPT_CPUSTAT, head, err);
	}
	for (uint32_t i = 0; i < m->nr_cpus && rc == 0; i++) {
		char stats[STATS_CAP], text[STATS_CAP + 32];

		if (read_stats(m->fs, b->instance, m->cpus[i], stats, sizeof(stats)) < 0)
			continue;
		snprintf(text, sizeof(text), "CPU: %u\n%s", m->cpus[i], stats);
		rc = text_option(m, DAT_OPT_CPUSTAT, text, err);
	}
	return rc;
}

/*
 * The tasks whose events a buffer does not record, as the kernel has them now: one pid in a line.
 */
static void put_hidden(const struct meta *m, const struct setup_buffer *b, struct buf *to)
{
	struct buf pids;

	buf_init(&pids, PIDS_LIMIT);
	if (tracefs_read(m->fs, b->instance, "set_event_notrace_pid", &pids, NULL) == 0)
		for (const char *at = buf_str(&pids); *at >= '0' && *at <= '9';) {
			const size_t len = strcspn(at, "\n");

			buf_printf(to, "%s\t%.*s\n", b->name, (int)len, at);
			at += len + (at[len] == '\n');
		}
	buf_free(&pids);
}

/* Adds the hidden tasks. The recorder's threads are among them, and exist only while it runs. */
static int add_hidden(struct meta *m, struct spur_error *err)
{
	const char version[] = "1\n";
	struct buf text;
	int rc = 0;

	buf_init(&text, PIDS_LIMIT);
	buf_puts(&text, version);
	for (size_t i = 0; i < m->setup->nr_buffers; i++)
		if (m->setup->buffers[i].instance)
			put_hidden(m, &m->setup->buffers[i], &text);
	if (text.len > strlen(version))
		rc = text_option(m, DAT_OPT_HIDDEN, buf_str(&text), err);
	buf_free(&text);
	return rc;
}

int meta_last_options(struct meta *m, struct spur_error *err)
{
	int rc = add_hidden(m, err);

	for (size_t i = 0; i < m->setup->nr_buffers && rc == 0; i++)
		if (m->setup->buffers[i].instance)
			rc = add_stats(m, &m->setup->buffers[i], err);
	if (rc == 0 && m->opt.maps && m->opt.maps->n) {
		struct buf text;

		buf_init(&text, MAPS_LIMIT);
		maps_put(m->opt.maps, &text);
		rc = text_option(m, DAT_OPT_PROCMAPS, buf_str(&text), err);
		buf_free(&text);
	}
	return rc;
}

/* The number after a word of the statistics. */
static uint64_t stat_number(const char *stats, const char *word)
{
	const char *at = strstr(stats, word);

	return at ? strtoull(at + strlen(word), NULL, 10) : 0;
}

bool meta_stat(const struct tracefs *fs, const char *instance, uint32_t cpu, const char *word,
	       uint64_t *value)
{
	char stats[STATS_CAP];

	if (read_stats(fs, instance, cpu, stats, sizeof(stats)) < 0 || !strstr(stats, word))
		return false;
	*value = stat_number(stats, word);
	return true;
}

int meta_lost(const struct meta *m, uint64_t *lost)
{
	*lost = 0;
	for (size_t i = 0; i < m->setup->nr_buffers; i++)
		for (uint32_t k = 0; k < m->nr_cpus && m->setup->buffers[i].instance; k++) {
			char stats[STATS_CAP];
			int rc = read_stats(m->fs, m->setup->buffers[i].instance, m->cpus[k], stats,
					    sizeof(stats));

			if (rc < 0)
				return rc;
			/*
			 * "commit overrun" ends in the same word, so the newline before it counts.
			 */
			*lost += stat_number(stats, "\noverrun: ") +
				 stat_number(stats, "\ndropped events: ") +
				 stat_number(stats, "\ncommit overrun: ");
		}
	return 0;
}

/* "SECONDS.MICROSECONDS" for a clock that counts nanoseconds, else a plain number. */
static uint64_t stat_time(const char *stats, const char *word)
{
	const char *at = strstr(stats, word);
	char *end;
	uint64_t ts = at ? strtoull(at + strlen(word), &end, 10) : 0;

	return at && *end == '.' ? ts * 1000000000 + strtoull(end + 1, NULL, 10) * 1000 : ts;
}

uint64_t meta_oldest(const struct meta *m)
{
	uint64_t oldest = UINT64_MAX;

	for (size_t i = 0; i < m->setup->nr_buffers; i++)
		for (uint32_t k = 0; k < m->nr_cpus && m->setup->buffers[i].instance; k++) {
			char stats[STATS_CAP];
			uint64_t ts;

			if (read_stats(m->fs, m->setup->buffers[i].instance, m->cpus[k], stats,
				       sizeof(stats)) < 0 ||
			    !stat_number(stats, "entries: "))
				continue;
			ts = stat_time(stats, "oldest event ts: ");
			oldest = ts < oldest ? ts : oldest;
		}
	return oldest;
}

/* ---- CPUs and buffers ---- */

static int find_cpus(struct meta *m, const struct dat_tracing *t, struct spur_error *err)
{
	int rc = dat_tracing_cpus(t, &m->cpus, &m->nr_cpus, err);

	if (rc == 0 && !m->nr_cpus)
		rc = error_set(err, -ENODEV, "the kernel has no ring buffer of any CPU");
	return rc;
}

static int describe_buffer(struct meta *m, const struct setup_buffer *sb, struct dat_out_buffer *b,
			   struct spur_error *err)
{
	const char *instance = sb->instance ? sb->instance : "";
	char clock[64];
	int64_t kb;
	int rc = tracefs_read_choice(m->fs, instance, "trace_clock", clock, sizeof(clock), err);

	if (rc < 0)
		return rc;
	b->name = sb->name;
	b->clock = arena_strdup(&m->arena, clock);
	b->cpus = m->cpus;
	b->nr_cpus = m->nr_cpus;
	b->page_size = m->contents.page_size;
	if (tracefs_read_number(m->fs, instance, "buffer_subbuf_size_kb", &kb, NULL) == 0 &&
	    kb > 0 && kb <= 1 << 20)
		b->page_size = (uint32_t)kb << 10;
	return b->clock ? 0 : meta_no_memory(err);
}

static int describe_buffers(struct meta *m, struct spur_error *err)
{
	struct dat_out_buffer *buffers =
		arena_array(&m->arena, m->setup->nr_buffers, sizeof(*buffers));

	if (!buffers)
		return meta_no_memory(err);
	for (size_t i = 0; i < m->setup->nr_buffers; i++) {
		int rc = describe_buffer(m, &m->setup->buffers[i], &buffers[i], err);

		if (rc < 0)
			return rc;
	}
	m->contents.buffers = buffers;
	m->contents.nr_buffers = m->setup->nr_buffers;
	/* The page size of the file is that of its first buffer; other programs use it. */
	m->contents.page_size = buffers[0].page_size;
	return 0;
}

/* ---- all of it ---- */

static int gather(struct meta *m, struct spur_error *err)
{
	struct dat_contents *c = &m->contents;
	const struct dat_tracing t = {.path = m->fs->path, .arena = &m->arena};
	int rc = find_cpus(m, &t, err);

	c->nr_cpus = m->nr_cpus ? m->cpus[m->nr_cpus - 1] + 1 : 0;
	if (rc == 0)
		rc = dat_tracing_headers(&t, c, err);
	if (rc == 0)
		rc = meta_formats(m, err);
	if (rc == 0)
		rc = meta_symbols(m, err);
	if (rc == 0)
		rc = dat_tracing_optional(&t, "printk_formats", &c->printk, err);
	if (rc == 0)
		rc = describe_buffers(m, err);
	if (rc == 0)
		rc = meta_first_options(m, err);
	return rc;
}

int meta_begin(struct meta *m, const struct tracefs *fs, const struct setup *setup,
	       struct undo *undo, const struct meta_options *opt, struct spur_error *err)
{
	int rc;

	memset(m, 0, sizeof(*m));
	m->fs = fs;
	m->setup = setup;
	m->undo = undo;
	m->opt = *opt;
	arena_init(&m->arena, META_LIMIT);
	arena_init(&m->last, META_LIMIT);
	m->into = &m->arena;
	buf_init(&m->symbols, META_LIMIT);
	rc = gather(m, err);
	m->nr_lasting = m->options.n;
	return rc;
}

int meta_end(struct meta *m, struct spur_error *err)
{
	int rc;

	/* With several files, each has its own end. */
	arena_free(&m->last);
	arena_init(&m->last, META_LIMIT);
	m->into = &m->last;
	m->options.n = m->nr_lasting;
	rc = meta_last_options(m, err);
	m->contents.options = m->options.at;
	m->contents.nr_options = m->options.n;
	return rc;
}

void meta_free(struct meta *m)
{
	vec_free(&m->options);
	buf_free(&m->symbols);
	arena_free(&m->arena);
	arena_free(&m->last);
}
