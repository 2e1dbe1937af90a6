# SPDX-License-Identifier: GPL-2.0-or-later
"""Profiles and call graphs: folded, speedscope, pprof, dot, callgrind; what they hold, read back, and what their readers say."""
import collections
import functools
import gzip
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading

sys.path.insert(1, 'tests/view')
sys.path.insert(1, 'tests/guest')
sys.path.insert(1, 'tests/tables')
import harness
import kernels
import mktrace
from npm import npm_folder

CALLS = ('g-fgraph-v7', 'g-fgraph-v6', 'g-fgraph-events')
STACKS = ('g-stacktrace-v7', 'be-stack')
SPEEDSCOPE = 'speedscope@1.25.0'


def path_of(name):
    return f'{harness.recordings()[name]}/trace.dat'


def export(t, form, path, *settings):
    done = t.run(['export', '--to', form, '-o', '-', *[w for s in settings for w in ('-O', s)], path], seconds=120)
    if done.trouble or done.status:
        raise ValueError(done.trouble or done.err.decode())
    return done.out


def folded(text):
    lines = (line.rsplit(' ', 1) for line in text.decode(errors='replace').split('\n') if line)
    return {stack: int(value) for stack, value in lines}


def sql(t, path, query):
    done = t.run(['sql', '-i', path, '--json', query], seconds=120)
    return json.loads(done.out)


# ---- folded ----

def check_folded(t):
    for name in CALLS + STACKS:
        path = path_of(name)
        flame = t.run(['flame', '--folded', path]).out
        t.check(f'folded: {name}', '' if export(t, 'folded', path) == flame and flame else 'differs from spur flame')
    by_task = folded(export(t, 'folded', path_of('g-stacktrace-v7'), 'by=task', 'weight=count'))
    expected = {r['comm'] for r in sql(t, path_of('g-stacktrace-v7'), 'select distinct comm from samples')}
    t.check('folded: by task', '' if {s.split(';')[0] for s in by_task} == expected else sorted(by_task)[:3])


# ---- pprof ----

def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return value, at


def message(data):
    """[(field, number or bytes)]"""
    at, fields = 0, []
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            if len(value) != size:
                raise ValueError('cut off')
        else:
            raise ValueError(f'wire type {tag & 7}')
        fields.append((tag >> 3, value))
    return fields


def packed(data):
    at, values = 0, []
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def read_pprof(data):
    """{folded stack: value}, the unit of the values"""
    fields = message(gzip.decompress(data))
    strings = [value.decode() for field, value in fields if field == 6]
    functions = {f[1]: strings[f[2]] for f in (dict(message(v)) for n, v in fields if n == 5)}
    locations = {f[1]: functions[dict(message(f[4]))[1]] for f in (dict(message(v)) for n, v in fields if n == 4)}
    stacks = collections.Counter()
    for number, value in fields:
        if number == 2:
            sample = dict(message(value))
            stacks[';'.join(locations[i] for i in reversed(packed(sample[1])))] += packed(sample[2])[0]
    kind = dict(message(next(v for n, v in fields if n == 1)))
    return dict(stacks), (strings[kind[1]], strings[kind[2]]), strings[0]


def check_pprof(t):
    for name, unit in [(n, ('time', 'nanoseconds')) for n in CALLS] + [(n, ('samples', 'count')) for n in STACKS]:
        path = path_of(name)
        stacks, kind, first = read_pprof(export(t, 'pprof', path))
        same = stacks == folded(export(t, 'folded', path))
        t.check(f'pprof: {name}', '' if same and kind == unit and first == '' else f'{kind}, {list(stacks.items())[:2]}')


# ---- speedscope ----

def times_of(profile):
    """{frame: inclusive time}, of an evented profile; raises when calls do not nest."""
    total, stack, last = collections.Counter(), [], 0
    for event in profile['events']:
        if event['at'] < last:
            raise ValueError('times run backwards')
        last = event['at']
        if event['type'] == 'O':
            stack.append((event['frame'], last))
            continue
        frame, since = stack.pop()
        if frame != event['frame']:
            raise ValueError('calls do not nest')
        if frame not in (f for f, _ in stack):
            total[frame] += last - since
    if stack or last > profile['endValue']:
        raise ValueError('calls stay open')
    return total


def read_calls(t, path):
    """{function: (how often, inclusive time)}"""
    made = json.loads(export(t, 'speedscope', path))
    names = [f['name'] for f in made['shared']['frames']]
    times, often = collections.Counter(), collections.Counter()
    for profile in made['profiles']:
        if profile['type'] == 'evented':
            often.update(names[e['frame']] for e in profile['events'] if e['type'] == 'O')
            for frame, time in times_of(profile).items():
                times[names[frame]] += time
    return {name: (often[name], times[name]) for name in often}


def wrong_calls(t, path, exact):
    """In recordings of old kernels calls overlap by some time; then only their number is compared."""
    got = read_calls(t, path)
    functions = sql(t, path, 'select func, count(*) as n, sum(case when recursive then 0 else dur end) as time from calls '
                             "where open is null or open = 'end' group by func")
    wrong = [r for r in functions if got.get(r['func'], (0, 0))[0] != r['n'] or (exact and got[r['func']][1] != r['time'])]
    return '' if functions and not wrong else f'{wrong[:2]} {list(got.items())[:2]}'


