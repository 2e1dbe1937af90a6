# SPDX-License-Identifier: GPL-2.0-or-later
"""No command replaces a recording that neither -o nor --force names.

A row of PLACES is a command line that would write to the file NAME, which "{}" stands for, and what
adds to it that the file may be replaced. Every kind of recording is put there in turn.
"""
import os
import pty
import re
import shutil
import struct
import subprocess
import tempfile

import harness

TEXT = ('# tracer: nop\n#\n'
        '            bash-1977    [000] .... 17284.993652: sys_close: fd 3\n')

# name: (the file, the command line, what it needs to replace it or None where nothing does)
# Where that begins with "-o", it stands for the file's place in the command line.
PLACES = {
    'view-svg': ('mine', ['view', '--svg', '{}'], ['--force']),
    'view-svg=': ('mine', ['view', '--svg={}'], ['--force']),
    'view-svg-file': ('mine', ['view', '--svg', '{}', 'trace.dat'], ['--force']),
    'view-png': ('mine', ['view', '--png', '{}'], ['--force']),
    'view-png=': ('mine', ['view', '--png={}', 'trace.dat'], ['--force']),
    'view-html': ('mine', ['view', '--html', '{}'], ['--force']),
    'view-html=': ('mine', ['view', '--html={}', 'trace.dat'], ['--force']),
    'diff-html': ('mine', ['diff', '--html', '{}', 'trace.dat', 'trace.dat'], ['--force']),
    'diff-html=': ('mine', ['diff', '--html={}', 'trace.dat', 'trace.dat'], ['--force']),
    'convert': ('mine', ['convert', '{}'], ['-o']),
    'convert-i': ('mine', ['convert', '-i', 'trace.dat', '{}'], ['--force']),
    'convert--': ('mine', ['convert', '--file-version', '6', '--', '{}'], None),
    'convert-self': ('mine', ['convert', '-i', '{}', '{}'], None),
    'import': ('given.dat', ['import', 'given.txt'], ['-o', '{}']),
    'import-force': ('given.dat', ['import', 'given.txt'], ['--force']),
    'import-stdin': ('trace.dat', ['import', '-'], None),
    'export-sqlite': ('trace.db', ['export', '--to', 'sqlite'], ['--force']),
    'export-sqlite-o': ('trace.db', ['export', '--to', 'sqlite'], ['-o', '{}']),
    'export-parquet': ('trace.parquet', ['export', '--to', 'parquet'], None),
    'export-ctf': ('trace.ctf', ['export', '--to', 'ctf'], None),
    'export-json': ('trace.jsonl', ['export', '--to', 'json'], ['--force']),
    'export-chrome': ('trace.json', ['export', '--to', 'chrome'], ['-o', '{}']),
    'split': ('trace.dat.1', ['split', '-e', '5'], ['--force']),
    'split-o': ('trace.dat.1', ['split', '-e', '5'], ['-o', '{}']),
    'split-r': ('trace.dat.0001', ['split', '-r', '-e', '500'], ['--force']),
    'split-r-o': ('mine.0001', ['split', '-r', '-e', '500', '-o', 'mine'], ['--force']),
    'restore': ('trace.dat', ['restore', '-i', 'formats', 'lost.cpu0'], ['-o', '{}']),
    'restore-c': ('trace-partial.dat', ['restore', '-c', '-t', 'tracing'], None),
    'extract': ('trace.dat', ['extract'], None),
    'flame': ('flame.svg', ['flame', 'stacks'], ['-o', '{}']),
    'sql': ('mine', ['sql', 'trace.dat', '.output {}'], None),
}
ON_A_TERMINAL = ('export-json', 'export-chrome', 'flame')  # what else goes to standard output

# Commands that write only what -o names, and record: it replaces trace.dat, as trace-cmd does.
NAMED_ONLY = {'record', 'profile', 'script', 'tool', 'calls'}


def write(path, data):
    with open(path, 'wb') as file:
        file.write(data)


