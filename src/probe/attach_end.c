// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The end of probes. The last close() of a tracepoint's, kprobe's or uprobe's event waits until no
 * CPU can be running its program any more: some 80 ms for each. So processes are started that
 * inherit the descriptors, wait until this one has closed its own (a pipe tells), and have nothing
 * else to do than to end.
 *
 * They are nobody's children (their parent ends at once and is waited for), and hold no other
 * descriptor: who waits for the end of our output does not wait for them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/vec.h"
#include "probe/attach_parts.h"

#define MAX_PROCESSES 8
#define EACH	      8	    /* descriptors that one more process is worth */
#define OLD_KERNEL_FD 65536 /* as many are closed where there is no close_range() */

static void close_between(unsigned int from, unsigned int to)
{
	if (from > to)
		return;
#ifdef SYS_close_range
	if (!syscall(SYS_close_range, from, to, 0))
		return;
#endif
	for (unsigned int fd = from; fd <= to && fd < OLD_KERNEL_FD; fd++)
		close((int)fd);
}

/* Closes everything but what is listed, in order. */
static void close_others(const struct attached *a)
{
	unsigned int next = 0;

	for (size_t i = 0; i < a->fds.n; i++) {
		unsigned int fd = (unsigned int)a->fds.at[i].fd;

		if (fd > next)
			close_between(next, fd - 1);
		next = fd + 1;
	}
	close_between(next, ~0u);
}

/* Keeps each step'th descriptor, and ends when the pipe does: it is then that they are closed. */
static void __attribute__((noreturn))
keep_and_end(const struct attached *a, size_t first, size_t step, int pipe_end)
{
	char none;

	close_others(a);
	for (size_t i = 0; i < a->fds.n; i++)
		if (i % step != first && a->fds.at[i].fd != pipe_end)
			close(a->fds.at[i].fd);
	while (read(pipe_end, &none, 1) < 0 && errno == EINTR)
		;
	_exit(0);
}

static int by_fd(const void *a, const void *b)
{
	const struct attached_fd *x = a, *y = b;

	return (x->fd > y->fd) - (x->fd < y->fd);
}

/* Starts those processes; the pipe's reading end is among the descriptors. */
static void start_processes(const struct attached *a, int pipe_end)
{
	size_t processes = 1 + a->fds.n / EACH;
	int status;
	pid_t pid;

	if (processes > MAX_PROCESSES)
		processes = MAX_PROCESSES;
	pid = fork();
	if (!pid) {
		for (size_t i = 0; i < processes; i++)
			if (!fork())
				keep_and_end(a, i, processes, pipe_end);
		_exit(0);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
}

/* Where it does not work, this process waits for what it closes. */
static void close_slowly(struct attached *a)
{
	struct attached_fd *slot;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		ends[1] = -1;
	slot = ends[1] >= 0 ? vec_push(&a->fds) : NULL;
	if (slot) {
		slot->fd = ends[0];
		qsort(a->fds.at, a->fds.n, sizeof(*a->fds.at), by_fd);
		start_processes(a, ends[0]);
	} else if (ends[1] >= 0) {
		close(ends[0]);
	}
	vec_each (f, &a->fds)
		close(f->fd);
	if (ends[1] >= 0)
		close(ends[1]);
}

void attach_end(struct attached *a)
{
	size_t slow = 0;

	vec_each (f, &a->fds)
		if (f->samples)
			ioctl(f->fd, PERF_EVENT_IOC_DISABLE, 0);
	for (size_t i = 0; i < a->fds.n; i++) {
		if (a->fds.at[i].quick)
			close(a->fds.at[i].fd);
		else
			a->fds.at[slow++] = a->fds.at[i];
	}
	a->fds.n = slow;
	if (slow)
		close_slowly(a);
	vec_free(&a->fds);
	vec_free(&a->cpus);
}
