// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of the numbers in system calls on memory. */
#include "event/pretty_tables.h"

#define PROT_FLAGS                                                                                 \
	IS(PROT_NONE, 0), FLAG(PROT_READ, 1), FLAG(PROT_WRITE, 2), FLAG(PROT_EXEC, 4),             \
		FLAG(PROT_SEM, 8), FLAG(PROT_GROWSDOWN, 0x1000000), FLAG(PROT_GROWSUP, 0x2000000)

static const struct named mmap_prot_names[] = {PROT_FLAGS};
NAME_SET(mmap_prot, SET_WIDE);

static const struct named mmap_prot_arm64_names[] = {
	PROT_FLAGS,
	FLAG(PROT_BTI, 0x10),
	FLAG(PROT_MTE, 0x20),
};
NAME_SET(mmap_prot_arm64, SET_WIDE);

static const struct named mmap_prot_ppc_names[] = {
	PROT_FLAGS,
	FLAG(PROT_SAO, 0x10),
};
NAME_SET(mmap_prot_ppc, SET_WIDE);

#define MAP_TYPES                                                                                  \
	PART(MAP_SHARED, 1, 0xf), PART(MAP_PRIVATE, 2, 0xf), PART(MAP_SHARED_VALIDATE, 3, 0xf),    \
		PART(MAP_DROPPABLE, 8, 0xf), FLAG(MAP_FIXED, 0x10), FLAG(MAP_ANONYMOUS, 0x20)
#define MAP_FLAGS_END                                                                              \
	FLAG(MAP_POPULATE, 0x8000), FLAG(MAP_NONBLOCK, 0x10000), FLAG(MAP_STACK, 0x20000),         \
		FLAG(MAP_HUGETLB, 0x40000), FLAG(MAP_SYNC, 0x80000),                               \
		FLAG(MAP_FIXED_NOREPLACE, 0x100000), PART(MAP_HUGE_16KB, 14u << 26, 63u << 26),    \
		PART(MAP_HUGE_64KB, 16u << 26, 63u << 26),                                         \
		PART(MAP_HUGE_1MB, 20u << 26, 63u << 26),                                          \
		PART(MAP_HUGE_2MB, 21u << 26, 63u << 26),                                          \
		PART(MAP_HUGE_16MB, 24u << 26, 63u << 26),                                         \
		PART(MAP_HUGE_32MB, 25u << 26, 63u << 26),                                         \
		PART(MAP_HUGE_512MB, 29u << 26, 63u << 26),                                        \
		PART(MAP_HUGE_1GB, 30u << 26, 63u << 26),                                          \
		PART(MAP_HUGE_16GB, 34u << 26, 63u << 26)

static const struct named mmap_flags_names[] = {
	MAP_TYPES,
	FLAG(MAP_GROWSDOWN, 0x100),
	FLAG(MAP_DENYWRITE, 0x800),
	FLAG(MAP_EXECUTABLE, 0x1000),
	FLAG(MAP_LOCKED, 0x2000),
	FLAG(MAP_NORESERVE, 0x4000),
	MAP_FLAGS_END,
};
NAME_SET(mmap_flags, SET_WIDE);

static const struct named mmap_flags_x86_names[] = {
	MAP_TYPES,
	FLAG(MAP_32BIT, 0x40),
	FLAG(MAP_ABOVE4G, 0x80),
	FLAG(MAP_GROWSDOWN, 0x100),
	FLAG(MAP_DENYWRITE, 0x800),
	FLAG(MAP_EXECUTABLE, 0x1000),
	FLAG(MAP_LOCKED, 0x2000),
	FLAG(MAP_NORESERVE, 0x4000),
	MAP_FLAGS_END,
};
NAME_SET(mmap_flags_x86, SET_WIDE);

static const struct named mmap_flags_ppc_names[] = {
	MAP_TYPES,
	FLAG(MAP_NORESERVE, 0x40),
	FLAG(MAP_LOCKED, 0x80),
	FLAG(MAP_GROWSDOWN, 0x100),
	FLAG(MAP_DENYWRITE, 0x800),
	FLAG(MAP_EXECUTABLE, 0x1000),
	MAP_FLAGS_END,
};
NAME_SET(mmap_flags_ppc, SET_WIDE);

static const struct named mremap_names[] = {
	FLAG(MREMAP_MAYMOVE, 1),
	FLAG(MREMAP_FIXED, 2),
	FLAG(MREMAP_DONTUNMAP, 4),
};
NAME_SET(mremap, SET_WIDE);

