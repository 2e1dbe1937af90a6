# Packets that a script writes to a file: its head, and what a ping looks like in it.
# command: script
# needs: btf program/ping
# kernels: 6.1 6.12
words() {
	od -An -v -t"$2" -j"$3" -N"$4" "$1" | tr -s ' \n' ' '
}

run spur script -e 'fentry:ip_rcv { @[skboutput("in.pcap", args.skb, args.skb.len, 0)] = count(); }' \
	-c 'ping -c 2 127.0.0.1'
expect '^@\[0\]: 4$'
[ "$(words in.pcap x4 0 24)" = ' a1b23c4d 00040002 00000000 00000000 0000ffff 00000065 ' ] ||
	fail "the file begins with $(words in.pcap x4 0 24)"
# A request and a reply of 84 bytes, twice, each behind a head of 16.
[ "$(stat -c %s in.pcap)" = $((24 + 4 * (16 + 84))) ] || fail "$(stat -c %s in.pcap) bytes"
[ "$(words in.pcap u4 32 8)" = ' 84 84 ' ] || fail "lengths: $(words in.pcap u4 32 8)"
[ "$(words in.pcap x1 40 4)" = ' 45 00 00 54 ' ] || fail "IP: $(words in.pcap x1 40 4)"
# The protocol, then addresses and the type of the message.
[ "$(words in.pcap x1 49 1)" = ' 01 ' ] && [ "$(words in.pcap x1 52 9)" = ' 7f 00 00 01 7f 00 00 01 08 ' ] ||
	fail "not a ping: $(words in.pcap x1 40 30)"
then=$(words in.pcap u4 24 4) now=$(date +%s)
[ $((now - then)) -ge 0 ] && [ $((now - then)) -lt 60 ] || fail "at $then, but it is $now"

# Without the first bytes; several probes and one file; more than there is; none at all.
run spur script -e 'fentry:ip_rcv { $r = skboutput("some.pcap", args.skb, 28, 20); }
	fexit:ip_rcv { @ = count(); }
	fentry:icmp_rcv { $r = skboutput("some.pcap", args.skb, 8, 0); }' -c 'ping -c 1 127.0.0.1'
expect '^@: 2$'
[ "$(stat -c %s some.pcap)" = $((24 + 4 * (16 + 8))) ] || fail "$(stat -c %s some.pcap) bytes"
run spur script -e 'fentry:ip_rcv { @[skboutput("none.pcap", args.skb, args.skb.len + 1, 0)] = count(); }' \
	-c 'ping -c 1 127.0.0.1'
expect '^@\[-14\]: 2$'
[ "$(stat -c %s none.pcap)" = 24 ] || fail "$(stat -c %s none.pcap) bytes"
run spur script -e 'fentry:dev_hard_start_xmit { $r = skboutput("sent.pcap", args.first, 20, 0); exit(); }' \
	-c 'ping -c 2 127.0.0.1'
[ "$(stat -c %s sent.pcap)" -ge 24 ] || fail "$(stat -c %s sent.pcap) bytes"

# Raw tracepoints: what is sent still has the header of Ethernet in front.
run spur script -e 'rawtracepoint:net_dev_queue { @[skboutput("raw.pcap", args.skb, args.skb.len, 14)] = count(); }' \
	-c 'ping -c 2 127.0.0.1'
expect '^@\[0\]: 4$'
[ "$(stat -c %s raw.pcap)" = $((24 + 4 * (16 + 84))) ] || fail "$(stat -c %s raw.pcap) bytes"
[ "$(words raw.pcap x1 40 4)" = ' 45 00 00 54 ' ] || fail "IP: $(words raw.pcap x1 40 4)"
run spur script -e 'rawtracepoint:inet_sock_set_state { @[socket_cookie(args.sk) > 0] = count(); }' \
	-c 'nc -w 1 127.0.0.1 9'
expect '^@\[true\]: [0-9]+$'

refused 1 spur script -e 'kprobe:ip_rcv { $r = skboutput("x.pcap", (struct sk_buff *)arg0, 20, 0); }'
expect "skboutput\(\) can only be used with 'fentry', 'fexit' and 'rawtracepoint' probes" err
refused 1 spur script -e 'fentry:ip_rcv { $r = skboutput("x.pcap", args.dev, 20, 0); }'
expect 'needs a pointer to a struct sk_buff' err
refused 2 spur script -e 'fentry:ip_rcv { $r = skboutput("/nowhere/x.pcap", args.skb, 20, 0); }'
expect '/nowhere/x.pcap' err
