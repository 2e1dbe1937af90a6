# Somebody traces already: a recording leaves the settings and the trace as they are.
# command: record
# needs: function
echo 1 >$T/events/sched/sched_process_exec/enable
echo 'next_prio < 100' >$T/events/sched/sched_switch/filter
echo stacktrace >$T/events/sched/sched_process_exit/trigger
echo vfs_write >$T/set_ftrace_filter
echo before >$T/trace_marker
unchanged spur record -o trace.dat -p function -l vfs_read -e sched -b 300 load read 5
same_report
expect 'vfs_read'
expect_not 'vfs_write'
expect 'before' $T/trace
expect 'sched_process_exec: filename=/bin/load' $T/trace
clean_up
