# Who ran, by switches and by the kernel's own accounting. The host computes it again: tests/guest/evidence.py.
# command: record
cat >busy.sh <<'END'
for k in 1 2 3; do
	(i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done) &
done
(i=0; while [ $i -lt 40 ]; do i=$((i + 1)); usleep 500; done) &
wait
END
# The accounting has this clock. What spur itself does counts, too: it may account for a task on another CPU.
run spur record -C perf --no-filter -o kept.dat -b 16384 -e sched -e task -e irq sh busy.sh
run spur record -o some.dat -F -c -e sched sh busy.sh
run spur report -i kept.dat --head 1
spur info some.dat | grep -q '^followed' || fail 'the file does not say whose events it has'
