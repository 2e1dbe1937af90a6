# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of cases: blocks of a trace and of questions with their answers. tests/sql/run says how they look."""
import re
import subprocess
import sys


class Case:
    def __init__(self, text):
        lines = text.split('\n')
        self.name, self.trace, self.recording, self.questions = lines[0][3:], [], None, []
        for line in lines[1:]:
            if line.startswith('| '):
                self.trace.append(line[2:])
            elif line.startswith('@ '):
                self.recording = line[2:]
            elif line.startswith('> '):
                self.questions.append((line[2:], []))
            elif self.questions:
                self.questions[-1][1].append(line)


def blocks(name):
    """Empty lines belong to an answer unless a new block follows."""
    with open(f'tests/sql/{name}') as file:
        text = re.sub(r'^#.*\n', '', file.read(), flags=re.M)
    return [block.rstrip('\n') for block in re.split(r'\n*^(?=== )', text, flags=re.M) if block.strip()]


def make_trace(lines, path):
    with open(path + '.txt', 'w') as file:
        file.write('\n'.join(lines) + '\n')
    subprocess.run([sys.executable, 'tests/tables/mktrace.py', path + '.txt', path], check=True)
    return path
