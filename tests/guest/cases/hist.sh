# A histogram of the user's own counts on while a recording begins and ends.
# command: record
# needs: hist
trigger=$T/events/syscalls/sys_enter_getppid/trigger
echo 'hist:keys=common_pid' >$trigger
unchanged spur record -o trace.dat -e syscalls:sys_enter_getppid load getppid 10
expect 'hitcount: +10' $T/events/syscalls/sys_enter_getppid/hist
echo '!hist:keys=common_pid' >$trigger
same_report
has_events 10 sys_enter_getppid
