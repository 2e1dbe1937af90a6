# Connections: addresses, ports and times of their life.
# command: script
# needs: btf scripts
# kernels: 6.1 6.12
bpftrace_script tcpconnect 'load connect 5001' '^TIME +PID +COMM +SADDR +SPORT +DADDR +DPORT *$' \
	'^[0-9:]{8} [0-9]+ +load +127\.0\.0\.1 +[0-9]{4,5} +127\.0\.0\.1 +5001 *$'
bpftrace_script tcpaccept 'load connect 5002' '^TIME +PID +COMM +RADDR +RPORT +LADDR +LPORT +BL *$' \
	'^[0-9:]{8} [0-9]+ +load +127\.0\.0\.1 +[0-9]{4,5} 127\.0\.0\.1 +5002 +0/8 *$'
bpftrace_script tcplife 'load connect 5003' '^PID +COMM +LADDR +LPORT +RADDR +RPORT +TX_KB +RX_KB +MS$' \
	'^[0-9]+ +load +127\.0\.0\.1 +5003 +127\.0\.0\.1 +[0-9]{4,5} +0 +0 [0-9]+$' \
	'^[0-9]+ +load +127\.0\.0\.1 +[0-9]{4,5} 127\.0\.0\.1 +5003 +0 +0 [0-9]+$'
bpftrace_script tcpsynbl 'load connect 5004' '^@backlog\[backlog limit\]: histogram of backlog size$' \
	'^@backlog\[8\]: ?$' '^\[0\] +1 \|@{52}\|$'
bpftrace_script undump 'load unix 3' '^TIME +COMM +PID +SIZE +DATA$' \
	'^[0-9:]{8} load +[0-9]+ +5 +hello$'
