# SPDX-License-Identifier: GPL-2.0-or-later
"""Questions to Parquet: the answers must be those of the traces that were exported.

The recordings are a fleet of several hosts and days: as trace files, as the folder that an export of them makes, the same
with tiny row groups, as a mixture, as both at once, and rewritten by DuckDB, where that can be had. Every table must have the same rows everywhere,
and every question the same answer.
"""
import glob
import json
import os
import pty
import random
import re
import select
import shutil
import subprocess
import sys
import time
import urllib.parse

sys.path.insert(1, 'tests/guest')
import harness
import kernels
import mktrace
import npm

DUCKDB = '@duckdb/node-api@1.5.6-r.1'
DAYS = ['2026-11-12', '2026-11-13', '2026-11-14']
RECORDINGS = ['be-sched-v7', 'g-all-events', 'g-blk', 'g-fgraph-v7', 'g-fgraph-events', 'g-function-v7', 'g-instances-34',
              'g-kprobe-v7', 'g-marker', 'g-stacktrace-v7', 'g-synth-v7', 'g-syscalls-all', 'g-uprobe']
TEXTLESS = 'host, date, trace_id, ts, cpu, pid, comm, system, event, buffer'  # of events: Parquet has no texts

# Of whole tables: equal whatever the order of rows is.
QUESTIONS = [
    'select count(*) from events',
    'select count(*) from sched_switch',
    'select host, date, count(*), min(ts), max(ts) from events group by 1, 2 order by 1, 2',
    'select event, count(*) from events group by 1 order by 2 desc, 1',
    'select system, event, cpu, count(*) from events group by 1, 2, 3',
    "select host, count(*) from events where event like 'SCHED%' and cpu = 0 group by 1 order by 1",
    "select count(*) from events where system = 'sched' and event <> 'sched_switch'",
    'select prev_comm, next_comm, count(*) from sched_switch group by 1, 2 order by 3 desc, 1, 2',
    'select distinct next_comm, cpu from sched_switch order by 2, 1',
    'select host, p50(latency), p99(latency), max(latency), stddev(latency) from wakeups group by 1 order by 1',
    'select comm, hist(dur) from slices group by 1 order by 1',
    'select comm, sum(dur), count(*), count(end_state) from slices group by 1 order by 2 desc, 1',
    'select state, count(*), sum(dur), count(reason) from states group by 1 order by 1',
    'select open, count(*) from slices group by 1 order by 1',
    'select * from slices where open is not null order by ts, cpu, trace_id limit 20',
    'select count(*) from slices where open is null and dur > 1000',
    'select name, count(*), sum(dur), min(ret), max(ret), count(ret) from syscalls group by 1 order by 3 desc, 1',
    'select name, args, ret from syscalls where ret < 0 order by ts, pid limit 20',
    "select count(*) from syscalls where args like '%0x%' or name glob '*[aeiou]t*'",
    'select w.comm, count(*), sum(s.dur) from wakeups w join slices s on s.trace_id = w.trace_id and s.pid = w.pid and '
    's.ts = w.ts + w.latency group by 1 order by 1',
    'with s as materialized (select * from slices where dur > 100000) select t.kernel, s.comm, count(*) from s join traces t '
    'using (trace_id) group by 1, 2 order by 1, 2',
    "select count(*) from sched_switch where host = 'host1'",
    "select host, count(*) from sched_switch where date >= '2026-11-13' and host in ('host0', 'host2') group by 1 order by 1",
    "select host, count(*) from events where host like 'HOST%' and host <> 'host1' and date < '2026-11-14' group by 1",
    'select count(*) from sched_switch where ts between 44000000000 and 45000000000',
    'select count(*), sum(cpu) from events where ts > (select avg(ts) from events) and pid in (0, 1, 7, 233)',
    'select count(*) from sched_switch where next_pid > \'100\' and next_comm <> 5 and prev_prio < 120.5 and prev_pid >= 0.5',
    "select count(*) from sched_switch where next_comm in (select comm from slices where host = 'host0')",
    "select count(*) from sched_switch where next_comm > 'm' and next_comm <= 'wl' and next_pid is not null",
    'select count(*) from sched_switch where next_pid in (233, 7.0, \'232\', null, \'x\', 1e300)',
    "select count(*) from sched_switch where next_pid like '2%' or prev_prio glob '12?'",
    "select count(*) from sched_switch where next_comm < x'00' and next_pid < 'text' and prev_pid > -9e999",
    "select count(*) from sched_switch where next_pid = null or next_pid = 'abc' or next_comm is 'wl' and prev_pid is not 0",
    'select host, irq, name, count(*), sum(dur) from irqs group by 1, 2, 3 order by 1, 2, 3',
    'select func, count(*), sum(dur), max(depth) from calls group by 1 order by 2 desc, 1 limit 30',
    'select max(ts) - min(ts) from events where trace_id = (select max(trace_id) from traces)',
    'select host, date, wall, events, lost, gaps, cpus, buffers, file, bytes, compression, ts, last, damage from traces '
    'order by trace_id',
    'select host, count(*) from tasks group by 1 order by 1',
    'select host, cpu, count(*) from cpus group by 1, 2 order by 1, 2',
    'select host, count(*), sum(events) from lost group by 1 order by 1',
    'select count(*) from "sched:sched_switch"',
    'select count(*), min(buffer), max(buffer) from events where buffer <> \'\'',
    'select ip, parent_ip, ip_sym, count(*) from function group by 1, 2, 3 order by 4 desc, 1, 2 limit 20',
    "select count(*) from sched_switch where host = 'nobody' or date = '2000-01-01'",
]
# SQLite makes several scans of these as long as it does not know how large files are; rows that more than one finds are told
# apart by where they are.
ALONE = [
    'select count(*) from slices where pid = 0 or cpu = 0',
    'select count(*) from events where pid = 0 or cpu = 0',
    "select host, count(*) from slices where host = 'host1' or host like 'host%' group by 1 order by 1",
    "select host, count(*) from sched_switch where host = 'host1' and prev_pid > 0 or date = '2026-11-13' or cpu = 1 "
    'group by 1 order by 1',
]
EMPTY = 3  # how many of them may have no rows or only zeroes in their answer


