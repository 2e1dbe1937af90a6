# SPDX-License-Identifier: GPL-2.0-or-later
"""Parquet: what is in the files, read by pqread.py, DuckDB and ClickHouse, is what `spur sql` shows of the trace.

DuckDB and ClickHouse come from npm once and are kept in the cache. ClickHouse is half a gigabyte: it is only used
where it is there already, or with SPUR_CHDB=1.
"""
import glob
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse

sys.path.insert(1, 'tests/tables')
sys.path.insert(1, 'tests/guest')
import harness
import kernels
import mktrace
import npm
import pqread

SAMPLE = 'data/sample.dat'
DUCKDB, CHDB = '@duckdb/node-api@1.5.6-r.1', 'chdb@3.4.0'
DERIVED = 'slices states wakeups syscalls irqs softirqs block calls stacks samples tasks cpus'.split()
EXTRA = {'trace_id'}  # columns that SQL does not have
U64 = 1 << 64

# Everything that is difficult: wall time, losses, two buffers, nulls, numbers at the ends of their ranges,
# texts that are no UTF-8 (PUT into the file's bytes below), arrays.
STORY = '''
uname "Linux host/../%41 6.1.0-x armv7l"
date 0x5f5e100123456
comm 100 alpha
comm 101 QQQQ
sym ffffffff81000000 do_work
sym ffffffff81000100 do_more
sym ffffffff81000200 do_last
1000001 0 0     switch swapper/0:0 R alpha:100
1200000 1 0     switch swapper/1:0 R QQQQ:101
1300000 1 101   sys_enter id=0 args=3,18446744073709551615,0,1,2,9223372036854775808
1350000 1 101   sys_exit id=0 ret=-9223372036854775808
1400000 1 101   sys_enter id=1 args=1,2,3,4,5,6
1450000 1 101   sys_exit id=1 ret=-14
1500000 0 100   my_kprobe __probe_ip=0xffffffff81000010 arg1=18446744073709551615
1500100 0 100   my_kprobe __probe_ip=0xffffffff81000110 arg1=9223372036854775808
1500200 0 100   my_kprobe __probe_ip=0x10 arg1=0
1600000 0 100   task_rename pid=100 oldcomm=alpha 'newcomm=be"ta' oom_score_adj=-1000
1700000 0 100   waking QQQQ:101 1
1700500 0 100   irq_handler_entry irq=5 name=ethQQQQ
1700900 0 100   irq_handler_exit irq=5 ret=1
1800000 0 100   switch alpha:100 S swapper/0:0
1900000 1 101   switch QQQQ:101 S gamma:102
2000000 1 lost 17
2000000 1 102   switch gamma:102 D swapper/1:0
2500000 0 0     switch swapper/0:0 R alpha:100
buffer two
1100000 0 7     cpu_frequency state=4294967295 cpu_id=1
1150000 0 7     sched_process_exec filename= pid=7 old_pid=-1
1200000 0 7     waking other:998 0
3000000 0 lost
3000000 0 7     waking never:999 0
'''
NO_UTF8 = b'\xff\xc3(\x80'
MENDED = '\xff\xc3(\x80'


def story(host=None):
    text = STORY if host is None else STORY.replace('host/../%41', host)
    return mktrace.make(text.strip().split('\n')).replace(b'QQQQ', NO_UTF8)


def rounds(number):
    """Tasks that take turns, with system calls: enough rows for several pages and row groups."""
    yield 'uname "Linux busy 6.1.0 x86_64"'
    for i in range(number):
        a, b, ts = f'task{i % 40}:{100 + i % 40}', f'task{(i + 1) % 40}:{100 + (i + 1) % 40}', 1000000 + 7001 * i
        yield f'{ts} {i % 3} {100 + i % 40} waking {b} {i % 3}'
        yield f'{ts + 1000 + i % 977} {i % 3} {100 + i % 40} switch {a} S {b}'
        yield f'{ts + 3000} {i % 3} {100 + (i + 1) % 40} sys_enter id={i % 5} args={i},2,{i % 7},4,5,6'
        yield f'{ts + 3000 + i * 17 % 3000} {i % 3} {100 + (i + 1) % 40} sys_exit id={i % 5} ret={i % 3 - 1}'


