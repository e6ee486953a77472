/*
 * box.h: boxes, ordered lists of card ids. A box refers to cards without copying them. Ids may
 * occur several times, and their cards need not exist yet. Every change raises the box's version by
 * one. Appending, forking and reading the tail cost the same in a box of ten ids and of a million.
 */
#ifndef CARDBOX_BOX_H
#define CARDBOX_BOX_H

#include <cardbox/card.h>
#include <cardbox/ids.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The result of a change of a box. */
typedef struct cardbox_box_change {
    char box_id[CARDBOX_UUID_SIZE]; /**< the box, lower case */
    int64_t version;                /**< after the change; the first is 1 */
    int64_t length;                 /**< ids after the change */
    bool replayed;                  /**< true: an earlier call did this, so nothing was written */
} cardbox_box_change;

/** How to create a box. Start from CARDBOX_BOX_OPTIONS_INIT. */
typedef struct cardbox_box_options {
    size_t struct_size;            /**< set by CARDBOX_BOX_OPTIONS_INIT */
    const char *box_id;            /**< a UUID of the caller's; NULL: a new one */
    const char *const *card_ids;   /**< the first ids */
    size_t card_count;             /**< 0 to CARDBOX_IDS_PER_APPEND_MAX */
    const char *const *parent_ids; /**< UUIDs of the other boxes that it was made from */
    size_t parent_count;           /**< 0 to CARDBOX_IDS_PER_APPEND_MAX */
} cardbox_box_options;

#define CARDBOX_BOX_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(cardbox_box_options), NULL, NULL, 0, NULL, 0                                        \
    }

/**
 * Creates a box, at version 1.
 *
 * @param out      receives its id, version and length; may be NULL
 * @param db       any handle
 * @param tenant   the tenant
 * @param options  NULL: an empty box with a new id
 * @param err      may be NULL
 * @return CARDBOX_OK; CARDBOX_CONFLICT if options->box_id exists; CARDBOX_GONE if it was deleted;
 *         CARDBOX_INVALID; CARDBOX_TOO_LARGE; and the connection's. Not retried after a lost
 *         connection: use cardbox_box_ensure for that
 *
 * Thread safety: as the handle.
 */
CARDBOX_API cardbox_status cardbox_box_create(cardbox_box_change *out, cardbox *db,
                                              const char *tenant,
                                              const cardbox_box_options *options,
                                              cardbox_error *err);

/**
 * Creates the box `box_id`, empty, if it does not exist. Idempotent, so it is retried.
 *
 * @param out     receives its id, version and length; `replayed` if the box existed; may be
 * NULL
 * @param db      any handle
 * @param tenant  the tenant
 * @param box_id  a UUID; NULL makes a box with a new id
 * @param err     may be NULL
 * @return CARDBOX_OK, CARDBOX_GONE (it was deleted), CARDBOX_INVALID, and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API cardbox_status cardbox_box_ensure(cardbox_box_change *out, cardbox *db,
                                              const char *tenant, const char *box_id,
                                              cardbox_error *err);

/** How to append. Start from CARDBOX_APPEND_OPTIONS_INIT. */
typedef struct cardbox_append_options {
    size_t struct_size; /**< set by CARDBOX_APPEND_OPTIONS_INIT */
    const char *key;    /**< up to CARDBOX_KEY_MAX bytes: calls with the same key append once */
    int64_t expected_version; /**< compare-and-append; 0: any version */
} cardbox_append_options;

#define CARDBOX_APPEND_OPTIONS_INIT                                                                \
    {                                                                                              \
        sizeof(cardbox_append_options), NULL, 0                                                    \
    }

