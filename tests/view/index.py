# SPDX-License-Identifier: GPL-2.0-or-later
"""The index equals what brute force finds, over every recording and over traces made now; see view_check.c."""
import random
import sys
import tempfile

sys.path.insert(0, 'tests/tables')
import harness
import mktrace

TILES = 200
SLOW_TILES = 60  # by programs that check themselves


class Cpu:
    """What happens on a CPU: anything, and now and then in bursts."""

    def __init__(self, rng, cpu, strange):
        self.rng, self.cpu, self.strange = rng, cpu, strange
        self.ts, self.running, self.irqs, self.calls = 1_000_000 + cpu, 0, [], 0
        self.pace = 1000

    def line(self, text):
        self.ts += self.rng.randrange(self.pace)
        return f'{self.ts} {self.cpu} {self.running} {text}'

    def switch(self):
        task = self.rng.choice((0, 100, 101, 102, 103, 104))
        before, self.running = self.running, task
        state = self.rng.choice(('S', 'R', 'D', 'R+'))
        text = self.line(f'switch task{before}:{before} {state} task{task}:{task}').split(' ', 3)
        return f'{text[0]} {text[1]} {before} {text[3]}'

    def waking(self):
        task = self.rng.randrange(100, 106)
        return self.line(f'waking task{task}:{task} {self.cpu}')

    def irq(self):
        if self.irqs and (len(self.irqs) == 3 or self.rng.randrange(3)):
            return self.line(f'irq_handler_exit irq={self.irqs.pop()} ret=1')
        self.irqs.append(self.rng.randrange(1, 4))
        return self.line(f'irq_handler_entry irq={self.irqs[-1]} name=irq{self.irqs[-1]}')

    def softirq(self):
        return self.line(self.rng.choice(('softirq_entry', 'softirq_exit')) + ' vec=1')

    def syscall(self):
        return self.line(self.rng.choice(('sys_enter', 'sys_exit')) + f' id={self.rng.randrange(3)}')

    def frequency(self):
        return self.line(f'cpu_frequency state={self.rng.randrange(1, 5) * 100000} cpu_id={self.rng.choice((self.cpu, 1))}')

    def call(self):
        if self.calls and self.rng.randrange(2):
            self.calls -= 1
            return self.line(f'funcgraph_exit func=0x{self.calls + 1:x} depth={self.calls}')
        self.calls += 1
        return self.line(f'funcgraph_entry func=0x{self.calls:x} depth={self.calls - 1}')

    def strange_line(self):
        if self.rng.randrange(2):
            return f'{self.ts} {self.cpu} lost {self.rng.choice(("", "7"))}'.strip()
        self.ts -= self.rng.randrange(min(self.ts - 1_000_000, 100_000) or 1)
        return f'{self.ts} {self.cpu} page'

    def lines(self, n):
        for _ in range(n):
            if not self.rng.randrange(300):
                self.pace = self.rng.choice((3, 50, 1000, 30_000))
            if self.strange and not self.rng.randrange(500):
                yield self.strange_line()
            if not self.rng.randrange(4000):
                self.ts += 50_000_000
            yield self.rng.choices((self.switch, self.waking, self.irq, self.softirq, self.syscall, self.call,
                                    self.frequency), (40, 20, 8, 8, 12, 10, 1))[0]()


MADE = {  # CPUs, events of each, whether times run backwards and events are lost
    'few': ((0, 1), 500, False),
    'many': ((0, 1, 2), 30_000, False),
    'strange': ((0, 1), 8000, True),
    'without a CPU': ((0, 3), 3000, True),
}


def made(directory):
    """{name: path}"""
    traces = {}
    for seed, (name, (cpus, events, strange)) in enumerate(MADE.items()):
        rng = random.Random(seed)
        lines = [line for cpu in cpus for line in Cpu(rng, cpu, strange).lines(events)]
        traces[name] = f'{directory}/{name}.dat'
        with open(traces[name], 'wb') as file:
            file.write(mktrace.make(lines))
    return traces


def check(t):
    program = f'{t.build}/tests/view/view_check'
    tiles = str(SLOW_TILES if 'asan' in t.build else TILES)
    with tempfile.TemporaryDirectory() as directory:
        traces = {name: f'{path}/trace.dat' for name, path in harness.recordings().items()}
        traces.update(made(directory))

        def verdict(name):
            result = harness.run([program, traces[name], str(len(name)), tiles], memory=None, seconds=240)
            return result.trouble or (result.status and (result.out + result.err).decode(errors='replace')[:400])

        for name, why in zip(traces, harness.parallel(verdict, traces)):
            t.check(f'index: {name}', why)
