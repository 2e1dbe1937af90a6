# SPDX-License-Identifier: GPL-2.0-or-later
"""A store on ClickHouse answers as the folder it was filled from; and servers that answer anything."""
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, 'tests/export')
import chserver

ORDER = 'order by ts, host, trace_id, cpu, dur, comm'

# Valid in SQLite's SQL and in ClickHouse's, and asked of both. The order of rows counts.
SAME = [
    "select 1 as a, 'a' as b, 2.5 as c, null as d, 1e3 as e, 9223372036854775807 as f, 'it''s' as g",
    'select host, count(*) as n from sched_switch group by host order by host',
    'select host, date, count(*) as n from sched_switch group by host, date order by host desc, date',
    "select next_comm, count(*) as n from sched_switch where next_comm like 'task10%' and cpu = 0 group by next_comm order by n, next_comm",
    'select min(ts) as first, max(ts) - min(ts) as time from sys_enter where id = 1 or pid = 103',
    'select state, count(*) as n, sum(dur) as time, avg(dur) as average from states group by state order by state',
    'select host, comm, p50(dur), p90(dur), p99(dur), percentile(dur, 99.9), percentile(dur, 0), percentile(dur, 100) '
    "from slices where comm <> '' group by host, comm order by host, comm",
    'select P50(dur), Percentile( dur /* of it */, 50 ) as p from slices',
    'select hist(dur) from slices',
    'select hist(dur) from slices where pid = -3',
    'select hist(ts) as h, hist(latency) as l from wakeups where latency is not null',
    'select max(dur) as a, sum(dur) as b, avg(dur) as c, min(comm) as d, count(*) as e, p50(dur), p99(ts), stddev(dur) as f from slices '
    'where pid = -3',
    'select host, round(stddev(dur) * 1000) as x from slices group by host order by host',
    'select host, sum(case when pid = 101 then dur end) as a, max(case when pid > 1000 then comm end) as b from slices group by host '
    'order by host',
    f'select ns(dur), ns(latency) as l from (select ts, host, trace_id, cpu, comm, dur, dur as latency from slices) as s {ORDER} limit 30',
    f'select ns(ts - 1794441600000000000 + 1) as t, ns(-dur) as m, ns(dur / 7.0) as d, ns(0), ns(null) as n from slices {ORDER} limit 30',
    "select ns(max(dur) * 1000000) as s, ns(max(dur) * 60000000) as m, ns(sum(dur)) as w, ns(p99(dur)) as p from slices group by host "
    'order by host',
    f'select dur / 3.0 as a, dur % 7 as b, dur * 1.5 as c, -dur as d, dur + 1 as e from slices where pid > 0 {ORDER} limit 30',
    f"select comm || '/' || host as who, upper(comm) as a, lower(comm) as b, length(comm) as c, substr(comm, 3) as d, "
    f"substr(comm, 2, 3) as e, replace(comm, 'task', 'T') as f from slices where pid > 0 {ORDER} limit 30",
    f"select abs(-dur) as a, coalesce(open, 'closed') as b, coalesce(nullif(pid, 101), -1) as c from slices where pid is not null {ORDER} limit 40",
    "select case when pid > 103 then 'a' when pid > 101 then comm else '' end as x, count(*) as n from slices group by x order by x",
    "select date, count(*) as n from slices where date >= '2026-11-12' and date < '2026-11-14' group by date order by date",
    "select count(*) as n from slices where dur between ns('5us') and ns('20us')",
    "select count(*) as n from slices where ns(dur) = '10us'",
    f"select comm, dur from slices where comm not like 'task10_' and not (pid > 0 and pid < 3) {ORDER} limit 5",
    "select count(*) as n from slices where pid not in (101, 102, 0) and comm in ('task103', 'task104')",
    'select host, count(*) as n from slices group by host having count(*) > 10 and max(dur) > 0 order by n, host',
    "select * from (select 'slices' as t, count(*) as n from slices union all select 'states' as t, count(*) as n from states) as x order by n",
    'select distinct cpu, comm from slices where pid > 0 order by cpu, comm limit 3, 5',
    'select count(distinct comm) as a, count(distinct host) as b, count(open) as c, count(dur) as d from slices where cpu = 1',
    'select sum(cpu != 0) as a, sum(open is null) as b, sum(open is not null) as c, count(*) as d from slices',
    'select ts > 5 as e, not cpu as f, (select max(dur) from slices) as d from slices order by ts, cpu, host limit 3',
    f'select slices.dur, "comm", `cpu` from slices {ORDER} limit 3 -- a comment, ns(5)',
    'select host, max(latency) as worst, open from wakeups where latency is not null group by host, open order by worst desc, host, open',
    'select latency is null as a, count(*) as n from wakeups group by latency is null order by a',
    'select latency, count(*) as n from wakeups where latency is not null group by latency order by latency desc',
    'select avg(n) as a, max(n) as b from (select pid, count(*) as n from slices group by pid) as x',
    'select pid % 2 as odd, count(*) as n, sum(dur) as d from slices where pid > 0 and (open is null or open = \'x\') group by odd order by odd',
    'select host, date, trace_id, ts, wall, kernel from traces order by host, date, trace_id',
    'select host, avg(ts / 2.0) > 1e17 as a, avg(dur) as b, count(distinct 1) as c from slices group by host order by host',
    "select 'ns(5)' as a, '-- p50(x)' as b, 'it''s /* ns(1) */' as \"ns(2)\", 1 as `p99(x)`",
    'select p50, count(*) as n from (select pid as p50 from slices) as x where p50 = 101 group by p50',
]

