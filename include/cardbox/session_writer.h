/*
 * session_writer.h: writers and scans of sessions. A writer returns the id of each entry at once
 * and sends entries in batches. A scan reads entries page by page.
 */
#ifndef CARDBOX_SESSION_WRITER_H
#define CARDBOX_SESSION_WRITER_H

#include <cardbox/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Appends to one session. Opaque; ends with cardbox_session_close. */
typedef struct cardbox_session_writer cardbox_session_writer;

/** Options of a writer. Start from CARDBOX_WRITER_OPTIONS_INIT. */
typedef struct cardbox_writer_options {
    size_t struct_size; /**< set by CARDBOX_WRITER_OPTIONS_INIT */
    const char *key; /**< entries without an id get one that is made from this key and their number,
                        so that a repeated run makes the same ids; or NULL */
    /** RFC 3339: the time of entries without a timestamp and an id; NULL: the time of each call.
     * Required with a key, because a repeated run must write the same. */
    const char *timestamp;
    unsigned buffered; /**< entries of a batch, up to CARDBOX_ENTRIES_PER_APPEND_MAX; 0: 100 */
} cardbox_writer_options;

#define CARDBOX_WRITER_OPTIONS_INIT                                                                \
    {                                                                                              \
        sizeof(cardbox_writer_options), NULL, NULL, 0                                              \
    }

/**
 * Opens a session for writing. If it does not exist, it is created at once, with the dialect plain.
 * To create it together with its first entries, open the writer in a transaction.
 *
 * @param out         receives the writer; end it with cardbox_session_close
 * @param db          any handle; must live as long as the writer
 * @param tenant      the tenant
 * @param session_id  the session
 * @param options     NULL means CARDBOX_WRITER_OPTIONS_INIT
 * @param err         may be NULL
 * @return CARDBOX_OK; CARDBOX_INVALID; and the connection's
 *
 * Thread safety: as the handle. The writer belongs to one thread at a time.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_session_open(
    cardbox_session_writer **out, cardbox *db, const char *tenant, const char *session_id,
    const cardbox_writer_options *options, cardbox_error *err);

/**
 * Appends a user's message. Entries are sent when a batch is full, or by cardbox_session_flush.
 *
 * @param writer   a writer of a session that is not pi's
 * @param content  text
 * @param parent   the id of the parent; NULL: the last entry of this writer, at first the session's
 * head; "": none, the entry is a root
 * @param err      may be NULL
 * @return the entry's id, borrowed until cardbox_session_close; NULL: failed, and *err has the
 * reason
 *
 * Thread safety: one thread at a time.
 */
CARDBOX_API CARDBOX_MUSTCHECK const char *cardbox_session_append_user(
    cardbox_session_writer *writer, const char *content, const char *parent, cardbox_error *err);

/**
 * Appends an assistant's message.
 *
 * @param writer      a writer of a session that is not pi's
 * @param content     text
 * @param tool_calls  a JSON array of {"id", "name", "params"}; NULL: none
 * @param parent      as for cardbox_session_append_user
 * @param err         may be NULL
 * @return as cardbox_session_append_user
 *
 * Thread safety: one thread at a time.
 */
CARDBOX_API CARDBOX_MUSTCHECK const char *cardbox_session_append_assistant(
    cardbox_session_writer *writer, const char *content, const char *tool_calls, const char *parent,
    cardbox_error *err);

/**
 * Appends a call of a tool.
 *
 * @param writer        a writer of a session that is not pi's
 * @param tool_call_id  the call's id, which its result names
 * @param name          the tool's name
 * @param params        JSON; NULL: {}
 * @param parent        as for cardbox_session_append_user
 * @param err           may be NULL
 * @return as cardbox_session_append_user
 *
 * Thread safety: one thread at a time.
 */
CARDBOX_API CARDBOX_MUSTCHECK const char *cardbox_session_append_tool(
    cardbox_session_writer *writer, const char *tool_call_id, const char *name, const char *params,
    const char *parent, cardbox_error *err);

/**
 * Appends the result of a call.
 *
 * @param writer        a writer of a session that is not pi's
 * @param tool_call_id  the call's id
 * @param output        text
 * @param success       false: the tool failed
 * @param parent        as for cardbox_session_append_user
 * @param err           may be NULL
 * @return as cardbox_session_append_user
 *
 * Thread safety: one thread at a time.
 */
CARDBOX_API CARDBOX_MUSTCHECK const char *cardbox_session_append_tool_result(
    cardbox_session_writer *writer, const char *tool_call_id, const char *output, bool success,
    const char *parent, cardbox_error *err);

/**
 * Appends an entry of any kind. An entry of an unknown type is stored without a warning, and is
 * never part of a context.
 *
 * @param writer  a writer
 * @param json    as for cardbox_session_append; without a parentId the entry continues the last
 * entry of this writer
 * @param err     may be NULL
 * @return as cardbox_session_append_user
 *
 * Thread safety: one thread at a time.
 */
CARDBOX_API CARDBOX_MUSTCHECK const char *cardbox_session_append_entry(
    cardbox_session_writer *writer, const char *json, cardbox_error *err);

/**
 * Sends the entries appended so far. Entries that can't be written are kept for another attempt.
 *
 * @param writer  a writer
 * @param err     may be NULL
 * @return CARDBOX_OK: the entries are committed; CARDBOX_NOT_FOUND (a parent is missing);
 * CARDBOX_CONFLICT (an entry with the id has other content); and the connection's
 *
 * Thread safety: one thread at a time.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_session_flush(cardbox_session_writer *writer,
                                                                   cardbox_error *err);

/**
 * Sends the remaining entries and frees the writer, even if sending fails.
 *
 * @param writer  a writer; NULL does nothing
 * @param err     may be NULL; the message contains the number of unsent entries, and the first of
 * them
 * @return as cardbox_session_flush
 *
 * Thread safety: no other use at the same time or later.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_session_close(cardbox_session_writer *writer,
                                                                   cardbox_error *err);

/** Reads a session's entries one by one. Opaque; free with cardbox_session_scan_free. */
typedef struct cardbox_session_scan cardbox_session_scan;

/**
 * Begins to read a session of any length. One page is in memory at a time.
 *
 * @param out         receives the scan
 * @param db          any handle; must live as long as the scan
 * @param tenant      the tenant
 * @param session_id  the session
 * @param list        which entries; not CARDBOX_ENTRIES_CHILDREN
 * @param json_max    return lines up to this number of bytes; 0: none; SIZE_MAX: all
 * @param err         may be NULL
 * @return CARDBOX_OK; CARDBOX_NOT_FOUND (no such session); CARDBOX_INVALID; and the connection's
 *
 * Thread safety: as the handle. The scan belongs to one thread at a time.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_session_scan_new(
    cardbox_session_scan **out, cardbox *db, const char *tenant, const char *session_id,
    cardbox_entry_list list, size_t json_max, cardbox_error *err);

/**
 * Returns the next entry.
 *
 * @param out   receives the entry, borrowed until the next call; NULL: there are no more
 * @param scan  a scan
 * @param err   may be NULL
 * @return CARDBOX_OK, also at the end; and the connection's
 *
 * Thread safety: one thread at a time.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_session_scan_next(const cardbox_entry **out,
                                                                       cardbox_session_scan *scan,
                                                                       cardbox_error *err);

/**
 * Frees a scan and everything borrowed from it.
 *
 * @param scan  a scan; NULL does nothing
 *
 * Thread safety: no other use at the same time or later.
 */
CARDBOX_API void cardbox_session_scan_free(cardbox_session_scan *scan);

#ifdef __cplusplus
}
#endif

#endif
