// SPDX-License-Identifier: GPL-2.0-or-later
/* The kernel's functions that print formats may call, one row and one function each. */
#include "event/print_funcs.h"

#include <string.h>

#include "base/cursor.h"
#include "event/event.h"
#include "event/handlers/scsi.h"

/* jbd2_dev_to_name(dev): the device's numbers; its name is not in the trace. */
static uint64_t jbd2_dev_to_name(struct event_printer *p, const struct spur_record *r,
				 const uint64_t *args, struct buf *out)
{
	const uint32_t dev = (uint32_t)args[0];

	buf_u64(out, dev >> 20);
	buf_putc(out, ':');
	buf_u64(out, dev & 0xfffff);
	return 0;
}

/* jiffies_to_msecs(j): the trace does not tell how long a jiffy is, so they stay jiffies. */
static uint64_t jiffies_to_msecs(struct event_printer *p, const struct spur_record *r,
				 const uint64_t *args, struct buf *out)
{
	buf_i64(out, (int64_t)args[0]);
	return args[0];
}

static uint64_t is_writable_pte(struct event_printer *p, const struct spur_record *r,
				const uint64_t *args, struct buf *out)
{
	return args[0] & 2;
}

static uint64_t le16_to_cpup(struct event_printer *p, const struct spur_record *r,
			     const uint64_t *args, struct buf *out)
{
	if (args[0] > r->size || r->size - args[0] < 2)
		return 0;
	return load_uint(r->data + args[0], 2, false);
}

/* scsi_trace_parse_cdb(p, cdb, len) */
static uint64_t scsi_trace_parse_cdb(struct event_printer *p, const struct spur_record *r,
				     const uint64_t *args, struct buf *out)
{
	if (args[1] < r->size)
		scsi_print_cdb(r->data + args[1], r->size - (size_t)args[1], out);
	return 0;
}

static const char *const xen_hypercalls[] = {
	[0] = "set_trap_table",
	[1] = "mmu_update",
	[2] = "set_gdt",
	[3] = "stack_switch",
	[4] = "set_callbacks",
	[5] = "fpu_taskswitch",
	[6] = "sched_op_compat",
	[7] = "dom0_op",
	[8] = "set_debugreg",
	[9] = "get_debugreg",
	[10] = "update_descriptor",
	[12] = "memory_op",
	[13] = "multicall",
	[14] = "update_va_mapping",
	[15] = "set_timer_op",
	[16] = "event_channel_op_compat",
	[17] = "xen_version",
	[18] = "console_io",
	[19] = "physdev_op_compat",
	[20] = "grant_table_op",
	[21] = "vm_assist",
	[22] = "update_va_mapping_otherdomain",
	[23] = "iret",
	[24] = "vcpu_op",
	[25] = "set_segment_base",
	[26] = "mmuext_op",
	[27] = "acm_op",
	[28] = "nmi_op",
	[29] = "sched_op",
	[30] = "callback_op",
	[31] = "xenoprof_op",
	[32] = "event_channel_op",
	[33] = "physdev_op",
	[34] = "hvm_op",
	[48] = "arch_0",
	[49] = "arch_1",
	[50] = "arch_2",
	[51] = "arch_3",
	[52] = "arch_4",
	[53] = "arch_5",
	[54] = "arch_6",
	[55] = "arch_7",
};

static uint64_t xen_hypercall_name(struct event_printer *p, const struct spur_record *r,
				   const uint64_t *args, struct buf *out)
{
	const uint32_t op = (uint32_t)args[0];

	if (op < sizeof(xen_hypercalls) / sizeof(xen_hypercalls[0]) && xen_hypercalls[op]) {
		buf_putc(out, '(');
		buf_puts(out, xen_hypercalls[op]);
		buf_putc(out, ')');
	}
	return 0;
}

static const struct print_func funcs[] = {
	{.name = "jbd2_dev_to_name",
	 .nr_args = 1,
	 .args = {PRINT_ARG_NUMBER},
	 .call = jbd2_dev_to_name},
	{.name = "jiffies_to_msecs",
	 .nr_args = 1,
	 .args = {PRINT_ARG_NUMBER},
	 .call = jiffies_to_msecs},
	{.name = "is_writable_pte",
	 .nr_args = 1,
	 .args = {PRINT_ARG_NUMBER},
	 .call = is_writable_pte},
	{.name = "__le16_to_cpup", .nr_args = 1, .args = {PRINT_ARG_BYTES}, .call = le16_to_cpup},
	{.name = "scsi_trace_parse_cdb",
	 .nr_args = 3,
	 .args = {PRINT_ARG_NUMBER, PRINT_ARG_BYTES, PRINT_ARG_NUMBER},
	 .call = scsi_trace_parse_cdb},
	{.name = "xen_hypercall_name",
	 .nr_args = 1,
	 .args = {PRINT_ARG_NUMBER},
	 .call = xen_hypercall_name},
};

const struct print_func *print_func_find(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(funcs) / sizeof(funcs[0]); i++)
		if (strlen(funcs[i].name) == len && memcmp(funcs[i].name, name, len) == 0)
			return &funcs[i];
	return NULL;
}