# The same question in the one SQL and in the other.
PAIRS = [
    ("select count(*) as n from slices where pid in (select pid from wakeups where host = 'web1')",
     "select count(*) as n from slices where pid global in (select pid from wakeups where host = 'web1')"),
    ('select a.host as host, n, m from (select host, count(*) as n from slices group by host) a join (select host, max(dur) as m from states '
     'group by host) b on a.host = b.host order by host',
     'select host, n, m from (select host, count(*) as n from slices group by host) all inner join (select host, max(dur) as m from states '
     'group by host) using host order by host'),
    ("select a.host as host, m, m is null as x from (select host from slices group by host) a left join (select host, max(dur) as m from states "
     "where host > 'web1' group by host) b on a.host = b.host order by host",
     "select host, m, m is null as x from (select host from slices group by host) all left join (select host, max(dur) as m from states "
     "where host > 'web1' group by host) using host order by host"),
    (f"select 'a\\b' as a, dur / 3 as b, iif(pid > 103, 'big', 'small') as c from slices where pid > 0 {ORDER} limit 9",
     f"select 'a\\\\b' as a, intDiv(dur, 3) as b, pid > 103 ? 'big' : 'small' as c from slices where pid > 0 {ORDER} limit 9"),
    ("select 'it''s; ns(5)' as a", "select 'it\\'s; ns(5)' as a"),
    ('select host, group_concat(distinct host) as h from slices group by host order by host',
     "select host, arrayStringConcat(groupUniqArray(host), ',') as h from slices group by host order by host"),
]

# Saved queries that the server refuses, with its own words. The rows of all others are the same; ties come in any order.
MISSING, SYNTAX = "doesn't exist (code 60)", 'Syntax error'
SAVED_NOT = {'block-latency': MISSING, 'cpu-use': SYNTAX, 'event-counts': MISSING, 'events-per-second': MISSING, 'functions': SYNTAX,
             'hot-stacks': MISSING, 'irq-time': MISSING, 'lost': MISSING, 'migrations': SYNTAX, 'softirq-time': MISSING,
             'task-events': MISSING, 'task-states': SYNTAX, 'who-wakes-whom': 'not under aggregate function'}

# What the server says of it.
REFUSED = {
    'select * from sched_swich': "Table fleet.sched_swich doesn't exist (code 60)",
    'select nxt_comm from sched_switch': 'nxt_comm',
    'select (1': 'Syntax error',
    "select 'x": 'Syntax error',
    'select 1 +': 'Syntax error',
    'select nosuch(dur) from slices': 'Unknown function nosuch (code 46)',
    'select sym(ts) from slices': 'Unknown function sym (code 46)',
    'select percentile(dur, cpu) from slices': 'Unknown function percentile (code 46)',
    'select p50(dur, 1) from slices': 'Unknown function p50 (code 46)',
    'select lag(dur) over (order by ts) from slices': 'Syntax error',
    'select text from events': "Table fleet.events doesn't exist",
    'select sum(comm) from slices': '(code 43)',
    'select comm from slices where comm = 5': '(code ',
    'select host, comm from slices group by host': 'not under aggregate function',
}

