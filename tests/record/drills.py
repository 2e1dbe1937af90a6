# SPDX-License-Identifier: GPL-2.0-or-later
"""kill -9 at random moments, of the recorder, of its guardian, of both.

The load (calls.c) numbers its calls, so it is known what a recording should have: the numbers from 0 to
the last one in the file, but for those that the file says are lost. SPUR_DRILLS=N makes N rounds of each
drill instead of a few.
"""
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import time

ROUNDS = int(os.environ.get('SPUR_DRILLS', '4'))
CALLS = ['-q', '-F', '-e', 'sys_enter_lseek']
KINDS = [[], ['--compression', 'zstd'], ['--file-version', '6'], ['-s', '1000'], ['--rotate', '2M'], ['--flight']]


class Drill:
    """A recording of the numbered calls that will be interrupted."""

    def __init__(self, lib, t, where, options):
        self.lib, self.t, self.where, self.options = lib, t, where, options
        os.mkdir(where)
        self.counter = f'{where}/count'
        self.recording = lib.Recording(t, where, CALLS + options,
                                       [os.path.join(t.build, 'tests/record/calls'), self.counter])

    def count(self):
        """How many calls the load has made."""
        try:
            with open(self.counter, 'rb') as file:
                return struct.unpack('=Q', file.read(8))[0]
        except (OSError, struct.error):
            return 0

    def guardians(self):
        """Processes of the recorder that watch it."""
        pid = self.recording.child.pid
        found = []
        try:
            with open(f'/proc/{pid}/task/{pid}/children', encoding='ascii') as file:
                children = file.read().split()
            for child in children:
                with open(f'/proc/{child}/comm', encoding='ascii') as file:
                    if file.read() == 'spur-guard\n':
                        found.append(int(child))
        except OSError:
            pass
        return found

    def running(self):
        """Waits until calls are being made, which is after the recording has begun."""
        return self.lib.wait_for(lambda: self.count() > 1000 or self.recording.child.poll() is not None, 60)

    def files(self):
        """The files of the recording, in their order."""
        names = [n for n in os.listdir(self.where) if n.startswith('trace.dat')]
        return [f'{self.where}/{n}' for n in sorted(names, key=lambda n: int(n[10:] or 0))]

    def finished(self, path):
        """Whether nobody works on the file any more."""
        result = self.t.run(['info', '--quick', '-i', path], seconds=60)
        return not result.trouble and b'was not finished' not in result.err

    def compare(self, atleast, cut):
        """'' when the files have all calls but those they say are lost, and at least so many."""
        numbers = lost = after = 0
        last = -1
        paths = self.files()
        for path in paths:
            result = self.t.run(['info', '--json', '-i', path], seconds=120)
            said = result.err.decode()
            is_cut = cut and path == paths[-1]
            if result.trouble or result.status != (3 if is_cut else 0):
                return f'{path}: {result.trouble or result.status}: {said}'
            if is_cut and (said.count('\n') != 1 or 'the recorder was killed' not in said):
                return f'{path}: said {said!r}'
            if is_cut and shutil.which('trace-cmd'):
                other = subprocess.run(['trace-cmd', 'report', '-i', path], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.PIPE, check=False)
                if other.returncode or other.stderr:
                    return f'{path}: trace-cmd: {other.returncode}: {other.stderr}'
            info = json.loads(result.out)
            if info['gaps']:
                return f'{path}: an unknown number is lost'
            at_end = sum(cpu['lost_after'] for cpu in info.get('cut', []))
            lost += info['lost'] - at_end
            after += at_end
            rows = self.t.run(['sql', '--json', path, 'SELECT count(*) AS n, '
                               'max(offset) AS last FROM sys_enter_lseek'], seconds=120)
            row = json.loads(rows.out)
            row = row[0] if isinstance(row, list) else row
            numbers += row['n']
            if row['n']:
                last = max(last, row['last'])
        missing = last + 1 - numbers
        if missing != lost:
            return f'{numbers} calls up to number {last}, so {missing} are missing, but {lost} are said to be lost'
        if last + 1 + after < atleast:
            return f'{atleast} calls were made, the files know of {last + 1 + after}'
        return ''

    def kill_both(self):
        """Kills recorder and guardian as the kill of a cgroup does: neither acts on the end of the other."""
        if not self.lib.wait_for(self.guardians, 20):
            return 'there is no guardian'
        victims = {self.recording.child.pid, *self.guardians()}
        for victim in victims:
            os.kill(victim, signal.SIGSTOP)
        victims |= set(self.guardians())
        for victim in victims:
            os.kill(victim, signal.SIGKILL)
        self.recording.child.wait()
        if not self.lib.wait_for(lambda: not any(os.path.exists(f'/proc/{v}') for v in victims), 20):
            return 'killed processes are still there'
        return ''

    def end(self):
        self.recording.end_command()


