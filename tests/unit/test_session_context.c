/*
 * test_session_context.c: small sessions as contexts, word for word: rule by rule, repair
 * by repair, format by format.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "unit/context_check.h"

/* Lines of pi. */
#define HEADER "{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n"
#define ENTRY(id, parent, members)                                                                 \
    "{\"id\":\"" id "\",\"parentId\":\"" parent "\",\"timestamp\":\"T-" id "\"," members "}\n"
#define MESSAGE(id, parent, members)                                                               \
    ENTRY(id, parent, "\"type\":\"message\",\"message\":{" members "}")
#define USER(id, parent, text) MESSAGE(id, parent, "\"role\":\"user\",\"content\":\"" text "\"")
#define SAID(id, parent, blocks)                                                                   \
    MESSAGE(id, parent, "\"role\":\"assistant\",\"content\":[" blocks "],\"stopReason\":\"stop\"")
#define CALL(id, name, arguments)                                                                  \
    "{\"type\":\"toolCall\",\"id\":\"" id "\",\"name\":\"" name "\",\"arguments\":" arguments "}"
#define TEXT(text) "{\"type\":\"text\",\"text\":\"" text "\"}"
#define RESULT(id, parent, call, blocks)                                                           \
    MESSAGE(id, parent,                                                                            \
            "\"role\":\"toolResult\",\"toolCallId\":\"" call                                       \
            "\",\"toolName\":\"t\",\"content\":[" blocks "],\"isError\":false")

static void openai_word_for_word(void **state)
{
    (void)state;
    assert_written(
        HEADER USER("a", "", "caf\\u00e9")
            SAID("b", "a",
                 TEXT("one") "," TEXT("two") "," CALL("c1", "t", "{ \"z\":1.0, \"a\":\"\\\"\" }"))
                RESULT("c", "b", "c1", TEXT("r\\ns")),
        CARDBOX_FORMAT_OPENAI,
        "[{\"role\":\"user\",\"content\":\"caf\\u00e9\"},"
        "{\"role\":\"assistant\",\"content\":\"one\\n\\ntwo\",\"tool_calls\":[{\"id\":\"c1\","
        "\"type\":\"function\",\"function\":{\"name\":\"t\",\"arguments\":"
        "\"{ \\\"z\\\":1.0, \\\"a\\\":\\\"\\\\\\\"\\\" }\"}}]},"
        "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"r\\ns\"}]");
}

static void anthropic_word_for_word(void **state)
{
    (void)state;
    assert_written(
        HEADER USER("a", "", "hi") SAID("b", "a",
                                        "{\"type\":\"thinking\",\"thinking\":\"unsigned\"}," TEXT(
                                            "one \\n") "," CALL("c1", "t", "{ \"z\":1e2 }"))
            RESULT("c", "b", "c1", TEXT("r")) USER("d", "c", "more"),
        CARDBOX_FORMAT_ANTHROPIC,
        "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]},"
        "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"one\"},"
        "{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"t\",\"input\":{ \"z\":1e2 }}]},"
        "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"c1\","
        "\"content\":[{\"type\":\"text\",\"text\":\"r\"}]},"
        "{\"type\":\"text\",\"text\":\"more\"}]}]");
}

static void thinking_goes_back_signed_and_never_last(void **state)
{
    (void)state;
    assert_written(
        USER("a", "", "hi") MESSAGE(
            "b", "a",
            "\"role\":\"assistant\",\"api\":\"anthropic-messages\",\"content\":[{\"type\":"
            "\"thinking\",\"thinking\":\"th\",\"thinkingSignature\":\"sg\"},{\"type\":\"thinking\","
            "\"thinking\":\"\",\"redacted\":true,\"thinkingSignature\":\"rd\"}," TEXT(
                "x") ","
                     "{\"type\":\"thinking\",\"thinking\":\"end\",\"thinkingSignature\":\"sg\"}]"),
        CARDBOX_FORMAT_ANTHROPIC,
        "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]},"
        "{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"th\","
        "\"signature\":\"sg\"},{\"type\":\"redacted_thinking\",\"data\":\"rd\"},"
        "{\"type\":\"text\",\"text\":\"x\"}]}]");
}

