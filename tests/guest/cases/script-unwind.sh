# Stacks of programs without frame pointers, at functions of the kernel and of programs, and by samples.
# command: script
# needs: btf kprobes
# kernels: 6.1 6.12
run spur script -e 'uprobe:/bin/calls:leaf { print(dw_ustack()); exit(); }' -c 'calls sort stay'
expect '^ +leaf\+0@/.*/calls\.c:[0-9]+$'
expect '^ +middle\+[0-9]+@/.*/calls\.c:[0-9]+$'
export BPFTRACE_SHOW_DEBUG_INFO=0
run spur script -e 'uprobe:/bin/calls:leaf { print(dw_ustack()); exit(); }' -c 'calls sort stay'
expect '^ +leaf\+0$'
expect '^ +compare\+[0-9]+$'
expect '^ +inner\+[0-9]+$'
expect '^ +middle\+[0-9]+$'
expect '^ +main\+[0-9]+$'
expect '^ +_start\+[0-9]+$'
run spur script -e 'uprobe:/bin/calls:leaf { print(dw_ustack()); exit(); }' -c 'calls signal stay'
expect '^ +handler\+[0-9]+$'
expect '^ +wait_here\+[0-9]+$'
expect '^ +main\+[0-9]+$'
BPFTRACE_MISSING_PROBES=ignore run spur script -e 'kprobe:ksys_read, kprobe:do_sys_pause, kprobe:__x64_sys_pause /comm == "calls"/ {
	@[dw_ustack] = count(); if (func != "ksys_read") { exit(); } }' -c 'calls sort stay'
expect '^ +main\+[0-9]+$'
expect '^ +_start\+[0-9]+$'
run spur script -e 'profile:hz:99 /comm == "calls"/ { @[dw_ustack] = count(); @n++; if (@n > 20) { exit(); } }' \
	-c 'calls spin'
expect '^ +spin\+[0-9]+$'
expect '^ +outer\+[0-9]+$'
expect '^ +_start\+[0-9]+$'
run spur script -e 'uprobe:/bin/calls@calls.c:1012 { @ = count(); }' -c 'calls lines'
expect '^@: 3$'
