/*
 * api_contexts.c: contexts of messages of APIs for tests/unit/test_api_random.py. Reads sessions:
 * "COUNT\n", then COUNT lines of entries. For each format in turn, answers a line with
 * {"system", "messages", "report"}.
 */
#include <stdio.h>
#include <stdlib.h>
#include "model/session/context.h"
#include "model/session/file.h"

static const cardbox_format FORMATS[] = {CARDBOX_FORMAT_OPENAI, CARDBOX_FORMAT_RESPONSES,
                                         CARDBOX_FORMAT_ANTHROPIC};

static void print_context(const session_file *file, cardbox_format format)
{
    arena memory = ARENA_INIT;
    buf line = BUF_INIT(SIZE_MAX / 4);
    const session_entry **path = arena_zeros(&memory, file->count + 1, sizeof(*path));
    context_output out;
    context ctx;

    for (size_t i = 0; path != NULL && i < file->count; i++)
        path[i] = &file->entries[i];
    if (path == NULL || !context_of_path(&ctx, NULL, path, file->count, format, true, &memory) ||
        !context_write(&out, &ctx))
        exit(1);
    buf_char(&line, '{');
    if (out.system.len > 0)
        buf_member(&line, "system", buf_as_slice(&out.system));
    buf_member(&line, "messages", buf_as_slice(&out.messages));
    context_put_next(&line, &ctx);
    buf_member(&line, "report", SLICE("{"));
    context_report(&line, &ctx);
    buf_text(&line, "}}");
    puts(buf_str(&line));
    buf_free(&line);
    context_output_free(&out);
    arena_reset(&memory);
}

int main(void)
{
    char *line = NULL;
    size_t size = 0;

    while (getline(&line, &size, stdin) > 0) {
        buf text = BUF_INIT(SIZE_MAX / 4);
        session_file file;

        for (long count = strtol(line, NULL, 10); count > 0; count--) {
            ssize_t len = getline(&line, &size, stdin);
            if (len <= 0)
                exit(2);
            buf_add(&text, line, (size_t)len);
        }
        if (!session_file_read(&file, buf_as_slice(&text)))
            exit(3);
        for (size_t i = 0; i < sizeof(FORMATS) / sizeof(FORMATS[0]); i++)
            print_context(&file, FORMATS[i]);
        fflush(stdout);
        session_file_free(&file);
        buf_free(&text);
    }
    free(line);
    return 0;
}
