# SPDX-License-Identifier: GPL-2.0-or-later
"""perf.data: the samples that `perf script` prints."""
import collections
import json
import os
import re
import shutil
import struct
import subprocess
import tempfile

WORK = 'for i in 1 2 3; do ls / >/dev/null; done'
BUSY = 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; head -c 3000000 /dev/urandom >/dev/null'
TRACEPOINTS = ['-e', 'sched:sched_switch', '-e', 'sched:sched_wakeup', '-e', 'syscalls:sys_enter_openat', '-e', 'syscalls:sys_exit_openat']
SCRIPT = re.compile(r'\s*(.*?)\s+(\d+)\s+\[(\d+)\]\s+(\d+)\.(\d{9}):\s+([\w-]+):(\w+):\s?(.*)')
REPORT = re.compile(r'\s*(.*)-(\d+)\s+\[(\d+)\]\s+\S+\s+(\d+)\.(\d{9}):\s+(\w+):\s*(.*)')
SAMPLE = re.compile(r'(?:\d+ )?(\d+) 0x[0-9a-f]+ \[0x[0-9a-f]+\]: PERF_RECORD_SAMPLE\(IP, 0x([0-9a-f]+)\): \d+/(\d+): (0x[0-9a-f]+)')
FRAME = re.compile(r'\.\.\.\.\. +\d+: ([0-9a-f]{16})')
NO_ADDRESS = 2**64 - 4095  # from there on: marks between the kernel's frames and the user's, as
MARKS = {2**64 - 128: False, 2**64 - 512: True}
MODE, USER = 7, 2


FORMAT = """name: thing
ID: 321
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:int a;	offset:8;	size:4;	signed:1;
	field:u32 b;	offset:12;	size:4;	signed:0;

print fmt: "a=%d b=%u", REC->a, REC->b
""".encode()
ADDR, STREAM, READ, GROUP_WITH_TIME_AND_ID = 1 << 3, 1 << 9, 1 << 4, 8 | 4 | 1
IDENTIFIER, IP, TID, TIME, ID, CPU, PERIOD, CHAIN, RAW = 1 << 16, 1, 2, 4, 1 << 6, 1 << 7, 1 << 8, 1 << 5, 1 << 10


class Made:
    """A perf.data of a few records, in either order of bytes."""

    def __init__(self, order):
        self.order, self.records = order, b''

    def pack(self, code, *values):
        return struct.pack(self.order + code, *values)

    def string(self, text):
        data = text.encode() + b'\0'
        return self.pack('I', len(data) + 3) + data + bytes(3)

    def attr(self, kind, config, types, read=0):
        return self.pack('IIQQQQQ', kind, 112, config, 1, types, read, 1 << 18).ljust(112, b'\0')

    def add(self, kind, body, misc=0):
        body += bytes(-len(body) % 8)
        self.records += self.pack('IHH', kind, misc, 8 + len(body)) + body

    def other(self, kind, body, tid, ts, cpu, misc=0):
        """A record that is no sample, with what stands behind all of these."""
        body += bytes(-len(body) % 8)
        self.add(kind, body + self.pack('IIQIIQ', 5, tid, ts, cpu, 0, 1), misc)

    def sample(self, ident, ip, tid, ts, cpu, chain, raw, misc=1):
        body = self.pack('QQIIQIIQ', ident, ip, 5, tid, ts, cpu, 0, 1000)
        body += self.pack('Q', len(chain)) + b''.join(self.pack('Q', a) for a in chain)
        if raw is not None:
            raw += bytes(-(len(raw) + 4) % 8)
            body += self.pack('I', len(raw)) + raw
        self.add(9, body, misc)

    def full_sample(self, ident, ip, tid, ts, cpu, addr, chain):
        """One with an address, numbers of streams, and counters of a group of two."""
        body = self.pack('QQIIQQQQIIQ', ident, ip, 5, tid, ts, addr, ident, 4, cpu, 0, 1000)
        body += self.pack('QQQQQQ', 2, 99, 5, ident, 6, 1)
        self.add(9, body + self.pack('Q', len(chain)) + b''.join(self.pack('Q', a) for a in chain), 2)

    def tracing_data(self):
        sized = lambda data: self.pack('Q', len(data)) + data
        out = b'\x17\x08\x44tracing0.6\0' + bytes([self.order == '>', 8]) + self.pack('I', 4096)
        out += b'header_page\0' + sized(b'x') + b'header_event\0' + sized(b'y') + self.pack('I', 0)
        out += self.pack('I', 1) + b'things\0' + self.pack('I', 1) + sized(FORMAT)
        return out + self.pack('I', 0) + self.pack('I', 0) + self.pack('Q', 0)

    def file(self, attrs):
        size = 104
        ids = b''.join(self.pack('Q', 1 + i) for i in range(len(attrs)))
        at = size + len(ids)
        table = b''.join(a + self.pack('QQ', size + 8 * i, 8) for i, a in enumerate(attrs))
        desc = self.pack('II', len(attrs), 112) + b''.join(
            a + self.pack('I', 1) + self.string(name) + self.pack('Q', 1 + i) for i, (a, name) in enumerate(zip(attrs, ('things:thing', 'my-clock:u', 'faults'))))
        features = {1: self.tracing_data(), 3: self.string('board'), 4: self.string('6.1.0'), 6: self.string('m68k'), 7: self.pack('II', 4, 4),
                    12: desc, 29: self.pack('IIQQ', 1, 1, 2_000_000_000_000_000_000, 1_000_000_000)}
        data_at = at + len(table)
        places, out = b'', b''
        start = data_at + len(self.records) + 16 * len(features)
        for number in sorted(features):
            places += self.pack('QQ', start + len(out), len(features[number]))
            out += features[number]
        bits = sum(1 << n for n in features)
        magic = b'PERFILE2' if self.order == '<' else b'2ELIFREP'
        head = magic + self.pack('QQQQQQQQQQQQ', size, 112 + 16, at, len(table), data_at, len(self.records), 0, 0, bits, 0, 0, 0)
        return head + ids + table + self.records + places + out


