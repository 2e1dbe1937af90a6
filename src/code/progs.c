// SPDX-License-Identifier: GPL-2.0-or-later
/* bpf(2) is asked twice where it has to be told how much room there is. */
#include "code/progs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "code/sys.h"

#define MAX_FUNCTIONS 4096
#define MAX_BTF	      (64u << 20)

#define END_OF(field) (offsetof(union bpf_attr, field) + sizeof(((union bpf_attr *)0)->field))

int progs_next(uint32_t *id)
{
	union bpf_attr attr;
	int rc;

	memset(&attr, 0, sizeof(attr));
	attr.start_id = *id;
	rc = sys_bpf(BPF_PROG_GET_NEXT_ID, &attr, END_OF(open_flags));
	if (rc == 0)
		*id = attr.next_id;
	return rc;
}

int progs_open(uint32_t id)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_id = id;
	return sys_bpf(BPF_PROG_GET_FD_BY_ID, &attr, END_OF(open_flags));
}

static int get_info(int fd, void *info, size_t size)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info_len = (uint32_t)size;
	attr.info.info = (uint64_t)(uintptr_t)info;
	return sys_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr, END_OF(info));
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
	ask.func_info = (uint64_t)(uintptr_t)funcs;
	rc = funcs && to->types ? get_info(fd, &ask, sizeof(ask)) : -ENOMEM;
	/* Who may not see it is told that there is nothing. */
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
	union bpf_attr attr;
	int fd, rc;

	memset(&attr, 0, sizeof(attr));
	attr.btf_id = id;
	fd = sys_bpf(BPF_BTF_GET_FD_BY_ID, &attr, END_OF(open_flags));
	if (fd < 0)
		return fd;
	rc = get_info(fd, &about, sizeof(about));
	if (rc == 0 && (!about.btf_size || about.btf_size > MAX_BTF))
		rc = -EBADMSG;
	*size = about.btf_size;
	*data = rc == 0 ? calloc(1, *size) : NULL;
	ask.btf = (uint64_t)(uintptr_t)*data;
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
