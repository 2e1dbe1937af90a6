// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading the notes, and lines for the probes that are wanted. usdt.h has the layout. */
#include "probe/usdt.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/pattern.h"
#include "base/vec.h"
#include "symbols/functions.h"
#include "symbols/nearest.h"
#include "symbols/notes.h"
#include "probe/path.h"
#include "probe/resolve.h"

#define NOTE_TYPE 3
#define MAX_NAME  200

/* ---- notes ----------------------------------------------------------------------------- */

struct walk {
	const struct binary *b;
	unsigned int addr_size;
	uint64_t base;
	bool has_base;
	int (*fn)(void *arg, const struct usdt_probe *p);
	void *arg;
};

static int read_probe(struct walk *w, struct cursor c)
{
	struct usdt_probe p;
	uint64_t base;

	p.addr = cursor_uint(&c, w->addr_size);
	base = cursor_uint(&c, w->addr_size);
	p.semaphore = cursor_uint(&c, w->addr_size);
	p.provider = cursor_string(&c);
	p.name = cursor_string(&c);
	p.args = cursor_string(&c);
	if (cursor_failed(&c))
		return 0;
	if (w->has_base && base) {
		p.addr += w->base - base;
		if (p.semaphore)
			p.semaphore += w->base - base;
	}
	return w->fn(w->arg, &p);
}

static int read_notes(void *arg, struct cursor c)
{
	struct walk *w = arg;
	struct note n;
	int ret = 0;

	while (!ret && note_next(&c, &n))
		if (note_is(&n, "stapsdt", NOTE_TYPE))
			ret = read_probe(w, n.content);
	return ret;
}

int usdt_each(const struct binary *b, int (*fn)(void *arg, const struct usdt_probe *p), void *arg)
{
	struct walk w = {.b = b, .fn = fn, .arg = arg};

	w.addr_size = binary_info(b).is_64 ? 8 : 4;
	w.has_base = binary_section(b, ".stapsdt.base", &w.base);
	return binary_each_notes(b, read_notes, &w);
}

/* ---- probes ---------------------------------------------------------------------------- */

struct query {
	struct request *r;
	const char *binary; /* as the user names it; NULL: what is traced */
	const char *provider, *name;
	struct pattern provider_is, name_is;
	struct nearest near;
	size_t probes; /* seen */
	size_t lines;
	/* The program that is being looked at. */
	const char *path;
	const struct binary *b;
	uint64_t base; /* the address of the probe less its offset in the file */
};

bool usdt_variable(const struct binary *b, const char *path, const char *name, size_t len,
		   uint64_t *address)
{
	struct spur_error ignored = {0};
	char text[MAX_NAME];
	uint64_t size;

	if (!len || len >= sizeof(text))
		return false;
	memcpy(text, name, len);
	text[len] = '\0';
	return variable_find(b, path, text, address, &size, &ignored) == 0;
}

static bool find_variable(void *arg, const char *name, size_t len, int64_t *offset)
{
	struct query *q = arg;
	uint64_t addr;

	if (!usdt_variable(q->b, q->path, name, len, &addr))
		return false;
	*offset = (int64_t)(addr - q->base);
	return true;
}

/* In DTrace's manner a dash in a name is written as two underlines in the program. */
static bool is_called(const struct pattern *p, const char *wanted, const char *name)
{
	char dashed[MAX_NAME];
	size_t n = 0;

	if (pattern_match(p, name, strlen(name)))
		return true;
	if (!strchr(wanted, '-') || strlen(name) >= sizeof(dashed))
		return false;
	for (const char *s = name; *s; s++) {
		bool dash = s[0] == '_' && s[1] == '_';

		dashed[n++] = dash ? '-' : *s;
		s += dash;
	}
	return pattern_match(p, dashed, n);
}

static int add_probe(struct query *q, const struct usdt_probe *p, uint64_t offset)
{
	struct binary_info info = binary_info(q->b);
	struct usdt_symbols symbols = {.find = find_variable, .arg = q};
	char place[4300], semaphore[32] = "", symbol[2 * MAX_NAME + 8], what[2 * MAX_NAME + 8];
	struct fetch_scope scope = {
		.what = what,
		.abi = abi_of_elf(info.machine, info.is_64, q->r->machine),
		.arena = &q->r->scratch,
	};
	struct proto proto;
	uint64_t counter;
	int ret;

	snprintf(what, sizeof(what), "%.*s:%.*s", MAX_NAME, p->provider, MAX_NAME, p->name);
	snprintf(symbol, sizeof(symbol), "%.*s_%.*s", MAX_NAME, p->provider, MAX_NAME, p->name);
	if (p->semaphore) {
		if (!binary_offset(q->b, p->semaphore, &counter))
			return error_set(q->r->err, -EBADMSG, "%s: the semaphore of %s is nowhere",
					 q->path, what);
		snprintf(semaphore, sizeof(semaphore), "(0x%" PRIx64 ")", counter);
	}
	q->base = p->addr - offset;
	ret = usdt_args(p->args, scope.abi, &symbols, &q->r->scratch, &proto);
	if (ret)
		return error_sys(q->r->err, ret, "%s", what);
	scope.proto = &proto;
	snprintf(place, sizeof(place), "%s:0x%" PRIx64 "%s", q->path, offset, semaphore);
	return request_line(q->r, symbol, place, &scope, NULL);
}

