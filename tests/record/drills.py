# SPDX-License-Identifier: GPL-2.0-or-later
"""kill -9 at random moments, of the recorder, of its guardian, of both.

The load (calls.c) numbers its calls, so it is known what a recording should have: the numbers from 0 to
the last one in the file, but for those that the file says are lost. SPUR_DRILLS=N makes N rounds of each
drill instead of a few.
"""
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import time

ROUNDS = int(os.environ.get('SPUR_DRILLS', '4'))
CALLS = ['-q', '-F', '-e', 'sys_enter_lseek']
KINDS = [[], ['--compression', 'zstd'], ['--file-version', '6'], ['-s', '1000'], ['--rotate', '2M'], ['--flight']]


class Drill:
    """A recording of the numbered calls that will be interrupted."""

    def __init__(self, lib, t, where, options):
        self.lib, self.t, self.where, self.options = lib, t, where, options
        os.mkdir(where)
        self.counter = f'{where}/count'
        self.recording = lib.Recording(t, where, CALLS + options,
                                       [os.path.join(t.build, 'tests/record/calls'), self.counter])

    def count(self):
        """How many calls the load has made."""
        try:
            with open(self.counter, 'rb') as file:
                return struct.unpack('=Q', file.read(8))[0]
        except (OSError, struct.error):
            return 0

    def guardians(self):
        """Processes of the recorder that watch it."""
        pid = self.recording.child.pid
        found = []
        try:
            with open(f'/proc/{pid}/task/{pid}/children', encoding='ascii') as file:
                children = file.read().split()
            for child in children:
                with open(f'/proc/{child}/comm', encoding='ascii') as file:
                    if file.read() == 'spur-guard\n':
                        found.append(int(child))
        except OSError:
            pass
        return found

    def running(self):
        """Waits until calls are being made, which is after the recording has begun."""
        return self.lib.wait_for(lambda: self.count() > 1000 or self.recording.child.poll() is not None, 60)

    def files(self):
        """The files of the recording, in their order."""
        names = [n for n in os.listdir(self.where) if n.startswith('trace.dat')]
        return [f'{self.where}/{n}' for n in sorted(names, key=lambda n: int(n[10:] or 0))]

    def finished(self, path):
        """Whether nobody works on the file any more."""
        result = self.t.run(['info', '--quick', '-i', path], seconds=60)
        return not result.trouble and b'was not finished' not in result.err

    def compare(self, atleast, cut):
        """'' when the files have all calls but those they say are lost, and at least so many."""
        numbers = lost = after = 0
        last = -1
        paths = self.files()
        for path in paths:
            result = self.t.run(['info', '--json', '-i', path], seconds=120)
            said = result.err.decode()
            is_cut = cut and path == paths[-1]
            if result.trouble or result.status != (3 if is_cut else 0):
                return f'{path}: {result.trouble or result.status}: {said}'
            if is_cut and (said.count('\n') != 1 or 'the recorder was killed' not in said):
                return f'{path}: said {said!r}'
            if is_cut and shutil.which('trace-cmd'):
                other = subprocess.run(['trace-cmd', 'report', '-i', path], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.PIPE, check=False)
                if other.returncode or other.stderr:
                    return f'{path}: trace-cmd: {other.returncode}: {other.stderr}'
            info = json.loads(result.out)
            if info['gaps']:
                return f'{path}: an unknown number is lost'
            lost += info['lost']
            after += sum(cpu['lost_after'] for cpu in info.get('cut', []))
            rows = self.t.run(['sql', '--json', path, 'SELECT count(*) AS n, '
                               'max(offset) AS last FROM sys_enter_lseek'], seconds=120)
            row = json.loads(rows.out)
            row = row[0] if isinstance(row, list) else row
            numbers += row['n']
            if row['n']:
                last = max(last, row['last'])
        missing = last + 1 - numbers
        if missing != lost:
            return f'{numbers} calls up to number {last}, so {missing} are missing, but {lost} are said to be lost'
        if last + 1 + after < atleast:
            return f'{atleast} calls were made, the files know of {last + 1 + after}'
        return ''

    def end(self):
        self.recording.end_command()


def kernel_restored(lib, before, seconds=20):
    if lib.wait_for(lambda: lib.state() == before, seconds):
        return ''
    return f'tracefs is not as before: {[k for k in before if lib.state()[k] != before[k]]}'


def recorder(lib, t, drill, before):
    """The guardian saves what is left, and says what is not there."""
    made = drill.count()
    drill.recording.child.send_signal(signal.SIGKILL)
    drill.recording.child.wait()
    wrong = kernel_restored(lib, before)
    if wrong:
        return wrong
    if not lib.wait_for(lambda: drill.files() and all(drill.finished(f) for f in drill.files()), 20):
        return f'no finished files: {drill.files()}'
    return drill.compare(made, True)


def rounds(lib, what):
    def test(t, where):
        draw = random.Random(3)
        for i in range(ROUNDS):
            options = KINDS[i % len(KINDS)]
            before = lib.state()
            drill = Drill(lib, t, f'{where}/{i}', options)
            try:
                if not drill.running() or drill.recording.child.poll() is not None:
                    return f'number {i} {options}: does not start'
                time.sleep(draw.uniform(0, 0.4))
                wrong = what(lib, t, drill, before)
            finally:
                drill.end()
            if wrong:
                return f'number {i} {options}: {wrong}'
            shutil.rmtree(drill.where)
        return ''
    return test


def tests(lib):
    return {
        'kill -9 of the recorder': rounds(lib, recorder),
    }
