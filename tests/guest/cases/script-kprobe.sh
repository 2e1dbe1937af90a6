# Scripts at functions of the kernel: arguments, what they return, stacks, patterns, places in them.
# command: script
# needs: btf kprobes
# kernels: 6.1 6.12
run spur script -e 'kprobe:vfs_read /comm == "load" && arg2 == 1/ { @[arg2] = count(); }' -c 'load read 5'
expect '^@\[1\]: 5$'
run spur script -e 'kprobe:vfs_read /comm == "load" && args.count == 1/ {
	@[str(args.file->f_path.dentry->d_name.name)] = count(); }' -c 'load read 5'
expect '^@\[zero\]: 5$'
run spur script -e 'kretprobe:vfs_read /comm == "load"/ { @[retval] = count(); }' -c 'load read 5'
expect '^@\[1\]: 5$'
run spur script -e 'kprobe:vfs_read /comm == "load" && arg2 == 1/ { @[kstack(3)] = count(); }' -c 'load read 5'
expect '^ +vfs_read\+[0-9]+$'
expect '^ +ksys_read\+[0-9]+$'
expect '^ +do_syscall_64\+[0-9]+$'
expect '^\]: 5$'

# One program and one link for all of them; which one it is, is told by a cookie.
run spur script -e 'kprobe:vfs_* /comm == "load"/ { @[func] = count(); }' -c 'load read 5'
expect '^@\[vfs_read\]: [0-9]+$'
expect '^@\[vfs_open\]: [0-9]+$'
run spur script -e 'kprobe:vfs_* /probe == "kprobe:vfs_read" && comm == "load"/ { @[probe, func] = count(); }' \
	-c 'load read 5'
expect '^@\[kprobe:vfs_read, vfs_read\]: [0-9]+$'
expect_lines 1 '^@\['
run spur script -e 'kretprobe:vfs_re* /comm == "load" && retval == 1/ { @[func] = count(); }' -c 'load read 5'
expect '^@\[vfs_read\]: 5$'
run spur script -e 'kprobe:ksys_read, kprobe:vfs_read /comm == "load"/ { @ = count(); }' -c 'load read 5'
expect '^@: 1[0-9]$'
modprobe null_blk
run spur script -e 'kprobe:null_blk:null_* { @[func] = count(); }' -c 'dd if=/dev/nullb0 of=/dev/null bs=4k count=4'
expect '^@\[null_(queue_rq|handle_cmd|complete_rq)\]: [0-9]+$'

# Where the first instruction is, and where none is.
run spur script -e 'kprobe:vfs_read+0 /comm == "load" && arg2 == 1/ { @ = count(); }' -c 'load read 5'
expect '^@: 5$'
at=0x$(awk '$3 == "vfs_read" { print $1 }' /proc/kallsyms)
run spur script --unsafe -e "kprobe:$at"' /comm == "load" && arg2 == 1/ { @ = count(); }' -c 'load read 5'
expect '^@: 5$'
refused 2 spur script -e 'kprobe:vfs_read+1 { @ = count(); }' -c 'load read 5'
expect 'cannot attach to kprobe:vfs_read\+1: no instruction begins there' err
refused 2 spur script -e 'kprobe:vfs_raed { @ = count(); }' -c 'load read 5'
expect "there is none in this kernel \(did you mean 'vfs_read'" err
refused 2 spur script -e 'kprobe:vfs_raed, kprobe:vfs_read { @ = count(); }' -c 'load read 5'
expect "kprobe:vfs_raed: .* \(did you mean 'vfs_read'" err
run spur script -e 'config = { missing_probes = "warn" } kprobe:vfs_raed, kprobe:vfs_read { @ = count(); }' -c 'load read 5'
expect 'Unable to attach probe: kprobe:vfs_raed\. Skipping\.$' err
expect '^Attached 1 probe$' err
expect '^@: [0-9]+$'

# func beside other symbols of the kernel, alone and as one of several keys.
run spur script -e 'kprobe:vfs_read /comm == "load"/ { @[func] = count(); @[ksym(kaddr("vfs_write"))] = count(); @t[1, func] = count(); }
	kprobe:vfs_re* /comm == "load"/ { @t[2, ksym(kaddr("vfs_write"))] = count(); @t[3, func] = count(); }' -c 'load read 5'
expect '^@\[vfs_read\]: [1-9]'
expect '^@\[vfs_write\]: [1-9]'
expect '^@t\[1, vfs_read\]: [1-9]'
expect '^@t\[3, vfs_read\]: [1-9]'
refused 1 spur script -e 'kprobe:vfs_read { @[probe] = count(); @[ksym(kaddr("vfs_write"))] = count(); }'
expect 'argument mismatch for @' err

# Functions that signals are sent from, and memory that is written.
refused 0 spur script --unsafe -e 'kprobe:vfs_read /comm == "load"/ { signal("KILL"); }' -c 'load read 5'
