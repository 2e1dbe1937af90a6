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

ORDER = 'order by ts, host, trace_id, cpu'

# Asked of both. The order of rows counts.
SAME = [
    "select 1, 'a', 2.5, null, x'6162', 7/2, 7%0, -5/2, 1e3, 9223372036854775807, -9223372036854775808, 'it''s', 'a\\b'",
    'select host, count(*) from sched_switch group by host order by host',
    'select host, date, count(*) from events group by 1, 2 order by 1 desc, 2',
    'select system, event, count(*), min(pid) from events group by 1, 2 order by 1, 2',
    "select event, count(*) n from events where event like 'sched%' and cpu = 0 group by event order by n, event",
    "select min(ts), max(ts) - min(ts) from events where event = 'sys_enter' or pid = 103",
    'select count(*) from events',
    'select state, count(*), sum(dur), avg(dur) from states group by 1 order by 1',
    'select host, comm, p50(dur), p90(dur), p99(dur), percentile(dur, 99.9), percentile(dur, 0), percentile(dur, 100) '
    'from slices group by 1, 2 order by 1, 2',
    'select hist(dur) from slices',
    'select hist(dur) from slices where pid = -3',
    'select max(dur), sum(dur), avg(dur), total(dur), min(comm), max(ts), count(*), p50(dur), stddev(dur) from slices '
    'where pid = -3',
    'select host, sum(dur) filter (where pid = 101), max(comm) filter (where pid > 1000), count(*) filter (where cpu = 0), '
    'p99(dur) filter (where pid < 0) from slices group by host order by host',
    f'select ns(dur), ns(ts - 1794441600000000000), dur/3, dur/3.0, dur%7, dur*1.5, -dur, dur/(pid-pid), dur % (cpu * 1) '
    f'from slices {ORDER} limit 30',
    "select comm || '/' || pid || '-' || cpu as who, upper(comm), lower(comm), length(comm), substr(comm, 3), "
    f"substr(comm, 2, 3), substr(comm, -2), replace(comm, 'task', 'T'), instr(comm, 'k') from slices {ORDER} limit 30",
    "select printf('%5.1f|%s', dur / 10.0, comm) p, round(dur / 3.0, 2), round(dur / 3.0), abs(-dur), max(dur, 700), "
    "min(pid, cpu), iif(pid > 103, 'big', 'small'), coalesce(open, 'closed'), ifnull(open, 0), nullif(pid, 101) "
    f'from slices where pid is not null {ORDER}, dur, pid limit 40',
    "select case when pid > 103 then 'a' when pid > 101 then comm end x, count(*) from slices group by 1 order by 1",
    f"select case cpu when 0 then 'zero' else cpu end, case when pid > 103 then 1.5 else 'x' end from slices {ORDER} limit 5",
    "select date, substr(date, 1, 7) m, count(*) from slices where date >= '2026-11-12' and date < '2026-11-14' "
    'group by 1, 2 order by 1',
    "select count(*) from slices where date like '2026-%' and date != '' and date < 'a' and date in ('2026-11-12', 'x')",
    "select count(*) from slices where date >= date('2026-11-15', '-2 days')",
    'select host, min(date), max(date), min(trace_id), group_concat(distinct host) from slices group by 1 order by 1',
    "select count(*) from slices where dur between ns('5us') and ns('20us')",
    "select comm from slices where comm glob 'task10[1-3]' group by comm order by comm desc",
    "select comm from slices where comm not glob '*[!012]' group by comm order by 1",
    f"select comm, dur from slices where comm not like 'TASK10_' and not (pid > 0 and pid < 3) {ORDER} limit 5",
    "select count(*) from slices where pid not in (101, 102, 0) and comm in ('task103', 'task104')",
    "select count(*) from sched_switch where next_pid > '103' and next_comm <> 5 and prev_prio < 1e9",
    "select count(*) from slices where pid in (select pid from wakeups where host = 'web1') and "
    "exists (select 1 from traces where host = 'web2')",
    'select a.host, a.n, b.m from (select host, count(*) n from slices group by 1) a join '
    '(select host, max(dur) m from states group by 1) b using (host) order by 1',
    'select a.host, b.m, b.m is null from (select host from slices group by 1) a left join '
    "(select host, max(dur) m from states where host > 'web1' group by 1) b on a.host = b.host order by a.host",
    'with w as (select host, pid, count(*) n from wakeups group by 1, 2), s(h, p, d) as (select host, pid, sum(dur) '
    'from slices group by 1, 2) select w.host, w.pid, n, d, d / n from w, s where w.host = s.h and w.pid = s.p order by 1, 2',
    'select t.host, w.pid, count(*) from traces t, wakeups w, slices s where t.trace_id = w.trace_id and '
    's.trace_id = t.trace_id and s.pid = w.pid and s.ts between w.ts and w.ts + 2000 group by 1, 2 order by 1, 2',
    'select host, count(*) from slices group by host having count(*) > 10 and max(dur) > 0 order by 2, 1',
    'select host c from slices union select comm from slices order by 1 desc limit 4 offset 1',
    "select 'slices' t, count(*) n from slices union all select 'states', count(*) from states order by n",
    'select distinct cpu, comm from slices order by cpu, comm limit 3, 5',
    'select count(distinct comm), count(distinct host), count(open), count(dur) from slices where cpu = 1',
    'select sum(cpu != 0), sum(open is null), sum(open is not null), count(*) from slices',
    f'select (select max(dur) from slices) - dur as d, ts > 5, ts = null, not cpu from slices order by 1, ts, cpu, host limit 3',
    f"select * from slices where host = 'web3' {ORDER} limit 3",
    f"select s.*, s.dur d2 from slices s where s.host = 'web0' {ORDER} limit 2",
    f'select SLICES.Dur, "comm", [pid], `cpu` from main.slices {ORDER} limit 3 -- a comment',
    f'select dur & 255, dur | 1, dur << 2, dur >> 3, ~pid, +pid from slices /* another */ {ORDER} limit 4',
    'select host, max(latency), open from wakeups where latency is not null group by host, open order by 2 desc, 1, 3',
    'select latency is null, latency isnull, latency notnull, latency is 500, latency is not 500, count(*) from wakeups '
    'group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5',
    'select latency, count(*) from wakeups group by 1 order by 1',
    'select latency, count(*) from wakeups group by latency order by latency desc',
    'select not (latency is null and cpu > 9), (latency > 0 and pid < 0), (latency > 0 or pid > 0), count(*) '
    'from (select latency, pid, pid cpu from wakeups) group by 1, 2, 3 order by 1, 2, 3',
    f"select cast(dur as text), cast(dur / 7.0 as integer), cast(dur as real), cast('12' as integer) from slices {ORDER} limit 4",
    'select avg(n), max(n) from (select pid, count(*) as n from slices group by pid)',
    "select strftime('%Y-%m-%d', ts / 1000000000, 'unixepoch') as day, hex(comm), quote(comm), typeof(dur), typeof(open) "
    f'from slices {ORDER} limit 3',
    "select cpu, case when count(*) > 5 then 'many' else 'few' end c, ns(max(dur)) m from slices group by cpu order by cpu",
    "select pid % 2, count(*), sum(dur) from slices where comm <> '' and (open is null or open = 'x') group by pid % 2 order by 1",
    'select irq, name, count(*) from irqs group by 1, 2',
    'select host, date, trace_id, ts, wall, kernel, uname, cpus, buffers, damage, file, bytes, file_version, '
    'compression, recorder from traces order by 1, 2, 3',
    'select s.host, s.comm, count(*) from slices s join traces t on s.trace_id = t.trace_id where t.cpus > 1 group by 1, 2 '
    'order by 1, 2',
    f'create temp view v as select host, max(dur) m from slices group by host; select host, m from v order by 1; drop view v',
    # Sums beyond 64 bits, products, mixed signs.
    'select host, avg(ts) > 1e18, total(ts) > 1e19, avg(dur), total(dur), sum(null), count(null), count(distinct null), '
    'count(distinct 1) from slices group by 1 order by 1',
    f'select ts * 100, ts / -1000, ts % -7, pid * -cpu, (pid - 200) / 2, (pid - 200) % 7 from slices {ORDER} limit 5',
    f'select case when pid > 103 then ts else -1 end, coalesce(dur, ts), max(ts, dur), min(ts, -1), iif(pid > 5, ts, -1), '
    f'coalesce(dur, 0.5), max(pid, 102.5), min(dur, 2.5) from slices {ORDER} limit 10',
    'select count(*), min(x) from (select ts x from slices union all select dur from slices union all select -1)',
    'select count(*) from slices where coalesce(dur, 0.5) > 1000 and max(pid, 1.5) > 100',
    'select round((pid - 103) / 2.0) r, count(*) from slices group by 1 order by 1',
    # What is not known is neither among values nor not among them.
    'select pid in (101, null), pid not in (101, null), pid in (null), count(*) from slices group by 1, 2, 3 order by 1, 2, 3',
    "select latency in ('x'), latency not in ('x', null), latency in (), count(*) from wakeups group by 1, 2, 3 order by 1, 2, 3",
    'select count(*) from slices where not (pid in (101, null))',
    'select count(*) from slices where not (pid not in (101, null))',
    'select count(*) from wakeups where pid not in (select latency from wakeups)',
    'select count(*) from wakeups where latency not in (select dur from slices where dur < 0)',
    'select count(*) from slices where ts in (select dur from slices) or pid in (select pid / 2.0 * 2 from wakeups)',
    "select count(*) from slices where trace_id in (select trace_id from traces where host = 'web1') and "
    "date in (select date from traces where host = 'web2') and trace_id in (select min(trace_id) || '' from traces where "
    "host = 'web1')",
    # Numbers beside texts, and what is above both.
    "select count(*) from slices where pid in ('101', '102.0', 103.0, 1e300, 'x')",
    "select pid = '102.0', pid = ' 102', pid > '1e2', count(*) from slices group by 1, 2, 3 order by 1, 2, 3",
    "select latency < 'abc', 'abc' < latency, latency <> x'00', comm < x'00', count(*) from wakeups group by 1, 2, 3, 4 "
    'order by 1, 2, 3, 4',
    'select count(*) from slices where date = 20261113 or date > 5 or date < 3',
    "select comm || x'6162' from slices where pid = 101 limit 1",
    "select count(*) from slices where comm in (x'7461736b313031', 'task102') or comm = x'7461736b313031'",
    # Others.
    'select (ts - (select min(ts) from slices)) / 1000000000 s, count(*) from slices group by s order by s limit 5',
    'select pid % 2 cpu, count(*) from slices group by 1 order by cpu',
    'select pid from slices where pid > 104 union select cpu from slices union all select 1 order by 1',
    "select count(*) from slices where pid = -3 group by 'x'",
    "select trace_id like '%A%', trace_id glob '[0-9]*', substr(trace_id, 1, 2), length(trace_id), count(*) from slices "
    'group by 1, 2, 3, 4 order by 1, 2, 3',
    "select count(*) from events where trace_id like '%a%'",
    "select count(*) from slices where comm glob '[^]a]*' or comm glob '*[]x]*'",
    'select clock, clock is null, count(*) from traces group by 1, 2',
    'select t.clock, count(*) from slices s join traces t using (trace_id) group by 1',
]

