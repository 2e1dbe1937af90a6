# The top buffer is stopped, emptied and started again.
# command: stop restart clear show
echo before >$T/trace_marker
run spur stop
setting tracing_on 0
echo unseen >$T/trace_marker || :
run spur show
expect 'before'
expect_not 'unseen'
run spur restart
setting tracing_on 1
run spur clear
echo after >$T/trace_marker
run spur show -f
expect "^$T/trace$"
expect 'after'
expect_not 'before'
spur clear
run spur show --tracing_on --current_tracer
expect '^nop$'
