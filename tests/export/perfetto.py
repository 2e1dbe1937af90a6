# SPDX-License-Identifier: GPL-2.0-or-later
"""Perfetto: decoded with protoc's schema, every event is compared with what `spur sql` shows; and what Perfetto makes of
the events (who runs where, interrupts, system calls, functions) with spur's own rows."""
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile

import harness
import wire

sys.path.insert(1, os.path.join(harness.ROOT, 'tests', 'tables'))
sys.path.insert(1, os.path.join(harness.ROOT, 'bench'))
import bigtrace
import mktrace

SAMPLE = 'data/sample.dat'
FEW = ['be-sched-v7', 'g-all-events', 'g-fgraph-events', 'g-instances-v6', 'g-stacktrace-v7', 'g-syscalls-all']
BOOTTIME, REALTIME = 6, 1
BEGIN, INSTANT = 1, 3  # types of track events
BITS = (1 << 64) - 1
USUAL = ('ts', 'cpu', 'pid', 'comm', 'buffer')
# Fields that hold the number of a function's name, and the column that has the name.
SYMBOLS = {'func': 'func_sym', 'caller': 'caller_sym', 'function': 'function_sym'}
STACKS = ('kernel_stack', 'user_stack')
PRINTS = ('print', 'bprint', 'bputs')
RAW = ('sys_enter', 'sys_exit')

Event = collections.namedtuple('Event', 'ts cpu pid name fields')


class Decoded:
    """An export, with the events of each buffer as a list in order of time."""

    def __init__(self, schema, data):
        self.packets = schema.decode('.Trace', data)['packet']
        self.events = collections.defaultdict(list)  # by sequence
        self.tracks, self.begun, self.unknown = {}, {}, []  # names, by number; times; begin, end and name of the track
        self.lost = collections.defaultdict(list)    # by sequence: CPU and time of the first event behind
        self.samples, self.instants, self.symbols, self.stacks = [], [], {}, {}
        self.running = {}
        self.trouble = ''
        self.shift = 0
        seen = set()
        for packet in self.packets:
            sequence = packet['trusted_packet_sequence_id']
            self._state(packet, sequence, seen)
            self._intern(packet.get('interned_data', {}), sequence)
            if 'ftrace_events' in packet:
                self._bundle(packet['ftrace_events'], sequence)
            if 'perf_sample' in packet:
                self._sample(packet, sequence)
            if 'track_event' in packet:
                self._track_event(packet['timestamp'], packet['track_event'])
            if 'track_descriptor' in packet:
                self.tracks[packet['track_descriptor']['uuid']] = packet['track_descriptor']['name']
            clocks = {c['clock_id']: c['timestamp'] for c in packet.get('clock_snapshot', {}).get('clocks', [])}
            if REALTIME in clocks:
                self.shift = clocks[REALTIME] - clocks[BOOTTIME]

    def _track_event(self, ts, event):
        """Losses are moments; where nothing is known of a CPU there are slices, each begun and ended."""
        kind, track = event['type'], event['track_uuid']
        if kind == INSTANT:
            self.instants.append((ts, event))
        elif kind == BEGIN:
            self.begun[track] = ts
        else:
            self.unknown.append((self.begun.pop(track), ts, self.tracks[track]))

    def _state(self, packet, sequence, seen):
        """What was told before may only be used when the sequence has been begun."""
        flags = packet.get('sequence_flags', 0)
        if flags & 1:
            seen.add(sequence)
        if flags & 2 and sequence not in seen:
            self.trouble = f'sequence {sequence} is used before it has begun'

    def _intern(self, data, sequence):
        for symbol in data.get('kernel_symbols', []):
            key = sequence, symbol['iid']
            if key in self.symbols:
                self.trouble = f'symbol {key} is told twice'
            self.symbols[key] = symbol['str'].decode()
        names = {n['iid']: n['str'].decode() for n in data.get('function_names', [])}
        for frame in data.get('frames', []):
            kernel = frame['mapping_id'] == 1
            self.stacks[sequence, 'frame', frame['iid']] = names[frame['function_name_id']] + ('_[k]' if kernel else '')
        for stack in data.get('callstacks', []):
            frames = [self.stacks[sequence, 'frame', f] for f in stack['frame_ids']]
            self.stacks[sequence, stack['iid']] = ';'.join(frames)

    def _sample(self, packet, sequence):
        s = packet['perf_sample']
        self.samples.append((packet['timestamp'], s['cpu'], s['tid'], self.stacks[sequence, s['callstack_iid']]))

    def _bundle(self, bundle, sequence):
        """Both forms of events by time. Of one time Perfetto takes them in any order: no compact one may share it."""
        cpu, out = bundle['cpu'], []
        compact = bundle.get('compact_sched', {})
        names = compact.get('intern_table', [])
        for prefix, columns in (('switch', ('prev_state', 'next_pid', 'next_prio', 'next_comm_index')),
                                ('waking', ('pid', 'target_cpu', 'prio', 'comm_index', 'common_flags'))):
            values = [compact.get(f'{prefix}_{c}', []) for c in ('timestamp',) + columns]
            if len({len(v) for v in values}) != 1:
                self.trouble = f'columns of {prefix} are not of one length'
            ts = 0
            for delta, *row in zip(*values):
                ts = (ts + delta) & BITS
                row = dict(zip(columns, row))
                for name in [n for n in row if n.endswith('_index')]:
                    row[name[:-6]] = names[row.pop(name)]
                out.append(Event(ts, cpu, None, f'sched_{prefix}', row))
        for event in bundle.get('event', []):
            ts, pid = event.pop('timestamp'), event.pop('pid')
            (name, value), = event.items()
            out.append(Event(ts, cpu, pid, name, value))
        times = collections.Counter(e.ts for e in out if e.name != 'sched_wakeup')
        if any(e.pid is None and times[e.ts] > 1 for e in out):
            self.trouble = f'a compact event of CPU {cpu} has the time of another one'
        out.sort(key=lambda e: e.ts)
        if bundle.get('lost_events'):
            self.lost[sequence].append((cpu, out[0].ts if out else None))
            self.running.pop((sequence, cpu), None)
        self.events[sequence] += [self._whole(e, sequence) for e in out]

    def _whole(self, event, sequence):
        """What Perfetto takes for the task that runs, where an event does not say."""
        key = sequence, event.cpu
        before = self.running.get(key, ())
        fields = dict(event.fields)
        if event.name == 'sched_waking' and event.pid is None:
            if not before:
                self.trouble = f'nobody runs on {key} at a compact wakeup'
            return event._replace(pid=next(iter(before), None))
        for name in [n for n in fields if n in SYMBOLS]:
            fields[SYMBOLS[name]] = self.symbols.get((sequence, fields[name]))
        if event.name != 'sched_switch':
            return event._replace(fields=fields)
        if event.pid is None:
            if not before:
                self.trouble = f'nobody runs on {key} at a compact switch'
            fields.update(zip(('prev_pid', 'prev_prio', 'prev_comm'), before))
            event = event._replace(pid=fields.get('prev_pid'))
        self.running[key] = fields['next_pid'], fields.get('next_prio'), fields['next_comm']
        return event._replace(fields=fields)


