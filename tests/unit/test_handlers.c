// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the builtin printers print, one row a record: the event, the record (see event_fixture.h)
 * and the text. The texts are those of libtraceevent 1.8.4 with its plugins.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "event_fixture.h"

#include "event/handler.h"

struct format {
	const char *system, *name;
	const char *fields;
	const char *print_fmt;
	bool big_endian;
	unsigned int long_size; /* 0 stands for 8 */
};

static const struct format sched_switch = {
	.system = "sched",
	.name = "sched_switch",
	.fields = "char prev_comm[16] @8:16s, pid_t prev_pid @24:4s, int prev_prio @28:4s, "
		  "long prev_state @32:8s, char next_comm[16] @40:16s, pid_t next_pid @56:4s, "
		  "int next_prio @60:4s",
	.print_fmt = "\"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> "
		     "next_comm=%s next_pid=%d next_prio=%d\", REC->prev_comm, REC->prev_pid, "
		     "REC->prev_prio, (REC->prev_state & (((0x40 + 1) << 1) - 1)) ? "
		     "__print_flags(REC->prev_state & (((0x40 + 1) << 1) - 1), \"|\", { "
		     "0x00000001, \"S\" }, { 0x00000002, \"D\" }, { 0x00000004, \"T\" }, { "
		     "0x00000008, \"t\" }, { 0x00000010, \"X\" }, { 0x00000020, \"Z\" }, { "
		     "0x00000040, \"P\" }, { 0x00000080, \"I\" }) : \"R\", REC->prev_state & "
		     "0x100 ? \"+\" : \"\", REC->next_comm, REC->next_pid, REC->next_prio",
};

static const struct format old_sched_switch = {
	.system = "sched",
	.name = "sched_switch",
	.fields = "char prev_comm[16] @8:16s, pid_t prev_pid @24:4s, int prev_prio @28:4s, "
		  "long prev_state @32:8s, char next_comm[16] @40:16s, pid_t next_pid @56:4s, "
		  "int next_prio @60:4s",
	.print_fmt = "\"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s ==> next_comm=%s "
		     "next_pid=%d next_prio=%d\", REC->prev_comm, REC->prev_pid, "
		     "REC->prev_prio, REC->prev_state ? __print_flags(REC->prev_state, \"|\", "
		     "{ 1, \"S\"} , { 2, \"D\" }, { 4, \"T\" }, { 8, \"t\" }, { 16, \"Z\" }, "
		     "{ 32, \"X\" }, { 64, \"x\" }, { 128, \"W\" }) : \"R\", REC->next_comm, "
		     "REC->next_pid, REC->next_prio",
};

static const struct format sched_wakeup = {
	.system = "sched",
	.name = "sched_wakeup",
	.fields = "char comm[16] @8:16s, pid_t pid @24:4s, int prio @28:4s, int target_cpu "
		  "@32:4s",
	.print_fmt = "\"comm=%s pid=%d prio=%d target_cpu=%03d\", REC->comm, REC->pid, "
		     "REC->prio, REC->target_cpu",
};

static const struct format sched_wakeup_new = {
	.system = "sched",
	.name = "sched_wakeup_new",
	.fields = "char comm[16] @8:16s, pid_t pid @24:4s, int prio @28:4s, int success "
		  "@32:4s, int target_cpu @36:4s",
	.print_fmt = "\"comm=%s pid=%d prio=%d target_cpu=%03d\", REC->comm, REC->pid, "
		     "REC->prio, REC->target_cpu",
};

static const struct format wakeup_without_cpu = {
	.system = "sched",
	.name = "sched_wakeup",
	.fields = "char comm[16] @8:16s, pid_t pid @24:4s, int prio @28:4s",
	.print_fmt = "\"comm=%s pid=%d prio=%d\", REC->comm, REC->pid, REC->prio",
};

static const struct format wakeup_without_pid = {
	.system = "sched",
	.name = "sched_wakeup",
	.fields = "int prio @8:4s",
	.print_fmt = "\"prio=%d\", REC->prio",
};

static const struct format func_repeats = {
	.system = "ftrace",
	.name = "func_repeats",
	.fields = "unsigned long ip @8:8, unsigned long parent_ip @16:8, uint16_t count "
		  "@24:2, uint16_t top_delta_ts @26:2, uint32_t bottom_delta_ts @28:4",
	.print_fmt = "\" %ps <-%ps\\t(repeats:%u  delta: -%u)\", (void *)REC->ip, (void "
		     "*)REC->parent_ip, REC->count, REC->bottom_delta_ts",
};

