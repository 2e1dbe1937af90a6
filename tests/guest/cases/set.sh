# Settings by the options of a recording, and nothing else.
# command: set reset
# kernels: rt
# peer:
trace set -e sched:sched_switch -f 'next_comm == "load"'
setting events/sched/sched_switch/enable 1
expect '^\(?next_comm == "load"\)?$' $T/events/sched/sched_switch/filter
trace reset
setting events/sched/sched_switch/enable 0
setting events/sched/sched_switch/filter none