def export(t, path, *more):
    done = t.run(['export', '--to', 'perfetto', '-o', '-', *more, path], output=1 << 30, seconds=60)
    return done


def ask(t, path, query):
    done = t.run(['sql', '--json', path, query], output=1 << 30, seconds=60)
    if done.trouble or done.status not in (0, 3, 4):
        raise RuntimeError(f'{query}: {done.trouble or done.err.decode()}')
    return json.loads(done.out or '[]')


def own_name(column):
    """SQL had to rename fields that are called as what every record has."""
    base = column[5:] if column.startswith('args_') else column
    return base if base.removesuffix('_name').removesuffix('_sym') in USUAL else column


def plain(value):
    return value & BITS if isinstance(value, int) else value


class Rows:
    """What `spur sql` says about a trace: the records of every event type."""

    def __init__(self, t, path):
        info = json.loads(t.run(['info', '--json', path]).out)
        self.buffers = list(dict.fromkeys(c['buffer'] for c in info['cpus'])) or ['']
        self.rows = {}
        for kind in ask(t, path, 'select distinct system, event from events'):
            self.rows[kind['event']] = ask(t, path, f'select * from "{kind["event"]}"')
        for name in ('bprint', 'bputs'):
            if name in self.rows:
                texts = ask(t, path, f"select text from events where event = '{name}'")
                for row, text in zip(self.rows[name], texts):
                    row['buf'] = text['text']

    def of(self, name, buffer):
        return [r for r in self.rows.get(name, []) if r['buffer'] == buffer]


def by_cpu(events):
    cpus = collections.defaultdict(list)
    for e in events:
        cpus[e.cpu].append(e)
    return cpus


def difference(name, row, event, shift, exact):
    """Why a decoded event is not this row."""
    expected = {own_name(c): plain(v) for c, v in row.items() if c not in USUAL and v is not None}
    if (event.ts + shift, event.cpu, event.pid) != (row['ts'], row['cpu'], row['pid']):
        return f'{name}: {event} is not {row}'
    fields = {n: plain(v) for n, v in event.fields.items()}
    if name == 'sys_enter' and isinstance(fields.get('args'), list):
        fields['args'] = ' '.join(str(a) for a in fields['args'])
    for field in SYMBOLS:
        if fields.get(SYMBOLS[field]):
            fields[field] = expected.get(field)
        if SYMBOLS[field] not in expected:
            fields.pop(SYMBOLS[field], None)
    if not exact:  # the message has not all fields of the event
        fields.pop('common_flags', None)
        expected = {f: v for f, v in expected.items() if f in fields}
        missing = {'sched_switch': 7, 'sched_waking': 4, 'sched_wakeup': 4, 'sys_enter': 1, 'sys_exit': 2}.get(name, 1)
        if len(fields) < missing:
            return f'{name}: only {fields}'
    return '' if fields == expected else f'{name}: {fields} is not {expected}'