static const struct format kernel_stack = {
	.system = "ftrace",
	.name = "kernel_stack",
	.fields = "int size @8:4s, unsigned long caller[8] @16:0",
	.print_fmt = "\"\\t=> %ps\\n\\t=> %ps\\n\", (void *)REC->caller[0], (void "
		     "*)REC->caller[1]",
};

static const struct format kernel_stack_be32 = {
	.system = "ftrace",
	.name = "kernel_stack",
	.fields = "int size @8:4s, unsigned long caller[8] @12:0",
	.print_fmt = "\"\\t=> %ps\\n\\t=> %ps\\n\", (void *)REC->caller[0], (void "
		     "*)REC->caller[1]",
	.big_endian = true,
	.long_size = 4,
};

static const struct format raw_data = {
	.system = "ftrace",
	.name = "raw_data",
	.fields = "unsigned int id @8:4, char buf @12:0s",
	.print_fmt = "\"id:%04x %08x\", REC->id, (int)REC->buf[0]",
};

static const struct format raw_data_32 = {
	.system = "ftrace",
	.name = "raw_data",
	.fields = "unsigned int id @8:4, char buf @12:0s",
	.print_fmt = "\"id:%04x %08x\", REC->id, (int)REC->buf[0]",
	.long_size = 4,
};

static const struct format kfree = {
	.system = "kmem",
	.name = "kfree",
	.fields = "unsigned long call_site @8:8, const void * ptr @16:8",
	.print_fmt = "\"call_site=%lx\", REC->call_site",
};

static const struct format kmem_cache_free = {
	.system = "kmem",
	.name = "kmem_cache_free",
	.fields = "unsigned long call_site @8:8, const void * ptr @16:8",
	.print_fmt = "\"call_site=%lx\", REC->call_site",
};

static const struct format kvm_exit = {
	.system = "kvm",
	.name = "kvm_exit",
	.fields = "unsigned int exit_reason @8:4, unsigned long guest_rip @16:8, u32 isa "
		  "@24:4, u64 info1 @32:8, u64 info2 @40:8",
	.print_fmt = "\"reason %u rip 0x%lx\", REC->exit_reason, REC->guest_rip",
};

static const struct format old_kvm_exit = {
	.system = "kvm",
	.name = "kvm_exit",
	.fields = "unsigned int exit_reason @8:4, unsigned long guest_rip @16:8",
	.print_fmt = "\"reason %u rip 0x%lx\", REC->exit_reason, REC->guest_rip",
};

static const struct format kvm_exit_without_rip = {
	.system = "kvm",
	.name = "kvm_exit",
	.fields = "unsigned int exit_reason @8:4",
	.print_fmt = "\"reason %u\", REC->exit_reason",
};

static const struct format kvm_entry = {
	.system = "kvm",
	.name = "kvm_entry",
	.fields = "unsigned int vcpu_id @8:4, unsigned long rip @16:8",
	.print_fmt = "\"vcpu %u, rip 0x%lx\", REC->vcpu_id, REC->rip",
};

static const struct format kvm_entry_without_rip = {
	.system = "kvm",
	.name = "kvm_entry",
	.fields = "unsigned int vcpu_id @8:4",
	.print_fmt = "\"vcpu %u\", REC->vcpu_id",
};

static const struct format kvm_emulate_insn = {
	.system = "kvm",
	.name = "kvm_emulate_insn",
	.fields = "__u64 rip @8:8, __u32 csbase @16:4, __u8 len @20:1, __u8 insn[15] @21:15, "
		  "__u8 flags @36:1, __u8 failed @37:1",
	.print_fmt = "\"%x:%llx:%s (%s)%s\", REC->csbase, REC->rip, \"x\", \"y\", \"\"",
};

static const struct format kvm_nested_vmexit = {
	.system = "kvm",
	.name = "kvm_nested_vmexit",
	.fields = "__u64 rip @8:8, __u32 exit_code @16:4, __u64 exit_info1 @24:8, __u64 "
		  "exit_info2 @32:8, __u32 exit_int_info @40:4, __u32 exit_int_info_err "
		  "@44:4, __u32 isa @48:4",
	.print_fmt = "\"rip %llx\", REC->rip",
};

static const struct format kvm_nested_vmexit_inject = {
	.system = "kvm",
	.name = "kvm_nested_vmexit_inject",
	.fields = "__u32 exit_code @16:4, __u64 exit_info1 @24:8, __u64 exit_info2 @32:8, "
		  "__u32 exit_int_info @40:4, __u32 exit_int_info_err @44:4, __u32 isa @48:4",
	.print_fmt = "\"code %x\", REC->exit_code",
};