/**
 * Appends ids to a box. The ids of one call stay together, and none is lost, even if calls are
 * concurrent.
 *
 * If the key was used before with the same ids, nothing is appended and the first result is
 * returned. A call with a key is retried after a lost connection, a call without one is not.
 *
 * Concurrent appends of threads that use one pool share statements and commits. Each call has its
 * own result. If another transaction has locked a box, only appends to this box wait.
 *
 * @param out       receives version and length after the append; may be NULL
 * @param db        any handle
 * @param tenant    the tenant
 * @param box_id    a UUID
 * @param card_ids  `count` ids, in order
 * @param count     1 to CARDBOX_IDS_PER_APPEND_MAX
 * @param options   NULL means CARDBOX_APPEND_OPTIONS_INIT
 * @param err       may be NULL; `current_version` for a wrong expected_version
 * @return CARDBOX_OK; CARDBOX_NOT_FOUND; CARDBOX_CONFLICT (wrong expected_version, or the key with
 *         other ids); CARDBOX_INVALID; CARDBOX_TOO_LARGE; and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API cardbox_status cardbox_append_to_box(cardbox_box_change *out, cardbox *db,
                                                 const char *tenant, const char *box_id,
                                                 const char *const *card_ids, size_t count,
                                                 const cardbox_append_options *options,
                                                 cardbox_error *err);

/**
 * Replaces the whole list of a box. A missing box is created. Earlier versions can still be read
 * (cardbox_read_options, cardbox_box_log).
 *
 * @param out               receives version and length; `replayed` if the list was already this one
 *                          (nothing is written); may be NULL
 * @param db                any handle
 * @param tenant            the tenant
 * @param box_id            a UUID
 * @param card_ids          `count` ids
 * @param count             0 to CARDBOX_IDS_PER_APPEND_MAX
 * @param expected_version  compare-and-replace; 0: any version, or no box
 * @param err               may be NULL; `current_version` for a wrong expected_version
 * @return CARDBOX_OK, CARDBOX_CONFLICT, CARDBOX_NOT_FOUND (expected_version given, no box),
 * CARDBOX_GONE (it was deleted), CARDBOX_INVALID, CARDBOX_TOO_LARGE, and the connection's. Retried
 * after a lost connection when expected_version is 0
 *
 * Thread safety: as the handle.
 */
CARDBOX_API cardbox_status cardbox_save_box(cardbox_box_change *out, cardbox *db,
                                            const char *tenant, const char *box_id,
                                            const char *const *card_ids, size_t count,
                                            int64_t expected_version, cardbox_error *err);

/** The point of a fork. Start from CARDBOX_FORK_OPTIONS_INIT; set at most one at_ field. */
typedef struct cardbox_fork_options {
    size_t struct_size;     /**< set by CARDBOX_FORK_OPTIONS_INIT */
    const char *new_box_id; /**< a UUID for the fork; NULL: a new one */
    int64_t at_version;     /**< as the box was at this version; 0: not set */
    int64_t at_length;      /**< the first ids only; negative: not set */
} cardbox_fork_options;

#define CARDBOX_FORK_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(cardbox_fork_options), NULL, 0, -1                                                  \
    }

/**
 * Creates a box with the list of this one, as it is now, at an earlier version, or cut to its first
 * ids. The parent_ids of the new box name this box. At most one segment of ids is copied.
 *
 * @param out      receives the new box's id, version 1 and its length; may be NULL
 * @param db       any handle
 * @param tenant   the tenant
 * @param box_id   the box to fork
 * @param options  NULL: the current version, with a new id
 * @param err      may be NULL
 * @return CARDBOX_OK; CARDBOX_NOT_FOUND (no such box, version or length);
 * CARDBOX_CONFLICT (new_box_id exists, or ids are missing in the store);
 * CARDBOX_GONE (it was deleted); CARDBOX_INVALID; and the connection's. Not retried
 *
 * Thread safety: as the handle.
 */
CARDBOX_API cardbox_status cardbox_box_fork(cardbox_box_change *out, cardbox *db,
                                            const char *tenant, const char *box_id,
                                            const cardbox_fork_options *options,
                                            cardbox_error *err);

/**
 * Deletes a box. It can't be read any more, and its id can't be used again. Forks and cards stay.
 *
 * @param db      any handle
 * @param tenant  the tenant
 * @param box_id  a UUID; deleting it again is no error
 * @param err     may be NULL
 * @return CARDBOX_OK, CARDBOX_NOT_FOUND, CARDBOX_INVALID, and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API cardbox_status cardbox_box_delete(cardbox *db, const char *tenant, const char *box_id,
                                              cardbox_error *err);

/**
 * The part and the version of a box to read. All members 0 (`{0}`): the whole box now. Set `tail`,
 * or `offset` and `limit`, or none of them, and at most one at_ field. An earlier version selects
 * the list of ids; the cards have their present contents. Earlier contents are in their revisions.
 */
typedef struct cardbox_read_options {
    size_t tail;         /**< only the last n ids; 0: not set */
    size_t offset;       /**< skip this many from the front */
    size_t limit;        /**< at most this many; 0: to the end */
    int64_t at_version;  /**< the list at this version; 0: not set */
    int64_t at_length;   /**< its first at_length ids, as the list is now; 0: not set */
    const char *at_time; /**< the list at this time, RFC 3339 with offset; NULL: not set */
} cardbox_read_options;

