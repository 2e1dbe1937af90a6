# SPDX-License-Identifier: GPL-2.0-or-later
#
# The kernel's settings for tracing: shown, saved after boot, and put back.

T=/sys/kernel/tracing

# Files that hold settings, in the top directory and in instances.
settings="current_tracer tracing_on trace_clock set_event buffer_size_kb buffer_subbuf_size_kb
buffer_percent tracing_cpumask tracing_thresh set_event_pid set_event_notrace_pid set_ftrace_pid
set_ftrace_notrace_pid set_ftrace_filter set_ftrace_notrace set_graph_function set_graph_notrace
max_graph_depth saved_cmdlines_size stack_trace_filter osnoise/cpus osnoise/options
osnoise/period_us osnoise/runtime_us osnoise/stop_tracing_us osnoise/stop_tracing_total_us
osnoise/print_stack osnoise/timerlat_period_us hwlat_detector/width hwlat_detector/window
hwlat_detector/mode"

sysctls="/proc/sys/kernel/ftrace_enabled /proc/sys/kernel/stack_tracer_enabled
/proc/sys/kernel/traceoff_on_warning"

# All of it, one "file:line" each. A buffer that was never used says "7 (expanded: 1408)", and then 1408,
# rounded up to whole pages.
state() (
	set +ex
	for dir in $T $T/instances/*; do
		[ -d "$dir" ] || continue
		cd "$dir" || return
		echo "$dir"
		grep -Hs '' $settings options/* |
			sed -E 's/^(buffer_size_kb):(.* \(expanded: 1408\)|1410)$/\1:1408/'
		cd events || return
		grep -Hsv -e '^#' -e '^none$' ./*/*/trigger ./*/*/filter
	done
	cd $T || return
	grep -Hs '' dynamic_events enabled_functions $sysctls /proc/mounts
	# The folder of undo logs stays; logs do not.
	ls -d /tmp/* /run/* /run/spur/* /dev/shm/* 2>/dev/null | grep -vx /run/spur
	true
)

# What programs there are, but not those that have ended and that nobody has asked about yet.
programs() {
	local pid line
	for pid in $(pidof spur trace-cmd load walk); do
		line=$(tr '\0' ' ' <"/proc/$pid/cmdline") && [ -n "$line" ] && echo "$line($pid)"
	done 2>/dev/null
}

# What programs are still there. One that has just been left may need a moment.
strays() {
	for _ in $(seq 50); do
		[ -n "$(programs)" ] || return 0
		usleep 100000
	done
	programs
}

state_save() (
	cd $T || return
	grep -Hs '' $settings options/* $sysctls >/lab/boot
)

# Back to how it was after boot.
clean_up() (
	set +ex
	pids=$(pidof spur trace-cmd load walk) && kill -9 $pids
	cd $T || return
	for dir in instances/*; do
		[ ! -d "$dir" ] || rmdir "$dir"
	done
	echo 0 >tracing_on
	echo nop >current_tracer
	echo 0 >events/enable
	for file in $(grep -lsv '^#' ./events/*/*/trigger); do
		# The ones that use another's variables are further down, and have to go first.
		tac "$file" | sed -n 's/ \[active\]$//; s/^[^#]/!&/p' |
			while read -r line; do echo "$line" >"$file"; done
	done
	for file in $(grep -lsv '^none$' ./events/*/*/filter); do
		echo 0 >"$file"
	done
	echo >dynamic_events
	for file in $settings $sysctls; do
		[ ! -e "$file" ] || put_back "$file"
	done
	for file in options/*; do
		put_back "$file"
	done
	umount /lab/work/case/disk
	rm -rf /tmp/* /run/* /dev/shm/* 2>/dev/null
) 2>/dev/null

# Writes what a file said after boot, if it says something else now.
put_back() {
	local was
	was=$(sed -n "s|^$1:||p" /lab/boot)
	[ "$was" != "$(cat "$1")" ] || return 0
	case $was in
	*expanded*) was=${was#*: } was=${was%)} ;;
	*\[*) was=${was#*\[} was=${was%%\]*} ;;
	\#* | no\ pid) was= ;;
	esac
	echo "$was" >"$1"
}
