# SPDX-License-Identifier: GPL-2.0-or-later
"""Chrome's trace events: always JSON; slices, moments and counters are as many as `spur sql` has rows and have the same
times and fields; slices of a thread lie within each other or beside each other."""
import collections
import json
import os
import sys
import tempfile
from decimal import Decimal

import harness
import perfetto

sys.path.insert(1, os.path.join(harness.ROOT, 'bench'))
import bigtrace

SAMPLE = 'data/sample.dat'
FEW = ['be-sched-v7', 'g-all-events', 'g-fgraph-events', 'g-instances-v6', 'g-stacktrace-v7']
EXACT = 1 << 53
SLICED = ('sched_switch', 'irq_handler_entry', 'irq_handler_exit', 'softirq_entry', 'softirq_exit', 'kernel_stack',
          'user_stack', 'fgraph_retaddr_entry')
SLICED_STARTS = ('sys_', 'funcgraph_')
SLICED_SYSTEMS = ('raw_syscalls', 'syscalls', 'ftrace')

# The category of slices, the rows they must be, and what of a slice is compared with these.
SLICES = {
    'sched': ('select ts, dur, cpu, pid, comm, prio, end_state from slices where pid is not 0',
              lambda e, a: (a.get('pid'), a.get('comm', ''), a.get('prio'), a.get('end_state'))),
    'state': ('select ts, dur, pid, state, reason, cpu from states where pid != 0',
              lambda e, a: (e['name'], a.get('reason'), a.get('cpu'))),
    'irq': ('select ts, dur, cpu, name, irq from irqs', lambda e, a: (e['name'], a['irq'])),
    'softirq': ('select ts, dur, cpu, name, vec from softirqs', lambda e, a: (e['name'], a['vec'])),
    'syscall': ('select ts, dur, pid, nr, args, ret from syscalls',
                lambda e, a: (a['nr'], a.get('args'), exact(a.get('ret')))),
    'call': ('select ts, dur, pid, func from calls', lambda e, a: (e['name'],)),
}
BY_TASK = ('state', 'syscall', 'call')


def exact(value):
    return int(value, 0) if isinstance(value, str) else value


def nanoseconds(text):
    return int(Decimal(text) * 1000)


def read(t, *args):
    done = t.run(['export', '--to', 'chrome', '-o', '-', *args], output=1 << 30, seconds=60)
    if done.trouble or done.status not in (0, 3, 4):
        raise RuntimeError(done.trouble or done.err.decode())
    made = json.loads(done.out, parse_float=str)
    for event in made['traceEvents']:
        if 'ts' in event:
            event['ts'] = nanoseconds(event['ts']) + int(made['otherData']['start_ns'])
        if 'dur' in event:
            event['dur'] = nanoseconds(event['dur'])
            args = event['args']
            if 'ts_us' in args:
                args['ts_us'] = nanoseconds(args['ts_us']) + int(made['otherData']['start_ns'])
            if 'dur_us' in args:
                args['dur_us'] = nanoseconds(args['dur_us'])
    return made['traceEvents']


def check_nesting(events):
    lanes = collections.defaultdict(list)
    for e in events:
        if e['ph'] == 'X':
            lanes[e['pid'], e['tid']].append((e['ts'], -e['dur'], e['name']))
    for lane, slices in lanes.items():
        open_ = []
        for ts, minus, name in sorted(slices):
            end = ts - minus
            while open_ and open_[-1] <= ts:
                open_.pop()
            if open_ and end > open_[-1]:
                return f'{name} of {lane} at {ts} goes beyond the slice around it'
            open_.append(end)
    return ''


def check_slices(t, path, events):
    """Those of each category are the rows of a table, with what tells them apart."""
    got = collections.defaultdict(list)
    for e in events:
        if e['ph'] == 'X':
            ts, dur = (e['args'].get(f'{n}_us', e[n]) for n in ('ts', 'dur'))  # of a call that had to be cut
            got[e['cat']].append((ts, dur, e['pid'] if e['cat'] in BY_TASK else e['tid'],
                                  *SLICES[e['cat']][1](e, e['args'])))
    for category, (query, _) in SLICES.items():
        rows = [tuple(r.values()) for r in perfetto.ask(t, path, query)]
        rows = [(r[0], max(r[1] or 0, 0), *(v if v != '' or category == 'sched' else None for v in r[2:])) for r in rows]
        if category == 'sched':
            rows = [r[:4] + (r[4] or '',) + r[5:] for r in rows]
        if sorted(rows, key=str) != sorted(got[category], key=str):
            odd = set(rows) ^ set(got[category])
            return f'{category}: {len(got[category])} slices, {len(rows)} rows: {sorted(odd, key=str)[:4]}'
    return ''


def is_sliced(system, name):
    return name in SLICED or (name.startswith(SLICED_STARTS) and system in SLICED_SYSTEMS)


def value_of(value):
    return value & perfetto.BITS if isinstance(value, int) else value


def moment_value(value):
    """Numbers that JavaScript cannot hold are texts."""
    if isinstance(value, str) and (value.startswith('0x') or value.lstrip('-').isdigit()):
        try:
            number = int(value, 0)
        except ValueError:
            return value
        return number & perfetto.BITS if abs(number) > EXACT else value
    return value_of(value)


