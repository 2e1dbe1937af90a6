# SPDX-License-Identifier: GPL-2.0-or-later
#
# What cases are written in. A case is read by a shell that stops at the first command that fails, in
# an empty directory; what it prints ends up in its log.

. /lab/state.sh

# Whether the kernel has something that a case needs; 2 for what nobody has heard of.
has() {
	case $1 in
	kprobes) [ -e $T/kprobe_events ] ;;
	uprobes) [ -e $T/uprobe_events ] ;;
	eprobes) grep -q 'e\[:' $T/README ;;
	fprobes) grep -q 'f\[:' $T/README ;;
	synthetic) [ -e $T/synthetic_events ] ;;
	hist) grep -q 'hist:keys' $T/README ;;
	snapshot) [ -e $T/snapshot ] ;;
	stack_tracer) [ -e $T/stack_trace ] ;;
	subbuf) [ -e $T/buffer_subbuf_size_kb ] ;;
	options/*) [ -e "$T/$1" ] ;;
	program/*) command -v "${1#*/}" >/dev/null ;;
	scripts) [ -e /lab/bt ] ;;
	btf) [ -e /sys/kernel/btf/vmlinux ] ;;
	module/*) modprobe "${1#*/}" ;;
	function | function_graph | wakeup | wakeup_rt | wakeup_dl | hwlat | osnoise | timerlat | blk)
		grep -qw "$1" $T/available_tracers
		;;
	*) return 2 ;;
	esac
}

fail() {
	echo "$*" >why
	exit 1
}

# Runs a command that has to end with a status: refused 2 spur record … ; run is refused 0. Its output
# is in the files out and err.
refused() {
	want=$1
	shift
	status=0
	"$@" >out 2>err || status=$?
	head -n 40 out err
	[ $status = "$want" ] || fail "$1 $2 ended with $status, not $want: $(tail -n 2 err)"
}

run() {
	refused 0 "$@"
}

# A file whose recorder was killed says so, once the guardian has finished it.
says_killed() {
	tries=0
	until spur report -i "$1" >out 2>err; [ $? = 3 ] && grep -q 'the recorder was killed' err; do
		tries=$((tries + 1))
		[ $tries -lt 40 ] || fail "$1 does not say that its recorder was killed: $(tail -n 2 err)"
		usleep 250000
	done
}

# A command of spur, or of trace-cmd when it is the peer's turn: trace start -e sched
trace() {
	run "$RECORDER" "$@"
}

# Records into trace.dat.
record() {
	trace record -o trace.dat "$@"
}

# Runs one of bpftrace's own scripts while a command runs: bpftrace_script NAME COMMAND PATTERN…, with a
# pattern for each kind of line that has to be there. What it shows is in the file NAME. These scripts are
# of a version that leaves out probes that are not there.
bpftrace_script() {
	name=$1 command=$2
	shift 2
	BPFTRACE_MISSING_PROBES=warn run spur script "/lab/bt/$name.bt" -c "$command"
	mv out "$name"
	for pattern; do
		grep -qE -e "$pattern" "$name" || fail "$name: no '$pattern' in: $(head -n 6 "$name")"
	done
}

# Makes a dynamic event by hand; the case has to remove it.
event() {
	echo "$1" >>$T/dynamic_events
}

no_events() {
	echo >$T/dynamic_events
}

# Runs a command that must not change a setting, whatever they are: unchanged spur record …
unchanged() {
	state >state.1
	run "$@"
	state >state.2
	diff state.1 state.2 >changed || fail "$1 $2 changed $(grep '^[-+][^-+]' changed | head -n 3)"
}

# Waits until the settings are what they were when state.1 was written; who was killed cannot wait.
restored() {
	for _ in $(seq 300); do
		state >state.2
		cmp -s state.1 state.2 && return
		usleep 100000
	done
	diff state.1 state.2 >changed || fail "not put back: $(grep '^[-+][^-+]' changed | head -n 3)"
}

# The file system of a small disk, at ./disk: disk 512k
disk() {
	mkdir disk
	mount -t tmpfs -o "size=$1" disk disk
}

