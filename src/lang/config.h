/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The settings of a script: config = { max_strlen = 64; }, or BPFTRACE_MAX_STRLEN=64 in the
 * environment.
 */
#ifndef LANG_CONFIG_H
#define LANG_CONFIG_H

#include "base/error.h"
#include "lang/ast.h"
#include "code/unit.h"

/* Applies the config block; errors are reported to the source. */
int config_script(const struct script_ast *ast, struct unit *u);

/*
 * Applies an environment ("NAME=value" up to a NULL). It is called before config_script(), and its
 * settings win.
 */
int config_environment(char *const *environment, struct unit *u, struct spur_error *err);

#endif
