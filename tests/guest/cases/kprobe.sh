# A probe that was made before: its name, its arguments.
# command: record
# needs: kprobes
# kernels: rt
# peer: rt
event 'p:mine/opening do_sys_openat2 dfd=%di:s32 path=+0(%si):ustring'
record -e mine:opening -F load open 10
no_events
same_report
walks
expect_lines 5 'opening: .*path="/no/such/file"'
