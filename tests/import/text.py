# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's text: what is imported prints the same lines again."""
import json
import os
import random
import re
import tempfile

import harness

LINE = re.compile(r'\s*(.{1,16})-(\d+)\s+(?:\([ \d-]+\)\s+)?\[(\d+)\]\s+(?:(\S{3,5})\s+)?(\d+\.\d+):\s+(.*)')

HEAD = """# tracer: nop
#
# entries-in-buffer/entries-written: 7/7   #P:2
#
#                                _-----=> irqs-off/BH-disabled
#                               / _----=> need-resched
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
#              | |         |   |||||     |         |
"""

# name, text, rows that must come out: (ns, CPU, pid, comm, event, fields that are looked at)
CASES = [
    ('numbers and words', HEAD + """
            a b-100     [001] d..2.    10.000001: thing: a=1 b=0x2f c=word d=007 e=ffff0000abcd0000 f=-5
            a b-100     [001] d..2.    10.000002: thing: a=22 b=0xff c=two words d=012 e=0000000000000001 f=0
              c-7       [000] ..s1.    10.000003: mixed: a=1
              c-7       [000] ..s1.    10.000004: mixed: b=x a=y
              c-7       [000] .....    10.000005: free words, 100% "of" them
""", [
        (10000001000, 1, 100, 'a b', 'thing', {'a': 1, 'b': 0x2f, 'c': 'word', 'd': 7, 'e': 0xffff0000abcd0000, 'f': -5}),
        (10000002000, 1, 100, 'a b', 'thing', {'a': 22, 'b': 255, 'c': 'two words', 'd': 12, 'e': 1, 'f': 0}),
        (10000003000, 0, 7, 'c', 'mixed', {'a': '1', 'b': '', 'text': 'a=1'}),
        (10000004000, 0, 7, 'c', 'mixed', {'a': 'y', 'b': 'x', 'text': 'b=x a=y'}),
        (10000005000, 0, 7, 'c', 'line', {'text': 'free words, 100% "of" them'}),
    ]),
    ('names that mean something else in formats', """
              x-5     [000]     1.000001: LOCAL_PR_FMT: VIF_PR_FMT=1
""".lstrip('\n'), [
        (1000001000, 0, 5, 'x', 'LOCAL_PR_FMT_', {'VIF_PR_FMT_': 1}),
    ]),
    ('losses, no flags, the process, no head', """
              x-5     [000]     1.000001: ev: a=1
CPU:0 [LOST 17 EVENTS]
              x-5     (      5) [000] ....     1.000002: ev: a=2
              x-5     [000] ....     18446744074.000001: ev: a=9
CPU:0 [LOST EVENTS]
           <...>-6     (-------) [000] ....     1.000003: ev: a=3
""".lstrip('\n'), [
        (1000001000, 0, 5, 'x', 'ev', {'a': 1}),
        (1000002000, 0, 5, 'x', 'ev', {'a': 2, 'lost': 17}),
        (1000003000, 0, 6, '<...>', 'ev', {'a': 3, 'lost': -1}),
    ]),
    ('functions, markers, stacks', """# tracer: function
#
              x-5     [000] .....     1.000001: do_one <-do_all
              x-5     [000] .....     1.000002: mod_fn [mod] <-do_one
              x-5     [000] .....     1.000003: tracing_mark_write: hello: a=5
              x-5     [000] .....     1.000004: <stack trace>
 => do_one+0x10/0x20
 => do_all
              x-5     [000] .....     1.000005: <user stack trace>
 =>  <00007f0012345678>
 => /lib/libc.so[+0x1234]
              x-5     [000] .....     1.000006: do_one+0x8/0x20: printed
""", [
        (1000001000, 0, 5, 'x', 'function', {'info': 'do_one <-- do_all'}),
        (1000002000, 0, 5, 'x', 'function', {'info': 'mod_fn <-- do_one'}),
        (1000003000, 0, 5, 'x', 'print', {'info': 'tracing_mark_write: hello: a=5'}),
        (1000004000, 0, 5, 'x', 'kernel_stack', {'size': 2, 'frames': 2}),
        (1000005000, 0, 5, 'x', 'user_stack', {'caller': [0x7f0012345678, 0x1234]}),
        (1000006000, 0, 5, 'x', 'print', {'info': 'do_one: printed'}),
    ]),
    ('a graph of calls', """# tracer: function_graph
#
# CPU  DURATION                  FUNCTION CALLS
# |     |   |                     |   |   |   |
 0)               |  outer() {
 0)   1.500 us    |    inner();
 0)               |    other() {
 0) + 10.250 us   |    }
 0) ! 120.750 us  |  } /* outer */
 ------------------------------------------
 0)    sh-10     =>    ls-11
 ------------------------------------------

 0)   0.500 us    |  last [mod]();
 1) ! 300.125 us  |  } /* before */
 1)               |  short() {
 1)   2.000 us    |    longer();
 1)   1.000 us    |  }
""", [
        (0, 0, 10, 'sh', 'funcgraph_entry', {'depth': 0, 'name': 'outer'}),
        (0, 0, 10, 'sh', 'funcgraph_entry', {'depth': 1, 'name': 'inner'}),
        (1500, 0, 10, 'sh', 'funcgraph_exit', {'depth': 1, 'name': 'inner', 'calltime': 0, 'rettime': 1500}),
        (1500, 0, 10, 'sh', 'funcgraph_entry', {'depth': 1, 'name': 'other'}),
        (11750, 0, 10, 'sh', 'funcgraph_exit', {'depth': 1, 'name': 'other', 'calltime': 1500}),
        (120750, 0, 10, 'sh', 'funcgraph_exit', {'depth': 0, 'name': 'outer', 'calltime': 0}),
        (120750, 0, 11, 'ls', 'funcgraph_entry', {'depth': 0, 'name': 'last'}),
        (121250, 0, 11, 'ls', 'funcgraph_exit', {'depth': 0, 'name': 'last'}),
        (300125, 1, 0, '<idle>', 'funcgraph_exit', {'depth': 0, 'name': 'before', 'calltime': 0, 'rettime': 300125}),
        (300125, 1, 0, '<idle>', 'funcgraph_entry', {'name': 'short'}),
        (300125, 1, 0, '<idle>', 'funcgraph_entry', {'name': 'longer'}),
        (302125, 1, 0, '<idle>', 'funcgraph_exit', {'name': 'longer'}),
        (302125, 1, 0, '<idle>', 'funcgraph_exit', {'name': 'short'}),
    ]),
    ('events in a graph of calls', """# tracer: function_graph
#
# CPU  DURATION                  FUNCTION CALLS
# |     |   |                     |   |   |   |
 0)               |  outer() {
 0)   1.500 us    |    inner();
 0)               |    /* sched_wakeup: comm=a b pid=12 prio=120 target_cpu=001 */
 0)               |    /* thing: a=7 */
 0)               |    /* a marker, 5 | 6 */
 0)               |    /* sys_read(fd: 3, buf: 7f00, count: 10) */
 0)               |    /* <stack trace>
 => inner
 => outer */
 0)   2.000 us    |  }
   17 us   |   1)    sh-10     |  d..2 |   1.000 us    |  later();
""", [
        (0, 0, 0, '<idle>', 'funcgraph_entry', {'name': 'outer'}),
        (0, 0, 0, '<idle>', 'funcgraph_entry', {'name': 'inner'}),
        (1500, 0, 0, '<idle>', 'funcgraph_exit', {'name': 'inner'}),
        (1500, 0, 0, '<idle>', 'sched_wakeup', {'comm': 'a b', 'pid': 12, 'target_cpu': 1}),
        (1500, 0, 0, '<idle>', 'thing', {'a': 7}),
        (1500, 0, 0, '<idle>', 'print', {'info': 'tracing_mark_write: a marker, 5 | 6'}),
        (1500, 0, 0, '<idle>', 'sys_enter_read', {'fd': 3, 'count': 16}),
        (1500, 0, 0, '<idle>', 'kernel_stack', {'size': 2, 'frames': 2}),
        (2000, 0, 0, '<idle>', 'funcgraph_exit', {'name': 'outer'}),
        (17000, 1, 10, 'sh', 'funcgraph_entry', {'name': 'later'}),
        (18000, 1, 10, 'sh', 'funcgraph_exit', {'name': 'later'}),
    ]),
    ('durations of functions', """# tracer: function_duration
#
# CPU  TASK/PID        CALLTIME       DURATION                  FUNCTION CALLS
# |    |    |            |              |   |                     |   |   |   |
 0)     sh-10       |      1.000003000 |    0.500 us   |      inner
 0)     sh-10       |      1.000002000 |  + 10.250 us  |    middle [mod]
 0)     sh-10       |                  |             |    /* thing: a=7 */
 0)     sh-10       |                  |             |    /* a marker */
 1)   my-ls-11      |      1.000001000 |    1.000 us   |  other();
 0)     sh-10       |      1.000001000 |  ! 120.750 us |  outer
 (Overruns: 0)
 0)     sh-10       |  ==========> |
 0)     sh-10       |     20.000000000 |  ! 12345.67 us |    rounded
 0)     sh-10       |     20.000000000 |  ! 12345.60 us |  short
 0)   gibberish     |
""", [
        (1000001000, 0, 10, 'sh', 'funcgraph_entry', {'depth': 0, 'name': 'outer'}),
        (1000001000, 1, 11, 'my-ls', 'funcgraph_entry', {'depth': 0, 'name': 'other'}),
        (1000002000, 0, 10, 'sh', 'funcgraph_entry', {'depth': 1, 'name': 'middle'}),
        (1000002000, 1, 11, 'my-ls', 'funcgraph_exit', {'depth': 0, 'name': 'other', 'calltime': 1000001000}),
        (1000003000, 0, 10, 'sh', 'funcgraph_entry', {'depth': 2, 'name': 'inner'}),
        (1000003500, 0, 10, 'sh', 'funcgraph_exit', {'depth': 2, 'name': 'inner', 'calltime': 1000003000, 'rettime': 1000003500}),
        (1000012250, 0, 10, 'sh', 'funcgraph_exit', {'depth': 1, 'name': 'middle', 'calltime': 1000002000}),
        (1000012250, 0, 10, 'sh', 'thing', {'a': 7}),
        (1000012250, 0, 10, 'sh', 'print', {'info': 'tracing_mark_write: a marker'}),
        (1000121750, 0, 10, 'sh', 'funcgraph_exit', {'depth': 0, 'name': 'outer', 'calltime': 1000001000}),
        (20000000000, 0, 10, 'sh', 'funcgraph_entry', {'depth': 0, 'name': 'short'}),
        (20000000000, 0, 10, 'sh', 'funcgraph_entry', {'depth': 1, 'name': 'rounded'}),
        (20012345670, 0, 10, 'sh', 'funcgraph_exit', {'depth': 1, 'name': 'rounded'}),
        (20012345670, 0, 10, 'sh', 'funcgraph_exit', {'depth': 0, 'name': 'short', 'calltime': 20000000000}),
    ]),
    ('durations of calls at one time, and on two CPUs', """# tracer: function_duration
#
 0)     sh-10     |      1.000004000 |    0.000 us   |        leaf
 0)     sh-10     |      1.000004000 |    4.000 us   |      inner
 0)     sh-10     |      1.000008000 |    0.000 us   |      inner
 1)     sh-10     |      1.000004000 |  + 16.000 us  |    middle
 1)     sh-10     |      1.000004000 |  + 16.000 us  |  outer
 1)     sh-10     |      1.000020000 |    0.000 us   |  outer
""", (ENDS := [
        (1000004000, 0, 10, 'sh', 'funcgraph_entry', {'name': 'outer'}),
        (1000004000, 0, 10, 'sh', 'funcgraph_entry', {'name': 'middle'}),
        (1000004000, 0, 10, 'sh', 'funcgraph_entry', {'name': 'inner'}),
        (1000004000, 0, 10, 'sh', 'funcgraph_entry', {'name': 'leaf'}),
        (1000004000, 0, 10, 'sh', 'funcgraph_exit', {'name': 'leaf'}),
        (1000008000, 0, 10, 'sh', 'funcgraph_exit', {'name': 'inner', 'calltime': 1000004000}),
        (1000008000, 0, 10, 'sh', 'funcgraph_entry', {'name': 'inner'}),
        (1000008000, 0, 10, 'sh', 'funcgraph_exit', {'name': 'inner', 'calltime': 1000008000}),
        (1000020000, 1, 10, 'sh', 'funcgraph_exit', {'name': 'middle', 'calltime': 1000004000}),
        (1000020000, 1, 10, 'sh', 'funcgraph_exit', {'name': 'outer', 'calltime': 1000004000}),
        (1000020000, 1, 10, 'sh', 'funcgraph_entry', {'name': 'outer'}),
        (1000020000, 1, 10, 'sh', 'funcgraph_exit', {'name': 'outer', 'calltime': 1000020000}),
    ])),
    ('the same by the time of the call', """# tracer: function_duration
 0)     sh-10     |      1.000004000 |    0.000 us   |        leaf
 0)     sh-10     |      1.000004000 |  + 16.000 us  |    middle
 0)     sh-10     |      1.000004000 |    4.000 us   |      inner
 0)     sh-10     |      1.000004000 |  + 16.000 us  |  outer
 0)     sh-10     |      1.000008000 |    0.000 us   |      inner
 0)     sh-10     |      1.000020000 |    0.000 us   |  outer
""", [(row[0], 0, *row[2:]) for row in ENDS]),
    ('durations by the time of the call, no head', """
  1.200000 |  1)      1.000001000 |  ! 120.750 us |  outer
  1.100000 |  1)      1.000001000 |  + 10.250 us  |    middle
  1.100000 |  1)      1.000003000 |    0.500 us   |      inner
      1.000200000 |    0.500 us   |  no_cpu
""".lstrip('\n'), [
        (1000003500, 1, 0, '<idle>', 'funcgraph_exit', {'depth': 2, 'name': 'inner'}),
        (1000011250, 1, 0, '<idle>', 'funcgraph_exit', {'depth': 1, 'name': 'middle'}),
        (1000121750, 1, 0, '<idle>', 'funcgraph_exit', {'depth': 0, 'name': 'outer'}),
        (1000200500, 0, 0, '<idle>', 'funcgraph_exit', {'depth': 0, 'name': 'no_cpu'}),
    ]),
    ('the latency format', """# tracer: irqsoff
#
# irqsoff latency trace v1.1.5 on 6.1.0
# latency: 16 us, #5/5, CPU#0 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:4)
#    | task: swapper/0-0 (uid:0 nice:0 policy:0 rt_prio:0)
#  => started at: do_one
#  cmd     pid     |||||| time  |   caller
#     \\   /        ||||||  \\    |    /
  <idle>-0         0d.s2.    0us+: do_one <-do_all
  a-b 1-1234      12dNh3.   17us : thing: a=5
  a-b 1-1234      12d..2 74572939664us$: tracing_mark_write: hello
  <idle>-0         0d.s2. 74572939665us#: <stack trace>
 => do_one
  <idle>-0         0d.s2. 74572939666us!: <idle>-0 0d.s2. 5us+: x
""", [
        (0, 0, 0, '<idle>', 'function', {'info': 'do_one <-- do_all', 'flags': 'd.s2'}),
        (17000, 12, 1234, 'a-b 1', 'thing', {'a': 5, 'flags': 'dNh3'}),
        (74572939664000, 12, 1234, 'a-b 1', 'print', {'info': 'tracing_mark_write: hello'}),
        (74572939665000, 0, 0, '<idle>', 'kernel_stack', {'size': 1}),
        (74572939666000, 0, 0, '<idle>', 'line', {'info': '<idle>-0 0d.s2. 5us+: x'}),
    ]),
    ('a graph of calls with times and tasks', """# tracer: function_graph
#
#     TIME        CPU  TASK/PID         DURATION                  FUNCTION CALLS
#      |          |     |    |           |   |                     |   |   |   |
   12.000100 |   1)    sh-10     |               |  outer() {
   12.000200 |   1)    sh-10     |   1.000 us    |    inner();
   12.000300 |   1)    sh-10     | + 200.0 us    |  }
""", [
        (12000100000, 1, 10, 'sh', 'funcgraph_entry', {'depth': 0, 'name': 'outer'}),
        (12000200000, 1, 10, 'sh', 'funcgraph_entry', {'depth': 1, 'name': 'inner'}),
        (12000201000, 1, 10, 'sh', 'funcgraph_exit', {'depth': 1, 'name': 'inner'}),
        (12000300000, 1, 10, 'sh', 'funcgraph_exit', {'depth': 0, 'name': 'outer', 'calltime': 12000100000}),
    ]),
    ('losses and names between calls', """# tracer: function_graph
#
    1.000002 |   1)    name-12    |     2.000 us    |  inner();
    1.000003 |   0)    other-13   | + 90.000 us     |  inner();
CPU:1 [LOST 5 EVENTS]
    1.000005 |   1)    <...>-12   |     2.000 us    |  inner();
    1.000008 |   1)    <...>-12   |                 |  /* thing: a=7 */
CPU:1 [LOST EVENTS]
CPU:0 [LOST 2 EVENTS]
    1.000100 |   0)    <...>-13   |     2.000 us    |  inner();
    1.000200 |   1)    name-12    |     2.000 us    |  inner();
""", [
        (1000002000, 1, 12, 'name', 'funcgraph_entry', {'lost': None}),
        (1000003000, 0, 13, 'other', 'funcgraph_entry', {'lost': None}),
        (1000004000, 1, 12, 'name', 'funcgraph_exit', {'lost': None}),
        (1000005000, 1, 12, 'name', 'funcgraph_entry', {'lost': 5}),
        (1000007000, 1, 12, 'name', 'funcgraph_exit', {'lost': None}),
        (1000008000, 1, 12, 'name', 'thing', {'lost': None}),
        (1000093000, 0, 13, 'other', 'funcgraph_exit', {'lost': None}),
        (1000100000, 0, 13, 'other', 'funcgraph_entry', {'lost': 2}),
        (1000102000, 0, 13, 'other', 'funcgraph_exit', {'lost': None}),
        (1000200000, 1, 12, 'name', 'funcgraph_entry', {'lost': -1}),
        (1000202000, 1, 12, 'name', 'funcgraph_exit', {'lost': None}),
    ]),
    ('losses and names between durations of functions', """# tracer: function_duration
#
 1)    <...>-12    |      1.000001000 |    0.500 us   |  early
 1)    name-12     |      1.000002000 |    2.000 us   |    inner
CPU:1 [LOST 5 EVENTS]
 1)    <...>-12    |      2.000001000 |    5.000 us   |  outer
""", [
        (1000001000, 1, 12, 'name', 'funcgraph_entry', {'lost': None}),
        (1000001500, 1, 12, 'name', 'funcgraph_exit', {'lost': None}),
        (1000002000, 1, 12, 'name', 'funcgraph_entry', {'lost': None}),
        (1000004000, 1, 12, 'name', 'funcgraph_exit', {'lost': None}),
        (2000001000, 1, 12, 'name', 'funcgraph_entry', {'lost': 5}),
        (2000006000, 1, 12, 'name', 'funcgraph_exit', {'lost': None}),
    ]),
    ('events of the kernel', HEAD + """
              x-5     [000] d..2.     1.000001: sched_switch: prev_comm=x y prev_pid=5 prev_prio=120 prev_state=D|K ==> next_comm=z next_pid=6 next_prio=98
              x-5     [000] d..2.     1.000002: sched_switch: prev_comm=x y prev_pid=5 prev_prio=120 prev_state=R+ ==> next_comm=z next_pid=6 next_prio=98
              x-5     [000] d.h1.     1.000003: irq_handler_exit: irq=17 ret=handled
              x-5     [000] .....     1.000004: sys_enter: NR 1 (a, b, c, d, e, ffffffffffffffff)
              x-5     [000] .....     1.000005: sys_exit: NR 1 = -11
              x-5     [000] .....     1.000006: sys_read(fd: 3, buf: 7f00, count: 10)
              x-5     [000] .....     1.000007: sys_read -> 0xfffffffffffffff5
              x-5     [000] .....     1.000007: sys_openat -> 0x3
              x-5     [000] .....     1.000008: block_rq_complete: 8,16 WS () 123456 + 8 [0]
""", [
        (1000001000, 0, 5, 'x', 'sched_switch', {'prev_state': 0x402}),
        (1000002000, 0, 5, 'x', 'sched_switch', {'prev_comm': 'x y', 'prev_state': 256, 'next_pid': 6, 'next_prio': 98}),
        (1000003000, 0, 5, 'x', 'irq_handler_exit', {'irq': 17, 'ret': 1, 'flags': 'd.h1'}),
        (1000004000, 0, 5, 'x', 'sys_enter', {'id': 1, 'args': [10, 11, 12, 13, 14, 2**64 - 1]}),
        (1000005000, 0, 5, 'x', 'sys_exit', {'id': 1, 'ret': -11}),
        (1000006000, 0, 5, 'x', 'sys_enter_read', {'fd': 3, 'buf': 0x7f00, 'count': 16}),
        (1000007000, 0, 5, 'x', 'sys_exit_read', {'ret': -11, '__syscall_nr': -2}),
        (1000007000, 0, 5, 'x', 'sys_exit_openat', {'ret': 3, '__syscall_nr': -3}),
        (1000008000, 0, 5, 'x', 'block_rq_complete', {'dev': 8 << 20 | 16, 'sector': 123456, 'nr_sector': 8, 'rwbs': 'WS'}),
    ]),
]


