/*
 * card.h: cards, the units of content. A card has an id that is unique in its tenant, JSON content
 * and JSON metadata. A program should store changed content as a new card with a new id. Writing an
 * equal card again changes nothing, except that it may seal the card. Writing other content under
 * the id of a stored card is a repair or a conflict. After a repair, the old content is a revision
 * of the card.
 */
#ifndef CARDBOX_CARD_H
#define CARDBOX_CARD_H

#include <cardbox/client.h>
#include <cardbox/limits.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The standard card types (metadata.type). A card that is written without a role gets the role of
 * its standard type. Types that are not standard are allowed, and have no default role. */
#define CARDBOX_TYPE_INSTRUCTION     "task.instruction"    /* user */
#define CARDBOX_TYPE_THOUGHT         "agent.thought"       /* assistant */
#define CARDBOX_TYPE_TOOL_CALL       "tool.call"           /* assistant */
#define CARDBOX_TYPE_DELIVERABLE     "task.deliverable"    /* assistant */
#define CARDBOX_TYPE_TOOL_RESULT     "tool.result"         /* tool */
#define CARDBOX_TYPE_PROFILE         "sys.profile"         /* system */
#define CARDBOX_TYPE_RENDERED_PROMPT "sys.rendered_prompt" /* system */
#define CARDBOX_TYPE_TOOLS           "sys.tools"           /* system */
#define CARDBOX_TYPE_PARENT_POINTER  "meta.parent_pointer" /* system */
#define CARDBOX_TYPE_RESULT_FIELDS   "task.result_fields"  /* system */

/**
 * One card, which is written or was read.
 *
 * Writing: card_id and content are required. `type`, `role`, `step_id`, `trace_id`, `agent_turn_id`
 * and `author_id`, each of up to CARDBOX_KEY_MAX bytes of UTF-8, are stored as members of the
 * metadata if they are not NULL. If `metadata` has a member of the same name too, both values must
 * be equal. If the length of a text is 0, the text ends at its NUL.
 *
 * Reading: a text without a value is NULL, but `type` and `author_id` are then "unknown". A copy of
 * the struct is valid until the result that returned the card is freed. The copy may be changed and
 * written; the "unknown" that a read returned is then not written.
 */
typedef struct cardbox_card {
    size_t struct_size;  /**< set by CARDBOX_CARD_INIT */
    const char *card_id; /**< 1 to CARDBOX_CARD_ID_MAX bytes of UTF-8 without control characters */
    const char *content; /**< any JSON value, up to CARDBOX_CONTENT_MAX bytes */
    size_t content_length;    /**< bytes of content */
    const char *metadata;     /**< a JSON object; NULL counts as {} */
    size_t metadata_length;   /**< bytes of metadata */
    const char *tool_calls;   /**< a JSON array, or NULL */
    size_t tool_calls_length; /**< bytes of tool_calls */
    const char *tool_call_id; /**< id of the tool call, the same in a tool.call and its tool.result;
                                 up to CARDBOX_KEY_MAX bytes */
    const char *type;         /**< metadata.type */
    const char *role;         /**< metadata.role; if a card without a role is written, the role of
                                   its standard type is stored */
    const char *step_id;      /**< metadata.step_id */
    const char *trace_id;     /**< metadata.trace_id */
    const char *agent_turn_id; /**< metadata.agent_turn_id */
    const char *author_id;     /**< metadata.author_id, for audit only */
    int32_t ttl_seconds; /**< seconds from created_at to the expiry; 0: the card does not expire */
    bool sealed;         /**< true: the card can't be changed or deleted, but it may expire */
    const char *created_at; /**< RFC 3339; when written: with a UTC offset, or NULL for now */
    const char *expires_at; /**< RFC 3339 in UTC, or NULL; ignored when written */
    void *source;           /**< set by reads, for cardbox_card_text; else NULL */
} cardbox_card;

