/*
 * limits.h: the limits of the store. In general, functions reject input beyond a limit: sizes and
 * counts with CARDBOX_TOO_LARGE, ids, keys, names and page limits with CARDBOX_INVALID.
 */
#ifndef CARDBOX_LIMITS_H
#define CARDBOX_LIMITS_H

#include <stddef.h>

/* Maximum bytes of a tenant (project) id; the minimum is 1. A tenant id of this length fits in a
 * segment of a URL path and in an index row. */
#define CARDBOX_TENANT_MAX 255

/* Maximum bytes of a card id; the minimum is 1. Two card ids and a tenant id fit in a third of an
 * index page, the maximum of an index row. */
#define CARDBOX_CARD_ID_MAX 512

/* Maximum bytes of a tool call id, an append key, an ability name and a metadata key in a filter.
 * The members type, role, step_id, trace_id, agent_turn_id and author_id of cardbox_card have the
 * same maximum. Most of these texts are index keys. */
#define CARDBOX_KEY_MAX 512

/* Maximum bytes of each of a card's content, metadata and tool calls. A jsonb value of PostgreSQL
 * has at most 256 MiB. */
#define CARDBOX_CONTENT_MAX (64u * 1024 * 1024)

/* Maximum levels of nested arrays and objects in the JSON of a card's content, metadata or tool
 * calls, or of a session's entry. PostgreSQL's stack depth limit allows a few thousand levels. */
#define CARDBOX_JSON_DEPTH_MAX 128

/* Maximum cards in one call of cardbox_add_cards. The call sends one statement, whose memory this
 * limit bounds. */
#define CARDBOX_CARDS_PER_ADD_MAX 1000

/* Maximum card ids in one append, save or creation of a box, and maximum parent ids of a new
 * box. */
#define CARDBOX_IDS_PER_APPEND_MAX 10000

/* Maximum ids in one cardbox_cards_get, boxes in one cardbox_load_boxes, card ids on a page of
 * cardbox_box_each_page, and tool call ids in one filter. */
#define CARDBOX_IDS_PER_READ_MAX 10000

/* Maximum number of rows on one page of most lists, and the number of rows if the caller passes
 * limit 0. The lists of tasks have the default 100. */
#define CARDBOX_PAGE_MAX     1000
#define CARDBOX_PAGE_DEFAULT 200

/* Maximum number of cards that one statement of cardbox_cards_list examines, even if few cards
 * match the filter. */
#define CARDBOX_LIST_WALK_MAX 20000

/* Maximum number of further boxes (`then`) in the context of a box. */
#define CARDBOX_THEN_MAX 16

/* Maximum number of ids in a box. PostgreSQL rejects a longer box, with CARDBOX_INVALID. */
#define CARDBOX_BOX_IDS_MAX 2147483647

/* Maximum number of boxes that one statement of cardbox_card_boxes examines. Some of the segments
 * (64 ids each) that the statement searches count as boxes too. CARDBOX_BOXES_WALK_MAX is below
 * CARDBOX_LIST_WALK_MAX, because rows of boxes and segments are larger than rows of cards. */
#define CARDBOX_BOXES_WALK_MAX 5000

/* Maximum bytes of a task's completion status, such as "failed: " and a reason. An
 * index has only its first 100 characters. cardbox_task_update cuts a longer status. */
#define CARDBOX_TASK_STATUS_MAX 65536

/* Maximum bytes of a worker's name, which is an index key. */
#define CARDBOX_WORKER_NAME_MAX 255

/* Maximum number of tasks, messages and calls together in one call of cardbox_ledger_save. */
#define CARDBOX_LEDGER_BATCH_MAX 1000

/* Maximum number of entries in one call of cardbox_session_append, or in one batch of a session
 * writer. */
#define CARDBOX_ENTRIES_PER_APPEND_MAX 1000

/* Maximum number of a session's line in an import of a project. The first line of a session has the
 * number 0. */
#define CARDBOX_SESSION_LINES_MAX 10000000

/* Maximum bytes of the header that is passed to cardbox_session_create. Some programs read only the
 * first 512 bytes of a session file; these bytes must contain the header and its line feed. An
 * import accepts a longer header. */
#define CARDBOX_SESSION_HEADER_MAX 511

/* Maximum bytes of the query of a search. */
#define CARDBOX_SEARCH_QUERY_MAX 1024

/* Maximum number of hits on one page of a search, and the number of hits if the caller passes limit
 * 0. For each hit up to CARDBOX_SEARCH_TEXT_MAX characters are read and compared with the query. */
#define CARDBOX_SEARCH_PAGE_MAX     100
#define CARDBOX_SEARCH_PAGE_DEFAULT 20

/* Maximum number of metadata members (`matches`) in one filter of cards. */
#define CARDBOX_FILTERS_MAX 16

#endif
