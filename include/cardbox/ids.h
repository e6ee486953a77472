/*
 * ids.h: ids. Ids are opaque text; those that CardBox makes are UUIDv7 (RFC 9562) in lower case.
 */
#ifndef CARDBOX_IDS_H
#define CARDBOX_IDS_H

#include <cardbox/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes of a UUID as text with its NUL. */
#define CARDBOX_UUID_SIZE 37

/**
 * Makes a new UUIDv7. In one process, later ids sort after earlier ones.
 *
 * @param out  receives 36 characters and a NUL; may be NULL, for nothing
 *
 * Thread safety: any thread; also after fork.
 * Source: RFC 9562, section 5.7, method 3 (sub-millisecond order that never decreases).
 */
CARDBOX_API void cardbox_uuid7(char out[CARDBOX_UUID_SIZE]);

/**
 * Makes a UUID that depends only on its arguments. A repeated turn has the same ids, so it writes
 * nothing new.
 *
 * The result has the form of a UUIDv7. If `key` is a UUIDv7, the new id has the same time and sorts
 * next to it. If `key` is no UUIDv7, the time bits are bits of the digest too.
 *
 * @param out   receives 36 characters and a NUL; may be NULL, for nothing
 * @param key   an id of the turn; NULL counts as ""
 * @param part  which id of the turn, such as "call"; NULL counts as ""
 *
 * Thread safety: any thread.
 * Source: SHA-1 of key, a zero byte and part, as in RFC 9562 section 5.5 with the Nil UUID as the
 * namespace, in the layout of 5.7. Longer input is hashed in blocks of 2048 bytes. The UUID of each
 * block, as in 5.5, is the namespace of the next.
 */
CARDBOX_API void cardbox_uuid7_from_key(char out[CARDBOX_UUID_SIZE], const char *key,
                                        const char *part);

/**
 * Checks a UUID and writes it in canonical form: 36 characters with hyphens, either case.
 *
 * @param out   receives the lower-case form; may be NULL
 * @param text  the text; NULL is not a UUID
 * @return whether `text` is a UUID
 *
 * Thread safety: any thread.
 */
CARDBOX_API bool cardbox_uuid_parse(char out[CARDBOX_UUID_SIZE], const char *text);

#ifdef __cplusplus
}
#endif

#endif
