// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Virtual machines on x86: why a guest was left, what was emulated, and its shadow pages.
 *
 *	kvm_exit:       reason EPT_VIOLATION rip 0xffffffff81000000 info 182 0
 *	kvm_entry:       vcpu 0 rip 0xffffffff81000000
 */
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "event/handlers/handlers.h"
#include "event/names.h"
#include "event/spec.h"

/*
 * Exit reasons as Intel's and AMD's manuals number them. The tables end where libtraceevent's do:
 * a later reason shows as UNKNOWN with its number.
 */
/* clang-format off */
static const char *const vmx_reasons[] = {
	[0] = "EXCEPTION_NMI", "EXTERNAL_INTERRUPT", "TRIPLE_FAULT", [7] = "PENDING_INTERRUPT",
	"NMI_WINDOW", "TASK_SWITCH", "CPUID", [12] = "HLT", "INVD", "INVLPG", "RDPMC", "RDTSC",
	[18] = "VMCALL", "VMCLEAR", "VMLAUNCH", "VMPTRLD", "VMPTRST", "VMREAD", "VMRESUME",
	"VMWRITE", "VMOFF", "VMON", "CR_ACCESS", "DR_ACCESS", "IO_INSTRUCTION", "MSR_READ",
	"MSR_WRITE", [36] = "MWAIT_INSTRUCTION", [39] = "MONITOR_INSTRUCTION",
	"PAUSE_INSTRUCTION", "MCE_DURING_VMENTRY", [43] = "TPR_BELOW_THRESHOLD", "APIC_ACCESS",
	"EOI_INDUCED", [48] = "EPT_VIOLATION", "EPT_MISCONFIG", "INVEPT",
	[52] = "PREEMPTION_TIMER", [54] = "WBINVD", "XSETBV", "APIC_WRITE", [58] = "INVPCID",
	[62] = "PML_FULL", "XSAVES", "XRSTORS",
};

static const char *const svm_reasons[] = {
	[0x000] = "EXIT_READ_CR0", [0x003] = "EXIT_READ_CR3", "EXIT_READ_CR4",
	[0x008] = "EXIT_READ_CR8", [0x010] = "EXIT_WRITE_CR0", [0x013] = "EXIT_WRITE_CR3",
	"EXIT_WRITE_CR4", [0x018] = "EXIT_WRITE_CR8", [0x020] = "EXIT_READ_DR0", "EXIT_READ_DR1",
	"EXIT_READ_DR2", "EXIT_READ_DR3", "EXIT_READ_DR4", "EXIT_READ_DR5", "EXIT_READ_DR6",
	"EXIT_READ_DR7", [0x030] = "EXIT_WRITE_DR0", "EXIT_WRITE_DR1", "EXIT_WRITE_DR2",
	"EXIT_WRITE_DR3", "EXIT_WRITE_DR4", "EXIT_WRITE_DR5", "EXIT_WRITE_DR6", "EXIT_WRITE_DR7",
	[0x040] = "EXIT_EXCP_DE", "EXIT_EXCP_DB", [0x043] = "EXIT_EXCP_BP", "EXIT_EXCP_OF",
	"EXIT_EXCP_BR", "EXIT_EXCP_UD", "EXIT_EXCP_NM", "EXIT_EXCP_DF", [0x04a] = "EXIT_EXCP_TS",
	"EXIT_EXCP_NP", "EXIT_EXCP_SS", "EXIT_EXCP_GP", "EXIT_EXCP_PF", [0x050] = "EXIT_EXCP_MF",
	"EXIT_EXCP_AC", "EXIT_EXCP_MC", "EXIT_EXCP_XF", [0x060] = "EXIT_INTR", "EXIT_NMI",
	"EXIT_SMI", "EXIT_INIT", "EXIT_VINTR", "EXIT_CR0_SEL_WRITE", "EXIT_IDTR_READ",
	"EXIT_GDTR_READ", "EXIT_LDTR_READ", "EXIT_TR_READ", "EXIT_IDTR_WRITE", "EXIT_GDTR_WRITE",
	"EXIT_LDTR_WRITE", "EXIT_TR_WRITE", "EXIT_RDTSC", "EXIT_RDPMC", "EXIT_PUSHF", "EXIT_POPF",
	"EXIT_CPUID", "EXIT_RSM", "EXIT_IRET", "EXIT_SWINT", "EXIT_INVD", "EXIT_PAUSE",
	"EXIT_HLT", "EXIT_INVLPG", "EXIT_INVLPGA", "EXIT_IOIO", "EXIT_MSR", "EXIT_TASK_SWITCH",
	"EXIT_FERR_FREEZE", "EXIT_SHUTDOWN", "EXIT_VMRUN", "EXIT_VMMCALL", "EXIT_VMLOAD",
	"EXIT_VMSAVE", "EXIT_STGI", "EXIT_CLGI", "EXIT_SKINIT", "EXIT_RDTSCP", "EXIT_ICEBP",
	"EXIT_WBINVD", "EXIT_MONITOR", "EXIT_MWAIT", "EXIT_MWAIT_COND", "EXIT_XSETBV",
	[0x400] = "EXIT_NPF", "EXIT_AVIC_INCOMPLETE_IPI", "EXIT_AVIC_UNACCELERATED_ACCESS",
};
/* clang-format on */

