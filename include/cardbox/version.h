/*
 * version.h: the version of the library, and the attribute macros of exported functions. The
 * Makefile reads the version from this file.
 */
#ifndef CARDBOX_VERSION_H
#define CARDBOX_VERSION_H

/* While MAJOR is 0, each MINOR version has its own ABI and the soname libcardbox.so.MAJOR.MINOR. A
 * program must be compiled with the headers of the MINOR version that it runs with. */
#define CARDBOX_VERSION_MAJOR 0
#define CARDBOX_VERSION_MINOR 2
#define CARDBOX_VERSION_PATCH 0
#define CARDBOX_VERSION       "0.2.0"

#if defined(__GNUC__)
#define CARDBOX_API       __attribute__((visibility("default")))
#define CARDBOX_MUSTCHECK __attribute__((warn_unused_result))
#else
#define CARDBOX_API
#define CARDBOX_MUSTCHECK
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Returns the version of the running library, as "MAJOR.MINOR.PATCH".
 *
 * CARDBOX_VERSION is the version of the headers that the program was compiled with.
 *
 * @return static text, never NULL
 *
 * Thread safety: any thread.
 */
CARDBOX_API const char *cardbox_version(void);

#ifdef __cplusplus
}
#endif

#endif
