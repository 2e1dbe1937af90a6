# Functions with the stack that led there.
# command: record
# needs: function
# kernels: 6.1
# peer:
record -p function -l vfs_read --func-stack load read 5
same_report
walks
expect '=> ksys_read'
