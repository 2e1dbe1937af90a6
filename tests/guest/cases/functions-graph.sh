# What does this kernel path cost? The tree of calls below a system call, and the tables made of it.
# command: functions
# kernels: 6.1 6.12
# needs: function_graph
# Of the zero device every read ends in a function of its own, however often others read meanwhile.
record -p function_graph -g vfs_read --max-graph-depth 3 -F dd if=/dev/zero of=/dev/null bs=1 count=50

run spur report --graph
expect '^dd-[0-9]+$'
expect '\|  vfs_read\(\) \{$'
expect '\|  \} /\* vfs_read \*/$'
expect_lines 50 '[0-9]\.[0-9]{3} us \|    read_zero\(\)( \{|;)$'
# Durations stand at both ends of a call, and no call is longer than the one around it.
awk '
/ us \|  vfs_read\(\) \{$/ { outer = us($0) }
/ us \|  \} \/\* vfs_read \*\/$/ { if (us($0) != outer) bad++; seen++ }
/ us \|    read_zero\(\)/ { if (us($0) > outer) bad++ }
function us(line) { match(line, /[0-9]+\.[0-9]+ us/); return substr(line, RSTART, RLENGTH - 3) + 0 }
END { exit bad || seen < 50 }' out || fail "durations do not fit: $(head -n 5 out)"
calls=$(grep -cE '\|  vfs_read\(\)' out)

run spur report --graph --graph-function read_zero --graph-depth 1
expect_lines 50 '\|  read_zero\(\);$'
expect_not 'vfs_read'
run spur report --graph --graph-depth 1 --graph-min 1s
expect '/\* [0-9]+ calls, '

run spur functions
expect '^Function +Count +Time +Average +Min +Max +Local +Max-sub +Sub-count$'
expect "^vfs_read +$calls +[0-9.]+ .* [a-z_]+ +[0-9]+$"
expect '^read_zero +50 +[0-9.]+'
run spur functions --csv -f fctal --function vfs_read
awk -F, -v calls="$calls" 'NR == 2 && $2 == calls && $3 > $5 && int($3 / $2) == $4 { ok = 1 } END { exit !ok }' out ||
	fail "not what fits together: $(cat out)"

run spur calls
expect '^Flat profile:'
expect '^ *[0-9.]+ +[0-9.]+ +[0-9.]+ +50 +[0-9.]+ +[0-9.]+  read_zero$'
expect '^\[[0-9]+\] +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9]+ +vfs_read \[[0-9]+\]$'
expect ' 50/50 +read_zero \[[0-9]+\]$'
run spur calls --tree --min 0
expect '%?  vfs_read$'
expect '  \| read_zero$'
run spur calls --dot
expect '^digraph '

run spur flame --folded -o -
expect '(^|;)vfs_read;read_zero [0-9]+$'
