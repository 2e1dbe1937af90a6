/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names that a trace carries for its numbers: functions (kallsyms), trace_printk() formats, the
 * command names of tasks, and the letters of their states.
 */
#ifndef EVENT_NAMES_H
#define EVENT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <spur/error.h>

/* ---- functions ---- */

struct symbols;

struct symbol {
	uint64_t addr;
	const char *name;   /* NUL-terminated */
	const char *module; /* NUL-terminated, without brackets, or NULL */
	size_t len;	    /* of name */
};

struct symbols *symbols_new(void);
void symbols_free(struct symbols *s);

/*
 * Takes kallsyms text (copied). Several texts may be added. They are parsed at the first look-up,
 * once, under a lock of their own: a trace that shows no function never parses 200 000 symbols.
 * Nothing may be added after the first look-up in a text: -EBUSY.
 */
int symbols_add(struct symbols *s, const char *kallsyms, size_t len);

/* The same without a copy: the text must stay until symbols_free(). */
int symbols_add_ref(struct symbols *s, const char *kallsyms, size_t len);

/*
 * The function that contains addr: the nearest symbol at or below it. NULL below the first symbol
 * and beyond the last one's start, as the end of that one is not known. Thread-safe.
 */
const struct symbol *symbols_find(struct symbols *s, uint64_t addr);

/* The symbol of that name, or NULL; a linear search. Thread-safe. */
const struct symbol *symbols_find_name(struct symbols *s, const char *name);

/* All of them by address, for `report -f`. */
const struct symbol *symbols_all(struct symbols *s, size_t *n);

/* ---- trace_printk formats ---- */

struct printk_formats;

struct printk_format {
	uint64_t addr;
	const char *text; /* without quotes and a final \n; its escapes stand as in the file */
};

struct printk_formats *printk_formats_new(void);
void printk_formats_free(struct printk_formats *p);

/* Takes the text of the printk_formats file: lines `0xADDRESS : "format\n"`. */
int printk_formats_add(struct printk_formats *p, const char *text, size_t len);
const char *printk_format_find(const struct printk_formats *p, uint64_t addr);

/* All of them by address, for `report -P`. */
const struct printk_format *printk_formats_all(const struct printk_formats *p, size_t *n);

/* ---- tasks ---- */

struct comms;

struct comms *comms_new(void);
void comms_free(struct comms *c);

/* Takes the text of saved_cmdlines: lines "PID NAME". */
int comms_add(struct comms *c, const char *text, size_t len);

/* The same of a later moment: names that have changed since replace those known. */
int comms_update(struct comms *c, const char *text, size_t len);

/* Remembers a name; the first one a pid gets stays. 1 when it was new, 0 when not, or -ENOMEM. */
int comms_learn(struct comms *c, int pid, const char *name, size_t len);

/* Gives a task another name than it had. 1 when the task was new, 0 when not, or -ENOMEM. */
int comms_rename(struct comms *c, int pid, const char *name, size_t len);

/* The name of a task: "<idle>" for pid 0, "<...>" for an unknown one. Sets its length. */
const char *comms_find(const struct comms *c, int pid, size_t *len);
bool comms_known(const struct comms *c, int pid);

/* Calls fn for every known task by increasing pid. */
void comms_each(const struct comms *c, void (*fn)(void *arg, int pid, const char *name), void *arg);

/*
 * What one thread learns about tasks while it prints a part of a trace, on top of a table that all
 * threads share and none changes. It also remembers which tasks it did not know, so that parts
 * printed at the same time can be checked against each other afterwards: see overlay_stale().
 */
struct comm_overlay;

struct learned_comm {
	int pid;
	uint32_t len;
	const char *name; /* NUL-terminated; lives as long as the overlay is not reset */
};

/* base may be NULL: nothing is known then. */
struct comm_overlay *overlay_new(const struct comms *base);
void overlay_free(struct comm_overlay *o);

/*
 * The function that is asked for the name of a task that is in no table: it writes one of less than
 * cap bytes and returns true, or returns false. The overlay learns what it returns.
 */
void overlay_ask(struct comm_overlay *o, bool (*ask)(void *arg, int pid, char *name, size_t cap),
		 void *arg);

/* Forgets everything that was learned and asked for. */
void overlay_reset(struct comm_overlay *o);

/* Remembers a name unless the task has one already. True when it was new. */
bool overlay_learn(struct comm_overlay *o, int pid, const char *name, size_t len);

/* As comms_find(), with what was learned. */
const char *overlay_find(struct comm_overlay *o, int pid, size_t *len);

/* Whether a task has a name, which will not change then. */
bool overlay_known(const struct comm_overlay *o, int pid);

/* Tasks that were asked for while they had no name, and tasks that were learned; each once. */
const int *overlay_unknown(const struct comm_overlay *o, size_t *n);
const struct learned_comm *overlay_learned(const struct comm_overlay *o, size_t *n);

/*
 * Would the text printed with `later` have been another one if everything `earlier` has learned
 * had been known from its start? True when later showed a task without a name that earlier knows,
 * or learned another name for it.
 */
bool overlay_stale(const struct comm_overlay *later, const struct comm_overlay *earlier);

/* Learns everything that `from` has learned. False without memory. */
bool overlay_adopt(struct comm_overlay *o, const struct comm_overlay *from);

/* ---- states of tasks, as the print format of sched_switch spells them ---- */

#define NR_TASK_STATES 32

struct task_states {
	char letters[NR_TASK_STATES]; /* of each bit of prev_state, or NUL */
	uint32_t bits;		      /* those that have one */
	uint32_t preempted;	      /* the bit shown as "+"; 0: the kernel does not tell */
};

/*
 * Reads the letters of this kernel: they differ between versions. Without any in the format, those
 * of Linux since 4.14.
 */
void task_states_read(struct task_states *s, const char *print_fmt);

#endif