static const struct named madvise_names[] = {
	IS(MADV_NORMAL, 0),	      IS(MADV_RANDOM, 1),	   IS(MADV_SEQUENTIAL, 2),
	IS(MADV_WILLNEED, 3),	      IS(MADV_DONTNEED, 4),	   IS(MADV_FREE, 8),
	IS(MADV_REMOVE, 9),	      IS(MADV_DONTFORK, 10),	   IS(MADV_DOFORK, 11),
	IS(MADV_MERGEABLE, 12),	      IS(MADV_UNMERGEABLE, 13),	   IS(MADV_HUGEPAGE, 14),
	IS(MADV_NOHUGEPAGE, 15),      IS(MADV_DONTDUMP, 16),	   IS(MADV_DODUMP, 17),
	IS(MADV_WIPEONFORK, 18),      IS(MADV_KEEPONFORK, 19),	   IS(MADV_COLD, 20),
	IS(MADV_PAGEOUT, 21),	      IS(MADV_POPULATE_READ, 22),  IS(MADV_POPULATE_WRITE, 23),
	IS(MADV_DONTNEED_LOCKED, 24), IS(MADV_COLLAPSE, 25),	   IS(MADV_HWPOISON, 100),
	IS(MADV_SOFT_OFFLINE, 101),   IS(MADV_GUARD_INSTALL, 102), IS(MADV_GUARD_REMOVE, 103),
};
NAME_SET(madvise, SET_NUMBER);

static const struct named msync_names[] = {
	FLAG(MS_ASYNC, 1),
	FLAG(MS_INVALIDATE, 2),
	FLAG(MS_SYNC, 4),
};
NAME_SET(msync, 0);

static const struct named mlock2_names[] = {
	FLAG(MLOCK_ONFAULT, 1),
};
NAME_SET(mlock2, 0);

static const struct named mlockall_names[] = {
	FLAG(MCL_CURRENT, 1),
	FLAG(MCL_FUTURE, 2),
	FLAG(MCL_ONFAULT, 4),
};
NAME_SET(mlockall, 0);

static const struct named mlockall_ppc_names[] = {
	FLAG(MCL_CURRENT, 0x2000),
	FLAG(MCL_FUTURE, 0x4000),
	FLAG(MCL_ONFAULT, 0x8000),
};
NAME_SET(mlockall_ppc, 0);

static const struct named pkey_rights_names[] = {
	FLAG(PKEY_DISABLE_ACCESS, 1),
	FLAG(PKEY_DISABLE_WRITE, 2),
	FLAG(PKEY_DISABLE_EXECUTE, 4),
};
NAME_SET(pkey_rights, SET_WIDE);

/* ---- NUMA ---- */

static const struct named mempolicy_names[] = {
	PART(MPOL_DEFAULT, 0, 0x1fff),
	PART(MPOL_PREFERRED, 1, 0x1fff),
	PART(MPOL_BIND, 2, 0x1fff),
	PART(MPOL_INTERLEAVE, 3, 0x1fff),
	PART(MPOL_LOCAL, 4, 0x1fff),
	PART(MPOL_PREFERRED_MANY, 5, 0x1fff),
	PART(MPOL_WEIGHTED_INTERLEAVE, 6, 0x1fff),
	FLAG(MPOL_F_NUMA_BALANCING, 0x2000),
	FLAG(MPOL_F_RELATIVE_NODES, 0x4000),
	FLAG(MPOL_F_STATIC_NODES, 0x8000),
};
NAME_SET(mempolicy, 0);

static const struct named mempolicy_get_names[] = {
	FLAG(MPOL_F_NODE, 1),
	FLAG(MPOL_F_ADDR, 2),
	FLAG(MPOL_F_MEMS_ALLOWED, 4),
};
NAME_SET(mempolicy_get, 0);

static const struct named mbind_flags_names[] = {
	FLAG(MPOL_MF_STRICT, 1),
	FLAG(MPOL_MF_MOVE, 2),
	FLAG(MPOL_MF_MOVE_ALL, 4),
};
NAME_SET(mbind_flags, 0);

static const struct named membarrier_cmd_names[] = {
	IS(MEMBARRIER_CMD_QUERY, 0),
	IS(MEMBARRIER_CMD_GLOBAL, 1),
	IS(MEMBARRIER_CMD_GLOBAL_EXPEDITED, 2),
	IS(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 4),
	IS(MEMBARRIER_CMD_PRIVATE_EXPEDITED, 8),
	IS(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 16),
	IS(MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 32),
	IS(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 64),
	IS(MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ, 128),
	IS(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ, 256),
	IS(MEMBARRIER_CMD_GET_REGISTRATIONS, 512),
};
NAME_SET(membarrier_cmd, 0);
