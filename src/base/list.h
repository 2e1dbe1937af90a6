/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A doubly linked list whose links are members of its elements. The head is a link like the others,
 * so an element is removed without special cases at the ends. A link that is in no list points to
 * itself.
 */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
	struct list *prev, *next;
};

static inline void list_init(struct list *l)
{
	l->prev = l->next = l;
}

static inline bool list_empty(const struct list *l)
{
	return l->next == l;
}

/* Removes an element from its list, if it is in one. */
static inline void list_remove(struct list *l)
{
	l->prev->next = l->next;
	l->next->prev = l->prev;
	list_init(l);
}

/* Moves an element to the end of a list, from wherever it is. */
static inline void list_move_last(struct list *l, struct list *head)
{
	l->prev->next = l->next;
	l->next->prev = l->prev;
	l->prev = head->prev;
	l->next = head;
	head->prev->next = l;
	head->prev = l;
}

#define list_entry(link, type, member) ((type *)((char *)(link)-offsetof(type, member)))

#endif
