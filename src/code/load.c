// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loads programs. A program with functions that helpers call back must describe them in BTF. The
 * minimum that the kernel accepts is used: one type of number, and each function as a static one
 * with such parameters and result.
 */
#include "code/load.h"

#include <ctype.h>
#include <errno.h>
#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "code/sys.h"

enum { LOG_SIZE = 1 << 20, BIG_LOG_SIZE = 16 << 20 };

/* ---- descriptions of functions ---- */

static const char strings[] = "\0u64\0a\0f";
enum { STR_U64 = 1, STR_A = 5, STR_F = 7, TYPE_U64 = 1 };

static void put_type(struct buf *b, uint32_t name, uint32_t kind, uint32_t vlen, uint32_t size)
{
	const struct btf_type t = {.name_off = name, .info = kind << 24 | vlen, .size = size};

	buf_put(b, &t, sizeof(t));
}

static void put_types(struct buf *b, size_t nr_funcs)
{
	const struct btf_param param = {.name_off = STR_A, .type = TYPE_U64};
	const uint32_t bits = 64;
	/* Callbacks are not checked against their description. */
	enum { NR_PARAMS = 4, TYPE_PROTO = 2 };

	put_type(b, STR_U64, BTF_KIND_INT, 0, 8);
	buf_put(b, &bits, sizeof(bits));
	put_type(b, 0, BTF_KIND_FUNC_PROTO, NR_PARAMS, TYPE_U64);
	for (int n = 0; n < NR_PARAMS; n++)
		buf_put(b, &param, sizeof(param));
	for (size_t n = 0; n < nr_funcs; n++)
		put_type(b, STR_F, BTF_KIND_FUNC, BTF_FUNC_STATIC, TYPE_PROTO);
}

static int describe(size_t nr_funcs)
{
	struct btf_header h = {.magic = BTF_MAGIC, .version = BTF_VERSION, .hdr_len = sizeof(h)};
	struct buf b;
	int fd;

	buf_init(&b, 1 << 20);
	buf_put(&b, &h, sizeof(h));
	put_types(&b, nr_funcs);
	h.type_len = h.str_off = (uint32_t)(b.len - sizeof(h));
	h.str_len = sizeof(strings);
	buf_put(&b, strings, sizeof(strings));
	memcpy(b.data, &h, sizeof(h));
	fd = buf_full(&b) ? -E2BIG : sys_btf_load(b.data, b.len);
	buf_free(&b);
	return fd;
}

static int add_functions(const struct bpf_code *code, struct sys_prog *p,
			 struct bpf_func_info **funcs)
{
	enum { FIRST_FUNC_TYPE = 3 };

	if (code->funcs.n <= 1)
		return 0;
	*funcs = calloc(code->funcs.n, sizeof(**funcs));
	if (!*funcs)
		return -ENOMEM;
	for (uint32_t n = 0; n < code->funcs.n; n++)
		(*funcs)[n] = (struct bpf_func_info){.insn_off = code->funcs.at[n],
						     .type_id = FIRST_FUNC_TYPE + n};
	p->btf_fd = describe(code->funcs.n);
	p->funcs = *funcs;
	p->nr_funcs = (uint32_t)code->funcs.n;
	return p->btf_fd < 0 ? p->btf_fd : 0;
}

/* ---- refusals ---- */

/* "12: (79) r1 = …" begins the log of instruction 12. */
static bool insn_of_line(const char *line, uint32_t *insn)
{
	char *end;
	const unsigned long n = strtoul(line, &end, 10);

	if (end == line || strncmp(end, ": (", 3))
		return false;
	*insn = (uint32_t)n;
	return true;
}

static bool is_reason(const char *line)
{
	return line[0] && strncmp(line, "processed ", 10) &&
	       strncmp(line, "verification time", 17) && strncmp(line, "stack depth", 11) &&
	       strncmp(line, "mark_precise", 12);
}

/* Finds the last instruction that was checked, and the last line with a message. */
static void read_log(char *log, const struct bpf_code *code, struct bpf_refusal *why)
{
	char *line = log, *end;

	for (; *line; line = end) {
		uint32_t insn;

		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		if (insn_of_line(line, &insn) && insn < code->spans.n) {
			why->known = true;
			why->insn = insn;
			why->at = code->spans.at[insn];
		} else if (is_reason(line) && !isdigit((unsigned char)line[0])) {
			size_t n = strnlen(line, sizeof(why->reason) - 1);

			memcpy(why->reason, line, n);
			why->reason[n] = '\0';
		}
	}
}

/*
 * Loads it again, with a log. Older kernels stop when the log is full, before they report the
 * error.
 */
static int load_with_log(struct sys_prog *p)
{
	static const uint32_t sizes[] = {LOG_SIZE, BIG_LOG_SIZE};
	int rc = -ENOSPC;

	for (size_t n = 0; n < sizeof(sizes) / sizeof(*sizes) && rc == -ENOSPC; n++) {
		free(p->log);
		p->log_size = sizes[n];
		p->log = calloc(1, p->log_size);
		if (!p->log)
			return -ENOMEM;
		rc = sys_prog_load(p);
		p->log[p->log_size - 1] = '\0';
	}
	return rc;
}

static int refused(struct sys_prog *p, const struct bpf_code *code, int rc, struct bpf_refusal *why,
		   struct buf *log, struct spur_error *err)
{
	struct bpf_refusal own;
	const int fd = load_with_log(p);

	why = why ? why : &own;
	*why = (struct bpf_refusal){0};
	if (p->log && fd < 0) {
		if (log)
			buf_puts(log, p->log);
		read_log(p->log, code, why);
	}
	free(p->log);
	if (fd >= 0)
		return fd;
	if (rc == -EPERM && !why->known)
		return error_set(err, rc, "the kernel does not permit to load BPF programs");
	if (why->known)
		return error_set(err, rc, "the kernel refuses the program at instruction %u: %s",
				 why->insn, why->reason);
	return error_set(err, rc, "the kernel refuses the program: %s",
			 why->reason[0] ? why->reason : strerror(-rc));
}

int bpf_load(const struct bpf_code *code, const int *fds, const struct bpf_load_options *o,
	     struct bpf_refusal *why, struct buf *log, struct spur_error *err)
{
	struct bpf_insn *insns = bpf_code_link(code, fds);
	struct bpf_func_info *funcs = NULL;
	struct sys_prog p = {
		.type = o->type,
		.attach_type = o->attach_type,
		.attach_btf_id = o->attach_btf_id,
		.attach_btf_fd = o->attach_btf_fd,
		.insns = insns,
		.nr = code->insns.n,
		.name = o->name,
		.license = o->license ? o->license : "GPL",
	};
	int rc = insns ? add_functions(code, &p, &funcs) : -ENOMEM;

	if (rc < 0) {
		error_set(err, rc, "cannot describe the program's functions to the kernel: %s",
			  strerror(-rc));
	} else {
		rc = sys_prog_load(&p);
		if (rc == -EPERM) {
			sys_raise_memlock();
			rc = sys_prog_load(&p);
		}
		if (rc < 0)
			rc = refused(&p, code, rc, why, log, err);
	}
	if (p.btf_fd > 0)
		close(p.btf_fd);
	free(insns);
	free(funcs);
	return rc;
}
