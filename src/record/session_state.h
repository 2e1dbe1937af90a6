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
	bool tasks_full; /* the file has no space for more data about tasks */
	struct command_run command;
	struct recorder *rec;
	struct watch *watch; /* or NULL */
	struct dat_out *out;
	struct newfile file;	       /* the name that `out` will get */
	char name[SESSION_NAME_CAP];   /* of the private instance */
	char path[SESSION_PATH_CAP];   /* of the file being written */
	char place[SESSION_PATH_CAP];  /* the same, absolute; "": the file has no name yet */
	char folder[SESSION_PATH_CAP]; /* of the output, absolute */
	char output[SESSION_PATH_CAP]; /* instead of the option's, if its folder was removed */
	struct spur_error misplaced;   /* why the output is at another place */
	bool watching;		       /* `notify` reports changes of the file */
	int notify, notify_wd;
	uint64_t lost_since;		  /* when the file was found missing; 0: it is there */
	bool given_up;			  /* saving it has failed, until it is finished */
	uint64_t *gone;			  /* what was in a file that was overwritten, NULL: none */
	char previous[SESSION_PATH_CAP];  /* -m: of the file before this one */
	uint64_t file_number;		  /* of rotation, -m and flights */
	uint64_t first_number;		  /* the first of them that is this recording's */
	uint64_t file_bytes, file_begin;  /* bytes moved before, and the time, at its begin */
	uint64_t begin, end;		  /* when tracing was turned on and off, 0: not yet */
	uint64_t done_bytes, done_events; /* of recorders that have ended */
	struct rescue_file trail[2];	  /* the file being written, and the one before */
	bool unwritten; /* data of the recorder could not be written to the file */

	/*
	 * For a session without a recorder: session_wait() calls it every `period`, and when
	 * wake_fd is readable. 0 to continue, 1 to end, or a negative errno.
	 */
	int (*round)(struct session *s, struct spur_error *err);
	uint64_t period; /* ns */
	int wake_fd;
};

/*
 * The steps of a session, in order. Begin: guardian, command, settings, metadata; nothing is traced
 * yet. Hide: excludes this process, all of whose threads exist now. Run: turns tracing on, waits
 * until the session has to end, turns tracing off. Clean up, in any case: restores the settings;
 * changes *rc after an error.
 */
int session_begin(struct session *s, struct spur_error *err);
int session_hide(struct session *s, struct spur_error *err);
int session_run(struct session *s, struct spur_error *err);
void session_clean_up(struct session *s, int *rc, struct spur_error *err);

/* Starts collecting names of tasks; watch: also of tasks that begin or change later. */
int session_taskinfo(struct session *s, bool watch, struct spur_error *err);

/* Nanoseconds of the monotonic clock. */
uint64_t session_now(void);

/* The name of the next file, and the file itself. */
int session_open_file(struct session *s, struct spur_error *err);

/* How the files of this session are written. */
struct dat_out_options session_file_options(const struct session *s);

/*
 * A file that is deleted, replaced, overwritten or renamed during the recording is saved
 * elsewhere, and the session's result is -ENODATA. Find: determines the output folder before the
 * recording begins. Watch: makes session_wait() wake up when something happens to the open file.
 * Check: finds out what has happened to it, or to a finished file, whose descriptor it closes.
 * Whole: false if the file was overwritten, so that it must not be finished. Move: chooses
 * another place for the next files if the folder was removed; false if it was not.
 */
int session_find_folder(struct session *s, struct spur_error *err);
void session_watch_file(struct session *s);
void session_unwatch_file(struct session *s);
void session_check_file(struct session *s);
void session_check_closed(struct session *s, int fd);
bool session_file_is_whole(struct session *s);
bool session_move_output(struct session *s);

/*
 * Creates an empty file: NAME.saved, NAME.saved-2, … in the folder of a path or the nearest one in
 * which that is possible; itself: at that path, if there is no file. 0 or a negative errno.
 */
int session_reserve(const char *place, bool itself, char *path);

static inline const char *session_output(const struct session *s)
{
	return s->output[0] ? s->output : s->opt->output;
}

/* Gives the file its name. */
int session_name_file(struct session *s, struct spur_error *err);

/* Writes the note that a guardian needs to save the recording: see rescue.h. */
int session_note(struct session *s, struct spur_error *err);

/* Notes that the next file has been created; and that it is being written now. */
void session_trail_next(struct session *s, int fd);
void session_trail_switched(void *session);

/*
 * Notes that the current file was overwritten and another one is being written now. Counts the
 * events that were lost with it, in s->gone, one number for each stream.
 */
void session_trail_emptied(void *session);

/* Notes that the current file has another name, or is continued by a copy with that name. */
void session_trail_moved(struct session *s, const char *path);

/* Fills in where the current file is, and how many events its streams have delivered so far. */
void session_trail_read(struct session *s, struct rescue_file *to);

/* Reads the text of a tracer, which replaces the first buffer's data. */
int session_take_text(struct session *s, struct buf *text, struct spur_error *err);

/* Reads changes of tasks and writes them to the file, in case this process is killed. */
void session_save_tasks(struct session *s);

/* Collects the metadata of the end and finishes the file. */
int session_close_file(struct session *s, struct spur_error *err);

/* Removes the file, because nothing was recorded. */
void session_drop_file(struct session *s);

/* Joins the last two files (-m), each with up to half of the limit. */
int session_join(struct session *s, struct spur_error *err);

/* Begins the next file and finishes the one before. */
int session_rotate(struct session *s, struct spur_error *err);

/* Opens the streams of all buffers and starts to record. */
int session_start_recorder(struct session *s, struct spur_error *err);

/* Moves the rest; -ENODATA when not everything could be written. */
int session_end_recorder(struct session *s, struct spur_error *err);

/* A tracer whose result is a text, not events. */
bool session_is_text(const struct session *s);
bool session_text_tracer(const char *tracer);

/* Writes the content of the buffers into a file, for a flight or for a tracer with a text. */
int session_save(struct session *s, struct spur_error *err);

/* Reports the status to the caller. */
void session_tell(struct session *s, bool ending);

#endif
