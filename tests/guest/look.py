# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording of every kernel, carried home and opened with `spur view`. The case look makes the recordings."""
import os
import sys

sys.path.insert(1, 'tests/view')
import harness
from server import Server

CASE, TILES = 'look', 200


def path_of(t, kernel):
    return os.path.join(t.build, 'guest', kernel, CASE, 'kept.dat')


def wrong_index(t, path):
    done = harness.run([f'{t.build}/tests/view/view_check', path, '1', str(TILES)], memory=None, seconds=240)
    return done.trouble or (done.status and (done.out + done.err).decode(errors='replace')[:400])


def wrong_answers(t, path):
    """The page knows every event, and what the load was."""
    events = int(t.run(['sql', '-i', path, '--no-header', '--csv', 'select count(*) from events'], seconds=120).out)
    with Server(t, [path]) as s:
        about, rows = s.indexed()['files'][0], s.json('rows')
        last = s.json(f'events?at={about["events"] - 1}&count=1')['rows']
    kinds = {track['kind'] for row in rows for track in row['tracks']}
    if about['events'] != events or len(last) != 1:
        return f'{about["events"]} events, {events} by asking; the last: {last}'
    if not any(row.get('comm') == 'load' for row in rows):
        return 'there is no row of the load'
    missing = {'running', 'state', 'softirq', 'syscall', 'events'} - kinds
    return f'nothing drawn: {missing}' if missing else ''


def check(t, kernel):
    path = path_of(t, kernel)
    t.check(f'{kernel}/look/index', wrong_index(t, path))
    try:
        t.check(f'{kernel}/look/view', wrong_answers(t, path))
    except (OSError, ValueError, KeyError) as error:
        t.fail(f'{kernel}/look/view', repr(error))
