# Functions cost the same when a pair of probes tells it: what was called how often, for how long, with what result.
# command: functions
# kernels: 6.1 6.12
# needs: kprobes
record --kprobe vfs_read --kretprobe 'vfs_read ret=$retval:s64' -F dd if=/dev/zero of=/dev/null bs=7 count=50
run spur report
cp out lines
run spur functions
# A probe is missed now and then only when many run at once.
expect '^vfs_read +5[0-9] +[0-9.]+ '
run spur report --graph
n=$(grep -cE '\|  vfs_read\(\); /\* ret=0x7 \*/$' out) || :
[ "$n" = 50 ] || fail "$n calls of vfs_read returned 7, not 50: $(head -n 4 out)"
