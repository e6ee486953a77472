/*
 * test_server_boxes_batch.c: the answer for many boxes, whichever way their rows come: one by one
 * in order or out of it, together, or again after they broke off. The database is played.
 */
#include "batcher_play.h"
#include "server/api/handlers.h"

#define BOX "00000000-0000-0000-0000-00000000000"

enum { ROWS_MAX = 32, TIMES = 8 };

/* What the database has of three boxes, of which the second is empty; the fourth does not exist. */
typedef struct script_row {
    int64_t ord;
    int32_t kind;
    int64_t pos;    /* of a head: the length */
    const char *id; /* of a run: its ids; of a card: its id */
    bool missing;
} script_row;

static const script_row SCRIPT[] = {
    {1, BOX_HEAD, 3, NULL, false},
    {2, BOX_HEAD, 0, NULL, false},
    {4, BOX_HEAD, 2, NULL, false},
    {1, BOX_IDS, 0, "[\"a\", \"b\", \"a\"]", false},
    {4, BOX_IDS, 0, "[\"b\", \"c\"]", false},
    {1, BOX_CARD, 0, "a", false},
    {1, BOX_CARD, 1, "b", true},
    {1, BOX_CARD, 2, "a", false},
    {4, BOX_CARD, 0, "b", true},
    {4, BOX_CARD, 1, "c", false},
};
enum { SCRIPT_ROWS = sizeof(SCRIPT) / sizeof(SCRIPT[0]) };

static const char ASKED[] = "{\"box_ids\":[\"" BOX "1\",\"" BOX "2\",\"no\",\"" BOX "3\",\"" BOX
                            "4\"],\"hydrate\":true,\"limit\":3}";

#define CARD(id)                                                                                   \
    "{\"card_id\":\"" id "\",\"project_id\":\"t\",\"type\":\"unknown\",\"content\":1,"             \
    "\"created_at\":\"2000-01-01T00:00:00Z\",\"author_id\":\"unknown\",\"metadata\":{},"           \
    "\"tool_calls\":null,\"tool_call_id\":null,\"ttl_seconds\":null,\"expires_at\":null,"          \
    "\"content_class\":null,\"sealed\":false}"

static const char ANSWER[] =
    "{\"boxes\":[{\"box_id\":\"" BOX
    "1\",\"card_ids\":[\"a\",\"b\",\"a\"],\"hydrated_cards\":[" CARD("a") "," CARD(
        "a") "]},"
             "{\"box_id\":\"" BOX "2\",\"card_ids\":[],\"hydrated_cards\":[]},"
             "{\"box_id\":\"" BOX "4\",\"card_ids\":[\"b\",\"c\"],\"hydrated_cards\":[" CARD(
                 "c") "]}],"
                      "\"missing_box_ids\":[\"no\",\"" BOX "3\"],\"missing_card_ids\":[\"b\"]}";

/* --- rows as the database makes them --- */

static void put(PGresult *rows, int row, int column, const void *bytes, size_t len)
{
    assert_true(PQsetvalue(rows, row, column, (char *)(uintptr_t)bytes, (int)len));
}

static void put_int8(PGresult *rows, int row, int column, int64_t value)
{
    uint64_t wire = htobe64((uint64_t)value);
    put(rows, row, column, &wire, sizeof(wire));
}

static void add_row(PGresult *rows, int row, const script_row *from)
{
    uint32_t kind = htobe32((uint32_t)from->kind);
    char run[64] = "\1";
    put_int8(rows, row, BOX_COL_ORD, from->ord);
    put(rows, row, BOX_COL_KIND, &kind, sizeof(kind));
    if (from->kind == BOX_HEAD) {
        put_int8(rows, row, BOX_COL_LENGTH, from->pos);
        put_int8(rows, row, BOX_COL_FIRST, 0);
        put_int8(rows, row, BOX_COL_BEFORE, from->pos);
        return;
    }
    put_int8(rows, row, BOX_COL_POS, from->pos);
    if (from->kind == BOX_IDS) {
        snprintf(run + 1, sizeof(run) - 1, "%s", from->id);
        put(rows, row, BOX_COL_IDS, run, strlen(run));
        return;
    }
    put(rows, row, BOX_COL_CARD, from->id, strlen(from->id));
    if (from->missing)
        return;
    put(rows, row, BOX_COL_CONTENT, "1", 1);
    put_int8(rows, row, BOX_COL_CARD + CARD_COL_CREATED, 0);
}

