# A script finds the kernel's events where tracefs is not mounted yet: it mounts tracefs.
# command: script
umount $T
run spur script -e 'tracepoint:sched:sched_switch { printf("switched\n"); exit(); }'
expect '^switched$'
grep -q tracefs /proc/mounts || mount -t tracefs tracefs $T
