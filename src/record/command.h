/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The recorded command: forked early, but it waits until everything is ready. */
#ifndef RECORD_COMMAND_H
#define RECORD_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>

#include <spur/error.h>

struct command_run {
	const char *name;
	pid_t pid; /* 0: there is none */
	int go;	   /* writing to it makes the command execute its program */
	int said;  /* has the error if the program cannot be executed */
	int pidfd; /* readable when it has ended; -1: the kernel has no pidfds */
	bool ended;
	int status; /* as from waitpid() */
	/* Set by command_watch(). */
	void (*at_exit)(void *arg, pid_t pid);
	void *arg;
};

/* Forks, so there must be no threads yet. user may be NULL. */
int command_hold(struct command_run *c, char *const *argv, const char *user,
		 struct spur_error *err);

/*
 * Makes command_ended() call at_exit() when the process is about to end and /proc still shows it.
 * To be called before command_go().
 */
int command_watch(struct command_run *c, void (*at_exit)(void *arg, pid_t pid), void *arg,
		  struct spur_error *err);

/* Makes it execute its program; fails if that is impossible. */
int command_go(struct command_run *c, struct spur_error *err);

/* Whether it has ended; does not wait. */
bool command_ended(struct command_run *c);

/* Sends it a signal, if it still runs. */
void command_signal(const struct command_run *c, int sig);

/* Ends it if it still waits, and closes everything. */
void command_close(struct command_run *c);

#endif
