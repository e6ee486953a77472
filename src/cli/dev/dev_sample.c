/*
 * dev_sample.c: imports the NDJSON that is compiled in.
 */
#include "cli/dev/dev_sample.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include "cli/dev/process.h"
#include "store/admin/checks.h"
#include "store/project/transfer.h"

static const char SAMPLE[] =
#include "sample.inc"
    ;

static const char SESSION[] =
#include "sample_session.inc"
    ;

static void report_refused(void *arg, uint64_t line, const char *reason)
{
    (void)arg;
    cli_error("line %llu of the sample: %s", (unsigned long long)line, reason);
}

/* The next line of the text. False at the end. */
static bool next_line(slice *rest, slice *line)
{
    const char *end = rest->len > 0 ? memchr(rest->ptr, '\n', rest->len) : NULL;

    if (rest->len == 0)
        return false;
    *line = (slice){rest->ptr, end ? (size_t)(end - rest->ptr) : rest->len};
    *rest = (slice){rest->ptr + line->len + (end != NULL), rest->len - line->len - (end != NULL)};
    return true;
}

static cardbox_status import_sample(cardbox *db, cardbox_error *err)
{
    store_import *in = NULL;
    slice rest = {SAMPLE, sizeof(SAMPLE) - 1}, line;
    cardbox_status status = import_new(&in, db, DEV_PROJECT, report_refused, NULL, err);

    while (status == CARDBOX_OK && next_line(&rest, &line))
        status = import_line(in, line, NULL, err);
    if (status == CARDBOX_OK)
        status = import_finish(in, err);
    import_free(in);
    return status;
}

static cardbox_status import_session(cardbox *db, cardbox_error *err)
{
    return cardbox_session_import_bytes(NULL, db, DEV_PROJECT, DEV_SESSION, false, SESSION,
                                        sizeof(SESSION) - 1, err);
}

/* Makes the file that marks a part as loaded. */
static bool make_mark(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

    if (fd >= 0)
        return close(fd) == 0;
    cli_error("cannot write %s: %s", path, strerror(errno));
    return false;
}

/* Loads a part of the sample once. False: an error was printed. */
static bool load_once(const char *dir, const char *mark_name, cli_call *call,
                      cardbox_status (*load)(cardbox *db, cardbox_error *err))
{
    char path[PATH_MAX];

    if (!path_join(path, dir, mark_name))
        return false;
    if (access(path, F_OK) == 0)
        return true;
    if (load(call->db, &call->err) == CARDBOX_OK)
        return make_mark(path);
    cli_failed(call);
    return false;
}

bool dev_sample_load(dev_sample *out, cli_call *call, const char *dir)
{
    *out = (dev_sample){.cards = 0};
    /* The session came later than the rest: there are folders that have only that. */
    if (!load_once(dir, "sample-loaded", call, import_sample) ||
        !load_once(dir, "sample-session-loaded", call, import_session))
        return false;
    if (admin_counts(call->db, DEV_PROJECT, &out->cards, &out->boxes, &out->sessions, &call->err) ==
        CARDBOX_OK)
        return true;
    cli_failed(call);
    return false;
}