class Fleet:
    """The recordings as traces and as Parquet, in folders below `top`."""

    def __init__(self, t, asker, top):
        self.t, self.asker = t, asker
        self.dat, self.pq = f'{top}/dat', f'{top}/pq'
        self.small, self.mixed, self.both = f'{top}/small-groups', f'{top}/mixed', f'{top}/both'
        self.wrong = ''
        found = harness.recordings()
        for number, name in enumerate(n for n in RECORDINGS if n in found):
            host, date = f'host{number % 4}', DAYS[number % 3]
            source, place = f'{found[name]}/trace.dat', f'host={host}/date={date}'
            self.copy(source, f'{self.dat}/{place}/{name}.dat')
            source = f'{self.dat}/{place}/{name}.dat'
            self.export(source, self.pq, host, date)
            self.export(source, self.small, host, date, '-O', 'row_group=7')
            if number % 2:
                self.export(source, self.mixed, host, date)
            else:
                self.copy(source, f'{self.mixed}/{place}/{name}.dat')
        shutil.copytree(self.pq, self.both)
        shutil.copytree(self.dat, f'{self.both}/traces')

    def export(self, path, folder, host, date, *options):
        r = self.t.run(['export', '-q', '--to', 'parquet', '-o', folder, '-O', f'host={host}', '-O', f'date={date}', *options,
                        path], seconds=60)
        if r.status not in (0, 3):
            self.wrong += f'{path}: {r.status} {r.err.decode()} '

    @staticmethod
    def copy(path, to):
        os.makedirs(os.path.dirname(to), exist_ok=True)
        shutil.copy(path, to)

    def tables(self):
        return sorted({urllib.parse.unquote(os.path.basename(p).removesuffix('.parquet'))
                       for p in glob.glob(f'{glob.escape(self.pq)}/*/*/*/*.parquet')})


