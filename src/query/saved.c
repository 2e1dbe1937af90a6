// SPDX-License-Identifier: GPL-2.0-or-later
/* Saved queries: files of SQL with a comment that says what they are for. */
#include "query/saved.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

static bool good_name(const char *name)
{
	return *name && !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					   "0123456789_-")];
}

/* The file of a query; of "", the folder. */
static bool own_path(const struct saved_kind *k, const char *name, struct buf *path)
{
	char file[300];

	snprintf(file, sizeof(file), "%s/%.250s%s", k->folder, name, *name ? ".sql" : "");
	return file_of_user("XDG_CONFIG_HOME", ".config", file, path);
}

const struct saved_query *saved_shipped(const struct saved_kind *k, const char *name)
{
	for (const struct saved_query *q = k->shipped; q->name; q++)
		if (strcmp(q->name, name) == 0)
			return q;
	return NULL;
}

void saved_own(const struct saved_kind *k, void (*fn)(void *arg, const char *name), void *arg)
{
	struct buf path;
	struct dirent **list = NULL;
	int n = 0;

	buf_init(&path, 4096);
	if (own_path(k, "", &path))
		n = scandir(path.data, &list, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		char *end = strrchr(list[i]->d_name, '.');

		if (end && strcmp(end, ".sql") == 0) {
			*end = '\0';
			if (good_name(list[i]->d_name))
				fn(arg, list[i]->d_name);
		}
		free(list[i]);
	}
	free(list);
	buf_free(&path);
}

int saved_read(const struct saved_kind *k, const char *name, struct buf *text,
	       struct spur_error *err)
{
	const struct saved_query *shipped = saved_shipped(k, name);
	struct buf path;
	bool own;
	int rc = 0;

	buf_init(&path, 4096);
	own = good_name(name) && own_path(k, name, &path) && access(path.data, F_OK) == 0;
	if (own)
		rc = file_read(path.data, text, err);
	else if (shipped)
		buf_puts(text, shipped->text);
	else
		rc = -ENOENT;
	buf_str(text);
	buf_free(&path);
	return rc;
}

const char *saved_summary(const char *name, const char *text, size_t *len)
{
	const size_t own = strlen(name);

	if (strncmp(text, "--", 2) != 0)
		text = "";
	text += strspn(text, "- ");
	if (strncmp(text, name, own) == 0 && text[own] == ':')
		text += own + 1;
	text += strspn(text, " ");
	*len = strcspn(text, "\r\n");
	if (*len && text[*len - 1] == '.')
		--*len;
	return text;
}
