// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "record/rescue.h"

bool rescue_path(const char *path, char *absolute, size_t cap)
{
	char here[RESCUE_PATH_CAP];
	int n;

	if (*path == '/')
		n = snprintf(absolute, cap, "%s", path);
	else if (getcwd(here, sizeof(here)))
		n = snprintf(absolute, cap, "%s/%s", here, path);
	else
		n = -1;
	return n >= 0 && (size_t)n < cap;
}

/* ---- writing ---- */

static void put_file(struct buf *to, const char *word, const struct rescue_file *f)
{
	if (!f->path[0])
		return;
	buf_printf(to, "%s %llu %llu %s\n", word, (unsigned long long)f->dev,
		   (unsigned long long)f->ino, f->path);
	if (!f->nr_base)
		return;
	buf_puts(to, strcmp(word, "was") == 0 ? "wasbase" : "base");
	for (size_t i = 0; i < f->nr_base; i++)
		buf_printf(to, " %llu", (unsigned long long)f->base[i]);
	buf_putc(to, '\n');
}

void rescue_note_put(const struct rescue_note *n, struct buf *to)
{
	if (n->temp[0])
		buf_printf(to, "temp %s\n", n->temp);
	put_file(to, "file", &n->file);
	put_file(to, "was", &n->was);
	vec_each (instance, &n->streams)
		if (*instance)
			buf_printf(to, "stream %s\n", *instance);
		else
			buf_puts(to, "nostream\n");
	buf_printf(to, "data %s\n", n->data);
	if (n->flight)
		buf_printf(to, "flight %u %s %s\n", n->version, n->compression, n->flight);
	if (n->tracer)
		buf_printf(to, "tracer %s\n", n->tracer);
}

/* ---- reading ---- */

static bool take_path(char *to, const char *value)
{
	return snprintf(to, RESCUE_PATH_CAP, "%s", value) < RESCUE_PATH_CAP;
}

static bool take_file(struct rescue_file *f, char *value)
{
	char *end;

	f->dev = strtoull(value, &end, 10);
	if (*end != ' ')
		return false;
	f->ino = strtoull(end + 1, &end, 10);
	return *end == ' ' && take_path(f->path, end + 1);
}

static bool take_base(struct rescue_file *f, char *value)
{
	size_t cap = 1;

	for (const char *p = value; *p; p++)
		cap += *p == ' ';
	free(f->base);
	f->nr_base = 0;
	f->base = calloc(cap, sizeof(*f->base));
	for (char *end; f->base && *value && f->nr_base < cap; value = end) {
		f->base[f->nr_base++] = strtoull(value, &end, 10);
		if (end == value)
			return false;
		end += *end == ' ';
	}
	return f->base != NULL;
}

static bool take_stream(struct rescue_note *n, const char *instance)
{
	const char **slot = vec_push(&n->streams);

	if (slot)
		*slot = instance;
	return slot != NULL;
}

static bool take_flight(struct rescue_note *n, char *value)
{
	char *end, *path;

	n->version = (unsigned int)strtoul(value, &end, 10);
	path = *end == ' ' ? strchr(end + 1, ' ') : NULL;
	if (!path)
		return false;
	*path = '\0';
	n->compression = end + 1;
	n->flight = path + 1;
	return true;
}

static bool take_line(struct rescue_note *n, char *line)
{
	char *value = strchr(line, ' ');

	if (strcmp(line, "nostream") == 0)
		return take_stream(n, NULL);
	if (!value)
		return false;
	*value++ = '\0';
	if (strcmp(line, "temp") == 0)
		return take_path(n->temp, value);
	if (strcmp(line, "file") == 0)
		return take_file(&n->file, value);
	if (strcmp(line, "was") == 0)
		return take_file(&n->was, value);
	if (strcmp(line, "base") == 0)
		return take_base(&n->file, value);
	if (strcmp(line, "wasbase") == 0)
		return take_base(&n->was, value);
	if (strcmp(line, "stream") == 0)
		return take_stream(n, value);
	if (strcmp(line, "flight") == 0)
		return take_flight(n, value);
	if (strcmp(line, "data") == 0)
		n->data = value;
	if (strcmp(line, "tracer") == 0)
		n->tracer = value;
	return true;
}

bool rescue_note_parse(struct rescue_note *n, const char *text)
{
	bool good = true;

	*n = (struct rescue_note){.data = "trace_pipe_raw", .text = strdup(text)};
	for (char *line = n->text, *next; line && *line && good; line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		good = take_line(n, line);
	}
	return good && n->streams.n;
}

void rescue_note_free(struct rescue_note *n)
{
	vec_free(&n->streams);
	free(n->file.base);
	free(n->was.base);
	free(n->text);
	*n = (struct rescue_note){0};
}
