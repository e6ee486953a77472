/*
 * session.h: sessions. A session is a tree of entries; each entry is a line of JSON that never
 * changes. Entry ids are unique within their session. An `entry_id` at the end of a path (NULL: the
 * head) is the `leaf` of the HTTP API and may be any entry. Files are in session_file.h, writers in
 * session_writer.h, and contexts in context.h.
 */
#ifndef CARDBOX_SESSION_H
#define CARDBOX_SESSION_H

#include <cardbox/client.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The format of a session's entries. cardbox(1), ENTRIES, describes the types of both dialects.
 * The numbers never change. */
typedef enum cardbox_dialect {
    CARDBOX_DIALECT_UNKNOWN = -1, /**< not yet known */
    CARDBOX_DIALECT_PLAIN = 0,    /**< user, assistant, tool, tool_result, ...; no header */
    CARDBOX_DIALECT_PI =
        1 /**< the format of the pi coding agent: a header, then messages and more */
} cardbox_dialect;

/** A session. Its texts are borrowed from the result. */
typedef struct cardbox_session {
    const char *session_id;
    cardbox_dialect dialect;
    const char *header;        /**< JSON; NULL: none */
    const char *name;          /**< a JSON string; NULL: none */
    const char *forked_from;   /**< a session's id; NULL: none */
    const char *head_entry_id; /**< the entry that the next append continues; NULL: none */
    int64_t entries;
    int64_t version;        /**< grows by one with every change */
    const char *created_at; /**< RFC 3339, UTC */
    const char *updated_at;
} cardbox_session;

/** Sessions. Opaque; free with cardbox_sessions_free. */
typedef struct cardbox_sessions cardbox_sessions;

/** Options of a new session. Start from CARDBOX_SESSION_OPTIONS_INIT. */
typedef struct cardbox_session_options {
    size_t struct_size; /**< set by CARDBOX_SESSION_OPTIONS_INIT */
    cardbox_dialect dialect;
    const char *header; /**< for pi: a JSON object of type "session"; NULL: one is made. Up to
                           CARDBOX_SESSION_HEADER_MAX bytes, also with `cwd` */
    const char *cwd;    /**< `cwd` of a header that is made, UTF-8; NULL: "" */
    bool must_be_new;   /**< if the session exists: CARDBOX_CONFLICT */
} cardbox_session_options;

#define CARDBOX_SESSION_OPTIONS_INIT                                                               \
    {                                                                                              \
        sizeof(cardbox_session_options), CARDBOX_DIALECT_PLAIN, NULL, NULL, false                  \
    }

/**
 * Creates a session. An existing session does not change.
 *
 * @param is_new      receives true if the session was created; may be NULL
 * @param db          any handle
 * @param tenant      the tenant
 * @param session_id  1 to CARDBOX_CARD_ID_MAX bytes of UTF-8 without control characters
 * @param options     NULL means CARDBOX_SESSION_OPTIONS_INIT, and an existing session may have
 * either dialect
 * @param err         may be NULL
 * @return CARDBOX_OK; CARDBOX_INVALID; CARDBOX_TOO_LARGE (the header); CARDBOX_CONFLICT (it exists,
 * and must_be_new was set or it has the other dialect); and the connection's. With must_be_new it
 * is not retried after a lost connection
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status
cardbox_session_create(bool *is_new, cardbox *db, const char *tenant, const char *session_id,
                       const cardbox_session_options *options, cardbox_error *err);

/**
 * Reads one session, without its entries.
 *
 * @param out         receives a result with one session
 * @param db          any handle
 * @param tenant      the tenant
 * @param session_id  the session
 * @param err         may be NULL
 * @return CARDBOX_OK; CARDBOX_NOT_FOUND; CARDBOX_INVALID; and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_session_get(cardbox_sessions **out,
                                                                 cardbox *db, const char *tenant,
                                                                 const char *session_id,
                                                                 cardbox_error *err);

/**
 * Lists the sessions of a tenant by creation, newest first, in pages.
 *
 * @param out     receives the page
 * @param db      any handle
 * @param tenant  the tenant
 * @param cursor  from cardbox_sessions_cursor; NULL: from the newest
 * @param limit   1 to CARDBOX_PAGE_MAX; 0: CARDBOX_PAGE_DEFAULT
 * @param err     may be NULL
 * @return CARDBOX_OK, even if the list is empty; CARDBOX_INVALID; and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_sessions_list(cardbox_sessions **out,
                                                                   cardbox *db, const char *tenant,
                                                                   const char *cursor,
                                                                   unsigned limit,
                                                                   cardbox_error *err);

/**
 * Returns the number of sessions in a result.
 *
 * @param sessions  a result; NULL counts as empty
 * @return their number
 *
 * Thread safety: any thread, but one at a time.
 */
