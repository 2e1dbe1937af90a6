# SPDX-License-Identifier: GPL-2.0-or-later
"""How `spur view` serves: who is let in, what is refused, what is left of the process's privileges.

Started by tests/view/run. REQUESTS is the table to add to.
"""
import concurrent.futures
import contextlib
import glob
import http.client
import json
import os
import signal
import socket
import stat
import struct
import sys
import tempfile
import time

sys.path.insert(0, 'tests/tables')
import harness
import mktrace
from server import AUTH, JSON, PATIENCE, Server

SAMPLE = 'data/sample.dat'

# Names of tasks, each of 15 bytes. In the answers they are texts and nothing else.
HOSTILE = [name.ljust(15, b'.') for name in (
    b'<script>a()//">', b'"}],"x":[{"y":1', b"'\\u0041&amp;\\n", b'\xff\xfe\xc3(\xe2\x82 text',
    '\u202eabc\u2028\u00e9'.encode(), b'\x01\x1b[31m\x7f\t\r\nabcd')]
WORST_QUERY = 'with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n'

# name: method, path, headers, body, statuses that are right. TOKEN and PORT are replaced.
REQUESTS = {
    'no token': ('GET', '/', {}, None, 401),
    'no token, a question': ('GET', '/api/trace', {}, None, 401),
    'no token, a file': ('GET', '/main.js', {}, None, 401),
    'a wrong token': ('GET', '/api/trace', {'Authorization': 'Bearer ' + 40 * '0'}, None, 401),
    'part of the token': ('GET', '/api/trace', {'Authorization': 'Bearer TOKE'}, None, 401),
    'an empty token': ('GET', '/?token=', {}, None, 401),
    'a wrong link': ('GET', '/?token=' + 40 * '0', {}, None, 401),
    'the link of something else': ('GET', '/api/trace?token=TOKEN', {}, None, 401),
    'the right token': ('GET', '/api/trace', AUTH, None, 200),
    'the cookie': ('GET', '/api/trace', {'Cookie': 'a=b; spur-PORT=TOKEN'}, None, 200),
    'the cookie of another port': ('GET', '/api/trace', {'Cookie': 'spur-1=TOKEN'}, None, 401),
    'the link': ('GET', '/?token=TOKEN', {}, None, 303),
    'localhost': ('GET', '/api/trace', {**AUTH, 'Host': 'localhost:PORT'}, None, 200),
    'a name that leads here': ('GET', '/api/trace', {**AUTH, 'Host': 'evil.example:PORT'}, None, 403),
    'another port': ('GET', '/api/trace', {**AUTH, 'Host': '127.0.0.1:1'}, None, 403),
    'no port': ('GET', '/api/trace', {**AUTH, 'Host': '127.0.0.1'}, None, 403),
    'the link under another name': ('GET', '/?token=TOKEN', {'Host': 'evil.example:PORT'}, None, 403),
    "the page's own origin": ('GET', '/api/trace', {**AUTH, 'Origin': 'http://127.0.0.1:PORT'}, None, 200),
    'another origin': ('GET', '/api/trace', {**AUTH, 'Origin': 'http://evil.example'}, None, 403),
    'no origin to speak of': ('GET', '/api/trace', {**AUTH, 'Origin': 'null'}, None, 403),
    'another origin posts': ('POST', '/api/sql', {**AUTH, **JSON, 'Origin': 'http://evil.example'}, '{}', 403),
    'another site': ('GET', '/api/trace', {**AUTH, 'Sec-Fetch-Site': 'cross-site'}, None, 403),
    'the same site': ('GET', '/api/trace', {**AUTH, 'Sec-Fetch-Site': 'same-origin'}, None, 200),
    'DELETE': ('DELETE', '/api/trace', AUTH, None, 405),
    'PUT': ('PUT', '/api/trace', AUTH, 'x', 405),
    'OPTIONS': ('OPTIONS', '/api/trace', AUTH, None, 405),
    'TRACE': ('TRACE', '/', AUTH, None, 405),
    'a POST of what is read': ('POST', '/api/trace', {**AUTH, **JSON}, '{}', 405),
    'a GET of what is posted': ('GET', '/api/sql', AUTH, None, 405),
    'a POST of the page': ('POST', '/', {**AUTH, **JSON}, '{}', 405),
    'a POST without a type': ('POST', '/api/sql', AUTH, '{}', 415),
    'a POST of a form': ('POST', '/api/sql', {**AUTH, 'Content-Type': 'text/plain'}, '{}', 415),
    'a POST of no JSON': ('POST', '/api/sql', {**AUTH, **JSON}, '{"query":', 400),
    'a POST of another JSON': ('POST', '/api/sql', {**AUTH, **JSON}, '[1]', 400),
    'a question in SQL': ('POST', '/api/sql', {**AUTH, **JSON}, '{"query":"select 1"}', 200),
    'no SQL': ('POST', '/api/sql', {**AUTH, **JSON}, '{"query":"selekt"}', 400),
    'SQL that writes': ('POST', '/api/sql', {**AUTH, **JSON}, '{"query":"attach \'/tmp/x\' as x"}', 400),
    'up': ('GET', '/../../etc/passwd', AUTH, None, 404),
    'up, in disguise': ('GET', '/..%2f..%2fetc%2fpasswd', AUTH, None, 404),
    'up, in another one': ('GET', '/%2e%2e/%2e%2e/etc/passwd', AUTH, None, 404),
    'up from the questions': ('GET', '/api/../index.html', AUTH, None, 404),
    'two slashes': ('GET', '//etc/passwd', AUTH, None, 404),
    'a folder': ('GET', '/api', AUTH, None, 404),
    'an unknown file': ('GET', '/nonsense.js', AUTH, None, 404),
    'a file of another kind': ('GET', '/meson.build', AUTH, None, 404),
    'an unknown question': ('GET', '/api/nonsense', AUTH, None, 404),
    'rows from nowhere': ('GET', '/api/rows?from=99999999', AUTH, None, 200),
    'rows from no number': ('GET', '/api/rows?from=-1', AUTH, None, 400),
    'tiles without anything': ('GET', '/api/tiles', AUTH, None, 400),
    'tiles of no rows': ('GET', '/api/tiles?level=20&tile=0&rows=x', AUTH, None, 400),
    'tiles of no level': ('GET', '/api/tiles?level=64&tile=0&rows=0', AUTH, None, 400),
    'a tile behind the end of time': ('GET', '/api/tiles?level=50&tile=99&rows=0', AUTH, None, 400),
    'a very long address': ('GET', '/api/trace?' + 60000 * 'a', AUTH, None, (413, 414, 431)),
    'a very long header': ('GET', '/api/trace', {**AUTH, 'X-Long': 60000 * 'a'}, None, (413, 431)),
    'very many headers': ('GET', '/api/trace', {**AUTH, **{f'X-{i}': 'a' for i in range(5000)}}, None, (413, 431)),
    'a body that says it is too long': ('POST', '/api/sql', {**AUTH, **JSON, 'Content-Length': '1000000000'}, None, 413),
    'a body whose length is no number': ('POST', '/api/sql', {**AUTH, **JSON, 'Content-Length': 'x'}, None, 400),
}

