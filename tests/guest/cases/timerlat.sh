# The latencies of a timer, and the noise of the system.
# command: record
# needs: timerlat
# peer: rt
record -p timerlat -e osnoise sleep 0.5
same_report
walks
expect 'timerlat: .*context'
