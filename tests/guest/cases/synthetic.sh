# A synthetic event: the latency between two others. The triggers that make it are the user's, and stay.
# command: record
# needs: synthetic hist
event 's:latency u64 us; pid_t pid; char comm[16]'
waking='hist:keys=pid:t0=common_timestamp.usecs if comm == "load"'
switch='hist:keys=next_pid:us=common_timestamp.usecs-$t0'
switch="$switch:onmatch(sched.sched_waking).trace(latency,\$us,next_pid,next_comm)"
echo "$waking" >$T/events/sched/sched_waking/trigger
echo "$switch" >$T/events/sched/sched_switch/trigger
unchanged spur record -o trace.dat -e synthetic:latency load switch 20
echo "!$switch" >$T/events/sched/sched_switch/trigger
echo "!$waking" >$T/events/sched/sched_waking/trigger
no_events
echo local >$T/trace_clock # triggers with times make it global
same_report
walks
expect 'latency: .*comm=load'
