# A function of a module; members of members of what it is given.
# command: script
# needs: btf scripts module/virtio_blk module/raid1
# kernels: 6.1 6.12
echo md0 >/sys/module/md_mod/parameters/new_array
md=/sys/block/md0/md
echo none >$md/metadata_version
echo raid1 >$md/level
echo 1 >$md/raid_disks
cat /sys/block/vda/dev >$md/new_dev
echo 65536 >$md/component_size
echo 0 >$md/dev-vda/slot
echo active >$md/array_state
bpftrace_script mdflush 'dd if=/dev/zero of=/dev/md0 bs=4k count=2 conv=fsync' \
	'^TIME +PID +COMM +DEVICE$' '^[0-9:]{8} [0-9]+ +dd +md0$'
echo clear >$md/array_state
