# SPDX-License-Identifier: GPL-2.0-or-later
"""JSON and CSV are what the report prints; and what all formats have in common: targets, settings, filters."""
import contextlib
import csv
import io
import json
import os
import shutil
import sqlite3
import subprocess
import tempfile

import harness

SAMPLE = 'data/sample.dat'


def check_report(t):
    for name, folder in harness.recordings().items():
        path = f'{folder}/trace.dat'
        for form in ('json', 'csv'):
            ours = t.run(['export', '--to', form, '-o', '-', path])
            report = t.run(['report', f'--{form}', path])
            t.check(f'lines: {form} of {name}', ours.trouble or ('' if ours.out == report.out else 'differs from the report'))


# What the report takes, of a recording.
CHOICES = [
    ('g-stacktrace-v7', ['-F', 'sched_switch']),  # with its stacks
    ('g-stacktrace-v7', ['-v', '-F', 'sched_switch']),
    ('g-stacktrace-v7', ['--until', '29.457']),
    ('g-all-events', ['--until', '0']),
    ('g-all-events', ['--pid', '0']),
    ('g-all-events', ['-I']),
    ('g-all-events', ['-S']),
    ('g-all-events', ['--comm', '<idle>', '--cpu', '1']),
    ('g-all-events', ['-F', 'sched_switch: prev_pid == 0', '-F', 'irq_*']),
]


def check_choices(t):
    for name, args in CHOICES:
        path = f'{harness.recordings()[name]}/trace.dat'
        report = t.run(['report', '--json', *args, path])
        every = t.run(['report', '--json', path]).out.count(b'\n')
        ours = t.run(['export', '--to', 'json', '-o', '-', *args, path])
        differs = ours.out != report.out or report.out.count(b'\n') >= every
        with tempfile.TemporaryDirectory() as directory:
            done = t.run(['export', '--to', 'sqlite', '-o', f'{directory}/db', *args, path])
            with contextlib.closing(sqlite3.connect(f'{directory}/db')) as db:
                rows = db.execute('select count(*) from events').fetchone()[0]
        t.check(f'lines: as the report: {" ".join(args)} of {name}', ours.trouble or done.trouble or
                ('differs' if differs else '' if rows == report.out.count(b'\n') else f'{rows} rows in sqlite'))


def check_filters(t):
    done = t.run(['export', '--to', 'json', '-o', '-', '-F', 'sched_switch', SAMPLE])
    events = {json.loads(line)['event'] for line in done.out.split(b'\n') if line}
    t.check('lines: a filter', '' if events == {'sched_switch'} else events)
    every = [json.loads(line) for line in t.run(['export', '--to', 'json', '-o', '-', SAMPLE]).out.split(b'\n') if line]
    middle = every[len(every) // 2]['ts']
    late = t.run(['export', '--to', 'csv', '-o', '-', '--since', f'{middle}ns', '--cpu', '0', SAMPLE]).out.decode()
    rows = list(csv.DictReader(io.StringIO(late)))
    wanted = sum(e['ts'] >= middle and e['cpu'] == 0 for e in every)
    t.check('lines: a range and CPUs', '' if len(rows) == wanted > 0 else f'{len(rows)}, not {wanted}')
    both = t.run(['export', '--to', 'json', '-o', '-', SAMPLE, '-i', SAMPLE]).out.count(b'\n')
    t.check('lines: several files', '' if both == 2 * len(every) else both)


def check_places(t):
    """What is exported is not written over; devices and pipes are written to."""
    with tempfile.TemporaryDirectory() as directory:
        mine = f'{directory}/mine.dat'
        shutil.copy(SAMPLE, mine)
        os.symlink(mine, f'{directory}/link')
        with open(mine, 'rb') as file:
            before = file.read()
        for form, out in (('json', mine), ('sqlite', f'{directory}/link'), ('perfetto', f'{directory}/../{os.path.basename(directory)}/mine.dat')):
            done = t.run(['export', '--to', form, '-o', out, mine])
            with open(mine, 'rb') as file:
                same = file.read() == before
            t.check(f'lines: {form} spares what it is made of', '' if done.status == 1 and same and b'name another' in done.err
                    else f'{done.status} {done.err}')
        t.run(['export', '--to', 'ctf', '-o', f'{directory}/folder', mine])
        done = t.run(['export', '--to', 'sqlite', f'{directory}/folder/'])
        t.check('lines: a name beside a folder', '' if done.status == 0 and os.path.exists(f'{directory}/folder.db') else done.err)
        shutil.copy(SAMPLE, f'{directory}/-')
        done = t.run(['export', '--to', 'json', '-o', '-', '-i', '-'], cwd=directory)
        t.check('lines: a file called as standard output', '' if done.status == 0 and done.out else done.err)
        done = t.run(['export', '--to', 'json', '-o', '/dev/null', mine])
        t.check('lines: a device', '' if done.status == 0 else done.err)
        os.mkfifo(f'{directory}/fifo')
        with subprocess.Popen(['cat', f'{directory}/fifo'], stdout=subprocess.PIPE) as cat:
            done = t.run(['export', '--to', 'json', '-o', f'{directory}/fifo', mine])
            if done.status:
                cat.kill()
            got = cat.stdout.read()
        t.check('lines: a pipe with a name', '' if done.status == 0 and got == t.run(['export', '--to', 'json', '-o', '-', mine]).out
                else f'{done.status} {done.err}')


def check_targets(t):
    with tempfile.TemporaryDirectory() as directory:
        path = f'{directory}/out.jsonl'
        done = t.run(['export', '--to', 'json', '-o', path, SAMPLE])
        t.check('lines: a file', '' if done.status == 0 and not done.out and os.listdir(directory) == ['out.jsonl'] else
                f'{done.status} {os.listdir(directory)}')
        for name, args, status, words in (
                ('no format', [SAMPLE], 1, '--to'),
                ('an unknown format', ['--to', 'jsno', SAMPLE], 1, "'json'"),
                ('an unknown setting', ['--to', 'json', '-O', 'a=b', SAMPLE], 1, "'a'"),
                ('a setting without a value', ['--to', 'json', '-O', 'a', SAMPLE], 1, 'NAME=VALUE'),
                ('a trace that is not there', ['--to', 'json', f'{directory}/none'], 2, 'No such file'),
                ('a folder that is not there', ['--to', 'json', '-o', f'{directory}/none/x', SAMPLE], 2, 'No such file')):
            done = t.run(['export', *args])
            t.check(f'lines: refused: {name}', '' if done.status == status and words in done.err.decode() else
                    f'{done.status} {done.err.decode()}')
    check_places(t)
    with open('/dev/full', 'wb') as full:
        done = subprocess.run([t.spur, 'export', '--to', 'json', '-o', '-', SAMPLE], stdout=full, stderr=subprocess.PIPE,
                              check=False)
    t.check('lines: a full disk', '' if done.returncode == 2 and b'No space' in done.stderr else
            f'{done.returncode} {done.stderr}')


def check(t):
    check_report(t)
    check_choices(t)
    check_filters(t)
    check_targets(t)
