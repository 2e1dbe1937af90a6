# SPDX-License-Identifier: GPL-2.0-or-later
"""What a task calls itself does not colour a terminal, in any command that shows its name.

The recording has a task whose name begins with the command for red. On a terminal it has to be shown
without that; in a pipe a report passes it on as it is.
"""
import os
import pty
import shutil
import subprocess
import tempfile

import harness

NAME, RED = b'rcu_preempt', b'\x1b[31mEVILxy'

SCRIPT = ('tracepoint:sched:sched_switch { printf("%-20s|\\n", args.next_comm); print(args.next_comm); '
          '@[args.next_comm] = count(); @last = args.next_comm; }')

# Each with the file at its end; {} is where it goes otherwise.
COMMANDS = [
    ['report', '--no-pager'],
    ['report', '--no-pager', '--color=always'],
    ['report', '--no-pager', '--color=never'],
    ['report', '--no-pager', '-w'],
    ['report', '--no-pager', '--csv'],
    ['report', '--no-pager', '--fields', 'comm,event,text'],
    ['report', '--no-pager', '--pretty'],
    ['report', '--no-pager', '--graph'],
    ['report', '--no-pager', '--graph=time', '--color=always'],
    ['report', '--no-pager', '--profile'],
    ['top'],
    ['top', '--color=always'],
    ['top', '--csv'],
    ['info', '--all'],
    ['info', '--all', '--color=always'],
    ['functions', '--by=task'],
    ['latency', 'wakeup', '--worst', '3'],
    ['latency', 'wakeup', '--csv', '--by=comm'],
    ['hist', 'sched_switch.next_comm'],
    ['dump', '--cmd-lines'],
    ['sql', '{}', 'select distinct next_comm from sched_switch'],
    ['sql', '--csv', '{}', 'select distinct next_comm from sched_switch'],
    ['sql', '--tabs', '{}', 'select distinct next_comm from sched_switch'],
    ['diff', '--all', '--worst', '3', '--focus', 'wakeup', '{}'],
    ['diff', '--all', '--worst', '3', '--focus', 'wakeup', '--color=never', '{}'],
    ['export', '--to', 'csv', '-o', '-'],
    ['script', '-i', '{}', '-e', SCRIPT],
]

# What prints the name of a file, which is {out}, made by the command or a copy of the file.
NAMED = [
    ['split', '-e', '5', '-i', '{}', '-o', '{out}'],
    ['split', '-r', '-e', '500', '-i', '{}', '-o', '{out}'],
    ['restore', '{out}'],
]


def on_terminal(argv, env):
    """What a terminal would get, and the status."""
    above, below = pty.openpty()
    child = subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL, stdout=below, stderr=below)
    os.close(below)
    text = b''
    while True:
        try:
            more = os.read(above, 65536)
        except OSError:  # it is closed
            more = b''
        if not more:
            break
        text += more
    os.close(above)
    return child.wait(), text


def why_not(t, argv, path, env):
    argv = [a.replace('{}', path) for a in argv] if '{}' in argv else argv + [path]
    status, text = on_terminal([t.spur, *argv], env)
    if status:
        return f'status {status}: {text[-200:]!r}'
    if b'EVIL' not in text:
        return f'does not show the task: {text[:200]!r}'
    at = text.find(b'\x1b[31mEVIL')
    return f'drives the terminal: {text[max(at - 40, 0):at + 40]!r}' if at >= 0 else ''


def check(t, trace):
    env = dict(os.environ, LC_ALL='C.UTF-8', TERM='xterm', **harness.SANITIZER_ENV)
    env.pop('NO_COLOR', None)
    with tempfile.TemporaryDirectory() as directory:
        path = f'{directory}/evil.dat'
        made = t.run(['convert', '--file-version', '6', '-i', trace, '-o', path])
        data = open(path, 'rb').read()
        if made.status or data.count(NAME) < 2:
            t.fail('terminal', f'cannot be prepared: {made}')
            return
        with open(path, 'wb') as file:
            file.write(data.replace(NAME, RED))
        for argv in COMMANDS:
            words = ' '.join(argv if argv[0] != 'script' else argv[:1])
            t.check(f'terminal {words}', why_not(t, argv, path, env))
        out = f'{directory}/{RED.decode()}'
        for argv in NAMED:
            shutil.copy(trace, out)
            words = [a.replace('{out}', out).replace('{}', trace) for a in argv]
            status, text = on_terminal([t.spur, *words], env)
            t.check(f'terminal, a name: {" ".join(argv)}',
                    '' if not status and b'EVIL' in text and RED not in text else f'status {status}: {text!r}')
        piped = t.run(['report', path])
        t.check('terminal, but a pipe', '' if RED in piped.out else piped.out[:200])
        own = on_terminal([t.spur, 'script', '-i', path, '-e', 'begin { printf("\\033[31mred\\n") }'], env)
        t.check('terminal, a script of colours', '' if b'\x1b[31mred' in own[1] else own)