def compare_kind(name, rows, events, shift, exact):
    rows_of = collections.defaultdict(list)
    for row in rows:
        rows_of[row['cpu']].append(row)
    events_of = by_cpu(events)
    for cpu in set(rows_of) | set(events_of):
        if len(rows_of[cpu]) != len(events_of[cpu]):
            return f'{name}: {len(events_of[cpu])} events on CPU {cpu}, not {len(rows_of[cpu])}'
        for row, event in zip(rows_of[cpu], events_of[cpu]):
            why = difference(name, row, event, shift, exact)
            if why:
                return why
    return ''


def generic_fields(value):
    return {f['name']: next(v for k, v in f.items() if k != 'name') for f in value.get('field', []) if len(f) > 1}


def sort_out(events):
    """Events by name; generic ones by the name they carry, with their fields, in a table of their own."""
    own, generic = collections.defaultdict(list), collections.defaultdict(list)
    for e in events:
        if e.name == 'generic':
            generic[e.fields['event_name']].append(e._replace(fields=generic_fields(e.fields)))
        else:
            own[e.name].append(e)
    return own, generic


def check_calls_own(rows, buffer, own, generic, shift):
    """syscalls:sys_enter_NAME are told as system calls."""
    for kind, field in (('sys_enter_', 'args'), ('sys_exit_', 'ret')):
        wanted = []
        for name in rows.rows:
            if name.startswith(kind) and name not in generic:
                for row in rows.of(name, buffer):
                    args = [plain(v) for c, v in row.items() if c not in USUAL and not c.startswith('_') and
                            isinstance(v, int) and c != 'nr']
                    wanted.append((row['ts'], row['cpu'], row['pid'], row.get('__syscall_nr', row.get('nr')), args))
        got = [(e.ts + shift, e.cpu, e.pid, e.fields['id'],
                [plain(a) for a in (e.fields.get('args', []) if field == 'args' else [e.fields['ret']])])
               for e in own.get(kind[:-1], [])]
        if sorted(wanted) != sorted(got):
            return f'{kind}: {len(got)} calls are not {len(wanted)} rows'
    return ''


def drawn_calls(rows_of):
    """Of records of system calls, by event, those that are drawn: the second entry and the first exit of a call, as in its row."""
    last, drawn = {}, {}
    for name, r in sorted(((n, r) for n, rows in rows_of.items() for r in rows), key=lambda n_r: n_r[1]['ts']):
        call = (name.startswith('sys_enter'), r['cpu'], r.get('id', r.get('__syscall_nr', r.get('nr'))))
        key = (name, r['ts'], r['cpu'], r['pid'])
        before = last.pop(r['pid'], None)
        if before and before[1] == (call, name not in RAW) and r['ts'] - before[0][1] <= 20000:
            if not call[0]:
                continue
            del drawn[before[0]]
        else:
            last[r['pid']] = (key, (call, name in RAW))
        drawn[key] = call[2]
    return drawn


def check_calls_both(rows, names, own, generic, shift):
    """Of both kinds of a call's events, one is drawn."""
    drawn = drawn_calls({n: rows.rows[n] for n in names})
    for kind in RAW:
        got = [(e.ts + shift, e.cpu, e.pid, e.fields['id']) for e in own.get(kind, [])]
        wanted = [(*key[1:], nr) for key, nr in drawn.items() if key[0].startswith(kind)]
        if sorted(got) != sorted(wanted):
            return f'{kind}: {sorted(got)} are not {sorted(wanted)}'
    return next((why for n in names if (why := compare_kind(
        n, [r for r in rows.rows[n] if (n, r['ts'], r['cpu'], r['pid']) not in drawn], generic.get(n, []), shift, True))), '')


def check_events(rows, out):
    """Every record is there once, with its fields."""
    owners = {}
    for index, buffer in enumerate(rows.buffers):
        own, generic = sort_out(out.events.get(index + 1, []))
        raw = any(rows.of(n, buffer) for n in RAW)
        named = {n for n in rows.rows if n.startswith(('sys_enter_', 'sys_exit_')) and n not in generic} if not raw else set()
        calls = [n for n in rows.rows if n in RAW or n.startswith(('sys_enter_', 'sys_exit_'))]
        both = raw and len(rows.buffers) == 1 and set(calls) - set(RAW)
        if both:
            named = set(calls)
        own['print'] = sorted(own['print'] + [e._replace(fields={f: v for f, v in e.fields.items() if f != 'buffer'})
                                              for e in generic.pop('print', [])], key=lambda e: e.ts)
        for name in set(rows.rows) - set(STACKS) - named:
            expected = rows.of(name, buffer)
            if buffer:
                for e in generic.get(name, []):
                    if e.fields.pop('in_buffer' if 'in_buffer' in e.fields else 'buffer', None) != buffer:
                        return f'{name}: not of {buffer}'
            if expected and own.get('print' if name in PRINTS else name) and \
                    not generic.get(name):
                why = ''
                if name in PRINTS:
                    expected = sorted((r for n in PRINTS for r in rows.of(n, buffer)), key=lambda r: r['ts'])
                why = compare_kind('print' if name in PRINTS else name, expected,
                                   own['print' if name in PRINTS else name], out.shift, False)
                owners.setdefault(name, []).append(buffer)
            else:
                why = compare_kind(name, expected, generic.get(name, []), out.shift, True)
            if why:
                return why
        why = check_calls_both(rows, calls, own, generic, out.shift) if both else \
            check_calls_own(rows, buffer, own, generic, out.shift) if named else ''
        if why:
            return why
        if 'sched_waking' not in rows.rows and own.get('sched_wakeup'):
            why = compare_kind('sched_waking', rows.of('sched_wakeup', buffer), own['sched_waking'], out.shift, False)
            if why:
                return why
    twice = [name for name, buffers in owners.items() if len(buffers) > 1 and name not in PRINTS]
    return f'{twice} are drawn for several buffers' if twice else ''