static const struct format kvm_mmu_get_page = {
	.system = "kvmmmu",
	.name = "kvm_mmu_get_page",
	.fields = "__u64 gfn @8:8, __u32 role @16:4, __u32 root_count @20:4, bool unsync "
		  "@24:1, bool created @25:1",
	.print_fmt = "\"sp gfn %llx\", REC->gfn",
};

static const struct format kvm_mmu_prepare_zap_page = {
	.system = "kvmmmu",
	.name = "kvm_mmu_prepare_zap_page",
	.fields = "__u64 gfn @8:8, __u32 role @16:4, __u32 root_count @20:4, bool unsync "
		  "@24:1, bool created @25:1",
	.print_fmt = "\"sp gfn %llx\", REC->gfn",
};

static const struct format kvm_mmu_zap_page = {
	.system = "kvmmmu",
	.name = "kvm_mmu_zap_page",
	.fields = "__u64 gfn @8:8, __u32 role @16:4, __u32 root_count @20:4, bool unsync "
		  "@24:1, bool created @25:1",
	.print_fmt = "\"sp gfn %llx\", REC->gfn",
	.big_endian = true,
};

static const struct format hrtimer_start = {
	.system = "timer",
	.name = "hrtimer_start",
	.fields = "void * hrtimer @8:8, void * function @16:8, s64 expires @24:8s, s64 "
		  "softexpires @32:8s",
	.print_fmt = "\"hrtimer=%p\", REC->hrtimer",
};

static const struct format hrtimer_expire_entry = {
	.system = "timer",
	.name = "hrtimer_expire_entry",
	.fields = "void * hrtimer @8:8, s64 now @16:8s, void * function @24:8",
	.print_fmt = "\"hrtimer=%p\", REC->hrtimer",
};

static const struct format old_hrtimer_expire_entry = {
	.system = "timer",
	.name = "hrtimer_expire_entry",
	.fields = "void * timer @8:8, s64 now @16:8s",
	.print_fmt = "\"hrtimer=%p\", REC->timer",
};

static const struct format hrtimer_without_fields = {
	.system = "timer",
	.name = "hrtimer_expire_entry",
	.fields = "int x @8:4",
	.print_fmt = "\"x\", REC->x",
};

static const struct format sys_enter_futex = {
	.system = "syscalls",
	.name = "sys_enter_futex",
	.fields = "int __syscall_nr @8:4s, u32 * uaddr @16:8, int op @24:8, u32 val @32:8, "
		  "const struct __kernel_timespec * utime @40:8, u32 * uaddr2 @48:8, u32 val3 "
		  "@56:8",
	.print_fmt = "\"uaddr: 0x%08lx\", ((unsigned long)(REC->uaddr))",
};

static const struct format tlb_flush = {
	.system = "tlb",
	.name = "tlb_flush",
	.fields = "int reason @8:4s, unsigned long pages @16:8",
	.print_fmt = "\"pages:%ld reason:%d\", REC->pages, REC->reason",
};

static const struct format drv_bss_info_changed = {
	.system = "mac80211",
	.name = "drv_bss_info_changed",
	.fields = "char wiphy_name[32] @8:32s, int vif_type @40:4, __data_loc char[] vif_name "
		  "@44:4s, bool assoc @48:1, u16 aid @50:2, bool cts @52:1, bool shortpre "
		  "@53:1, u8 dtimper @54:1, u16 bcnint @56:2, u16 assoc_cap @58:2, u32 "
		  "basic_rates @60:4, bool enable_beacon @64:1, u16 ht_operation_mode @66:2",
	.print_fmt = "\"%s\", REC->wiphy_name",
};

static const struct format jbd2 = {
	.system = "jbd2",
	.name = "jbd2_x",
	.fields = "dev_t dev @8:4, unsigned long wait @16:8",
	.print_fmt = "\"dev %s wait %u ms %s.\", jbd2_dev_to_name(REC->dev), "
		     "jiffies_to_msecs(REC->wait), jiffies_to_msecs(REC->wait)",
};

static const struct format xen = {
	.system = "xen",
	.name = "xen_x",
	.fields = "unsigned int op @8:4",
	.print_fmt = "\"op %u%s\", REC->op, xen_hypercall_name(REC->op)",
};

static const struct format writable_pte = {
	.system = "kvmmmu",
	.name = "xx",
	.fields = "u64 spte @8:8",
	.print_fmt = "\"w %d %s\", is_writable_pte(REC->spte), is_writable_pte(REC->spte) ? "
		     "\"writable\" : \"ro\"",
};

