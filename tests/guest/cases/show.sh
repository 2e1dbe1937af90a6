# The settings, one by one.
# command: start show reset
# needs: function
# kernels: rt
trace start -p function -l vfs_read -e sched -M 1
for what in tracing_on current_tracer buffer_size buffer_total_size ftrace_filter ftrace_notrace \
	ftrace_pid graph_function graph_notrace cpumask; do
	same_output show --$what
done
trace reset
