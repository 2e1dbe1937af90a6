# Scripts at functions by BTF: arguments by name, what they return, modules, paths; and iterators.
# command: script
# needs: btf module/null_blk
# kernels: 6.1 6.12
run spur script -e 'fentry:vfs_read /comm == "load" && args.count == 1/ {
	@[args.count, str(args.file->f_path.dentry->d_name.name)] = count(); }' -c 'load read 5'
expect '^@\[1, zero\]: 5$'
run spur script -e 'fexit:vfs_read /comm == "load" && retval == 1/ { @[args.count, retval] = count(); }' -c 'load read 5'
expect '^@\[1, 1\]: 5$'
run spur script -e 'kretfunc:vfs_open /comm == "load" && retval == 0/ { @[retval, arg1 != 0] = count(); }' -c 'load open 4'
expect '^@\[0, (1|true)\]: [0-9]+$'
run spur script -e 'fexit:do_sys_openat2 /comm == "load" && retval < 0/ { @[retval] = count(); }' -c 'load open 4'
expect '^@\[-2\]: [0-9]+$'
run spur script -e 'kfunc:vfs_re* /comm == "load"/ { @[func, probe] = count(); }' -c 'load read 5'
expect '^@\[vfs_read, fentry:vmlinux:vfs_read\]: [0-9]+$'
run spur script -e 'fentry:vfs_read /comm == "load"/ { @[kstack(8)] = count(); }' -c 'load read 5'
expect '^ +ksys_read\+[0-9]+$'
run spur script -e 'fentry:filp_close /comm == "load"/ { @[path(args.filp->f_path)] = count(); }' -c 'load open 4'
expect '^@\[/dev/null\]: [0-9]+$'
for probe in fentry:null_blk:null_queue_rq fentry:null_queue_rq; do
	run spur script -e "$probe"' { @[args.hctx->queue_num] = count(); }' \
		-c 'dd if=/dev/nullb0 of=/dev/null bs=4k count=4'
	expect '^@\[[01]\]: [1-9][0-9]*$'
done
# A struct by value has two words; pointers to pointers can only be read as memory.
for kind in fexit kretprobe; do
	what='args.cmd == 5 && args.size >= 40 && args.size < 400 && !args.uattr.is_kernel &&'
	[ $kind = fexit ] || what=
	run spur script -e "$kind:__sys_bpf /comm == \"spur\" && $what (int32)retval > 2 && (int32)retval < 1000/ { @ = count(); }" \
		-c 'spur script -e "BEGIN { print(curtask->pid); }"'
	expect '^@: [1-9]'
done
run spur script -e 'kprobe:__sys_bpf /comm == "spur" && args.cmd == 5 && args.size >= 40 && args.size < 400/ { @ = count(); }' \
	-c 'spur script -e "BEGIN { print(curtask->pid); }"'
expect '^@: [1-9]'
run spur script -e 'fentry:vfs_unlink { printf("%s %d\n", str(args.dentry->d_name.name), args.delegated_inode != 0); print(args); }' \
	-c 'sh -c "touch gone; rm gone"'
expect '^gone 1$'
expect 'delegated_inode = 0x[0-9a-f]+'
refused 2 spur script -e 'fentry:vfs_raed { @ = count(); }' -c 'load read 5'
expect "vfs_raed: the kernel does not describe such a function \(did you mean 'vfs_read'" err

run spur script -e 'iter:task { printf("%s %d\n", ctx->task->comm, ctx->task->pid); }'
expect '^kthreadd 2$'
expect '^spur [0-9]+$'
run spur script -e 'BEGIN { @n = 0; } iter:task { @n++; } END { printf("%d\n", @n > 10); clear(@n); }'
expect '^1$'
run spur script -e 'iter:task_file /ctx->task->comm == "spur"/ {
	printf("%d %s\n", ctx->fd, str(ctx->file->f_path.dentry->d_name.name)); }'
expect '^0 null$'
run spur script -e 'iter:task_file { printf("%s\n", path(args.file->f_path)); }'
expect '^/dev/null$'
run spur script -e 'iter:task_vma /ctx->task->comm == "spur"/ { printf("%d\n", ctx->vma->vm_end > ctx->vma->vm_start); }'
expect '^1$'
refused 1 spur script -e 'iter:nothing { exit(); }'
expect 'iter nothing not available for your kernel version' err