# Their rows are the same; ties come in any order.
SAVED_NOT = {'migrations': 'lag() OVER'}

REFUSED = {
    'select * from sched_swich': "did you mean 'sched_switch'",
    'select nxt_comm from sched_switch': "did you mean 'next_comm'",
    'select * from nonsense': "'nonsense'",
    'selec 1': 'syntax error',
    'select (1': 'syntax error',
    "select 'x": 'quote has no end',
    'select dur from slices limit dur': 'LIMIT',
    'select 1 +': 'syntax error',
    'select case 1': 'CASE',
    'drop table slices': 'can only read',
    'insert into slices values (1)': 'can only read',
    'create table x (a)': 'can only read',
    'delete from slices': 'can only read',
    'select nosuch(dur) from slices': 'nosuch',
    "select count(*) from slices where ns(dur) = '1us'": 'ns()',
    'select comm from slices order by hist(dur)': 'hist()',
    'select sym(ts) from slices': 'sym()',
    'select lag(dur) over (order by ts) from slices': 'lag()',
    'with recursive x as (select 1) select * from x': 'RECURSIVE',
    'select text from events': "'text'",
    'select path, events from traces': "'path'",
    'select a.pid from slices a where exists (select 1 from states b where b.pid = a.pid)': "'pid'",
    'select sum(comm) from slices': 'sum()',
    'select 1 from slices intersect select 2': 'INTERSECT',
    'select sum(ts) from slices': 'integer overflow',
    'select pid from slices union select dur / 2.0 from slices': 'whole and real',
    'select ns(dur) in (select 1) from slices': 'IN (SELECT ...)',
    'select count(*) from slices where pid in (select comm from slices)': 'numbers and texts',
    'select comm from slices where comm = "task101"': 'single quotes',
    "select count(*) from slices where comm glob 'task[z-a]*'": 'z-a',
    'select ' + '(' * 200 + '1' + ')' * 200: 'too deep',
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
    for number, query in enumerate(SAME):
        a, b = files_asked.run(query, '--json', '-q'), store.run(query, '--json', '-q')
        wrong = a.status or b.status or a.out != b.out or b.err
        t.check(f'store-same-{number}', f'{query}: {b.out[:300]} {b.err} instead of {a.out[:300]} {a.err}' if wrong else '')
    query = f"select comm, dur, open, dur / 3.0, 'a,\"b' from slices {ORDER} limit 5"
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


def shell(t, files_asked, store):
    wrong = ''
    for query, words in REFUSED.items():
        wrong += wrong_end(store.run(query), 1, words)
    t.check('store-refused', wrong)
    a, b = (re.findall(r'^(\S+) +(\d+) +(\S+)', r.run('.tables s*').out.decode(), re.M) for r in (files_asked, store))
    events = [row for row in b if row[2] in ('sched', 'raw_syscalls', 'syscalls')]
    t.check('store-tables', '' if events == a and len(b) > len(a) else f'{b} instead of {a}')
    a, b = (re.findall(r'^  (\S+) +(INTEGER|TEXT)', r.run('.schema wakeups').out.decode(), re.M) for r in (files_asked, store))
    t.check('store-schema', '' if a == b and a else f'{b} instead of {a}')
    r = store.run('.schema wakeup')
    t.check('store-schema-none', wrong_end(r, 1, "did you mean 'wakeups'"))
    r = store.run('explain select host, p99(dur) from slices group by 1')
    t.check('store-explain', '' if b'quantileExact' in r.out else f'{r.out} {r.err}')
    with tempfile.NamedTemporaryFile('w', suffix='.sql') as script:
        script.write('create temp view v as select host, comm from slices;\nselect count(*) from v;\n.mode csv\n'
                     "select count(*) from v where host = 'web1';\n")
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
    if b'without TLS' in r.err or b'GnuTLS' in r.err:
        t.skip('store-tls', r.err.decode())
    else:
        plain = store.run('select count(*) from slices')
        t.check('store-tls', '' if r.status == 0 and r.out == plain.out else f'{r.status} {r.err}')
        r = Asking(t, tls.address).run('select 1')
        t.check('store-tls-trust', '' if r.status == 2 and r.err.count(b'\n') == 1 else f'{r.status} {r.err}')
    between.close()


def store(t, folder, files, top):
    """Two shards filled with the fleet's traces."""
    if t.sanitized or not os.path.exists(chserver.PROGRAM):
        t.skip('store', 'the plain build asks it' if t.sanitized else f'there is no {chserver.PROGRAM}')
        return
    with tempfile.TemporaryDirectory() as directory, chserver.Cluster(directory) as cluster:
        asked = Asking(t, load(t, cluster, folder, files, f'{top}/spool'))
        of_files = Asking(t, folder)
        before = [s.ask("SELECT table, name FROM system.columns WHERE database = 'fleet' ORDER BY table, name")
                  for s in cluster.servers]
        compare(t, of_files, asked)
        saved(t, of_files, asked)
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
    """Knows a table; what it answers to a question is what it is told to: a function of the mark."""

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
                    mark = re.search(rb"'([0-9a-f]{16})' AS spur_mark", body)
                    said = self.answer(mark[1] if mark else b'')
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


def table(mark, *rows, names=b's0_1\ts0_2\tspur_mark', types=b'Nullable(Int64)\tNullable(String)\tString'):
    return b'\n'.join([names, types, *(r + b'\t' + mark for r in rows), b''])


QUERY = 'select dur, comm from slices'

# What it answers, and: status, words of what is said, rows that are shown.
ANSWERS = {
    'fine': (lambda m: http(table(m, b'1\ta', b'\\N\t\\N', b'-9223372036854775808\t\\\\N')),
             0, '', [[1, 'a'], [None, None], [-2**63, '\\N']]),
    'bytes': (lambda m: chunked(table(m, b'1\ta\\0\\n\\t\\\\\\\'\\b\x01')), 0, '', [[1, "a\0\n\t\\'\b\x01"]]),
    'large': (lambda m: http(table(m, b'18446744073709551615\tx', types=b'UInt64\tString\tString')), 0, '',
              [['18446744073709551615', 'x']]),
    'reals': (lambda m: http(table(m, b'1.5\tx', b'nan\ty', b'1e300\tz', types=b'Float64\tString\tString')), 0, '',
              [[1.5, 'x'], [None, 'y'], [1e300, 'z']]),
    'others': (lambda m: http(table(m, b"[1,2]\t2026-11-14", b"['a']\t2026-11-14 10:00:00",
                                    types=b'Array(UInt8)\tDateTime\tString')), 0, '',
               [['[1,2]', '2026-11-14'], ["['a']", '2026-11-14 10:00:00']]),
    'pieces': (lambda m: [chunked(end=b'')] + [b'%x\r\n%b\r\n' % (1, bytes([b])) for b in table(m, b'7\tseven')] + [b'0\r\n\r\n'],
               0, '', [[7, 'seven']]),
    'nothing': (lambda m: http(table(m)), 0, '', []),
    'refuses': (lambda m: http(EXCEPTION, '500 Internal Server Error'), 2, 'Memory limit (for query) exceeded (code 241)', None),
    'blames': (lambda m: http(EXCEPTION.replace('241', '43'), '500 Internal Server Error'), 1, '(code 43)', None),
    'midway': (lambda m: chunked(table(m, b'1\ta'), EXCEPTION), 3, 'Memory limit (for query) exceeded', [[1, 'a']]),
    'midway, as new ones do': (lambda m: chunked(table(m, b'1\ta'), b'\r\n__exception__\r\nabc\r\n' + EXCEPTION.encode(), end=b''),
                               3, 'Memory limit', [[1, 'a']]),
    'at once': (lambda m: http(EXCEPTION), 2, 'Memory limit', None),
    'no version': (lambda m: http(EXCEPTION), 2, 'exceeded (code 241)\n', None),
    'no mark': (lambda m: http(table(m, b'1\ta').replace(m, b'0' * 16)), 2, 'not what was asked', None),
    'lies about rows': (lambda m: http(table(m, b'1\ta', b'2\tb\tc')), 2, 'not what was asked', [[1, 'a']]),
    'lies about types': (lambda m: http(table(m, b'one\ta')), 2, 'not what was asked', None),
    'no types': (lambda m: http(b's0_1\ts0_2\tspur_mark\n'), 2, 'not what was asked', None),
    'more columns': (lambda m: http(table(m, b'1\ta\t5', names=b'a\tb\tc\td', types=b'String\tString\tString\tString')), 2,
                     'not what was asked', None),
    'half a line': (lambda m: http(table(m, b'1\ta') + b'2\tb'), 2, 'not what was asked', [[1, 'a']]),
    'hangs up': (lambda m: chunked(table(m, b'1\ta'), end=b''), 3, 'ended within the answer', [[1, 'a']]),
    'hangs up at once': (lambda m: b'', 2, 'without an answer', None),
    'is silent': (lambda m: [None], 2, 'no answer came in time', None),
    'is silent later': (lambda m: [chunked(table(m, b'1\ta'), end=b''), None], 3, 'no answer came in time', [[1, 'a']]),
    'dawdles': (lambda m: [x for b in chunked(table(m, b'1\ta')) for x in (bytes([b]), 0.3)], 2, 'no answer came in time', None),
    'a page': (lambda m: http('<html>hello</html>'), 2, 'not what was asked', None),
    'a proxy': (lambda m: http('come back', '503 Service Unavailable'), 2, '503', None),
    'a long line': (lambda m: [b'HTTP/1.1 200 OK\r\n\r\n'] + [b'x' * (1 << 20)] * 80, 2, 'too long', None),
}


def rows_of(done):
    text = done.out.decode('utf-8', 'surrogateescape')
    if not text:
        return None
    return [list(row.values()) for row in json.loads(text)]


def interrupt(t, fake):
    fake.answer = lambda m: [None]
    fake.requests.clear()
    child = subprocess.Popen([t.spur, 'sql', '--fleet', f'clickhouse://127.0.0.1:{fake.port}/x', QUERY],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for _ in range(200):
        if any(b'AS spur_mark' in body for _, body in fake.requests):
            break
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=30)
    asked = [re.search(rb'query_id=([0-9a-f]+)', head)[1] for head, body in fake.requests if b'AS spur_mark' in body]
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
        fake.answer = lambda m, g=garbage: g
        done = asked.run(QUERY)
        good = not done.trouble and done.status == 2 and done.err.count(b'\n') == 1 and not done.out
        t.check(f'pretender-garbage-{name.replace(" ", "-")}', '' if good else f'{done.status} {done.trouble} {done.err[:200]}')
    fake.answer = lambda m: http(table(m, b'1\ta'))
    fake.requests.clear()
    asked.run(QUERY)
    heads = [head for head, body in fake.requests if b'AS spur_mark' in body]
    t.check('pretender-readonly', '' if heads and all(b'readonly=2' in h for h in heads) else f'{heads}')
    turns = []
    refusal = http("Code: 164, e.displayText() = DB::Exception: Cannot modify 'readonly' setting in readonly mode\n", '500 X')
    fake.answer = lambda m: turns.append(1) or (refusal if len(turns) < 3 else http(table(m, b'1\ta')))
    done = asked.run(QUERY, '--json')
    t.check('pretender-reader', '' if rows_of(done) == [[1, 'a']] and len(turns) == 3 else f'{done.err} {turns}')
    fake.answer = lambda m: refusal
    done = asked.run('select a.dur from slices a left join slices b using (ts)')
    t.check('pretender-reader-join', wrong_end(done, 2, 'join_use_nulls'))
    interrupt(t, fake)
    fake.close()
