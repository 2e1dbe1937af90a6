// SPDX-License-Identifier: GPL-2.0-or-later
/* src/view/serve/login.c: who is let in. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "view/serve/login.h"

static struct login a_door(void)
{
	struct login d = {.port = 8080, .loopback = true, .address = "127.0.0.1"};
	struct spur_error err = {0};

	strncpy(d.machine, "bench", sizeof(d.machine) - 1);
	assert_int_equal(login_init(&d, &err), 0);
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
	struct login loopback = a_door(), one = a_door(), any = a_door();

	one.loopback = any.loopback = false;
	any.any = true;
	snprintf(one.address, sizeof(one.address), "192.0.2.7");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (login_host(&loopback, cases[i].host) != cases[i].loopback ||
		    login_host(&one, cases[i].host) != cases[i].one ||
		    login_host(&any, cases[i].host) != cases[i].any)
			fail_msg("%s", cases[i].host);
}

static void test_port_80(void **state)
{
	struct login d = a_door();

	d.port = 80;
	assert_true(login_host(&d, "localhost"));
	assert_true(login_host(&d, "localhost:80"));
	assert_false(login_host(&d, "localhost:8080"));
}

static void test_long_host(void **state)
{
	struct login d = a_door();
	char host[1000];

	memset(host, '1', sizeof(host));
	host[sizeof(host) - 1] = '\0';
	assert_false(login_host(&d, host));
	host[0] = '[';
	host[sizeof(host) - 2] = ']';
	assert_false(login_host(&d, host));
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
		if (login_origin(cases[i].origin, "localhost:8080") != cases[i].fine)
			fail_msg("%s", cases[i].origin);
	assert_false(login_origin("http://localhost:8080", NULL));
}

/* Each opens once, and no other text does. */
static void test_links(void **state)
{
	struct login d = a_door(), other = a_door();
	char link[LOGIN_TOKEN + 1], second[LOGIN_TOKEN + 1], wrong[LOGIN_TOKEN + 2];
	struct spur_error err = {0};

	assert_int_equal(login_new_link(&d, link, &err), 0);
	assert_int_equal(login_new_link(&d, second, &err), 0);
	assert_int_equal(strlen(link), LOGIN_TOKEN);
	assert_string_not_equal(link, second);
	assert_string_not_equal(link, d.session);
	for (size_t i = 0; i < LOGIN_TOKEN; i++) {
		snprintf(wrong, sizeof(wrong), "%s", link);
		wrong[i] ^= 1;
		assert_false(login_follow(&d, wrong));
	}
	snprintf(wrong, sizeof(wrong), "%sx", link);
	assert_false(login_follow(&d, wrong));
	wrong[LOGIN_TOKEN - 1] = '\0';
	assert_false(login_follow(&d, wrong));
	assert_false(login_follow(&d, ""));
	assert_false(login_follow(&d, d.session));
	assert_false(login_follow(&other, link));
	assert_true(login_follow(&d, link));
	assert_false(login_follow(&d, link));
	assert_true(login_follow(&d, second));
	assert_false(login_follow(&d, second));
}

/* The oldest goes when there are too many that nobody follows. */
static void test_many_links(void **state)
{
	char links[LOGIN_LINKS + 1][LOGIN_TOKEN + 1];
	struct login d = a_door();
	struct spur_error err = {0};

	for (size_t i = 0; i < LOGIN_LINKS + 1; i++)
		assert_int_equal(login_new_link(&d, links[i], &err), 0);
	assert_false(login_follow(&d, links[0]));
	for (size_t i = 1; i < LOGIN_LINKS + 1; i++)
		assert_true(login_follow(&d, links[i]));
}

static void test_headers(void **state)
{
	static const struct {
		const char *before, *after;
		bool fine;
	} cases[] = {
		{"Bearer ", "", true},	 {"bearer ", "", true},	  {"Bearer", "", false},
		{"Basic ", "", false},	 {"Bearer ", " ", false}, {"Bearer  ", "", false},
		{"Bearer ", "0", false}, {"", "", false},
	};
	struct login d = a_door(), other = a_door();
	char text[200], link[LOGIN_TOKEN + 1];

	assert_string_not_equal(d.session, other.session);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(text, sizeof(text), "%s%s%s", cases[i].before, d.session, cases[i].after);
		if (login_bearer(&d, text) != cases[i].fine)
			fail_msg("%s", text);
		assert_false(login_bearer(&other, text));
	}
	assert_false(login_bearer(&d, NULL));
	assert_false(login_bearer(&d, "Bearer "));
	/* A link is no session. */
	assert_int_equal(login_new_link(&d, link, NULL), 0);
	snprintf(text, sizeof(text), "Bearer %s", link);
	assert_false(login_bearer(&d, text));
}

/* What the names of a server are made of. */
static void test_addresses(void **state)
{
	static const struct {
		const char *bind, *address;
		bool loopback, any;
	} cases[] = {
		{"127.0.0.1", "127.0.0.1", true, false},
		{"127.3.2.1", "127.3.2.1", true, false},
		{"0.0.0.0", "0.0.0.0", false, true},
		{"192.0.2.7", "192.0.2.7", false, false},
		{"::1", "[::1]", true, false},
		{"::", "[::]", false, true},
		{"2001:db8::1", "[2001:db8::1]", false, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(81)};
		struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(81)};
		const bool old = inet_pton(AF_INET, cases[i].bind, &four.sin_addr) == 1;
		struct login d = a_door();

		inet_pton(AF_INET6, cases[i].bind, &six.sin6_addr);
		login_set_address(&d, old ? (const void *)&four : (const void *)&six);
		assert_int_equal(d.port, 81);
		assert_string_equal(d.address, cases[i].address);
		assert_int_equal(d.loopback, cases[i].loopback);
		assert_int_equal(d.any, cases[i].any);
	}
}

static void test_loopback(void **state)
{
	assert_true(login_loopback("127.0.0.1"));
	assert_true(login_loopback("127.9.9.9"));
	assert_true(login_loopback("::1"));
	assert_false(login_loopback("0.0.0.0"));
	assert_false(login_loopback("::"));
	assert_false(login_loopback("192.0.2.7"));
	assert_true(login_loopback("localhost"));
	assert_false(login_loopback("localhost.example"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hosts),	  cmocka_unit_test(test_port_80),
		cmocka_unit_test(test_long_host), cmocka_unit_test(test_origins),
		cmocka_unit_test(test_links),	  cmocka_unit_test(test_many_links),
		cmocka_unit_test(test_headers),	  cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_loopback),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