# Every answer has these.
HEADERS = {
    'Content-Security-Policy': "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
                               "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-store',
    'Access-Control-Allow-Origin': None,
}


def serving(t, *args, env=None):
    return Server(t, args, '--no-open', env=env)


# ---- requests ----

def verdict(s, method, path, headers, body, wanted):
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    try:
        status, got, text = s.request(path, method, headers, body and body.encode())
    except (OSError, http.client.HTTPException) as error:
        return f'no answer: {error!r}'
    if status not in wanted:
        return f'{status} instead of {wanted}: {text[:200]}'
    # Those that are about the request's form come from the library, before it is known what is asked.
    if status in (413, 414, 431) or (status == 400 and b'error' not in text):
        return ''
    wrong = [f'{name}: {got[name]}' for name, value in HEADERS.items() if got[name] != value]
    if status >= 400 and path.startswith('/api/') and 'error' not in json.loads(text):
        wrong.append(f'no message in {text[:100]}')
    return '; '.join(wrong)


def check_requests(t, s):
    for name, request in REQUESTS.items():
        t.check(f'request: {name}', verdict(s, *request))
    t.check('all of that has done no harm', '' if s.json('trace')['files'] else 'it has')


def check_link(t, s):
    status, headers, _ = s.request('/?token=TOKEN', headers={})
    cookie = headers['Set-Cookie'] or ''
    words = {w.strip() for w in cookie.split(';')}
    t.check('a link becomes a cookie', '' if status == 303 and headers['Location'] == '/' and
            {'HttpOnly', 'SameSite=Strict', 'Path=/', s.fill('spur-PORT=TOKEN')} == words else cookie)


