# A snapshot of what is in the buffer, looked at and kept.
# command: start stop snapshot extract reset
# needs: snapshot
# peer:
trace start -e sched
load switch 10
trace snapshot -s
trace stop
same_output snapshot
expect 'sched_switch: prev_comm=load'
trace extract -s -o trace.dat
same_report
walks
trace snapshot -f
trace reset
