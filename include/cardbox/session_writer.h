/*
 * session_writer.h: writers and scans of sessions. A writer returns the id of each appended entry
 * at once, and sends entries to the database in batches. A scan reads the entries of a session page
 * by page.
 */
#ifndef CARDBOX_SESSION_WRITER_H
#define CARDBOX_SESSION_WRITER_H

#include <cardbox/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A writer, which appends entries to one session. Opaque; end it with cardbox_session_close. */
typedef struct cardbox_session_writer cardbox_session_writer;

/** Options of a writer. Start from CARDBOX_WRITER_OPTIONS_INIT. */
typedef struct cardbox_writer_options {
    size_t struct_size; /**< set by CARDBOX_WRITER_OPTIONS_INIT */
    const char *key; /**< NULL: entries without an id get new ids. With a key, these ids are derived
                          from the key and a number, so that a repeated run of the program makes the
                          same ids */
    /** RFC 3339: the timestamp of entries that lack both a timestamp and an id; NULL: the time
     * of each call. An entry of the dialect plain gets this time as a number of milliseconds since
     * 1970. A timestamp is required with a key, because a repeated run must write the same bytes.
     */
    const char *timestamp;
    unsigned buffered; /**< maximum number of entries of a batch, up to
                          CARDBOX_ENTRIES_PER_APPEND_MAX; 0: 10 */
} cardbox_writer_options;

#define CARDBOX_WRITER_OPTIONS_INIT                                                                \
    {                                                                                              \
        sizeof(cardbox_writer_options), NULL, NULL, 0                                              \
    }

/**
 * Opens a writer of a session. If the session does not exist, it is created at once, with the
 * dialect plain. To create a session in the same transaction as its first entries, open the writer
 * with a transaction.
 *
 * @param out         receives the writer; end it with cardbox_session_close
 * @param db          any handle, which must not be ended before the writer
 * @param tenant      the tenant
 * @param session_id  the session
 * @param options     NULL means CARDBOX_WRITER_OPTIONS_INIT
 * @param err         may be NULL
 * @return CARDBOX_OK; CARDBOX_INVALID; CARDBOX_GONE (the session was deleted, see
 * cardbox_session_create); and the connection's
 *
 * Thread safety: that of the handle `db`. Only one thread at a time may use the writer.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_session_open(
    cardbox_session_writer **out, cardbox *db, const char *tenant, const char *session_id,
    const cardbox_writer_options *options, cardbox_error *err);

/**
 * Appends a user's message to the batch of the writer. If the batch is full (`buffered` entries, or
 * 1 MiB), the batch is sent before the message is added. cardbox_session_flush and
 * cardbox_session_close send an incomplete batch.
 *
 * @param writer        a writer of a session of the dialect plain
 * @param content  the text of the message
 * @param parent   the id of the parent; NULL: the last entry of this writer, or before its first
 * entry the session's head; "": the entry is a root
 * @param err      may be NULL
 * @return the entry's id, borrowed until cardbox_session_close; NULL: the call failed, and *err has
 * the reason
 *
 * Thread safety: only one thread at a time may use a writer or a scan.
 */
CARDBOX_API CARDBOX_MUSTCHECK const char *cardbox_session_append_user(
    cardbox_session_writer *writer, const char *content, const char *parent, cardbox_error *err);

/**
 * Appends an assistant's message.
 *
 * @param writer        a writer of a session of the dialect plain
 * @param content     the text of the message
 * @param tool_calls  a JSON array of {"id", "name", "params"}; NULL: none
 * @param parent      as for cardbox_session_append_user
 * @param err         may be NULL
 * @return as cardbox_session_append_user
 *
 * Thread safety: only one thread at a time may use a writer or a scan.
 */
CARDBOX_API CARDBOX_MUSTCHECK const char *cardbox_session_append_assistant(
    cardbox_session_writer *writer, const char *content, const char *tool_calls, const char *parent,
    cardbox_error *err);

/**
 * Appends a tool call.
 *
 * @param writer        a writer of a session of the dialect plain
 * @param tool_call_id  an id for the tool call; its result has the same tool_call_id
 * @param name          the name of the tool
 * @param params        the parameters of the tool call, JSON; NULL: {}
 * @param parent        as for cardbox_session_append_user
 * @param err           may be NULL
 * @return as cardbox_session_append_user
 *
 * Thread safety: only one thread at a time may use a writer or a scan.
 */
