// SPDX-License-Identifier: GPL-2.0-or-later
/* Which system an event is of when only its name is known: most begin with their system's. */
#include "import/systems.h"

#include <string.h>

static const struct {
	const char *prefix, *system;
} systems[] = {
	{"sched_", "sched"},
	{"irq_handler_", "irq"},
	{"softirq_", "irq"},
	{"tasklet_", "irq"},
	{"timer_", "timer"},
	{"hrtimer_", "timer"},
	{"itimer_", "timer"},
	{"tick_", "timer"},
	{"kmalloc", "kmem"},
	{"kfree", "kmem"},
	{"kmem_", "kmem"},
	{"mm_page_", "kmem"},
	{"rss_stat", "kmem"},
	{"block_", "block"},
	{"workqueue_", "workqueue"},
	{"cpu_", "power"},
	{"cpuhp_", "cpuhp"},
	{"power_", "power"},
	{"pm_qos_", "power"},
	{"clock_", "power"},
	{"rcu_", "rcu"},
	{"signal_", "signal"},
	{"task_", "task"},
	{"sys_enter", "raw_syscalls"},
	{"sys_exit", "raw_syscalls"},
	{"net_", "net"},
	{"netif_", "net"},
	{"napi_", "napi"},
	{"skb_", "skb"},
	{"kfree_skb", "skb"},
	{"consume_skb", "skb"},
	{"sock_", "sock"},
	{"inet_", "sock"},
	{"tcp_", "tcp"},
	{"udp_", "udp"},
	{"ext4_", "ext4"},
	{"jbd2_", "jbd2"},
	{"xfs_", "xfs"},
	{"btrfs_", "btrfs"},
	{"writeback_", "writeback"},
	{"mm_vmscan_", "vmscan"},
	{"mm_compaction_", "compaction"},
	{"mm_filemap_", "filemap"},
	{"kvm_", "kvm"},
	{"lock_", "lock"},
	{"contention_", "lock"},
	{"scsi_", "scsi"},
	{"nvme_", "nvme"},
	{"thermal_", "thermal"},
	{"clk_", "clk"},
	{"regulator_", "regulator"},
	{"gpio_", "gpio"},
	{"i2c_", "i2c"},
	{"spi_", "spi"},
	{"regmap_", "regmap"},
	{"rpm_", "rpm"},
	{"module_", "module"},
	{"cgroup_", "cgroup"},
	{"ipi_", "ipi"},
	{"call_function_", "irq_vectors"},
	{"local_timer_", "irq_vectors"},
	{"reschedule_", "irq_vectors"},
	{"page_fault_", "exceptions"},
	{"dma_fence_", "dma_fence"},
	{"drm_", "drm"},
	{"usb_", "usb"},
	{"xhci_", "xhci-hcd"},
	{"osnoise", "osnoise"},
};

const char *import_system(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(systems) / sizeof(systems[0]); i++) {
		const size_t n = strlen(systems[i].prefix);

		if (len >= n && memcmp(name, systems[i].prefix, n) == 0)
			return systems[i].system;
	}
	return "text";
}
