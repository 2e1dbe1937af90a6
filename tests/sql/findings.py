# SPDX-License-Identifier: GPL-2.0-or-later
"""`spur info --findings`: what it shows of small traces (findings.cases), the user's own findings, JSON, every recording."""
import glob
import json
import os
import re
import subprocess

import harness
from blocks import Case, blocks, make_trace

WAKEUP = ['1000000 0 0 switch swapper/0:0 R a:1', '1010000 0 1 waking b:2 0', '1510000 0 1 switch a:1 S b:2']
SHIPPED = '  500.0 us  0.001010  CPU 0  b-2  woken by a-1 on CPU 0'

# A user's own: {name: text}, what --findings= asks for, the exit status, lines of the answer, words on standard error.
OWN = {
    'a good one': (
        {'mine': "-- mine: wakeups of b.\nselect ts, pid, comm, latency as ns, 'b waits' as text from wakeups where pid = 2;"},
        'mine', 0, ['mine: wakeups of b', '  500.0 us  0.001010  b-2  b waits'], ''),
    'all of its columns': (
        {'mine': "select 1 as ts, 2000 as dur, 3 as cpu, 4 as pid, 'x' as comm, 'five' as buffer, 4096 as BYTES, "
                 "'of' || char(10) || 'all' as text"},
        'mine', 0, ['mine', '  4.1 kB in 2.0 us  0.000000  CPU 3  x-4  of all, in buffer five'], ''),
    'it comes behind the shipped ones': (
        {'a': "select 1 as count, 'first' as text"}, 'a,wakeups', 0,
        ['wakeups: tasks that waited longest for a CPU after they had been woken', SHIPPED, '', 'a', '  1  first'], ''),
    'one of a shipped name takes its place': (
        {'wakeups': "-- wakeups: mine.\nselect 7 as count, 'replaced' as text"}, 'wakeups', 0,
        ['wakeups: mine', '  7  replaced'], ''),
    'a limit, and more rows than are wanted': (
        {'mine': "with recursive n(x) as (select 1 union all select x + 1 from n) select x as count, "
                 "'of ' || :limit as text from n"},
        'mine', 0, ['mine', '  1  of 3', '  2  of 3', '  3  of 3'], ''),
    'two statements': (
        {'mine': "create temp view v as select 5 as x; select x as count, 'seen' as text from v; -- the end\n"},
        'mine', 0, ['mine', '  5  seen'], ''),
    'what one creates is not there for another': (
        {'a': "create temp table t as select 1 as x; select x as count, 'a' as text from t;",
         'b': "select x as count, 'b' as text from t"},
        'a,b', 1, ['a', '  1  a'], "finding b: no such table: t|finding b: .*'t'"),
    'bad SQL': (
        {'mine': 'selct 1'}, 'mine,wakeups', 1,
        ['wakeups: tasks that waited longest for a CPU after they had been woken', SHIPPED],
        'finding mine: .*syntax error'),
    'a column too many': (
        {'mine': "select 1 as count, 'x' as text, 3 as pids"}, 'mine,wakeups', 1,
        ['wakeups: tasks that waited longest for a CPU after they had been woken', SHIPPED],
        'finding mine: unknown column pids; a finding has'),
    'no value': ({'mine': "select 'x' as text"}, 'mine', 1, [], 'finding mine: no value;'),
    'two values': ({'mine': "select 1 as ns, 2 as count, 'x' as text"}, 'mine', 1, [], 'finding mine: more than one value;'),
    'no text': ({'mine': 'select 1 as ns'}, 'mine', 1, [], 'finding mine: no column text;'),
    'the same column twice': ({'mine': "select 1 as ns, 'x' as text, 'y' as text"}, 'mine', 1, [], 'mine: two columns text;'),
    'a value that is no number': ({'mine': "select 'x' as ns, 'y' as text"}, 'mine', 1, [], 'mine: column ns is not a number'),
    'one that fails behind its first row': (
        {'mine': "select 1 as count, 'x' as text union all select abs(-9223372036854775808), 'y'"}, 'mine', 1, [],
        'finding mine: integer overflow'),
    'it must not write': ({'mine': 'create table t(x)'}, 'mine', 1, [], 'finding mine: a query can only read'),
    'no rows': ({'mine': "select 1 as count, 'x' as text where false"}, 'mine', 0, ['nothing found: mine'], ''),
    'an empty file': ({'mine': ''}, 'mine', 0, ['nothing found: mine'], ''),
    'what it needs': (
        {'mine': "-- mine: probes\n-- needs: sched_switch my_probe kprobes:*\nselect 1 as count, x as text from my_probe"},
        'mine', 0, ['not recorded: mine (spur record -e my_probe -e kprobes:*)'], ''),
    'a table of an event that is not there': (
        {'mine': "select count(*) as count, 'x' as text from sys_enter group by id"}, 'mine', 0,
        ['not recorded: mine (spur record -e raw_syscalls:sys_enter)'], ''),
    'a name that is nearly right': ({'mine': ''}, 'wakeups,mien', 1, [], "there is no finding 'mien'; did you mean 'mine'"),
    'a name that nothing has': ({}, 'zzzzzzzz', 1, [], "there is no finding 'zzzzzzzz'$"),
    'text that drives no terminal': (
        {'mine': "-- mine: a\x1b[2J\nselect 1 as count, char(27) || '[2J' as text, char(9) || 'c' as comm"}, 'mine', 0,
        ['mine: a?[2J', '  1   c  ?[2J'], ''),
}


