# A kprobe's and a kretprobe's bodies of the same functions: one link where the kernel has sessions, two
# where it does not, or is not to use them; and what they count is the same.
# command: script
# needs: btf kprobes
# kernels: 6.1 6.12
# timeout: 300
links() {
	rm -f out err
	spur script "$@" -e 'kprobe:vfs_re* /comm == "load"/ { @in = count(); }
		kretprobe:vfs_re* /comm == "load" && retval == 1/ { @out[retval] = count(); }' >out 2>err &
	pid=$!
	tries=0
	until grep -qs "^Attached" err; do
		tries=$((tries + 1))
		[ $tries -lt 100 ] || fail "nothing is attached: $(tail -n 2 err)"
		usleep 100000
	done
	found=$(ls -l /proc/$pid/fd | grep -c bpf_link || :)
	load read 7
	kill -INT $pid
	wait $pid || fail "it ended with $?: $(tail -n 2 err)"
	cat out err
	expect '^@in: [0-9]+$'
	expect '^@out\[1\]: 7$'
}

can() {
	spur script --info | grep -q "$1: yes"
}

# Links of many probes, with and without sessions.
with=0 without=0
! can kprobe_multi || with=2 without=2
! can kprobe_session || with=1
links
[ "$found" = $with ] || fail "$found links, not $with"
links --no-feature kprobe_session
[ "$found" = $without ] || fail "$found links without sessions, not $without"
links --no-feature kprobe_multi
[ "$found" = 0 ] || fail "$found links of many probes"

# Loops and strings in both; bodies that do not belong together stay apart.
run spur script -e 'kprobe:vfs_re* /comm == "load"/ { $n = 0; for ($i : 0..3) { $n += $i; } @sum[$n, comm] = count(); @t[tid] = nsecs; }
	kretprobe:vfs_re* /comm == "load" && @t[tid]/ { for ($i : 0..2) { @ret[retval] = count(); } @took = hist(nsecs - @t[tid]); delete(@t, tid); }
	kretprobe:vfs_wr* /comm == "load"/ { @w = count(); }
	kprobe:vfs_re* /comm == "load"/ { @again = count(); }' -c 'load read 7'
expect '^@sum\[3, load\]: [0-9]+$'
expect '^@ret\[1\]: 14$'
expect '^@again: [0-9]+$'
expect '^@took:'

# What a name tells needs programs of their own.
run spur script -e 'kprobe:vfs_re* /comm == "load"/ { @[probe] = count(); } kretprobe:vfs_re* /comm == "load"/ { @[probe] = count(); }' \
	-c 'load read 7'
expect '^@\[kprobe:vfs_read\]: [0-9]+$'
expect '^@\[kretprobe:vfs_read\]: [0-9]+$'
