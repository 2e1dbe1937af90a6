/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/view: what goes over the broker's socket, one packet for a question and one for
 * its answer, both of this form and not larger.
 */
#ifndef VIEW_SERVE_BROKER_WIRE_H
#define VIEW_SERVE_BROKER_WIRE_H

#include <pthread.h>

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

#endif
