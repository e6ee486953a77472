/*
 * api_contexts.c: contexts of messages of APIs for tests/unit/test_api_random.py. Reads sessions:
 * "COUNT\n", then COUNT lines of entries, which have the member "author". For each format in turn,
 * answers a line with {"system", "messages", "report"} for the session, one for a box of cards with
 * the same messages, and one for this box as the author "alice" sees it.
 */
#include <stdio.h>
#include <stdlib.h>
#include "model/session/context.h"
#include "model/session/file.h"

static const cardbox_format FORMATS[] = {CARDBOX_FORMAT_OPENAI, CARDBOX_FORMAT_RESPONSES,
                                         CARDBOX_FORMAT_ANTHROPIC};

static void build_of_session(context *out, const session_file *file, cardbox_format format,
                             arena *memory)
{
    const session_entry **path = arena_zeros(memory, file->count + 1, sizeof(*path));

    for (size_t i = 0; path != NULL && i < file->count; i++)
        path[i] = &file->entries[i];
    if (path == NULL || !context_of_path(out, NULL, path, file->count, format, true, memory))
        exit(1);
}

static context_card card_of(const session_entry *entry, arena *memory)
{
    buf content = BUF_INIT(SIZE_MAX / 4), metadata = BUF_INIT(SIZE_MAX / 4);

    buf_text(&content, "{\"__type__\":\"MessageContent\",\"format\":");
    buf_slice(&content, scan_find(entry->value, "format").text);
    buf_text(&content, ", \"message\": ");
    buf_slice(&content, scan_find(entry->value, "message").text);
    buf_char(&content, '}');
    buf_text(&metadata, "{\"author_id\":");
    buf_slice(&metadata, scan_find(entry->value, "author").text);
    buf_char(&metadata, '}');
    return (context_card){.card_id = entry->id,
                          .content = arena_keep(memory, &content),
                          .metadata = arena_keep(memory, &metadata)};
}

static void build_of_box(context *out, const session_file *file, slice reader,
                         cardbox_format format, arena *memory)
{
    context_card *cards = arena_zeros(memory, file->count + 1, sizeof(*cards));

    for (size_t i = 0; cards != NULL && i < file->count; i++)
        cards[i] = card_of(&file->entries[i], memory);
    if (cards == NULL ||
        !context_of_cards(out, cards, file->count, reader,
                          &(context_request){.format = format, .repair = true}, memory))
        exit(1);
}

static void print_context(context *ctx)
{
    buf line = BUF_INIT(SIZE_MAX / 4);
    context_output out;

    if (!context_write(&out, ctx))
        exit(1);
    buf_char(&line, '{');
    if (out.system.len > 0)
        buf_member(&line, "system", buf_as_slice(&out.system));
    buf_member(&line, "messages", buf_as_slice(&out.messages));
    context_put_next(&line, ctx);
    buf_member(&line, "report", SLICE("{"));
    context_report(&line, ctx);
    buf_text(&line, "}}");
    puts(buf_str(&line));
    buf_free(&line);
    context_output_free(&out);
}

static void print_contexts(const session_file *file, cardbox_format format)
{
    arena memory = ARENA_INIT;
    context ctx;

    build_of_session(&ctx, file, format, &memory);
    print_context(&ctx);
    build_of_box(&ctx, file, SLICE(""), format, &memory);
    print_context(&ctx);
    build_of_box(&ctx, file, SLICE("alice"), format, &memory);
    print_context(&ctx);
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
            print_contexts(&file, FORMATS[i]);
        fflush(stdout);
        session_file_free(&file);
        buf_free(&text);
    }
    free(line);
    return 0;
}
