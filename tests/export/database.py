# SPDX-License-Identifier: GPL-2.0-or-later
"""The database for SQLite: every table has what `spur sql` says about the trace, row by row."""
import contextlib
import os
import random
import sqlite3
import sys
import tempfile

import harness
sys.path.append('tests/tables')
import lossy
import mktrace

SAMPLE = 'data/sample.dat'
LOSSY = 12  # recordings with losses that are made
SLOW = ('g-all-events', 'g-fgraph-v7', 'g-instances-v6', 'g-stacktrace-v7')


def rows_of(t, path, table):
    done = t.run(['sql', '-i', path, '--tabs', '-q', f'select * from "{table}"'], seconds=120)
    if done.trouble or done.status:
        raise ValueError(f'{table}: {done.trouble or done.err.decode()}')
    return done.out.decode(errors='replace').split('\n')


def shown(cursor):
    """As spur sql prints rows with --tabs."""
    def text(value):
        return '' if value is None else str(value).translate({ord('\n'): ' ', ord('\t'): ' '})
    return ['\t'.join(d[0] for d in cursor.description)] + ['\t'.join(map(text, row)) for row in cursor]


def wrong_tables(t, path, made):
    with sqlite3.connect(f'file:{made}?mode=ro', uri=True) as db:
        db.text_factory = lambda b: b.decode(errors='replace')
        names = [row[0] for row in db.execute("select name from sqlite_master where type = 'table'")]
        for name in names:
            expected, got = rows_of(t, path, name), shown(db.execute(f'select * from "{name}" order by rowid'))
            if sorted(line for line in expected if line) != sorted(got):
                return f'{name}: {len(got)} lines, not {len(expected) - 1}; {got[:2]} {expected[:2]}'
        indexed = {row[0] for row in db.execute("select distinct tbl_name from sqlite_master where type = 'index'")}
        if indexed != set(names):
            return f'no index: {set(names) - indexed}'
        kinds = {row[0] for row in db.execute('select distinct event from events')}
    return '' if all(any(n.split(':')[-1] == kind for n in names) for kind in kinds) else f'{kinds} {names}'


def check_recordings(t, directory):
    for name, folder in harness.recordings().items():
        if t.sanitized and name not in SLOW:
            continue
        made, path = f'{directory}/{name}.db', f'{folder}/trace.dat'
        done = t.run(['export', '--to', 'sqlite', '-o', made, path], seconds=120)
        if done.trouble or done.status not in (0, 3, 4):
            t.fail(f'sqlite: {name}', done.trouble or done.err.decode())
            continue
        try:
            t.check(f'sqlite: {name}', wrong_tables(t, path, made))
        except (ValueError, sqlite3.Error) as error:
            t.fail(f'sqlite: {name}', error)


def check_losses(t, directory):
    """Next to a loss, too, rows are the same whether other events are read besides or not."""
    path, made = f'{directory}/lossy.dat', f'{directory}/lossy.db'
    for seed in range(LOSSY):
        rng = random.Random(seed)
        machine = lossy.Machine(rng, both=seed % 2 == 1)
        for _ in range(lossy.STEPS):
            machine.step()
        with open(path, 'wb') as file:
            file.write(mktrace.make(lossy.description(machine, rng, losses=8)))
        done = t.run(['export', '--to', 'sqlite', '-o', made, path])
        t.check(f'sqlite: losses {seed}', done.err.decode() if done.status else wrong_tables(t, path, made))


def check_choices(t, directory):
    made = f'{directory}/some.db'
    t.run(['export', '--to', 'sqlite', '-o', made, '-F', 'sched_switch', SAMPLE])
    with sqlite3.connect(made) as db:
        kinds = [row[0] for row in db.execute('select distinct event from events')]
        tables = {row[0] for row in db.execute("select name from sqlite_master where type = 'table'")}
    t.check('sqlite: a filter', '' if kinds == ['sched_switch'] and 'slices' in tables and 'sched_waking' not in tables
            else f'{kinds} {tables}')
    t.run(['export', '--to', 'sqlite', '-o', made, SAMPLE, SAMPLE])
    with sqlite3.connect(made) as db:
        both = [db.execute(f'select count(*) from "{name}"').fetchone()[0] for name in ('events', '2:events')]
    t.check('sqlite: two traces', '' if both[0] == both[1] > 0 else both)
    done = t.run(['export', '--to', 'sqlite', '-o', '-', SAMPLE])
    t.check('sqlite: refused: standard output', '' if done.status == 1 else done.status)
    before = sorted(os.listdir(directory))
    done = t.run(['export', '--to', 'sqlite', '-o', f'{directory}/none/x.db', SAMPLE])
    t.check('sqlite: refused: no folder', '' if done.status == 2 and sorted(os.listdir(directory)) == before else done.err)


ODD = """# tracer: nop
     x-5  [001] .... 1.000001: sqlite_x: a=1
     x-5  [001] .... 1.000002: Select: a=2
     x-5  [001] .... 1.000003: select: a=3
     x-5  [001] .... 1.000004: Events: a=4
     x-5  [001] .... 1.000005: slices: a=5
"""


def check_names(t, directory):
    with open(f'{directory}/odd.txt', 'w', encoding='ascii') as file:
        file.write(ODD)
    done = t.run(['export', '--to', 'sqlite', '-o', f'{directory}/odd.db', f'{directory}/odd.txt'])
    if done.status:
        t.fail('sqlite: odd names', done.err)
        return
    with contextlib.closing(sqlite3.connect(f'{directory}/odd.db')) as db:
        names = ['text:sqlite_x', 'text:Select', 'text:select 2', 'text:Events', 'text:slices']
        got = [db.execute(f'select a from "{name}"').fetchall() for name in names]
    t.check('sqlite: odd names', '' if got == [[(n,)] for n in range(1, 6)] else got)


def check(t):
    if b'SQLite' in t.run(['sql', SAMPLE, 'select 1']).err:
        t.skip('sqlite', 'built without SQLite')
        return
    with tempfile.TemporaryDirectory() as directory:
        check_recordings(t, directory)
        check_losses(t, directory)
        check_choices(t, directory)
        check_names(t, directory)