def make(order):
    m = Made(order)
    types = IDENTIFIER | IP | TID | TIME | CPU | PERIOD | CHAIN
    thing = lambda pid, a, b: m.pack('HBBiiI', 321, 1, 2, pid, a, b)
    m.other(3, m.pack('II', 5, 7) + b'a task\0', 7, 0, 0)
    m.other(10, m.pack('IIQQQIIQQII', 5, 7, 0x400000, 0x1000, 0, 8, 1, 99, 0, 5, 2) + b'/bin/prog\0', 7, 0, 0)
    m.sample(2, 0x400010, 7, 5000, 1, [2**64 - 512, 0x400010, 0x400100], None, 2)
    m.sample(1, 0xffff0010, 7, 4000, 1, [2**64 - 128, 0xffff0010, 2**64 - 512, 0x400020], thing(7, -5, 6))
    m.other(2, m.pack('QQ', 1, 13), 7, 6000, 1)
    m.add(68, b'')
    m.sample(1, 0xffff0010, 8, 7000, 1, [], thing(8, 1, 2))
    m.other(7, m.pack('IIIIQ', 5, 5, 9, 7, 7500), 7, 7500, 0)
    m.other(3, m.pack('II', 5, 9) + b'child\0', 9, 8000, 0)
    m.other(4, m.pack('IIIIQ', 5, 5, 9, 7, 9000), 9, 9000, 0)
    m.other(3, m.pack('II', 5, 11) + b'x\n7 y\0', 11, 0, 0)
    m.full_sample(3, 0x400030, 11, 9500, 2, 0xabc0, [2**64 - 512, 0x400030, 2**64 - 128, 0xffff0020])
    m.other(3, m.pack('II', 5, 12) + b'abcdefghijklmnopq\0', 12, 9700, 2)
    return m.file([m.attr(2, 321, types | RAW), m.attr(1, 0, types),
                   m.attr(1, 2, types | ADDR | ID | STREAM | READ, GROUP_WITH_TIME_AND_ID)])


