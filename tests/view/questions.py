# SPDX-License-Identifier: GPL-2.0-or-later
"""What `spur view` answers, compared with what other commands say.

- list: every recording's list of events is its report, line by line, from wherever one starts;
- search: hits are the records that `spur report -F` selects, or those whose line has a text;
- sums: times by task, system call and interrupt in random ranges, computed a second time from `spur sql`;
- hist: the same for distributions;
- wakeups: every slice knows who woke its task, and how long that took, as the table says it;
- functions: how often and how long, by the calls of the table;
- moments: who woke whom, and why it took so long, in traces made up for it;
- processes: which tasks belong together, by what different records tell.
"""
import codecs
import collections
import json
import random
import re
import sys
import tempfile
import time
import urllib.parse

sys.path.insert(1, 'tests/tables')
import harness
import mktrace
import server

RANGES = 12  # random ones of each recording
STATES = ['runnable', 'blocked', 'sleeping', 'stopped']

# What is no UTF-8 becomes the character of the same number, as in the program's JSON.
codecs.register_error('same', lambda e: (''.join(map(chr, e.object[e.start:e.end])), e.end))


class Refused(Exception):
    """An answer that is an error: its status and what it says."""


class View:
    """A server with some files, all of them indexed; with View(t, paths) as view."""

    def __init__(self, t, paths):
        self.server = server.Server(t, paths, '--no-open')

    def __enter__(self):
        self.server.__enter__()
        self.trace = self.server.indexed()
        self.origin = int(self.trace['origin'])
        self.rows = self.get('rows')
        return self

    def __exit__(self, kind, *why):
        status = self.server.end()
        if status and not kind:
            raise ValueError(f'it ended with {status}: {self.server.said()[:300]}')

    def get(self, question, **parameters):
        return self.read(*self.server.ask(f'{question}?{urllib.parse.urlencode(parameters)}'))

    def post(self, question, body):
        return self.read(*self.server.ask(question, json.dumps(body).encode()))

    @staticmethod
    def read(status, text):
        answer = json.loads(text.decode('utf-8'))
        if status != 200:
            raise Refused(status, answer)
        return answer

    def events(self, **parameters):
        """The list from `at` on to its end."""
        rows, at = [], 0
        while True:
            for _ in range(50):
                answer = self.get('events', at=at, n=1000, **parameters)
                if answer['settled']:
                    break
                time.sleep(0.1)
            rows += answer['rows']
            at += len(answer['rows'])
            if not answer['rows']:
                return rows, answer['total']

    def search(self, **body):
        number = self.post('search', body)['id']
        end = time.monotonic() + 60
        while time.monotonic() < end:
            state = self.get('search', id=number)
            if state['done'] == 1:
                break
            time.sleep(0.005)
        return number, state


# ---- the list ----

LABEL = re.compile(r' *(\S.*?: |  )?')
FLAGS_AND_TIME = re.compile(r' \S+ +([\d.]+): ')
LOST = re.compile(r'CPU:\d+ \[(-?\d+ )?EVENTS DROPPED\]\n')


class Report:
    """A report as one text, of which lines are taken off the front when they are as expected."""

    def __init__(self, t, arguments):
        result = t.run(['report', '-q'] + arguments, seconds=60)
        self.text = result.out.decode('utf-8', errors='same')
        self.at = 0
        # Heads of files and the like.
        while re.match(r'(cpus=\d+|version = .*)\n', self.text[self.at:self.at + 80]):
            self.at = self.text.index('\n', self.at) + 1

    def take(self, row, origin, nanoseconds):
        """'' when the next line is that row."""
        head = f'{row["comm"]:>16}-{row["pid"]:<5} [{row["cpu"]:03}]'
        place = self.text.find(head, self.at)
        before = self.text[self.at:place] if place >= 0 else None
        lost = LOST.search(before) if before else None
        if before is None or (before.strip() and not lost and not LABEL.fullmatch(before)):
            return f'{head!r} is {self.text[self.at:self.at + 100]!r}'
        if bool(lost) != ('lost' in row):
            return f'{head!r}: losses'
        timed = FLAGS_AND_TIME.match(self.text, place + len(head))
        if not timed:
            return f'{self.text[self.at:self.at + 100]!r} has no time'
        if nanoseconds and round(float(timed[1]) * 1e6) != (origin + row['ts'] + 500) // 1000:
            return f'{timed[1]}: another time than {origin + row["ts"]}'
        tail = f'{row["event"] + ":":<21} {row["text"]}\n'
        if not self.text.startswith(tail, timed.end()):
            return f'{tail!r} is {self.text[timed.end():timed.end() + 100]!r}'
        self.at = timed.end() + len(tail)
        return ''

    def take_all(self, rows, origin, nanoseconds):
        for row in rows:
            if row.get('folded'):
                continue
            why = self.take(row, origin, nanoseconds) if row['event'] else self.take_unknown(row)
            if why:
                return f'event {row["n"]}: {why}'
        rest = self.text[self.at:]
        return f'the report goes on: {rest[:100]!r}' if rest else ''

    def take_unknown(self, row):
        end = self.text.index('\n', self.at) + 1
        line, self.at = self.text[self.at:end], end
        return '' if '[UNKNOWN EVENT]' in line and row['text'] == '[UNKNOWN EVENT]' else f'{line!r}'


def compare_list(t, view, path):
    rows, total = view.events()
    if total != len(rows):
        return f'{len(rows)} events of {total}', rows
    if [row['n'] for row in rows] != list(range(total)):
        return 'the numbers have gaps', rows
    why = Report(t, [path]).take_all(rows, view.origin, view.trace['nanoseconds'])
    return why, rows


