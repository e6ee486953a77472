/*
 * test_api_messages.c: messages of APIs in contexts: byte for byte in their own format unless a
 * repair changes them, and converted into the others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "unit/context_check.h"

enum { ENTRIES_MAX = 12 };

/* A session of messages of one format, each the parent of the next. */
typedef struct conversation {
    cardbox_format format;
    const char *messages[ENTRIES_MAX]; /* ends with NULL */
} conversation;

static void put_session(buf *out, const conversation *c)
{
    char parent[16] = "";

    for (size_t i = 0; c->messages[i] != NULL; i++) {
        char id[16];
        snprintf(id, sizeof(id), "m%zu", i);
        buf_char(out, '{');
        buf_member_text(out, "id", slice_of(id));
        buf_member_text(out, "parentId", slice_of(parent));
        buf_member_text(out, "type", SLICE("message"));
        buf_member_text(out, "format", slice_of(CONTEXT_FORMATS[c->format]));
        buf_member(out, "message", slice_of(c->messages[i]));
        buf_text(out, "}\n");
        memcpy(parent, id, sizeof(parent));
    }
}

/* Writes the context of a conversation, then a line feed and the report. */
static char *written(const conversation *c, cardbox_format format)
{
    buf text = BUF_INIT(1u << 20), all = BUF_INIT(1u << 20);
    session_file file;
    arena memory = ARENA_INIT;
    context_output out;

    put_session(&text, c);
    assert_true(session_file_read(&file, buf_as_slice(&text)));
    context ctx = build(&file, file.tree.leaf, format, true, &memory);
    assert_true(context_write(&out, &ctx));
    buf_slice(&all, buf_as_slice(&out.system));
    buf_slice(&all, buf_as_slice(&out.messages));
    buf_text(&all, "\n");
    context_report(&all, &ctx);
    context_put_next(&all, &ctx);
    context_output_free(&out);
    arena_reset(&memory);
    session_file_free(&file);
    buf_free(&text);
    return buf_take(&all);
}

static void assert_context(const conversation *c, cardbox_format format, const char *messages)
{
    char *text = written(c, format);

    *strchr(text, '\n') = '\0';
    if (strcmp(text, messages) != 0)
        fail_msg("\n%s\nis not\n%s", text, messages);
    free(text);
}

/* The report, or what says where a loop stands, contains a text. */
static void assert_says(const conversation *c, cardbox_format format, const char *part)
{
    char *text = written(c, format);

    if (strstr(strchr(text, '\n'), part) == NULL)
        fail_msg("\n%s\nis not in\n%s", part, text);
    free(text);
}

/* In its own format, the context of a conversation is the list of its messages. */
static void assert_same(const conversation *c)
{
    buf expected = BUF_INIT(1u << 20);

    buf_char(&expected, '[');
    for (size_t i = 0; c->messages[i] != NULL; i++) {
        buf_comma(&expected);
        buf_text(&expected, c->messages[i]);
    }
    buf_char(&expected, ']');
    assert_context(c, c->format, buf_str(&expected));
    assert_says(c, c->format, "\"repairs\":[],\"left_out\":[]");
    buf_free(&expected);
}

static const conversation OPENAI = {
    CARDBOX_FORMAT_OPENAI,
    {
        "{\"role\":\"developer\",\"content\":\"Be brief.\"}",
        "{ \"role\" : \"user\", \"name\": \"alice\", \"content\": [ "
        "{\"type\":\"text\",\"text\":\"hi\"},"
        "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/"
        "png;base64,AAAA\",\"detail\":\"low\"}}]}",
        "{\"role\":\"assistant\",\"content\":null,\"refusal\":null,\"reasoning_content\":\"hm\","
        "\"tool_calls\":[{\"id\":\"functions.clock:0\",\"type\":\"function\",\"function\":{"
        "\"name\":"
        "\"clock\",\"arguments\":\"{\\\"n\\\": 2512292042121000001}\"}},{\"id\":\"b\",\"type\":"
        "\"custom\",\"custom\":{\"name\":\"run\",\"input\":\"ls -l\"}}]}",
        "{\"role\":\"tool\",\"tool_call_id\":\"functions.clock:0\",\"content\":\"12:00\"}",
        "{\"role\":\"tool\",\"tool_call_id\":\"b\",\"content\":[{\"type\":\"text\",\"text\":\"x\"}]"
        "}",
        "{\"role\":\"assistant\",\"content\":\"Noon.\",\"annotations\":[]}",
        NULL,
    }};

