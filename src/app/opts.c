/*
 * opts.c: reads options from the command line and the environment by a table, and prints the table
 * as help. Only --help and -h are not in the table. Errors are returned as text, not printed.
 */
#include "app/opts.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include "base/buf.h"
#include "app/edit_distance.h"
#include "base/text.h"
#include "app/word_wrap.h"

enum { SPECS_MAX = 128 };

typedef struct parser {
    const opt_spec *specs;
    char *target;
    char *error;
    size_t error_size;
    bool given[SPECS_MAX];
} parser;

__attribute__((format(printf, 2, 3))) static bool fail(parser *p, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (p->error_size > 0)
        text_format(p->error, p->error_size, format, args);
    va_end(args);
    return false;
}

static void *field(parser *p, const opt_spec *spec)
{
    return p->target + spec->offset;
}

/* --- values --- */

static bool set_flag(parser *p, const opt_spec *spec, const char *source, const char *text)
{
    static const char *const words[] = {"0", "1", "no", "yes", "false", "true", "off", "on"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(text, words[i]) == 0) {
            *(bool *)field(p, spec) = i % 2 == 1;
            return true;
        }
    }
    return fail(p, "%s must be 1 or 0, yes or no, true or false, not \"%s\"", source, text);
}

static bool read_number(const char *text, bool with_suffix, long *out)
{
    static const char letters[] = "kmg";
    char *rest;

    if (!isdigit((unsigned char)text[*text == '-']))
        return false;
    errno = 0;
    *out = strtol(text, &rest, 10);
    if (errno != 0 || *rest == '\0')
        return errno == 0;
    const char *letter = strchr(letters, tolower((unsigned char)*rest));
    return with_suffix && letter != NULL && rest[1] == '\0' &&
           !__builtin_mul_overflow(*out, 1L << (10 * (letter - letters + 1)), out);
}

static bool set_number(parser *p, const opt_spec *spec, const char *source, const char *text)
{
    bool size = spec->kind == OPT_SIZE;
    long number;

    if (read_number(text, size, &number) && number >= spec->min && number <= spec->max) {
        *(long *)field(p, spec) = number;
        return true;
    }
    return fail(p, "%s must be a %s from %ld to %ld, not \"%s\"", source,
                size ? "number of bytes (with K, M or G)" : "number", spec->min, spec->max, text);
}

static bool set_choice(parser *p, const opt_spec *spec, const char *source, const char *text)
{
    buf words = BUF_INIT(1024);
    const char *at = spec->value;

    for (int i = 0; *at != '\0'; i++) {
        slice word = {at, strcspn(at, "|")};

        if (slice_equal(word, slice_of(text))) {
            *(int *)field(p, spec) = i;
            buf_free(&words);
            return true;
        }
        buf_slice(&words, word);
        at += word.len + (at[word.len] == '|');
        buf_text(&words, *at == '\0' ? "" : strchr(at, '|') != NULL ? ", " : " or ");
    }
    fail(p, "%s must be %s, not \"%s\"", source, buf_str(&words), text);
    buf_free(&words);
    return false;
}

static bool add_to_list(parser *p, const opt_spec *spec, const char *source, const char *text)
{
    opt_list *list = field(p, spec);

    if (list->count == OPT_LIST_MAX)
        return fail(p, "%s can be given at most %d times", source, OPT_LIST_MAX);
    list->at[list->count++] = text;
    return true;
}

/* `source` is the name of the option or variable, for messages. */
static bool set_value(parser *p, const opt_spec *spec, const char *source, const char *text)
{
    switch (spec->kind) {
    case OPT_FLAG:
        return set_flag(p, spec, source, text);
    case OPT_TEXT:
        *(const char **)field(p, spec) = text;
        return true;
    case OPT_INT:
    case OPT_SIZE:
        return set_number(p, spec, source, text);
    case OPT_CHOICE:
        return set_choice(p, spec, source, text);
    case OPT_LIST:
        return add_to_list(p, spec, source, text);
    case OPT_END:
        break;
    }
    return fail(p, "%s has no kind in the table of options", source);
}

/* --- the command line --- */

/* `name` includes the hyphens. */
static const opt_spec *find_spec(const parser *p, slice name)
{
    if (name.len < 2 || memcmp(name.ptr, "--", 2) != 0)
        return NULL;
    name = (slice){name.ptr + 2, name.len - 2};
    for (const opt_spec *spec = p->specs; spec->kind != OPT_END; spec++) {
        if (slice_equal(slice_of(spec->name), name))
            return spec;
    }
    return NULL;
}

