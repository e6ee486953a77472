/*
 * box.h: boxes, ordered lists of card ids. A box contains the ids of cards, not copies. A card id
 * may occur several times in a box, and its card need not exist yet. Every change of the list of
 * ids increases the version of the box by one. The cost of appending and of reading the last ids
 * does not depend on the length of the box.
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
    int64_t version;                /**< version after the change; a new box has version 1 */
    int64_t length;                 /**< number of ids after the change */
    bool replayed; /**< true: nothing was written, because the box exists already, has the same ids
                        already, was already appended to with this key, or is sealed already */
} cardbox_box_change;

/** Options of a new box. Start from CARDBOX_BOX_OPTIONS_INIT. */
typedef struct cardbox_box_options {
    size_t struct_size;            /**< set by CARDBOX_BOX_OPTIONS_INIT */
    const char *box_id;            /**< a UUID for the box; NULL: a new UUID is made */
    const char *const *card_ids;   /**< the ids that the new box contains */
    size_t card_count;             /**< 0 to CARDBOX_IDS_PER_APPEND_MAX */
    const char *const *parent_ids; /**< UUIDs of other boxes from which the new box is made; the
                                        boxes need not exist */
    size_t parent_count;           /**< 0 to CARDBOX_IDS_PER_APPEND_MAX */
} cardbox_box_options;

#define CARDBOX_BOX_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(cardbox_box_options), NULL, NULL, 0, NULL, 0                                        \
    }

/**
 * Creates a box, at version 1.
 *
 * @param out      receives the id, the version and the length of the box; may be NULL
 * @param db       any handle
 * @param tenant   the tenant
 * @param options  NULL: an empty box with a new id
 * @param err      may be NULL
 * @return CARDBOX_OK; CARDBOX_CONFLICT (a box with the id options->box_id exists); CARDBOX_GONE (a
 * deleted box has this id); CARDBOX_INVALID; CARDBOX_TOO_LARGE; and the connection's. The call is
 * not retried if the connection is lost after the statement was sent
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API cardbox_status cardbox_box_create(cardbox_box_change *out, cardbox *db,
                                              const char *tenant,
                                              const cardbox_box_options *options,
                                              cardbox_error *err);

/**
 * Creates an empty box if the box `box_id` does not exist. With a pool, the call is retried after a
 * lost connection, because it is idempotent.
 *
 * @param out     receives the id, the version and the length of the box; `replayed` is true if the
 * box existed; may be NULL
 * @param db      any handle
 * @param tenant  the tenant
 * @param box_id  a UUID; NULL: a new UUID is made
 * @param err     may be NULL
 * @return CARDBOX_OK, CARDBOX_GONE (the box was deleted), CARDBOX_INVALID, and the connection's
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API cardbox_status cardbox_box_ensure(cardbox_box_change *out, cardbox *db,
                                              const char *tenant, const char *box_id,
                                              cardbox_error *err);

/** Options of an append. Start from CARDBOX_APPEND_OPTIONS_INIT. */
typedef struct cardbox_append_options {
    size_t struct_size; /**< set by CARDBOX_APPEND_OPTIONS_INIT */
    const char *key;    /**< idempotency key, up to CARDBOX_KEY_MAX bytes: appends to the box with
                             this key are made once; or NULL */
    int64_t expected_version; /**< version that the box must have, else CARDBOX_CONFLICT; 0: any
                                 version */
} cardbox_append_options;

#define CARDBOX_APPEND_OPTIONS_INIT                                                                \
    {                                                                                              \
        sizeof(cardbox_append_options), NULL, 0                                                    \
    }