static PGresult *make_rows(const script_row *from, size_t count)
{
    static PGresAttDesc columns[BOX_COLUMNS];
    PGresult *rows = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);
    for (size_t i = 0; i < BOX_COLUMNS; i++)
        columns[i] = (PGresAttDesc){.name = (char *)(uintptr_t) "x", .format = 1, .typlen = -1};
    assert_true(PQsetResultAttrs(rows, BOX_COLUMNS, columns));
    for (size_t i = 0; i < count; i++)
        add_row(rows, (int)i, &from[i]);
    return rows;
}

/* Gives rows one by one. False: no more are wanted. */
static bool stream(const script_row *from, size_t count)
{
    play_flight *f = &play.flight[0];
    bool goes_on = true;
    assert_true(play.flights > 0 && f->some != NULL);
    for (size_t i = 0; goes_on && i < count; i++)
        goes_on = f->some(f->arg, make_rows(&from[i], 1));
    return goes_on;
}

static void lend(request *r)
{
    (void)r;
}

static void ask_within(size_t number, long most)
{
    static const request_host HOST = {.resume = resume, .left = left, .lend = lend};
    request *r = &requests[number];
    set.response_max = most;
    request_init(r, &server, &counts, j);
    r->host = &HOST;
    r->id = SLICE("test");
    r->match.params[0] = tenant;
    buf_text(&r->body, ASKED);
    request_set_state(r, REQUEST_WORKING);
    handle_boxes_get(r);
    batcher_flush(j);
}

static void ask(size_t number)
{
    ask_within(number, 100000);
}

static void expect_answer(size_t number)
{
    assert_int_equal(status(number), 200);
    assert_string_equal(buf_str(&requests[number].answer.body), ANSWER);
}

/* --- tests --- */

static void in_order(void **state)
{
    (void)state;
    ask(0);
    assert_true(stream(SCRIPT, SCRIPT_ROWS));
    assert_int_equal(status(0), 0);
    land(make_rows(NULL, 0), NULL);
    expect_answer(0);
}

/* What was written when only a part has come: the answer grows with the rows. */
static void as_they_come(void **state)
{
    (void)state;
    ask(0);
    assert_true(stream(SCRIPT, 6));
    const char *so_far = buf_str(&requests[0].answer.body);
    assert_int_equal(strncmp(so_far, ANSWER, strlen(so_far)), 0);
    assert_non_null(strstr(so_far, CARD("a")));
    assert_true(stream(SCRIPT + 6, SCRIPT_ROWS - 6));
    land(make_rows(NULL, 0), NULL);
    expect_answer(0);
}

/* Every order that leaves the kinds in theirs. */
static void out_of_order(void **state)
{
    (void)state;
    for (unsigned turn = 0; turn < 24; turn++) {
        script_row rows[SCRIPT_ROWS];
        memcpy(rows, SCRIPT, sizeof(rows));
        for (unsigned i = 0; i < 3; i++) /* of heads */
            rows[i] = SCRIPT[(i + turn) % 3];
        for (unsigned i = 0; i < 2; i++) /* runs */
            rows[3 + i] = SCRIPT[3 + (i + turn) % 2];
        for (unsigned i = 0; i < 5; i++) /* and cards, five places on and either way round */
            rows[5 + i] = SCRIPT[5 + (turn % 2 ? 4 - (i + turn) % 5 : (i + turn) % 5)];
        ask(turn);
        assert_true(stream(rows, SCRIPT_ROWS));
        land(make_rows(NULL, 0), NULL);
        expect_answer(turn);
    }
}

