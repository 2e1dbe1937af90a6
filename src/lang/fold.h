/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/lang: values that are known when a script is compiled. */
#ifndef LANG_FOLD_H
#define LANG_FOLD_H

#include "lang/ast.h"

/*
 * Called once a node has its type: when what it is made of is constant it becomes so, too. All
 * return 0.
 */
int fold_unary(struct node *n);
int fold_binary(struct node *n);
int fold_cast(struct node *n);

/*
 * Whether an operator takes two numbers for signed: when one is, and the other one is too, or is
 * the same number with a sign. What is constant and not below 0 is as the other one is, and so is
 * what only held such constants.
 */
bool fold_both_signed(const struct node *a, const struct node *b);

/* Whether a constant is a number that the script has written, or is computed from such only. */
bool fold_is_literal(const struct node *n);

/* A parameter of the command line: a number, a text, or 0 when it was not given. */
int fold_param(struct node *n, const char *text, bool given);

/* What a binary operator makes of two numbers; false when it is no operator of numbers. */
bool fold_operate(int op, bool is_signed, int64_t a, int64_t b, int64_t *result);

#endif
