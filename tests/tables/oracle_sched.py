#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Computes scheduling tables from the text of a report: oracle_sched.py SPUR TABLES_DUMP FILE

Everything is computed with the whole trace at hand, event by event, unlike in the program, which passes over most of
them: slices from who wrote the events of a CPU and from its switches, wakeups and states from what happens to a
task in order of time. A task that writes an event runs; between two events of a CPU the task stays unless a switch
says otherwise; where the second is written by somebody else nobody knows who ran. Events of other buffers that have the
same clock say the same, where all switches of the buffer itself are there. What losses leave open is compared
only where the answer is clear: slices, running tasks and how they wait always, the rest only in the part before the first loss. What
the file says about itself (whose events were recorded, how many CPUs there were, clocks, where a killed recorder left off) is
taken from `spur info`.
"""
import bisect
import collections
import json
import re
import subprocess
import sys

LINE = re.compile(r'^(?:(?P<buffer>\S+):)?\s*(?P<comm>.*)-(?P<pid>\d+)\s+\[(?P<cpu>\d+)\](?P<flags>\S*)\s+'
                  r'(?P<sec>\d+)\.(?P<ns>\d{9}): (?P<event>\S+):\s*(?P<text>.*)$')
LOST = re.compile(r'^(?:(?P<buffer>\S+):)?\s*CPU:(?P<cpu>\d+) \[(?P<count>\d*) ?EVENTS DROPPED\]')
SWITCH = re.compile(r'prev_comm=(.*) prev_pid=(\d+) prev_prio=(\d+) prev_state=(\w+) '
                    r'next_comm=(.*) next_pid=(\d+) next_prio=(\d+)')
WAKE = re.compile(r'comm=(.*) pid=(\d+) prio=(\d+)(?: success=(\d+))? target_cpu=(\d+)')
FORK = re.compile(r'parent_comm=(.*) parent_pid=(\d+) child_comm=(.*) child_pid=(\d+)')
LETTERS = 'SDTtXZPI'
DEAD = ('X', 'Z')
IRQS_OFF = 0x01 | 0x02  # or not known
IN_INTERRUPT = 0x08 | 0x10 | 0x40

Event = collections.namedtuple('Event', 'ts buffer cpu pid flags name text')


INCOMPLETE = 3  # status of a file whose recorder was killed


def out_of(argv):
    result = subprocess.run(argv, capture_output=True, check=False)
    if result.returncode not in (0, INCOMPLETE):
        sys.exit(f'{argv}: {result.returncode} {result.stderr}')
    return result.stdout.decode(errors='replace').splitlines()


def read_events(spur, path):
    """The events in order; {(buffer, cpu): [time of the first event behind each loss]}; {buffer: when a CPU had its
    last switch before the first loss}; the CPUs of buffers that lost their last events."""
    events, losses, waiting, last, until = [], collections.defaultdict(list), set(), {}, {}
    told = ''  # the line behind a loss has no buffer of its own
    for line in out_of([spur, 'report', '-R', '-t', '-q', '-i', path]):
        lost = LOST.match(line)
        if lost:
            told = lost['buffer'] or ''
            waiting.add((told, int(lost['cpu'])))
        m = LINE.match(line)
        if not m:
            continue
        flags = re.search(r'0x([0-9a-f]+)', m['flags'])
        e = Event(int(m['sec']) * 10**9 + int(m['ns']), m['buffer'] or told, int(m['cpu']), int(m['pid']),
                  int(flags[1], 16) if flags else 0, m['event'], m['text'])
        events.append(e)
        told = ''
        if (e.buffer, e.cpu) in waiting:
            waiting.discard((e.buffer, e.cpu))
            losses[e.buffer, e.cpu].append(e.ts)
            until[e.buffer] = min(until.get(e.buffer, e.ts), last.get((e.buffer, e.cpu), 0))
        if e.name == 'sched_switch':
            last[e.buffer, e.cpu] = e.ts
    return events, losses, until, waiting


class Facts:
    """What the file says about itself: how many CPUs the machine had, whose events were recorded, and of which CPUs
    the last ones are missing."""

    def __init__(self, spur, path):
        about = json.loads('\n'.join(out_of([spur, 'info', '--quick', '--json', path])))
        self.cpus = about['cpu_count']
        self.followed = set(about['followed']) if 'followed' in about else None
        self.hidden = {(h['buffer'], h['pid']) for h in about.get('hidden', [])}
        self.filtered = {f['buffer'] for f in about.get('filters', []) if f['event'] == 'sched:sched_switch'}
        self.ends = {(c['buffer'], c['cpu']) for c in about.get('cut', [])}
        self.cut = {(c['buffer'], c['cpu']): c['lost_after'] for c in about.get('cut', []) if c['lost_after'] != 0}
        lines = out_of([spur, 'info', '--quick', path])
        clocks = [m for m in map(re.compile(r'(?:buffers)?\s+(\S+): .* clock (\S+)$').match, lines) if m]
        self.clocks = {m[1].replace('(top)', ''): m[2] for m in clocks}

    def follows(self, buffer, pid):
        """Whether all switches of a task were recorded."""
        return buffer not in self.filtered and (buffer, pid) not in self.hidden and (self.followed is None or pid in self.followed)


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

REACH = 20_000_000  # accounting is followed back at most that far
ACCOUNTED = re.compile(r'comm=.* pid=(\d+) runtime=(\d+)')
Slice = collections.namedtuple('Slice', 'ts dur buffer cpu pid comm prio end_state open')


def since_when(e, last):
    """Since when the writer of an event ran, which the kernel's accounting may tell."""
    m = ACCOUNTED.match(e.text) if e.name == 'sched_stat_runtime' and last is not None else None
    if not m or int(m[1]) != e.pid:
        return e.ts
    return max(e.ts - min(int(m[2]), REACH), last)


