# No event is lost: 5000 system calls of a program are 5000 records.
# command: record
# peer:
record -F -e syscalls:sys_enter_getppid load getppid 5000
same_report
walks
has_events 5000 sys_enter_getppid