DATE = 2_000_000_000_000_000_000 - 1_000_000_000
MADE = [  # what must come out of it
    (4000, 1, 7, 'a task', 'things', 'thing', {'a': -5, 'b': 6}),
    (4000, 1, 7, 'a task', 'ftrace', 'kernel_stack', {'size': 1, 'caller': [0xffff0010]}),
    (4000, 1, 7, 'a task', 'ftrace', 'user_stack', {'tgid': 5, 'caller': [0x400020]}),
    (5000, 1, 7, 'a task', 'perf', 'my_clock_u', {'ip': 0x400010, 'period': 1000}),
    (5000, 1, 7, 'a task', 'ftrace', 'user_stack', {'tgid': 5, 'caller': [0x400010, 0x400100]}),
    (7000, 1, 8, '<...>', 'things', 'thing', {'a': 1, 'b': 2}),
    (7500, 0, 7, 'a task', 'sched', 'sched_process_fork', {'parent_comm': 'a task', 'parent_pid': 7, 'child_comm': 'a task', 'child_pid': 9}),
    (8000, 0, 9, 'child', 'task', 'task_rename', {'pid': 9, 'oldcomm': 'a task', 'newcomm': 'child', 'oom_score_adj': 0}),
    (9000, 0, 9, 'child', 'sched', 'sched_process_exit', {'comm': 'child', 'pid': 9}),
    (9500, 2, 11, 'x?7 y', 'perf', 'faults', {'ip': 0x400030, 'period': 1000, 'addr': 0xabc0}),
    (9500, 2, 11, 'x?7 y', 'ftrace', 'kernel_stack', {'size': 1, 'caller': [0xffff0020]}),
    (9500, 2, 11, 'x?7 y', 'ftrace', 'user_stack', {'tgid': 5, 'caller': [0x400030]}),
    (9700, 2, 12, 'abcdefghijklmnopq', 'task', 'task_rename',
     {'pid': 12, 'oldcomm': '', 'newcomm': 'abcdefghijklmno', 'oom_score_adj': 0}),
]


def check_made(t, directory):
    for order in '<>':
        path = f'{directory}/made.data'
        with open(path, 'wb') as out:
            out.write(make(order))
        done = t.run(['report', '--json', path])
        rows = [json.loads(line) for line in done.out.decode().splitlines()]
        found = [(r['ts'] - DATE, r['cpu'], r['pid'], r['comm'], r['system'], r['event'], r['fields']) for r in rows]
        odd = [pair for pair in zip(found, MADE) if pair[0] != pair[1]]
        info = t.run(['info', path]).out
        t.check(f'perf: made, {"little" if order == "<" else "big"}-endian', done.trouble or
                ('' if len(found) == len(MADE) else f'{len(found)} events {done.err}') or (f'{odd[0][0]}, not {odd[0][1]}' if odd else '') or
                ('' if [r.get('lost') for r in rows if 'lost' in r] == [13] and rows[5].get('lost') == 13 else 'the loss') or
                ('' if b'Linux board 6.1.0 m68k' in info else info))
        stack = t.run(['sql', '--csv', path, 'select stack from samples where pid = 7 order by ts desc limit 1']).out
        t.check(f'perf: mappings, {order}', '' if b'prog+0x100;prog+0x10' in stack else stack)


def perf(args, path, work):
    subprocess.run(['perf', 'record', '-q', *args, '-o', path, '--', 'sh', '-c', work], check=True, capture_output=True)


def script(path, fields):
    done = subprocess.run(['perf', 'script', '--ns', '--no-inline', '-F', fields, '-i', path], capture_output=True, check=True)
    return done.stdout.decode(errors='replace')


def text_of(rest):
    return ' '.join(rest.split())


def check_tracepoints(t, name, path):
    theirs = [SCRIPT.match(line) for line in script(path, 'comm,tid,cpu,time,event,trace').splitlines() if line.strip()]
    if not all(theirs):
        t.fail(name, 'perf script is not understood')
        return
    wanted = sorted((int(m[4] + m[5]), int(m[3]), m[7], text_of(m[8])) for m in theirs)
    done = t.run(['report', '-N', '-t', path])
    ours = [m for m in map(REPORT.match, done.out.decode(errors='replace').splitlines()) if m]
    names = {m[7] for m in theirs}
    found = sorted((int(m[4] + m[5]), int(m[3]), m[6], text_of(m[7])) for m in ours if m[6] in names)
    odd = [pair for pair in zip(wanted, found) if pair[0] != pair[1]]
    t.check(name, done.trouble or ('' if len(wanted) == len(found) > 10 else f'{len(found)}, not {len(wanted)}') or
            (f'{odd[0][1]}, not {odd[0][0]}' if odd else ''))


def chains(path):
    """(time, tid, addresses) of each sample, as perf shows the bytes of the file: the kernel's frames, then the user's."""
    done = subprocess.run(['perf', 'script', '-D', '-i', path], capture_output=True, check=True)
    found, user = [], False
    for line in done.stdout.decode(errors='replace').splitlines():
        match, frame = SAMPLE.match(line), FRAME.match(line)
        if match:
            user = int(match[2], 16) & MODE == USER
            found.append((int(match[1]), int(match[3]), ([], []), int(match[4], 16)))
        elif frame and found:
            address = int(frame[1], 16)
            user = MARKS.get(address, user)
            if 0 < address < NO_ADDRESS:
                found[-1][2][user].append(address)
    return sorted((ts, tid, kernel + users or [ip]) for ts, tid, (kernel, users), ip in found)


