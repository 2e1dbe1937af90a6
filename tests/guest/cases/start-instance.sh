# Another buffer without a file.
# command: start stop show extract reset
# kernels: 6.1
# peer:
trace start -B mine -e sched
setting instances/mine/events/sched/enable 1
load switch 10
trace stop -B mine
trace show -B mine
expect 'sched_switch:'
trace extract -B mine -o trace.dat
trace reset -B mine -d
same_report
