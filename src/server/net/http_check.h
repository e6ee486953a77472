/*
 * http_check.h: a check of libmicrohttpd when the server starts. http_frame.c and http_wait.c rely
 * on behaviour that libmicrohttpd does not document.
 */
#ifndef SERVER_HTTP_CHECK_H
#define SERVER_HTTP_CHECK_H

#include <stddef.h>
#include "cardbox/status.h"

/* Sends requests to a separate MHD_Daemon in this process. If libmicrohttpd has another version
 * than the tested one, or does not behave as expected, the error message has the version, the
 * difference and a remedy. */
cardbox_status http_check_library(cardbox_error *err);

/* Does what http_check_library does, for tests: `version` replaces libmicrohttpd's version, and
 * `shift` is added to the addresses of header names. */
cardbox_status http_check_as(const char *version, size_t shift, cardbox_error *err);

#endif
