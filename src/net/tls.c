// SPDX-License-Identifier: GPL-2.0-or-later
#include "net/tls.h"

#include <errno.h>

#include "base/error.h"

#ifdef HAVE_GNUTLS

#include <arpa/inet.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

#define LIBRARY "libgnutls.so.30"

/* What is used of the library. */
#define FUNCTIONS(F)                                                                               \
	F(certificate_allocate_credentials)                                                        \
	F(certificate_free_credentials)                                                            \
	F(certificate_set_x509_system_trust)                                                       \
	F(certificate_set_x509_trust_file)                                                         \
	F(certificate_verification_status_print)                                                   \
	F(credentials_set)                                                                         \
	F(deinit)                                                                                  \
	F(error_is_fatal)                                                                          \
	F(handshake)                                                                               \
	F(init)                                                                                    \
	F(record_check_pending)                                                                    \
	F(record_get_direction)                                                                    \
	F(record_recv)                                                                             \
	F(record_send)                                                                             \
	F(server_name_set)                                                                         \
	F(session_get_verify_cert_status)                                                          \
	F(session_set_verify_cert)                                                                 \
	F(set_default_priority)                                                                    \
	F(strerror)                                                                                \
	F(transport_set_int2)

#define MEMBER(name) __typeof__(gnutls_##name) *name;

struct tls {
	void *library;
	struct {
		FUNCTIONS(MEMBER)
	} f;
	gnutls_session_t session;
	gnutls_certificate_credentials_t trust;
};

static int load(struct tls *t, struct spur_error *err)
{
	const struct {
		const char *name;
		void **to;
	} functions[] = {
#define ENTRY(name) {"gnutls_" #name, (void **)&t->f.name},
		FUNCTIONS(ENTRY)};

	t->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!t->library)
		return error_set(err, -ENOSYS, "TLS needs %s, which is not installed", LIBRARY);
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		*functions[i].to = dlsym(t->library, functions[i].name);
		if (!*functions[i].to)
			return error_set(err, -ENOSYS, "%s has no %s", LIBRARY, functions[i].name);
	}
	return 0;
}

static int set_trust(struct tls *t, const char *ca, struct spur_error *err)
{
	int rc = t->f.certificate_allocate_credentials(&t->trust);

	if (rc < 0)
		return error_set(err, -ENOMEM, "out of memory");
	rc = ca ? t->f.certificate_set_x509_trust_file(t->trust, ca, GNUTLS_X509_FMT_PEM)
		: t->f.certificate_set_x509_system_trust(t->trust);
	if (ca && rc <= 0)
		return error_set(err, -EINVAL, "%s: no certificate could be read from it%s%s", ca,
				 rc < 0 ? ": " : "", rc < 0 ? t->f.strerror(rc) : "");
	return 0;
}

/* An address is no name that a server could be asked for. */
static bool is_address(const char *host)
{
	char bytes[16];

	return inet_pton(AF_INET, host, bytes) == 1 || inet_pton(AF_INET6, host, bytes) == 1;
}

static int begin(struct tls *t, int fd, const char *host, struct spur_error *err)
{
	int rc = t->f.init(&t->session, GNUTLS_CLIENT | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL);

	if (rc == 0)
		rc = t->f.set_default_priority(t->session);
	if (rc == 0)
		rc = t->f.credentials_set(t->session, GNUTLS_CRD_CERTIFICATE, t->trust);
	if (rc == 0 && !is_address(host))
		rc = t->f.server_name_set(t->session, GNUTLS_NAME_DNS, host, strlen(host));
	if (rc < 0)
		return error_set(err, -EIO, "TLS: %s", t->f.strerror(rc));
	t->f.session_set_verify_cert(t->session, host, 0);
	t->f.transport_set_int2(t->session, fd, fd);
	return 0;
}

int tls_new(struct tls **out, int fd, const char *host, const char *ca, struct spur_error *err)
{
	struct tls *t = calloc(1, sizeof(*t));
	int rc;

	if (!t)
		return error_set(err, -ENOMEM, "out of memory");
	rc = load(t, err);
	if (rc == 0)
		rc = set_trust(t, ca, err);
	if (rc == 0)
		rc = begin(t, fd, host, err);
	if (rc < 0) {
		tls_free(t);
		return rc;
	}
	*out = t;
	return 0;
}

void tls_free(struct tls *t)
{
	if (!t)
		return;
	if (t->session)
		t->f.deinit(t->session);
	if (t->trust)
		t->f.certificate_free_credentials(t->trust);
	/* The library stays: it does not like to be loaded twice. */
	free(t);
}

static int refuse_certificate(struct tls *t, struct spur_error *err)
{
	const unsigned int status = t->f.session_get_verify_cert_status(t->session);
	gnutls_datum_t text = {0};

	if (t->f.certificate_verification_status_print(status, GNUTLS_CRT_X509, &text, 0) < 0)
		return error_set(err, -EACCES, "the server's certificate is not to be trusted");
	error_set(err, -EACCES, "%.300s", (const char *)text.data);
	free(text.data);
	return -EACCES;
}

int tls_shake(struct tls *t, struct spur_error *err)
{
	int rc;

	do
		rc = t->f.handshake(t->session);
	while (rc == GNUTLS_E_INTERRUPTED);
	if (rc == 0)
		return 0;
	if (rc == GNUTLS_E_AGAIN || !t->f.error_is_fatal(rc))
		return -EAGAIN;
	if (rc == GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR)
		return refuse_certificate(t, err);
	return error_set(err, -EPROTO, "TLS: %s", t->f.strerror(rc));
}

static ssize_t result_of(const struct tls *t, ssize_t rc)
{
	if (rc >= 0)
		return rc;
	if (rc == GNUTLS_E_AGAIN || rc == GNUTLS_E_INTERRUPTED || !t->f.error_is_fatal((int)rc))
		return -EAGAIN;
	return rc == GNUTLS_E_PREMATURE_TERMINATION ? -ECONNRESET : -EPROTO;
}

ssize_t tls_read(struct tls *t, void *to, size_t len)
{
	return result_of(t, t->f.record_recv(t->session, to, len));
}

ssize_t tls_write(struct tls *t, const void *data, size_t len)
{
	return result_of(t, t->f.record_send(t->session, data, len));
}

bool tls_writes(const struct tls *t)
{
	return t->f.record_get_direction(t->session) == 1;
}

bool tls_pending(const struct tls *t)
{
	return t->f.record_check_pending(t->session) > 0;
}

#else

int tls_new(struct tls **out, int fd, const char *host, const char *ca, struct spur_error *err)
{
	return error_set(err, -ENOSYS, "this spur was built without TLS (GnuTLS)");
}

void tls_free(struct tls *t)
{
}

int tls_shake(struct tls *t, struct spur_error *err)
{
	return -ENOSYS;
}

ssize_t tls_read(struct tls *t, void *to, size_t len)
{
	return -ENOSYS;
}

ssize_t tls_write(struct tls *t, const void *data, size_t len)
{
	return -ENOSYS;
}

bool tls_writes(const struct tls *t)
{
	return false;
}

bool tls_pending(const struct tls *t)
{
	return false;
}

#endif
