/*
 * session.h: sessions. A session is a tree of entries, each a line of JSON that never changes: what
 * an agent's conversation is on disk, kept in PostgreSQL. Entry ids are unique within their
 * session. An `entry_id` that ends a path, NULL for the head, is what HTTP calls `leaf`: it may be
 * any entry. Whole files are in session_file.h, writers in session_writer.h, what a model is given
 * in context.h; <cardbox.h> has all of them.
 */
#ifndef CARDBOX_SESSION_H
#define CARDBOX_SESSION_H

#include <cardbox/client.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What the entries of a session look like; cardbox(1), ENTRIES, has the types of both dialects and
 * their members. The numbers never change. */
typedef enum cardbox_dialect {
    CARDBOX_DIALECT_UNKNOWN = -1, /**< nothing told so far */
    CARDBOX_DIALECT_PLAIN = 0,    /**< user, assistant, tool, tool_result, ...; no header */
    CARDBOX_DIALECT_PI = 1        /**< the pi coding agent's: a header, then messages and more */
} cardbox_dialect;

/** A session as it is now. Everything is borrowed from the result that gave it. */
typedef struct cardbox_session {
    const char *session_id;
    cardbox_dialect dialect;
    const char *header;        /**< JSON; NULL: none */
    const char *name;          /**< a JSON string; NULL: none */
    const char *forked_from;   /**< a session's id; NULL: none */
    const char *head_entry_id; /**< where one goes on; NULL: the session is empty */
    int64_t entries;
    int64_t version;        /**< grows by one with every change */
    const char *created_at; /**< RFC 3339, UTC */
    const char *updated_at;
} cardbox_session;

/** Sessions. Opaque; free with cardbox_sessions_free. */
typedef struct cardbox_sessions cardbox_sessions;

/** How a session begins. Start from CARDBOX_SESSION_OPTIONS_INIT. */
typedef struct cardbox_session_options {
    size_t struct_size; /**< set by CARDBOX_SESSION_OPTIONS_INIT */
    cardbox_dialect dialect;
    const char *header; /**< of pi: JSON, an object of type "session"; NULL: one is made. Up to
                             CARDBOX_SESSION_HEADER_MAX bytes, also with `cwd` */
    const char *cwd;    /**< for a header that is made, UTF-8; NULL: "" */
    bool must_be_new;   /**< a session that exists is a CARDBOX_CONFLICT */
} cardbox_session_options;

#define CARDBOX_SESSION_OPTIONS_INIT                                                               \
    {                                                                                              \
        sizeof(cardbox_session_options), CARDBOX_DIALECT_PLAIN, NULL, NULL, false                  \
    }

/**
 * Makes a session; one that exists stays as it is.
 *
 * @param is_new      receives whether it was made; may be NULL
 * @param db          any handle
 * @param tenant      the tenant
 * @param session_id  1 to CARDBOX_CARD_ID_MAX bytes of UTF-8 without control characters
 * @param options     NULL means CARDBOX_SESSION_OPTIONS_INIT, but that one that exists may be of
 *                    either dialect
 * @param err         may be NULL
 * @return CARDBOX_OK; CARDBOX_INVALID; CARDBOX_TOO_LARGE (the header); CARDBOX_CONFLICT (it exists,
 *         and must_be_new was given or it is of the other dialect); and the connection's. With
 *         must_be_new not retried after a lost connection
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status
cardbox_session_create(bool *is_new, cardbox *db, const char *tenant, const char *session_id,
                       const cardbox_session_options *options, cardbox_error *err);

/**
 * Gets one session, without its entries.
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
 * Lists the sessions of a tenant, the newest first (by creation, ties by id), a page at a time.
 *
 * @param out     receives the page
 * @param db      any handle
 * @param tenant  the tenant
 * @param cursor  from cardbox_sessions_cursor; NULL: from the newest
 * @param limit   1 to CARDBOX_PAGE_MAX; 0: CARDBOX_PAGE_DEFAULT
 * @param err     may be NULL
 * @return CARDBOX_OK even if there is none; CARDBOX_INVALID; and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_sessions_list(cardbox_sessions **out,
                                                                   cardbox *db, const char *tenant,
                                                                   const char *cursor,
                                                                   unsigned limit,
                                                                   cardbox_error *err);

/**
 * How many sessions a result has.
 *
 * @param sessions  a result; NULL has none
 * @return their number
 *
 * Thread safety: any thread, but one at a time.
 */
CARDBOX_API size_t cardbox_sessions_count(const cardbox_sessions *sessions);

/**
 * A session of a result.
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
 * Where the next page begins.
 *
 * @param sessions  a result
 * @return what to pass to cardbox_sessions_list, borrowed; NULL: this page is the last one
 *
 * Thread safety: any thread, but one at a time.
 */
CARDBOX_API const char *cardbox_sessions_cursor(const cardbox_sessions *sessions);

/**
 * Frees a result and all that it lent.
 *
 * @param sessions  a result; NULL does nothing
 *
 * Thread safety: no other use at the same time or later.
 */
