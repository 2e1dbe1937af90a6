# What programs write into the trace.
# command: record
# kernels: 6.1
# peer:
record -e sched:sched_process_exec sh -c "echo good morning >$T/trace_marker"
same_report
expect 'print: .*good morning'
