/*
 * tls.c: checks the certificate and the key before the server listens, to report the exact problem.
 * Without this check, libmicrohttpd would only fail to start.
 */
#include "server/net/tls.h"
#include <errno.h>
#include <gnutls/gnutls.h>
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

static int check_pair(const tls *t)
{
    gnutls_certificate_credentials_t credentials = NULL;
    gnutls_datum_t cert = datum_of(t->cert), key = datum_of(t->key);
    int result = gnutls_certificate_allocate_credentials(&credentials);
    if (result == 0)
        result = gnutls_certificate_set_x509_key_mem(credentials, &cert, &key, GNUTLS_X509_FMT_PEM);
    if (credentials != NULL)
        gnutls_certificate_free_credentials(credentials);
    return result < 0 ? result : 0;
}

cardbox_status tls_load(tls *out, const char *cert_file, const char *key_file, cardbox_error *err)
{
    *out = (tls){NULL, NULL};
    if (cert_file == NULL && key_file == NULL)
        return CARDBOX_OK;
    if (cert_file == NULL || key_file == NULL)
        return error_set(err, CARDBOX_INVALID,
                         "--tls-cert and --tls-key must be used together: give both or neither");
    out->cert = read_file(cert_file);
    if (out->cert != NULL)
        out->key = read_file(key_file);
    if (out->cert == NULL || out->key == NULL)
        return error_set(err, CARDBOX_INVALID, "cannot read %s: %s",
                         out->cert == NULL ? cert_file : key_file, strerror(errno));
    int result = check_pair(out);
    if (result == 0)
        return CARDBOX_OK;
    return error_set(err, CARDBOX_INVALID,
                     "%s and %s are not a certificate and its private key, in PEM: %s", cert_file,
                     key_file, gnutls_strerror(result));
}

void tls_send(void *session, const char *text, size_t len)
{
    if (gnutls_record_send(session, text, len) > 0)
        gnutls_bye(session, GNUTLS_SHUT_WR);
}

void tls_free(tls *t)
{
    if (t->key != NULL)
        explicit_bzero(t->key, strlen(t->key));
    free(t->key);
    free(t->cert);
    *t = (tls){NULL, NULL};
}
