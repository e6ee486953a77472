/*
 * card.h: cards, the immutable units of content. A card has an id, unique in its tenant, JSON
 * content and JSON metadata. A change is a new card with a new id. Writing the same card again
 * changes nothing.
 */
#ifndef CARDBOX_CARD_H
#define CARDBOX_CARD_H

#include <cardbox/client.h>
#include <cardbox/limits.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The standard card types (metadata.type). A card without a role gets the role of its type. Other
 * types are allowed and have no default role. */
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
 * One card, for writing and for reading.
 *
 * Writing: card_id and content are required. `type`, `role`, `step_id`, `trace_id`, `agent_turn_id`
 * and `author_id` are members of the metadata, of up to CARDBOX_KEY_MAX bytes of UTF-8. If one is
 * not NULL, it is added to `metadata`, and must not differ from a member of the same name there. A
 * length of 0 means strlen.
 *
 * Reading: a pointer without a value is NULL, but `type` and `author_id` are then "unknown". A copy
 * of the struct is valid as long as the result that returned the card. It may be changed and
 * written again. The "unknown" of a read is not written then.
 */
typedef struct cardbox_card {
    size_t struct_size;       /**< set by CARDBOX_CARD_INIT */
    const char *card_id;      /**< 1 to CARDBOX_CARD_ID_MAX bytes of UTF-8, no control characters */
    const char *content;      /**< any JSON value, up to CARDBOX_CONTENT_MAX bytes; reads return the
                                 same bytes */
    size_t content_length;    /**< bytes of content */
    const char *metadata;     /**< a JSON object; NULL counts as {} */
    size_t metadata_length;   /**< bytes of metadata */
    const char *tool_calls;   /**< a JSON array, or NULL */
    size_t tool_calls_length; /**< bytes of tool_calls */
    const char *tool_call_id; /**< joins a tool.call and its tool.result; up to CARDBOX_KEY_MAX
                                 bytes */
    const char *type;         /**< metadata.type */
    const char *role;         /**< metadata.role; written NULL: follows from the type */
    const char *step_id;      /**< metadata.step_id */
    const char *trace_id;     /**< metadata.trace_id */
    const char *agent_turn_id; /**< metadata.agent_turn_id */
    const char *author_id;     /**< metadata.author_id, for audit only */
    int32_t ttl_seconds; /**< seconds from the first insert to its expiry, at least 0; 0: never */
    bool sealed;         /**< can never change again, enforced by the database */
    const char *created_at; /**< read: RFC 3339; written: NULL (now) or RFC 3339 with an offset */
    const char *expires_at; /**< read only: RFC 3339 in UTC, or NULL */
    void *source;           /**< read: used by cardbox_card_text; else NULL */
} cardbox_card;

#define CARDBOX_CARD_INIT                                                                          \
    {                                                                                              \
        sizeof(cardbox_card), NULL, NULL, 0, NULL, 0, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, \
            NULL, 0, false, NULL, NULL, NULL                                                       \
    }

/** The outcome of cardbox_add_card. */
typedef enum cardbox_outcome {
    CARDBOX_OUTCOME_NONE = 0,      /**< the call failed before it had an outcome */
    CARDBOX_OUTCOME_INSERTED = 1,  /**< the card is new */
    CARDBOX_OUTCOME_UNCHANGED = 2, /**< the same card existed; nothing was written */
    CARDBOX_OUTCOME_REPAIRED = 3,  /**< it was different; the old row is in card_revisions */
    CARDBOX_OUTCOME_RESTORED = 4,  /**< it was deleted or expired, and is restored with a new TTL */
    CARDBOX_OUTCOME_CONFLICT = 5,  /**< sealed, or `strict`, or a second tool.result of its call */
    CARDBOX_OUTCOME_GONE = 6       /**< it was deleted or has expired, and `restore` was not set */
} cardbox_outcome;

/**
 * Returns the name of an outcome: "inserted", "unchanged", ...
 *
 * @param outcome  any number; "none" for unknown ones
 * @return static text
 *
 * Thread safety: any thread.
 */
CARDBOX_API const char *cardbox_outcome_name(cardbox_outcome outcome);

