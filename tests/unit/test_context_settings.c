/*
 * test_context_settings.c: the settings of requests in contexts: the system text and the tools in
 * the form of each API, and what the report says is left out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "unit/context_check.h"

#define SCHEMA    "{\"type\":\"object\"}"
#define NO_SCHEMA "{\"type\":\"object\",\"properties\":{}}"

/* Returns the system text, the messages, and the members of settings and report, with '\n' between.
 * `settings` are members of the entry with the settings. */
static char *written(const char *settings, cardbox_format format)
{
    buf text = BUF_INIT(1u << 16), all = BUF_INIT(1u << 16);
    session_file file;
    arena memory = ARENA_INIT;
    context_output out;

    buf_printf(&text, "{\"id\":\"s\",\"type\":\"settings\",%s}\n", settings);
    buf_text(&text, "{\"id\":\"m\",\"parentId\":\"s\",\"type\":\"message\",\"format\":\"openai\","
                    "\"message\":{\"role\":\"user\",\"content\":\"hi\"}}\n");
    assert_true(session_file_read(&file, buf_as_slice(&text)));
    context ctx = build(&file, file.tree.leaf, format, true, &memory);
    assert_true(context_write(&out, &ctx));
    buf_slice(&all, buf_as_slice(&out.system));
    buf_slice(&all, buf_as_slice(&out.messages));
    buf_text(&all, "\n{");
    context_put_settings(&all, &ctx);
    context_report(&all, &ctx);
    context_output_free(&out);
    arena_reset(&memory);
    session_file_free(&file);
    buf_free(&text);
    return buf_take(&all);
}

static void assert_has(const char *settings, cardbox_format format, const char *part)
{
    char *all = written(settings, format);

    if (strstr(all, part) == NULL)
        fail_msg("no %s in %s", part, all);
    free(all);
}

static void system_text_of_each_api(void **state)
{
    (void)state;
    const char *text = "\"format\":\"openai\",\"system\":\"be \\\"kind\\\"\"";
    const char *blocks = "\"format\":\"anthropic\",\"system\":[ {\"type\":\"text\",\"text\":\"a\","
                         "\"cache_control\":{\"type\":\"ephemeral\"}}, "
                         "{\"type\":\"text\",\"text\":\"b\"}]";

    assert_has(text, CARDBOX_FORMAT_OPENAI,
               "[{\"role\":\"system\",\"content\":\"be \\\"kind\\\"\"},{\"role\":\"user\"");
    assert_has(text, CARDBOX_FORMAT_RESPONSES, "\"be \\\"kind\\\"\"[{\"type\":\"message\"");
    assert_has(text, CARDBOX_FORMAT_ANTHROPIC, "\"be \\\"kind\\\"\"[{\"role\":\"user\"");
    assert_has(text, CARDBOX_FORMAT_MESSAGES,
               "[{\"type\":\"text\",\"text\":\"be \\\"kind\\\"\"}][{\"role\":\"user\"");
    assert_has(blocks, CARDBOX_FORMAT_ANTHROPIC,
               "[ {\"type\":\"text\",\"text\":\"a\",\"cache_control\":{\"type\":\"ephemeral\"}}, ");
    assert_has(blocks, CARDBOX_FORMAT_ANTHROPIC, "\"left_out\":[]");
    assert_has(blocks, CARDBOX_FORMAT_OPENAI, "\"content\":\"a\\n\\nb\"");
    assert_has(blocks, CARDBOX_FORMAT_OPENAI,
               "\"left_out\":[{\"entry\":\"s\",\"what\":\"cache_control\"}]");
    assert_has(blocks, CARDBOX_FORMAT_RESPONSES, "\"a\\n\\nb\"[");
    assert_has("\"system\":\" \"", CARDBOX_FORMAT_ANTHROPIC,
               "\"repairs\":[{\"repair\":\"empty_message\",\"entry\":\"s\"");
    assert_has("\"system\":\" \"", CARDBOX_FORMAT_RESPONSES, "[{\"type\":\"message\"");
    assert_has("\"system\":7", CARDBOX_FORMAT_OPENAI, "[{\"role\":\"user\"");
}

static void tools_of_each_api(void **state)
{
    (void)state;
    const char *openai = "\"format\":\"openai\",\"tools\":[{\"type\":\"function\",\"function\":{"
                         "\"name\":\"f\",\"strict\":true,\"parameters\":" SCHEMA "}},"
                         "{\"type\":\"function\",\"function\":{\"name\":\"g\"}}]";
    const char *responses = "\"format\":\"responses\",\"tools\":[ {\"type\":\"function\","
                            "\"name\":\"f\",\"description\":\"d\",\"strict\":null,"
                            "\"parameters\":" SCHEMA "}, {\"type\":\"web_search\"}]";
    const char *anthropic = "\"format\":\"anthropic\",\"tools\":[{\"name\":\"f\",\"input_schema\":"
                            "" SCHEMA ",\"cache_control\":{\"type\":\"ephemeral\"}}],"
                            "\"parameters\":{\"max_tokens\": 5}";

    assert_has(openai, CARDBOX_FORMAT_ANTHROPIC,
               "\"tools\":[{\"name\":\"f\",\"input_schema\":" SCHEMA ",\"strict\":true},"
               "{\"name\":\"g\",\"input_schema\":" NO_SCHEMA "}]");
    assert_has(openai, CARDBOX_FORMAT_RESPONSES,
               "\"tools\":[{\"type\":\"function\",\"name\":\"f\",\"parameters\":" SCHEMA
               ",\"strict\":true},{\"type\":\"function\",\"name\":\"g\",\"parameters\":" NO_SCHEMA
               ",\"strict\":false}]");
    assert_has(responses, CARDBOX_FORMAT_OPENAI,
               "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"description\":"
               "\"d\",\"parameters\":" SCHEMA "}}]");
    assert_has(responses, CARDBOX_FORMAT_OPENAI,
               "\"left_out\":[{\"entry\":\"s\",\"what\":\"web_search\"}]");
    assert_has(responses, CARDBOX_FORMAT_RESPONSES, "}, {\"type\":\"web_search\"}]");
    assert_has(anthropic, CARDBOX_FORMAT_OPENAI, "{\"entry\":\"s\",\"what\":\"cache_control\"}");
    assert_has(anthropic, CARDBOX_FORMAT_OPENAI, "\"parameters\":{\"max_tokens\": 5}");
    assert_has(anthropic, CARDBOX_FORMAT_ENTRIES, "\"tools\":[{\"name\":\"f\"");
}

/* Tools of one list may have several shapes, since a setting that is not given keeps its value. */
static void shape_and_not_format_decides(void **state)
{
    (void)state;
    const char *mixed = "\"format\":\"anthropic\",\"tools\":[{\"type\":\"function\",\"function\":{"
                        "\"name\":\"f\"}},{\"type\":\"bash_20250124\",\"name\":\"bash\"}]";

    assert_has(mixed, CARDBOX_FORMAT_ANTHROPIC,
               "\"tools\":[{\"name\":\"f\",\"input_schema\":" NO_SCHEMA
               "},{\"type\":\"bash_20250124\",\"name\":\"bash\"}]");
    assert_has(mixed, CARDBOX_FORMAT_OPENAI,
               "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}]");
    assert_has("\"tools\":[{},7]", CARDBOX_FORMAT_OPENAI, "\"what\":\"tool\"");
    assert_has("\"tools\":{}", CARDBOX_FORMAT_OPENAI, "\n{\"messages_before\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(system_text_of_each_api),
        cmocka_unit_test(tools_of_each_api),
        cmocka_unit_test(shape_and_not_format_decides),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
