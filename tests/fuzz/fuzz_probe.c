// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer: expressions for probes, over a kernel that is always the same. The input's first byte
 * says which kind of probe.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "probe/probe.h"
#include "../unit/probe_kernel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const enum probe_kind kinds[] = {PROBE_KPROBE,	 PROBE_KRETPROBE, PROBE_UPROBE,
					PROBE_URETPROBE, PROBE_USDT,	  PROBE_EPROBE};

static const char *const machines[] = {"x86_64", "aarch64", "armv7l", "riscv64"};

struct kernel {
	char btf[64], kallsyms[64];
};

static void write_file(char *path, size_t cap, const char *data, size_t len)
{
	int fd;

	snprintf(path, cap, "/tmp/fuzz_probe.XXXXXX");
	fd = mkstemp(path);
	if (fd < 0 || write(fd, data, len) != (ssize_t)len)
		abort();
	close(fd);
}

static struct kernel the_kernel;

static void remove_kernel(void)
{
	unlink(the_kernel.btf);
	unlink(the_kernel.kallsyms);
}

static void make_kernel(void)
{
	struct buf btf;

	/* This machine's programs are of no interest, and many. */
	setenv("PATH", "/nowhere", 1);
	buf_init(&btf, 1 << 20);
	make_btf(&btf);
	write_file(the_kernel.btf, sizeof(the_kernel.btf), btf.data, btf.len);
	write_file(the_kernel.kallsyms, sizeof(the_kernel.kallsyms), kernel_symbols,
		   strlen(kernel_symbols));
	buf_free(&btf);
	atexit(remove_kernel);
}

/* What a line promises, whatever it was made of: the kernel takes nothing else apart. */
static void check_line(const struct probe_line *line)
{
	if (strchr(line->text, '\n') || strchr(line->text, '#') || strlen(line->text) > 4095 ||
	    !line->event[0] || strlen(line->event) > 63 || strpbrk(line->event, " /.:") ||
	    strncmp(line->back, "-:", 2))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct probe_options opt = {.tracefs = "/nowhere", .dynamic_events = true};
	struct probe_lines lines = {0};
	struct spur_error err = {0};
	struct arena arena;
	char *text;
	int ret;

	if (!the_kernel.btf[0])
		make_kernel();
	if (size < 1)
		return 0;
	text = malloc(size);
	if (!text)
		abort();
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	opt.btf = the_kernel.btf;
	opt.kallsyms = the_kernel.kallsyms;
	opt.machine = machines[data[0] / 6 % 4];
	arena_init(&arena, 4 << 20);
	ret = probe_resolve(kinds[data[0] % 6], text, &opt, &arena, &lines, &err);
	if ((ret != 0) != (err.code != 0) || (ret && (lines.n || !err.text[0])))
		abort();
	vec_each (line, &lines)
		check_line(line);
	vec_free(&lines);
	arena_free(&arena);
	free(text);
	return 0;
}
