# A latency in SQL.
# command: sqlhist
# needs: synthetic hist
# kernels: 6.12
run spur sqlhist -n latency 'select start.pid, (end.TIMESTAMP_USECS - start.TIMESTAMP_USECS) as us
	from sched_waking as start join sched_switch as end on start.pid = end.next_pid'
expect 'latency'
expect 'hist:keys=next_pid.*onmatch\(sched\.sched_waking\)'