def nested_calls(directory):
    lines, t = ['comm 7 worker'] + [f'sym {0xffffffff81000000 + i * 256:x} function_{i}' for i in range(4)], 1000000
    for turn in range(50):
        for i in range(4):
            lines.append(f'{t + i * 1000} 0 7 funcgraph_entry func={0xffffffff81000000 + i * 256:#x} depth={i}')
        for i in reversed(range(4)):
            end = t + 20000 + (4 - i) * 1000 + turn
            lines.append(f'{end} 0 7 funcgraph_exit func={0xffffffff81000000 + i * 256:#x} depth={i} '
                         f'calltime={t + i * 1000} rettime={end}')
        t += 50000
    with open(f'{directory}/calls.dat', 'wb') as file:
        file.write(mktrace.make(lines))
    return f'{directory}/calls.dat'


# Idle tasks of two CPUs, in turns; two buffers; calls that go on at the end of the trace, 6500.
APART = """
sym ffffffff81000000 one
sym ffffffff81000100 two
1000 0 0 funcgraph_entry func=0xffffffff81000000 depth=0
2000 1 0 funcgraph_entry func=0xffffffff81000100 depth=0
3000 0 0 funcgraph_exit func=0xffffffff81000000 depth=0 calltime=1000 rettime=3000
5000 1 0 funcgraph_exit func=0xffffffff81000100 depth=0 calltime=2000 rettime=5000
5100 0 7 funcgraph_entry func=0xffffffff81000000 depth=0
6000 0 7 funcgraph_entry func=0xffffffff81000100 depth=1
buffer other
5500 0 7 funcgraph_entry func=0xffffffff81000100 depth=0
6500 0 7 funcgraph_exit func=0xffffffff81000100 depth=0 calltime=5500 rettime=6500
"""


def wrong_threads(t, directory):
    path = f'{directory}/apart.dat'
    with open(path, 'wb') as file:
        file.write(mktrace.make(APART.splitlines()))
    made = json.loads(export(t, 'speedscope', path))
    names = [f['name'] for f in made['shared']['frames']]
    got = {p['name']: {names[f]: v for f, v in times_of(p).items()} for p in made['profiles']}
    return '' if got == {'<idle>-0 on CPU 0': {'one': 2000}, '<idle>-0 on CPU 1': {'two': 3000},
                         '<...>-7': {'one': 1400, 'two': 500}, '<...>-7 in other': {'two': 1000}} else got


def wrong_samples(t, path):
    made = json.loads(export(t, 'speedscope', path))
    names = [f['name'] for f in made['shared']['frames']]
    profile = next(p for p in made['profiles'] if p['type'] == 'sampled')
    got = [';'.join(names[i] for i in stack[1:]) for stack in profile['samples']]
    expected = [r['stack'] for r in sql(t, path, 'select stack from samples order by ts')]
    if sorted(got) != sorted(expected) or len(profile['weights']) != len(got):
        return f'{len(got)} samples, not {len(expected)}'
    return ''


SHOW = '''
const [home, url] = process.argv.slice(2);
const {createRequire} = await import("node:module");
const {chromium} = createRequire(home + "/")("playwright-core");
const browser = await chromium.launch({executablePath: "/usr/bin/chromium", args: ["--no-sandbox"]});
const page = await browser.newPage();
await page.goto(url);
await page.waitForFunction(() => document.title !== "speedscope", null, {timeout: 60000}).catch(() => {});
console.log(await page.title());
await browser.close();
'''


def titles(names):
    """What speedscope calls the files of a folder it is given; {} with a reason when it is not here."""
    from page import PLAYWRIGHT
    for program in ('chromium', 'node', 'npm'):
        if not shutil.which(program):
            return {}, f'{program} is not installed'
    try:
        browser, folder = npm_folder(PLAYWRIGHT), npm_folder(SPEEDSCOPE)
    except kernels.Unavailable as why:
        return {}, why
    with tempfile.TemporaryDirectory() as directory:
        site = f'{directory}/site'
        shutil.copytree(f'{folder}/node_modules/speedscope/dist/release', site)
        for name, data in names.items():
            with open(f'{site}/{name}', 'wb') as file:
                file.write(data)
        with open(f'{directory}/show.mjs', 'w', encoding='ascii') as file:
            file.write(SHOW)
        quiet = type('Quiet', (http.server.SimpleHTTPRequestHandler,), {'log_message': lambda *_: None})
        server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), functools.partial(quiet, directory=site))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        base = f'http://127.0.0.1:{server.server_port}'
        got = {name: subprocess.run(['node', f'{directory}/show.mjs', browser,
                                     f'{base}/index.html#profileURL={base}/{name}'], capture_output=True, text=True,
                                    check=False).stdout.strip() for name in names}
        server.shutdown()
    return got, ''


