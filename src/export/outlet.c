// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/outlet.h"

#include <errno.h>

#include "base/file.h"

#define OUTLET_LIMIT (1u << 30) /* bytes between two turns */

void outlet_init(struct outlet *o, int fd)
{
	*o = (struct outlet){.fd = fd};
	buf_init(&o->buf, OUTLET_LIMIT);
}

void outlet_free(struct outlet *o)
{
	buf_free(&o->buf);
}

void outlet_empty(struct outlet *o)
{
	if (buf_full(&o->buf) && o->rc == 0)
		o->rc = -ENOMEM;
	if (o->rc == 0)
		o->rc = file_write_fd(o->fd, o->buf.data, o->buf.len);
	o->written += o->buf.len;
	buf_reset(&o->buf);
}