static void a_compaction_keeps_what_it_says(void **state)
{
#define BEFORE                                                                                     \
    HEADER USER("a", "", "old")                                                                    \
        ENTRY("k0", "a",                                                                           \
              "\"type\":\"compaction\",\"summary\":\"first\",\"firstKeptEntryId\":"                \
              "\"a\"") USER("b", "k0", "kept")
#define COMPACTION(kept)                                                                           \
    ENTRY("k", "b",                                                                                \
          "\"type\":\"compaction\",\"summary\":\"S\\n1\",\"firstKeptEntryId\":\"" kept "\"")
#define SUMMARY                                                                                    \
    "[{\"role\":\"user\",\"content\":\"The earlier part of this conversation was replaced by "     \
    "this summary of it:\\n\\n<summary>\\nS\\n1\\n</summary>\"},"

    (void)state;
    assert_written(BEFORE COMPACTION("b") USER("c", "k", "new"), CARDBOX_FORMAT_OPENAI,
                   SUMMARY "{\"role\":\"user\",\"content\":\"kept\"},"
                           "{\"role\":\"user\",\"content\":\"new\"}]");
    assert_written(BEFORE COMPACTION("k0") USER("c", "k", "new"), CARDBOX_FORMAT_OPENAI,
                   SUMMARY "{\"role\":\"user\",\"content\":\"kept\"},"
                           "{\"role\":\"user\",\"content\":\"new\"}]");
    assert_written(BEFORE COMPACTION("nowhere") USER("c", "k", "new"), CARDBOX_FORMAT_OPENAI,
                   SUMMARY "{\"role\":\"user\",\"content\":\"new\"}]");
    assert_written(BEFORE COMPACTION("c") USER("c", "k", "new"), CARDBOX_FORMAT_OPENAI,
                   SUMMARY "{\"role\":\"user\",\"content\":\"new\"}]");
#undef BEFORE
#undef COMPACTION
}

/* Version 1 counts the header line. */
static void version_1_keeps_by_index(void **state)
{
    (void)state;
    assert_written("{\"type\":\"session\",\"id\":\"s\"}\n"
                   "{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"old\"}}\n"
                   "{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"kept\"}}\n"
                   "{\"type\":\"compaction\",\"summary\":\"S\\n1\",\"firstKeptEntryIndex\":2}\n",
                   CARDBOX_FORMAT_OPENAI, SUMMARY "{\"role\":\"user\",\"content\":\"kept\"}]");
}

static void what_users_run_and_extensions_say(void **state)
{
    char *written = written_as(
        HEADER MESSAGE("a", "",
                       "\"role\":\"bashExecution\",\"command\":\"ls\",\"output\":\"x```\","
                       "\"exitCode\":2,\"cancelled\":false,\"truncated\":true,"
                       "\"fullOutputPath\":\"/tmp/o\"")
            MESSAGE("b", "a",
                    "\"role\":\"bashExecution\",\"command\":\"secret\",\"output\":\"\","
                    "\"excludeFromContext\":true")
                MESSAGE("c", "b", "\"role\":\"hookMessage\",\"content\":\"hook\"")
                    ENTRY("d", "c",
                          "\"type\":\"custom_message\",\"customType\":\"x\",\"content\":["
                          "{\"type\":\"text\",\"text\":\"ext\"}]")
                        ENTRY("e", "d", "\"type\":\"branch_summary\",\"summary\":\"br\"")
                            ENTRY("f", "e", "\"type\":\"branch_summary\",\"summary\":\"\"")
                                ENTRY("g", "f", "\"type\":\"custom\",\"data\":1")
                                    MESSAGE("h", "g",
                                            "\"role\":\"bashExecution\",\"command\":"
                                            "\"w\",\"output\":\"\",\"cancelled\":true"),
        CARDBOX_FORMAT_OPENAI, true);

    (void)state;
    assert_string_equal(
        written,
        "[{\"role\":\"user\",\"content\":\"Ran `ls`\\n````\\nx```\\n````\\n\\nThe command exited "
        "with code 2\\n\\n[The output was truncated; all of it is in /tmp/o]\"},"
        "{\"role\":\"user\",\"content\":\"hook\"},{\"role\":\"user\",\"content\":\"ext\"},"
        "{\"role\":\"user\",\"content\":\"Another branch of this conversation was left and the "
        "conversation went on from here. This is a summary of that branch:\\n\\n<summary>\\nbr\\n"
        "</summary>\"},"
        "{\"role\":\"user\",\"content\":\"Ran `w`\\n(no output)\\n\\n(the command was "
        "cancelled)\"}]");
    free(written);
}

