/*
 * version.h: the version (the build reads it from here) and what marks a symbol as exported.
 */
#ifndef CARDBOX_VERSION_H
#define CARDBOX_VERSION_H

/* While MAJOR is 0, each MINOR is an ABI of its own, as the soname libcardbox.so.MAJOR.MINOR says:
 * compile again against the headers of the library that runs. */
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
 * The version of the library that is running, as "MAJOR.MINOR.PATCH".
 *
 * Compare with CARDBOX_VERSION, the version of the header that was compiled against.
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
