/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records as answers: a part of the list of all records, by number, or of the hits of a search; and
 * all data about one record.
 *
 * The text of a record is what `spur report` prints. It may depend on earlier records that have not
 * been read yet. Then `settled` is false, and a later request may return another text.
 */
#ifndef VIEW_ANSWERS_RECORDS_H
#define VIEW_ANSWERS_RECORDS_H

#include "base/vec.h"
#include "view/answers/answers.h"

#define VIEW_MOST_RECORDS 1000 /* in an answer */

struct event;
struct event_field;

/* A record as the list shows it. */
struct view_record {
	uint64_t n;    /* its number, … */
	bool numbered; /* … if that is known */
	int64_t ts;    /* relative to the view's origin */
	uint32_t cpu, file;
	uint32_t buffer; /* among those of all files */
	int64_t row;	 /* of its task, -1: none */
	int pid;
	const struct event *event; /* NULL: the trace does not describe it */
	int64_t type;		   /* its number in the view, -1 */
	int64_t lost;		   /* as of struct spur_record */
	bool folded;		   /* it is shown with the one before it */
	uint64_t hit;		   /* its number among the hits of the search */
	struct view_text comm, text;
};

enum view_field_kind { VIEW_FIELD_OTHER, VIEW_FIELD_NUMBER, VIEW_FIELD_TEXT };

struct view_field {
	const struct event_field *field;
	enum view_field_kind kind;
	bool is_signed; /* of a number */
	uint64_t number;
	struct view_text text; /* what the number means, or the text */
};

struct view_stack {
	const char *kind; /* "kernel", "user" */
	size_t first, nr; /* frames, the innermost first */
};

/* Further data about a record, which the list does not show. */
struct view_details {
	const char *system; /* of its event, or "" */
	vec_of(struct view_field) fields;
	unsigned int flags; /* in which context it was written; see view_contexts */
	unsigned int preempt_count;
	vec_of(struct view_stack) stacks;
	vec_of(struct view_text) frames;
};

struct view_records {
	vec_of(struct view_record) list;
	vec_of(struct view_details) details; /* of each record, if requested */
	struct buf texts;		     /* of all; see view_text() */
	bool settled;
	bool failed; /* without memory */
};

struct view_records_options {
	uint64_t at, n;		    /* of the list of all, or of the hits */
	struct view_search *search; /* NULL: all */
	bool details;		    /* not of hits */
	const volatile int *stop;
};

/* 0 or a negative errno with words; view_records_free() is due in any case. */
int view_records_read(struct view *v, const struct view_records_options *o,
		      struct view_records *out, struct spur_error *err);
/* One record, with details. -ENOENT: there is none. */
int view_record_read(struct view *v, uint64_t n, const volatile int *stop, struct view_records *out,
		     struct spur_error *err);
void view_records_free(struct view_records *r);

/* What flags of a context mean, up to one without words. */
struct view_context {
	unsigned int flag;
	const char *words;
};
extern const struct view_context view_contexts[];

#endif
