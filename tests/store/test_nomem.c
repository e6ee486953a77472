/*
 * test_nomem.c: every allocation of the library fails once, one after the other, in every kind of
 * call: each gives CARDBOX_NOMEM (or works all the same), leaks nothing, and leaves the handle fit.
 * link with: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
 */
#include "store/store_test.h"

static cardbox *db;
static char box_id[CARDBOX_UUID_SIZE];

static _Thread_local int fail_at = -1; /* allocations until the one that fails; negative: none */
static _Thread_local bool has_failed;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);

static bool fails_now(void)
{
    if (fail_at < 0 || fail_at-- > 0)
        return false;
    has_failed = true;
    return true;
}

void *__wrap_malloc(size_t size)
{
    return fails_now() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails_now() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    return fails_now() ? NULL : __real_realloc(memory, size);
}

static int open_db(void **state)
{
    (void)state;
    cardbox_box_change box;
    db = test_open(2);
    if (cardbox_ensure_box(&box, db, "nomem", NULL, NULL) != CARDBOX_OK)
        return -1;
    memcpy(box_id, box.box_id, sizeof(box_id));
    return 0;
}

static int close_db(void **state)
{
    (void)state;
    cardbox_close(db);
    return 0;
}

static cardbox_status add(cardbox_error *err)
{
    cardbox_card cards[2] = {test_card("n-1", "\"\\u0000 \\ud800\""),
                             test_card("n-2", "{\"a\":1}")};
    cards[0].type = CARDBOX_TYPE_TOOL_CALL;
    cards[0].metadata = "{\"b\": [1, 2, 3]}";
    cards[0].tool_calls = "[{}]";
    cards[1].step_id = "step";
    return cardbox_add_cards(NULL, db, "nomem", cards, 2, NULL, err);
}

static cardbox_status get(cardbox_error *err)
{
    cardbox_cards *cards = NULL;
    const char *ids[] = {"n-1", "n-2", "no", "n-1"};
    cardbox_status status = cardbox_get_cards(&cards, db, "nomem", ids, 4, err);
    if (status == CARDBOX_OK)
        cardbox_card_text(cardbox_cards_at(cards, 0)); /* "" where memory runs out */
    cardbox_cards_free(cards);
    return status;
}

static cardbox_status list(cardbox_error *err)
{
    cardbox_cards *cards = NULL;
    cardbox_card_filter filter = CARDBOX_CARD_FILTER_INIT;
    const cardbox_match match = {"step_id", "step"};
    filter.limit = 1;
    filter.matches = &match;
    filter.match_count = 1;
    cardbox_status status = cardbox_list_cards(&cards, db, "nomem", &filter, err);
    cardbox_cards_free(cards);
    return status;
}

static cardbox_status append(cardbox_error *err)
{
    const char *ids[] = {"n-1", "n\"2", "no"};
    return cardbox_append_to_box(NULL, db, "nomem", box_id, ids, 3, NULL, err);
}

static cardbox_status load(cardbox_error *err)
{
    cardbox_boxes *boxes = NULL;
    const char *ids[] = {box_id, "no", "00000000-0000-7000-8000-000000000000"};
    cardbox_status status = cardbox_load_boxes(&boxes, db, "nomem", ids, 3, NULL, err);
    cardbox_boxes_free(boxes);
    return status;
}

static cardbox_status hydrate(cardbox_error *err)
{
    cardbox_cards *cards = NULL;
    cardbox_status status = cardbox_get_box_cards(&cards, db, "nomem", box_id, NULL, err);
    cardbox_cards_free(cards);
    return status;
}

static cardbox_status holders(cardbox_error *err)
{
    cardbox_boxes *boxes = NULL;
    cardbox_status status = cardbox_boxes_with_card(&boxes, db, "nomem", "n-1", 0, err);
    cardbox_boxes_free(boxes);
    return status;
}

static cardbox_status read_log(cardbox_error *err)
{
    cardbox_log *log = NULL;
    cardbox_status status = cardbox_box_log(&log, db, "nomem", box_id, 0, 0, err);
    cardbox_log_free(log);
    return status;
}

static cardbox_status transaction(cardbox_error *err)
{
    cardbox *tx = NULL;
    cardbox_status status = cardbox_begin(&tx, db, err);
    return status == CARDBOX_OK ? cardbox_commit(tx, err) : status;
}

static cardbox_status open_another(cardbox_error *err)
{
    cardbox *other = NULL;
    cardbox_options options = CARDBOX_OPTIONS_INIT;
    options.conninfo = test_dsn();
    cardbox_status status = cardbox_open(&other, &options, err);
    cardbox_close(other);
    return status;
}

static cardbox_status content(cardbox_error *err)
{
    char *text = NULL;
    cardbox_status status = cardbox_tool_result_content(&text, "failed", "suspend", "[1]",
                                                        "{\"code\":\"a\",\"message\":\"b\"}", err);
    cardbox_free(text);
    return status;
}

static const struct {
    const char *name;
    cardbox_status (*call)(cardbox_error *err);
} CALLS[] = {
    {"add", add},           {"get", get},         {"list", list},
    {"append", append},     {"load", load},       {"hydrate", hydrate},
    {"holders", holders},   {"log", read_log},    {"transaction", transaction},
    {"open", open_another}, {"content", content},
};

static void every_allocation_fails_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(CALLS) / sizeof(CALLS[0]); i++) {
        cardbox_error err = CARDBOX_ERROR_INIT;
        assert_ok(CALLS[i].call(&err), &err);
        int n = 0;
        do {
            has_failed = false;
            fail_at = n++;
            cardbox_status status = CALLS[i].call(&err);
            fail_at = -1;
            if (status != CARDBOX_OK && status != CARDBOX_NOMEM)
                fail_msg("%s, allocation %d: %s", CALLS[i].name, n, err.message);
            if (status == CARDBOX_OK && !has_failed)
                break;
        } while (n < 10000);
        assert_in_range(n, 2, 9999);
        assert_ok(CALLS[i].call(&err), &err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_fails_once),
    };
    return cmocka_run_group_tests(tests, open_db, close_db);
}