# What is not sent at all.
NOT_SENT = {
    'selec 1': 'can only read',
    'drop table slices': "'drop' is not sent",
    'insert into slices values (1)': 'can only read',
    'create table x (a)': 'can only read',
    'create temp view v as select 1': 'can only read',
    'delete from slices': 'can only read',
    'alter table slices drop column dur': 'can only read',
    'set readonly = 0': 'can only read',
    'kill query where 1': 'can only read',
    '/* select */ truncate table slices': 'can only read',
    '((drop table slices))': 'can only read',
    'with 1 as x insert into slices select x': 'can only read',
    'select 1 format JSON': '--json',
    "select ns('5 parsecs')": 'a time is a number',
}


class Asking:
    def __init__(self, t, address, *options):
        self.t, self.address, self.options = t, address, options

    def run(self, query, *options, seconds=60):
        return self.t.run(['sql', '--fleet', self.address, *self.options, *options, query], seconds=seconds)


def wrong_end(done, status, words):
    """What is wrong with how a refused question ended."""
    text = done.err.decode(errors='replace')
    good = not done.trouble and done.status == status and text.count('\n') == 1 and words in text
    return '' if good else f'{done.status} {done.trouble} {text}'


def load(t, cluster, folder, files, spool):
    ports = [s.port for s in cluster.servers]
    address = f'clickhouse://127.0.0.1:{ports[0]}/fleet'
    shards = ','.join(f'127.0.0.1:{p}' for p in ports)
    for path in files:
        done = t.run(['export', '-q', '--to', address, '-O', f'spool={spool}', '-O', f'cluster={chserver.CLUSTER}',
                      '-O', f'shards={shards}', path], seconds=60)
        if done.status:
            raise RuntimeError(f'{path}: {done.err.decode()}')
    empty = [p for s, p in zip(cluster.servers, ports) if s.ask('SELECT count() FROM fleet.slices_local') == '0\n']
    t.check('store-shards', f'nothing is on {empty}' if empty else '')
    return address


def compare(t, files_asked, store):
    for number, (query, remote) in enumerate([(q, q) for q in SAME] + PAIRS):
        a, b = files_asked.run(query, '--json', '-q'), store.run(remote, '--json', '-q')
        wrong = a.status or b.status or a.out != b.out or b.err or len(a.out) < 4
        t.check(f'store-same-{number}', f'{remote}: {b.out[:300]} {b.err} instead of {a.out[:300]} {a.err}' if wrong else '')
    query = f"select comm, dur, open, dur / 3.0 as x, 'a,\"b' as y from slices {ORDER} limit 5"
    for mode in ('--table', '--csv', '--json', '--markdown', '--tabs', '--no-header'):
        a, b = files_asked.run(query, mode), store.run(query, mode)
        t.check(f'store{mode}', '' if a.out == b.out and a.out and not b.status else f'{b.out} {b.err} instead of {a.out}')


def saved(t, files_asked, store):
    names = [line.split()[0] for line in t.run(['sql', '--list']).out.decode().split('\n') if line]
    for name in names:
        options = ['--json', '-q']
        with open(f'queries/{name}.sql') as file:
            options += ['-p', 'limit=100000'] if ':limit' in file.read() else []
        b = store.run(f'@{name}', *options)
        if name in SAVED_NOT:
            t.check(f'store-@{name}', wrong_end(b, 1, SAVED_NOT[name]))
            continue
        a = files_asked.run(f'@{name}', *options)
        rows = [sorted(json.loads(r.out or b'[]'), key=repr) for r in (a, b)]
        good = a.status == 0 and b.status == 0 and rows[0] == rows[1]
        t.check(f'store-@{name}', '' if good else f'{b.status} {b.out[:300]} {b.err} instead of {a.out[:300]}')
    b = store.run('@top-tasks', '--json', '-p', 'limit=2')
    t.check('store-param', '' if len(json.loads(b.out or b'[]')) == 2 else f'{b.out} {b.err}')