def check_head(t, s):
    _, headers, body = s.request('/api/rows')
    status, others, nothing = s.request('/api/rows', 'HEAD')
    t.check('HEAD is GET without the body', '' if status == 200 and nothing == b'' and body and
            others['Content-Length'] == headers['Content-Length'] else f'{status} {others} {len(nothing)}')


def check_chunked(t, s):
    """A body that does not say how long it is."""
    with socket.create_connection(('127.0.0.1', s.port), timeout=PATIENCE) as c:
        c.sendall(s.fill('POST /api/sql HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nAuthorization: Bearer TOKEN\r\n'
                         'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n').encode())
        sent, piece = 0, b'10000\r\n' + 65536 * b'a' + b'\r\n'
        try:
            while sent < 256 << 20:
                c.sendall(piece)
                sent += 65536
        except OSError:
            pass
    t.check('a body without an end is cut off', '' if sent < 64 << 20 else f'it took {sent} bytes')


def check_many(t, s):
    """Those that say nothing do not keep the others from being answered."""
    with contextlib.ExitStack() as stack:
        for i in range(30):
            c = stack.enter_context(socket.create_connection(('127.0.0.1', s.port), timeout=PATIENCE))
            c.sendall(b'GET /api/trace HTTP/1.1\r\nHo'[:i])
        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            answers = set(pool.map(lambda _: s.ask('rows')[1], range(100)))
    t.check('many clients, and slow ones', '' if len(answers) == 1 and json.loads(answers.pop()) else 'answers differ')


def ticks(pid):
    """What the process has used of its CPUs."""
    with open(f'/proc/{pid}/stat', encoding='ascii', errors='replace') as file:
        return sum(map(int, file.read().rsplit(')', 1)[1].split()[11:13]))


def ask_and_leave(s):
    """Has it work on something that does not end; the connection, which is to be closed."""
    c = socket.create_connection(('127.0.0.1', s.port), timeout=PATIENCE)
    body = json.dumps({'query': WORST_QUERY})
    c.sendall(s.fill(f'POST /api/sql HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nAuthorization: Bearer TOKEN\r\n'
                     f'Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}').encode())
    before, end = ticks(s.child.pid), time.monotonic() + PATIENCE
    while ticks(s.child.pid) < before + 5 and time.monotonic() < end:
        time.sleep(0.02)
    return c


def check_left(t, s):
    ask_and_leave(s).close()
    end, before = time.monotonic() + PATIENCE, -1
    while time.monotonic() < end and ticks(s.child.pid) != before:
        before = ticks(s.child.pid)
        time.sleep(0.5)
    t.check('nobody waits, nothing is done', '' if ticks(s.child.pid) == before else 'it goes on')


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

def status_of(pid):
    with open(f'/proc/{pid}/status', encoding='utf-8', errors='replace') as file:
        return dict(line.rstrip('\n').split(':\t', 1) for line in file if ':\t' in line)


def children_of(pid):
    with open(f'/proc/{pid}/task/{pid}/children', encoding='ascii') as file:
        return [int(word) for word in file.read().split()]


def check_end(t):
    for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        s = serving(t, SAMPLE)
        status = s.end(sig)
        t.check(f'{sig.name} ends it', '' if s.port and status == 0 and not s.said() else f'{status} {s.said()}')
    s = serving(t, SAMPLE)
    with contextlib.closing(ask_and_leave(s)):
        status = s.end()
    t.check('SIGINT ends it while it works', '' if status == 0 else f'{status} {s.said()}')


