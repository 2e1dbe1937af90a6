// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Something to trace: a process that does the same things a known number of times, whatever the
 * machine does meanwhile.
 *
 *	load NAME
 *
 * All is done by a child of its own, whose name is NAME from the first thing it does that counts
 * until its end.
 */
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WRITES	 64
#define READS	 20
#define OPENS	 12
#define CALLS	 30
#define SLEEPS	 5
#define CHILDREN 3

static int writes(void)
{
	static const char text[64];
	int fd = open("/dev/null", O_WRONLY);

	for (size_t i = 0; i < WRITES; i++)
		if (write(fd, text, i % 16 + 1) < 0)
			return 1;
	return close(fd);
}

static int reads(void)
{
	char text[1024];
	int fd = open("/dev/zero", O_RDONLY);

	for (size_t i = 0; i < READS; i++)
		if (read(fd, text, (size_t)1 << i % 10) < 0)
			return 1;
	return close(fd);
}

/* Every third one fails. */
static void opens(void)
{
	for (int i = 0; i < OPENS; i++) {
		int fd = open(i % 3 == 2 ? "/no/such/file" : "/dev/null", O_RDONLY);

		if (fd >= 0)
			close(fd);
	}
}

static void sleeps(void)
{
	const struct timespec t = {0, 1000000};

	for (int i = 0; i < SLEEPS; i++)
		nanosleep(&t, NULL);
}

static void children(void)
{
	for (int i = 0; i < CHILDREN; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(i);
		waitpid(pid, NULL, 0);
	}
}

static int work(const char *name)
{
	if (prctl(PR_SET_NAME, name) < 0 || writes() || reads())
		return 1;
	opens();
	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	sleeps();
	children();
	return 0;
}

int main(int argc, char **argv)
{
	int status = 1;
	pid_t pid;

	if (argc != 2)
		return 1;
	pid = fork();
	if (pid == 0)
		_exit(work(argv[1]));
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 1;
	return status != 0;
}
