# A probe by expression, there for the recording only.
# command: record
# needs: kprobes
record --kprobe 'do_sys_openat2 dfd=%di path=+0(%si):ustring' -F load open 10
same_report
walks
expect_lines 5 'do_sys_openat2: .*path="/no/such/file"'
