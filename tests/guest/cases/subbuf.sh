# Larger pages in the ring buffer.
# command: record
# needs: subbuf
record --subbuf-size 16 -e sched -e irq load switch 20
run spur dump --options -i trace.dat
expect '^16384 +\[Page size'
same_report
walks
