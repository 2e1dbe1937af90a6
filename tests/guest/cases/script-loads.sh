# Every script of tests/script's tables, spur's tools and bpftrace's own scripts pass the verifier.
# command: script
# needs: btf scripts
# kernels: 6.1
# timeout: 400
set +x
n=0 loaded=0
: >refused
for file in /lab/script/*.bt /lab/tools/*.bt /lab/bt/*.bt; do
	n=$((n + 1))
	if spur script --dry-run --unsafe "$file" -c true 1 2 3 >out 2>err; then
		loaded=$((loaded + 1))
	elif grep -q 'the kernel does not take\|the kernel refuses' err; then
		cat "$file" err >>refused
	else
		echo "$file: $(grep -m 1 ERROR err)"
	fi
done
cat refused
[ ! -s refused ] || fail "$(grep -m 1 'the kernel ' refused)"
# The others are about programs and libraries that the guest does not have.
[ $loaded -gt $((n * 9 / 10)) ] || fail "only $loaded of $n scripts could be compiled"