def kernel_restored(lib, before, seconds=20):
    if lib.wait_for(lambda: lib.state() == before, seconds):
        return ''
    return f'tracefs is not as before: {[k for k in before if lib.state()[k] != before[k]]}'


def recorder(lib, t, drill, before):
    """The guardian saves what is left, and says what is not there."""
    made = drill.count()
    drill.recording.child.send_signal(signal.SIGKILL)
    drill.recording.child.wait()
    wrong = kernel_restored(lib, before)
    if wrong:
        return wrong
    if not lib.wait_for(lambda: drill.files() and all(drill.finished(f) for f in drill.files()), 20):
        return f'no finished files: {drill.files()}'
    return drill.compare(made, True)


def guardian(lib, t, drill, before):
    """The recorder starts another one and does not lose anything; a flight is saved."""
    for _ in range(2):
        if not lib.wait_for(drill.guardians, 20):
            return 'there is no guardian'
        watching = drill.guardians()
        os.kill(watching[0], signal.SIGKILL)
        if not lib.wait_for(lambda: drill.guardians() and drill.guardians() != watching, 20):
            return 'the guardian was not started again'
    made = drill.count()
    drill.recording.child.send_signal(signal.SIGINT)
    status, said = drill.recording.end()
    if status or said:
        return f'status {status}: {said}'
    return kernel_restored(lib, before) or drill.compare(made, False)


def logs():
    """Undo logs of processes that are gone."""
    try:
        names = os.listdir('/run/spur')
    except FileNotFoundError:
        return []
    return [n for n in names if not os.path.exists(f'/proc/{n.split(".")[0]}')]


