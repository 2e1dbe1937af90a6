#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Folds stacks and calls from the text of a report: oracle_flame.py SPUR TABLES_DUMP FILE

Stacks are those the report shows as "=> FUNCTION (ADDRESS)", each of the event that its task had on that CPU before.
Calls are put together from the raw entries and exits with all of them at hand: an exit belongs to the nearest entry
of its depth and function before it that its task has not left yet.
"""
import collections
import re
import subprocess
import sys

LINE = re.compile(r'^(?:(?P<buffer>\S+):)?\s*(?P<comm>.*)-(?P<pid>\d+)\s+\[(?P<cpu>\d+)\]\s*\S*\s+'
                  r'(?P<sec>\d+)\.(?P<ns>\d+): (?P<event>\S+):\s*(?P<text>.*)$')
FRAME = re.compile(r'^=> (?:(\S+) )?\(?([0-9a-f]+)\)?$')
CALL = re.compile(r'func=(?P<func>\S+)(?: \(0x[0-9a-f]+\))? depth=(?P<depth>\d+)'
                  r'(?:.*calltime=(?P<from>[0-9a-f]+) rettime=(?P<to>[0-9a-f]+))?')
NOTHING_TO_SAY = 77


def out_of(argv):
    return subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode(
        errors='replace').splitlines()


def folded(lines):
    return dict((stack, int(n)) for stack, n in (line.rsplit(' ', 1) for line in lines))


def stacks(spur, path):
    """Folded kernel stacks by event: {event: {stack: count}}."""
    counts, last, frames, event = collections.defaultdict(collections.Counter), {}, None, None

    def flush():
        if frames:
            counts[event][';'.join(reversed(frames))] += 1

    for line in out_of([spur, 'report', '-q', '-i', path]):
        frame = FRAME.match(line)
        if frame and frames is not None:
            frames.append(frame[1] or f'0x{frame[2]}')
            continue
        flush()
        frames = None
        m = LINE.match(line)
        if not m:
            continue
        key = m['buffer'], m['cpu'], m['pid']
        if m['event'] == 'kernel_stack':
            event, frames = last.get(key), []
        else:
            last[key] = m['event']
    flush()
    return counts


class Call:
    def __init__(self, func, depth, caller):
        self.func, self.depth, self.caller, self.inner, self.known = func, depth, caller, 0, True

    def stack(self):
        return (self.caller.stack() + ';' if self.caller else '') + self.func


def calls(spur, path):
    """{stack: self time} of calls that the trace shows from entry to exit, and whether all are."""
    times, tasks, clean = collections.Counter(), collections.defaultdict(list), True
    for line in out_of([spur, 'report', '-R', '-q', '-i', path]):
        if 'EVENTS DROPPED' in line:
            clean = False
        m = LINE.match(line)
        c = m and m['event'] in ('funcgraph_entry', 'funcgraph_exit') and CALL.match(m['text'])
        if not c:
            continue
        open_calls = tasks[m['buffer'], m['pid']]
        depth = int(c['depth'])
        if m['event'] == 'funcgraph_entry':
            # Without an exit in between: what is as deep was left unseen.
            clean &= not (open_calls and open_calls[-1].depth >= depth)
            open_calls.append(Call(c['func'], depth, open_calls[-1] if open_calls else None))
            continue
        if not open_calls or open_calls[-1].depth != depth or open_calls[-1].func != c['func']:
            clean = False
            continue
        call = open_calls.pop()
        duration = int(c['to'], 16) - int(c['from'], 16)
        times[call.stack()] += max(duration - call.inner, 0)
        if call.caller:
            call.caller.inner += duration
    return +times, clean


def compare(what, ours, theirs):
    for stack in sorted(set(ours) | set(theirs)):
        if ours.get(stack, 0) != theirs.get(stack, 0):
            print(f'{what}: {stack}: {ours.get(stack, 0)} instead of {theirs.get(stack, 0)}')


def main():
    spur, _, path = sys.argv[1:]
    by_event, compared = stacks(spur, path), False
    for event, counts in by_event.items():
        if event:
            got = folded(out_of([spur, 'flame', '--folded', '--from', 'stacks', '-e', event, path]))
            compare(event, got, counts)
            # The same with the kernel's mark, when no user's stack is in front.
            got = folded(out_of([spur, 'flame', '--folded', '--from', 'samples', '-e', event, path]))
            if all('_[k]' in f for stack in got for f in stack.split(';')):
                compare(event, {s.replace('_[k]', ''): n for s, n in got.items()}, counts)
            compared = True
    times, clean = calls(spur, path)
    if times and clean:
        compare('calls', folded(out_of([spur, 'flame', '--folded', '--from', 'calls', path])), times)
        compared = True
    sys.exit(0 if compared else NOTHING_TO_SAY)


if __name__ == '__main__':
    main()
