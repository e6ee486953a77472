/*
 * test_nomem.c: every allocation of the library fails once, one after the other, in every kind of
 * call: each gives CARDBOX_NOMEM (or works all the same), leaks nothing, and leaves the handle fit.
 * link with: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
 */
#include "store/search/search_index.h"
#include "store/store_test.h"

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

static int make_box(void **state)
{
    cardbox_box_change box;
    if (open_db(state) != 0 || cardbox_box_ensure(&box, db, "nomem", NULL, NULL) != CARDBOX_OK)
        return -1;
    memcpy(box_id, box.box_id, sizeof(box_id));
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
    cardbox_status status = cardbox_cards_get(&cards, db, "nomem", ids, 4, err);
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
    cardbox_status status = cardbox_cards_list(&cards, db, "nomem", &filter, err);
    cardbox_cards_free(cards);
    return status;
}

/* Two pages: the cards of add(), which are indexed here. */
static cardbox_status search(cardbox_error *err)
{
    cardbox_search_hits *hits = NULL;
    cardbox_search_options page = CARDBOX_SEARCH_OPTIONS_INIT;
    search_index_state state = {.last = ""};
    search_batch batch;
    cardbox_status status = search_index_batch(&batch, &state, db, err);
    page.limit = 1;
    for (int i = 0; status == CARDBOX_OK && i < 2; i++) {
        cardbox_search_hits_free(hits);
        hits = NULL;
        status = cardbox_search(&hits, db, "nomem", i == 0 ? "a" : "1", &page, err);
    }
    cardbox_search_hits_free(hits);
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
    cardbox_status status = cardbox_card_boxes(&boxes, db, "nomem", "n-1", NULL, 0, err);
    cardbox_boxes_free(boxes);
    return status;
}

static cardbox_status newest(cardbox_error *err)
{
    cardbox_boxes *boxes = NULL;
    cardbox_status status = cardbox_boxes_list(&boxes, db, "nomem", NULL, 1, err);
    cardbox_boxes_free(boxes);
    return status;
}

static bool take_page(void *arg, const cardbox_box *page)
{
    (void)arg;
    return page != NULL;
}

static cardbox_status pages(cardbox_error *err)
{
    return cardbox_box_each_page(db, "nomem", box_id, NULL, take_page, NULL, err);
}

static cardbox_status change_boxes(cardbox_error *err)
{
    cardbox_box_change box, fork;
    cardbox_box_options options = CARDBOX_BOX_OPTIONS_INIT;
    const char *ids[] = {"n-1", "n\"2"}, *parents[] = {box_id};
    options.card_ids = ids;
    options.card_count = 2;
    options.parent_ids = parents;
    options.parent_count = 1;
    cardbox_status status = cardbox_box_create(&box, db, "nomem", &options, err);
    if (status == CARDBOX_OK)
        status = cardbox_save_box(NULL, db, "nomem", box.box_id, ids, 1, 0, err);
    if (status == CARDBOX_OK)
        status = cardbox_box_fork(&fork, db, "nomem", box.box_id, NULL, err);
    if (status == CARDBOX_OK)
        status = cardbox_seal_box(NULL, db, "nomem", box.box_id, err);
    return status == CARDBOX_OK ? cardbox_box_delete(db, "nomem", fork.box_id, err) : status;
}

static cardbox_status revise(cardbox_error *err)
{
    static int times;
    char content[32] = "";
    cardbox_card card = test_card("n-revised", content);
    cardbox_revisions *revisions = NULL;
    snprintf(content, sizeof(content), "%d", times++);
    cardbox_status status = cardbox_add_card(NULL, db, "nomem", &card, NULL, err);
    if (status == CARDBOX_OK)
        status = cardbox_card_revisions(&revisions, db, "nomem", "n-revised", 0, 2, err);
    cardbox_revisions_free(revisions);
    return status;
}

static cardbox_status latest(cardbox_error *err)
{
    cardbox_cards *cards = NULL;
    cardbox_status status = cardbox_card_latest(&cards, db, "nomem", "step", NULL, err);
    cardbox_cards_free(cards);
    return status;
}

