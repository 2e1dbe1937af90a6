# SPDX-License-Identifier: GPL-2.0-or-later
"""ClickHouse: what is on the servers is what `spur sql` says of the files, each row once, whatever happened on the way."""
import collections
import glob
import json
import os
import subprocess
import sys
import tempfile

import chserver
import harness

sys.path.insert(1, os.path.join(harness.ROOT, 'bench'))
import bigtrace  # noqa: E402
from bigtrace import mktrace  # noqa: E402

SAMPLE = 'data/sample.dat'
DERIVED = ('slices', 'states', 'wakeups', 'syscalls', 'irqs', 'softirqs', 'block', 'calls', 'stacks', 'samples', 'tasks',
           'cpus', 'lost')
OURS = ('date', 'host', 'trace_id', 'spur_block')
RECORDINGS = ('g-instances-34', 'g-fgraph-events', 'g-kprobe-v7', 'be-stack', 'g-all-events', 'g-blk', 'g-uprobe')
BIG_EVENTS, BIG_EVENTS_SANITIZED = 320_000, 160_000


class Load:
    """An export to an address, with settings."""

    def __init__(self, t, port, database, spool, *settings):
        self.t, self.spool_folder = t, spool
        self.address = f'clickhouse://127.0.0.1:{port}/{database}'
        self.settings = [a for s in (f'spool={spool}', *settings) for a in ('-O', s)]

    def argv(self, *args):
        return ['export', '--to', self.address, *self.settings, *args]

    def run(self, *args):
        return self.t.run(self.argv(*args), seconds=60)

    def spool(self):
        return sorted(glob.glob(f'{self.spool_folder}/*/*.block'))


def told(done, status=0):
    """What is wrong with how an export ended."""
    if done.trouble:
        return done.trouble
    err = done.err.decode(errors='replace')
    if done.status != status:
        return f'status {done.status}: {err}'
    return f'more than a line: {err}' if status and err.count('\n') != 1 else ''


def sql(t, path, *queries):
    """The answers to some questions, each a list of {column: value}."""
    done = t.run(['sql', '-q', '--json', path, ';'.join(queries)], seconds=60)
    text, at, answers = done.out.decode(), 0, []
    while at < len(text):
        answer, at = json.JSONDecoder().raw_decode(text, at)
        answers.append(answer)
        at += len(text[at:]) - len(text[at:].lstrip())
    if len(answers) != len(queries):
        raise RuntimeError(f'{path}: {done.trouble} {done.err.decode()}')
    return answers


def latin(text):
    """As JSON of spur shows what is no UTF-8."""
    return ''.join(chr(ord(c) - 0xdc00) if 0xdc80 <= ord(c) <= 0xdcff else c for c in text)


def unescape(field):
    if field == '\\N':
        return None
    for code, char in (('\\\\', '\1'), ('\\n', '\n'), ('\\t', '\t'), ('\\r', '\r'), ('\\b', '\b'), ('\\f', '\f'),
                       ('\\0', '\0'), ("\\'", "'"), ('\1', '\\')):
        field = field.replace(code, char)
    return latin(field)


def stored(server, database, table, host):
    """The rows of a host: a bag of {column: text}."""
    columns = [r[0] for r in server.rows(f"SELECT name FROM system.columns WHERE database = '{database}' AND table = '{table}'")]
    columns = [c for c in columns if c not in OURS]
    names = ', '.join(f'`{c}`' for c in columns)
    rows = server.rows(f"SELECT {names} FROM `{database}`.`{table}` WHERE host = '{host}'")
    return collections.Counter(tuple(sorted((c, unescape(f)) for c, f in zip(columns, r) if f != '\\N')) for r in rows)


def expected(rows):
    return collections.Counter(tuple(sorted((c, str(v)) for c, v in r.items() if v is not None)) for r in rows)


def table_names(t, path):
    return [r['event'] for r in sql(t, path, 'select distinct event from events')[0]] + list(DERIVED)


