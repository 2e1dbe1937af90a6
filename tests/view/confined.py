# SPDX-License-Identifier: GPL-2.0-or-later
"""What is left of the privileges of `spur view`, and who records for it. Started by tests/view/run."""
import glob
import os
import re
import shutil
import signal
import stat
import subprocess
import tempfile
import time

from server import PATIENCE, SAMPLE, Server, serving

def status_of(pid):
    with open(f'/proc/{pid}/status', encoding='utf-8', errors='replace') as file:
        return dict(line.rstrip('\n').split(':\t', 1) for line in file if ':\t' in line)


def make_folder(path, mode):
    os.mkdir(path)
    os.chmod(path, mode)


def children_of(pid):
    with open(f'/proc/{pid}/task/{pid}/children', encoding='ascii') as file:
        return [int(word) for word in file.read().split()]


def check_folders(t, directory):
    """What it writes is where it was told to, and nothing is left elsewhere."""
    temp, cache = os.path.join(directory, 'temp'), os.path.join(directory, 'cache')
    make_folder(temp, 0o1777)
    make_folder(cache, 0o777)
    with serving(t, '--cache', cache, SAMPLE, env={'TMPDIR': temp}) as s:
        s.indexed()
        modes = {stat.S_IMODE(os.stat(os.path.join(temp, name)).st_mode) for name in os.listdir(temp)}
        status, _ = s.post('sql', {'query': 'select * from (select * from events order by ts desc) limit 1'})
    t.check('temporary files are private', '' if modes == {0o700} and status == 200 else f'{modes} {status}')
    t.check('nothing is left of them', '' if not os.listdir(temp) else os.listdir(temp))


def kept(folder):
    return [name for name in os.listdir(folder) if name.endswith('.view')]


def check_cache(t, directory):
    """Where indexes are kept: what it makes is the user's, what cannot be written to it says so."""
    new = os.path.join(directory, 'a/new/one')
    with serving(t, '--cache', new + '/', SAMPLE) as s:
        s.indexed()
        uid = int(status_of(s.child.pid)['Uid'].split()[0])
        s.end()
        about, said = os.stat(new), s.said()
    t.check('a folder for indexes is made', '' if kept(new) and about.st_uid == uid and stat.S_IMODE(about.st_mode) == 0o700
            and not said else f'{kept(new)} {about} {said}')
    if os.geteuid() != 0:
        return
    roots = os.path.join(directory, 'roots')
    make_folder(roots, 0o755)
    with serving(t, '--cache', roots, SAMPLE) as s:
        s.indexed()
        s.end()
        said = s.said()
    t.check("root's folder stays root's, and it says so", '' if 'not kept' in said and not kept(roots) and
            os.stat(roots).st_uid == 0 else f'{said} {kept(roots)}')


def check_temp(t, directory):
    """Root makes nothing where others could replace it."""
    if os.geteuid() != 0:
        t.skip('folders root does not use', 'needs root')
        return
    for name, mode, uid, status in (('open', 0o777, 0, 2), ('of-others', 0o1777, 1, 2), ('sticky', 0o1777, 0, 0), ('own', 0o755, 0, 0)):
        temp = os.path.join(directory, name)
        make_folder(temp, mode)
        os.chown(temp, uid, uid)
        s = serving(t, SAMPLE, env={'TMPDIR': temp})
        ended, said = s.end(), s.said()
        t.check(f'temporary files in a folder: {name}', '' if ended == status and (not status) == bool(s.port) and
                bool(status) == ('TMPDIR' in said) and (not mode & 0o002 or not os.listdir(temp)) else f'{ended} {said}')


def check_confined(t):
    # Groups are given up, too, of which a test may have none.
    groups = {'extra_groups': [4, 24]} if os.geteuid() == 0 else {}
    with serving(t, SAMPLE, **groups) as s:
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
    t.check('nobody else stays', names)
    with serving(t, SAMPLE, env={'SUDO_UID': '1', 'SUDO_GID': '1'}) as s:
        uid = status_of(s.child.pid)['Uid']
    t.check('it becomes who called sudo', '' if uid.split() == 4 * ['1'] else uid)
    for args in ([], ['--record', '--no-record'], ['--bind', '0.0.0.0']):
        with serving(t, *args, SAMPLE) as s:
            left, can = children_of(s.child.pid), s.json('trace')['can_record']
            refused, _ = s.post('record/start', {'events': ['sched_switch']})
            said = s.said()
        t.check(f'nobody records with {args}', '' if not left and not can and refused == 403 else
                f'{left} {can} {refused}')
    t.check('--bind warns', '' if '0.0.0.0' in said and 'link' in said else said)
    for name, args, before in (('others', ['--bind', '0.0.0.0'], []),
                               ('no root', [], ['setpriv', '--reuid=1', '--regid=1', '--clear-groups'])):
        done = subprocess.run([*before, t.spur, 'view', '--no-open', '--no-cache', '--record', *args, SAMPLE], capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=PATIENCE, text=True, check=False)
        t.check(f'--record is refused: {name}', '' if done.returncode == 1 and '--record' in done.stderr else done)