/** One box of a result. Its pointers are borrowed from the result. */
typedef struct cardbox_box {
    char box_id[CARDBOX_UUID_SIZE]; /**< lower case */
    int64_t version;                /**< the version that was read */
    int64_t length;                 /**< ids in the whole box at that version */
    int64_t first;                  /**< position of card_ids[0] in the box, from 0 */
    const char *const *card_ids;    /**< the ids that were asked for, in order */
    size_t card_count;              /**< how many */
    const char *const *parent_ids;  /**< the boxes that it was made from */
    size_t parent_count;            /**< how many */
    const char *created_at;         /**< RFC 3339 in UTC */
    const char *updated_at;         /**< RFC 3339 in UTC */
} cardbox_box;

/** The boxes that a read found, and the missing ids. Opaque; free with cardbox_boxes_free. */
typedef struct cardbox_boxes cardbox_boxes;

/**
 * Reads one box: its ids, or a part of them.
 *
 * @param out      receives a result with one box
 * @param db       any handle
 * @param tenant   the tenant
 * @param box_id   an id; a text that is no UUID is CARDBOX_NOT_FOUND
 * @param options  NULL: the whole box now
 * @param err      may be NULL
 * @return CARDBOX_OK; CARDBOX_NOT_FOUND (no such box, version, length or time);
 * CARDBOX_INVALID; and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_load_box(cardbox_boxes **out, cardbox *db,
                                                              const char *tenant,
                                                              const char *box_id,
                                                              const cardbox_read_options *options,
                                                              cardbox_error *err);

/**
 * Called by cardbox_box_each_page for each page of a box.
 *
 * @param arg   as given
 * @param page  the box at the version that is read; `first`, `card_ids` and `card_count` describe
 * this page; borrowed until the callback returns
 * @return false to read no further
 */
typedef bool (*cardbox_box_page)(void *arg, const cardbox_box *page);

/**
 * Reads a box of any length in pages of up to CARDBOX_IDS_PER_READ_MAX ids. All pages have the same
 * version, even if the box changes. Only one page is in memory.
 *
 * @param db       any handle
 * @param tenant   the tenant
 * @param box_id   the box
 * @param options  the part and the version; NULL: the whole box now
 * @param page     called in the order of the positions, at least once, also for an empty box
 * @param arg      passed to `page`
 * @param err      may be NULL
 * @return CARDBOX_OK, also if the callback returned false; else as cardbox_load_box. Pages before
 *         an error are correct
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_box_each_page(
    cardbox *db, const char *tenant, const char *box_id, const cardbox_read_options *options,
    cardbox_box_page page, void *arg, cardbox_error *err);

/**
 * Reads many boxes in one statement.
 *
 * @param out      receives the boxes in the order of the request, each once, and the missing ids
 * @param db       any handle
 * @param tenant   the tenant
 * @param box_ids  `count` ids
 * @param count    0 to CARDBOX_IDS_PER_READ_MAX
 * @param options  applies to each; NULL: whole boxes now
 * @param err      may be NULL
 * @return CARDBOX_OK even if all are missing; CARDBOX_INVALID; CARDBOX_TOO_LARGE; and the
 * connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status
cardbox_load_boxes(cardbox_boxes **out, cardbox *db, const char *tenant, const char *const *box_ids,
                   size_t count, const cardbox_read_options *options, cardbox_error *err);

/**
 * Reads the cards of a box, hydrated, in one round trip.
 *
 * @param out      receives the cards in box order, duplicates repeated; ids without a readable card
 *                 are among the missing, each once
 * @param db       any handle
 * @param tenant   the tenant
 * @param box_id   the box
 * @param options  which part; NULL: all
 * @param err      may be NULL
 * @return as cardbox_load_box
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status
cardbox_get_box_cards(cardbox_cards **out, cardbox *db, const char *tenant, const char *box_id,
                      const cardbox_read_options *options, cardbox_error *err);

/**
 * Finds one page of the boxes that contain a card now, newest first (by creation, then by id). If
 * fewer than `limit` boxes contain it, every box of the tenant is examined, with one statement for
 * every CARDBOX_BOXES_WALK_MAX boxes.
 *
 * @param out      receives the page: boxes without their ids (card_count 0); cardbox_boxes_cursor
 *                 returns the cursor of the next one
 * @param db       any handle
 * @param tenant   the tenant
 * @param card_id  the card; it need not exist
 * @param cursor   from cardbox_boxes_cursor; NULL: from the newest
 * @param limit    1 to CARDBOX_PAGE_MAX; 0: CARDBOX_PAGE_DEFAULT
 * @param err      may be NULL
 * @return CARDBOX_OK even if there is none; CARDBOX_INVALID (also for a cursor that is not one of
 *         ours); and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_card_boxes(cardbox_boxes **out, cardbox *db,
                                                                const char *tenant,
                                                                const char *card_id,
                                                                const char *cursor, unsigned limit,
                                                                cardbox_error *err);

/**
 * Lists one page of the boxes of a tenant, newest first (by creation, then by id).
 *
 * @param out     receives the page: boxes without their ids (card_count 0); cardbox_boxes_cursor
 *                returns the cursor of the next one
 * @param db      any handle
 * @param tenant  the tenant
 * @param cursor  from cardbox_boxes_cursor; NULL: from the newest
 * @param limit   1 to CARDBOX_PAGE_MAX; 0: CARDBOX_PAGE_DEFAULT
 * @param err     may be NULL
 * @return CARDBOX_OK even if there is none; CARDBOX_INVALID (also for a cursor that is not one of
 *         ours); and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_boxes_list(cardbox_boxes **out, cardbox *db,
                                                                const char *tenant,
                                                                const char *cursor, unsigned limit,
                                                                cardbox_error *err);

/**
 * The cursor of the next page.
 *
 * @param boxes  a result
 * @return the cursor for the next call of the same function, borrowed until cardbox_boxes_free;
 *         NULL: this page is the last, or `boxes` is no page of a list
 */
