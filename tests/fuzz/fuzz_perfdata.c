// SPDX-License-Identifier: GPL-2.0-or-later
/* libFuzzer: a perf.data, imported and read as the trace it becomes. */
#include "fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_import(&source_perf, fuzz_file(data, size));
	return 0;
}
