#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""System calls, interrupts, softirqs and block requests, computed once more from the report's text:

    oracle_spans.py SPUR TABLES_DUMP FILE

A dictionary for what is open, and nothing else: rows whose ends are both known must be these. It knows nothing of
losses, so a recording with some is left out.
"""
import collections
import re
import subprocess
import sys

NOTHING_TO_SAY = 77
LINE = re.compile(r'\s*(?P<comm>.+)-(?P<pid>\d+)\s+\[(?P<cpu>\d+)\]\s+(?:\S+\s+)?(?P<ts>\d+\.\d+):\s+(?P<event>\S+):\s*(?P<text>.*)')


def output(*argv):
    return subprocess.run(argv, capture_output=True, check=True).stdout.decode(errors='replace')


def report(spur, path):
    """The report's events: time, CPU, pid, name, text."""
    for line in output(spur, 'report', '-t', '-i', path).splitlines():
        if 'EVENTS DROPPED' in line:
            sys.exit(NOTHING_TO_SAY)
        found = LINE.match(line)
        if found:
            seconds, nanoseconds = found['ts'].split('.')
            yield (int(seconds) * 10 ** 9 + int(nanoseconds.ljust(9, '0')), int(found['cpu']), int(found['pid']),
                   found['event'], found['text'])


def number(text, pattern):
    found = re.search(pattern, text)
    return int(found[1], 0) if found else None


class Spans:
    def __init__(self):
        self.open, self.rows = {}, collections.defaultdict(list)

    def begin(self, table, key, ts, *more):
        self.open.setdefault((table, key), []).append((ts, *more))

    def end(self, table, key, ts, *more):
        begun = self.open.get((table, key))
        if begun:
            first, *rest = begun.pop()
            self.rows[table].append((first, ts - first, *rest, *more))

    def forget(self, table, key):
        self.open.pop((table, key), None)


def compute(events):
    s, raised, ran = Spans(), {}, set()
    for ts, cpu, pid, event, text in events:
        task = pid or -1 - cpu
        if event == 'sys_enter':
            s.forget('syscalls', task)
            s.begin('syscalls', task, ts, pid, number(text, r'NR (-?\d+)'), re.search(r'\((.*)\)', text)[1])
        elif event.startswith('sys_enter_'):
            s.forget('syscalls', task)
            s.begin('syscalls', task, ts, pid, event[len('sys_enter_'):], text)
        elif event == 'sys_exit':
            s.end('syscalls', task, ts, number(text, r'NR -?\d+ = (-?\d+)'))
        elif event.startswith('sys_exit_'):
            s.end('syscalls', task, ts, number(text, r'(0x[0-9a-f]+)'))
        elif event == 'irq_handler_entry':
            irq = number(text, r'irq=(\d+)')
            s.begin('irqs', (cpu, irq), ts, cpu, irq, re.search(r'name=(.*)', text)[1].strip())
        elif event == 'irq_handler_exit':
            s.end('irqs', (cpu, number(text, r'irq=(\d+)')), ts, int('unhandled' not in text))
        elif event.startswith('softirq_'):
            vec = number(text, r'vec=(\d+)')
            if event == 'softirq_raise' and (cpu, vec) in ran:
                raised.setdefault((cpu, vec), ts)
            elif event == 'softirq_entry':
                waited = raised.pop((cpu, vec), None)
                ran.add((cpu, vec))
                s.begin('softirqs', (cpu, vec), ts, cpu, vec, re.search(r'action=(\w+)', text)[1],
                        ts - waited if waited else None)
            elif event == 'softirq_exit':
                s.end('softirqs', (cpu, vec), ts)
        elif event in ('block_rq_issue', 'block_rq_complete'):
            dev, rwbs, rest = text.split(None, 2)
            place = re.search(r'(\d+) \+ (\d+)', rest)
            if event == 'block_rq_issue':
                s.begin('block', (dev, place[1]), ts, dev, int(place[1]), int(place[2]) * 512, rwbs)
            else:
                s.end('block', (dev, place[1]), ts)
    return s.rows


# What to compare: columns of the table in the order of the computed rows.
COLUMNS = {
    'syscalls': ['ts', 'dur', 'pid', 'call', 'args', 'ret'],
    'irqs': ['ts', 'dur', 'cpu', 'irq', 'name', 'handled'],
    'softirqs': ['ts', 'dur', 'cpu', 'vec', 'name', 'latency'],
    'block': ['ts', 'dur', 'device', 'sector', 'bytes', 'rwbs'],
}
TEXTS = {'args', 'name', 'rwbs'}


def value(text):
    if text == '-':
        return None
    return int(text) if re.fullmatch(r'-?\d+', text) else text


def table(dump, path, name, own):
    names, *lines = [line.split('\t') for line in output(dump, path, name).splitlines()]
    for line in lines:
        row = dict(zip(names, line))
        if row['open'] != '-':
            continue
        if name == 'syscalls':
            row['call'] = row['name'] if own else row['nr']
            if own:
                row['ret'] = str(int(row['ret']) % (1 << 64))
        yield tuple(row[c] if c in TEXTS else value(row[c]) for c in COLUMNS[name])


def main():
    spur, dump, path = sys.argv[1:]
    events = list(report(spur, path))
    kinds = {event for _, _, _, event, _ in events}
    own = any(k.startswith(('sys_enter_', 'sys_exit_')) for k in kinds)
    if own and kinds & {'sys_enter', 'sys_exit'}:
        sys.exit(NOTHING_TO_SAY)
    want = compute(events)
    if not any(want.values()):
        print('no spans here', file=sys.stderr)
        sys.exit(NOTHING_TO_SAY)
    for name in COLUMNS:
        got, expected = set(table(dump, path, name, own)), set(want[name])
        for row in sorted(expected - got, key=str)[:3]:
            print(f'{name}: missing {row}')
        for row in sorted(got - expected, key=str)[:3]:
            print(f'{name}: not so {row}')


if __name__ == '__main__':
    main()