#define CARDBOX_CARD_INIT                                                                          \
    {                                                                                              \
        sizeof(cardbox_card), NULL, NULL, 0, NULL, 0, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, \
            NULL, 0, false, NULL, NULL, NULL                                                       \
    }

/** The outcome of writing a card. */
typedef enum cardbox_outcome {
    CARDBOX_OUTCOME_NONE = 0,      /**< the write failed before it had an outcome */
    CARDBOX_OUTCOME_INSERTED = 1,  /**< the card is new */
    CARDBOX_OUTCOME_UNCHANGED = 2, /**< an equal card is stored; the write may have sealed it */
    CARDBOX_OUTCOME_REPAIRED = 3,  /**< the stored card differed and became a revision */
    CARDBOX_OUTCOME_RESTORED = 4,  /**< a deleted or expired card was restored; its lifetime begins
                                        again */
    CARDBOX_OUTCOME_CONFLICT = 5,  /**< the stored card differs and is sealed or `strict` is set, or
                                      the tool call has another tool.result */
    CARDBOX_OUTCOME_GONE = 6 /**< the card was deleted or has expired; `restore` was not set */
} cardbox_outcome;

/**
 * Returns the name of an outcome: "inserted", "unchanged", ...
 *
 * @param outcome  any number; for a number that is no outcome, "none" is returned
 * @return static text
 *
 * Thread safety: any thread.
 */
CARDBOX_API const char *cardbox_outcome_name(cardbox_outcome outcome);

/** Options of a write of cards. Start from CARDBOX_ADD_OPTIONS_INIT. */
typedef struct cardbox_add_options {
    size_t struct_size; /**< set by CARDBOX_ADD_OPTIONS_INIT */
    bool strict;        /**< true: a different card under the same id is a conflict, not a repair */
    bool restore;       /**< true: a deleted or expired card with this id is restored */
} cardbox_add_options;

#define CARDBOX_ADD_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(cardbox_add_options), false, false                                                  \
    }

