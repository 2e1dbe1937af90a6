# What a latency tracer has found, kept as it stands in the kernel.
# command: start stop extract reset
# needs: wakeup_rt
# kernels: rt
trace start -p wakeup_rt
load periodic 50
trace stop
cat $T/trace >text
trace extract -p wakeup_rt -O nolatency-format -o trace.dat
trace reset
run spur report trace.dat
expect '^# tracer: wakeup_rt|^# wakeup_rt latency trace'
expect_not 'latency trace v'
