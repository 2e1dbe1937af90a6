# SPDX-License-Identifier: GPL-2.0-or-later
"""Packages from npm that tests use: fetched once and kept in the cache of tests/guest."""
import fcntl
import os
import shutil
import sys

sys.path.insert(1, 'tests/guest')
import kernels


def fetched(home, fetch):
    """A folder of the cache that fetch() fills once."""
    if not shutil.which('npm') and not os.path.exists(f'{home}/done'):
        raise kernels.Unavailable('npm is not installed')
    try:
        os.makedirs(home, exist_ok=True)
        with open(f'{home}/lock', 'w', encoding='ascii') as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not os.path.exists(f'{home}/done'):
                fetch()
                open(f'{home}/done', 'w', encoding='ascii').close()
    except OSError as error:
        raise kernels.Unavailable(f'{home}: {error.strerror or error}') from error
    return home


def npm_folder(package):
    """The folder that has NAME@VERSION in node_modules. Raises kernels.Unavailable."""
    home = os.path.join(kernels.cache_directory(), 'npm', package)
    return fetched(home, lambda: kernels.command('npm', 'install', '--no-audit', '--no-fund', '--prefix', home, package))


def npm_files(package):
    """The folder that has the files of NAME@VERSION alone, nothing that it depends on. Raises kernels.Unavailable."""
    home = os.path.join(kernels.cache_directory(), 'npm-files', package)

    def fetch():
        name = kernels.command('npm', 'pack', '--pack-destination', home, package).split()[-1]
        kernels.command('tar', '-xf', os.path.join(home, name), '-C', home)
        os.unlink(os.path.join(home, name))

    return os.path.join(fetched(home, fetch), 'package')
