# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording of the scheduler's events of every kernel, carried home: the case evidence makes it.

The oracle computes its tables a second time. Where nothing was lost, how long the tables say that a task ran is what the
kernel's accounting says (sched_stat_runtime), of tasks that began and ended in the trace and ran for some time. Neither
rests on the other: slices go from switch to switch. A task is accounted for a moment before the record of the switch
away from it. If the machine has other load, the emulator may stop between the two: this time is allowed for.
"""
import collections
import os
import sys

import harness

CASE = 'evidence'
LEAST = 500_000_000  # nanoseconds that a task ran: between the accounting and the record of a switch an emulator may stop
MOST = 0.01  # part by which the sums may differ

RAN = '''
select s.pid, sum(s.dur) from slices s where s.pid in (select child_pid from sched_process_fork)
and s.pid in (select args_pid from sched_process_exit) group by s.pid having sum(s.dur) >= %d
''' % LEAST
ACCOUNTED = 'select args_pid, sum(runtime) from sched_stat_runtime group by args_pid'
LEFT = '''
select prev_pid, ts, 0 from sched_switch union all select args_pid, ts, 1 from sched_stat_runtime order by 2
'''


def path_of(t, kernel):
    return os.path.join(t.build, 'guest', kernel, CASE, 'kept.dat')


def ask(t, path, query):
    result = t.run(['sql', '-i', path, '--no-header', '--csv', query], seconds=120)
    if result.trouble or result.status:
        raise ValueError(result.trouble or result.err.decode(errors='replace')[:200])
    return [tuple(map(int, line.split(','))) for line in result.out.decode().split()]


def wrong_tables(t, path):
    argv = [sys.executable, 'tests/tables/oracle_sched.py', t.spur, f'{t.build}/tests/tables/tables_dump', path]
    result = harness.run(argv, memory=None, seconds=240)
    return result.trouble or (result.out + result.err).decode(errors='replace')[:400]


def between(rows):
    """By task: nanoseconds from its accounting to the switch away from it, all of them together."""
    last, sums = {}, collections.Counter()
    for pid, ts, is_accounting in rows:
        if is_accounting:
            last[pid] = ts
        elif pid in last:
            sums[pid] += ts - last.pop(pid)
    return sums


def wrong_sums(t, path):
    if ask(t, path, 'select count(*) from lost') != [(0,)]:
        return 'events were lost'
    ran, accounted = dict(ask(t, path, RAN)), dict(ask(t, path, ACCOUNTED))
    if len(ran) < 3:
        return f'only {len(ran)} tasks ran long enough'
    stops = between(ask(t, path, LEFT.replace('\n', ' ')))
    wrong = [f'{pid} ran {ns} ns, accounted are {accounted.get(pid, 0)}, {stops[pid]} before switches'
             for pid, ns in ran.items()
             if not -MOST * accounted.get(pid, 0) < ns - accounted.get(pid, 0) < MOST * accounted.get(pid, 0) + stops[pid]]
    return '; '.join(wrong[:5])


def check(t, kernel):
    path = path_of(t, kernel)
    t.check(f'{kernel}/evidence/tables', wrong_tables(t, path))
    try:
        t.check(f'{kernel}/evidence/sums', wrong_sums(t, path))
    except ValueError as error:
        t.fail(f'{kernel}/evidence/sums', str(error))