static bool fail_unknown(parser *p, slice name)
{
    size_t hyphens = name.len > 1 && name.ptr[1] == '-' ? 2 : 1;
    slice word = {name.ptr + hyphens, name.len - hyphens};
    const opt_spec *meant = NULL;
    int nearest = EDIT_DISTANCE_NONE;

    for (const opt_spec *spec = p->specs; spec->kind != OPT_END; spec++) {
        int edits = edit_distance(word, slice_of(spec->name));

        if (edits >= nearest)
            continue;
        nearest = edits;
        meant = spec;
    }
    if (meant == NULL)
        return fail(p, "unknown option %.*s", (int)name.len, name.ptr);
    return fail(p, "unknown option %.*s (did you mean --%s?)", (int)name.len, name.ptr,
                meant->name);
}

/* Sets *at to the index of the option's last argument. */
static bool read_option(parser *p, int *at, int argc, char **argv)
{
    const char *option = argv[*at], *equals = strchr(option, '=');
    slice name = {option, equals ? (size_t)(equals - option) : strlen(option)};
    const opt_spec *spec = find_spec(p, name);
    char source[64];

    if (spec == NULL)
        return fail_unknown(p, name);
    snprintf(source, sizeof(source), "--%s", spec->name);
    p->given[spec - p->specs] = true;
    if (spec->kind == OPT_FLAG) {
        if (equals != NULL)
            return fail(p, "option %s accepts no value", source);
        *(bool *)field(p, spec) = true;
        return true;
    }
    if (equals != NULL)
        return set_value(p, spec, source, equals + 1);
    if (*at + 1 >= argc)
        return fail(p, "option %s needs a value, %s", source, spec->value ? spec->value : "VALUE");
    return set_value(p, spec, source, argv[++*at]);
}

static int read_arguments(parser *p, int *argc, char **argv)
{
    int kept = 0, at = 0;

    for (; at < *argc; at++) {
        const char *argument = argv[at];

        if (argument[0] != '-' || argument[1] == '\0') {
            argv[kept++] = argv[at];
            continue;
        }
        if (strcmp(argument, "--") == 0) {
            at++;
            break;
        }
        if (strcmp(argument, "-h") == 0 || strcmp(argument, "--help") == 0)
            return 1;
        if (!read_option(p, &at, *argc, argv))
            return -1;
    }
    while (at < *argc)
        argv[kept++] = argv[at++];
    *argc = kept;
    return 0;
}

static bool read_environment(parser *p)
{
    for (const opt_spec *spec = p->specs; spec->kind != OPT_END; spec++) {
        const char *text = spec->env ? getenv(spec->env) : NULL;

        if (text == NULL || *text == '\0' || p->given[spec - p->specs])
            continue;
        if (!set_value(p, spec, spec->env, text))
            return false;
    }
    return true;
}

int opts_parse(const opt_spec *specs, void *target, int *argc, char **argv, char *error,
               size_t size)
{
    parser p = {.specs = specs, .target = target, .error = error, .error_size = size};
    int result = read_arguments(&p, argc, argv);

    if (result != 0)
        return result;
    return read_environment(&p) ? 0 : -1;
}

int opts_parse_alone(const opt_spec *specs, void *target, int *argc, char **argv, char *error,
                     size_t size)
{
    int result = opts_parse(specs, target, argc, argv, error, size);

    if (result == 0 && *argc > 1) {
        snprintf(error, size, "unexpected argument \"%.*s\"",
                 (int)slice_cut(slice_of(argv[1]), 200), argv[1]);
        result = -1;
    }
    return result;
}

/* --- help --- */

/* GAP: spaces before and after an option. BELOW: column of the descriptions on a narrow terminal.
 * LABEL_MAX: an option that is wider does not move the column of the descriptions. */
enum { GAP = 2, BELOW = 16, LABEL_MAX = 30 };

static int label_width(const opt_spec *spec)
{
    size_t width = strlen("--") + strlen(spec->name);

    return (int)(spec->value ? width + 1 + strlen(spec->value) : width);
}

static void print_option(FILE *out, const opt_spec *spec, int column)
{
    buf text = BUF_INIT(4096);
    int at = fprintf(out, "  --%s%s%s", spec->name, spec->value ? " " : "",
                     spec->value ? spec->value : "");

    buf_text(&text, spec->help);
    if (spec->env != NULL)
        buf_printf(&text, " [$%s]", spec->env);
    if (at + GAP > column)
        fputc('\n', out);
    fprintf(out, "%*s", at + GAP > column ? column : column - at, "");
    word_wrap_text(out, buf_str(&text), column, column);
    buf_free(&text);
}

void opts_print(FILE *out, const opt_spec *specs)
{
    static const char help_label[] = "-h, --help";
    int column = (int)strlen(help_label);

    for (const opt_spec *spec = specs; spec->kind != OPT_END; spec++)
        if (label_width(spec) > column && label_width(spec) <= LABEL_MAX)
            column = label_width(spec);
    column += 2 * GAP;
    if (column > word_wrap_width(out) / 2)
        column = BELOW;
    for (const opt_spec *spec = specs; spec->kind != OPT_END; spec++)
        print_option(out, spec, column);
    fprintf(out, "  %-*s  print this\n", column - 2 * GAP, help_label);
}