static const struct format frame_type = {
	.system = "cfg80211",
	.name = "yy",
	.fields = "__data_loc u8[] frame @8:4",
	.print_fmt = "\"ftype:0x%.2x\", __le16_to_cpup((const __le16 *)((u8 "
		     "*)__get_dynamic_array(frame)))",
};

static const struct format scsi = {
	.system = "scsi",
	.name = "scsi_x",
	.fields = "unsigned int cmd_len @8:4, __data_loc unsigned char[] cmnd @12:4",
	.print_fmt = "\"cmnd=(%s raw)\", scsi_trace_parse_cdb(p, __get_dynamic_array(cmnd), "
		     "REC->cmd_len)",
};

static const struct handler_case {
	const struct format *format;
	const char *record;
	const char *text;
} cases[] = {
	{&sched_switch, "'bash':16 4:1234 4:120 8:0 'swapper/0':16 4:0 4:120",
	 "bash:1234 [120] R ==> swapper/0:0 [120]"},
	{&sched_switch, "'bash':16 4:1234 4:120 8:1 'swapper/0':16 4:0 4:120",
	 "bash:1234 [120] S ==> swapper/0:0 [120]"},
	{&sched_switch, "'bash':16 4:1234 4:120 8:2 'swapper/0':16 4:0 4:120",
	 "bash:1234 [120] D ==> swapper/0:0 [120]"},
	{&sched_switch, "'bash':16 4:1234 4:120 8:16 'swapper/0':16 4:0 4:120",
	 "bash:1234 [120] X ==> swapper/0:0 [120]"},
	{&sched_switch, "'bash':16 4:1234 4:120 8:32 'swapper/0':16 4:0 4:120",
	 "bash:1234 [120] Z ==> swapper/0:0 [120]"},
	{&sched_switch, "'bash':16 4:1234 4:120 8:128 'swapper/0':16 4:0 4:120",
	 "bash:1234 [120] I ==> swapper/0:0 [120]"},
	{&sched_switch, "'bash':16 4:1234 4:120 8:256 'swapper/0':16 4:0 4:120",
	 "bash:1234 [120] R ==> swapper/0:0 [120]"},
	{&sched_switch, "'bash':16 4:1234 4:120 8:3 'swapper/0':16 4:0 4:120",
	 "bash:1234 [120] S|D ==> swapper/0:0 [120]"},
	{&sched_switch, "'bash':16 4:1234 4:120 8:1026 'swapper/0':16 4:0 4:120",
	 "bash:1234 [120] D ==> swapper/0:0 [120]"},
	{&old_sched_switch, "'bash':16 4:1234 4:120 8:16 'swapper/0':16 4:0 4:120",
	 "bash:1234 [120] Z ==> swapper/0:0 [120]"},
	{&sched_switch, "'sixteen-letters!':16 4:-1 4:-1 8:1 '':16 4:0 4:120",
	 "sixteen-letters!:4294967295 [-1] S ==> :0 [120]"},
	{&sched_wakeup, "'rcu_sched':16 4:14 4:120 4:1", "rcu_sched:14 [120] CPU:001"},
	{&sched_wakeup_new, "'ls':16 4:99 4:-1 4:1 4:1234",
	 "ls:99 [4294967295] success=1 CPU:1234"},
	{&wakeup_without_cpu, "'ls':16 4:99 4:1", "ls:99 [1]"},
	{&wakeup_without_pid, "4:1", "<CANT FIND FIELD pid>!prio=1"},
	{&func_repeats, "8:0xffffffff81003004 8:0xffffffff81001000 2:3 2:0 4:0xf4240",
	 "vfs_read (count: 3  last_ts:   123.455789)"},
	{&kernel_stack,
	 "4:3 _4 x04100081ffffffff04200081ffffffff3412000000000000ffffffffffffffff7878787878787878",
	 "<stack trace >\n=> schedule (ffffffff81001004)\n=> do_wait (ffffffff81002004)\n=> "
	 "1234\n"},
	{&kernel_stack_be32, "4:3 x0000100000002000ffffffff", "<stack trace >\n=> 1000\n=> 2000\n"},
	{&raw_data, "4:0xabc x6162636465666768696aff00",
	 "# abc 61 62 63 64 65 66 67 68 69 6a ff 00"},
	{&raw_data_32, "4:1 x6162636465666768696a",
	 "# 1 61 62 63 64 65 66 67 68 65 66 67 68 69 6a 69 6a"},
	{&kfree, "8:0xffffffff81001234 8:5", "(schedule+0x234) call_site=ffffffff81001234"},
	{&kmem_cache_free, "8:0x1234 8:5", "call_site=1234"},
	{&kvm_exit, "4:48 _4 8:0xffffffff81000044 4:1 _4 8:386 8:0",
	 "reason EPT_VIOLATION rip 0xffffffff81000044 info 182 0"},
	{&kvm_exit, "4:3 _4 8:0xffffffff81000044 4:1 _4 8:386 8:0",
	 "reason UNKNOWN (3) rip 0xffffffff81000044 info 182 0"},
	{&kvm_exit, "4:12 _4 8:0xffffffff81000044 4:1 _4 8:386 8:0",
	 "reason HLT rip 0xffffffff81000044 info 182 0"},
	{&kvm_exit, "4:1024 _4 8:0xffffffff81000044 4:2 _4 8:386 8:0",
	 "reason EXIT_NPF rip 0xffffffff81000044 info 182 0"},
	{&kvm_exit, "4:-1 _4 8:0xffffffff81000044 4:2 _4 8:386 8:0",
	 "reason EXIT_ERR rip 0xffffffff81000044 info 182 0"},
	{&kvm_exit, "4:123 _4 8:0xffffffff81000044 4:2 _4 8:386 8:0",
	 "reason EXIT_IOIO rip 0xffffffff81000044 info 182 0"},
	{&kvm_exit, "4:1 _4 8:0xffffffff81000044 4:3 _4 8:386 8:0",
	 "reason UNKNOWN-ISA rip 0xffffffff81000044 info 182 0"},
	{&old_kvm_exit, "4:30 _4 8:0xfff0", "reason IO_INSTRUCTION rip 0xfff0"},
	{&kvm_exit_without_rip, "4:30",
	 "reason IO_INSTRUCTION<CANT FIND FIELD guest_rip>reason 30"},
	{&kvm_entry, "4:3 _4 8:0xffffffff81000000", " vcpu 3 rip 0xffffffff81000000"},
	{&kvm_entry_without_rip, "4:3", " vcpu 3<CANT FIND FIELD rip>vcpu 3"},
	{&kvm_emulate_insn, "8:0xfff0 4:0xf0000 1:3 x0f01c1eeeeeeeeeeeeeeeeeeeeeeee 1:5 1:1",
	 "f0000:fff0: 0f 01 c1 FAIL"},
	{&kvm_nested_vmexit, "8:0xffffffff81000000 4:96 _4 8:1 8:34 4:0x80000000 4:4 4:2",
	 " rip ffffffff81000000reason EXIT_INTR info1 1 info2 22 int_info 80000000 int_info_err 4"},
	{&kvm_nested_vmexit_inject, "_8 4:96 _4 8:1 8:34 4:0x80000000 4:4 4:2",
	 "reason EXIT_INTR info1 1 info2 22 int_info 80000000 int_info_err 4"},
	{&kvm_mmu_get_page, "8:0xabc 4:0x1234 4:2 1:0 1:0",
	 "existing sp gfn abc 4 q1 w-- pae nxe !wp root 2 sync"},
	{&kvm_mmu_get_page, "8:0xabc 4:0xff00ffff 4:2 1:1 1:1",
	 "new sp gfn abc 15 q3 direct wux invalid pae nxe wp smep smap smm root 2 unsync"},
	{&kvm_mmu_get_page, "8:0xabc 4:0 4:2 1:0 1:0",
	 "existing sp gfn abc 0 q0 --- !pae !nxe !wp root 2 sync"},
	{&kvm_mmu_get_page, "8:0xabc 4:0x3ba5 4:2 1:1 1:1",
	 "new sp gfn abc 5 q1 direct w-x invalid !pae nxe wp root 2 unsync"},
	{&kvm_mmu_prepare_zap_page, "8:0xabc 4:52 4:0 1:0 1:0",
	 "4 q1 --- pae !nxe !wp root 0 sync"},
	{&kvm_mmu_zap_page, "8:0xabc 4:52 4:0 1:0 1:0", "WORD: 00000034 root 0 sync"},
	{&hrtimer_start, "8:0xff11 8:0xffffffff81005000 8:0x1e240 8:-1",
	 "hrtimer=0xff11 function=tick_sched_timer/0x0 expires=123456 "
	 "softexpires=18446744073709551615"},
	{&hrtimer_start, "8:0xff11 8:0xffffffff81005004 8:0x1e240 8:1",
	 "hrtimer=0xff11 function=tick_sched_timer/0xfffffffffffffffc expires=123456 "
	 "softexpires=1"},
	{&hrtimer_start, "8:0xff11 8:0x5004 8:0x1e240 8:1",
	 "hrtimer=0xff11 function=0x00005004 expires=123456 softexpires=1"},
	{&hrtimer_expire_entry, "8:0xff11 8:42 8:0xffffffff81005000",
	 "hrtimer=0xff11 now=42 function=tick_sched_timer/0x0"},
	{&old_hrtimer_expire_entry, "8:0xff11 8:42", "hrtimer=0xff11 now=42"},
	{&hrtimer_without_fields, "4:1",
	 "hrtimer=CAN'T FIND FIELD \"hrtimer\" now=CAN'T FIND FIELD \"now\""},
	{&sys_enter_futex, "_4 _4 8:0x7f00 8:0 8:2 8:16 8:0x7f8899aabbcc 8:0xffffffff",
	 "op=FUTEX_WAIT uaddr=0x00007f00 val=0x00000002 utime=0x00000010"},
	{&sys_enter_futex, "_4 _4 8:0x7f00 8:1 8:2 8:16 8:0x7f8899aabbcc 8:0xffffffff",
	 "op=FUTEX_WAKE uaddr=0x00007f00 val=2"},
	{&sys_enter_futex, "_4 _4 8:0x7f00 8:2 8:2 8:16 8:0x7f8899aabbcc 8:0xffffffff",
	 "op=FUTEX_FD uaddr=0x00007f00 val=2"},
	{&sys_enter_futex, "_4 _4 8:0x7f00 8:3 8:2 8:16 8:0x7f8899aabbcc 8:0xffffffff",
	 "op=FUTEX_REQUEUE uaddr=0x00007f00 val=2 val2=16 uaddr2=0x7f8899aabbcc"},
	{&sys_enter_futex, "_4 _4 8:0x7f00 8:4 8:2 8:16 8:0x7f8899aabbcc 8:0xffffffff",
	 "op=FUTEX_CMP_REQUEUE uaddr=0x00007f00 val=2 val2=16 uaddr2=0x7f8899aabbcc "
	 "val3=0xffffffff"},
	{&sys_enter_futex, "_4 _4 8:0x7f00 8:5 8:2 8:16 8:0x7f8899aabbcc 8:0xffffffff",
	 "op=FUTEX_WAKE_OP uaddr=0x00007f00 val=2 val2=16 uaddr2=0x7f8899aabbcc val3=0xffffffff"},
	{&sys_enter_futex, "_4 _4 8:0x7f00 8:6 8:2 8:16 8:0x7f8899aabbcc 8:0xffffffff",
	 "op=FUTEX_LOCK_PI uaddr=0x00007f00 utime=0x00000010"},
	{&sys_enter_futex, "_4 _4 8:0x7f00 8:7 8:2 8:16 8:0x7f8899aabbcc 8:0xffffffff",
	 "op=FUTEX_UNLOCK_PI uaddr=0x00007f00"},
	{&sys_enter_futex, "_4 _4 8:0x7f00 8:8 8:2 8:16 8:0x7f8899aabbcc 8:0xffffffff",
	 "op=FUTEX_TRYLOCK_PI uaddr=0x00007f00"},
	{&sys_enter_futex, "_4 _4 8:0x7f00 8:9 8:2 8:16 8:0x7f8899aabbcc 8:0xffffffff",
	 "op=FUTEX_WAIT_BITSET uaddr=0x00007f00 val=0x00000002 utime=0x00000010 val3=0xffffffff"},
	{&sys_enter_futex, "_4 _4 8:0x7f00 8:10 8:2 8:16 8:0x7f8899aabbcc 8:0xffffffff",
	 "op=FUTEX_WAKE_BITSET uaddr=0x00007f00 val=2 val3=0xffffffff"},
	{&sys_enter_futex, "_4 _4 8:0x7f00 8:11 8:2 8:16 8:0x7f8899aabbcc 8:0xffffffff",
	 "op=FUTEX_WAIT_REQUEUE_PI uaddr=0x00007f00 val=0x00000002 utime=0x00000010 "
	 "uaddr2=0x7f8899aabbcc val3=0xffffffff"},
	{&sys_enter_futex, "_4 _4 8:0x7f00 8:12 8:2 8:16 8:0x7f8899aabbcc 8:0xffffffff",
	 "op=FUTEX_CMP_REQUEUE_PI uaddr=0x00007f00 val=2 val2=16 uaddr2=0x7f8899aabbcc "
	 "val3=0xffffffff"},
	{&sys_enter_futex, "_4 _4 8:0x7f00 8:13 8:2 8:16 8:0x7f8899aabbcc 8:0xffffffff",
	 "uaddr: 0x00007f00"},
	{&sys_enter_futex, "_4 _4 8:0x7f00 8:128 8:2 8:16 8:0x7f8899aabbcc 8:0xffffffff",
	 "op=FUTEX_WAIT|FUTEX_PRIVATE_FLAG uaddr=0x00007f00 val=0x00000002 utime=0x00000010"},
	{&sys_enter_futex, "_4 _4 8:0x7f00 8:129 8:2 8:16 8:0x7f8899aabbcc 8:0xffffffff",
	 "op=FUTEX_WAKE|FUTEX_PRIVATE_FLAG uaddr=0x00007f00 val=2"},
	{&sys_enter_futex, "_4 _4 8:0x7f00 8:393 8:2 8:16 8:0x7f8899aabbcc 8:0xffffffff",
	 "op=FUTEX_WAIT_BITSET|FUTEX_PRIVATE_FLAG|FUTEX_CLOCK_REALTIME uaddr=0x00007f00 "
	 "val=0x00000002 utime=0x00000010 val3=0xffffffff"},
	{&tlb_flush, "4:0 _4 8:-1", "pages=-1 reason=flush on task switch (0)"},
	{&tlb_flush, "4:1 _4 8:1", "pages=1 reason=remote shootdown (1)"},
	{&tlb_flush, "4:2 _4 8:2", "pages=2 reason=local shootdown (2)"},
	{&tlb_flush, "4:3 _4 8:3", "pages=3 reason=local mm shootdown (3)"},
	{&tlb_flush, "4:4 _4 8:4", "pages=4 reason= (4)"},
	{&tlb_flush, "4:5 _4 8:5", "pages=5 reason= (5)"},
	{&drv_bss_info_changed,
	 "'phy0':32 4:2 4:0x60044 1:1 _1 2:7 1:0 1:1 1:3 _1 2:100 2:1073 4:0 1:0 _1 2:5 "
	 "x776c616e3000",
	 "phy0 vif:wlan0(2)\n                                                                 "
	 "assoc:1 aid:7 cts:0 shortpre:1  dtimper:3 "
	 "\n                                                                 bcnint:100 "
	 "assoc_cap:0x431 basic_rates:0 "
	 "enable_beacon:0\n                                                                 "
	 "ht_operation_mode:5"},
	{&jbd2, "4:0x800011 _4 8:250", "dev 8:17 wait 250 ms 250."},
	{&xen, "4:0", "op 0(set_trap_table)"},
	{&xen, "4:11", "op 11"},
	{&xen, "4:32", "op 32(event_channel_op)"},
	{&xen, "4:34", "op 34(hvm_op)"},
	{&xen, "4:38", "op 38"},
	{&xen, "4:55", "op 55(arch_7)"},
	{&xen, "4:56", "op 56"},
	{&writable_pte, "8:7", "w 2 writable"},
	{&writable_pte, "8:5", "w 0 ro"},
	{&frame_type, "4:0x4000c x40010203", "ftype:0x140"},
	{&scsi, "4:6 4:0x60010 x082f01020300", "cmnd=(lba=983298 txlen=3 raw)"},
	{&scsi, "4:6 4:0x60010 x0a0102030000", "cmnd=(lba=66051 txlen=0 raw)"},
	{&scsi, "4:10 4:0xa0010 x28e01234567800010200",
	 "cmnd=(lba=305419896 txlen=258 protect=7 raw)"},
	{&scsi, "4:10 4:0xa0010 x2a000000000100000800", "cmnd=(lba=1 txlen=8 protect=0 raw)"},
	{&scsi, "4:10 4:0xa0010 x2f200000000100000800", "cmnd=(lba=1 txlen=8 protect=1 raw)"},
	{&scsi, "4:10 4:0xa0010 x41080000000100000800",
	 "cmnd=(lba=1 txlen=8 protect=0 unmap=1 raw)"},
	{&scsi, "4:12 4:0xc0010 xa82000000001000001000000", "cmnd=(lba=1 txlen=256 protect=1 raw)"},
	{&scsi, "4:12 4:0xc0010 xaf2000000001000001000000", "cmnd=(lba=1 txlen=256 protect=1 raw)"},
	{&scsi, "4:12 4:0xc0010 xaa2000000001000001000000", "cmnd=(lba=1 txlen=256 protect=1 raw)"},
	{&scsi, "4:16 4:0x100010 x88200001020304050607000001000000",
	 "cmnd=(lba=283686952306183 txlen=256 protect=1 raw)"},
	{&scsi, "4:16 4:0x100010 x8a200001020304050607000001000000",
	 "cmnd=(lba=283686952306183 txlen=256 protect=1 raw)"},
	{&scsi, "4:16 4:0x100010 x93280001020304050607000001000000",
	 "cmnd=(lba=283686952306183 txlen=256 protect=1 unmap=1 raw)"},
	{&scsi, "4:10 4:0xa0010 x42000000000000001800", "cmnd=(regions=1 raw)"},
	{&scsi, "4:10 4:0xa0010 x42000000000000000000", "cmnd=(regions=268435455 raw)"},
	{&scsi, "4:16 4:0x100010 x9e100000000000000005000000200000",
	 "cmnd=(READ_CAPACITY_16 lba=5 alloc_len=32 raw)"},
	{&scsi, "4:16 4:0x100010 x9e120000000000000005000000200000",
	 "cmnd=(GET_LBA_STATUS lba=5 alloc_len=32 raw)"},
	{&scsi, "4:16 4:0x100010 x9e010000000000000005000000200000", "cmnd=(UNKNOWN raw)"},
	{&scsi, "4:32 4:0x200010 x7f00000000000018000920000000000001020304000000090000000000000008",
	 "cmnd=(READ_32 lba=16909060 txlen=8 protect=1 ei_lbrt=9 raw)"},
	{&scsi, "4:32 4:0x200010 x7f00000000000018000d28000000000001020304000000090000000000000008",
	 "cmnd=(WRITE_SAME_32 lba=16909060 txlen=8 protect=1 ei_lbrt=9 unmap=1 raw)"},
	{&scsi, "4:32 4:0x200010 x7f00000000000018000328000000000001020304000000090000000000000008",
	 "cmnd=(- raw)"},
	{&scsi, "4:6 4:0x60010 x120000002400", "cmnd=(- raw)"},
	{&scsi, "4:1 4:0x10010 x00", "cmnd=(- raw)"},
};

