# SPDX-License-Identifier: GPL-2.0-or-later
"""What `spur view` answers about files, good and bad ones. Started by tests/view/run."""
import contextlib
import glob
import http.client
import json
import os
import signal
import socket
import struct
import sys
import tempfile
import time

sys.path.insert(0, 'tests/tables')
import harness
import mktrace
from server import PATIENCE, SAMPLE, serving

# Names of tasks, each of 15 bytes. In the answers they are texts and nothing else.
HOSTILE = [name.ljust(15, b'.') for name in (
    b'<script>a()//">', b'"}],"x":[{"y":1', b"'\\u0041&amp;\\n", b'\xff\xfe\xc3(\xe2\x82 text',
    '\u202eabc\u2028\u00e9'.encode(), b'\x01\x1b[31m\x7f\t\r\nabcd')]
WORST_QUERY = 'with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n'

# ---- work ----

def ask_and_leave(s):
    """Has it work on something that does not end; the connection, which is to be closed."""
    c = socket.create_connection(('127.0.0.1', s.port), timeout=PATIENCE)
    body = json.dumps({'query': WORST_QUERY})
    c.sendall(s.fill(f'POST /api/sql HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nAuthorization: Bearer TOKEN\r\n'
                     f'Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}').encode())
    before, end = harness.ticks(s.child.pid), time.monotonic() + PATIENCE
    while harness.ticks(s.child.pid) < before + 5 and time.monotonic() < end:
        time.sleep(0.02)
    return c


def check_left(t, s):
    ask_and_leave(s).close()
    end, before = time.monotonic() + PATIENCE, -1
    while time.monotonic() < end and harness.ticks(s.child.pid) != before:
        before = harness.ticks(s.child.pid)
        time.sleep(0.5)
    t.check('nobody waits, nothing is done', '' if harness.ticks(s.child.pid) == before else 'it goes on')


# ---- answers ----

def take(data, at, code, n):
    """An array of an answer with tiles, and where the next one begins."""
    size = struct.calcsize('<' + code)
    return struct.unpack_from(f'<{n}{code}', data, at), at + (n * size + 7) // 8 * 8


def decode_tiles(data):
    magic, left, generation = struct.unpack_from('<4sIQ', data)
    if magic != b'SPT1':
        raise ValueError(f'magic {magic}')
    chunks, at = [], 16
    for _ in range(left):
        row, track, mode, complete, n, zero = struct.unpack_from('<IHBBII', data, at)
        arrays, at = [], at + 16
        for code in {1: 'ddII', 2: 'IIdII'}[mode]:
            array, at = take(data, at, code, n)
            arrays.append(array)
        if zero or complete > 1:
            raise ValueError(f'row {row}: {zero} {complete}')
        chunks.append((row, track, mode, list(zip(*arrays))))
    if at != len(data):
        raise ValueError(f'{len(data) - at} bytes are left')
    return generation, chunks


def count_events(s, level, rows):
    """Records by row, as the tiles of a level that cover the trace count them."""
    counts, tracks = {}, {r['row']: {k['track']: k['kind'] for k in r['tracks']} for r in rows}
    last = (s.json('trace')['duration'] >> level) // 512
    for tile in range(last + 1):
        status, headers, data = s.request(f'/api/tiles?level={level}&tile={tile}&rows=0-{len(rows)}')
        if status != 200 or headers['Content-Type'] != 'application/octet-stream':
            raise ValueError(f'{status} {headers["Content-Type"]}')
        for row, track, mode, items in decode_tiles(data)[1]:
            if tracks[row][track] == 'events':
                n = sum(i[1] for i in items) if mode == 2 else sum(1 + i[3] for i in items)
                counts[row] = counts.get(row, 0) + n
    return counts


def check_tiles(t, s):
    trace = s.indexed()
    rows = s.json('rows')
    wanted = {r['row']: r['events'] for r in rows if r['events'] and r['kind'] != 'counter'}
    for level in (14, 17, 20, 30, 45):
        try:
            counts = count_events(s, level, rows)
            why = '' if counts == wanted else f'{counts} instead of {wanted}'
        except (ValueError, KeyError, struct.error) as error:
            why = repr(error)
        t.check(f'tiles of level {level} have all records', why)
    cpus = sum(r['events'] for r in rows if r['kind'] == 'cpu')
    t.check('counts agree', '' if cpus == trace['files'][0]['events'] == sum(e['count'] for e in trace['events']) else
            f'{cpus} on CPUs, {trace["files"]}, {sum(e["count"] for e in trace["events"])} by type')


