# SPDX-License-Identifier: GPL-2.0-or-later
"""`spur tui` in a terminal of its own, for tests/tui/run: tmux is the terminal.

    with Terminal(t, 80, 24) as term:
        term.start('data/sample.dat')
        term.keys('l', '+')
        term.wait('44.777')
"""
import os
import re
import shlex
import subprocess
import tempfile
import time

import harness

PATIENCE = 60  # seconds after which something does not happen any more


class Never(Exception):
    """What was waited for did not come."""


class Terminal:
    def __init__(self, t, width, height, env=None, term='tmux-256color'):
        self.t = t
        self.folder = tempfile.TemporaryDirectory()
        self.socket = os.path.join(self.folder.name, 'tmux')
        self.runs = 0
        # The leak checker stops threads by ptrace(), which is among what the process gives up.
        self.env = {**os.environ, **harness.SANITIZER_ENV, 'LC_ALL': 'C.UTF-8', 'TERM': term,
                    'ASAN_OPTIONS': harness.SANITIZER_ENV['ASAN_OPTIONS'] + ':detect_leaks=0',
                    'LSAN_OPTIONS': 'detect_leaks=0', 'HISTFILE': '', 'PS1': '$ ', **(env or {})}
        self.env.pop('TMUX', None)
        self.env.pop('NO_COLOR', None)
        self.env.update({k: v for k, v in (env or {}).items() if k == 'NO_COLOR'})
        self.width, self.height = width, height
        self.said = ''

    def __enter__(self):
        # A shell without settings of its own, so that what it leaves behind can be asked for.
        self.tmux('-f', '/dev/null', 'new-session', '-d', '-x', str(self.width), '-y', str(self.height),
                  'exec sh')
        # tmux names the terminal for what it starts; the tests want to name it themselves.
        self.type_line(f'export TERM={self.env["TERM"]}')
        return self

    def __exit__(self, *why):
        subprocess.run(['tmux', '-S', self.socket, 'kill-server'], capture_output=True, env=self.env)
        self.folder.cleanup()

    def tmux(self, *args):
        done = subprocess.run(['tmux', '-S', self.socket, *args], capture_output=True, env=self.env)
        if done.returncode:
            raise Never(f'tmux {args[0]}: {done.stderr.decode(errors="replace")}')
        return done.stdout.decode(errors='replace')

    def type_line(self, line):
        self.tmux('send-keys', '-l', '--', line)
        self.tmux('send-keys', 'Enter')

    def start(self, *args):
        """Starts the viewer; what it says on standard error is in stderr()."""
        self.runs += 1
        self.said = os.path.join(self.folder.name, f'err{self.runs}')
        command = ' '.join(shlex.quote(a) for a in (self.t.spur, 'tui', '--no-cache', *args))
        self.type_line(f'cd {shlex.quote(os.getcwd())}; clear; {command} 2>{self.said}; echo "run {self.runs} ended with $?"')

    def keys(self, *keys):
        """Names as tmux has them: Enter, Up, C-c; others letter by letter."""
        for key in keys:
            self.tmux('send-keys', '--', key)

    def text(self, text):
        self.tmux('send-keys', '-l', '--', text)

    def screen(self, *args):
        return self.tmux('capture-pane', '-p', *args)

    def wait_for(self, is_there, what):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            screen = self.screen()
            if is_there(screen):
                return screen
            time.sleep(0.05)
        raise Never(f'never came: {what}; the screen: {self.screen()!r}; said: {self.stderr()!r}')

    def wait(self, text, without=None):
        """Until the text is on the screen, and another one is not."""
        return self.wait_for(lambda s: text in s and (without is None or without not in s), repr(text))

    def ended(self, status):
        """Until it has ended; the screen is the shell's again."""
        return self.wait(f'run {self.runs} ended with {status}\n')

    def status(self, screen):
        """Its exit status, if the screen tells it."""
        found = re.search(f'^run {self.runs} ended with (\\d+)', screen, re.M)
        return int(found[1]) if found else None

    def pid(self):
        """Of the viewer: the newest process below tmux that is one."""
        shell = int(self.tmux('display-message', '-p', '#{pane_pid}'))
        out = subprocess.run(['ps', '-eo', 'pid=,ppid=,comm='], capture_output=True, text=True)
        for line in out.stdout.splitlines():
            pid, parent, name = line.split(None, 2)
            if int(parent) == shell and name.startswith('spur'):
                return int(pid)
        raise Never('there is no viewer')

    def stderr(self):
        if not os.path.exists(self.said):
            return ''
        with open(self.said, 'rb') as file:
            return file.read().decode(errors='replace')

    def settings(self):
        """The terminal's settings, as stty prints them."""
        path = os.path.join(self.folder.name, f'stty{time.monotonic_ns()}')
        self.type_line(f'stty -a >{path}.part; mv {path}.part {path}')
        end = time.monotonic() + PATIENCE
        while not os.path.exists(path):
            if time.monotonic() > end:
                raise Never('the shell does not answer')
            time.sleep(0.05)
        with open(path) as file:
            return file.read()
