// SPDX-License-Identifier: GPL-2.0-or-later
/* One program at many functions: the links that newer kernels have for it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "code/sys.h"
#include "probe/attach_parts.h"

static int multi_code(int ret)
{
	switch (ret) {
	case -EINVAL:
	case -E2BIG:
	case -ENOTSUP: return -EOPNOTSUPP;
	case -ESRCH: return -ENOENT;
	default: return ret;
	}
}

static int finish(int link, const struct probe_target *t, size_t n, struct attached *a,
		  struct spur_error *err)
{
	link = link < 0 ? multi_code(link) : link;
	if (link == -EOPNOTSUPP)
		return error_set(err, link, "this kernel cannot attach to %zu functions at once",
				 n);
	return link < 0 ? attach_failed(t, link, err)
			: attached_add(a, (struct attached_fd){.fd = link}, err);
}

/* By addresses, or by names where one is not known: a name may be that of several functions. */
static int kernel_multi(const struct probe_target *const *t, size_t n, const uint64_t *cookies,
			int prog_fd, uint32_t type, struct attached *a, struct spur_error *err)
{
	uint64_t *where = calloc(n, sizeof(*where));
	struct link_request r = {
		.prog_fd = (uint32_t)prog_fd,
		.attach_type = type,
		.kprobe_multi = {.flags = t[0]->type == PT_KRETPROBE ? ATTACH_MULTI_RETURN : 0,
				 .count = (uint32_t)n,
				 .cookies = (uint64_t)(uintptr_t)cookies},
	};
	bool known = true;
	int ret;

	if (!where)
		return error_set(err, -ENOMEM, "out of memory for probes");
	for (size_t i = 0; i < n; i++)
		known &= t[i]->address != 0;
	for (size_t i = 0; i < n; i++)
		where[i] = known ? t[i]->address : (uint64_t)(uintptr_t)t[i]->symbol;
	if (known)
		r.kprobe_multi.addresses = (uint64_t)(uintptr_t)where;
	else
		r.kprobe_multi.symbols = (uint64_t)(uintptr_t)where;
	ret = finish(sys_bpf(BPF_LINK_CREATE, &r,
			     offsetof(struct link_request, kprobe_multi) + sizeof(r.kprobe_multi)),
		     t[0], n, a, err);
	free(where);
	return ret;
}

static int user_multi(const struct probe_target *const *t, size_t n, const uint64_t *cookies,
		      int prog_fd, struct attached *a, struct spur_error *err)
{
	uint64_t *offsets = calloc(2 * n, sizeof(*offsets)), *semaphores = offsets + n;
	bool any_semaphore = false;
	struct link_request r = {
		.prog_fd = (uint32_t)prog_fd,
		.attach_type = ATTACH_UPROBE_MULTI,
		.uprobe_multi = {.path = (uint64_t)(uintptr_t)t[0]->path,
				 .offsets = (uint64_t)(uintptr_t)offsets,
				 .cookies = (uint64_t)(uintptr_t)cookies,
				 .count = (uint32_t)n,
				 .flags = t[0]->type == PT_URETPROBE ? ATTACH_MULTI_RETURN : 0,
				 .pid = (uint32_t)t[0]->pid},
	};
	int ret;

	if (!offsets)
		return error_set(err, -ENOMEM, "out of memory for probes");
	for (size_t i = 0; i < n; i++) {
		offsets[i] = t[i]->offset;
		semaphores[i] = t[i]->semaphore;
		any_semaphore |= t[i]->semaphore != 0;
	}
	if (any_semaphore)
		r.uprobe_multi.ref_ctr_offsets = (uint64_t)(uintptr_t)semaphores;
	ret = finish(sys_bpf(BPF_LINK_CREATE, &r,
			     offsetof(struct link_request, uprobe_multi) + sizeof(r.uprobe_multi)),
		     t[0], n, a, err);
	free(offsets);
	return ret;
}

/* What one link can have: functions by name, or places in one file. */
static bool fits(const struct probe_target *first, const struct probe_target *t)
{
	const bool kernel = t->type == PT_KPROBE || t->type == PT_KRETPROBE;

	if (t->type != first->type || t->pid != first->pid)
		return false;
	return kernel ? t->symbol && !t->offset
		      : t->path && first->path && !strcmp(t->path, first->path);
}

static bool is_user(const struct probe_target *t)
{
	return t->type == PT_UPROBE || t->type == PT_URETPROBE || t->type == PT_USDT;
}

bool attach_can_multi(const struct probe_target *t)
{
	return is_user(t) || t->type == PT_KPROBE || t->type == PT_KRETPROBE;
}

static int check_all(const struct probe_target *const *t, size_t n, struct spur_error *err)
{
	if (!n || n > UINT32_MAX)
		return error_set(err, -EINVAL, "no functions to attach to");
	if (!attach_can_multi(t[0]))
		return error_set(err, -EOPNOTSUPP, "%s is no function", t[0]->name);
	for (size_t i = 0; i < n; i++)
		if (!fits(t[0], t[i]))
			return error_set(err, -EOPNOTSUPP, "%s and %s need programs of their own",
					 t[0]->name, t[i]->name);
	return 0;
}

int attach_multi(const struct probe_target *const *t, size_t n, const uint64_t *cookies,
		 int prog_fd, struct attached *a, struct spur_error *err)
{
	const int rc = check_all(t, n, err);

	if (rc < 0)
		return rc;
	return is_user(t[0]) ? user_multi(t, n, cookies, prog_fd, a, err)
			     : kernel_multi(t, n, cookies, prog_fd, ATTACH_KPROBE_MULTI, a, err);
}

int attach_session(const struct probe_target *const *t, size_t n, int prog_fd, struct attached *a,
		   struct spur_error *err)
{
	const int rc = check_all(t, n, err);

	return rc < 0 ? rc : kernel_multi(t, n, NULL, prog_fd, ATTACH_KPROBE_SESSION, a, err);
}