def difference(t, path, wanted):
    """Between the rows of a text and those that must come out of it."""
    done = t.run(['report', '--json', path])
    if done.trouble or done.status:
        return done.trouble or done.err.decode()
    rows = [json.loads(line) for line in done.out.decode().splitlines()]
    info = t.run(['report', '-N', path]).out.decode().splitlines()[1:]
    info = [line for line in info if LINE.match(line)]
    if len(rows) != len(wanted):
        return f'{len(rows)} events, not {len(wanted)}'
    symbols = dict(re.findall(r'([0-9a-f]{16}) . (\S+)', t.run(['dump', '--kallsyms', '-i', os.path.splitext(path)[0] + '.dat']).out.decode()))
    for row, text, (ts, cpu, pid, comm, event, fields) in zip(rows, info, wanted):
        if (row['ts'], row['cpu'], row['pid'], row['comm'], row['event']) != (ts, cpu, pid, comm, event):
            return f'{row}, not {(ts, cpu, pid, comm, event)}'
        for name, value in fields.items():
            if name == 'info':
                found = LINE.match(text)[6].split(':', 1)[1].strip() if LINE.match(text) else text
            elif name == 'lost':
                found = row.get('lost')
            elif name == 'frames':
                found = len(row['fields']['caller'])
            elif name == 'name':
                found = symbols.get(f'{row["fields"]["func"]:016x}')
            elif name == 'flags':
                found, value = (LINE.match(text)[4] or '')[:len(value)], value
            else:
                found = row['fields'][name]
            if found != value:
                return f'{event} {name} is {found!r}, not {value!r}'
    return ''


