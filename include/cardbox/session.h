/*
 * session.h: sessions. The entries of a session form a tree, or several trees; each entry is a line
 * of JSON that never changes. Entry ids are unique within their session. In functions that read a
 * path, the parameter `entry_id` is the last entry of the path, which may have children. The HTTP
 * API calls this parameter `leaf`. Imports and exports are in session_file.h, writers and scans in
 * session_writer.h, and contexts in context.h.
 */
#ifndef CARDBOX_SESSION_H
#define CARDBOX_SESSION_H

#include <cardbox/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The dialect of a session: the format of its entries. The manual page cardbox(1), ENTRIES,
 * describes the types of entries in both dialects. The numbers of the dialects never change. */
typedef enum cardbox_dialect {
    CARDBOX_DIALECT_UNKNOWN = -1, /**< no entry and no header has determined the dialect yet */
    CARDBOX_DIALECT_PLAIN = 0,    /**< types user, assistant, tool, tool_result, ...; no header */
    CARDBOX_DIALECT_PI = 1, /**< the format of the pi coding agent: usually a header, then messages
                               and other entries */
    CARDBOX_DIALECT_CLAUDE = 2, /**< a transcript of Claude Code, imported */
    CARDBOX_DIALECT_CODEX = 3   /**< a rollout of codex, imported */
} cardbox_dialect;

/** Numbers of tokens that the APIs of models reported with the answers of a session. */
typedef struct cardbox_usage {
    int64_t input_tokens;        /**< with cached ones */
    int64_t cached_input_tokens; /**< input tokens that were read from a cache */
    int64_t output_tokens;       /**< with reasoning */
    const char *cost; /**< a decimal number, usually of US dollars; NULL: no answer had a cost */
} cardbox_usage;

/** A session. The texts of the struct are borrowed from the result. */
typedef struct cardbox_session {
    const char *session_id;
    cardbox_dialect dialect;
    const char *header;        /**< the header, JSON; NULL: none */
    const char *name;          /**< the name, a JSON string; NULL: none */
    const char *forked_from;   /**< id of the session from which this one was forked; NULL: none */
    const char *head_entry_id; /**< the entry that is the parent of the next appended entry by
                                    default; NULL: none */
    int64_t entries;
    int64_t version;        /**< increases with every change */
    const char *created_at; /**< RFC 3339 in UTC */
    const char *updated_at;
    cardbox_usage usage; /**< sums of the session. Copies count 0, such as entries of a fork */
} cardbox_session;

/** A result with sessions. Opaque; free it with cardbox_sessions_free. */
typedef struct cardbox_sessions cardbox_sessions;

/** Options of a new session. Start from CARDBOX_SESSION_OPTIONS_INIT. */
typedef struct cardbox_session_options {
    size_t struct_size;      /**< set by CARDBOX_SESSION_OPTIONS_INIT */
    cardbox_dialect dialect; /**< CARDBOX_DIALECT_PLAIN or CARDBOX_DIALECT_PI; sessions of other
                                dialects are imported. CARDBOX_DIALECT_UNKNOWN: the first entry
                                decides, and an existing session may have any dialect */
    const char *header;      /**< for the dialect pi: a JSON object of type "session", up to
                                CARDBOX_SESSION_HEADER_MAX bytes; NULL: a header is made */
    const char *cwd;         /**< member `cwd` of the header that is made, UTF-8; NULL: "". Only for
                                the dialect pi and without `header` */
    bool must_be_new;        /**< true: CARDBOX_CONFLICT if the session exists */
    bool restore; /**< true: if a session with this id was deleted, a new, empty session is
                     created. The entries of the deleted session do not come back */
} cardbox_session_options;

#define CARDBOX_SESSION_OPTIONS_INIT                                                               \
    {                                                                                              \
        sizeof(cardbox_session_options), CARDBOX_DIALECT_PLAIN, NULL, NULL, false, false           \
    }

