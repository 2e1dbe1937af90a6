# No room for the file: what is there can be read, and the status says that it is not all.
# command: record
# kernels: rt
disk 6m
refused 3 spur record -o disk/trace.dat -e raw_syscalls load getppid 100000
expect 'space'
same_report disk/trace.dat
walks disk/trace.dat
umount disk