/**
 * Writes one card: an idempotent upsert that reports its outcome.
 *
 * The content may be any JSON. cardbox_add_card does not check the content by the rules of its
 * content class; cardbox_content_check does.
 *
 * The content of a new card is stored as text, and reads return the same bytes. So the order and
 * duplicates of keys, numbers of any size, escapes and white space stay. Metadata and tool_calls
 * are stored as jsonb. In metadata and tool_calls, \u0000, half a surrogate pair and numbers that
 * PostgreSQL can't store are rejected. Numbers that have an exponent, and would have more than 40
 * digits without it, are rejected too.
 *
 * Two cards are equal if their contents are equal as jsonb values or as texts, and their metadata,
 * tool_calls and tool_call_id are equal. If an equal card is written again, the content's text of
 * the first write stays. Writing a stored card again does not extend its TTL, unless the write
 * restores the card. If a write has the outcome conflict or gone, the transaction of `db` can
 * continue. With a pool, cardbox_add_card is retried after a lost connection, because it is
 * idempotent.
 *
 * @param outcome  receives the outcome; may be NULL
 * @param db       any handle
 * @param tenant   1 to CARDBOX_TENANT_MAX bytes of UTF-8 without control characters
 * @param card     the card
 * @param options  NULL means CARDBOX_ADD_OPTIONS_INIT
 * @param err      may be NULL
 * @return CARDBOX_OK for inserted, unchanged, repaired, restored; CARDBOX_CONFLICT; CARDBOX_GONE;
 * CARDBOX_INVALID (err->position is the byte offset of a JSON syntax error); CARDBOX_TOO_LARGE; and
 * the connection's. If the tool call has another result, err->message contains the id of the card
 * with this result
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API cardbox_status cardbox_add_card(cardbox_outcome *outcome, cardbox *db,
                                            const char *tenant, const cardbox_card *card,
                                            const cardbox_add_options *options, cardbox_error *err);

/**
 * Writes up to CARDBOX_CARDS_PER_ADD_MAX cards with one statement: all or none.
 *
 * @param outcomes  receives one outcome for each card, in the order of `cards`; may be NULL. If
 * CARDBOX_CONFLICT or CARDBOX_GONE is returned, no card was written, and the outcomes are those
 * that the cards would have had, or all CARDBOX_OUTCOME_NONE after an error of PostgreSQL
 * @param db        any handle
 * @param tenant    as for cardbox_add_card
 * @param cards     `count` cards; if two have the same id and differ, the later one repairs the
 * earlier one, or conflicts with it
 * @param count     0 to CARDBOX_CARDS_PER_ADD_MAX
 * @param options   NULL means CARDBOX_ADD_OPTIONS_INIT
 * @param err       may be NULL; for an invalid card the message contains its index, if `count` is
 * over 1
 * @return as cardbox_add_card
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API cardbox_status cardbox_add_cards(cardbox_outcome *outcomes, cardbox *db,
                                             const char *tenant, const cardbox_card *cards,
                                             size_t count, const cardbox_add_options *options,
                                             cardbox_error *err);

/**
 * Makes a sealed card from the message of a session entry, for use in boxes. The content, the tool
 * calls, the tool_call_id and metadata.role of the card are made from the message.
 *
 * @param outcome     receives the outcome of writing the card; may be NULL
 * @param db          any handle
 * @param tenant      the tenant
 * @param session_id  the session
 * @param entry_id    the entry
 * @param card_id     an id for the card; a repeated call with the same ids changes nothing
 * @param err         may be NULL
 * @return CARDBOX_OK; CARDBOX_NOT_FOUND (no such session or entry); CARDBOX_INVALID (the entry
 * contains no message); CARDBOX_CONFLICT (a different sealed card or another tool result exists);
 * CARDBOX_GONE; and the connection's
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API cardbox_status cardbox_card_from_entry(cardbox_outcome *outcome, cardbox *db,
                                                   const char *tenant, const char *session_id,
                                                   const char *entry_id, const char *card_id,
                                                   cardbox_error *err);

/**
 * Deletes a card. A deleted card can't be read, unless a later write restores it. gc removes its
 * row after the retention period.
 *
 * @param db       any handle
 * @param tenant   the tenant
 * @param card_id  the card; deleting a deleted card is no error
 * @param err      may be NULL
 * @return CARDBOX_OK, CARDBOX_NOT_FOUND, CARDBOX_CONFLICT (the card is sealed, or a message of a
 * task refers to it), CARDBOX_INVALID, and the connection's
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API cardbox_status cardbox_card_delete(cardbox *db, const char *tenant, const char *card_id,
                                               cardbox_error *err);

/** The result of a read: the cards that were found, and the missing ids. Opaque; free it with
 * cardbox_cards_free. */
typedef struct cardbox_cards cardbox_cards;

/**
 * Reads one card.
 *
 * @param out      receives a result with one card
 * @param db       any handle
 * @param tenant   the tenant
 * @param card_id  the card
 * @param err      may be NULL
 * @return CARDBOX_OK; CARDBOX_NOT_FOUND (the tenant has no such card, or it was deleted or has
 * expired); CARDBOX_INVALID; and the connection's
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_card_get(cardbox_cards **out, cardbox *db,
                                                              const char *tenant,
                                                              const char *card_id,
                                                              cardbox_error *err);

/**
 * Reads many cards with one statement.
 *
 * @param out       receives the cards in the order of `card_ids`, each once, and the missing ids
 * @param db        any handle
 * @param tenant    the tenant
 * @param card_ids  `count` ids; duplicates count once
 * @param count     0 to CARDBOX_IDS_PER_READ_MAX
 * @param err       may be NULL
 * @return CARDBOX_OK even if all cards are missing; CARDBOX_INVALID; CARDBOX_TOO_LARGE; and the
 * connection's
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_cards_get(cardbox_cards **out, cardbox *db,
                                                               const char *tenant,
                                                               const char *const *card_ids,
                                                               size_t count, cardbox_error *err);

/** A condition of a filter: the metadata has a member `key` that is a string and equals `value`. */
typedef struct cardbox_match {
    const char *key;   /**< 1 to CARDBOX_KEY_MAX bytes; a filter may have each key once */
    const char *value; /**< UTF-8; a JSON object of all matches has at most 128 KiB */
} cardbox_match;

