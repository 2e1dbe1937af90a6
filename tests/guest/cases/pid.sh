# A process that runs already.
# command: record
# kernels: 6.12
# peer:
(
	until [ -e go ]; do usleep 20000; done
	load getppid 10
	touch gone
) &
record -c -P $! -e syscalls:sys_enter_getppid \
	sh -c 'load getppid 7; touch go; until [ -e gone ]; do usleep 20000; done'
wait
same_report
has_events 10 sys_enter_getppid
