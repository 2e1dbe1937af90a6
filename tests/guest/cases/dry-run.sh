# What a recording would do, without doing it.
# command: record
# needs: function
# kernels: 6.12
unchanged spur record --dry-run -o trace.dat -p function -l vfs_read -e sched load read 1
expect 'current_tracer'
expect 'vfs_read'
[ ! -e trace.dat ] || fail 'there is a file'
