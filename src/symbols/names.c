// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names: identifiers and names of events, the names in mangled ones of C++ and Rust, and the names
 * nearest to one that was not found.
 */
#include "symbols/names.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/suggest.h"

size_t identifier_len(const char *s)
{
	size_t n = 0;

	while ((s[n] >= 'a' && s[n] <= 'z') || (s[n] >= 'A' && s[n] <= 'Z') || s[n] == '_' ||
	       (n && s[n] >= '0' && s[n] <= '9'))
		n++;
	return n;
}

bool is_identifier(const char *s, size_t len)
{
	return len && identifier_len(s) >= len;
}

void event_name(const char *symbol, char to[NAME_MAX_EVENT + 1])
{
	size_t n = 0;

	/* A digit cannot be first. */
	if (*symbol >= '0' && *symbol <= '9')
		to[n++] = '_';
	for (; *symbol && n < NAME_MAX_EVENT; symbol++) {
		bool fine = (*symbol >= '0' && *symbol <= '9') || identifier_len(symbol);

		to[n++] = fine ? *symbol : '_';
	}
	if (!n)
		to[n++] = '_';
	to[n] = '\0';
	/* The directory of a group has files of these names. */
	if (!strcmp(to, "enable") || !strcmp(to, "filter")) {
		to[n++] = '_';
		to[n] = '\0';
	}
}

/* ---- C++ ---- */

struct mangled {
	const char *at, *end;
	char *to;
	size_t len, cap;
};

static bool put(struct mangled *m, const char *s, size_t n)
{
	if (n >= m->cap - m->len)
		return false;
	memcpy(m->to + m->len, s, n);
	m->len += n;
	m->to[m->len] = '\0';
	return true;
}

static bool is_hash_of_rust(const char *s, size_t n)
{
	return n == 17 && s[0] == 'h' && strspn(s + 1, "0123456789abcdef") >= 16;
}

/* "4User": its length, then the name. */
static bool source_name(struct mangled *m, bool last_may_be_hash)
{
	size_t n = 0;

	while (m->at < m->end && *m->at >= '0' && *m->at <= '9' && n < 10000)
		n = n * 10 + (size_t)(*m->at++ - '0');
	if (!n || n > (size_t)(m->end - m->at))
		return false;
	if (last_may_be_hash && n + 1 == (size_t)(m->end - m->at) && is_hash_of_rust(m->at, n)) {
		m->at += n;
		return true;
	}
	if ((m->len && !put(m, "::", 2)) || !put(m, m->at, n))
		return false;
	m->at += n;
	return true;
}

/* "C1", "D2": the name of the class again. */
static bool constructor(struct mangled *m)
{
	const char *name = m->to;
	bool destroys = *m->at == 'D';
	char again[256];

	for (const char *s = m->to; (s = strstr(s, "::")); s += 2)
		name = s + 2;
	if (!m->len || m->end - m->at < 2 || m->at[1] < '0' || m->at[1] > '5' ||
	    strlen(name) >= sizeof(again))
		return false;
	snprintf(again, sizeof(again), "%s", name);
	m->at += 2;
	return put(m, "::", 2) && (!destroys || put(m, "~", 1)) && put(m, again, strlen(again));
}

bool cxx_name(const char *mangled, size_t len, char *to, size_t cap)
{
	struct mangled m = {.at = mangled + 2, .end = mangled + len, .to = to, .cap = cap};

	if (len < 4 || strncmp(mangled, "_Z", 2) || !cap)
		return false;
	to[0] = '\0';
	if (*m.at != 'N')
		return *m.at >= '1' && *m.at <= '9' && source_name(&m, false);
	m.at++;
	while (m.at < m.end && strchr("rVKRO", *m.at))
		m.at++; /* const, volatile, & and && of the method */
	if (m.end - m.at > 2 && !strncmp(m.at, "St", 2)) {
		m.at += 2;
		if (!put(&m, "std", 3))
			return false;
	}
	while (m.at < m.end && *m.at != 'E') {
		bool fine = *m.at == 'C' || *m.at == 'D'
				    ? constructor(&m)
				    : *m.at >= '1' && *m.at <= '9' && source_name(&m, true);

		if (!fine)
			return false;
	}
	return m.at < m.end && m.len;
}

/* ---- nearest names ---- */

/*
 * Similar names are typing errors, names made by the compiler ("copy" becomes "copy.isra.0"), and,
 * less similar, names that contain it.
 */

struct nearest nearest_to(const char *word, size_t len)
{
	return (struct nearest){.word = word, .len = len};
}

/* How far away a name is; NEAREST_NAME and more: too far. */
static size_t score_of(const struct nearest *n, const char *name, size_t len)
{
	size_t allowed = n->len < 3 ? 1 : (n->len + 1) / 3;
	size_t more = len > n->len ? len - n->len : n->len - len;

	if (!n->len || len >= NEAREST_NAME || n->len >= NEAREST_NAME)
		return NEAREST_NAME;
	if (more && len > n->len && !memcmp(name, n->word, n->len) && name[n->len] == '.')
		return 0;
	if (more <= allowed) {
		size_t distance = edit_distance(n->word, n->len, name, len);

		if (distance <= allowed)
			return distance;
	}
	if (n->len >= 3 && memmem(name, len, n->word, n->len))
		return allowed + 1 + more / 2;
	return NEAREST_NAME;
}

void nearest_try(struct nearest *n, const char *name, size_t len)
{
	size_t score = score_of(n, name, len), at;

	if (score >= NEAREST_NAME)
		return;
	for (size_t i = 0; i < n->n; i++)
		if (strlen(n->best[i].name) == len && !memcmp(n->best[i].name, name, len))
			return;
	for (at = n->n; at > 0 && n->best[at - 1].score > score; at--)
		;
	if (at == NEAREST_MAX)
		return;
	if (n->n < NEAREST_MAX)
		n->n++;
	memmove(&n->best[at + 1], &n->best[at], (n->n - 1 - at) * sizeof(n->best[0]));
	n->best[at].score = score;
	memcpy(n->best[at].name, name, len);
	n->best[at].name[len] = '\0';
}

const char *nearest_words(struct nearest *n)
{
	size_t used = 0;

	n->words[0] = '\0';
	for (size_t i = 0; i < n->n; i++) {
		const char *before = !i ? " (did you mean " : i + 1 == n->n ? " or " : ", ";

		used += (size_t)snprintf(n->words + used, sizeof(n->words) - used, "%s'%s'", before,
					 n->best[i].name);
	}
	if (n->n)
		snprintf(n->words + used, sizeof(n->words) - used, "?)");
	return n->words;
}
