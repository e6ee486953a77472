/*
 * secret.h: makes the secret of a new token. Knows no database.
 */
#ifndef CLI_SECRET_H
#define CLI_SECRET_H

#include "store/admin/tokens.h"

/* Makes a secret as text, and its hash. False: the system has no random numbers. */
bool secret_make(char text[TOKEN_TEXT_SIZE + 1], unsigned char hash[TOKEN_HASH_SIZE]);

#endif
