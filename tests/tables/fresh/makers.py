# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes recordings of this machine: $SPUR_FRESH of them, usually a few.

Loads and events vary from one to the next. Every other recording is all there is; of the rest some have only the events
of some tasks, some lost many, some have switches that passed a filter, some have no data of one CPU, and some recorders
were killed. Some have two buffers, one of which may have lost many, or have another clock.
"""
import os
import random
import signal
import struct
import subprocess
import time

USUAL = 4
LOADS = [
    'for i in $(seq 30); do (echo $i; sleep 0.001) | cat >/dev/null; done',
    'for i in $(seq 6); do dd if=/dev/zero bs=64k count=40 2>/dev/null | md5sum >/dev/null & done; wait',
    'i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); kill -0 $$; done',
    'for i in 1 2 3; do (for k in 1 2 3 4 5; do sleep 0.00$k; done) & done; wait',
    'for i in $(seq 20); do true; ls / >/dev/null; done',
    '(sleep 0.05 & sleep 0.02 & wait); find /usr/share/doc -maxdepth 1 | sort | head -3 >/dev/null',
]
EVENTS = [
    ['-e', 'sched'],
    ['-e', 'sched', '-e', 'task', '-e', 'irq', '-e', 'raw_syscalls'],
    ['-e', 'sched_switch', '-e', 'sched_waking', '-e', 'sched_wakeup_new'],
    ['-e', 'sched_switch', '-e', 'sched_wakeup', '-e', 'raw_syscalls'],
    ['-e', 'sched_switch', '-e', 'irq', '-e', 'kmem:kmalloc'],
]


class Maker:
    """Makes one recording."""

    def __init__(self, t, path, number):
        self.t, self.path, self.rng = t, path, random.Random(number)
        self.load, self.events = '; '.join(self.rng.sample(LOADS, 2)), self.rng.choice(EVENTS)

    def record(self, *options, events=None):
        """What went wrong, or ''."""
        argv = ['record', '-q', '-o', self.path, *options, *(events or self.events), 'sh', '-c', self.load + '; exec true']
        result = self.t.run(argv, seconds=60, output=1 << 30)
        return result.trouble or (result.status and result.err.decode(errors='replace')[:200]) or ''

    def all(self):
        return self.record()

    def command(self):
        return self.record('-F')

    def command_and_children(self):
        return self.record('-F', '-c')

    def pids(self):
        """Of a task that was there before."""
        with subprocess.Popen(['sh', '-c', f'while :; do {self.load}; done'], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, start_new_session=True) as other:
            try:
                return self.record('-P', str(other.pid), *(['-c'] if self.rng.randrange(2) else []))
            finally:
                os.killpg(other.pid, signal.SIGKILL)

    def losses(self):
        self.load = LOADS[2] + '; ' + self.load
        return self.record('-b', '8', '-s', '20000', events=['-e', 'sched', '-e', 'irq', '-e', 'raw_syscalls'])

    def losses_of_some(self):
        self.load = LOADS[2] + '; ' + self.load
        return self.record('-b', '8', '-s', '20000', '-F', '-c', events=['-e', 'sched', '-e', 'raw_syscalls'])

    def without_cpu(self):
        """One CPU's data are taken out of the file: its size becomes 0 in the table of a version 6."""
        why = self.record('--file-version', '6')
        if why:
            return why
        with open(self.path, 'r+b') as file:
            data = file.read()
            table = data.index(b'flyrecord\0', data.index(b'options  \0')) + 10
            sizes = {}
            while len(sizes) < 2:
                sizes[table + 16 * len(sizes) + 8] = struct.unpack_from('<Q', data, table + 16 * len(sizes) + 8)[0]
            file.seek(self.rng.choice(sorted(sizes)))
            file.write(bytes(8))
        return ''

    def filtered(self):
        tests = ['prev_pid != 0', 'next_pid > 1', 'prev_comm == "sh" || next_comm == "sh"']
        return self.record(events=['-e', 'sched_switch', '-f', self.rng.choice(tests), '-e', 'sched_waking', '-e', 'irq'])

    def buffers(self):
        """What the second one has is evidence for the first, unless its clock differs."""
        second = self.rng.choice([['-e', 'raw_syscalls'], ['-e', 'sched_switch', '-e', 'irq'], ['-b', '8', '-e', 'raw_syscalls'],
                                  ['-C', 'mono', '-e', 'raw_syscalls', '-e', 'irq']])
        return self.record(events=self.rng.choice(EVENTS) + ['-B', 'second', *second])

    def buffers_of_some(self):
        """The same of some tasks, whose switches have passed a filter or not."""
        test = self.rng.choice([[], ['-f', 'prev_pid != 0']])
        return self.record('-F', '-c', events=['-e', 'sched_switch', *test, '-B', 'second', '-e', 'raw_syscalls', '-e', 'irq'])

    def killed(self):
        argv = [f'{self.t.build}/spur', 'record', '-q', '-o', self.path, *self.events, 'sh', '-c', f'while :; do {self.load}; done']
        with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True) as recorder:
            wait_for(lambda: os.path.exists(self.path))
            time.sleep(0.5)
            recorder.kill()
            recorder.wait()
            try:
                os.killpg(recorder.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        return '' if wait_for(self.is_finished) else 'its file was not finished'

    def is_finished(self):
        """Whether what was left of a killed recorder has been saved."""
        result = self.t.run(['info', '--quick', '--json', self.path], seconds=30)
        return b'"cut":' in result.out


def wait_for(happens):
    for _ in range(400):
        if happens():
            return True
        time.sleep(0.05)
    return False


# Every other one is complete.
KINDS = [Maker.command_and_children, Maker.losses, Maker.without_cpu, Maker.filtered, Maker.pids, Maker.killed,
         Maker.command, Maker.losses_of_some, Maker.buffers, Maker.buffers_of_some]


def permitted():
    return os.geteuid() == 0 and os.path.exists('/sys/kernel/tracing/instances')


def recordings(t, directory):
    """{name: path}"""
    made = {}
    wanted = int(os.environ.get('SPUR_FRESH', USUAL))
    if not permitted():
        t.skip('fresh', 'this machine does not let itself be traced')
        return made
    # What is missing differs from run to run: a few a day see all of it in time.
    start = 0 if wanted >= 2 * len(KINDS) else int(time.time()) // 60
    for i in range(wanted):
        make = KINDS[(start + i // 2) % len(KINDS)] if i % 2 else Maker.all
        name = f'fresh-{i}-{make.__name__}'
        path = f'{directory}/{name}.dat'
        why = make(Maker(t, path, start + i))
        if why:
            t.fail(name, why)
        else:
            made[name] = path
    return made