CARDBOX_API size_t cardbox_sessions_count(const cardbox_sessions *sessions);

/**
 * Returns a session of a result.
 *
 * @param sessions  a result
 * @param index     below cardbox_sessions_count
 * @return the session, borrowed until cardbox_sessions_free; NULL if there is none
 *
 * Thread safety: any thread, but one at a time.
 */
CARDBOX_API const cardbox_session *cardbox_sessions_at(const cardbox_sessions *sessions,
                                                       size_t index);

/**
 * Returns the cursor of the next page.
 *
 * @param sessions  a result
 * @return the cursor for cardbox_sessions_list, borrowed; NULL: this is the last page
 *
 * Thread safety: any thread, but one at a time.
 */
CARDBOX_API const char *cardbox_sessions_cursor(const cardbox_sessions *sessions);

/**
 * Frees a result and everything borrowed from it.
 *
 * @param sessions  a result; NULL does nothing
 *
 * Thread safety: no other use at the same time or later.
 */
CARDBOX_API void cardbox_sessions_free(cardbox_sessions *sessions);

/** An entry. Its texts are borrowed from the result. */
typedef struct cardbox_entry {
    const char *entry_id;
    const char *parent_id; /**< NULL: a root */
    int64_t line;          /**< the number of its line in the session, from 0 */
    int depth;             /**< number of entries above it */
    const char *type;      /**< "message", "user", ...; "other": an unknown type */
    const char *role;      /**< "user", "assistant", "tool", "system"; NULL: none */
    const char *label;     /**< its last label; NULL: none */
    const char *
        missing_parent; /**< the parent in its line, if the session has no such entry; NULL: none */
    size_t size;        /**< bytes of its JSON */
    const char *json;   /**< its JSON, exactly; NULL: not requested, or longer than requested */
    int64_t children;   /**< number of children, in a list of branch points; else 0 */
    int side;           /**< in a diff: 0 on both paths, 1 on the first, 2 on the second */
} cardbox_entry;

/** Entries. Opaque; free with cardbox_entries_free. */
typedef struct cardbox_entries cardbox_entries;

/** Which entries of a session. */
typedef enum cardbox_entry_list {
    CARDBOX_ENTRIES_ALL,           /**< all, in line order */
    CARDBOX_ENTRIES_CHILDREN,      /**< children of an entry, or the roots */
    CARDBOX_ENTRIES_LEAVES,        /**< entries without children, by the start of their branches */
    CARDBOX_ENTRIES_BRANCH_POINTS, /**< entries with several children */
    CARDBOX_ENTRIES_LABELLED       /**< entries with a label, by descending id */
} cardbox_entry_list;

/** A page of entries. Start from CARDBOX_ENTRY_PAGE_INIT. */
typedef struct cardbox_entry_page {
    size_t struct_size;   /**< set by CARDBOX_ENTRY_PAGE_INIT */
    const char *entry_id; /**< for children: the parent; NULL: the roots */
    const char *cursor;   /**< from cardbox_entries_cursor; NULL: from the first */
    unsigned limit;       /**< 1 to CARDBOX_PAGE_MAX; 0: CARDBOX_PAGE_DEFAULT */
    size_t json_max;      /**< return lines up to this number of bytes; 0: none; SIZE_MAX: all */
} cardbox_entry_page;

#define CARDBOX_ENTRY_PAGE_INIT                                                                    \
    {                                                                                              \
        sizeof(cardbox_entry_page), NULL, NULL, 0, 0                                               \
    }

