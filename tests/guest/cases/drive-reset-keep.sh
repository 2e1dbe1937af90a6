# A reset keeps what it is told to, and what another instance uses.
# command: reset
# needs: kprobes uprobes
event 'p:kprobes/open do_sys_openat2'
event 'p:kprobes/busy vfs_read'
event 'p:uprobes/one /bin/busybox:0x1000'
mkdir $T/instances/other
echo 1 >$T/instances/other/events/kprobes/busy/enable
refused 2 spur reset -k uprobe
expect '^spur: kprobes/busy stays: it is in use' err
grep -q open $T/dynamic_events && fail "the kprobe is still there"
grep -q one $T/dynamic_events || fail "the uprobe is gone"
setting instances/other/events/kprobes/busy/enable 1
run spur reset -B other
grep -q busy $T/dynamic_events || fail "an instance's reset has removed an event"
run spur reset -t -a -d
[ -z "$(cat $T/dynamic_events)" ] || fail "events are left: $(cat $T/dynamic_events)"