static const conversation ANTHROPIC = {
    CARDBOX_FORMAT_ANTHROPIC,
    {
        "{\"role\":\"user\",\"content\":\"hi\"}",
        "{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"\","
        "\"signature\":\"S\"},"
        "{\"type\":\"text\",\"text\":\"Let me "
        "look.\"},{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"a\","
        "\"input\":{ \"x\":1}},{\"type\":\"tool_use\",\"id\":\"t2\",\"name\":\"b\",\"input\":{}}]}",
        "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t1\","
        "\"content\":\"one\"},"
        "{\"type\":\"tool_result\",\"tool_use_id\":\"t2\",\"is_error\":true,\"content\":[{\"type\":"
        "\"text\","
        "\"text\":\"two\",\"cache_control\":{\"type\":\"ephemeral\"}}]},{\"type\":\"text\","
        "\"text\":\"go on\"}]}",
        "{\"content\":[{\"type\":\"text\",\"text\":\"Done.\",\"citations\":[{\"x\":1}]}],\"role\":"
        "\"assistant\"}",
        NULL,
    }};

static const conversation RESPONSES = {
    CARDBOX_FORMAT_RESPONSES,
    {
        "{\"role\":\"user\",\"content\":\"hi\"}",
        "{\"type\":\"reasoning\",\"id\":\"rs_1\",\"summary\":[],\"encrypted_content\":\"E\"}",
        "{\"type\":\"function_call\",\"id\":\"fc_1\",\"call_id\":\"c1\",\"name\":\"a\","
        "\"arguments\":\"{}\"}",
        "{\"type\":\"function_call\",\"id\":\"fc_2\",\"call_id\":\"c2\",\"name\":\"b\","
        "\"arguments\":\"{}\"}",
        "{\"type\":\"function_call_output\",\"call_id\":\"c1\",\"output\":\"one\"}",
        "{\"type\":\"function_call_output\",\"call_id\":\"c2\",\"output\":[{\"type\":\"input_"
        "text\",\"text\":"
        "\"two\"}]}",
        "{\"type\":\"message\",\"id\":\"msg_1\",\"status\":\"completed\",\"role\":\"assistant\","
        "\"content\":["
        "{\"type\":\"output_text\",\"text\":\"Done.\",\"annotations\":[]}]}",
        NULL,
    }};

static void same_format_is_byte_for_byte(void **state)
{
    (void)state;
    assert_same(&OPENAI);
    assert_same(&ANTHROPIC);
    assert_same(&RESPONSES);
}

static void openai_becomes_the_others(void **state)
{
    (void)state;
    assert_context(
        &OPENAI, CARDBOX_FORMAT_ANTHROPIC,
        "[{\"type\":\"text\",\"text\":\"Be brief.\"}]"
        "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"alice:\\nhi\"},{\"type\":"
        "\"image\","
        "\"source\":{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":\"AAAA\"}}]},"
        "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"efb43fdf-b194-76fe-"
        "804d-"
        "57c8af16aeb3\",\"name\":\"clock\",\"input\":{\"n\": "
        "2512292042121000001}},{\"type\":\"tool_use\","
        "\"id\":\"b\",\"name\":\"run\",\"input\":{\"input\":\"ls -l\"}}]},"
        "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"efb43fdf-b194-"
        "76fe-804d-"
        "57c8af16aeb3\",\"content\":[{\"type\":\"text\",\"text\":\"12:00\"}]},{\"type\":\"tool_"
        "result\","
        "\"tool_use_id\":\"b\",\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}]},"
        "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"Noon.\"}]}]");
    assert_says(&OPENAI, CARDBOX_FORMAT_ANTHROPIC,
                "\"left_out\":[{\"entry\":\"m2\",\"what\":\"reasoning_content\"}]");
    assert_context(
        &OPENAI, CARDBOX_FORMAT_RESPONSES,
        "[{\"type\":\"message\",\"role\":\"system\",\"content\":\"Be brief.\"},"
        "{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":"
        "\"alice:\"},"
        "{\"type\":\"input_text\",\"text\":\"hi\"},{\"type\":\"input_image\",\"image_url\":"
        "\"data:image/png;base64,AAAA\"}]},"
        "{\"type\":\"function_call\",\"call_id\":\"functions.clock:0\",\"name\":\"clock\","
        "\"arguments\":"
        "\"{\\\"n\\\": 2512292042121000001}\"},"
        "{\"type\":\"custom_tool_call\",\"call_id\":\"b\",\"name\":\"run\",\"input\":\"ls -l\"},"
        "{\"type\":\"function_call_output\",\"call_id\":\"functions.clock:0\",\"output\":\"12:00\"}"
        ","
        "{\"type\":\"custom_tool_call_output\",\"call_id\":\"b\",\"output\":\"x\"},"
        "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"Noon.\"}]");
}

