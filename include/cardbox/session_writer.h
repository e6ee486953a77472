/*
 * session_writer.h: a session as a stream, in both directions: a writer that gives every entry its
 * id at once and sends many of them together, and a reader that holds a page at a time.
 */
#ifndef CARDBOX_SESSION_WRITER_H
#define CARDBOX_SESSION_WRITER_H

#include <cardbox/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Appends to one session. Opaque; ends with cardbox_session_close. */
typedef struct cardbox_session_writer cardbox_session_writer;

/** How a writer works. Start from CARDBOX_WRITER_OPTIONS_INIT. */
typedef struct cardbox_writer_options {
    size_t struct_size;    /**< set by CARDBOX_WRITER_OPTIONS_INIT */
    const char *key;       /**< the same key gives the same ids again, so a run can be repeated: to
                                each entry that brings none, by how many came before it; or NULL */
    const char *timestamp; /**< of all entries that bring no id and none of their own, RFC 3339;
                                NULL: the time of each call. With a key it must be given: a repeated
                                run has to say the same */
    unsigned buffered;     /**< entries that are sent together, up to
                                CARDBOX_ENTRIES_PER_APPEND_MAX; 0: 100 */
} cardbox_writer_options;

#define CARDBOX_WRITER_OPTIONS_INIT                                                                \
    {                                                                                              \
        sizeof(cardbox_writer_options), NULL, NULL, 0                                              \
    }

/**
 * Opens a session for writing; one that is missing is made at once, of the dialect plain, and stays
 * also if nothing is ever written to it. Open the writer in a transaction, and both come together.
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
 * Appends what a user says. Nothing is sent before there is enough of it, or cardbox_session_flush.
 *
 * @param writer   a writer of a session that is not pi's
 * @param content  text
 * @param parent   the entry that it follows, as a call gave it; NULL: the one that this writer
 *                 appended last, at first the session's head; "": none, it is a root
 * @param err      may be NULL
 * @return the entry's id, borrowed until cardbox_session_close; NULL: failed, and *err says why
 *
 * Thread safety: one thread at a time.
 */
CARDBOX_API CARDBOX_MUSTCHECK const char *cardbox_session_append_user(
    cardbox_session_writer *writer, const char *content, const char *parent, cardbox_error *err);

/**
 * Appends what an assistant says.
 *
 * @param writer      a writer of a session that is not pi's
 * @param content     text
 * @param tool_calls  a JSON array of {"id", "name", "params"}; NULL: none
 * @param parent      as of cardbox_session_append_user
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
 * @param name          the tool's
 * @param params        JSON; NULL: {}
 * @param parent        as of cardbox_session_append_user
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
 * @param parent        as of cardbox_session_append_user
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
 * @param json    as of cardbox_session_append; what names no parent goes on from the entry that
 * this writer appended last
 * @param err     may be NULL
 * @return as cardbox_session_append_user
 *
 * Thread safety: one thread at a time.
 */
CARDBOX_API CARDBOX_MUSTCHECK const char *cardbox_session_append_entry(
    cardbox_session_writer *writer, const char *json, cardbox_error *err);

/**
 * Sends what was appended so far. What can't be written stays, to be tried again.
 *
 * @param writer  a writer
 * @param err     may be NULL
 * @return CARDBOX_OK: it is in the database, durably; CARDBOX_NOT_FOUND (a parent that is not
 * there); CARDBOX_CONFLICT (an id with other content); and the connection's
 *
 * Thread safety: one thread at a time.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_session_flush(cardbox_session_writer *writer,
                                                                   cardbox_error *err);

/**
 * Sends what is left, and frees the writer whatever comes of it.
 *
 * @param writer  a writer; NULL does nothing
 * @param err     may be NULL; says how many entries did not get there, and from which on
 * @return as cardbox_session_flush
 *
 * Thread safety: no other use at the same time or later.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_session_close(cardbox_session_writer *writer,
                                                                   cardbox_error *err);

/** Reads a session's entries one after the other. Opaque; free with cardbox_session_scan_free. */
typedef struct cardbox_session_scan cardbox_session_scan;

/**
 * Begins to read a session, however long: a page is held at a time.
 *
 * @param out         receives the scan
 * @param db          any handle; must live as long as the scan
 * @param tenant      the tenant
 * @param session_id  the session
 * @param list        which entries, in its order; but not the children of an entry
 * @param json_max    give lines of up to so many bytes; 0: none; SIZE_MAX: all
 * @param err         may be NULL
 * @return CARDBOX_OK; CARDBOX_NOT_FOUND (no such session); CARDBOX_INVALID; and the connection's
 *
 * Thread safety: as the handle. The scan belongs to one thread at a time.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_session_scan_new(
    cardbox_session_scan **out, cardbox *db, const char *tenant, const char *session_id,
    cardbox_entry_list list, size_t json_max, cardbox_error *err);

/**
 * The next entry.
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
 * Frees a scan and what it lent.
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
