# What this kernel offers.
# command: check
run spur check
expect 'function'
expect 'kprobe'