static void anthropic_becomes_the_others(void **state)
{
    (void)state;
    assert_context(&ANTHROPIC, CARDBOX_FORMAT_OPENAI,
                   "[{\"role\":\"user\",\"content\":\"hi\"},"
                   "{\"role\":\"assistant\",\"content\":\"Let me "
                   "look.\",\"tool_calls\":[{\"id\":\"t1\",\"type\":"
                   "\"function\",\"function\":{\"name\":\"a\",\"arguments\":\"{ "
                   "\\\"x\\\":1}\"}},{\"id\":\"t2\",\"type\":"
                   "\"function\",\"function\":{\"name\":\"b\",\"arguments\":\"{}\"}}]},"
                   "{\"role\":\"tool\",\"tool_call_id\":\"t1\",\"content\":\"one\"},"
                   "{\"role\":\"tool\",\"tool_call_id\":\"t2\",\"content\":\"two\"},"
                   "{\"role\":\"user\",\"content\":\"go on\"},"
                   "{\"role\":\"assistant\",\"content\":\"Done.\"}]");
    assert_says(&ANTHROPIC, CARDBOX_FORMAT_OPENAI,
                "\"left_out\":[{\"entry\":\"m1\",\"what\":\"thinking\"},{\"entry\":\"m2\",\"what\":"
                "\"cache_control\"},{\"entry\":\"m3\",\"what\":\"citations\"}]");
}

static void responses_become_the_others(void **state)
{
    (void)state;
    assert_context(&RESPONSES, CARDBOX_FORMAT_OPENAI,
                   "[{\"role\":\"user\",\"content\":\"hi\"},"
                   "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c1\","
                   "\"type\":\"function\","
                   "\"function\":{\"name\":\"a\",\"arguments\":\"{}\"}},{\"id\":\"c2\",\"type\":"
                   "\"function\",\"function\":"
                   "{\"name\":\"b\",\"arguments\":\"{}\"}}]},"
                   "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"one\"},"
                   "{\"role\":\"tool\",\"tool_call_id\":\"c2\",\"content\":\"two\"},"
                   "{\"role\":\"assistant\",\"content\":\"Done.\"}]");
    assert_says(&RESPONSES, CARDBOX_FORMAT_OPENAI,
                "\"left_out\":[{\"entry\":\"m1\",\"what\":\"reasoning\"}]");
}

static void open_calls_stay_open(void **state)
{
    static const conversation LOOP = {
        CARDBOX_FORMAT_OPENAI,
        {"{\"role\":\"user\",\"content\":\"q\"}",
         "{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"a\",\"type\":"
         "\"function\","
         "\"function\":{\"name\":\"x\",\"arguments\":\"{\\\"n\\\":1}\"}},{\"id\":\"b\",\"type\":"
         "\"function\","
         "\"function\":{\"name\":\"y\",\"arguments\":\"{}\"}}]}",
         "{\"role\":\"tool\",\"tool_call_id\":\"b\",\"content\":\"done\"}", NULL}};

    (void)state;
    assert_same(&LOOP);
    assert_says(&LOOP, CARDBOX_FORMAT_OPENAI,
                "\"next\":\"tools\",\"open_calls\":[{\"id\":\"a\",\"name\":\"x\",\"arguments\":"
                "\"{\\\"n\\\":1}\",\"entry\":\"m1\"}]");
    assert_says(&LOOP, CARDBOX_FORMAT_ANTHROPIC, "\"arguments\":{\"n\":1},\"entry\":\"m1\"}]");
}

