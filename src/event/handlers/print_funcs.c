// SPDX-License-Identifier: LGPL-2.1-or-later
/* The kernel's functions that print formats may call, one row and one function each. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/cursor.h"
#include "event/event.h"
#include "event/handler.h"

/* ---- SCSI command descriptor blocks ---- */

/*
 * Where a command reads or writes, and how much.
 *
 * Each layout is a row of places in the block; which layout a command has, its operation code (or
 * its service action) tells. Bytes beyond the block's end count as zero. Block addresses of 2^31
 * and more are shown as they are; libtraceevent gets their sign wrong.
 */

/* The longest block there is; shorter ones are padded with zeros. */
#define MAX_CDB 32

enum opcode {
	OP_READ_6 = 0x08,
	OP_WRITE_6 = 0x0a,
	OP_READ_10 = 0x28,
	OP_WRITE_10 = 0x2a,
	OP_VERIFY = 0x2f,
	OP_WRITE_SAME = 0x41,
	OP_UNMAP = 0x42,
	OP_VARIABLE_LENGTH = 0x7f,
	OP_READ_16 = 0x88,
	OP_WRITE_16 = 0x8a,
	OP_VERIFY_16 = 0x8f,
	OP_WRITE_SAME_16 = 0x93,
	OP_SERVICE_ACTION_IN_16 = 0x9e,
	OP_READ_12 = 0xa8,
	OP_WRITE_12 = 0xaa,
	OP_VERIFY_12 = 0xaf,
};

enum service_action {
	READ_CAPACITY_16 = 0x10,
	GET_LBA_STATUS = 0x12,
	READ_32 = 0x09,
	VERIFY_32 = 0x0a,
	WRITE_32 = 0x0b,
	WRITE_SAME_32 = 0x0d,
};

/* Where reads and writes of one block length keep their numbers; sizes in bytes, big-endian. */
struct layout {
	uint8_t lba, lba_size;
	uint8_t len, len_size;
};

static const struct layout rw10 = {2, 4, 7, 2};
static const struct layout rw12 = {2, 4, 6, 4};
static const struct layout rw16 = {2, 8, 10, 4};
static const struct layout rw32 = {12, 8, 28, 4};

static uint64_t number(const uint8_t *cdb, unsigned int at, unsigned int size)
{
	return load_uint(cdb + at, size, true);
}

static void put_number(struct buf *out, const char *label, uint64_t v)
{
	buf_puts(out, label);
	buf_u64(out, v);
}

static void print_rw6(const uint8_t *cdb, struct buf *out)
{
	put_number(out, "lba=", (cdb[1] & 0x1fu) << 16 | number(cdb, 2, 2));
	put_number(out, " txlen=", cdb[4]);
}

/* `flags` is the byte with the protection bits and, for "write same", the unmap bit. */
static void print_rw(const uint8_t *cdb, const struct layout *l, uint8_t flags, struct buf *out)
{
	put_number(out, "lba=", number(cdb, l->lba, l->lba_size));
	put_number(out, " txlen=", number(cdb, l->len, l->len_size));
	put_number(out, " protect=", flags >> 5);
}

static void print_unmap_bit(uint8_t flags, struct buf *out)
{
	put_number(out, " unmap=", flags >> 3 & 1);
}

static const char *action32_name(uint64_t action)
{
	switch (action) {
	case READ_32: return "READ_32 ";
	case VERIFY_32: return "VERIFY_32 ";
	case WRITE_32: return "WRITE_32 ";
	case WRITE_SAME_32: return "WRITE_SAME_32 ";
	default: return NULL;
	}
}

static void print_variable_length(const uint8_t *cdb, struct buf *out)
{
	const uint64_t action = number(cdb, 8, 2);
	const char *name = action32_name(action);

	if (!name) {
		buf_putc(out, '-');
		return;
	}
	buf_puts(out, name);
	print_rw(cdb, &rw32, cdb[10], out);
	put_number(out, " ei_lbrt=", number(cdb, 20, 4));
	if (action == WRITE_SAME_32)
		print_unmap_bit(cdb[10], out);
}

