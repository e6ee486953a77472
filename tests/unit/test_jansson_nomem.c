/*
 * test_jansson_nomem.c: every allocation fails once, ours and jansson's, one after the other: in
 * reading a stream, a tools file and a card, and in writing a request and a box. Each time the
 * result is whole, or known to be none, and nothing leaks.
 * link with: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <cardbox/jansson.h>
#include "app/json_text.h"
#include "cli/card/card_view.h"
#include "worker/model/model.h"
#include "worker/tools/tools.h"

static int fail_at = -1; /* allocations until the one that fails; negative: none */
static long live;        /* blocks that jansson holds */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);

static bool fails_now(void)
{
    return fail_at >= 0 && fail_at-- == 0;
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

static void *take(size_t size)
{
    void *memory = malloc(size);
    live += memory != NULL;
    return memory;
}

static void give(void *memory)
{
    live -= memory != NULL;
    free(memory);
}

/* Whether it is whole; what it gives then is compared by itself. */
typedef bool (*step)(void);

static void fail_each(step run)
{
    int failed = 0;
    for (bool has_failed = true; has_failed; failed++) {
        long before = live;
        fail_at = failed;
        bool is_whole = run();
        has_failed = fail_at < 0;
        fail_at = -1;
        assert_true(is_whole || has_failed);
        assert_int_equal(live, before);
    }
    assert_true(failed > 3);
}

static bool read_stream(void)
{
    static const char *const CHUNKS[] = {
        "{\"choices\":[{\"delta\":{\"content\":\"h\\u00e9 "
        "\\ud83d\"}}],\"seed\":18446744073709551615}",
        "{\"choices\":[{\"delta\":{\"content\":\"\\ude00\",\"tool_calls\":[{\"id\":\"i\","
        "\"function\":"
        "{\"name\":\"f\",\"arguments\":{\"a\":[1]}}}]}}]}",
        "{\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"total_tokens\":3}}"};
    static completion c;
    slice piece;
    completion_init(&c);
    for (size_t i = 0; i < 3; i++)
        if (!completion_add_chunk(&c, slice_of(CHUNKS[i]), &piece))
            break;
    bool is_whole = completion_end(&c);
    if (is_whole) {
        assert_string_equal(buf_str(&c.text), "h\u00e9 \U0001F600");
        assert_string_equal(buf_str(&c.calls[0].arguments), "{\"a\":[1]}");
    }
    completion_free(&c);
    return is_whole;
}

static bool write_request(void)
{
    const model m = {.name = "m\"1"};
    buf request = BUF_INIT(4096);
    model_put_request(&request, &m, SLICE("[{\"role\": \"user\"}]"), SLICE("[{}]"));
    bool is_whole = buf_ok(&request);
    if (is_whole)
        assert_string_equal(
            buf_str(&request),
            "{\"model\":\"m\\\"1\",\"stream\":true,\"stream_options\":{"
            "\"include_usage\":true},\"messages\":[{\"role\": \"user\"}],\"tools\":[{}]}");
    buf_free(&request);
    return is_whole;
}

static bool read_tools(void)
{
    static tools list;
    char error[300] = "";
    buf offered = BUF_INIT(4096);
    tools_init(&list);
    bool is_whole = tools_read(
        &list,
        SLICE("{\"tools\":[{\"name\":\"a\",\"description\":\"d\",\"command\":[\"sh\",\"-c\"]},{"
              "\"name\":\"b\",\"description\":\"e\",\"url\":\"http://x\",\"parameters\":{\"type\":"
              "\"object\",\"pattern\":\"x\"}}]}"),
        "/bin", error, sizeof(error));
    assert_true(is_whole || error[0] != '\0');
    if (is_whole) {
        tools_put_list(&offered, &list);
        is_whole = buf_ok(&offered);
        assert_string_equal(list.at[0].argv[1], "-c");
    }
    if (is_whole)
        assert_non_null(
            strstr(buf_str(&offered), "\"parameters\":{\"type\":\"object\",\"pattern\":\"x\"}"));
    buf_free(&offered);
    tools_free(&list);
    return is_whole;
}

static bool read_card(void)
{
    cardbox_card card = CARDBOX_CARD_INIT;
    card.card_id = "c";
    card.content = "{\"a\":[1,\"b\"]}";
    card.metadata = "{}";
    json_t *read = cardbox_jansson_card(&card, 0, NULL);
    bool is_whole = read != NULL;
    json_decref(read);
    return is_whole;
}

static bool write_box(void)
{
    static const char *const IDS[] = {"a", "b\"", "c"};
    const cardbox_box box = {.box_id = "B",
                             .version = 2,
                             .length = 3,
                             .card_ids = IDS,
                             .card_count = 3,
                             .parent_ids = IDS,
                             .parent_count = 1,
                             .created_at = "then",
                             .updated_at = "now"};
    buf out = BUF_INIT(4096);
    card_view_box(&out, &box, true);
    bool is_whole = buf_ok(&out);
    if (is_whole)
        assert_string_equal(buf_str(&out),
                            "{\"box_id\":\"B\",\"card_ids\":[\"a\",\"b\\\"\",\"c\"],\"version\":2,"
                            "\"length\":3,\"parent_ids\":[\"a\"],\"created_at\":\"then\","
                            "\"updated_at\":\"now\",\"sealed\":false}");
    buf_free(&out);
    return is_whole;
}

static void writes_boxes(void **state)
{
    (void)state;
    fail_each(write_box);
}

static void reads_streams(void **state)
{
    (void)state;
    fail_each(read_stream);
}

static void writes_requests(void **state)
{
    (void)state;
    fail_each(write_request);
}

static void reads_tools(void **state)
{
    (void)state;
    fail_each(read_tools);
}

static void reads_cards(void **state)
{
    (void)state;
    fail_each(read_card);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_streams), cmocka_unit_test(writes_requests),
        cmocka_unit_test(reads_tools),   cmocka_unit_test(reads_cards),
        cmocka_unit_test(writes_boxes),
    };

    json_object_seed(1);
    json_set_alloc_funcs(take, give);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
