# SPDX-License-Identifier: GPL-2.0-or-later
"""CTF: what babeltrace2 prints of a trace is what the imported one has."""
import collections
import importlib.util
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

import harness

sys.path.insert(1, 'tests/tables')
import mktrace

# The test of the export is called the same.
spec = importlib.util.spec_from_file_location('exported', 'tests/export/ctf.py')
exported = importlib.util.module_from_spec(spec)
spec.loader.exec_module(exported)

SANITIZED = ('g-all-events', 'be-stack')

# As LTTng's kernel tracer writes it: times of 27 bits and ids of 5 in a word, a task known only by what the CPU switched to.
LTTNG = """/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 16; align = 8; signed = false; } := uint16_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
typealias integer { size = 5; align = 1; signed = false; } := uint5_t;
typealias integer { size = 27; align = 1; signed = false; } := uint27_t;
trace {
	major = 1; minor = 8;
	byte_order = BYTE_ORDER;
	packet.header := struct { uint32_t magic; uint32_t stream_id; };
};
env { hostname = "board"; domain = "kernel"; sysname = "Linux"; kernel_release = "6.1.0"; tracer_name = "lttng-modules"; };
clock { name = "monotonic"; freq = 1000000000; offset = 1500000000000000000; };
typealias integer { size = 27; align = 1; signed = false; map = clock.monotonic.value; } := uint27_clock_monotonic_t;
typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := uint64_clock_monotonic_t;
struct packet_context {
	uint64_clock_monotonic_t timestamp_begin;
	uint64_clock_monotonic_t timestamp_end;
	uint64_t content_size;
	uint64_t packet_size;
	uint64_t packet_seq_num;
	uint64_t events_discarded;
	uint32_t cpu_id;
};
struct event_header_compact {
	enum : uint5_t { compact = 0 ... 30, extended = 31 } id;
	variant <id> {
		struct { uint27_clock_monotonic_t timestamp; } compact;
		struct { uint32_t id; uint64_clock_monotonic_t timestamp; } extended;
	} v;
} align(8);
stream { id = 0; event.header := struct event_header_compact; packet.context := struct packet_context; };
event {
	name = "sched_switch"; id = 0; stream_id = 0;
	fields := struct {
		integer { size = 8; align = 8; signed = 0; encoding = UTF8; base = 10; } _prev_comm[16];
		integer { size = 32; align = 8; signed = 1; base = 10; } _prev_tid;
		integer { size = 32; align = 8; signed = 1; base = 10; } _prev_prio;
		integer { size = 64; align = 8; signed = 1; base = 10; } _prev_state;
		integer { size = 8; align = 8; signed = 0; encoding = UTF8; base = 10; } _next_comm[16];
		integer { size = 32; align = 8; signed = 1; base = 10; } _next_tid;
		integer { size = 32; align = 8; signed = 1; base = 10; } _next_prio;
	};
};
event {
	name = "syscall_entry_read"; id = 1; stream_id = 0;
	fields := struct { uint32_t _fd; uint64_t _count; };
};
event {
	name = "odd"; id = 2; stream_id = 0;
	context := struct { uint32_t _pid; uint32_t _tid; };
	fields := struct {
		integer { size = 12; signed = true; } _twelve;
		integer { size = 4; signed = false; } _four;
		integer { size = 8; signed = false; } _eight;
	};
};
event {
	name = "syscall_exit_read"; id = 40; stream_id = 0;
	fields := struct {
		integer { size = 64; align = 8; signed = 1; base = 10; } _ret;
		uint32_t __data_length;
		integer { size = 16; align = 8; signed = 0; base = 16; } _data[ __data_length ];
	};
};
"""


class Stream:
    """The packets of one CPU."""

    def __init__(self, cpu, order):
        self.cpu, self.order, self.out, self.number = cpu, order, b'', 0

    def event(self, ident, ts, body):
        if ident < 31 and self.order == '<':
            return struct.pack('<I', ident | (ts & 0x7ffffff) << 5) + body
        if ident < 31:
            return struct.pack('>I', ident << 27 | ts & 0x7ffffff) + body
        return bytes([31 if self.order == '<' else 31 << 3]) + struct.pack(self.order + 'IQ', ident, ts) + body

    def packet(self, events, lost=0):
        body = b''.join(self.event(*e) for e in events)
        size = 8 + 48 + 4 + len(body)
        head = struct.pack(self.order + 'IIQQQQQQI', 0xc1fc1fc1, 0, events[0][1], events[-1][1], size * 8, (size + 16) * 8, self.number,
                           lost, self.cpu)
        self.out += head + body + bytes(16)
        self.number += 1


def switch(order, a, b):
    return a[0].encode().ljust(16, b'\0') + struct.pack(order + 'iiq', a[1], 120, 1) + b[0].encode().ljust(16, b'\0') + \
        struct.pack(order + 'ii', b[1], 120)


