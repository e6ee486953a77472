/*
 * tls.h: the certificate and key that clients are served with, as PEM in memory, read and checked
 * once at the start. Knows no HTTP library.
 */
#ifndef SERVER_TLS_H
#define SERVER_TLS_H

#include <stddef.h>
#include "cardbox/status.h"

typedef struct tls {
    char *cert; /* NULL: no TLS */
    char *key;
} tls;

/* Reads both files; NULL and NULL: no TLS. CARDBOX_INVALID: one can't be read, or they do not
 * belong together. tls_free is called in any case. */
cardbox_status tls_load(tls *out, const char *cert_file, const char *key_file, cardbox_error *err);

/* Sends a last text in a session of GnuTLS. */
void tls_send(void *session, const char *text, size_t len);

/* The key is wiped. */
void tls_free(tls *t);

#endif
