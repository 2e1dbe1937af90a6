# SPDX-License-Identifier: GPL-2.0-or-later
"""What is checked of every trace.

`ranges`: the rows of a range of time, read alone and picked from all rows. oracle_*.py: each an independent computation
of some tables over the text of the report. oracle_NAME.py SPUR TABLES_DUMP FILE prints nothing, or what differs. One that
has nothing to say about a trace ends with 77 and says why.
"""
import glob
import os
import sys

import harness

NOTHING_TO_SAY = 77
HERE = 'tests/tables'


def all_of(t):
    """{name: command line without the trace}"""
    found = {'ranges': [t.dump, '-r']}
    for path in sorted(glob.glob(f'{HERE}/oracle_*.py')):
        found[os.path.basename(path).removesuffix('.py')] = [sys.executable, path, t.spur, t.dump]
    return found


def run(t, what, argv, traces):
    """A program over every trace; it prints what is wrong."""
    good, wrong = 0, []

    def one(name):
        return harness.run(argv + [traces[name]], memory=None, seconds=240)

    for name, result in zip(traces, harness.parallel(one, traces)):
        if result.status == NOTHING_TO_SAY and not result.trouble:
            continue
        text = (result.out + result.err).decode(errors='replace')
        if result.trouble or result.status or text:
            wrong.append(f'{name}: {result.trouble or text[:200]}')
            if t.verbose:
                print(f'  {what}: {name}: {result.trouble}\n{text}')
        good += 1
    if not good:
        t.fail(what, 'there was nothing to compare')
    elif wrong:
        t.fail(what, '; '.join(wrong))
    else:
        t.ok(what, f'{good} traces')