def check_folders(t, directory):
    """What it writes is where it was told to, and nothing is left elsewhere."""
    temp, cache = os.path.join(directory, 'temp'), os.path.join(directory, 'cache')
    os.mkdir(temp)
    os.chmod(temp, 0o1777)
    os.mkdir(cache)
    os.chmod(cache, 0o777)
    with serving(t, '--cache', cache, SAMPLE, env={'TMPDIR': temp}) as s:
        s.indexed()
        modes = {stat.S_IMODE(os.stat(os.path.join(temp, name)).st_mode) for name in os.listdir(temp)}
        status, _ = s.post('sql', {'query': 'select * from (select * from events order by ts desc) limit 1'})
    t.check('temporary files are private', '' if modes == {0o700} and status == 200 else f'{modes} {status}')
    t.check('nothing is left of them', '' if not os.listdir(temp) else os.listdir(temp))


def check_confined(t):
    with serving(t, SAMPLE) as s:
        status = status_of(s.child.pid)
        names = [status_of(c)['Name'] for c in children_of(s.child.pid)]
    t.check('no new privileges', '' if status['NoNewPrivs'] == '1' else status['NoNewPrivs'])
    t.check('system calls are filtered', '' if status['Seccomp'] == '2' else status['Seccomp'])
    t.check('it cannot do what root can', '' if int(status['CapEff'], 16) == 0 else status['CapEff'])
    if os.geteuid() != 0:
        t.skip('root is given up', 'needs root')
        return
    t.check('root is given up', '' if '0' not in status['Uid'].split() + status['Gid'].split() and
            not status['Groups'].strip() else f'{status["Uid"]} {status["Gid"]} {status["Groups"]}')
    t.check('only the broker stays', '' if names == ['spur-broker'] else names)
    with serving(t, SAMPLE, env={'SUDO_UID': '1', 'SUDO_GID': '1'}) as s:
        uid = status_of(s.child.pid)['Uid']
    t.check('it becomes who called sudo', '' if uid.split() == 4 * ['1'] else uid)
    for args in (['--no-record'], ['--bind', '0.0.0.0']):
        with serving(t, *args, SAMPLE) as s:
            left, can = children_of(s.child.pid), s.json('trace')['can_record']
            refused, _ = s.post('record/start', {'events': ['sched_switch']})
            said = s.said()
        t.check(f'nobody records with {args[0]}', '' if not left and not can and refused == 403 else
                f'{left} {can} {refused}')
    t.check('--bind warns', '' if '0.0.0.0' in said and 'token' in said else said)


def check_browser(t, directory):
    """The browser is the user's, and gets a link that opens once."""
    told, program = os.path.join(directory, 'told'), os.path.join(directory, 'browser')
    with open(program, 'w', encoding='ascii') as file:
        file.write(f'#!/bin/sh\necho "$(id -u) $1" > {told}.new\nmv {told}.new {told}\n')
    os.chmod(program, 0o755)
    os.chmod(directory, 0o777)
    sudo = {'SUDO_UID': '1', 'SUDO_GID': '1'} if os.geteuid() == 0 else {}
    s, end = Server(t, [SAMPLE], env={'BROWSER': program, **sudo}), time.monotonic() + PATIENCE
    try:
        while not os.path.exists(told) and time.monotonic() < end:
            time.sleep(0.05)
        with open(told, encoding='ascii') as file:
            uid, url = file.read().split()
        link = url.partition(f':{s.port}')[2]
        statuses = [s.request(link, headers={})[0] for _ in range(2)]
    except (OSError, ValueError) as error:
        uid, url, statuses = '', repr(error), []
    finally:
        s.end()
    t.check('a browser is opened, as the user', '' if uid == sudo.get('SUDO_UID', str(os.geteuid())) else f'{uid} {url}')
    t.check('its link opens once', '' if statuses == [303, 401] and s.token not in url else f'{statuses} {url}')
    if os.geteuid() == 0:
        os.unlink(told)
        s = Server(t, [SAMPLE], env={'BROWSER': program, 'SUDO_UID': '', 'SUDO_GID': ''})
        s.request('/')
        s.end()
        t.check("root's browser stays closed", '' if not os.path.exists(told) else 'it was opened')


# ---- recording ----

def why_no_recording():
    if os.geteuid() != 0:
        return 'needs root'
    return '' if os.path.exists('/sys/kernel/tracing/instances') else 'no tracefs is mounted'


def instances():
    """Those of this program; others may come and go."""
    return {name for name in os.listdir('/sys/kernel/tracing/instances') if name.startswith('spur-')}


