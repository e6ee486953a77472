/*
 * ability_call.c: calls the URL of a registered ability. Messages for callers do not contain
 * the URL or an address, because only administrators of the project may see the URL.
 */
#include "outbound/ability_call.h"
#include "base/text.h"
#include "cardbox/limits.h"

enum {
    EXCERPT_MAX = 200, /* bytes of an error answer's body that the message quotes */
    HEADER_MAX = 8 * 1024,
    OWN_HEADERS = 4
};

/* The answer while it arrives. */
typedef struct answer_sink {
    buf *output;
    size_t output_max;
    buf excerpt; /* the beginning of the body, if the status is not 200 */
    void (*on_tick)(void *arg);
    void *arg;
} answer_sink;

/* --- headers --- */

typedef struct header_list {
    const char *list[OWN_HEADERS + REGISTERED_HEADERS_MAX + 1];
    size_t count;
    arena memory;
} header_list;

static void add_header(header_list *h, buf *line)
{
    slice kept = arena_keep(&h->memory, line);
    if (kept.ptr != NULL && h->count < OWN_HEADERS + REGISTERED_HEADERS_MAX)
        h->list[h->count++] = kept.ptr;
}

/* Adds a header. Control characters become blanks. If `encoded` is set, all bytes of `value` that
 * are not visible ASCII characters, and '%', are percent-encoded. */
static void add_value(header_list *h, const char *name, slice value, bool encoded)
{
    buf line = BUF_INIT(HEADER_MAX);
    buf_printf(&line, "%s: ", name);
    for (size_t i = 0; i < value.len; i++) {
        unsigned char c = (unsigned char)value.ptr[i];
        if (encoded && (c <= ' ' || c >= 0x7f || c == '%'))
            buf_printf(&line, "%%%02X", c);
        else
            buf_char(&line, c < ' ' || c == 0x7f ? ' ' : value.ptr[i]);
    }
    add_header(h, &line);
}

static void add_stored(header_list *h, slice name_token, slice value_token)
{
    buf line = BUF_INIT(HEADER_MAX);
    scan_decode(&line, name_token);
    buf_text(&line, ": ");
    scan_decode(&line, value_token);
    add_header(h, &line);
}

/* Returns false if the stored headers are not valid. A role of the database may have written them.
 */
static bool make_headers(header_list *h, const ability_call *call)
{
    slice name;
    scan_value value;
    size_t count = 0;
    scan_walk walk = scan_enter(scan_whole(call->definition->headers));
    add_value(h, "Content-Type", SLICE("application/json"), false);
    add_value(h, "X-Project-Id", call->project, true);
    add_value(h, "X-Call-Id", call->call_id, false);
    if (call->caller_id.ptr != NULL)
        add_value(h, "X-Caller-Id", call->caller_id, false);
    while (scan_member(&walk, &name, &value)) {
        if (!registered_is_header(name, value) || ++count > REGISTERED_HEADERS_MAX)
            return false;
        add_stored(h, name, value.text);
    }
    return true;
}

/* --- the answer --- */

static net_sink_result take_answer(void *arg, long status, slice bytes)
{
    answer_sink *sink = arg;
    if (status != 200) {
        size_t left = EXCERPT_MAX - sink->excerpt.len;
        buf_add(&sink->excerpt, bytes.ptr, bytes.len < left ? bytes.len : left);
        return bytes.len < left ? NET_CONTINUE : NET_DONE;
    }
    if (sink->output->len + bytes.len > sink->output_max)
        return NET_ABORT;
    buf_slice(sink->output, bytes);
    return buf_ok(sink->output) ? NET_CONTINUE : NET_ABORT;
}

static void on_tick(void *arg)
{
    const answer_sink *sink = arg;
    if (sink->on_tick != NULL)
        sink->on_tick(sink->arg);
}

static void set_status_failure(ability_outcome *out, slice excerpt, long status)
{
    format_line(out->message, sizeof(out->message),
                "the ability's URL answered with status %ld%s%.*s", status,
                excerpt.len > 0 ? ": " : "", (int)slice_cut(excerpt, EXCERPT_MAX - 4), excerpt.ptr);
}

