# What comes back from the swap space, and for whom. Newer kernels have given the function another name.
# command: script
# needs: btf scripts module/virtio_blk
# kernels: 6.1
mkdir /tmp/groups
mount -t cgroup2 none /tmp/groups
mkswap /dev/vda
swapon /dev/vda
bpftrace_script swapin 'load memory 8 & usleep 500000; echo 16M >/tmp/groups/memory.reclaim; sleep 2' \
	'^[0-9:]{8}$' '^@\[load, [0-9]+\]: [0-9]+$'
swapoff /dev/vda
umount /tmp/groups
rmdir /tmp/groups