def check_trace(t, s):
    trace = s.indexed()
    report = t.run(['info', '--json', SAMPLE])
    info = json.loads(report.out)
    t.check('the trace is what spur info says', '' if trace['origin'] == str(info['first']) and
            trace['duration'] == info['last'] - info['first'] and trace['files'][0]['events'] == info['events'] and
            {(e['system'], e['name']): e['count'] for e in trace['events']} ==
            {(e['system'], e['event']): e['count'] for e in info['types']} else trace)
    again = s.json(f'trace?wait={trace["generation"] - 1}')
    t.check('who knows less does not wait', '' if again == trace else again)


def hostile_trace(path):
    """A trace whose tasks have names of 15 arbitrary bytes."""
    lines, names = [], [f'name{i:011d}' for i in range(len(HOSTILE))]
    for i, name in enumerate(names):
        lines += [f'{1000 * i + 1000} 0 0 switch swapper/0:0 R {name}:{100 + i}',
                  f'{1000 * i + 1500} 0 {100 + i} switch {name}:{100 + i} S swapper/0:0']
    lines += [f'comm {100 + i} {name}' for i, name in enumerate(names)]
    data = mktrace.make(lines)
    for name, hostile in zip(names, HOSTILE):
        data = data.replace(name.encode(), hostile)
    with open(path, 'wb') as file:
        file.write(data)


def as_text(name):
    """What JSON makes of bytes: those that are no UTF-8 are the characters of that number."""
    out = ''
    while name:
        for n in (4, 3, 2, 1):
            with contextlib.suppress(UnicodeDecodeError):
                piece = name[:n].decode()
                if len(piece) == 1:
                    out, name = out + piece, name[n:]
                    break
        else:
            out, name = out + chr(name[0]), name[1:]
    return out


def check_names(t, directory):
    path = os.path.join(directory, '<img src=x onerror=y>".dat')
    hostile_trace(path)
    with serving(t, path) as s:
        trace, rows = s.indexed(), {r.get('pid'): r.get('comm') for r in s.json('rows')}
        status, found = s.post('sql', {'query': 'select distinct next_comm from sched_switch where next_pid >= 100'})
    with open(path, 'wb') as file:
        file.write(mktrace.make(['followed 0 100', '1000 0 0 switch swapper/0:0 R mine:100']))
    with serving(t, path) as s:
        followed = s.indexed()['files'][0].get('missing', '')
    t.check('whose events were recorded', '' if followed.startswith('only the events of 1 task were') else followed)
    t.check('the name of a file is a text', '' if trace['files'][0]['path'] == path else trace['files'])
    # A line's end cannot be part of a name in a list of lines: such a task is known by its switches.
    for i, name in enumerate(HOSTILE):
        text = as_text(name)
        t.check(f'the name of a task is a text, {i}', '' if status == 200 and [text] in found['rows'] and
                (rows[100 + i] == text or b'\n' in name) else f'{rows.get(100 + i)!r} {found}')


# ---- files ----

def check_files(t, directory):
    there = os.path.join(directory, 'not-there.dat')
    for name, args, status, words in (('one that is not there', [there], 2, 'No such file'),
                                      ('a folder', [directory], 2, directory),
                                      ('too many of them', 65 * [SAMPLE], 1, '64'),
                                      ('no port', ['--port', '65536', SAMPLE], 1, '65535'),
                                      ('no address', ['--bind', 'nowhere.example', SAMPLE], 1, 'nowhere.example'),
                                      ('an address of others', ['--bind', '192.0.2.1', SAMPLE], 2, '192.0.2.1')):
        s = serving(t, *args)
        ended, said = s.end(), s.said()
        t.check(f'refused: {name}', '' if ended == status and words in said and not s.url else f'{ended}: {said}')
    t.run(['export', '-q', '--to', 'ctf', '-o', f'{directory}/ctf', SAMPLE])
    with serving(t, f'{directory}/ctf') as s:
        files = s.indexed()['files']
        t.check('a trace that is a folder', '' if files[0].get('events') == 908 and 'error' not in files[0] else files)
    with serving(t, there, SAMPLE, 'Makefile') as s:
        files = s.indexed()['files']
        t.check('some files open, others have a message', '' if 'No such file' in files[0]['error'] and
                files[1]['events'] and 'error' not in files[1] and files[2]['error'] else files)
    with serving(t, 'Makefile') as s:
        trace = s.indexed()
        rows, tiles = s.json('rows'), s.ask('tiles?level=20&tile=0&rows=0-1')[0]
        ended, said = s.end(), s.said()
    t.check('one that is no trace has a page with the message', '' if 'Makefile' in trace['files'][0]['error'] and
            trace['files'][0]['error'] in said and not rows and tiles < 500 and ended == 4 else f'{trace} {ended} {said}')
    taken = socket.create_server(('127.0.0.1', 0))
    with contextlib.closing(taken):
        s = serving(t, '--port', str(taken.getsockname()[1]), SAMPLE)
        ended = s.end()
    t.check('refused: a port that is taken', '' if ended == 2 and 'taken' in s.said() else f'{ended} {s.said()}')


