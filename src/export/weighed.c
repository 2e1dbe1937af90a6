// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/weighed.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "export/formats.h"
#include "export/pass.h"

const struct export_setting_info weighed_settings[] = {
	{"from", "samples, stacks or calls instead of what there is"},
	{"weight", "count; of calls time or oncpu; offcpu; or a field of the events"},
	{"by", "task or cpu: what is at the root"},
	{"event", "only stacks of this event, system:event"},
	{NULL, NULL},
};

static int wrong(const char *setting, const char *value, struct spur_error *err)
{
	return error_set(err, -EINVAL, "%s=%s is not one of the words it may be", setting, value);
}

static void take_weight(const char *weight, struct flame_wanted *w)
{
	if (strcmp(weight, "offcpu") == 0) {
		w->weight = FLAME_OFF_CPU;
	} else if (!flame_weight_named(weight, &w->weight)) {
		w->weight = FLAME_FIELD;
		w->field = weight;
	}
}

static int take_settings(const struct export_job *job, struct flame_wanted *w,
			 struct pattern *event, struct spur_error *err)
{
	const char *from = export_setting(job, "from"), *weight = export_setting(job, "weight");
	const char *by = export_setting(job, "by"), *name = export_setting(job, "event");

	if (from && !flame_from_named(from, &w->from))
		return wrong("from", from, err);
	if (weight)
		take_weight(weight, w);
	w->by_task = by && strcmp(by, "task") == 0;
	w->by_cpu = by && strcmp(by, "cpu") == 0;
	if (by && !w->by_task && !w->by_cpu)
		return wrong("by", by, err);
	if (w->weight == FLAME_OFF_CPU && !name)
		name = "sched:sched_switch";
	if (!name)
		return 0;
	w->events = event;
	w->nr_events = 1;
	return pattern_glob(event, name, strlen(name), err);
}

static void set_unit(struct weighed *p, const struct export_job *job, const struct flame_wanted *w)
{
	const struct spur_trace *t = job->traces[0];
	const bool times =
		(p->from == FLAME_CALLS && w->weight != FLAME_COUNT) || w->weight == FLAME_OFF_CPU;

	p->nanoseconds = times && (!t->nr_buffers || t->buffers[0].nanoseconds);
	if (times)
		p->unit = p->nanoseconds ? "nanoseconds" : "ticks";
	else if (w->weight == FLAME_FIELD)
		p->unit = w->field;
	else
		p->unit = p->from == FLAME_CALLS ? "calls" : "samples";
}

static int read_trace(struct weighed *p, const struct export_job *job, struct spur_trace *t,
		      struct flame_wanted *w, struct spur_error *err)
{
	struct pass_filter filter;
	int rc = pass_options(job, t, &filter, &w->walk, err);

	if (rc == 0)
		rc = flame_read(&p->flame, 0, t, w, &p->from, err);
	pass_filter_done(&filter);
	return rc;
}

int weighed_read(struct weighed *p, const struct export_job *job, struct spur_error *err)
{
	struct flame_wanted w = {0};
	struct pattern event = {0};
	int rc;

	*p = (struct weighed){0};
	rc = flame_init(&p->flame, 0, err);
	if (rc == 0)
		rc = take_settings(job, &w, &event, err);
	for (size_t i = 0; rc == 0 && i < job->nr_traces; i++)
		rc = read_trace(p, job, job->traces[i], &w, err);
	if (w.nr_events)
		pattern_free(&event);
	if (rc == 0)
		rc = flame_finish(&p->flame, err);
	if (rc == 0 && !p->flame.stacks[0])
		rc = export_no_stacks(job, err);
	set_unit(p, job, &w);
	return rc;
}

void weighed_free(struct weighed *p)
{
	flame_free(&p->flame);
}

const char *weighed_title(const struct export_job *job)
{
	const char *path = job->traces[0]->dat->path, *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* ---- folded text ---- */

static int run_folded(const struct export_job *job, struct spur_error *err)
{
	struct weighed p;
	int rc = weighed_read(&p, job, err);

	if (rc == 0)
		flame_folded_put(&p.flame, false, &job->out->buf);
	weighed_free(&p);
	return rc;
}

const struct export_format export_folded = {
	.name = "folded",
	.about = "stacks as text, \"outer;inner 42\": flamegraph.pl, speedscope",
	.suffix = ".folded",
	.kind = EXPORT_STREAM,
	.settings = weighed_settings,
	.run = run_folded,
};
