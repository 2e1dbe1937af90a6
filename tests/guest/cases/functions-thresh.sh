# With a threshold the kernel does not record short calls at all: the tree and the table have the long ones.
# command: functions
# kernels: 6.1 6.12
# needs: function_graph
echo 250000 >$T/tracing_thresh
record -p function_graph -l '*sys_nanosleep' -l '*sys_clock_nanosleep' -l hrtimer_nanosleep -l do_nanosleep sh -c \
	'usleep 1000; usleep 1000; usleep 300000; usleep 1000; usleep 350000'
echo 0 >$T/tracing_thresh

run spur report --graph
expect_lines 2 '[*@$] +[0-9]{5,}\.[0-9]{3} us \|  [_a-z0-9]*sys_(clock_)?nanosleep\(\) \{$'
# What was called is inside of it, although its end came first.
expect_lines 2 '[*@$] +[0-9]{5,}\.[0-9]{3} us \|    hrtimer_nanosleep\(\) \{$'
expect_lines 2 '[*@$] +[0-9]{5,}\.[0-9]{3} us \|      do_nanosleep\(\);$'
expect_not '^ +[^)]*\) {1,2}.? +[0-9]{1,4}\.[0-9]{3} us'
run spur functions -f fcr --ns --sort name
expect_lines 3 'nanosleep +2 +[2-9][0-9]{7,}$'
# Who called whom is told by how deep calls are, and their own time by what was called in them.
run spur functions -f fmn --sort name
expect_lines 1 '^hrtimer_nanosleep +do_nanosleep +2$'
run spur flame --folded
expect_lines 1 '^[_a-z0-9]*sys_(clock_)?nanosleep;hrtimer_nanosleep;do_nanosleep [0-9]{8,}$'
