/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names of x86's reasons to leave a guest, by instruction set. */
#ifndef EVENT_HANDLERS_KVM_REASONS_H
#define EVENT_HANDLERS_KVM_REASONS_H

#include <stdint.h>

struct kvm_reason {
	int32_t value;
	const char *name; /* NULL ends a table */
};

extern const struct kvm_reason kvm_vmx_reasons[]; /* Intel, isa 1 */
extern const struct kvm_reason kvm_svm_reasons[]; /* AMD, isa 2 */

#endif