# ---- what Perfetto makes of it ----

def lost_marks(out, sequence):
    return {(cpu, ts) for cpu, ts in out.lost.get(sequence, [])}


def pairs(out, begins, ends, key, match):
    """Slices that begin with one event and end with another, as (buffer, key, begin, end)."""
    for sequence, events in out.events.items():
        marks, open_ = lost_marks(out, sequence), collections.defaultdict(list)
        for e in sorted(events, key=lambda e: e.ts):
            if (e.cpu, e.ts) in marks:
                open_.clear()
            stack = open_[key(e)]
            if e.name in begins:
                stack.append(e)
            elif e.name in ends:
                while stack and not match(stack[-1], e):
                    stack.pop()
                if stack:
                    yield sequence, stack.pop(), e


def slices(out):
    for sequence, events in out.events.items():
        marks, running = lost_marks(out, sequence), {}
        for e in sorted(events, key=lambda e: e.ts):
            if (e.cpu, e.ts) in marks:
                running.pop(e.cpu, None)
            if e.name == 'sched_switch':
                if e.cpu in running and running[e.cpu].fields['next_pid'] == e.fields['prev_pid']:
                    b = running[e.cpu]
                    yield (b.ts + out.shift, e.ts - b.ts, e.cpu, b.fields['next_pid'], b.fields.get('next_prio'))
                running[e.cpu] = e


def irq_slices(out):
    for _, a, b in pairs(out, ['irq_handler_entry'], ['irq_handler_exit'], lambda e: e.cpu,
                         lambda a, b: a.fields['irq'] == b.fields['irq']):
        yield a.ts + out.shift, b.ts - a.ts, a.cpu, a.fields['irq']


def softirq_slices(out):
    for _, a, b in pairs(out, ['softirq_entry'], ['softirq_exit'], lambda e: e.cpu,
                         lambda a, b: a.fields['vec'] == b.fields['vec']):
        yield a.ts + out.shift, b.ts - a.ts, a.cpu, a.fields['vec']


def syscall_slices(out):
    for _, a, b in pairs(out, ['sys_enter'], ['sys_exit'], lambda e: e.pid,
                         lambda a, b: a.fields['id'] == b.fields['id']):
        yield a.ts + out.shift, b.ts - a.ts, a.pid, a.fields['id'], b.fields['ret']


def call_slices(out):
    def func(e):
        return e.fields.get('func_sym') or e.fields['func']

    for _, a, b in pairs(out, ['funcgraph_entry'], ['funcgraph_exit'],
                         lambda e: e.pid or (e.cpu,), lambda a, b: func(a) == func(b)):
        yield a.ts + out.shift, a.pid, func(a) if isinstance(func(a), str) else hex(func(a))


# What is drawn, the rows it must be, and whether rows may be missing that need more than Perfetto knows.
DRAWN = (
    ('slices', slices, 'select ts, dur, cpu, pid, prio from slices where open is null and pid is not null', 'sched_switch'),
    ('interrupts', irq_slices, 'select ts, dur, cpu, irq from irqs where open is null', 'irq_handler_entry'),
    ('softirqs', softirq_slices, 'select ts, dur, cpu, vec from softirqs where open is null', 'softirq_entry'),
    ('system calls', syscall_slices, 'select ts, dur, pid, nr, ret from syscalls where open is null', 'sys_enter'),
    ('calls', call_slices, "select ts, pid, func from calls where open is null and depth is not null and addr != 0",
     'funcgraph_entry'),
)


def is_contradicted(t, path, drawn):
    """Perfetto knows switches alone; other records may show that somebody else ran in between."""
    ts, dur, cpu = drawn[:3]
    return bool(ask(t, path, f'select 1 from slices where pid is null and cpu = {cpu} and ts >= {ts} and ts < {ts + dur}'))


def check_drawn(t, path, out):
    for name, draw, query, event in DRAWN:
        drawn = sorted(draw(out))
        if not any(e.name == event for events in out.events.values() for e in events):
            continue
        rows = sorted(tuple(r.values()) for r in ask(t, path, query))
        if len({b for b in out.events}) > 1:  # rows of all buffers; one of them is drawn
            if set(drawn) - set(rows):
                return f'{name}: {sorted(set(drawn) - set(rows))[:2]} is in no row'
        elif name == 'slices':
            wrong = set(rows) - set(drawn) or {s for s in set(drawn) - set(rows) if not is_contradicted(t, path, s)}
            if wrong:
                return f'{name}: {sorted(wrong)[:2]} is only drawn, or only in rows'
        elif drawn != rows:
            return f'{name}: drawn {sorted(set(drawn) - set(rows))[:2]}, in rows {sorted(set(rows) - set(drawn))[:2]}'
    return ''