/* Appends a label and the number in hexadecimal. */
static void put_hex(struct buf *out, const char *label, uint64_t v)
{
	buf_puts(out, label);
	buf_hex(out, v);
}

/* ---- reasons of exits ---- */

static const char *find_reason(uint64_t isa, uint64_t value)
{
	const uint32_t v = (uint32_t)value;

	if (isa == 1)
		return v < ARRAY_SIZE(vmx_reasons) ? vmx_reasons[v] : NULL;
	if (v == UINT32_MAX)
		return "EXIT_ERR";
	return v < ARRAY_SIZE(svm_reasons) ? svm_reasons[v] : NULL;
}

/* False when the event does not tell a reason. */
static bool print_reason(const struct event_printer *p, const struct bound_field *reason,
			 const struct bound_field *isa, const struct spur_record *r,
			 struct buf *out)
{
	uint64_t val, set;
	const char *name;

	if (!bound_need(p->events, reason, r, &val, out))
		return false;
	/* Old kernels do not say which; they meant Intel's. */
	if (!bound_get(p->events, isa, r, &set))
		set = 1;
	set = (uint32_t)set;
	name = set == 1 || set == 2 ? find_reason(set, val) : "UNKNOWN-ISA";
	buf_puts(out, "reason ");
	if (name) {
		buf_puts(out, name);
	} else {
		buf_puts(out, "UNKNOWN (");
		buf_u64(out, val);
		buf_putc(out, ')');
	}
	return true;
}

/* ---- where the guest was ---- */

static struct symbols *guest_symbols(const struct events *ev, int pid)
{
	size_t i;

	binary_search(i, 0, ev->nr_guests, ev->guests[i].pid < pid);
	return i < ev->nr_guests && ev->guests[i].pid == pid ? ev->guests[i].symbols : NULL;
}

/* " function+0x12" of the guest, when its trace is read together with the host's. */
static void put_function(const struct event_printer *p, const struct spur_record *r, uint64_t rip,
			 struct buf *out)
{
	struct symbols *s;
	const struct symbol *f;

	if (!p->events->nr_guests)
		return;
	s = guest_symbols(p->events, events_record_pid(p->events, r));
	f = s ? symbols_find(s, rip) : NULL;
	if (!f)
		return;
	buf_putc(out, ' ');
	buf_put(out, f->name, f->len);
	if (f->addr != rip)
		put_hex(out, "+0x", rip - f->addr);
}

/* ---- kvm_exit, kvm_entry ---- */

enum { EXIT_REASON, ISA, GUEST_RIP, INFO1, INFO2, NR_EXIT };

static const char *const exit_names[NR_EXIT] = {
	[EXIT_REASON] = "exit_reason",
	[ISA] = "isa",
	[GUEST_RIP] = "guest_rip",
	[INFO1] = "info1",
	[INFO2] = "info2",
};

static bool exit_print(struct event_printer *p, struct event *e, const struct spur_record *r,
		       struct buf *out)
{
	const struct bound_field *f = e->handler_data;
	uint64_t rip, info1, info2;

	if (!print_reason(p, &f[EXIT_REASON], &f[ISA], r, out) ||
	    !bound_need(p->events, &f[GUEST_RIP], r, &rip, out))
		return handler_give_up(p, e, r, out);
	put_hex(out, " rip 0x", rip);
	put_function(p, r, rip, out);
	if (bound_get(p->events, &f[INFO1], r, &info1) &&
	    bound_get(p->events, &f[INFO2], r, &info2)) {
		put_hex(out, " info ", info1);
		put_hex(out, " ", info2);
	}
	return true;
}