/**
 * Creates a session if it does not exist.
 *
 * @param is_new      receives true if the session was created; may be NULL
 * @param db          any handle
 * @param tenant      the tenant
 * @param session_id  1 to CARDBOX_CARD_ID_MAX bytes of UTF-8 without control characters
 * @param options     NULL means CARDBOX_SESSION_OPTIONS_INIT, but then an existing session may have
 * either dialect
 * @param err         may be NULL
 * @return CARDBOX_OK; CARDBOX_INVALID; CARDBOX_TOO_LARGE (the header); CARDBOX_CONFLICT (the
 * session exists, and must_be_new was set or the dialect differs; or the session is being
 * imported); CARDBOX_GONE; and the connection's. CARDBOX_GONE means that the session was deleted
 * within the retention period, and restore was not set. With must_be_new, the call is not retried
 * if the connection is lost after the statement was sent
 *
 * Thread safety: that of the handle `db`.
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
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_session_get(cardbox_sessions **out,
                                                                 cardbox *db, const char *tenant,
                                                                 const char *session_id,
                                                                 cardbox_error *err);

/**
 * Lists one page of the sessions of a tenant, newest first (by created_at, then by session id).
 *
 * @param out     receives the page
 * @param db      any handle
 * @param tenant  the tenant
 * @param cursor  from cardbox_sessions_cursor; NULL: from the newest
 * @param limit   1 to CARDBOX_PAGE_MAX; 0: CARDBOX_PAGE_DEFAULT
 * @param err     may be NULL
 * @return CARDBOX_OK, even if the list is empty; CARDBOX_INVALID; and the connection's
 *
 * Thread safety: that of the handle `db`.
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
 * @return the number
 *
 * Thread safety: any thread, but only one thread at a time may use a result.
 */
CARDBOX_API size_t cardbox_sessions_count(const cardbox_sessions *sessions);

/**
 * Returns a session of a result.
 *
 * @param sessions  a result
 * @param index     below cardbox_sessions_count
 * @return the session, borrowed until cardbox_sessions_free; NULL past the end
 *
 * Thread safety: any thread, but only one thread at a time may use a result.
 */
CARDBOX_API const cardbox_session *cardbox_sessions_at(const cardbox_sessions *sessions,
                                                       size_t index);

/**
 * Returns the cursor of the next page of a list.
 *
 * @param sessions  a result
 * @return the cursor for cardbox_sessions_list, borrowed until cardbox_sessions_free; NULL: this is
 * the last page
 *
 * Thread safety: any thread, but only one thread at a time may use a result.
 */
CARDBOX_API const char *cardbox_sessions_cursor(const cardbox_sessions *sessions);

/**
 * Frees a result and everything that was borrowed from it.
 *
 * @param sessions  a result; NULL does nothing
 *
 * Thread safety: no thread may use the result at the same time or later.
 */
CARDBOX_API void cardbox_sessions_free(cardbox_sessions *sessions);

/** An entry of a session. The texts of the struct are borrowed from the result. */
typedef struct cardbox_entry {
    const char *entry_id;
    const char *parent_id; /**< id of the parent; NULL: the entry is a root */
    int64_t line;          /**< number of the entry's line in the session, from 0 */
    int depth;             /**< number of ancestors; 0: a root */
    const char *type;      /**< "message", "user", ...; "other": the type is unknown */
    const char *role;      /**< "user", "assistant", "tool" or "system"; NULL: none */
    const char *label;     /**< the last label of the entry; NULL: none */
    /** parent that the entry names, if the parent is not in the session or is a descendant of the
     * entry, so that the entry is a root; else NULL */
    const char *missing_parent;
    size_t size;      /**< bytes of the entry's JSON */
    const char *json; /**< the stored JSON; NULL: not requested, or longer than json_max */
    int64_t children; /**< in a list of branch points: number of children; else 0 */
    int side; /**< in a diff: the entry is on both paths (0), only on the first (1), only on the
                 second (2) */
    /** time at which the entry was stored, RFC 3339 in UTC; NULL: a release that kept no times
     * has stored it. Entries of a fork have the times of its source. */
    const char *appended_at;
} cardbox_entry;

/** A result with entries. Opaque; free it with cardbox_entries_free. */
typedef struct cardbox_entries cardbox_entries;

