# Events as they happen.
# command: stream
# kernels: 6.1
trace stream -e sched load switch 10
expect 'sched_switch: .*load:'
