/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of packets, as tcpdump reads them: the format of libpcap with times in nanoseconds and
 * packets that begin with the header of IP (LINKTYPE_RAW).
 */
#ifndef SCRIPT_PCAP_H
#define SCRIPT_PCAP_H

#include <stdint.h>

#include <spur/error.h>

struct pcap;

/* Begins a file; what was there is gone. */
int pcap_create(const char *path, struct pcap **out, struct spur_error *err);

/*
 * Appends `length` bytes of a packet that has `whole`, at a time in nanoseconds since 1970. Errors
 * are returned here or by pcap_flush(), as a negative errno.
 */
int pcap_write(struct pcap *p, uint64_t ns, const void *bytes, uint32_t length, uint32_t whole);

/* A reader of the file sees all packets from now on. */
int pcap_flush(struct pcap *p);

/* NULL is fine. */
void pcap_close(struct pcap *p);

#endif
