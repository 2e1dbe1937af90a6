# Functions: these, but not those; of a module.
# command: record
# needs: function module/null_blk
# kernels: 6.12
# peer:
record -p function -l 'vfs_*' -n 'vfs_open*' -l '*:mod:null_blk' \
	dd if=/dev/nullb0 of=/dev/null bs=4k count=4
same_report
expect 'function: +vfs_read'
expect 'function: +null_'
expect_not 'function: +vfs_open'
