# A recording beside trace-cmd's.
# command: record
# kernels: 6.12
trace-cmd record -q -o peer.dat -e sched sh -c 'touch go; until [ -e gone ]; do usleep 20000; done' &
until [ -e go ]; do usleep 20000; done
run spur record -o trace.dat -F -e syscalls:sys_enter_getppid load getppid 100
load switch 10
touch gone
wait $!
has_events 100 sys_enter_getppid
same_report peer.dat
expect 'sched_switch: .*load:'
expect_not 'sys_enter_getppid'