/**
 * Appends card ids to a box. If several calls append to one box at the same time, the ids of each
 * call stay together, and none are lost.
 *
 * If the key was used before with the same ids, nothing is appended, and the result of the first
 * append is returned. If a pool loses the connection after the statement was sent, a call with a
 * key is retried, and a call without a key is not.
 *
 * Concurrent appends of up to 64 ids by threads that use one pool may share statements and commits.
 * Each append has a result of its own. If another transaction has locked a box, an append to this
 * box waits in a statement of its own.
 *
 * @param out       receives the version and the length of the box after the append; may be NULL
 * @param db        any handle
 * @param tenant    the tenant
 * @param box_id    a UUID
 * @param card_ids  `count` ids, in order
 * @param count     1 to CARDBOX_IDS_PER_APPEND_MAX
 * @param options   NULL means CARDBOX_APPEND_OPTIONS_INIT
 * @param err       may be NULL; after CARDBOX_CONFLICT, `current_version` is the version of the box
 * @return CARDBOX_OK; CARDBOX_NOT_FOUND; CARDBOX_CONFLICT (the box has another version than
 * expected_version, or is sealed, or the key was used with other ids); CARDBOX_INVALID;
 * CARDBOX_TOO_LARGE; and the connection's
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API cardbox_status cardbox_append_to_box(cardbox_box_change *out, cardbox *db,
                                                 const char *tenant, const char *box_id,
                                                 const char *const *card_ids, size_t count,
                                                 const cardbox_append_options *options,
                                                 cardbox_error *err);

/**
 * Replaces all ids of a box. If the box does not exist and expected_version is 0, the box is
 * created. Earlier versions of the box can still be read: see at_version and at_time of
 * cardbox_read_options.
 *
 * @param out  receives the version and the length of the box; `replayed` is true if the box already
 * had these ids, so that nothing was written; may be NULL
 * @param db                any handle
 * @param tenant            the tenant
 * @param box_id            a UUID
 * @param card_ids          `count` ids
 * @param count             0 to CARDBOX_IDS_PER_APPEND_MAX
 * @param expected_version  version that the box must have; 0: any version, or no box
 * @param err               may be NULL; after CARDBOX_CONFLICT, `current_version` is the version of
 * the box
 * @return CARDBOX_OK; CARDBOX_CONFLICT (the box has another version than expected_version, or is
 * sealed); CARDBOX_NOT_FOUND (no such box); CARDBOX_GONE (the box was deleted); CARDBOX_INVALID;
 * CARDBOX_TOO_LARGE; and the connection's. For a deleted box, CARDBOX_GONE is returned if
 * expected_version is 0, else CARDBOX_NOT_FOUND. With a pool and expected_version 0, the call is
 * retried after a lost connection
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API cardbox_status cardbox_save_box(cardbox_box_change *out, cardbox *db,
                                            const char *tenant, const char *box_id,
                                            const char *const *card_ids, size_t count,
                                            int64_t expected_version, cardbox_error *err);

/** Options of a fork. Start from CARDBOX_FORK_OPTIONS_INIT. At most one of at_version and at_length
 * may be set. */
typedef struct cardbox_fork_options {
    size_t struct_size;     /**< set by CARDBOX_FORK_OPTIONS_INIT */
    const char *new_box_id; /**< a UUID for the fork; NULL: a new UUID is made */
    int64_t at_version;     /**< the fork has the ids of the box at this version; 0: not set */
    int64_t at_length; /**< the fork has only this number of ids, from the start of the current ids
                          of the box; negative: not set */
} cardbox_fork_options;

#define CARDBOX_FORK_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(cardbox_fork_options), NULL, 0, -1                                                  \
    }

