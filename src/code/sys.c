// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The system calls for eBPF and performance events, and queries about loaded programs.
 *
 * Every command has a part of union bpf_attr; the size ends after the last member that is used,
 * because older kernels refuse unknown members unless they are 0.
 */
#include "code/sys.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"

#define END_OF(member) (offsetof(union bpf_attr, member) + sizeof(((union bpf_attr *)0)->member))

static uint64_t address(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

int sys_bpf(int cmd, const void *attr, size_t size)
{
	int rc, tries = 5;

	/* A signal may interrupt the verifier. */
	do {
		rc = (int)syscall(SYS_bpf, cmd, attr, (unsigned int)size);
	} while (rc < 0 && errno == EAGAIN && --tries);
	return rc < 0 ? -errno : rc;
}

/* Names are for tools that list maps and programs; a strange one is no reason to fail. */
static void set_name(char to[BPF_OBJ_NAME_LEN], const char *name)
{
	for (size_t n = 0; name && name[n] && n + 1 < BPF_OBJ_NAME_LEN; n++)
		to[n] = isalnum((unsigned char)name[n]) ? name[n] : '_';
}

int sys_map_create(const struct sys_map *m)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = m->type;
	attr.key_size = m->key_size;
	attr.value_size = m->value_size;
	attr.max_entries = m->entries;
	attr.map_flags = m->flags;
	set_name(attr.map_name, m->name);
	return sys_bpf(BPF_MAP_CREATE, &attr, END_OF(map_name));
}

static int element(int cmd, int fd, const void *key, const void *value, uint64_t flags)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)fd;
	attr.key = address(key);
	attr.value = address(value);
	attr.flags = flags;
	return sys_bpf(cmd, &attr, END_OF(flags));
}

int sys_map_lookup(int fd, const void *key, void *value)
{
	return element(BPF_MAP_LOOKUP_ELEM, fd, key, value, 0);
}

int sys_map_update(int fd, const void *key, const void *value, uint64_t flags)
{
	return element(BPF_MAP_UPDATE_ELEM, fd, key, value, flags);
}

int sys_map_delete(int fd, const void *key)
{
	return element(BPF_MAP_DELETE_ELEM, fd, key, NULL, 0);
}

int sys_map_next(int fd, const void *key, void *next)
{
	return element(BPF_MAP_GET_NEXT_KEY, fd, key, next, 0);
}

int sys_map_lookup_batch(int fd, const void *in, void *out, void *keys, void *values,
			 uint32_t *count)
{
	union bpf_attr attr;
	int rc;

	memset(&attr, 0, sizeof(attr));
	attr.batch.map_fd = (uint32_t)fd;
	attr.batch.in_batch = address(in);
	attr.batch.out_batch = address(out);
	attr.batch.keys = address(keys);
	attr.batch.values = address(values);
	attr.batch.count = *count;
	rc = sys_bpf(BPF_MAP_LOOKUP_BATCH, &attr, END_OF(batch));
	*count = attr.batch.count;
	return rc;
}

int sys_map_freeze(int fd)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)fd;
	return sys_bpf(BPF_MAP_FREEZE, &attr, END_OF(map_fd));
}

int sys_prog_load(const struct sys_prog *p)
{
	union bpf_attr attr;
	size_t size = END_OF(expected_attach_type);

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = p->type;
	attr.insns = address(p->insns);
	attr.insn_cnt = (uint32_t)p->nr;
	attr.license = address(p->license);
	attr.expected_attach_type = p->attach_type;
	set_name(attr.prog_name, p->name);
	if (p->log) {
		attr.log_buf = address(p->log);
		attr.log_size = p->log_size;
		attr.log_level = 1;
	}
	if (p->btf_fd > 0) {
		attr.prog_btf_fd = (uint32_t)p->btf_fd;
		attr.func_info = address(p->funcs);
		attr.func_info_cnt = p->nr_funcs;
		attr.func_info_rec_size = sizeof(*p->funcs);
		size = END_OF(func_info_cnt);
	}
	if (p->attach_btf_id) {
		attr.attach_btf_id = p->attach_btf_id;
		size = END_OF(attach_btf_id);
	}
	if (p->attach_btf_fd > 0) {
		attr.attach_btf_obj_fd = (uint32_t)p->attach_btf_fd;
		size = END_OF(attach_btf_obj_fd);
	}
	return sys_bpf(BPF_PROG_LOAD, &attr, size);
}

int sys_btf_load(const void *data, size_t size)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.btf = address(data);
	attr.btf_size = (uint32_t)size;
	return sys_bpf(BPF_BTF_LOAD, &attr, END_OF(btf_log_level));
}

/* Commands that take the number of an object, and return a descriptor, or the next number. */
static int by_id(int cmd, uint32_t id, uint32_t *next)
{
	union bpf_attr attr;
	int rc;

	memset(&attr, 0, sizeof(attr));
	attr.start_id = id;
	rc = sys_bpf(cmd, &attr, END_OF(open_flags));
	if (rc == 0 && next)
		*next = attr.next_id;
	return rc;
}

static int get_info(int fd, void *info, size_t size)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info_len = (uint32_t)size;
	attr.info.info = address(info);
	return sys_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr, END_OF(info));
}

/* The name of a BTF object; "" for the BTF of programs. */
static void btf_name(int fd, char *name, size_t cap)
{
	struct bpf_btf_info info = {.name = address(name), .name_len = (uint32_t)cap};

	if (get_info(fd, &info, sizeof(info)) < 0 || !info.kernel_btf)
		name[0] = '\0';
	name[cap - 1] = '\0';
}