def compare_places(view, rows, rng):
    """Starting anywhere gives the same rows."""
    for _ in range(25):
        at, n = rng.randrange(len(rows)), rng.choice([1, 2, 10, 100])
        got = view.get('events', at=at, n=n)['rows']
        if got != rows[at:at + n]:
            bad = next((a, b) for a, b in zip(got + [None], rows[at:at + n] + [None]) if a != b)
            return f'from {at} on: {bad[0]} is not {bad[1]}'
        ts = rows[at]['ts'] + rng.choice([0, 0, 1])
        number = view.get('ordinal', ts=ts)['n']
        times = [row['ts'] for row in rows]
        want = next((i for i, time_ in enumerate(times) if time_ >= ts), len(rows))
        if times == sorted(times) and number != want:
            return f'the first event at {ts} is {number}, not {want}'
    for at in (len(rows), len(rows) + 1, len(rows) + 5000, 10 ** 15):
        behind = view.get('events', at=at, n=5)
        if behind['rows'] or behind['total'] != len(rows):
            return f'from {at} on, behind the end: {behind}'
    return ''


def compare_fields(t, view, path, rows, rng):
    """One event with everything: fields as the raw report names them, stacks as the table has them."""
    for row in rng.sample(rows, min(20, len(rows))):
        got = view.get('event', n=row['n'])
        if {name: got[name] for name in row} != row:
            return f'event {row["n"]}: {got} is not {row}'
        names = [field['name'] for field in got['fields']]
        if row['event'] and 'common_pid' in names and \
                got['fields'][names.index('common_pid')]['value'] != row['pid']:
            return f'event {row["n"]}: another pid'
    return ''


def compare_stacks(t, view, path, rows):
    if not any(row['event'] in ('kernel_stack', 'user_stack') for row in rows):
        return ''
    stacks = sql(t, path, 'SELECT ts, cpu, pid, kind, event, stack FROM stacks')
    wanted = collections.defaultdict(dict)
    for s in stacks:
        wanted[s['ts'], s['cpu'], s['event']].setdefault(s['kind'], s['stack'].split(';')[::-1])
    seen = set()
    for row in rows[:400]:
        key = (view.origin + row['ts'], row['cpu'], row['event'])
        if row['event'] in ('kernel_stack', 'user_stack') or key in seen:
            continue
        seen.add(key)
        got = view.get('event', n=row['n'])['stack']
        if {s['kind']: s['frames'] for s in got or []} != wanted.get(key, {}):
            return f'event {row["n"]}: the stack is {got}, not {wanted.get(key)}'
    return ''


# ---- search ----

def filters(rows, rng):
    """Some filters that make sense for a trace."""
    names = collections.Counter(row['event'] for row in rows if row['event'])
    plain = [name for name in names if name not in ('kernel_stack', 'user_stack') and 'graph' not in name]
    for name in rng.sample(plain, min(3, len(plain))):
        pid = rng.choice([row['pid'] for row in rows if row['event'] == name])
        yield name
        yield f'{name}: common_pid == {pid}'
        yield f'{name}: CPU == 0 || common_pid != {pid}'


def compare_search(t, view, path, rows, rng):
    has_stacks = any(row['event'] == 'kernel_stack' for row in rows)
    for text in filters(rows, rng):
        number, state = view.search(filter=text)
        got, total = view.events(search=number)
        if state['hits'] != total or total != len(got) or [r.pop('hit') for r in got] != list(range(total)):
            return f'{text}: {state}, {len(got)} of {total}'
        if any(rows[r['n']] != r for r in got):
            return f'{text}: other rows than in the list'
        # Lines of the function tracer are indented by those that are shown.
        if not has_stacks and not text.startswith('func'):
            why = Report(t, ['-F', text, path]).take_all(got, view.origin, view.trace['nanoseconds'])
            if why:
                return f'{text}: {why}'
        why = compare_hits(view, number, got, rng)
        if why:
            return f'{text}: {why}'
    return ''


