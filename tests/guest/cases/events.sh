# First look: the events of two systems while a command runs.
# command: record
# peer: 6.1
record -e sched -e irq load switch 20
same_report
walks
expect 'sched_switch: .*load:'
