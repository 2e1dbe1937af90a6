/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A script's settings: config = { max_strlen = 64; }, or BPFTRACE_MAX_STRLEN=64 in the environment.
 */
#ifndef LANG_CONFIG_H
#define LANG_CONFIG_H

#include "base/error.h"
#include "lang/ast.h"
#include "code/unit.h"

/* Those of the block; wrong ones are told to the source. */
int config_script(const struct script_ast *ast, struct unit *u);

/* Those of an environment ("NAME=value" up to a NULL); the block's come later and win. */
int config_environment(char *const *environment, struct unit *u, struct spur_error *err);

#endif
