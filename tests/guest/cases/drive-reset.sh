# Everything that can be set, in trace-cmd's words, and all of it gone after a reset.
# command: stat reset
# needs: kprobes uprobes function function_graph hist synthetic
# timeout: 120
cd $T
echo 1 >events/irq/enable
echo 1 >events/sched/sched_switch/enable
echo 'prev_pid == 1' >events/sched/sched_switch/filter
echo 'hist:keys=pid:ts=common_timestamp.usecs' >events/sched/sched_waking/trigger
echo 'lat u64 delta; pid_t pid' >synthetic_events
echo 'hist:keys=next_pid:delta=common_timestamp.usecs-$ts:onmatch(sched.sched_waking).lat($delta,next_pid)' \
	>events/sched/sched_switch/trigger
echo 'traceoff:3 if pid == 7' >>events/sched/sched_wakeup/trigger
echo 'p:kprobes/open do_sys_openat2' >kprobe_events
echo 'p:uprobes/one /bin/busybox:0x1000' >uprobe_events
echo 'vfs_read' >set_ftrace_filter
echo 'vfs_write:traceoff' >>set_ftrace_filter
echo 'vfs_fsync' >set_ftrace_notrace
echo 'schedule' >set_graph_function
echo 'kfree' >set_graph_notrace
echo 1 >set_ftrace_pid
echo 7 >set_event_pid
echo mono >trace_clock
echo 1 >tracing_cpumask
echo function >current_tracer
echo 0 >tracing_on
cd "$OLDPWD"
# It complains about a switch that it cannot read.
trace-cmd stat | grep -v -e '^Error reading stack tracer' -e '^$' | sort >peer
run spur stat
grep -v '^$' out | sort | diff peer - || fail "stat differs"
expect 'Function Filter:'
expect 'hist:keys='
run spur reset
run spur stat
expect '^ All disabled'
expect_not 'Filter|Triggers|Clock|CPU mask|PIDs|Kprobe|Uprobe|Synthetic|Tracer'
expect '^Tracing is enabled'
