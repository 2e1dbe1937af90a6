# A script finds the kernel's events where tracefs is not mounted yet: it mounts tracefs.
# command: script
umount $T
run spur script -e 'tracepoint:sched:sched_switch { printf("switched\n"); exit(); }'
expect '^switched$'
grep -q "$T tracefs" /proc/mounts || fail "tracefs is not mounted"
umount $T
mount -t tracefs tracefs $T