static cardbox_status delete_card(cardbox_error *err)
{
    cardbox_card card = test_card("n-gone", "1");
    const cardbox_add_options back = {sizeof(back), false, true};
    cardbox_status status = cardbox_add_card(NULL, db, "nomem", &card, &back, err);
    return status == CARDBOX_OK ? cardbox_card_delete(db, "nomem", "n-gone", err) : status;
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

/* --- the ledger and its tasks: the same ids each time, so that a call works after one that failed
 * --- */

static cardbox_lease lease = {"nomem", "n-task", 1}; /* of the one claim, at the start */

static cardbox_status spawn(cardbox_error *err)
{
    cardbox_spawn task = CARDBOX_SPAWN_INIT;
    task.task_id = "n-task";
    task.goal_json = "\"\\u0000 \\ud800\"";
    task.system_prompt = "be good";
    return cardbox_task_spawn(NULL, db, "nomem", &task, err);
}

static cardbox_status send_message(cardbox_error *err)
{
    cardbox_message message = CARDBOX_MESSAGE_INIT;
    message.task_id = "n-task";
    message.message_id = "n-sent";
    message.content = "hi";
    return cardbox_task_send(db, "nomem", &message, err);
}

static cardbox_status save(cardbox_error *err)
{
    cardbox_ledger_batch batch = CARDBOX_LEDGER_BATCH_INIT;
    cardbox_task task = CARDBOX_TASK_INIT;
    cardbox_message message = CARDBOX_MESSAGE_INIT;
    cardbox_call call = CARDBOX_CALL_INIT;
    task.task_id = message.task_id = call.task_id = "n-saved";
    task.system_prompt = "be good";
    message.message_id = call.start_message_id = "n-message";
    message.role = "user";
    message.content_json = "\"\\ud800\"";
    message.timestamp = call.created_at = call.updated_at = 1;
    call.call_id = "n-call";
    call.ability_name = "card:get";
    call.parameters = "{}";
    call.status = "pending";
    batch.tasks = &task;
    batch.messages = &message;
    batch.calls = &call;
    batch.task_count = batch.message_count = batch.call_count = 1;
    return cardbox_ledger_save(db, "nomem", &batch, err);
}

static cardbox_status read_ledger(cardbox_error *err)
{
    cardbox_ledger *found[4] = {NULL};
    cardbox_status status = cardbox_tasks_query(&found[0], db, "nomem", NULL, err);
    if (status == CARDBOX_OK)
        status = cardbox_tasks_active(&found[1], db, "nomem", 0, err);
    if (status == CARDBOX_OK)
        status = cardbox_messages_list(&found[2], db, "nomem", "n-task", 0, 0, err);
    if (status == CARDBOX_OK)
        status = cardbox_calls_list(&found[3], db, "nomem", "n-saved", err);
    for (size_t i = 0; i < 4; i++)
        cardbox_ledger_free(found[i]);
    return status;
}

static cardbox_status claim(cardbox_error *err)
{
    cardbox_claims *claims = NULL;
    cardbox_claim_options options = CARDBOX_CLAIM_OPTIONS_INIT;
    options.owner = "n-worker";
    options.tenants = &lease.tenant;
    options.tenant_count = 1;
    options.lease_ms = 3600000;
    cardbox_status status = cardbox_tasks_claim(&claims, db, &options, err);
    cardbox_claims_free(claims);
    return status;
}

static cardbox_status work(cardbox_error *err)
{
    cardbox_lease_state held;
    cardbox_task_write write = CARDBOX_TASK_WRITE_INIT;
    cardbox_message message = CARDBOX_MESSAGE_INIT;
    message.message_id = "n-said";
    message.role = "assistant";
    message.content = "done";
    write.messages = &message;
    write.message_count = 1;
    cardbox_status status = cardbox_tasks_renew(&held, db, &lease, 1, 3600000, err);
    if (status == CARDBOX_OK)
        status = cardbox_task_publish_chunk(db, &lease, "n-said", 1, "do", 2, err);
    return status == CARDBOX_OK ? cardbox_task_update(NULL, db, &lease, &write, err) : status;
}

static cardbox_status cancel(cardbox_error *err)
{
    cardbox_ledger *found = NULL;
    cardbox_spawn task = CARDBOX_SPAWN_INIT;
    char id[CARDBOX_UUID_SIZE];
    task.goal = "nothing";
    cardbox_status status = cardbox_task_spawn(id, db, "nomem", &task, err);
    if (status == CARDBOX_OK)
        status = cardbox_task_cancel(db, "nomem", id, "why not", err);
    if (status == CARDBOX_OK)
        status = cardbox_task_get(&found, db, "nomem", id, err);
    cardbox_ledger_free(found);
    return status == CARDBOX_OK ? cardbox_workers_wake(db, "nomem", err) : status;
}

static cardbox_status follow(cardbox_error *err)
{
    cardbox_task_events *events = NULL;
    cardbox_follow from = CARDBOX_FOLLOW_INIT;
    from.task_id = "n-task";
    cardbox_status status = cardbox_task_follow(&events, db, "nomem", &from, err);
    cardbox_task_events_free(events);
    return status;
}

static cardbox_status wait_for_work(cardbox_error *err)
{
    cardbox_waiter *waiter = NULL;
    cardbox_options options = test_options();
    cardbox_status status = cardbox_waiter_open(&waiter, &options, &lease.tenant, 1, err);
    cardbox_waiter_close(waiter);
    return status;
}

/* --- sessions --- */

static cardbox_status import_session(cardbox_error *err)
{
    static const char FILE[] =
        "{\"id\":\"b\",\"parentId\":\"a\"}\nbad\n{\"id\":\"a\",\"type\":\"user\",\"x\":\"\\u0000\"}"
        "\n"
        "{\"id\":\"c\",\"parentId\":\"c\"}\n{\"type\":\"user\"}\n{\"id\":\"l\",\"type\":\"label\","
        "\"targetId\":\"a\",\"label\":\"one\",\"parentId\":\"b\"}";
    cardbox_session_report *report = NULL;
    cardbox_status status = cardbox_session_import_bytes(&report, db, "nomem", "n-session", NULL,
                                                         FILE, sizeof(FILE) - 1, err);
    cardbox_session_report_free(report);
    return status;
}

static bool take_piece(void *arg, const char *bytes, size_t len)
{
    (void)arg;
    (void)bytes;
    (void)len;
    return true;
}

static cardbox_status read_session(cardbox_error *err)
{
    cardbox_entries *entries[2] = {NULL};
    cardbox_sessions *sessions[2] = {NULL};
    cardbox_status status = cardbox_session_entries(&entries[0], db, "nomem", "n-session",
                                                    CARDBOX_ENTRIES_ALL, NULL, err);
    if (status == CARDBOX_OK)
        status = cardbox_session_path(&entries[1], db, "nomem", "n-session", "l", 0, 0, true, err);
    if (status == CARDBOX_OK)
        status = cardbox_session_get(&sessions[0], db, "nomem", "n-session", err);
    if (status == CARDBOX_OK)
        status = cardbox_sessions_list(&sessions[1], db, "nomem", NULL, 1, err);
    if (status == CARDBOX_OK)
        status = cardbox_session_export(db, "nomem", "n-session", NULL, take_piece, NULL, err);
    for (size_t i = 0; i < 2; i++) {
        cardbox_entries_free(entries[i]);
        cardbox_sessions_free(sessions[i]);
    }
    return status;
}

static cardbox_status walk_session(cardbox_error *err)
{
    static const char *const ids[] = {"l", "a"};
    cardbox_entries *entries[2] = {NULL};
    cardbox_session_counts counts;
    cardbox_session_scan *scan = NULL;
    const cardbox_entry *entry = NULL;
    cardbox_status status =
        cardbox_session_get_entries(&entries[0], db, "nomem", "n-session", ids, 2, err);
    if (status == CARDBOX_OK)
        status = cardbox_session_diff(&entries[1], db, "nomem", "n-session", "l", "a", 1, 9, err);
    if (status == CARDBOX_OK)
        status = cardbox_session_count(&counts, db, "nomem", "n-session", err);
    if (status == CARDBOX_OK)
        status = cardbox_session_scan_new(&scan, db, "nomem", "n-session", CARDBOX_ENTRIES_LEAVES,
                                          99, err);
    do
        status = status == CARDBOX_OK ? cardbox_session_scan_next(&entry, scan, err) : status;
    while (status == CARDBOX_OK && entry != NULL);
    cardbox_session_scan_free(scan);
    for (size_t i = 0; i < 2; i++)
        cardbox_entries_free(entries[i]);
    return status;
}

static cardbox_status change_session(cardbox_error *err)
{
    char id[CARDBOX_UUID_SIZE];
    char *answer = NULL;
    const char *entry[] = {"{\"id\":\"n-e\",\"type\":\"user\",\"content\":\"x\"}"};
    cardbox_session_append_options options = CARDBOX_SESSION_APPEND_OPTIONS_INIT;
    cardbox_uuid7(id);
    options.key = "n-key";
    options.answer = &answer;
    cardbox_status status = cardbox_session_create(NULL, db, "nomem", "n-changed", NULL, err);
    if (status == CARDBOX_OK)
        status = cardbox_session_append(NULL, db, "nomem", "n-changed", entry, 1, &options, err);
    cardbox_free(answer);
    if (status == CARDBOX_OK)
        status = cardbox_session_move_head(NULL, db, "nomem", "n-changed", "n-e", NULL, err);
    if (status == CARDBOX_OK)
        status = cardbox_session_fork(NULL, db, "nomem", "n-changed", "n-e", id, err);
    return status == CARDBOX_OK ? cardbox_session_delete(db, "nomem", id, err) : status;
}

static cardbox_status write_session(cardbox_error *err)
{
    cardbox_session_writer *writer = NULL;
    cardbox_writer_options options = CARDBOX_WRITER_OPTIONS_INIT;
    options.key = "n-writer";
    options.timestamp = "2026-01-02T03:04:05Z";
    cardbox_status status = cardbox_session_open(&writer, db, "nomem", "n-written", &options, err);
    if (status != CARDBOX_OK)
        return status;
    const char *first = cardbox_session_append_user(writer, "hi", "", err);
    const char *second =
        first == NULL ? NULL : cardbox_session_append_assistant(writer, "ho", "[]", first, err);
    status = cardbox_session_close(writer, err);
    return status == CARDBOX_OK && second == NULL ? CARDBOX_NOMEM : status;
}

static cardbox_status build_context(cardbox_error *err)
{
    cardbox_context *context = NULL;
    cardbox_status status = cardbox_build_context(&context, db, "nomem", "n-session", "l",
                                                  CARDBOX_FORMAT_ANTHROPIC, err);
    cardbox_context_free(context);
    return status;
}

static cardbox_status build_box_context(cardbox_error *err)
{
    cardbox_context *context = NULL;
    cardbox_read_options part = {.tail = 4};
    cardbox_then then = {.box_id = box_id};
    cardbox_context_options options = CARDBOX_CONTEXT_OPTIONS_INIT;
    options.then = &then;
    options.then_count = 1;
    cardbox_status status =
        cardbox_build_box_context(&context, db, "nomem", box_id, &part, &options, err);
    cardbox_context_free(context);
    return status;
}

/* Abilities of one statement, of several, and of none; one whose input is kept as it is. */
static cardbox_status invoke(cardbox_error *err)
{
    static const char *const CALLS_OF[][2] = {
        {"bus:inspect", "{\"abilityId\":\"card:add\"}"},
        {"card:add", "{\"card_id\":\"n-3\",\"content\":\"\\u0000\",\"metadata\":{\"a\":1}}"},
        {"search:find", "{\"limit\":1,\"q\":\"a\",\"role\":\"user\"}"},
        {"card:list", "{\"limit\":1,\"meta\":{\"step_id\":\"step\"}}"},
        {"session:append",
         "{\"session_id\":\"n-bus\",\"entries\":[{\"type\":\"user\",\"content\":\"x\"}]}"},
        {"session:labels", "{\"session_id\":\"n-bus\"}"},
    };
    cardbox_status status = cardbox_session_create(NULL, db, "nomem", "n-bus", NULL, err);
    for (size_t i = 0; status == CARDBOX_OK && i < sizeof(CALLS_OF) / sizeof(CALLS_OF[0]); i++) {
        char *out = NULL;
        status =
            cardbox_invoke(&out, db, "nomem", CALLS_OF[i][0], "call", NULL, CALLS_OF[i][1], err);
        assert_true((status == CARDBOX_OK) == (out != NULL));
        cardbox_free(out);
    }
    return status;
}

static const struct {
    const char *name;
    cardbox_status (*call)(cardbox_error *err);
} CALLS[] = {
    {"add", add},
    {"get", get},
    {"list", list},
    {"search", search},
    {"append", append},
    {"load", load},
    {"hydrate", hydrate},
    {"holders", holders},
    {"newest", newest},
    {"pages", pages},
    {"change boxes", change_boxes},
    {"revise", revise},
    {"latest", latest},
    {"delete card", delete_card},
    {"log", read_log},
    {"transaction", transaction},
    {"open", open_another},
    {"content", content},
    {"spawn", spawn},
    {"send", send_message},
    {"save", save},
    {"read", read_ledger},
    {"claim", claim},
    {"work", work},
    {"follow", follow},
    {"cancel", cancel},
    {"wait", wait_for_work},
    {"invoke", invoke},
    {"import session", import_session},
    {"read session", read_session},
    {"walk session", walk_session},
    {"change session", change_session},
    {"write session", write_session},
    {"build context", build_context},
    {"build box context", build_box_context},
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
    return cmocka_run_group_tests(tests, make_box, close_db);
}
