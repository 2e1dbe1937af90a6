# Loops of functions of the kernel that never end are cut off, and counted.
# command: script
# needs: kprobes
# kernels: 6.1 6.12
run spur script -e 'kprobe:vfs_read /comm == "load"/ { @n++; while (1) { } @m++; }' -c 'load read 5'
expect 'WARNING: this loop does not end by itself' err
expect '[0-9]+ hits of kprobe:vfs_read were cut off' err
expect '^@n: [1-9]'
! grep -q '^@m' out || fail 'it went on'
run spur script -e 'kprobe:vfs_read /comm == "load"/ {
	$i = 0; while ($i < 10) { $j = 0; while ($j < 10) { $j++; @n++; } $i++; } @[$i, $j] = count(); }' -c 'load read 5'
expect '^@\[10, 10\]: [1-9]'
! grep -q 'cut off' err || fail 'short loops were cut off'
