# SPDX-License-Identifier: GPL-2.0-or-later
"""What the benchmarks share: a trace to work on, and running programs with a stopwatch.

Timings on a shared machine are noise. Programs that are compared run alternately in one run, and the
medians are compared.
"""
import os
import re
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
WORK = os.path.join(os.path.dirname(HERE), 'build', 'bench')
EVENTS_WANTED = 3_000_000


def compiled(name):
    """A program of this folder."""
    os.makedirs(WORK, exist_ok=True)
    program = f'{WORK}/{name}'
    subprocess.run(['cc', '-O2', '-o', program, f'{HERE}/{name}.c'], check=True)
    return program


class Run:
    """One run of a program: wall clock and CPU seconds, peak memory in MB, exit status."""

    usage = None

    def __init__(self, argv, stdout=subprocess.DEVNULL):
        Run.usage = Run.usage or compiled('usage')
        result = f'{WORK}/usage.out'
        subprocess.run([Run.usage, result] + argv, check=True, stdin=subprocess.DEVNULL, stdout=stdout,
                       stderr=subprocess.DEVNULL)
        with open(result) as file:
            seconds, cpu, memory, status = file.read().split()
        self.seconds, self.cpu = float(seconds), float(cpu)
        self.memory, self.status = int(memory) / 1024, int(status)


def first_line(argv):
    """Seconds until a program has printed its first event (the line after "cpus=")."""
    start = time.monotonic()
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as child:
        child.stdout.readline()
        child.stdout.readline()
        seconds = time.monotonic() - start
        child.stdout.close()
        child.terminate()
    return seconds


def compare(commands, times=5):
    """Runs the commands in turn, `times` times each: {name: median Run}."""
    runs = {name: [] for name in commands}
    for _ in range(times):
        for name, argv in commands.items():
            runs[name].append(Run(argv))
    return {name: sorted(r, key=lambda run: run.seconds)[len(r) // 2] for name, r in runs.items()}


def median(values):
    return statistics.median(values)


class BufferSize:
    """Puts the kernel's buffer size back: trace-cmd leaves the one it was asked for."""

    FILE = '/sys/kernel/tracing/buffer_size_kb'

    def __enter__(self):
        if not os.path.exists(self.FILE):
            subprocess.run(['mount', '-t', 'tracefs', 'nodev', '/sys/kernel/tracing'], check=True)
        with open(self.FILE) as file:
            self.size = re.findall(r'\d+', file.read())[-1]  # "7 (expanded: 1408)"

    def __exit__(self, *_):
        with open(self.FILE, 'w') as file:
            file.write(self.size)


def record(path, calls):
    """Records a load on this machine with trace-cmd, as version 6."""
    load = compiled('load')
    subprocess.run([f'{HERE}/peer', 'trace-cmd', 'record', '--file-version', '6', '-b', '300000',
                    '-o', path, '-e', 'sched', '-e', 'raw_syscalls', load, str(calls)], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def traces():
    """The traces to measure with: (v6, v7 with zstd). Made once, kept below build/bench."""
    os.makedirs(WORK, exist_ok=True)
    v6, v7 = f'{WORK}/v6.dat', f'{WORK}/v7.dat'
    try:
        if not os.path.exists(v6):
            with BufferSize():
                record(v6 + '.new', 900_000)
            os.rename(v6 + '.new', v6)
        if not os.path.exists(v7):
            subprocess.run(['trace-cmd', 'convert', '-i', v6, '-o', v7 + '.new', '--file-version',
                            '7', '--compression', 'zstd'], check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
            os.rename(v7 + '.new', v7)
    except (OSError, subprocess.CalledProcessError) as why:
        sys.exit(f'cannot record a trace to measure with: {why}')
    return v6, v7
