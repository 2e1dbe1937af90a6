// SPDX-License-Identifier: GPL-2.0-or-later
/* src/view/door.c: who is let in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "view/door.h"

static struct door a_door(void)
{
	struct door d = {.port = 8080, .loopback = true, .address = "127.0.0.1"};
	struct spur_error err = {0};

	strncpy(d.machine, "bench", sizeof(d.machine) - 1);
	assert_int_equal(door_init(&d, &err), 0);
	return d;
}

static void test_hosts(void **state)
{
	static const struct {
		const char *host;
		/* bound to loopback, to 192.0.2.7, to all addresses */
		bool loopback, one, any;
	} cases[] = {
		{"127.0.0.1:8080", true, true, true},
		{"localhost:8080", true, true, true},
		{"LocalHost:8080", true, true, true},
		{"[::1]:8080", true, true, true},
		{"127.1.2.3:8080", true, true, true},
		{"192.0.2.7:8080", false, true, true},
		{"192.0.2.8:8080", false, false, true},
		{"[2001:db8::1]:8080", false, false, true},
		{"bench:8080", false, true, true},
		{"127.0.0.1", false, false, false},
		{"127.0.0.1:8081", false, false, false},
		{"127.0.0.1:18080", false, false, false},
		{"127.0.0.1:08080 ", false, false, false},
		{"127.0.0.1:", false, false, false},
		{"127.0.0.1:+8080", false, false, false},
		{"127.0.0.1:8080:8080", false, false, false},
		{"127.0.0.1.:8080", false, false, false},
		{"127.1:8080", false, false, false},
		{"2130706433:8080", false, false, false},
		{"evil.example:8080", false, false, false},
		{"localhost.evil.example:8080", false, false, false},
		{"127.0.0.1.evil.example:8080", false, false, false},
		{"localhost@evil.example:8080", false, false, false},
		{"::1:8080", false, false, false},
		{"[::1:8080", false, false, false},
		{"[]:8080", false, false, false},
		{":8080", false, false, false},
		{"", false, false, false},
		{NULL, false, false, false},
	};
	struct door loopback = a_door(), one = a_door(), any = a_door();

	one.loopback = any.loopback = false;
	any.any = true;
	snprintf(one.address, sizeof(one.address), "192.0.2.7");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (door_host(&loopback, cases[i].host) != cases[i].loopback ||
		    door_host(&one, cases[i].host) != cases[i].one ||
		    door_host(&any, cases[i].host) != cases[i].any)
			fail_msg("%s", cases[i].host);
}

static void test_port_80(void **state)
{
	struct door d = a_door();

	d.port = 80;
	assert_true(door_host(&d, "localhost"));
	assert_true(door_host(&d, "localhost:80"));
	assert_false(door_host(&d, "localhost:8080"));
}

static void test_long_host(void **state)
{
	struct door d = a_door();
	char host[1000];

	memset(host, '1', sizeof(host));
	host[sizeof(host) - 1] = '\0';
	assert_false(door_host(&d, host));
	host[0] = '[';
	host[sizeof(host) - 2] = ']';
	assert_false(door_host(&d, host));
}

static void test_origins(void **state)
{
	static const struct {
		const char *origin;
		bool fine;
	} cases[] = {
		{NULL, true},
		{"http://localhost:8080", true},
		{"http://LOCALHOST:8080", true},
		{"http://127.0.0.1:8080", false},
		{"https://localhost:8080", false},
		{"http://localhost", false},
		{"http://localhost:8080.evil.example", false},
		{"http://evil.example", false},
		{"null", false},
		{"", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (door_origin(cases[i].origin, "localhost:8080") != cases[i].fine)
			fail_msg("%s", cases[i].origin);
	assert_false(door_origin("http://localhost:8080", NULL));
}

static void test_tokens(void **state)
{
	struct door d = a_door(), other = a_door();
	char wrong[DOOR_TOKEN + 2];

	assert_int_equal(strlen(d.token), DOOR_TOKEN);
	assert_string_not_equal(d.token, d.once);
	assert_string_not_equal(d.token, other.token);
	assert_true(door_token(&d, d.token));
	assert_false(door_token(&d, other.token));
	assert_false(door_token(&d, d.once));
	assert_false(door_token(&d, ""));
	assert_false(door_token(&d, NULL));
	for (size_t i = 0; i < DOOR_TOKEN; i++) {
		snprintf(wrong, sizeof(wrong), "%s", d.token);
		wrong[i] ^= 1;
		assert_false(door_token(&d, wrong));
	}
	snprintf(wrong, sizeof(wrong), "%sx", d.token);
	assert_false(door_token(&d, wrong));
	wrong[DOOR_TOKEN - 1] = '\0';
	assert_false(door_token(&d, wrong));
}

/* One of them opens as often as one likes, the other one once. */
static void test_links(void **state)
{
	struct door d = a_door();

	assert_true(door_link(&d, d.token) && door_link(&d, d.token));
	assert_true(door_link(&d, d.once));
	assert_false(door_link(&d, d.once));
	assert_true(door_link(&d, d.token));
	assert_false(door_link(&d, NULL));
}

static void test_headers(void **state)
{
	static const struct {
		const char *before, *after;
		bool bearer, cookie;
	} cases[] = {
		{"Bearer ", "", true, false},
		{"bearer ", "", true, false},
		{"Bearer", "", false, false},
		{"Basic ", "", false, false},
		{"Bearer ", " ", false, false},
		{"spur-8080=", "", false, true},
		{"a=b; spur-8080=", "; c=d", false, true},
		{"a=b;spur-8080=", ";c=d", false, true},
		{"spur-8080=wrong; spur-8080=", "", false, true},
		{"spur-808=", "", false, false},
		{"spur-80800=", "", false, false},
		{"xspur-8080=", "", false, false},
		{"spur-8080=", "0", false, false},
		{"spur-8080=; ", "", false, false},
		{";;;;", ";;;", false, false},
	};
	struct door d = a_door();

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[200];

		snprintf(text, sizeof(text), "%s%s%s", cases[i].before, d.token, cases[i].after);
		if (door_bearer(&d, text) != cases[i].bearer ||
		    door_cookie(&d, text) != cases[i].cookie)
			fail_msg("%s", text);
	}
	assert_false(door_bearer(&d, NULL));
	assert_false(door_cookie(&d, NULL));
}

static void test_loopback(void **state)
{
	assert_true(door_loopback("127.0.0.1"));
	assert_true(door_loopback("127.9.9.9"));
	assert_true(door_loopback("::1"));
	assert_false(door_loopback("0.0.0.0"));
	assert_false(door_loopback("::"));
	assert_false(door_loopback("192.0.2.7"));
	assert_false(door_loopback("localhost"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hosts),	  cmocka_unit_test(test_port_80),
		cmocka_unit_test(test_long_host), cmocka_unit_test(test_origins),
		cmocka_unit_test(test_tokens),	  cmocka_unit_test(test_links),
		cmocka_unit_test(test_headers),	  cmocka_unit_test(test_loopback),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
