# A control loop beside a task that never sleeps. What it records is compared on the host: tests/guest/compare.py.
# command: record
# kernels: 6.1 rt
sh -c 'while :; do :; done' &
busy=$!
run spur record -o kept.dat -e sched -e irq load periodic 300
kill $busy
wait $busy || :
run spur report -i kept.dat --head 1
