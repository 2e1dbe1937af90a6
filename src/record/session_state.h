/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/record: the state of a session, and the steps that its files share. */
#ifndef RECORD_SESSION_STATE_H
#define RECORD_SESSION_STATE_H

#include "base/newfile.h"
#include "record/command.h"
#include "record/rescue.h"
#include "record/session.h"
#include "record/taskinfo.h"

#define SESSION_NAME_CAP 64
#define SESSION_PATH_CAP 4096

struct session {
	const struct tracefs *fs;
	const struct request *req;
	const struct session_options *opt;
	struct session_result *res;
	struct undo *undo;
	struct setup setup;
	struct meta meta;
	struct maps maps;
	struct taskinfo *tasks;
	bool tasks_full; /* the file has no room for more of what is known of them */
	struct command_run command;
	struct recorder *rec;
	struct watch *watch; /* or NULL */
	struct dat_out *out;
	struct newfile file;	       /* out's name, which it does not have yet */
	char name[SESSION_NAME_CAP];   /* of the private instance */
	char path[SESSION_PATH_CAP];   /* of the file being written */
	char place[SESSION_PATH_CAP];  /* the same, absolute; "": it has no name yet */
	char folder[SESSION_PATH_CAP]; /* of the output, absolute */
	char output[SESSION_PATH_CAP]; /* instead of the option's, when the folder is gone */
	struct spur_error misplaced;   /* why the output is not where it should be */
	bool watching;		       /* notify tells what happens to the file */
	int notify, notify_wd;
	uint64_t lost_since;		  /* when the file was seen to be gone; 0: it is not */
	char previous[SESSION_PATH_CAP];  /* -m: of the file before this one */
	uint64_t file_number;		  /* of rotation and flights */
	uint64_t file_bytes, file_begin;  /* moved, and the time, when it was begun */
	uint64_t begin, end;		  /* when tracing was turned on and off, 0: not yet */
	uint64_t done_bytes, done_events; /* of recorders that are gone */
	struct rescue_file trail[2];	  /* the file being written, and the one before */
	bool unwritten; /* data of the recorder could not be written to the file */

	/*
	 * A session without a recorder: called by session_wait() that often, and when wake_fd is
	 * readable. 0 to go on, 1 to end, or a negative errno.
	 */
	int (*round)(struct session *s, struct spur_error *err);
	uint64_t period; /* ns */
	int wake_fd;
};

/*
 * The order of a session. Begin: guardian, command, settings, description of the trace; nothing
 * runs yet. Hide: leaves out what this process does, all of whose threads there are now. Run:
 * turns everything on, waits until it has to end, turns it off. Clean up, in any case: the
 * settings go back; it gives *rc, or what went wrong now.
 */
int session_begin(struct session *s, struct spur_error *err);
int session_hide(struct session *s, struct spur_error *err);
int session_run(struct session *s, struct spur_error *err);
void session_clean_up(struct session *s, int *rc, struct spur_error *err);

/* Begins to learn who is who; watch: also of tasks that begin or change later. */
int session_taskinfo(struct session *s, bool watch, struct spur_error *err);

/* Nanoseconds of the monotonic clock. */
uint64_t session_now(void);

/* The name of the next file, and the file itself. */
int session_open_file(struct session *s, struct spur_error *err);

/* How the files of this session are written. */
struct dat_out_options session_file_options(const struct session *s);

/*
 * A file that is deleted, replaced or renamed while it is recorded is saved elsewhere, and the
 * session's result is -ENODATA. Find: where the output is to be, before anything is recorded.
 * Watch: has session_wait() wake up when something happens to the file that is open. Check: looks
 * what has happened to it; or to one that has been finished, whose descriptor it closes. Move:
 * chooses another place for the next files if the folder is gone; false when it is not.
 */
int session_find_folder(struct session *s, struct spur_error *err);
void session_watch_file(struct session *s);
void session_unwatch_file(struct session *s);
void session_check_file(struct session *s);
void session_check_closed(struct session *s, int fd);
bool session_move_output(struct session *s);

static inline const char *session_output(const struct session *s)
{
	return s->output[0] ? s->output : s->opt->output;
}

/* Gives the file its name. */
int session_name_file(struct session *s, struct spur_error *err);

/* Notes what a guardian needs to know to save the recording: see rescue.h. */
int session_note(struct session *s, struct spur_error *err);

/* Another file follows, which has been created; and it is being written now. */
void session_trail_next(struct session *s, int fd);
void session_trail_switched(void *session);

/* The file being written has another name, or goes on as a copy with that name. */
void session_trail_moved(struct session *s, const char *path);

/* Where the file being written is now, and what its streams have given so far. */
void session_trail_read(struct session *s, struct rescue_file *to);

/* The text of a tracer takes the place of the first buffer's data. */
int session_take_text(struct session *s, struct buf *text, struct spur_error *err);

/* Reads what happened to tasks; the file has it too, should this process die. */
void session_save_tasks(struct session *s);

/* Gathers what is known at the end and finishes the file. */
int session_close_file(struct session *s, struct spur_error *err);

/* Removes the file: nothing was recorded. */
void session_drop_file(struct session *s);

/* Makes one file of the last two, of which each has half of what is kept. */
int session_join(struct session *s, struct spur_error *err);

/* Begins the next file and finishes the one before. */
int session_rotate(struct session *s, struct spur_error *err);

/* Opens the streams of all buffers and starts to move them. */
int session_start_recorder(struct session *s, struct spur_error *err);

/* Moves the rest; -ENODATA when not everything could be written. */
int session_end_recorder(struct session *s, struct spur_error *err);

/* A tracer whose result is a text, not events. */
bool session_is_text(const struct session *s);
bool session_text_tracer(const char *tracer);

/* Writes all that the buffers hold into a file: of a flight, of a tracer with a text. */
int session_save(struct session *s, struct spur_error *err);

/* How far it is, for those who want to know. */
void session_tell(struct session *s, bool ending);

#endif
