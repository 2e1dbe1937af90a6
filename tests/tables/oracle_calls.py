#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls, stacks and samples, computed once more from the report's text:

    oracle_calls.py SPUR TABLES_DUMP FILE

Calls come from the fields of the events (report -R), a stack per task: every row whose ends are both known must be
one of these, and the other way round. Stacks come from the plain report, where each stands behind its event.
A recording with losses is left out.
"""
import collections
import re
import subprocess
import sys

NOTHING_TO_SAY = 77
LINE = re.compile(r'\s*(?P<comm>.+)-(?P<pid>\d+)\s+\[(?P<cpu>\d+)\]\S*\s+(?:\S+\s+)?(?P<ts>\d+\.\d+):\s+'
                  r'(?P<event>\S+):\s*(?P<text>.*)')


def output(*argv):
    return subprocess.run(argv, capture_output=True, check=True).stdout.decode(errors='replace')


def events(text):
    """Lines of a report that begin an event; what follows one is put behind its text."""
    found = None
    for line in text.splitlines():
        if 'EVENTS DROPPED' in line:
            sys.exit(NOTHING_TO_SAY)
        match = LINE.match(line)
        if match:
            if found:
                yield found
            seconds, nanoseconds = match['ts'].split('.')
            found = {**match.groupdict(), 'ts': int(seconds) * 10 ** 9 + int(nanoseconds.ljust(9, '0')),
                     'cpu': int(match['cpu']), 'pid': int(match['pid'])}
        elif found:
            found['text'] += '\n' + line
    if found:
        yield found


def field(text, name, base=16):
    found = re.search(rf'\b{name}=(?:[^ ]* \()?(?:0x)?(-?[0-9a-f]+)', text)
    return int(found[1], base) if found else None


class Calls:
    """One stack per task; time scheduled out is counted where switches were recorded."""

    def __init__(self):
        self.stacks, self.rows = collections.defaultdict(list), []
        self.off, self.since, self.switches = collections.Counter(), {}, False

    def enter(self, ts, task, func, depth):
        stack = self.stacks[task]
        del stack[depth:]
        stack += [None] * (depth - len(stack))
        stack.append({'ts': ts, 'func': func, 'inner': 0, 'whole': True, 'off': self.off[task]})

    def leave(self, ts, task, func, depth, dur):
        stack = self.stacks[task]
        if len(stack) > depth + 1:
            for call in stack[depth:-1]:
                if call:
                    call['whole'] = False
            del stack[depth + 1:]
        call = stack.pop() if len(stack) == depth + 1 else None
        caller = stack[-1] if stack else None
        if not call or call['func'] != func:
            self.rows.append((ts - dur, dur, func, depth, None, None))
            if caller:
                caller['whole'] = False
            return
        self.rows.append((call['ts'], dur, func, depth, dur - call['inner'] if call['whole'] else None,
                          self.off[task] - call['off'] if self.switches else None))
        if caller:
            caller['inner'] += dur

    def switch(self, ts, prev, task):
        self.switches = True
        self.since[prev] = ts
        if task in self.since:
            self.off[task] += ts - self.since.pop(task)


def compute_calls(text):
    calls, probes = Calls(), collections.defaultdict(list)
    pairs = []
    for e in events(text):
        task = e['pid'] or -1 - e['cpu']
        if task in calls.since and e['event'].startswith('funcgraph'):
            calls.since[task] = e['ts']  # it has not gone yet
        if e['event'] == 'funcgraph_entry':
            calls.enter(e['ts'], task, field(e['text'], 'func'), field(e['text'], 'depth', 10))
        elif e['event'] == 'funcgraph_exit':
            calls.leave(e['ts'], task, field(e['text'], 'func'), field(e['text'], 'depth', 10),
                        field(e['text'], 'rettime') - field(e['text'], 'calltime'))
        elif e['event'] == 'sched_switch':
            calls.switch(e['ts'], field(e['text'], 'prev_pid', 10) or -1 - e['cpu'],
                         field(e['text'], 'next_pid', 10) or -1 - e['cpu'])
        elif '__probe_ip=' in e['text']:
            probes[task, field(e['text'], '__probe_ip')].append(e['ts'])
        elif '__probe_func=' in e['text']:
            func = field(e['text'], '__probe_func')
            if probes[task, func]:
                begun = probes[task, func].pop()
                pairs.append((begun, e['ts'] - begun, func))
    return calls.rows, pairs


def rows(dump, path, table):
    names, *lines = [line.split('\t') for line in output(dump, path, table).splitlines()]
    return [dict(zip(names, line)) for line in lines]


def number(text):
    return None if text == '-' else int(text)


def compare(what, want, got):
    want, got = collections.Counter(want), collections.Counter(got)
    for row in sorted(want - got, key=str)[:3]:
        print(f'{what}: missing {row}')
    for row in sorted(got - want, key=str)[:3]:
        print(f'{what}: not so {row}')
    return bool(want)


def check_calls(spur, dump, path):
    graph, pairs = compute_calls(output(spur, 'report', '-R', '-t', '-i', path))
    got = [r for r in rows(dump, path, 'calls') if r['open'] == '-']
    if graph and pairs:
        return False  # nobody can say which row is whose
    if pairs:
        return compare('calls', pairs, [(int(r['ts']), int(r['dur']), int(r['addr']) % 2 ** 64) for r in got])
    return compare('calls', graph, [(int(r['ts']), int(r['dur']), int(r['addr']) % 2 ** 64, int(r['depth']),
                                     number(r['self']), number(r['off_cpu'])) for r in got])


def check_stacks(spur, dump, path):
    last, want = {}, []
    for e in events(output(spur, 'report', '-t', '-i', path)):
        if e['event'] not in ('kernel_stack', 'user_stack'):
            last[e['cpu']] = e
            continue
        names = [line.split()[1] for line in e['text'].splitlines() if line.startswith('=>')]
        if names:
            of = last.get(e['cpu'])
            want.append((of['ts'], e['cpu'], of['event'], ';'.join(reversed(names))))
    kernel = [r for r in rows(dump, path, 'stacks') if r['kind'] == 'kernel']
    compare('stacks', want, [(int(r['ts']), int(r['cpu']), r['event'], r['stack']) for r in kernel])
    return compare('samples', [(*row[:3], ';'.join(f'{name}_[k]' for name in row[3].split(';'))) for row in want],
                   [(int(r['ts']), int(r['cpu']), r['event'], r['stack']) for r in rows(dump, path, 'samples')])


def main():
    checked = [check(*sys.argv[1:]) for check in (check_calls, check_stacks)]
    if not any(checked):
        sys.exit(NOTHING_TO_SAY)


if __name__ == '__main__':
    main()
