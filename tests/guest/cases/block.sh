# The events of a disk.
# command: record
# needs: module/null_blk
# kernels: rt
# peer:
record -e block dd if=/dev/nullb0 of=/dev/null bs=4k count=8
same_report
walks
expect 'block_rq_issue: +[0-9]+,[0-9]+ R'