class Cpus:
    """Who runs on the CPUs of a buffer; makes slices, and notes in `seen` who was seen without a switch."""

    def __init__(self, buffer):
        self.buffer, self.slices, self.seen = buffer, [], []
        self.proofs = {}  # by CPU: time of the last event that proves who runs
        self.reached = {}  # when the event was that showed a task, by since when it did
        self.lost = 0  # when the last loss on any CPU began
        self.wrong = False  # a CPU had another task than was known: a switch is missing
        self.left = {}  # by CPU: who has just been switched away from
        self.runs, self.last = {}, {}  # by CPU: [since, pid, comm, prio, open at its start]; time of the last event

    def end(self, cpu, ts, is_open=False, state='-', comm=None, prio=None):
        since, pid, name, rank, began = self.runs.pop(cpu)
        if pid is None and ts <= since:
            return
        word = {(False, False): '-', (True, False): 'start', (False, True): 'end', (True, True): 'both'}
        self.slices.append(Slice(since, ts - since, self.buffer, cpu, pid, name or comm, rank or prio, state,
                                 word[began, is_open] if pid is not None else '-'))

    def unknown(self, cpu, ts):
        """Nobody knows who runs from then on."""
        if cpu in self.runs and self.runs[cpu][1] is not None:
            self.end(cpu, ts, is_open=True)
            self.runs[cpu] = [ts, None, None, None, False]

    def leave_others(self, pid, cpu):
        for other, run in list(self.runs.items()):
            if pid and other != cpu and run[1] == pid:
                self.unknown(other, self.proofs[other])
                self.seen.append((pid, 'gone'))

    def see(self, e, pid, after_loss):
        """A task writes an event; whether it is seen without a switch to it."""
        proves = ('sched_switch', 'sched_stat_runtime') if e.buffer == self.buffer else ('sched_stat_runtime',)
        if after_loss:
            self.unknown(e.cpu, self.last.get(e.cpu))
            self.left.pop(e.cpu, None)
        if (e.name not in proves and self.left.get(e.cpu) == pid != self.runs[e.cpu][1]
                and (e.name == 'sched_switch' or (e.flags & IRQS_OFF and not e.flags & IN_INTERRUPT))):
            return False  # the rest of the switch, which proves nothing
        self.proof, self.proofs[e.cpu] = self.proofs.get(e.cpu), e.ts
        self.left.pop(e.cpu, None)
        if e.cpu in self.runs and self.runs[e.cpu][1] == pid:
            return False
        self.leave_others(pid, e.cpu)
        last = self.proof
        ts = e.ts if after_loss else since_when(e, None if last is None else max(last, self.lost))
        if e.cpu in self.runs:
            self.wrong |= self.runs[e.cpu][1] is not None
            self.unknown(e.cpu, last)
            self.end(e.cpu, ts)
        self.runs[e.cpu] = [ts, pid, None, None, True]
        self.reached[ts, e.cpu, pid] = e.ts
        return True

    def switch(self, e, s):
        self.end(e.cpu, e.ts, state=s['state'], comm=s['prev_comm'], prio=s['prev_prio'])
        self.leave_others(s['next_pid'], e.cpu)
        self.left[e.cpu] = s['prev_pid']
        self.runs[e.cpu] = [e.ts, s['next_pid'], s['next_comm'], s['next_prio'], False]


