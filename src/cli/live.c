// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the commands that show or drive the kernel's tracer share: finding it, cleaning up after
 * dead recordings, copying its files, and the buffers that -B, -a and -t name.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/suggest.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "cli/live.h"
#include "record/rescue.h"
#include "tracefs/leftovers.h"

static void report_left(void *arg, const char *instance, const char *file)
{
	cli_error("%s%s%s stays as it is: it was changed after a recording was killed", instance,
		  *instance ? "/" : "", file);
}

static void report_cleaned(const struct leftover *l, const struct rescue_result *res)
{
	if (res->path[0])
		cli_error("cleaned up after process %d, which was killed with its guardian: %llu "
			  "events saved in %s",
			  (int)l->owner.pid, (unsigned long long)res->events, res->path);
	else
		cli_error("cleaned up after process %d, which was killed with its guardian",
			  (int)l->owner.pid);
}

/* Cleans up after one recording; whether nothing of it is left. */
static bool clean_up(struct leftover *l, const struct tracefs *fs, bool drop)
{
	struct rescue *r = rescue_begin(fs, l->note);
	const bool failed = rescue_failed(r);
	struct rescue_result res = {0};
	struct spur_error err = {0};
	bool gone = false;

	if (failed && !drop) {
		rescue_end(r, &res);
		return cli_complain(
			"what process %d recorded until it was killed cannot be saved: %s; 'spur "
			"reset --dead' removes it",
			(int)l->owner.pid, res.err.text);
	}
	gone = leftover_undo(l, fs, report_left, NULL, &err) == 0;
	rescue_end(r, &res);
	if (failed)
		cli_error("what process %d recorded until it was killed is dropped: %s",
			  (int)l->owner.pid, res.err.text);
	else if (res.err.code)
		cli_error("%s", res.err.text);
	if (gone)
		report_cleaned(l, &res);
	else
		cli_error("cleaning up after process %d: %s", (int)l->owner.pid, err.text);
	return gone;
}

static void report_orphan(void *arg, const char *name)
{
	cli_error("removed %s, which a recording that was killed had left without an undo log",
		  name);
}

int live_clean(const struct tracefs *fs, bool drop)
{
	struct leftovers list;
	int status = SPUR_OK;

	if (leftovers_load(fs, &list, NULL) < 0)
		return SPUR_ENVIRONMENT;
	vec_each (l, &list)
		if (!clean_up(l, fs, drop))
			status = SPUR_ENVIRONMENT;
	leftovers_free(&list);
	leftovers_orphans(fs, report_orphan, NULL);
	if (kernelswitch_clean(fs))
		cli_error("bpf_trace_printk, which a script that was killed had left enabled, is "
			  "disabled again");
	return status;
}

#define CHUNK (64u << 10)

int live_open(struct tracefs *fs)
{
	struct spur_error err = {0};

	if (tracefs_find(fs, &err) < 0)
		return cli_fail(&err);
	/* What could not be cleaned up has been reported; the command works all the same. */
	live_clean(fs, false);
	return SPUR_OK;
}

bool live_try(struct tracefs *fs)
{
	if (tracefs_find(fs, NULL) < 0)
		return false;
	live_clean(fs, false);
	return true;
}

bool live_has_instance(const struct tracefs *fs, const char *name)
{
	struct suggest near;
	struct instances list;
	struct spur_error err = {0};
	bool there = false;

	if (!name)
		return true;
	if (instances_load(fs, &list, &err) < 0) {
		there = tracefs_has(fs, name, "trace");
		if (!there)
			cli_fail(&err);
		return there;
	}
	near = suggest_for(name, strlen(name));
	vec_each (other, &list) {
		there |= strcmp(*other, name) == 0;
		suggest_try(&near, *other);
	}
	if (!there)
		cli_error("there is no instance '%s'%s", name,
			  suggest_hint_or(&near, list.n ? "; 'spur list -B' lists them"
							: ", nor any other"));
	instances_free(&list);
	return there;
}

/* ---- copying ---- */