/** A filter for lists of cards. Start from CARDBOX_CARD_FILTER_INIT. A card must satisfy every
 * condition that is set. */
typedef struct cardbox_card_filter {
    size_t struct_size;               /**< set by CARDBOX_CARD_FILTER_INIT */
    const char *type;                 /**< metadata.type */
    const char *role;                 /**< metadata.role */
    const char *step_id;              /**< metadata.step_id */
    const char *trace_id;             /**< metadata.trace_id */
    const char *agent_turn_id;        /**< metadata.agent_turn_id */
    const char *const *tool_call_ids; /**< the tool_call_id of the card must be one of these */
    size_t tool_call_count; /**< number of tool_call_ids, up to CARDBOX_IDS_PER_READ_MAX; 0: no
                               condition */
    const cardbox_match *matches; /**< conditions for other members of the metadata */
    size_t match_count;           /**< up to CARDBOX_FILTERS_MAX */
    const char
        *created_after; /**< only cards created after this time, RFC 3339 with a UTC offset */
    const char
        *created_before; /**< only cards created before this time, RFC 3339 with a UTC offset */
    unsigned limit;      /**< 1 to CARDBOX_PAGE_MAX; 0: CARDBOX_PAGE_DEFAULT */
    const char *cursor;  /**< from cardbox_cards_cursor; NULL: from the newest */
} cardbox_card_filter;

#define CARDBOX_CARD_FILTER_INIT                                                                   \
    {                                                                                              \
        sizeof(cardbox_card_filter), NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, 0, NULL, NULL,   \
            0, NULL                                                                                \
    }

/**
 * Lists one page of cards, newest first (by created_at, then by card id). If few cards match the
 * filter, several statements may be run. Each statement examines up to CARDBOX_LIST_WALK_MAX cards.
 *
 * @param out     receives the page; cardbox_cards_cursor returns the cursor of the next page
 * @param db      any handle
 * @param tenant  the tenant
 * @param filter  NULL: all cards
 * @param err     may be NULL
 * @return CARDBOX_OK; CARDBOX_INVALID (also for a malformed cursor);
 *         CARDBOX_TOO_LARGE; and the connection's
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_cards_list(cardbox_cards **out, cardbox *db,
                                                                const char *tenant,
                                                                const cardbox_card_filter *filter,
                                                                cardbox_error *err);

/**
 * Reads the newest card (by created_at, then by card id) with a given step_id and type.
 *
 * @param out      receives a result with one card
 * @param db       any handle
 * @param tenant   the tenant
 * @param step_id  metadata.step_id
 * @param type     metadata.type; NULL: any type
 * @param err      may be NULL
 * @return CARDBOX_OK, CARDBOX_NOT_FOUND, CARDBOX_INVALID, and the connection's
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_card_latest(cardbox_cards **out, cardbox *db,
                                                                 const char *tenant,
                                                                 const char *step_id,
                                                                 const char *type,
                                                                 cardbox_error *err);

/** Returns the number of cards of a result. @param cards a result or NULL @return the number */
CARDBOX_API size_t cardbox_cards_count(const cardbox_cards *cards);

/**
 * Returns one card of a result.
 *
 * @param cards  a result
 * @param index  0 to cardbox_cards_count - 1
 * @return borrowed until cardbox_cards_free; NULL past the end
 */
CARDBOX_API const cardbox_card *cardbox_cards_at(const cardbox_cards *cards, size_t index);

/** Returns the number of different missing ids of a result. @param cards a result or NULL @return
 * the number */
CARDBOX_API size_t cardbox_cards_missing_count(const cardbox_cards *cards);