def begin_silent(c, facts, firsts, losses, start):
    """CPUs of which nothing is known when the trace begins: without events, or some were lost or left out before."""
    for cpu in range(max([facts.cpus] + [cpu + 1 for cpu in firsts])):
        lost = losses.get((c.buffer, cpu))
        if cpu not in firsts or not facts.follows(c.buffer, -1) or (lost and lost[0] == firsts[cpu]):
            c.runs[cpu] = [start, None, None, None, False]


def last_before(events, losses, facts):
    """Which events are the last of their CPU before a loss, or before it was cut."""
    found, last, left = set(), {}, {key: list(times) for key, times in losses.items()}
    for i, e in enumerate(events):
        key = e.buffer, e.cpu
        if left.get(key) and left[key][0] == e.ts:
            left[key].pop(0)
            found.add(last.get(key))
        last[key] = i
    return found | {last.get(key) for key in facts.cut}


def gaps_of(events, losses, facts):
    """{index of the last event of a CPU before a loss, or None: [(buffer, start, end)]}; what was cut has no end."""
    found, last, left = collections.defaultdict(list), {}, {key: list(times) for key, times in losses.items()}
    for i, e in enumerate(events):
        key = e.buffer, e.cpu
        if left.get(key) and left[key][0] == e.ts:
            left[key].pop(0)
            found[last.get(key)].append((e.buffer, events[last[key]].ts if key in last else 0, e.ts))
        last[key] = i
    for key in facts.cut:
        found[last.get(key)].append((key[0], events[last[key]].ts if key in last else 0, float('inf')))
    return found


class Others:
    """Which events of other buffers show who runs to a buffer: those between two events of its own on the CPU, or behind
    the last or before the first one, unless some of its own are missing there."""

    def __init__(self, buffer, events, losses, ended, facts):
        self.buffer, self.events, self.ended, self.facts = buffer, events, ended, facts
        own = [(i, e) for i, e in enumerate(events) if e.buffer == buffer]
        self.start, self.over = min(e.ts for _, e in own), own[-1][0]
        self.own = collections.defaultdict(list)
        for i, e in own:
            self.own[e.cpu].append(i)
        self.behind_loss, left = set(), {cpu: list(losses.get((buffer, cpu), [])) for cpu in self.own}
        for i, e in own:
            if left[e.cpu][:1] == [e.ts]:
                left[e.cpu].pop(0)
                self.behind_loss.add(i)

    def count(self, i):
        e = self.events[i]
        if (e.buffer == self.buffer or self.facts.clocks[e.buffer] != self.facts.clocks[self.buffer] or
                self.buffer in self.facts.filtered or e.ts < self.start or e.cpu not in self.own):
            return False
        own = self.own[e.cpu]
        at = bisect.bisect(own, i)
        if e.ts in [self.events[k].ts for k in own[max(at - 1, 0):at + 1]]:
            return False
        if at == len(own):
            return (self.buffer, e.cpu) not in self.ended | self.facts.cut.keys()
        return own[at] not in self.behind_loss