static int look_at(void *arg, const struct usdt_probe *p)
{
	char full[2 * MAX_NAME + 2];
	struct query *q = arg;
	uint64_t offset;

	q->probes++;
	snprintf(full, sizeof(full), "%.*s:%.*s", MAX_NAME, p->provider, MAX_NAME, p->name);
	nearest_try(&q->near, full, strlen(full));
	if (!is_called(&q->provider_is, q->provider, p->provider) ||
	    !is_called(&q->name_is, q->name, p->name))
		return 0;
	if (!binary_code_offset(q->b, p->addr, &offset))
		return 0;
	if (++q->lines > PROBE_MAX_PLACES)
		return error_set(q->r->err, -EINVAL, "more than %d places match", PROBE_MAX_PLACES);
	return add_probe(q, p, offset);
}

/* ---- programs -------------------------------------------------------------------------- */

static int search_file(struct query *q, const char *path, struct spur_error *err)
{
	struct binary *b;
	int ret = binary_open(path, &b, err);

	if (ret)
		return ret;
	q->path = path;
	q->b = b;
	ret = usdt_each(b, look_at, q);
	binary_close(b);
	return ret;
}

static int search_loaded(struct query *q)
{
	struct request *r = q->r;
	struct paths list = {0};
	int ret = path_loaded(r->opt, r->machine, &r->scratch, &list, r->err);

	vec_each (path, &list) {
		struct spur_error ignored = {0};

		if (ret)
			break;
		/* What cannot be read (a script, say) has no probes. */
		ret = search_file(q, *path, &ignored);
		if (ignored.code && !r->err->code)
			ret = ignored.code == -ENOTSUP
				      ? error_set(r->err, -ENOTSUP, "%s", ignored.text)
				      : 0;
	}
	vec_free(&list);
	return ret;
}

/* [BINARY:]PROVIDER:PROBE */
static int parse_place(struct query *q)
{
	struct request *r = q->r;
	char *text = arena_strdup(&r->scratch, r->expr.place), *colon, *other;

	if (!text)
		return error_sys(r->err, -ENOMEM, "probe");
	colon = strrchr(text, ':');
	if (!colon || !colon[1] || colon == text)
		return error_set(r->err, -EINVAL,
				 "it should be PROVIDER:PROBE or PROGRAM:PROVIDER:PROBE");
	*colon = '\0';
	q->name = colon + 1;
	q->provider = text;
	other = strrchr(text, ':');
	if (other) {
		*other = '\0';
		q->provider = other + 1;
		q->binary = text;
	}
	if (!q->provider[0] || (q->binary && !q->binary[0]))
		return error_set(r->err, -EINVAL,
				 "it should be PROVIDER:PROBE or PROGRAM:PROVIDER:PROBE");
	return 0;
}

static int search(struct query *q)
{
	struct request *r = q->r;
	const char *path;
	int ret = pattern_glob(&q->provider_is, q->provider, strlen(q->provider), r->err);

	if (!ret)
		ret = pattern_glob(&q->name_is, q->name, strlen(q->name), r->err);
	if (!ret && !q->binary)
		return search_loaded(q);
	if (!ret)
		ret = path_find(q->binary, r->opt, r->machine, &r->scratch, &path, r->err);
	return ret ? ret : search_file(q, path, r->err);
}

int resolve_usdt(struct request *r)
{
	struct query q = {.r = r};
	char wanted[2 * MAX_NAME + 2];
	int ret = parse_place(&q);

	if (ret)
		return ret;
	snprintf(wanted, sizeof(wanted), "%.*s:%.*s", MAX_NAME, q.provider, MAX_NAME, q.name);
	q.near = nearest_to(wanted, strlen(wanted));
	ret = search(&q);
	pattern_free(&q.provider_is);
	pattern_free(&q.name_is);
	if (ret || q.lines)
		return ret;
	if (!q.probes)
		return error_set(r->err, -ENOENT, "%s has no probes built in",
				 q.binary ? q.path : "what is traced");
	return error_set(r->err, -ENOENT, "there is no probe '%s'%s", wanted,
			 nearest_words(&q.near));
}