int sys_btf_of_module(const char *module)
{
	char name[128] = "";
	uint32_t id = 0;
	int fd;

	for (;;) {
		fd = by_id(BPF_BTF_GET_NEXT_ID, id, &id);
		if (fd < 0)
			return fd;
		fd = by_id(BPF_BTF_GET_FD_BY_ID, id, NULL);
		if (fd < 0)
			continue;
		btf_name(fd, name, sizeof(name));
		if (!strcmp(name, module))
			return fd;
		close(fd);
	}
}

int sys_raw_tracepoint_open(const char *name, int prog)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.raw_tracepoint.name = address(name);
	attr.raw_tracepoint.prog_fd = (uint32_t)prog;
	return sys_bpf(BPF_RAW_TRACEPOINT_OPEN, &attr, END_OF(raw_tracepoint.prog_fd));
}

int sys_link_create(int prog, int target, uint32_t attach_type)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.link_create.prog_fd = (uint32_t)prog;
	attr.link_create.target_fd = (uint32_t)target;
	attr.link_create.attach_type = attach_type;
	return sys_bpf(BPF_LINK_CREATE, &attr, END_OF(link_create.flags));
}

int sys_iter_create(int link)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.iter_create.link_fd = (uint32_t)link;
	return sys_bpf(BPF_ITER_CREATE, &attr, END_OF(iter_create));
}

int sys_prog_test_run(int prog, const void *ctx, uint32_t ctx_size, uint32_t *result)
{
	union bpf_attr attr;
	int rc;

	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = (uint32_t)prog;
	attr.test.ctx_in = address(ctx);
	attr.test.ctx_size_in = ctx_size;
	rc = sys_bpf(BPF_PROG_TEST_RUN, &attr, END_OF(test.cpu));
	if (result)
		*result = attr.test.retval;
	return rc;
}

void sys_raise_memlock(void)
{
	struct rlimit limit = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};

	if (!setrlimit(RLIMIT_MEMLOCK, &limit) || getrlimit(RLIMIT_MEMLOCK, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_MEMLOCK, &limit);
}

int sys_perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group,
			unsigned long flags)
{
	long rc;

	attr->size = sizeof(*attr);
	rc = syscall(SYS_perf_event_open, attr, pid, cpu, group, flags | PERF_FLAG_FD_CLOEXEC);

	return rc < 0 ? -errno : (int)rc;
}

unsigned int sys_possible_cpus(void)
{
	char text[256];
	const char *last;
	unsigned long cpus;

	if (file_read_text(AT_FDCWD, "/sys/devices/system/cpu/possible", text, sizeof(text)) <= 0) {
		const long configured = sysconf(_SC_NPROCESSORS_CONF);

		return configured > 0 ? (unsigned int)configured : 1;
	}
	/* "0-7", or "0,2-5": the last number counts. */
	last = strrchr(text, '-');
	if (!last || strchr(last, ','))
		last = strrchr(text, ',');
	cpus = strtoul(last ? last + 1 : text, NULL, 10) + 1;
	return cpus <= 65536 ? (unsigned int)cpus : 1;
}

/* ---- programs that are loaded in the kernel ---- */

/* bpf(2) is called twice if it needs the size of the buffer. */

#define MAX_FUNCTIONS 4096
#define MAX_BTF	      (64u << 20)

int progs_next(uint32_t *id)
{
	return by_id(BPF_PROG_GET_NEXT_ID, *id, id);
}

int progs_open(uint32_t id)
{
	return by_id(BPF_PROG_GET_FD_BY_ID, id, NULL);
}

int progs_functions(int fd, struct prog_functions *to)
{
	struct bpf_prog_info about = {0},
			     ask = {.func_info_rec_size = sizeof(struct bpf_func_info)};
	struct bpf_func_info *funcs;
	int rc = get_info(fd, &about, sizeof(about));

	*to = (struct prog_functions){.btf = about.btf_id};
	if (rc < 0 || !about.btf_id || !about.nr_func_info || about.nr_func_info > MAX_FUNCTIONS)
		return rc;
	funcs = calloc(about.nr_func_info, sizeof(*funcs));
	to->types = calloc(about.nr_func_info, sizeof(*to->types));
	ask.nr_func_info = about.nr_func_info;
	ask.func_info = address(funcs);
	rc = funcs && to->types ? get_info(fd, &ask, sizeof(ask)) : -ENOMEM;
	/* Without permission the kernel reports that there is nothing. */
	for (uint32_t i = 0; rc == 0 && i < ask.nr_func_info && i < about.nr_func_info; i++)
		to->types[to->n++] = funcs[i].type_id;
	free(funcs);
	if (rc < 0) {
		free(to->types);
		to->types = NULL;
	}
	return rc;
}

int progs_btf(uint32_t id, void **data, size_t *size)
{
	struct bpf_btf_info about = {0}, ask = {0};
	const int fd = by_id(BPF_BTF_GET_FD_BY_ID, id, NULL);
	int rc;

	if (fd < 0)
		return fd;
	rc = get_info(fd, &about, sizeof(about));
	if (rc == 0 && (!about.btf_size || about.btf_size > MAX_BTF))
		rc = -EBADMSG;
	*size = about.btf_size;
	*data = rc == 0 ? calloc(1, *size) : NULL;
	ask.btf = address(*data);
	ask.btf_size = about.btf_size;
	if (rc == 0)
		rc = *data ? get_info(fd, &ask, sizeof(ask)) : -ENOMEM;
	close(fd);
	if (rc < 0) {
		free(*data);
		*data = NULL;
	}
	return rc;
}
