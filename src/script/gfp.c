// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the kernel was asked to allocate memory with, as its own tracepoints write it: the longest
 * name that fits comes first and takes its bits. The numbers are those of Linux 5.4 to 6.18.
 */
#include "script/show.h"

static const struct {
	uint32_t bits;
	const char *name;
} flags_names[] = {
	{0x1c24ca, "GFP_TRANSHUGE"},
	{0x1c20ca, "GFP_TRANSHUGE_LIGHT"},
	{0x100cca, "GFP_HIGHUSER_MOVABLE"},
	{0x100cc2, "GFP_HIGHUSER"},
	{0x100cc0, "GFP_USER"},
	{0x400cc0, "GFP_KERNEL_ACCOUNT"},
	{0xcc0, "GFP_KERNEL"},
	{0xc40, "GFP_NOFS"},
	{0x820, "GFP_ATOMIC"},
	{0xc00, "GFP_NOIO"},
	{0x2800, "GFP_NOWAIT"},
	{0x1, "GFP_DMA"},
	{0x4, "GFP_DMA32"},
	{0xc00, "__GFP_RECLAIM"},
	{0x2, "__GFP_HIGHMEM"},
	{0x8, "__GFP_MOVABLE"},
	{0x10, "__GFP_RECLAIMABLE"},
	{0x20, "__GFP_HIGH"},
	{0x40, "__GFP_IO"},
	{0x80, "__GFP_FS"},
	{0x100, "__GFP_ZERO"},
	{0x200, "__GFP_ATOMIC"},
	{0x400, "__GFP_DIRECT_RECLAIM"},
	{0x800, "__GFP_KSWAPD_RECLAIM"},
	{0x1000, "__GFP_WRITE"},
	{0x2000, "__GFP_NOWARN"},
	{0x4000, "__GFP_RETRY_MAYFAIL"},
	{0x8000, "__GFP_NOFAIL"},
	{0x10000, "__GFP_NORETRY"},
	{0x20000, "__GFP_MEMALLOC"},
	{0x40000, "__GFP_COMP"},
	{0x80000, "__GFP_NOMEMALLOC"},
	{0x100000, "__GFP_HARDWALL"},
	{0x200000, "__GFP_THISNODE"},
	{0x400000, "__GFP_ACCOUNT"},
	{0x800000, "__GFP_ZEROTAGS"},
	{0x1000000, "__GFP_NO_OBJ_EXT"},
};

void show_gfp(struct buf *to, uint64_t flags)
{
	const char *between = "";

	if (!flags) {
		buf_puts(to, "none");
		return;
	}
	for (size_t i = 0; i < sizeof(flags_names) / sizeof(flags_names[0]); i++) {
		if ((flags & flags_names[i].bits) != flags_names[i].bits)
			continue;
		flags &= ~(uint64_t)flags_names[i].bits;
		buf_puts(to, between);
		buf_puts(to, flags_names[i].name);
		between = "|";
	}
	if (flags) {
		buf_puts(to, between);
		buf_puts(to, "0x");
		buf_hex(to, flags);
	}
}
