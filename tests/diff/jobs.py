# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces of the same job, constructed: a control loop, work beside it, and what may be different.

A Job writes the lines of mktrace.py. Its loop is woken every `period` nanoseconds by a timer's interrupt and runs
after a latency that latency(i) says; a task called "beside" has the CPU until then when the latency is `long` or more.
"""
import random
import zlib


class Job:
    def __init__(self, seed, loops=1000, period=1000000, start=1000000000, pid=100, latency=None, reads=None,
                 long=10 ** 9, jitter=0, extra=(), name='loop'):
        self.random = random.Random(seed)
        self.loops, self.period, self.start, self.pid, self.name = loops, period, start, pid, name
        self.latency = latency or (lambda r, i: int(r.lognormvariate(9.2, 0.3)))
        self.reads = reads
        self.long, self.jitter, self.extra = long, jitter, extra
        self.latencies, self.periods, self.read_times = [], [], []

    def loop(self, i, ts):
        """One turn, which begins at that time."""
        loop, beside = f'{self.name}:{self.pid}', f'beside:{self.pid + 1}:120'
        latency = self.latency(self.random, i)
        run = ts + latency
        self.latencies.append(latency)
        yield f'{ts - 2000} 0 0/h irq_handler_entry irq=9 name=timer0'
        yield f'{ts} 0 0/h wakeup "{loop}" 0'
        yield f'{ts + 300} 0 0/h irq_handler_exit irq=9 ret=1'
        if latency >= self.long:
            yield f'{ts + 500} 0 0 switch swapper/0:0 R {beside}'
            yield f'{run} 0 {self.pid + 1} switch {beside} R+ "{loop}"'
        else:
            yield f'{run} 0 0 switch swapper/0:0 R "{loop}"'
        now = run + 1000
        if self.reads:
            took = self.reads(self.random)
            self.read_times.append(took)
            yield f'{now} 0 {self.pid} sys_enter_read fd=3'
            yield f'{now + took} 0 {self.pid} sys_exit_read ret=8'
            now += took + 1000
        yield f'{now} 0 {self.pid} switch "{loop}" S swapper/0:0'
        return run

    def lines(self):
        last = None
        for i in range(self.loops):
            ts = self.start + i * self.period + (self.random.randrange(self.jitter) if self.jitter else 0)
            run = yield from self.loop(i, ts)
            if last is not None:
                self.periods.append(run - last)
            last = run
        yield from self.extra


def stock(seed=1, **more):
    """Latencies around 10 us, and every 100th is of some hundred."""
    def latency(r, i):
        return 300000 + 1000 * (i // 100) if i % 100 == 7 else int(r.lognormvariate(9.2, 0.3))
    return Job(seed, latency=latency, long=100000, **more)


def rt(seed=2, **more):
    """Twice as long as a rule, but never long."""
    def latency(r, i):
        return min(90000, int(r.lognormvariate(9.9, 0.2)))
    return Job(seed, latency=latency, start=5000000000, pid=2000, **more)


def seed_of(text):
    return zlib.crc32(text.encode())
