# The stack of every event.
# command: record
# peer:
record -e syscalls:sys_enter_getppid -T -F load getppid 5
same_report
walks
expect_lines 5 '<stack trace'
expect '=> (syscall_trace_enter|do_syscall_64)'