class Tasks(collections.defaultdict):
    """{(buffer, pid): [(ts, what, event, details)]}, what happens to tasks; and `log`, that and all losses in order; and
    buffers where CPUs became idle although a switch is missing."""

    def __init__(self):
        super().__init__(list)
        self.log, self.wrong = [], set()

    def note(self, buffer, pid, *what):
        self[buffer, pid].append(what)
        self.log.append((buffer, pid, what))

    def note_idle(self, c, cpu):
        """A CPU has become idle; that says something where a switch is missing."""
        if c.wrong and c.runs[cpu][1] == 0:
            self.log.append((c.buffer, None, (c.runs[cpu][0], 'idle', cpu)))
            self.wrong.add(c.buffer)

    def note_loss(self, buffer, start, end):
        """Between two times events of a CPU are missing; noted when the last one before that has been seen."""
        self.log.append((buffer, None, (start, 'loss', end)))


def note_gone(c, e, tasks):
    while c.seen:
        gone, what = c.seen.pop()
        tasks.note(c.buffer, gone, e.ts, what, e, None)


def see(c, e, pid, after_loss, tasks):
    """A task writes an event: notes what that says of tasks."""
    before = c.runs.get(e.cpu, [None] * 2)[1]
    if not c.see(e, pid, after_loss):
        return False
    note_gone(c, e, tasks)
    if before not in (None, pid):
        tasks.note(c.buffer, before, e.ts, 'gone', e, None)
    tasks.note(c.buffer, pid, e.ts, 'seen', e, None)
    tasks.note_idle(c, e.cpu)
    return True


def look(c, e, over, facts, tasks):
    """An event of another buffer."""
    if (see(c, e, e.pid, None, tasks) and over) or not facts.follows(c.buffer, c.runs[e.cpu][1]):
        c.unknown(e.cpu, e.ts)


def play(events, losses, ended, end, facts):
    """All slices; {(buffer, pid): [(ts, what, event, details)]} with what else happens to tasks."""
    has_switches = {e.buffer for e in events if e.name == 'sched_switch'}
    cpus, tasks = {}, Tasks()
    cuts = {key: list(times) for key, times in losses.items()}
    firsts = collections.defaultdict(dict)
    for e in events:
        firsts[e.buffer].setdefault(e.cpu, e.ts)
    for buffer in has_switches:
        cpus[buffer] = Cpus(buffer)
        begin_silent(cpus[buffer], facts, firsts[buffer], losses, min(e.ts for e in events))
    before_losses, gaps = last_before(events, losses, facts), gaps_of(events, losses, facts)
    for buffer, *gap in gaps.pop(None, []):
        tasks.note_loss(buffer, *gap)
    others = [Others(buffer, events, losses, ended, facts) for buffer in has_switches]
    for i, e in enumerate(events):
        for gap in gaps.get(i - 1, []):
            tasks.note_loss(*gap)
        for o in others:
            if o.count(i):
                look(cpus[o.buffer], e, i > o.over, facts, tasks)
        if e.name in ('sched_waking', 'sched_wakeup', 'sched_wakeup_new') and WAKE.match(e.text)[4] != '0':
            woken = (e.ts, e.name[6:], e, WAKE.match(e.text))
            if e.buffer not in has_switches:
                tasks.note(e.buffer, int(woken[3][2]), *woken)
        else:
            woken = None
        if e.buffer not in has_switches:
            continue
        c = cpus[e.buffer]
        s = switch_of(e) if e.name == 'sched_switch' else None
        if not s and e.buffer in facts.filtered:
            if woken:
                tasks.note(e.buffer, int(woken[3][2]), *woken)
            c.last[e.cpu] = e.ts
            if cuts.get((e.buffer, e.cpu), [])[:1] == [e.ts]:
                cuts[e.buffer, e.cpu].pop(0)
            continue
        pid = s['prev_pid'] if s else e.pid
        waiting = cuts.get((e.buffer, e.cpu), [])
        lost = bool(waiting) and waiting[0] == e.ts
        see(c, e, pid, waiting.pop(0) if lost else None, tasks)
        if s:
            tasks.note(e.buffer, s['prev_pid'], e.ts, 'out', e, s)
            c.switch(e, s)
            note_gone(c, e, tasks)  # it has left another CPU before it comes to this one
            tasks.note(e.buffer, s['next_pid'], e.ts, 'in', e, s)
            tasks.note_idle(c, e.cpu)
        if not facts.follows(e.buffer, c.runs[e.cpu][1]):
            c.unknown(e.cpu, e.ts)
        note_gone(c, e, tasks)
        if woken:
            tasks.note(e.buffer, int(woken[3][2]), *woken)
        c.last[e.cpu] = e.ts
        if i in before_losses:
            c.lost = e.ts
    for c in cpus.values():
        for cpu in list(c.runs):
            if (c.buffer, cpu) in facts.cut and cpu in c.last:
                gone = c.runs[cpu][1]
                c.unknown(cpu, c.last[cpu])
                tasks.note(c.buffer, gone, end, 'gone', None, None)
            c.end(cpu, end, is_open=True)
    for key in [key for key in tasks if key[1] == 0]:
        del tasks[key]
    reached = {(c.buffer, *key): ts for c in cpus.values() for key, ts in c.reached.items()}
    return [s for c in cpus.values() for s in c.slices], tasks, reached