/** How to add. Start from CARDBOX_ADD_OPTIONS_INIT. */
typedef struct cardbox_add_options {
    size_t struct_size; /**< set by CARDBOX_ADD_OPTIONS_INIT */
    bool strict;        /**< other content under the same id is a conflict, not a repair */
    bool restore;       /**< bring back a deleted or expired card */
} cardbox_add_options;

#define CARDBOX_ADD_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(cardbox_add_options), false, false                                                  \
    }

/**
 * Writes one card: an idempotent upsert that reports its outcome.
 *
 * The content may be any JSON. It is not checked by the rules of its class: cardbox_content_check
 * and the constructors of <cardbox/content.h> do that.
 *
 * The content is stored as text, and reads return the same bytes: order and duplicates of keys,
 * numbers of any size, escapes, white space. Metadata and tool_calls are jsonb. In them, \u0000,
 * half a surrogate pair and numbers that PostgreSQL can't store are rejected. So are numbers that
 * an exponent makes longer than 40 digits.
 *
 * Two cards are the same if their contents are equal as JSON values, and their metadata, tool_calls
 * and tool_call_id are equal. Then the text of the first write stays. Writing a card again does not
 * extend its TTL. A conflict or a deleted card does not abort the caller's transaction. The call is
 * idempotent, so it is retried after a lost connection.
 *
 * @param outcome  receives the outcome; may be NULL
 * @param db       any handle
 * @param tenant   1 to CARDBOX_TENANT_MAX bytes of UTF-8, no control characters
 * @param card     the card
 * @param options  NULL means CARDBOX_ADD_OPTIONS_INIT
 * @param err      may be NULL
 * @return CARDBOX_OK for inserted, unchanged, repaired, restored; CARDBOX_CONFLICT (the message
 * names the other card of a tool call); CARDBOX_GONE; CARDBOX_INVALID (JSON faults carry
 *         err->position); CARDBOX_TOO_LARGE; and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API cardbox_status cardbox_add_card(cardbox_outcome *outcome, cardbox *db,
                                            const char *tenant, const cardbox_card *card,
                                            const cardbox_add_options *options, cardbox_error *err);

/**
 * Writes many cards in one statement and one transaction: all or none.
 *
 * @param outcomes  receives one outcome for each card, in order; may be NULL. With CARDBOX_CONFLICT
 *                  and CARDBOX_GONE nothing was written: the outcomes are those without the failure
 * @param db        any handle
 * @param tenant    as for cardbox_add_card
 * @param cards     `count` cards; if two have the same id, the later one repairs the earlier one
 * @param count     0 to CARDBOX_CARDS_PER_ADD_MAX
 * @param options   NULL means CARDBOX_ADD_OPTIONS_INIT
 * @param err       may be NULL; for INVALID the message names the card by its index
 * @return as cardbox_add_card
 *
 * Thread safety: as the handle.
 */
CARDBOX_API cardbox_status cardbox_add_cards(cardbox_outcome *outcomes, cardbox *db,
                                             const char *tenant, const cardbox_card *cards,
                                             size_t count, const cardbox_add_options *options,
                                             cardbox_error *err);

/**
 * Makes a sealed card from an entry's message, for use in boxes. The card has the message's
 * content, tool calls and tool_call_id, and its role in the metadata.
 *
 * @param outcome     receives what cardbox_add_card would return; may be NULL
 * @param db          any handle
 * @param tenant      the tenant
 * @param session_id  the session
 * @param entry_id    the entry
 * @param card_id     the card's id; with the same id the call can be repeated
 * @param err         may be NULL
 * @return CARDBOX_OK; CARDBOX_NOT_FOUND: no such session or entry; CARDBOX_INVALID: the entry is no
 * message; CARDBOX_CONFLICT: the card exists with other content; and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API cardbox_status cardbox_card_from_entry(cardbox_outcome *outcome, cardbox *db,
                                                   const char *tenant, const char *session_id,
                                                   const char *entry_id, const char *card_id,
                                                   cardbox_error *err);

/**
 * Deletes a card. It can't be read any more; gc removes it after the retention period.
 *
 * @param db       any handle
 * @param tenant   the tenant
 * @param card_id  the card; deleting it again is no error
 * @param err      may be NULL
 * @return CARDBOX_OK, CARDBOX_NOT_FOUND, CARDBOX_CONFLICT (sealed), CARDBOX_INVALID, and the
 *         connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API cardbox_status cardbox_card_delete(cardbox *db, const char *tenant, const char *card_id,
                                               cardbox_error *err);

/** The cards that a read found, and the missing ids. Opaque; free with cardbox_cards_free. */
typedef struct cardbox_cards cardbox_cards;

