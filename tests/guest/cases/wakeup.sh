# The longest wakeup latencies of a control loop.
# command: record
# needs: wakeup_rt
# peer:
for tracer in wakeup wakeup_rt; do
	record -p $tracer -d load periodic 50
	same_report
done