def parameters(t, store):
    """Values are constants, whatever is in them."""
    wrong = ''
    for value, shown in {'5': 5, '0x10': 16, '2.5': 2.5, 'it\'s': "it's", 'a\\b\', 1, \'': "a\\b', 1, '", 'nan': 'nan', '': ''}.items():
        done = store.run('select :x as a, 5 :: Int8 as b, (1 ? 2 : 3) as c', '--json', '-p', f'x={value}')
        # Servers of this age do not know "::".
        if b'Syntax error' in done.err:
            done = store.run('select :x as a, (1 ? 2 : 3) as c', '--json', '-p', f'x={value}')
        got = json.loads(done.out or b'[{"a": "nothing"}]')[0]['a']
        wrong += '' if got == shown and type(got) is type(shown) else f'{value}: {got} {done.err} '
    done = store.run('select coalesce(:x, 7) as a, :x is null as b, 1 as c limit coalesce(:n, 3)', '--json')
    wrong += '' if done.out == b'[\n {"a":7,"b":1,"c":1}\n]\n' else f'{done.out} {done.err}'
    t.check('store-params', wrong)


def shell(t, files_asked, store):
    for name, list_ in (('refused', REFUSED), ('not-sent', NOT_SENT)):
        t.check(f'store-{name}', ''.join(f'{q}: {w} ' for q, w in ((q, wrong_end(store.run(q), 1, words)) for q, words in list_.items())
                                         if w))
    done = store.run('show tables')
    t.check('store-show', '' if b'wakeups_local' in done.out else f'{done.err}')
    a, b = (re.findall(r'^(\S+) +(\d+) +(\S+)', r.run('.tables s*').out.decode(), re.M) for r in (files_asked, store))
    events = [row for row in b if row[2] in ('sched', 'raw_syscalls', 'syscalls')]
    t.check('store-tables', '' if events == a and len(b) > len(a) else f'{b} instead of {a}')
    a, b = (re.findall(r'^  (\S+) +(INTEGER|TEXT)', r.run('.schema wakeups').out.decode(), re.M) for r in (files_asked, store))
    t.check('store-schema', '' if a == b and a else f'{b} instead of {a}')
    r = store.run('.schema wakeup')
    t.check('store-schema-none', wrong_end(r, 1, "did you mean 'wakeups'"))
    with tempfile.NamedTemporaryFile('w', suffix='.sql') as script:
        script.write("select count(*) as n from slices; -- a comment; and another\n\n.mode csv\n"
                     "select count(*) as n, ';' as x from slices where host = 'web1';\n/* the end; */")
        script.flush()
        a, b = (t.run(['sql', '--fleet', r.address, '-f', script.name]) for r in (files_asked, store))
        t.check('store-script', '' if a.out == b.out and a.out else f'{b.out} {b.err} instead of {a.out}')


def nothing_written(t, cluster, before):
    after = [s.ask("SELECT table, name FROM system.columns WHERE database = 'fleet' ORDER BY table, name") for s in cluster.servers]
    t.check('store-unchanged', '' if after == before else 'tables are others now')


def secrets(t, cluster, store, directory):
    keys = f'{directory}/keys'
    for name, password, status in (('good', 'secret', 0), ('bad', 'wrong', 2)):
        with open(keys, 'w') as file:
            file.write(f'user=boards\npassword={password}\n')
        os.chmod(keys, 0o600)
        r = store.run('select count(*) from slices', '-O', f'credentials={keys}')
        t.check(f'store-password-{name}', '' if r.status == status and (not status or b'code 193' in r.err) else f'{r.status} {r.err}')
    r = store.run('select 1', '-O', 'credential=x')
    t.check('store-setting', wrong_end(r, 1, "did you mean 'credentials'"))
    made = chserver.certificate(directory, '127.0.0.1')
    if not made:
        t.skip('store-tls', 'no openssl')
        return
    between = chserver.Between(cluster.servers[0].port, made[0])
    tls = Asking(t, f'clickhouses://127.0.0.1:{between.port}/fleet', '-O', f'ca={made[1]}')
    r = tls.run('select count(*) from slices')
    plain = store.run('select count(*) from slices')
    t.check('store-tls', '' if r.status == 0 and r.out == plain.out else f'{r.status} {r.err}')
    r = Asking(t, tls.address).run('select 1')
    t.check('store-tls-trust', wrong_end(r, 2, 'certificate'))
    between.close()


