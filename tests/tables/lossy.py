#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Plays a machine, records it with losses, and holds the tables against what happened:

    tests/tables/lossy.py TABLES_DUMP ROUNDS [SEED]

Tasks on a few CPUs are switched, call functions and the kernel, and are interrupted. What is true is
noted meanwhile. Then events are lost, some of one CPU at a time, and of what the tables say
- every row without an open end must have happened just so, and be there once;
- every row with one must have begun, or ended, when it says;
- without any loss everything that happened must be there;
- a range of time must give the rows that all rows have in it.
"""
import random
import subprocess
import sys
import tempfile

import mktrace

CPUS, TASKS, STEPS = 3, 6, 700
FUNCTIONS = [0xffffffff81000000 + 0x1000 * i for i in range(5)]
TABLES = ['syscalls', 'irqs', 'softirqs', 'calls', 'stacks', 'samples']


class Task:
    def __init__(self, pid):
        self.pid, self.cpu, self.frames, self.call, self.off, self.since = pid, None, [], None, 0, 0


class Machine:
    """What happens: lines of a description by CPU, and what is true of it."""

    def __init__(self, rng, both):
        self.rng, self.both, self.now, self.lines = rng, both, 1000, []
        self.tasks = [Task(100 + i) for i in range(TASKS)]
        self.idle = [Task(0) for _ in range(CPUS)]
        self.running = list(self.idle)
        self.irqs = [[] for _ in range(CPUS)]
        self.raised = [{} for _ in range(CPUS)]
        self.true = {table: [] for table in TABLES}
        self.ends = set()  # of calls, by their second event
        for cpu, task in enumerate(self.idle):
            task.cpu = cpu

    def put(self, cpu, what, context=''):
        self.now += self.rng.randint(1, 9000)
        self.lines.append((self.now, cpu, f'{self.running[cpu].pid}{context} {what}'))
        return self.now

    def begin_call(self, cpu, task):
        func = self.rng.choice(FUNCTIONS)
        ts = self.put(cpu, f'funcgraph_entry func={func} depth={len(task.frames)}')
        parent = task.frames[-1] if task.frames else None
        task.frames.append({'ts': ts, 'func': func, 'inner': 0, 'off': task.off, 'parent': parent})

    def end_call(self, cpu, task):
        f, depth = task.frames.pop(), len(task.frames)
        ts = self.put(cpu, '')
        dur = ts - f['ts']
        self.lines[-1] = (ts, cpu, f'{task.pid} funcgraph_exit func={f["func"]} depth={depth} '
                          f'calltime={f["ts"] + 7777} rettime={ts + 7777}')
        if f['parent']:
            f['parent']['inner'] += dur
        self.true['calls'].append({**f, 'dur': dur, 'pid': task.pid, 'depth': depth, 'self': dur - f['inner'],
                                   'off': task.off - f['off']})

    def enter(self, cpu, task):
        nr = self.rng.choice([0, 0, 257])
        name = {0: 'read', 257: 'openat'}[nr]
        ts = self.put(cpu, f'sys_enter id={nr}')
        if self.both:
            ts = self.put(cpu, f'sys_enter_{name} __syscall_nr={nr}')
        task.call = (ts, nr, name)

    def leave(self, cpu, task):
        (begin, nr, name), task.call = task.call, None
        ret = self.rng.randint(0, 1 << 40)
        end = self.put(cpu, f'sys_exit id={nr} ret={ret}')
        if self.both:
            self.ends.add((task.pid, nr, self.put(cpu, f'sys_exit_{name} __syscall_nr={nr} ret={ret}')))
        self.true['syscalls'].append({'ts': begin, 'dur': end - begin, 'pid': task.pid, 'nr': nr, 'ret': ret})

    def switch(self, cpu):
        prev = self.running[cpu]
        waiting = [t for t in self.tasks if t.cpu is None] + ([self.idle[cpu]] if prev.pid else [])
        if not waiting:
            return
        task = self.rng.choice(waiting)
        self.now += 3000  # a switch takes its time
        ts = self.put(cpu, f'switch a:{prev.pid} S b:{task.pid}')
        prev.since, prev.cpu = ts, cpu if not prev.pid else None
        self.running[cpu], task.cpu = task, cpu
        task.off += ts - task.since if task.since else 0

    def interrupt(self, cpu):
        if len(self.irqs[cpu]) < 3 and self.rng.random() < .5:
            nr = self.rng.randint(0, 2) + 10 * len(self.irqs[cpu])
            self.irqs[cpu].append((self.put(cpu, f'irq_handler_entry irq={nr} name=n{nr}', '/h'), nr))
        elif self.irqs[cpu]:
            begin, nr = self.irqs[cpu].pop()
            end = self.put(cpu, f'irq_handler_exit irq={nr} ret=1', '/h')
            self.true['irqs'].append({'ts': begin, 'dur': end - begin, 'cpu': cpu, 'irq': nr})

    def softirq(self, cpu):
        vec = self.rng.randint(0, 4)
        if self.rng.random() < .5:
            ts = self.put(cpu, f'softirq_raise vec={vec}', '/h')
            self.raised[cpu].setdefault(vec, ts)
            return
        begin = self.put(cpu, f'softirq_entry vec={vec}', '/s')
        raised = self.raised[cpu].pop(vec, None)
        end = self.put(cpu, f'softirq_exit vec={vec}', '/s')
        self.true['softirqs'].append({'ts': begin, 'dur': end - begin, 'cpu': cpu, 'vec': vec,
                                      'latency': begin - raised if raised else None})

    def stack(self, cpu):
        ts = self.put(cpu, 'cpu_frequency state=1')
        if self.rng.random() < .5:
            self.put(cpu, 'irq_handler_entry irq=99 name=x', '/h')
            end = self.put(cpu, 'irq_handler_exit irq=99 ret=1', '/h')
            begin = self.lines[-2][0]
            self.true['irqs'].append({'ts': begin, 'dur': end - begin, 'cpu': cpu, 'irq': 99})
        self.put(cpu, f'kernel_stack size=1 caller={self.rng.choice(FUNCTIONS)}')
        self.true['samples'].append({'ts': ts, 'cpu': cpu})

    def step(self):
        cpu = self.rng.randrange(CPUS)
        task = self.running[cpu]
        if self.irqs[cpu] or self.rng.random() < .1:
            return self.interrupt(cpu)
        what = self.rng.random()
        if what < .2:
            self.switch(cpu)
        elif what < .55:
            (self.end_call if task.frames and self.rng.random() < .5 or len(task.frames) > 6
             else self.begin_call)(cpu, task)
        elif what < .8 and task.pid:
            (self.leave if task.call else self.enter)(cpu, task)
        elif what < .9:
            self.softirq(cpu)
        else:
            self.stack(cpu)


def description(machine, rng, losses):
    """The lines that are left of what happened."""
    lost = {}
    for _ in range(losses):
        cpu = rng.randrange(CPUS)
        mine = [i for i, line in enumerate(machine.lines) if line[1] == cpu]
        first = rng.randrange(len(mine))
        for i in mine[first:min(first + rng.randint(1, 25), len(mine) - 1)]:
            lost[i] = True  # but the last one: what is lost behind it nobody can know
    gap, out = [False] * CPUS, ['uname x86_64', 'sym ffffffff81000000 f', 'sym ffffffffa0000000 end']
    for i, (ts, cpu, text) in enumerate(machine.lines):
        if i in lost:
            gap[cpu] = True
            continue
        if gap[cpu]:
            out.append(f'{ts} {cpu} lost')
            gap[cpu] = False
        out.append(f'{ts} {cpu} {text}')
    return out


def rows(dump, path, table, *span):
    out = subprocess.run([dump, path, table, *map(str, span)], check=True, capture_output=True).stdout.decode()
    names, *lines = [line.split('\t') for line in out.splitlines()]
    return [dict(zip(names, line)) for line in lines]


def number(text):
    return None if text == '-' else int(text)


KEYS = {'syscalls': ['pid', 'nr'], 'irqs': ['cpu', 'irq'], 'softirqs': ['cpu', 'vec'], 'calls': ['pid', 'depth']}


def wrong_call(row, true, by_id):
    """What is wrong with a call's other columns, where they say anything."""
    parent, around = true['parent'], by_id.get(row['parent_id'])
    if number(row['self']) not in (None, true['self']) or number(row['off_cpu']) not in (None, true['off']):
        return True
    if row['parent'] != '-' and not parent:
        return True
    return bool(around) and int(around['ts']) != parent['ts']