/* --- pairing --- */

static void assert_repairs(const char *text, const char *expected)
{
    session_file file;
    arena memory = ARENA_INIT;
    buf report = BUF_INIT(1u << 20);

    assert_true(session_file_read(&file, slice_of(text)));
    context ctx = build(&file, file.tree.leaf, CARDBOX_FORMAT_OPENAI, true, &memory);
    assert_sendable(&file, file.tree.leaf);
    buf_char(&report, '{');
    context_report(&report, &ctx);
    buf_char(&report, '}');
    if (strncmp(buf_str(&report), expected, strlen(expected) - 1) != 0)
        fail_msg("\n%s\nis not\n%s", buf_str(&report), expected);
    buf_free(&report);
    arena_reset(&memory);
    session_file_free(&file);
}

static void each_repair_is_reported(void **state)
{
    (void)state;
    assert_repairs(
        USER("a", "", "x") SAID("b", "a", CALL("c1", "t", "{}") "," CALL("c2", "t", "{}"))
            USER("c", "b", "wait") RESULT("d", "c", "c2", TEXT("late"))
                RESULT("e", "d", "c2", TEXT("twice")) RESULT("f", "e", "lost", TEXT("whose?")),
        "{\"messages_before\":6,\"messages_after\":5,\"repairs\":["
        "{\"repair\":\"synthetic_result\",\"entry\":\"b\",\"call\":\"c1\"},"
        "{\"repair\":\"moved_result\",\"entry\":\"e\",\"call\":\"c2\"},"
        "{\"repair\":\"second_result\",\"entry\":\"d\",\"call\":\"c2\"},"
        "{\"repair\":\"orphan_result\",\"entry\":\"f\",\"call\":\"lost\"}]}");
    assert_repairs(USER("a", "", "x") MESSAGE(
                       "b", "a",
                       "\"role\":\"assistant\",\"stopReason\":\"aborted\",\"content\":[" CALL(
                           "c1", "t", "{}") "]") RESULT("c", "b", "c1", TEXT("r")),
                   "{\"messages_before\":3,\"messages_after\":1,\"repairs\":["
                   "{\"repair\":\"dropped_message\",\"entry\":\"b\"},"
                   "{\"repair\":\"dropped_result\",\"entry\":\"c\",\"call\":\"c1\"}]}");
}

/* Models that count their calls from 0 in every message. */
static void ids_that_occur_again_are_replaced(void **state)
{
    (void)state;
    assert_repairs(USER("a", "", "x") SAID("b", "a", CALL("0", "t", "{}"))
                       RESULT("c", "b", "0", TEXT("r1")) SAID("d", "c", CALL("0", "t", "{}"))
                           RESULT("e", "d", "0", TEXT("r2")),
                   "{\"messages_before\":5,\"messages_after\":5,\"repairs\":["
                   "{\"repair\":\"call_id\",\"entry\":\"d\",\"call\":\"0\"}]}");
#define LONG_ID "c|x........................................"
    assert_repairs(USER("a", "", "x") SAID("b", "a", CALL(LONG_ID, "fs.read", "null"))
                       RESULT("c", "b", LONG_ID, ""),
                   "{\"messages_before\":3,\"messages_after\":3,\"repairs\":["
                   "{\"repair\":\"call_id\",\"entry\":\"b\",\"call\":\"" LONG_ID "\"},"
                   "{\"repair\":\"tool_name\",\"entry\":\"b\",\"call\":\"" LONG_ID "\"}]}");
}

