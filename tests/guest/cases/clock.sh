# Another clock, and the old one afterwards.
# command: record
# kernels: rt
# peer:
for clock in mono counter; do
	record -C $clock -e sched load switch 10
	same_report
	walks
	run spur info -i trace.dat
	expect "^clock +$clock"
done
