/*
 * limits.h: every limit of the store, with its unit and its reason. Input beyond a limit is
 * rejected with CARDBOX_TOO_LARGE (sizes, counts) or CARDBOX_INVALID (ids), never cut.
 */
#ifndef CARDBOX_LIMITS_H
#define CARDBOX_LIMITS_H

#include <stddef.h>

/* Bytes of a tenant (project) id: fits a path segment and an index row. At least 1. */
#define CARDBOX_TENANT_MAX 255

/* Bytes of a card id: two of them and a tenant still fit a third of an index page. At least 1. */
#define CARDBOX_CARD_ID_MAX 512

/* Bytes of a tool call id, an append key, the type and other such members of a card's metadata, or
 * a metadata key in a filter: they are index keys. */
#define CARDBOX_KEY_MAX 512

/* Bytes of a card's content, and of its metadata and tool calls: the maximum of PostgreSQL's jsonb
 * is 256 MiB. */
#define CARDBOX_CONTENT_MAX (64u * 1024 * 1024)

/* Levels of nested arrays and objects in JSON from outside: PostgreSQL's stack allows a few
 * thousand, and real JSON has a few tens. */
#define CARDBOX_JSON_DEPTH_MAX 128

/* Cards in one cardbox_add_cards: one statement, one transaction, bounded memory. */
#define CARDBOX_CARDS_PER_ADD_MAX 1000

/* Ids in one append, save or creation of a box: for the same reasons. */
#define CARDBOX_IDS_PER_APPEND_MAX 10000

/* Ids in one cardbox_cards_get, boxes in one cardbox_load_boxes, ids on a page of
 * cardbox_box_each_page, tool call ids in one filter. */
#define CARDBOX_IDS_PER_READ_MAX 10000

/* Maximum rows on one page of a list, and the default. */
#define CARDBOX_PAGE_MAX     1000
#define CARDBOX_PAGE_DEFAULT 200

/* Cards that are examined for one page of a list, even if few match its filter: PostgreSQL reads
 * them in about 50 ms. */
#define CARDBOX_LIST_WALK_MAX 20000

/* Maximum ids in a box: reading a longer one would take over an hour. */
#define CARDBOX_BOX_IDS_MAX 2147483647

/* Boxes, or segments of 64 ids, that are examined for one page of cardbox_card_boxes. Fewer than
 * for cards, because these rows are larger. */
#define CARDBOX_BOXES_WALK_MAX 5000

/* Bytes of a task's completion status, which is an index key: "failed: " and a reason. */
#define CARDBOX_TASK_STATUS_MAX 1024

/* Bytes of a worker's name, which is an index key. */
#define CARDBOX_WORKER_NAME_MAX 255

/* Tasks, messages and calls in one cardbox_ledger_save: for the same reasons as cards. */
#define CARDBOX_LEDGER_BATCH_MAX 1000

/* Entries in one cardbox_session_append, or in one batch of a writer: for the same reasons as
 * cards. */
#define CARDBOX_ENTRIES_PER_APPEND_MAX 1000

/* Lines of a session. No conversation has ten million. */
#define CARDBOX_SESSION_LINES_MAX 10000000

/* Bytes of the header of a new session: some programs read only the first 512 bytes, with the line
 * feed. An imported file keeps its header. */
#define CARDBOX_SESSION_HEADER_MAX 511

/* Bytes of a session that is converted for an export: it is in memory several times. */
#define CARDBOX_CONVERT_MAX ((size_t)64 * 1024 * 1024)

/* Members of the metadata in one filter of cards. */
#define CARDBOX_FILTERS_MAX 16

#endif
