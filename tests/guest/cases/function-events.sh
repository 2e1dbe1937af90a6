# Functions and events in one trace.
# command: record
# needs: function
# kernels: rt
# peer:
record -p function -l 'vfs_*' -e sched -F load read 20
same_report
walks
expect 'function: +vfs_read'
expect 'sched_switch:'
