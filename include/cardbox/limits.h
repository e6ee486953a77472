/*
 * limits.h: the limits of the store, each with its unit and its reason. Input beyond a limit is
 * rejected: sizes and counts with CARDBOX_TOO_LARGE, ids, keys, names and page limits with
 * CARDBOX_INVALID.
 */
#ifndef CARDBOX_LIMITS_H
#define CARDBOX_LIMITS_H

#include <stddef.h>

/* Maximum bytes of a tenant (project) id; the minimum is 1. Such an id fits in a segment of a URL
 * path and in an index row. */
#define CARDBOX_TENANT_MAX 255

/* Maximum bytes of a card id; the minimum is 1. Two card ids and a tenant id fit in a third of an
 * index page, the maximum of an index row. */
#define CARDBOX_CARD_ID_MAX 512

/* Maximum bytes of a tool call id, an append key, or one of type, role, step_id, trace_id,
 * agent_turn_id and author_id of a card: most of them are index keys. A metadata key in a filter
 * has the same maximum. */
#define CARDBOX_KEY_MAX 512

/* Maximum bytes of each of a card's content, metadata and tool calls. A jsonb value of PostgreSQL
 * has at most 256 MiB. */
#define CARDBOX_CONTENT_MAX (64u * 1024 * 1024)

/* Maximum levels of nested arrays and objects in JSON that a client sends. PostgreSQL's stack depth
 * limit allows a few thousand levels, and JSON in practice has a few tens. */
#define CARDBOX_JSON_DEPTH_MAX 128

/* Maximum cards in one cardbox_add_cards, which is one statement and one transaction. The limit
 * bounds the memory of the statement. */
#define CARDBOX_CARDS_PER_ADD_MAX 1000

/* Maximum card ids in one append, save or creation of a box, and maximum parent ids of a new box:
 * one statement writes them. */
#define CARDBOX_IDS_PER_APPEND_MAX 10000

/* Maximum ids in one cardbox_cards_get, boxes in one cardbox_load_boxes, card ids on a page of
 * cardbox_box_each_page, and tool call ids in one filter. */
#define CARDBOX_IDS_PER_READ_MAX 10000

/* Maximum number of rows on one page of a list, and the number if the caller passes limit 0. */
#define CARDBOX_PAGE_MAX     1000
#define CARDBOX_PAGE_DEFAULT 200

/* Maximum number of cards that one statement examines for a list, even if few cards match the
 * filter. PostgreSQL reads this number of cards in about 50 ms. */
#define CARDBOX_LIST_WALK_MAX 20000

/* Maximum number of ids in a box. Reading a longer box would take over an hour. */
#define CARDBOX_BOX_IDS_MAX 2147483647

/* Maximum number of boxes, and segments of 64 ids, that one statement of cardbox_card_boxes
 * examines. This limit is below CARDBOX_LIST_WALK_MAX, because rows of boxes and segments are
 * larger than those of cards. */
#define CARDBOX_BOXES_WALK_MAX 5000

/* Maximum bytes of a task's completion status, such as "failed: " and a reason. The status is an
 * index key. */
#define CARDBOX_TASK_STATUS_MAX 1024

/* Maximum bytes of a worker's name, which is an index key. */
#define CARDBOX_WORKER_NAME_MAX 255

/* Maximum number of tasks, messages and calls together in one cardbox_ledger_save, which is one
 * statement and one transaction. */
#define CARDBOX_LEDGER_BATCH_MAX 1000

/* Maximum number of entries in one cardbox_session_append, or in one batch of a session writer: one
 * statement appends them. */
#define CARDBOX_ENTRIES_PER_APPEND_MAX 1000

/* Maximum number of lines of a session: more than any conversation has. */
#define CARDBOX_SESSION_LINES_MAX 10000000

/* Maximum bytes of the header of a new session. Some programs read only the first 512 bytes of a
 * session file, and these must contain the header and its line feed. An import accepts a longer
 * header. */
#define CARDBOX_SESSION_HEADER_MAX 511

/* Maximum bytes of a session that an export converts to another dialect. The conversion keeps
 * several copies of the session in memory. */
#define CARDBOX_CONVERT_MAX ((size_t)64 * 1024 * 1024)

/* Maximum number of metadata members (`matches`) in one filter of cards. */
#define CARDBOX_FILTERS_MAX 16

#endif