/* Writes whole lines, so that no character is cut in two; the rest stays in the buffer. */
static int put_lines(struct buf *text, bool all)
{
	const char *last = memrchr(text->data, '\n', text->len);
	size_t n = all || !last ? text->len : (size_t)(last + 1 - text->data);
	int rc = cli_write(text->data, n);

	memmove(text->data, text->data + n, text->len - n);
	text->len -= n;
	return rc;
}

static int copy(int fd)
{
	scoped_buf text = buf_new(2 * CHUNK);
	int rc = 0;

	while (rc == 0 && buf_room(&text, CHUNK / 2)) {
		ssize_t n = read(fd, text.data + text.len, CHUNK / 2);

		if (n < 0 && errno == EINTR && !cli_stop)
			continue;
		if (n <= 0) {
			rc = n == 0 || cli_stop ? 0 : -errno;
			break;
		}
		text.len += (size_t)n;
		rc = put_lines(&text, text.len > CHUNK);
	}
	if (rc == 0 && text.len)
		rc = put_lines(&text, true);
	return rc;
}

int live_copy(const struct tracefs *fs, const char *instance, const char *file)
{
	struct spur_error err = {0};
	int fd = tracefs_open(fs, instance, file, O_RDONLY, &err), rc;

	if (fd < 0)
		return cli_fail(&err);
	rc = copy(fd);
	close(fd);
	if (rc == 0 && cli_stop)
		rc = -EINTR;
	return cli_result(rc, file, &err);
}

/* ---- which buffers ---- */

int live_take_buffer(void *options, const struct opt *o, const char *arg)
{
	struct picks *picks = (struct picks *)(void *)((char *)options + o->offset);
	const struct pick p = {.kind = o->letter == 'B'	  ? PICK_ONE
				       : o->letter == 'a' ? PICK_ALL
							  : PICK_TOP,
			       .name = arg};

	return vec_add(picks, &p) ? 0 : -ENOMEM;
}

/* Options about the same buffer add up. */
static bool add_target(struct targets *t, const char *instance, const struct pick *p)
{
	struct target *target = NULL;

	vec_each (other, t)
		if (strcmp(other->instance ? other->instance : "", instance ? instance : "") == 0)
			target = other;
	if (!target)
		target = vec_push(t);
	if (!target)
		return false;
	target->instance = instance;
	if (p->size_kb)
		target->size_kb = p->size_kb;
	target->remove |= p->remove;
	return true;
}

static int add_pick_targets(const struct tracefs *fs, const struct pick *p, struct targets *t)
{
	if (p->kind == PICK_ONE) {
		if (!live_has_instance(fs, p->name))
			return -ENOENT;
		return add_target(t, p->name, p) ? 0 : -ENOMEM;
	}
	if (p->kind == PICK_ALL)
		vec_each (name, &t->instances)
			if (!add_target(t, *name, p))
				return -ENOMEM;
	return 0;
}

static bool add_top(const struct picks *picks, struct targets *t)
{
	vec_each (p, picks)
		if (p->kind == PICK_TOP && !add_target(t, NULL, p))
			return false;
	return picks->n || vec_push(t);
}

int live_targets(struct tracefs *fs, const struct picks *picks, struct targets *out)
{
	const int status = live_open(fs);
	struct spur_error err = {0};
	int rc = 0;

	if (status != SPUR_OK)
		return status;
	memset(out, 0, sizeof(*out));
	if (instances_load(fs, &out->instances, &err) < 0)
		return cli_fail(&err);
	for (size_t i = 0; i < picks->n && rc == 0; i++)
		rc = add_pick_targets(fs, &picks->at[i], out);
	if (rc == 0 && !add_top(picks, out))
		rc = -ENOMEM;
	if (rc == -ENOMEM)
		cli_error("out of memory");
	if (rc < 0)
		live_targets_free(out);
	return rc < 0 ? SPUR_ENVIRONMENT : SPUR_OK;
}

void live_targets_free(struct targets *t)
{
	vec_free(t);
	instances_free(&t->instances);
}