CAPABILITIES = ('CapInh', 'CapPrm', 'CapEff', 'CapAmb')


def check_capabilities(t):
    """Somebody else than root may have some of what root can, and pass it on."""
    if os.geteuid() != 0 or not shutil.which('setpriv'):
        t.skip('capabilities are given up', 'needs root and setpriv')
        return
    some = ['setpriv', '--reuid=1', '--regid=1', '--clear-groups', '--inh-caps=+net_raw,+sys_ptrace', '--ambient-caps=+net_raw']
    had = subprocess.run([*some, 'cat', '/proc/self/status'], stdout=subprocess.PIPE, text=True, check=True).stdout
    with serving(t, SAMPLE, before=some) as s:
        status = status_of(s.child.pid)
    left = {name: status[name] for name in CAPABILITIES if int(status[name], 16)}
    t.check('capabilities are given up', '' if not left and 'CapAmb:\t0000000000002000' in had else f'{left} {had}')


BROKER_CAPABILITIES = 1 << 0 | 1 << 34  # CAP_CHOWN, CAP_SYSLOG


def check_walls(t, who, pid):
    """That a process of root's is confined."""
    status = status_of(pid)
    t.check(f'{who}: no new privileges', '' if status['NoNewPrivs'] == '1' else status['NoNewPrivs'])
    t.check(f'{who}: system calls are filtered', '' if status['Seccomp'] == '2' else status['Seccomp'])
    more = {name: status[name] for name in (*CAPABILITIES, 'CapBnd') if int(status[name], 16) & ~BROKER_CAPABILITIES}
    t.check(f'{who}: two capabilities are left', more or ('' if int(status['CapEff'], 16) else status['CapEff']))


def check_broker(t):
    """It has nothing of the other process but one end of a socket; False: it would not end."""
    if os.geteuid() != 0:
        return True
    s = serving(t, '--record', SAMPLE)
    names = [status_of(c)['Name'] for c in children_of(s.child.pid)]
    t.check('only the broker stays', '' if names == ['spur-broker'] else names)
    broker = children_of(s.child.pid)[0]
    check_walls(t, 'the broker', broker)
    has = {int(fd): os.readlink(f'/proc/{broker}/fd/{fd}') for fd in os.listdir(f'/proc/{broker}/fd')}
    more = [what for fd, what in has.items() if fd > 2]
    fine = len(more) == 1 and more[0].startswith('socket:')
    if not fine:
        os.kill(broker, signal.SIGKILL)
    s.end()
    t.check('the broker has one socket', '' if fine else has)
    return fine


def look(path):
    """uid, argument, and the page that this was, as a browser's script told."""
    end = time.monotonic() + PATIENCE
    while not os.path.exists(path) and time.monotonic() < end:
        time.sleep(0.05)
    with open(path, encoding='ascii') as file:
        first, _, page = file.read().partition('\n')
    return (*first.split(' '), page)