static void together(void **state)
{
    (void)state;
    script_row rows[SCRIPT_ROWS];
    for (size_t i = 0; i < SCRIPT_ROWS; i++)
        rows[i] = SCRIPT[SCRIPT_ROWS - 1 - i];
    ask(0);
    land(make_rows(rows, SCRIPT_ROWS), NULL);
    expect_answer(0);
}

/* Of a statement that asks for other requests' boxes as well, before and behind. */
static void among_others(void **state)
{
    enum { ASKING = 3, BOXES = 4 };
    (void)state;
    script_row rows[ASKING * SCRIPT_ROWS];
    for (size_t i = 0; i < ASKING * SCRIPT_ROWS; i++) {
        rows[i] = SCRIPT[i % SCRIPT_ROWS];
        rows[i].ord += (int64_t)(i / SCRIPT_ROWS) * BOXES;
    }
    for (size_t i = 0; i <= ASKING; i++)
        ask(i);
    land(make_rows(SCRIPT, SCRIPT_ROWS), NULL);
    batcher_flush(j);
    assert_int_equal(play.sent, 2);
    assert_null(play.flight[0].some);
    land(make_rows(rows, ASKING * SCRIPT_ROWS), NULL);
    for (size_t i = 0; i <= ASKING; i++)
        expect_answer(i);
    assert_int_equal(play.sent, 2);
}

static void kinds_mixed(void **state)
{
    (void)state;
    ask(0);
    assert_true(stream(SCRIPT, 1) && stream(SCRIPT + 5, 1) && stream(SCRIPT + 1, 4));
    land(make_rows(NULL, 0), NULL);
    assert_int_equal(status(0), 0);
    batcher_flush(j);
    assert_int_equal(play.sent, 2);
    assert_null(play.flight[0].some);
    land(make_rows(SCRIPT, SCRIPT_ROWS), NULL);
    expect_answer(0);
}

static void broken_off(void **state)
{
    (void)state;
    ask(0);
    for (size_t rows = 0; rows < 7; rows++) {
        assert_true(stream(SCRIPT, rows));
        give_error(CARDBOX_UNAVAILABLE);
        batcher_flush(j);
    }
    assert_int_equal(play.sent, TIMES);
    assert_true(stream(SCRIPT, SCRIPT_ROWS));
    land(make_rows(NULL, 0), NULL);
    expect_answer(0);
}

static void over_the_budget(void **state)
{
    (void)state;
    for (size_t most = 300; most < 1200; most += 50) {
        ask_within(most, (long)most);
        bool all = stream(SCRIPT, SCRIPT_ROWS);
        if (all)
            land(make_rows(NULL, 0), NULL);
        assert_int_equal(status(most), most < strlen(ANSWER) ? 413 : 200);
        if (!all)
            give_error(CARDBOX_TOO_LARGE); /* finds nobody */
    }
}

static void over_its_time(void **state)
{
    (void)state;
    ask(0);
    assert_true(stream(SCRIPT, 6));
    batcher_tick(j, batcher_next_ms(j) + TIMEOUT_MS);
    assert_int_equal(status(0), 504);
    assert_true(stream(SCRIPT + 6, SCRIPT_ROWS - 6)); /* goes by */
    land(make_rows(NULL, 0), NULL);
    assert_int_equal(status(0), 504);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(in_order),   TEST(as_they_come),    TEST(out_of_order),
        TEST(together),   TEST(among_others),    TEST(kinds_mixed),
        TEST(broken_off), TEST(over_the_budget), TEST(over_its_time),
    };
    return cmocka_run_group_tests_name("server_boxes_batch", tests, NULL, NULL);
}
