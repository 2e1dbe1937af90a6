# The other kinds of probes, the kernel's memory, and what a kernel does not offer.
# command: script
# needs: btf uprobes
# kernels: 6.1 6.12
run spur script -e 'rawtracepoint:sched_switch /args.prev->comm == "load"/ { @[args.prev->comm] = count(); }' -c 'load switch 20'
expect '^@\[load\]: [0-9]+$'
run spur script -e 'rawtracepoint:sys_enter /comm == "load" && arg1 == 110/ { @ = count(); }' -c 'load getppid 7'
expect '^@: 7$'
run spur script -e 'tracepoint:syscalls:sys_enter_openat /comm == "load"/ { @[str(args.filename)] = count(); }' -c 'load open 6'
expect '^@\[/no/such/file\]: 3$'
expect '^@\[/dev/null\]: 3$'
run spur script -e 'uprobe:/bin/load:work { @[arg0, str(arg1)] = count(); } uretprobe:/bin/load:work { @r[(int32)retval] = count(); }' \
	-c 'load work 5'
expect '^@\[5, spur\]: 1$'
expect '^@r\[-5\]: 1$'
run spur script -e 'uprobe:/bin/load:* /func == "work" || func == "twice"/ { @[func] = count(); }' -c 'load work 5'
expect '^@\[twice\]: 4$'
expect '^@\[work\]: 5$'
if spur script -l 'usdt:/bin/load:*' | grep -q work; then
	run spur script -e 'usdt:/bin/load:load:work { @[arg0, str(arg1)] = count(); }' -c 'load work 5'
	expect '^@\[4, spur\]: 1$'
fi
run spur script -e 'profile:hz:99 { @[cpu] = count(); } interval:s:1 { exit(); }'
expect '^@\[0\]: [0-9]+$'
expect '^@\[1\]: [0-9]+$'
run spur script -e 'software:faults:1 { @ = count(); }' -c 'load read 5'
expect '^@: [0-9]+$'
run spur script -e 'BEGIN { printf("%s %d\n", curtask->comm, curtask->real_parent->pid > 0); exit(); }'
expect '^spur 1$'
run spur script -e 'BEGIN { printf("%d\n", *(int32 *)kaddr("nr_threads") > 0); exit(); }'
expect '^1$'
at=0x$(awk '$3 == "jiffies_64" { print $1 }' /proc/kallsyms)
run spur script -e "watchpoint:$at:8:w { @ = count(); } interval:s:1 { exit(); }"
expect '^@: [0-9]+$'
run spur script -e 'kprobe:vfs_read /comm == "load"/ {
	@h = hist(arg2); @l = lhist(arg2, 0, 1000, 250); @s = stats(arg2); @a = avg(arg2); @m = max(arg2); }' -c 'load read 5'
expect '^@h: ?$'
expect '^\[0, 250\) +5 \|@+ *\|$'
expect '^@s: .*count.*average.*total'
expect '^@m: 832$'
refused 1 spur script --unsafe -e 'kprobe:__x64_sys_getppid { override(5); }' -c 'load getppid 5'
expect 'this kernel does not offer what override needs to programs of kprobe probes' err
