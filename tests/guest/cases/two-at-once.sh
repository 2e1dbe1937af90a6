# Two recordings at once know nothing of each other.
# command: record
# needs: function
# kernels: 6.12
spur record -o one.dat -p function -l vfs_read -e sched \
	sh -c 'touch go; until [ -e gone ]; do usleep 20000; done' &
until [ -e go ]; do usleep 20000; done
record -F -e syscalls:sys_enter_getppid load getppid 100
touch gone
wait $!
has_events 100 sys_enter_getppid
same_report
expect_not 'sched_switch|vfs_read'
same_report one.dat
expect 'function: +vfs_read'
expect_not 'sys_enter_getppid'
