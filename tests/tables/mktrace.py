#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes a trace.dat (version 6) of a description: tests/tables/mktrace.py DESCRIPTION OUT

A description says what happened, a line an event, in any order of CPUs but in order of time for each:

    # a comment
    comm 100 worker                       a name the trace ends with
    sym ffffffff81000000 do_work          a function of the kernel
    uname x86_64                          the machine
    date 0x5f5e100                        microseconds from the beginning of the trace's clock to 1970
    clock [counter]                       the kernel's list of clocks, with the one that is used
    filter sched:sched_switch prev_pid==1 an event of this buffer that was recorded through a filter
    hidden 100 101                        these tasks of this buffer were not recorded
    followed 1 100 101                    only these tasks were recorded, and (1) what they create
    told c 100 100 1 1500 sh              the recorder's list of tasks: pid, process and parent, from when on (s: before the trace,
                                          n: a new task, c: changed), its name
    cut 0 2000 0 5                        the recorder was killed: the CPU, time of its last event, events missing before, behind;
                                          then the buffer's number if it is not this one
    buffer two                            what follows is recorded in another buffer ("buffer" alone: the top one)
    buffer two mono                       the same, which has a clock of its own
    1000 0 0 sched_switch prev_comm=swapper/0 prev_pid=0 prev_state=R next_comm=worker next_pid=100
    1200 0 100/h irq_handler_entry irq=5 name=eth0
    2000 0 lost 17                        before the next event of CPU 0 so many were lost ("lost" alone: some)
    2000 0 page                           the next event of CPU 0 starts a page; it may be earlier than the one before
    2000 0 early                          the page that the next event of CPU 0 starts begins then, before it

Scheduling has short forms, with tasks as NAME:PID or NAME:PID:PRIO:

    1000 0 0 switch swapper/0:0 R worker:100        from, the state it leaves in, to
    1000 0 0 waking worker:100 1                    whom, for which CPU; also wakeup, wakeup_new
    1000 0 0 migrate worker:100 0 1                 from CPU, to CPU
    1000 0 100 fork worker:100 child:101            also exit worker:100, free worker:100, rename worker:100 NAME