def check_speedscope(t):
    for name in CALLS:
        t.check(f'speedscope: {name}', wrong_calls(t, path_of(name), False))
    with tempfile.TemporaryDirectory() as directory:
        t.check('speedscope: times of calls', wrong_calls(t, nested_calls(directory), True))
        t.check('speedscope: idle tasks and buffers', wrong_threads(t, directory))
    for name in STACKS:
        t.check(f'speedscope: {name}', wrong_samples(t, path_of(name)))
    if t.sanitized:
        return
    files = {'calls.json': export(t, 'speedscope', path_of('g-fgraph-v7')),
             'stacks.json': export(t, 'speedscope', path_of('g-stacktrace-v7')),
             'stacks.txt': export(t, 'folded', path_of('g-stacktrace-v7'))}
    got, why = titles(files)
    for name in files:
        if why:
            t.skip(f'speedscope opens {name}', why)
        else:
            t.check(f'speedscope opens {name}', '' if got[name].endswith(' - speedscope') else f'its title is {got[name]!r}')


# ---- graphs ----

def check_callgrind(t):
    path = path_of('g-fgraph-v7')
    text = export(t, 'callgrind', path).decode()
    functions = sql(t, path, 'select func, sum(self) as self from calls where self is not null group by func')
    names = dict(re.findall(r'fn=\((\d+)\) (.+)', text))
    got = {names[number]: int(cost) for number, cost in re.findall(r'(?m)^fn=\((\d+)\).*\n0 (\d+)', text)}
    wrong = [r for r in functions if got.get(r['func']) != r['self']]
    t.check('callgrind: what functions cost', '' if functions and not wrong else wrong[:3])
    if not shutil.which('callgrind_annotate'):
        t.skip('callgrind: callgrind_annotate', 'valgrind is not installed')
        return
    with tempfile.NamedTemporaryFile('w', suffix='.callgrind') as file:
        file.write(text)
        file.flush()
        done = subprocess.run(['callgrind_annotate', '--tree=both', file.name], capture_output=True, text=True, check=False)
    total = sum(got.values())
    shown = re.search(r'([\d,]+) \(100\.0%\)  PROGRAM TOTALS', done.stdout)
    t.check('callgrind: callgrind_annotate', '' if shown and int(shown[1].replace(',', '')) == total and
            max(got, key=got.get) in done.stdout else f'{done.stdout[:600]} {done.stderr[:300]} {total}')


def check_filter(t):
    """A stack stays when its event does, and goes when that goes."""
    path = path_of('g-stacktrace-v7')
    run = lambda form: t.run(['export', '--to', form, '-F', 'sched_switch', '-o', '-', path]).out.decode()
    switches = sql(t, path, 'select count(*) as n from sched_switch')[0]['n']
    costs = {'folded': sum(int(line.rsplit(' ', 1)[1]) for line in run('folded').splitlines()),
             'callgrind': sum(map(int, re.findall(r'(?m)^fn=.*\n0 (\d+)', run('callgrind')))),
             'speedscope': sum(len(p['samples']) for p in json.loads(run('speedscope') or '{"profiles": []}')['profiles'])}
    for form, cost in costs.items():
        t.check(f'{form}: stacks of a filter', '' if cost == switches > 0 else f'{cost}, not {switches}')


def check_dot(t):
    path = path_of('g-fgraph-v7')
    text = export(t, 'dot', path)
    functions = {r['func'] for r in sql(t, path, 'select distinct func from calls')}
    if not shutil.which('dot'):
        t.skip('dot: graphviz', 'graphviz is not installed')
        return
    done = subprocess.run(['dot', '-Tplain'], input=text, capture_output=True, check=False)
    nodes = [line for line in done.stdout.decode().split('\n') if line.startswith('node ')]
    t.check('dot: graphviz', '' if done.returncode == 0 and len(nodes) == len(functions) else
            f'{len(nodes)} of {len(functions)}, {done.stderr[:300]}')


def check_refusals(t):
    for form in ('folded', 'pprof', 'speedscope', 'dot', 'callgrind'):
        with tempfile.TemporaryDirectory() as directory:
            done = t.run(['export', '--to', form, '-o', f'{directory}/x', path_of('g-blk')])
            t.check(f'{form}: a trace without stacks', '' if done.status == 3 and b'records them' in done.err and
                    not os.listdir(directory) else f'{done.status} {done.err} {os.listdir(directory)}')
        # It is not the file's fault.
        done = t.run(['export', '--to', form, '-o', '-', '--until', '1ns', path_of('g-fgraph-v7')])
        t.check(f'{form}: a range without stacks', '' if done.status == 3 and b'in what was asked for' in done.err else done.err)
    for form, setting in (('folded', 'from=nothing'), ('pprof', 'by=colour'), ('dot', 'from=stacks'), ('dot', 'weight=x')):
        done = t.run(['export', '--to', form, '-o', '-', '-O', setting, path_of('g-fgraph-v7')])
        t.check(f'{form}: refused: {setting}', '' if done.status == 1 and setting.encode() in done.err else done.err)


def check(t):
    check_folded(t)
    check_pprof(t)
    check_speedscope(t)
    check_callgrind(t)
    check_dot(t)
    check_filter(t)
    check_refusals(t)
