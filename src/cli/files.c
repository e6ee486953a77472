/*
 * files.c: opens, reads, writes and renames the files of commands, and prints errors.
 */
#include "cli/files.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/cli.h"
#include "cli/view/term.h"

bool source_open(cli_source *out, const char *argument)
{
    bool from_stdin = argument == NULL || strcmp(argument, "-") == 0;
    struct stat about;

    *out = (cli_source){.name = from_stdin ? "the standard input" : argument,
                        .in = from_stdin ? stdin : fopen(argument, "re")};
    if (out->in == NULL)
        return cli_error_and(false, "cannot open %s: %s", out->name, strerror(errno));
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
    else
        cli_check_memory(buf_ok(out));
    source_close(&source);
    return !failed && buf_ok(out);
}

/* --- output --- */

bool target_open(cli_target *target, const char *name)
{
    struct stat about;

    *target = (cli_target){.partial = BUF_INIT(FILENAME_MAX), .out = stdout};
    if (name == NULL || strcmp(name, "-") == 0)
        return true;
    target->name = name;
    if (stat(name, &about) != 0 || S_ISREG(about.st_mode))
        buf_printf(&target->partial, "%s.partial", name);
    target->out = fopen(target->partial.len > 0 ? buf_str(&target->partial) : name, "we");
    if (target->out == NULL)
        cli_error("cannot write %s: %s", name, strerror(errno));
    return target->out != NULL;
}

bool target_write(cli_target *target, slice bytes)
{
    if (target->out == stdout && isatty(STDOUT_FILENO)) {
        term_put_json(bytes);
        return true;
    }
    if (fwrite(bytes.ptr, 1, bytes.len, target->out) == bytes.len)
        return true;
    target->failure = errno;
    return false;
}

bool target_close(cli_target *target, bool complete)
{
    bool is_file = target->out != NULL && target->out != stdout;
    bool is_partial = is_file && target->partial.len > 0;

    if (is_file && fclose(target->out) != 0 && target->failure == 0)
        target->failure = errno;
    complete = complete && target->failure == 0;
    if (is_partial && complete && rename(buf_str(&target->partial), target->name) != 0) {
        target->failure = errno;
        complete = false;
    }
    if (is_partial && !complete)
        remove(buf_str(&target->partial));
    if (target->failure != 0 && target->name != NULL)
        cli_error("cannot write %s: %s", target->name, strerror(target->failure));
    buf_free(&target->partial);
    return complete;
}