static void next_says_where_a_loop_stands(void **state)
{
    static const struct {
        conversation c;
        const char *next;
    } CASES[] = {
        {{CARDBOX_FORMAT_OPENAI, {"{\"role\":\"system\",\"content\":\"s\"}", NULL}}, "user"},
        {{CARDBOX_FORMAT_OPENAI, {"{\"role\":\"user\",\"content\":\"q\"}", NULL}}, "model"},
        {{CARDBOX_FORMAT_OPENAI,
          {"{\"role\":\"user\",\"content\":\"q\"}", "{\"role\":\"assistant\",\"content\":null}",
           NULL}},
         "user"},
        {{CARDBOX_FORMAT_ANTHROPIC,
          {"{\"role\":\"user\",\"content\":\"q\"}", "{\"role\":\"assistant\",\"content\":[]}",
           NULL}},
         "user"},
        {{CARDBOX_FORMAT_RESPONSES,
          {"{\"role\":\"user\",\"content\":\"q\"}",
           "{\"type\":\"web_search_call\",\"id\":\"w\",\"status\":\"completed\"}", NULL}},
         "user"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        char expected[64];
        snprintf(expected, sizeof(expected), "\"next\":\"%s\",\"open_calls\":[]", CASES[i].next);
        assert_says(&CASES[i].c, CASES[i].c.format, expected);
    }
}

static void results_of_several_appends_are_merged(void **state)
{
    static const conversation SPLIT = {
        CARDBOX_FORMAT_ANTHROPIC,
        {"{\"role\":\"user\",\"content\":\"q\"}",
         "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"x\","
         "\"input\":{}},"
         "{\"type\":\"tool_use\",\"id\":\"b\",\"name\":\"y\",\"input\":{}}]}",
         "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"a\","
         "\"content\":\"1\" }]}",
         "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"b\","
         "\"content\":\"2\"},"
         "{\"type\":\"text\",\"text\":\"and\"}]}",
         NULL}};

    (void)state;
    assert_context(&SPLIT, CARDBOX_FORMAT_ANTHROPIC,
                   "[{\"role\":\"user\",\"content\":\"q\"},"
                   "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"a\","
                   "\"name\":\"x\",\"input\":{}},"
                   "{\"type\":\"tool_use\",\"id\":\"b\",\"name\":\"y\",\"input\":{}}]},"
                   "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":"
                   "\"a\",\"content\":\"1\" },"
                   "{\"type\":\"tool_result\",\"tool_use_id\":\"b\",\"content\":\"2\"},{\"type\":"
                   "\"text\",\"text\":\"and\"}]}]");
    assert_says(
        &SPLIT, CARDBOX_FORMAT_ANTHROPIC,
        "\"repairs\":[{\"repair\":\"merged\",\"entry\":\"m3\",\"call\":\"b\",\"message\":2}]");
}

static void what_strict_servers_refuse_is_mended(void **state)
{
    static const conversation BROKEN = {
        CARDBOX_FORMAT_OPENAI,
        {"{\"role\":\"user\",\"content\":\"q\"}",
         "{\"role\":\"assistant\",\"content\":\"x\", \"tool_calls\" : [ ] }",
         "{\"role\":\"user\",\"content\":\"q\"}",
         "{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"a\",\"type\":\"function\",\"function\":"
         "{\"name\":"
         "\"x\",\"arguments\":\"{\\\"a\\\": "
         "\"}},{\"id\":\"b\",\"type\":\"function\",\"function\":{\"name\":"
         "\"x\",\"arguments\":\"[1]\"}},{\"id\":\"c\",\"type\":\"function\",\"function\":{\"name\":"
         "\"x\","
         "\"arguments\":\"\"}}]}",
         NULL}};

    (void)state;
    assert_context(
        &BROKEN, CARDBOX_FORMAT_OPENAI,
        "[{\"role\":\"user\",\"content\":\"q\"},{\"role\":\"assistant\",\"content\":\"x\" },"
        "{\"role\":\"user\",\"content\":\"q\"},"
        "{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"a\",\"type\":\"function\",\"function\":{"
        "\"name\":"
        "\"x\",\"arguments\":\"{\\\"arguments\\\":\\\"{\\\\\\\"a\\\\\\\": "
        "\\\"}\"}},{\"id\":\"b\",\"type\":"
        "\"function\",\"function\":{\"name\":\"x\",\"arguments\":\"{\\\"arguments\\\":\\\"[1]\\\"}"
        "\"}},{\"id\":"
        "\"c\",\"type\":\"function\",\"function\":{\"name\":\"x\",\"arguments\":\"{}\"}}]}]");
    assert_says(&BROKEN, CARDBOX_FORMAT_OPENAI,
                "\"repairs\":[{\"repair\":\"no_calls\",\"entry\":\"m1\",\"message\":1},"
                "{\"repair\":\"arguments\",\"entry\":\"m3\",\"call\":\"a\",\"message\":3},"
                "{\"repair\":\"arguments\",\"entry\":\"m3\",\"call\":\"b\",\"message\":3},"
                "{\"repair\":\"arguments\",\"entry\":\"m3\",\"call\":\"c\",\"message\":3}]");
    /* An open call is listed with the text that the model wrote. */
    assert_says(&BROKEN, CARDBOX_FORMAT_OPENAI,
                "{\"id\":\"a\",\"name\":\"x\",\"arguments\":\"{\\\"a\\\": \",\"entry\":\"m3\"}");
}

/* An answer of chat completions needs a content or a call. */
static void answers_without_content_get_one(void **state)
{
    static const conversation EMPTY = {
        CARDBOX_FORMAT_OPENAI,
        {"{\"role\":\"assistant\",\"content\": null,\"refusal\":\"no\"}",
         "{\"role\":\"assistant\"}", "{\"tool_calls\":[],\"content\":[],\"role\":\"assistant\"}",
         "{\"role\":\"assistant\",\"content\":null,\"audio\":{\"id\":\"a\"}}", NULL}};

    (void)state;
    assert_context(&EMPTY, CARDBOX_FORMAT_OPENAI,
                   "[{\"role\":\"assistant\",\"content\": \"\",\"refusal\":\"no\"},"
                   "{\"role\":\"assistant\",\"content\":\"\"},"
                   "{\"content\":\"\",\"role\":\"assistant\"},"
                   "{\"role\":\"assistant\",\"content\":null,\"audio\":{\"id\":\"a\"}}]");
    assert_says(&EMPTY, CARDBOX_FORMAT_OPENAI,
                "\"repairs\":[{\"repair\":\"no_content\",\"entry\":\"m0\",\"message\":0},"
                "{\"repair\":\"no_content\",\"entry\":\"m1\",\"message\":1},"
                "{\"repair\":\"no_content\",\"entry\":\"m2\",\"message\":2},"
                "{\"repair\":\"no_calls\",\"entry\":\"m2\",\"message\":2}]");
}

#define BLANK "{\"type\":\"text\",\"text\":\"\\n\"}"
#define WORD  "{\"type\":\"text\",\"text\":\"x\"}"
#define THINK "{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"s\"}"
#define USE   "{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{}}"
#define USED  "{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":\"\"}"

static const char *of_blocks(const char *role, const char *blocks)
{
    static char texts[4][1024];
    static size_t count;
    char *text = texts[count++ % 4];

    snprintf(text, sizeof(texts[0]), "{\"role\":\"%s\",\"content\":[%s]}", role, blocks);
    return text;
}

/* Anthropic's API refuses blank texts, and an answer that ends in thinking. */
static void blocks_that_are_refused_are_left_out(void **state)
{
    static const struct {
        const char *role, *given, *sent;
    } CASES[] = {
        {"assistant", BLANK "," BLANK "," THINK "," USE, THINK "," USE},
        {"assistant", THINK "," WORD "," THINK "," BLANK, THINK "," WORD},
        {"assistant", BLANK "," WORD "," BLANK "," THINK, WORD},
        {"assistant", WORD "," BLANK "," WORD, WORD "," WORD},
        {"assistant", BLANK "," WORD "," WORD, WORD "," WORD},
        {"user", BLANK "," WORD, WORD},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        conversation c = {CARDBOX_FORMAT_ANTHROPIC, {"{\"role\":\"user\",\"content\":\"q\"}"}};
        bool calls = strstr(CASES[i].given, "tool_use") != NULL;
        char expected[2048];

        c.messages[1] = of_blocks(CASES[i].role, CASES[i].given);
        c.messages[2] = calls ? of_blocks("user", USED "," BLANK) : NULL;
        snprintf(expected, sizeof(expected), "[%s,{\"role\":\"%s\",\"content\":[%s]}%s]",
                 c.messages[0], CASES[i].role, CASES[i].sent,
                 calls ? ",{\"role\":\"user\",\"content\":[" USED "]}" : "");
        assert_context(&c, CARDBOX_FORMAT_ANTHROPIC, expected);
    }
    conversation nothing = {CARDBOX_FORMAT_ANTHROPIC, {"{\"role\":\"user\",\"content\":\"q\"}"}};
    nothing.messages[1] = of_blocks("assistant", THINK "," BLANK);
    assert_context(&nothing, CARDBOX_FORMAT_ANTHROPIC, "[{\"role\":\"user\",\"content\":\"q\"}]");
    assert_says(&nothing, CARDBOX_FORMAT_ANTHROPIC, "\"empty_message\",\"entry\":\"m1\"");
    assert_says(&nothing, CARDBOX_FORMAT_ANTHROPIC, "\"next\":\"user\"");
}

/* A cut answer may end in reasoning. The results of its calls stay, and the turn has ended. */
static void reasoning_at_the_end_is_left_out(void **state)
{
#define CALL   "{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"f\",\"arguments\":\"{}\"}"
#define OUTPUT "{\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":\"r\"}"
#define ASK    "{\"role\":\"user\",\"content\":\"q\"}"
    static const conversation CUT = {CARDBOX_FORMAT_RESPONSES,
                                     {ASK, CALL, "{\"type\":\"reasoning\",\"id\":\"1\"}", OUTPUT,
                                      ASK, "{\"type\":\"reasoning\",\"id\":\"2\"}",
                                      "{\"type\":\"reasoning\",\"id\":\"3\"}", NULL}};

    (void)state;
    assert_context(&CUT, CARDBOX_FORMAT_RESPONSES, "[" ASK "," CALL "," OUTPUT "," ASK "]");
    assert_says(&CUT, CARDBOX_FORMAT_RESPONSES,
                "\"repairs\":[{\"repair\":\"reasoning\",\"entry\":\"m2\",\"message\":2},"
                "{\"repair\":\"reasoning\",\"entry\":\"m5\",\"message\":4},"
                "{\"repair\":\"reasoning\",\"entry\":\"m6\",\"message\":4}]");
    for (int format = 0; format <= CARDBOX_FORMAT_RESPONSES; format++)
        assert_says(&CUT, (cardbox_format)format, "\"next\":\"user\",\"open_calls\":[]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_format_is_byte_for_byte),
        cmocka_unit_test(openai_becomes_the_others),
        cmocka_unit_test(anthropic_becomes_the_others),
        cmocka_unit_test(responses_become_the_others),
        cmocka_unit_test(open_calls_stay_open),
        cmocka_unit_test(next_says_where_a_loop_stands),
        cmocka_unit_test(results_of_several_appends_are_merged),
        cmocka_unit_test(what_strict_servers_refuse_is_mended),
        cmocka_unit_test(answers_without_content_get_one),
        cmocka_unit_test(blocks_that_are_refused_are_left_out),
        cmocka_unit_test(reasoning_at_the_end_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
