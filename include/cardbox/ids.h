/*
 * ids.h: functions that make and check UUIDs. The id of a box must be a UUID; the ids of cards,
 * sessions and tasks may be any text.
 */
#ifndef CARDBOX_IDS_H
#define CARDBOX_IDS_H

#include <cardbox/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes of a UUID as text, including the terminating NUL. */
#define CARDBOX_UUID_SIZE 37

/**
 * Makes a new UUIDv7 in lower case. The new id sorts after all ids that cardbox_uuid7 made before
 * in the same process.
 *
 * @param out  receives 36 characters and a NUL; if NULL, the function does nothing
 *
 * Thread safety: any thread; also after fork.
 * Source: RFC 9562, section 5.7, method 3 (sub-millisecond order that never decreases).
 */
CARDBOX_API void cardbox_uuid7(char out[CARDBOX_UUID_SIZE]);

/**
 * Makes a UUID that depends only on `key` and `part`. If the key is the id of an agent's turn, a
 * repetition of the turn makes the same ids, so that its writes can be repeated.
 *
 * The result has the form of a UUIDv7. If `key` is a UUIDv7, the new id has the timestamp of `key`.
 * If `key` is no UUIDv7, the bits of the timestamp are bits of the digest.
 *
 * @param out  receives 36 characters and a NUL; if NULL, the function does nothing
 * @param key   for example the id of an agent's turn; NULL counts as ""
 * @param part  a name that distinguishes the ids of one turn, such as "call"; NULL counts as ""
 *
 * Thread safety: any thread.
 * Source: RFC 9562, section 5.5. The id is the UUIDv5 of key, a zero byte and part, with the Nil
 * UUID as the namespace. Then the version is set to 7, and, if key is a UUIDv7, the timestamp to
 * that of key. Input of over 2048 bytes is hashed in blocks of 2048 bytes. The UUIDv5 of each block
 * is the namespace of the next block.
 */
CARDBOX_API void cardbox_uuid7_from_key(char out[CARDBOX_UUID_SIZE], const char *key,
                                        const char *part);

/**
 * Checks whether a text is a UUID: 36 characters with hyphens, in upper or lower case.
 *
 * @param out   receives the UUID in lower case; may be NULL
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