/**
 * Creates a box (the fork) with the current ids of another box, with its ids at an earlier version,
 * or with its first ids. The only element of the parent_ids of the fork is the id of the other box.
 * A fork usually copies up to 63 ids, and shares all other ids with the other box. After 256 forks
 * of forks, the next fork copies all ids.
 *
 * @param out      receives the id, the version (1) and the length of the fork; may be NULL
 * @param db       any handle
 * @param tenant   the tenant
 * @param box_id   the box to fork
 * @param options  NULL: the current ids of the box, and a new id
 * @param err      may be NULL
 * @return CARDBOX_OK; CARDBOX_NOT_FOUND (no such box, version or length); CARDBOX_CONFLICT
 * (new_box_id exists, or ids of the box are missing); CARDBOX_GONE (new_box_id is a deleted box);
 * CARDBOX_INVALID; and the connection's. If the connection is lost after the statement was sent,
 * the call is not retried
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API cardbox_status cardbox_box_fork(cardbox_box_change *out, cardbox *db,
                                            const char *tenant, const char *box_id,
                                            const cardbox_fork_options *options,
                                            cardbox_error *err);

/**
 * Seals a box: its list can't be changed any more, and the box can't be deleted. The version of the
 * box grows by one. Appends, replacements and the deletion of a sealed box fail with
 * CARDBOX_CONFLICT, but an append that repeats the key of an earlier one gets the earlier result.
 * A sealed box can be forked; the fork is not sealed. With a pool, the call is retried after a lost
 * connection, because it is idempotent.
 *
 * @param out     receives the version and the length of the box; `replayed` is true if the box was
 * sealed before, so that nothing was written; may be NULL
 * @param db      any handle
 * @param tenant  the tenant
 * @param box_id  a UUID
 * @param err     may be NULL
 * @return CARDBOX_OK, CARDBOX_NOT_FOUND, CARDBOX_INVALID, and the connection's
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API cardbox_status cardbox_seal_box(cardbox_box_change *out, cardbox *db,
                                            const char *tenant, const char *box_id,
                                            cardbox_error *err);

/**
 * Deletes a box. A deleted box can't be read any more. The id of a deleted box can't be used for a
 * new box before gc has removed the deleted one. The forks and the cards of the box stay.
 *
 * @param db      any handle
 * @param tenant  the tenant
 * @param box_id  a UUID; deleting a deleted box is no error
 * @param err     may be NULL
 * @return CARDBOX_OK, CARDBOX_NOT_FOUND, CARDBOX_CONFLICT (the box is sealed), CARDBOX_INVALID, and
 * the connection's
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API cardbox_status cardbox_box_delete(cardbox *db, const char *tenant, const char *box_id,
                                              cardbox_error *err);

/**
 * The part and the version of a box to read. If all members are 0 (`{0}`), the whole current box is
 * read. `tail` must not be combined with `offset` or `limit`. At most one of at_version, at_length
 * and at_time may be set. An earlier version of a box is an earlier list of ids; functions that
 * read cards return their current contents.
 */
typedef struct cardbox_read_options {
    size_t tail;        /**< read only this number of ids, the last ones of the box; 0: not set */
    size_t offset;      /**< number of ids to skip at the start */
    size_t limit;       /**< maximum number of ids; 0: to the end */
    int64_t at_version; /**< the ids at this version; 0: not set */
    int64_t at_length;  /**< read only this number of the current ids, from the start; 0: not set */
    const char *at_time; /**< the ids at this time, RFC 3339 with a UTC offset; NULL: not set */
} cardbox_read_options;

/** One box of a result. The pointers of a box are borrowed from its result. */
typedef struct cardbox_box {
    char box_id[CARDBOX_UUID_SIZE]; /**< lower case */
    int64_t version;                /**< the version that was read */
    int64_t length; /**< number of all ids at that version; if at_length was set, at_length */
    int64_t first;  /**< position of card_ids[0] in the box, from 0 */
    const char *const *card_ids;   /**< the requested part of the ids, in order */
    size_t card_count;             /**< number of card_ids */
    const char *const *parent_ids; /**< ids of the boxes from which the box was made */
    size_t parent_count;           /**< number of parent_ids */
    const char *created_at;        /**< RFC 3339 in UTC */
    const char *updated_at;        /**< RFC 3339 in UTC */
    bool sealed; /**< true: the list can't be changed any more; false for earlier versions of a
                      sealed box */
} cardbox_box;

/** The result of a read: the boxes that were found, and the missing ids. Opaque; free it with
 * cardbox_boxes_free. */
typedef struct cardbox_boxes cardbox_boxes;

