# The deepest stack of the kernel.
# command: stack
# needs: stack_tracer
# kernels: 6.12
# peer:
echo 'vfs_*' >$T/stack_trace_filter # looking at every function takes minutes in a guest
trace stack --start
expect 1 /proc/sys/kernel/stack_tracer_enabled
load open 100
trace stack --stop
echo >$T/stack_trace_filter
trace stack
expect 'Depth +Size +Location'
