# Only some CPUs.
# command: record
# kernels: 6.1
# peer:
record -M 2 -e sched load threads 10
same_report
expect '\[001\]'
expect_not '\[000\]'
