# What programs write into the trace.
# command: record
# kernels: 6.1
# peer:
# These kernels keep it in their own buffer.
record $([ "$RECORDER" = trace-cmd ] || echo --top) -e sched:sched_process_exec sh -c "echo good morning >$T/trace_marker"
same_report
expect 'print: .*good morning'
