# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of `spur view` in a browser: Debian's Chromium, driven by page/run.mjs through playwright-core.

The traces are made here, so that what must be seen is known. The cases are in page/*.mjs; a case says
which trace it looks at. playwright-core comes from npm (tests/npm.py).
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(1, 'tests/tables')
sys.path.insert(1, 'tests/guest')
import kernels
import mktrace
from npm import npm_folder
from server import Server

PLAYWRIGHT = 'playwright-core@1.65.0'
PATIENCE = 900

# alpha wakes beta, beta wakes gamma, which reads, is interrupted, and goes. Then events are lost.
STORY = '''
comm 100 alpha
comm 101 beta
comm 102 gamma
comm 103 <b>evil</b>
comm 104 busy
1000000 0 0     switch swapper/0:0 R alpha:100
1000000 1 0     cpu_frequency state=1200000 cpu_id=1
1000000 1 0     switch swapper/1:0 R beta:101
1100000 1 101   switch beta:101 S gamma:102
1200000 1 102   switch gamma:102 S swapper/1:0
2000000 0 100   waking beta:101 1
2001000 0 100   wakeup beta:101 1
2500000 1 0     switch swapper/1:0 R beta:101
3000000 0 100   switch alpha:100 S swapper/0:0
3500000 1 101   waking gamma:102 0
3501000 1 101   wakeup gamma:102 0
4000000 1 101   switch beta:101 D swapper/1:0
4500000 0 0     switch swapper/0:0 R gamma:102
5000000 0 102   sys_enter_read __syscall_nr=0 fd=3 count=10
5500000 0 102   sys_exit_read __syscall_nr=0 ret=10
6000000 0 102/h irq_handler_entry irq=5 name=eth0
6100000 0 102/h irq_handler_exit irq=5 ret=1
6200000 0 102/h waking beta:101 1
6201000 0 102/h wakeup beta:101 1
6400000 1 0     switch swapper/1:0 R beta:101
6900000 1 101   switch beta:101 S swapper/1:0
7000000 0 102   switch gamma:102 S swapper/0:0
7100000 1 0     cpu_frequency state=2400000 cpu_id=1
8000000 0 lost 17
8000000 0 0     switch swapper/0:0 R <b>evil</b>:103
9000000 0 103   switch <b>evil</b>:103 S swapper/0:0
9500000 1 0     switch swapper/1:0 R busy:104
'''
NR_BUSY = 40000  # records of busy at the end: more than a list can have elements
NR_TASKS = 2000
DEEP = 130
NR_LINKS = 4  # for cases that follow them


def story():
    lines = STORY.strip().split('\n')
    lines += [f'{10000000 + i * 100} 1 104 my_kprobe arg1={i}' for i in range(NR_BUSY)]
    return lines


def crowd():
    """Many tasks, each of which runs now and then."""
    lines, t = [], 1000000
    before = 'swapper/0:0'
    for i in range(5 * NR_TASKS):
        after = f'task{i % NR_TASKS}:{1000 + i % NR_TASKS}'
        lines.append(f'{t} 0 {before.split(":")[1]} switch {before} S {after}')
        before, t = after, t + 20000
    return lines


def calls():
    """Functions that call each other, deep enough to be folded."""
    lines = ['comm 7 worker'] + [f'sym {0xffffffff81000000 + i * 256:x} function_{i}' for i in range(8)]
    t = 1000000
    for _ in range(20):
        enter = [(i, t + i * 1000) for i in range(8)]
        end = t + 20000
        for i, at in enter:
            lines.append(f'{at} 0 7 funcgraph_entry func={0xffffffff81000000 + i * 256:#x} depth={i}')
        for i, at in reversed(enter):
            end += 1000
            lines.append(f'{end} 0 7 funcgraph_exit func={0xffffffff81000000 + i * 256:#x} depth={i} '
                         f'calltime={at} rettime={end}')
        t += 50000
    return lines


def steady():
    """Two tasks that share a CPU, so that it is never idle, in ever shorter turns."""
    lines, t = [], 1000000
    tasks = ['one:201', 'two:202']
    for length, times in ((1000, 12000), (3000, 4000), (40000, 300)):
        for i in range(times):
            before, after = tasks[i % 2], tasks[1 - i % 2]
            lines.append(f'{t} 0 {before.split(":")[1]} switch {before} R {after}')
            t += length
    return lines


PROCESSES = '''
1000000 0 0   switch swapper/0:0 R server:500
1100000 0 500 task_newtask pid=501 comm=server clone_flags=0x10000
1200000 0 500 task_newtask pid=502 comm=server clone_flags=0x10000
1500000 0 500 switch server:500 S worker:501
2000000 0 501 switch worker:501 S worker:502
2500000 0 502 switch worker:502 S lonely:700
3500000 0 700 switch lonely:700 S swapper/0:0
4000000 0 0   cpu_frequency state=1 cpu_id=0
4000000 0 0   cpu_frequency state=2 cpu_id=0
4000000 0 0   cpu_frequency state=3 cpu_id=0
5000000 0 0   cpu_frequency state=4 cpu_id=0
'''


def processes():
    """Threads of one process, a task of which nothing is told; four records to search for, three of one moment."""
    return PROCESSES.strip().split('\n')


def odd():
    """A task whose name nobody tells, with calls within calls that are deeper than what is drawn."""
    lines = [f'sym {0xffffffff81000000 + i * 256:x} function_{i}' for i in range(DEEP)]
    for i in range(DEEP):
        lines.append(f'{1000000 + i * 1000} 0 7 funcgraph_entry func={0xffffffff81000000 + i * 256:#x} depth={i}')
    for i in reversed(range(DEEP)):
        end = 2000000 - i * 1000
        lines.append(f'{end} 0 7 funcgraph_exit func={0xffffffff81000000 + i * 256:#x} depth={i} '
                     f'calltime={1000000 + i * 1000} rettime={end}')
    return lines


UNKNOWN = '''
1000000 0 0   switch swapper/0:0 R alpha:100
3000000 0 100 sys_enter_read __syscall_nr=0 fd=3 count=10
6000000 0 103 switch gamma:103 S swapper/0:0
7000000 2 0   switch swapper/2:0 R beta:101
11000000 0 0  switch swapper/0:0 R alpha:100
'''


def unknown():
    """A CPU without events, and another one of which a switch is missing."""
    return UNKNOWN.strip().split('\n')


def broken():
    """The beginning of a file, and nothing behind it."""
    return mktrace.make(story())[:200]


TRACES = {'story': story, 'crowd': crowd, 'calls': calls, 'steady': steady, 'processes': processes, 'odd': odd,
          'unknown': unknown, 'cut': story}  # cases shorten that one
# What is looked at together, by the name that cases use.
VIEWS = {'story': ['story'], 'crowd': ['crowd'], 'calls': ['calls'], 'both': ['story', 'calls'], 'damaged': ['story', 'broken'],
         'nothing': ['broken'], 'steady': ['steady'], 'processes': ['processes'], 'odd': ['odd'], 'unknown': ['unknown'],
         'cut': ['cut']}


def why_not():
    """Why there is no browser here, or ''; and where playwright is."""
    for program in ('chromium', 'node'):
        if not shutil.which(program):
            return f'{program} is not installed', None
    try:
        return '', npm_folder(PLAYWRIGHT)
    except kernels.Unavailable as error:
        return f'no playwright-core: {error}', None


def drive(t, directory, servers, home):
    """Runs the cases; every line of the script is a result."""
    facts = {'urls': {name: f'http://127.0.0.1:{s.port}/' for name, s in servers.items()},
             'sessions': {name: s.token for name, s in servers.items()},
             'links': [servers['story'].url for _ in range(NR_LINKS)], 'playwright': home, 'directory': directory,
             'busy': NR_BUSY, 'tasks': NR_TASKS, 'pictures': os.environ.get('SPUR_PICTURES', '')}
    child = subprocess.Popen(['node', 'tests/view/page/run.mjs', json.dumps(facts)], stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, stdin=subprocess.DEVNULL)
    words = {'ok': lambda name, note: t.ok(name), 'skip': t.skip, 'FAIL': t.fail}
    for line in child.stdout:
        word, _, rest = line.rstrip('\n').partition('\t')
        name, _, note = rest.partition('\t')
        if word in words:
            words[word](f'page: {name}', note)
        else:
            print('  ' + line.rstrip('\n'), flush=True)
    if child.wait(PATIENCE):
        t.fail('page: to the end', f'page/run.mjs ended with {child.returncode}')


def check(t):
    reason, home = why_not()
    if reason:
        t.skip('page', reason)
        return
    with tempfile.TemporaryDirectory() as directory:
        servers, temp = {}, f'{directory}/temp'
        os.chmod(directory, 0o755)
        os.mkdir(temp)
        os.chmod(temp, 0o1777)  # recordings stay there, and go with it
        files = {name: mktrace.make(make()) for name, make in TRACES.items()} | {'broken': broken()}
        for name, data in files.items():
            with open(f'{directory}/{name}.dat', 'wb') as file:
                file.write(data)
        try:
            for name, traces in VIEWS.items():
                paths = [f'{directory}/{trace}.dat' for trace in traces]
                record = ['--record'] if os.geteuid() == 0 and name == 'calls' else []
                servers[name] = Server(t, paths, '--no-open', '--no-cache', *record, env={'TMPDIR': temp})
            drive(t, directory, servers, home)
        finally:
            for s in servers.values():
                s.end()
