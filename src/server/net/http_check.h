/*
 * http_check.h: a test of the HTTP library at start: http_frame.c and http_wait.c rely on details
 * that its documentation does not promise.
 */
#ifndef SERVER_HTTP_CHECK_H
#define SERVER_HTTP_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/* Sends requests to a daemon of its own, in this process. False: `why` has the version that was
 * found, the difference and what to do. */
bool http_check_library(char *why, size_t size);

/* The same for a version and a layout that a test makes up. `shift`: bytes by which each field
 * appears to lie elsewhere. */
bool http_check_as(const char *version, size_t shift, char *why, size_t size);

#endif
