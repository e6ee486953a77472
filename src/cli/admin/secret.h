/*
 * secret.h: makes the secret of a new token.
 */
#ifndef CLI_SECRET_H
#define CLI_SECRET_H

#include "store/admin/tokens.h"

/* Writes a new secret to `text`, with a NUL, and its SHA-256 to `hash`. Returns false if
 * getrandom() or the hash function failed. */
bool secret_make(char text[TOKEN_TEXT_SIZE + 1], unsigned char hash[TOKEN_HASH_SIZE]);

#endif