static void check_output(ability_outcome *out, slice text, const registered_ability *definition)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    scan_value value;
    scan_error why;
    if (!scan_check(text, CARDBOX_JSON_DEPTH_MAX, &value, NULL, &why))
        format_line(out->message, sizeof(out->message),
                    "the output of the ability is not valid JSON at byte %zu: %s", why.position,
                    why.message);
    else if (schema_validate(NULL, scan_whole(definition->output_schema), value, SCHEMA_PATIENT,
                             &err) != CARDBOX_OK)
        format_line(out->message, sizeof(out->message),
                    "the output of the ability violates its schema: %s", err.message);
    else
        out->end = ABILITY_DONE;
}

static void set_outcome(ability_outcome *out, const net_answer *answer, answer_sink *sink,
                        const ability_call *call)
{
    out->end = ABILITY_FAILED;
    if (answer->end != NET_ANSWERED)
        format_line(out->details, sizeof(out->details), "%s", answer->error);
    if (answer->end == NET_STOPPED) {
        out->end = ABILITY_STOPPED;
    } else if (sink->output->failure == BUF_NOMEM || sink->excerpt.failure == BUF_NOMEM) {
        out->end = ABILITY_NO_MEMORY;
    } else if (answer->end == NET_ABORTED) {
        format_line(out->message, sizeof(out->message),
                    "the output of the ability is over the limit of %zu bytes", sink->output_max);
    } else if (answer->is_timeout) {
        out->end = ABILITY_TOO_SLOW;
        format_line(out->message, sizeof(out->message),
                    "the ability's URL gave no complete answer within %d ms",
                    call->definition->timeout_ms);
    } else if (answer->end != NET_ANSWERED) {
        format_line(out->message, sizeof(out->message), "the ability's URL can't be called: %s",
                    answer->reason);
    } else if (answer->status != 200) {
        set_status_failure(out, buf_as_slice(&sink->excerpt), answer->status);
    } else {
        check_output(out, buf_as_slice(sink->output), call->definition);
    }
}

/* --- the call --- */

static void send_input(ability_outcome *out, buf *output, net *n, const ability_call *call)
{
    const registered_ability *definition = call->definition;
    char url[REGISTERED_URL_MAX + 1];
    net_answer answer;
    header_list headers = {.memory = ARENA_INIT};
    answer_sink sink = {.output = output,
                        .output_max =
                            output->max < ABILITY_OUTPUT_MAX ? output->max : ABILITY_OUTPUT_MAX,
                        .excerpt = BUF_INIT(EXCERPT_MAX),
                        .on_tick = call->on_tick,
                        .arg = call->arg};
    net_request request = {.url = url,
                           .headers = headers.list,
                           .body = call->input.text,
                           .connect_ms = definition->timeout_ms,
                           .idle_ms = definition->timeout_ms,
                           .total_ms = definition->timeout_ms,
                           .sink = take_answer,
                           .arg = &sink,
                           .on_tick = on_tick,
                           .stop = call->stop,
                           .is_client_url = true,
                           .may_be_private = call->may_be_private};
    format_line(url, sizeof(url), "%.*s", (int)definition->url.len, definition->url.ptr);
    if (!make_headers(&headers, call)) {
        out->end = ABILITY_FAILED;
        format_line(out->message, sizeof(out->message),
                    "the stored headers of the ability are not valid: register it again");
    } else if (headers.memory.failed) {
        out->end = ABILITY_NO_MEMORY;
    } else {
        net_post(&answer, n, &request);
        set_outcome(out, &answer, &sink, call);
    }
    buf_free(&sink.excerpt);
    arena_reset(&headers.memory);
}

void ability_call_run(ability_outcome *out, buf *output, net *n, const ability_call *call)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    *out = (ability_outcome){.end = ABILITY_BAD_INPUT};
    if (schema_validate(&out->faults, scan_whole(call->definition->input_schema), call->input,
                        SCHEMA_PATIENT, &err) == CARDBOX_OK)
        send_input(out, output, n, call);
    else
        format_line(out->message, sizeof(out->message), "%s", err.message);
}
