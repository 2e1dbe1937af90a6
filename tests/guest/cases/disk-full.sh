# No room for the file: what is there can be read, and the status says that it is not all, of
# the recorder and of everything that reads the file.
# command: record
# kernels: rt
disk 6m
refused 3 spur record -o disk/trace.dat -e raw_syscalls load getppid 100000
expect 'space'
same_cut_report disk/trace.dat
expect 'could not be written further: the recording ends at [0-9.]*, [0-9]+ events are missing'
walks disk/trace.dat
umount disk
