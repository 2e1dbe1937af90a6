# Where tasks spent their time, at once.
# command: profile
# kernels: 6.12
trace profile -S -e sched load switch 10
expect 'task: load-'
