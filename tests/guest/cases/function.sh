# Functions by glob, with their callers.
# command: record
# needs: function
# peer:
record -p function -l 'vfs_*' load read 20
same_report trace.dat -O parent
walks
expect 'load-[0-9]+ .*function: +vfs_read <-- ksys_read'
