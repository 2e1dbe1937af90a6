# Buffers of their own for different events, in one file.
# command: record
# peer:
record -e irq -B one -e sched -B two -e syscalls:sys_enter_getppid load getppid 100
same_report
walks
expect '^cpu one' walk
expect '^cpu two' walk
has_events 100 sys_enter_getppid