def check_browser(t, directory):
    """The browser is the user's. What is on its command line is no secret; the page behind it is, and goes."""
    told, program, temp = (os.path.join(directory, name) for name in ('told', 'browser', 'browser temp'))
    make_folder(temp, 0o1777)
    with open(program, 'w', encoding='ascii') as file:
        file.write(f'#!/bin/sh\npage=$(echo "${{1#file://}}" | sed "s/%20/ /g")\n'
                   f'{{ echo "$(id -u) $1 $(stat -c %a:%u "$page")"; cat "$page"; }} > {told}.new\nmv {told}.new {told}\n')
    os.chmod(program, 0o755)
    os.chmod(directory, 0o777)
    sudo = {'SUDO_UID': '1', 'SUDO_GID': '1'} if os.geteuid() == 0 else {}
    user = sudo.get('SUDO_UID', str(os.geteuid()))
    s = Server(t, [SAMPLE], env={'BROWSER': program, 'TMPDIR': temp, **sudo})
    try:
        uid, argument, about, page = look(told)
        links = re.findall(s.fill('http://127.0.0.1:PORT/#token=([0-9a-f]{40})'), page)
        statuses = [s.follow(links[0])[0] for _ in range(2)] if links else []
    except (OSError, ValueError) as error:
        uid, argument, about, page, statuses = '', '', '', repr(error), []
    finally:
        s.end()
    t.check('a browser is opened, as the user', '' if uid == user else f'{uid} {page}')
    t.check('only the user can read its link', '' if argument.startswith('file:///') and 'token' not in argument and
            about == f'600:{user}' else f'{argument} {about}')
    t.check('its link opens once', '' if statuses == [200, 401] else f'{statuses} {page}')
    t.check('nothing is left of it', '' if not os.listdir(temp) else os.listdir(temp))
    if os.geteuid() == 0:
        os.unlink(told)
        s = Server(t, [SAMPLE], env={'BROWSER': program, 'SUDO_UID': '', 'SUDO_GID': ''})
        s.request('/')
        s.end()
        t.check("root's browser stays closed", '' if not os.path.exists(told) else 'it was opened')
    os.chmod(directory, 0o755)


# ---- recording ----

def why_no_recording():
    if os.geteuid() != 0:
        return 'needs root'
    return '' if os.path.exists('/sys/kernel/tracing/instances') else 'no tracefs is mounted'


def instances():
    """Those of this program; others may come and go."""
    return {name for name in os.listdir('/sys/kernel/tracing/instances') if name.startswith('spur-')}


# What the broker does not even look for.
NO_NAMES = ['../../x', 'a b', 'sched_switch\n', 'x' * 300, 'a/b', '[a-z]', '.']


def check_recording(t, directory):
    if why_no_recording():
        t.skip('recording', why_no_recording())
        return
    before = instances()
    with serving(t, '--record', SAMPLE, env={'TMPDIR': directory}) as s:
        found = s.json('record/events?match=sched_swi')
        t.check('events are listed', '' if 'sched:sched_switch' in found['events'] and
                found['total'] == len(found['events']) else found)
        every = s.json('record/events?match=')
        t.check('not too many of them', '' if every['total'] > len(every['events']) == 500 else
                f'{every["total"]} {len(every["events"])}')
        for wrong in ([], *([name] for name in NO_NAMES), ['nonsense_event'], [1], 501 * ['sched_switch']):
            status, answer = s.post('record/start', {'events': wrong})
            if wrong and wrong[0] in NO_NAMES and answer['error'] != 'an event\'s name is no such':
                t.fail(f'no name of an event: {wrong[0]}', answer)
            t.check(f'not recorded: {str(wrong)[:30]}', '' if status in (400, 413) and answer['error'] else f'{status} {answer}')
        status, answer = s.post('record/start', {'events': ['sched_switch'], 'filter': 'nonsense == 1'})
        t.check('not recorded: a wrong filter', '' if status == 400 and answer['error'] else f'{status} {answer}')
        status, answer = s.post('record/stop', {})
        t.check('nothing runs, nothing stops', '' if status >= 400 else answer)
        check_one_recording(t, s)
    t.check('the kernel is as it was', '' if instances() <= before else instances() - before)
    with serving(t, '--record', SAMPLE, env={'TMPDIR': directory}) as s:
        s.post('record/start', {'events': ['sched_switch']})
        broker, running = children_of(s.child.pid)[0], instances() - before
        s.child.kill()
        s.child.wait()
        end = time.monotonic() + PATIENCE
        while (os.path.exists(f'/proc/{broker}') or instances() - before) and time.monotonic() < end:
            time.sleep(0.1)
    t.check('killed, and the kernel is as it was', '' if running and not instances() - before and
            not os.path.exists(f'/proc/{broker}') else f'{running} {instances() - before}')


def record(s, events='sched_switch'):
    """Records something, until there is some of it: the path."""
    s.post('record/start', {'events': [events]})
    end = time.monotonic() + PATIENCE
    while not s.json('record/state')['events'] and time.monotonic() < end:
        time.sleep(0.05)
    return s.post('record/stop', {})[1].get('path', '')


def check_owners(t, directory):
    """A recording is the user's who called sudo. Nobody else gets it: who owns a file has asked for nothing."""
    if why_no_recording():
        return
    of_one = os.path.join(directory, 'of-one.dat')
    shutil.copy(SAMPLE, of_one)
    os.chown(of_one, 1, 1)
    for name, sudo, owner in (('root', {'SUDO_UID': '', 'SUDO_GID': ''}, 0), ('sudo', {'SUDO_UID': '1', 'SUDO_GID': '1'}, 1)):
        with serving(t, '--record', of_one, env={'TMPDIR': directory, **sudo}) as s:
            path = record(s)
            files = s.indexed()['files']
        owners = {os.stat(p).st_uid for p in (path, os.path.dirname(path)) if os.path.exists(p)}
        t.check(f'whose a recording is: {name}', '' if owners == {owner} and files[1].get('events') else f'{owners} {files}')


