# Sizes of buffers, before and after anybody has used the kernel's.
# kernels: 6.1 6.12
# order: first
# command: record
# peer:
record -b 512 -e sched load switch 10
record -b 3000 -e sched load switch 10
same_report
walks
if [ "$RECORDER" = trace-cmd ]; then
	echo 1408 >$T/buffer_size_kb
fi
