# SPDX-License-Identifier: GPL-2.0-or-later
"""What the test drivers share.

A driver is an executable tests/KIND/run that is started in the top directory with a build directory
as its argument and prints one line per test:

    ok KIND/NAME                    ok KIND/NAME (a remark)
    FAIL KIND/NAME (why)            skip KIND/NAME (why)

Lines that start otherwise are shown and not counted. tests/run starts the drivers and counts.
"""
import collections
import concurrent.futures
import fcntl
import os
import resource
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SANITIZER_STATUS = 99  # what a program built with sanitizers exits with when they object
SANITIZER_ENV = {
    'ASAN_OPTIONS': f'exitcode={SANITIZER_STATUS}:allocator_may_return_null=1',
    'UBSAN_OPTIONS': f'halt_on_error=1:print_stacktrace=1:exitcode={SANITIZER_STATUS}',
    'LSAN_OPTIONS': f'exitcode={SANITIZER_STATUS}',
}

Result = collections.namedtuple('Result', 'status out err trouble')
# status: exit status, None when it did not exit by itself
# trouble: '' or what must never happen: "killed by SIGSEGV", "ran longer than 10 s", ...


class Driver:
    """One driver's view of the world: which build it tests, and how it reports."""

    def __init__(self, kind, build='build'):
        self.build = os.path.abspath(build)
        self.sanitized = self.build.endswith('-asan')
        self.kind = kind + ('-asan' if self.sanitized else '')
        self.spur = os.path.join(self.build, 'spur')
        self.failed = False

    def _line(self, word, name, note):
        note = ' '.join(str(note).split())
        print(f'{word} {self.kind}/{name}' + (f' ({note})' if note else ''), flush=True)

    def ok(self, name, note=''):
        self._line('ok', name, note)

    def skip(self, name, why):
        self._line('skip', name, why)

    def fail(self, name, why):
        self.failed = True
        self._line('FAIL', name, why)

    def check(self, name, why):
        """ok when there is nothing to say, FAIL with what is said otherwise."""
        if why:
            self.fail(name, why)
        else:
            self.ok(name)

    def run(self, argv, **limits):
        """Runs build/spur with these arguments."""
        if self.sanitized:
            limits['memory'] = None  # the sanitizer reserves terabytes of address space
            limits['seconds'] = 6 * limits.get('seconds', 10)
        return run([self.spur] + argv, **limits)

    def finish(self):
        sys.exit(1 if self.failed else 0)


def ticks(pid):
    """How much a process has worked: hundredths of a second."""
    with open(f'/proc/{pid}/stat', encoding='ascii', errors='replace') as file:
        return sum(map(int, file.read().rsplit(')', 1)[1].split()[11:13]))


def wait_until_busy(child, seconds=0.2):
    """Returns when a child has worked that long or has ended: what it has to set up first is done by then."""
    while child.poll() is None and ticks(child.pid) < 100 * seconds:
        time.sleep(0.02)


def parallel(function, items):
    """function over items on all cores; yields results in the order of the items."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(function, items)


def run(argv, seconds=10, memory=2 << 30, output=64 << 20, cwd=None):
    """Runs a program with limits on time, address space and output."""

    def limit():
        if memory:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_FSIZE, (output, output))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    env = dict(os.environ, LC_ALL='C', TZ='UTC', **SANITIZER_ENV)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=cwd,
                                 env=env, preexec_fn=limit)
        try:
            status, trouble = child.wait(seconds), ''
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
            status, trouble = None, f'ran longer than {seconds} s'
        if status is not None and status < 0:
            trouble = f'killed by {signal.Signals(-status).name}'
            status = None
        if os.fstat(out.fileno()).st_size >= output:
            trouble = f'printed more than {output >> 20} MB'
        out.seek(0)
        err.seek(0)
        result = Result(status, out.read(), err.read(), trouble)
    if status == SANITIZER_STATUS:
        result = result._replace(trouble='sanitizer: ' + sanitizer_summary(result.err))
    return result


def sanitizer_summary(err):
    lines = err.decode(errors='replace').split('\n')
    telling = [l for l in lines if 'SUMMARY' in l or 'runtime error' in l]
    return telling[0] if telling else 'no summary'


def unpack(archive):
    """Unpacks an archive of the tree below build/ and returns the directory. Done once."""
    source = os.path.join(ROOT, archive)
    name = os.path.basename(archive).split('.')[0]
    target = os.path.join(ROOT, 'build', 'unpacked', name)
    stat = os.stat(source)
    state = f'{stat.st_size} {stat.st_mtime_ns}'
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target + '.stamp', 'a+') as stamp:
        fcntl.flock(stamp, fcntl.LOCK_EX)
        stamp.seek(0)
        if stamp.read() != state:
            shutil.rmtree(target, ignore_errors=True)
            with tarfile.open(source) as tar:
                tar.extractall(target)
            stamp.truncate(0)
            stamp.write(state)
    return target


def recordings():
    """The recordings to test with: {name: directory}."""
    top = unpack('tests/golden/recordings.tar.xz')
    return {name: os.path.join(top, name) for name in sorted(os.listdir(top))}
