# A snapshot is taken, shown, emptied and given back.
# command: snapshot show
# needs: snapshot
run spur snapshot
expect 'Snapshot is freed'
echo hello >$T/trace_marker
run spur snapshot -s
run spur snapshot
expect 'hello'
run spur show -s
expect 'hello'
run spur snapshot -r
run spur snapshot
expect_not 'hello'
run spur snapshot -f
run spur snapshot
expect 'Snapshot is freed'
mkdir $T/instances/mine
echo hello >$T/instances/mine/trace_marker
run spur snapshot -B mine -s
run spur snapshot -B mine
expect 'hello'
rmdir $T/instances/mine