def both(lib, t, drill, before):
    """The next spur cleans up and saves what is left."""
    made = drill.count()
    pid = drill.recording.child.pid
    wrong = drill.kill_both()
    if wrong:
        return wrong
    listed = t.run(['check', 'leftovers']).out.decode()
    if f'process {pid}' not in listed:
        return f'check does not list process {pid}: {listed}'
    # One with another /run cannot save what is left, so it leaves it to those that can.
    elsewhere = subprocess.run(['unshare', '-m', 'sh', '-c', 'mount -t tmpfs none /run && exec "$@"', 'sh', t.spur, 'list', '-t'],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=60)
    if b'removed' in elsewhere.stdout:
        return f'with another /run: {elsewhere.stdout.decode()}'
    # Two at once: one of them does it.
    cleaners = [subprocess.Popen([t.spur, 'list', '-t'], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                for _ in range(2)]
    said = ''.join(c.communicate(timeout=120)[1].decode() for c in cleaners)
    if said.count(f'cleaned up after process {pid},') != 1 or said.count('\n') != 1:
        return f'said {said!r}'
    if any(c.returncode for c in cleaners):
        return f'statuses {[c.returncode for c in cleaners]}'
    if [n for n in logs() if n.startswith(f'{pid}.')]:
        return f'logs are left: {logs()}'
    return kernel_restored(lib, before) or drill.compare(made, True)


def rounds(lib, what):
    def test(t, where):
        draw = random.Random(3)
        for i in range(ROUNDS):
            options = KINDS[i % len(KINDS)]
            before = lib.state()
            drill = Drill(lib, t, f'{where}/{i}', options)
            try:
                if not drill.running() or drill.recording.child.poll() is not None:
                    return f'number {i} {options}: does not start'
                time.sleep(draw.uniform(0, 0.4))
                wrong = what(lib, t, drill, before)
            finally:
                drill.end()
            if wrong:
                return f'number {i} {options}: {wrong}'
            shutil.rmtree(drill.where)
        return ''
    return test


def killed(lib, t, where, options):
    """A recording that was killed with its guardian: the drill, or what is wrong."""
    drill = Drill(lib, t, where, options)
    try:
        if not drill.running() or drill.recording.child.poll() is not None:
            return drill, f'does not start: {drill.recording.end()}'
        # It has its name when something has been recorded.
        lib.wait_for(lambda: os.path.exists(drill.recording.file), 30)
        return drill, drill.kill_both()
    finally:
        drill.end()


def spur(t, *argv):
    """Exit status, and all that it says."""
    result = subprocess.run([t.spur, *argv], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                            timeout=300)
    return result.returncode, result.stdout.decode()


def top_buffer(lib):
    """Settings of the top buffer go back, but not over what somebody else has changed since."""
    def test(t, where):
        before = lib.state()
        clock = f'{lib.TRACING}/trace_clock'
        for i, foreign in enumerate((False, True)):
            drill, wrong = killed(lib, t, f'{where}/{i}', ['--top', '-C', 'global'])
            if wrong:
                return wrong
            if lib.state()['set_event'] == before['set_event']:
                return 'the top buffer was not used'
            if foreign:
                with open(clock, 'w', encoding='ascii') as file:
                    file.write('mono')
            status, said = spur(t, 'stat')
            stays = 'trace_clock stays as it is: it was changed after' in said
            if status or f'cleaned up after process {drill.recording.child.pid},' not in said or stays != foreign:
                return f'status {status}: {said}'
            if foreign:
                with open(clock, encoding='ascii') as file:
                    if '[mono]' not in file.read():
                        return 'the clock that somebody else has set is gone'
                with open(clock, 'w', encoding='ascii') as file:
                    file.write('local')
            wrong = kernel_restored(lib, before)
            if wrong:
                return wrong
        return ''
    return test


def dead(lib, options, look, before_reset, said_then):
    """A recording that was killed with its guardian, and `spur reset --dead`."""
    def test(t, where):
        before = lib.state()
        drill, wrong = killed(lib, t, f'{where}/0', options(t))
        pid = drill.recording.child.pid
        wrong = wrong or look(lib, drill) or before_reset(lib, t, drill)
        if wrong:
            return wrong
        status, said = spur(t, 'reset', '--dead')
        if status or said_then.format(pid) not in said:
            return f'status {status}: {said}'
        return kernel_restored(lib, before)
    return test


def probe(t):
    if not os.path.exists('/sys/kernel/tracing/uprobe_events'):
        raise OSError('needs uprobes')
    return ['--uprobe', os.path.join(t.build, 'tests/record/calls') + ':main']


def has_owned_probe(lib, drill):
    """A probe carries its owner, in the kernel but not in the file."""
    probes = lib.state()['dynamic_events']
    if f'spur_{drill.recording.child.pid}_' not in probes:
        return f'the probe does not carry its owner: {probes}'
    types = json.loads(drill.t.run(['info', '--json', '-i', drill.recording.file]).out)['types']
    return '' if [x for x in types if x['system'] == 'spur'] or not types else f'types {types}'


def loses_file(lib, drill):
    os.unlink(drill.recording.file)
    return ''


def stays(lib, t, drill):
    """Data that cannot be saved stay, and that is said, each time."""
    pid = drill.recording.child.pid
    for _ in range(2):
        status, said = spur(t, 'list', '-t')
        if status or f'what process {pid} recorded until it was killed cannot be saved' not in said:
            return f'status {status}: {said}'
        if not [i for i in lib.state()['instances'] if i.startswith(f'spur-{pid}.')]:
            return 'the instance is gone'
    return ''


def other_has_name(lib):
    """What a flight had is saved beside a file that was made after its end."""
    def test(t, where):
        before = lib.state()
        drill = Drill(lib, t, f'{where}/0', ['--flight'])
        file = drill.recording.file
        try:
            if not drill.running() or drill.recording.child.poll() is not None:
                return 'does not start'
            wrong = drill.kill_both()
        finally:
            drill.end()
        if wrong:
            return wrong
        lib.touch(file, lib.OTHER)
        status, said = spur(t, 'list', '-t')
        if status or f'events saved in {file}.saved\n' not in said:
            return f'status {status}: {said}'
        with open(file, 'rb') as other:
            if other.read() != lib.OTHER:
                return 'the file of somebody else has been changed'
        return kernel_restored(lib, before) or lib.opens(t, f'{file}.saved', lib.KILLED)
    return test


def restored(lib):
    """A file that was restored before it got what is left in the kernel says that it is cut; the rest gets a file, too."""
    def test(t, where):
        before = lib.state()
        drill, wrong = killed(lib, t, f'{where}/0', [])
        file = drill.recording.file
        if wrong:
            return wrong
        for argv in (['convert', '-i', file, f'{where}/converted.dat'], ['restore', file]):
            status, said = spur(t, *argv)
            if status != (3 if argv[0] == 'convert' else 0):
                return f'{argv}: status {status}: {said}'
        wrong = lib.opens(t, f'{where}/converted.dat', lib.KILLED) or lib.opens(t, file, lib.KILLED)
        if wrong:
            return wrong
        status, said = spur(t, 'list', '-t')
        if status or f'events saved in {file}.saved\n' not in said:
            return f'status {status}: {said}'
        wrong = kernel_restored(lib, before) or lib.opens(t, f'{file}.saved', lib.KILLED)
        return wrong or (not lib.events(t, f'{file}.saved') and 'no events')
    return test


def nothing(lib, t, drill):
    return ''


def recorder_in_namespace(t, where):
    """A recorder that is the first process of a pid namespace."""
    argv = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc', t.spur, 'record', *CALLS, '-o',
            f'{where}/trace.dat', os.path.join(t.build, 'tests/record/calls'), f'{where}/count']
    return subprocess.Popen(argv, stderr=subprocess.PIPE, start_new_session=True)


