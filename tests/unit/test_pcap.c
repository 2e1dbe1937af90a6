// SPDX-License-Identifier: GPL-2.0-or-later
/* Files of packets: what their bytes are. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "script/run.h"

static char path[] = "/tmp/test_pcap.XXXXXX";

static uint32_t word(const struct buf *b, size_t i)
{
	uint32_t w = 0;

	assert_true(b->len >= (i + 1) * 4);
	memcpy(&w, b->data + i * 4, 4);
	return w;
}

static void test_file(void **state)
{
	static const uint32_t head[] = {0xa1b23c4d, 0, 0, 0, 65535, 101};
	struct pcap *p = NULL;
	struct buf b;

	assert_int_equal(pcap_create(path, &p, NULL), 0);
	assert_int_equal(pcap_write(p, 1700000000000000007ull, "\x45packet", 7, 84), 0);
	assert_int_equal(pcap_write(p, 2000000000, NULL, 0, 0), 0);
	assert_int_equal(pcap_write(p, 0, NULL, 65536, 65536), -EMSGSIZE);
	assert_int_equal(pcap_flush(p), 0);
	buf_init(&b, 1 << 16);
	assert_int_equal(file_read(path, &b, NULL), 0);
	assert_int_equal(b.len, 24 + 16 + 7 + 16);
	for (size_t i = 0; i < 6; i++)
		if (i != 1)
			assert_int_equal(word(&b, i), head[i]);
	assert_int_equal(word(&b, 6), 1700000000);
	assert_int_equal(word(&b, 7), 7);
	assert_int_equal(word(&b, 8), 7);
	assert_int_equal(word(&b, 9), 84);
	assert_memory_equal(b.data + 40, "\x45packet", 7);
	pcap_close(p);
	buf_free(&b);
}

static void test_no_file(void **state)
{
	struct spur_error err = {0};
	struct pcap *p = NULL;

	assert_int_equal(pcap_create("/nonexistent/x.pcap", &p, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nonexistent/x.pcap"));
	assert_null(p);
	pcap_close(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_file),
					   cmocka_unit_test(test_no_file)};
	int fd = mkstemp(path), failed;

	if (fd < 0)
		return 1;
	close(fd);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}