The columns are the time in nanoseconds, the CPU, the pid that runs (with /h in a hard interrupt, /s in a
softirq, /d with interrupts off, /2 with a preemption count), the event and its fields; what is left out is 0 or empty. prev_state takes the kernel's letters.
EVENTS below says what events there are.
"""
import shlex
import struct
import sys

PAGE = 4096
HEADER = 16
STATES = {'R': 0, 'S': 1, 'D': 2, 'T': 4, 't': 8, 'X': 16, 'Z': 32, 'P': 64, 'I': 128, 'R+': 256}
FLAGS = {'h': 8, 's': 16, 'd': 1}
OPTIONS = {'date': 1, 'clock': 4, 'uname': 5, 'followed': 0x5346}

# name: system, [(type, field)], print format. A text of char[N] has its place in the record, one of
# __data_loc behind it; u64[] fills the rest of the record.
EVENTS = {
    'sched_switch': ('sched', 'char[16] prev_comm, pid_t prev_pid, int prev_prio, long prev_state, '
                     'char[16] next_comm, pid_t next_pid, int next_prio'),
    'sched_wakeup': ('sched', 'char[16] comm, pid_t pid, int prio, int target_cpu'),
    'sched_wakeup_new': ('sched', 'char[16] comm, pid_t pid, int prio, int target_cpu'),
    'sched_waking': ('sched', 'char[16] comm, pid_t pid, int prio, int target_cpu'),
    'sched_migrate_task': ('sched', 'char[16] comm, pid_t pid, int prio, int orig_cpu, int dest_cpu'),
    'sched_process_fork': ('sched', 'char[16] parent_comm, pid_t parent_pid, char[16] child_comm, pid_t child_pid'),
    'sched_process_exec': ('sched', '__data_loc filename, pid_t pid, pid_t old_pid'),
    'sched_process_exit': ('sched', 'char[16] comm, pid_t pid, int prio'),
    'sched_process_free': ('sched', 'char[16] comm, pid_t pid, int prio'),
    'sched_stat_runtime': ('sched', 'char[16] comm, pid_t pid, u64 runtime'),
    'sched_blocked_reason': ('sched', 'pid_t pid, u64 caller, bool io_wait'),
    'task_rename': ('task', 'pid_t pid, char[16] oldcomm, char[16] newcomm, short oom_score_adj'),
    'sys_enter': ('raw_syscalls', 'long id, u64[6] args'),
    'sys_exit': ('raw_syscalls', 'long id, long ret'),
    'sys_enter_read': ('syscalls', 'int __syscall_nr, u64 fd, u64 buf, u64 count'),
    'sys_exit_read': ('syscalls', 'int __syscall_nr, long ret'),
    'sys_enter_openat': ('syscalls', 'int __syscall_nr, u64 dfd, u64 filename, u64 flags, u64 mode'),
    'sys_exit_openat': ('syscalls', 'int __syscall_nr, long ret'),
    'sys_enter_futex': ('syscalls', 'int __syscall_nr, u64 uaddr, u64 op, u64 val, u64 utime, u64 uaddr2, u64 val3'),
    'sys_exit_futex': ('syscalls', 'int __syscall_nr, long ret'),
    'irq_handler_entry': ('irq', 'int irq, __data_loc name'),
    'irq_handler_exit': ('irq', 'int irq, int ret'),
    'softirq_raise': ('irq', 'unsigned vec'),
    'softirq_entry': ('irq', 'unsigned vec'),
    'softirq_exit': ('irq', 'unsigned vec'),
    'block_rq_insert': ('block', 'dev_t dev, u64 sector, unsigned nr_sector, unsigned bytes, char[10] rwbs, '
                        'char[16] comm, __data_loc cmd'),
    'block_rq_issue': ('block', 'dev_t dev, u64 sector, unsigned nr_sector, unsigned bytes, char[10] rwbs, '
                       'char[16] comm, __data_loc cmd'),
    'block_rq_complete': ('block', 'dev_t dev, u64 sector, unsigned nr_sector, int error, char[10] rwbs, '
                          '__data_loc cmd'),
    'cpu_frequency': ('power', 'unsigned state, unsigned cpu_id'),
    'funcgraph_entry': ('ftrace', 'u64 func, int depth'),
    'funcgraph_exit': ('ftrace', 'u64 func, int depth, unsigned overrun, u64 calltime, u64 rettime'),
    'function': ('ftrace', 'u64 ip, u64 parent_ip'),
    'kernel_stack': ('ftrace', 'int size, u64[] caller'),
    'user_stack': ('ftrace', 'unsigned tgid, u64[8] caller'),
    'odd_names': ('odd', 'u64 x, u64 _x, u64 caller_length, u64[] caller'),
    'my_kprobe': ('kprobes', 'u64 __probe_ip, u64 arg1'),
    'my_kretprobe': ('kprobes', 'u64 __probe_func, u64 __probe_ret_ip, long ret'),
    'fgraph_retaddr_entry': ('ftrace', 'u64 func, long depth, u64 retaddr'),
    'block_rq_requeue': ('block', 'dev_t dev, u64 sector, unsigned nr_sector, char[10] rwbs, __data_loc cmd'),
    'sys_enter_exit_group': ('syscalls', 'int __syscall_nr, u64 error_code'),
    'my_uprobe': ('uprobes', 'u64 __probe_ip'),
    'my_uretprobe': ('uprobes', 'u64 __probe_func, u64 __probe_ret_ip'),
    'mm_page_free': ('kmem', 'void32 page, unsigned order'),
    'task_newtask': ('task', 'pid_t pid, char[16] comm, u64 clone_flags, short oom_score_adj'),
    'print': ('ftrace', 'u64 ip, char[48] buf'),
    'hrtimer_expire_entry': ('timer', 'u64 hrtimer, u64 now, u64 function'),
    'hrtimer_expire_exit': ('timer', 'u64 hrtimer'),
    'timer_expire_entry': ('timer', 'u64 timer, u64 now, u64 function'),
    'timer_expire_exit': ('timer', 'u64 timer'),
    'workqueue_execute_start': ('workqueue', 'u64 work, u64 function'),
    'workqueue_execute_end': ('workqueue', 'u64 work, u64 function'),
    'contention_begin': ('lock', 'u64 lock_addr, unsigned flags'),
    'contention_end': ('lock', 'u64 lock_addr, int ret'),
    'signal_generate': ('signal', 'int sig, int errno, int code, char[16] comm, pid_t pid, int group, int result'),
    'signal_deliver': ('signal', 'int sig, int errno, int code, u64 sa_handler, u64 sa_flags'),
    'own_buffer': ('odd', 'u64 buffer'),
}
SIZES = {'pid_t': (4, 'i'), 'int': (4, 'i'), 'unsigned': (4, 'I'), 'long': (8, 'q'), 'u64': (8, 'Q'),
         'bool': (1, 'B'), 'short': (2, 'h'), 'dev_t': (4, 'I'), '__data_loc': (4, 'I'), 'void32': (4, 'I')}
C_NAMES = {'unsigned': 'unsigned int', 'void32': 'void *', '__data_loc': '__data_loc char[]'}
COMMON = """\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;
"""
HEADER_PAGE = """\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;
\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;
\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;
\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;
"""
HEADER_EVENT = """# compressed entry header
\ttype_len    :    5 bits
\ttime_delta  :   27 bits
\tarray       :   32 bits