class Store:
    """A folder of Parquet files."""

    def __init__(self, t, path):
        self.t, self.path = t, path

    def export(self, *traces, options=()):
        words = [word for o in options for word in ('-O', o)]
        return self.t.run(['export', '--to', 'parquet', '-o', self.path, *words, *traces], seconds=60)

    def files(self):
        return sorted(glob.glob(f'{glob.escape(self.path)}/**/*.parquet', recursive=True))

    def names(self):
        return {os.path.relpath(f, self.path) for f in self.files()}

    def tables(self):
        return sorted({urllib.parse.unquote(f.split('/')[-1].removesuffix('.parquet')) for f in self.names()})

    def of(self, table, host='*'):
        part = urllib.parse.quote(table, safe='')
        return f'{self.path}/date=*/host={host}/*/{part}.parquet'

    def hidden(self):
        above, name = os.path.split(self.path)
        return [n for n in os.listdir(self.path) if not n.startswith('date=')] + \
            [n for n in os.listdir(above) if n.startswith(f'.{name}.')]

    def read(self, table):
        paths = glob.glob(f'{glob.escape(self.path)}/*/*/*/{urllib.parse.quote(table, safe="")}.parquet')
        return pqread.read(paths[0]) if len(paths) == 1 else None


def asked(t, trace, queries):
    """What `spur sql` answers to them: lists of objects."""
    done = t.run(['sql', '-q', '--json', trace, '; '.join(queries)], seconds=60)
    text, out, at = done.out.decode(), [], 0
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        rows, at = json.JSONDecoder().raw_decode(text, at)
        out.append(rows)
    return out if len(out) == len(queries) else None


# ---- all rows ------------------------------------------------------------------------------------

def sql_name(table):
    return '"lost"' if table == 'losses' else f'"{table}"'


def difference(table, parquet, rows):
    """'' when the table is these rows of SQL, which are in order of time."""
    columns = {c.name: c for c in parquet.columns}
    count = len(parquet.rows['ts'])
    if count != len(rows):
        return f'{table}: {count} rows, not {len(rows)}'
    if rows and set(rows[0]) | EXTRA != set(columns):
        return f'{table}: columns {set(rows[0]) ^ set(columns)}'

    def sign(name, v):
        return v + U64 if columns[name].unsigned and v is not None and v < 0 else v

    names = sorted(set(columns) - EXTRA)
    wanted = sorted(repr([sign(n, row[n]) for n in names]) for row in rows)
    have = sorted(repr(list(values)) for values in zip(*(parquet.rows[n] for n in names)))
    for w, h in zip(wanted, have):
        if w != h:
            return f'{table}: {h}, not {w}'
    return ''


def check_rows(t, name, trace, options=()):
    with tempfile.TemporaryDirectory() as directory:
        store = Store(t, directory)
        done = store.export(trace, options=options)
        if done.status not in (0, 3, 4):
            t.fail(f'parquet: rows of {name}', done.trouble or done.err.decode())
            return
        tables = [table for table in store.tables() if table not in ('traces', 'clock_sync')]
        answers = asked(t, trace, [f'select * from {sql_name(table)} order by ts' for table in tables] + [
            'select system, event, count(*) n from events group by 1, 2'])
        if not answers:
            t.fail(f'parquet: rows of {name}', 'spur sql does not answer')
            return
        trouble = ''
        for table, rows in zip(tables, answers):
            try:
                trouble = trouble or difference(table, store.read(table), rows)
            except (pqread.Bad, IndexError, KeyError, UnicodeDecodeError) as error:
                trouble = f'{table}: {error!r}'
        events = sum(len(store.read(table).rows['ts']) for table in tables if table not in DERIVED + ['losses'])
        known = [a for a in answers[-1] if a['event']]
        counted = sum(a['n'] for a in known)
        if not trouble and events != counted and not any(o.startswith('tables=') for o in options):
            trouble = f'{events} events, not {counted}'
        if not trouble and store.read('traces').rows['events'] != [counted]:
            trouble = f'traces: {store.read("traces").rows}'
        t.check(f'parquet: rows of {name}', trouble)