def compare_slices(want, rows):
    """Names and priorities are compared where a switch has told them."""
    def told(ts, dur, cpu, pid, comm, prio, state, is_open, buffer):
        named = is_open not in ('start', 'both') or state != '-'
        return (ts, dur, cpu, pid, comm if named else '', prio if named else '', state, is_open, buffer)

    compare('slices',
            [told(s.ts, s.dur, s.cpu, str('-' if s.pid is None else s.pid), s.comm or '-', s.prio or '-', s.end_state,
                  s.open, s.buffer) for s in want],
            [told(int(r['ts']), int(r['dur']), int(r['cpu']), r['pid'], r['comm'], r['prio'], r['end_state'], r['open'],
                  r['buffer']) for r in rows])


def compare_running(want, rows, tasks, reached):
    """Tasks run when and where a CPU has them. Accounting may reach back behind a wakeup that another CPU has recorded,
    as their clocks differ by a little: a task begins to run when it was woken, then."""
    def began(s):
        seen = reached.get((s.buffer, s.ts, s.cpu, s.pid), s.ts)
        history = tasks[s.buffer, s.pid] if seen > s.ts else []
        return max([s.ts] + [h[0] for before, h in zip([(0, '')] + history, history) if h[1] in WAKES and
                             (before[1], h[1]) != ('waking', 'wakeup') and s.ts < h[0] <= seen])

    compare('running', [(began(s), s.ts + s.dur - began(s), s.cpu, s.pid, s.open, s.buffer) for s in want if s.pid],
            [(int(r['ts']), int(r['dur']), int(r['cpu']), int(r['pid']), r['open'], r['buffer']) for r in rows
             if r['state'] == 'running'])


# ---- wakeups and states ----

def wakeups(history):
    """(ts, latency, waker pid, in interrupt, new) of a task; a wakeup counts when the last thing was a sleep."""
    before = None
    for i, (ts, what, e, m) in enumerate(history):
        if what in ('in', 'out', 'seen', 'gone'):
            before = history[i] if what != 'gone' else None
            continue
        if what == 'wakeup' and i and history[i - 1][1] == 'waking':
            continue
        runs = before and (before[1] in ('in', 'seen') or before[3]['state'].startswith('R'))
        if what != 'wakeup_new' and runs:
            continue
        then = i + 1 + (what == 'waking' and [h[1] for h in history[i + 1:i + 2]] == ['wakeup'])
        after = history[then] if then < len(history) else None
        latency = str(after[0] - ts) if after and after[1] == 'in' else '-'
        yield ts, latency, e.pid, int(bool(e.flags & IN_INTERRUPT)), int(what == 'wakeup_new')
        if what == 'wakeup_new':
            before = None


WAKES = ('waking', 'wakeup', 'wakeup_new')
WORDS = {'S': 'sleeping', 'I': 'sleeping', 'P': 'sleeping', 'D': 'blocked', 'T': 'stopped', 't': 'stopped'}


