// SPDX-License-Identifier: GPL-2.0-or-later
/* What tables and columns a database has. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "store/clickhouse/server.h"

struct ch_table_info *ch_table_find(const struct ch_server *s, const char *name)
{
	/* Questions are about the table that was found last, mostly. */
	for (size_t i = s->tables.n; i; i--)
		if (strcmp(s->tables.at[i - 1].name, name) == 0)
			return &s->tables.at[i - 1];
	return NULL;
}

const struct ch_info_column *ch_column_find(const struct ch_table_info *t, const char *name)
{
	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->at[i].name, name) == 0)
			return &t->at[i];
	return NULL;
}

int ch_column_know(struct ch_server *s, const char *table, const char *name, const char *type)
{
	struct ch_table_info *t = ch_table_find(s, table);
	struct ch_info_column *c;

	if (!t) {
		t = vec_push(&s->tables);
		if (!t)
			return -ENOMEM;
		t->name = strdup(table);
		if (!t->name) {
			s->tables.n--;
			return -ENOMEM;
		}
	}
	c = vec_push(t);
	if (!c)
		return -ENOMEM;
	c->name = strdup(name);
	c->type = strdup(type);
	if (c->name && c->type)
		return 0;
	free(c->name);
	free(c->type);
	t->n--;
	return -ENOMEM;
}

void ch_tables_forget(struct ch_server *s)
{
	vec_each (t, &s->tables) {
		for (size_t k = 0; k < t->n; k++) {
			free(t->at[k].name);
			free(t->at[k].type);
		}
		free(t->at);
		free(t->name);
	}
	s->tables.n = 0;
	s->known = false;
}

int ch_tables_load(struct ch_server *s, struct spur_error *err)
{
	char *at, *line;
	int rc;

	if (s->known)
		return 0;
	buf_reset(&s->sql);
	buf_puts(&s->sql, "SELECT table, name, type FROM system.columns WHERE database = ");
	ch_put_string(&s->sql, s->to->database);
	buf_puts(&s->sql, " FORMAT TabSeparated");
	rc = ch_ask(s, err);
	if (rc < 0)
		return rc;
	at = s->answer.body.data;
	while ((line = ch_line(&at))) {
		const char *table = ch_field(&line), *name = ch_field(&line);
		const char *type = ch_field(&line);

		if (!type || line)
			return ch_nonsense(s, err);
		if (ch_column_know(s, table, name, type) < 0)
			return error_set(err, -ENOMEM, "out of memory");
	}
	s->known = true;
	return 0;
}