/** The lists of entries of a session. */
typedef enum cardbox_entry_list {
    CARDBOX_ENTRIES_ALL,           /**< all entries, in the order of their lines */
    CARDBOX_ENTRIES_CHILDREN,      /**< children of an entry, or the roots of the session, in the
                                      order of their lines */
    CARDBOX_ENTRIES_LEAVES,        /**< entries without children, in the order of their lines */
    CARDBOX_ENTRIES_BRANCH_POINTS, /**< entries with several children, in the order of the lines of
                                      their first children */
    CARDBOX_ENTRIES_LABELLED       /**< entries with a label, in descending order of ids */
} cardbox_entry_list;

/** Options of a page of entries. Start from CARDBOX_ENTRY_PAGE_INIT. */
typedef struct cardbox_entry_page {
    size_t struct_size;   /**< set by CARDBOX_ENTRY_PAGE_INIT */
    const char *entry_id; /**< for CARDBOX_ENTRIES_CHILDREN: id of the parent whose children are
                             listed; NULL: the roots are listed */
    const char *cursor;   /**< from cardbox_entries_cursor; NULL: from the first */
    unsigned limit;       /**< 1 to CARDBOX_PAGE_MAX; 0: CARDBOX_PAGE_DEFAULT */
    size_t json_max; /**< the JSON of an entry is returned only if it has at most this number of
                        bytes; 0: no JSON is returned; SIZE_MAX: all JSON is returned */
} cardbox_entry_page;

#define CARDBOX_ENTRY_PAGE_INIT                                                                    \
    {                                                                                              \
        sizeof(cardbox_entry_page), NULL, NULL, 0, 0                                               \
    }

/**
 * Reads one page of a list of a session's entries.
 *
 * @param out         receives the page; cardbox_entries_cursor returns the cursor of the next page
 * @param db          any handle
 * @param tenant      the tenant
 * @param session_id  the session
 * @param list        the list
 * @param page        NULL means CARDBOX_ENTRY_PAGE_INIT
 * @param err         may be NULL
 * @return CARDBOX_OK; CARDBOX_INVALID; CARDBOX_NOT_FOUND (no such session or parent); and the
 * connection's
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_session_entries(
    cardbox_entries **out, cardbox *db, const char *tenant, const char *session_id,
    cardbox_entry_list list, const cardbox_entry_page *page, cardbox_error *err);

/**
 * Reads entries by id, with their JSON.
 *
 * @param out         receives the entries that exist, in any order
 * @param db          any handle
 * @param tenant      the tenant
 * @param session_id  the session
 * @param entry_ids   `count` entry ids
 * @param count       up to CARDBOX_PAGE_MAX
 * @param err         may be NULL
 * @return CARDBOX_OK, even if no such session or entry exists; CARDBOX_INVALID; CARDBOX_TOO_LARGE;
 * and the connection's
 *
 * Thread safety: that of the handle `db`.
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
 * @param entry_id    the last entry of the path; NULL: the head
 * @param from        number of entries to skip at the root's end of the path
 * @param limit       maximum number of entries; 0: all
 * @param with_json   true: the result has the JSON of the entries
 * @param err         may be NULL
 * @return CARDBOX_OK; CARDBOX_NOT_FOUND (no such session or entry); CARDBOX_TOO_LARGE (the JSON of
 * the entries exceeds 256 MiB); CARDBOX_INVALID; and the connection's
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_session_path(
    cardbox_entries **out, cardbox *db, const char *tenant, const char *session_id,
    const char *entry_id, size_t from, size_t limit, bool with_json, cardbox_error *err);

/**
 * Finds where the paths of two entries, `a` and `b`, part. The result begins with the last entry
 * that both paths have (side 0), if there is one. The later entries of the path of `a` (side 1)
 * follow, then the later entries of the path of `b` (side 2). The entries of a side are in the
 * order from the root to `a` or `b`.
 *
 * @param out         receives the entries
 * @param db          any handle
 * @param tenant      the tenant
 * @param session_id  the session
 * @param a           an entry
 * @param b           an entry
 * @param limit       maximum number of entries of each side; 0: CARDBOX_PAGE_MAX
 * @param json_max    the JSON of an entry is returned only if it has at most this number of bytes;
 * 0: no JSON is returned; SIZE_MAX: all JSON is returned
 * @param err         may be NULL
 * @return CARDBOX_OK; CARDBOX_NOT_FOUND (no such session or entry); CARDBOX_INVALID; and the
 *         connection's
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_session_diff(
    cardbox_entries **out, cardbox *db, const char *tenant, const char *session_id, const char *a,
    const char *b, unsigned limit, size_t json_max, cardbox_error *err);

/**
 * Returns the number of entries in a result.
 *
 * @param entries  a result; NULL counts as empty
 * @return the number
 *
 * Thread safety: any thread, but only one thread at a time may use a result.
 */
