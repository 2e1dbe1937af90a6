# A filter of an event: only what it matches is recorded.
# command: record
# kernels: 6.1
# peer:
record -e sched:sched_switch -f 'next_comm == "load"' load switch 10
same_report
expect 'sched_switch: '
expect_not 'sched_switch: .* ==> (swapper|sh|kworker)'
