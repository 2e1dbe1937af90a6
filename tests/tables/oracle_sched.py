#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Computes scheduling tables from the text of a report: oracle_sched.py SPUR TABLES_DUMP FILE

Everything is computed with the whole trace at hand, CPU by CPU and task by task, unlike in the program: slices
from the switches of a CPU, wakeups and states from what happens to a task in order of time. What a trace leaves
open (losses, contradictions) is compared only where the answer is clear: a buffer with losses has its slices
compared, and the rest only in the part before the first loss.
"""
import collections
import re
import subprocess
import sys

LINE = re.compile(r'^(?:(?P<buffer>\S+):)?\s*(?P<comm>.*)-(?P<pid>\d+)\s+\[(?P<cpu>\d+)\](?P<flags>\S*)\s+'
                  r'(?P<sec>\d+)\.(?P<ns>\d{9}): (?P<event>\S+):\s*(?P<text>.*)$')
LOST = re.compile(r'^(?:(?P<buffer>\S+):\s*)?CPU:(?P<cpu>\d+) \[(?P<count>\d*) ?EVENTS DROPPED\]')
SWITCH = re.compile(r'prev_comm=(.*) prev_pid=(\d+) prev_prio=(\d+) prev_state=(\w+) '
                    r'next_comm=(.*) next_pid=(\d+) next_prio=(\d+)')
WAKE = re.compile(r'comm=(.*) pid=(\d+) prio=(\d+)(?: success=(\d+))? target_cpu=(\d+)')
FORK = re.compile(r'parent_comm=(.*) parent_pid=(\d+) child_comm=(.*) child_pid=(\d+)')
LETTERS = 'SDTtXZPI'
DEAD = ('X', 'Z')
IN_INTERRUPT = 0x08 | 0x10 | 0x40

Event = collections.namedtuple('Event', 'ts buffer cpu pid flags name text')


def out_of(argv):
    return subprocess.run(argv, stdout=subprocess.PIPE, check=True).stdout.decode(errors='replace').splitlines()


def read_events(spur, path):
    """The events in order; {(buffer, cpu): [time of the first event behind each loss]}; {buffer: when a CPU had its
    last switch before the first loss}."""
    events, losses, waiting, last, until = [], collections.defaultdict(list), set(), {}, {}
    for line in out_of([spur, 'report', '-R', '-t', '-q', '-i', path]):
        lost = LOST.match(line)
        if lost:
            waiting.add((lost['buffer'] or '', int(lost['cpu'])))
        m = LINE.match(line)
        if not m:
            continue
        flags = re.search(r'0x([0-9a-f]+)', m['flags'])
        e = Event(int(m['sec']) * 10**9 + int(m['ns']), m['buffer'] or '', int(m['cpu']), int(m['pid']),
                  int(flags[1], 16) if flags else 0, m['event'], m['text'])
        events.append(e)
        if (e.buffer, e.cpu) in waiting:
            waiting.discard((e.buffer, e.cpu))
            losses[e.buffer, e.cpu].append(e.ts)
            until[e.buffer] = min(until.get(e.buffer, e.ts), last.get((e.buffer, e.cpu), 0))
        if e.name == 'sched_switch':
            last[e.buffer, e.cpu] = e.ts
    return events, losses, until


def rows_of(dump, path, table):
    names, *rows = [line.split('\t') for line in out_of([dump, path, table])]
    return [dict(zip(names, row)) for row in rows]


def letters(state):
    bits = [letter for i, letter in enumerate(LETTERS) if state >> i & 1]
    return '|'.join(bits or ['R']) + ('+' if state & 0x100 else '')


def switch_of(e):
    m = SWITCH.match(e.text)
    return {'prev_comm': m[1], 'prev_pid': int(m[2]), 'prev_prio': m[3], 'state': letters(int(m[4], 0)),
            'next_comm': m[5], 'next_pid': int(m[6]), 'next_prio': m[7]}


# ---- slices ----

def slices(events, losses, end):
    """Every two switches of a CPU that follow one another without a loss in between make one."""
    rows = []
    lanes = collections.defaultdict(list)
    for e in events:
        lanes[e.buffer, e.cpu].append(e)
    for (buffer, cpu), lane in lanes.items():
        parts, cuts = [[]], set(losses.get((buffer, cpu), []))
        for e in lane:
            if e.ts in cuts:
                cuts.discard(e.ts)
                parts.append([])
            parts[-1].append(e)
        for number, part in enumerate(parts):
            last = number == len(parts) - 1
            rows += slices_between(part, cpu, buffer, end[buffer] if last else None)
    return rows


def slices_between(part, cpu, buffer, end):
    switches = [(e.ts, switch_of(e)) for e in part if e.name == 'sched_switch']
    if not switches:
        return
    ts, s = switches[0]
    first = part[0].ts
    yield (first, ts - first, cpu, s['prev_pid'], s['prev_comm'], s['prev_prio'], s['state'], 'start', buffer)
    for (ts, s), (until, n) in zip(switches, switches[1:]):
        if s['next_pid'] == n['prev_pid']:
            yield (ts, until - ts, cpu, s['next_pid'], s['next_comm'], s['next_prio'], n['state'], '-', buffer)
        else:
            yield (ts, 0, cpu, s['next_pid'], s['next_comm'], s['next_prio'], '-', 'end', buffer)
    ts, s = switches[-1]
    until = part[-1].ts if end is None else end  # the last event before a loss, whatever it is
    yield (ts, until - ts, cpu, s['next_pid'], s['next_comm'], s['next_prio'], '-', 'end', buffer)


# ---- wakeups and states ----

def task_events(events, until):
    """{(buffer, pid): [(ts, what, event, details)]}: switched in or out, woken, or gone without a word."""
    tasks, runs_on = collections.defaultdict(list), {}
    for e in events:
        if e.ts >= until.get(e.buffer, float('inf')):
            continue
        if e.name == 'sched_switch':
            s = switch_of(e)
            ran = runs_on.get((e.buffer, e.cpu), s['prev_pid'])
            if ran != s['prev_pid']:
                tasks[e.buffer, ran].append((e.ts, 'gone', e, s))
            runs_on[e.buffer, e.cpu] = s['next_pid']
            tasks[e.buffer, s['prev_pid']].append((e.ts, 'out', e, s))
            tasks[e.buffer, s['next_pid']].append((e.ts, 'in', e, s))
        elif e.name in ('sched_waking', 'sched_wakeup', 'sched_wakeup_new'):
            m = WAKE.match(e.text)
            if m[4] != '0':
                tasks[e.buffer, int(m[2])].append((e.ts, e.name[6:], e, m))
    for key in [key for key in tasks if key[1] == 0]:
        del tasks[key]
    return tasks


def wakeups(history):
    """(ts, latency, waker pid, in interrupt, new) of a task; a wakeup counts when the last thing was a sleep."""
    before = None
    for i, (ts, what, e, m) in enumerate(history):
        if what in ('in', 'out', 'gone'):
            before = history[i] if what != 'gone' else None
            continue
        if what == 'wakeup' and i and history[i - 1][1] == 'waking':
            continue
        if what != 'wakeup_new' and before and (before[1] == 'in' or before[3]['state'].startswith('R')):
            continue
        after = next((history[k] for k in range(i + 1, len(history)) if history[k][1] != 'wakeup'), None)
        latency = str(after[0] - ts) if after and after[1] == 'in' else '-'
        if what != 'wakeup_new' and not before and after and after[1] == 'out':
            latency = None  # it was running since the start, or came unseen
        yield ts, latency, e.pid, int(bool(e.flags & IN_INTERRUPT)), int(what == 'wakeup_new')
        if what == 'wakeup_new':
            before = None


def runs(history):
    """(ts, dur) of the runs of a task that are complete."""
    switches = [h for h in history if h[1] in ('in', 'out', 'gone')]
    for (ts, what, _, _), (until, then, _, _) in zip(switches, switches[1:]):
        if what == 'in' and then == 'out':
            yield ts, until - ts


WORDS = {'S': 'sleeping', 'I': 'sleeping', 'P': 'sleeping', 'D': 'blocked', 'T': 'stopped', 't': 'stopped'}


def pauses(history):
    """(ts, dur, state, reason) from each switch away to the wakeup or switch that ends it, and from there on."""
    steps = [h for i, h in enumerate(history)
             if h[1] != 'wakeup' or not (i and history[i - 1][1] == 'waking')]
    for i, (ts, what, _, s) in enumerate(steps[:-1]):
        if what == 'out' and s['state'] not in DEAD:
            then = steps[i + 1]
            if s['state'].startswith('R'):
                then = next((steps[k] for k in range(i + 1, len(steps)) if steps[k][1] in ('in', 'out')), None)
                if then and then[1] == 'in':
                    yield ts, then[0] - ts, 'runnable', 'preempted' if '+' in s['state'] else 'yielded'
            elif then[1] != 'out':
                yield ts, then[0] - ts, WORDS[s['state'][0]], '-'


def compare(what, want, got):
    want, got = collections.Counter(want), collections.Counter(got)
    for row in sorted((want - got), key=str)[:3]:
        print(f'{what}: missing {row}')
    for row in sorted((got - want), key=str)[:3]:
        print(f'{what}: unexpected {row}')


def compare_tasks(events, until, dump, path):
    tasks = task_events(events, until)
    before = lambda row: int(row['ts']) < until.get(row['buffer'], float('inf'))
    want, got = [], []
    for (buffer, pid), history in tasks.items():
        want += [(ts, latency, pid, waker, irq, new, buffer)
                 for ts, latency, waker, irq, new in wakeups(history)]
    for row in filter(before, rows_of(dump, path, 'wakeups')):
        got.append((int(row['ts']), row['latency'], int(row['pid']), int(row['waker_pid']),
                    int(row['in_interrupt']), int(row['is_new']), row['buffer']))
    doubtful = {(row[0], row[2], row[-1]) for row in want if row[1] is None}
    want = [row for row in want if row[1] is not None]
    got = [row for row in got if row[1] != '-' or (row[0], row[2], row[-1]) not in doubtful]
    # What is not over when events are lost somewhere may be open or not.
    over = lambda row: row[-1] not in until or (row[1] != '-' and row[0] + int(row[1]) < until[row[-1]])
    want, got = list(filter(over, want)), list(filter(over, got))
    compare('wakeups', want, got)
    rows = [row for row in rows_of(dump, path, 'states') if before(row)]
    ends = lambda row: int(row['ts']) + int(row['dur']) < until.get(row['buffer'], float('inf'))
    rows = list(filter(ends, rows))
    compare('running', [(ts, dur, pid, buffer) for (buffer, pid), h in tasks.items() for ts, dur in runs(h)],
            [(int(r['ts']), int(r['dur']), int(r['pid']), r['buffer']) for r in rows
             if r['state'] == 'running' and r['open'] == '-'])
    came = switched_in(tasks)
    by_switch = lambda r: ((r['buffer'], int(r['pid'])), int(r['ts']) + int(r['dur'])) in came
    paused = ('sleeping', 'blocked', 'stopped')
    compare('pauses', [(ts, dur, pid, state, reason, buffer) for (buffer, pid), h in tasks.items()
                       for ts, dur, state, reason in pauses(h)],
            [(int(r['ts']), int(r['dur']), int(r['pid']), r['state'], r['reason'], r['buffer']) for r in rows
             if (r['open'] == '-' or (r['open'] == 'end' and by_switch(r)))
             and (r['state'] in paused or r['reason'] in ('preempted', 'yielded'))])


def switched_in(tasks):
    """When each task got a CPU."""
    return {(key, ts) for key, history in tasks.items() for ts, what, _, _ in history if what == 'in'}


def check_gapless(rows):
    """Every row of a task begins where the one before ended, unless it is another task."""
    tasks = collections.defaultdict(list)
    for row in rows:
        tasks[row['buffer'], row['pid']].append((int(row['ts']), int(row['dur']), row['state'], row['reason']))
    for key, states in tasks.items():
        states.sort()
        for (ts, dur, state, _), (then, _, _, reason) in zip(states, states[1:]):
            if ts + dur != then and state != 'dead' and reason != 'new':
                print(f'states: {key} has a gap between {ts + dur} and {then}')


# ---- overview ----

def compare_counts(events, dump, path):
    per_cpu = collections.Counter((e.buffer, e.cpu) for e in events)
    compare('cpus', [(*key, n) for key, n in per_cpu.items()],
            [(r['buffer'], int(r['cpu']), int(r['events'])) for r in rows_of(dump, path, 'cpus')])
    per_task = collections.Counter((e.buffer, e.pid) for e in events if e.pid)
    got = collections.Counter()
    for r in rows_of(dump, path, 'tasks'):
        got[r['buffer'], int(r['pid'])] += int(r['events'])
    compare('tasks', [(*key, n) for key, n in per_task.items()], [(*key, n) for key, n in got.items() if n])
    births = {(e.buffer, int(FORK.match(e.text)[4])): int(FORK.match(e.text)[2])
              for e in events if e.name == 'sched_process_fork'}
    compare('parents', [(*key, parent) for key, parent in births.items()],
            [(r['buffer'], int(r['pid']), int(r['ppid'])) for r in rows_of(dump, path, 'tasks')
             if (r['buffer'], int(r['pid'])) in births])


def main():
    spur, dump, path = sys.argv[1:]
    events, losses, until = read_events(spur, path)
    if not events:
        sys.exit(77)
    compare_counts(events, dump, path)
    compare('lost', [(buffer, cpu, ts) for (buffer, cpu), times in losses.items() for ts in times],
            [(r['buffer'], int(r['cpu']), int(r['ts'])) for r in rows_of(dump, path, 'lost')])
    if not any(e.name.startswith('sched_') for e in events):
        return
    whole = max(e.ts for e in events)
    compare('slices', slices(events, losses, collections.defaultdict(lambda: whole)),
            [(int(r['ts']), int(r['dur']), int(r['cpu']), int(r['pid']), r['comm'], r['prio'], r['end_state'],
              r['open'], r['buffer']) for r in rows_of(dump, path, 'slices')])
    compare_tasks(events, until, dump, path)
    check_gapless(rows_of(dump, path, 'states'))


main()