def records(lib, child, where):
    """Whether it begins to record; an error where there are no namespaces."""
    began = lib.wait_for(lambda: os.path.exists(f'{where}/trace.dat') or child.poll() is not None, 30)
    if began and child.poll() is not None:
        raise OSError(child.stderr.read().decode())
    return began


def namespace(lib):
    """A recorder of another pid namespace is left alone as long as it lives, log or not."""
    def test(t, where):
        before = lib.state()
        child = recorder_in_namespace(t, where)
        try:
            if not records(lib, child, where):
                return 'does not start'
            mine = [n for n in os.listdir('/run/spur') if n.count('.') == 3]
            made = [i for i in os.listdir(f'{lib.TRACING}/instances') if i.count('.') == 3]
            if len(mine) != 1 or len(made) != 2:  # one of them is for the names of tasks
                return f'logs {mine}, instances {made}'
            for hidden in (False, True):
                # As if its /run were another one: then nobody knows whether it lives.
                if hidden:
                    os.rename(f'/run/spur/{mine[0]}', '/run/spur-hidden-log')
                for argv in (['list', '-t'], ['reset', '--dead']):
                    status, said = spur(t, *argv)
                    if status or 'cleaned' in said or 'removed' in said:
                        return f'{argv}: status {status}: {said}'
                gone = [i for i in made if not os.path.exists(f'{lib.TRACING}/instances/{i}')]
                if gone:
                    return f'the instance {gone[0]} is gone'
        finally:
            os.killpg(child.pid, signal.SIGINT)
            try:
                child.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
        if os.path.exists('/run/spur-hidden-log'):
            os.unlink('/run/spur-hidden-log')
        lib.wait_for(lambda: not any(os.path.exists(f'{lib.TRACING}/instances/{i}') for i in made), 20)
        return kernel_restored(lib, before)
    return test