def check_several(t):
    """Two files with other times: rows, events and tiles of both, on one time line."""
    paths = [SAMPLE, f'{harness.recordings()["g-fgraph-v7"]}/trace.dat', SAMPLE]
    with serving(t, *paths) as s:
        trace, rows = s.indexed(), s.json('rows')
        try:
            counts = count_events(s, 36, rows)
        except (ValueError, KeyError, struct.error) as error:
            counts = repr(error)
    by_file = [sum(r['events'] for r in rows if r['kind'] == 'cpu' and r['file'] == i) for i in range(3)]
    t.check('rows of several files', '' if [r['row'] for r in rows] == list(range(len(rows))) and
            by_file == [f['events'] for f in trace['files']] and by_file[0] == by_file[2] else by_file)
    t.check('tiles of several files', '' if counts == {r['row']: r['events'] for r in rows if r['events'] and
                                                      r['kind'] != 'counter'} else counts)
    t.check('event types of several files', '' if len({e['id'] for e in trace['events']}) == len(trace['events']) and
            {e['file'] for e in trace['events']} == {0, 1, 2} else trace['events'])
    t.check('buffers of several files', '' if all(trace['buffers'][r['buffer']]['file'] == r['file'] for r in rows)
            else trace['buffers'])


def open_bad(t, path):
    """'' when a bad file is served along with a good one, and all of it can be asked for."""
    with serving(t, '--no-cache', path, SAMPLE) as s:
        try:
            trace = s.indexed()
            rows = s.json('rows')
            for level in (10, 20, 40):
                decode_tiles(s.ask(f'tiles?level={level}&tile=0&rows=0-{len(rows)}')[1])
        except (OSError, ValueError, http.client.HTTPException, struct.error) as error:
            return f'{error!r} {s.said()[:300]}'
        status = s.end()
        if status != 0:
            return f'status {status} {s.said()[:300]}'
    if trace['progress'] != 1:
        return 'it does not get ready'
    return '' if trace['files'][1].get('events') else trace['files']


def open_alone(t, path):
    """'' when a bad file on its own has a page: with what can be read of it, or with a message."""
    with serving(t, '--no-cache', path) as s:
        try:
            about = s.indexed()['files'][0]
            page = s.request('/')[0]
        except (OSError, ValueError, http.client.HTTPException) as error:
            return f'{error!r} {s.said()[:300]}'
        status = s.end()
    if status not in ((0,) if 'error' not in about else (2, 3, 4)):
        return f'status {status} {about} {s.said()[:300]}'
    return '' if page == 200 and ('events' in about or about['error']) else f'{page} {about}'


def check_bad_files(t):
    paths = sorted(glob.glob(harness.unpack('tests/bad/badfiles.tar.xz') + '/*.dat'))
    for path, why in zip(paths, harness.parallel(lambda path: open_alone(t, path), paths)):
        t.check(f'bad: {os.path.basename(path)} alone', why)
    for path, why in zip(paths, harness.parallel(lambda path: open_bad(t, path), paths)):
        t.check(f'bad: {os.path.basename(path)}', why)
    empty = [p for p in paths if os.path.basename(p) in ('empty.dat', 'not-a-trace.dat')]
    with serving(t, SAMPLE, *empty) as s:
        files = s.json('trace')['files']
    t.check('bad files have a message', '' if empty and all(os.path.basename(f['path']) in f.get('error', '')
                                                           for f in files[1:]) else files)


# ---- the process ----

def check_end(t):
    for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        s = serving(t, SAMPLE)
        status = s.end(sig)
        t.check(f'{sig.name} ends it', '' if s.port and status == 0 and not s.said() else f'{status} {s.said()}')
    s = serving(t, SAMPLE)
    with contextlib.closing(ask_and_leave(s)):
        status = s.end()
    t.check('SIGINT ends it while it works', '' if status == 0 else f'{status} {s.said()}')


def check(t):
    with serving(t, SAMPLE) as s:
        check_left(t, s)
        check_trace(t, s)
        check_tiles(t, s)
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)
        check_names(t, directory)
        check_files(t, directory)
    check_several(t)
    check_bad_files(t)
    check_end(t)
