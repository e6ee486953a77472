/*
 * content_test.h: texts of content, stored and as they are given, that the tests of the content
 * classes share.
 */
#ifndef UNIT_CONTENT_TEST_H
#define UNIT_CONTENT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define NO_PREVIEW                                                                                 \
    "\"etag\":null,\"size\":null,\"content_type\":null,\"expires_at\":null,\"preview\":null"
#define FILE_OF(class, uri) "{\"__type__\":\"" class "\",\"uri\":\"" uri "\",\"checksum\":\"c\""
#define S3                  "s3://bucket/key"
#define RESULT(status, after)                                                                      \
    "{\"__type__\":\"ToolResultContent\",\"status\":\"" status "\",\"after_execution\":\"" after   \
    "\""

#endif