def differs(t, server, database, path, host):
    there = [r[0] for r in server.rows(f"SELECT name FROM system.tables WHERE database = '{database}' AND name NOT LIKE '%_local'")]
    compared = 0
    names = table_names(t, path)
    for table, rows in zip(names, sql(t, path, *(f'select * from "{n}"' for n in names))):
        wanted = expected(rows)
        if not wanted and table not in there:
            continue
        if table not in there:
            return f'{table} is not there'
        have = stored(server, database, table, host)
        if have != wanted:
            return f'{table}: {sum(have.values())} rows, not {sum(wanted.values())}; {list((have - wanted) + (wanted - have))[:2]}'
        compared += sum(wanted.values())
    return '' if compared else 'nothing was compared'


def check_contents(t, cluster, directory):
    server = cluster.servers[0]
    recordings = harness.recordings()
    for name in RECORDINGS:
        path, database = f'{recordings[name]}/trace.dat', 'rec_' + name.replace('-', '_')
        done = Load(t, server.port, database, f'{directory}/spool', 'host=one').run(path)
        why = done.trouble or ('' if done.status in (0, 3, 4) else done.err.decode())
        t.check(f'clickhouse: the rows of {name}', why or differs(t, server, database, path, 'one'))
        server.ask(f'DROP DATABASE {database}')


def check_twice(t, cluster, directory):
    server = cluster.servers[0]
    load = Load(t, server.port, 'twice', f'{directory}/spool', 'host=one')
    first, second, other = load.run(SAMPLE), load.run(SAMPLE, SAMPLE), load.run('-O', 'host=two', SAMPLE)
    t.check('clickhouse: the same trace again', told(first) or told(second) or told(other) or
            ('' if b': 0 rows' in second.err else second.err) or differs(t, server, 'twice', SAMPLE, 'one') or
            differs(t, server, 'twice', SAMPLE, 'two'))
    server.ask("INSERT INTO twice.slices SELECT * FROM twice.slices WHERE host = 'one'")
    server.ask("INSERT INTO twice.sched_switch SELECT * FROM twice.sched_switch WHERE host = 'one' AND cpu = 0")
    server.ask('DROP TABLE twice.sched_waking')
    repaired = load.run(SAMPLE)
    t.check('clickhouse: rows that are there twice, or not at all', told(repaired) or differs(t, server, 'twice', SAMPLE, 'one'))
    t.check('clickhouse: the table of traces', '' if server.ask('SELECT count() FROM twice.traces') == '2\n' else 'has not two')
    partly = load.run('-F', 'sched_switch', SAMPLE)
    t.check('clickhouse: another choice of the same trace', told(partly, 2) or
            ('' if b'another choice' in partly.err else partly.err))


def made(directory, name, fields, value):
    """A trace whose sched_process_exit has these fields."""
    old, event = mktrace.EVENTS['sched_process_exit'], mktrace.NUMBERED['sched_process_exit']
    mktrace.EVENTS['sched_process_exit'] = (old[0], fields)
    mktrace.NUMBERED['sched_process_exit'] = mktrace.Event('sched_process_exit', event.number)
    try:
        path = f'{directory}/{name}.dat'
        with open(path, 'wb') as out:
            out.write(mktrace.make([f'1000 0 5 sched_process_exit comm=a pid=5 {value}', f'2000 0 5 sched_process_exit comm=b pid=6 {value}']))
    finally:
        mktrace.EVENTS['sched_process_exit'], mktrace.NUMBERED['sched_process_exit'] = old, event
    return path


def check_columns(t, cluster, directory):
    server = cluster.servers[0]
    load = Load(t, server.port, 'columns', f'{directory}/spool')
    old = made(directory, 'old', 'char[16] comm, pid_t pid', '')
    new = made(directory, 'new', 'char[16] comm, pid_t pid, int prio, u64 host, u64 block', 'prio=7 host=8 block=9')
    odd = made(directory, 'odd', 'char[16] comm, pid_t pid, char[16] prio', 'prio=high')
    told_all = told(load.run('-O', 'host=old', old)) or told(load.run('-O', 'host=new', new)) or told(load.run('-O', 'host=old2', old))
    rows = [] if told_all else server.rows('SELECT host, args_pid, prio, args_host, block FROM columns.sched_process_exit ORDER BY host, ts')
    wanted = [['new', p, '7', '8', '9'] for p in '56'] + [[h, p, '\\N', '\\N', '\\N'] for h in ('old', 'old2') for p in '56']
    t.check('clickhouse: a kernel whose event has more fields', told_all or ('' if rows == wanted else rows))
    refused = load.run('-O', 'host=odd', odd)
    t.check('clickhouse: a field of another type', told(refused, 2) or
            ('' if b'prio' in refused.err and b'Nullable(Int64)' in refused.err else refused.err) or
            (load.spool() and 'it is in the spool'))
    server.ask('CREATE TABLE columns.sched_switch (a Int32) ENGINE = Memory')
    foreign = load.run('-O', 'host=x', SAMPLE)
    t.check("clickhouse: someone else's table", told(foreign, 2) or ('' if b'not one of spur' in foreign.err else foreign.err))


