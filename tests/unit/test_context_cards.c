/*
 * test_context_cards.c: the cards of small boxes as contexts, word for word: which cards are calls
 * and results, and what becomes of the others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "unit/context_check.h"

static void assert_seen_by(slice reader, const context_card *cards, size_t count,
                           cardbox_format format, const char *expected)
{
    arena memory = ARENA_INIT;
    context ctx;
    context_output out;

    assert_true(context_of_cards(&ctx, cards, count, reader,
                                 &(context_request){.format = format, .repair = true}, &memory));
    assert_true(context_write(&out, &ctx));
    if (format != CARDBOX_FORMAT_RESPONSES)
        assert_accepted(&out, format);
    if (strcmp(buf_str(&out.messages), expected) != 0)
        fail_msg("\n%s\nis not\n%s", buf_str(&out.messages), expected);
    context_output_free(&out);
    arena_reset(&memory);
}

static void assert_cards(const context_card *cards, size_t count, cardbox_format format,
                         const char *expected)
{
    assert_seen_by(SLICE(""), cards, count, format, expected);
}

static void cards_become_messages(void **state)
{
    static const context_card CARDS[] = {
        {.card_id = SLICE("1"),
         .content = SLICE("{\"__type__\":\"TextContent\",\"text\":\"do\\u00e9\"}"),
         .metadata = SLICE("{\"type\":\"task.instruction\"}"),
         .text = SLICE("{\"card_id\":\"1\"}")},
        {.card_id = SLICE("2"),
         .content = SLICE("\"thinking\""),
         .metadata = SLICE("{\"role\":\"assistant\"}"),
         .tool_calls =
             SLICE("[{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"find\","
                   "\"arguments\":\"{\\\"q\\\":1.0}\"}}]"),
         .text = SLICE("{\"card_id\":\"2\"}")},
        {.card_id = SLICE("3"),
         .content = SLICE("{\"__type__\":\"ToolCallContent\",\"tool_name\":\"find\",\"arguments\":{"
                          "\"q\":1.0},\"status\":\"called\"}"),
         .metadata = SLICE("{\"type\":\"tool.call\"}"),
         .tool_call_id = SLICE("c1"),
         .text = SLICE("{\"card_id\":\"3\"}")},
        {.card_id = SLICE("4"),
         .content =
             SLICE("{\"__type__\":\"ToolCallContent\",\"tool_name\":\"get\",\"arguments\":{},"
                   "\"status\":\"called\"}"),
         .metadata = SLICE("{}"),
         .tool_call_id = SLICE("c2"),
         .text = SLICE("{\"card_id\":\"4\"}")},
        {.card_id = SLICE("5"),
         .content =
             SLICE("{\"__type__\":\"ToolResultContent\",\"status\":\"failed\","
                   "\"after_execution\":\"suspend\",\"result\":null,\"error\":{\"code\":\"E\","
                   "\"message\":\"m\"}}"),
         .metadata = SLICE("{\"type\":\"tool.result\"}"),
         .tool_call_id = SLICE("c1"),
         .text = SLICE("{\"card_id\":\"5\"}")},
        {.card_id = SLICE("6"),
         .content = SLICE("{\"__type__\":\"JsonContent\",\"data\":{\"n\":[1.50]}}"),
         .metadata = SLICE("{\"role\":\"user\"}"),
         .text = SLICE("{\"card_id\":\"6\"}")},
        {.card_id = SLICE("7"), /* and these become none, whatever role they name */
         .content = SLICE("{\"__type__\":\"ToolContent\",\"tools\":[]}"),
         .metadata = SLICE("{\"type\":\"sys.tools\",\"role\":\"system\"}"),
         .text = SLICE("{\"card_id\":\"7\"}")},
        {.card_id = SLICE("8"),
         .content = SLICE("{}"),
         .metadata = SLICE("{\"type\":\"meta.parent_pointer\"}"),
         .text = SLICE("{\"card_id\":\"8\"}")},
    };

    (void)state;
    assert_cards(
        CARDS, 8, CARDBOX_FORMAT_OPENAI,
        "[{\"role\":\"user\",\"content\":\"do\\u00e9\"},"
        "{\"role\":\"assistant\",\"content\":\"thinking\",\"tool_calls\":[{\"id\":\"c1\",\"type\":"
        "\"function\",\"function\":{\"name\":\"find\",\"arguments\":\"{\\\"q\\\":1.0}\"}},"
        "{\"id\":\"c2\",\"type\":\"function\",\"function\":{\"name\":\"get\",\"arguments\":\"{}\"}}"
        "]},"
        "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"{\\\"code\\\":\\\"E\\\","
        "\\\"message\\\":\\\"m\\\"}\"},"
        "{\"role\":\"tool\",\"tool_call_id\":\"c2\",\"content\":\"No result provided\"},"
        "{\"role\":\"user\",\"content\":\"{\\\"n\\\":[1.50]}\"}]");
    assert_cards(CARDS + 1, 2, CARDBOX_FORMAT_ANTHROPIC,
                 "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"(the conversation "
                 "begins with the assistant)\"}]},{\"role\":\"assistant\",\"content\":[{\"type\":"
                 "\"text\",\"text\":\"thinking\"},{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":"
                 "\"find\",\"input\":{\"q\":1.0}}]},{\"role\":\"user\",\"content\":[{\"type\":"
                 "\"tool_result\",\"tool_use_id\":\"c1\",\"content\":[{\"type\":\"text\",\"text\":"
                 "\"No result provided\"}],\"is_error\":true}]}]");
    assert_cards(CARDS + 5, 3, CARDBOX_FORMAT_ENTRIES, "[{\"card_id\":\"6\"}]");
}

#define BY_TYPE(id, type_name, call_id, json)                                                      \
    {                                                                                              \
        .card_id = SLICE(id), .content = SLICE(json),                                              \
        .metadata = SLICE("{\"type\":\"" type_name "\"}"), .tool_call_id = SLICE(call_id)          \
    }

/* Contents without a class. The role of a card does not matter if it is a call or a result. */
static void calls_and_results_by_type(void **state)
{
    static const context_card CARDS[] = {
        BY_TYPE("1", "tool.call", "c1",
                "{\"tool_name\":\"find\",\"arguments\":{\"q\":1.0},\"n\":2}"),
        BY_TYPE("2", "tool.result", "c1",
                "{\"status\":\"success\",\"result\":\"h\\u0069\",\"error\":1}"),
        BY_TYPE("3", "tool.call", "c2", "{\"arguments\":{},\"tool_name\":\"get\"}"),
        BY_TYPE("4", "tool.call", "c3", "{\"arguments\":{},\"tool_name\":\"put\"}"),
        BY_TYPE("5", "tool.result", "c3", "{\"result\":null,\"status\":\"failed\"}"),
        {.card_id = SLICE("6"),
         .content = SLICE("{\"status\":\"fa\\\"il\",\"result\":{\"a\": [1.50]},\"error\":\"e\"}"),
         .metadata = SLICE("{\"role\":\"user\",\"type\":\"tool.result\"}"),
         .tool_call_id = SLICE("c2")},
    };

    (void)state;
    assert_cards(
        CARDS, 6, CARDBOX_FORMAT_OPENAI,
        "[{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c1\",\"type\":"
        "\"function\",\"function\":{\"name\":\"find\",\"arguments\":\"{\\\"q\\\":1.0}\"}}]},"
        "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"h\\u0069\"},"
        "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c2\",\"type\":"
        "\"function\",\"function\":{\"name\":\"get\",\"arguments\":\"{}\"}},{\"id\":\"c3\","
        "\"type\":\"function\",\"function\":{\"name\":\"put\",\"arguments\":\"{}\"}}]},"
        "{\"role\":\"tool\",\"tool_call_id\":\"c3\",\"content\":\"status: failed\"},"
        "{\"role\":\"tool\",\"tool_call_id\":\"c2\",\"content\":\"status: fa\\\"il\\n"
        "{\\\"a\\\": [1.50]}\\ne\"}]");
    assert_cards(
        CARDS + 3, 2, CARDBOX_FORMAT_ANTHROPIC,
        "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"(the conversation "
        "begins with the assistant)\"}]},{\"role\":\"assistant\",\"content\":[{\"type\":"
        "\"tool_use\",\"id\":\"c3\",\"name\":\"put\",\"input\":{}}]},{\"role\":\"user\","
        "\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"c3\",\"content\":[{\"type\":"
        "\"text\",\"text\":\"(no output)\"}],\"is_error\":true}]}]");
}

/* A card that lacks the type or the members of a call is a text. Such a result is one by its role,
 * and its text is the whole content. */
static void other_shapes_are_texts(void **state)
{
    static const context_card CARDS[] = {
        BY_TYPE("1", "agent.thought", "c1", "{\"tool_name\":\"find\",\"arguments\":{}}"),
        BY_TYPE("2", "tool.call", "c1", "{\"tool_name\":\"find\",\"arguments\":\"{}\"}"),
        BY_TYPE("3", "tool.call", "c1", "{\"tool_name\":1,\"arguments\":{}}"),
        BY_TYPE("4", "tool.call", "c1", "{\"tool_name\":\"find\",\"arguments\":{}}"),
        BY_TYPE("5", "tool.result", "c1", "{\"status\":1,\"result\":2}"),
        BY_TYPE("6", "tool.call", "c2", "{\"tool_name\":\"find\",\"arguments\":{}}"),
        BY_TYPE("7", "tool.result", "c2", "{\"status\":\"failed\"}"),
        BY_TYPE("8", "task.deliverable", "", "{\"status\":\"success\",\"result\":2}"),
    };

    (void)state;
    assert_cards(CARDS, 8, CARDBOX_FORMAT_OPENAI,
                 "[{\"role\":\"assistant\",\"content\":\"{\\\"tool_name\\\":\\\"find\\\","
                 "\\\"arguments\\\":{}}\"},"
                 "{\"role\":\"assistant\",\"content\":\"{\\\"tool_name\\\":\\\"find\\\","
                 "\\\"arguments\\\":\\\"{}\\\"}\"},"
                 "{\"role\":\"assistant\",\"content\":\"{\\\"tool_name\\\":1,\\\"arguments\\\":{}}"
                 "\",\"tool_calls\":["
                 "{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"find\","
                 "\"arguments\":\"{}\"}}]},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"{\\\"status\\\":1,"
                 "\\\"result\\\":2}\"},"
                 "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c2\",\"type\":"
                 "\"function\","
                 "\"function\":{\"name\":\"find\",\"arguments\":\"{}\"}}]},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"c2\",\"content\":\"{\\\"status\\\":"
                 "\\\"failed\\\"}\"},"
                 "{\"role\":\"assistant\",\"content\":\"{\\\"status\\\":\\\"success\\\","
                 "\\\"result\\\":2}\"}]");
}

/* The card of a call that waits already may list others: those are made, and it is none once more.
 */
static void a_known_call_lists_new_ones(void **state)
{
    static const context_card CARDS[] = {
        {.card_id = SLICE("1"),
         .content = SLICE("\"a\""),
         .metadata = SLICE("{\"role\":\"assistant\"}"),
         .tool_calls = SLICE("[{\"id\":\"c1\",\"name\":\"t\"}]")},
        {.card_id = SLICE("2"), .content = SLICE("\"b\""), .metadata = SLICE("{}")},
        {.card_id = SLICE("3"),
         .content =
             SLICE("{\"__type__\":\"ToolCallContent\",\"tool_name\":\"t\",\"arguments\":{}}"),
         .metadata = SLICE("{}"),
         .tool_calls = SLICE("[{\"id\":\"c1\",\"name\":\"t\"},{\"id\":\"c2\",\"name\":\"u\"}]"),
         .tool_call_id = SLICE("c1")},
        {.card_id = SLICE("4"),
         .content =
             SLICE("{\"__type__\":\"ToolCallContent\",\"tool_name\":\"t\",\"arguments\":{}}"),
         .metadata = SLICE("{}"),
         .tool_calls = SLICE("[{\"id\":\"c2\",\"name\":\"u\"}]"),
         .tool_call_id = SLICE("c1")},
    };

    (void)state;
    assert_cards(CARDS, 4, CARDBOX_FORMAT_OPENAI,
                 "[{\"role\":\"assistant\",\"content\":\"a\",\"tool_calls\":[{\"id\":\"c1\","
                 "\"type\":\"function\",\"function\":{\"name\":\"t\",\"arguments\":\"{}\"}}]},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"No result provided\"},"
                 "{\"role\":\"user\",\"content\":\"b\"},"
                 "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c2\","
                 "\"type\":\"function\",\"function\":{\"name\":\"u\",\"arguments\":\"{}\"}}]},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"c2\",\"content\":\"No result provided\"}]");
}

/* --- messages of APIs --- */

#define MESSAGE(id, format, json)                                                                  \
    {                                                                                              \
        .card_id = SLICE(id), .metadata = SLICE("{}"),                                             \
        .content = SLICE("{\"__type__\":\"MessageContent\",\"format\":\"" format                   \
                         "\",\"message\": " json "}")                                              \
    }

#define ASKS "{\"content\":\"q\\u0041\", \"role\":\"user\"}"
#define CALLS(call)                                                                                \
    "{\"role\":\"assistant\",\"content\":null,\"x\":1.0,\"tool_calls\":[{\"id\":\"" call "\","     \
    "\"type\":\"function\",\"function\":{\"name\":\"g\",\"arguments\":\"{}\"}}]}"
#define GETS "{\"role\":\"tool\",\"tool_call_id\":\"f.g:0\",\"content\":\"r\"}"

static void messages_are_as_stored(void **state)
{
    static const context_card CARDS[] = {MESSAGE("1", "openai", ASKS),
                                         MESSAGE("2", "openai", CALLS("f.g:0")),
                                         MESSAGE("3", "openai", GETS)};
    static const context_card WHOLE = MESSAGE("4", "anthropic",
                                              "{\"id\":\"msg_1\",\"type\":\"message\",\"role\":"
                                              "\"assistant\",\"content\":[{\"type\":\"text\","
                                              "\"text\":\"a\",\"x\":1.0}],\"usage\":{}}");

    (void)state;
    assert_cards(CARDS, 3, CARDBOX_FORMAT_OPENAI, "[" ASKS "," CALLS("f.g:0") "," GETS "]");
    assert_cards(CARDS, 3, CARDBOX_FORMAT_RESPONSES,
                 "[{\"type\":\"message\",\"role\":\"user\",\"content\":\"q\\u0041\"},"
                 "{\"type\":\"function_call\",\"call_id\":\"f.g:0\",\"name\":\"g\",\"arguments\":"
                 "\"{}\"},{\"type\":\"function_call_output\",\"call_id\":\"f.g:0\",\"output\":"
                 "\"r\"}]");
    assert_cards(&WHOLE, 1, CARDBOX_FORMAT_ANTHROPIC,
                 "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"(the conversation "
                 "begins with the assistant)\"}]},{\"role\":\"assistant\",\"content\":[{\"type\":"
                 "\"text\",\"text\":\"a\",\"x\":1.0}]}]");
}

/* Stored by SQL, which does not check content: a format or a message of nobody is JSON. */
static void unknown_messages_are_texts(void **state)
{
    static const context_card CARDS[] = {MESSAGE("1", "gemini", "{\"content\":\"a\"}"),
                                         MESSAGE("2", "openai", "7")};

    (void)state;
    assert_cards(CARDS, 2, CARDBOX_FORMAT_OPENAI,
                 "[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"user\",\"content\":"
                 "\"{\\\"__type__\\\":\\\"MessageContent\\\",\\\"format\\\":\\\"openai\\\","
                 "\\\"message\\\":7}\"}]");
}

/* A result may name the id that the store has for the call, and a card of the call is no second
 * call. The model sees its own id. */
static void calls_have_ids_of_the_store(void **state)
{
    static context_card cards[] = {
        MESSAGE("1", "openai", ASKS),
        MESSAGE("2", "openai", CALLS("f.g:0")),
        BY_TYPE("3", "tool.call", "0197-1", "{\"tool_name\":\"g\",\"arguments\":{}}"),
        BY_TYPE("4", "tool.result", "0197-1", "{\"status\":\"success\",\"result\":\"one\"}"),
        MESSAGE("5", "openai", CALLS("f.g:1")),
        BY_TYPE("6", "tool.result", "0197-2", "{\"status\":\"success\",\"result\":\"two\"}"),
        BY_TYPE("7", "tool.result", "0197-1", "{\"status\":\"failed\",\"result\":\"late\"}"),
    };

    (void)state;
    cards[1].tool_calls = SLICE("[{\"id\":\"0197-1\",\"name\":\"g\"}]");
    cards[4].tool_calls = SLICE("[{\"id\":\"0197-2\",\"name\":\"g\"}]");
    assert_cards(
        cards, 7, CARDBOX_FORMAT_OPENAI,
        "[" ASKS "," CALLS(
            "f.g:0") ","
                     "{\"role\":\"tool\",\"tool_call_id\":\"f.g:0\",\"content\":\"one\"}," CALLS(
                         "f.g:1") ","
                                  "{\"role\":\"tool\",\"tool_call_id\":\"f.g:1\",\"content\":"
                                  "\"two\"}]");
}

#define RESULT(id, call)                                                                           \
    BY_TYPE(id, "tool.result", call, "{\"status\":\"success\",\"result\":\"" call "\"}")
#define GOT(call, result)                                                                          \
    "{\"role\":\"tool\",\"tool_call_id\":\"" call "\",\"content\":\"" result "\"}"
#define CALL_WITH(before, arguments, after)                                                        \
    "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{" before "\"type\":\"function\","   \
    "\"function\":{\"arguments\":\"" arguments "\",\"name\":\"g\"}" after "}]}"
#define WRAPPED(text) "{\\\"arguments\\\":\\\"" text "\\\"}"
#define STORED_1      CALLS("f.g:0") "," GOT("f.g:0", "s-1")
#define STORED_2      CALLS("s-2") "," GOT("s-2", "s-2")
#define STORED_3      CALL_WITH("", WRAPPED("{"), ",\"id\":\"s-3\"") "," GOT("s-3", "s-3")
#define STORED_4      CALL_WITH("\"id\":\"s-4\",", WRAPPED("[]"), "") "," GOT("s-4", "s-4")

/* Calls whose ids are used already, empty or absent get the ids of the store. */
static void calls_without_ids_of_their_own(void **state)
{
    static context_card cards[] = {
        MESSAGE("1", "openai", CALLS("f.g:0")),
        RESULT("2", "s-1"),
        MESSAGE("3", "openai", CALLS("f.g:0")),
        RESULT("4", "s-2"),
        MESSAGE("5", "openai", CALL_WITH("", "{", ",\"id\":\"\"")),
        RESULT("6", "s-3"),
        MESSAGE("7", "openai", CALL_WITH("", "[]", "")),
        RESULT("8", "s-4"),
    };

    (void)state;
    cards[0].tool_calls = SLICE("[{\"id\":\"s-1\"}]");
    cards[2].tool_calls = SLICE("[{\"id\":\"s-2\"}]");
    cards[4].tool_calls = SLICE("[{\"id\":\"s-3\"}]");
    cards[6].tool_calls = SLICE("[{\"id\":\"s-4\"}]");
    assert_cards(cards, 8, CARDBOX_FORMAT_OPENAI,
                 "[" STORED_1 "," STORED_2 "," STORED_3 "," STORED_4 "]");
}

/* A model may call a tool that does not exist, by a name that strict servers refuse. */
static void names_that_a_model_made_up(void **state)
{
    static context_card cards[] = {
        MESSAGE("1", "openai",
                "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c\",\"type\":"
                "\"function\",\"function\":{\"arguments\":\"{\",\"name\":\"f.g<|x|>\"}}]}"),
        RESULT("2", "s-1"),
    };

    (void)state;
    cards[0].tool_calls = SLICE("[{\"id\":\"s-1\"}]");
    assert_cards(cards, 2, CARDBOX_FORMAT_OPENAI,
                 "[{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c\",\"type\":"
                 "\"function\",\"function\":{\"arguments\":\"" WRAPPED(
                     "{") "\",\"name\":\"f_g__x__\"}}]}," GOT("c", "s-1") "]");
}

/* A worker asks for results of all calls, since APIs accept no call without a result. */
static void calls_are_closed_on_request(void **state)
{
    static const context_card CARDS[] = {MESSAGE("1", "openai", ASKS),
                                         MESSAGE("2", "openai", CALLS("f.g:0"))};
    arena memory = ARENA_INIT;
    context ctx;
    context_output out;

    (void)state;
    assert_true(context_of_cards(
        &ctx, CARDS, 2, SLICE(""),
        &(context_request){.format = CARDBOX_FORMAT_OPENAI, .repair = true, .closes_calls = true},
        &memory));
    assert_true(context_write(&out, &ctx));
    assert_string_equal(buf_str(&out.messages),
                        "[" ASKS "," CALLS("f.g:0") "," GOT("f.g:0", "No result provided") "]");
    context_output_free(&out);
    arena_reset(&memory);
}

/* --- several agents --- */

#define BY(id, author, role, json)                                                                 \
    {                                                                                              \
        .card_id = SLICE(id), .content = SLICE(json),                                              \
        .metadata = SLICE("{\"author_id\":\"" author "\",\"role\":\"" role "\"}")                  \
    }

static void answers_of_others_are_texts(void **state)
{
    static context_card cards[] = {
        BY("1", "maria", "user", "\"Look.\""),
        BY("2", "bob s", "assistant", "\"I look.\""),
        BY("3", "find", "tool", "{\"status\":\"failed\",\"result\":\"no\"}"),
        BY("4", "al\\u0069ce", "assistant", "\"Mine.\""),
        BY("5", "find", "tool", "{\"status\":\"success\",\"result\":\"yes\"}"),
        {.card_id = SLICE("6"),
         .content = SLICE("\"Nobody's.\""),
         .metadata = SLICE("{\"role\":\"assistant\"}")},
    };

    (void)state;
    cards[1].tool_calls = SLICE("[{\"id\":\"c1\",\"name\":\"find\",\"arguments\":{\"q\": 1.0}}]");
    cards[2].metadata = SLICE("{\"author_id\":\"find\",\"type\":\"tool.result\"}");
    cards[2].tool_call_id = SLICE("c1");
    cards[3].tool_calls = SLICE("[{\"id\":\"c2\",\"name\":\"find\",\"arguments\":{}}]");
    cards[4].metadata = cards[2].metadata;
    cards[4].tool_call_id = SLICE("c2");
    assert_seen_by(
        SLICE("alice"), cards, 6, CARDBOX_FORMAT_OPENAI,
        "[{\"role\":\"user\",\"content\":\"Look.\"},"
        "{\"role\":\"user\",\"name\":\"bob_s\",\"content\":[{\"type\":\"text\",\"text\":\"I "
        "look.\"},"
        "{\"type\":\"text\",\"text\":\"Called the tool find with {\\\"q\\\": 1.0}\"}]},"
        "{\"role\":\"user\",\"name\":\"bob_s\",\"content\":[{\"type\":\"text\",\"text\":\"Result "
        "of "
        "the tool find, status failed:\"},{\"type\":\"text\",\"text\":\"no\"}]},"
        "{\"role\":\"assistant\",\"content\":\"Mine.\",\"tool_calls\":[{\"id\":\"c2\",\"type\":"
        "\"function\",\"function\":{\"name\":\"find\",\"arguments\":\"{}\"}}]},"
        "{\"role\":\"tool\",\"tool_call_id\":\"c2\",\"content\":\"yes\"},"
        "{\"role\":\"assistant\",\"content\":\"Nobody's.\"}]");
    assert_seen_by(
        SLICE("alice"), cards, 3, CARDBOX_FORMAT_ANTHROPIC,
        "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Look.\"},{\"type\":"
        "\"text\",\"text\":\"bob s:\\nI look.\"},{\"type\":\"text\",\"text\":\"Called the tool "
        "find with {\\\"q\\\": 1.0}\"},{\"type\":\"text\",\"text\":\"bob s:\\nResult of the "
        "tool find, status failed:\"},{\"type\":\"text\",\"text\":\"no\"}]}]");
}

/* The author's name stands before the first text that is sent. */
static void thinking_of_others_is_left_out(void **state)
{
    static context_card card =
        MESSAGE("1", "anthropic",
                "{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"hm\","
                "\"signature\":\"S\"},{\"type\":\"text\",\"text\":\"a\"}]}");
    arena memory = ARENA_INIT;
    buf report = BUF_INIT(1000);
    context_output out;
    context ctx;

    (void)state;
    card.metadata = SLICE("{\"author_id\":\"bob\"}");
    assert_seen_by(SLICE("alice"), &card, 1, CARDBOX_FORMAT_ANTHROPIC,
                   "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"bob:\\na\"}]}]");
    assert_true(context_of_cards(
        &ctx, &card, 1, SLICE("alice"),
        &(context_request){.format = CARDBOX_FORMAT_ANTHROPIC, .repair = true}, &memory));
    assert_true(context_write(&out, &ctx));
    buf_char(&report, '{');
    context_report(&report, &ctx);
    assert_non_null(strstr(buf_str(&report), "\"repairs\":[{\"repair\":\"other_speaker\",\"entry\":"
                                             "\"1\",\"message\":0}],\"left_out\":[{\"entry\":\"1\","
                                             "\"what\":\"thinking\"}]"));
    buf_free(&report);
    context_output_free(&out);
    arena_reset(&memory);
}

/* The ids of models are not unique among agents: a result belongs to the last open call of its id.
 */
static void agents_use_the_same_ids(void **state)
{
    static context_card cards[] = {
        MESSAGE("1", "openai", CALLS("f.g:0")), MESSAGE("2", "openai", CALLS("f.g:0")),
        MESSAGE("3", "openai", GETS),           MESSAGE("4", "openai", GETS),
        MESSAGE("5", "openai", GETS),
    };

    (void)state;
    cards[0].metadata = SLICE("{\"author_id\":\"alice\"}");
    cards[1].metadata = SLICE("{\"author_id\":\"bob\"}");
    assert_seen_by(
        SLICE("alice"), cards, 4, CARDBOX_FORMAT_OPENAI,
        "[" CALLS(
            "f.g:0") "," GETS ","
                     "{\"role\":\"user\",\"name\":\"bob\",\"content\":\"Called the tool g with "
                     "{}\"},"
                     "{\"role\":\"user\",\"name\":\"bob\",\"content\":[{\"type\":\"text\",\"text\":"
                     "\"Result of the tool g:\"},{\"type\":\"text\",\"text\":\"r\"}]}]");
    assert_seen_by(SLICE("bob"), cards + 1, 4, CARDBOX_FORMAT_OPENAI,
                   "[" CALLS("f.g:0") "," GETS "]");
}

/* An answer of another author between a call and its result does not end the reader's answer. */
static void own_calls_stay_open(void **state)
{
    static context_card cards[] = {MESSAGE("1", "openai", CALLS("f.g:0")),
                                   BY("2", "bob", "assistant", "\"b\"")};
    arena memory = ARENA_INIT;
    context ctx;

    (void)state;
    cards[0].metadata = SLICE("{\"author_id\":\"alice\"}");
    assert_true(context_of_cards(
        &ctx, cards, 2, SLICE("alice"),
        &(context_request){.format = CARDBOX_FORMAT_OPENAI, .repair = true}, &memory));
    assert_string_equal(context_next(&ctx), "tools");
    assert_non_null(ctx.open);
    assert_null(ctx.open->next);
    assert_true(context_of_cards(
        &ctx, cards, 2, SLICE("bob"),
        &(context_request){.format = CARDBOX_FORMAT_OPENAI, .repair = true}, &memory));
    assert_string_equal(context_next(&ctx), "user");
    assert_null(ctx.open);
    assert_true(context_of_cards(
        &ctx, cards, 1, SLICE("bob"),
        &(context_request){.format = CARDBOX_FORMAT_OPENAI, .repair = true}, &memory));
    assert_string_equal(context_next(&ctx), "model");
    arena_reset(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cards_become_messages),
        cmocka_unit_test(calls_and_results_by_type),
        cmocka_unit_test(other_shapes_are_texts),
        cmocka_unit_test(a_known_call_lists_new_ones),
        cmocka_unit_test(messages_are_as_stored),
        cmocka_unit_test(unknown_messages_are_texts),
        cmocka_unit_test(calls_have_ids_of_the_store),
        cmocka_unit_test(calls_without_ids_of_their_own),
        cmocka_unit_test(names_that_a_model_made_up),
        cmocka_unit_test(calls_are_closed_on_request),
        cmocka_unit_test(answers_of_others_are_texts),
        cmocka_unit_test(thinking_of_others_is_left_out),
        cmocka_unit_test(agents_use_the_same_ids),
        cmocka_unit_test(own_calls_stay_open),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
