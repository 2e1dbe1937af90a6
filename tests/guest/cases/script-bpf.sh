# Functions of BPF programs: by name and number, arguments, what they return, and lists of them.
# command: script
# needs: btf
# kernels: 6.1 6.12
target 2 >ready &
target=$!
tries=0
until grep -qs ready ready; do
	tries=$((tries + 1))
	[ $tries -lt 100 ] || fail 'the program is not loaded'
	usleep 100000
done
# Both programs, and what their functions are given and return.
run spur script -l 'fentry:bpf:spur_*'
expect_lines 4 '^fentry:bpf:[0-9]+:spur_(target|helper)$'
id=$(sed -n 's/^fentry:bpf:\([0-9]*\):spur_target$/\1/p' out | head -n 1)
run spur script -e 'fentry:bpf:spur_helper /comm == "load"/ { @[args.n, arg0, func] = count(); @probes[probe] = count(); }' -c 'load read 5'
expect '^@\[7, 7, spur_helper\]: [1-9]'
expect_lines 2 '^@probes\[fentry:bpf:[0-9]+:spur_helper\]: [1-9]'
run spur script -e 'fexit:bpf:spur_helper /comm == "load"/ { @[args.n, retval] = count(); }
	fexit:bpf:*:spur_target /comm == "load"/ { @main[retval, args.ctx != 0] = count(); }' -c 'load read 5'
expect '^@\[7, 8\]: [1-9]'
expect '^@main\[0, (1|true)\]: [1-9]'
run spur script -e "fentry:bpf:$id:spur_* /comm == \"load\"/ { @[probe] = count(); }" -c 'load read 5'
expect "^@\[fentry:bpf:$id:spur_target\]: [1-9]"
expect "^@\[fentry:bpf:$id:spur_helper\]: [1-9]"
expect_lines 2 '^@\['
refused 1 spur script -e 'fentry:bpf:spur_nosuch { @ = count(); }'
expect "no BPF program has a function 'spur_nosuch'" err
refused 1 spur script -e "fentry:bpf:$id:nosuch { @ = count(); }"
expect "BPF program $id has no function 'nosuch'" err
refused 1 spur script -e 'fentry:bpf:x:spur_target { @ = count(); }'
expect "'x' is not the number of a BPF program" err
kill $target
