// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer: a script through the whole compiler, down to instructions, with a directory in the
 * place of tracefs and no other part of a kernel. What needs none is run as well, for a moment.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "script/script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char format[] = "name: %s\nID: %d\nformat:\n"
			     "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			     "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
			     "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
			     "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
			     "\tfield:long ret;\toffset:32;\tsize:8;\tsigned:1;\n"
			     "\tfield:const char * filename;\toffset:40;\tsize:8;\tsigned:0;\n"
			     "\tfield:size_t count;\toffset:48;\tsize:8;\tsigned:0;\n"
			     "\tfield:unsigned long args[6];\toffset:56;\tsize:48;\tsigned:0;\n"
			     "\tfield:__data_loc char[] name;\toffset:104;\tsize:4;\tsigned:0;\n"
			     "\tfield:__data_loc u64[] list;\toffset:108;\tsize:4;\tsigned:0;\n\n"
			     "print fmt: \"%%d\", REC->pid\n";

static const char *const events[] = {"sched/sched_switch",	  "sched/sched_process_exec",
				     "syscalls/sys_enter_openat", "syscalls/sys_enter_write",
				     "syscalls/sys_exit_write",	  "raw_syscalls/sys_enter"};

static char tracefs[64];
static int stop_fd = -1;

static void make_file(const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", tracefs, name);
	for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	f = fopen(path, "w");
	if (!f || fputs(text, f) < 0 || fclose(f) != 0)
		abort();
}

static void remove_all(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", tracefs);
	if (system(command) != 0)
		fprintf(stderr, "%s stays\n", tracefs);
}

static void make_tracefs(void)
{
	char text[4096], name[128], all[1024] = "";

	snprintf(tracefs, sizeof(tracefs), "/tmp/spur-fuzz-XXXXXX");
	if (!mkdtemp(tracefs))
		abort();
	atexit(remove_all);
	make_file("trace", "");
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		const char *slash = strchr(events[i], '/');

		snprintf(text, sizeof(text), format, slash + 1, (int)i + 500);
		snprintf(name, sizeof(name), "events/%s/format", events[i]);
		make_file(name, text);
		snprintf(text, sizeof(text), "%d\n", (int)i + 500);
		snprintf(name, sizeof(name), "events/%s/id", events[i]);
		make_file(name, text);
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%.*s:%s\n",
			 (int)(slash - events[i]), events[i], slash + 1);
	}
	make_file("available_events", all);
	stop_fd = eventfd(1, EFD_CLOEXEC);
	if (stop_fd < 0)
		abort();
}

static int ignore(void *arg, const char *data, size_t len, bool errors)
{
	return 0;
}

/*
 * Only first and last probes, which spur runs itself, and nothing that opens files or waits for the
 * kernel.
 */
static bool can_run(const char *text)
{
	static const char *const others[] = {"tracepoint", "rawt",  "probe:", "profile", "software",
					     "hardware",   "watch", "iter",   "self",	 "fentry",
					     "fexit",	   "func",  "usdt",   "t:",	 "interval",
					     "cat",	   "i:",    "p:",     "s:",	 "bench",
					     "debugf"};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strstr(text, others[i]))
			return false;
	return true;
}

static void check_compiled(struct script *s, const char *text)
{
	struct spur_error err = {0};
	struct buf out;
	int status;

	buf_init(&out, 64 << 20);
	if (script_dump(s, SCRIPT_IR, &out, &err) < 0 || script_dump(s, SCRIPT_BPF, &out, &err) < 0)
		abort();
	buf_free(&out);
	if (can_run(text))
		script_run(s, &status, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const params[] = {"5", "word", NULL};
	static struct bpf_features features;
	struct spur_error err = {0};
	struct script *s;
	char *text;
	int rc;

	if (!*tracefs) {
		make_tracefs();
		bpf_features_user(&features);
	}
	text = malloc(size + 1);
	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	const struct script_options opt = {
		.name = "stdin",
		.text = text,
		.len = size,
		.params = params,
		.tracefs = tracefs,
		.btf = "/nonexistent",
		.features = &features,
		.stop_fd = stop_fd,
		.write = ignore,
	};
	rc = script_open(&opt, &s, &err);
	if (rc == 0)
		check_compiled(s, text);
	else if (s && rc == -EINVAL && !*script_messages(s) && !*err.text)
		abort();
	if (s && strstr(script_messages(s), "ERROR: internal error") &&
	    !memmem(text, size, "internal", 8)) {
		fputs(script_messages(s), stderr);
		abort();
	}
	script_close(s);
	free(text);
	return 0;
}
