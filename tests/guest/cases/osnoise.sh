# What takes CPU time away from programs.
# command: record
# needs: osnoise
record -p osnoise -e osnoise sleep 1.5
same_report
walks
expect '(irq|thread|softirq)_noise:'
