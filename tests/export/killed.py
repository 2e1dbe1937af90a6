# SPDX-License-Identifier: GPL-2.0-or-later
"""What an export leaves that is killed: nothing or the whole, and at most one hidden file or folder, which the
next one removes. Parquet has its own test, in parquet.py."""
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time

import harness

# What is written, and how; {} is the output.
WAYS = {
    'json': ['export', '-q', '--to', 'json', '-o', '{}'],
    'sqlite': ['export', '-q', '--to', 'sqlite', '-o', '{}'],
    'perfetto': ['export', '-q', '--to', 'perfetto', '-o', '{}'],
    'ctf': ['export', '-q', '--to', 'ctf', '-o', '{}'],
    'convert': ['convert', '--compression', 'zlib', '-o', '{}', '-i'],
}
ROUNDS = 8


def killed_rounds(t, way, trace, directory):
    argv = [t.spur] + [a.replace('{}', f'{directory}/out') for a in WAYS[way]] + [trace]
    start = time.monotonic()
    subprocess.run(argv, check=True)
    took = time.monotonic() - start
    chance, killed = random.Random(3), 0
    for _ in range(2 if t.sanitized else ROUNDS):
        shutil.rmtree(f'{directory}/out', ignore_errors=True)
        if os.path.exists(f'{directory}/out'):
            os.remove(f'{directory}/out')
        child = subprocess.Popen(argv)
        time.sleep(chance.random() * took)
        child.send_signal(signal.SIGKILL)
        killed += child.wait() == -signal.SIGKILL
        left = [n for n in os.listdir(directory) if n != 'out']
        if len(left) > 1:
            return f'{left} after {killed} kills'
    if not killed:
        return 'never killed in time'
    shutil.rmtree(f'{directory}/out', ignore_errors=True)
    # What one left that is no longer there is no other's business: a name that is not an output's.
    open(f'{directory}/.out.notes', 'w', encoding='utf-8').close()
    subprocess.run(argv, check=True)
    left = sorted(os.listdir(directory))
    return '' if left == ['.out.notes', 'out'] else f'{left} after a whole one'


def at_once(t, trace, directory):
    """One that is being written is not removed by others that write to the same place."""
    argv = [t.spur, 'convert', '-i', trace, '-o', f'{directory}/out']
    children = [subprocess.Popen(argv) for _ in range(8)]
    ends = [child.wait() for child in children]
    return '' if not any(ends) and os.listdir(directory) == ['out'] else f'{ends} {os.listdir(directory)}'


def check(t):
    with tempfile.TemporaryDirectory() as top:
        trace = f'{top}/in.dat'
        shutil.copy(f'{harness.recordings()["g-fgraph-events"]}/trace.dat', trace)
        for way in WAYS:
            os.mkdir(f'{top}/{way}')
            t.check(f'killed: {way}', killed_rounds(t, way, trace, f'{top}/{way}'))
        os.mkdir(f'{top}/at-once')
        t.check('killed: none at once', at_once(t, trace, f'{top}/at-once'))
