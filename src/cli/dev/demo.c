/*
 * demo.c: writes the demo of `cardbox dev`. Each line of demo.ndjson names an ability and
 * its input. The abilities are invoked in the order of the lines. openapi/README.md lists the
 * objects of the demo.
 *
 * The demo covers one hour, which ends when the demo is written. In an input, "@N" is the time N
 * seconds after the beginning of this hour. In the form "@Nms", the time is a number, in
 * milliseconds since 1970.
 */
#include "base/clock.h"
#include "base/errors.h"
#include "base/isotime.h"
#include "base/scan.h"
#include "cli/dev/dev_internal.h"

#define DEMO_SECONDS INT64_C(3600) /* duration of the demo */

#define STEP_BYTES_MAX (1 << 20) /* maximum size of an input */

#define MICROS INT64_C(1000000)

static const char STEPS[] =
#include "demo.inc"
    ;

/* Appends a text with its times, which begin with `"@`, replaced. */
static void put_with_times(buf *out, slice text, int64_t begin_micros)
{
    const char *at = text.ptr, *end = text.ptr + text.len, *found;

    while ((found = memmem(at, (size_t)(end - at), "\"@", 2)) != NULL) {
        char *after;
        int64_t micros = begin_micros + strtoll(found + 2, &after, 10) * MICROS;

        buf_slice(out, (slice){at, (size_t)(found - at)});
        if (strncmp(after, "ms", 2) == 0) {
            buf_int(out, micros / 1000);
            after += 2;
        } else {
            isotime_json_micros(out, micros);
        }
        at = after + 1; /* after the closing quote */
    }
    buf_slice(out, (slice){at, (size_t)(end - at)});
}

static cardbox_status run_step(cardbox *tx, const char *project, slice line, int64_t begin_micros,
                               cardbox_error *err)
{
    buf ability = BUF_INIT(CARDBOX_KEY_MAX), input = BUF_INIT(STEP_BYTES_MAX);
    cardbox_status status;
    char *output = NULL;
    scan_value step = scan_whole(line);

    scan_decode(&ability, scan_find(step, "ability").text);
    put_with_times(&input, scan_find(step, "input").text, begin_micros);
    if (!buf_ok(&ability) || !buf_ok(&input))
        status = error_buf(err, buf_ok(&ability) ? &input : &ability, "a step of the demo");
    else
        status = cardbox_invoke(&output, tx, project, buf_str(&ability), NULL, "demo",
                                buf_str(&input), err);
    cardbox_free(output);
    buf_free(&ability);
    buf_free(&input);
    return status;
}

cardbox_status demo_write(cardbox *db, const char *project, cardbox_error *err)
{
    int64_t begin_micros = clock_wall_micros() - DEMO_SECONDS * MICROS;
    cardbox *tx = NULL;
    cardbox_status status = cardbox_begin(&tx, db, err);

    for (const char *at = STEPS; status == CARDBOX_OK && *at != '\0'; at += strspn(at, "\n")) {
        slice line = {at, strcspn(at, "\n")};

        status = run_step(tx, project, line, begin_micros, err);
        at += line.len;
    }
    if (status == CARDBOX_OK)
        return cardbox_commit(tx, err);
    cardbox_rollback(tx);
    return status;
}