def check_moments(t, path, events):
    got = collections.defaultdict(list)
    for e in events:
        if e['ph'] == 'i' and e['cat'] not in ('stack', 'lost'):
            got[e['name']].append((e['ts'], e['pid'], {n: moment_value(v) for n, v in e['args'].items()}))
        elif e['ph'] == 'C':
            got[e['name'].split()[0]].append((e['ts'], e['args']['state']))
    for kind in perfetto.ask(t, path, 'select distinct system, event from events'):
        name = kind['event']
        if is_sliced(kind['system'], name):
            continue
        rows = perfetto.ask(t, path, f'select * from "{name}"')
        if name in ('cpu_idle', 'cpu_frequency'):
            wanted = [(r['ts'], r['state'] - (1 << 32) if r['state'] >> 31 else r['state']) for r in rows]
        else:
            wanted = [(r['ts'], r['pid'], {n: value_of(v) for n, v in r.items() if n not in ('ts', 'pid', 'comm') and
                                           v is not None and (n, v) != ('buffer', '')}) for r in rows]
        mine = got.pop(name, [])
        if sorted(mine, key=str) != sorted(wanted, key=str):
            odd = next((pair for pair in zip(sorted(mine, key=str), sorted(wanted, key=str)) if pair[0] != pair[1]), None)
            return f'{name}: {len(mine)} moments, {len(wanted)} rows: {odd}'
    return f'moments of {list(got)} are in no table' if got else ''


def check_others(t, path, events):
    stacks = sorted((e['ts'], e['pid'], e['args']['stack']) for e in events if e['ph'] == 'i' and e['cat'] == 'stack')
    rows = sorted((r['ts'], r['pid'], r['stack']) for r in perfetto.ask(t, path, 'select ts, pid, stack from samples'))
    if stacks != rows:
        return f'{len(stacks)} stacks, {len(rows)} rows'
    lost = sorted((e['ts'], e['tid']) for e in events if e['ph'] == 'i' and e['cat'] == 'lost')
    rows = sorted((r['ts'], r['cpu']) for r in perfetto.ask(t, path, 'select ts, cpu from lost'))
    if lost != rows:
        return f'losses {lost} are not {rows}'
    arrows = sorted((e['id'], e['ph']) for e in events if e['ph'] in 'sf')
    rows = perfetto.ask(t, path, 'select count(*) as n from wakeups where latency >= 0 and pid != 0 and waker_pid != 0')
    if arrows != [(i, p) for i in range(1, rows[0]['n'] + 1) for p in 'fs']:
        return f'{len(arrows)} ends of arrows, not {2 * rows[0]["n"]}'
    begins, ends = ({e['id']: e['ts'] for e in events if e['ph'] == p} for p in 'sf')
    rows = perfetto.ask(t, path, 'select ts, latency from wakeups where latency >= 0 and pid != 0 and waker_pid != 0')
    if sorted((begins[i], ends[i] - begins[i]) for i in begins) != sorted((r['ts'], r['latency']) for r in rows):
        return 'arrows do not lead from a wakeup to where the task runs'
    places = {(e['pid'], e['tid']) for e in events if e['ph'] in 'Xi'}
    named = {(e['pid'], e['tid']) for e in events if e['ph'] == 'M' and e['name'] == 'thread_name'}
    return f'threads without a name: {places - named}' if places - named else ''


def check_trace(t, name, path):
    events = read(t, path)
    t.check(f'chrome: {name}', check_slices(t, path, events) or check_moments(t, path, events) or
            check_others(t, path, events) or check_nesting(events))


def check(t):
    for name, folder in harness.recordings().items():
        if not t.sanitized or name in FEW:
            check_trace(t, name, f'{folder}/trace.dat')
    with tempfile.TemporaryDirectory() as folder:
        for name, text in perfetto.MADE.items():
            check_trace(t, name, perfetto.write(f'{folder}/made.dat', text))
        both = read(t, SAMPLE, perfetto.write(f'{folder}/made.dat', perfetto.LOSSY))
        cpus = {e['pid'] for e in both if e['ph'] == 'X' and e['cat'] == 'sched'}
        t.check('chrome: several files', check_nesting(both) or ('' if len(cpus) == 2 else cpus))
        every = sorted(r['ts'] for r in perfetto.ask(t, SAMPLE, 'select ts from events'))
        middle = every[len(every) // 2]
        late = read(t, SAMPLE, '--since', f'{middle}ns')
        rows = perfetto.ask(t, SAMPLE, f"select count(*) as n from events where ts >= {middle} and event = 'sched_waking'")
        moments = sum(e['ph'] == 'i' and e['name'] == 'sched_waking' for e in late)
        t.check('chrome: a range', '' if moments == rows[0]['n'] > 0 else f'{moments}, not {rows[0]["n"]}')
        if not t.sanitized:
            bigtrace.write(f'{folder}/large.dat', 100_000)
            check_trace(t, '100000 events', f'{folder}/large.dat')


if __name__ == '__main__':  # python3 tests/export/chrome.py BUILD TRACE: any other trace
    DRIVER = harness.Driver('export', sys.argv[1])
    check_trace(DRIVER, sys.argv[2], sys.argv[2])
    DRIVER.finish()