def packed(text, order):
    """Metadata in packets, as LTTng stores them."""
    out = b''
    for at in range(0, len(text), 1000):
        part = text[at:at + 1000]
        out += struct.pack(order + 'I16sIIIBBBBB', 0x75d11d57, b'', 0, (37 + len(part)) * 8, (37 + len(part) + 5) * 8, 0, 0, 0, 1, 8)
        out += part + bytes(5)
    return out


def make_lttng(directory, order):
    text = LTTNG.replace('BYTE_ORDER', 'le' if order == '<' else 'be').encode()
    os.mkdir(directory)
    with open(f'{directory}/metadata', 'wb') as out:
        out.write(packed(text, order) if order == '<' else text)
    s = Stream(1, order)
    second = 1 << 27  # a second and a bit: times of 27 bits have come round by then
    s.packet([(0, 1000, switch(order, ('idle', 0), ('a b', 7))),
              (1, 2000, struct.pack(order + 'IQ', 3, 100)),
              (40, 3000, struct.pack(order + 'qI', 2, 3) + struct.pack(order + '3H', 1, 2, 0xffff)),
              (1, second - 10, struct.pack(order + 'IQ', 4, 5)),
              (1, second + 10, struct.pack(order + 'IQ', 5, 6)),
              (2, second + 20, struct.pack(order + 'IIH', 70, 71, 0xffb | 5 << 12 if order == '<' else 0xffb << 4 | 5) + b'\x09')])
    s.packet([(0, second + 500, switch(order, ('a b', 7), ('idle', 0))), (0, 5 * second, switch(order, ('d', 12), ('c', 8)))], 12)
    with open(f'{directory}/chan_1', 'wb') as out:
        out.write(s.out)


def key(ts, cpu, system, event, fields):
    return ts, cpu, system, event, json.dumps(fields, sort_keys=True)


def plain(value, unsigned=False):
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, str) and re.fullmatch('0x[0-9a-f]+', value):
        return int(value, 16)
    return value


def rows_of(t, path):
    done = t.run(['report', '--json', path])
    if done.trouble or done.status:
        raise ValueError(done.trouble or done.err.decode())
    return [json.loads(line) for line in done.out.decode().splitlines()]


def compare(ours, theirs):
    """Events of the report with what babeltrace2 printed."""
    if len(ours) != len(theirs):
        return f'{len(ours)} events, not {len(theirs)}'
    left = collections.defaultdict(list)
    for row in ours:
        left[row['ts'], row['cpu'], row['system'], row['event'], row['pid']].append(row)
    for e in theirs:
        found = next((r for r in left[e['ts'], e['cpu'], e['system'], e['event'], e['pid']]
                      if all(exported.same(plain(r['fields'][n]), v) for n, v in e['fields'].items())), None)
        if not found:
            return f'{e} is not among {left[e["ts"], e["cpu"], e["system"], e["event"], e["pid"]][:2]}'
        left[e['ts'], e['cpu'], e['system'], e['event'], e['pid']].remove(found)
    return ''


def traces_below(folder):
    return [path for path, _, names in os.walk(folder) if 'metadata' in names]


def check_exported(t, name, path):
    """Our own export, and the same written once more by babeltrace2."""
    with tempfile.TemporaryDirectory() as directory:
        done = t.run(['export', '-q', '--to', 'ctf', '-o', f'{directory}/ours', path])
        if done.status:
            t.fail(f'ctf: {name}', done.err.decode())
            return
        subprocess.run(['babeltrace2', '--output-format=ctf', f'--output={directory}/theirs', f'{directory}/ours'], check=True,
                       capture_output=True)
        original = rows_of(t, path)
        for what, folder in (('exported', f'{directory}/ours'), ('by babeltrace2', traces_below(f'{directory}/theirs')[0])):
            printed, discarded = exported.babeltrace(folder)
            rows = rows_of(t, folder)
            lost = sum(r['lost'] for r in rows if r.get('lost', 0) > 0)
            count = '' if len(original) == len(rows) else f'{len(rows)} of {len(original)}'
            t.check(f'ctf: {name}, {what}', count or compare(rows, printed) or ('' if lost == discarded else f'{lost} lost, not {discarded}'))


# What takes a folder directly shows what it shows of the file that the folder becomes.
OPENING = {
    'report': ['report', 'IN'], 'sql': ['sql', 'IN', 'select * from slices'], 'top': ['top', 'IN'],
    'flame': ['flame', '--folded', 'IN'], 'export': ['export', '--to', 'csv', 'IN'], 'hist': ['hist', 'sched_switch.next_pid', 'IN'],
    'view': ['view', '--svg=-', 'IN'], 'script': ['script', '-i', 'IN', '-e', 'tracepoint:sched:* { @[probe] = count(); }'],
}


