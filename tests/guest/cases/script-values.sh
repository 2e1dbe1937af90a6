# What the kernel computes: signed division, loops, strings, tuples, stacks, all of it by older verifiers too.
# command: script
# needs: btf kprobes
cat >values.bt <<'END'
fn twice($n : int64) : int64 { for ($i : 0..9) { if ($i == $n * 2) { return $i; } } return -1; }
kprobe:vfs_read /comm == "load" && arg2 == 1/
{
	$x = (int64)arg2 - 8;
	@div = $x / 2;
	@mod = $x % 4;
	for ($i : 0..5) { @for += $i; }
	$n = 0;
	while ($n < 7) { $n++; }
	@while = $n;
	$m = 0;
	$s = "short";
	for ($i : 0..10) {
		$m = $m * 2 + 1;
		if ($m > 20) { break; }
		if ($i == 2) { $s = "a longer string"; }
	}
	@broken = $m;
	@text = $s;
	unroll(3) { @unroll++; }
	@tuple[1, "a", comm] = (1, "x", 2);
	@same = strncmp(comm, "loaf", 3) == 0 ? "same" : "other";
	@has = strcontains(comm, "oa");
	@length = strlen(comm);
	@named = comm(pid) == comm && comm(1) != comm && comm(99999999) == "";
	@twice = twice(arg2);
	@name = str(args.file->f_path.dentry->d_name.name);
	@long[str(args.file->f_path.dentry->d_name.name, 200)] = count();
	@seen[kstack(2), comm] = count();
	@list[tid] = nsecs;
	if (@list[tid]) { @found++; delete(@list, tid); }
	@known[1] = 5;
	@known[2] = 7;
	for ($kv : @known) { @sum += $kv.1; }
}
END { clear(@seen); clear(@long); clear(@known); }
END
run spur script values.bt -c 'load read 1'
expect '^@div: -3$'
expect '^@named: true$'
expect '^@twice: 2$'
expect '^@mod: -3$'
expect '^@for: 10$'
expect '^@while: 7$'
expect '^@broken: 31$'
expect '^@text: a longer string$'
expect '^@unroll: 3$'
expect '^@tuple\[1, a, load\]: \(1, x, 2\)$'
expect '^@same: same$'
expect '^@has: (1|true)$'
expect '^@length: 4$'
expect '^@name: zero$'
expect '^@found: 1$'
expect '^@sum: 12$'

# Strings that are longer than what a CPU's own memory can hold.
run spur script -e 'config = { max_strlen = 100000 }
	tracepoint:syscalls:sys_enter_execve {
		$a = str(args.argv[2]);
		$b = str(args.argv[2], 50000);
		if (strlen($a) > 60000) { @[strlen($a), strlen($b), $a == $b] = 1; @named[$a] = 1; }
	}
	END { printf("%d named\n", len(@named)); clear(@named); }' \
	-c "/bin/busybox true $(head -c 70000 /dev/zero | tr '\0' 0)"
expect '^@\[70000, 50000, false\]: 1$'
expect '^1 named$'
