// SPDX-License-Identifier: GPL-2.0-or-later
/* libFuzzer: the content of .eh_frame, whatever file it is in. */
#include <stdlib.h>

#include "base/vec.h"
#include "symbols/cfi.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cfi_rows rows = {0};

	cfi_parse(cursor_over(data, size, false), 0x1000, &rows);
	for (size_t i = 0; i < rows.n; i++) {
		if (i && rows.at[i].addr <= rows.at[i - 1].addr)
			abort();
		if (rows.at[i].rule.kind > CFI_SIGNAL)
			abort();
	}
	vec_free(&rows);
	return 0;
}