def check_hostile(t, directory):
    """What the story has in it, as values and as names of folders."""
    with open(f'{directory}/story.dat', 'wb') as file:
        file.write(story())
    store = Store(t, f'{directory}/story')
    done = store.export(f'{directory}/story.dat')
    t.check('parquet: a difficult trace', '' if done.status == 0 else done.err.decode())
    probe, calls, wakeups = store.read('my_kprobe'), store.read('sys_exit'), store.read('wakeups')
    traces, losses, sync = (store.read(n).rows for n in ('traces', 'losses', 'clock_sync'))
    irqs, enter = store.read('irqs'), store.read('sys_enter')
    for name, have, wanted in (
            ('unsigned numbers', probe.rows['arg1'], [U64 - 1, 1 << 63, 0]),
            ('functions', probe.rows['__probe_ip_sym'], ['do_work', 'do_more', None]),
            ('negative numbers', calls.rows['ret'], [-1 << 63, -14]),
            ('arrays', enter.rows['args'], ['3 18446744073709551615 0 1 2 9223372036854775808', '1 2 3 4 5 6']),
            ('texts that are no UTF-8', enter.rows['comm'], [MENDED] * 2),
            ('texts of variable length', irqs.rows['name'], ['eth' + MENDED]),
            ('missing values', wakeups.rows['latency'][-1:], [None]),
            ('an empty text', store.read('sched_process_exec').rows['filename'], ['']),
            ('buffers', store.read('cpu_frequency').rows['buffer'], ['two']),
            ('times of day', [c.is_time for c in probe.columns][:2], [True, False]),
            ('the host', set(n.split('/')[1] for n in store.names()), {'host=host%2F..%2F%2541'}),
            ('the date', set(n.split('/')[0] for n in store.names()), {'date=2023-03-02'}),
            ('the trace', [traces[n] for n in ('kernel', 'wall', 'lost', 'gaps', 'buffers', 'file', 'exporter')],
             [['6.1.0-x'], [1], [17], [2], [2], ['story.dat'], traces['exporter']]),
            ('losses', sorted(zip(losses['cpu'], losses['events'], losses['buffer']), key=repr), [(0, None, 'two'), (1, 17, '')]),
            ('clocks', (sync['buffer'], sync['offset']), ([None, 'two'], [1677721601193046000] * 2)),
    ):
        t.check(f'parquet: {name}', '' if have == wanted else f'{have}, not {wanted}')
    check_rows(t, 'a difficult trace', f'{directory}/story.dat')


def check_large(t, directory):
    """Several pages and row groups, and memory for few rows only."""
    with open(f'{directory}/rounds.dat', 'wb') as file:
        file.write(mktrace.make(rounds(2000 if t.sanitized else 17000)))
    for name, options in (('as it comes', ()), ('row groups', ['row_group=1000', 'level=3', 'tables=sched_switch,states']),
                          ('little memory', ['memory=1', 'tables=sys_enter,wakeups,slices'])):
        check_rows(t, f'many rows, {name}', f'{directory}/rounds.dat', options)
    store = Store(t, f'{directory}/groups')
    store.export(f'{directory}/rounds.dat', options=['row_group=1000', 'tables=sched_switch,states'])
    for table in ('sched_switch', 'states'):
        groups = store.read(table).groups
        trouble = [g['rows'] for g in groups if g['rows'] > 1000 or not g['sorted']]
        t.check(f'parquet: row groups of {table}', trouble or ('' if len(groups) > 1 else 'only one'))


