# Functions of the file system: counted by name, and looked up names.
# command: script
# needs: btf scripts
# kernels: 6.1 6.12
bpftrace_script vfscount 'load read 5' '^Tracing VFS calls' '^@\[vfs_read\]: [0-9]+$' '^@\[vfs_open\]: [0-9]+$'
bpftrace_script vfsstat 'load read 5; sleep 1.5' '^Tracing key VFS calls' '^[0-9:]{8}$' '^@\[vfs_read\]: [0-9]+$'
bpftrace_script dcsnoop 'cat /dev/null; mkdir /tmp/new; rmdir /tmp/new' '^TIME +PID +COMM +T FILE$' \
	'^[0-9]+ +[0-9]+ +cat +R dev/null$' '^[0-9]+ +[0-9]+ +(mk|rm)dir +M new$'
