# What the kernel does for and to processes; its own variables; times in its queues.
# command: script
# needs: btf scripts
# kernels: 6.1 6.12
bpftrace_script capable 'chown 1 .' '^TIME +UID +PID +COMM +CAP +NAME +AUDIT$' \
	'^[0-9:]{8}  0 +[0-9]+ +chown +0 +CAP_CHOWN +[0-9]+$'
bpftrace_script loads 'sleep 1.5' '^[0-9:]{8} load averages: [0-9]+\.[0-9]{3} [0-9]+\.[0-9]{3} [0-9]+\.[0-9]{3}$'
bpftrace_script runqlen 'sleep 0.5' '^@runqlen: ?$' '^\[0, 1\) +[0-9]+ \|@+ *\|$'
bpftrace_script runqlat 'load switch 100' '^@usecs: ?$' '^\[[0-9]+K?, [0-9]+K?\) +[0-9]+ \|@+ *\|$'
sleep 60 &
echo 1000 >/proc/$!/oom_score_adj
bpftrace_script oomkill 'echo f >/proc/sysrq-trigger; sleep 0.5' \
	'^[0-9:]{8} Triggered by PID [0-9]+ \("kworker/.*"\), OOM kill of PID [0-9]+ \("sleep"\), [0-9]+ pages, loadavg: [0-9.]+ [0-9.]+ [0-9.]+ [0-9]+/[0-9]+ [0-9]+$'
wait $! || :
bpftrace_script killsnoop 'sleep 9 & kill $!' '^TIME +PID +COMM +SIG +TPID +RESULT$' \
	'^[0-9:]{8}  [0-9]+ +sh +15 +[0-9]+ +0$'
bpftrace_script syscount 'load getppid 500' '^Top 10 syscalls IDs:$' '^@syscall\[110\]: 500$' \
	'^Top 10 processes:$' '^@process\[load\]: 5[0-9]{2}$'
bpftrace_script pidpersec 'load fork 20; sleep 1.2' '^[0-9:]{8} PIDs/sec: @: [0-9]+$'
