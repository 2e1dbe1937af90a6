# Latency and size of requests to a disk, as histograms, and where the scripts' functions are not.
# command: script
# needs: btf scripts module/virtio_blk module/crc32c_generic module/ext4
# kernels: 6.1 6.12
mke2fs -F /dev/vda
mkdir /tmp/disk
mount -t ext4 /dev/vda /tmp/disk
write='dd if=/dev/zero of=/tmp/disk/file bs=4k count=20 conv=fsync'

cat >latency.bt <<'END'
BEGIN { printf("Tracing block device I/O... Hit Ctrl-C to end.\n"); }
tracepoint:block:block_rq_issue { @start[args.dev, args.sector] = nsecs; }
tracepoint:block:block_rq_complete /@start[args.dev, args.sector]/
{
	@usecs = hist((nsecs - @start[args.dev, args.sector]) / 1000);
	delete(@start, (args.dev, args.sector));
}
END { clear(@start); }
END
run spur script latency.bt -c "$write"
expect '^Tracing block device'
expect '^@usecs:'
expect '^\[[0-9]+K?, [0-9]+K?\) +[0-9]+ \|@+ *\|$'

bpftrace_script bitesize "$write" '^I/O size \(bytes\) histograms by process name:$' '^@\[dd\]: ?$' \
	'^\[4K, 8K\) +[0-9]+ \|@+ *\|$'
bpftrace_script writeback "$write; sync; sleep 1" '^TIME +DEVICE +PAGES +REASON +ms$' \
	'^[0-9:]{8}  [0-9]+:[0-9]+ +[0-9]+ +[a-z_]+ +[0-9]+\.[0-9]+$'

# Both functions of the first script are part of others in these kernels, or may not be probed.
refused 2 spur script /lab/bt/biolatency.bt -c "$write"
expect 'cannot attach to kprobe:(__)?blk_account_io_(start|done): (there is none|the kernel does not let it)' err
refused 2 spur script /lab/bt/biosnoop.bt -c "$write"
BPFTRACE_MISSING_PROBES=warn run spur script /lab/bt/biostacks.bt -c "$write"
expect 'Unable to attach probe: kprobe:blk_account_io_start\. Skipping\.$' err
expect '^Tracing block I/O with init stacks' out
umount /tmp/disk
rmdir /tmp/disk
