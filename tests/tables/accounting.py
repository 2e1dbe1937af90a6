# SPDX-License-Identifier: GPL-2.0-or-later
"""How long tasks ran, by the table of slices and by the kernel's own accounting (sched_stat_runtime).

An event of accounting says for how long a task ran since the one before, so two of them enclose a known running time. Neither
sum rests on the other: slices go from switch to switch. Each switch adds some microseconds to the difference, so the
sums are those of all tasks, and a recording in which little ran says nothing. While a hypervisor has the CPU, the task that is on it
runs, but the kernel does not account it: such time is allowed for.
"""
import bisect
import collections
import os

LEAST = 100_000_000  # nanoseconds that all tasks together ran
MOST = 0.01  # part by which the sums may differ


def stolen():
    """Nanoseconds for which hypervisors had CPUs of this machine since it was started."""
    with open('/proc/stat', encoding='ascii') as file:
        return int(file.readline().split()[8]) * 1_000_000_000 // os.sysconf('SC_CLK_TCK')


def ask(t, path, query):
    result = t.run(['sql', '-i', path, '--no-header', '--csv', query], seconds=60, output=1 << 30)
    if result.trouble or result.status:
        raise ValueError(result.trouble or result.err.decode(errors='replace')[:200])
    return [tuple(map(int, line.split(','))) for line in result.out.decode().split()]


def by_task(rows):
    tasks = collections.defaultdict(list)
    for pid, *row in sorted(rows):
        tasks[pid].append(row)
    return tasks


def ran_between(slices, since, until):
    first = bisect.bisect(slices, [since, 0])
    return sum(max(0, min(ts + dur, until) - max(ts, since)) for ts, dur in slices[max(first - 1, 0):] if ts < until)


def wrong_sums(t, path, away=0):
    """What is wrong with a recording that has all switches and all accounting, or ''. For `away` nanoseconds hypervisors had CPUs."""
    if ask(t, path, 'select count(*) from lost') != [(0,)]:
        return 'events were lost'
    accounted = by_task(ask(t, path, 'select args_pid, ts, runtime from sched_stat_runtime where args_pid > 0'))
    slices = by_task(ask(t, path, 'select pid, ts, dur from slices where pid > 0'))
    ran = told = 0
    for pid, events in accounted.items():
        ran += ran_between(slices[pid], events[0][0], events[-1][0])
        told += sum(runtime for _, runtime in events[1:])
    if told < LEAST:
        return f'tasks ran for only {told} ns'
    is_right = -MOST * told < ran - told < MOST * told + away
    return '' if is_right else f'tasks ran {ran} ns, accounted are {told}, a hypervisor ran for {away}'