/**
 * Returns one missing id of a result. Missing ids are in the order of the request or of the box.
 *
 * @param cards  a result
 * @param index  0 to cardbox_cards_missing_count - 1
 * @return borrowed until cardbox_cards_free; NULL past the end
 */
CARDBOX_API const char *cardbox_cards_missing_at(const cardbox_cards *cards, size_t index);

/**
 * Returns the cursor for the next page of a list, for cardbox_card_filter.cursor.
 *
 * @param cards  a result of cardbox_cards_list
 * @return text that is borrowed until cardbox_cards_free; NULL if this is the last page
 */
CARDBOX_API const char *cardbox_cards_cursor(const cardbox_cards *cards);

/** Frees a result with all pointers that its getters returned. @param cards a result or NULL */
CARDBOX_API void cardbox_cards_free(cardbox_cards *cards);

/**
 * Returns the plain text of a card, for people, search and logs. The plain text is the text of a
 * TextContent, the JSON of a JsonContent's data or of a FieldsSchemaContent's fields, or the uri of
 * a file. Content that is a string is its own plain text. The plain text of a MultiFileContent is
 * its uris, one on each line. The plain text of a MessageContent is the texts of its message, one
 * on each line; without a text, the JSON of the message. If the field of the class is missing or
 * has a wrong JSON type, and for all other content, the plain text is the JSON of the content.
 *
 * @param card  a card from a result, or a copy of such a card; for another card, or a copy with
 * other content, the content is returned unchanged; for NULL, ""
 * @return borrowed until the result is freed; "" if memory is exhausted
 *
 * Thread safety: only the thread that uses the result may call this.
 */
CARDBOX_API const char *cardbox_card_text(const cardbox_card *card);

/** An earlier content of a card that was repaired, or restored with other content. The pointers of
 * a revision are borrowed from its result. */
typedef struct cardbox_revision {
    int64_t revision;         /**< number of the revision; 1 is the oldest */
    const char *replaced_at;  /**< RFC 3339 in UTC */
    const cardbox_card *card; /**< the card before the change; `sealed` is false */
} cardbox_revision;

/** A page of a card's revisions. Opaque; free it with cardbox_revisions_free. */
typedef struct cardbox_revisions cardbox_revisions;

/**
 * Reads the earlier contents of a card, newest first, for audits.
 *
 * @param out              receives a page
 * @param db               any handle
 * @param tenant           the tenant
 * @param card_id          the card, which must not be deleted or expired
 * @param before_revision  only revisions with a lower number; 0: from the newest
 * @param limit            1 to CARDBOX_PAGE_MAX; 0: CARDBOX_PAGE_DEFAULT
 * @param err              may be NULL
 * @return CARDBOX_OK even if the card has no revisions; CARDBOX_NOT_FOUND; CARDBOX_INVALID; and the
 * connection's
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_card_revisions(
    cardbox_revisions **out, cardbox *db, const char *tenant, const char *card_id,
    int64_t before_revision, unsigned limit, cardbox_error *err);

/** Returns the number of revisions of a page. @param revisions a page or NULL @return the number */
CARDBOX_API size_t cardbox_revisions_count(const cardbox_revisions *revisions);

/**
 * Returns one revision of a page.
 *
 * @param revisions  a page
 * @param index      0 to cardbox_revisions_count - 1
 * @return borrowed until cardbox_revisions_free; NULL past the end
 */
CARDBOX_API const cardbox_revision *cardbox_revisions_at(const cardbox_revisions *revisions,
                                                         size_t index);

/** Frees a page of revisions and everything borrowed from it. @param revisions a page or NULL */
CARDBOX_API void cardbox_revisions_free(cardbox_revisions *revisions);

/**
 * Returns the default role of a standard card type.
 *
 * @param type  a metadata.type or NULL
 * @return static text such as "user", or NULL for a type that is not standard
 */
CARDBOX_API const char *cardbox_role_of_type(const char *type);

#ifdef __cplusplus
}
#endif

#endif