CARDBOX_API CARDBOX_MUSTCHECK const char *cardbox_session_append_tool(
    cardbox_session_writer *writer, const char *tool_call_id, const char *name, const char *params,
    const char *parent, cardbox_error *err);

/**
 * Appends the result of a tool call.
 *
 * @param writer        a writer of a session of the dialect plain
 * @param tool_call_id  the id of the tool call
 * @param output        the output of the tool, a text, which a model reads
 * @param details       details for a user interface, JSON; NULL: none
 * @param success       false: the tool failed
 * @param parent        as for cardbox_session_append_user
 * @param err           may be NULL
 * @return as cardbox_session_append_user
 *
 * Thread safety: only one thread at a time may use a writer or a scan.
 */
CARDBOX_API CARDBOX_MUSTCHECK const char *cardbox_session_append_tool_result(
    cardbox_session_writer *writer, const char *tool_call_id, const char *output,
    const char *details, bool success, const char *parent, cardbox_error *err);

/**
 * Appends an entry of any type. An entry of an unknown type is stored, and is never part of a
 * context. An unknown member is an error in the dialect plain, as in cardbox_session_append.
 *
 * @param writer  a writer
 * @param json    an entry as for cardbox_session_append; if it has no parentId, its parent is the
 * last entry of this writer, or before its first entry the session's head
 * @param err     may be NULL
 * @return as cardbox_session_append_user
 *
 * Thread safety: only one thread at a time may use a writer or a scan.
 */
CARDBOX_API CARDBOX_MUSTCHECK const char *cardbox_session_append_entry(
    cardbox_session_writer *writer, const char *json, cardbox_error *err);

/**
 * Sends the entries of the batch. If they can't be written, they stay in the writer, and the next
 * flush sends them again.
 *
 * @param writer  a writer
 * @param err     may be NULL
 * @return CARDBOX_OK (the entries are written); CARDBOX_NOT_FOUND (no such session or parent);
 * CARDBOX_CONFLICT (an id is used with other content); and the connection's. If the writer's handle
 * is a pool, the written entries are committed
 *
 * Thread safety: only one thread at a time may use a writer or a scan.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_session_flush(cardbox_session_writer *writer,
                                                                   cardbox_error *err);

/**
 * Sends the remaining entries and frees the writer, even if sending fails.
 *
 * @param writer  a writer; NULL does nothing
 * @param err     may be NULL; the message contains the number of entries that were not written, and
 * the id of the first of them
 * @return as cardbox_session_flush
 *
 * Thread safety: no thread may use the object at the same time or later.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_session_close(cardbox_session_writer *writer,
                                                                   cardbox_error *err);

/** A scan, which reads a session's entries one by one. Opaque; free it with
 * cardbox_session_scan_free. */
typedef struct cardbox_session_scan cardbox_session_scan;

/**
 * Begins a scan of a session of any length. A scan reads the entries in pages.
 *
 * @param out         receives the scan
 * @param db          any handle, which must not be ended before the scan
 * @param tenant      the tenant
 * @param session_id  the session
 * @param list        the list of entries; CARDBOX_ENTRIES_CHILDREN: the roots
 * @param json_max    the JSON of an entry is returned only if it has at most this number of bytes;
 * 0: no JSON is returned; SIZE_MAX: all JSON is returned
 * @param err         may be NULL
 * @return CARDBOX_OK; CARDBOX_NOT_FOUND (no such session); CARDBOX_INVALID; and the connection's
 *
 * Thread safety: that of the handle `db`. Only one thread at a time may use the scan.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_session_scan_new(
    cardbox_session_scan **out, cardbox *db, const char *tenant, const char *session_id,
    cardbox_entry_list list, size_t json_max, cardbox_error *err);

/**
 * Returns the next entry of a scan.
 *
 * @param out   receives the entry, borrowed until the next call; NULL: there are no more entries
 * @param scan  a scan
 * @param err   may be NULL
 * @return CARDBOX_OK, also after the last entry; CARDBOX_INVALID; CARDBOX_NOT_FOUND (the session
 * was deleted); and the connection's
 *
 * Thread safety: only one thread at a time may use a writer or a scan.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_session_scan_next(const cardbox_entry **out,
                                                                       cardbox_session_scan *scan,
                                                                       cardbox_error *err);

/**
 * Frees a scan and everything borrowed from it.
 *
 * @param scan  a scan; NULL does nothing
 *
 * Thread safety: no thread may use the object at the same time or later.
 */
CARDBOX_API void cardbox_session_scan_free(cardbox_session_scan *scan);

#ifdef __cplusplus
}
#endif

#endif
