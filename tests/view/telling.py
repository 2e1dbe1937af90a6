# SPDX-License-Identifier: GPL-2.0-or-later
"""What the answers of `spur view` tell besides what was asked for.

- searches: what is no filter, and what a filter can never find;
- times: any number may be asked for;
- sql: names of several files, texts that are cut off;
- damage: what is found out after all was indexed;
- ports: where the same files are the next time.
"""
import os
import tempfile

from questions import Refused, View, made

LINES = [f'{1000 + i * 10} {i % 2} {5 + i % 3} cpu_frequency state={i} cpu_id={i % 2}' for i in range(3000)]
SWITCHES = ['1000 0 0 switch swapper/0:0 R alpha:100', '2000 0 100 switch alpha:100 S swapper/0:0']
LAST = 2 ** 64 - 1

# Bodies that are no search.
NO_SEARCHES = [{}, {'filter': 5}, {'filter': ['cpu_frequency']}, {'filter': {}}, {'filter': True}, {'filter': ''},
               {'filter': '', 'text': ''}, {'text': 5}, {'filter': 'cpu_frequency', 'text': []}, {'filter': 'x' * 2000000}]


def refusal(ask):
    """(status, words) of a question that is refused; None: it is answered."""
    try:
        ask()
        return None
    except Refused as refused:
        return refused.args[0], refused.args[1]['error']


def check_no_searches(view):
    for body in NO_SEARCHES:
        said = refusal(lambda: view.post('search', body))
        if not said or said[0] not in (400, 413) or not said[1]:
            return f'{str(body)[:60]}: {said}'
    for body in ({'filter': None, 'text': 'frequency'}, {'filter': '', 'text': 'frequency'}, {'rows': [0]}):
        said = refusal(lambda: view.post('search', body))
        if said:
            return f'{body}: {said}'
    return ''


def check_warning(t, view, path):
    """The words of the report."""
    for text, warns in (('cpu_frequency: cpu_ident == 0', True), ('cpu_frequency: cpu_id == 0', False),
                        ('cpu_frequency', False)):
        _, state = view.search(filter=text)
        said = t.run(['report', '-F', text, path]).err.decode()
        got = state.get('warning', '')
        if bool(got) != warns or (warns and ('cpu_ident' not in got or got not in said)):
            return f'{text}: {got!r}, and the report says {said!r}'
    return ''


def check_last_time(view):
    """There is nothing at the last nanosecond that a number can name."""
    for row in view.rows:
        for track in row['tracks']:
            said = refusal(lambda: view.get('slice', row=row['row'], track=track['track'], ts=LAST))
            if not said or said[0] != 404:
                return f'{row["kind"]} {row["row"]}, {track["kind"]}: {said}'
    return ''


def check_cut(view):
    for text, cut in (("hex(zeroblob(2048))", 0), ("hex(zeroblob(2049))", 1),
                      ("'x' || replace(hex(zeroblob(2048)), '0', char(233))", 1)):
        answer = view.post('sql', {'query': f'select {text}, 1'})
        cell = answer['rows'][0][0]
        if answer.get('cut') != cut or len(cell.encode()) > 4096 or len(cell.encode()) < 4094 or '\u00c3' in cell:
            return f'{text}: {answer.get("cut")} cut, {len(cell)} characters, {cell[-3:]!r}'
    return ''


def check_schemas(t, directory):
    paths = [made(directory, 'first', LINES), made(directory, 'second', SWITCHES)]
    with View(t, paths) as view:
        schemas = view.get('schemas')['schemas']
        counts = [view.post('sql', {'query': f'select count(*) from {s["name"]}.events'})['rows'][0][0]
                  for s in schemas]
    got = [(s['name'], s['path']) for s in schemas]
    if got != [('main', paths[0]), ('second', paths[1])]:
        return f'{got}'
    return '' if counts == [len(LINES), len(SWITCHES)] else f'{counts}'


def check_damage(t, directory):
    """A file that becomes shorter while it is looked at."""
    path = made(directory, 'shorter', LINES)
    with View(t, [path]) as view:
        before = view.trace['generation']
        os.truncate(path, os.path.getsize(path) - 12000)
        view.get('events', at=len(LINES) - 50, n=10)
        after = view.get('trace', wait=before)
    if after['generation'] <= before or 'damage' not in after['files'][0]:
        return f'{before} is followed by {after["generation"]}, {after["files"]}'
    return ''


def check_port(t, directory):
    """The same files are where they were, unless somebody else is there; other files are elsewhere."""
    paths = [made(directory, name, SWITCHES) for name in ('here', 'there')]
    with View(t, paths[:1]) as first:
        with View(t, paths[:1]) as beside:
            ports = [first.server.port, beside.server.port]
    with View(t, paths[:1]) as again, View(t, paths) as others:
        ports += [again.server.port, others.server.port]
    return '' if ports[0] == ports[2] and len(set(ports)) == 3 else f'{ports}'


def check(t):
    with tempfile.TemporaryDirectory() as directory:
        path = made(directory, 'plain', LINES)
        with View(t, [path]) as view:
            t.check('no searches', check_no_searches(view))
            t.check('a field that no event has', check_warning(t, view, path))
            t.check('the last time', check_last_time(view))
            t.check('texts that are cut off', check_cut(view))
        t.check('names of several files', check_schemas(t, directory))
        t.check('damage while it is open', check_damage(t, directory))
        t.check('the same port', check_port(t, directory))