/**
 * Reads one box: all its ids, or a part of them.
 *
 * @param out      receives a result with one box
 * @param db       any handle
 * @param tenant   the tenant
 * @param box_id   an id; for a text that is no UUID, CARDBOX_NOT_FOUND is returned
 * @param options  the part and the version; NULL: all current ids
 * @param err      may be NULL
 * @return CARDBOX_OK; CARDBOX_NOT_FOUND (no such box, or no version of it with this number, length
 * or time); CARDBOX_INVALID; and the connection's
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_load_box(cardbox_boxes **out, cardbox *db,
                                                              const char *tenant,
                                                              const char *box_id,
                                                              const cardbox_read_options *options,
                                                              cardbox_error *err);

/**
 * Called by cardbox_box_each_page for each page of a box.
 *
 * @param arg   the argument that was passed to cardbox_box_each_page
 * @param page  the box at the version that is read; `first`, `card_ids` and `card_count` describe
 * the page; valid until the callback returns
 * @return true: read the next page; false: stop
 */
typedef bool (*cardbox_box_page)(void *arg, const cardbox_box *page);

/**
 * Reads a box of any length in pages of up to CARDBOX_IDS_PER_READ_MAX ids. All pages are of the
 * same version, even if the box changes meanwhile. Only one page at a time is in memory.
 *
 * @param db       any handle
 * @param tenant   the tenant
 * @param box_id   the box
 * @param options  the part and the version; NULL: the whole box now
 * @param page     called for each page, in the order of positions; if there are no ids to read,
 * called once
 * @param arg      passed to `page`
 * @param err      may be NULL
 * @return CARDBOX_OK, also if the callback returned false; else as cardbox_load_box. If an error is
 * returned, the pages that the callback has received are correct
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_box_each_page(
    cardbox *db, const char *tenant, const char *box_id, const cardbox_read_options *options,
    cardbox_box_page page, void *arg, cardbox_error *err);

/**
 * Reads many boxes with one statement.
 *
 * @param out      receives the boxes in the order of `box_ids`, each once, and the ids of boxes
 * that do not exist or do not have the requested version
 * @param db       any handle
 * @param tenant   the tenant
 * @param box_ids  `count` ids
 * @param count    0 to CARDBOX_IDS_PER_READ_MAX
 * @param options  the part and the version of each box; NULL: all current ids
 * @param err      may be NULL
 * @return CARDBOX_OK even if all boxes are missing; CARDBOX_INVALID; CARDBOX_TOO_LARGE; and the
 * connection's
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status
cardbox_load_boxes(cardbox_boxes **out, cardbox *db, const char *tenant, const char *const *box_ids,
                   size_t count, const cardbox_read_options *options, cardbox_error *err);

/**
 * Reads the cards to which the ids of a box refer.
 *
 * @param out      receives the cards in the order of the box, with repetitions, and the missing
 * ids: each id without a readable card, once
 * @param db       any handle
 * @param tenant   the tenant
 * @param box_id   the box
 * @param options  the part and the version; NULL: all current ids
 * @param err      may be NULL
 * @return as cardbox_load_box
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status
cardbox_get_box_cards(cardbox_cards **out, cardbox *db, const char *tenant, const char *box_id,
                      const cardbox_read_options *options, cardbox_error *err);

/**
 * Lists one page of the boxes that contain a card now, newest first (by created_at, then by box
 * id). Boxes are examined until the page is full or no box is left, with several statements if
 * necessary (see CARDBOX_BOXES_WALK_MAX).
 *
 * @param out      receives the page: boxes without their card ids (card_count is 0);
 * cardbox_boxes_cursor returns the cursor of the next page
 * @param db       any handle
 * @param tenant   the tenant
 * @param card_id  the id of a card, which need not exist
 * @param cursor   from cardbox_boxes_cursor; NULL: from the newest
 * @param limit    1 to CARDBOX_PAGE_MAX; 0: CARDBOX_PAGE_DEFAULT
 * @param err      may be NULL
 * @return CARDBOX_OK, even if the page is empty; CARDBOX_INVALID (also for a malformed cursor); and
 * the connection's
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_card_boxes(cardbox_boxes **out, cardbox *db,
                                                                const char *tenant,
                                                                const char *card_id,
                                                                const char *cursor, unsigned limit,
                                                                cardbox_error *err);

/**
 * Lists one page of the boxes of a tenant, newest first (by created_at, then by box id).
 *
 * @param out      receives the page: boxes without their card ids (card_count is 0);
 * cardbox_boxes_cursor returns the cursor of the next page
 * @param db      any handle
 * @param tenant  the tenant
 * @param cursor  from cardbox_boxes_cursor; NULL: from the newest
 * @param limit   1 to CARDBOX_PAGE_MAX; 0: CARDBOX_PAGE_DEFAULT
 * @param err     may be NULL
 * @return CARDBOX_OK, even if the page is empty; CARDBOX_INVALID (also for a malformed cursor); and
 * the connection's
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_boxes_list(cardbox_boxes **out, cardbox *db,
                                                                const char *tenant,
                                                                const char *cursor, unsigned limit,
                                                                cardbox_error *err);

/**
 * Returns the cursor of the next page of a list.
 *
 * @param boxes  a result
 * @return the cursor, for the next call of the function that returned `boxes`, borrowed until
 * cardbox_boxes_free; NULL: this is the last page, or `boxes` is no page of a list
 */
