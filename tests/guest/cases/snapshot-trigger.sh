# A trigger that takes a snapshot, during a recording.
# command: record
# needs: snapshot
# kernels: 6.12
# peer:
record -e sched:sched_process_exec -R 'snapshot:1' -e syscalls:sys_enter_getppid load getppid 10
same_report
has_events 10 sys_enter_getppid
