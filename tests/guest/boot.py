# SPDX-License-Identifier: GPL-2.0-or-later
"""Boots a kernel in QEMU and listens to what the guest's init says; see there for the protocol.

The port arrives on QEMU's standard output, the console goes to a file, which is where a panic is found.
"""
import collections
import io
import os
import re
import select
import shutil
import subprocess
import tarfile
import time

MEMORY_MB = 512
DISK_MB = 512  # of /dev/vda: a sparse file, new at every boot
# Everything but what makes an emulated memory access slower.
CPU = 'max,-la57,-smap,-smep,-pku,-erms,-fsrm'
BOOT_SECONDS = 120    # until the guest says hello
GRACE_SECONDS = 60    # a case limits itself; after so much more, the guest is dead
TOTAL_SECONDS = 1200
CONSOLE_LINES = 20    # shown when it is lost

PARAMETERS = ('console=ttyS0 panic=-1 oops=panic quiet tsc=reliable nowatchdog mitigations=off '
              'rcupdate.rcu_cpu_stall_suppress=1')

Test = collections.namedtuple('Test', 'id case recorder seconds commands needs')
Outcome = collections.namedtuple('Outcome', 'test word note seconds cpu')


class Lost(Exception):
    """The guest is gone; says how, and which test it was at (None: it did not come up)."""

    def __init__(self, why, test, console):
        super().__init__(why)
        self.test = test
        self.console = console


def empty_disk(path):
    with open(path, 'wb') as file:
        file.truncate(DISK_MB << 20)
    return path


def qemu(kernel, initrd, disk, console, port):
    """QEMU's arguments. It must not outlive us, whatever happens.

    One thread runs both CPUs: with two, one may execute code that the other has just patched as it was in
    between (an "Oops: int3"), and the kernel patches itself whenever functions are traced.
    """
    return ['setpriv', '--pdeathsig', 'KILL', 'qemu-system-x86_64',
            '-accel', 'tcg,thread=single', '-cpu', CPU, '-m', str(MEMORY_MB), '-smp', '2',
            '-display', 'none', '-monitor', 'none', '-no-reboot', '-nic', 'none',
            '-kernel', kernel.vmlinuz, '-initrd', initrd, '-append', PARAMETERS,
            '-drive', f'file={disk},format=raw,if=virtio,cache=unsafe',
            '-serial', console, '-chardev', port,
            '-device', 'virtio-serial-pci', '-device', 'virtserialport,chardev=port,name=lab']


class Port:
    """What the guest sends: lines, and bytes in between."""

    def __init__(self, fd):
        self.fd = fd
        self.data = b''

    def _more(self, deadline):
        left = max(0, deadline - time.monotonic())
        if not select.select([self.fd], [], [], left)[0]:
            raise TimeoutError
        data = os.read(self.fd, 1 << 16)
        if not data:
            raise EOFError
        self.data += data

    def line(self, deadline):
        while b'\n' not in self.data:
            self._more(deadline)
        line, self.data = self.data.split(b'\n', 1)
        return line.decode(errors='replace')

    def bytes(self, n, deadline):
        parts = []
        while len(self.data) < n:
            parts.append(self.data)
            n -= len(self.data)
            self.data = b''
            self._more(deadline)
        parts.append(self.data[:n])
        self.data = self.data[n:]
        return b''.join(parts)


class Guest:
    """One boot. tests() yields what becomes of the tests, in their order."""

    def __init__(self, kernel, archive, directory):
        self.directory = directory
        self.console = f'{directory}/console.log'
        initrd = f'{directory}/initrd'
        with open(initrd, 'wb') as file:
            file.write(archive)
        self.errors = open(f'{directory}/qemu.log', 'w+', encoding='utf-8')
        # Its input is a pipe that stays open: at the end of the input, QEMU would close the port.
        self.qemu = subprocess.Popen(qemu(kernel, initrd, empty_disk(f'{directory}/disk'),
                                          f'file:{self.console}',
                                          'stdio,id=port,signal=off'),
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                     stderr=self.errors)
        self.port = Port(self.qemu.stdout.fileno())
        self.end = time.monotonic() + TOTAL_SECONDS

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.qemu.kill()
        self.qemu.wait()
        self.qemu.stdin.close()
        self.qemu.stdout.close()
        self.errors.close()

    def hello(self):
        """Waits until the guest is up; returns its kernel's release."""
        word, release = self._line(BOOT_SECONDS, None).split()
        if word != 'boot':
            raise self._lost(f'says {word!r}', None)
        return release

    def tests(self, tests):
        for test in tests:
            start, cpu = time.monotonic(), self.cpu_seconds()
            begin = self._line(GRACE_SECONDS, test)
            if begin != f'begin {test.case} {test.recorder}':
                raise self._lost(f'says {begin!r}', test)
            word, size, note = (self._line(test.seconds + GRACE_SECONDS, test)
                                .removeprefix('end ').split(' ', 2))
            self._store(test, self._bytes(int(size), test))
            yield Outcome(test, word, note, time.monotonic() - start, self.cpu_seconds() - cpu)

    def cpu_seconds(self):
        """What QEMU has used so far: more telling than the clock on a busy machine."""
        with open(f'/proc/{self.qemu.pid}/stat', encoding='ascii', errors='replace') as file:
            fields = file.read().rsplit(')', 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')

    def _line(self, seconds, test):
        return self._wait(self.port.line, seconds, test)

    def _bytes(self, n, test):
        return self._wait(lambda deadline: self.port.bytes(n, deadline), GRACE_SECONDS, test)

    def _wait(self, read, seconds, test):
        try:
            return read(min(time.monotonic() + seconds, self.end))
        except TimeoutError:
            what = 'all tests' if time.monotonic() >= self.end else f'{seconds} s'
            raise self._lost(f'silent too long ({what})', test) from None
        except EOFError:
            self.qemu.wait()
            raise self._lost('ended', test) from None

    def _lost(self, why, test):
        lines = self._console_lines()
        panics = [i for i, l in enumerate(lines) if re.search(r'Kernel panic|BUG:|Oops:', l)]
        if panics:
            return Lost(f'the guest {why}: {lines[panics[0]]}', test, lines[panics[0]:][:CONSOLE_LINES])
        self.errors.seek(0)
        trouble = self.errors.read().split('\n')[0]
        return Lost(f'the guest {why} {trouble}'.strip(), test, lines[-CONSOLE_LINES:])

    def _console_lines(self):
        try:
            with open(self.console, 'rb') as file:
                text = file.read().decode(errors='replace')
        except FileNotFoundError:
            return []
        return [l for l in re.sub(r'\x1b\S*?[a-zA-Z]|[\r\0]', '', text).split('\n') if l.strip()]

    def _store(self, test, data):
        """Unpacks the files of a test."""
        target = os.path.join(self.directory, test.id.replace('/', '-'))
        shutil.rmtree(target, ignore_errors=True)
        os.makedirs(target)
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            for member in tar:
                if member.isreg() and '/' not in member.name.removeprefix('./'):
                    member.name = os.path.basename(member.name)
                    tar.extract(member, target)
