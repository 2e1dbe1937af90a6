// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A recording in a child of the broker's: session_record() wants a process without threads, and
 * does not return until it is over. What happens to it comes through a pipe, in pieces that are
 * written whole.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "view/broker_parts.h"

_Static_assert(sizeof(struct broker_news) <= PIPE_BUF, "news must be written whole");

static void tell(int fd, const struct broker_news *news)
{
	ssize_t n = write(fd, news, sizeof(*news));

	/* Nobody reads: the recording ends by itself, because the other pipe is closed, too. */
	(void)n;
}

static void on_start(void *arg)
{
	const struct broker_news news = {.kind = NEWS_STARTED};

	tell(*(int *)arg, &news);
}

static void on_status(void *arg, const struct session_status *s)
{
	const struct broker_news news = {.kind = NEWS_STATUS, .status = *s};

	tell(*(int *)arg, &news);
}

/*
 * The folder is the working directory: what leads to it may be somebody else's to change. The name
 * has no folder in it.
 */
static void record(const struct tracefs *fs, const struct request *req,
		   const struct broker_file *file, uint32_t seconds, int stop, int status)
{
	const struct session_options opt = {
		.output = file->name,
		.file = {.version = 7},
		.duration = (uint64_t)seconds * 1000000000,
		.stop_fd = stop,
		.save_fd = -1,
		.started = on_start,
		.status = on_status,
		.arg = &status,
	};
	struct broker_news news = {.kind = NEWS_ENDED};
	struct session_result res = {0};

	if (fchdir(file->folder) != 0)
		news.rc = error_sys(&news.error, -errno, "the folder of the recording");
	else
		news.rc = session_record(fs, req, &opt, &res, &news.error);
	news.status = res.last;
	tell(status, &news);
}

int broker_run_start(struct broker_run *run, const struct tracefs *fs, const struct request *req,
		     const struct broker_file *file, uint32_t seconds, struct spur_error *err)
{
	int stop[2], status[2];

	if (pipe2(stop, O_CLOEXEC) != 0)
		return error_sys(err, -errno, "recording");
	if (pipe2(status, O_CLOEXEC) != 0) {
		int rc = error_sys(err, -errno, "recording");

		close(stop[0]);
		close(stop[1]);
		return rc;
	}
	run->pid = fork();
	if (run->pid == 0) {
		close(stop[1]);
		close(status[0]);
		record(fs, req, file, seconds, stop[0], status[1]);
		_exit(0);
	}
	close(stop[0]);
	close(status[1]);
	run->stop = stop[1];
	run->status = status[0];
	if (run->pid > 0)
		return 0;
	error_sys(err, -errno, "recording");
	run->pid = 0;
	broker_run_close(run);
	return -EAGAIN;
}

bool broker_run_news(struct broker_run *run, struct broker_news *news, int ms, bool *none)
{
	struct pollfd fd = {.fd = run->status, .events = POLLIN};

	*none = false;
	if (poll(&fd, 1, ms) <= 0) {
		*none = true;
		return true;
	}
	return read(run->status, news, sizeof(*news)) == (ssize_t)sizeof(*news);
}

void broker_run_close(struct broker_run *run)
{
	if (run->stop >= 0)
		close(run->stop);
	if (run->status >= 0)
		close(run->status);
	if (run->pid > 0)
		while (waitpid(run->pid, NULL, 0) < 0 && errno == EINTR)
			;
	*run = (struct broker_run){.stop = -1, .status = -1};
}

void broker_run_stop(struct broker_run *run)
{
	if (run->stop >= 0)
		close(run->stop);
	run->stop = -1;
}
