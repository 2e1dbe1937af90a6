# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces of many million events, made of a short one: its pages again and again, with other times."""
import collections
import os
import struct
import sys

import measure

sys.path.insert(0, os.path.join(measure.HERE, '..', 'tests', 'tables'))
import mktrace

CPUS, TASKS, ROUNDS = 2, 40, 20_000  # rounds on each CPU, of 10 us
FUNCTIONS = 200

Scene = collections.namedtuple('Scene', 'lines per_round')


def scheduling():
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


def calling():
    """Tasks that call functions, three deep; and an event with a stack."""
    address = [0xffffffff81000000 + 0x100 * i for i in range(FUNCTIONS + 1)]
    for i, start in enumerate(address):
        yield f'sym {start:x} function_{i}'
    for cpu in range(CPUS):
        ts = 1_000_000 + cpu
        for i in range(ROUNDS):
            task, funcs = 100 + cpu * TASKS + i // 50 % TASKS, [address[(i // k * 7 + k) % FUNCTIONS] for k in (100, 10, 1)]
            for depth, func in enumerate(funcs):
                yield f'{ts + 500 * depth} {cpu} {task} funcgraph_entry func={func} depth={depth}'
            yield f'{ts + 2000} {cpu} {task} cpu_frequency state={i} cpu_id={cpu}'
            yield f'{ts + 2010} {cpu} {task} kernel_stack size=3 caller={",".join(str(f + 5) for f in reversed(funcs))}'
            for depth, func in reversed(list(enumerate(funcs))):
                begin, end = ts + 500 * depth, ts + 3000 + i % 1000 + 500 * (3 - depth)
                yield f'{end} {cpu} {task} funcgraph_exit func={func} depth={depth} calltime={begin} rettime={end}'
            ts += 10_000


SCHEDULING, CALLING = Scene(scheduling, 4), Scene(calling, 8)


def write(path, events, scene=SCHEDULING):
    """The scene, again and again: its pages with other times."""
    small = mktrace.make(scene.lines())
    head = small[:small.index(b'flyrecord\0')]
    lanes = mktrace.parse(scene.lines())[0]['']
    for lane in lanes.values():
        lane.close()
    repeat = -(-events // (CPUS * ROUNDS * scene.per_round))
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
    return repeat * CPUS * ROUNDS * scene.per_round
