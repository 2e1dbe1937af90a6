# How long functions of a module take; the names of those in a map.
# command: script
# needs: btf scripts program/mkfs.xfs module/virtio_blk module/crc32c_generic module/xfs
# kernels: 6.1 6.12
mkfs.xfs -f /dev/vda
mkdir /tmp/disk
mount -t xfs /dev/vda /tmp/disk
bpftrace_script xfsdist 'dd if=/dev/zero of=/tmp/disk/file bs=4k count=20 conv=fsync' \
	'^Tracing XFS operation latency' '^@us\[xfs_file_open\]: ?$' '^@us\[xfs_file_write_iter\]: ?$' \
	'^@us\[xfs_file_fsync\]: ?$' '^\[[0-9]+K?, [0-9]+K?\) +[0-9]+ \|@+ *\|$'
run spur script -e 'fentry:xfs:xfs_file_fsync { @[args.datasync] = count(); }' -c 'sync /tmp/disk/file'
run spur script -e 'kprobe:xfs:xfs_file_* { @[func] = count(); }' -c 'dd if=/tmp/disk/file of=/dev/null'
expect '^@\[xfs_file_open\]: 1$'
expect '^@\[xfs_file_read_iter\]: [1-9]'
umount /tmp/disk
rmdir /tmp/disk
