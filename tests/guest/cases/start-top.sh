# A second start takes the place of the first; a start that is refused changes nothing.
# command: start extract reset
# kernels: 6.12
trace start -e sched -e irq
trace start -e sched:sched_process_exec -b 2000
expect_lines 1 . $T/set_event
setting tracing_on 1
refused 1 spur start -e irq -f 'none == 1'
expect_lines 1 '^sched:sched_process_exec$' $T/set_event
setting tracing_on 1
setting buffer_size_kb 2000
run spur start -F -e syscalls:sys_enter_getppid load getppid 10
trace extract -o trace.dat
trace reset -b 1408
run spur report trace.dat
expect_lines 10 sys_enter_getppid