static void assert_counted(const char *text, cardbox_format format, size_t written,
                           const char *counts)
{
    session_file file;
    arena memory = ARENA_INIT;
    buf report = BUF_INIT(1u << 20);
    context_output out;

    assert_true(session_file_read(&file, slice_of(text)));
    context ctx = build(&file, file.tree.leaf, format, true, &memory);
    assert_true(context_write(&out, &ctx));
    assert_int_equal(out.count, written);
    context_report(&report, &ctx);
    if (strncmp(buf_str(&report), counts, strlen(counts)) != 0)
        fail_msg("\n%s\ndoes not begin with\n%s", buf_str(&report), counts);
    buf_free(&report);
    context_output_free(&out);
    arena_reset(&memory);
    session_file_free(&file);
}

static void what_a_format_leaves_out_or_puts_first_is_counted(void **state)
{
    (void)state;
    const char *blank =
        USER("a", "", "") USER("b", "a", "x") USER("c", "b", "   ") SAID("d", "c", TEXT("y"));
    assert_counted(blank, CARDBOX_FORMAT_OPENAI, 2, "\"messages_before\":4,\"messages_after\":2,");
    assert_counted(blank, CARDBOX_FORMAT_ANTHROPIC, 2,
                   "\"messages_before\":4,\"messages_after\":2,");
    assert_counted(SAID("a", "", TEXT("y")), CARDBOX_FORMAT_ANTHROPIC, 2,
                   "\"messages_before\":1,\"messages_after\":2,");
}

static void a_synthetic_result_is_the_calls_own(void **state)
{
    char *written =
        written_as(HEADER SAID("b", "", CALL("c1", "t", "{}")), CARDBOX_FORMAT_ENTRIES, true);

    (void)state;
    assert_non_null(strstr(written, ",{\"type\":\"message\",\"id\":\""));
    assert_non_null(strstr(written,
                           "\"parentId\":\"b\",\"timestamp\":\"T-b\",\"message\":{\"role\":"
                           "\"toolResult\",\"toolCallId\":\"c1\",\"toolName\":\"t\","
                           "\"content\":[{\"type\":\"text\",\"text\":\"No result "
                           "provided\"}],\"isError\":true}}]"));
    free(written);
}

static void without_repair_nothing_is_touched(void **state)
{
    char *written = written_as(USER("a", "", " ") SAID("b", "a", CALL("c|1", "", "{}"))
                                   RESULT("c", "b", "lost", TEXT("\\ud800")),
                               CARDBOX_FORMAT_OPENAI, false);

    (void)state;
    assert_string_equal(
        written, "[{\"role\":\"user\",\"content\":\" \"},{\"role\":\"assistant\",\"content\":"
                 "null,\"tool_calls\":[{\"id\":\"c|1\",\"type\":\"function\",\"function\":{"
                 "\"name\":\"\",\"arguments\":\"{}\"}}]},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"lost\",\"content\":\"\\ud800\"}]");
    free(written);
}

