/*
 * tls.c: checks the certificate and the key before the server listens, to report the exact problem.
 * Without this check, libmicrohttpd would only fail to start.
 */
#include "server/net/tls.h"
#include <errno.h>
#include <gnutls/gnutls.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/errors.h"

/* Returns the content of a file, which the caller frees with free(). NULL: the file can't be read,
 * and the reason is in errno. */
static char *read_file(const char *path)
{
    gnutls_datum_t file = {NULL, 0};
    return gnutls_load_file(path, &file) == 0 ? (char *)file.data : NULL;
}

static gnutls_datum_t datum_of(char *text)
{
    return (gnutls_datum_t){(unsigned char *)text, (unsigned)strlen(text)};
}

/* The texts of the two files. */
typedef struct pem {
    char *cert;
    char *key;
} pem;

static void pem_free(pem *p)
{
    if (p->key != NULL)
        explicit_bzero(p->key, strlen(p->key));
    free(p->key);
    free(p->cert);
    *p = (pem){NULL, NULL};
}

struct tls_cert {
    gnutls_certificate_credentials_t credentials;
    size_t references; /* connections, and 1 for tls.current */
};

static void cert_free(tls_cert *c)
{
    if (c == NULL)
        return;
    if (c->credentials != NULL)
        gnutls_certificate_free_credentials(c->credentials);
    free(c);
}

/* Makes a certificate with one reference. Returns an error of GnuTLS if the key does not belong to
 * the certificate. */
static int cert_new(tls_cert **out, const pem *texts)
{
    gnutls_datum_t cert = datum_of(texts->cert), key = datum_of(texts->key);
    tls_cert *c = calloc(1, sizeof(*c));
    int result = c == NULL ? GNUTLS_E_MEMORY_ERROR
                           : gnutls_certificate_allocate_credentials(&c->credentials);
    if (result == 0)
        result =
            gnutls_certificate_set_x509_key_mem(c->credentials, &cert, &key, GNUTLS_X509_FMT_PEM);
    if (result < 0) {
        cert_free(c);
        return result;
    }
    c->references = 1;
    *out = c;
    return 0;
}

/* Reads both files into `texts`, which the caller frees in any case, and makes the certificate. */
static cardbox_status read_cert(tls_cert **out, pem *texts, const tls *t, cardbox_error *err)
{
    texts->cert = read_file(t->cert_file);
    if (texts->cert != NULL)
        texts->key = read_file(t->key_file);
    if (texts->cert == NULL || texts->key == NULL)
        return error_set(err, CARDBOX_INVALID, "cannot read %s: %s",
                         texts->cert == NULL ? t->cert_file : t->key_file, strerror(errno));
    int result = cert_new(out, texts);
    if (result == 0)
        return CARDBOX_OK;
    return error_set(err, CARDBOX_INVALID,
                     "%s and %s are not a certificate and its private key, in PEM: %s",
                     t->cert_file, t->key_file, gnutls_strerror(result));
}

cardbox_status tls_load(tls *out, const char *cert_file, const char *key_file, cardbox_error *err)
{
    pem texts = {NULL, NULL};
    *out = (tls){.cert_file = cert_file, .key_file = key_file, .lock = PTHREAD_MUTEX_INITIALIZER};
    if (cert_file == NULL && key_file == NULL)
        return CARDBOX_OK;
    if (cert_file == NULL || key_file == NULL)
        return error_set(err, CARDBOX_INVALID,
                         "--tls-cert and --tls-key must be used together: give both or neither");
    cardbox_status status = read_cert(&out->current, &texts, out, err);
    out->start_cert_pem = texts.cert;
    out->start_key_pem = texts.key;
    return status;
}

cardbox_status tls_reload(tls *t, cardbox_error *err)
{
    pem texts = {NULL, NULL};
    tls_cert *loaded = NULL;
    cardbox_status status = read_cert(&loaded, &texts, t, err);
    pem_free(&texts);
    if (status != CARDBOX_OK)
        return status;
    pthread_mutex_lock(&t->lock);
    tls_cert *old = t->current;
    t->current = loaded;
    pthread_mutex_unlock(&t->lock);
    tls_release(t, old);
    return CARDBOX_OK;
}

/* --- connections --- */

tls_cert *tls_attach(tls *t, void *session)
{
    pthread_mutex_lock(&t->lock);
    tls_cert *c = t->current;
    c->references++;
    pthread_mutex_unlock(&t->lock);
    /* libmicrohttpd has set the certificate that was loaded at the start. Replacing it allocates no
     * memory. */
    gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, c->credentials);
    return c;
}

void tls_release(tls *t, tls_cert *c)
{
    if (c == NULL)
        return;
    pthread_mutex_lock(&t->lock);
    bool last = --c->references == 0;
    pthread_mutex_unlock(&t->lock);
    if (last)
        cert_free(c);
}

void tls_free(tls *t)
{
    pem texts = {t->start_cert_pem, t->start_key_pem};
    pem_free(&texts);
    tls_release(t, t->current);
    *t = (tls){.start_cert_pem = NULL};
}