\tpadding     : type == 29
\ttime_extend : type == 30
\ttime_stamp : type == 31
\tdata max type_len  == 28
"""


class Field:
    """A field of an event: where it lies and how a value becomes bytes."""

    def __init__(self, text, offset):
        kind, self.name = text.split()
        base, _, count = kind.partition('[')
        self.count = int(count[:-1] or 0) if count else None
        self.rest = kind.endswith('[]')
        self.base = base
        self.unit, self.code = (1, 's') if base == 'char' else SIZES[base]
        self.offset = (offset + self.unit - 1) // self.unit * self.unit
        self.size = self.unit * (1 if self.count is None else self.count)
        c_type = C_NAMES.get(base, base)
        array = '' if self.count is None else f'[{self.count or ""}]'
        sign = int(base in ('pid_t', 'int', 'long', 'short', 'char'))
        self.line = f'\tfield:{c_type} {self.name}{array};\toffset:{self.offset};\tsize:{self.size};\tsigned:{sign};\n'

    def number(self, text):
        return STATES[text] if self.name == 'prev_state' and text in STATES else int(text, 0)

    def put(self, body, text):
        """Writes the value into a record's bytes, which may grow."""
        if self.base == 'char':
            body[self.offset:self.offset + self.size] = text.encode()[:self.size - 1].ljust(self.size, b'\0')
        elif self.base == '__data_loc':
            data = text.encode() + b'\0'
            struct.pack_into('<I', body, self.offset, len(data) << 16 | len(body))
            body += data
        elif self.rest:
            for word in text.split(','):
                body += struct.pack('<' + self.code, int(word, 0))
        elif self.count is not None:
            for i, word in enumerate(text.split(',')):
                struct.pack_into('<' + self.code, body, self.offset + i * self.unit, int(word, 0))
        else:
            mask = (1 << 8 * self.unit) - 1
            body[self.offset:self.offset + self.unit] = (self.number(text) & mask).to_bytes(self.unit, 'little')


class Event:
    def __init__(self, name, number):
        self.system, fields = EVENTS[name]
        self.name, self.number, self.fields = name, number, []
        offset = 8
        for text in fields.split(', '):
            self.fields.append(Field(text, offset))
            offset = self.fields[-1].offset + self.fields[-1].size
        self.size = offset

    def format(self):
        args = ''.join(f', REC->{f.name}' for f in self.fields if f.count is None and f.base != '__data_loc')
        shown = ' '.join(f'{f.name}=%lld' for f in self.fields if f.count is None and f.base != '__data_loc')
        return (f'name: {self.name}\nID: {self.number}\nformat:\n{COMMON}\n{"".join(f.line for f in self.fields)}\n'
                f'print fmt: "{shown}"{args}\n').encode()

    def record(self, pid, flags, values):
        body = bytearray(self.size)
        struct.pack_into('<HBBi', body, 0, self.number, flags & 0xff, flags >> 8, pid)
        for field in self.fields:
            if field.name in values:
                field.put(body, values.pop(field.name))
        if values:
            raise SystemExit(f'mktrace: {self.name} has no {", ".join(values)}')
        return bytes(body) + bytes(-len(body) % 4)


NUMBERED = {name: Event(name, 3 + i) for i, name in enumerate(EVENTS)}


