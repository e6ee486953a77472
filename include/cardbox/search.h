/*
 * search.h: searches the cards, messages and session entries of a tenant by words. The section "How
 * search splits text" of openapi/README.md describes which words a text has.
 */
#ifndef CARDBOX_SEARCH_H
#define CARDBOX_SEARCH_H

#include <stdint.h>
#include <cardbox/client.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Characters of a snippet, as Unicode code points from 0. */
typedef struct cardbox_range {
    int32_t from; /**< the first character */
    int32_t to;   /**< the character after the last one */
} cardbox_range;

/** A card, message or session entry that matches a search. The texts of the struct are borrowed
 * from the result. */
typedef struct cardbox_search_hit {
    const char *kind;       /**< "card", "message" or "entry" */
    const char *id;         /**< id of the card; of the message, which is also the id of a card;
                                 or of the entry, unique in its session */
    const char *session_id; /**< session of the entry; NULL: not an entry */
    const char *task_id;    /**< task of the message; NULL: not a message */
    const char *type;       /**< metadata.type, or the type of the entry; NULL: none */
    const char *role;       /**< "user", "assistant", ...; NULL: none */
    const char *created_at; /**< RFC 3339 in UTC */
    const char *snippet;    /**< part of the text around its first match, one line of at most 240
                                 characters; ends with a string `text`, `thinking` or `content` that
                                 has the last match */
    const cardbox_range *offsets; /**< the matches in the snippet, ascending, not overlapping */
    size_t offset_count;
} cardbox_search_hit;

/** A result with hits. Opaque; free it with cardbox_search_hits_free. */
typedef struct cardbox_search_hits cardbox_search_hits;

/** Filters and the page of a search. Start from CARDBOX_SEARCH_OPTIONS_INIT. A hit must satisfy
 * every filter that is set. */
typedef struct cardbox_search_options {
    size_t struct_size;        /**< set by CARDBOX_SEARCH_OPTIONS_INIT */
    const char *kind;          /**< "card", "message" or "entry" */
    const char *type;          /**< metadata.type, or the type of an entry */
    const char *role;          /**< the role of a card, message or entry */
    const char *session_id;    /**< only entries of this session */
    const char *task_id;       /**< only messages of this task */
    const char *created_after; /**< only hits created after this time, RFC 3339 with a UTC offset */
    const char *created_before; /**< only hits created before this time */
    const char *cursor;         /**< from cardbox_search_hits_cursor; NULL: from the newest */
    unsigned limit;             /**< 1 to CARDBOX_SEARCH_PAGE_MAX; 0: CARDBOX_SEARCH_PAGE_DEFAULT */
} cardbox_search_options;

#define CARDBOX_SEARCH_OPTIONS_INIT                                                                \
    {                                                                                              \
        sizeof(cardbox_search_options), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0          \
    }

/**
 * Searches the contents and tool calls of a tenant's cards, messages and session entries, and lists
 * one page of the hits, newest first (by created_at). A background thread of cardboxd indexes what
 * was written, usually within a second of the commit. Deleted and expired cards are not found.
 *
 * @param out      receives the page; cardbox_search_hits_cursor returns the cursor of the next page
 * @param db       any handle
 * @param tenant   the tenant
 * @param query    words or identifiers; a hit has all of them. Up to CARDBOX_SEARCH_QUERY_MAX bytes
 * of UTF-8 with at least one word
 * @param options  NULL: no filters, and the default limit
 * @param err      may be NULL
 * @return CARDBOX_OK, even if nothing was found; CARDBOX_INVALID (also for a query without a word
 * or with too many, and for a malformed cursor); and the connection's
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_search(cardbox_search_hits **out, cardbox *db,
                                                            const char *tenant, const char *query,
                                                            const cardbox_search_options *options,
                                                            cardbox_error *err);

/**
 * Returns the number of hits in a result.
 *
 * @param hits  a result; NULL counts as empty
 * @return the number
 *
 * Thread safety: any thread, but only one thread at a time may use a result.
 */
CARDBOX_API size_t cardbox_search_hits_count(const cardbox_search_hits *hits);

/**
 * Returns a hit of a result.
 *
 * @param hits   a result
 * @param index  below cardbox_search_hits_count
 * @return the hit, borrowed until cardbox_search_hits_free; NULL past the end
 *
 * Thread safety: any thread, but only one thread at a time may use a result.
 */
CARDBOX_API const cardbox_search_hit *cardbox_search_hits_at(const cardbox_search_hits *hits,
                                                             size_t index);

/**
 * Returns the cursor of the next page, for cardbox_search_options.cursor.
 *
 * @param hits  a result
 * @return the cursor, borrowed until cardbox_search_hits_free; NULL: this is the last page
 *
 * Thread safety: any thread, but only one thread at a time may use a result.
 */
CARDBOX_API const char *cardbox_search_hits_cursor(const cardbox_search_hits *hits);

/**
 * Frees a result and everything that was borrowed from it.
 *
 * @param hits  a result; NULL does nothing
 *
 * Thread safety: no thread may use the result at the same time or later.
 */
CARDBOX_API void cardbox_search_hits_free(cardbox_search_hits *hits);

#ifdef __cplusplus
}
#endif

#endif