def store(t, folder, files, top):
    """Two shards filled with the fleet's traces."""
    if not os.path.exists(chserver.PROGRAM):
        t.skip('store', f'there is no {chserver.PROGRAM}')
        return
    with tempfile.TemporaryDirectory() as directory, chserver.Cluster(directory) as cluster:
        asked = Asking(t, load(t, cluster, folder, files, f'{top}/spool'))
        of_files = Asking(t, folder)
        before = [s.ask("SELECT table, name FROM system.columns WHERE database = 'fleet' ORDER BY table, name")
                  for s in cluster.servers]
        compare(t, of_files, asked)
        saved(t, of_files, asked)
        parameters(t, asked)
        shell(t, of_files, asked)
        secrets(t, cluster, asked, top)
        nothing_written(t, cluster, before)
        cluster.servers[1].kill()
        r = asked.run('select count(*) from slices')
        t.check('store-shard-killed', '' if r.status == 2 and r.err.count(b'\n') == 1 else f'{r.status} {r.out} {r.err}')
        cluster.servers[0].kill()
        t.check('store-killed', wrong_end(asked.run('select count(*) from slices'), 2, 'connect'))


# ---- servers that answer anything ----

COLUMNS = ''.join(f'slices\t{name}\t{kind}\n' for name, kind in (
    ('date', 'Date'), ('host', 'String'), ('trace_id', 'FixedString(32)'), ('spur_block', 'UInt32'), ('ts', 'UInt64'),
    ('dur', 'Nullable(Int64)'), ('comm', 'Nullable(String)')))
EXCEPTION = "Code: 241, e.displayText() = DB::Exception: Memory limit (for query) exceeded (version 20.1.2), e.what() = x\n"


def http(body, status='200 OK'):
    body = body if isinstance(body, bytes) else body.encode()
    return f'HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n'.encode() + body


def chunked(*pieces, end=b'0\r\n\r\n'):
    body = b''.join(f'{len(p):x}\r\n'.encode() + p + b'\r\n' for p in (x if isinstance(x, bytes) else x.encode() for x in pieces))
    return b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n' + body + end


class Pretender:
    """Knows a table; what it answers to a question is what it is told to."""

    def __init__(self):
        self.answer, self.requests = None, []
        self.closing = threading.Event()
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        with client:
            try:
                while True:
                    head, body = chserver.Between.request(client)
                    if head is None:
                        return
                    self.requests.append((head, body))
                    if b'system.columns' in body:
                        client.sendall(http(COLUMNS))
                        continue
                    if body.startswith(b'KILL'):
                        client.sendall(http(''))
                        continue
                    said = self.answer() if callable(self.answer) else self.answer
                    for piece in said if isinstance(said, list) else [said]:
                        if piece is None:
                            self.closing.wait(60)
                        elif isinstance(piece, float):
                            time.sleep(piece)
                        else:
                            client.sendall(piece)
                    return
            except OSError:
                pass

    def close(self):
        self.closing.set()
        self.listener.close()


def table(*rows, names=b'dur\tcomm', types=b'Nullable(Int64)\tNullable(String)'):
    return b'\n'.join([names, types, *rows, b''])


def texts(*rows):
    return table(*rows, names=b'comm', types=b'String')


QUERY = 'select dur, comm from slices'

