// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A file begins with
 *
 *	u32 magic	byte order; times are in nanoseconds
 *	u16 major, minor
 *	u32 zone, accuracy	both are always 0
 *	u32 most		bytes that a packet can have
 *	u32 link		what packets begin with
 *
 * Each packet is u32 seconds, nanoseconds, length in the file, length of the whole; then its bytes.
 */
#include "script/pcap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "import/sources.h"

#define MAGIC_NS     0xa1b23c4d
#define MOST	     65535
#define LINKTYPE_RAW 101

#define SECOND 1000000000u

struct pcap {
	FILE *file;
};

struct head {
	uint32_t magic;
	uint16_t major, minor;
	uint32_t zone, accuracy, most, link;
};

struct packet_head {
	uint32_t seconds, ns, length, whole;
};

int pcap_create(const char *path, struct pcap **out, struct spur_error *err)
{
	const struct head h = {
		.magic = MAGIC_NS, .major = 2, .minor = 4, .most = MOST, .link = LINKTYPE_RAW};
	struct pcap *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return error_set(err, -ENOMEM, "out of memory");
	rc = source_spare(path, "packets go to a file of another name", err);
	p->file = rc < 0 ? NULL : fopen(path, "we");
	if (rc == 0 && !p->file)
		rc = error_sys(err, -errno, "%s", path);
	if (rc == 0 && (fwrite(&h, sizeof(h), 1, p->file) != 1 || fflush(p->file) != 0))
		rc = error_sys(err, -errno, "%s", path);
	if (rc < 0) {
		pcap_close(p);
		return rc;
	}
	*out = p;
	return 0;
}

int pcap_write(struct pcap *p, uint64_t ns, const void *bytes, uint32_t length, uint32_t whole)
{
	const struct packet_head h = {(uint32_t)(ns / SECOND), (uint32_t)(ns % SECOND), length,
				      whole};

	if (length > MOST)
		return -EMSGSIZE;
	if (fwrite(&h, sizeof(h), 1, p->file) != 1)
		return -errno;
	return length && fwrite(bytes, length, 1, p->file) != 1 ? -errno : 0;
}

int pcap_flush(struct pcap *p)
{
	return fflush(p->file) == 0 ? 0 : -errno;
}

void pcap_close(struct pcap *p)
{
	if (!p)
		return;
	if (p->file)
		fclose(p->file);
	free(p);
}