def check_losses(t, path, rows, out):
    losses = ask(t, path, 'select * from lost')
    wanted = [(r['buffer'], r['cpu'], r['ts'], r['events'], r['since']) for r in losses]
    got = []
    for ts, event in out.instants:
        notes = {a['name']: a.get('int_value', a.get('string_value')) for a in event['debug_annotations']}
        since = notes.get('since')
        got.append((notes.get('buffer', ''), notes['cpu'], ts + out.shift, notes.get('events'),
                    since + out.shift if since is not None else None))
    if sorted(wanted, key=str) != sorted(got, key=str):
        return f'losses {got} are not {wanted}'
    flagged = {(rows.buffers[s - 1], cpu, ts + out.shift) for s, marks in out.lost.items() for cpu, ts in marks
               if ts is not None}
    # No bundle comes after the end of a recording that was cut.
    missing = {(r['buffer'], r['cpu'], r['ts']) for r in losses if r['open'] not in ('end', 'both')} - flagged
    # A bundle tells of a loss also where the record behind it is a stack, which is no event of a bundle.
    return f'no bundle tells of the loss {missing}' if missing and not out.samples else ''


def unknown_stretches(rows):
    """Time, duration and name of the track of each. A task's track has the name that the task has in its first one."""
    names = {}
    for r in rows:
        of = f'CPU {r["cpu"]}' if r['pid'] is None else f'{r["comm"]}-{r["pid"]}' if r['comm'] else r['pid']
        yield r['ts'], r['dur'], names.setdefault((r['buffer'], r['pid'], r['pid'] is None and r['cpu']), f'{of}: unknown')


STRETCHES = ("select ts, dur, cpu, pid, comm, buffer from slices where pid is null union all select * from (select ts, dur, cpu, pid, "
             "comm, buffer from states where state = 'unknown' and dur > 0 order by ts)")


def check_unknown(t, path, out):
    wanted = [(ts - out.shift, ts + dur - out.shift, name) for ts, dur, name in unknown_stretches(ask(t, path, STRETCHES))]
    if out.begun or sorted(wanted) != sorted(out.unknown):
        return f'unknown: {sorted(set(out.unknown) - set(wanted))[:3]}, not {sorted(set(wanted) - set(out.unknown))[:3]}'
    return ''


def check_samples(t, path, out):
    wanted = sorted((r['ts'], r['cpu'], r['pid'], r['stack']) for r in
                    ask(t, path, 'select ts, cpu, pid, stack from samples where stack is not null'))
    got = sorted((ts + out.shift, cpu, tid, stack) for ts, cpu, tid, stack in out.samples)
    return '' if wanted == got else f'{len(got)} samples, not {len(wanted)}, or others: {got[:1]} {wanted[:1]}'


def check_order(rows, out):
    """Times never go back on a CPU, unless the trace's do."""
    for index, buffer in enumerate(rows.buffers):
        last = {}
        for e in out.events.get(index + 1, []):
            if e.ts < last.get(e.cpu, 0):
                return f'CPU {e.cpu} of "{buffer}": {e.ts} behind {last[e.cpu]}'
            last[e.cpu] = e.ts
    return ''


def check_head(out):
    first = out.packets[0]
    clocks = [c['clock_id'] for c in first.get('clock_snapshot', {}).get('clocks', [])]
    if BOOTTIME not in clocks or first['clock_snapshot']['primary_trace_clock'] != BOOTTIME:
        return f'no clock at the start: {first}'
    tree = [p['process_tree'] for p in out.packets if 'process_tree' in p]
    if len(tree) != 1:
        return f'{len(tree)} process trees'
    pids = [p['pid'] for p in tree[0].get('processes', [])] + [h['tid'] for h in tree[0].get('threads', [])]
    return 'a task stands twice in the process tree' if len(pids) != len(set(pids)) else ''


def check_protoc(schema, data):
    """protoc reads the same, and knows every field."""
    done = subprocess.run(['protoc', '--decode=Trace', '-Itests/export', 'perfetto.proto'], input=data, check=True,
                          stdout=subprocess.PIPE)
    ours = list(schema.text('.Trace', schema.decode('.Trace', data)))
    theirs = done.stdout.decode().splitlines()
    for a, b in zip(ours, theirs):
        if a != b:
            return f'protoc: {b}, not {a}'
    return '' if len(ours) == len(theirs) else f'protoc prints {len(theirs)} lines, not {len(ours)}'