def info(a, config, arguments):
    """`spur info` with the user's configuration in a folder: status, lines of its output, its messages."""
    env = dict(os.environ, XDG_CONFIG_HOME=config, LC_ALL='C', **harness.SANITIZER_ENV)
    done = subprocess.run([a.t.spur, 'info', *arguments], capture_output=True, env=env, timeout=120)
    lines = done.stdout.decode(errors='replace').rstrip('\n').split('\n')
    return done.returncode, [] if lines == [''] else lines, done.stderr.decode(errors='replace')


def compare(got, status, lines, said):
    if got[0] != status:
        return f'exit status {got[0]}: {got[2]}'
    if got[1] != lines:
        return f'{got[1]} instead of {lines}'
    return '' if (re.search(said, got[2], re.M) if said else not got[2]) else f'said {got[2]!r}'


def one_case(a, text, top):
    case = Case(text)
    path = make_trace(case.trace, f'{top}/finding-{re.sub("[^a-z]", "-", case.name)}.dat')
    # A recording that was cut is incomplete, and says so.
    status, said = (3, 'the recorder was killed') if any(line.startswith('cut ') for line in case.trace) else (0, '')
    if any(line.startswith('followed ') for line in case.trace):
        said = 'only the events of 1 task were recorded; what others did is unknown$'
    for names, want in case.questions:
        while want and not want[-1]:
            want.pop()
        why = compare(info(a, f'{top}/none', [f'--findings={names}', path]), status, want, said)
        if why:
            return why
    return ''


def own(a, path, top, name):
    texts, names, status, lines, said = OWN[name]
    config = f'{top}/own-{re.sub("[^a-z]", "-", name)}'
    os.makedirs(f'{config}/spur/findings')
    for word, text in texts.items():
        with open(f'{config}/spur/findings/{word}.sql', 'w') as file:
            file.write(text)
    return compare(info(a, config, [f'--findings={names}', path]), status, lines, said)


def unreadable(a, path, top):
    """A file that cannot be read, one with too much in it, and names that are none."""
    where = f'{top}/unreadable/spur/findings'
    os.makedirs(f'{where}/folder.sql')
    for name, text in ('large.sql', '-' * (2 << 20)), ('a b.sql', 'x'), ('other.txt', 'x'):
        with open(f'{where}/{name}', 'w') as file:
            file.write(text)
    status, lines, said = info(a, f'{top}/unreadable', ['--findings', path])
    if status == 0 or 'wakeups: ' not in ''.join(lines):
        return f'status {status}, {lines}'
    told = re.findall(r'^spur: finding (\S+):', said, re.M)
    return '' if told == ['folder', 'large'] else said


