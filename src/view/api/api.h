/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a page may ask, by URL: one entry of the table and one function for each question.
 *
 * Answers may be asked for by several threads at once. `stop` is set when no reader
 * waits for the answer any more.
 */
#ifndef VIEW_API_API_H
#define VIEW_API_API_H

#include "base/buf.h"
#include "view/view.h"

struct api_request {
	const char *path;  /* after "/api/" */
	const char *query; /* after '?', or "" */
	const char *body;  /* of a POST; NULL: it is a GET */
	size_t body_len;
	const volatile int *stop; /* never NULL */
};

struct api_answer {
	int status;	  /* of HTTP */
	const char *type; /* of the content; JSON unless said otherwise */
	struct buf body;
};

/* Calls the function that answers; errors become answers, too: {"error": "…"}. */
void api_answer(struct view *v, const struct api_request *q, struct api_answer *a);

/* ---- for the functions that answer ---- */

struct api_question {
	const char *path;
	bool post;
	/*
	 * Fills a->body with JSON (or what a->type says). Not 0: err says what is wrong, and
	 * a->status, or one made of the errno, goes with it.
	 */
	int (*answer)(struct view *v, const struct api_request *q, struct api_answer *a,
		      struct spur_error *err);
};

/* A parameter of the query; false: it is not there. Text is decoded (%XX, +) into out. */
bool api_text(const struct api_request *q, const char *name, struct buf *out);
/* 0, -ENOENT: it is not there (out is left alone), -EINVAL: no number; err says so. */
int api_number(const struct api_request *q, const char *name, uint64_t *out,
	       struct spur_error *err);
struct api_rows {
	uint32_t *at;
	size_t n, cap;
};
/* "1,5-9": numbers of rows, sorted, each once; those that do not exist are left out. */
int api_row_list(struct view *v, const char *text, struct api_rows *out, struct spur_error *err);

int api_parse_rows(const char *text, uint32_t nr, struct api_rows *out, struct spur_error *err);
void api_rows_free(struct api_rows *rows);

/* The same of a POST's body, which is a JSON object. Text: false when it is not there. */
bool api_body_text(const struct api_request *q, const char *name, struct buf *out);
/* 0, -ENOENT: it is not there, -EINVAL: it is something else; err says so. */
int api_body_string(const struct api_request *q, const char *name, struct buf *out,
		    struct spur_error *err);
int api_body_number(const struct api_request *q, const char *name, uint64_t *out,
		    struct spur_error *err);
int api_body_rows(struct view *v, const struct api_request *q, const char *name,
		  struct api_rows *out, struct spur_error *err);

/* Appends ,"name": and the text as a JSON string; without the comma after a '{' or '['. */
void api_put_text(struct buf *b, const char *name, const char *text);
void api_put_number(struct buf *b, const char *name, uint64_t number);

/* The questions of each file, up to one without a path. */
extern const struct api_question api_picture[];	   /* trace, rows, names, tiles */
extern const struct api_question api_records[];	   /* events, ordinal, event */
extern const struct api_question api_interval[];   /* slice, chain, why */
extern const struct api_question api_search[];	   /* search, hits, hit */
extern const struct api_question api_statistics[]; /* sum, hist, flame */
extern const struct api_question api_sql[];	   /* sql, schemas */
extern const struct api_question api_record[];	   /* record/… */

/*
 * ---- saved.c: a page to keep ----
 *
 * It is one file with the page of `spur view`, and in place of a server as much of its
 * answers as a limit allows. web/embedded.js reads it.
 */

struct saved_options {
	uint64_t since, until; /* relative to the view's origin: of this time there are details */
	uint64_t most;	       /* bytes */
	bool processes;	       /* tasks are grouped by process at first */
	const volatile int *stop;
};

/*
 * Of a view that is complete. 0, -EFBIG: not even what is needed fits, -EINTR: *stop was set, or
 * -ENOMEM, with words.
 */
int saved_page(struct view *v, const struct saved_options *o, struct buf *out,
	       struct spur_error *err);

/*
 * The page without data, as tools/inline-page makes it of web/: what comes before the data and
 * after it.
 */
extern const unsigned char saved_before[], saved_behind[];
extern const size_t saved_before_size, saved_behind_size;

#endif
