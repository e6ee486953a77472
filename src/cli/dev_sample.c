/*
 * dev_sample.c: imports the NDJSON that is compiled in.
 */
#include "cli/dev_sample.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include "base/scan.h"
#include "cli/cli.h"
#include "cli/process.h"
#include "store/operate.h"
#include "store/transfer/transfer.h"

static const char SAMPLE[] =
#include "sample.inc"
    ;

static void report_refused(void *arg, uint64_t line, const char *reason)
{
    (void)arg;
    cli_error("line %llu of the sample: %s", (unsigned long long)line, reason);
}

/* The next line of the text. False at the end. */
static bool next_line(view *rest, view *line)
{
    const char *end = rest->len > 0 ? memchr(rest->ptr, '\n', rest->len) : NULL;

    if (rest->len == 0)
        return false;
    *line = (view){rest->ptr, end ? (size_t)(end - rest->ptr) : rest->len};
    *rest = (view){rest->ptr + line->len + (end != NULL), rest->len - line->len - (end != NULL)};
    return true;
}

static cardbox_status import_sample(cardbox *db, cardbox_error *err)
{
    store_import *in = NULL;
    view rest = {SAMPLE, sizeof(SAMPLE) - 1}, line;
    cardbox_status status = import_new(&in, db, DEV_PROJECT, report_refused, NULL, err);

    while (status == CARDBOX_OK && next_line(&rest, &line))
        status = import_line(in, line, NULL, err);
    if (status == CARDBOX_OK)
        status = import_finish(in, err);
    import_free(in);
    return status;
}

static void find_first_box(char out[CARDBOX_UUID_SIZE])
{
    view rest = {SAMPLE, sizeof(SAMPLE) - 1}, line;
    scan_value row, id;

    while (next_line(&rest, &line)) {
        if (!scan_check(line, CARDBOX_JSON_DEPTH_MAX, &row, NULL, NULL))
            continue;
        id = scan_find(row, "box_id");
        if (id.kind != SCAN_STRING || id.text.len != CARDBOX_UUID_SIZE + 1)
            continue;
        memcpy(out, id.text.ptr + 1, CARDBOX_UUID_SIZE - 1);
        out[CARDBOX_UUID_SIZE - 1] = '\0';
        return;
    }
}

/* A file that says that it was loaded. */
static bool mark(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

    if (fd >= 0)
        return close(fd) == 0;
    cli_error("cannot write %s: %s", path, strerror(errno));
    return false;
}

bool dev_sample_load(dev_sample *out, cardbox *db, const char *dir)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    char path[PATH_MAX];
    cardbox_status status = CARDBOX_OK;

    *out = (dev_sample){0, 0, ""};
    find_first_box(out->first_box);
    if (!path_join(path, dir, "sample-loaded"))
        return false;
    if (access(path, F_OK) != 0) {
        status = import_sample(db, &err);
        if (status == CARDBOX_OK && !mark(path))
            return false;
    }
    if (status == CARDBOX_OK)
        status = operate_counts(db, DEV_PROJECT, &out->cards, &out->boxes, &err);
    if (status != CARDBOX_OK)
        cli_failed(&err);
    return status == CARDBOX_OK;
}
