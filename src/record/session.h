/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording from beginning to end: settings, guardian, file, threads, command, and everything
 * back as it was.
 */
#ifndef RECORD_SESSION_H
#define RECORD_SESSION_H

#include "record/meta.h"
#include "record/recorder.h"
#include "record/request.h"

/* A task that waited too long for its CPU. */
struct watch_hit {
	int pid;
	uint64_t ns; /* between waking and running */
};

/* How far a recording is. */
struct session_status {
	double seconds;
	uint64_t bytes;	 /* of trace data */
	uint64_t events; /* estimated from samples of the data */
	uint64_t lost;
	uint64_t files; /* finished ones */
	bool ending;
};

struct session_options {
	const char *output;
	struct dat_out_options file; /* version and compression */
	struct meta_options meta;
	struct recorder_options recorder;

	char *const *command; /* up to a NULL; NULL: record until told to stop */
	const char *user;     /* who runs it, NULL: the same */
	bool force;	      /* take the top-level buffer even when it is in use */
	bool rescue;	      /* save a file that is deleted meanwhile under another name */
	bool keep;	      /* leave the settings as they are at the end */
	bool maps;	      /* keep what the traced processes have mapped where */

	uint64_t duration; /* ns; 0: no limit */
	struct {
		uint64_t bytes, ns; /* a new file after so many; 0: never */
		uint64_t keep;	    /* files; 0: all */
	} rotate;
	uint64_t limit;	  /* bytes of each CPU that are kept, the last ones; 0: all */
	bool flight;	  /* keep the newest data in the kernel, write them at the end */
	uint64_t latency; /* flight: ns between a wakeup and running that end it; 0: none */

	int stop_fd; /* readable: end the recording */
	int save_fd; /* flight: readable: write a file and go on; -1: none */

	/* Called with what a user should know about the request, before it starts; may be NULL. */
	void (*note)(void *arg, const char *text);
	/* Called once everything runs; may be NULL. */
	void (*started)(void *arg);
	/* Called about twice a second and at the end; may be NULL. */
	void (*status)(void *arg, const struct session_status *s);
	/* Called while a file is finished, if its data have to be moved; may be NULL. */
	void (*progress)(void *arg, uint64_t done, uint64_t total);
	void *arg;
};

struct session_result {
	struct session_status last;
	char file[4096];      /* the last one written, "" for none */
	bool triggered;	      /* flight: it was an event that ended it … */
	struct watch_hit hit; /* … or a task that waited too long, if ns is not 0 */
};

/*
 * Records. 0 also when it was stopped; -ENODATA when the file is good but something is missing (the
 * disk was full) or it is not where it should be; else nothing was recorded.
 */
int session_record(const struct tracefs *fs, const struct request *r,
		   const struct session_options *opt, struct session_result *res,
		   struct spur_error *err);

/* What session_record() would write to tracefs, as commands of a shell. */
int session_show(const struct tracefs *fs, const struct request *r,
		 const struct session_options *opt, struct buf *to, struct spur_error *err);

/* ---- what is in the kernel's buffers now, into a file: `spur extract` ---- */

struct extract_options {
	const char *output;
	struct dat_out_options file;  /* version and compression */
	bool top;		      /* the top-level buffer, … */
	struct string_refs instances; /* … and these */
	bool snapshot;		      /* the buffers' snapshots instead of themselves */
	bool date;		      /* with what is needed to show the time of day */
	const char *tracer; /* one whose result is a text: that instead of events; or NULL */
	struct string_refs options; /* how the text is to look; for the time of reading it */
};

/*
 * Buffers that record are stopped for the time it takes; nothing else is changed. What has been
 * extracted is no longer in the buffers. -ENODATA when the file is good but something is missing.
 */
int extract_run(const struct tracefs *fs, const struct extract_options *opt,
		struct session_result *res, struct spur_error *err);

#endif