def check_many_types(t, directory):
    """A trace of so many event types that not all of them can have large buffers."""
    types = 100 if t.sanitized else 1500
    saved = dict(mktrace.EVENTS), dict(mktrace.NUMBERED)
    for i in range(types):
        mktrace.EVENTS[f'event_{i}'] = ('many', 'u64 a, int b, char[16] c, __data_loc d')
    mktrace.EVENTS['loose'] = ('many', '__data_loc d')
    for name in list(mktrace.EVENTS)[len(mktrace.NUMBERED):]:
        mktrace.NUMBERED[name] = mktrace.Event(name, 3 + len(mktrace.NUMBERED))
    lines = [f'{1000 + i} 0 5 event_{i % types} a={i} b={-i} c=text{i % 10} d=dynamic{i}' for i in range(types * 20)]
    lines += ['comm 5 five', 'comm 6 six'] + [f'{1000000 + i} 0 {5 + i % 2} loose d=text{i}' for i in range(150)]
    with open(f'{directory}/many.dat', 'wb') as file:
        file.write(mktrace.make(lines))
    mktrace.EVENTS, mktrace.NUMBERED = saved
    store = Store(t, f'{directory}/many')
    done = harness.run([t.spur, 'export', '--to', 'parquet', '-o', store.path, '-O', 'memory=4', f'{directory}/many.dat'],
                       memory=None if t.sanitized else 300 << 20, seconds=60)
    events = [table for table in store.tables() if table.startswith('event_')]
    trouble = '' if done.status == 0 and len(events) == types else f'{done} {len(events)}'
    for table in ['event_0', f'event_{types - 1}']:
        rows = store.read(table).rows if not trouble else None
        first = int(table.split('_')[1])
        if rows and rows['a'] != list(range(first, types * 20, types)):
            trouble = f'{table}: {rows["a"]}'
    # Nothing at a fixed place, not even behind the fields that all events have.
    loose = store.read('loose').rows if not trouble else None
    if loose and (loose['comm'] != ['five', 'six'] * 75 or loose['d'] != [f'text{i}' for i in range(150)]):
        trouble = f'loose: {loose["comm"]} {loose["d"]}'
    t.check(f'parquet: {types} event types in little memory', trouble)


# ---- the store -----------------------------------------------------------------------------------

def contents(store):
    found = {}
    for path in store.files():
        with open(path, 'rb') as file:
            found[os.path.relpath(path, store.path)] = file.read()
    return found


def check_again(t, directory):
    """The same trace is there once, whatever happened to its file."""
    trace = f'{directory}/again.dat'
    shutil.copy(SAMPLE, trace)
    store = Store(t, f'{directory}/again')
    store.export(trace)
    once = contents(store)
    store.export(trace)
    t.check('parquet: twice is once', '' if contents(store) == once and len(once) > 10 else 'the files differ')
    os.utime(trace, (0, 10 * 86400))
    store.export(trace)
    moved = store.names()
    t.check('parquet: a trace of another date moves', '' if {n.split('/')[0] for n in moved} == {'date=1970-01-11'} and
            len(moved) == len(once) and len(os.listdir(store.path)) == 1 else moved)
    t.run(['convert', '--file-version', '7', '--compression', 'zstd', '-i', trace, '-o', f'{directory}/v7.dat'])
    os.utime(f'{directory}/v7.dat', (0, 10 * 86400))
    store.export(f'{directory}/v7.dat')
    t.check('parquet: a converted trace is the same', '' if store.names() == moved else store.names() ^ moved)
    store.export(trace, options=['tables=sched_*', 'date=1970-01-11'])
    t.check('parquet: a choice of tables leaves the others', '' if store.names() == moved else store.names() ^ moved)
    t.run(['export', '--to', 'parquet', '-o', store.path, '-F', 'sched_switch', trace])
    t.check('parquet: a choice of events does not', '' if 'sched_switch' in store.tables() and
            'sched_wakeup' not in store.tables() else store.tables())
    store.export(trace, options=['host=other', 'date=2001-02-03'])
    places = {'/'.join(n.split('/')[:2]) for n in store.names()}
    t.check('parquet: a host and a date', '' if places == {'date=2001-02-03/host=other'} else places)
    t.check('parquet: nothing else is left', store.hidden())
    both = Store(t, f'{directory}/both')
    both.export(trace, SAMPLE, f'{directory}/story.dat')
    traces = [n for n in both.names() if n.endswith('/traces.parquet')]
    t.check('parquet: several traces', '' if len(traces) == 2 else both.names())


