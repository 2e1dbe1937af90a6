# Both versions of the format, and no compression.
# command: record
# kernels: 6.1
# peer:
for format in '--file-version 6' '--file-version 7' '--compression none'; do
	record $format -e sched -e irq load switch 10
	same_report
done
walks