CARDBOX_API const char *cardbox_boxes_cursor(const cardbox_boxes *boxes);

/** Returns the number of boxes of a result. @param boxes a result or NULL @return the number */
CARDBOX_API size_t cardbox_boxes_count(const cardbox_boxes *boxes);

/**
 * One box of a result.
 *
 * @param boxes  a result
 * @param index  0 to cardbox_boxes_count - 1
 * @return borrowed until cardbox_boxes_free; NULL past the end
 */
CARDBOX_API const cardbox_box *cardbox_boxes_at(const cardbox_boxes *boxes, size_t index);

/** The number of missing ids, each counted once. @param boxes a result or NULL @return the
 * number */
CARDBOX_API size_t cardbox_boxes_missing_count(const cardbox_boxes *boxes);

/**
 * One missing id, as in the request.
 *
 * @param boxes  a result
 * @param index  0 to cardbox_boxes_missing_count - 1
 * @return borrowed until cardbox_boxes_free; NULL past the end
 */
CARDBOX_API const char *cardbox_boxes_missing_at(const cardbox_boxes *boxes, size_t index);

/** Frees a result and everything borrowed from it. @param boxes a result or NULL */
CARDBOX_API void cardbox_boxes_free(cardbox_boxes *boxes);

/** One change of a box. */
typedef struct cardbox_log_entry {
    int64_t version;        /**< after the change */
    const char *op;         /**< "create", "append", "replace" or "fork" */
    int64_t length;         /**< ids after the change */
    int64_t added;          /**< ids that an append added; for other changes all ids of the box */
    const char *append_key; /**< or NULL */
    const char *at;         /**< RFC 3339 in UTC */
} cardbox_log_entry;

/** A page of a box's changes. Opaque; free with cardbox_log_free. */
typedef struct cardbox_log cardbox_log;

/**
 * Reads the changes of a box, newest first.
 *
 * @param out             receives a page
 * @param db              any handle
 * @param tenant          the tenant
 * @param box_id          the box
 * @param before_version  only versions below this; 0: from the newest
 * @param limit           1 to CARDBOX_PAGE_MAX; 0: CARDBOX_PAGE_DEFAULT
 * @param err             may be NULL
 * @return CARDBOX_OK, CARDBOX_NOT_FOUND, CARDBOX_INVALID, and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_box_log(cardbox_log **out, cardbox *db,
                                                             const char *tenant, const char *box_id,
                                                             int64_t before_version, unsigned limit,
                                                             cardbox_error *err);

/** Returns the number of changes of a page. @param log a page or NULL @return the number */
CARDBOX_API size_t cardbox_log_count(const cardbox_log *log);

/**
 * One change of a page.
 *
 * @param log    a page
 * @param index  0 to cardbox_log_count - 1
 * @return borrowed until cardbox_log_free; NULL past the end
 */
CARDBOX_API const cardbox_log_entry *cardbox_log_at(const cardbox_log *log, size_t index);

/** Frees a page. @param log a page or NULL */
CARDBOX_API void cardbox_log_free(cardbox_log *log);

#ifdef __cplusplus
}
#endif

#endif