/**
 * Reads a page of a session's entries.
 *
 * @param out         receives the page; cardbox_entries_cursor has the cursor of the next one
 * @param db          any handle
 * @param tenant      the tenant
 * @param session_id  the session
 * @param list        which entries
 * @param page        NULL means CARDBOX_ENTRY_PAGE_INIT
 * @param err         may be NULL
 * @return CARDBOX_OK, CARDBOX_INVALID; CARDBOX_NOT_FOUND: no such session, or no such parent; and
 * the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_session_entries(
    cardbox_entries **out, cardbox *db, const char *tenant, const char *session_id,
    cardbox_entry_list list, const cardbox_entry_page *page, cardbox_error *err);

/**
 * Reads entries by id, with their lines.
 *
 * @param out         receives the entries that exist, in any order
 * @param db          any handle
 * @param tenant      the tenant
 * @param session_id  the session
 * @param entry_ids   their ids
 * @param count       up to CARDBOX_PAGE_MAX
 * @param err         may be NULL
 * @return CARDBOX_OK, even if none exists; CARDBOX_INVALID; CARDBOX_TOO_LARGE; and the
 *         connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_session_get_entries(
    cardbox_entries **out, cardbox *db, const char *tenant, const char *session_id,
    const char *const *entry_ids, size_t count, cardbox_error *err);

/**
 * Reads the path from a root to an entry, or a part of it, in one statement.
 *
 * @param out         receives the entries, from the root down
 * @param db          any handle
 * @param tenant      the tenant
 * @param session_id  the session
 * @param entry_id    the path's end; NULL: the head
 * @param from        number of entries to skip, from the root
 * @param limit       maximum number of entries; 0: all
 * @param with_json   true: return their lines
 * @param err         may be NULL
 * @return CARDBOX_OK; CARDBOX_NOT_FOUND (no such session or entry); CARDBOX_TOO_LARGE (lines of
 * over 256 MiB); CARDBOX_INVALID; and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_session_path(
    cardbox_entries **out, cardbox *db, const char *tenant, const char *session_id,
    const char *entry_id, size_t from, size_t limit, bool with_json, cardbox_error *err);

/**
 * Compares the paths of two entries. The result begins with their last common entry (side 0), if
 * there is one. The entries below it on the path of the first (side 1) and of the second (side 2)
 * follow, each from the root down.
 *
 * @param out         receives the entries
 * @param db          any handle
 * @param tenant      the tenant
 * @param session_id  the session
 * @param a           an entry
 * @param b           another
 * @param limit       maximum number for each side; 0: CARDBOX_PAGE_MAX
 * @param json_max    return lines up to this number of bytes; 0: none; SIZE_MAX: all
 * @param err         may be NULL
 * @return CARDBOX_OK; CARDBOX_NOT_FOUND (no such session or entry); CARDBOX_INVALID; and the
 *         connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_session_diff(
    cardbox_entries **out, cardbox *db, const char *tenant, const char *session_id, const char *a,
    const char *b, unsigned limit, size_t json_max, cardbox_error *err);

/**
 * Returns the number of entries in a result.
 *
 * @param entries  a result; NULL counts as empty
 * @return their number
 *
 * Thread safety: any thread, but one at a time.
 */
CARDBOX_API size_t cardbox_entries_count(const cardbox_entries *entries);

/**
 * Returns an entry of a result.
 *
 * @param entries  a result
 * @param index    below cardbox_entries_count
 * @return the entry, borrowed until cardbox_entries_free; NULL if there is none
 *
 * Thread safety: any thread, but one at a time.
 */
CARDBOX_API const cardbox_entry *cardbox_entries_at(const cardbox_entries *entries, size_t index);

/**
 * Returns the cursor of the next page.
 *
 * @param entries  a result of cardbox_session_entries
 * @return the cursor for the next page, borrowed; NULL: this is the last page
 *
 * Thread safety: any thread, but one at a time.
 */
CARDBOX_API const char *cardbox_entries_cursor(const cardbox_entries *entries);

/**
 * Frees a result and everything borrowed from it.
 *
 * @param entries  a result; NULL does nothing
 *
 * Thread safety: no other use at the same time or later.
 */
CARDBOX_API void cardbox_entries_free(cardbox_entries *entries);

/** The counts of a session, also in the report of an import. */
typedef struct cardbox_session_counts {
    int64_t entries, roots, leaves, branch_points;
    int64_t max_depth;
    int64_t dangling_parents; /**< roots whose parent is missing */
} cardbox_session_counts;

