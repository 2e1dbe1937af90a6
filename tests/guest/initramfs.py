# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest's file system: an archive in cpio's "newc" format, which the kernel unpacks into memory.

    /init, /lab/*           tests/guest's scripts and cases, and the list of what to run
    /lab/script             the scripts of tests/script's tables
    /lab/tools              the scripts of spur tool
    /lab/bt                 the scripts of Debian's package bpftrace, if it is installed here
    /bin                    busybox, spur, trace-cmd, calls, load, target, walk
    /lib                    the libraries they need
    /lib/modules/RELEASE    modules, for modprobe
"""
import glob
import os
import re
import stat
import subprocess


class Archive:
    """Files by their path in the guest; directories come by themselves."""

    def __init__(self):
        self.files = {}

    def add(self, path, data, mode=0o644):
        self.files[path.lstrip('/')] = (stat.S_IFREG | mode, data)

    def copy(self, source, path, mode=None):
        with open(source, 'rb') as file:
            self.add(path, file.read(), os.stat(source).st_mode & 0o777 if mode is None else mode)

    def program(self, source, path):
        """A program or a library with the libraries that it needs."""
        self.copy(source, path, 0o755)
        done = subprocess.run(['ldd', source], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True, check=False)
        for library in re.findall(r'=> (/\S+)', done.stdout):
            self.copy(library, f'/lib/{os.path.basename(library)}', 0o755)
        for loader in re.findall(r'^\s+(/\S+)', done.stdout, re.M):
            self.copy(loader, loader, 0o755)

    def __bytes__(self):
        entries = {}
        for path, entry in sorted(self.files.items()):
            parent = os.path.dirname(path)
            while parent and parent not in entries:
                entries[parent] = (stat.S_IFDIR | 0o755, b'')
                parent = os.path.dirname(parent)
            entries[path] = entry
        # A directory has to come before what is in it.
        names = sorted(entries, key=lambda p: (p.count('/'), p))
        parts = []
        for number, name in enumerate(names, 1):
            parts += newc(number, name, *entries[name])
        return b''.join(parts + newc(0, 'TRAILER!!!', 0, b''))


def newc(number, name, mode, data):
    """One entry: a header of hexadecimal numbers, the name and the data, each padded to 4 bytes."""
    name = name.encode() + b'\0'
    fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name), 0)
    head = b'070701' + b''.join(b'%08X' % field for field in fields) + name
    return [head, bytes(-len(head) % 4), data, bytes(-len(data) % 4)]


def table_scripts():
    """The scripts of tests/script's tables that have something for a kernel to load."""
    for path in sorted(glob.glob('tests/script/cases/*')):
        with open(path, encoding='utf-8') as file:
            blocks = re.split(r'^--- .*\n', file.read(), flags=re.M)[1:]
        for block in blocks:
            lines = block.split('\n')
            if any(l.startswith(('error ', 'over ', 'options ', 'tool ')) for l in lines):
                continue
            words = r'(===|(same|args|set|run|needs|like|unlike|warning|status)\b)'
            text = '\n'.join(l for l in lines if not re.match(words, l)) + '\n'
            yield text.replace('@BUILD@/tests/script/script_calls', '/bin/calls')


def base(programs):
    """What all guests have in common. programs: {name: path on this machine}."""
    archive = Archive()
    for directory in ('proc', 'sys', 'dev', 'run', 'tmp', 'lab/work'):
        archive.files[directory] = (stat.S_IFDIR | 0o755, b'')
    for name, path in programs.items():
        archive.program(path, f'/bin/{name}')
    for plugin in glob.glob('/usr/lib/*/traceevent/plugins/*.so'):
        archive.copy(plugin, plugin, 0o755)
    for number, text in enumerate(table_scripts()):
        archive.add(f'/lab/script/{number}.bt', text.encode())
    for script in glob.glob('tools/*.bt'):
        archive.copy(script, f'/lab/tools/{os.path.basename(script)}')
    for script in glob.glob('/usr/sbin/*.bt'):
        archive.copy(script, f'/lab/bt/{os.path.basename(script)}')
    archive.copy('tests/guest/init', '/init', 0o755)
    archive.copy('tests/guest/lib.sh', '/lab/lib.sh')
    archive.copy('tests/guest/state.sh', '/lab/state.sh')
    return archive


def build(common, kernel, cases, order):
    """The archive for one boot. cases: {name: text}; order: the lines of /lab/order."""
    archive = Archive()
    archive.files.update(common.files)
    modules = f'/lib/modules/{kernel.release}'
    for path in glob.glob(f'{kernel.directory}/modules/*.ko'):
        archive.copy(path, f'{modules}/{os.path.basename(path)}')
    archive.copy(f'{kernel.directory}/modules.dep', f'{modules}/modules.dep')
    for name, text in cases.items():
        archive.add(f'/lab/cases/{name}.sh', text.encode())
    archive.add('/lab/order', ''.join(line + '\n' for line in order).encode())
    return bytes(archive)
