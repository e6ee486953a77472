/*
 * log.h: writes one line for each event on stderr, as key=value pairs (logfmt). Only the programs
 * use it: the library logs nothing. The macros log_error to log_debug evaluate their arguments only
 * if the level is logged.
 */
#ifndef APP_LOG_H
#define APP_LOG_H

typedef enum log_level {
    LOG_LEVEL_ERROR = 0,
    LOG_LEVEL_WARN,
    LOG_LEVEL_INFO,
    LOG_LEVEL_DEBUG,
    LOG_LEVELS
} log_level;

/* The names of the levels, for an option of the kind OPT_CHOICE. */
#define LOG_LEVEL_WORDS "error|warn|info|debug"

extern const char *const log_level_names[LOG_LEVELS]; /* indexed by log_level */

extern int log_threshold; /* the highest level that is logged; set before threads start */

/* Writes a line with the pairs ts, level and event, and then the pairs of `format`. Example:
 * log_info("listening", "addr=%s", text). The caller quotes untrusted values with log_quote. */
void log_write(log_level level, const char *event, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Writes a value in double quotes, with control characters, quotes, backslashes and bytes that are
 * not UTF-8 escaped. A value that is too long is cut and ends in "...". */
#define LOG_QUOTE_SIZE 256
const char *log_quote(char out[LOG_QUOTE_SIZE], const char *text, unsigned long len);

/* Quotes a slice with log_quote, in memory of the calling block. Evaluates `text` twice. */
#define log_quoted(text) log_quote((char[LOG_QUOTE_SIZE]){""}, (text).ptr, (text).len)

#define log_at(level, ...)                                                                         \
    do {                                                                                           \
        if ((int)(level) <= log_threshold)                                                         \
            log_write((level), __VA_ARGS__);                                                       \
    } while (0)
#define log_error(...) log_at(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warn(...)  log_at(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_info(...)  log_at(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) log_at(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif
