# check mounts tracefs for itself and leaves it unmounted.
# command: check
umount $T
run spur check tracefs events
! grep -q tracefs /proc/mounts || fail "tracefs is mounted: $(grep tracefs /proc/mounts)"
mount -t tracefs tracefs $T
