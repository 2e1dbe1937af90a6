# Packets lost on the way from one network namespace to another: address, port, state, reason, stack.
# command: script
# needs: btf scripts program/tc module/veth module/sch_tbf module/dummy
# kernels: 6.1 6.12
unshare -n sleep 60 &
peer=$!
ip link add left type veth
# As long as the other has not left it, moving it there is not moving it.
while [ "$(readlink /proc/$peer/ns/net)" = "$(readlink /proc/self/ns/net)" ]; do
	usleep 20000
done
ip link set veth0 netns $peer
ip addr add 10.1.0.1/24 dev left
ip link set left up
nsenter -t $peer -n ip addr add 10.1.0.2/24 dev veth0
nsenter -t $peer -n ip link set veth0 up
ping -c 1 10.1.0.2
# Ten segments come at once: there is room for four.
nsenter -t $peer -n /bin/tc qdisc add dev veth0 root tbf rate 100kbit burst 1600 limit 300
export SERVER=10.1.0.1

load serve 5 &
server=$!
bpftrace_script tcpdrop "nsenter -t $peer -n load segments 3000" \
	'^TIME +PID +COMM +SADDR:SPORT +DADDR:DPORT +STATE *$' \
	'^[0-9:]{8} [0-9]+ +[a-z].* +10\.1\.0\.2:[0-9]+ +10\.1\.0\.1:7777 +ESTABLISHED *$' \
	'^ +kfree_skb[a-z_]*\+[0-9]+$' '^ +tcp_[a-z_]+\+[0-9]+$'
kill $server
load serve 5 &
server=$!
run spur script -e 'tracepoint:skb:kfree_skb /args.reason > 2/ { @[args.reason] = count(); }' \
	-c "nsenter -t $peer -n load segments 3000"
expect '^@\[SKB_DROP_REASON_[A-Z_]+\]: [0-9]+$'
kill $server $peer
ip link del left || :

# Nobody answers there: the first segment is sent again after a second.
ip link add nowhere type dummy
ip addr add 10.2.0.1/24 dev nowhere
ip link set nowhere up
bpftrace_script tcpretrans 'nc -w 2 10.2.0.2 80' '^TIME +PID +LADDR:LPORT +RADDR:RPORT +STATE$' \
	'^[0-9:]{8} [0-9]+ +10\.2\.0\.1:[0-9]+ +10\.2\.0\.2:80 +SYN_SENT$'
ip link del nowhere