def pauses(history):
    """(ts, dur, state, reason) from each switch away to the wakeup or switch that ends it, and from there on."""
    steps = [h for i, h in enumerate(history)
             if h[1] != 'wakeup' or not (i and history[i - 1][1] == 'waking')]
    for i, (ts, what, _, s) in enumerate(steps[:-1]):
        if what == 'out' and s['state'] not in DEAD:
            then = steps[i + 1]
            if s['state'].startswith('R'):
                then = next((steps[k] for k in range(i + 1, len(steps)) if steps[k][1] in ('in', 'seen')), None)
                if then and then[1] == 'in':
                    yield ts, then[0] - ts, 'runnable', 'preempted' if '+' in s['state'] else 'yielded'
            elif then[1] != 'seen':
                yield ts, then[0] - ts, WORDS[s['state'][0]], '-'


def compare(what, want, got):
    want, got = collections.Counter(want), collections.Counter(got)
    for row in sorted((want - got), key=str)[:3]:
        print(f'{what}: missing {row}')
    for row in sorted((got - want), key=str)[:3]:
        print(f'{what}: unexpected {row}')


def compare_tasks(tasks, until, dump, path, facts, vague):
    """Pauses not of buffers in `vague`, that lack a CPU, and waits for a CPU not where switches are missing: compare_waits()
    knows these."""
    wrong = tasks.wrong
    tasks = {key: [h for h in history if h[0] < until.get(key[0], float('inf'))] for key, history in tasks.items()}
    before = lambda row: int(row['ts']) < until.get(row['buffer'], float('inf'))
    want, got = [], []
    for (buffer, pid), history in tasks.items():
        history = history if facts.follows(buffer, pid) else [h for h in history if h[1] in WAKES]
        want += [(ts, latency if facts.follows(buffer, pid) else '-', pid, waker, irq, new, buffer)
                 for ts, latency, waker, irq, new in wakeups(history)]
    for row in filter(before, rows_of(dump, path, 'wakeups')):
        got.append((int(row['ts']), row['latency'], int(row['pid']), int(row['waker_pid']),
                    int(row['in_interrupt']), int(row['is_new']), row['buffer']))
    # What is not over when events are lost somewhere may be open or not.
    over = lambda row: row[-1] not in until or (row[1] != '-' and row[0] + int(row[1]) < until[row[-1]])
    want, got = list(filter(over, want)), list(filter(over, got))
    compare('wakeups', want, got)
    rows = [row for row in rows_of(dump, path, 'states') if before(row)]
    ends = lambda row: int(row['ts']) + int(row['dur']) < until.get(row['buffer'], float('inf'))
    rows = list(filter(ends, rows))
    came = switched_in(tasks)
    by_switch = lambda r: ((r['buffer'], int(r['pid'])), int(r['ts']) + int(r['dur'])) in came
    paused = ('sleeping', 'blocked', 'stopped')
    rows = [r for r in rows if facts.follows(r['buffer'], int(r['pid']))]
    compare('pauses', [(ts, dur, pid, state, reason, buffer) for (buffer, pid), h in tasks.items()
                       if facts.follows(buffer, pid) and buffer not in vague for ts, dur, state, reason in pauses(h)
                       if state != 'runnable' or buffer not in wrong],
            [(int(r['ts']), int(r['dur']), int(r['pid']), r['state'], r['reason'], r['buffer']) for r in rows
             if r['buffer'] not in vague and (r['state'] != 'runnable' or r['buffer'] not in wrong) and (r['open'] == '-' or (r['open'] == 'end' and by_switch(r)))
             and (r['state'] in paused or r['reason'] in ('preempted', 'yielded'))])


