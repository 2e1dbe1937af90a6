// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Packets that skboutput() sends, and the files they go to: one for each path, begun before
 * anything is attached, whether packets come or not.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "script/pcap.h"
#include "script/run.h"

struct packets {
	struct pcap **by_action; /* several actions may share a file; NULL: not one of packets */
	size_t nr;
};

/* An earlier action that writes to the same file; or itself. Only those of packets have a file. */
static size_t first_of(const struct unit *u, size_t i)
{
	const struct action *a = u->actions.at[i];

	for (size_t k = 0; a->kind == ACT_PACKET && k < i; k++)
		if (u->actions.at[k]->kind == ACT_PACKET &&
		    strcmp(u->actions.at[k]->format, a->format) == 0)
			return k;
	return i;
}

int packets_open(struct script *s, struct spur_error *err)
{
	const struct unit *u = &s->unit;
	struct packets *p;
	int rc = 0;

	if (u->packets < 0)
		return 0;
	p = calloc(1, sizeof(*p));
	s->packets = p;
	if (p)
		p->by_action = calloc(u->actions.n + 1, sizeof(*p->by_action));
	if (!p || !p->by_action)
		return error_set(err, -ENOMEM, "out of memory");
	p->nr = u->actions.n;
	for (size_t i = 0; i < p->nr && rc == 0; i++) {
		const size_t first = first_of(u, i);

		if (u->actions.at[i]->kind != ACT_PACKET)
			continue;
		if (first < i)
			p->by_action[i] = p->by_action[first];
		else
			rc = pcap_create(u->actions.at[i]->format, &p->by_action[i], err);
	}
	return rc;
}

void packets_close(struct script *s)
{
	struct packets *p = s->packets;

	if (!p)
		return;
	for (size_t i = 0; p->by_action && i < p->nr; i++)
		if (first_of(&s->unit, i) == i)
			pcap_close(p->by_action[i]);
	free(p->by_action);
	free(p);
	s->packets = NULL;
}

void packets_take(struct script *s, const struct action *a, const uint8_t *args, size_t len)
{
	struct pcap *to =
		s->packets && a->number < s->packets->nr ? s->packets->by_action[a->number] : NULL;
	struct packet_record head;
	uint32_t skip;
	int rc;

	if (!to || len < sizeof(head))
		return;
	memcpy(&head, args, sizeof(head));
	len -= sizeof(head);
	if (head.length < len)
		len = head.length;
	skip = (uint64_t)a->top < len ? (uint32_t)a->top : (uint32_t)len;
	rc = pcap_write(to, head.ns + (uint64_t)s->out.clock_offset[a->div],
			args + sizeof(head) + skip, (uint32_t)len - skip,
			head.whole > skip ? head.whole - skip : 0);
	if (rc < 0)
		run_fail(s, rc, a->format);
}

void packets_flush(struct script *s)
{
	struct packets *p = s->packets;

	for (size_t i = 0; p && i < p->nr && !s->ended; i++) {
		int rc = p->by_action[i] ? pcap_flush(p->by_action[i]) : 0;

		if (rc < 0)
			run_fail(s, rc, s->unit.actions.at[i]->format);
	}
}