CARDBOX_API const char *cardbox_boxes_cursor(const cardbox_boxes *boxes);

/** Returns the number of boxes of a result. @param boxes a result or NULL @return the number */
CARDBOX_API size_t cardbox_boxes_count(const cardbox_boxes *boxes);

/**
 * Returns one box of a result.
 *
 * @param boxes  a result
 * @param index  0 to cardbox_boxes_count - 1
 * @return borrowed until cardbox_boxes_free; NULL past the end
 */
CARDBOX_API const cardbox_box *cardbox_boxes_at(const cardbox_boxes *boxes, size_t index);

/** Returns the number of different missing ids of a result. @param boxes a result or NULL @return
 * the number */
CARDBOX_API size_t cardbox_boxes_missing_count(const cardbox_boxes *boxes);

/**
 * Returns one missing id of a result, spelled as in the request.
 *
 * @param boxes  a result
 * @param index  0 to cardbox_boxes_missing_count - 1
 * @return borrowed until cardbox_boxes_free; NULL past the end
 */
CARDBOX_API const char *cardbox_boxes_missing_at(const cardbox_boxes *boxes, size_t index);

/** Frees a result of boxes and everything borrowed from it. @param boxes a result or NULL */
CARDBOX_API void cardbox_boxes_free(cardbox_boxes *boxes);

/** One change of a box, from its log. */
typedef struct cardbox_log_entry {
    int64_t version; /**< version after the change */
    const char *op;  /**< "create", "append", "replace", "fork" or "seal" */
    int64_t length;  /**< number of ids after the change */
    int64_t added;   /**< number of ids that an append added; 0 for "seal"; for other changes the
                        length of the box after the change */
    const char *append_key; /**< key of the append, or NULL */
    const char *at;         /**< time of the change, RFC 3339 in UTC */
} cardbox_log_entry;

/** A page of the changes of a box. Opaque; free it with cardbox_log_free. */
typedef struct cardbox_log cardbox_log;

/**
 * Reads the changes of a box, newest first.
 *
 * @param out             receives a page
 * @param db              any handle
 * @param tenant          the tenant
 * @param box_id          the box
 * @param before_version  only changes that made a lower version; 0: from the newest
 * @param limit           1 to CARDBOX_PAGE_MAX; 0: CARDBOX_PAGE_DEFAULT
 * @param err             may be NULL
 * @return CARDBOX_OK, CARDBOX_NOT_FOUND, CARDBOX_INVALID, and the connection's
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_box_log(cardbox_log **out, cardbox *db,
                                                             const char *tenant, const char *box_id,
                                                             int64_t before_version, unsigned limit,
                                                             cardbox_error *err);

/** Returns the number of changes on a page. @param log a page or NULL @return the number */
CARDBOX_API size_t cardbox_log_count(const cardbox_log *log);

/**
 * Returns one change of a page.
 *
 * @param log    a page
 * @param index  0 to cardbox_log_count - 1
 * @return borrowed until cardbox_log_free; NULL past the end
 */
CARDBOX_API const cardbox_log_entry *cardbox_log_at(const cardbox_log *log, size_t index);

/** Frees a page of changes. @param log a page or NULL */
CARDBOX_API void cardbox_log_free(cardbox_log *log);

#ifdef __cplusplus
}
#endif

#endif