CARDBOX_API size_t cardbox_entries_count(const cardbox_entries *entries);

/**
 * Returns an entry of a result.
 *
 * @param entries  a result
 * @param index    below cardbox_entries_count
 * @return the entry, borrowed until cardbox_entries_free; NULL past the end
 *
 * Thread safety: any thread, but only one thread at a time may use a result.
 */
CARDBOX_API const cardbox_entry *cardbox_entries_at(const cardbox_entries *entries, size_t index);

/**
 * Returns the cursor of the next page of a list.
 *
 * @param entries  a result of cardbox_session_entries
 * @return the cursor for the next page, borrowed until cardbox_entries_free; NULL: this is the last
 * page
 *
 * Thread safety: any thread, but only one thread at a time may use a result.
 */
CARDBOX_API const char *cardbox_entries_cursor(const cardbox_entries *entries);

/**
 * Frees a result and everything that was borrowed from it.
 *
 * @param entries  a result; NULL does nothing
 *
 * Thread safety: no thread may use the result at the same time or later.
 */
CARDBOX_API void cardbox_entries_free(cardbox_entries *entries);

/** The counts of a session, which are also part of the report of an import. */
typedef struct cardbox_session_counts {
    int64_t entries, roots, leaves, branch_points;
    int64_t max_depth;
    int64_t dangling_parents; /**< entries that name a parent but are roots, because the parent is
                                 not in the session or is a descendant of the entry */
} cardbox_session_counts;

/**
 * Counts the entries, roots, leaves and branch points of a session. The cost grows with the number
 * of branches.
 *
 * @param out         receives the counts
 * @param db          any handle
 * @param tenant      the tenant
 * @param session_id  the session
 * @param err         may be NULL
 * @return CARDBOX_OK; CARDBOX_NOT_FOUND; CARDBOX_INVALID; and the connection's
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_session_count(cardbox_session_counts *out,
                                                                   cardbox *db, const char *tenant,
                                                                   const char *session_id,
                                                                   cardbox_error *err);

/** Options of an append. Start from CARDBOX_SESSION_APPEND_OPTIONS_INIT. */
typedef struct cardbox_session_append_options {
    size_t struct_size; /**< set by CARDBOX_SESSION_APPEND_OPTIONS_INIT */
    const char *key;    /**< idempotency key, up to CARDBOX_KEY_MAX bytes: appends to the session
                             with this key are made once; or NULL */
    int64_t expected_version; /**< version that the session must have, else CARDBOX_CONFLICT; 0: any
                                 version */
    char **answer; /**< receives JSON with the ids and outcomes of the entries, to be freed with
                      cardbox_free: {"session_id", "version", "entries"}. After a failure, or if
                      memory is exhausted, NULL is stored. `answer` may be NULL */
    /** creates the session with these options if it does not exist, in the same transaction: if
     * the append fails, no session is created. If the session has another dialect, the status is
     * CARDBOX_CONFLICT. must_be_new can't be set. With expected_version, no session is created.
     * NULL: the session must exist */
    const cardbox_session_options *create;
} cardbox_session_append_options;

#define CARDBOX_SESSION_APPEND_OPTIONS_INIT                                                        \
    {                                                                                              \
        sizeof(cardbox_session_append_options), NULL, 0, NULL, NULL                                \
    }

