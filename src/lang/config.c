// SPDX-License-Identifier: GPL-2.0-or-later
/* The settings of a script, from its config block and from the environment. */
#include "lang/compile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/error.h"
#include "base/scoped.h"
#include "base/suggest.h"

enum config_kind {
	CONFIG_NUMBER,
	CONFIG_BOOL,
	CONFIG_TEXT,
	CONFIG_STACK_MODE, /* these four are words: an enum, see `choices` */
	CONFIG_MISSING,
	CONFIG_UNSTABLE,
	CONFIG_CACHE,
	CONFIG_LICENSE,
	CONFIG_IGNORED,
	CONFIG_ENVIRONMENT, /* ignored, and scripts cannot set it */
	CONFIG_KINDS
};

#define AT(field) offsetof(struct unit_config, field)
#define NOWHERE	  SIZE_MAX

static const struct config_def {
	const char *name; /* in the block; in the environment BPFTRACE_ and upper case */
	enum config_kind kind;
	size_t at;
	uint64_t least, most;
} settings[] = {
	{"max_strlen", CONFIG_NUMBER, AT(max_strlen), 1, 1u << 20},
	{"strlen", CONFIG_NUMBER, AT(max_strlen), 1, 1u << 20},
	{"max_map_keys", CONFIG_NUMBER, AT(max_map_keys), 1, 1u << 28},
	{"map_keys_max", CONFIG_NUMBER, AT(max_map_keys), 1, 1u << 28},
	{"max_cat_bytes", CONFIG_NUMBER, AT(max_cat_bytes), 0, 1u << 30},
	{"cat_bytes_max", CONFIG_NUMBER, AT(max_cat_bytes), 0, 1u << 30},
	{"max_probes", CONFIG_NUMBER, AT(max_probes), 1, 1u << 20},
	{"perf_rb_pages", CONFIG_NUMBER, AT(perf_rb_pages), 1, 1u << 20},
	{"max_loop_rounds", CONFIG_NUMBER, AT(max_loop_rounds), 1, 8000000},
	{"str_trunc_trailer", CONFIG_TEXT, AT(str_trunc_trailer), 0, 0},
	{"print_maps_on_exit", CONFIG_BOOL, AT(print_maps_on_exit), 0, 0},
	{"cpp_demangle", CONFIG_BOOL, AT(cpp_demangle), 0, 0},
	{"show_debug_info", CONFIG_BOOL, AT(show_debug_info), 0, 0},
	{"license", CONFIG_LICENSE, AT(license), 0, 0},
	{"stack_mode", CONFIG_STACK_MODE, AT(stack_mode), 0, 0},
	{"missing_probes", CONFIG_MISSING, AT(missing_probes), 0, 0},
	/* Without effect: spur has nothing to choose. */
	{"cache_user_symbols", CONFIG_CACHE, NOWHERE, 0, 0},
	{"lazy_symbolication", CONFIG_BOOL, NOWHERE, 0, 0},
	{"log_size", CONFIG_NUMBER, NOWHERE, 0, UINT32_MAX},
	{"max_bpf_progs", CONFIG_NUMBER, NOWHERE, 0, UINT32_MAX},
	{"max_type_res_iterations", CONFIG_IGNORED, 0, 0, 0},
	{"on_stack_limit", CONFIG_NUMBER, NOWHERE, 0, UINT32_MAX},
	{"use_blazesym", CONFIG_IGNORED, 0, 0, 0},
	{"unstable_import", CONFIG_IGNORED, 0, 0, 0},
	{"unstable_import_statement", CONFIG_IGNORED, 0, 0, 0},
	{"unstable_macro", CONFIG_IGNORED, 0, 0, 0},
	{"unstable_map_decl", CONFIG_IGNORED, 0, 0, 0},
	{"unstable_tseries", CONFIG_UNSTABLE, AT(tseries), 0, 0},
	{"unstable_addr", CONFIG_IGNORED, 0, 0, 0},
	{"unstable_dw_ustack", CONFIG_UNSTABLE, AT(dw_ustack), 0, 0},
	{"unstable_typeinfo", CONFIG_IGNORED, 0, 0, 0},
	{"debug_output", CONFIG_ENVIRONMENT, 0, 0, 0},
	{"kernel_source", CONFIG_ENVIRONMENT, 0, 0, 0},
	{"kernel_build", CONFIG_ENVIRONMENT, 0, 0, 0},
	{"btf", CONFIG_ENVIRONMENT, 0, 0, 0},
	{"vmlinux", CONFIG_ENVIRONMENT, 0, 0, 0},
	{"color", CONFIG_IGNORED, 0, 0, 0},
};