def counts(t, ask, path, database, host):
    """{table: (rows there, rows there should be)} that differ."""
    wrong, names = {}, table_names(t, path)
    for table, rows in zip(names, sql(t, path, *(f'select count(*) as n from "{n}"' for n in names))):
        should = rows[0]['n']
        try:
            there = int(ask(f"SELECT count() FROM `{database}`.`{table}` WHERE host = '{host}'"))
        except RuntimeError as why:
            there = 0 if "doesn't exist" in str(why) else str(why)
        if there != should:
            wrong[table] = (there, should)
    return wrong


def cluster_sums(t, server, database, files):
    """A question to the cluster beside the sum of the answers of the files."""
    query = 'SELECT {} FROM {} GROUP BY next_comm ORDER BY next_comm'
    wanted = collections.Counter()
    times = collections.Counter()
    for path in files:
        for row in sql(t, path, 'select next_comm, count(*) as n, sum(ts % 1000) as s from sched_switch group by 1')[0]:
            wanted[row['next_comm']] += row['n']
            times[row['next_comm']] += row['s']
    got = server.rows(query.format('next_comm, count(), sum(ts % 1000)', f'{database}.sched_switch'))
    return '' if got == [[c, str(wanted[c]), str(times[c])] for c in sorted(wanted)] else f'{got[:3]} {len(got)} {len(wanted)}'


def check_shard_killed(t, cluster, directory, big):
    """A shard dies within an insert, comes back, and everything is delivered."""
    first, second = cluster.servers
    between = chserver.Between(second.port)
    near, far = cluster.host_of(0), cluster.host_of(1)
    load = Load(t, first.port, 'fleet', f'{directory}/spool-fleet', f'cluster={chserver.CLUSTER}',
                f'shards=127.0.0.1:{first.port},127.0.0.1:{between.port}', 'timeout=10', 'retries=1')
    between.on_insert = {3: ('whole', second.kill)}
    away = load.run('-O', f'host={far}', big)
    t.check('clickhouse: a shard is killed', told(away, 2) or ('' if b'wait in' in away.err and load.spool() else away.err) or
            ('' if between.inserts > 3 else 'before there was an insert'))
    alive = load.run('-O', f'host={near}', SAMPLE)
    t.check('clickhouse: the other shard goes on', told(alive, 2) or str(counts(t, first.ask, SAMPLE, 'fleet', near) and
                                                                        cluster_only(t, first, near)))
    waiting = len(load.spool())
    second.start()
    between.on_insert = {between.inserts + 1: 'answer', between.inserts + 4: 'body'}
    deliver = load.run('-O', 'deliver=1')
    t.check('clickhouse: it comes back', told(deliver) or (f'{load.spool()} of {waiting} left' if load.spool() else ''))
    again = load.run('-O', f'host={far}', big)
    wrong = counts(t, first.ask, big, 'fleet', far)
    t.check('clickhouse: every row has arrived once', told(again) or ('' if b': 0 rows' in again.err else again.err) or
            str(wrong or ''))
    t.check('clickhouse: the cluster says what the files say', cluster_sums(t, first, 'fleet', [big, SAMPLE]) or
            cluster_sums(t, second, 'fleet', [big, SAMPLE]))
    between.close()


