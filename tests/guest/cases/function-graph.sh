# What does this kernel path cost? The functions below a system call as a tree, with durations.
# command: record
# kernels: 6.1 6.12
# needs: function_graph
# peer:
record -p function_graph -g ksys_read --max-graph-depth 3 load read 20
same_report
walks
expect 'funcgraph_entry: +\|  ksys_read\(\) \{'
expect 'funcgraph_entry: +[+!]? *[0-9.]+ us +\|      [a-z_]+\(\);'
expect 'funcgraph_exit: +[+!#*]? *[0-9.]+ us +\|  \}'
