# SPDX-License-Identifier: GPL-2.0-or-later
"""Whom `spur view` lets in, and what it refuses. Started by tests/view/run. REQUESTS is the table to add to."""
import concurrent.futures
import contextlib
import http.client
import json
import os
import pty
import socket
import threading

from server import AUTH, JSON, LINK, PATIENCE, SAMPLE, serving

# name: method, path, headers, body, statuses that are right. TOKEN and PORT are replaced.
REQUESTS = {
    'the page needs no secret': ('GET', '/', {}, None, 200),
    'nor do its files': ('GET', '/main.js', {}, None, 200),
    'the page under another name': ('GET', '/', {'Host': 'evil.example:PORT'}, None, 403),
    "a file of the page for another site's": ('GET', '/main.js', {'Sec-Fetch-Site': 'cross-site'}, None, 403),
    'no secret, a question': ('GET', '/api/trace', {}, None, 401),
    'no secret, an unknown question': ('GET', '/api/nonsense', {}, None, 401),
    'no secret, a POST': ('POST', '/api/sql', JSON, '{"query":"select 1"}', 401),
    'a wrong secret': ('GET', '/api/trace', {'Authorization': 'Bearer ' + 40 * '0'}, None, 401),
    'part of the secret': ('GET', '/api/trace', {'Authorization': 'Bearer TOKE'}, None, 401),
    'the secret in the address': ('GET', '/api/trace?token=TOKEN', {}, None, 401),
    'the secret as a cookie': ('GET', '/api/trace', {'Cookie': 'spur-PORT=TOKEN; token=TOKEN'}, None, 401),
    'the right secret': ('GET', '/api/trace', AUTH, None, 200),
    'a wrong link': ('POST', '/api/session', JSON, json.dumps({'link': 40 * '0'}), 401),
    'an empty link': ('POST', '/api/session', JSON, '{"link":""}', 401),
    'a link that is no text': ('POST', '/api/session', JSON, '{"link":[1]}', 401),
    'no link': ('POST', '/api/session', JSON, '{}', 401),
    'a link of a form': ('POST', '/api/session', {'Content-Type': 'text/plain'}, '{"link":"TOKEN"}', 415),
    'a link of another origin': ('POST', '/api/session', {**JSON, 'Origin': 'http://evil.example'}, '{}', 403),
    'a link of another site': ('POST', '/api/session', {**JSON, 'Sec-Fetch-Site': 'cross-site'}, '{}', 403),
    'a very long link': ('POST', '/api/session', JSON, json.dumps({'link': 2000 * '0'}), 413),
    'a GET of the exchange': ('GET', '/api/session', {}, None, 401),
    'localhost': ('GET', '/api/trace', {**AUTH, 'Host': 'localhost:PORT'}, None, 200),
    'a name that leads here': ('GET', '/api/trace', {**AUTH, 'Host': 'evil.example:PORT'}, None, 403),
    'another port': ('GET', '/api/trace', {**AUTH, 'Host': '127.0.0.1:1'}, None, 403),
    'no port': ('GET', '/api/trace', {**AUTH, 'Host': '127.0.0.1'}, None, 403),
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
    'Set-Cookie': None,
}


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
    """A link is good for one exchange, whatever was tried with it before."""
    link = s.link()
    own = {**JSON, 'Origin': s.fill('http://127.0.0.1:PORT')}
    t.check('links differ', '' if link not in (s.token, s.link()) and link not in s.printed else link)
    elsewhere = s.follow(link, {**JSON, 'Origin': 'http://evil.example'})[0]
    cut, session = s.follow(link[:-1])[0], s.follow(s.token)[0]
    t.check('a link of others is not followed', '' if (elsewhere, cut, session) == (403, 401, 401) else
            f'{elsewhere} {cut} {session}')
    alone = s.request('/api/trace', headers={'Authorization': f'Bearer {link}'})[0]
    t.check('a link is no session', '' if alone == 401 else alone)
    first, second = s.follow(link, own), s.follow(link, own)
    t.check('a link opens', '' if first[0] == 200 and json.loads(first[2]) == {'session': s.token} else first)
    t.check('a link opens once', '' if second[0] == 401 and s.token not in str(second) and b'Enter' in second[2] else second)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        link = s.link()
        statuses = sorted(pool.map(lambda _: s.follow(link)[0], range(8)))
    t.check('a link opens once when many try', '' if statuses == [200] + 7 * [401] else statuses)
    page = b''.join(s.request(path, headers={})[2] for path in ('/', '/main.js', '/api.js'))
    t.check('no secret is in the page', '' if s.token.encode() not in page else 'there is')


def check_enter(t):
    """Enter where it runs prints one more link."""
    ours, its = pty.openpty()
    with open(its, 'rb') as terminal, serving(t, SAMPLE, stdin=terminal) as s:
        os.write(ours, b'\n')
        found = LINK.fullmatch(s.child.stdout.readline().decode().strip())
        status = s.follow(found[3])[0] if found else 0
        os.close(ours)
        t.check('Enter prints a link', '' if status == 200 else f'{status} {found}')
        t.check('without its terminal it goes on', '' if s.json('trace')['files'] else 'it does not')


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


@contextlib.contextmanager
def silent_ones(s, number):
    """Connections on which a request begins and never gets on, one byte at a time."""
    stop = threading.Event()
    with contextlib.ExitStack() as stack:
        all_of_them = [stack.enter_context(socket.create_connection(('127.0.0.1', s.port), timeout=PATIENCE))
                       for _ in range(number)]

        def drip():
            while not stop.wait(0.2):
                for c in all_of_them:
                    with contextlib.suppress(OSError):
                        c.sendall(b'G')
        thread = threading.Thread(target=drip)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()


def check_locked_out(t):
    with serving(t, SAMPLE) as s:
        with silent_ones(s, 100):
            try:
                answers = {s.ask('rows')[0] for _ in range(20)}
            except (OSError, http.client.HTTPException) as error:
                answers = repr(error)
        t.check('those who do not say who they are lock nobody out', '' if answers == {200} else answers)


def check_elsewhere(t):
    """Where others can come, nobody gets all connections."""
    head = 'GET /api/trace HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nAuthorization: Bearer TOKEN\r\n\r\n'
    for bind, few in (('127.0.0.1', False), ('0.0.0.0', True)):
        with serving(t, '--bind', bind, SAMPLE) as s, contextlib.ExitStack() as stack:
            s.indexed()
            answered = 0
            for _ in range(40):
                c = stack.enter_context(socket.create_connection(('127.0.0.1', s.port), timeout=PATIENCE))
                with contextlib.suppress(OSError):
                    c.sendall(s.fill(head).encode())
                    answered += c.recv(12) == b'HTTP/1.1 200'
        t.check(f'connections of one address with --bind {bind}', '' if (answered < 40) == few and answered >= 16 else answered)


def check_names(t):
    """How an address is said."""
    for args in (['--bind', 'localhost'], ['--port', '0']):
        s = serving(t, *args, SAMPLE)
        status = s.end()
        t.check(' '.join(args), '' if status == 0 and s.token and not s.said() else f'{status} {s.said()}')


def check(t):
    with serving(t, SAMPLE) as s:
        check_requests(t, s)
        check_link(t, s)
        check_head(t, s)
        check_chunked(t, s)
        check_many(t, s)
    check_locked_out(t)
    check_elsewhere(t)
    check_enter(t)
    check_names(t)