# What it answers, and: status, words of what is said, rows that are shown.
ANSWERS = {
    'fine': (http(table(b'1\ta', b'\\N\t\\N', b'-9223372036854775808\t\\\\N')),
             0, '', [[1, 'a'], [None, None], [-2**63, '\\N']]),
    'bytes': (chunked(table(b'1\ta\\0\\n\\t\\\\\\\'\\b\x01')), 0, '', [[1, "a\0\n\t\\'\b\x01"]]),
    'large': (http(table(b'18446744073709551615\tx', types=b'UInt64\tString')), 0, '',
              [['18446744073709551615', 'x']]),
    'reals': (http(table(b'1.5\tx', b'nan\ty', b'1e300\tz', types=b'Float64\tString')), 0, '',
              [[1.5, 'x'], [None, 'y'], [1e300, 'z']]),
    'others': (http(table(b"[1,2]\t2026-11-14", b"['a']\t2026-11-14 10:00:00",
                                    types=b'Array(UInt8)\tDateTime')), 0, '',
               [['[1,2]', '2026-11-14'], ["['a']", '2026-11-14 10:00:00']]),
    'pieces': ([chunked(end=b'')] + [b'%x\r\n%b\r\n' % (1, bytes([b])) for b in table(b'7\tseven')] + [b'0\r\n\r\n'],
               0, '', [[7, 'seven']]),
    'nothing': (http(table()), 0, '', []),
    'refuses': (http(EXCEPTION, '500 Internal Server Error'), 2, 'Memory limit (for query) exceeded (code 241)', None),
    'blames': (http(EXCEPTION.replace('241', '43'), '500 Internal Server Error'), 1, '(code 43)', None),
    'midway': (chunked(table(b'1\ta'), EXCEPTION), 3, 'Memory limit (for query) exceeded', [[1, 'a']]),
    'midway, as new ones do': (chunked(table(b'1\ta'), b'\r\n__exception__\r\nabc\r\n' + EXCEPTION.encode(), end=b''),
                               3, 'Memory limit', [[1, 'a']]),
    'at once': (http(EXCEPTION), 2, 'Memory limit', None),
    'no version': (http(EXCEPTION), 2, 'exceeded (code 241)\n', None),
    'lies about rows': (http(table(b'1\ta', b'2\tb\tc')), 2, 'not what was asked', [[1, 'a']]),
    'lies about types': (http(table(b'one\ta')), 2, 'not what was asked', None),
    'no types': (http(b'dur\tcomm\n'), 2, 'not what was asked', None),
    'more types': (http(table(types=b'String\tString\tString')), 2, 'not what was asked', None),
    'within a row': (chunked(table(b'1\ta'), b'2\tb', EXCEPTION), 3, 'Memory limit', [[1, 'a']]),
    'midway of texts': (chunked(texts(b'a'), EXCEPTION), 3, 'Memory limit', [['a']]),
    'texts like it': (http(texts(EXCEPTION[:-1].encode(), *[b'x' * 100] * 200)), 0, '', [[EXCEPTION[:-1]]] + [['x' * 100]] * 200),
    'half a line': (http(table(b'1\ta') + b'2\tb'), 2, 'not what was asked', [[1, 'a']]),
    'hangs up': (chunked(table(b'1\ta'), end=b''), 3, 'ended within the answer', [[1, 'a']]),
    'hangs up at once': (b'', 2, 'without an answer', None),
    'is silent': ([None], 2, 'no answer came in time', None),
    'is silent later': ([chunked(table(b'1\ta'), end=b''), None], 3, 'no answer came in time', [[1, 'a']]),
    'dawdles': ([x for b in chunked(table(b'1\ta')) for x in (bytes([b]), 0.3)], 2, 'no answer came in time', None),
    'a page': (http('<html>hello</html>'), 2, 'not what was asked', None),
    'a proxy': (http('come back', '503 Service Unavailable'), 2, '503', None),
    'a redirection': (b'HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n', 2, '302', None),
    'a long line': ([b'HTTP/1.1 200 OK\r\n\r\n'] + [b'x' * (1 << 20)] * 80, 2, 'too long', None),
}


def rows_of(done):
    text = done.out.decode('utf-8', 'surrogateescape')
    if not text:
        return None
    return [list(row.values()) for row in json.loads(text)]


