# The same with a tracer that older kernels have only in the top buffer.
# command: record
# needs: function_graph
# kernels: 6.1
state >state.1
for moment in 100000 400000 1600000; do
	rm -f trace.dat
	spur record -o trace.dat -p function_graph -g vfs_read sleep 20 >out 2>err &
	usleep $moment
	kill -9 $!
	wait $! || :
	restored
	[ ! -e trace.dat ] || says_killed trace.dat
done
kill $(pidof sleep) || :
