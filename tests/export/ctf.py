# SPDX-License-Identifier: GPL-2.0-or-later
"""CTF: babeltrace2 prints the events that the report shows, with the same fields, times and losses."""
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import harness

sys.path.insert(1, 'tests/tables')
import mktrace

LINE = re.compile(r'\[(\d+)\.(\d{9})\] (?:(\S+) )?(\S+): (\{.*\})$')
DISCARDED = re.compile(r'WARNING: Tracer discarded (\d+) events?')
TOKEN = re.compile(r'\s*("(?:\\.|[^"\\])*"|\[\d+\] = |0x[0-9A-F]+|-?\d+|[{}\[\],]|[A-Za-z_]\w* = )')
SANITIZED = ('g-all-events', 'g-instances-v6', 'be-stack')

LOSING = """
date 0x5f5e100
1000 0 0 sched_switch prev_comm=swapper/0 next_comm=worker next_pid=100
1000 1 lost 3
1500 1 0 irq_handler_entry irq=5 name=eth0
2000 0 lost 17
2500 0 100 irq_handler_entry irq=5 name="a \\"b\\" c"
2600 0 100 sched_process_exec filename=/bin/true pid=100
2700 0 lost
2800 0 100 kernel_stack size=3 caller=0xffffffff81000000,2,3
2900 0 100 sys_enter id=5 args=1,2,3,4,5,0xffffffffffffffff
buffer other
1800 0 100 sys_exit id=5 ret=-1
"""


TWO_LOSSES = """
1000 0 0 irq_handler_entry irq=1 name=a
1100 0 lost 5
1200 0 0 irq_handler_exit irq=1
1300 0 lost 7
1400 0 0 irq_handler_entry irq=2 name=b
"""

# Readers take an underscore away from names, and the length of an array is a field of its own.
NAMES = '1000 0 7 odd_names x=1 _x=2 caller_length=3 caller=4,5'


class Fields:
    """Reads what babeltrace2 prints of an event: groups of NAME = VALUE in braces."""

    def __init__(self, text):
        self.text, self.at = text, 0

    def token(self):
        match = TOKEN.match(self.text, self.at)
        if not match:
            raise ValueError(f'not understood: {self.text[self.at:self.at + 60]!r}')
        self.at = match.end()
        return match[1]

    def peek(self):
        match = TOKEN.match(self.text, self.at)
        return match[1] if match else ''

    def value(self):
        token = self.token()
        if token[0] == '"':
            return re.sub(r'\\(.)', lambda m: {'n': '\n', 't': '\t', 'r': '\r'}.get(m[1], m[1]), token[1:-1])
        if token == '[':
            return self.items(']')
        return int(token, 0)

    def items(self, end):
        found = []
        while self.peek() != end:
            if self.peek() == ',':
                self.token()
            self.token()
            found.append(self.value())
        self.token()
        return found

    def group(self):
        assert self.token() == '{'
        found = {}
        while self.peek() != '}':
            if self.peek() == ',':
                self.token()
            name = self.token()
            found[name[:-3]] = self.value()
        self.token()
        return found

    def groups(self):
        found = [self.group()]
        while self.peek() == ',':
            self.token()
            found.append(self.group())
        return found


def babeltrace(path):
    """Its events and how many it says were discarded."""
    done = subprocess.run(['babeltrace2', '--clock-seconds', '--no-delta', path], capture_output=True, check=False)
    if done.returncode:
        raise ValueError(done.stderr.decode(errors='replace')[-300:])
    events = []
    for line in done.stdout.decode(errors='replace').splitlines():
        match = LINE.match(line)
        if not match:
            raise ValueError(f'not understood: {line[:200]}')
        groups = Fields(match[5]).groups()
        fields = groups[2] if len(groups) > 2 else {}
        system, _, name = match[4].partition(':')
        events.append({'ts': int(match[1]) * 10**9 + int(match[2]), 'system': system, 'event': name,
                       'cpu': groups[0]['cpu_id'], 'pid': groups[1]['pid'], 'comm': groups[1]['comm'],
                       'fields': {n: v for n, v in fields.items() if not (n[0] == '_' and n.endswith('_length'))}})
    return events, sum(map(int, DISCARDED.findall(done.stderr.decode(errors='replace'))))


def plain(value):
    """A value of the report: pointers are texts there, numbers have a sign here and none there."""
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, str) and re.fullmatch('0x[0-9a-f]+', value):
        return int(value, 16)
    return value


def same(ours, theirs):
    """One that is shown with base 16 has no sign; what is not in the record is nothing."""
    if ours is None:
        return not theirs
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(ours, int) and isinstance(theirs, int) and ours < 0 <= theirs:
        return theirs in (ours + (1 << bits) for bits in (8, 16, 32, 64))
    return ours == theirs


def key(event):
    return event['ts'], event['cpu'], event['event'], event['pid'], json.dumps(sorted(event['fields']))


def difference(report, theirs):
    if len(report) != len(theirs):
        return f'{len(theirs)} events, not {len(report)}'
    unmatched = collections.defaultdict(list)
    for event in theirs:
        unmatched[key(event)].append(event)
    for event in report:
        fields = {name: plain(value) for name, value in event['fields'].items()}
        found = next((e for e in unmatched[key(event)]
                      if e['comm'] == event['comm'] and e['system'] == event['system'] and
                      all(same(value, e['fields'][name]) for name, value in fields.items())), None)
        if not found:
            return f'{event} is not among {unmatched[key(event)][:3]}'
        unmatched[key(event)].remove(found)
    return ''


