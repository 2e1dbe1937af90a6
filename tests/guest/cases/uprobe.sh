# A function of a program, by its place in the file.
# command: record
# needs: uprobes
# kernels: 6.12
# peer:
where=$(load where)
event "p:mine/work /bin/load:$where number=%di:s32 name=+0(%si):string"
event "r:mine/worked /bin/load:$where ret=\$retval:s32"
record -e mine load work 5
no_events
same_report
walks
expect_lines 5 'work: .*name="spur"'
expect_lines 4 'worked: .* ret=(3|6|9|12)$'
expect_lines 1 'worked: .* ret=-5$'
