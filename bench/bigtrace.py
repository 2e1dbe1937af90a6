# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces of many million scheduling events, made of a short one: its pages again and again, with other times."""
import os
import struct
import sys

import measure

sys.path.insert(0, os.path.join(measure.HERE, '..', 'tests', 'tables'))
import mktrace

CPUS, TASKS, ROUNDS = 2, 40, 20_000  # rounds of four events, on each CPU


def scene():
    """Tasks that wake each other on their CPU, as mktrace reads it."""
    for cpu in range(CPUS):
        ts, running = 1_000_000 + cpu, 0
        for i in range(ROUNDS):
            task = 100 + cpu * TASKS + (i * 7) % (TASKS - 1)
            yield f'{ts} {cpu} {running} sched_waking comm=task{task} pid={task} prio=120 target_cpu={cpu}'
            yield f'{ts + 300} {cpu} {running} sched_wakeup comm=task{task} pid={task} prio=120 target_cpu={cpu}'
            yield (f'{ts + 900 + i % 5000} {cpu} {running} sched_switch prev_comm=task{running} prev_pid={running} '
                   f'prev_state=S next_comm=task{task} next_pid={task}')
            yield (f'{ts + 7000} {cpu} {task} sched_switch prev_comm=task{task} prev_pid={task} prev_state=S '
                   f'next_comm=swapper/{cpu} next_pid=0')
            ts += 10_000


def write(path, events):
    """The scene, again and again: its pages with other times."""
    small = mktrace.make(scene())
    head = small[:small.index(b'flyrecord\0')]
    lanes = mktrace.parse(scene())[0]['']
    for lane in lanes.values():
        lane.close()
    repeat = -(-events // (CPUS * ROUNDS * 4))
    table_end = len(head) + len(b'flyrecord\0') + 16 * CPUS
    at = -(-table_end // mktrace.PAGE) * mktrace.PAGE
    with open(path, 'wb') as out:
        out.write(head + b'flyrecord\0')
        for cpu in range(CPUS):
            size = len(lanes[cpu].pages) * mktrace.PAGE * repeat
            out.write(struct.pack('<QQ', at, size))
            at += size
        out.write(b'\0' * (-table_end % mktrace.PAGE))
        for cpu in range(CPUS):
            for turn in range(repeat):
                for page in lanes[cpu].pages:
                    ts, = struct.unpack_from('<Q', page)
                    out.write(struct.pack('<Q', ts + turn * ROUNDS * 10_000) + page[8:])
    return repeat * CPUS * ROUNDS * 4