/**
 * Counts the entries, roots, leaves and branch points of a session. The time grows with the number
 * of branches.
 *
 * @param out         receives the numbers
 * @param db          any handle
 * @param tenant      the tenant
 * @param session_id  the session
 * @param err         may be NULL
 * @return CARDBOX_OK; CARDBOX_NOT_FOUND; CARDBOX_INVALID; and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_session_count(cardbox_session_counts *out,
                                                                   cardbox *db, const char *tenant,
                                                                   const char *session_id,
                                                                   cardbox_error *err);

/** Options of an append. Start from CARDBOX_SESSION_APPEND_OPTIONS_INIT. */
typedef struct cardbox_session_append_options {
    size_t struct_size; /**< set by CARDBOX_SESSION_APPEND_OPTIONS_INIT */
    const char *key;    /**< up to CARDBOX_KEY_MAX bytes: a repeated key appends nothing; or NULL */
    int64_t expected_version; /**< if the session has another version: CARDBOX_CONFLICT; 0: any */
    char **answer; /**< receives JSON with the ids, to be freed with cardbox_free. For an entry of
                      an unknown type it has `not_in_context`, the reason. It is set to NULL after a
                      failure or if memory is exhausted. May be NULL */
} cardbox_session_append_options;

#define CARDBOX_SESSION_APPEND_OPTIONS_INIT                                                        \
    {                                                                                              \
        sizeof(cardbox_session_append_options), NULL, 0, NULL                                      \
    }

/**
 * Appends entries, all or none. The head moves to the last one. An entry without an id gets an id,
 * and the present time if it has no timestamp. An entry without a parentId continues the previous
 * entry; the first continues the head. An entry that exists with the same bytes does not change and
 * keeps its parent, so a call can be repeated.
 *
 * @param version     receives the session's version after the call; may be NULL
 * @param db          any handle
 * @param tenant      the tenant
 * @param session_id  the session, which must exist
 * @param entries     JSON objects with a type and the members that the type requires. A parentId
 * (null: a root) must be in the session or earlier in the list. Line feeds between tokens are
 * removed
 * @param count       up to CARDBOX_ENTRIES_PER_APPEND_MAX
 * @param options     NULL means CARDBOX_SESSION_APPEND_OPTIONS_INIT; with a key each entry needs an
 * id
 * @param err         may be NULL
 * @return CARDBOX_OK; CARDBOX_NOT_FOUND (no such session, parent or labelled entry);
 * CARDBOX_CONFLICT (other content with this id, another version or dialect, a used key);
 * CARDBOX_INVALID (see err->message); CARDBOX_TOO_LARGE; and the connection's. With
 * expected_version and without a key, it is not retried after a lost connection
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status
cardbox_session_append(int64_t *version, cardbox *db, const char *tenant, const char *session_id,
                       const char *const *entries, size_t count,
                       const cardbox_session_append_options *options, cardbox_error *err);

/**
 * Moves the head, the entry that the next append continues and whose context is the default.
 *
 * @param version     receives the session's version after the call; may be NULL
 * @param db          any handle
 * @param tenant      the tenant
 * @param session_id  the session
 * @param entry_id    the new head
 * @param expected    the expected current head; "": none; NULL: any
 * @param err         may be NULL
 * @return CARDBOX_OK, also if the entry is the head already; CARDBOX_NOT_FOUND; CARDBOX_CONFLICT
 * (the head is not the expected one); CARDBOX_INVALID; and the connection's. With `expected` it is
 * not retried after a lost connection
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status
cardbox_session_move_head(int64_t *version, cardbox *db, const char *tenant, const char *session_id,
                          const char *entry_id, const char *expected, cardbox_error *err);

/**
 * Creates a session from the path of an entry. The lines are copied.
 *
 * @param entries         receives the number of entries; may be NULL
 * @param db              any handle
 * @param tenant          the tenant
 * @param session_id      the session
 * @param entry_id        the path's end; NULL: the head
 * @param new_session_id  the id of the new session, which must not exist
 * @param err             may be NULL
 * @return CARDBOX_OK; CARDBOX_NOT_FOUND; CARDBOX_CONFLICT (the new session exists);
 * CARDBOX_INVALID; and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status
cardbox_session_fork(int64_t *entries, cardbox *db, const char *tenant, const char *session_id,
                     const char *entry_id, const char *new_session_id, cardbox_error *err);

/**
 * Deletes a session permanently, with all its lines. The session becomes invisible at once. Its
 * lines are removed before this function returns, in the transaction of `db`, or in several short
 * transactions of a pool. After a failure, the next call or gc removes the rest. Until then no
 * session with its id can be created.
 *
 * @param db          any handle
 * @param tenant      the tenant
 * @param session_id  the session
 * @param err         may be NULL
 * @return CARDBOX_OK; CARDBOX_NOT_FOUND; CARDBOX_FORBIDDEN; CARDBOX_INVALID; and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API cardbox_status cardbox_session_delete(cardbox *db, const char *tenant,
                                                  const char *session_id, cardbox_error *err);

#ifdef __cplusplus
}
#endif

#endif