class Waits:
    """What tasks of a buffer do between two events that tell of them, when they do not run: [(from, to, row or rows)]. A stretch
    is known up to the first loss on any CPU, or not at all: if it began while events were being lost, if the task was to run
    on a CPU without events, or if it was woken (or ran) without what must have come before."""

    def __init__(self, buffer, absent, nr_cpus, end):
        self.buffer, self.absent, self.nr_cpus, self.end = buffer, absent, nr_cpus, end
        self.lossy, self.wakes = 0, False
        self.open = {}  # by pid: [since, state, known up to, is woken, waking, CPU]
        self.found = []

    def is_absent(self, m):
        return int(m[5]) >= self.nr_cpus or int(m[5]) in self.absent

    def close(self, pid, ts, known=True):
        since, state, until, *_ = self.open.pop(pid)
        if until is None:
            until = since if not known or since < self.lossy else ts
        until = min(max(until, since), ts)
        self.found.append((pid, since, ts, [(a, b - a, word) for a, b, word in
                                            ((since, until, state), (until, ts, 'unknown')) if a < b]))

    def loss(self, start, end):
        for wait in self.open.values():
            if wait[2] is None:
                wait[2] = wait[0] if wait[0] < self.lossy else start
        self.lossy = max(self.lossy, end)

    def idle(self, ts, cpu):
        """Whoever could run on that CPU had it, or does not want it: with a switch missing, nobody knows since when."""
        for wait in self.open.values():
            if wait[1] == 'runnable' and wait[5] == cpu and wait[2] is None:
                wait[2] = wait[0] if wait[0] < self.lossy else ts

    def wake(self, pid, ts, what, m):
        wait = self.open.get(pid)
        if wait and wait[4] and what == 'wakeup':
            wait[4], wait[5] = False, int(m[5])
            if wait[2] is not None and not self.is_absent(m):
                self.open.pop(pid)  # that it waits is known again, unless it was lost by then
            return
        if what == 'wakeup_new':
            self.open.pop(pid, None)
            return
        if wait and wait[1] == 'runnable' and not wait[3] and wait[2] is None:
            return  # it will not go to sleep after all
        if wait:
            self.close(pid, ts, known=wait[1] != 'runnable')
        self.open[pid] = [ts, 'runnable', ts if self.is_absent(m) else None, True, what == 'waking', int(m[5])]

    def happens(self, pid, ts, what, e, details):
        if what in WAKES:
            if pid in self.open:
                self.wake(pid, ts, what, details)
        elif what == 'in' and pid in self.open:
            slept = self.open[pid][1] != 'runnable'
            self.close(pid, ts, known=not (slept and self.absent and self.wakes))
        elif what == 'out' and details['state'] not in DEAD:
            state = 'runnable' if details['state'].startswith('R') else WORDS[details['state'][0]]
            self.open[pid] = [ts, state, None, False, False, e.cpu]
        else:
            self.open.pop(pid, None)  # seen, gone, dead: compared elsewhere

    def finish(self):
        for pid in list(self.open):
            self.close(pid, self.end)


def compare_waits(tasks, events, rows, facts, end):
    """How tasks wait whose switches were all recorded, but for those that are freed or moved meanwhile."""
    others = {(e.buffer, int(m[1])) for e in events if e.name in ('sched_process_free', 'sched_migrate_task', 'sched_process_fork')
              for m in [re.search(r'(?:child_pid|[^_]pid)=(\d+)', e.text)] if m}
    waits = {}
    for buffer in {e.buffer for e in events if e.name == 'sched_switch'}:
        nr_cpus = max([facts.cpus] + [e.cpu + 1 for e in events if e.buffer == buffer])
        seen = {e.cpu for e in events if e.buffer == buffer}
        waits[buffer] = Waits(buffer, set(range(nr_cpus)) - seen, nr_cpus, end)
    for buffer, pid, (ts, what, *more) in tasks.log:
        if buffer not in waits:
            continue
        if pid is None:
            (waits[buffer].loss if what == 'loss' else waits[buffer].idle)(ts, more[0])
            continue
        waits[buffer].wakes |= what in WAKES and pid != 0
        if pid and facts.follows(buffer, pid) and (buffer, pid) not in others:
            waits[buffer].happens(pid, ts, what, *more)
    got = collections.defaultdict(list)
    for r in rows:
        if r['state'] not in ('running', 'dead') and int(r['dur']):
            got[r['buffer'], int(r['pid'])].append((int(r['ts']), int(r['dur']), r['state']))
    for w in waits.values():
        w.finish()
        want = [(row, pid, w.buffer) for pid, since, ts, pieces in w.found for row in pieces]
        have = [(row, pid, w.buffer) for pid, since, ts, _ in w.found for row in got[w.buffer, pid]
                if since <= row[0] and row[0] + row[1] <= ts]
        compare('waits', want, have)