/**
 * Appends entries to a session, all or none. The head moves to the last new entry. Some
 * entries move it only if their parent is the head or there is no head: those of the types
 * label, session_info, metadata, custom, model_change, thinking_level_change and of unknown types.
 * An entry without
 * an id gets an id, and the current time if it has no timestamp: a number of milliseconds in the
 * dialect plain, a text in pi. The parent of an entry without a parentId is the previous entry of
 * the call. If the first entry has no parentId, its parent is the head. An entry that is already
 * stored with the same bytes stays unchanged and keeps its parent, so a call can be repeated. The
 * same holds for the second of two entries of the call that are the same. Two entries of the call
 * with the same id and different content are CARDBOX_INVALID.
 *
 * In the dialect plain, a member that the entry's type does not have is CARDBOX_INVALID. All types
 * have `metadata` for free data. Entries of the type metadata and of unknown types may have any
 * members. Members inside of `content` and `toolCalls` are not checked. Entries of the types label
 * and session_info are checked if an earlier entry of the call, or options->create, determines that
 * the dialect is plain. A message of a model's API is CARDBOX_INVALID too, for example an object
 * with a role and without a type: append such messages with cardbox_session_add.
 *
 * @param version     receives the session's version after the call; may be NULL
 * @param db          any handle
 * @param tenant      the tenant
 * @param session_id  the session, which must exist unless options->create is set
 * @param entries     JSON objects with a type and the members that the type requires. A parentId
 * (null: a root) must be the id of an entry that is in the session or earlier in `entries`. JSON
 * that contains line feeds is stored without white space between its tokens
 * @param count       number of entries, up to CARDBOX_ENTRIES_PER_APPEND_MAX
 * @param options     NULL means CARDBOX_SESSION_APPEND_OPTIONS_INIT; if a key is set, each entry
 * must have an id
 * @param err         may be NULL
 * @return CARDBOX_OK; CARDBOX_NOT_FOUND (no such session, parent or labelled entry);
 * CARDBOX_CONFLICT; CARDBOX_GONE; CARDBOX_INVALID; CARDBOX_TOO_LARGE; and the connection's.
 * CARDBOX_CONFLICT means that an id or the key has other content, or the version or dialect
 * differs. CARDBOX_GONE: see cardbox_session_create. With expected_version and without a key, the
 * call is not retried if the connection is lost after the statement was sent
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status
cardbox_session_append(int64_t *version, cardbox *db, const char *tenant, const char *session_id,
                       const char *const *entries, size_t count,
                       const cardbox_session_append_options *options, cardbox_error *err);

/** Options of an addition of messages. Start from CARDBOX_SESSION_ADD_OPTIONS_INIT. */
typedef struct cardbox_session_add_options {
    size_t struct_size; /**< set by CARDBOX_SESSION_ADD_OPTIONS_INIT */
    const char *key;    /**< idempotency key, up to CARDBOX_KEY_MAX bytes: additions to the session
                             with this key are made once; or NULL */
    int64_t expected_version; /**< version that the session must have, else CARDBOX_CONFLICT; 0: any
                                 version. With a version, no session is created */
    const char *parent_id; /**< id of the entry after which the messages follow; NULL: the head. If
                                all messages are results, they follow the last stored result of the
                                same answer instead, so that they do not start a branch */
    const char *model;     /**< the model of the last message of the assistant, UTF-8; or NULL */
    const char *usage;     /**< JSON object: the usage that the API returned with the last message
                                of the assistant; or NULL */
    bool must_exist;       /**< true: a missing session is CARDBOX_NOT_FOUND, and not created */
    bool restore; /**< true: the id may be that of a deleted session, whose entries do not come
                     back */
} cardbox_session_add_options;

#define CARDBOX_SESSION_ADD_OPTIONS_INIT                                                           \
    {                                                                                              \
        sizeof(cardbox_session_add_options), NULL, 0, NULL, NULL, NULL, false, false               \
    }

