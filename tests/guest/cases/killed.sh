# Killed at any moment: the settings are put back, and the file can be read.
# command: record
# needs: function
state >state.1
for moment in 50000 300000 800000 2500000; do
	rm -f trace.dat
	spur record -o trace.dat -p function -l 'vfs_*' -e sched sleep 20 >out 2>err &
	usleep $moment
	kill -9 $!
	wait $! || :
	restored
	[ ! -e trace.dat ] || says_killed trace.dat
done
kill $(pidof sleep) || :
