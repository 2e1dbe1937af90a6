# A trigger of an event: the stack below each.
# command: record
# peer: 6.1
record -e sched:sched_switch -f 'prev_comm == "load"' -R 'stacktrace if prev_comm == "load"' load switch 10
same_report
walks
expect 'kernel_stack:'
expect '=> (pipe_read|__schedule|schedule)'
