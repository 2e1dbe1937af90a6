# SPDX-License-Identifier: GPL-2.0-or-later
"""Starting `spur view` and asking it, for the parts of tests/view."""
import contextlib
import http.client
import json
import os
import re
import signal
import subprocess
import tempfile
import time

import harness

AUTH = {'Authorization': 'Bearer TOKEN'}  # TOKEN and PORT are replaced in all that is sent
JSON = {'Content-Type': 'application/json'}
SAMPLE = 'data/sample.dat'
PATIENCE = 60  # seconds after which something does not happen any more


LINK = re.compile(r'http://(.+):(\d+)/#token=([0-9a-f]{32,})')


class Server:
    """A `spur view` that runs: with Server(t, paths) as s. The link it prints has been followed."""

    def __init__(self, t, paths, *args, env=None, before=(), **how):
        self.err = tempfile.TemporaryFile()
        # The leak checker stops threads by ptrace(), which is among what the process gives up.
        sanitizer = {**harness.SANITIZER_ENV, 'LSAN_OPTIONS': 'detect_leaks=0',
                     'ASAN_OPTIONS': harness.SANITIZER_ENV['ASAN_OPTIONS'] + ':detect_leaks=0'}
        # Unless that is what is tested, nothing of a test stays in root's or the user's cache.
        args = [*args] if '--cache' in [*args, *paths] else [*args, '--no-cache']
        self.child = subprocess.Popen([*before, t.spur, 'view', *args, *paths], **{'stdin': subprocess.DEVNULL, **how},
                                      stdout=subprocess.PIPE, stderr=self.err,
                                      env={**os.environ, 'LC_ALL': 'C', 'BROWSER': '', 'DISPLAY': '',
                                           'WAYLAND_DISPLAY': '', **sanitizer, **(env or {})})
        self.printed = self.child.stdout.readline().decode().strip()
        found = LINK.fullmatch(self.printed)
        self.port, self.token = int(found[2]) if found else 0, ''
        if found:
            status, _, answer = self.follow(found[3])
            self.token = json.loads(answer)['session'] if status == 200 else ''

    def follow(self, secret, headers=JSON):
        """status, headers, body of the exchange of a link's secret for the session's."""
        return self.request('/api/session', 'POST', headers, json.dumps({'link': secret}).encode())

    def link(self):
        """The secret of one more link."""
        self.child.send_signal(signal.SIGUSR1)
        return LINK.fullmatch(self.child.stdout.readline().decode().strip())[3]

    @property
    def url(self):
        """An address that opens once; '' when it does not serve."""
        return f'http://127.0.0.1:{self.port}/#token={self.link()}' if self.port else ''

    def __enter__(self):
        if not self.token:
            self.end()
            raise ValueError(f'it does not serve: {self.said()}')
        return self

    def __exit__(self, *why):
        self.end()

    def said(self):
        self.err.seek(0)
        return self.err.read().decode(errors='replace')

    def request(self, path, method='GET', headers=None, body=None):
        """status, headers, body; without `headers` those that are let in."""
        c = http.client.HTTPConnection('127.0.0.1', self.port, timeout=PATIENCE)
        headers = AUTH if headers is None else headers
        with contextlib.closing(c):
            c.putrequest(method, self.fill(path), skip_host='Host' in headers, skip_accept_encoding=True)
            for name, value in headers.items():
                c.putheader(name, self.fill(value))
            if body is not None:
                c.putheader('Content-Length', str(len(body)))
            try:
                c.endheaders(body)
            except (BrokenPipeError, ConnectionResetError):
                pass  # what it has to say about it may be there all the same
            answer = c.getresponse()
            return answer.status, answer.headers, answer.read()

    def fill(self, text):
        return text.replace('TOKEN', self.token).replace('PORT', str(self.port))

    def ask(self, question, body=None):
        """status, body of a question; one with a body is a POST."""
        if body is None:
            status, _, answer = self.request('/api/' + question)
        else:
            status, _, answer = self.request('/api/' + question, 'POST', {**AUTH, **JSON}, body)
        return status, answer

    def json(self, question):
        status, answer = self.ask(question)
        if status != 200:
            raise ValueError(f'{question}: {status} {answer[:200]}')
        return json.loads(answer)

    def post(self, question, value):
        status, answer = self.ask(question, json.dumps(value).encode())
        return status, json.loads(answer)

    def indexed(self):
        """What there is to know about the trace, when all of it is."""
        end = time.monotonic() + PATIENCE
        trace = self.json('trace')
        while trace['progress'] < 1 and time.monotonic() < end:
            trace = self.json(f'trace?wait={trace["generation"]}')
        return trace

    def end(self, sig=signal.SIGINT):
        """Its exit status."""
        if self.child.poll() is None:
            self.child.send_signal(sig)
        try:
            return self.child.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
            return f'it did not end within {PATIENCE} s'
        finally:
            self.child.stdout.close()


def serving(t, *args, env=None, **how):
    return Server(t, args, '--no-open', env=env, **how)
