// SPDX-License-Identifier: GPL-2.0-or-later
/* What the answers keep for a view, from its first question to its end. */
#include <stdlib.h>

#include "base/vec.h"
#include "event/handler.h"
#include "view/ask_parts.h"

struct ask *ask_new(struct view *v)
{
	struct ask *a = calloc(1, sizeof(*a));
	pthread_condattr_t attr;

	if (!a)
		return NULL;
	a->view = v;
	a->next_search = 1;
	pthread_mutex_init(&a->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&a->news, &attr);
	pthread_condattr_destroy(&attr);
	return a;
}

static void free_history(struct ask_history *h)
{
	vec_each (name, &h->names)
		free(name->name);
	vec_each (c, &h->chains) {
		function_stacks_free(c->printer->stacks);
		free(c->printer);
	}
	vec_free(&h->names);
	vec_free(&h->chains);
}

void ask_free(struct ask *a)
{
	if (!a)
		return;
	a->stop = 1;
	for (size_t i = 0; i < ASK_SEARCHES; i++)
		ask_search_put(a->searches[i]);
	for (size_t i = 0; i < ASK_FILES; i++) {
		if (!a->files[i])
			continue;
		if (a->files[i]->history.started)
			pthread_join(a->files[i]->history.thread, NULL);
		free_history(&a->files[i]->history);
		free(a->files[i]->roles);
		free(a->files[i]);
	}
	pthread_cond_destroy(&a->news);
	pthread_mutex_destroy(&a->lock);
	free(a);
}

struct ask_file *ask_file(struct ask *a, uint32_t number)
{
	struct ask_file *f;

	if (!a || number >= ASK_FILES)
		return NULL;
	pthread_mutex_lock(&a->lock);
	f = a->files[number];
	if (!f) {
		f = a->files[number] = calloc(1, sizeof(*f));
		if (f) {
			f->ask = a;
			f->number = number;
		}
	}
	pthread_mutex_unlock(&a->lock);
	return f;
}
