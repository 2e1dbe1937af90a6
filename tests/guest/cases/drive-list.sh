# What there is to trace, as trace-cmd lists it, but sorted.
# command: list
for option in -t -C -o -s -e "-e sched:" "-e irq$" "-e SCHED_SWITCH" "-F -e sched_switch" "-l -e sched" "-f ^vfs_read"; do
	# A clock that trace-cmd makes of x86-tsc by itself is left out.
	trace-cmd list $option | sed 's/ tsc2nsec$//' | sort >peer
	run spur list $option
	sort out | diff peer - || fail "list $option differs"
done
run spur list
expect '^functions +[0-9]'
run spur list --proto -f '^vfs_write$'
expect '^ssize_t vfs_write\(struct file \*file, const char \*buf, size_t count, loff_t \*pos\);$'
