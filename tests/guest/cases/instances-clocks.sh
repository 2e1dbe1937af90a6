# Each buffer with its own clock.
# command: record
# kernels: 6.12
# peer:
record -B one -C mono -e sched -B two -C global -e irq load switch 10
same_report
walks
