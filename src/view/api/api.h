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
#include "base/json.h"
#include "view/answers/answers.h"
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
/* The same, but 0 when it is not there; *there (may be NULL) says whether it is. */
int api_optional(const struct api_request *q, const char *name, uint64_t *out, bool *there,
		 struct spur_error *err);

struct api_rows {
	uint32_t *at;
	size_t n, cap;
};
/* "1,5-9": numbers of rows, sorted, each once; those from nr on do not exist and are left out. */
int api_parse_rows(const char *text, uint32_t nr, struct api_rows *out, struct spur_error *err);
/* Those of the parameter "rows"; -ENOENT: it is not there. */
int api_rows(struct view *v, const struct api_request *q, struct api_rows *out,
	     struct spur_error *err);
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

/* A search by its number, to be put back; NULL: there is none (any more), and err says so. */
struct view_search *api_search_get(struct view *v, uint64_t id, struct spur_error *err);
/* -ENOENT, with these words. */
int api_no_search(uint64_t id, struct spur_error *err);

static inline void api_put_text(struct json_writer *w, const char *key, const struct buf *texts,
				struct view_text text)
{
	json_put_bytes(json_key(w, key), view_text(texts, text), text.len);
}

/*
 * ---- picture.c: tiles as bytes ----
 *
 * First the head, then one chunk after the other. api_put_tile() leaves out a tile that is complete
 * and empty, and returns false. api_end_tiles() notes how many chunks there are.
 */
#define API_TILES_HEAD 16 /* bytes */
void api_begin_tiles(struct buf *b, uint64_t generation);
bool api_put_tile(struct buf *b, uint32_t row, uint32_t track, const struct view_tile *t);
void api_end_tiles(struct buf *b, uint32_t chunks);

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
