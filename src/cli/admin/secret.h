/*
 * secret.h: makes the secret of a new token, without a database.
 */
#ifndef CLI_SECRET_H
#define CLI_SECRET_H

#include "store/admin/tokens.h"

/* Makes a secret as text, and its SHA-256. False: getrandom() or the hash function failed. */
bool secret_make(char text[TOKEN_TEXT_SIZE + 1], unsigned char hash[TOKEN_HASH_SIZE]);

#endif
