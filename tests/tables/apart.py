#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Plays machines that are recorded in several buffers, and holds the tables against oracle_sched.py:

    tests/tables/apart.py BUILD ROUNDS [SEED]

Every event is in one of the buffers, a switch in all of those that have switches. Some switches are hidden, some events
lost, some buffers begin late or end early, have another clock, a filter or no data of a CPU, and of some machines only a few
tasks are followed. A range of time must give the rows that all rows have in it.
"""
import random
import subprocess
import sys
import tempfile

import mktrace

STEPS = 120
NOTHING_TO_SAY = 77


class Machine:
    """What happens, and the lines of a description by buffer."""

    def __init__(self, rng):
        self.rng, self.now = rng, 1000
        self.cpus, self.tasks = rng.randint(1, 3), rng.randint(2, 5)
        self.buffers = ['', 'b1', 'b2'][:rng.randint(2, 3)]
        self.lines = {b: [] for b in self.buffers}
        self.switches = {b for b in self.buffers if rng.random() < 0.4} or {rng.choice(self.buffers)}
        self.hidden, self.lossy = rng.choice([0, 0, 0.1, 0.3]), rng.choice([0, 0, 0.03])
        # The oracle knows losses by the times of events behind them, which must differ then.
        self.ties = 0 if self.lossy else rng.choice([0, 0, 0.2])
        short = rng.random() < 0.5
        self.window = {b: (rng.randint(0, 15), rng.randint(50, STEPS)) if short else (0, STEPS) for b in self.buffers}
        self.missing = {(b, cpu) for b in self.buffers for cpu in range(self.cpus) if rng.random() < 0.08}
        self.runs, self.since = [0] * self.cpus, [self.now] * self.cpus

    def put(self, buffer, cpu, step, text):
        first, last = self.window[buffer]
        if not first <= step <= last or (buffer, cpu) in self.missing:
            return
        if self.rng.random() < self.lossy:
            self.lines[buffer].append(f'0 {cpu} lost {self.rng.randint(1, 9)}')
        self.lines[buffer].append(f'{self.now} {cpu} {text}')

    def switch(self, cpu, step):
        rng, prev = self.rng, self.runs[cpu]
        self.now += 1
        new = rng.choice([p for p in range(self.tasks + 1) if p != prev and (not p or p not in self.runs)] or [prev])
        state = rng.choice(['S', 'R', 'R+', 'D']) if prev else 'R'
        for b in self.buffers:
            if new != prev and b in self.switches and rng.random() >= self.hidden:
                self.put(b, cpu, step, f'{prev}{rng.choice(["", "/d"])} switch t{prev}:{prev} {state} t{new}:{new}')
                self.now += rng.random() < 0.7
            elif rng.random() < 0.2:
                self.put(b, cpu, step, f'{prev}/d softirq_raise vec=2')
        self.runs[cpu], self.since[cpu] = new, self.now

    def step(self, step):
        rng, cpu, what = self.rng, self.rng.randrange(self.cpus), self.rng.random()
        buffer, pid = rng.choice(self.buffers), self.runs[cpu]
        self.now += 0 if rng.random() < self.ties else rng.randint(1, 50)
        if what < 0.35:
            self.switch(cpu, step)
        elif what < 0.5:
            whom = rng.choice([p for p in range(1, self.tasks + 2) if p not in self.runs])
            self.put(buffer, cpu, step, f'{pid}{rng.choice(["", "/d", "/h"])} waking t{whom}:{whom} {rng.randrange(self.cpus)}')
        elif what < 0.6 and pid:
            ran = rng.randint(0, self.now - self.since[cpu])
            self.put(buffer, cpu, step, f'{pid} sched_stat_runtime comm=t{pid} pid={pid} runtime={ran}')
        else:
            self.put(buffer, cpu, step, f'{pid} softirq_raise vec=1')

    def last(self, buffer, cpu):
        """The time of a CPU's last event in a buffer, 0: it has none."""
        events = [line.split() for line in self.lines[buffer]]
        return max((int(e[0]) for e in events if int(e[1]) == cpu), default=0)

    def description(self):
        rng, lines = self.rng, []
        for i in range(STEPS):
            self.step(i)
        if rng.random() < 0.2:
            lines.append(f'followed 0 {" ".join(str(p) for p in range(1, self.tasks + 1) if rng.random() < 0.6)}')
        for b in self.buffers:
            lines.append(f'buffer {b} {"mono" if b == self.buffers[-1] and rng.random() < 0.15 else ""}')
            lines += [f'cut {cpu} {self.last(b, cpu)} 0 5' for cpu in range(self.cpus) if rng.random() < 0.05]
            lines += ['filter sched:sched_switch prev_pid!=7'] * (rng.random() < 0.08) + self.lines[b]
        return lines


def complaints(build, path):
    dump = f'{build}/tests/tables/tables_dump'
    oracle = subprocess.run([sys.executable, 'tests/tables/oracle_sched.py', f'{build}/spur', dump, path],
                            capture_output=True, check=False)
    # Its errors tell of damage: such a recorder was killed.
    ranges = subprocess.run([dump, '-r', path], capture_output=True, check=False)
    wrong = (oracle.stdout + oracle.stderr + ranges.stdout).decode(errors='replace')
    if oracle.returncode not in (0, NOTHING_TO_SAY):
        wrong += f'oracle_sched.py ends with {oracle.returncode}\n'
    return wrong


def main():
    build, rounds = sys.argv[1], int(sys.argv[2])
    first = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 30)
    wrong = 0
    with tempfile.NamedTemporaryFile(suffix='.dat') as file:
        for seed in range(first, first + rounds):
            file.seek(0)
            file.truncate()
            file.write(mktrace.make(Machine(random.Random(seed)).description()))
            file.flush()
            text = complaints(build, file.name)
            if text:
                print(f'seed {seed}: {text}', end='')
                wrong += 1
    print(f'{rounds} machines, {wrong} complaints')


main()
