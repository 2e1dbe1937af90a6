// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Something to trace: does a thing a known number of times.
 *
 *	load KIND [N]
 *
 * The table at the end says what there is. work() and twice() are there to be probed by name: they
 * are never inlined, and their arguments and results follow from the number of the call.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A USDT probe, where there is a header for it. */
#if __has_include(<sys/sdt.h>)
#include <sys/sdt.h>
#else
#define DTRACE_PROBE2(provider, name, a, b)
#endif

/* n system calls. The libc's getppid() may be anything; the trace has to show a system call. */
static void call_getppid(long n)
{
	while (n-- > 0)
		syscall(SYS_getppid);
}

__attribute__((noipa)) long twice(long value)
{
	return 2 * value;
}

/* Returns 3 * number, or -5 for every fifth call. */
__attribute__((noipa)) int work(int number, const char *name)
{
	DTRACE_PROBE2(load, work, number, name);
	if (number % 5 == 0)
		return -5;
	return (int)twice(number) + number + (name[0] == '\0');
}

/* work(1, "spur") … work(n, "spur"). */
static void do_work(long n)
{
	for (long i = 1; i <= n; i++)
		work((int)i, "spur");
}

/* Half of these fail: the odd ones name a file that is not there. */
static void do_open(long n)
{
	for (long i = 0; i < n; i++) {
		int fd = open(i % 2 ? "/no/such/file" : "/dev/null", O_RDONLY);

		if (fd >= 0)
			close(fd);
	}
}

/* n times a byte. */
static void do_read(long n)
{
	char byte;
	int fd = open("/dev/zero", O_RDONLY);

	if (fd < 0)
		err(2, "/dev/zero");
	for (long i = 0; i < n; i++)
		if (read(fd, &byte, 1) != 1)
			err(2, "read");
	close(fd);
}

static void *thread(void *n)
{
	call_getppid(*(long *)n);
	return NULL;
}

/* n calls in each of two threads of known names. */
static void do_threads(long n)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++) {
		char name[16];

		snprintf(name, sizeof(name), "thread-%d", i);
		if (pthread_create(&threads[i], NULL, thread, &n))
			errx(2, "pthread_create");
		pthread_setname_np(threads[i], name);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

/* n children, one after the other, with one call in each. */
static void do_fork(long n)
{
	while (n-- > 0) {
		pid_t child = fork();

		if (child < 0)
			err(2, "fork");
		if (!child) {
			call_getppid(1);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
}

/* Two processes hand a byte to each other, n times: each waits for the other. */
static void do_switch(long n)
{
	int there[2], back[2];
	char byte = 0;
	pid_t child;

	if (pipe(there) || pipe(back) || (child = fork()) < 0)
		err(2, "pipe or fork");
	for (long i = 0; i < n; i++) {
		int from = child ? back[0] : there[0], to = child ? there[1] : back[1];

		if (child && write(to, &byte, 1) != 1)
			err(2, "write");
		if (read(from, &byte, 1) != 1)
			err(2, "read");
		if (!child && write(to, &byte, 1) != 1)
			err(2, "write");
	}
	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
}

/* n messages of one end of a UNIX socket to the other. */
static void do_unix(long n)
{
	char text[16];
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		err(2, "socketpair");
	while (n-- > 0)
		if (write(ends[0], "hello", 5) != 5 || read(ends[1], text, sizeof(text)) != 5)
			err(2, "UNIX socket");
}

/* Port 7777 of $SERVER, or of this machine; other ends are in other network namespaces. */
static struct sockaddr_in server_address(long port)
{
	const char *server = getenv("SERVER");
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};

	if (inet_pton(AF_INET, server ? server : "127.0.0.1", &at.sin_addr) != 1)
		errx(2, "SERVER is no address");
	return at;
}

/* With little room for what arrives. */
static int listen_at(long port)
{
	struct sockaddr_in at = server_address(port);
	int s = socket(AF_INET, SOCK_STREAM, 0), small = 2048, one = 1;

	if (s < 0 || setsockopt(s, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)) ||
	    setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(s, (struct sockaddr *)&at, sizeof(at)) || listen(s, 8))
		err(2, "server");
	return s;
}

static int connect_to(long port)
{
	struct sockaddr_in at = server_address(port);
	int s = socket(AF_INET, SOCK_STREAM, 0);

	if (connect(s, (struct sockaddr *)&at, sizeof(at)))
		err(2, "connect");
	return s;
}

/* A server for one client. It reads what that sends after n tenths of a second. */
static void do_serve(long n)
{
	int s = accept(listen_at(7777), NULL, NULL);
	char text[4096];

	if (s < 0)
		err(2, "accept");
	usleep((useconds_t)n * 100000);
	while (read(s, text, sizeof(text)) > 0)
		;
}

/* n bytes to that server, a segment each, or as many as there is room for: it does not read yet. */
static void do_segments(long n)
{
	int s = connect_to(7777), one = 1;

	if (setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
		err(2, "TCP_NODELAY");
	for (long i = 0; i < n; i++)
		if (send(s, "x", 1, MSG_DONTWAIT) != 1)
			break;
	usleep(1000000);
}

/* Both ends of a connection, with a message each way. */
static void do_connect(long port)
{
	int server = listen_at(port), client = connect_to(port), end = accept(server, NULL, NULL);
	char text[16];

	if (write(client, "hello", 5) != 5 || read(end, text, sizeof(text)) != 5 ||
	    write(end, "world", 5) != 5 || read(client, text, sizeof(text)) != 5)
		err(2, "TCP");
	close(client);
	close(end);
}

/* Touches n MB, has them written to the swap space, and touches them again a second later. */
static void do_memory(long n)
{
	size_t size = (size_t)n << 20;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		err(2, "mmap");
	memset(memory, 1, size);
	madvise(memory, size, 21 /* MADV_PAGEOUT */);
	sleep(1);
	for (size_t i = 0; i < size; i += 4096)
		memory[i]++;
}

/* A control loop: real-time priority, one round a millisecond. */
static void do_periodic(long n)
{
	struct sched_param param = {.sched_priority = 50};
	struct timespec next;

	if (sched_setscheduler(0, SCHED_FIFO, &param))
		err(2, "sched_setscheduler");
	clock_gettime(CLOCK_MONOTONIC, &next);
	while (n-- > 0) {
		next.tv_nsec += 1000000;
		if (next.tv_nsec >= 1000000000) {
			next.tv_nsec -= 1000000000;
			next.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	}
}

/* Where work() is in this program's file, for a uprobe without a name. */
static void say_where(long n)
{
	unsigned long start, end, offset, at = (unsigned long)work;
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 && at >= start &&
		    at < end)
			printf("0x%lx\n", at - start + offset);
	if (maps)
		fclose(maps);
}

static const struct {
	const char *name;
	void (*run)(long n);
} kinds[] = {
	/* clang-format off */
	{"getppid", call_getppid},
	{"work", do_work},
	{"open", do_open},
	{"read", do_read},
	{"threads", do_threads},
	{"fork", do_fork},
	{"switch", do_switch},
	{"periodic", do_periodic},
	{"unix", do_unix},
	{"serve", do_serve},
	{"segments", do_segments},
	{"connect", do_connect},
	{"memory", do_memory},
	{"where", say_where},
	/* clang-format on */
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!strcmp(argv[1], kinds[i].name)) {
			kinds[i].run(argc > 2 ? strtol(argv[2], NULL, 10) : 1);
			return 0;
		}
	}
	fprintf(stderr, "usage: load KIND [N]\n");
	return 1;
}
