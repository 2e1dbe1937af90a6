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

struct word {
	const char *name;
	int value;
};

static const struct word sources[] = {
	{"samples", FLAME_SAMPLES}, {"stacks", FLAME_STACKS}, {"calls", FLAME_CALLS}, {NULL, 0}};
static const struct word weights[] = {{"count", FLAME_COUNT},
				      {"time", FLAME_TIME},
				      {"oncpu", FLAME_ON_CPU},
				      {"offcpu", FLAME_OFF_CPU},
				      {NULL, 0}};
static const struct word roots[] = {{"task", 1}, {"cpu", 2}, {NULL, 0}};

static bool find_word(const struct word *words, const char *name, int *value)
{
	while (words->name && strcmp(words->name, name) != 0)
		words++;
	if (words->name)
		*value = words->value;
	return words->name;
}

static int wrong(const char *setting, const char *value, struct spur_error *err)
{
	return error_set(err, -EINVAL, "%s=%s is not one of the words it may be", setting, value);
}

static int take_settings(const struct export_job *job, struct flame_wanted *w,
			 struct pattern *event, struct spur_error *err)
{
	const char *from = export_setting(job, "from"), *weight = export_setting(job, "weight");
	const char *by = export_setting(job, "by"), *name = export_setting(job, "event");
	int value = 0, root = 0;

	if (from && !find_word(sources, from, &value))
		return wrong("from", from, err);
	w->from = (enum flame_from)value;
	value = FLAME_USUAL;
	if (weight && !find_word(weights, weight, &value)) {
		value = FLAME_FIELD;
		w->field = weight;
	}
	w->weight = (enum flame_weight)value;
	if (by && !find_word(roots, by, &root))
		return wrong("by", by, err);
	w->by_task = root == 1;
	w->by_cpu = root == 2;
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
		rc = error_set(err, -ENODATA,
			       "%s: there are no stacks and no calls in it; 'spur record -T' or "
			       "'-p function_graph' records them",
			       job->traces[0]->dat->path);
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