static void print_service_action_in(const uint8_t *cdb, struct buf *out)
{
	switch (cdb[1] & 0x1f) {
	case READ_CAPACITY_16: buf_puts(out, "READ_CAPACITY_16"); break;
	case GET_LBA_STATUS: buf_puts(out, "GET_LBA_STATUS"); break;
	default: buf_puts(out, "UNKNOWN"); return;
	}
	put_number(out, " lba=", number(cdb, 2, 8));
	put_number(out, " alloc_len=", number(cdb, 10, 4));
}

static void print_unmap(const uint8_t *cdb, struct buf *out)
{
	put_number(out, "regions=", ((uint32_t)number(cdb, 7, 2) - 8) / 16);
}

/* Appends what a SCSI command descriptor block asks for: "lba=… txlen=… protect=…". */
static void scsi_print_cdb(const uint8_t *bytes, size_t size, struct buf *out)
{
	uint8_t cdb[MAX_CDB] = {0};

	memcpy(cdb, bytes, size < MAX_CDB ? size : MAX_CDB);
	switch (cdb[0]) {
	case OP_READ_6:
	case OP_WRITE_6: print_rw6(cdb, out); break;
	case OP_READ_10:
	case OP_VERIFY:
	case OP_WRITE_10: print_rw(cdb, &rw10, cdb[1], out); break;
	case OP_READ_12:
	case OP_VERIFY_12:
	case OP_WRITE_12: print_rw(cdb, &rw12, cdb[1], out); break;
	case OP_READ_16:
	case OP_VERIFY_16:
	case OP_WRITE_16: print_rw(cdb, &rw16, cdb[1], out); break;
	case OP_WRITE_SAME:
	case OP_WRITE_SAME_16:
		print_rw(cdb, cdb[0] == OP_WRITE_SAME ? &rw10 : &rw16, cdb[1], out);
		print_unmap_bit(cdb[1], out);
		break;
	case OP_UNMAP: print_unmap(cdb, out); break;
	case OP_SERVICE_ACTION_IN_16: print_service_action_in(cdb, out); break;
	case OP_VARIABLE_LENGTH: print_variable_length(cdb, out); break;
	default: buf_putc(out, '-'); break;
	}
}

/* ---- the functions ---- */

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

/* clang-format off */
static const char *const xen_hypercalls[] = {
	[0] = "set_trap_table", "mmu_update", "set_gdt", "stack_switch", "set_callbacks",
	"fpu_taskswitch", "sched_op_compat", "dom0_op", "set_debugreg", "get_debugreg",
	"update_descriptor", [12] = "memory_op", "multicall", "update_va_mapping", "set_timer_op",
	"event_channel_op_compat", "xen_version", "console_io", "physdev_op_compat",
	"grant_table_op", "vm_assist", "update_va_mapping_otherdomain", "iret", "vcpu_op",
	"set_segment_base", "mmuext_op", "acm_op", "nmi_op", "sched_op", "callback_op",
	"xenoprof_op", "event_channel_op", "physdev_op", "hvm_op", [48] = "arch_0", "arch_1",
	"arch_2", "arch_3", "arch_4", "arch_5", "arch_6", "arch_7",
};
/* clang-format on */

static uint64_t xen_hypercall_name(struct event_printer *p, const struct spur_record *r,
				   const uint64_t *args, struct buf *out)
{
	const uint32_t op = (uint32_t)args[0];

	if (op < ARRAY_SIZE(xen_hypercalls) && xen_hypercalls[op]) {
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
	for (size_t i = 0; i < ARRAY_SIZE(funcs); i++)
		if (strlen(funcs[i].name) == len && memcmp(funcs[i].name, name, len) == 0)
			return &funcs[i];
	return NULL;
}