def cluster_only(t, server, host):
    """Rows of the shard itself: the Distributed table cannot be asked while another one is away."""
    def ask(query):
        return server.ask(query.replace('` WHERE', '_local` WHERE'))
    return counts(t, ask, SAMPLE, 'fleet', host) or ''


CUTS = {
    'no answer comes': lambda n: {n: 'answer'},
    'the body is cut off': lambda n: {n: 'body'},
    'both, again and again': lambda n: {n: 'answer', n + 1: 'body', n + 2: 'body', n + 4: 'answer'},
}


def check_cuts(t, cluster, directory, big):
    server = cluster.servers[0]
    for i, (name, plan) in enumerate(CUTS.items()):
        between = chserver.Between(server.port)
        between.on_insert = plan(2)
        load = Load(t, between.port, f'cut{i}', f'{directory}/spool-cut', 'host=one', 'retries=4', 'timeout=20')
        done = load.run(big)
        t.check(f'clickhouse: an insert of which {name}', told(done) or str(counts(t, server.ask, big, f'cut{i}', 'one') or ''))
        between.close()
        server.ask(f'DROP DATABASE cut{i}')


def check_client_killed(t, cluster, directory, big):
    server = cluster.servers[0]
    for kind in ('half', 'whole'):
        between = chserver.Between(server.port)
        load = Load(t, between.port, 'killed', f'{directory}/spool-killed', 'host=one', 'timeout=20')
        child = subprocess.Popen([t.spur, *load.argv(big)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        between.on_insert = {3: (kind, child.kill)}
        killed = child.wait() < 0
        between.on_insert = {}
        done = load.run(big)
        t.check(f'clickhouse: killed within an insert, {kind} of it gone', ('' if killed else 'was not killed') or told(done) or
                str(counts(t, server.ask, big, 'killed', 'one') or ''))
        between.close()
        server.ask('DROP DATABASE killed')


def check_garbage(t, cluster, directory):
    server = cluster.servers[0]
    small = made(directory, 'small', 'char[16] comm, pid_t pid', '')
    cases = [(name, 'garbage') for name in chserver.GARBAGE] + [('never', 'never'), ('slowly', 'slow')]
    if t.sanitized:
        cases = [c for c in cases if c[0] not in ('an endless body',)]
    for i, (name, mode) in enumerate(cases):
        between = chserver.Between(server.port)
        between.mode, between.garbage = mode, chserver.GARBAGE.get(name, b'')
        load = Load(t, between.port, f'garbage{i}', f'{directory}/spool-garbage', 'host=one', 'timeout=0.5', 'retries=1')
        done = load.run(small)
        kept = load.spool()
        why = told(done, 2) or ('' if b'wait in' in done.err and kept else done.err)
        between.mode = 'pass'
        deliver = load.run('-O', 'deliver=1')
        t.check(f'clickhouse: a server answers: {name}', why or told(deliver) or (load.spool() and 'the spool is not empty') or
                str(counts(t, server.ask, small, f'garbage{i}', 'one') or ''))
        between.close()
        server.ask(f'DROP DATABASE IF EXISTS garbage{i}')


def check_away(t, cluster, directory):
    port = chserver.free_ports(1)[0]
    load = Load(t, port, 'away', f'{directory}/spool-away', 'retries=0')
    done = load.run(SAMPLE)
    t.check('clickhouse: nobody is there', told(done, 2) or ('' if b'Connection refused' in done.err and load.spool() else done.err))
    empty = load.run('-O', 'deliver=1')
    t.check('clickhouse: still nobody', told(empty, 2) or ('' if b'still wait' in empty.err else empty.err))
    full = Load(t, port, 'full', f'{directory}/spool-full', 'retries=0', 'spool_max=10').run(SAMPLE)
    t.check('clickhouse: a full spool', told(full, 2) or ('' if b'spool_max' in full.err else full.err))
    with open(load.spool()[0], 'r+b') as file:
        file.seek(40)
        file.write(b'x')
    between = chserver.Between(cluster.servers[0].port)
    os.rename(f'{directory}/spool-away/127.0.0.1_{port}_away', f'{directory}/spool-away/127.0.0.1_{between.port}_away')
    load = Load(t, between.port, 'away', f'{directory}/spool-away')
    deliver = load.run('-q', '-O', 'deliver=1')
    t.check('clickhouse: a damaged block', told(deliver, 4) or (load.spool() and 'the others wait') or
            ('' if glob.glob(f'{directory}/spool-away/*/*.damaged') else 'is not set aside'))
    between.close()


def check_credentials(t, cluster, directory):
    server = cluster.servers[0]
    small = made(directory, 'small', 'char[16] comm, pid_t pid', '')
    path = f'{directory}/secret'
    with open(path, 'w') as file:
        file.write('user=boards\npassword=secret\n')
    load = Load(t, server.port, 'credentials', f'{directory}/spool', f'credentials={path}')
    os.chmod(path, 0o640)
    open_to_all = load.run(small)
    os.chmod(path, 0o600)
    fine = load.run(small)
    with open(path, 'w') as file:
        file.write('user=boards\npassword=wrong\n')
    wrong = load.run('-O', 'host=other', small)
    t.check('clickhouse: a password that others can read', told(open_to_all, 2) or ('' if b'chmod 600' in open_to_all.err else open_to_all.err))
    t.check('clickhouse: a password', told(fine))
    t.check('clickhouse: a wrong password', told(wrong, 2) or ('' if b'assword' in wrong.err and b'wrong' not in wrong.err else wrong.err))
    load.address = load.address.replace('//', '//boards:secret@')
    shown = load.run(small)
    t.check('clickhouse: a password in the address', told(shown, 1) or ('' if b'secret' not in shown.err else 'it is shown'))
    os.environ.update(SPUR_CLICKHOUSE_USER='boards', SPUR_CLICKHOUSE_PASSWORD='secret')
    environment = Load(t, server.port, 'credentials', f'{directory}/spool').run('-O', 'host=third', small)
    del os.environ['SPUR_CLICKHOUSE_USER'], os.environ['SPUR_CLICKHOUSE_PASSWORD']
    t.check('clickhouse: a password from the environment', told(environment))


def check_tls(t, cluster, directory):
    server = cluster.servers[0]
    small = made(directory, 'small', 'char[16] comm, pid_t pid', '')
    for name, right in (('127.0.0.1', True), ('elsewhere', False)):
        made_one = chserver.certificate(directory, name)
        if not made_one:
            t.skip('clickhouse: TLS', 'no certificate can be made with openssl')
            return
        between = chserver.Between(server.port, made_one[0])
        load = Load(t, between.port, 'tls', f'{directory}/spool-tls', 'retries=0', f'host={name}')
        load.address = load.address.replace('clickhouse://', 'clickhouses://')
        strange = load.run(small)
        if b'without TLS' in strange.err:
            t.skip('clickhouse: TLS', 'built without')
            return
        t.check(f'clickhouse: a certificate of {name} that nobody knows', told(strange, 2) or
                ('' if b'certificate' in strange.err.lower() else strange.err))
        known = load.run('-O', f'ca={made_one[1]}', small)
        if right:
            t.check('clickhouse: TLS', told(known) or str(counts(t, server.ask, small, 'tls', name) or ''))
        else:
            t.check("clickhouse: someone else's certificate", told(known, 2) or ('' if b'name' in known.err else known.err))
        between.close()


def check(t):
    if not os.path.exists(chserver.PROGRAM):
        t.skip('clickhouse', 'clickhouse-server is not installed')
        return
    with tempfile.TemporaryDirectory() as directory:
        big = f'{directory}/big.dat'
        bigtrace.ROUNDS = 2000  # a short scene more often: the same in less time
        bigtrace.write(big, BIG_EVENTS_SANITIZED if t.sanitized else BIG_EVENTS)
        with chserver.Cluster(directory) as cluster:
            check_contents(t, cluster, directory)
            check_twice(t, cluster, directory)
            check_columns(t, cluster, directory)
            check_shard_killed(t, cluster, directory, big)
            check_cuts(t, cluster, directory, big)
            check_client_killed(t, cluster, directory, big)
            check_garbage(t, cluster, directory)
            check_away(t, cluster, directory)
            check_credentials(t, cluster, directory)
            check_tls(t, cluster, directory)