class Lane:
    """The pages of one CPU."""

    def __init__(self):
        self.pages, self.data, self.start, self.last, self.lost, self.begin = [], b'', None, None, 0, None

    def close(self):
        if self.start is None:
            return
        commit, tail = len(self.data), b''
        if self.lost:
            commit |= 1 << 31 | (1 << 30 if self.lost > 0 else 0)
            tail = struct.pack('<q', self.lost) if self.lost > 0 else b''
        self.pages.append((struct.pack('<Qq', self.start, commit) + self.data + tail).ljust(PAGE, b'\0'))
        self.data, self.start, self.lost, self.begin = b'', None, 0, None

    def lose(self, count):
        self.close()
        self.lost = count

    def add(self, ts, body):
        if len(self.data) + len(body) + 32 > PAGE - HEADER:
            self.close()
        if self.start is None:
            self.start = self.last = ts if self.begin is None else self.begin
        delta = ts - self.last
        if delta >> 27:
            self.data += struct.pack('<II', 30 | (delta & 0x7ffffff) << 5, delta >> 27)
            delta = 0
        if len(body) <= 28 * 4:
            self.data += struct.pack('<I', len(body) // 4 | delta << 5) + body
        else:
            self.data += struct.pack('<II', delta << 5, len(body) + 4) + body
        self.last = ts


def task(text, prefix=''):
    """The fields that NAME:PID:PRIO stands for."""
    name, pid, prio = (text.rsplit(':', 2) if text.count(':') > 1 else text.rsplit(':', 1) + ['120'])
    return {f'{prefix}comm': name, f'{prefix}pid': pid, f'{prefix}prio': prio}


def two_tasks(a, b, one, other):
    fields = {**task(a, one), **task(b, other)}
    return {name: value for name, value in fields.items() if not name.endswith('prio')}


def wake(whom, cpu='0'):
    return {**task(whom), 'target_cpu': cpu}


# The short forms: the event, and its fields from the words behind it.
SHORT = {
    'switch': ('sched_switch', lambda a, state, b: {**task(a, 'prev_'), 'prev_state': state, **task(b, 'next_')}),
    'waking': ('sched_waking', wake),
    'wakeup': ('sched_wakeup', wake),
    'wakeup_new': ('sched_wakeup_new', wake),
    'migrate': ('sched_migrate_task', lambda a, orig, dest: {**task(a), 'orig_cpu': orig, 'dest_cpu': dest}),
    'fork': ('sched_process_fork', lambda a, b: two_tasks(a, b, 'parent_', 'child_')),
    'exit': ('sched_process_exit', task),
    'free': ('sched_process_free', task),
    'rename': ('task_rename', lambda a, name: {'pid': task(a)['pid'], 'oldcomm': task(a)['comm'], 'newcomm': name}),
}


def event_of(words):
    """The event's name and fields that these words of a line say."""
    if words[0] in SHORT:
        name, fields = SHORT[words[0]]
        return name, fields(*words[1:])
    return words[0], dict(word.split('=', 1) for word in words[1:])


def parse(lines):
    """What a description says: lanes by buffer and CPU, clocks of buffers, names of tasks, symbols, options of the file."""
    buffers, clocks, comms, symbols, options, cuts, filters, hidden, told = {'': {}}, {}, [], [], b'', [], [], [], []
    name, current = '', buffers['']
    for number, line in enumerate(lines, 1):
        words = shlex.split(line, comments=True)
        if not words:
            continue
        try:
            if words[0] == 'comm':
                comms.append(f'{words[1]} {words[2]}\n')
            elif words[0] == 'sym':
                symbols.append(f'{words[1]} T {words[2]}\n')
            elif words[0] in OPTIONS:
                text = words[1] if words[0] != 'followed' else f'1 {words[1]}\n' + ''.join(f'{w}\n' for w in words[2:])
                options += struct.pack('<HI', OPTIONS[words[0]], len(text) + 1) + text.encode() + b'\0'
            elif words[0] == 'filter':
                filters.append(f'{name}\t{words[1]}\t{" ".join(words[2:])}\n')
            elif words[0] == 'told':
                told.append(f'{" ".join(words[1:])}\n')
            elif words[0] == 'hidden':
                hidden += [f'{name}\t{pid}\n' for pid in words[1:]]
            elif words[0] == 'cut':
                place = int(words[5]) if len(words) > 5 else list(buffers).index(name)
                cuts.append(struct.pack('<IIQQQ', place, *(int(word) for word in words[1:5])))
            elif words[0] == 'buffer':
                name = words[1] if len(words) > 1 else ''
                current = buffers.setdefault(name, {})
                clocks.update({name: words[2]} if len(words) > 2 else {})
            elif words[2] == 'lost':
                current.setdefault(int(words[1]), Lane()).lose(int(words[3]) if len(words) > 3 else -1)
            elif words[2] == 'early':
                current.setdefault(int(words[1]), Lane()).begin = int(words[0])
            elif words[2] == 'page':
                current.setdefault(int(words[1]), Lane()).close()
            else:
                pid, _, context = words[2].partition('/')
                flags = sum(int(c) << 8 if c.isdigit() else FLAGS[c] for c in context)
                event, values = event_of(words[3:])
                body = NUMBERED[event].record(int(pid), flags, values)
                current.setdefault(int(words[1]), Lane()).add(int(words[0]), body)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise SystemExit(f'mktrace: line {number}: {line.strip()}: {error!r}')
    for number, texts in ((0x5345, filters), (0x5348, hidden)):
        text = '1\n' + ''.join(texts)
        options += struct.pack('<HI', number, len(text) + 1) + text.encode() + b'\0' if texts else b''
    text = '1 0\n' + ''.join(told)
    options += struct.pack('<HI', 0x5354, len(text)) + text.encode() if told else b''
    if cuts:
        options += struct.pack('<HIII', 0x5351, 8 + 32 * len(cuts), 1, len(cuts)) + b''.join(cuts)
    return buffers, clocks, ''.join(comms).encode(), ''.join(symbols).encode(), options


def sized(data, code='<Q'):
    return struct.pack(code, len(data)) + data


def formats():
    systems = {}
    for event in NUMBERED.values():
        systems.setdefault(event.system, []).append(event.format())
    ftrace = systems.pop('ftrace')
    out = struct.pack('<I', len(ftrace)) + b''.join(map(sized, ftrace))
    out += struct.pack('<I', len(systems))
    for name, texts in systems.items():
        out += name.encode() + b'\0' + struct.pack('<I', len(texts)) + b''.join(map(sized, texts))
    return out


def data_section(at, lanes, cpus, clock=''):
    """The table of a buffer's CPUs, its clock and their pages, for that place in the file."""
    head, tail = b'flyrecord\0', sized(f'[{clock}]'.encode()) if clock else b''
    start = -(-(at + len(head) + 16 * cpus + len(tail)) // PAGE) * PAGE
    table, pages = b'', b''
    for cpu in range(cpus):
        lane = lanes.get(cpu, Lane())
        lane.close()
        data = b''.join(lane.pages)
        table += struct.pack('<QQ', start + len(pages), len(data))
        pages += data
    return (head + table + tail).ljust(start - at, b'\0') + pages


def make(lines):
    buffers, clocks, comms, symbols, machine = parse(lines)
    cpus = 1 + max((cpu for lanes in buffers.values() for cpu in lanes), default=0)
    head = b'\x17\x08\x44tracing6\0\0\x08' + struct.pack('<I', PAGE)
    head += b'header_page\0' + sized(HEADER_PAGE.encode()) + b'header_event\0' + sized(HEADER_EVENT.encode())
    head += formats() + sized(symbols, '<I') + sized(b'', '<I') + sized(comms)
    head += struct.pack('<I', cpus) + b'options  \0'
    others = [name for name in buffers if name]
    options = len(machine) + sum(6 + 8 + len(name) + 1 for name in others) + 2
    top = data_section(len(head) + options, buffers[''], cpus, clocks.get('', ''))
    at, table, rest = len(head) + options + len(top), machine, b''
    for name in others:
        section = data_section(at + len(rest), buffers[name], cpus, clocks.get(name, ''))
        table += struct.pack('<HIQ', 3, 8 + len(name) + 1, at + len(rest)) + name.encode() + b'\0'
        rest += section
    return head + table + struct.pack('<H', 0) + top + rest


if __name__ == '__main__':
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1]) as f, open(sys.argv[2], 'wb') as out:
        out.write(make(f))