def check_recording(t, directory):
    if why_no_recording():
        t.skip('recording', why_no_recording())
        return
    before = instances()
    with serving(t, SAMPLE, env={'TMPDIR': directory}) as s:
        found = s.json('record/events?match=sched_swi')
        t.check('events are listed', '' if 'sched:sched_switch' in found['events'] and
                found['total'] == len(found['events']) else found)
        every = s.json('record/events?match=')
        t.check('not too many of them', '' if every['total'] > len(every['events']) == 500 else
                f'{every["total"]} {len(every["events"])}')
        for wrong in ([], ['../../x'], ['a b'], ['sched_switch\n'], ['-e'], ['nonsense_event'], [1], 501 * ['sched_switch'],
                      ['x' * 300]):
            status, answer = s.post('record/start', {'events': wrong})
            t.check(f'not recorded: {str(wrong)[:30]}', '' if status in (400, 413) and answer['error'] else f'{status} {answer}')
        status, answer = s.post('record/start', {'events': ['sched_switch'], 'filter': 'nonsense == 1'})
        t.check('not recorded: a wrong filter', '' if status == 400 and answer['error'] else f'{status} {answer}')
        status, answer = s.post('record/stop', {})
        t.check('nothing runs, nothing stops', '' if status >= 400 else answer)
        check_one_recording(t, s)
    t.check('the kernel is as it was', '' if instances() <= before else instances() - before)
    with serving(t, SAMPLE, env={'TMPDIR': directory}) as s:
        s.post('record/start', {'events': ['sched_switch']})
        broker, running = children_of(s.child.pid)[0], instances() - before
        s.child.kill()
        s.child.wait()
        end = time.monotonic() + PATIENCE
        while (os.path.exists(f'/proc/{broker}') or instances() - before) and time.monotonic() < end:
            time.sleep(0.1)
    t.check('killed, and the kernel is as it was', '' if running and not instances() - before and
            not os.path.exists(f'/proc/{broker}') else f'{running} {instances() - before}')


def check_one_recording(t, s):
    before = s.indexed()
    status, answer = s.post('record/start', {'events': ['sched:sched_switch'], 'filter': 'prev_pid != 0'})
    second, _ = s.post('record/start', {'events': ['sched_switch']})
    state, end = s.json('record/state'), time.monotonic() + PATIENCE
    while not state['events'] and time.monotonic() < end:
        time.sleep(0.1)
        state = s.json('record/state')
    stopped, told = s.post('record/stop', {})
    after = s.indexed()
    t.check('a recording runs', '' if status == 200 and state['state'] == 'recording' and state['events'] else
            f'{status} {answer} {state}')
    t.check('one at a time', '' if second == 409 else second)
    t.check('it becomes one more file', '' if stopped == 200 and len(after['files']) == 2 and
            after['files'][1]['path'] == told['path'] and after['files'][1].get('events') and
            after['generation'] > before['generation'] else f'{stopped} {told} {after["files"]}')
    report = t.run(['report', '-i', told.get('path', '')])
    lines = [line for line in report.out.decode(errors='replace').splitlines() if 'sched_switch' in line]
    t.check('it is what was asked for', '' if report.status == 0 and len(lines) == after['files'][1]['events'] and
            not any('swapper' in line.split('==>')[0].split('sched_switch:')[1] for line in lines) else report.err)
    s.post('record/start', {'events': ['sched_switch'], 'seconds': 1})
    while (state := s.json('record/state'))['state'] == 'recording' and time.monotonic() < end:
        time.sleep(0.1)
    files = s.json('trace')['files']
    t.check('it ends after the time it was given', '' if state['state'] == 'done' and len(files) == 3 and
            files[2]['path'] == state['path'] else f'{state} {files}')


def check(t):
    with serving(t, SAMPLE) as s:
        check_requests(t, s)
        check_link(t, s)
        check_head(t, s)
        check_chunked(t, s)
        check_many(t, s)
        check_left(t, s)
        check_trace(t, s)
        check_tiles(t, s)
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)
        check_names(t, directory)
        check_files(t, directory)
        check_folders(t, directory)
        check_browser(t, directory)
        check_recording(t, directory)
    check_several(t)
    check_bad_files(t)
    check_end(t)
    check_confined(t)
