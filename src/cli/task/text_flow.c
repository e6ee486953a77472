/*
 * text_flow.c: prints text as it arrives. On a terminal, a word that does not fit begins the next
 * line.
 */
#include "cli/task/text_flow.h"

enum { LEAST_WIDTH = 20 };

text_flow text_flow_begin(int margin)
{
    /* The last column stays free: terminals differ in the position of the cursor after it. */
    int width = term_width() - 1;

    return (text_flow){.width = width < margin + LEAST_WIDTH ? INT_MAX : width,
                       .margin = margin,
                       .column = margin};
}

static void put_word(text_flow *f, slice word)
{
    int columns = term_columns(word);

    if (f->column + columns > f->width && f->column > f->margin)
        text_flow_end(f);
    if (f->is_new_line)
        printf("%*s", f->margin, "");
    f->is_new_line = false;
    term_put_text(stdout, word);
    f->column += columns;
}

void text_flow_add(text_flow *f, slice text)
{
    while (text.len > 0) {
        size_t length = 0;

        while (length < text.len && strchr(" \t\r\n", text.ptr[length]) == NULL)
            length++;
        if (length > 0) {
            put_word(f, (slice){text.ptr, length});
        } else if (*text.ptr == '\n' || (*text.ptr != '\r' && f->column >= f->width)) {
            text_flow_end(f);
            length = 1;
        } else {
            length = 1;
            if (*text.ptr != '\r')
                put_word(f, SLICE(" "));
        }
        text = (slice){text.ptr + length, text.len - length};
    }
}

void text_flow_end(text_flow *f)
{
    putchar('\n');
    f->is_new_line = true;
    f->column = f->margin;
}
