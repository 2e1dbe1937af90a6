// SPDX-License-Identifier: GPL-2.0-or-later
/* libFuzzer: a folder of CTF: the length of the metadata in two bytes, these, and a stream. */
#include <fcntl.h>
#include <stdio.h>

#include "fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put_file(int folder, const char *name, const uint8_t *data, size_t size)
{
	const int fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	size_t meta;
	int folder;

	if (size < 2)
		return 0;
	meta = data[0] | (size_t)data[1] << 8;
	meta = meta < size - 2 ? meta : size - 2;
	snprintf(path, sizeof(path), "/tmp/spur-fuzz-ctf-XXXXXX");
	if (!mkdtemp(path))
		abort();
	folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		abort();
	put_file(folder, "metadata", data + 2, meta);
	put_file(folder, "stream", data + 2 + meta, size - 2 - meta);
	fuzz_import(&source_ctf, folder);
	folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	unlinkat(folder, "metadata", 0);
	unlinkat(folder, "stream", 0);
	close(folder);
	rmdir(path);
	return 0;
}