/**
 * Appends messages as a model's API returned them, or as it accepts them in a request: all or none.
 * A context in the same format returns them byte for byte, unless a repair must change them. Each
 * message becomes an entry of type "message" with a new id. With options->key, the ids derive from
 * the key and from the position of the message. The head moves to the last entry. If the session
 * does not exist, it is created in the dialect plain. The answer is read by a second statement, so
 * it may include entries that another program appended meanwhile.
 *
 * @param answer      receives JSON, to be freed with cardbox_free: {"ids", "version", "leaf",
 * "next", "open_calls"}, and "parent_moved" (true) if results do not follow options->parent_id. If
 * the call with options->key is repeated, all but the ids is of now. `ids` has the id of each
 * message. `open_calls` has the calls of the last
 * answer that have no result, each with id, name, arguments and entry. If there are such calls,
 * `next` is "tools". Otherwise, `next` is "user" if the last message is an answer, and "model" if
 * it is the user's or a result. After a failure NULL is stored. `answer` may be NULL
 * @param db          any handle
 * @param tenant      the tenant
 * @param session_id  1 to CARDBOX_CARD_ID_MAX bytes of UTF-8 without control characters
 * @param format      CARDBOX_FORMAT_OPENAI (messages of chat completions), CARDBOX_FORMAT_RESPONSES
 * (items of the Responses API) or CARDBOX_FORMAT_ANTHROPIC (messages of the Messages API, also
 * whole answers)
 * @param messages    JSON: an object, or an array of 1 to CARDBOX_ENTRIES_PER_APPEND_MAX objects,
 * at most CARDBOX_CONTENT_MAX bytes. Each object needs a role, or in the format responses a type.
 * No other member is checked
 * @param options     NULL means CARDBOX_SESSION_ADD_OPTIONS_INIT
 * @param err         may be NULL
 * @return CARDBOX_OK; CARDBOX_INVALID; CARDBOX_NOT_FOUND (no such session or parent);
 * CARDBOX_CONFLICT; CARDBOX_GONE; CARDBOX_TOO_LARGE; and the connection's. CARDBOX_INVALID is also
 * returned if model or usage is given without a message of the assistant. CARDBOX_CONFLICT means
 * that the key has other messages, or that the version or the dialect differs. CARDBOX_GONE: see
 * cardbox_session_create. With expected_version and without a key, the append is not retried if the
 * connection is lost after the statement was sent
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_session_add(
    char **answer, cardbox *db, const char *tenant, const char *session_id, cardbox_format format,
    const char *messages, const cardbox_session_add_options *options, cardbox_error *err);

/**
 * Moves the head of a session to an entry. By default, the head is the parent of the next appended
 * entry, and contexts end at the head.
 *
 * @param version     receives the session's version after the call; may be NULL
 * @param db          any handle
 * @param tenant      the tenant
 * @param session_id  the session
 * @param entry_id    the new head
 * @param expected    the entry at which the head must be; "": there must be no head; NULL: any
 * @param err         may be NULL
 * @return CARDBOX_OK, also if the entry is the head already; CARDBOX_NOT_FOUND; CARDBOX_CONFLICT
 * (the head is not at `expected`); CARDBOX_INVALID; and the connection's. A call with `expected` is
 * not retried if the connection is lost after the statement was sent
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status
cardbox_session_move_head(int64_t *version, cardbox *db, const char *tenant, const char *session_id,
                          const char *entry_id, const char *expected, cardbox_error *err);

/**
 * Creates a session with copies of the entries on a path of another session.
 *
 * @param entries         receives the number of copied entries; may be NULL
 * @param db              any handle
 * @param tenant          the tenant
 * @param session_id      the session
 * @param entry_id        the last entry of the path; NULL: the head
 * @param new_session_id  the id of the new session, which must not exist
 * @param err             may be NULL
 * @return CARDBOX_OK; CARDBOX_NOT_FOUND; CARDBOX_CONFLICT (the new session exists);
 * CARDBOX_GONE (a session with the id of the new session was deleted); CARDBOX_INVALID; and the
 * connection's
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status
cardbox_session_fork(int64_t *entries, cardbox *db, const char *tenant, const char *session_id,
                     const char *entry_id, const char *new_session_id, cardbox_error *err);

/**
 * Deletes a session permanently, with all its lines. The session can't be read any more as soon as
 * the first part of its lines is deleted. The function deletes the lines in the transaction of
 * `db`, or, if `db` is a pool, in several short transactions. If a later transaction fails, a
 * repeated call or gc deletes the remaining lines. The id is kept for the retention period of
 * deleted cards: until then, a new session with this id needs the option `restore`. Nothing brings
 * the entries back.
 *
 * @param db          any handle
 * @param tenant      the tenant
 * @param session_id  the session
 * @param err         may be NULL
 * @return CARDBOX_OK; CARDBOX_NOT_FOUND; CARDBOX_FORBIDDEN (the database role is a worker's);
 * CARDBOX_INVALID; and the connection's
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API cardbox_status cardbox_session_delete(cardbox *db, const char *tenant,
                                                  const char *session_id, cardbox_error *err);

#ifdef __cplusplus
}
#endif

#endif
