/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command that is recorded: started, but held until everything is ready. */
#ifndef RECORD_COMMAND_H
#define RECORD_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>

#include <spur/error.h>

struct command_run {
	const char *name;
	pid_t pid; /* 0: there is none */
	int go;	   /* writing to it lets the command go */
	int said;  /* what it says when it cannot be executed */
	int pidfd; /* readable at its end, -1: the kernel has no such thing */
	bool ended;
	int status; /* as of waitpid() */
	/* Set by command_watch(). */
	void (*at_exit)(void *arg, pid_t pid);
	void *arg;
};

/* Forks: before there are threads. user may be NULL. */
int command_hold(struct command_run *c, char *const *argv, const char *user,
		 struct spur_error *err);

/*
 * Has at_exit() called, from command_ended(), when the process is about to end and can still be
 * looked at. Before command_go().
 */
int command_watch(struct command_run *c, void (*at_exit)(void *arg, pid_t pid), void *arg,
		  struct spur_error *err);

/* Lets it go on to execute its program; fails when that is not possible. */
int command_go(struct command_run *c, struct spur_error *err);

/* Whether it has ended; does not wait. */
bool command_ended(struct command_run *c);

/* Passes a signal on, if it still runs. */
void command_signal(const struct command_run *c, int sig);

/* Ends it if it was never let go, and closes everything. */
void command_close(struct command_run *c);

#endif
