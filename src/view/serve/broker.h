/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recording for a page: a process that has kept root, and does nothing else.
 *
 * The process that serves reads files of strangers and has no privileges. It asks the broker, over
 * a socket that no other process has, for one of four things: which events there are, to begin, how
 * far it is, to end. The broker takes nothing else, checks every word, and hands the file over
 * open.
 */
#ifndef VIEW_SERVE_BROKER_H
#define VIEW_SERVE_BROKER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <spur/error.h>

#include "base/buf.h"

struct broker;

enum broker_state { BROKER_IDLE, BROKER_RECORDING, BROKER_DONE, BROKER_FAILED };

struct broker_status {
	enum broker_state state;
	double seconds;
	uint64_t events, lost, bytes;
	char path[512]; /* of the last recording that is finished, or "" */
	char error[400];
};

struct broker_options {
	uid_t uid; /* the user that gets finished recordings; 0: they stay root's */
	gid_t gid;
	/* Called in the broker with what this machine cannot restrict in it. */
	void (*note)(void *arg, const char *text);
};

/* Forks it: before there are threads, while the process is root. -EPERM without root. */
int broker_start(const struct broker_options *opt, struct broker **out, struct spur_error *err);
/* Has it end what it does, and waits for it; NULL is fine. */
void broker_end(struct broker *b);

/* Any thread may ask. */

/* Events whose "system:name" has the text in it, or matches it as a glob; some of `total`. */
int broker_events(struct broker *b, const char *match, struct buf *names, uint64_t *total,
		  struct spur_error *err);

struct broker_wish {
	const char *const *events; /* as of `spur record -e` */
	size_t nr;
	const char *filter; /* of all of them, or NULL */
	uint32_t seconds;   /* 0: as long as is permitted */
};
/* Returns when the recording runs. -EBUSY: another one does. */
int broker_record(struct broker *b, const struct broker_wish *wish, struct spur_error *err);

int broker_status(struct broker *b, struct broker_status *out, struct spur_error *err);

/*
 * Ends a recording that still runs. Its file as a descriptor, which is handed out once, and its
 * path. -ENOENT: there is none.
 */
int broker_finish(struct broker *b, char *path, size_t cap, struct spur_error *err);

/*
 * ---- inside, for broker.c and its tests ----
 *
 * What goes over the broker's socket: one packet for a question and one for its answer, both of
 * this form and not larger.
 */

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

#endif