def vague_buffers(events, facts):
    cpus = collections.defaultdict(set)
    for e in events:
        cpus[e.buffer].add(e.cpu)
    return {buffer for buffer in cpus if len(cpus[buffer]) < facts.cpus or buffer in {key[0] for key in facts.cut}}


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
            [(r['buffer'], int(r['cpu']), int(r['events'])) for r in rows_of(dump, path, 'cpus') if r['events'] != '0'])
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


def compare_cpus(slices, rows):
    """A CPU is busy, idle and unknown for as long as its slices say."""
    sums = collections.defaultdict(lambda: [0, 0, 0])
    for s in slices:
        sums[s.buffer, s.cpu][2 if s.pid is None else int(s.pid) == 0] += s.dur
    compare('times of cpus', [(*key, *times) for key, times in sums.items()],
            [(r['buffer'], int(r['cpu']), *(int(r[c]) for c in ('busy', 'idle', 'unknown'))) for r in rows
             if r['busy'] != '-' and (r['busy'], r['idle'], r['unknown']) != ('0', '0', '0') or
             (r['buffer'], int(r['cpu'])) in sums])


def compare_top(spur, path, rows):
    """How long each task was in which state, as `spur top` sums it up. It has no column for stopped tasks."""
    columns = ('running', 'runnable', 'blocked', 'sleeping', 'unknown')
    want, got = collections.Counter(), collections.Counter()
    for r in rows:
        if r['state'] in columns:
            want[int(r['pid']), r['state']] += int(r['dur'])
    for task in json.loads('\n'.join(out_of([spur, 'top', '-n', '0', '--json', path])))['tasks']:
        for column in columns:
            got[task['pid'], column] += task[column] or 0
    compare('top', [(*key, ns) for key, ns in want.items() if ns], [(*key, ns) for key, ns in got.items() if ns])


def compare_losses(events, losses, facts, rows):
    """Where events were lost: before an event, and after the last one of a CPU when the recording was cut."""
    last, wanted = {}, []
    for e in events:
        last[e.buffer, e.cpu] = max(e.ts, last.get((e.buffer, e.cpu), 0))
    for key, times in losses.items():
        wanted += [(*key, ts) for ts in times]
    end = max((last.get(key, 0) for key in facts.ends), default=0)
    compare('lost', wanted + [(*key, end) for key in facts.cut], [(r['buffer'], int(r['cpu']), int(r['ts'])) for r in rows])
    compare('lost at the end',
            [(*key, str(last.get(key, '-')), '-' if n is None else str(n)) for key, n in facts.cut.items()],
            [(r['buffer'], int(r['cpu']), r['since'], r['events']) for r in rows
             if (r['buffer'], int(r['cpu'])) in facts.cut and r['since'] == str(last.get((r['buffer'], int(r['cpu'])), '-'))])


def main():
    spur, dump, path = sys.argv[1:]
    events, losses, until, ended = read_events(spur, path)
    if not events:
        sys.exit(77)
    compare_counts(events, dump, path)
    facts = Facts(spur, path)
    compare_losses(events, losses, facts, rows_of(dump, path, 'lost'))
    if not any(e.name.startswith('sched_') for e in events):
        return
    whole = max(e.ts for e in events)
    wanted, tasks, reached = play(events, losses, ended, whole, facts)
    rows = rows_of(dump, path, 'states')
    compare_slices(wanted, rows_of(dump, path, 'slices'))
    compare_cpus(wanted, rows_of(dump, path, 'cpus'))
    compare_running(wanted, rows, tasks, reached)
    if wanted:
        compare_top(spur, path, rows)
    for key in facts.cut:
        last = max((e.ts for e in events if (e.buffer, e.cpu) == key), default=0)
        until[key[0]] = min(until.get(key[0], last), last)
    compare_tasks(tasks, until, dump, path, facts, vague_buffers(events, facts))
    compare_waits(tasks, events, rows, facts, whole)
    check_gapless(rows)


main()
