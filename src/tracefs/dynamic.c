// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Dynamic events, as the file of that name lists them:
 *
 *	p:kprobes/NAME FUNCTION+0 …       r16:kprobes/NAME FUNCTION+0 …
 *	p:uprobes/NAME /PATH:0xOFFSET …   r:uprobes/NAME /PATH:0xOFFSET …
 *	e:eprobes/NAME SYSTEM.EVENT …     s:synthetic/NAME TYPE FIELD; …
 *	f:fprobes/NAME FUNCTION …         t:tracepoints/NAME TRACEPOINT …      u:NAME …
 */
#include "tracefs/dynamic.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"

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

/* Removes what can be removed of a list, and takes that out of it. */
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
	/* One that another is made of goes only after that one. */
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