/**
 * Reads one card.
 *
 * @param out      receives a result with one card
 * @param db       any handle
 * @param tenant   the tenant
 * @param card_id  the card
 * @param err      may be NULL
 * @return CARDBOX_OK; CARDBOX_NOT_FOUND (absent, deleted, expired or another tenant's);
 * CARDBOX_INVALID; and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_card_get(cardbox_cards **out, cardbox *db,
                                                              const char *tenant,
                                                              const char *card_id,
                                                              cardbox_error *err);

/**
 * Reads many cards in one statement.
 *
 * @param out       receives the cards in the order of the request, each id once, and the missing
 * ids
 * @param db        any handle
 * @param tenant    the tenant
 * @param card_ids  `count` ids; duplicates count once
 * @param count     0 to CARDBOX_IDS_PER_READ_MAX
 * @param err       may be NULL
 * @return CARDBOX_OK even if all are missing; CARDBOX_INVALID; CARDBOX_TOO_LARGE; and the
 * connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_cards_get(cardbox_cards **out, cardbox *db,
                                                               const char *tenant,
                                                               const char *const *card_ids,
                                                               size_t count, cardbox_error *err);

/** A condition of a filter: metadata[key] is a string that equals value. */
typedef struct cardbox_match {
    const char *key;   /**< 1 to CARDBOX_KEY_MAX bytes; a filter has each key once */
    const char *value; /**< UTF-8; all matches of a filter have up to 128 KiB as JSON */
} cardbox_match;

/** Filters of a list. Start from CARDBOX_CARD_FILTER_INIT. A card must match all that are set. */
typedef struct cardbox_card_filter {
    size_t struct_size;               /**< set by CARDBOX_CARD_FILTER_INIT */
    const char *type;                 /**< metadata.type */
    const char *role;                 /**< metadata.role */
    const char *step_id;              /**< metadata.step_id */
    const char *trace_id;             /**< metadata.trace_id */
    const char *agent_turn_id;        /**< metadata.agent_turn_id */
    const char *const *tool_call_ids; /**< any of these */
    size_t tool_call_count;           /**< how many, up to CARDBOX_IDS_PER_READ_MAX; 0: any card */
    const cardbox_match *matches;     /**< further members of the metadata */
    size_t match_count;               /**< up to CARDBOX_FILTERS_MAX */
    const char *created_after;        /**< RFC 3339 with offset, exclusive */
    const char *created_before;       /**< RFC 3339 with offset, exclusive */
    unsigned limit;                   /**< 1 to CARDBOX_PAGE_MAX; 0: CARDBOX_PAGE_DEFAULT */
    const char *cursor;               /**< from cardbox_cards_cursor; NULL: from the newest */
} cardbox_card_filter;

#define CARDBOX_CARD_FILTER_INIT                                                                   \
    {                                                                                              \
        sizeof(cardbox_card_filter), NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, 0, NULL, NULL,   \
            0, NULL                                                                                \
    }

/**
 * Lists one page of cards, newest first (by the row's time, then by id). If few cards match a
 * filter, one statement is needed for every CARDBOX_LIST_WALK_MAX cards that are examined.
 *
 * @param out     receives the page; cardbox_cards_cursor returns the cursor of the next one
 * @param db      any handle
 * @param tenant  the tenant
 * @param filter  NULL lists all
 * @param err     may be NULL
 * @return CARDBOX_OK; CARDBOX_INVALID (also for an unknown cursor);
 *         CARDBOX_TOO_LARGE; and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_cards_list(cardbox_cards **out, cardbox *db,
                                                                const char *tenant,
                                                                const cardbox_card_filter *filter,
                                                                cardbox_error *err);

/**
 * Reads the newest card with this step and type.
 *
 * @param out      receives a result with one card
 * @param db       any handle
 * @param tenant   the tenant
 * @param step_id  metadata.step_id
 * @param type     metadata.type; NULL: of any type
 * @param err      may be NULL
 * @return CARDBOX_OK, CARDBOX_NOT_FOUND, CARDBOX_INVALID, and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_card_latest(cardbox_cards **out, cardbox *db,
                                                                 const char *tenant,
                                                                 const char *step_id,
                                                                 const char *type,
                                                                 cardbox_error *err);

/** Returns the number of cards of a result. @param cards a result or NULL @return the number */
CARDBOX_API size_t cardbox_cards_count(const cardbox_cards *cards);

