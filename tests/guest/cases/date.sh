# Times of day.
# command: record
# kernels: 6.12
# peer:
record --date -e sched load switch 5
same_report
expect ' 1[0-9]{9}\.[0-9]{6}: sched_switch:'