def answers(t, folder, queries, *options):
    """A list of rows for each, or a text that says what is wrong."""
    r = t.run(['sql', '--fleet', folder, '-q', '--json', *options, '; '.join(queries)], seconds=120)
    text, out, at = r.out.decode(), [], 0
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        rows, at = json.JSONDecoder().raw_decode(text, at)
        out.append([tuple(row.values()) for row in rows] + [tuple(rows[0])] if rows else [])
    if r.trouble or len(out) != len(queries):
        return f'{r.trouble} status {r.status}, {len(out)} answers: {r.err.decode()[:300]}'
    return out


def difference(query, got, wanted):
    if 'order by' not in query:
        got, wanted = sorted(got, key=repr), sorted(wanted, key=repr)
    if got == wanted:
        return ''
    extra = [row for row in got if row not in wanted][:2]
    lacking = [row for row in wanted if row not in got][:2]
    return f'{query}: {len(got)} rows instead of {len(wanted)}: {extra} instead of {lacking}; '


def compare(t, name, folder, queries, wanted):
    got = answers(t, folder, queries)
    if isinstance(got, str):
        t.fail(name, got)
        return
    t.check(name, ''.join(difference(*each) for each in zip(queries, got, wanted))[:1500])


LAYOUTS = ('pq', 'small', 'mixed', 'both')  # of the fleet


def same_rows(t, fleet):
    """All rows of all tables."""
    whole = [f'select * from "{name}"' for name in fleet.tables() if name not in ('losses', 'clock_sync', 'traces')]
    whole += ['select * from lost', f'select {TEXTLESS} from events']
    wanted = answers(t, fleet.dat, whole)
    if isinstance(wanted, str):
        t.fail('parquet-rows', wanted)
        return
    empty = [q for q, rows in zip(whole, wanted) if not rows and 'lost' not in q]
    t.check('parquet-reference', f'no rows: {empty}' if empty else '')
    for name in LAYOUTS:
        compare(t, f'parquet-rows-{name}', getattr(fleet, name), whole, wanted)


def same_answers(t, fleet):
    wanted = answers(t, fleet.dat, QUESTIONS)
    if isinstance(wanted, str):
        t.fail('parquet-questions', wanted)
        return
    empty = [q for q, rows in zip(QUESTIONS, wanted) if not any(v for row in rows[:-1] for v in row)]
    t.check('parquet-nonempty', f'{empty}' if len(empty) > EMPTY else '')
    for name in LAYOUTS:
        compare(t, f'parquet-questions-{name}', getattr(fleet, name), QUESTIONS, wanted)
    for number, query in enumerate(ALONE):
        wanted = answers(t, fleet.dat, [query])
        for name in ('pq', 'mixed'):
            compare(t, f'parquet-alone-{name}-{number}', getattr(fleet, name), [query], wanted)
    wrong = ''
    for threads in ['1', '3']:
        one, other = (answers(t, fleet.pq, QUESTIONS, '--threads', n) for n in ('2', threads))
        wrong = wrong or ('' if one == other else f'{threads} threads give another answer')
    t.check('parquet-threads', wrong)
    same_saved(t, fleet)


def same_saved(t, fleet):
    saved = [line.split()[0] for line in t.run(['sql', '--list']).out.decode().split('\n') if line]
    wrong = ''
    for name in saved:
        outs = [t.run(['sql', '--fleet', folder, '-q', '--tabs', f'@{name}'], seconds=60) for folder in (fleet.dat, fleet.pq)]
        lines = [sorted(r.out.decode().split('\n')) for r in outs]
        # Which rows of equal rank are shown is left to the order in which they come.
        if outs[1].status or len(lines[0]) != len(lines[1]) or (lines[0] != lines[1] and name not in ('slow-syscalls',)):
            wrong += f'{name}: {outs[1].status} {[l for l in lines[1] if l not in lines[0]][:3]} instead of ' \
                     f'{[l for l in lines[0] if l not in lines[1]][:3]}; '
    t.check('parquet-saved', wrong[:1500] if saved else 'there are none')