def bursts(a, top):
    """16 events in each of 1000 pieces, and more in some: two bursts, one of them of two pieces; one is not large enough."""
    start, width = 1000000, 999938
    times = [start + i * 62500 for i in range(16000)]
    lines = [f'{ts} 0 1 cpu_frequency state=1' for ts in times]
    for piece, event, number in (400, 'sys_enter id=1', 250), (401, 'sys_enter id=1', 250), (700, 'sys_exit id=1', 120), \
            (800, 'sys_exit id=1', 200):
        lines += [f'{start + piece * width + i * 1000} 1 2 {event}' for i in range(number)]
    path = make_trace(lines, f'{top}/bursts.dat')
    want = []
    for piece, pieces, event, number in (400, 2, 'sys_enter', 500), (800, 1, 'sys_exit', 200):
        ts, dur = start + piece * width, pieces * width
        want.append({'unit': 'count', 'value': number + sum(ts <= t < ts + dur for t in times), 'ts': ts, 'dur': dur,
                     'text': f'events, most of them raw_syscalls:{event} ({number})'})
    status, out, said = info(a, f'{top}/none', ['--findings=bursts', '--json', path])
    got = json.loads('\n'.join(out))['findings'][0]['rows']
    return '' if status == 0 and not said and got == want else f'{got} instead of {want}, {said}'


def as_json(a, path, top):
    status, out, said = info(a, f'{top}/none', ['--findings=wakeups,losses,block', '--json', path])
    want = {'file': path, 'findings': [
        {'name': 'losses', 'about': 'where events were lost', 'rows': []},
        {'name': 'wakeups', 'about': 'tasks that waited longest for a CPU after they had been woken', 'rows': [
            {'unit': 'ns', 'value': 500000, 'ts': 1010000, 'cpu': 0, 'pid': 2, 'comm': 'b', 'buffer': '',
             'text': 'woken by a-1 on CPU 0'}]},
        {'name': 'block', 'about': 'requests to block devices that took longest', 'needs': 'block:block_rq_issue',
         'record': '-e block:block_rq_insert -e block:block_rq_issue -e block:block_rq_requeue -e block:block_rq_complete',
         'rows': []}]}
    got = json.loads('\n'.join(out))
    return '' if (status, got, said) == (0, want, '') else f'{got} instead of {want}, {said}'


def ticks_json(a, top):
    path = make_trace(['clock [counter]'] + WAKEUP, f'{top}/ticks.dat')
    _, out, _ = info(a, f'{top}/none', ['--findings=wakeups', '--json', path])
    row = json.loads('\n'.join(out))['findings'][0]['rows'][0]
    return '' if (row['unit'], row['value'], row['ts']) == ('ticks', 500000, 1010000) else f'{row}'


def as_asked(a, top):
    """The numbers are those of the tables; and reports find an event at the time that is shown."""
    path = a.recording('g-all-events')
    status, out, said = info(a, f'{top}/none', ['--findings', '-n', '5', '--json', path])
    all_of = {f['name']: f['rows'] for f in json.loads('\n'.join(out))['findings']}
    for name, query in [('wakeups', 'select ts, latency from wakeups where latency is not null order by 2 desc, 1 limit 5'),
                        ('softirqs', 'select ts, dur from softirqs where open is null order by 2 desc, 1 limit 5'),
                        ('tasks', "select '', sum(dur) from slices where pid != 0 group by pid order by 2 desc limit 5")]:
        want = [tuple(row) for row in a.rows(path, query)]
        got = [(str(row.get('ts', '')), str(row['value'])) for row in all_of[name]]
        if got != want:
            return f'{name}: {got} instead of {want}'
    _, lines, _ = info(a, f'{top}/none', ['--findings=wakeups', path])
    time = lines[1].split()[2]
    report = a.t.run(['report', path], seconds=60).out.decode(errors='replace')
    return '' if status == 0 and not said and f' {time}: sched_wak' in report else f'no wakeup at {time}, {said}'


