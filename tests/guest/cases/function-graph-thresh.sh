# Short calls are not recorded at all: what is there took longer than the threshold.
# command: record
# needs: function_graph
# peer:
echo 20000 >$T/tracing_thresh
record -p function_graph -l '*sys_nanosleep' -l '*sys_clock_nanosleep' sleep 0.1
setting tracing_thresh 20000
echo 0 >$T/tracing_thresh
same_report
expect 'funcgraph_exit: .* [0-9]{5,}\.[0-9]+ us'
expect_not 'funcgraph_entry:'