def interrupt(t, fake):
    fake.answer = [None]
    fake.requests.clear()
    child = subprocess.Popen([t.spur, 'sql', '--fleet', f'clickhouse://127.0.0.1:{fake.port}/x', QUERY],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for _ in range(200):
        if any(QUERY.encode() == body for _, body in fake.requests):
            break
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=30)
    asked = [re.search(rb'query_id=([0-9a-f]+)', head)[1] for head, body in fake.requests if body == QUERY.encode()]
    killed = [body for _, body in fake.requests if body.startswith(b'KILL QUERY')]
    good = child.returncode == 130 and len(asked) == 1 and len(killed) == 1 and asked[0] in killed[0]
    t.check('pretender-interrupt', '' if good else f'{child.returncode} {asked} {killed}')


# Addresses that are none, and words of what is said.
ADDRESSES = {
    'clickhouse://127.0.0.1:1': 'there is no database',
    'clickhouse://127.0.0.1:99999/x': 'a port is a number from 1 to 65535',
    'clickhouse://127.0.0.1:0/x': 'a port is a number from 1 to 65535',
    'clickhouse://127.0.0.1:65536/x': 'a port is a number from 1 to 65535',
    'clickhouse://127.0.0.1:/x': 'a port is a number from 1 to 65535',
    'clickhouse://127.0.0.1:12a/x': 'a port is a number from 1 to 65535',
    'clickhouse:///x': 'there is no host',
    'clickhouse://me:secret@127.0.0.1/x': 'do not belong',
}


def addresses(t):
    wrong = ''
    for address, words in ADDRESSES.items():
        done = Asking(t, address).run('select 1')
        wrong += wrong_end(done, 1, words) + (' tells a secret' if b'secret' in done.err else '')
    t.check('store-addresses', wrong)


def servers(t):
    """On both builds: what a server may say."""
    addresses(t)
    fake = Pretender()
    asked = Asking(t, f'clickhouse://127.0.0.1:{fake.port}/x', '-O', 'timeout=2')
    for name, (answer, status, words, rows) in ANSWERS.items():
        fake.answer = answer
        done = asked.run(QUERY, '--json')
        text = done.err.decode(errors='replace')
        shown = rows_of(done)
        good = (not done.trouble and done.status == status and words in text and text.count('\n') == (1 if status else 0) and
                shown == rows and 'version' not in text)
        t.check(f'pretender-{name.replace(" ", "-").replace(",", "")}', '' if good else f'{done.status} {done.trouble} {text} {shown}')
    for name, garbage in chserver.GARBAGE.items():
        fake.answer = garbage
        done = asked.run(QUERY)
        good = not done.trouble and done.status == 2 and done.err.count(b'\n') == 1 and not done.out
        t.check(f'pretender-garbage-{name.replace(" ", "-")}', '' if good else f'{done.status} {done.trouble} {done.err[:200]}')
    fake.answer = http(table(b'1\ta'))
    fake.requests.clear()
    # Proxies of the environment are not for servers of ours.
    os.environ['http_proxy'] = os.environ['all_proxy'] = 'http://127.0.0.1:9'
    asked.run(QUERY)
    del os.environ['http_proxy'], os.environ['all_proxy']
    heads = [head for head, body in fake.requests if body == QUERY.encode()]
    t.check('pretender-readonly', '' if heads and all(b'readonly=2' in h for h in heads) else f'{heads}')
    turns = []
    refusal = http("Code: 164, e.displayText() = DB::Exception: Cannot modify 'readonly' setting in readonly mode\n", '500 X')
    fake.answer = lambda: turns.append(1) or (refusal if len(turns) < 3 else http(table(b'1\ta')))
    done = asked.run(QUERY, '--json')
    t.check('pretender-reader', '' if rows_of(done) == [[1, 'a']] and len(turns) == 3 else f'{done.err} {turns}')
    fake.answer = refusal
    done = asked.run('select a.dur from slices a left join slices b using (ts)')
    t.check('pretender-reader-join', wrong_end(done, 2, 'join_use_nulls'))
    turns.clear()
    fake.answer = lambda: turns.append(1) or http(EXCEPTION.replace('241', '164').replace('Memory limit', 'No table functions'), '500 X')
    done = asked.run(QUERY)
    t.check('pretender-stays-readonly', wrong_end(done, 2, '(code 164)') or ('' if len(turns) == 1 else f'asked {len(turns)} times'))
    interrupt(t, fake)
    fake.close()
