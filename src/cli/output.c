// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Standard output and standard error. What a command prints holds text of files and of the kernel:
 * on its way to a terminal, or to the pager on one, everything in it that would drive that becomes
 * '?'. Elsewhere the bytes are passed on as they are. Where spur adds colours, text of strangers is
 * cleaned before; see base/safe.h.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/safe.h"
#include "cli/cli.h"

#define ERROR_CAP 600
#define LINE_CAP  (1u << 20)

void cli_error(const char *fmt, ...)
{
	char text[ERROR_CAP];
	struct buf shown;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	/* A message is one line, wherever it goes. */
	for (char *c = text; (c = strpbrk(c, "\n\t"));)
		*c = '?';
	buf_init(&shown, ERROR_CAP);
	buf_put_safe(&shown, text, strlen(text));
	fflush(stdout);
	fprintf(stderr, "spur: %s\n", buf_str(&shown));
	buf_free(&shown);
}

static int write_shown(const void *data, size_t len,
		       void (*put)(struct buf *b, const char *s, size_t n))
{
	struct buf shown;
	int rc;

	if (fflush(stdout) != 0)
		return -errno;
	if (!cli_on_terminal())
		return file_write_fd(STDOUT_FILENO, data, len);
	buf_init(&shown, len + 1);
	put(&shown, data, len);
	rc = shown.full ? -ENOMEM : file_write_fd(STDOUT_FILENO, shown.data, shown.len);
	buf_free(&shown);
	return rc;
}

int cli_write(const void *data, size_t len)
{
	return write_shown(data, len, buf_put_safe);
}

int cli_write_coloured(const void *data, size_t len)
{
	return write_shown(data, len, buf_put_shown);
}

void cli_put(const char *text, size_t len)
{
	struct buf shown;

	if (!cli_on_terminal()) {
		fwrite(text, 1, len, stdout);
		return;
	}
	buf_init(&shown, len + 1);
	buf_put_safe(&shown, text, len);
	fwrite(shown.data, 1, shown.len, stdout);
	buf_free(&shown);
}

void cli_printf(const char *fmt, ...)
{
	struct buf text;
	va_list ap;

	buf_init(&text, LINE_CAP);
	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	cli_put(text.data, text.len);
	buf_free(&text);
}
