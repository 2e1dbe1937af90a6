// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Running a command on a mutant.
 *
 * The limits on memory and output are set on this process and inherited by the commands, which lets
 * them be started with posix_spawn(): much cheaper than fork() once there is a large image around.
 * Output goes to files in memory.
 */
#include "mutate.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_ARGS	 8
#define SANITIZER_STATUS 99 /* as the environment tells the sanitizers */

const char *const mutate_commands[] = {
	"report -i",
	"report -R --stat -i",
	"dump --all -i",
	"info -i",
	"mem -i",
	"calls --chains -i",
	"report --graph -i",
	"functions -i",
	"calls -i",
	"latency sched --worst 3 -i",
	NULL,
};

static void set_limit(int resource, size_t value)
{
	struct rlimit limit = {.rlim_cur = value, .rlim_max = value};

	setrlimit(resource, &limit);
}

static const char *memory_dir(void)
{
	return access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
}

bool runner_open(struct runner *run, const char *program, const struct limits *limits)
{
	*run = (struct runner){.program = program, .limits = *limits, .out = -1, .err = -1};
	snprintf(run->dir, sizeof(run->dir), "%s/spur-mutate-XXXXXX", memory_dir());
	if (!mkdtemp(run->dir))
		return false;
	snprintf(run->path, sizeof(run->path), "%s/mutant.dat", run->dir);
	run->out = memfd_create("out", MFD_CLOEXEC);
	run->err = memfd_create("err", MFD_CLOEXEC);
	setenv("ASAN_OPTIONS", "exitcode=99:allocator_may_return_null=1:detect_leaks=0", 1);
	setenv("UBSAN_OPTIONS", "halt_on_error=1:exitcode=99", 1);
	setenv("LC_ALL", "C", 1);
	if (limits->memory)
		set_limit(RLIMIT_AS, limits->memory);
	set_limit(RLIMIT_FSIZE, limits->output);
	set_limit(RLIMIT_CORE, 0);
	return run->out >= 0 && run->err >= 0;
}

void runner_close(struct runner *run)
{
	unlink(run->path);
	rmdir(run->dir);
	close(run->out);
	close(run->err);
}

bool runner_write(struct runner *run, const struct image *img)
{
	int fd = open(run->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	bool fine = fd >= 0 && write(fd, img->data, img->len) == (ssize_t)img->len;

	if (fd >= 0)
		close(fd);
	return fine;
}

static pid_t start(struct runner *run, const char *command)
{
	char words[128], *argv[MAX_ARGS + 3], *rest = words, *word;
	posix_spawn_file_actions_t actions;
	size_t n = 0;
	pid_t pid;
	int rc;

	snprintf(words, sizeof(words), "%s", command);
	argv[n++] = (char *)run->program;
	while (n <= MAX_ARGS && (word = strsep(&rest, " ")))
		argv[n++] = word;
	argv[n++] = run->path;
	argv[n] = NULL;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, run->out, 1);
	posix_spawn_file_actions_adddup2(&actions, run->err, 2);
	rc = posix_spawn(&pid, run->program, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return rc ? -1 : pid;
}

/* Waits until the process ends or the time is up; false: it had to be killed. */
static bool wait_for(pid_t pid, unsigned int seconds, int *status)
{
	int fd = pidfd_open(pid, 0);
	struct pollfd p = {.fd = fd, .events = POLLIN};
	bool ended = fd < 0 || poll(&p, 1, (int)seconds * 1000) > 0;

	if (!ended)
		kill(pid, SIGKILL);
	waitpid(pid, status, 0);
	if (fd >= 0)
		close(fd);
	return ended;
}

/* What is wrong with the message on standard error: it has to be one line that names the file. */
static const char *message_fault(const struct runner *run, const char *text)
{
	const char *end = strchr(text, '\n');

	if (!end)
		return "no message";
	if (end[1])
		return "more than one line of message";
	return strstr(text, run->path) ? NULL : "a message that does not name the file";
}

/* An exit status other than 0: refusing the file is fine when it is said properly. */
static enum outcome judge_refusal(struct runner *run, int status)
{
	char text[4096];
	ssize_t n = pread(run->err, text, sizeof(text) - 1, 0);
	const char *fault;

	text[n > 0 ? n : 0] = '\0';
	fault = message_fault(run, text);
	if ((status == 3 || status == 4) && !fault)
		return OUTCOME_REFUSED;
	snprintf(run->why, sizeof(run->why), "status %d, %s: %.100s", status,
		 fault ? fault : "a message", text);
	run->why[strcspn(run->why, "\n")] = '\0';
	return status == SANITIZER_STATUS ? OUTCOME_CRASH : OUTCOME_UNCLEAR;
}

static enum outcome judge(struct runner *run, int status)
{
	struct stat out;

	if (!fstat(run->out, &out) && (size_t)out.st_size >= run->limits.output)
		return OUTCOME_RUNAWAY;
	if (WIFSIGNALED(status)) {
		snprintf(run->why, sizeof(run->why), "SIG%s", sigabbrev_np(WTERMSIG(status)));
		return OUTCOME_CRASH;
	}
	return WEXITSTATUS(status) ? judge_refusal(run, WEXITSTATUS(status)) : OUTCOME_OK;
}

enum outcome runner_run(struct runner *run, const char *command)
{
	const int outputs[] = {run->out, run->err};
	int status = 0;
	pid_t pid;

	run->why[0] = '\0';
	for (int i = 0; i < 2; i++)
		if (ftruncate(outputs[i], 0) || lseek(outputs[i], 0, SEEK_SET))
			abort();
	pid = start(run, command);
	if (pid < 0)
		abort();
	if (!wait_for(pid, run->limits.seconds, &status))
		return OUTCOME_HANG;
	return judge(run, status);
}