def check_refused(t, directory):
    for name, args, status, words in (
            ('standard output', ['-o', '-', SAMPLE], 1, 'standard output'),
            ('a level', ['-O', 'level=99', SAMPLE], 1, 'level'),
            ('a date', ['-O', 'date=today', SAMPLE], 1, 'YYYY-MM-DD'),
            ('rows', ['-O', 'row_group=0', SAMPLE], 1, 'row_group'),
            ('no host', ['-O', 'host=', SAMPLE], 1, 'host'),
            ('a file', ['-o', f'{directory}/story.dat', SAMPLE], 2, 'story.dat'),
            ('a folder that is nowhere', ['-o', f'{directory}/no/where', SAMPLE], 2, 'No such file')):
        done = t.run(['export', '--to', 'parquet', '-o', f'{directory}/refused', *args])
        t.check(f'parquet: refused: {name}', '' if done.status == status and words in done.err.decode() else
                f'{done.status} {done.err.decode()}')
    full = harness.run([t.spur, 'export', '--to', 'parquet', '-o', f'{directory}/full', SAMPLE], output=2000,
                       memory=None if t.sanitized else 2 << 30)
    left = [n for _, _, names in os.walk(f'{directory}/full') for n in names]
    t.check('parquet: no room', '' if full.status == 2 and not left else f'{full} {left}')


def all_files(store):
    """What a program finds that looks into hidden folders as well."""
    return {os.path.relpath(os.path.join(d, f), store.path) for d, _, files in os.walk(store.path) for f in files}


def is_naming(store):
    """Whether an export is about to show what it has written, or has just done so."""
    above, name = os.path.split(store.path)
    return glob.glob(f'{glob.escape(above)}/.{name}.*/*.parquet')


def kill(child, store, chance, took):
    """At a random moment, or at one of the last; whether it was in time."""
    if chance.random() < 0.5:
        time.sleep(chance.random() * took)
    else:
        while child.poll() is None and not is_naming(store):
            pass
        time.sleep(chance.random() * 0.002)
    child.send_signal(signal.SIGKILL)
    return child.wait() == -signal.SIGKILL


def check_killed(t, directory):
    """SIGKILL at any moment: all tables of one export are there or none, and the next one clears up."""
    trace = f'{directory}/rounds.dat'
    argv = [t.spur, 'export', '-q', '--to', 'parquet', '-O', 'row_group=2000', trace, '-o']
    kinds, took = [], 0
    for number, more in enumerate([[], ['-F', 'sched_switch'], ['-O', 'host=other', '-O', 'date=2001-02-03']]):
        whole, start = Store(t, f'{directory}/whole{number}'), time.monotonic()
        subprocess.run(argv + [whole.path] + more, check=True)
        took = max(took, time.monotonic() - start)
        kinds.append((more, contents(whole)))
    chance, killed, trouble = random.Random(7), 0, ''
    store = Store(t, f'{directory}/killed')
    for turn in range(6 if t.sanitized else 40):
        if turn % 10 == 0:
            shutil.rmtree(store.path, ignore_errors=True)
        child = subprocess.Popen(argv + [store.path] + kinds[chance.randrange(3)][0])
        killed += kill(child, store, chance, took)
        found = contents(store)
        # A trace that moves has its new rows for a moment where it was.
        by_name = {name.split('/')[-1]: data for name, data in found.items()}
        whole = [{n.split('/')[-1]: d for n, d in wanted.items()} for _, wanted in kinds]
        if found and (by_name not in whole or len({os.path.dirname(n) for n in found}) != 1):
            trouble = trouble or f'{sorted(found)} after {turn} kills'
        if all_files(store) != set(found):
            trouble = trouble or f'{sorted(all_files(store) - set(found))} in the folder'
        if len(store.hidden()) > 1:
            trouble = trouble or f'{store.hidden()} after {turn} kills'
    t.check('parquet: killed', trouble or ('' if killed else 'never in time'))
    os.makedirs(f'{store.path}/date=2001-02-03/host=killed')  # as one that is killed just before it moves its folder there
    done = subprocess.run(argv + [store.path], check=False)
    wanted = kinds[0][1]
    t.check('parquet: killed, and exported again', '' if done.returncode == 0 and contents(store) == wanted and
            not store.hidden() else f'{done.returncode} {store.hidden()} {store.names() ^ set(wanted)}')
    children = [subprocess.Popen(argv + [store.path] + more) for more, _ in kinds[:2] * 2]
    ends = [child.wait() for child in children]
    t.check('parquet: several at a time', '' if not any(ends) and not store.hidden() and
            contents(store) in (kinds[0][1], kinds[1][1]) else f'{ends} {store.hidden()} {sorted(store.names())}')
    gone = subprocess.run(['find', store.path, '-type', 'd', '-empty'], capture_output=True, check=False).stdout
    t.check('parquet: no empty folders', gone)


