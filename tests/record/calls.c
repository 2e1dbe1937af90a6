// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A load that numbers its system calls: lseek(-1, N, SEEK_SET) for N = 0, 1, 2, … How many have
 * returned is in the file that is named, as a u64, at every moment. A recording of these calls can
 * be compared with it: what numbers there are, and what numbers are not.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDWR | O_CREAT, 0600) : -1;
	_Atomic uint64_t *count;

	if (fd < 0 || ftruncate(fd, sizeof(*count)) < 0) {
		perror("calls FILE");
		return 1;
	}
	count = mmap(NULL, sizeof(*count), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (count == MAP_FAILED)
		return 1;
	for (uint64_t n = 0;; n++) {
		lseek(-1, (off_t)n, SEEK_SET);
		atomic_store(count, n + 1);
	}
}