def damaged(a, top):
    """A file that is cut off: what there is is looked at, and the status says the same as without the option."""
    lines = [f'{1000000 + i * 1000} 0 {i % 2} switch {"ab"[i % 2]}:{i % 2 + 1} S {"ba"[i % 2]}:{2 - i % 2}' for i in range(500)]
    path = make_trace(lines, f'{top}/cut.dat')
    os.truncate(path, os.path.getsize(path) - 5000)
    plain, found = (info(a, f'{top}/none', [*options, path]) for options in ([], ['--findings']))
    if plain[0] != 3 or found[0] != plain[0] or found[2] != plain[2]:
        return f'{found}, without: {plain[0]}, {plain[2]}'
    return '' if 'tasks: ' in '\n'.join(found[1]) else f'{found[1]}'


def recorded(a, top, name):
    """Every shipped finding runs over every recording."""
    status, out, said = info(a, f'{top}/none', ['--findings', '--json', a.recording(name)])
    if status != 0 or said:
        return f'status {status}: {said}'
    return '' if len(json.loads('\n'.join(out))['findings']) == len(glob.glob('findings/*.sql')) else 'some are missing'


def listed(a, top):
    """What the folder has is what is shown, documented and completed."""
    names = {os.path.basename(path)[:-4] for path in glob.glob('findings/*.sql')}
    _, out, _ = info(a, f'{top}/none', ['--findings', '--json', f'{top}/small.dat'])
    if {f['name'] for f in json.loads('\n'.join(out))['findings']} != names:
        return f'--findings has others than {sorted(names)}'
    words = re.search(r'info:--findings\) .*?-W \'(.*?)\'', a.t.run(['--completion', 'bash']).out.decode())
    if not words or set(words[1].split()) != names:
        return f'completion offers {words and words[1]}'
    with open('docs/man/spur-info.1.scd') as file:
        page = file.read()
    unsaid = [name for name in names if f'*{name}*' not in page]
    return f'the manual page says nothing of {unsaid}' if unsaid else ''


def documented(a, top):
    """The example of the manual page."""
    with open('docs/man/spur-info.1.scd') as file:
        text = re.search(r'^```\n(.*?)^```$', file.read(), re.M | re.S)[1]
    os.makedirs(f'{top}/documented/spur/findings')
    with open(f'{top}/documented/spur/findings/long-reads.sql', 'w') as file:
        file.write(text)
    path = make_trace(['uname x86_64', 'comm 7 seven', '1000000 0 7 sys_enter id=0 args=3', '21000000 0 7 sys_exit id=0 ret=5',
                       '22000000 0 7 sys_enter id=0 args=3', '23000000 0 7 sys_exit id=0 ret=6'], f'{top}/reads.dat')
    return compare(info(a, f'{top}/documented', ['--findings=long-reads', path]), 0,
                   ['long-reads: reads that took longer than 10 ms', '  20.0 ms  0.001000  CPU 0  seven-7  read 5 bytes'], '')


USAGE = [(['--findings', '--quick'], 1, '--findings reads all events, and --quick none'),
         (['-n', '5'], 1, '--rows is about --findings'),
         (['--findings', '-n', '0'], 1, "a number from 1 to 10000, not '0'"),
         (['--findings', '--rows=x'], 1, "not 'x'")]


def usage(a, path, top):
    for arguments, status, said in USAGE:
        why = compare(info(a, f'{top}/none', [*arguments, path]), status, [], said)
        if why:
            return f'{arguments}: {why}'
    return ''


def tests(a, top):
    """All of them by name."""
    small = make_trace(WAKEUP, f'{top}/wakeup.dat')
    found = {f'findings/{Case(text).name}': lambda text=text: one_case(a, text, top) for text in blocks('findings.cases')}
    found.update({f'findings/own/{name}': lambda name=name: own(a, small, top, name) for name in OWN})
    found.update({f'findings/recorded/{name}': lambda name=name: recorded(a, top, name) for name in a.where})
    found.update({
        'findings/own/unreadable': lambda: unreadable(a, small, top),
        'findings/bursts': lambda: bursts(a, top),
        'findings/json': lambda: as_json(a, small, top),
        'findings/json of ticks': lambda: ticks_json(a, top),
        'findings/the same as asked': lambda: as_asked(a, top),
        'findings/damaged': lambda: damaged(a, top),
        'findings/documented': lambda: documented(a, top),
        'findings/listed': lambda: listed(a, top),
        'findings/usage': lambda: usage(a, small, top),
    })
    return found
