# Several programs at one function run in the order of the script.
# command: script
# needs: btf kprobes
# kernels: 6.1 6.12
for probe in kprobe:vfs_read kretprobe:vfs_read 'kprobe:vfs_rea*' 'kretprobe:vfs_rea*' fentry:vfs_read fexit:vfs_read; do
	run spur script -e "$probe /comm == \"load\"/ { printf(\"1\"); }
		$probe /comm == \"load\"/ { printf(\"2\"); }
		$probe /comm == \"load\"/ { printf(\"3\\n\"); exit(); }" -c 'load read 5'
	expect '^123$'
done