def make_kinds(t, trace, directory):
    """{kind: path} of something that spur opens."""
    whole = open(trace, 'rb').read()
    kinds = {'trace.dat': trace}
    for name, data in [('cut.dat', whole[:len(whole) // 2]), ('kernel.txt', TEXT.encode()),
                       ('perf.data', b'PERFILE2' + struct.pack('<Q', 16))]:
        kinds[name] = f'{directory}/{name}'
        write(kinds[name], data)
    for name in ('ctf', 'parquet'):
        kinds[name] = f'{directory}/{name}'
        result = t.run(['export', '-q', '--to', name, '-o', kinds[name], trace], seconds=60)
        assert result.status == 0, result
    found = [os.path.join(d, f) for d, _, files in os.walk(kinds['parquet']) for f in files]
    kinds['one.parquet'] = sorted(found)[0]
    return kinds


def put(kind, path):
    if os.path.isdir(kind):
        shutil.copytree(kind, path)
    else:
        shutil.copy(kind, path)


def contents(path):
    """All bytes of a file or folder."""
    if not os.path.isdir(path):
        return {'': open(path, 'rb').read()}
    return {os.path.relpath(os.path.join(d, f), path): open(os.path.join(d, f), 'rb').read()
            for d, _, files in os.walk(path) for f in files}


def start(t, argv, directory, terminal, stdin=None):
    """Status and text."""
    env = dict(os.environ, LC_ALL='C', TERM='dumb', **harness.SANITIZER_ENV)
    if not terminal:
        done = subprocess.run([t.spur, *argv], cwd=directory, env=env, capture_output=True, timeout=120,
                              input=stdin)
        return done.returncode, (done.stdout + done.stderr).decode(errors='replace')
    above, below = pty.openpty()
    child = subprocess.Popen([t.spur, *argv], cwd=directory, env=env, stdin=subprocess.DEVNULL,
                             stdout=below, stderr=below)
    os.close(below)
    text = b''
    while True:
        try:
            more = os.read(above, 65536)
        except OSError:
            more = b''
        if not more:
            break
        text += more
    os.close(above)
    return child.wait(), text.decode(errors='replace')


def prepare(trace, directory):
    shutil.copy(trace, f'{directory}/trace.dat')
    shutil.copy(trace, f'{directory}/formats')
    write(f'{directory}/given.txt', TEXT.encode())
    write(f'{directory}/lost.cpu0', b'')
    write(f'{directory}/stacks', b'main;work 5\n')
    os.makedirs(f'{directory}/tracing/events')


def remove(path):
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.remove(path)


def refused(t, name, kind, trace):
    """'' when the command has left the recording alone and said why."""
    file, argv, _ = PLACES[name]
    with tempfile.TemporaryDirectory() as directory:
        prepare(trace, directory)
        path = f'{directory}/{file}'
        remove(path)
        put(kind, path)
        before, around = contents(path), set(os.listdir(directory))
        argv = [a.replace('{}', file) for a in argv]
        status, text = start(t, argv, directory, name in ON_A_TERMINAL, TEXT.encode())
        if contents(path) != before:
            return f'{" ".join(argv)}: has changed it (status {status})'
        if status in (0, harness.SANITIZER_STATUS) or status < 0:
            return f'{" ".join(argv)}: status {status}: {text[:200]}'
        if file not in text:
            return f'{" ".join(argv)}: says {text[:200]!r}'
        if set(os.listdir(directory)) != around:
            return f'{" ".join(argv)}: left {set(os.listdir(directory)) - around}'
    return ''


def replaced(t, name, trace):
    """'' when the same command replaces it after -o or --force."""
    file, argv, more = PLACES[name]
    with tempfile.TemporaryDirectory() as directory:
        prepare(trace, directory)
        path = f'{directory}/{file}'
        if not os.path.exists(path):
            shutil.copy(trace, path)
        before = contents(path)
        argv = argv[:1] + more + argv[1:]
        argv = [a.replace('{}', file) for a in argv]
        status, text = start(t, argv, directory, name in ON_A_TERMINAL, TEXT.encode())
        if name == 'restore':  # no page, no trace: what matters is that it got as far
            return '' if 'is a recording' not in text else text
        if status != 0 or contents(path) == before:
            return f'{" ".join(argv)}: status {status}: {text[:200]}'
    return ''


def writers(t):
    """Commands with an option that names a file to write."""
    found = set()
    for command in re.findall(r'^  (\S+)', t.run(['--help']).out.decode(), re.M):
        text = t.run([command, '--help']).out.decode()
        if re.search(r'^  -o[ ,].*(FILE|OUT)|^ +--\w+=(FILE|OUT) +write', text, re.M):
            found.add(command)
    return found


def check(t, trace):
    with tempfile.TemporaryDirectory() as directory:
        kinds = make_kinds(t, trace, directory)
        if t.sanitized:
            kinds = {n: kinds[n] for n in ('trace.dat', 'kernel.txt', 'parquet')}
        for name in PLACES:
            troubles = [f'{kind}: {why}' for kind, path in kinds.items() if (why := refused(t, name, path, trace))]
            if PLACES[name][2] and not t.sanitized:
                troubles += [why for why in [replaced(t, name, trace)] if why]
            t.check(f'spared-{name}', '; '.join(troubles)[:600])
    tried = {argv[0] for _, argv, _ in PLACES.values()}
    t.check('spared-every-command', ' '.join(sorted(writers(t) - tried - NAMED_ONLY)))
