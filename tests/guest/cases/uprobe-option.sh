# A function of a program by name, with arguments and what it returns, with one command.
# command: record
# needs: uprobes
record --uprobe '/bin/load:work number=%di:s32 name=+0(%si):string' \
	--uretprobe '/bin/load:work ret=$retval:s32' load work 5
same_report
walks
expect_lines 5 'name="spur"'
expect_lines 4 ' ret=(3|6|9|12)$'
expect_lines 1 ' ret=-5$'
