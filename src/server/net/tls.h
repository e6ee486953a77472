/*
 * tls.h: the server's certificate and private key, as PEM in memory. The files are read and checked
 * once, when the server starts. Knows no HTTP library.
 */
#ifndef SERVER_TLS_H
#define SERVER_TLS_H

#include <stddef.h>
#include "cardbox/status.h"

typedef struct tls {
    char *cert; /* NULL: no TLS */
    char *key;
} tls;

/* Reads the files of the certificate and the key. If both names are NULL, TLS is not used. Returns
 * CARDBOX_INVALID if only one name is NULL, a file can't be read, or the key does not belong to the
 * certificate. The caller calls tls_free in any case. */
cardbox_status tls_load(tls *out, const char *cert_file, const char *key_file, cardbox_error *err);

/* Sends a text in a session of GnuTLS, and then ends the session's sending side. */
void tls_send(void *session, const char *text, size_t len);

/* Overwrites the key with zeros, and frees the key and the certificate. */
void tls_free(tls *t);

#endif
