# Asked to end: the file is whole.
# command: record
# kernels: 6.1
for signal in INT TERM HUP; do
	spur record -o trace.dat -e sched sh -c 'load switch 10; touch go; sleep 20' >out 2>err &
	pid=$!
	until [ -e go ]; do usleep 20000; done
	rm go
	kill -$signal $pid
	wait $pid || fail "SIG$signal: status $?"
	same_report
done
kill $(pidof sleep) || :