# ---- engines -------------------------------------------------------------------------------------

# Tables in braces. Answers are sorted, so that no order has to be asked for.
QUESTIONS = {
    'counts and borders': 'select count(*), min(ts), max(ts) from {sched_switch}',
    'groups by name': 'select next_comm, count(*) from {sched_switch} group by next_comm',
    'sums of durations': 'select comm, sum(dur), max(dur) from {slices} group by comm',
    'states and reasons': 'select state, reason, count(*), sum(dur) from {states} group by state, reason',
    'a join': 'select s.next_comm, count(*), sum(s.ts - w.ts) from {wakeups} w join {sched_switch} s '
              'on s.next_pid = w.pid and s.ts = w.ts + w.latency group by s.next_comm',
    'a join of tasks': 'select k.comm, count(*), sum(s.dur) from {tasks} k join {slices} s on s.pid = k.pid and s.cpu >= 0 '
                       'where s.ts >= k.ts group by k.comm',
    'a range of time': 'select cpu, count(*) from {sched_switch} where ts between FIRST and LAST group by cpu',
    'a range in rows': 'select count(*), sum(dur) from {states} where ts >= FIRST and ts < LAST and dur > 1000',
    'nulls': 'select count(*), count(latency), count(open), count(run_cpu) from {wakeups}',
    'rows without a value': 'select pid, count(*) from {states} where reason is null and waker is not null group by pid',
    'system calls': 'select name, error, count(*), sum(dur), min(ret) from {syscalls} group by name, error',
    'negative numbers': 'select id, min(ret), max(ret), count(*) from {sys_exit} group by id',
    'arrays': 'select args, count(*) from {sys_enter} group by args',
    'names of values': 'select prev_state_name, count(*) from {sched_switch} group by prev_state_name',
    'functions': 'select func, depth, count(*), sum(dur), count(self) from {calls} group by func, depth',
    'functions of entries': 'select ip_sym, parent_ip_sym, count(*) from {function} group by ip_sym, parent_ip_sym',
    'stacks': 'select s.top, s.depth, count(*) from {stacks} s group by s.top, s.depth',
    'softirqs': 'select name, vec, count(*), sum(dur) from {softirqs} group by name, vec',
    'interrupts': 'select name, irq, sum(handled) from {irqs} group by name, irq',
    'requests': 'select device, rwbs, sum(bytes), count(queued) from {block} group by device, rwbs',
}
FROM = {'duckdb': "read_parquet('%s', hive_partitioning = true)", 'clickhouse': "file('%s', Parquet)"}


class Engine:
    """One of the two."""

    def __init__(self, name, folder, directory):
        self.name, self.folder, self.file = name, folder, f'{directory}/questions-{name}.json'

    def source(self, store, table, host='*'):
        return FROM[self.name] % store.of(table, host)

    def ask(self, queries):
        with open(self.file, 'w', encoding='utf-8') as file:
            json.dump(queries, file)
        done = subprocess.run(['node', 'tests/export/parquet_ask.mjs', self.name, self.folder, self.file], cwd=harness.ROOT,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=300)
        if done.returncode:
            raise kernels.Unavailable(f'{self.name}: {done.stderr.decode()[-300:]}')
        return json.loads(done.stdout)