def check_trace(t, schema, name, path, protoc=True):
    done = export(t, path)
    if done.trouble or done.status not in (0, 3, 4):
        t.fail(name, done.trouble or done.err.decode())
        return
    rows, out = Rows(t, path), Decoded(schema, done.out)
    why = out.trouble or check_events(rows, out) or check_drawn(t, path, out) or check_losses(t, path, rows, out) or \
        check_unknown(t, path, out) or \
        check_samples(t, path, out) or check_order(rows, out) or check_head(out)
    if not why and protoc:
        why = check_protoc(schema, done.out)
    t.check(name, why)


# ---- traces that are made ----

LOSSY = '''
comm 100 worker
uname x86_64
1000 0 0 switch swapper/0:0 R worker:100
2000 0 100 switch worker:100 S other:101
2500 1 0 switch swapper/1:0 R third:102
3000 0 lost 17
3000 0 100 switch worker:100 S swapper/0:0
4000 0 0 waking worker:100 0
4500 0 0 switch swapper/0:0 R worker:100
5000 0 lost
5000 0 100/h irq_handler_entry irq=5 name=eth0
5100 0 100/h irq_handler_exit irq=5 ret=1
6000 0 100 waking other:101 1
6500 1 102 sys_enter id=0 args=1,2,3,4,5,6
6600 1 102 sys_exit id=0 ret=-2
'''

# Names that are no text, long ones, a task that is renamed while it runs or is boosted, one woken by a third.
STRANGE = '''
comm 100 "a\\"b\\\\"
comm 101 <script>
date 0x5f5e100
1000 0 0 switch swapper/0:0 R "a b:c:100:120"
1500 0 100 rename "a b:c:100:120" ré
2000 0 100 switch ré:100 S "\x01\x7f:101"
3000 0 101 switch "\x01\x7f:101:98" D fifteen-letters:102
3500 0 102 waking é:103 1
3600 0 7 waking é:103 1
4000 0 102 switch fifteen-letters:102 S swapper/0:0
4100 0 0 wakeup é:103 0
4200 0 0 sched_process_exec filename=/bin/ä pid=103 old_pid=103
4300 0 103 task_newtask pid=200 comm=thread clone_flags=0x10f00
4400 0 103 task_newtask pid=201 comm=process clone_flags=0x11
4500 0 103 sched_blocked_reason pid=102 caller=0xffffffff81000010 io_wait=1
4600 0 103 cpu_frequency state=1200000 cpu_id=0
sym ffffffff81000000 wait_here
sym ffffffff81001000 end
'''

# The same switches in two buffers: one is drawn, the other is still there.
DOUBLE = '''
1000 0 0 switch swapper/0:0 R worker:100
2000 0 100 switch worker:100 S swapper/0:0
buffer two
1001 0 0 switch swapper/0:0 R worker:100
2001 0 100 switch worker:100 S swapper/0:0
2101 0 0 softirq_entry vec=1
2201 0 0 softirq_exit vec=1
'''

ONLY_WAKEUPS = '''
1000 0 0 switch swapper/0:0 R worker:100
2000 0 100 wakeup other:101 1
3000 0 100 switch worker:100 S swapper/0:0
'''

# Functions with and without a name, and a call that was recorded to end behind the begin of the next one.
CALLS = '''
sym ffffffff81000000 outer
sym ffffffff81001000 end
1000 0 100 funcgraph_entry func=0xffffffff81000000 depth=0
1100 0 100 funcgraph_entry func=0x4000 depth=1
1300 0 100 funcgraph_exit func=0x4000 depth=1 calltime=1100 rettime=1350
1310 0 100 funcgraph_entry func=0x5000 depth=1
1400 0 100 funcgraph_exit func=0x5000 depth=1 calltime=1310 rettime=1400
1500 0 100 funcgraph_exit func=0xffffffff81000000 depth=0 calltime=1000 rettime=1500
1600 0 100 funcgraph_entry func=0x4000 depth=0
1700 0 100 funcgraph_exit func=0x4000 depth=0 calltime=1600 rettime=1700
'''

BACKWARDS = '''
5000 0 0 switch swapper/0:0 R worker:100
6000 0 100 switch worker:100 S swapper/0:0
2000 0 page
2000 0 0 switch swapper/0:0 R worker:100
3000 0 100 switch worker:100 S swapper/0:0
'''

# Switches in one buffer, wakeups in another one that has events first, interrupts and calls in a third.
SPREAD = '''
buffer wakeups
900 0 0 waking worker:100 0
950 0 0 wakeup worker:100 0
2900 1 0 waking other:101 1
buffer
1000 0 0 switch swapper/0:0 R worker:100
2000 0 100 switch worker:100 S swapper/0:0
3000 1 0 switch swapper/1:0 R other:101
4000 1 101 switch other:101 S swapper/1:0
buffer rest
uname x86_64
1100 0 100 sys_enter_read __syscall_nr=0 fd=3 buf=4096 count=10
1200 0 100/h irq_handler_entry irq=5 name=eth0
1300 0 100/h irq_handler_exit irq=5 ret=1
1400 0 100 sys_exit_read __syscall_nr=0 ret=10
1500 0 100 sys_enter_openat __syscall_nr=257 dfd=-100 filename=4096
1600 0 100 sys_exit_openat __syscall_nr=257 ret=-2
1700 0 100 sys_enter_futex __syscall_nr=-5 uaddr=1
1800 0 100 cpu_frequency state=1000 cpu_id=0
1900 0 100 own_buffer buffer=7
'''

