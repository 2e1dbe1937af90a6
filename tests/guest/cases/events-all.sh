# Every event that the kernel has.
# command: record
# peer:
record -e all load switch 3
same_report
walks
