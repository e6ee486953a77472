/*
 * listing.c: prints lists.
 */
#include "cli/view/listing.h"

#include "base/text.h"
#include "app/word_wrap.h"

/* Memory that is kept between lines. */
#define LINE_KEPT ((size_t)1 << 20)

bool listing_objects(const listing *l, const void *of, size_t count)
{
    buf line = BUF_INIT(SIZE_MAX / 4);
    bool ok = true;

    for (size_t i = 0; ok && i < count; i++) {
        buf_reset(&line, LINE_KEPT);
        l->add_object(&line, of, i);
        buf_char(&line, '\n');
        ok = buf_ok(&line);
        term_put_json(buf_as_slice(&line));
    }
    buf_free(&line);
    return ok;
}

static bool print_rows(const listing *l, const void *of, size_t count)
{
    size_t width = 0;
    table rows;

    while (width < TABLE_COLUMNS_MAX && l->columns[width].title != NULL)
        width++;
    table_init(&rows, l->columns, width);
    for (size_t i = 0; i < count; i++)
        l->add_row(&rows, of, i);
    return table_finish(&rows, l->indent);
}

/* Prints the option of the next page on stderr. If the terminal is too narrow, the option gets a
 * line of its own, to be copied. */
static void note_cursor(const char *cursor)
{
    static const char ABOVE[] = "further ones:";
    int columns = word_wrap_terminal(stderr);
    size_t width = sizeof(ABOVE) + strlen("--cursor ") + strlen(cursor);

    if (columns == 0 || width <= (size_t)columns) {
        cli_note("%s --cursor %s", ABOVE, cursor);
    } else {
        cli_note("%s", ABOVE);
        cli_note("--cursor %s", cursor);
    }
}

cli_exit listing_print(const listing *l, const void *of, size_t count, const char *cursor,
                       bool json, const char *none, ...)
{
    char text[CARDBOX_MESSAGE_SIZE];
    va_list args;

    if (!(json ? listing_objects : print_rows)(l, of, count))
        return cli_nomem();
    if (count == 0 && !json) {
        va_start(args, none);
        text_format(text, sizeof(text), none, args);
        va_end(args);
        cli_note("%s", text);
    }
    if (cursor != NULL)
        note_cursor(cursor);
    return CLI_DONE;
}
