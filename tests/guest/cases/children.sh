# A command and all that it starts.
# command: record
# peer: 6.12
record -F -c -e syscalls:sys_enter_getppid load fork 5
same_report
walks
has_events 5 sys_enter_getppid
