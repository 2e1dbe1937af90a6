# SPDX-License-Identifier: GPL-2.0-or-later
"""Pieces of a recording that was cut: those that reach the cut say so, the others are complete.

A new case is a line in CASES: how it is split, and what each piece says of its CPUs: buffer, CPU, the time of its last
event, events that are missing before and after it. None: the piece is complete.
"""
import json
import os
import sys
import tempfile

sys.path.insert(0, 'tests/tables')
import mktrace

# CPU 0 lacks 5 events after its last one, CPU 1 none, CPU 2 some, CPU 3 has no events and lacks 2.
TRACE = '''
cut 0 3000 7 5
cut 1 6000 0 0
cut 2 8000 0 18446744073709551615
cut 3 0 0 2
cut 0 4000 0 9 1
1000 0 1 cpu_frequency state=1
1500 1 2 cpu_frequency state=1
2000 2 3 cpu_frequency state=1
2500 0 lost 7
2500 0 1 cpu_frequency state=2
3000 0 1 cpu_frequency state=2
6000 1 2 cpu_frequency state=2
7000 2 3 cpu_frequency state=2
8000 2 3 cpu_frequency state=2
buffer other
1000 0 1 cpu_frequency state=1
4000 0 1 cpu_frequency state=1
'''
AT_3000 = ('', 0, 3000, 7, 5)
PAST_0, PAST_OTHER = ('', 0, 0, 0, None), ('other', 0, 0, 0, None)
AT_4000 = ('other', 0, 4000, 0, 9)
AT_END = [('', 2, 8000, 0, None), ('', 3, 0, 0, 2)]
CASES = {
    'all of it': ([], [[AT_3000, ('', 1, 6000, 0, 0), *AT_END, AT_4000]]),
    'before the cut of any CPU': (['0', '0.000002500'], [None]),
    'up to the cut of one CPU': (['0', '0.000003500'], [[AT_3000]]),
    'a loss before the cut that is in the piece before': (['0.000003000', '0.000003500'], [[('', 0, 3000, 0, 5)]]),
    'after the cut of one CPU': (['0.000006000', '0.000007000'], [[PAST_0, PAST_OTHER]]),
    'only a CPU that lacks nothing, up to its end': (['-C', '1'], [[('', 1, 6000, 0, 0)]]),
    'only a CPU that lacks nothing, before its end': (['-C', '1', '-e', '1'], [None]),
    'one buffer, under another name and in another place': (['-B', 'other', '-t'], [[('', 0, 4000, 0, 9)]]),
    'two pieces': (['-r', '-e', '6'], [[AT_3000], [PAST_0, ('', 1, 6000, 0, 0), *AT_END, AT_4000]]),
    'three pieces': (['-r', '-e', '4'], [None, [AT_3000, AT_4000], [PAST_0, *AT_END, PAST_OTHER]]),
}


def said(t, path):
    result = t.run(['info', '--quick', '--json', path])
    cut = json.loads(result.out).get('cut')
    if result.status != (0 if cut is None else 3):
        return f'status {result.status}'
    return cut and [(c['buffer'], c['cpu'], c['last'], c['lost_before'], c['lost_after']) for c in cut]


def check_case(t, path, folder, how, wanted):
    result = t.run(['split', '-q', '-i', path, '-o', f'{folder}/p', *how])
    if result.trouble or result.status != 3:
        return f'status {result.status}: {result.trouble or result.err}'
    got = [said(t, f'{folder}/{name}') for name in sorted(os.listdir(folder))]
    return '' if got == wanted else f'{got} instead of {wanted}'


def check(t):
    with tempfile.TemporaryDirectory() as folder:
        path = f'{folder}/t.dat'
        with open(path, 'wb') as file:
            file.write(mktrace.make(TRACE.split('\n')))
        for number, (name, (how, wanted)) in enumerate(CASES.items()):
            os.mkdir(f'{folder}/{number}')
            t.check(f'cut: {name}', check_case(t, path, f'{folder}/{number}', how, wanted))
