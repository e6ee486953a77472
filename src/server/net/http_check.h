/*
 * http_check.h: a check of the HTTP library at start. http_frame.c and http_wait.c rely on
 * behaviour that the library does not document.
 */
#ifndef SERVER_HTTP_CHECK_H
#define SERVER_HTTP_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/* Sends requests to a separate daemon in this process. False: `why` contains the version, the
 * difference and a remedy. */
bool http_check_library(char *why, size_t size);

/* The same for tests. `version`: used instead of the library's; `shift`: bytes added to the
 * addresses of headers. */
bool http_check_as(const char *version, size_t shift, char *why, size_t size);

#endif
