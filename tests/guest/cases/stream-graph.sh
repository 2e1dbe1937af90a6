# The functions below a system call, as they happen.
# command: stream
# needs: function_graph
# kernels: 6.12
unchanged spur stream -p function_graph -g ksys_read --max-graph-depth 3 load read 20
# The kernel learns a task's name when it is switched away from, which may be later.
expect '(load|<\.\.\.>)-[0-9]+ .* funcgraph_entry: +\|  ksys_read\(\) \{'
expect 'funcgraph_entry: +[+!]? *[0-9.]+ us +\|      [a-z_]+\(\);'
expect 'funcgraph_exit: +[+!#*]? *[0-9.]+ us +\|  \}'
n=$(grep -c 'ksys_read() {' out)
[ "$n" -ge 20 ] || fail "$n calls, not 20"