def check(table, got, machine, lossless):
    """Complaints about the rows of a table."""
    keys = KEYS[table]
    true, ended = {}, set(machine.ends)
    for item in machine.true[table]:
        name = tuple(item[k] for k in keys)
        true[name + (item['ts'], item['dur'])] = item
        ended.add(name + (item['ts'] + item['dur'],))
    still = {ts for ts, _, _ in machine.lines}
    seen = set()
    by_id = {row['id']: row for row in got} if table == 'calls' else {}
    for row in got:
        name = tuple(int(row[k]) for k in keys)
        if row['open'] == 'end':
            if int(row['ts']) not in still:
                yield f'{table}: begins when nothing did: {row}'
            continue
        key = name + (int(row['ts']), int(row['dur']))
        if row['open'] == 'start':
            if name + (key[-2] + key[-1],) not in ended:
                yield f'{table}: ends when nothing did: {row}'
            continue
        if key not in true or key in seen:
            yield f'{table}: never happened: {row}'
            continue
        seen.add(key)
        if table == 'softirqs' and number(row['latency']) not in (None, true[key]['latency']):
            yield f'{table}: another latency: {row}'
        if table == 'calls' and wrong_call(row, true[key], by_id):
            yield f'{table}: {row} but {true[key]}'
    if lossless and len(seen) != len(true):
        yield f'{table}: {len(true) - len(seen)} of {len(true)} are missing'