def check_cases(t):
    for name, text, wanted in CASES:
        with tempfile.TemporaryDirectory() as directory:
            path = f'{directory}/trace.txt'
            with open(path, 'w', encoding='utf-8') as out:
                out.write(text)
            done = t.run(['import', '-q', path])
            if done.status or done.trouble:
                t.fail(f'text: {name}', done.trouble or done.err.decode())
                continue
            t.check(f'text: {name}', difference(t, path, wanted))


# ---- fdd's table ----

class Calls:
    """Random calls of some tasks on two CPUs, and what fdd's table says of them."""

    def __init__(self, seed, grain=1):
        self.grain = grain  # of the clock, ns
        self.random, self.lines, self.functions, self.arcs = random.Random(seed), [], {}, {}
        for cpu in (0, 1):
            at = 1_000_000_000 + cpu
            for _ in range(40):
                at = self.call(cpu, self.random.choice((10, 11, 12)) + 10 * cpu, at, 0, None) + self.random.randrange(1, 5000)

    def call(self, cpu, pid, start, depth, caller):
        """A call and what it calls; when it ends."""
        name = f'f{depth}_{self.random.randrange(4)}'
        at = start + self.random.randrange(1, 700)
        for _ in range(self.random.randrange(4) if depth < 4 else 0):
            at = self.call(cpu, pid, at, depth + 1, name) + self.random.randrange(700)
        at, start = at // self.grain * self.grain, start // self.grain * self.grain
        self.lines.append((cpu, pid, start, at - start, depth, name))
        self.functions.setdefault(name, []).append(at - start)
        if caller:
            self.arcs.setdefault(caller, {}).setdefault(name, []).append(at - start)
        return at

    def text(self, by_call, columns):
        """As the tracer prints it, with these of T(ime), C(PU) and P(rocess)."""
        titles = [t for c, t in (('T', 'TIME'), ('C', 'CPU'), ('P', 'TASK/PID')) if c in columns]
        yield f'# tracer: function_duration\n#\n# {"  ".join(titles)}  CALLTIME  DURATION  FUNCTION CALLS\n'
        for cpu, pid, start, dur, depth, name in sorted(self.lines, key=lambda l: l[2] if by_call else l[2] + l[3]):
            mark = '!' if dur > 100000 else '+' if dur > 10000 else ' '
            yield ((f'{(start + dur) // 1000 / 1e6:12.6f} |  ' if 'T' in columns else '') + (f' {cpu}) ' if 'C' in columns else '') +
                   (f'   task-{pid}    | ' if 'P' in columns else '') +
                   f'{start // 10**9:5d}.{start % 10**9:09d} |  {mark} {dur // 1000}.{dur % 1000:03d} us  |  {"  " * depth}{name}\n')

    def table(self):
        """fdd's long listing."""
        def longest(name):
            callees = self.arcs.get(name, {})
            best = max(callees, key=lambda c: sum(callees[c]), default=None)
            return (best, len(callees[best]), sum(callees[best])) if best else ('', 0, 0)

        for name, durations in sorted(self.functions.items(), key=lambda f: (-sum(f[1]), f[0])):
            total, sub = sum(durations), sum(sum(c) for c in self.arcs.get(name, {}).values())
            best, times, took = longest(name)
            span = f'({min(durations) // 1000}-{max(durations) // 1000})'
            yield (f'{name:30} {len(durations):5} {total // 1000:8} {total // 1000 // len(durations):8} {(total - sub) // 1000:8} '
                   f'{span:>18} {sub // 1000:8} {best:>30} {times:6} {took // 1000:8}')


