# The tracer's own options.
# command: record
# needs: function_graph
# peer:
record -p function_graph -O nofuncgraph-irqs -O funcgraph-tail -l 'vfs_*' -l 'rw_*' -l 'ksys_*' load read 5
same_report
walks
expect 'vfs_read\(\) \{'
