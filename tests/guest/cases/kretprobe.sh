# Return values: the calls that failed, and the stacks that led there.
# command: record
# needs: kprobes
# kernels: 6.1
# peer:
event 'r:mine/opened do_sys_openat2 ret=$retval:s32'
record -e mine:opened -f 'ret < 0' -R stacktrace -F load open 10
no_events
same_report
walks
expect 'opened: .*ret=-2'
expect_not 'ret=[0-9]'
expect '=> do_syscall_64'
