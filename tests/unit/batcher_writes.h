/*
 * batcher_writes.h: the writes that the tests of the batcher send, and their answers. Included by
 * one test each.
 */
#ifndef TESTS_BATCHER_WRITES_H
#define TESTS_BATCHER_WRITES_H

#include "batcher_play.h"

static card_input cards[REQUESTS_MAX];
static box_append appends[REQUESTS_MAX];

static inline void put_heavy(size_t number, size_t weight)
{
    card_input *card = &cards[number];
    card->tenant = card->card_id = SLICE("t");
    card->metadata = card->content = SLICE("{}");
    add_ticket(number, &(batch_ticket){BATCH_ADD_CARDS, card, .count = 1, .weight = weight,
                                       .replayable = true});
}

static inline void put(size_t number)
{
    put_heavy(number, 1);
}

static inline void append(size_t number, bool has_key)
{
    appends[number] = (box_append){.tenant = SLICE("t"), .ids = SLICE("[\"a\"]")};
    if (has_key)
        appends[number].key = SLICE("key");
    add_ticket(number, &(batch_ticket){.kind = BATCH_APPENDS,
                                       .keys = &appends[number],
                                       .count = 1,
                                       .replayable = has_key});
}

/* A write comes back, and the position behind it. */
static inline void give_write(const int64_t *ords, size_t count)
{
    give_rows(ords, count);
    give_position("16/B374D848");
}

static inline void lose_write(void)
{
    give_error(CARDBOX_UNAVAILABLE);
    give_error(CARDBOX_UNAVAILABLE);
}

static inline void refuse_write(cardbox_status status_of, const char *sqlstate)
{
    give_sqlstate(status_of, sqlstate);
    give_position("0/1");
}

static inline bool says(size_t number, const char *text)
{
    return strstr(buf_str(&requests[number].answer.body), text) != NULL;
}

/* Rows of boxes_append: each key's outcome. */
static inline void give_appends(const int *outcomes, size_t count)
{
    PGresAttDesc columns[4]; /* ord, outcome, version, length */
    for (int i = 0; i < 4; i++)
        columns[i] = (PGresAttDesc){.name = (char *)(uintptr_t) "x", .format = 1, .typlen = -1};
    PGresult *rows = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);
    assert_true(PQsetResultAttrs(rows, 4, columns));
    for (size_t i = 0; i < count; i++) {
        int64_t ord = (int64_t)htobe64((uint64_t)i + 1);
        int32_t outcome = (int32_t)htobe32((uint32_t)outcomes[i]);
        assert_true(PQsetvalue(rows, (int)i, 0, (char *)&ord, sizeof(ord)));
        assert_true(PQsetvalue(rows, (int)i, 1, (char *)&outcome, sizeof(outcome)));
    }
    land(rows, NULL);
    give_position("0/1");
}

#endif