/**
 * One card of a result.
 *
 * @param cards  a result
 * @param index  0 to cardbox_cards_count - 1
 * @return borrowed until cardbox_cards_free; NULL past the end
 */
CARDBOX_API const cardbox_card *cardbox_cards_at(const cardbox_cards *cards, size_t index);

/** The number of missing ids, each counted once. @param cards a result or NULL @return the
 * number */
CARDBOX_API size_t cardbox_cards_missing_count(const cardbox_cards *cards);

/**
 * One missing id, in the order of its first appearance.
 *
 * @param cards  a result
 * @param index  0 to cardbox_cards_missing_count - 1
 * @return borrowed until cardbox_cards_free; NULL past the end
 */
CARDBOX_API const char *cardbox_cards_missing_at(const cardbox_cards *cards, size_t index);

/**
 * The value of filter.cursor for the next page of a list.
 *
 * @param cards  a result of cardbox_cards_list
 * @return borrowed text, or NULL on the last page
 */
CARDBOX_API const char *cardbox_cards_cursor(const cardbox_cards *cards);

/** Frees a result and all pointers that it returned. @param cards a result or NULL */
CARDBOX_API void cardbox_cards_free(cardbox_cards *cards);

/**
 * The plain text of a card, for people, search and logs. This is the text of a TextContent, the
 * JSON of a JsonContent's data or of a schema's fields, a file's uri, or a bare string. For other
 * content it is the JSON.
 *
 * @param card  a card from a result, or a copy of it. For other cards, returns the content
 *              unchanged; for NULL, ""
 * @return borrowed until the result is freed; "" if memory is exhausted
 *
 * Thread safety: the result's thread.
 */
CARDBOX_API const char *cardbox_card_text(const cardbox_card *card);

/** An earlier content of a repaired card. Its pointers are borrowed from the result. */
typedef struct cardbox_revision {
    int64_t revision;         /**< 1 is the oldest of its card */
    const char *replaced_at;  /**< RFC 3339 in UTC */
    const cardbox_card *card; /**< the earlier version; never sealed */
} cardbox_revision;

/** A page of a card's revisions. Opaque; free with cardbox_revisions_free. */
typedef struct cardbox_revisions cardbox_revisions;

/**
 * Reads the earlier contents of a card, newest first: the audit of repairs.
 *
 * @param out              receives a page
 * @param db               any handle
 * @param tenant           the tenant
 * @param card_id          the card, which must be readable now
 * @param before_revision  only revisions below this; 0: from the newest
 * @param limit            1 to CARDBOX_PAGE_MAX; 0: CARDBOX_PAGE_DEFAULT
 * @param err              may be NULL
 * @return CARDBOX_OK even if it was never repaired; CARDBOX_NOT_FOUND; CARDBOX_INVALID; and the
 *         connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_card_revisions(
    cardbox_revisions **out, cardbox *db, const char *tenant, const char *card_id,
    int64_t before_revision, unsigned limit, cardbox_error *err);

/** Returns the number of revisions of a page. @param revisions a page or NULL @return the number */
CARDBOX_API size_t cardbox_revisions_count(const cardbox_revisions *revisions);

/**
 * One revision of a page.
 *
 * @param revisions  a page
 * @param index      0 to cardbox_revisions_count - 1
 * @return borrowed until cardbox_revisions_free; NULL past the end
 */
CARDBOX_API const cardbox_revision *cardbox_revisions_at(const cardbox_revisions *revisions,
                                                         size_t index);

/** Frees a page and everything borrowed from it. @param revisions a page or NULL */
CARDBOX_API void cardbox_revisions_free(cardbox_revisions *revisions);

/**
 * Returns the role of a card type, which applies if the card names no role.
 *
 * @param type  a metadata.type or NULL
 * @return static text such as "user", or NULL for a type that is not standard
 */
CARDBOX_API const char *cardbox_role_of_type(const char *type);

#ifdef __cplusplus
}
#endif

#endif
