// SPDX-License-Identifier: GPL-2.0-or-later
/* src/view/serve/confine.c: what is left to a process, each case in one of its own. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "view/serve/confine.h"

#define LACKING 4 /* exit status: the kernel has nothing to confine with */

struct place {
	char folder[64], file[96];
	int listener;
	struct sockaddr_in address; /* of that */
};

static void *nothing(void *arg)
{
	*(int *)arg = 1;
	return NULL;
}

static bool thread_runs(const struct place *p)
{
	pthread_t thread;
	int ran = 0;

	return pthread_create(&thread, NULL, nothing, &ran) == 0 &&
	       pthread_join(thread, NULL) == 0 && ran;
}

static bool file_is_made(const struct place *p)
{
	int fd = open(p->file, O_RDWR | O_CREAT, 0600);
	bool good = fd >= 0 && write(fd, "x", 1) == 1 && lseek(fd, 0, SEEK_SET) == 0;

	return good && close(fd) == 0 && unlink(p->file) == 0;
}

static bool folder_is_removed(const struct place *p)
{
	return rmdir(p->folder) == 0;
}

static bool not_root(const struct place *p)
{
	return getuid() != 0 && geteuid() != 0 && getgid() != 0 && setuid(0) != 0;
}

static bool no_new_process(const struct place *p)
{
	return fork() < 0 && errno == EPERM;
}

static bool no_new_program(const struct place *p)
{
	char *const argv[] = {"true", NULL};

	execv("/bin/true", argv);
	return errno == EPERM || errno == EACCES;
}

static bool no_new_socket(const struct place *p)
{
	return socket(AF_INET, SOCK_STREAM, 0) < 0 && errno == EPERM;
}

/* What listens can be made to connect, by what is no connect(). */
static bool no_connection(const struct place *p)
{
	struct iovec io = {"x", 1};
	struct msghdr m = {.msg_name = (void *)&p->address,
			   .msg_namelen = sizeof(p->address),
			   .msg_iov = &io,
			   .msg_iovlen = 1};
	const struct sockaddr *to = (const void *)&p->address;

	if (shutdown(p->listener, SHUT_RDWR) != 0)
		return false;
	if (connect(p->listener, to, sizeof(p->address)) == 0 || errno != EPERM)
		return false;
	if (sendto(p->listener, "x", 1, MSG_FASTOPEN, to, sizeof(p->address)) >= 0 ||
	    errno != EPERM)
		return false;
	return sendmsg(p->listener, &m, MSG_FASTOPEN | MSG_NOSIGNAL) < 0 && errno == EPERM;
}

static bool messages_are_sent(const struct place *p)
{
	struct sockaddr_in from;
	socklen_t len = sizeof(from);
	/* That nobody is there is not for want of permission. */
	return send(p->listener, "x", 1, MSG_NOSIGNAL) < 0 && errno == EPIPE &&
	       getsockname(p->listener, (struct sockaddr *)&from, &len) == 0;
}

static bool no_new_code(const struct place *p)
{
	const int some = MAP_PRIVATE | MAP_ANONYMOUS;
	void *plain = mmap(NULL, 4096, PROT_READ | PROT_WRITE, some, -1, 0);

	if (plain == MAP_FAILED || mprotect(plain, 4096, PROT_READ) != 0)
		return false;
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, some, -1, 0) != MAP_FAILED || errno != EPERM)
		return false;
	return mprotect(plain, 4096, PROT_READ | PROT_EXEC) != 0 && errno == EPERM;
}

static bool no_other_file(const struct place *p)
{
	return open("/etc/passwd", O_RDONLY) < 0 && open("/proc/self/maps", O_RDONLY) < 0 &&
	       open("/tmp", O_RDONLY | O_DIRECTORY) < 0;
}

static bool no_other_folder(const struct place *p)
{
	return mkdir("/tmp/spur-confined", 0700) < 0 &&
	       open("/tmp/spur-confined", O_CREAT | O_RDWR, 0600) < 0;
}

static bool no_signal(const struct place *p)
{
	return kill(getppid(), 0) < 0 && errno == EPERM;
}

static const struct {
	const char *name;
	bool (*holds)(const struct place *p);
	bool landlock; /* holds where the kernel has that */
} cases[] = {
	{"threads", thread_runs, false},
	{"files where they are permitted", file_is_made, false},
	{"the folder goes", folder_is_removed, false},
	{"not root", not_root, false},
	{"no process", no_new_process, false},
	{"no program", no_new_program, false},
	{"no socket", no_new_socket, false},
	{"no connection", no_connection, false},
	{"messages", messages_are_sent, false},
	{"no code", no_new_code, false},
	{"no other file", no_other_file, true},
	{"no other folder", no_other_folder, true},
	{"no signal", no_signal, false},
};

static int run_case(size_t i, const struct place *p)
{
	const char *const writable[] = {p->folder, NULL}, *const emptied[] = {"/tmp", NULL};
	const struct confine_options opt = {
		.uid = 65534, .gid = 65534, .writable = writable, .emptied = emptied};
	struct spur_error err = {0};
	struct buf notes;

	if (geteuid() == 0 && chown(p->folder, 65534, 65534) != 0)
		return 2;
	buf_init(&notes, 1000);
	if (confine(&opt, &notes, &err) < 0)
		return 3;
	if (cases[i].landlock && strstr(buf_str(&notes), "landlock"))
		return LACKING;
	/* Elsewhere there is no filter of system calls yet. */
	if (strstr(buf_str(&notes), "system calls"))
		return LACKING;
	return cases[i].holds(p) ? 0 : 1;
}

static int listen_here(struct sockaddr_in *at)
{
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(*at);

	*at = (struct sockaddr_in){.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	assert_int_equal(bind(fd, (struct sockaddr *)at, len), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)at, &len), 0);
	return fd;
}

static void test_cases(void **state)
{
	bool lacking = false;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct place p = {.folder = "/tmp/spur-confine-XXXXXX"};
		int status;
		pid_t pid;

		assert_non_null(mkdtemp(p.folder));
		p.listener = listen_here(&p.address);
		snprintf(p.file, sizeof(p.file), "%s/file", p.folder);
		pid = fork();
		assert_true(pid >= 0);
		if (pid == 0)
			_exit(run_case(i, &p));
		assert_int_equal(waitpid(pid, &status, 0), pid);
		rmdir(p.folder);
		close(p.listener);
		if (!WIFEXITED(status) || (WEXITSTATUS(status) && WEXITSTATUS(status) != LACKING))
			fail_msg("%s: %#x", cases[i].name, status);
		lacking |= WEXITSTATUS(status) == LACKING;
	}
	if (lacking)
		skip();
}

/* Root that has nobody to become must not go on. */
static void test_nobody(void **state)
{
	const struct confine_options opt = {0};
	struct spur_error err = {0};
	struct buf notes;

	if (geteuid() != 0)
		skip();
	buf_init(&notes, 1000);
	assert_int_equal(confine(&opt, &notes, &err), -EINVAL);
	buf_free(&notes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
