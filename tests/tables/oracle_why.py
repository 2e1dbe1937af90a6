#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Why tasks waited, computed a second time: tests/tables/oracle_why.py SPUR TABLES_DUMP FILE

Asks `spur why` about moments of rows of `states`, also their first and last ones. The answer must be about that row,
whatever part of the trace was read for it; shares of a CPU must be those of the rows of `slices`, and add up to the
wait; links of a chain must follow each other without gaps, and be what `states` shows of their tasks; a signal that is named
must have been sent then.
"""
import collections
import json
import random
import subprocess
import sys

NOTHING_TO_SAY = 77
SIGNAL_SPAN = 50_000  # ns from the wakeup to the record of the signal that caused it
EACH = 6  # rows of a state and buffer
SPUR, FILE = sys.argv[1], sys.argv[3]


def rows(question):
    out = subprocess.run([SPUR, 'sql', '--json', FILE, question], capture_output=True, check=False).stdout
    return json.loads(out or b'[]')


def shares_of(answer, slices):
    """{(cpu, pid): ns} of what the task waited for; None: nobody knows who that was."""
    sums = collections.Counter()
    for piece in answer['cpus']:
        left = piece['to'] - piece['from']
        for s in slices.get(piece['cpu'], []):
            ns = min(s['ts'] + s['dur'], piece['to']) - max(s['ts'], piece['from'])
            if ns > 0:
                sums[piece['cpu'] if s['pid'] is not None else -1, s['pid']] += ns
                left -= ns
        sums[-1, None] += left
    return +sums


def trouble_in_shares(answer, slices):
    if sum(s['dur'] for s in answer['meanwhile']) != answer['dur']:
        return 'shares do not add up'
    got = collections.Counter()
    for s in answer['meanwhile']:
        pid = 0 if s['of'] == 'idle' else s['pid']
        got[-1 if pid is None else s['cpu'], pid] += s['dur']
    want = shares_of(answer, slices)
    return '' if +got == want else f'shares are {got}, not {want}'


def link_of(states, begin, end):
    """What a task with these states did until `end`, since it slept last or since `begin`."""
    start, sums = end, collections.Counter()
    for s in reversed(states):
        if s['ts'] >= end:
            continue
        if s['state'] not in ('running', 'runnable'):
            break
        sums[s['state']] += max(0, min(s['ts'] + s['dur'], end) - max(s['ts'], begin))
        start = s['ts']
    return {'from': max(start, begin), 'running': sums['running'], 'runnable': sums['runnable'], 'earlier': start <= begin}


def trouble_in_chain(answer, states):
    at = answer['to']
    for link in answer['chain']:
        want = link_of(states[link['pid']], answer['from'], link['to'])
        got = {name: link[name] for name in want}
        if got != want:
            return f'what {link["pid"]} did is {got}, not {want}'
        if link['to'] != at or not answer['from'] <= link['from'] <= link['to']:
            return f'a link from {link["from"]} to {link["to"]}, which should end at {at}'
        if link['running'] + link['runnable'] != link['to'] - link['from']:
            return f'what {link["pid"]} did does not add up'
        at = link['from']
    return ''


def trouble_in_signal(row, wakeup, signals):
    """A signal that woke a task was sent by the waker, on its CPU, right after the wakeup."""
    if not wakeup or 'signal' not in wakeup:
        return ''
    sent = [s['sig'] for s in signals if (s['buffer'], s['cpu'], s['pid']) == (row['buffer'], wakeup['cpu'], wakeup['pid']) and
            0 <= s['ts'] - wakeup['ts'] <= SIGNAL_SPAN and (s['args_pid'] == row['pid'] or s['group'])]
    return '' if wakeup['signal'] in sent else f'signal {wakeup["signal"]} was not sent then, but {sent}'


def trouble(row, moment, answer, slices, states, signals):
    end = row['ts'] + row['dur']
    if row['state'] == 'running':
        run = answer['running']
        # The moment at which it got the CPU is the end of its wait.
        if moment == row['ts'] and not run and answer['to'] == moment:
            return ''
        return '' if run and (run['from'], run['to'], run['cpu']) == (row['ts'], end, row['cpu']) else 'another run'
    want = (row['state'], row['ts'], end, row['open'], row['reason'], row['cpu'])
    got = tuple(answer[n] for n in ('state', 'from', 'to', 'open', 'reason', 'cpu'))
    if got != want:
        return f'the wait is {got}, not {want}'
    if row['state'] == 'runnable':
        return trouble_in_shares(answer, slices)
    return trouble_in_chain(answer, states) or trouble_in_signal(row, answer['wakeup'], signals)


def main():
    rng = random.Random(7)
    kinds = collections.defaultdict(list)
    for row in rows('select * from states where pid > 0 and dur > 0'):
        kinds[row['buffer'], row['state']].append(row)
    if not kinds:
        print('no states')
        sys.exit(NOTHING_TO_SAY)
    slices = collections.defaultdict(lambda: collections.defaultdict(list))
    for s in rows('select * from slices'):
        slices[s['buffer']][s['cpu']].append(s)
    states = collections.defaultdict(lambda: collections.defaultdict(list))
    for s in rows('select * from states where pid > 0 order by ts, ts + dur'):
        states[s['buffer']][s['pid']].append(s)
    signals = rows('select * from signal_generate')
    for (buffer, _), all_rows in sorted(kinds.items()):
        some = rng.sample(all_rows, min(EACH, len(all_rows)))
        moments = [r['ts'] + rng.choice((0, r['dur'] - 1, rng.randrange(r['dur']))) for r in some]
        questions = [f'{r["pid"]}@{m}ns' for r, m in zip(some, moments)]
        done = subprocess.run([SPUR, 'why', '--json', '-B', buffer or 'top', '-i', FILE] + questions, capture_output=True,
                              check=False)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        if len(answers) != len(some):
            print(f'{" ".join(questions)}: {done.stderr.decode(errors="replace")}')
            continue
        for row, moment, question, answer in zip(some, moments, questions, answers):
            why = trouble(row, moment, answer, slices[buffer], states[buffer], signals)
            if why:
                print(f'{question}: {why}')


main()