def check_ranges(dump, path, table, got, rng):
    times = [int(row['ts']) for row in got] or [0]
    for _ in range(3):
        since, until = sorted(rng.choice(times) + rng.randint(-2, 2) for _ in range(2))
        want = [row for row in got if since <= int(row['ts']) <= until]
        if sorted(map(str, rows(dump, path, table, since, until))) != sorted(map(str, want)):
            yield f'{table}: other rows from {since} to {until}'


def play(dump, seed):
    rng = random.Random(seed)
    losses = rng.choice([0, 1, 4])
    machine = Machine(rng, both=rng.random() < .5)
    for _ in range(STEPS):
        machine.step()
    with tempfile.NamedTemporaryFile(suffix='.dat') as file:
        file.write(mktrace.make(description(machine, rng, losses)))
        file.flush()
        for table in TABLES:
            got = rows(dump, file.name, table)
            if table in KEYS:
                yield from check(table, got, machine, not losses)
            elif table == 'samples':
                known = {(s['ts'], s['cpu']) for s in machine.true[table]}
                yield from (f'{table}: never happened: {row}' for row in got
                            if row['event'] != '-' and (int(row['ts']), int(row['cpu'])) not in known)
            yield from check_ranges(dump, file.name, table, got, rng)


def main():
    dump, rounds, first = sys.argv[1], int(sys.argv[2]), int((sys.argv + ['1'])[3])
    wrong = 0
    for seed in range(first, first + rounds):
        for complaint in play(dump, seed):
            wrong += 1
            if wrong <= 5:
                print(f'seed {seed}: {complaint}')
    print(f'{rounds} machines, {wrong} complaints')


if __name__ == '__main__':
    main()
