/*
 * store_test.h: what the tests of the SDK share: the database of CARDBOX_TEST_DSN, ids that no
 * other test uses, and short ways to write cards.
 */
#ifndef STORE_TEST_H
#define STORE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <cardbox.h>

static inline const char *test_dsn(void)
{
    const char *dsn = getenv("CARDBOX_TEST_DSN");
    if (dsn == NULL) {
        fprintf(stderr, "CARDBOX_TEST_DSN must name a migrated database\n");
        exit(1);
    }
    return dsn;
}

/* Sanitizers and valgrind make everything slower: repeat less there. */
static inline int test_times(int normally, int lightly)
{
    return getenv("CARDBOX_TEST_LIGHT") != NULL ? lightly : normally;
}

/* How to connect: behind PgBouncer if the variant is that. */
static inline cardbox_options test_options(void)
{
    cardbox_options options = CARDBOX_OPTIONS_INIT;
    options.conninfo = test_dsn();
    options.no_named_statements = getenv("CARDBOX_TEST_POOLED") != NULL;
    return options;
}

static inline cardbox *test_open(unsigned pool_max)
{
    cardbox *opened = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_options options = test_options();
    options.pool_max = pool_max;
    options.retry_timeout_ms = 60000; /* however loaded the machine is */
    if (cardbox_open(&opened, &options, &err) != CARDBOX_OK) {
        fprintf(stderr, "cannot open %s: %s\n", test_dsn(), err.message);
        exit(1);
    }
    return opened;
}

enum { TEST_CONNECTIONS = 8 };

/* Open while a group of tests runs. */
static cardbox *db;

static inline int open_db(void **state)
{
    (void)state;
    db = test_open(TEST_CONNECTIONS);
    return 0;
}

static inline int close_db(void **state)
{
    (void)state;
    cardbox_close(db);
    return 0;
}

/* Fails with the message of err where a call that should work did not. */
#define assert_ok(call, err)                                                                       \
    do {                                                                                           \
        cardbox_status status_ = (call);                                                           \
        if (status_ != CARDBOX_OK)                                                                 \
            fail_msg("%s: %s: %s", #call, cardbox_status_name(status_), (err)->message);           \
    } while (0)

static inline cardbox_card test_card(const char *id, const char *content)
{
    cardbox_card card = CARDBOX_CARD_INIT;
    card.card_id = id;
    card.content = content;
    return card;
}

static inline cardbox_outcome test_add(const char *tenant, const char *id, const char *content)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_outcome outcome = CARDBOX_OUTCOME_NONE;
    cardbox_card card = test_card(id, content);
    cardbox_status status = cardbox_add_card(&outcome, db, tenant, &card, NULL, &err);
    if (status == CARDBOX_INVALID || status < CARDBOX_GONE)
        fail_msg("add %s: %s", id, err.message);
    return outcome;
}

static inline int64_t test_session_version(const char *tenant, const char *session)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_sessions *got = NULL;
    assert_ok(cardbox_session_get(&got, db, tenant, session, &err), &err);
    int64_t version = cardbox_sessions_at(got, 0)->version;
    cardbox_sessions_free(got);
    return version;
}

#endif