def check_opened(t):
    path = f'{harness.recordings()["g-stacktrace-v7"]}/trace.dat'
    with tempfile.TemporaryDirectory() as directory:
        for x in 'ab':
            os.mkdir(f'{directory}/{x}')
        t.run(['export', '-q', '--to', 'ctf', '-o', f'{directory}/a/trace', path])
        t.run(['import', '-q', '-o', f'{directory}/b/trace', f'{directory}/a/trace'])
        for name, argv in OPENING.items():
            folder, file = (t.run([f'{directory}/{x}/trace' if word == 'IN' else word for word in argv]) for x in 'ab')
            same = folder.out and folder.out.replace(b'/a/', b'/b/') == file.out
            t.check(f'ctf: opened by {name}', '' if folder.status == file.status == 0 and same else
                    folder.err.decode() or f'{folder.status}, {len(folder.out)} bytes, not {len(file.out)}')


def check_lttng(t):
    for order in '<>':
        name = f'ctf: as LTTng has it, {"little" if order == "<" else "big"}-endian'
        with tempfile.TemporaryDirectory() as directory:
            make_lttng(f'{directory}/trace', order)
            printed = subprocess.run(['babeltrace2', '--clock-seconds', '--no-delta', f'{directory}/trace'], capture_output=True, check=True)
            stamps = [int(s + n) for s, n in re.findall(r'^\[(\d+)\.(\d{9})\]', printed.stdout.decode(), re.M)]
            rows = rows_of(t, f'{directory}/trace')
            found = [(r['event'], r['pid'], r['comm']) for r in rows]
            wanted = [('sched_switch', 0, '<idle>'), ('sys_enter_read', 7, 'a b'), ('sys_exit_read', 7, 'a b'),
                      ('sys_enter_read', 7, 'a b'), ('sys_enter_read', 7, 'a b'), ('odd', 71, '<...>'), ('sched_switch', 7, 'a b'), ('sched_switch', 12, 'd')]
            t.check(name, ('' if [r['ts'] for r in rows] == stamps else f'times {[r["ts"] for r in rows]}, not {stamps}') or
                    ('' if found == wanted else found) or
                    ('' if rows[2]['fields']['data'] == [1, 2, 0xffff] and rows[2]['fields']['ret'] == 2 else rows[2]) or
                    ('' if rows[0]['fields']['next_pid'] == 7 and rows[0]['fields']['next_comm'] == 'a b' else rows[0]) or
                    ('' if rows[5]['fields'] == {'twelve': -5, 'four': 5, 'eight': 9} else rows[5]) or
                    ('' if rows[6].get('lost') == 12 else rows[6]))
            calls = t.run(['sql', '--csv', f'{directory}/trace', "select name, dur, ret from syscalls where open is null or open = ''"]).out
            t.check(f'{name}: system calls', '' if b'read,1000,2' in calls else calls)
            running = t.run(['sql', '--csv', f'{directory}/trace', 'select pid, sum(dur) from sched_slices where pid = 7 group by 1']).out
            t.check(f'{name}: scheduling', '' if f'7,{(1 << 27) - 500}'.encode() in running else running)


def check_damage(t):
    with tempfile.TemporaryDirectory() as directory:
        make_lttng(f'{directory}/trace', '<')
        with open(f'{directory}/trace/chan_1', 'r+b') as file:
            file.truncate(os.path.getsize(f'{directory}/trace/chan_1') - 100)
        done = t.run(['import', '-o', f'{directory}/out.dat', f'{directory}/trace'])
        t.check('ctf: cut off', '' if done.status == 4 and b'chan_1' in done.err and b'imported' in t.run(['info', f'{directory}/out.dat']).out
                else done)
        with open(f'{directory}/trace/metadata', 'wb') as out:
            out.write(LTTNG.replace('BYTE_ORDER', 'le').replace('uint32_t cpu_id', 'uint33_t cpu_id').encode())
        line = 1 + LTTNG[:LTTNG.index('uint32_t cpu_id')].count('\n')
        done = t.run(['report', f'{directory}/trace'])
        t.check('ctf: an unknown type', '' if done.status == 4 and f'line {line}:'.encode() in done.err else done)


def check(t):
    if not shutil.which('babeltrace2'):
        t.skip('ctf', 'babeltrace2 is not installed')
        return
    for name, folder in harness.recordings().items():
        if t.sanitized and name not in SANITIZED:
            continue
        if b'"ts"' in t.run(['report', '--json', f'{folder}/trace.dat']).out:
            check_exported(t, name, f'{folder}/trace.dat')
    with tempfile.TemporaryDirectory() as directory:
        with open(f'{directory}/made.dat', 'wb') as out:
            out.write(mktrace.make(exported.LOSING.splitlines()))
        check_exported(t, 'losses, buffers and wall time', f'{directory}/made.dat')
    check_opened(t)
    check_lttng(t)
    check_damage(t)