CARDBOX_API void cardbox_sessions_free(cardbox_sessions *sessions);

/** An entry. Everything is borrowed from the result that gave it. */
typedef struct cardbox_entry {
    const char *entry_id;
    const char *parent_id;      /**< NULL: a root */
    int64_t line;               /**< the number of its line in the session, from 0 */
    int depth;                  /**< entries above it */
    const char *type;           /**< "message", "user", ...; "other": an unknown type */
    const char *role;           /**< "user", "assistant", "tool", "system"; NULL: none */
    const char *label;          /**< the last label that it got; NULL: none */
    const char *missing_parent; /**< of an extra root: the parent that its line names; NULL: none */
    size_t size;                /**< bytes of its JSON */
    const char *json; /**< its JSON, exactly; NULL: not requested, or longer than requested */
    int64_t children; /**< of a branch point; else 0 */
    int side;         /**< of a diff: 0 on both paths, 1 on the first, 2 on the second */
} cardbox_entry;

/** Entries. Opaque; free with cardbox_entries_free. */
typedef struct cardbox_entries cardbox_entries;

/** Which entries of a session. */
typedef enum cardbox_entry_list {
    CARDBOX_ENTRIES_ALL,      /**< in the order in which they were written */
    CARDBOX_ENTRIES_CHILDREN, /**< of an entry, or without one the roots */
    CARDBOX_ENTRIES_LEAVES,   /**< without children, in the order in which their branches began */
    CARDBOX_ENTRIES_BRANCH_POINTS, /**< with more than one child */
    CARDBOX_ENTRIES_LABELLED       /**< with a label, by their ids downwards */
} cardbox_entry_list;

/** A page of entries. Start from CARDBOX_ENTRY_PAGE_INIT. */
typedef struct cardbox_entry_page {
    size_t struct_size;   /**< set by CARDBOX_ENTRY_PAGE_INIT */
    const char *entry_id; /**< of children: whose; NULL: the roots */
    const char *cursor;   /**< from cardbox_entries_cursor; NULL: from the first */
    unsigned limit;       /**< 1 to CARDBOX_PAGE_MAX; 0: CARDBOX_PAGE_DEFAULT */
    size_t json_max;      /**< give lines of up to so many bytes; 0: none; SIZE_MAX: all */
} cardbox_entry_page;

#define CARDBOX_ENTRY_PAGE_INIT                                                                    \
    {                                                                                              \
        sizeof(cardbox_entry_page), NULL, NULL, 0, 0                                               \
    }

/**
 * A page of a session's entries.
 *
 * @param out         receives the page; cardbox_entries_cursor tells where the next one begins
 * @param db          any handle
 * @param tenant      the tenant
 * @param session_id  the session
 * @param list        which entries
 * @param page        NULL means CARDBOX_ENTRY_PAGE_INIT
 * @param err         may be NULL
 * @return CARDBOX_OK, CARDBOX_INVALID; CARDBOX_NOT_FOUND: no such session, or of children no such
 *         entry; and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_session_entries(
    cardbox_entries **out, cardbox *db, const char *tenant, const char *session_id,
    cardbox_entry_list list, const cardbox_entry_page *page, cardbox_error *err);

/**
 * Entries by their ids, with their lines.
 *
 * @param out         receives those that there are, in any order
 * @param db          any handle
 * @param tenant      the tenant
 * @param session_id  the session
 * @param entry_ids   their ids
 * @param count       up to CARDBOX_PAGE_MAX
 * @param err         may be NULL
 * @return CARDBOX_OK, even if there is none; CARDBOX_INVALID; CARDBOX_TOO_LARGE; and the
 *         connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_session_get_entries(
    cardbox_entries **out, cardbox *db, const char *tenant, const char *session_id,
    const char *const *entry_ids, size_t count, cardbox_error *err);

/**
 * The way from a root to an entry, or a part of it, in one statement.
 *
 * @param out         receives the entries, from the root downwards
 * @param db          any handle
 * @param tenant      the tenant
 * @param session_id  the session
 * @param entry_id    the path's end; NULL: the head
 * @param from        entries at the root's end that are left out
 * @param limit       how many then; 0: all
 * @param with_json   whether to give their lines
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
 * Where two entries part: the last entry on the way to both (side 0), if there is one, and what
 * comes from there on the way to the first (side 1) and to the second (side 2), each downwards.
 *
 * @param out         receives the entries
 * @param db          any handle
 * @param tenant      the tenant
 * @param session_id  the session
 * @param a           an entry
 * @param b           another
 * @param limit       how many of each side; 0: CARDBOX_PAGE_MAX
 * @param json_max    give lines of up to so many bytes; 0: none; SIZE_MAX: all
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
 * How many entries a result has.
 *
 * @param entries  a result; NULL has none
 * @return their number
 *
 * Thread safety: any thread, but one at a time.
 */
CARDBOX_API size_t cardbox_entries_count(const cardbox_entries *entries);