def our_chains(t, path):
    """The same from the records: a sample, and the stacks behind it."""
    done = t.run(['report', '--json', path])
    found, last = [], None
    for row in map(json.loads, done.out.decode().splitlines()):
        if row['system'] == 'perf':
            last = (row['ts'], row['pid'], [])
            found.append(last)
        elif row['event'] in ('kernel_stack', 'user_stack') and last and row['ts'] == last[0]:
            last[2].extend(row['fields']['caller'])
    return sorted(found)


def check_samples(t, name, path):
    wanted, found = chains(path), our_chains(t, path)
    odd = [pair for pair in zip(wanted, found) if pair[0] != pair[1]]
    t.check(name, ('' if len(wanted) == len(found) > 10 else f'{len(found)}, not {len(wanted)}') or
            (f'{odd[0][1]}, not {odd[0][0]}' if odd else ''))
    count = t.run(['sql', '--csv', path, 'select count(*) from samples']).out.split()
    t.check(f'{name}, as samples', '' if count and count[-1] == str(len([s for s in wanted if s[2]])).encode() else count)
    folded = t.run(['flame', '--folded', path]).out.decode(errors='replace')
    total = sum(int(line.rsplit(' ', 1)[1]) for line in folded.splitlines() if line)
    t.check(f'{name}, as a flame graph', '' if total == len([s for s in wanted if s[2]]) else f'{total} of {len(wanted)}')


def check_cut(t, path, directory):
    """Whatever is left of a file is read; nothing breaks."""
    with open(path, 'rb') as file:
        data = file.read()
    statuses = collections.Counter()
    for size in range(0, len(data), max(1, len(data) // 40)):
        with open(f'{directory}/cut.data', 'wb') as out:
            out.write(data[:size])
        done = t.run(['report', f'{directory}/cut.data'])
        if done.trouble:
            t.fail('perf: cut off', f'at {size}: {done.trouble}')
            return
        statuses[done.status] += 1
    t.check('perf: cut off', '' if set(statuses) <= {0, 3, 4} else statuses)


def check_folder(t, directory):
    """What perf record --threads makes is refused with words, not taken for something else."""
    os.mkdir(f'{directory}/folder.data')
    for name in ('data', 'data.0'):
        with open(f'{directory}/folder.data/{name}', 'wb') as file:
            file.write(b'PERFILE2')
    for argv in (['report'], ['import', '-o', f'{directory}/none.dat'], ['view', '--svg=-']):
        done = t.run([*argv, f'{directory}/folder.data'])
        t.check(f'perf: a folder, {argv[0]}', '' if done.status == 2 and b'--threads' in done.err and not done.out else done)


def check(t):
    with tempfile.TemporaryDirectory() as directory:
        check_made(t, directory)
        check_folder(t, directory)
    if not shutil.which('perf'):
        t.skip('perf', 'perf is not installed')
        return
    with tempfile.TemporaryDirectory() as directory:
        try:
            perf(TRACEPOINTS, f'{directory}/points.data', WORK)
            perf(['-g', '-e', 'cpu-clock', '-F', '2000'], f'{directory}/stacks.data', BUSY)
        except subprocess.CalledProcessError as error:
            t.skip('perf', f'perf cannot record: {error.stderr.decode()[-100:]}')
            return
        check_tracepoints(t, 'perf: tracepoints', f'{directory}/points.data')
        check_samples(t, 'perf: stacks', f'{directory}/stacks.data')
        perf(['-e', 'cpu-clock', '-F', '2000'], f'{directory}/flat.data', BUSY)
        check_samples(t, 'perf: samples without stacks', f'{directory}/flat.data')
        perf(['-z', *TRACEPOINTS], f'{directory}/packed.data', WORK)
        check_tracepoints(t, 'perf: compressed', f'{directory}/packed.data')
        with open(f'{directory}/pipe.data', 'wb') as out:
            subprocess.run(['perf', 'record', '-q', *TRACEPOINTS, '-o', '-', '--', 'sh', '-c', WORK], stdout=out,
                           stderr=subprocess.DEVNULL, check=True)
        check_tracepoints(t, 'perf: of a pipe', f'{directory}/pipe.data')
        check_cut(t, f'{directory}/points.data', directory)
        done = t.run(['import', '-o', f'{directory}/out.dat', f'{directory}/stacks.data'])
        t.check('perf: info says what it was', '' if done.status == 0 and
                b'imported: perf.data' in t.run(['info', f'{directory}/out.dat']).out and os.path.getsize(f'{directory}/out.dat') else done)
