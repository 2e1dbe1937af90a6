/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/view: what goes over the broker's socket, one packet for a question and one for
 * its answer, both of this form and not larger.
 */
#ifndef VIEW_SERVE_BROKER_WIRE_H
#define VIEW_SERVE_BROKER_WIRE_H

#include <pthread.h>

#include "record/session.h"
#include "view/serve/broker.h"

#define BROKER_TEXT (48u << 10)

enum broker_what { BROKER_EVENTS, BROKER_RECORD, BROKER_STATUS, BROKER_FINISH };

struct broker_question {
	uint32_t number; /* the answer has the same */
	uint32_t what;
	uint32_t seconds;
	uint32_t nr;  /* texts, each with its NUL: events' match, or filter and events */
	uint32_t len; /* bytes of all */
	char text[BROKER_TEXT];
};

struct broker_answer {
	uint32_t number;
	int32_t rc; /* not 0: error.text says why */
	uint32_t len;
	uint64_t total;
	struct spur_error error;
	struct broker_status status;
	char text[BROKER_TEXT];
};

/* The side that asks. */
struct broker {
	int fd;
	pid_t pid;
	pthread_mutex_t lock; /* of what follows, and of the socket */
	int late;	      /* a recording that came after its question had ended; or -1 */
	char late_path[512];
	struct broker_question question;
	struct broker_answer answer;
};

/* The broker itself; returns when the other end is closed. See broker_start(). */
void broker_serve(int fd, uid_t uid, gid_t gid);

/* ---- a recording, in a process of its own ---- */

struct broker_run {
	pid_t pid;  /* 0: none runs */
	int stop;   /* closing it ends the recording */
	int status; /* struct broker_news come from it */
};

struct broker_file {
	int folder;
	const char *name;
};

struct broker_news {
	enum { NEWS_STARTED, NEWS_STATUS, NEWS_ENDED } kind;
	int32_t rc;
	struct session_status status;
	struct spur_error error;
};

/* Records into a file of that name in an open folder. */
int broker_run_start(struct broker_run *run, const struct tracefs *fs, const struct request *req,
		     const struct broker_file *file, uint32_t seconds, struct spur_error *err);
/* The next news; false: there will be none. With ms 0 it does not wait. */
bool broker_run_news(struct broker_run *run, struct broker_news *news, int ms, bool *none);
/* Ends it, and waits for that. */
void broker_run_stop(struct broker_run *run);
void broker_run_close(struct broker_run *run);

#endif
