#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The tree of calls against the table it is made from:

    oracle_graph.py SPUR TABLES_DUMP FILE

Every call of the table must be in the tree once, with its task, time and duration; braces must be balanced, and what is
inside a call indented below it. Both orders must have the same lines. With little memory (tree_small) the same calls
must be there, but what stands where they begin may be without a duration.
"""
import collections
import os
import re
import subprocess
import sys

NOTHING_TO_SAY = 77
LINE = re.compile(r'\s*(?P<ts>\d+\.?\d*) \| +(?P<cpu>\d+)\) (?:(?P<mark>[ +!#*@$]) +(?P<dur>\d+\.\d{3}) us| {16}) \|  '
                  r'(?P<indent> *)(?P<text>.*)')
IRQ = re.compile(r'.*\) +(==========>|<==========)  \|$')
TITLE = re.compile(r'(?P<comm>.*)-(?P<pid>\d+)(?: on CPU \d+)?(?: in (?P<buffer>.*))?$')
CALL = re.compile(r'(?P<name>.+?)\(\)(?P<rest>;| (?:/\* .* \*/ )?\{$)')
END = re.compile(r'\} /\* (?P<name>.+?)(?: ret=[-0-9a-fx]+)?(?:, (?:end|begin) not recorded)? \*/$')
MARKS = [(10 ** 9, '$'), (10 ** 8, '@'), (10 ** 7, '*'), (10 ** 6, '#'), (10 ** 5, '!'), (10 ** 4, '+'), (-1, ' ')]


def output(*argv):
    return subprocess.run(argv, capture_output=True, check=True).stdout.decode(errors='replace')


def nanoseconds(text):
    """A time as the report shows it, with nine digits or, of another clock, with twelve."""
    whole, _, part = text.partition('.')
    return int(whole) * 10 ** len(part) + int(part or 0)


class Tree:
    """Reads the text of a tree; what is wrong with it is in self.wrong. With `whole`, durations stand at both ends."""

    def __init__(self, text, whole=True):
        self.unknown = -1 if whole else None
        self.calls, self.wrong, self.lines = collections.Counter(), [], collections.Counter()
        self.open, self.task, self.in_irq = collections.defaultdict(list), None, collections.Counter()
        for line in text.splitlines():
            self.take(line)
        self.wrong += [f'{task}: {stack[-1][1]} is not closed' for task, stack in self.open.items() if stack]
        self.wrong += [f'{task}: an interrupt does not end' for task, n in self.in_irq.items() if n]

    def take(self, line):
        if not line or line.startswith('#'):
            return
        irq, found = IRQ.match(line), LINE.fullmatch(line)
        if irq:
            self.in_irq[self.task] += 1 if irq[1].endswith('>') else -1
        elif found:
            self.lines[self.task, line] += 1
            self.take_line(line, found)
        elif TITLE.match(line):
            title = TITLE.match(line)
            self.task = (title['buffer'], int(title['pid']), line)
        else:
            self.wrong.append(f'what is {line!r}?')

    def take_line(self, line, found):
        stack, depth = self.open[self.task], len(found['indent']) // 2
        ts, dur = nanoseconds(found['ts']), found['dur'] and int(found['dur'].replace('.', ''))
        call, end = CALL.match(found['text']), END.match(found['text'])
        if dur is not None and found['mark'] != next(mark for ns, mark in MARKS if dur > ns):
            self.wrong.append(f'the mark is wrong: {line}')
        if end:
            begun = stack.pop() if stack else None
            if not begun or begun[:2] != (depth, end['name']) or begun[2] not in (dur, self.unknown):
                self.wrong.append(f'{line} does not end {begun}')
            else:
                self.calls[(*self.task[:2], begun[3], dur, end['name'])] += 1
        elif stack and depth <= stack[-1][0]:
            self.wrong.append(f'not inside of {stack[-1]}: {line}')
        if call and not found['text'].startswith('/*'):
            if call['rest'] == ';':
                self.calls[(*self.task[:2], ts, dur, call['name'])] += 1
            else:
                stack.append((depth, call['name'], dur, ts))


def rows(dump, path, table):
    names, *lines = [line.split('\t') for line in output(dump, path, table).splitlines()]
    return [dict(zip(names, line)) for line in lines]


def table_calls(dump, path):
    calls = rows(dump, path, 'calls')
    top = next((row['buffer'] for row in calls if int(row['id']) >> 40 == 0), '')
    return collections.Counter((None if row['buffer'] == top else row['buffer'], int(row['pid']), int(row['ts']),
                                None if row['open'] != '-' else int(row['dur']), row['func']) for row in calls)


def main():
    spur, dump, path = sys.argv[1:]
    want = table_calls(dump, path)
    if not want:
        sys.exit(NOTHING_TO_SAY)
    small = os.path.join(os.path.dirname(dump), 'tree_small')
    trees = [Tree(output(spur, 'report', '-q', '-t', f'--graph={order}', path)) for order in ('task', 'time')]
    trees += [Tree(output(small, path, order, nodes, size), whole=False)
              for order in ('task', 'time') for nodes, size in (('40', '1'), ('200', '3000'))]
    for tree in trees:
        for row in sorted(want - tree.calls, key=str)[:3]:
            print(f'missing: {row}')
        for row in sorted(tree.calls - want, key=str)[:3]:
            print(f'not so: {row}')
        for text in tree.wrong[:3]:
            print(text)
    if trees[0].lines != trees[1].lines:
        print('the two orders show different lines')


if __name__ == '__main__':
    main()
