# A disk with less space than the kernel's symbols take: stacks have those of functions, events do
# without, and a line says so.
# command: record
# kernels: 6.1 6.12
functions=$(grep -v ' __pfx_' /proc/kallsyms | grep ' [tTwW] ' | wc -c)
all=$(grep -v ' __pfx_' /proc/kallsyms | wc -c)
[ $((all - functions)) -gt 1000000 ] || fail "of $all bytes of symbols $functions are functions"
disk $((functions / 1024 + 700))k
run spur record -o disk/trace.dat -e sched_switch -T load getppid 100
expect 'it has only the functions'
same_report disk/trace.dat
expect '=> .*schedule'
umount disk
rmdir disk
disk 600k
run spur record -o disk/trace.dat -e sched load getppid 100
expect "the kernel's symbols are left out"
same_report disk/trace.dat
walks disk/trace.dat
umount disk
