# Where the program's code and libraries are in its memory.
# command: record
# peer: 6.1
record -F --proc-map -e sched load switch 10
same_report
walks
run spur dump --options -i trace.dat
expect '/bin/load'
expect 'libc'
