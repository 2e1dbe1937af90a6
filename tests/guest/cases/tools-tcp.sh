# Tools that watch TCP.
# command: tool
# kernels: 6.1 6.12
# A server and its client, in one process.
run spur tool tcpconnect -c 'load connect 77'
expect ' load +127.0.0.1 +127.0.0.1 +77$'
run spur tool tcpaccept -c 'load connect 77'
expect ' load +127.0.0.1 +[0-9]+ +127.0.0.1 +77$'
run spur tool tcplife -c 'load connect 77'
expect ' load +127.0.0.1 +[0-9]+ +127.0.0.1 +77 +0 +0 +[0-9]+\.[0-9]{3}$'
# Nobody listens.
run spur tool tcpdrop -c 'sh -c "nc 127.0.0.1 78 || :"'
expect '127.0.0.1 +[0-9]+ +127.0.0.1 +78 +SKB_DROP_REASON_NO_SOCKET'
expect '@reasons\[SKB_DROP_REASON_NO_SOCKET\]: [1-9]'
# An address that is somewhere behind the loopback device, where nobody answers.
ip route add 10.9.9.0/24 dev lo
run spur tool tcpretrans -c 'sh -c "timeout 3 nc 10.9.9.9 79 || :"'
ip route del 10.9.9.0/24
expect ' 10.9.9.9 +79 +SYN_SENT'
