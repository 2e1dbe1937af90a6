# Tools that watch disks, the page cache and file systems.
# command: tool
# needs: module/virtio_blk module/ext4 module/crc32c_generic kprobes
# kernels: 6.1 6.12
read='dd if=/dev/vda of=/dev/null bs=64k count=16'
fresh() {
	echo 1 >/proc/sys/vm/drop_caches
}
fresh
run spur tool biolatency -c "$read"
expect '^\[[0-9A-Z]+, [0-9A-Z]+\) +[1-9]'
fresh
run spur tool biosnoop -c "$read"
expect ' dd +[0-9]+ +25[0-9],0 +RA? +[0-9]+ +[1-9][0-9]+ +[0-9]+$'
fresh
run spur tool bitesize -c "$read"
expect '@bytes\[dd\]:'
fresh
run spur tool hardirqs -c "$read"
expect '@ns\[[0-9]+, virtio[0-9]'
run spur tool vfsstat -c 'load open 10'
expect '^[0-9:]{8} +[1-9][0-9]* +[0-9]+ +[1-9]'
mke2fs /dev/vda >/dev/null
mkdir there
mount -t ext4 /dev/vda there
run spur tool ext4slower --min=0 -c 'dd if=/dev/zero of=there/slow bs=4k count=256 conv=fsync'
expect ' dd +[0-9]+ +O +0 .* slow$'
expect ' dd +[0-9]+ +W +4096 .* slow$'
expect ' dd +[0-9]+ +S +0 .* slow$'
# Everything is missed once, then found.
fresh
read='dd if=there/slow of=/dev/null bs=64k'
run spur tool cachestat -c "sh -c '$read 2>&1; $read 2>&1'"
umount there
expect '^[0-9:]{8} +[5-9][0-9]{2} +[23][0-9]{2} +[3-6][0-9]$'