def wait_for_owner(directory, uid):
    """The folder of a recording that has become a user's."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        for path in glob.glob(f'{directory}/spur-view-*'):
            if os.path.exists(f'{path}/trace.dat') and os.stat(path).st_uid == uid:
                return path
        time.sleep(0.05)
    return ''


def check_swapped(t, directory):
    """A user who puts something else in the place of a recording does not get that read by root."""
    if why_no_recording():
        return
    temp, secret = os.path.join(directory, 'swaps'), os.path.join(directory, 'secret')
    make_folder(temp, 0o1777)
    make_folder(secret, 0o700)
    shutil.copy(SAMPLE, f'{secret}/trace.dat')
    os.chmod(f'{secret}/trace.dat', 0o600)
    with serving(t, '--record', SAMPLE, env={'TMPDIR': temp, 'SUDO_UID': '1', 'SUDO_GID': '1'}) as s:
        s.post('record/start', {'events': ['sched:sched_switch'], 'seconds': 1})
        folder = wait_for_owner(temp, 1)
        os.rename(folder, folder + '-gone')
        os.symlink(secret, folder)
        s.json('record/state')
        trace = s.indexed()
        types = {e['name'] for e in trace['events'] if e['file'] == 1 and e['count']}
    t.check('what is handed over is what was recorded', '' if types == {'sched_switch'} else f'{types} {trace["files"]}')


def check_number(t, directory):
    """There is an end to how many recordings a page can make."""
    if why_no_recording():
        return
    with serving(t, '--record', *64 * [SAMPLE], env={'TMPDIR': directory}) as s:
        s.indexed()
        status, answer = s.post('record/start', {'events': ['sched_switch']})
    t.check('what could not be shown is not recorded', '' if status == 409 and '64' in answer['error'] else answer)
    with serving(t, '--record', SAMPLE, env={'TMPDIR': directory}) as s:
        made = 0
        while (answer := s.post('record/start', {'events': ['sched_switch']}))[0] == 200 and made < 40:
            made += s.post('record/stop', {})[0] == 200
        status, answer = answer
    t.check('recordings have a limit', '' if made == 32 and status == 409 and '32' in answer['error'] else f'{made} {answer}')


def check_landlock(t, directory):
    """What stands in the place of a folder that was permitted is not."""
    if why_no_recording():
        return
    cache = os.path.join(directory, 'swapped cache')
    make_folder(cache, 0o777)
    with serving(t, '--record', '--cache', cache, SAMPLE, env={'TMPDIR': directory}) as s:
        s.indexed()
        os.rename(cache, cache + ' gone')
        make_folder(cache, 0o777)
        record(s)
        s.indexed()
        ended = s.end()
    t.check('files are restricted', '' if ended == 0 and not os.listdir(cache) else os.listdir(cache))


def check_one_recording(t, s):
    before = s.indexed()
    status, answer = s.post('record/start', {'events': ['sched:sched_switch'], 'filter': 'prev_pid != 0'})
    second, _ = s.post('record/start', {'events': ['sched_switch']})
    state, end = s.json('record/state'), time.monotonic() + PATIENCE
    while not state['events'] and time.monotonic() < end:
        time.sleep(0.1)
        state = s.json('record/state')
    for child in children_of(children_of(s.child.pid)[0]):
        check_walls(t, 'who records', child)
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
    symbols = t.run(['dump', '--kallsyms', record(s, 'kmem:kmalloc')]).out.decode(errors='replace')
    addresses = re.findall(r'^([0-9a-f]{8,}) [tT] ', symbols, re.M)
    t.check('its symbols have addresses', '' if sum(int(a, 16) != 0 for a in addresses) > 1000 else symbols[:300])


def check(t):
    # Without that all the others would wait for a process that does not end.
    if not check_broker(t):
        return
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)
        check_folders(t, directory)
        check_cache(t, directory)
        check_temp(t, directory)
        check_browser(t, directory)
        check_recording(t, directory)
        check_owners(t, directory)
        check_swapped(t, directory)
        check_number(t, directory)
        check_landlock(t, directory)
    check_confined(t)
    check_capabilities(t)
