# Tracing without a file: start, stop, look, keep, go on, throw away.
# command: start stop show extract clear restart reset
# kernels: 6.1
# peer: 6.1
trace start -e sched
setting events/sched/enable 1
setting tracing_on 1
load switch 10
trace stop
setting tracing_on 0
same_output show
expect 'sched_switch: prev_comm=load'
trace extract -o trace.dat
same_report
walks
trace clear
same_output show
expect_not 'sched_switch:'
trace restart
setting tracing_on 1
trace reset
setting events/sched/enable 0
setting tracing_on 1