# ---- what is not read ----------------------------------------------------------------------------

def timer(asker, folder, query):
    """Status, files read, row groups read, everything else on standard error."""
    r = asker.ask(folder, query, '--timer')
    text = r.err.decode()
    files, groups = re.search(r'read (\d+) of \d+ files', text), re.search(r'(\d+) of their \d+ row groups', text)
    return r.status, int(files[1]) if files else None, int(groups[1]) if groups else 0, re.sub(r'.*read \d+ of.*\n', '', text)


def long_trace(path, rows):
    with open(path, 'wb') as file:
        file.write(mktrace.make(['uname "Linux long 6.1 x86_64"', 'date 0x5f5e100123456'] +
                                [f'{1000000 + i * 1000} {i % 2} {100 + i // 500} switch a{i // 1000}:{100 + i // 500} S b:7'
                                 for i in range(rows)]))


def pruning(t, asker, fleet, top):
    """What cannot be needed is not opened: files that are no Parquet would be told."""
    there = f'{top}/pruned-pq'
    shutil.copytree(fleet.pq, there)
    for place, table in [('date=2026-11-13/host=bad', 'sched_switch'), ('date=2026-11-20/host=host1', 'sched_switch'),
                         ('date=2026-11-13/host=host1', 'nonsense')]:
        os.makedirs(f'{there}/{place}/{"0" * 32}', exist_ok=True)
        with open(f'{there}/{place}/{"0" * 32}/{table}.parquet', 'w') as file:
            file.write('this is no Parquet')
    def files(table, host='*', date='*'):
        return len(glob.glob(f'{fleet.pq}/date={date}/host={host}/*/{table}.parquet'))
    cases = [
        ("select count(*) from sched_switch where host = 'host1' and date < '2026-11-20'", files('sched_switch', 'host1'), 0),
        ("select max(dur) from slices", files('slices'), 0),
        ("select max(dur) from slices where date = '2026-11-13'", files('slices', date='2026-11-13'), 0),
        ("select count(*) from traces where host in ('host0', 'host3')",
         files('traces', 'host0') + files('traces', 'host3'), 0),
        ("select count(*) from events where event = 'sched_waking' and host <> 'bad'", files('sched_waking'), 0),
        ("select count(*) from slices where host = 'nobody'", 0, 0),
        ("select count(*) from sched_switch where host = 'bad'", 0, 3),
        ("select count(*) from sched_switch", files('sched_switch'), 3),
    ]
    for number, (query, wanted, status) in enumerate(cases):
        got = timer(asker, there, query)
        wrong = got[:2] != (status, wanted) or bool(got[3]) != (status == 3)
        t.check(f'parquet-pruning-{number}', f'{query}: {got} instead of {(status, wanted)}' if wrong else '')
    long_trace(f'{top}/long.dat', 10000)
    r = t.run(['export', '-q', '--to', 'parquet', '-o', f'{top}/long', '-O', 'row_group=1000', f'{top}/long.dat'], seconds=60)
    first = asker.rows(f'{top}/long', 'select min(ts) from sched_switch')[0][0]
    cases = [
        ('select count(*) from sched_switch', 10, 10000),
        (f'select count(*) from sched_switch where ts >= {first + 5000 * 1000}', 5, 5000),
        (f'select count(*) from sched_switch where ts between {first + 100 * 1000} and {first + 200 * 1000}', 1, 101),
        (f'select count(*) from sched_switch where ts < {first + 100 * 1000} or ts > {first}', 10, 10000),
        ('select count(*) from sched_switch where pid = 107', 1, 500),
        ('select count(*) from sched_switch where pid in (100, 119, 5)', 2, 1000),
        ('select count(*) from sched_switch where pid > 109.5', 5, 5000),
        ("select count(*) from sched_switch where prev_comm = 'a3'", 1, 1000),
        ("select count(*) from sched_switch where prev_comm > 'a7'", 2, 2000),
        ("select count(*) from sched_switch where prev_comm is null", 0, 0),
        ("select count(*) from sched_switch where next_comm <> 'b'", 10, 0),
        ("select count(*) from sched_switch where cpu = 2", 0, 0),
        ("select count(*) from events where cpu < 1 and event = 'sched_switch'", 10, 5000),
        ("select count(*) from events where event = 'sched_waking'", 0, 0),
    ]
    wrong = '' if r.status == 0 else f'{r.status} {r.err}'
    for query, groups, count in cases:
        got = timer(asker, f'{top}/long', query), asker.rows(f'{top}/long', query)
        if got[0][2] != groups or got[1] != [(count,)]:
            wrong += f'{query}: {got} instead of {groups} row groups and {count}; '
    t.check('parquet-row-groups', wrong)