static void what_apis_refuse_is_left_out(void **state)
{
    (void)state;
    assert_written(SAID("a", "", TEXT("first")) USER("b", "a", " \\n\\u00a0") SAID("c", "b", "")
                       USER("d", "c", "half \\ud83d pair \\ud83d\\ude00"),
                   CARDBOX_FORMAT_ANTHROPIC,
                   "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"(the "
                   "conversation begins with the assistant)\"}]},"
                   "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"first\"}]},"
                   "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":"
                   "\"half \\ufffd pair \\ud83d\\ude00\"}]}]");
    assert_written(USER("a", "", "x") SAID(
                       "b", "a", CALL("c1", "t", "\"{ \\\"a\\\":1 }\"") "," CALL("c2", "t", "[1]"))
                       RESULT("c", "b", "c1", TEXT("")) RESULT("d", "c", "c2", TEXT("r")),
                   CARDBOX_FORMAT_ANTHROPIC,
                   "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"x\"}]},"
                   "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"c1\","
                   "\"name\":\"t\",\"input\":{ \"a\":1 }},{\"type\":\"tool_use\",\"id\":\"c2\","
                   "\"name\":\"t\",\"input\":{\"arguments\":[1]}}]},"
                   "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":"
                   "\"c1\",\"content\":[{\"type\":\"text\",\"text\":\"(no output)\"}]},"
                   "{\"type\":\"tool_result\",\"tool_use_id\":\"c2\",\"content\":[{\"type\":"
                   "\"text\",\"text\":\"r\"}]}]}]");
}

static void what_a_format_leaves_out_is_reported(void **state)
{
    session_file file;
    arena memory = ARENA_INIT;

    (void)state;
    assert_true(session_file_read(
        &file, slice_of(USER("a", "", "x") SAID("b", "a", TEXT(" ")) USER("c", "b", "\\n"))));
    for (int format = CARDBOX_FORMAT_OPENAI; format <= CARDBOX_FORMAT_ANTHROPIC; format++) {
        context ctx = build(&file, 2, (cardbox_format)format, true, &memory);
        context_output out;
        assert_true(context_write(&out, &ctx));
        assert_int_equal(ctx.repairs->kind, CONTEXT_EMPTY_MESSAGE);
        assert_ptr_equal(ctx.repairs->next, ctx.last_repair);
        assert_int_equal(out.count, 1);
        context_output_free(&out);
    }
    arena_reset(&memory);
    session_file_free(&file);
}

/* --- plain --- */

static void plain_tools_join_their_message(void **state)
{
    static const char TEXT_OF_PLAIN[] =
        ENTRY("s", "", "\"type\":\"system\",\"content\":\"be good\"")
            ENTRY("a", "s", "\"type\":\"user\",\"content\":\"go\"")
                ENTRY("b", "a",
                      "\"type\":\"assistant\",\"content\":\"ok\",\"toolCalls\":[{\"id\":"
                      "\"c1\",\"name\":\"t\",\"params\":{\"n\":1}}]")
                    ENTRY("c", "b",
                          "\"type\":\"tool\",\"name\":\"t\",\"toolCallId\":\"c1\","
                          "\"params\":{\"n\":1}")
                        ENTRY("d", "c",
                              "\"type\":\"tool\",\"name\":\"u\",\"toolCallId\":\"c2\","
                              "\"params\":{}")
                            ENTRY("e", "d",
                                  "\"type\":\"tool_result\",\"toolCallId\":\"c1\","
                                  "\"output\":{\"k\":[1]},\"success\":true")
                                ENTRY("f", "e",
                                      "\"type\":\"tool_result\",\"toolCallId\":\"c2\","
                                      "\"output\":\"bad\",\"success\":false")
                                    ENTRY("g", "f", "\"type\":\"metadata\",\"x\":1");

    (void)state;
    assert_written(
        TEXT_OF_PLAIN, CARDBOX_FORMAT_ANTHROPIC,
        "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"go\"}]},"
        "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"ok\"},"
        "{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"t\",\"input\":{\"n\":1}},"
        "{\"type\":\"tool_use\",\"id\":\"c2\",\"name\":\"u\",\"input\":{}}]},"
        "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"c1\","
        "\"content\":[{\"type\":\"text\",\"text\":\"{\\\"k\\\":[1]}\"}]},"
        "{\"type\":\"tool_result\",\"tool_use_id\":\"c2\",\"content\":[{\"type\":\"text\","
        "\"text\":\"bad\"}],\"is_error\":true}]}][{\"type\":\"text\",\"text\":\"be good\"}]");
    char *entries = written_as(TEXT_OF_PLAIN, CARDBOX_FORMAT_ENTRIES, true);
    json_error_t error;
    json_t *list = json_loads(entries, 0, &error);
    assert_int_equal(json_array_size(list), 7);
    json_decref(list);
    free(entries);
}

/* --- settings --- */

static void the_last_word_on_the_model_holds(void **state)
{
    session_file file;
    arena memory = ARENA_INIT;

    (void)state;
    assert_true(session_file_read(
        &file,
        slice_of(
            "{\"type\":\"session\",\"provider\":\"p0\",\"modelId\":\"m0\",\"thinkingLevel\":"
            "\"high\"}\n" ENTRY("a", "",
                                "\"type\":\"model_change\",\"provider\":\"p1\","
                                "\"modelId\":\"m1\"")
                MESSAGE("b", "a", "\"role\":\"assistant\",\"provider\":\"p2\",\"model\":\"m2\"")
                    MESSAGE("c", "b", "\"role\":\"assistant\",\"content\":[]"))));
    context ctx = build(&file, 0, CARDBOX_FORMAT_OPENAI, true, &memory);
    assert_true(session_string_is(ctx.settings.model, "m1"));
    assert_true(session_string_is(ctx.settings.thinking_level, "high"));
    ctx = build(&file, 2, CARDBOX_FORMAT_OPENAI, true, &memory);
    assert_true(session_string_is(ctx.settings.provider, "p2"));
    assert_true(session_string_is(ctx.settings.model, "m2"));
    arena_reset(&memory);
    session_file_free(&file);
}

/* --- digests --- */

/* What differs at the start differs in every prefix. */
static void digests_hold_all_that_is_before(void **state)
{
    static const context_card CARDS[] = {
        {.card_id = SLICE("1"), .content = SLICE("\"a\""), .metadata = SLICE("{}")},
        {.card_id = SLICE("2"), .content = SLICE("\"b\""), .metadata = SLICE("{}")},
        {.card_id = SLICE("3"), .content = SLICE("\"b\""), .metadata = SLICE("{}")},
    };
    arena memory = ARENA_INIT;
    context_output a, b;
    context ctx;

    (void)state;
    assert_true(context_of_cards(
        &ctx, CARDS, 2, SLICE(""),
        &(context_request){.format = CARDBOX_FORMAT_OPENAI, .repair = true}, &memory));
    assert_true(context_write(&a, &ctx));
    assert_true(context_of_cards(
        &ctx, CARDS + 1, 2, SLICE(""),
        &(context_request){.format = CARDBOX_FORMAT_OPENAI, .repair = true}, &memory));
    assert_true(context_write(&b, &ctx));
    assert_int_equal(a.count, 2);
    assert_memory_not_equal(&a.digests[1], &b.digests[1], sizeof(a.digests[1]));
    assert_memory_not_equal(&b.digests[0], &b.digests[1], sizeof(b.digests[1]));
    assert_int_equal(context_first_difference(a.digests, a.count, b.digests, b.count), 0);
    context_output_free(&a);
    context_output_free(&b);
    arena_reset(&memory);
}

static void digests_find_the_first_difference(void **state)
{
    context_digest a[4] = {{{1}}, {{2}}, {{3}}, {{4}}}, b[3] = {{{1}}, {{2}}, {{9}}};
    char text[33];

    (void)state;
    assert_int_equal(context_first_difference(a, 4, b, 3), 2);
    assert_int_equal(context_first_difference(a, 2, b, 3), 2);
    assert_int_equal(context_first_difference(a, 4, b, 0), 0);
    context_digest_text(text, &a[3]);
    assert_string_equal(text, "04000000000000000000000000000000");
    a[3].bytes[15] = 0xAF;
    context_digest_text(text, &a[3]);
    assert_string_equal(text, "040000000000000000000000000000af");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(openai_word_for_word),
        cmocka_unit_test(anthropic_word_for_word),
        cmocka_unit_test(thinking_goes_back_signed_and_never_last),
        cmocka_unit_test(a_compaction_keeps_what_it_says),
        cmocka_unit_test(version_1_keeps_by_index),
        cmocka_unit_test(what_users_run_and_extensions_say),
        cmocka_unit_test(each_repair_is_reported),
        cmocka_unit_test(ids_that_occur_again_are_replaced),
        cmocka_unit_test(what_a_format_leaves_out_or_puts_first_is_counted),
        cmocka_unit_test(a_synthetic_result_is_the_calls_own),
        cmocka_unit_test(without_repair_nothing_is_touched),
        cmocka_unit_test(what_apis_refuse_is_left_out),
        cmocka_unit_test(plain_tools_join_their_message),
        cmocka_unit_test(the_last_word_on_the_model_holds),
        cmocka_unit_test(what_a_format_leaves_out_is_reported),
        cmocka_unit_test(digests_hold_all_that_is_before),
        cmocka_unit_test(digests_find_the_first_difference),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
