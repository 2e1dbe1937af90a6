# A trigger that ends the trace: nothing is recorded after the first program was started.
# command: record
# kernels: 6.12
record -e sched:sched_process_exec -R traceoff sh -c 'load work; load work; load work'
same_report
expect_lines 1 'sched_process_exec:'
