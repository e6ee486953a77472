/*
 * secret.c: makes secrets from random numbers of the kernel, and their SHA-256. In a file of its
 * own, because GnuTLS's headers define names that other files of the CLI use.
 */
#include "cli/admin/secret.h"

#include <gnutls/crypto.h>
#include <sys/random.h>

bool secret_make(char text[TOKEN_TEXT_SIZE + 1], unsigned char hash[TOKEN_HASH_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[TOKEN_RANDOM];
    size_t used = sizeof(TOKEN_PREFIX) - 1;

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return false;
    memcpy(text, TOKEN_PREFIX, used);
    for (size_t i = 0; i < sizeof(bytes); i++) {
        text[used++] = digits[bytes[i] >> 4];
        text[used++] = digits[bytes[i] & 15];
    }
    text[used] = '\0';
    return gnutls_hash_fast(GNUTLS_DIG_SHA256, text, used, hash) == 0;
}
