# SPDX-License-Identifier: GPL-2.0-or-later
"""JSON and CSV are what the report prints; and what all formats have in common: targets, settings, filters."""
import csv
import io
import json
import os
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
    with open('/dev/full', 'wb') as full:
        done = subprocess.run([t.spur, 'export', '--to', 'json', '-o', '-', SAMPLE], stdout=full, stderr=subprocess.PIPE,
                              check=False)
    t.check('lines: a full disk', '' if done.returncode == 2 and b'No space' in done.stderr else
            f'{done.returncode} {done.stderr}')


def check(t):
    check_report(t)
    check_filters(t)
    check_targets(t)
