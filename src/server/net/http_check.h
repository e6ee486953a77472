/*
 * http_check.h: a check of the HTTP library at start. http_frame.c and http_wait.c rely on
 * behaviour that the library does not document.
 */
#ifndef SERVER_HTTP_CHECK_H
#define SERVER_HTTP_CHECK_H

#include <stddef.h>
#include "cardbox/status.h"

/* Sends requests to a separate daemon in this process. If it fails, the message contains the
 * version, the difference and a remedy. */
cardbox_status http_check_library(cardbox_error *err);

/* The same for tests. `version`: used instead of the library's; `shift`: bytes added to the
 * addresses of headers. */
cardbox_status http_check_as(const char *version, size_t shift, cardbox_error *err);

#endif
