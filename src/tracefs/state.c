// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the settings of a buffer; lists and removes dynamic events. */
#include "tracefs/state.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"

#define PATH_CAP   512
#define TEXT_LIMIT (16u << 20)
#define MAX_CPUS   65536

char state_enabled(const struct tracefs *fs, const char *instance, const char *dir)
{
	char path[PATH_CAP], line[16];

	if (snprintf(path, sizeof(path), "%s/enable", dir) >= (int)sizeof(path) ||
	    tracefs_read_line(fs, instance, path, line, sizeof(line), NULL) < 0)
		return '?';
	/* "1*" is on and has triggers, "0*" has triggers only. */
	return line[0] && strchr("01X", line[0]) ? line[0] : '?';
}

void state_trim(struct buf *text)
{
	size_t from = 0;

	while (text->len && isspace((unsigned char)text->data[text->len - 1]))
		text->len--;
	while (from < text->len && isspace((unsigned char)text->data[from]))
		from++;
	memmove(text->data, text->data + from, text->len - from);
	text->len -= from;
	buf_str(text);
}

/*
 * The text of an event's file, without white space at its ends: false when it cannot be read, or
 * says nothing but "none" or comments.
 */
static bool state_event_text(const struct tracefs *fs, const char *instance,
			     const struct tracefs_event *e, const char *file, struct buf *text)
{
	char path[PATH_CAP];

	buf_reset(text);
	if (snprintf(path, sizeof(path), "events/%s/%s/%s", e->system, e->name, file) >=
		    (int)sizeof(path) ||
	    tracefs_read(fs, instance, path, text, NULL) < 0)
		return false;
	state_trim(text);
	return text->len && text->data[0] != '#' && strcmp(text->data, "none") != 0;
}

int state_each_event(const struct tracefs *fs, const char *instance, const char *file,
		     int (*found)(void *arg, const struct tracefs_event *e, const char *text),
		     void *arg, struct spur_error *err)
{
	struct tracefs_events list;
	struct buf text;
	int rc = tracefs_events_load(fs, instance, &list, err);

	if (rc < 0)
		return rc;
	buf_init(&text, TEXT_LIMIT);
	for (size_t i = 0; i < list.n && rc == 0; i++)
		if (state_event_text(fs, instance, &list.at[i], file, &text))
			rc = found(arg, &list.at[i], text.data);
	buf_free(&text);
	tracefs_events_free(&list);
	return rc;
}

/* ---- systems and options ---- */

struct walk {
	const struct tracefs *fs;
	const char *instance;
	int (*found)(void *arg, const char *name);
	void *arg;
};

/* There are files next to the directories of the systems. */
static int take_system(void *arg, const char *name)
{
	const struct walk *w = arg;
	char path[PATH_CAP];

	if (snprintf(path, sizeof(path), "events/%s/.", name) >= (int)sizeof(path) ||
	    !tracefs_has(w->fs, w->instance, path))
		return 0;
	return w->found(w->arg, name);
}

int state_each_system(const struct tracefs *fs, const char *instance,
		      int (*found)(void *arg, const char *system), void *arg,
		      struct spur_error *err)
{
	struct walk w = {fs, instance, found, arg};

	return tracefs_each(fs, instance, "events", take_system, &w, err);
}

static int take_option(void *arg, const char *name)
{
	const struct walk *w = arg;
	char path[PATH_CAP], option[PATH_CAP];
	int64_t on;

	if (snprintf(path, sizeof(path), "options/%s", name) >= (int)sizeof(path) ||
	    tracefs_read_number(w->fs, w->instance, path, &on, NULL) < 0)
		return 0;
	snprintf(option, sizeof(option), "%s%s", on ? "" : "no", name);
	return w->found(w->arg, option);
}

int state_each_option(const struct tracefs *fs, const char *instance,
		      int (*found)(void *arg, const char *option), void *arg,
		      struct spur_error *err)
{
	struct walk w = {fs, instance, found, arg};

	return tracefs_each(fs, instance, "options", take_option, &w, err);
}

/* ---- CPUs ---- */

static int take_cpu(void *arg, const char *name)
{
	unsigned int *nr = arg, cpu;

	if (sscanf(name, "cpu%u", &cpu) == 1 && cpu < MAX_CPUS && cpu >= *nr)
		*nr = cpu + 1;
	return 0;
}

unsigned int state_nr_cpus(const struct tracefs *fs, const char *instance)
{
	unsigned int nr = 0;

	tracefs_each(fs, instance, "per_cpu", take_cpu, &nr, NULL);
	return nr;
}

bool state_mask_has_all(const char *mask, unsigned int n)
{
	for (size_t i = strlen(mask); i > 0 && n; i--) {
		const char digit[2] = {mask[i - 1]};
		unsigned int bits = n < 4 ? n : 4, want = (1u << bits) - 1;

		if (digit[0] == ',')
			continue;
		if ((strtoul(digit, NULL, 16) & want) != want)
			return false;
		n -= bits;
	}
	return n == 0;
}

void state_mask_of_all(unsigned int n, struct buf *mask)
{
	for (unsigned int left = n; left;) {
		/* The highest digit may have fewer than four CPUs; a group has 32. */
		unsigned int bits = left % 4 ? left % 4 : 4;

		buf_hex(mask, (1u << bits) - 1);
		left -= bits;
		if (left && left % 32 == 0)
			buf_putc(mask, ',');
	}
	buf_str(mask);
}

