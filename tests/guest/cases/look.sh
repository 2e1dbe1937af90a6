# All that a picture shows, of a load that sleeps, wakes, reads and is interrupted. The host looks at it: tests/guest/look.py.
# command: record
graph=
if has function_graph; then
	graph='-p function_graph -g ksys_read --max-graph-depth 4'
fi
run spur record -o kept.dat $graph -e sched -e irq -e raw_syscalls -e timer load read 200
run spur report -i kept.dat --head 1
