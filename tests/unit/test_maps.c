// SPDX-License-Identifier: GPL-2.0-or-later
/* What processes have mapped. This one maps a file of a long name more often than is kept. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/taskinfo.h"

#define NAME_LEN 200
#define MAPPED	 30000 /* times more than 200 bytes: more than 4 MB */

static unsigned int lines_of(const char *text)
{
	unsigned int n = 0;

	for (; (text = strchr(text, '\n')); text++)
		n++;
	return n;
}

/* The first line says how many follow; every one of them is whole. */
static unsigned int check(const struct buf *text)
{
	unsigned int pid, n;

	assert_int_equal(sscanf(text->data, "%x %x ", &pid, &n), 2);
	assert_int_equal(pid, getpid());
	assert_int_equal(lines_of(text->data), n + 1);
	assert_int_equal(text->data[text->len - 1], '\n');
	return n;
}

static void take(struct buf *text)
{
	struct maps m = {0};

	buf_reset(text);
	maps_take(&m, getpid());
	maps_put(&m, text);
	maps_free(&m);
	buf_str(text);
}

static void test_too_many(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char name[NAME_LEN + 1];
	unsigned int few, many, mapped = 0;
	struct buf text;
	int fd;

	snprintf(name, sizeof(name), "/tmp/spur-maps-%0*d", NAME_LEN - 15, (int)getpid());
	fd = open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0);
	unlink(name);
	buf_init(&text, 64u << 20);
	take(&text);
	few = check(&text);
	assert_true(few > 0);
	/* The same page again and again: what does not continue is not joined. */
	while (mapped < MAPPED && mmap(NULL, page, PROT_NONE, MAP_SHARED, fd, 0) != MAP_FAILED)
		mapped++;
	assert_int_equal(mapped, MAPPED);
	take(&text);
	many = check(&text);
	assert_in_range(many, few + 1, few + MAPPED - 1);
	buf_free(&text);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
