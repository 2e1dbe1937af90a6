// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the archive of libmicrohttpd wants of GnuTLS, for a program that never speaks TLS.
 *
 * The library's https server is part of the same object files as its http server. Linking GnuTLS
 * for the sake of that would have every command load nine libraries that none of them uses. These
 * take its place when the archive is linked into the program; they are reached only through
 * MHD_USE_TLS, and what they return is a failure there.
 */
#include <stddef.h>

#define REFUSE(name)                                                                               \
	int name(void);                                                                            \
	int name(void)                                                                             \
	{                                                                                          \
		return -1;                                                                         \
	}

REFUSE(gnutls_alpn_set_protocols)
REFUSE(gnutls_bye)
REFUSE(gnutls_certificate_allocate_credentials)
REFUSE(gnutls_certificate_free_credentials)
REFUSE(gnutls_certificate_server_set_request)
REFUSE(gnutls_certificate_set_dh_params)
REFUSE(gnutls_certificate_set_retrieve_function2)
REFUSE(gnutls_certificate_set_retrieve_function3)
REFUSE(gnutls_certificate_set_x509_key_mem)
REFUSE(gnutls_certificate_set_x509_key_mem2)
REFUSE(gnutls_certificate_set_x509_trust_mem)
REFUSE(gnutls_cipher_get)
REFUSE(gnutls_credentials_set)
REFUSE(gnutls_deinit)
REFUSE(gnutls_dh_params_deinit)
REFUSE(gnutls_dh_params_import_pkcs3)
REFUSE(gnutls_dh_params_init)
REFUSE(gnutls_global_deinit)
REFUSE(gnutls_global_init)
REFUSE(gnutls_handshake)
REFUSE(gnutls_init)
REFUSE(gnutls_priority_deinit)
REFUSE(gnutls_priority_init)
REFUSE(gnutls_priority_set)
REFUSE(gnutls_protocol_get_version)
REFUSE(gnutls_psk_allocate_server_credentials)
REFUSE(gnutls_psk_free_server_credentials)
REFUSE(gnutls_psk_set_server_credentials_function)
REFUSE(gnutls_record_check_pending)
REFUSE(gnutls_record_get_direction)
REFUSE(gnutls_record_recv)
REFUSE(gnutls_record_send)
REFUSE(gnutls_session_get_ptr)
REFUSE(gnutls_session_set_ptr)
REFUSE(gnutls_transport_set_int2)

const char *gnutls_strerror(int error);
const char *gnutls_strerror(int error)
{
	return "there is no TLS in this program";
}

/* A variable there, too. */
extern void *(*gnutls_malloc)(size_t size);
void *(*gnutls_malloc)(size_t size);
