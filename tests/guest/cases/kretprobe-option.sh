# The same with one command.
# command: record
# needs: kprobes
record --kretprobe 'do_sys_openat2 ret=$retval:s32' -f 'ret < 0' -R stacktrace -F load open 10
same_report
walks
expect 'do_sys_openat2.*: .*ret=-2'
expect_not 'ret=[0-9]'
expect '=> do_syscall_64'