def guarded_elsewhere(lib):
    """Nothing is removed as long as a guardian lives, also if its log is in another /run."""
    def test(t, where):
        before = lib.state()
        drill = Drill(lib, t, f'{where}/0', KINDS[0])
        watching = []
        try:
            if not drill.running():
                return 'does not start'
            pid = drill.recording.child.pid
            watching = drill.guardians()
            os.kill(watching[0], signal.SIGSTOP)
            for name in os.listdir('/run/spur'):
                if name.startswith(f'{pid}.'):
                    os.unlink(f'/run/spur/{name}')
            drill.recording.child.send_signal(signal.SIGKILL)
            drill.recording.child.wait()
            said = spur(t, 'list', '-t')[1]
            left = [i for i in lib.state()['instances'] if i.startswith(f'spur-{pid}.')]
            if 'removed' in said or not left:
                return f'instances {left}: {said}'
        finally:
            for guardian in watching:
                os.kill(guardian, signal.SIGCONT)
            drill.end()
        return kernel_restored(lib, before)
    return test


def processes_of(pid):
    """All processes below a process."""
    with open(f'/proc/{pid}/task/{pid}/children', encoding='ascii') as file:
        children = [int(child) for child in file.read().split()]
    return children + [p for child in children for p in processes_of(child)]


def ended_namespace(lib):
    """What a pid namespace with another /run has left is removed when none of its processes is left."""
    def test(t, where):
        if os.readlink('/proc/self/ns/pid') != 'pid:[4026531836]':
            raise OSError('needs the first pid namespace')
        before = lib.state()
        child = recorder_in_namespace(t, where)
        try:
            if not records(lib, child, where):
                return 'does not start'
            for name in os.listdir('/run/spur'):
                if name.count('.') == 3:
                    os.unlink(f'/run/spur/{name}')
            inside = processes_of(child.pid)
        finally:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        # One of them may be in the middle of making an instance.
        if not lib.wait_for(lambda: not any(os.path.exists(f'/proc/{pid}') for pid in inside), 20):
            return f'there are still processes {inside}'
        removed = lib.wait_for(lambda: 'removed spur-' in spur(t, 'list', '-t')[1], 20)
        return '' if removed and not kernel_restored(lib, before) else f'nothing is removed: {lib.state()["instances"]}'
    return test


def tests(lib):
    return {
        'kill -9 of the recorder': rounds(lib, recorder),
        'kill -9 of the guardian': rounds(lib, guardian),
        'kill -9 of both': rounds(lib, both),
        'kill -9 of both, top buffer': top_buffer(lib),
        'kill -9 of both, probes': dead(lib, probe, has_owned_probe, nothing, 'cleaned up after process {},'),
        'kill -9 of both, no output': dead(lib, lambda t: [], loses_file, stays,
                                           'what process {} recorded until it was killed is dropped'),
        'kill -9 of both, a flight whose name is used': other_has_name(lib),
        'kill -9 of both, then restored': restored(lib),
        'another pid namespace': namespace(lib),
        'a guardian with another /run': guarded_elsewhere(lib),
        'a pid namespace that ended': ended_namespace(lib),
    }
