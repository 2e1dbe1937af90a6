// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/error.h"

#define STEP 65536

int file_read_fd(int fd, const char *path, struct buf *to, struct spur_error *err)
{
	int ret = 0;
	size_t step;
	ssize_t n;

	do {
		/* One byte stays free for the terminator. */
		step = to->limit - to->len < STEP ? to->limit - to->len : STEP;
		if (step < 2 || !buf_room(to, step)) {
			ret = error_sys(err, -EFBIG, "%s", path);
			break;
		}
		n = read(fd, to->data + to->len, step - 1);
		if (n > 0)
			to->len += (size_t)n;
		else if (n < 0 && errno != EINTR)
			ret = error_sys(err, -errno, "%s", path);
	} while (!ret && n);
	buf_str(to);
	return ret;
}

int file_read(const char *path, struct buf *to, struct spur_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return error_sys(err, -errno, "%s", path);
	ret = file_read_fd(fd, path, to, err);
	close(fd);
	return ret;
}

int file_write_fd(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		const ssize_t n = write(fd, p, len);

		if (n < 0 && errno != EINTR)
			return -errno;
		p += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}