def compare_hits(view, number, hits, rng):
    """Hits per bin, next and previous."""
    times = sorted(row['ts'] for row in hits)
    level = rng.randrange(8, 24)
    width = 1 << level
    tile = (rng.choice(times) if times else 0) // (512 * width)
    want = collections.Counter(ts // width - tile * 512 for ts in times)
    want = sorted([b, n] for b, n in want.items() if 0 <= b < 512)
    got = view.get('hits', id=number, level=level, tile=tile)
    if got != want:
        return f'bins of tile {tile} of level {level} are {got}, not {want}'
    for _ in range(10 if times else 0):
        ts = max(0, rng.choice(times) + rng.choice([-1, 0, 1]))
        for direction in (1, -1):
            beyond = [x for x in times if (x >= ts if direction == 1 else x < ts)]
            want = (min(beyond) if direction == 1 else max(beyond)) if beyond else None
            try:
                hit = view.get('hit', id=number, ts=ts, dir=direction)
            except Refused as refusal:
                hit = {'ts': None} if refusal.args[0] == 404 else {'ts': refusal}
            if hit['ts'] != want:
                return f'the next one from {ts} ({direction}) is {hit}, not {want}'
            if want is not None and hits[hit['hit']]['n'] != hit['n']:
                return f'{hit} has another number'
        if view.get('ordinal', ts=ts, search=number)['n'] != sum(x < ts for x in times):
            return f'the first hit from {ts} on'
    return compare_steps(view, number, [row['n'] for row in hits], rng)


def step(view, number, direction, **where):
    """The number of the next hit; None: there is none."""
    try:
        return view.get('hit', id=number, dir=direction, **where)['n']
    except Refused as refusal:
        return None if refusal.args[0] == 404 else refusal


def compare_steps(view, number, hits, rng):
    """From record to record, however many have the same time."""
    total = view.get('events', n=1)['total']
    for n in rng.sample(hits, min(10, len(hits))) + [rng.randrange(total) for _ in range(5)]:
        want = {1: min((h for h in hits if h > n), default=None), -1: max((h for h in hits if h < n), default=None)}
        for direction in (1, -1):
            if step(view, number, direction, n=n) != want[direction]:
                return f'from {n} on ({direction}) it is {step(view, number, direction, n=n)}, not {want[direction]}'
    return ''


def compare_text(view, rows, rng):
    """A text anywhere in a line, and limits to rows."""
    words = {word for row in rng.sample(rows, min(30, len(rows))) for word in re.findall(r'[A-Za-z_]{3,}', row['text'])}
    for word in rng.sample(sorted(words), min(4, len(words))) + ['no such text']:
        number, state = view.search(text=word.swapcase())
        got, _ = view.events(search=number)
        want = [row['n'] for row in rows
                if word.lower() in f'{row["comm"]}-{row["pid"]} {row["event"]}: {row["text"]}'.lower()]
        if [row['n'] for row in got] != want:
            return f'{word}: {len(got)} hits, not {len(want)}'
    some = rng.sample(view.rows, min(3, len(view.rows)))
    cpus = {(r['buffer'], r['cpu']) for r in some if r['kind'] == 'cpu'}
    tasks = {r['row'] for r in some if r['kind'] == 'task'}
    number, state = view.search(rows=[r['row'] for r in some])
    want = sum((row['buffer'], row['cpu']) in cpus or row['row'] in tasks for row in rows)
    return '' if state['hits'] == want else f'{state["hits"]} in rows {some}, not {want}'


def check_searches(t, view):
    """What is no filter says so; the oldest search goes."""
    wrong = ''
    for text in ('no_such_event', 'sched_switch: next_pid ==', 'sched_switch: )'):
        try:
            view.post('search', {'filter': text})
            wrong = f'{text} is taken'
        except Refused as refusal:
            if refusal.args[0] != 400 or not refusal.args[1].get('error') or 'at' not in refusal.args[1]:
                wrong = f'{text}: {refusal}'
    numbers = [view.search(filter='sched_switch')[0] for _ in range(10)]
    gone = 0
    for number in numbers:
        try:
            view.get('search', id=number)
        except Refused as refusal:
            gone += refusal.args[0] == 404
    if gone != 2:
        wrong = wrong or f'{gone} of {len(numbers)} searches are gone'
    view.post('search', {'cancel': numbers[-1]})
    try:
        view.get('hits', id=numbers[-1], level=10, tile=0)
        wrong = wrong or 'a cancelled search answers'
    except Refused:
        pass
    return wrong


# ---- sums ----

def sql(t, path, query):
    result = t.run(['sql', '--json', '-q', path, query], seconds=60)
    return json.loads(result.out.decode('utf-8') or '[]') if result.status in (0, 3) else []


class Tables:
    """What the tables of a file say, in the view's times."""

    def __init__(self, t, path, view):
        self.view = view
        # Wakeups alone make states, too, but no picture.
        switches = any(e['name'] == 'sched_switch' for e in view.trace['events'])
        self.states = self.read(t, path, 'states', 'pid, state, reason, cpu') if switches else []
        self.syscalls = self.read(t, path, 'syscalls', 'pid, name')
        self.irqs = self.read(t, path, 'irqs', 'cpu, name')
        self.softirqs = self.read(t, path, 'softirqs', 'cpu, name')
        self.calls = self.read(t, path, 'calls', 'pid, cpu, func AS name, depth, self, recursive')
        self.drawn_calls = Calls(self.calls)
        self.wakeups = sql(t, path, 'SELECT ts, latency, pid, waker_pid, waker_cpu, in_interrupt, run_cpu FROM wakeups')

    def read(self, t, path, table, columns):
        rows = sql(t, path, f'SELECT ts, dur, open, buffer, {columns} FROM {table}')
        for row in rows:
            row['ts'] -= self.view.origin
        # What has not ended lasts to the end of the trace, of which a table alone sees only a part.
        for row in rows:
            row['dur'] = row['most'] = row['dur'] or 0
            if row['open'] in ('end', 'both'):
                row['most'] = max(row['dur'], self.view.trace['duration'] - row['ts'])
        return rows


def overlap(row, since, until, length='dur'):
    return max(0, min(row['ts'] + row[length], until) - max(row['ts'], since))


def overlaps(row, since, until):
    end = row['ts'] + row['dur']
    return row['ts'] < until and (end > since or (row['dur'] == 0 and row['ts'] >= since))


class Span:
    """Something that is between two numbers, which are the same unless a row has no end."""

    def __init__(self):
        self.low = self.high = 0

    def add(self, row, since, until):
        self.low += overlap(row, since, until)
        self.high += overlap(row, since, until, 'most')

    def holds(self, number):
        return self.low <= number <= self.high

    def __repr__(self):
        return f'{self.low}…{self.high}'


def spans(rows, key, since, until):
    sums = collections.defaultdict(Span)
    for row in rows:
        sums[key(row)].add(row, since, until)
    return sums


def not_held(have, want):
    """The first sum that is not as wanted."""
    for key in list(have) + list(want):
        if not (want[key] if key in want else Span()).holds(have.get(key, 0)):
            return f'{key}: {have.get(key, 0)}, not {want.get(key, 0)}'
    return ''


def compare_tasks(view, tables, got, since, until):
    """A pid may have had several tasks."""
    have, switches = collections.Counter(), collections.Counter()
    for s in got['tasks']:
        pid = view.rows[s['row']]['pid']
        switches[pid] += s['switches']
        for name in ['running'] + STATES:
            have[pid, name] += s[name]
    states = [row for row in tables.states if row['pid'] and row['state'] in STATES + ['running']]
    want = collections.Counter(row['pid'] for row in states if row['state'] == 'running' and
                               since <= row['ts'] < until and row['open'] not in ('start', 'both'))
    return not_held(have, spans(states, lambda row: (row['pid'], row['state']), since, until)) or \
        ('' if +switches == want else f'switches {+switches}, not {want}')


def compare_names(rows, listed, since, until):
    why = not_held({s['name']: s['total'] for s in listed}, spans(rows, lambda row: row['name'] or '?', since, until))
    ended = [row for row in rows if row['most'] == row['dur']]
    open_names = {row['name'] for row in rows if row['most'] != row['dur']}
    for s in listed if not why else []:
        own = [row for row in ended if row['name'] == s['name'] and overlaps(row, since, until)]
        want = (len(own), max((overlap(row, since, until) for row in own), default=0))
        if s['name'] not in open_names and (s['count'], s['max']) != want:
            return f'{s}: count and longest are {want}'
    return why


class Calls:
    """Calls as they are drawn: in a task one begins at its depth when the one before it has ended, at the earliest."""

    def __init__(self, rows):
        self.tasks = collections.defaultdict(lambda: collections.defaultdict(list))
        for row in rows:
            tracks = self.tasks[row['buffer'], row['pid'] or -1 - (row['cpu'] or 0)]
            depth = max(row['depth'] or 0, 0)
            while tracks[depth] and tracks[depth][-1]['from'] > row['ts']:
                depth += 1
            before = tracks[depth][-1]['end'] if tracks[depth] else 0
            start = max(row['ts'], before)
            tracks[depth].append({'name': row['name'] or '?', 'from': row['ts'], 'start': start,
                                  'end': max(start, row['ts'] + row['dur']),
                                  'open': row['open'] in ('end', 'both')})

    def sums(self, since, until):
        """{name: [count, total, self, longest]} of a range, and the names of calls that did not end."""
        sums, unsure = collections.defaultdict(lambda: [0, 0, 0, 0]), set()
        for tracks in self.tasks.values():
            frames = sorted(((max(c['start'], since), depth, c) for depth, track in tracks.items() for c in track
                             if overlaps({'ts': c['start'], 'dur': c['end'] - c['start']}, since, until)),
                            key=lambda frame: frame[:2])
            open_ones = {}  # by depth: what was entered last
            for start, depth, call in frames:
                call = {**call, 'start': start, 'end': min(call['end'], until)}
                outer = [open_ones[d] for d in sorted(open_ones) if d < depth and open_ones[d]['end'] > start]
                open_ones = {d: c for d, c in open_ones.items() if d < depth} | {depth: call}
                took = call['end'] - start
                of = sums[call['name']]
                of[0] += 1
                of[1] += 0 if any(o['name'] == call['name'] for o in outer) else took
                of[2] += took
                of[3] = max(of[3], took)
                if outer:
                    caller = outer[-1]
                    end = min(call['end'], caller['end'])
                    sums[caller['name']][2] -= max(0, end - max(start, caller.get('told', 0)))
                    caller['told'] = max(end, caller.get('told', 0))
                unsure |= {call['name']} if call['open'] else set()
                unsure |= {outer[-1]['name']} if call['open'] and outer else set()
        return sums, unsure


def compare_functions(tables, listed, since, until):
    want, unsure = tables.drawn_calls.sums(since, until)
    have = {s['name']: [s['count'], s['total'], s['self'], s['max']] for s in listed}
    for name in (set(have) | set(want)) - unsure:
        if have.get(name) != want.get(name):
            return f'{name}: count, total, self and longest are {have.get(name)}, not {want.get(name)}'
    return ''


def compare_sums(view, tables, rows, rng):
    last = max(row['ts'] for row in rows)
    for _ in range(RANGES):
        a, b = (rng.choice(rows)['ts'] + rng.choice([-1, 0, 1, 500]) for _ in range(2))
        since, until = max(0, min(a, b)), max(a, b, 1)
        if rng.random() < 0.1:
            since, until = 0, last + 1
        got = view.get('sum', since=since, until=until)
        where = f'[{since}, {until})'
        why = compare_tasks(view, tables, got, since, until)
        for name, kind in (('syscalls', None), ('irqs', 'irq'), ('softirqs', 'softirq')):
            listed = got['syscalls'] if not kind else [s for s in got['irqs'] if s['kind'] == kind]
            why = why or compare_names(getattr(tables, name), listed, since, until)
        if why:
            return f'{where}: {why}'
        why = compare_functions(tables, got['functions'], since, until)
        if why:
            return f'{where}: {why}'
        want = collections.Counter(row['id'] for row in rows if since <= row['ts'] < until and row['id'] >= 0)
        have = {e['id']: e['count'] for e in got['events']}
        if have != want:
            return f'{where}: events {have}, not {dict(want)}'
    return ''


def compare_some_rows(view, tables, rows, rng):
    """A sum over some rows has just these."""
    cpus = [r for r in view.rows if r['kind'] == 'cpu']
    tasks = [r for r in view.rows if r['kind'] == 'task']
    last = max(row['ts'] for row in rows)
    for _ in range(4):
        some = rng.sample(cpus, min(1, len(cpus))) + rng.sample(tasks, min(2, len(tasks)))
        numbers = {r['row'] for r in some}
        got = view.get('sum', since=0, until=last + 1, rows=','.join(map(str, numbers)))
        if not {s['row'] for s in got['tasks'] + got['cpus']} <= numbers:
            return 'other rows than asked for'
        on = {(r['buffer'], r['cpu']) for r in some if r['kind'] == 'cpu'}
        want = collections.Counter(row['id'] for row in rows if row['id'] >= 0 and
                                   ((row['buffer'], row['cpu']) in on or row['row'] in numbers))
        have = {e['id']: e['count'] for e in got['events']}
        if have != want:
            return f'events of {some}: {have}, not {dict(want)}'
    return ''


# ---- distributions ----

def quantile(values, q):
    values = sorted(values)
    return values[max(0, -int(-(q * len(values)) // 1) - 1)]


def differs(got, values):
    values = [v for v in values if v is not None]
    if got['count'] != len(values):
        return f'{got["count"]} values, not {len(values)}'
    if not values:
        return 'buckets of nothing' if got['buckets'] else ''
    want = {'min': min(values), 'max': max(values), 'p50': quantile(values, 0.5), 'p90': quantile(values, 0.9),
            'p99': quantile(values, 0.99)}
    if any(got[name] != v for name, v in want.items()):
        return f'{got} is not {want}'
    for b in got['buckets']:
        if b['n'] != sum(b['low'] <= v < b['high'] for v in values):
            return f'{b} is not right'
    return '' if sum(b['n'] for b in got['buckets']) == len(values) else 'buckets do not hold all'


def compare_hist(view, tables, rows, rng):
    last = max(row['ts'] for row in rows)
    unique = collections.Counter(r.get('pid') for r in view.rows if r['kind'] == 'task')
    single = len(view.trace['buffers']) == 1
    for row in view.rows if single else []:
        if row['kind'] == 'task' and unique[row['pid']] > 1:
            continue
        a, b = rng.randrange(last + 2), rng.randrange(last + 2)
        since, until = (0, last + 1) if rng.random() < 0.3 else (min(a, b), max(a, b))
        for track in row['tracks']:
            if track['kind'] == 'syscall':
                source = [s for s in tables.syscalls if s['pid'] == row['pid']]
            elif track['kind'] == 'softirq':
                source = [s for s in tables.softirqs if s['cpu'] == row['cpu']]
            else:
                continue
            values = [s['dur'] for s in source if since <= s['ts'] < until and not s['open']]
            got = view.get('hist', what='duration', row=row['row'], track=track['track'], since=since, until=until)
            why = differs(got, values)
            if why:
                return f'row {row}, {track["kind"]} in [{since}, {until}): {why}'
        if row['kind'] == 'task' and tables.states:
            own = sorted((s for s in tables.states if s['pid'] == row['pid']), key=lambda s: s['ts'])
            values = [wait['dur'] for wait, run in zip(own, own[1:])
                      if wait['state'] == 'runnable' and wait['reason'] in ('woken', 'new') and not wait['open'] and
                      run['state'] == 'running' and since <= run['ts'] < until]
            why = differs(view.get('hist', what='latency', row=row['row'], since=since, until=until), values)
            if why:
                return f'latencies of {row} in [{since}, {until}): {why}'
    return ''


def compare_wakeups(view, tables):
    """Who woke whom, and how long it took, of every wakeup that the table has and of no other."""
    if len(view.trace['buffers']) > 1 or not tables.states:
        return ''
    tasks = {r['pid']: r for r in view.rows if r['kind'] == 'task'}
    cpus = {r['cpu']: r for r in view.rows if r['kind'] == 'cpu'}
    latencies, on_cpu = collections.defaultdict(list), collections.defaultdict(list)
    for w in tables.wakeups:
        if w['latency'] is None:
            continue
        latencies[w['pid']].append(w['latency'])
        on_cpu[w['run_cpu']].append(w['latency'])
        waker = tasks.get(w['waker_pid'], cpus[w['waker_cpu']])
        want = {'row': waker['row'], 'ts': w['ts'] - view.origin, 'latency': w['latency'], 'cpu': w['waker_cpu'],
                'in_interrupt': bool(w['in_interrupt'])}
        got = slice_at(view, tasks[w['pid']], 'running', want['ts'] + w['latency']).get('waker') or {}
        if {name: got.get(name) for name in want} != want:
            return f'{w}: the waker is {got}'
    by_row = [(r, latencies[pid]) for pid, r in tasks.items()] + [(r, on_cpu[cpu]) for cpu, r in cpus.items()]
    for row, values in by_row:
        why = differs(view.get('hist', what='latency', row=row['row']), values)
        if why:
            return f'latencies of {row}: {why}'
    return ''


def compare_latency(t, view, path):
    """All of a task's latencies are those of `spur latency`."""
    for kind, track_kind in (('wakeup', None), ('syscall', 'syscall')):
        result = t.run(['latency', kind, '--json', '--by', 'pid', '--top', '0', '--worst', '0', path])
        groups = {g['pid']: g for g in json.loads(result.out)['groups']} if result.status == 0 else {}
        for row in view.rows if len(view.trace['buffers']) == 1 else []:
            track = next((t_['track'] for t_ in row['tracks'] if t_['kind'] == track_kind), None)
            if row['kind'] != 'task' or row['pid'] not in groups or (track_kind and track is None):
                continue
            got = view.get('hist', what='duration', row=row['row'], track=track) if track_kind else \
                view.get('hist', what='latency', row=row['row'])
            want = groups[row['pid']]
            for name in ('count', 'min', 'p50', 'p90', 'p99', 'max'):
                if got.get(name) != want[name]:
                    return f'{kind} of {row["pid"]}: {name} is {got.get(name)}, not {want[name]}'
    return ''


# ---- recordings ----

CHECKS = ['list', 'places', 'fields', 'stacks', 'search', 'text', 'sums', 'rows', 'hist', 'latency', 'wakeups', 'flame']


def compare_flame(view, rows):
    last = max(row['ts'] for row in rows)
    tree = view.get('flame', since=0, until=last + 1)

    def walk(node):
        inner = sum(walk(child) for child in node['children'])
        assert node['self'] + inner <= node['value'], node['name']
        return node['value']
    walk(tree)
    has_calls = any(t['kind'] == 'call' for r in view.rows for t in r['tracks'])
    has_stacks = any(row['event'] in ('kernel_stack', 'user_stack') for row in rows)
    if tree['value'] == 0 and (has_calls or has_stacks):
        return 'nothing in it'
    if tree['from'] != ('calls' if has_calls else 'stacks'):
        return f'from {tree["from"]}'
    # Values of all functions are those of the sums.
    if has_calls:
        names = collections.Counter()
        stack = [tree]
        while stack:
            node = stack.pop()
            names[node['name']] += node['self']
            stack += node['children']
        sums = {f['name']: f['self'] for f in view.get('sum', since=0, until=last + 1)['functions']}
        if abs(sum(sums.values()) - tree['value']) > 0:
            return f'{tree["value"]} ns, but functions took {sum(sums.values())}'
        for name, n in names.items():
            if n > sums.get(name, 0) and name != 'all':
                return f'{name}: {n}, {sums.get(name)} by sums'
    return ''


def check_recording(t, name, path, wrong):
    rng = random.Random(name)
    with View(t, [path]) as view:
        why, rows = compare_list(t, view, path)
        wrong['list'].append(why and f'{name}: {why}')
        if not rows:
            return 0
        tables = Tables(t, path, view)
        for check, function in (('places', lambda: compare_places(view, rows, rng)),
                                ('fields', lambda: compare_fields(t, view, path, rows, rng)),
                                ('stacks', lambda: compare_stacks(t, view, path, rows)),
                                ('search', lambda: compare_search(t, view, path, rows, rng)),
                                ('text', lambda: compare_text(view, rows, rng)),
                                ('sums', lambda: compare_sums(view, tables, rows, rng)),
                                ('rows', lambda: compare_some_rows(view, tables, rows, rng)),
                                ('hist', lambda: compare_hist(view, tables, rows, rng)),
                                ('latency', lambda: compare_latency(t, view, path)),
                                ('wakeups', lambda: compare_wakeups(view, tables)),
                                ('flame', lambda: compare_flame(view, rows))):
            try:
                why = function()
            except (Refused, KeyError, AssertionError) as trouble:
                why = repr(trouble)
            wrong[check].append(why and f'{name}: {why}')
    return len(rows)


def check_recordings(t):
    wrong, seen = collections.defaultdict(list), 0
    for name, directory in harness.recordings().items():
        seen += check_recording(t, name, f'{directory}/trace.dat', wrong)
    for check in CHECKS:
        bad = [why for why in wrong[check] if why]
        t.check(f'recordings {check}', '; '.join(bad[:2]) if bad else '' if wrong[check] and seen else 'nothing was compared')


# ---- made up ----

def made(directory, name, lines):
    path = f'{directory}/{name}.dat'
    with open(path, 'wb') as file:
        file.write(mktrace.make(lines))
    return path


# A reader waits for a writer, who waits for the disk's interrupt and then for a CPU.
CHAIN = '''
comm 10 reader
comm 20 writer
comm 30 hog
1000 0 0 switch swapper/0:0 R writer:20
2000 1 0 switch swapper/1:0 R reader:10
3000 1 10 switch reader:10 S swapper/1:0
5000 0 20 switch writer:20 D hog:30
7000 1 0/h irq_handler_entry irq=5 name=disk
7100 1 0/h waking writer:20 0
7100 1 0/h wakeup writer:20 0
7300 1 0/h irq_handler_exit irq=5 ret=1
9000 0 30 switch hog:30 R+ writer:20
10000 0 20 waking reader:10 1
10000 0 20 wakeup reader:10 1
10500 1 0 switch swapper/1:0 R reader:10
12000 1 10 switch reader:10 S swapper/1:0
13000 0 20 switch writer:20 S hog:30
14000 0 30 switch hog:30 R swapper/0:0
'''.strip().split('\n')


def task_row(view, pid):
    return next(r for r in view.rows if r.get('pid') == pid and r['kind'] == 'task')


def track_of(row, kind):
    return next(t['track'] for t in row['tracks'] if t['kind'] == kind)


def slice_at(view, row, kind, ts):
    return view.get('slice', row=row['row'], track=track_of(row, kind), ts=ts)


def check_moments(t, view):
    reader, writer, hog = (task_row(view, pid) for pid in (10, 20, 30))
    run = slice_at(view, reader, 'running', 9600)
    want = [('start', 9500), ('duration', 1500), ('open', None), ('name', 'CPU 1'), ('task', reader['row'])]
    for name, value in want:
        if run[name] != value:
            return f'the run\'s {name} is {run[name]}, not {value}'
    waker = run['waker']
    if (waker['row'], waker['ts'], waker['latency'], waker['in_interrupt']) != (writer['row'], 9000, 500, False):
        return f'the reader\'s waker is {waker}'
    if (run['previous']['start'], run['previous']['duration']) != (1000, 1000) or 'next' in run:
        return f'beside it: {run.get("previous")}, {run.get("next")}'
    if view.get('event', n=run['event'])['event'] != 'sched_switch':
        return f'it begins with event {run["event"]}'
    writing = slice_at(view, writer, 'running', 8500)
    if [(w['row'], w['ts']) for w in writing['woke']][:1] != [(reader['row'], 9000)]:
        return f'the writer woke {writing["woke"]}'
    if not writing['waker']['in_interrupt'] or writing['waker'].get('interrupt') != 'disk' or \
            writing['waker']['latency'] != 1900:
        return f'the writer\'s waker is {writing["waker"]}'
    cpu = next(r for r in view.rows if r['kind'] == 'cpu' and r['cpu'] == 0)
    on_cpu = slice_at(view, cpu, 'running', 8500)
    if (on_cpu['name'], on_cpu['start'], on_cpu['previous']['start'], on_cpu['previous']['row']) != \
            ('writer-20', 8000, 0, cpu['row']):
        return f'on the CPU there is {on_cpu}'
    sleep = slice_at(view, reader, 'state', 5000)
    if (sleep['state'], sleep['start'], sleep['duration'], sleep['waker']['row']) != ('sleeping', 2000, 7000, writer['row']):
        return f'the reader sleeps: {sleep}'
    irq = slice_at(view, next(r for r in view.rows if r['kind'] == 'cpu' and r['cpu'] == 1), 'irq', 6050)
    if irq['name'] != 'disk' or irq['woke'][0]['row'] != writer['row']:
        return f'the interrupt: {irq}'
    tick = slice_at(view, cpu, 'events', 0)
    if (tick['start'], tick['event'], tick['name']) != (0, 0, 'sched_switch'):
        return f'the first tick is {tick}'
    for row, track, ts in ((10 ** 6, 0, 0), (reader['row'], 99, 0), (reader['row'], track_of(reader, 'running'), 5000)):
        try:
            return f'{view.get("slice", row=row, track=track, ts=ts)} where nothing is'
        except Refused as refusal:
            if refusal.args[0] != 404:
                return f'{refusal}'
    return check_chain(view, reader, writer, hog) or check_why(t, view, reader, writer)


def check_why(t, view, reader, writer):
    """The answer is that of `spur why`, of which the page shows the words."""
    path = view.trace['files'][0]['path']
    for row, ts, state in ((reader, 5000, 'sleeping'), (reader, 9200, 'runnable'), (writer, 7000, 'runnable'),
                           (writer, 5000, 'blocked'), (reader, 9600, 'runnable')):
        got = view.get('why', row=row['row'], ts=ts)
        want = json.loads(t.run(['why', '--json', path, f'{row["pid"]}@{view.origin + ts}ns']).out)
        if got != want or got['state'] != state or f'-{row["pid"]} ' not in got['words']:
            return f'why {row["pid"]} at {ts}: {got}, not {want}'
    for row, ts, status in ((10 ** 6, 0, 404), (reader['row'], 10 ** 9, 404), (reader['row'], '', 400)):
        try:
            return f'{view.get("why", row=row, ts=ts)} where nothing is'
        except Refused as refusal:
            if refusal.args[0] != status:
                return f'{refusal}'
    return ''


def check_chain(view, reader, writer, hog):
    steps = view.get('chain', row=reader['row'], ts=9500)
    got = [(s['row'], s['start'], s['end'], s['state']) for s in steps]
    want = [(reader['row'], 9500, 11000, 'running'), (reader['row'], 9000, 9500, 'runnable'),
            (reader['row'], 2000, 9000, 'sleeping'), (writer['row'], 8000, 9000, 'running'),
            (writer['row'], 6100, 8000, 'runnable'), (writer['row'], 4000, 6100, 'blocked')]
    if got != want:
        return f'the chain is {got}, not {want}'
    if 'writer-20' not in steps[2]['why'] or 'interrupt' not in steps[5]['why'] or 'disk' not in steps[5]['why']:
        return f'reasons are {[s["why"] for s in steps]}'
    return ''


# alpha wakes beta, of which nothing is known before; beta, new, is seen by nobody until it runs.
UNSEEN = '''
1000000 0 0 switch swapper/0:0 R alpha:100
2000000 0 100 waking beta:101 1
2001000 1 0 wakeup beta:101 1
2500000 1 0 switch swapper/1:0 R beta:101
2600000 1 101 wakeup_new child:102 0
2900000 0 100 switch alpha:100 S child:102
3000000 1 101 switch beta:101 S swapper/1:0
3500000 0 102 switch child:102 S swapper/0:0
'''.strip().split('\n')


def check_unseen(t, directory):
    path = made(directory, 'unseen', UNSEEN)
    with View(t, [path]) as view:
        tables = Tables(t, path, view)
        if len(tables.wakeups) != 2:
            return f'wakeups are {tables.wakeups}'
        why = compare_wakeups(view, tables)
        alpha, beta, child = (task_row(view, pid) for pid in (100, 101, 102))
        waits = slice_at(view, beta, 'state', 1200000)
        waited = (waits['state'], waits['waker']['row'], waits['waker']['latency'])
        if not why and waited != ('runnable', alpha['row'], 500000):
            why = f'beta waits: {waits}'
        steps = [(s['row'], s['state']) for s in view.get('chain', row=child['row'], ts=2000000)]
        want = [(child['row'], 'running'), (child['row'], 'runnable'), (beta['row'], 'running'),
                (beta['row'], 'runnable'), (alpha['row'], 'running')]
        return why or ('' if steps == want else f'the chain is {steps}, not {want}')


# Hits at the same time, on one CPU and on two; cpu_id 1 is none.
EQUAL = [(1000, 0, 0), (2000, 0, 0), (2000, 1, 0), (2000, 1, 1), (2000, 1, 0), (2000, 1, 0), (3000, 0, 1), (3000, 0, 0)]


def check_equal_times(t, directory):
    """Every hit is reached from the one before and the one behind."""
    lines = [f'{ts} {cpu} 5 cpu_frequency state=1 cpu_id={number}' for ts, cpu, number in EQUAL]
    path = made(directory, 'equal', lines)
    with View(t, [path]) as view:
        number, state = view.search(filter='cpu_frequency: cpu_id == 0')
        rows, _ = view.events(search=number)
        want = [row['n'] for row in rows]
        for direction, where in ((1, {'ts': 0}), (-1, {'ts': 10000})):
            seen, n = [], step(view, number, direction, **where)
            while isinstance(n, int) and len(seen) <= len(want):
                seen.append(n)
                n = step(view, number, direction, n=n)
            if n is not None or seen[::direction] != want:
                return f'{seen} ({direction}), not {want}; {n}'
    return '' if len(want) == 6 else f'{len(want)} hits'


# What tells of processes: pid, tgid (None: nothing is said), name of the process. CLONE_THREAD is 0x10000.
PROCESSES = '''
comm 500 server
comm 700 lonely
1000 0 0    switch swapper/0:0 R server:500
1100 0 500  task_newtask pid=501 comm=server clone_flags=0x10000
1200 0 500  task_newtask pid=510 comm=server clone_flags=0
1300 0 500  switch server:500 S worker:501
1400 0 501  task_newtask pid=502 comm=worker clone_flags=0x10000
1500 0 501  switch worker:501 S worker:502
1600 0 502  switch worker:502 S server:510
1700 0 510  sched_process_exec filename=/bin/cat pid=510 old_pid=510
1800 0 510  switch cat:510 S sampled:601
1900 0 601  user_stack tgid=600 caller=1,2,3
2000 0 601  switch sampled:601 S main:600
2100 0 600  switch main:600 S lonely:700
2200 0 700  switch lonely:700 S late:801
2250 0 801  task_newtask pid=802 comm=late clone_flags=0x10000
2300 0 801  switch late:801 S late:802
2400 0 802  user_stack tgid=800 caller=1,2,3
2500 0 802  switch late:802 S swapper/0:0
buffer two
1000 1 501  cpu_frequency state=1 cpu_id=1
'''.strip().split('\n')
MEMBERS = {500: (500, 'server'), 501: (500, 'server'), 502: (500, 'server'), 510: (510, 'cat'), 601: (600, 'main'),
           600: (600, 'main'), 700: (None, None), 801: (800, None), 802: (800, None)}


def check_processes(t, directory):
    path = made(directory, 'processes', PROCESSES)
    for options in ([], ['--threads', '1'], ['--cache', directory], ['--cache', directory]):
        with server.Server(t, [path], '--no-open', *options) as s:
            s.indexed()
            rows = s.json('rows')
        got = {(r['buffer'], r['pid']): (r.get('tgid'), r.get('process')) for r in rows if r['kind'] == 'task'}
        want = {(0, pid): of for pid, of in MEMBERS.items()} | {(1, 501): (500, 'server')}
        if got != want:
            return f'{options}: ' + '; '.join(f'{key}: {got.get(key)}, not {want.get(key)}'
                                              for key in sorted({*got, *want}) if got.get(key) != want.get(key))
    return ''


NASTY = ['quote"\\', 'tab\tline', '</script>', 'caf\u00e9']


def check_names(t, directory):
    """Names of tasks that are no words stay text."""
    lines, now = [], 1000
    for i, name in enumerate(NASTY):
        now += 1000
        text = json.dumps(name, ensure_ascii=False) if '"' not in name else "'" + name + "'"
        lines.append(f'{now} 0 0 sched_wakeup comm={text} pid={50 + i} prio=120 target_cpu=0')
    path = made(directory, 'names', lines)
    with View(t, [path]) as view:
        rows, _ = view.events()
        number, _ = view.search(text='QUOTE"')
        hits, _ = view.events(search=number)
        field = view.get('event', n=0)['fields']
    if len(rows) != len(NASTY) or [r['n'] for r in hits] != [0]:
        return f'{len(rows)} events, hits {hits}'
    return '' if any(f['value'] == NASTY[0] for f in field) else f'fields are {field}'


def check_two_files(t, directory):
    """Several files are one list."""
    rng = random.Random(3)
    times = [sorted(rng.sample(range(1000, 10 ** 6), 3000)) for _ in range(2)]
    paths = [made(directory, f'part{i}', [f'{ts} {n % 2} {i + 5} cpu_frequency state={n} cpu_id={i}'
                                          for n, ts in enumerate(times[i])]) for i in range(2)]
    want = sorted((ts, i, n) for i in range(2) for n, ts in enumerate(times[i]))
    with View(t, paths) as view:
        rows, total = view.events()
        got = [(view.origin + r['ts'], r['file']) for r in rows]
        if total != len(want) or got != [(ts, i) for ts, i, _ in want]:
            return f'{total} events in another order'
        for _ in range(20):
            at = rng.randrange(total)
            if view.get('events', at=at, n=3)['rows'] != rows[at:at + 3]:
                return f'from {at} on there are others'
            if view.get('ordinal', ts=rows[at]['ts'])['n'] > at:
                return f'the number of {rows[at]["ts"]}'
        number, state = view.search(filter='cpu_frequency: cpu_id == 1')
        hits, _ = view.events(search=number)
        if [r['n'] for r in hits] != [r['n'] for r in rows if r['file'] == 1]:
            return f'{len(hits)} hits in the second file'
        counts = [e['count'] for e in view.get('sum')['events']]
        return '' if counts == [3000, 3000] else f'counts {counts}'


def check_learned(t, directory):
    """Names that a report learns on the way are those it shows, from wherever the list starts."""
    rng = random.Random(5)
    lines, now = [], 1000
    for i in range(6000):
        now += rng.randrange(1, 50)
        pid, other = rng.randrange(1, 400), rng.randrange(1, 400)
        if rng.random() < 0.2:
            lines.append(f'{now} {i % 3} {pid} switch a{pid}:{pid} S b{other}:{other}')
        elif rng.random() < 0.5:
            lines.append(f'{now} {i % 3} {pid} function ip={0x1000 + rng.randrange(9) * 16} parent_ip={0x1000 + rng.randrange(9) * 16}')
        else:
            lines.append(f'{now} {i % 3} {pid} cpu_frequency state={i} cpu_id=0')
    lines = [f'sym {0x1000 + i * 16:x} f{i}' for i in range(10)] + lines
    path = made(directory, 'learned', lines)
    with View(t, [path]) as view:
        # A place in the middle, before anything else was asked for.
        middle = view.get('events', at=4000, n=100)
        while not middle['settled']:
            middle = view.get('events', at=4000, n=100)
        why, rows = compare_list(t, view, path)
        if why or middle['rows'] != rows[4000:4100]:
            return why or 'other names in the middle'
        number, state = view.search(filter='.*: COMM == "a7"')
        want = {row['n'] for row in rows if row['comm'] == 'a7'}
        hits, _ = view.events(search=number)
        if not want <= {row['n'] for row in hits}:
            return f'{len(hits)} hits by name, at least {len(want)}'
        return compare_places(view, rows, rng)


def check_made(t):
    with tempfile.TemporaryDirectory() as directory:
        with View(t, [made(directory, 'chain', CHAIN)]) as view:
            t.check('moments', check_moments(t, view))
            t.check('searches', check_searches(t, view))
        t.check('unseen tasks', check_unseen(t, directory))
        t.check('equal times', check_equal_times(t, directory))
        t.check('processes', check_processes(t, directory))
        t.check('names', check_names(t, directory))
        t.check('two files', check_two_files(t, directory))
        t.check('learned', check_learned(t, directory))


def check(t):
    check_made(t)
    check_recordings(t)
