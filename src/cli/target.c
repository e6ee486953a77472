/*
 * target.c: opens, writes and renames. Existing files that are not regular (a pipe, /dev/null) are
 * written directly.
 */
#include "cli/target.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/cli.h"
#include "cli/view/term.h"

cli_target target_of(const char *name)
{
    bool to_file = name != NULL && strcmp(name, "-") != 0;

    return (cli_target){.name = to_file ? name : NULL, .partial = BUF_INIT(FILENAME_MAX)};
}

bool target_open(cli_target *target)
{
    struct stat about;

    target->out = stdout;
    if (target->name == NULL)
        return true;
    if (stat(target->name, &about) != 0 || S_ISREG(about.st_mode))
        buf_printf(&target->partial, "%s.partial", target->name);
    target->out = fopen(target->partial.len > 0 ? buf_str(&target->partial) : target->name, "we");
    if (target->out != NULL)
        return true;
    cli_error("cannot write %s: %s", target->name, strerror(errno));
    return false;
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