# A clock that counts milliseconds: many events of one time, in their order.
SAME_TIMES = '''
1000000 0 0 switch swapper/0:0 R worker:100
1000000 0 100 switch worker:100 S swapper/0:0
1000000 0 0 waking worker:100 0
1000000 0 0 switch swapper/0:0 R worker:100
2000000 0 100 waking other:101 0
2000000 0 100 switch worker:100 S other:101
2000000 0 101 switch other:101 S swapper/0:0
2000000 0 0 waking worker:100 0
2000000 0 0 switch swapper/0:0 R worker:100
3000000 0 100 waking other:101 0
3000000 0 100 switch worker:100 R+ other:101
3000000 0 101 switch other:101 S worker:100
4000000 0 100 switch worker:100 S swapper/0:0
'''

# What Android's programs write is drawn; other markers are events, also if they begin like these.
MARKS = '''
1000 0 100 print ip=4096 buf="B|100|slice"
1100 0 100 print ip=4096 buf="Error: not the end of it"
1200 0 100 print ip=4096 buf="C|100|counter|-17"
1300 0 100 print ip=4096 buf="C|100|counter|many"
1400 0 100 print ip=4096 buf="hello"
1500 0 100 print ip=4096 buf="Begin|100|x"
1600 0 100 print ip=4096 buf="B|x|y"
1700 0 100 print ip=4096 buf="E|100"
1800 0 100 print ip=4096 buf="S|100|async|1"
1900 0 100 print ip=4096 buf="F|100|async|1"
2000 0 100 print ip=4096 buf="S|100|async"
2100 0 100 print ip=4096 buf="I|100|now"
2200 0 100 print ip=4096 buf="N|100|track|now"
2300 0 100 print ip=4096 buf="G|100|track|slice|2"
2400 0 100 print ip=4096 buf="H|100|track|slice|2"
2500 0 100 print ip=4096 buf="G|100|track|slice|3"
2600 0 100 print ip=4096 buf="H|100|track|3"
2700 0 100 print ip=4096 buf="H|100|track|3|x"
2800 0 100 print ip=4096 buf="|"
2900 0 100 print ip=4096
buffer two
3000 0 100 print ip=4096 buf="hello again"
'''

UNKNOWN = '''
1000 0 0   switch swapper/0:0 R a:100
3000 0 100 sys_enter id=0
6000 0 103 switch c:103 S swapper/0:0
7000 2 0   switch swapper/2:0 R b:101
9000 2 101 switch b:101 S swapper/2:0
'''
CUT = '''
cut 0 2000 0 5
cut 1 1500 0 18446744073709551615
1000 0 0 switch swapper/0:0 R worker:100
1500 1 0 switch swapper/1:0 R third:102
2000 0 100 switch worker:100 S other:101
'''

# Both kinds of events of system calls: in either order, one of them without the other, apart, on two CPUs, and the last one alone.
BOTH = '''
uname x86_64
1000 0 0 switch swapper/0:0 R a:100
1100 0 100 sys_enter id=0 args=1,2,3
1101 0 100 sys_enter_read __syscall_nr=0 fd=1 buf=2 count=3
1150 0 100 sys_exit_read __syscall_nr=0 ret=3
1151 0 100 sys_exit id=0 ret=3
1200 0 100 sys_enter_read __syscall_nr=0 fd=1 buf=2 count=3
1202 0 100 sys_enter id=0 args=1,2,3
1250 0 100 sys_exit id=0 ret=4
1253 0 100 sys_exit_read __syscall_nr=0 ret=4
1300 0 100 sys_enter id=39
1350 0 100 sys_exit id=39 ret=100
1360 1 0 switch swapper/1:0 R b:101
1400 0 100 sys_enter id=0 args=1,2,3
1401 1 101 sys_enter id=0 args=4,5,6
1402 1 101 sys_enter_read __syscall_nr=0 fd=4 buf=5 count=6
1403 0 100 sys_enter_read __syscall_nr=0 fd=1 buf=2 count=3
1450 1 101 sys_exit id=0 ret=9
1452 0 100 sys_exit id=0 ret=8
1453 0 100 sys_exit_read __syscall_nr=0 ret=8
1454 1 101 sys_exit_read __syscall_nr=0 ret=9
1500 0 100 sys_enter_openat __syscall_nr=257 dfd=-100 filename=4096
1550 0 100 sys_exit_openat __syscall_nr=257 ret=-2
1600 0 100 sys_enter id=0 args=1,2,3
1700 0 100 sys_exit id=0 ret=0
1701 0 100 sys_enter id=0 args=1,2,3
1702 0 100 sys_exit_read __syscall_nr=0 ret=0
1800 0 100 switch a:100 R swapper/0:0
2000 0 0 switch swapper/0:0 R a:100
2100 0 100 sys_enter id=0 args=1,2,3
'''
MADE = {'losses': LOSSY, 'both kinds of calls': BOTH, 'what is missing at the end': CUT, 'what is not known': UNKNOWN, 'strange names': STRANGE, 'two buffers': DOUBLE, 'only wakeups': ONLY_WAKEUPS, 'calls': CALLS,
        'types in several buffers': SPREAD, 'equal times': SAME_TIMES, 'markers': MARKS, 'nothing': ''}