# ---- the same trace twice, damage ----------------------------------------------------------------

def twice(t, asker, fleet, top):
    r = asker.ask(fleet.both, 'select count(*) n from sched_switch')
    whole = asker.rows(fleet.dat, 'select count(*) from sched_switch')[0][0]
    said = r.err.decode().count('is the same trace as')
    good = r.status == 0 and json.loads(r.out)[0]['n'] == whole and said
    t.check('parquet-twice', '' if good else f'{r.status} {r.out} instead of {whole}: {r.err.decode()[:400]}')
    there = f'{top}/copied'
    shutil.copytree(fleet.pq, there)
    shutil.copytree(fleet.pq, f'{there}/again')
    got = answers(t, there, QUESTIONS[:12]), answers(t, fleet.pq, QUESTIONS[:12])
    t.check('parquet-copied', '' if got[0] == got[1] else f'{[d for d in map(difference, QUESTIONS, *got) if d]}'[:800])
    one = sorted(glob.glob(f'{fleet.pq}/*/*/*/sched_switch.parquet'))[0]
    shutil.copy(one, f'{top}/sched_switch.parquet')
    shutil.copy(one, f'{top}/no-ending')
    rows = asker.rows(one, 'select count(*), min(host), max(trace_id) from sched_switch')
    alone = asker.rows(f'{top}/sched_switch.parquet', 'select count(*), host, trace_id from sched_switch group by 2, 3')
    plain = asker.rows(f'{top}/no-ending', 'select count(*) from "no-ending" where next_pid >= 0')
    good = rows[0][0] == alone[0][0] == plain[0][0] and alone[0][1] is None and alone[0][2] == rows[0][2] and rows[0][1]
    t.check('parquet-one-file', '' if good else f'{rows} {alone} {plain}')


def varint(number):
    """As the footer has it: zigzag, seven bits a byte."""
    number, out = number * 2, b''
    while number > 127:
        out, number = out + bytes([number & 127 | 128]), number >> 7
    return out + bytes([number])


