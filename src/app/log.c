/*
 * log.c: writes one line for each event on stderr.
 */
#include "app/log.h"
#include "base/clock.h"
#include "base/isotime.h"
#include "base/text.h"
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

enum { LINE_SIZE = 4096 };

int log_threshold = LOG_LEVEL_INFO;

const char *const log_level_names[LOG_LEVELS] = {"error", "warn", "info", "debug"};

/* Writes with one write(2) if possible, so that lines of several threads do not mix. */
static void write_line(const char *line, size_t len)
{
    while (len > 0) {
        ssize_t some = write(STDERR_FILENO, line, len);

        if (some < 0 && errno == EINTR)
            continue;
        if (some <= 0)
            return;
        line += some;
        len -= (size_t)some;
    }
}

void log_write(log_level level, const char *event, const char *format, ...)
{
    char line[LINE_SIZE], now[ISOTIME_SIZE];
    const size_t space = sizeof(line) - 1; /* the last byte is for the newline */
    int cause = errno;                     /* the caller may still need errno */
    va_list args;

    isotime_format_micros(now, clock_wall_micros());
    snprintf(line, space, "ts=%s level=%s event=%s ", now,
             log_level_names[(unsigned)level % LOG_LEVELS], event);
    size_t len = strlen(line);
    va_start(args, format);
    text_format(line + len, space - len, format, args);
    va_end(args);
    len += strlen(line + len);
    if (line[len - 1] == ' ')
        len--;
    text_clean(line); /* a value that is not quoted must not begin a second line */
    line[len++] = '\n';
    write_line(line, len);
    errno = cause;
}

static size_t quote_one(char piece[8], slice text)
{
    size_t step = slice_utf8_step(text);
    unsigned char byte = (unsigned char)text.ptr[0];

    if (step == 0 || byte < 0x20 || byte == 0x7F) {
        snprintf(piece, 8, "\\x%02x", byte);
        return 1;
    }
    snprintf(piece, 8, "%s%.*s", byte == '"' || byte == '\\' ? "\\" : "", (int)step, text.ptr);
    return step;
}

const char *log_quote(char out[LOG_QUOTE_SIZE], const char *text, unsigned long len)
{
    static const char cut[] = "...\"";
    size_t at = 0, used = 0;

    out[used++] = '"';
    while (text != NULL && at < len) {
        char piece[8];
        size_t step = quote_one(piece, (slice){text + at, len - at});

        if (used + strlen(piece) + sizeof(cut) > LOG_QUOTE_SIZE) {
            memcpy(out + used, cut, sizeof(cut));
            return out;
        }
        memcpy(out + used, piece, strlen(piece));
        used += strlen(piece);
        at += step;
    }
    memcpy(out + used, "\"", 2);
    return out;
}