enum { VCPU_ID, RIP, NR_ENTRY };

static const char *const entry_names[NR_ENTRY] = {[VCPU_ID] = "vcpu_id", [RIP] = "rip"};

static bool entry_print(struct event_printer *p, struct event *e, const struct spur_record *r,
			struct buf *out)
{
	const struct bound_field *f = e->handler_data;
	uint64_t val;

	if (bound_show(p->events, &f[VCPU_ID], r, &val, out)) {
		buf_puts(out, " vcpu ");
		buf_u64(out, (uint32_t)val);
	}
	if (!bound_need(p->events, &f[RIP], r, &val, out))
		return handler_give_up(p, e, r, out);
	put_hex(out, " rip 0x", val);
	put_function(p, r, val, out);
	return true;
}

/* ---- kvm_emulate_insn ---- */

/* Numbers, and after them the instruction. */
enum { INSN_RIP, CSBASE, LEN, FLAGS, FAILED, INSN, NR_INSN };

static const char *const insn_names[NR_INSN] = {
	[INSN_RIP] = "rip", [CSBASE] = "csbase", [LEN] = "len",
	[FLAGS] = "flags",  [FAILED] = "failed", [INSN] = "insn",
};

#define MAX_INSN 15

/* An instruction's bytes: "0f 01 c1". */
static void print_insn(const uint8_t *bytes, size_t n, struct buf *out)
{
	for (size_t i = 0; i < n; i++) {
		if (i)
			buf_putc(out, ' ');
		spec_hex_byte(out, bytes[i], false);
	}
}

static bool insn_print(struct event_printer *p, struct event *e, const struct spur_record *r,
		       struct buf *out)
{
	const struct bound_field *f = e->handler_data;
	uint64_t val[NR_INSN];
	const uint8_t *bytes;
	size_t size;

	for (size_t i = 0; i < INSN; i++)
		if (!bound_need(p->events, &f[i], r, &val[i], out))
			return handler_give_up(p, e, r, out);
	if (!f[INSN].field) {
		bound_missing(&f[INSN], out);
		return handler_give_up(p, e, r, out);
	}
	put_hex(out, "", val[CSBASE]);
	put_hex(out, ":", val[INSN_RIP]);
	put_function(p, r, val[INSN_RIP], out);
	buf_puts(out, ": ");
	bytes = field_bytes(p->events, f[INSN].field, r, &size);
	if (size > MAX_INSN)
		size = MAX_INSN;
	if (size > val[LEN])
		size = (size_t)val[LEN];
	if (bytes)
		print_insn(bytes, size, out);
	if (val[FAILED])
		buf_puts(out, " FAIL");
	return true;
}

/* ---- kvm_nested_vmexit, kvm_nested_vmexit_inject ---- */

enum {
	NESTED_RIP,
	EXIT_CODE,
	NESTED_ISA,
	EXIT_INFO1,
	EXIT_INFO2,
	EXIT_INT_INFO,
	EXIT_INT_INFO_ERR,
	NR_NESTED
};

static const char *const nested_names[NR_NESTED] = {
	[NESTED_RIP] = "rip",
	[EXIT_CODE] = "exit_code",
	[NESTED_ISA] = "isa",
	[EXIT_INFO1] = "exit_info1",
	[EXIT_INFO2] = "exit_info2",
	[EXIT_INT_INFO] = "exit_int_info",
	[EXIT_INT_INFO_ERR] = "exit_int_info_err",
};

static bool inject_print(struct event_printer *p, struct event *e, const struct spur_record *r,
			 struct buf *out)
{
	static const char *const labels[NR_NESTED] = {
		[EXIT_INFO1] = " info1 ",
		[EXIT_INFO2] = " info2 ",
		[EXIT_INT_INFO] = " int_info ",
		[EXIT_INT_INFO_ERR] = " int_info_err ",
	};
	const struct bound_field *f = e->handler_data;
	uint64_t val;

	if (!print_reason(p, &f[EXIT_CODE], &f[NESTED_ISA], r, out))
		return handler_give_up(p, e, r, out);
	for (size_t i = EXIT_INFO1; i < NR_NESTED; i++)
		if (bound_show(p->events, &f[i], r, &val, out))
			put_hex(out, labels[i], val);
	return true;
}