def write(path, text):
    with open(path, 'wb') as file:
        file.write(mktrace.make(text.split('\n')))
    return path


def check_made(t, schema, folder):
    for name, text in MADE.items():
        check_trace(t, schema, f'perfetto: {name}', write(f'{folder}/made.dat', text))
    out = Decoded(schema, export(t, write(f'{folder}/made.dat', STRANGE)).out)
    blocked = [e.fields.get('caller_sym') for e in out.events[1] if e.name == 'sched_blocked_reason']
    t.check('perfetto: where it is blocked', '' if blocked == ['wait_here'] else blocked)
    tree = next(p['process_tree'] for p in out.packets if 'process_tree' in p)
    t.check('perfetto: a date', '' if out.shift == 100_000_000_000 else out.shift)
    t.check('perfetto: processes', '' if [(p['pid'], p.get('cmdline')) for p in tree['processes']] ==
            [(103, None), (100, ['a"b\\']), (101, ['<script>'])] else tree)
    back = Decoded(schema, export(t, write(f'{folder}/back.dat', BACKWARDS)).out)
    times = sorted(e.ts for e in back.events[1])
    t.check('perfetto: times that run back', back.trouble or ('' if times == [2000, 3000, 5000, 6000] else times))


def check_choice(t, schema, folder):
    """Filters, a range, several files."""
    out = Decoded(schema, export(t, SAMPLE, '-F', 'sched_switch').out)
    names = {e.name for e in out.events[1]}
    t.check('perfetto: a filter', '' if names == {'sched_switch'} else names)
    every = sorted(r['ts'] for r in ask(t, SAMPLE, 'select ts from events'))
    late = Decoded(schema, export(t, SAMPLE, '--since', f'{every[len(every) // 2]}ns').out)
    got = len(late.events[1])
    t.check('perfetto: a range', '' if got == sum(ts >= every[len(every) // 2] for ts in every) else f'{got} events')
    two = Decoded(schema, export(t, SAMPLE, write(f'{folder}/made.dat', LOSSY)).out)
    machines = {p.get('machine_id', 0): p['trusted_packet_sequence_id'] for p in two.packets if 'ftrace_events' in p}
    counts = [len(two.events[s]) for s in machines.values()]
    t.check('perfetto: several files', '' if sorted(machines) == [0, 1] and len(set(machines.values())) == 2 and
            all(counts) else (machines, counts))


def check_cpus(t, folder):
    """Perfetto refuses traces with CPUs of high numbers: they are left out, which is said."""
    path = write(f'{folder}/cpus.dat', '1000 3 0 cpu_frequency state=1\n2000 1024 0 cpu_frequency state=1\n')
    done = t.run(['export', '--to', 'perfetto', '-o', f'{folder}/cpus.pftrace', path])
    t.check('perfetto: more CPUs than it takes', '' if done.status == 0 and b'1024 CPUs' in done.err else done)


def check_signs(t, schema):
    """Numbers have their sign, which the rows of SQL do not tell."""
    out = Decoded(schema, export(t, os.path.join(harness.recordings()['g-stacktrace-v7'], 'trace.dat')).out)
    fields = [e.fields['field'] for e in out.events[1] if e.name == 'generic' and e.fields['event_name'] == 'kmalloc']
    kinds = {f['name']: [k for k in f if k != 'name'] for f in fields[0]}
    t.check('perfetto: signs', '' if kinds['node'] == ['int_value'] and kinds['call_site'] == ['uint_value'] and
            kinds['gfp_flags_name'] == ['str_value'] and {'name': 'node', 'int_value': -1} in fields[0] else kinds)


def check_large(t, schema, folder, events):
    path = f'{folder}/large.dat'
    bigtrace.write(path, events)
    check_trace(t, schema, f'perfetto: {events} events', path, protoc=False)


def check(t):
    if not shutil.which('protoc'):
        t.skip('perfetto', 'there is no protoc')
        return
    schema = wire.Schema('tests/export', 'perfetto.proto')
    for name, folder in harness.recordings().items():
        if not t.sanitized or name in FEW:
            check_trace(t, schema, f'perfetto: {name}', f'{folder}/trace.dat')
    with tempfile.TemporaryDirectory() as folder:
        check_made(t, schema, folder)
        check_choice(t, schema, folder)
        check_cpus(t, folder)
        check_signs(t, schema)
        if not t.sanitized:
            check_large(t, schema, folder, 200_000)


if __name__ == '__main__':  # python3 tests/export/perfetto.py BUILD TRACE: any other trace
    DRIVER = harness.Driver('export', sys.argv[1])
    check_trace(DRIVER, wire.Schema('tests/export', 'perfetto.proto'), sys.argv[2], sys.argv[2], protoc=False)
    DRIVER.finish()