#define ID 100

static void print_case(const struct handler_case *c, struct buf *out, bool no_handlers)
{
	const struct format *f = c->format;
	struct events *ev = fixture_events(f->big_endian, f->long_size ? f->long_size : 8);
	struct event_printer p;
	struct spur_record r;
	struct event *e;
	struct buf data;

	fixture_add(ev, f->system, f->name, ID, f->fields, f->print_fmt);
	assert_int_equal(events_seal(ev), 0);
	e = events_find(ev, f->system, f->name);
	assert_non_null(e);
	assert_int_equal(event_printer_init(&p, ev), 0);
	p.no_handlers = no_handlers;
	buf_init(&data, 4096);
	r = fixture_record(&data, ID, c->record, f->big_endian);
	event_print(&p, e, &r, out);
	/* The same record cut off anywhere must not be read beyond its end. */
	for (r.size = 0; r.size < data.len; r.size++) {
		struct buf ignored;
		uint8_t *copy = malloc(r.size ? r.size : 1);
		struct spur_record cut = r;

		memcpy(copy, data.data, r.size);
		cut.data = copy;
		buf_init(&ignored, 1 << 20);
		event_print(&p, e, &cut, &ignored);
		buf_free(&ignored);
		free(copy);
	}
	buf_free(&data);
	event_printer_done(&p);
	events_free(ev);
}

static void test_texts(void **state)
{
	struct buf out;

	buf_init(&out, 1 << 16);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		buf_reset(&out);
		print_case(&cases[i], &out, false);
		assert_string_equal(buf_str(&out), cases[i].text);
	}
	buf_free(&out);
}

/* With handlers off the print format alone counts. */
static void test_without_handlers(void **state)
{
	static const struct handler_case c = {&kfree, "8:0xffffffff81001234 8:5",
					      "call_site=ffffffff81001234"};
	struct buf out;

	buf_init(&out, 1 << 16);
	print_case(&c, &out, true);
	assert_string_equal(buf_str(&out), c.text);
	buf_free(&out);
}

static void test_find(void **state)
{
	assert_non_null(handler_find("sched", "sched_switch"));
	assert_non_null(handler_find("ftrace", "funcgraph_exit"));
	assert_null(handler_find("sched", "sched_waking"));
	assert_null(handler_find("ftrace", "sched_switch"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_without_handlers),
		cmocka_unit_test(test_find),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