def stored_names(t, path):
    """Names of tasks as the trace has them: what a report learns from switches comes too late for another CPU's stream."""
    lines = map(json.loads, t.run(['report', '-N', '--json', path]).out.decode().splitlines())
    return {(e['ts'], e['cpu'], e['pid']): e['comm'] for e in lines if 'comm' in e}


def check_trace(t, name, path, args=(), lost=None):
    report = [json.loads(line) for line in t.run(['export', '--to', 'json', '-o', '-', *args, path]).out.decode().splitlines()]
    stored = stored_names(t, path)
    for event in report:
        if event.get('comm') in (None, stored[event['ts'], event['cpu'], event['pid']]):
            continue
        if stored[event['ts'], event['cpu'], event['pid']] != '<...>':
            t.fail(name, f'{event} is called {stored[event["ts"], event["cpu"], event["pid"]]} in the trace')
            return
        event['comm'] = '<...>'
    if lost is None:
        lost = sum(e['lost'] if e['lost'] > 0 else 1 for e in report if 'lost' in e)
    with tempfile.TemporaryDirectory() as directory:
        done = t.run(['export', '--to', 'ctf', '-o', f'{directory}/out', *args, path])
        if done.trouble or done.status:
            t.fail(name, done.trouble or done.err.decode())
            return
        try:
            theirs, discarded = babeltrace(f'{directory}/out')
        except ValueError as error:
            t.fail(name, error)
            return
        files = os.listdir(directory)
    t.check(name, difference(report, theirs) or ('' if discarded == lost else f'{discarded} discarded, not {lost}') or
            ('' if files == ['out'] else files))


def check_recordings(t):
    for name, folder in harness.recordings().items():
        if t.sanitized and name not in SANITIZED:
            continue
        if b'"ts"' not in t.run(['report', '--json', f'{folder}/trace.dat']).out:
            continue  # a latency tracer's: text
        check_trace(t, f'ctf: {name}', f'{folder}/trace.dat')
    check_trace(t, 'ctf: without interrupts', f'{harness.recordings()["g-all-events"]}/trace.dat', ['-I', '-S'])
    check_trace(t, 'ctf: a filter and stacks', f'{harness.recordings()["be-stack"]}/trace.dat', ['-F', 'sched_switch'])


def check_made(t):
    with tempfile.TemporaryDirectory() as directory:
        path = f'{directory}/made.dat'
        with open(path, 'wb') as out:
            out.write(mktrace.make(LOSING.splitlines()))
        check_trace(t, 'ctf: losses, buffers and wall time', path)
        # What was lost before an event that is left out was lost all the same.
        check_trace(t, 'ctf: a filter', path, ['-F', 'irq_handler_entry'], 21)
        with open(f'{directory}/losses.dat', 'wb') as out:
            out.write(mktrace.make(TWO_LOSSES.splitlines()))
        check_trace(t, 'ctf: losses on both sides of what is left out', f'{directory}/losses.dat', ['-F', 'irq_handler_entry'], 12)
        done = t.run(['export', '--to', 'ctf', '-o', f'{directory}/two', path, 'data/sample.dat'])
        total = sum(t.run(['report', '--json', p]).out.count(b'\n') for p in (path, 'data/sample.dat'))
        events, _ = babeltrace(f'{directory}/two')
        t.check('ctf: several traces', '' if done.status == 0 and len(events) == total else f'{len(events)}, not {total}')


def check_names(t):
    with tempfile.TemporaryDirectory() as directory:
        with open(f'{directory}/names.dat', 'wb') as out:
            out.write(mktrace.make([NAMES]))
        done = t.run(['export', '--to', 'ctf', '-O', 'tracer=a"b\\c', '-o', f'{directory}/out', f'{directory}/names.dat'])
        try:
            fields = [e['fields'] for e in babeltrace(f'{directory}/out')[0]]
        except ValueError as error:
            t.fail('ctf: names that are too much alike', error)
            return
    t.check('ctf: names that are too much alike', done.trouble or
            ('' if len(fields) == 1 and list(fields[0].values())[:3] == [1, 2, 3] and fields[0]['caller_2'][::8] == [4, 5] else fields))


def check_folder(t):
    with tempfile.TemporaryDirectory() as directory:
        os.mkdir(f'{directory}/full')
        with open(f'{directory}/full/mine', 'w', encoding='utf-8'):
            pass
        done = t.run(['export', '--to', 'ctf', '-o', f'{directory}/full', 'data/sample.dat'])
        t.check('ctf: a folder with files is left alone', '' if done.status == 2 and b'exists' in done.err and
                os.listdir(f'{directory}/full') == ['mine'] and os.listdir(directory) == ['full'] else done)
        done = t.run(['export', '--to', 'ctf', '-o', '-', 'data/sample.dat'])
        t.check('ctf: no standard output', '' if done.status == 1 and b'standard output' in done.err else done)


def check(t):
    check_folder(t)
    if not shutil.which('babeltrace2'):
        t.skip('ctf', 'babeltrace2 is not installed')
        return
    check_recordings(t)
    check_made(t)
    check_names(t)