def engines(t, directory):
    found = []
    wanted = {'duckdb': DUCKDB, 'clickhouse': CHDB}
    if not os.environ.get('SPUR_CHDB') and not os.path.exists(f'{kernels.cache_directory()}/npm/{CHDB}/done'):
        del wanted['clickhouse']
        t.skip('parquet: clickhouse', f'{CHDB} is half a gigabyte and not in the cache; SPUR_CHDB=1 fetches it')
    for name, package in wanted.items():
        try:
            found.append(Engine(name, npm.npm_folder(package), directory))
        except kernels.Unavailable as error:
            t.skip(f'parquet: {name}', error)
    return found


def prepare(t, directory, name, trace):
    """What to ask about a trace, with what `spur sql` answers: [(question, tables, query, answer)]."""
    store = Store(t, f'{directory}/ask-{name}')
    store.export(trace)
    have, out, queries = store.tables(), [], []
    border = asked(t, trace, ['select min(ts) a, max(ts) b from events'])[0][0]
    middle = border['a'] + (border['b'] - border['a']) // 3, border['b'] - (border['b'] - border['a']) // 4
    for label, query in QUESTIONS.items():
        tables = [word.split('}')[0] for word in query.split('{')[1:]]
        query = query.replace('FIRST', str(middle[0])).replace('LAST', str(middle[1]))
        names = set(re.findall(r'\w+_(?:name|sym)\b', query))
        if all(table in have for table in tables) and names <= {c.name for table in tables for c in store.read(table).columns}:
            queries.append(query)
            out.append((label, tables, query))
    plain = [query.replace('{', '"').replace('}', '"') for query in queries]
    answers = asked(t, trace, plain) if plain else []
    return store, [(*o, answer) for o, answer in zip(out, answers)]


def normal(rows):
    """Answers as they can be compared."""
    return sorted(([None if v is None else str(v) for v in row] for row in rows), key=repr)


def check_questions(t, directory, found):
    traces = {name: f'{folder}/trace.dat' for name, folder in harness.recordings().items()}
    traces['sample'] = SAMPLE
    traces['many'] = f'{directory}/rounds.dat'
    asked_of = {name: prepare(t, directory, name, trace) for name, trace in traces.items()}
    for engine in found:
        queries = []
        for store, questions in asked_of.values():
            for _, tables, query, _ in questions:
                for table in tables:
                    query = query.replace('{%s}' % table, engine.source(store, table))
                queries.append(query)
        answers, wrong, count = iter(engine.ask(queries)), {}, {}
        for name, (_, questions) in asked_of.items():
            for label, _, _, wanted in questions:
                have = next(answers)
                count[label] = count.get(label, 0) + 1
                wanted = normal([list(row.values()) for row in wanted])
                if not isinstance(have, list) or normal(have) != wanted:
                    wrong[label] = f'{name}: {str(have)[:300]}, not {str(wanted)[:300]}'
        for label in QUESTIONS:
            if label in count:
                t.check(f'parquet: {engine.name}: {label}, of {count[label]} traces', wrong.get(label, ''))
            else:
                t.fail(f'parquet: {engine.name}: {label}', 'no trace has the tables')


def check_values(t, directory, engine):
    """The difficult trace in the engines."""
    store = Store(t, f'{directory}/story')
    nano = 'epoch_ns(ts)' if engine.name == 'duckdb' else 'toUnixTimestamp64Nano(ts)'
    many = "comm || '' = '%s'" % MENDED
    queries = [
        ('unsigned numbers', 'select arg1 from {my_kprobe} where arg1 > 9223372036854775807',
         [['18446744073709551615'], ['9223372036854775808']]),
        ('times of day', f'select {nano} from {{my_kprobe}} where arg1 = 0', [[str(1677721601193046000 + 1500200)]]),
        ('texts that are no UTF-8', f'select count(*) from {{sys_enter}} where {many}', [['2']]),
        ('the smallest number', 'select min(ret) from {sys_exit}', [[str(-1 << 63)]]),
        ('no rows', 'select count(*) from {losses} where cpu = 9', [['0']]),
        ('a host with strange letters', 'select distinct host from {traces}', None),
    ]
    asks = []
    for _, query, _ in queries:
        table = query.split('{')[1].split('}')[0]
        asks.append(query.replace('{%s}' % table, engine.source(store, table)))
    for (name, _, wanted), have in zip(queries, engine.ask(asks)):
        if wanted is None:
            # ClickHouse leaves the name as it is in the path.
            wanted = [['host/../%41']] if engine.name == 'duckdb' else [['host%2F..%2F%2541']]
        t.check(f'parquet: {engine.name}: {name}', '' if have == wanted else f'{have}, not {wanted}')


