// SPDX-License-Identifier: GPL-2.0-or-later
#include "tracefs/state.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

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

bool state_event_text(const struct tracefs *fs, const char *instance, const struct tracefs_event *e,
		      const char *file, struct buf *text)
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

/* Beside the directories of the systems there are files. */
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
		/* The highest digit may stand for fewer than four CPUs, and groups have 32. */
		unsigned int bits = left % 4 ? left % 4 : 4;

		buf_hex(mask, (1u << bits) - 1);
		left -= bits;
		if (left && left % 32 == 0)
			buf_putc(mask, ',');
	}
	buf_str(mask);
}