def check_fdd(t):
    """The table that fdd makes of random texts, however these are sorted and whatever columns they have."""
    with tempfile.TemporaryDirectory() as directory:
        os.symlink(t.spur, f'{directory}/fdd')
        texts = [(b, c, 1) for b in (False, True) for c in ('C', 'CP', 'TC', 'TCP', 'P')] + [(False, c, 4000) for c in ('CP', 'P')]
        for seed, (by_call, columns, grain) in enumerate(texts):
            calls, path = Calls(seed, grain), f'{directory}/text'
            write(path, ''.join(calls.text(by_call, columns)))
            done = harness.run([f'{directory}/fdd', '-l', path], memory=None, seconds=60)
            got, wanted = done.out.decode().splitlines()[2:], list(calls.table())
            # Which callee took longest is not clear where many took the same time.
            same = (lambda g, w: g == w) if grain == 1 else (lambda g, w: g.split()[:7] == w.split()[:7])
            why = next((f'{g!r}, not {w!r}' for g, w in zip(got, wanted) if not same(g, w)), '')
            t.check(f'text: fdd of columns "{columns}"' + (', sorted' if by_call else '') + (f', {grain} ns' if grain > 1 else ''), done.trouble or why or
                    ('' if len(got) == len(wanted) else f'{len(got)} lines, not {len(wanted)}: {done.err.decode()}'))


