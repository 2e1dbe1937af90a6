/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Text patterns: regular expressions and globs with one matcher.
 *
 * Most patterns are plain words, possibly with an anchor or a wildcard at an end. They are
 * recognized and matched without the regular expression engine, which costs ten times as much and
 * takes a lock. pattern_match() only reads a compiled pattern: threads may share it.
 */
#ifndef BASE_PATTERN_H
#define BASE_PATTERN_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#include <spur/error.h>

#define PATTERN_MAX 1024 /* bytes of a pattern */

enum pattern_kind {
	PATTERN_NONE, /* not compiled: matches nothing */
	PATTERN_ALL,
	PATTERN_EXACT,
	PATTERN_FRONT,
	PATTERN_END,
	PATTERN_MIDDLE,
	PATTERN_GLOB,
	PATTERN_REGEX,
};

struct pattern {
	enum pattern_kind kind;
	bool fold;   /* upper and lower case are the same */
	bool negate; /* matches what the pattern does not */
	char *text;  /* what to look for; owned */
	size_t len;
	regex_t regex;
};

/*
 * A basic regular expression of regcomp(3); case is ignored, and it may match anywhere.
 * Back-references and repetitions that would take very long are refused. -EINVAL with the reason in
 * err.
 */
int pattern_regex(struct pattern *p, const char *re, size_t len, struct spur_error *err);

/*
 * A glob as in the kernel's event filters: '*', '?', [a-z], [!a-z], a backslash before a character
 * that shall stand for itself, and a '!' in front of the whole to negate it. Case counts.
 */
int pattern_glob(struct pattern *p, const char *glob, size_t len, struct spur_error *err);

void pattern_free(struct pattern *p);

/* A local pattern, freed where its scope ends: `scoped_pattern p = {0};` */
#define scoped_pattern struct pattern __attribute__((cleanup(pattern_free)))

/* s need not be terminated. */
bool pattern_match(const struct pattern *p, const char *s, size_t len);

/* Whether a text contains characters that are special in a glob. */
bool is_glob(const char *s);

/* The same as pattern_glob() and pattern_match(), for a glob that is not used again. */
bool glob_matches_once(const char *glob, size_t glob_len, const char *s, size_t len);

#endif