def damage(t, asker, fleet, top):
    """A message that names the file, exit status 3, and everybody else's rows."""
    there = f'{top}/damaged-pq'
    shutil.copytree(fleet.pq, there)
    path = sorted(glob.glob(f'{there}/*/*/*/sched_switch.parquet'))[1]
    with open(path, 'rb') as file:
        data = file.read()
    query = 'select count(*) n, sum(next_pid) s from sched_switch'
    def ask():
        r = asker.ask(there, query)
        rows = json.loads(r.out or b'[{"n": -1}]')[0]['n']
        return r.status, rows, r.err.decode(), r.trouble
    whole = ask()[1]
    name = os.path.basename(path)
    one = asker.rows(path, 'select count(*) from sched_switch')[0][0]
    length = int.from_bytes(data[-8:-4], 'little')
    footer = len(data) - 8 - length
    cases = {
        'cut': data[:len(data) // 2], 'empty': b'', 'magic': data[:4], 'start': b'XXXX' + data[4:],
        'footer-longer': data[:-8] + (2 ** 32 - 1).to_bytes(4, 'little') + data[-4:],
        'footer-none': data[:-8] + bytes(4) + data[-4:],
        'footer-other': data[:-8] + (length // 2).to_bytes(4, 'little') + data[-4:],
        'footer-zero': data[:footer] + bytes(length) + data[-8:],
        'pages-zero': data[:4] + bytes(footer - 4) + data[footer:],
        'encrypted': data[:-4] + b'PARE',
    }
    wrong = ''
    for case, changed in cases.items():
        with open(path, 'wb') as file:
            file.write(changed)
        got = ask()
        if got[:2] != (3, whole - one) or got[2].count(name) != 1 or got[2].count('\n') != 1 or got[3]:
            wrong += f'{case}: {got} instead of {whole - one} rows; '
    t.check('parquet-damaged', wrong)
    # Numbers of rows, of which nothing is read.
    wrong = ''
    for at in [m.start() for m in re.finditer(re.escape(varint(one)), data) if m.start() >= footer]:
        for other in (one ^ 1, one ^ 64):
            with open(path, 'wb') as file:
                file.write(data[:at] + varint(other) + data[at + len(varint(one)):])
            r = asker.ask(there, 'select count(*) n from sched_switch')
            if r.trouble or r.status not in (0, 3) or json.loads(r.out)[0]['n'] != (whole if r.status == 0 else whole - one):
                wrong += f'{at}: {r.status} {r.out} {r.trouble} {r.err}; '
    t.check('parquet-row-numbers', wrong[:800])
    # Bits: what is read is right, or it is said that something is not. What the footer says of limits of values, and
    # the names of columns, nobody can check.
    rng, wrong = random.Random(7), ''
    for _ in range(150):
        at, bit = rng.randrange(4, footer), 1 << rng.randrange(8)
        with open(path, 'wb') as file:
            file.write(data[:at] + bytes([data[at] ^ bit]) + data[at + 1:])
        status, rows, text, trouble = ask()
        if trouble or status not in (0, 3) or (status == 0 and rows != whole) or (status == 3 and name not in text):
            wrong += f'{at}: {status} {rows} {text} {trouble}; '
    t.check('parquet-bits', wrong[:800])
    wrong = ''
    for _ in range(150):
        at, bit = rng.randrange(footer, len(data)), 1 << rng.randrange(8)
        with open(path, 'wb') as file:
            file.write(data[:at] + bytes([data[at] ^ bit]) + data[at + 1:])
        status, _, text, trouble = ask()
        if trouble or status not in (0, 1, 3) or (status == 3 and name not in text):
            wrong += f'{at}: {status} {text} {trouble}; '
    t.check('parquet-footer-bits', wrong[:800])
    os.remove(path)
    os.symlink('nowhere.parquet', path)
    t.check('parquet-broken-link', '' if ask()[:2] == (0, whole - one) else f'{ask()}')


def vanishing(t, asker, fleet, top):
    """A file that is gone when its turn comes: a session lists the folder once."""
    there = f'{top}/vanishing'
    shutil.copytree(fleet.pq, there)
    path = sorted(glob.glob(f'{there}/*/*/*/slices.parquet'))[0]
    whole, one = (asker.rows(p, 'select count(*) from slices')[0][0] for p in (there, path))
    master, slave = pty.openpty()
    child = subprocess.Popen([t.spur, 'sql', '--fleet', there], stdin=slave, stdout=slave, stderr=slave,
                             env=dict(os.environ, TERM='dumb', HOME=top))
    os.close(slave)
    text = [b'']

    def ask(words):
        os.write(master, b"select 'n' || count(*) from slices;\n")
        until = time.monotonic() + 60
        while not re.search(words, text[-1]) and time.monotonic() < until:
            if select.select([master], [], [], 1)[0]:
                text[-1] += os.read(master, 65536)
        text.append(b'')

    ask(b'n%d\\b' % whole)
    os.remove(path)
    ask(b'n%d\\b' % (whole - one))
    os.write(master, b'.quit\n')
    status = child.wait(60)
    os.close(master)
    good = status == 3 and b'n%d' % whole in text[0] and b'n%d' % (whole - one) in text[1] and b'No such file' in text[1]
    t.check('parquet-vanished', '' if good else f'{status} {text}')


def hostile(t, asker, top):
    """Names of hosts that cannot be names of folders."""
    hosts = ["o'brien", 'a"b', 'x/../y', '%41', 'n\u00e9\x1b[31m', '; drop table t', 'host=a']
    long_trace(f'{top}/hostile.dat', 10)
    for number, host in enumerate(hosts):
        with open(f'{top}/hostile.dat', 'rb') as file:
            data = file.read().replace(b'Linux long', b'Linux lon%d' % number)
        with open(f'{top}/hostile{number}.dat', 'wb') as file:
            file.write(data)
        t.run(['export', '-q', '--to', 'parquet', '-o', f'{top}/hostile-pq', '-O', f'host={host}', f'{top}/hostile{number}.dat'])
    got = asker.rows(f'{top}/hostile-pq', 'select host, count(*) from sched_switch group by 1')
    t.check('parquet-hosts', '' if sorted(got) == sorted((host, 10) for host in hosts) else f'{got}')
    wrong = ''
    for host in hosts:
        text = host.replace("'", "''")
        rows = asker.rows(f'{top}/hostile-pq', f"select count(*) from sched_switch where host = '{text}'")
        wrong = wrong or ('' if rows == [(10,)] else f'{host!r}: {rows}')
    t.check('parquet-hosts-asked', wrong)
    # A folder that says it is another trace's.
    path = sorted(glob.glob(f'{glob.escape(top)}/hostile-pq/*/*/*'))[0]
    os.rename(path, f'{os.path.dirname(path)}/{"0" * 32}')
    r = asker.ask(f'{top}/hostile-pq', 'select count(*) n from sched_switch')
    good = r.status == 3 and json.loads(r.out)[0]['n'] == 10 * (len(hosts) - 1) and b'another trace' in r.err
    t.check('parquet-renamed', '' if good else f'{r.status} {r.out} {r.err}')


# ---- rewritten -----------------------------------------------------------------------------------

def duckdb(folder, directory, queries):
    with open(f'{directory}/questions.json', 'w', encoding='utf-8') as file:
        json.dump(queries, file)
    done = subprocess.run(['node', 'tests/export/parquet_ask.mjs', 'duckdb', folder, f'{directory}/questions.json'],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
    got = json.loads(done.stdout) if done.returncode == 0 else [{'error': done.stderr.decode()}]
    return [each['error'] for each in got if isinstance(each, dict)]


def rewritten(t, asker, fleet, top):
    """Compacted: the rows of all hosts and days in one file, or in one for each day; several codecs and encodings."""
    try:
        folder = npm.npm_folder(DUCKDB)
    except kernels.Unavailable as why:
        t.skip('parquet-duckdb', why)
        return
    # DuckDB does not read both kinds of ts in one query, and a type has other fields elsewhere.
    tables = ['slices', 'wakeups', 'states', 'syscalls', 'tasks', 'traces', 'sched_switch', 'sched_waking']
    kinds = {'snappy': '(format parquet)', 'zstd': "(format parquet, codec 'zstd', parquet_version v2)",
             'plain': "(format parquet, codec 'uncompressed', row_group_size 2048)",
             'by-day': '(format parquet, partition_by (date), overwrite)'}
    questions = [q for q in QUESTIONS if not re.search(r'\b(events|irqs|calls|cpus|lost|function)\b', q) and ':' not in q]
    questions += [f'select * from {table}' for table in tables if table != 'traces']
    wanted = answers(t, fleet.dat, questions)
    for kind, options in kinds.items():
        there = f'{top}/duck-{kind}'
        os.makedirs(there)
        queries = []
        for table in tables:
            to = f'{there}/{table}.parquet' if kind != 'by-day' else f'{there}/table={table}'
            queries.append(f"copy (select * from read_parquet('{fleet.pq}/*/*/*/{table}.parquet', "
                           f"hive_partitioning = true, union_by_name = true) order by trace_id, ts) to '{to}' {options}")
        failed = duckdb(folder, top, queries)
        if failed:
            t.fail(f'parquet-duckdb-{kind}', failed[0][:400])
            continue
        compare(t, f'parquet-duckdb-{kind}', there, questions, wanted)
    # Beside the files it was made of, and beside the traces, nothing counts twice.
    there = f'{top}/duck-beside'
    shutil.copytree(fleet.pq, there)
    shutil.copytree(f'{top}/duck-snappy', f'{there}/more')
    for name, where in {'exports': there, 'traces': f'{top}/duck-traces'}.items():
        if name == 'traces':
            shutil.copytree(fleet.dat, where)
            shutil.copytree(f'{top}/duck-snappy', f'{where}/more')
        compare(t, f'parquet-duckdb-beside-{name}', where, questions, wanted)
    odd = f'{top}/odd.parquet'
    failed = duckdb(folder, top, [f"copy (select range as n, range % 3 = 0 as flag, range / 4.0::double as real, (range / 2)::float as small, "
                                  f"[1, range] as list, {{'a': range}} as struct, case when range % 5 > 0 then 'x' || range end as text, "
                                  f"(range % 7)::utinyint as tiny, make_timestamp(range * 1000000) as t, "
                                  f"range::decimal(18, 2) as money from range(5000)) to '{odd}'"])
    t.check('parquet-odd-made', failed[0] if failed else '')
    cases = [
        ('select count(*), sum(n), sum(flag), sum(real), sum(small), count(text), sum(tiny), max(t) from odd',
         [(5000, 12497500, 1667, 3124375.0, 6248750.0, 4000, 14995, 4999 * 10 ** 9)]),
        ("select count(*) from odd where real >= 10.25 and real < '20' and small <> 12", [(39,)]),
        ("select n, real, text from odd where text like 'X4_' and flag", [(42, 10.5, 'x42'), (48, 12.0, 'x48')]),
        ('select flag, count(*) from odd group by 1 order by 1', [(0, 3333), (1, 1667)]),
        ('select tiny, count(*) from odd where n < 70 group by 1 order by 1', [(i, 10) for i in range(7)]),
    ]
    for number, (query, want) in enumerate(cases):
        got = asker.rows(odd, query)
        t.check(f'parquet-odd-{number}', '' if got == want else f'{query}: {got} instead of {want}')
    wrong = ''
    for column in ('list', 'struct', 'money'):
        r = asker.ask(odd, f'select {column} from odd')
        if r.status != 3 or f"'{column}'" not in r.err.decode() or r.err.count(b'\n') != 1:
            wrong += f'{column}: {r.status} {r.err.decode()}; '
    t.check('parquet-refused', wrong)


def run(t, asker, top):
    fleet = Fleet(t, asker, top)
    t.check('parquet-export', fleet.wrong)
    if fleet.wrong:
        return
    same_rows(t, fleet)
    same_answers(t, fleet)
    pruning(t, asker, fleet, top)
    twice(t, asker, fleet, top)
    damage(t, asker, fleet, top)
    vanishing(t, asker, fleet, top)
    hostile(t, asker, top)
    rewritten(t, asker, fleet, top)