/*
 * Dynamic events, as the file of that name lists them:
 *
 *	p:kprobes/NAME FUNCTION+0 …       r16:kprobes/NAME FUNCTION+0 …
 *	p:uprobes/NAME /PATH:0xOFFSET …   r:uprobes/NAME /PATH:0xOFFSET …
 *	e:eprobes/NAME SYSTEM.EVENT …     s:synthetic/NAME TYPE FIELD; …
 *	f:fprobes/NAME FUNCTION …         t:tracepoints/NAME TRACEPOINT …      u:NAME …
 */

#define LIST_FILE  "dynamic_events"
#define LIST_LIMIT (64u << 20)
#define LINE_CAP   512

static const char *const kind_names[DYNAMIC_KINDS] = {
	[DYNAMIC_KPROBE] = "kprobe", [DYNAMIC_KRETPROBE] = "kretprobe",
	[DYNAMIC_UPROBE] = "uprobe", [DYNAMIC_URETPROBE] = "uretprobe",
	[DYNAMIC_EPROBE] = "eprobe", [DYNAMIC_SYNTH] = "synth",
	[DYNAMIC_FPROBE] = "fprobe", [DYNAMIC_FOREIGN] = "foreign",
};

enum dynamic_kind dynamic_kind_named(const char *name)
{
	unsigned int kind = 0;

	while (kind < DYNAMIC_KINDS && strcmp(kind_names[kind], name) != 0)
		kind++;
	return (enum dynamic_kind)kind;
}

static enum dynamic_kind kind_of(char letter, const char *target)
{
	bool path = target[0] == '/';

	switch (letter) {
	case 'p': return path ? DYNAMIC_UPROBE : DYNAMIC_KPROBE;
	case 'r': return path ? DYNAMIC_URETPROBE : DYNAMIC_KRETPROBE;
	case 'e': return DYNAMIC_EPROBE;
	case 's': return DYNAMIC_SYNTH;
	case 'f':
	case 't': return DYNAMIC_FPROBE;
	default: return DYNAMIC_FOREIGN;
	}
}

bool dynamic_parse(char *line, struct dynamic_event *e)
{
	char *colon = strchr(line, ':'), *name = colon ? colon + 1 : NULL;
	char *slash = name ? strchr(name, '/') : NULL;
	char *blank = slash ? strpbrk(slash, " \t") : NULL;

	if (!slash || slash == name || (blank && blank == slash + 1) || !slash[1])
		return false;
	e->kind = kind_of(line[0], blank ? blank + 1 : "");
	e->group = name;
	e->name = slash + 1;
	*slash = '\0';
	if (blank)
		*blank = '\0';
	return true;
}

static int split(struct dynamic_events *list)
{
	for (char *at = list->text, *next; *at; at = next) {
		struct dynamic_event e, *slot;

		next = at + strcspn(at, "\n");
		if (*next)
			*next++ = '\0';
		if (!dynamic_parse(at, &e))
			continue;
		slot = vec_push(list);
		if (!slot)
			return -ENOMEM;
		*slot = e;
	}
	return 0;
}

int dynamic_load(const struct tracefs *fs, struct dynamic_events *list, struct spur_error *err)
{
	struct buf text;
	int rc;

	memset(list, 0, sizeof(*list));
	if (!tracefs_has(fs, NULL, LIST_FILE))
		return 0;
	buf_init(&text, LIST_LIMIT);
	rc = tracefs_read(fs, NULL, LIST_FILE, &text, err);
	if (rc < 0) {
		buf_free(&text);
		return rc;
	}
	list->text = text.data;
	if (split(list) < 0) {
		dynamic_free(list);
		return error_set(err, -ENOMEM, "out of memory for the dynamic events");
	}
	return 0;
}

void dynamic_free(struct dynamic_events *list)
{
	vec_free(list);
	free(list->text);
	list->text = NULL;
}

static int remove_one(const struct tracefs *fs, const struct dynamic_event *e,
		      struct spur_error *err)
{
	char line[LINE_CAP];

	if (snprintf(line, sizeof(line), "-:%s/%s\n", e->group, e->name) >= (int)sizeof(line))
		return error_set(err, -ENAMETOOLONG, "%s/%s: the name is too long", e->group,
				 e->name);
	return tracefs_write(fs, NULL, LIST_FILE, TRACEFS_APPEND, line, err);
}

/* Removes the events of a list that can be removed, also from the list. */
static int remove_some(const struct tracefs *fs, struct dynamic_events *list)
{
	size_t kept = list->n;
	int removed = 0;

	for (size_t i = list->n; i-- > 0;) {
		int rc = remove_one(fs, &list->at[i], NULL);

		if (rc == 0 || rc == -ENOENT) {
			removed += rc == 0;
			memmove(&list->at[i], &list->at[i + 1], (--kept - i) * sizeof(list->at[0]));
		}
	}
	list->n = kept;
	return removed;
}

int dynamic_remove_all(const struct tracefs *fs, unsigned int keep,
		       void (*left)(void *arg, const struct dynamic_event *e,
				    const struct spur_error *why),
		       void *arg, struct spur_error *err)
{
	struct dynamic_events list;
	int rc = dynamic_load(fs, &list, err), removed, all = 0;
	size_t n = 0;

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < list.n; i++)
		if (!(keep & 1u << list.at[i].kind) && list.at[i].kind != DYNAMIC_FOREIGN)
			list.at[n++] = list.at[i];
	list.n = n;
	/* An event that another one uses can only be removed after that one. */
	while (list.n && (removed = remove_some(fs, &list)) > 0)
		all += removed;
	vec_each (e, &list) {
		struct spur_error why = {0};

		rc = remove_one(fs, e, &why);
		if (rc == 0)
			all++;
		else if (rc != -ENOENT)
			left(arg, e, &why);
	}
	dynamic_free(&list);
	return all;
}
