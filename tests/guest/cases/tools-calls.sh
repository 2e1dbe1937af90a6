# Tools that watch system calls.
# command: tool
# kernels: 6.1 6.12
run spur tool execsnoop -c 'load open 1'
expect ' load open 1$'
run spur tool opensnoop --failed --comm=load -c 'load open 10'
expect_lines 5 'load +-1 +2 /no/such/file'
run spur tool opensnoop --summary -c 'load open 10'
expect '@opens\[load, /no/such/file\]: 5'
run spur tool statsnoop --failed -c 'test -e /no/such/thing'
expect 'test +2 /no/such/thing'
run spur tool killsnoop -c 'sh -c "kill -0 1; exit 0"'
expect 'sh +0 +1 +0$'
run spur tool syscount -c 'load open 10'
expect '@calls\[openat\]: [0-9]{2}'
run spur tool syscount --errors -c 'load open 10'
expect '@calls\[openat, No such file or directory\]: [0-9]'
run spur tool syscount --latency -c 'load open 10'
expect '@calls\[openat\]: \{ .count = [0-9]+, .average = [0-9]+, .total = [0-9]+ \}'
