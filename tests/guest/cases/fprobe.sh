# Probes of the newer kind, and arguments by name.
# command: record
# needs: fprobes
# peer: 6.12
event 'f:mine/reading vfs_read count=$arg3'
event 'f:mine/was_read vfs_read%return ret=$retval:s64'
record -e mine -F load read 10
no_events
same_report
walks
expect_lines 10 'was_read: .*ret=1'
