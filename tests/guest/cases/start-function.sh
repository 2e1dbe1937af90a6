# Functions without a file.
# command: start stop show reset
# needs: function function_graph
# peer:
for tracer in function function_graph; do
	trace start -p $tracer -l vfs_read
	setting current_tracer $tracer
	setting set_ftrace_filter vfs_read
	load read 5
	trace stop
	same_output show
	expect 'vfs_read'
	trace reset
	setting current_tracer nop
done
