# A system without some of its events.
# command: record
# kernels: rt
# peer:
record -e sched -v -e sched:sched_stat_runtime -e 'sched:*wak*' load switch 10
same_report
expect 'sched_switch:'
expect_not 'sched_stat_runtime:|sched_waking:'
