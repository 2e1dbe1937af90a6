# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's kernels: fetched once, unpacked, never installed.

The cache is $SPUR_CACHE, or spur/ in the user's cache directory. Per kernel it holds the package as it
was downloaded, and beside it what guests need of it. A package that is there is used; to have a newer
one, delete it.

    kernels/6.1/linux-image-6.1.0-54-amd64_6.1.190-1_amd64.deb
    kernels/6.1/guest/vmlinuz, contents, modules/NAME.ko, modules.dep
"""
import collections
import fcntl
import glob
import lzma
import os
import re
import shutil
import subprocess
import tempfile

# The packages that always depend on the newest kernel of their kind.
PACKAGES = {
    '6.1': 'linux-image-amd64',
    'rt': 'linux-image-rt-amd64',
    '6.12': 'linux-image-6.12-amd64',
}

# Modules that guests can load. What they depend on comes along.
MODULES = '''virtio_pci virtio_console virtio_blk null_blk loop dummy veth vsock_loopback
crc32c_generic ext4 xfs raid1 sch_tbf'''.split()

# Where 6.12 is, for a machine whose own list of sources does not have it.
MORE_SOURCES = 'deb http://deb.debian.org/debian-security bookworm-security main\n'

Kernel = collections.namedtuple('Kernel', 'name release vmlinuz directory')


class Unavailable(Exception):
    """Says why there is no such kernel."""


def cache_directory():
    own = os.environ.get('SPUR_CACHE')
    users = os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache')
    return own or os.path.join(users, 'spur')


def command(*argv, cwd=None):
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd,
                          stdin=subprocess.DEVNULL, env=dict(os.environ, LC_ALL='C'))
    if done.returncode:
        lines = done.stderr.strip().split('\n')
        raise Unavailable(f'{" ".join(argv[:1] + argv[-2:])}: {lines[-1]}')
    return done.stdout


# ---- fetching ------------------------------------------------------------------------------------

def own_apt(directory):
    """Options for apt with a list of sources of our own, which needs no privilege."""
    os.makedirs(f'{directory}/lists/partial', exist_ok=True)
    os.makedirs(f'{directory}/cache/archives/partial', exist_ok=True)
    with open(f'{directory}/sources.list', 'w', encoding='utf-8') as file:
        file.write(MORE_SOURCES)
    settings = {'Dir::Etc::SourceList': 'sources.list', 'Dir::Etc::SourceParts': '/dev/null',
                'Dir::State::Lists': 'lists', 'Dir::Cache': 'cache'}
    return [f'-o{key}={os.path.join(directory, value)}' for key, value in settings.items()]


def newest_package(options, package):
    """The package that `package` stands for."""
    text = command('apt-cache', *options, 'show', '--no-all-versions', package)
    found = re.search(r'^Depends:.*?\b(linux-image-[0-9][^ ,]*)', text, re.M)
    if not found:
        raise Unavailable(f'{package} depends on no kernel')
    return found[1]


def download(package, directory):
    """Downloads the kernel that `package` stands for, from wherever apt knows it."""
    if not shutil.which('apt-get'):
        raise Unavailable(f'no apt-get to download {package}')
    with tempfile.TemporaryDirectory(dir=directory) as scratch:
        options = []
        try:
            real = newest_package(options, package)
        except Unavailable:
            options = own_apt(f'{scratch}/apt')
            command('apt-get', *options, 'update')
            real = newest_package(options, package)
        command('apt-get', *options, 'download', real, cwd=scratch)
        deb, = glob.glob(f'{scratch}/*.deb')
        os.rename(deb, os.path.join(directory, os.path.basename(deb)))


# ---- unpacking -----------------------------------------------------------------------------------

def module_files(tree):
    """{name: path} of all modules; names as the kernel knows them."""
    paths = glob.glob(f'{tree}/**/*.ko*', recursive=True)
    return {os.path.basename(p).split('.ko')[0].replace('-', '_'): p for p in paths}


def read_module(path):
    with (lzma.open if path.endswith('.xz') else open)(path, 'rb') as file:
        return file.read()


def unpack_modules(tree, target):
    """Copies MODULES and what they depend on, and writes modules.dep for modprobe."""
    files = module_files(tree)
    depends, todo = {}, list(MODULES)
    while todo:
        name = todo.pop()
        if name in depends or name not in files:
            continue  # a module of one kernel may be part of another
        data = read_module(files[name])
        found = re.search(rb'\0depends=([^\0]*)\0', data)
        depends[name] = [d.replace('-', '_') for d in found[1].decode().split(',') if d] if found else []
        todo += depends[name]
        with open(f'{target}/modules/{name}.ko', 'wb') as file:
            file.write(data)

    def loaded_for(name):
        """What has to be loaded before it, in an order that works."""
        order = []
        for d in depends[name]:
            order += loaded_for(d) + [d]
        return list(dict.fromkeys(order))

    with open(f'{target}/modules.dep', 'w', encoding='ascii') as file:
        for name in sorted(depends):
            # modprobe loads the last one of a line first.
            file.write(' '.join([f'{name}.ko:'] + [f'{d}.ko' for d in reversed(loaded_for(name))]) + '\n')


def unpack(deb, target):
    """Takes from the package what guests need, unless that has been done."""
    contents = f'{os.path.basename(deb)}\n{" ".join(MODULES)}\n'
    try:
        with open(f'{target}/contents', encoding='utf-8') as file:
            if file.read() == contents:
                return
    except FileNotFoundError:
        pass
    shutil.rmtree(target, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=os.path.dirname(target)) as scratch:
        command('dpkg', '-x', deb, f'{scratch}/tree')
        os.makedirs(f'{scratch}/guest/modules')
        vmlinuz, = glob.glob(f'{scratch}/tree/boot/vmlinuz-*')
        shutil.copy(vmlinuz, f'{scratch}/guest/vmlinuz')
        unpack_modules(f'{scratch}/tree', f'{scratch}/guest')
        with open(f'{scratch}/guest/contents', 'w', encoding='utf-8') as file:
            file.write(contents)
        os.rename(f'{scratch}/guest', target)


def kernel(name):
    """The kernel of this name, fetched if need be. Raises Unavailable."""
    directory = os.path.join(cache_directory(), 'kernels', name)
    try:
        os.makedirs(directory, exist_ok=True)
        with open(f'{directory}/lock', 'w', encoding='ascii') as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not glob.glob(f'{directory}/*.deb'):
                download(PACKAGES[name], directory)
            deb = max(glob.glob(f'{directory}/*.deb'), key=os.path.getmtime)
            target = f'{directory}/guest'
            unpack(deb, target)
    except OSError as error:
        raise Unavailable(f'{directory}: {error.strerror or error}') from error
    release = os.path.basename(deb).split('_')[0].removeprefix('linux-image-')
    return Kernel(name, release, f'{target}/vmlinuz', target)
