/*
 * source.c: opens and reads the input of a command, and reports errors.
 */
#include "cli/source.h"

#include <errno.h>
#include <sys/stat.h>
#include "cli/cli.h"

bool source_open(cli_source *out, const char *argument)
{
    bool from_stdin = argument == NULL || strcmp(argument, "-") == 0;
    struct stat about;

    *out = (cli_source){.name = from_stdin ? "the standard input" : argument,
                        .in = from_stdin ? stdin : fopen(argument, "re")};
    if (out->in == NULL) {
        cli_error("cannot open %s: %s", out->name, strerror(errno));
        return false;
    }
    out->is_file = fstat(fileno(out->in), &about) == 0 && S_ISREG(about.st_mode);
    out->size = out->is_file ? (uint64_t)about.st_size : 0;
    return true;
}

void source_close(cli_source *source)
{
    if (source->in != NULL && source->in != stdin)
        fclose(source->in);
}

bool source_read(buf *out, const char *argument)
{
    static char chunk[65536];
    cli_source source;
    size_t count;

    if (!source_open(&source, argument))
        return false;
    while (buf_ok(out) && (count = fread(chunk, 1, sizeof(chunk), source.in)) > 0)
        buf_add(out, chunk, count);
    bool failed = ferror(source.in) != 0;
    if (failed)
        cli_error("cannot read %s: %s", source.name, strerror(errno));
    else if (out->failure == BUF_TOO_LARGE)
        cli_error("%s has over %zu bytes", source.name, out->max);
    else if (!buf_ok(out))
        cli_nomem();
    source_close(&source);
    return !failed && buf_ok(out);
}