# What trace-cmd's report and spur's may differ in. libtraceevent has some letters of task states wrong.
# And as long as only idle tasks have been shown, it takes names of tasks from sched_switch instead of
# the file's own list.
comparable() {
	if grep -m 1 -E '\[[0-9]{3}\]' "$1" | grep -q '<idle>-0'; then
		sed -E -e 's/\] [A-Za-z+|]+ ==> /] ? ==> /' -e 's/^( *)[^ ].*-([0-9]+ +\[)/\2/' "$1"
	else
		sed -E 's/\] [A-Za-z+|]+ ==> /] ? ==> /' "$1"
	fi
}

# spur and trace-cmd print the same: same_report [FILE [OPTIONS]]. The text is in the file out.
same_report() {
	same_report_status 0 "$@"
}

# …of a file that says that it is not whole: same_cut_report [FILE [OPTIONS]]
same_cut_report() {
	same_report_status 3 "$@"
}

same_report_status() {
	report_status=$1
	shift
	file=${1:-trace.dat}
	[ $# = 0 ] || shift
	trace-cmd report "$@" -i "$file" >peer 2>peer.err || fail "trace-cmd report: $(tail -n 1 peer.err)"
	refused "$report_status" spur report --compat=3.1 "$@" -i "$file"
	grep -qE '\[[0-9]{3}\]' out || fail "$file: nothing in it"
	cmp -s out peer || {
		comparable out >out.1
		comparable peer >peer.1
		diff peer.1 out.1 >report.diff || fail "reports differ: $(grep '^[-+][^-+]' report.diff | head -n 2)"
	}
}

# spur and trace-cmd print the same for the same arguments: same_output list -t
same_output() {
	trace "$@"
	[ "$RECORDER" = spur ] || return 0
	trace-cmd "$@" >peer 2>peer.err || fail "trace-cmd $*: $(tail -n 1 peer.err)"
	diff peer out >output.diff || fail "spur $* differs: $(grep '^[-+][^-+]' output.diff | head -n 2)"
}

# KernelShark's library finds the same records as spur: walks [FILE]. What it counts is in the file walk.
walks() {
	file=${1:-trace.dat}
	walk "$file" >walk 2>err || fail "walk: $(tail -n 1 err)"
	spur info --json -i "$file" >info || [ $? = 3 ]
	tr '{' '\n' <info | sed -n \
		-e 's/^"system":"\(.*\)","event":"\(.*\)","count":\([0-9]*\).*/type \1 \2 \3/p' \
		-e 's/^"cpu":\([0-9]*\),"buffer":"\(.*\)","events":\([0-9]*\).*/cpu \2 \1 \3/p' |
		sed 's/^cpu  /cpu - /' | sort >info.1
	sort walk | diff - info.1 >walk.diff || fail "libtracecmd counts differently: $(tail -n 2 walk.diff)"
}

# How many records of an event libtracecmd finds: count_events FILE EVENT
count_events() {
	walk "$1" | awk -v event="$2" '$1 == "type" && $3 == event { n = $4 } END { print n + 0 }'
}

# There are exactly so many records of an event in trace.dat: has_events 100 sys_enter_getppid
has_events() {
	n=$(count_events trace.dat "$2")
	[ "$n" = "$1" ] || fail "$n records of $2, not $1"
}

# There is a line that matches in out or err (or FILE): expect PATTERN [FILE]
expect() {
	grep -qE -e "$1" ${2:-out err} || fail "did not find '$1' in ${2:-out: $(head -n 2 out)}"
}

expect_not() {
	! grep -qE -e "$1" ${2:-out err} || fail "found '$1': $(grep -hE -m 1 -e "$1" ${2:-out err})"
}

# …so many lines: expect_lines 5 PATTERN [FILE]
expect_lines() {
	n=$(grep -cE -e "$2" "${3:-out}") || :
	[ "$n" = "$1" ] || fail "$n lines match '$2', not $1"
}

# A file of tracefs says this: setting tracing_on 1
setting() {
	now=$(cat "$T/$1")
	[ "$now" = "$2" ] || fail "$1 is '$now', not '$2'"
}
