# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of the same job in two kernels, carried home and compared: what users do who ask whether a deadline is still
met on the other kernel. The case diff-loop makes the recordings. Numbers of emulated machines say nothing; that all of it
fits together does.
"""
import json
import os
import re
import xml.etree.ElementTree as ET
from collections import Counter

CASE, KERNELS = 'diff-loop', ('6.1', 'rt')
PERIOD = ['--period', 'sched_switch/next_comm=="load" && next_prio<100/']
MET = ['wakeup[load].max < 10s', 'wakeup[load].count > 0', 'period.count > 0',
       'running[load] < 100%', 'lost == 0']
NOT_MET = ['wakeup[load].max < 1ns', 'block[nothing].max < 1s']
# A line of report -t, and what it says of a switch.
LINE = re.compile(r'.*\[(?P<cpu>\d+)\] +\S+ +(?P<s>\d+)\.(?P<ns>\d{9}): (?P<rest>.*)')
SWITCH = re.compile(r'sched_switch: .*:(?P<prev>\d+) \[\d+\] \S+ ==> .*:(?P<next>\d+) \[\d+\]')


def recording(t, kernel):
    return os.path.join(t.build, 'guest', kernel, CASE, 'kept.dat')


def diff(t, paths, *argv):
    done = t.run(['diff', *paths, *PERIOD, *argv], seconds=60)
    if done.trouble:
        raise RuntimeError(done.trouble)
    return done


def required(words):
    return [word for text in words for word in ('--require', text)]


def wrong_measures(t, answer, paths):
    """Both are there, each from its kernel, and say what `spur latency` says of each by itself."""
    if '-rt-' not in answer['b']['kernel'] or '-rt-' in answer['a']['kernel']:
        return f'kernels {answer["a"]["kernel"]}, {answer["b"]["kernel"]}'
    measures = {m['measure']: m for m in answer['measures']}
    for name in ('wakeup[load]', 'period', 'rate[sched_switch]', 'running[load]'):
        if name not in measures or not measures[name]['a'] or not measures[name]['b']:
            return f'there is no {name}'
    for side, path in zip('ab', paths):
        alone = json.loads(t.run(['latency', 'wakeup', path, '--task', 'load', '--json'], seconds=60).out)
        got = measures['wakeup[load]'][side]
        if any(alone[key] != got[key] for key in ('count', 'min', 'p50', 'p99', 'max')):
            return f'{side}: {got}, by itself {alone["count"]}, {alone["p50"]}, {alone["max"]}'
    return ''


def slices_of(t, path):
    """Who had which CPU, from the lines of the switches. The recorder's own threads are not traced, so that a switch from
    one of them to the other is missing: whoever comes does not leave then, and nothing is said of that time.
    """
    since, slices = {}, []
    lines = t.run(['report', '-t', path], seconds=60).out.decode().splitlines()
    for found in filter(None, map(LINE.match, lines)):
        cpu, ts = int(found['cpu']), int(found['s']) * 10**9 + int(found['ns'])
        since.setdefault(cpu, (None, ts))
        if switch := SWITCH.match(found['rest']):
            before, then = since[cpu]
            if before in (None, int(switch['prev'])):
                slices.append((cpu, int(switch['prev']), then, ts))
            since[cpu] = int(switch['next']), ts
    return slices


def hidden_of(t, path):
    """Pids of which another one may have had the CPU, whatever the switches say."""
    return {task['pid'] for task in json.loads(t.run(['info', '--json', path], seconds=60).out)['hidden']}


def wrong_cases(t, answer, paths):
    """Of the time of a worst case it is told who had the CPU, whenever the switches tell it."""
    slices = {side: slices_of(t, path) for side, path in zip('ab', paths)}
    hidden = {side: hidden_of(t, path) for side, path in zip('ab', paths)}
    for focus in answer['worst']:
        for case in focus['cases']:
            told, known = Counter(), Counter()
            for ran in case['meanwhile']:
                if ran['kind'] == 'task' and ran['pid'] is not None:
                    told[ran['pid']] += ran['time']
            for cpu, pid, since, until in slices[case['trace']]:
                time = min(until, case['ts'] + case['value']) - max(since, case['ts'])
                if cpu == case['cpu'] and time > 0 and pid not in hidden[case['trace']]:
                    known[pid] += time
            if told != known:
                return f'{focus["measure"]} of {case["value"]} ns: {dict(told)}, by the switches {dict(known)}'
    return '' if sum(len(focus['cases']) for focus in answer['worst']) == 12 else 'there are not 12 cases'


def wrong_page(path):
    root = ET.parse(path).getroot()
    svgs = [e.get('class') for e in root.iter() if e.tag.endswith('svg')]
    verdicts = [''.join(e.itertext()) for e in root.iter() if e.get('class') in ('pass', 'fail')]
    if verdicts != ['PASS'] * len(MET):
        return f'verdicts {verdicts}'
    return '' if svgs.count('chart') >= 4 and svgs.count('timeline') == 12 else f'{len(svgs)} pictures'


def compare(t):
    """After all kernels: the recordings of those that have made theirs."""
    paths = [recording(t, kernel) for kernel in KERNELS]
    page = os.path.join(t.build, 'guest', 'diff.html')
    done = diff(t, paths, *required(MET), '--html', page)
    t.check('diff/requirements that are met', '' if done.status == 0 and done.out.count(b'PASS') == len(MET)
            else f'{done.status}: {done.err.decode()} {done.out.decode()[:1000]}')
    t.check('diff/page', wrong_page(page) if done.status == 0 else 'see above')
    done = diff(t, paths, *required(NOT_MET))
    t.check('diff/requirements that are not met', '' if done.status == 5 and done.out.count(b'FAIL') == len(NOT_MET)
            else f'{done.status}: {done.err.decode()}')
    answer = json.loads(diff(t, paths, '--json', '--around', '100us', '--focus', 'wakeup[load]', '--focus', 'period').out)
    t.check('diff/measures', wrong_measures(t, answer, paths))
    t.check('diff/worst cases', wrong_cases(t, answer, paths))
