/*
 * tls.h: the certificate and key that clients are served with, as PEM in memory, read and checked
 * once at the start. Knows no HTTP library.
 */
#ifndef SERVER_TLS_H
#define SERVER_TLS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct tls {
    char *cert; /* NULL: no TLS */
    char *key;
} tls;

/* Reads both files; NULL and NULL: no TLS. False, with the reason in `error`, if one can't be read
 * or they do not belong together. */
bool tls_load(tls *out, const char *cert_file, const char *key_file, char *error, size_t size);

/* Sends a last text in a session of GnuTLS. */
void tls_send(void *session, const char *text, size_t len);

/* The key is wiped. */
void tls_free(tls *t);

#endif
