/*
 * tls.h: the server's certificate and private key. The files are read and checked when the server
 * starts, and again by tls_reload. Knows no HTTP library.
 */
#ifndef SERVER_TLS_H
#define SERVER_TLS_H

#include <pthread.h>
#include <stddef.h>
#include "cardbox/status.h"

/* A certificate with its key, for GnuTLS. Each connection has a reference to its certificate. */
typedef struct tls_cert tls_cert;

typedef struct tls {
    char *start_cert_pem; /* text of the certificate file at the start; NULL: no TLS */
    char *start_key_pem;  /* text of the key file at the start */
    const char *cert_file;
    const char *key_file;
    pthread_mutex_t lock; /* guards `current` and all reference counts */
    tls_cert *current;    /* the certificate for new connections */
} tls;

/* Reads the files of the certificate and the key. If both names are NULL, TLS is not used. Returns
 * CARDBOX_INVALID if only one name is NULL, a file can't be read, or the key does not belong to the
 * certificate. The names must stay valid until tls_free, which the caller calls in any case. */
cardbox_status tls_load(tls *out, const char *cert_file, const char *key_file, cardbox_error *err);

/* Reads both files again, and uses them for connections that are opened from then on. On an error,
 * for example CARDBOX_INVALID as of tls_load, the certificate in use does not change. Any thread
 * may call this function. */
cardbox_status tls_reload(tls *t, cardbox_error *err);

/* Makes a new session of GnuTLS use the current certificate. Returns a reference, which the caller
 * releases with tls_release after the session's end. */
tls_cert *tls_attach(tls *t, void *session);
void tls_release(tls *t, tls_cert *c);

/* Overwrites the key with zeros, and frees the keys and the certificates. */
void tls_free(tls *t);

#endif