/**
 * An entry of a result.
 *
 * @param entries  a result
 * @param index    below cardbox_entries_count
 * @return the entry, borrowed until cardbox_entries_free; NULL if there is none
 *
 * Thread safety: any thread, but one at a time.
 */
CARDBOX_API const cardbox_entry *cardbox_entries_at(const cardbox_entries *entries, size_t index);

/**
 * Where the next page begins.
 *
 * @param entries  a result of cardbox_session_entries
 * @return what to pass as the page's cursor, borrowed; NULL: this page is the last one
 *
 * Thread safety: any thread, but one at a time.
 */
CARDBOX_API const char *cardbox_entries_cursor(const cardbox_entries *entries);

/**
 * Frees a result and all that it lent.
 *
 * @param entries  a result; NULL does nothing
 *
 * Thread safety: no other use at the same time or later.
 */
CARDBOX_API void cardbox_entries_free(cardbox_entries *entries);

/** What a session has: of the report of an import, too. */
typedef struct cardbox_session_counts {
    int64_t entries, roots, leaves, branch_points;
    int64_t max_depth;
    int64_t dangling_parents; /**< roots whose parent is not there */
} cardbox_session_counts;

/**
 * Counts what a session has, in time that grows as its branches do.
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

/** How entries are appended. Start from CARDBOX_SESSION_APPEND_OPTIONS_INIT. */
typedef struct cardbox_session_append_options {
    size_t struct_size;       /**< set by CARDBOX_SESSION_APPEND_OPTIONS_INIT */
    const char *key;          /**< up to CARDBOX_KEY_MAX bytes: a retry appends nothing; or NULL */
    int64_t expected_version; /**< CARDBOX_CONFLICT if the session is at another; 0: any */
    char **answer; /**< receives JSON with the ids, free with cardbox_free; an entry of an unknown
                        type has `not_in_context`, the reason. NULL after a failure, or if there is
                        no memory for it. Or NULL */
} cardbox_session_append_options;

#define CARDBOX_SESSION_APPEND_OPTIONS_INIT                                                        \
    {                                                                                              \
        sizeof(cardbox_session_append_options), NULL, 0, NULL                                      \
    }

/**
 * Appends entries, all or none. The head moves to the last one. An entry without an id is given
 * one, and the time if it has no timestamp; one without a parentId goes on from the entry before
 * it, the first one from the head. An entry with an id that is there already, to the byte, is left
 * alone, so a call can be repeated; one that goes on from the head is then where it went.
 *
 * @param version     receives the session's version after the call; may be NULL
 * @param db          any handle
 * @param tenant      the tenant
 * @param session_id  the session, which must exist
 * @param entries     each a JSON object with a type, and what a model sees of one of that type: a
 * content, a tool's output; a parentId that it names, null for a root, is in the session or comes
 * earlier here; line feeds between tokens are taken out
 * @param count       up to CARDBOX_ENTRIES_PER_APPEND_MAX
 * @param options     NULL means CARDBOX_SESSION_APPEND_OPTIONS_INIT; with a key each entry needs an
 * id
 * @param err         may be NULL
 * @return CARDBOX_OK; CARDBOX_NOT_FOUND (no session, no such parent, nothing to be labelled);
 * CARDBOX_CONFLICT (an id with other content, another version or dialect than the session's, a key
 * used otherwise); CARDBOX_INVALID (err->message says why); CARDBOX_TOO_LARGE; the connection's.
 * With expected_version and no key not retried after a lost connection
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status
cardbox_session_append(int64_t *version, cardbox *db, const char *tenant, const char *session_id,
                       const char *const *entries, size_t count,
                       const cardbox_session_append_options *options, cardbox_error *err);

/**
 * Moves the head: the entry from which one goes on, and whose context is asked for.
 *
 * @param version     receives the session's version after the call; may be NULL
 * @param db          any handle
 * @param tenant      the tenant
 * @param session_id  the session
 * @param entry_id    where to
 * @param expected    where it must be now, "" for nowhere; NULL: anywhere
 * @param err         may be NULL
 * @return CARDBOX_OK, also if it is there already, unless `expected` is another; CARDBOX_NOT_FOUND;
 *         CARDBOX_CONFLICT (it is elsewhere); CARDBOX_INVALID; and the connection's. With
 *         `expected` not retried after a lost connection
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status
cardbox_session_move_head(int64_t *version, cardbox *db, const char *tenant, const char *session_id,
                          const char *entry_id, const char *expected, cardbox_error *err);

/**
 * Makes a new session of the path from a root to an entry, whose lines are copied.
 *
 * @param entries         receives how many it has; may be NULL
 * @param db              any handle
 * @param tenant          the tenant
 * @param session_id      the session
 * @param entry_id        the path's end; NULL: the head
 * @param new_session_id  the new session's id, which must be free
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
 * Deletes a session for good, with all its lines. The session becomes invisible at once. Its lines
 * are removed before this returns, in a transaction of `db` or in several short ones. After a
 * failure the next call, or gc, removes the rest; until then no session can be made under its id.
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