def check_partitions(t, directory, engine):
    """Two hosts: a query about one does not open the files of the other."""
    store = Store(t, f'{directory}/hosts')
    for host in ('alpha', 'beta'):
        with open(f'{directory}/{host}.dat', 'wb') as file:
            file.write(story(host))
        store.export(f'{directory}/{host}.dat')
    source = engine.source(store, 'sys_exit')
    both, one = engine.ask([f'select host, count(*) from {source} group by host order by host',
                            f"select count(*) from {source} where host = 'beta'"])
    t.check(f'parquet: {engine.name}: two hosts', '' if both == [['alpha', '2'], ['beta', '2']] and one == [['2']] else
            f'{both} {one}')
    broken = Store(t, f'{directory}/broken-{engine.name}')
    shutil.copytree(store.path, broken.path)
    for path in glob.glob(broken.of('sys_exit', 'beta')):
        with open(path, 'r+b') as file:
            file.truncate(50)
    source = engine.source(broken, 'sys_exit')
    one, all_ = engine.ask([f"select count(*), min(ret) from {source} where host = 'alpha'", f'select min(ret) from {source}'])
    t.check(f'parquet: {engine.name}: files of other hosts are not opened', '' if one == [['2', str(-1 << 63)]] and
            isinstance(all_, dict) else f'{one} {all_}')


def check_statistics(t, directory, duckdb):
    """What DuckDB reads of the minima and maxima of row groups, against the rows."""
    store = Store(t, f'{directory}/groups')
    for table in ('sched_switch', 'states'):
        rows, first = store.read(table), 0
        path = glob.glob(store.of(table))[0]
        told = duckdb.ask([f"""select row_group_id, path_in_schema, stats_min_value, stats_max_value, stats_null_count,
                           row_group_num_rows from parquet_metadata('{path}') order by row_group_id"""])[0]
        wrong = '' if len(told) == len(rows.groups) * len(rows.columns) else f'{len(told)} lines'
        for number, group in enumerate(rows.groups):
            for _, name, least, most, nulls, count in [r for r in told if int(r[0]) == number]:
                values = rows.rows[name][first:first + group['rows']]
                there = [v for v in values if v is not None]
                wanted = [str(min(there)), str(max(there))] if there else [None, None]
                if [least, most] != wanted or int(nulls) != len(values) - len(there) or int(count) != len(values):
                    wrong = wrong or f'{name} of group {number}: {least} {most} {nulls}, not {wanted}'
            first += group['rows']
        t.check(f'parquet: duckdb: statistics of {table}', wrong)


def check_engines(t, directory):
    found = engines(t, directory)
    if not found:
        return
    check_questions(t, directory, found)
    for engine in found:
        check_values(t, directory, engine)
        check_partitions(t, directory, engine)
        if engine.name == 'duckdb':
            check_statistics(t, directory, engine)


def check(t):
    recordings = harness.recordings()
    for name in recordings:
        check_rows(t, name, f'{recordings[name]}/trace.dat')
    check_rows(t, 'a sample', SAMPLE)
    with tempfile.TemporaryDirectory() as directory:
        check_hostile(t, directory)
        check_large(t, directory)
        check_many_types(t, directory)
        check_again(t, directory)
        check_refused(t, directory)
        check_killed(t, directory)
        if not t.sanitized:
            check_engines(t, directory)