static bool nested_print(struct event_printer *p, struct event *e, const struct spur_record *r,
			 struct buf *out)
{
	const struct bound_field *f = e->handler_data;
	uint64_t rip;

	if (!bound_need(p->events, &f[NESTED_RIP], r, &rip, out))
		return handler_give_up(p, e, r, out);
	put_hex(out, " rip ", rip);
	put_function(p, r, rip, out);
	return inject_print(p, e, r, out);
}

/* ---- shadow pages ---- */

enum { ROLE, ROOT_COUNT, UNSYNC, CREATED, GFN, NR_PAGE };

static const char *const page_names[NR_PAGE] = {
	[ROLE] = "role", [ROOT_COUNT] = "root_count", [UNSYNC] = "unsync", [CREATED] = "created",
	[GFN] = "gfn",
};

/* The bits of a page's role, as x86 compilers lay them out. */
static void print_role(uint32_t role, struct buf *out)
{
	static const char *const access[] = {"---", "--x", "w--", "w-x",
					     "-u-", "-ux", "wu-", "wux"};
	const char *const no = "!";

	buf_u64(out, role & 15);
	buf_puts(out, " q");
	buf_u64(out, role >> 5 & 3);
	buf_puts(out, role & 1 << 7 ? " direct " : " ");
	buf_puts(out, access[role >> 8 & 7]);
	buf_puts(out, role & 1 << 11 ? " invalid " : " ");
	buf_puts(out, role & 1 << 4 ? "" : no);
	buf_puts(out, "pae ");
	buf_puts(out, role & 1 << 12 ? "" : no);
	buf_puts(out, "nxe ");
	buf_puts(out, role & 1 << 13 ? "" : no);
	buf_puts(out, "wp");
	buf_puts(out, role & 1 << 14 ? " smep" : "");
	buf_puts(out, role & 1 << 15 ? " smap" : "");
	buf_puts(out, role >> 24 ? " smm" : "");
}

static bool page_print(struct event_printer *p, struct event *e, const struct spur_record *r,
		       struct buf *out)
{
	const struct bound_field *f = e->handler_data;
	uint64_t val;

	if (!bound_need(p->events, &f[ROLE], r, &val, out))
		return handler_give_up(p, e, r, out);
	if (p->events->big_endian) {
		/* How that machine's compiler lays out the bits is not known. */
		buf_printf(out, "WORD: %08x", (uint32_t)val);
	} else {
		print_role((uint32_t)val, out);
	}
	if (bound_show(p->events, &f[ROOT_COUNT], r, &val, out)) {
		buf_puts(out, " root ");
		buf_u64(out, (uint32_t)val);
		buf_putc(out, ' ');
	}
	if (!bound_need(p->events, &f[UNSYNC], r, &val, out))
		return handler_give_up(p, e, r, out);
	buf_puts(out, val ? "unsync" : "sync");
	return true;
}

static bool get_page_print(struct event_printer *p, struct event *e, const struct spur_record *r,
			   struct buf *out)
{
	const struct bound_field *f = e->handler_data;
	uint64_t val;

	if (!bound_need(p->events, &f[CREATED], r, &val, out))
		return handler_give_up(p, e, r, out);
	buf_puts(out, val ? "new " : "existing ");
	if (!bound_need(p->events, &f[GFN], r, &val, out))
		return handler_give_up(p, e, r, out);
	put_hex(out, "sp gfn ", val);
	buf_putc(out, ' ');
	return page_print(p, e, r, out);
}

const struct event_handler kvm_handlers[] = {
	HANDLER("kvm", "kvm_exit", exit_names, exit_print),
	HANDLER("kvm", "kvm_entry", entry_names, entry_print),
	HANDLER("kvm", "kvm_emulate_insn", insn_names, insn_print),
	HANDLER("kvm", "kvm_nested_vmexit", nested_names, nested_print),
	HANDLER("kvm", "kvm_nested_vmexit_inject", nested_names, inject_print),
	HANDLER("kvmmmu", "kvm_mmu_get_page", page_names, get_page_print),
	HANDLER("kvmmmu", "kvm_mmu_sync_page", page_names, page_print),
	HANDLER("kvmmmu", "kvm_mmu_unsync_page", page_names, page_print),
	HANDLER("kvmmmu", "kvm_mmu_zap_page", page_names, page_print),
	HANDLER("kvmmmu", "kvm_mmu_prepare_zap_page", page_names, page_print),
	{.name = NULL},
};