#define NR_SETTINGS ARRAY_SIZE(settings)
_Static_assert(NR_SETTINGS <= 64, "unit_config.given has a bit for each");
_Static_assert(sizeof(enum vstack_mode) == sizeof(int), "set() writes enums as int");

/* The words of a setting, in the order of their values. */
static const char *const choices[CONFIG_KINDS][7] = {
	[CONFIG_BOOL] = {"false", "true", "0", "1", "off", "on"},
	[CONFIG_STACK_MODE] = {"bpftrace", "perf", "raw", "build_id"},
	[CONFIG_MISSING] = {"error", "warn", "ignore"},
	[CONFIG_UNSTABLE] = {"enable", "warn", "error"},
	/* The numbers are those of 0.17. */
	[CONFIG_CACHE] = {"PER_PID", "PER_PROGRAM", "NONE", "0", "1"},
};

/* What is wrong with a value, in bpftrace's words. */
static const char *const complaints[CONFIG_KINDS] = {
	[CONFIG_BOOL] = "Invalid bool value: valid values are true, false, 1 or 0.",
	[CONFIG_MISSING] = "Invalid value for missing_probes: valid values are ignore, warn, and "
			   "error.",
	[CONFIG_UNSTABLE] = "Invalid value for unstable config: valid values are enable, warn, and "
			    "error.",
	[CONFIG_CACHE] = "Invalid value for cache_user_symbols: valid values are PER_PID, "
			 "PER_PROGRAM, and NONE.",
};

/* With these the kernel lets programs call every helper. */
static const char *const licenses[] = {
	"Dual MIT/GPL", "Dual BSD/GPL", "Dual MPL/GPL", "GPL and additional rights",
	"GPL v2",	"GPL",		NULL,
};

static int word_of(const char *text, const char *const *words)
{
	for (int i = 0; words[i]; i++)
		if (strcmp(words[i], text) == 0)
			return i;
	return -1;
}

static bool set_number(const struct config_def *d, uint32_t *to, const char *text)
{
	char *end;
	uint64_t v;

	errno = 0;
	v = strtoull(text, &end, 0);
	if (!*text || *end || errno || *text == '-' || v < d->least || v > d->most)
		return false;
	*to = (uint32_t)v;
	return true;
}

static bool set(const struct config_def *d, struct unit *u, const char *text)
{
	int ignored;
	char *at = d->at == NOWHERE ? (char *)&ignored : (char *)&u->config + d->at, *copy;
	const int word = word_of(text, choices[d->kind]);

	switch (d->kind) {
	case CONFIG_NUMBER: return set_number(d, (uint32_t *)(void *)at, text);
	case CONFIG_BOOL: *(bool *)at = word & 1; return word >= 0;
	case CONFIG_STACK_MODE:
	case CONFIG_MISSING:
	case CONFIG_UNSTABLE:
	case CONFIG_CACHE: *(int *)(void *)at = word; return word >= 0;
	case CONFIG_LICENSE:
		if (word_of(text, licenses) < 0)
			return false;
		/* fall through */
	case CONFIG_TEXT:
		copy = arena_strdup(&u->arena, text);
		*(const char **)(void *)at = copy;
		return copy != NULL;
	default: return true;
	}
}