# ---- the command ----

def write(path, text):
    with open(path, 'w', encoding='ascii') as file:
        file.write(text)


def check_spares(t):
    """What is imported is not written over, whatever it is called."""
    with tempfile.TemporaryDirectory() as directory:
        path = f'{directory}/kernel.dat'
        write(path, CASES[0][1])
        for name, args in (('by its name', [path]), ('by -o', ['-o', path, path])):
            done = t.run(['import', *args])
            with open(path, encoding='utf-8') as file:
                same = file.read() == CASES[0][1]
            t.check(f'text: spares what it reads, {name}', '' if done.status == 1 and same and os.listdir(directory) == ['kernel.dat']
                    else f'{done.status} {done.err.decode()}')


def check_command(t):
    with tempfile.TemporaryDirectory() as directory:
        path = f'{directory}/t.txt'
        with open(path, 'w', encoding='utf-8') as out:
            out.write(CASES[0][1])
        with open(f'{directory}/odd', 'w', encoding='utf-8') as out:
            out.write('nothing\nof the kind\n')
        done = t.run(['import', path])
        t.check('text: names the file', '' if done.status == 0 and b't.dat: 5 events' in done.err and
                sorted(os.listdir(directory)) == ['odd', 't.dat', 't.txt'] else done)
        info = t.run(['info', '--json', path]).out
        t.check('text: info says what it was', '' if b'imported: the kernel' in info else info)
        done = t.run(['import', '--file-version=6', '-o', f'{directory}/six.dat', path])
        same = t.run(['report', f'{directory}/six.dat']).out == t.run(['report', path]).out
        t.check('text: version 6', '' if done.status == 0 and same else done)
        for name, args, status, words in (
                ('nothing', [], 1, 'what is to be imported'),
                ('of no known kind', [f'{directory}/odd'], 4, 'none of the traces'),
                ('without events', ['--from', 'text', f'{directory}/odd'], 3, 'no event'),
                ('of another kind', ['--from', 'perf', '-o', f'{directory}/none.dat', path], 4, 'the head of perf.data'),
                ('standard output', ['-o', '-', path], 1, 'standard output'),
                ('an unknown kind', ['--from', 'texts', path], 1, "'text'"),
                ('what is not there', [f'{directory}/none'], 2, 'No such file'),
                ('a trace.dat', ['data/sample.dat'], 4, 'none of the traces'),
                ('a folder', [directory], 4, 'none of the traces')):
            done = t.run(['import', *args])
            t.check(f'text: refused: {name}', '' if done.status == status and words in done.err.decode() else
                    f'{done.status} {done.err.decode()}')
        t.check('text: nothing is left behind', '' if sorted(os.listdir(directory)) == ['odd', 'six.dat', 't.dat', 't.txt'] else
                os.listdir(directory))


def check(t):
    check_cases(t)
    check_fdd(t)
    check_command(t)
    check_spares(t)