static void put_wrong(const struct config_def *d, const char *text, struct buf *to)
{
	char *end;

	if (complaints[d->kind])
		buf_puts(to, complaints[d->kind]);
	else if (d->kind != CONFIG_NUMBER)
		buf_printf(to, "'%s' is not a value for it", text);
	else if (*text && *text != '-' && (strtoull(text, &end, 0), !*end))
		buf_printf(to, "expecting a number from %llu to %llu, got %s",
			   (unsigned long long)d->least, (unsigned long long)d->most, text);
	else
		buf_printf(to, "expecting a number, got %s", text);
}

/* Removes the prefix that the environment and older scripts have. */
static const char *plain(const char *name)
{
	return strncasecmp(name, "bpftrace_", 9) == 0 ? name + 9 : name;
}

static const struct config_def *find(const char *name)
{
	for (size_t i = 0; i < NR_SETTINGS; i++)
		if (strcasecmp(settings[i].name, plain(name)) == 0)
			return &settings[i];
	return NULL;
}

/* Whether the environment has set it, by this or by another name of the same value. */
static bool decided(const struct config_def *d, const struct unit *u)
{
	for (size_t i = 0; i < NR_SETTINGS; i++)
		if (settings[i].at == d->at && u->config.given & 1ull << i)
			return d->kind != CONFIG_IGNORED && d->at != NOWHERE;
	return false;
}

static int wrong_value(struct source *source, const struct config_item *i,
		       const struct config_def *d)
{
	struct buf why;
	int rc;

	buf_init(&why, 1024);
	put_wrong(d, i->text, &why);
	rc = source_error(source, i->at, "%s: %s", i->name, buf_str(&why));
	buf_free(&why);
	return rc;
}

int config_script(const struct script_ast *ast, struct unit *u)
{
	int rc = 0;

	for (const struct config_item *i = ast->config; i; i = i->next) {
		const struct config_def *d = find(i->name);
		struct suggest s = suggest_for(plain(i->name), strlen(plain(i->name)));

		if (d && d->kind == CONFIG_ENVIRONMENT) {
			rc = source_error(ast->source, i->at,
					  "%s: can only be set as an environment variable",
					  i->name);
			continue;
		}
		/* The environment wins. */
		if (d && (decided(d, u) || set(d, u, i->text)))
			continue;
		if (d && d->kind == CONFIG_LICENSE) {
			rc = source_error(ast->source, i->at,
					  "Invalid value for license. Found: %s. Valid values: "
					  "Dual MIT/GPL, Dual BSD/GPL, Dual MPL/GPL, GPL and "
					  "additional rights, GPL v2, GPL",
					  i->text);
			continue;
		}
		if (d) {
			rc = wrong_value(ast->source, i, d);
			continue;
		}
		rc = source_error(ast->source, i->at, "%s: not a known configuration option",
				  i->name);
		for (size_t k = 0; k < NR_SETTINGS; k++)
			suggest_try(&s, settings[k].name);
		if (suggest_best(&s))
			source_hint(ast->source, "did you mean '%s'?", suggest_best(&s));
	}
	return rc;
}

static int apply(const struct config_def *d, const char *value, struct unit *u,
		 struct spur_error *err)
{
	scoped_buf why = buf_new(1024);

	if (set(d, u, value)) {
		u->config.given |= 1ull << (d - settings);
		return 0;
	}
	put_wrong(d, value, &why);
	return error_set(err, -EINVAL, "%s: %s", d->name, buf_str(&why));
}

int config_option(const char *name, const char *value, struct unit *u, struct spur_error *err)
{
	const struct config_def *d = find(name);

	return d ? apply(d, value, u, err)
		 : error_set(err, -EINVAL, "there is no setting '%s'", name);
}

int config_environment(char *const *environment, struct unit *u, struct spur_error *err)
{
	for (; *environment; environment++) {
		const char *eq = strchr(*environment, '=');
		const struct config_def *d;
		char name[64];

		if (strncmp(*environment, "BPFTRACE_", 9) != 0 || !eq ||
		    (size_t)(eq - *environment) >= sizeof(name))
			continue;
		memcpy(name, *environment, (size_t)(eq - *environment));
		name[eq - *environment] = '\0';
		d = find(name);
		if (d && apply(d, eq + 1, u, err) < 0)
			return -EINVAL;
	}
	return 0;
}
