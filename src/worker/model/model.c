/*
 * model.c: sends a request to a model. The request is sent again after failed connections, after
 * answers 408, 429 and 5xx, and if the stream is cut off, invalid, empty or silent. After other
 * error statuses there is no retry.
 */
#include "worker/model/model.h"
#include "app/json_text.h"
#include "base/clock.h"
#include "base/text.h"
#include "worker/model/sse.h"

enum {
    URL_MAX = 4096,
    KEY_MAX = 8192,
    REFUSAL_MAX = 16 * 1024,       /* maximum bytes that are kept of an error's body */
    PLAIN_MAX = 16 * 1024 * 1024,  /* maximum bytes of an answer that is not streamed */
    EVENT_MAX = 2 * 1024 * 1024,   /* maximum bytes of one event */
    STREAM_MAX = 64 * 1024 * 1024, /* maximum bytes of a stream */
    RETRY_LONGEST_MS = 60 * 1000,  /* maximum wait before a retry, even if Retry-After is longer */
    CHECK_MS = 20
};

/* State of one attempt to send the request. */
typedef struct attempt {
    completion *answer;
    const model_watch *watch;
    sse stream;
    size_t received;
    bool is_stream; /* true: an event was received */
    bool is_plain;  /* true: the answer begins like JSON, so it is not streamed */
    buf body;       /* the answer, while no event was received */
} attempt;

/* Messages and tools are inserted as text, so that equal input makes equal bytes, as the prompt
 * caches of model servers require. */
void model_put_request(buf *out, const model *m, slice messages, slice tools)
{
    buf_json_open_take(out, json_pack("{s:s, s:b, s:{s:b}}", "model", m->name, "stream", 1,
                                      "stream_options", "include_usage", 1));
    buf_member(out, "messages", messages);
    if (tools.len > 2)
        buf_member(out, "tools", tools);
    buf_char(out, '}');
}

static bool add_chunk(attempt *a, slice data)
{
    slice piece;
    bool goes_on = completion_add_chunk(a->answer, data, &piece);

    if (piece.len > 0)
        a->watch->on_text(a->watch->arg, piece);
    return goes_on;
}

static bool on_event(void *arg, slice data)
{
    attempt *a = arg;

    a->is_stream = true;
    buf_reset(&a->body, 0);
    return add_chunk(a, data);
}

/* Keeps the beginning of the answer. Returns false if the answer has more bytes. */
static bool keep_body(attempt *a, slice bytes, size_t most)
{
    size_t room = most - a->body.len;

    buf_add(&a->body, bytes.ptr, bytes.len < room ? bytes.len : room);
    slice text = slice_trim(buf_as_slice(&a->body), " \t\r\n");
    a->is_plain = text.len > 0 && text.ptr[0] == '{';
    return bytes.len < room && buf_ok(&a->body);
}

static net_sink_result on_bytes(void *arg, long status, slice bytes)
{
    attempt *a = arg;

    if (status != 200)
        return keep_body(a, bytes, REFUSAL_MAX) ? NET_CONTINUE : NET_DONE;
    a->received += bytes.len;
    bool is_kept = a->is_stream || keep_body(a, bytes, PLAIN_MAX);
    if (is_kept && (a->is_plain || (a->received <= STREAM_MAX && sse_feed(&a->stream, bytes))))
        return NET_CONTINUE;
    if (a->answer->is_done)
        return NET_DONE;
    if (a->answer->error[0] == '\0')
        format_line(a->answer->error, sizeof(a->answer->error), "the model's answer is too large");
    return NET_ABORT;
}

static void on_tick(void *arg)
{
    attempt *a = arg;

    a->watch->on_tick(a->watch->arg);
}

/* --- the result of an attempt --- */

/* Sets the error from an answer that is not a stream. The message is taken from
 * {"error":{"message":"..."}}, {"error":"..."} or {"message":"..."}; otherwise the beginning of the
 * body is shown. */
static void set_refusal(attempt *a, long status)
{
    completion *c = a->answer;
    json_error_t unused;
    json_t *whole = json_text_read(buf_as_slice(&a->body), 0, &unused);
    const json_t *message = json_object_get(whole, "error");

    if (json_is_object(message))
        message = json_object_get(message, "message");
    if (message == NULL)
        message = json_object_get(whole, "message");
    slice text = json_is_string(message) ? json_text_of(message) : buf_as_slice(&a->body);
    int shown = (int)slice_cut(text, COMPLETION_SHOWN_MAX);
    const char *colon = shown > 0 ? ": " : "";
    if (status == 200)
        format_line(c->error, sizeof(c->error),
                    "the model's server answered without a stream%s%.*s", colon, shown, text.ptr);
    else
        format_line(c->error, sizeof(c->error), "the model's server answered %ld%s%.*s", status,
                    colon, shown, text.ptr);
    c->is_final = status != 200 && status != 408 && status != 429 && status < 500;
    json_decref(whole);
}

/* Returns true for the answer of a server that does not stream: an object with choices. */
static bool has_choices(const attempt *a)
{
    scan_value whole;

    return a->is_plain && scan_check(buf_as_slice(&a->body), DELTA_DEPTH_MAX, &whole, NULL, NULL) &&
           scan_find(whole, "choices").kind == SCAN_ARRAY;
}

static model_end classify_answer(attempt *a, const net_answer *answer)
{
    completion *c = a->answer;
    bool is_answered = answer->end == NET_ANSWERED && answer->status == 200;

    if (is_answered && !a->is_stream && has_choices(a)) {
        a->is_stream = true;
        add_chunk(a, buf_as_slice(&a->body));
    }
    if (answer->end == NET_STOPPED)
        return MODEL_STOPPED;
    if (answer->end == NET_FAILED || answer->end == NET_UNUSABLE) {
        format_line(c->error, sizeof(c->error), "no answer from the model's server: %s",
                    answer->error);
        c->is_final = answer->end == NET_UNUSABLE;
    } else if (answer->status != 200 || (answer->end == NET_ANSWERED && !a->is_stream)) {
        set_refusal(a, answer->status);
    } else if (answer->end == NET_ANSWERED && completion_end(c)) {
        return MODEL_ANSWERED;
    }
    return MODEL_FAILED;
}

static model_end try_request(completion *out, net *n, const model *m, slice body,
                             const model_watch *watch, long *retry_after_s)
{
    char url[URL_MAX], key[KEY_MAX];
    size_t base_len = strlen(m->url);
    net_answer answer;
    const char *const headers[] = {"Content-Type: application/json", "Accept: text/event-stream",
                                   m->key != NULL ? key : NULL, NULL};
    attempt a = {.answer = out, .watch = watch, .body = BUF_INIT(PLAIN_MAX)};
    net_request request = {.url = url,
                           .headers = headers,
                           .body = body,
                           .connect_ms = m->connect_ms,
                           .idle_ms = m->idle_ms,
                           .total_ms = m->total_ms,
                           .sink = on_bytes,
                           .arg = &a,
                           .on_tick = on_tick,
                           .stop = watch->stop};

    while (base_len > 0 && m->url[base_len - 1] == '/')
        base_len--;
    format_line(url, sizeof(url), "%.*s/chat/completions", (int)base_len, m->url);
    format_line(key, sizeof(key), "Authorization: Bearer %s", m->key != NULL ? m->key : "");
    sse_init(&a.stream, EVENT_MAX, on_event, &a);
    completion_init(out);
    out->may_be_empty = watch->may_be_empty;
    net_post(&answer, n, &request);
    *retry_after_s = answer.retry_after_s;
    model_end end = classify_answer(&a, &answer);
    sse_free(&a.stream);
    buf_free(&a.body);
    return end;
}

static bool pause_before_retry(const model *m, unsigned number, long retry_after_s,
                               atomic_int *stop)
{
    int64_t pause_ms = clock_backoff_ms(number, m->retry_ms, RETRY_LONGEST_MS);
    int64_t asked_ms = (int64_t)retry_after_s * 1000;

    if (pause_ms < asked_ms)
        pause_ms = asked_ms < RETRY_LONGEST_MS ? asked_ms : RETRY_LONGEST_MS;
    for (int64_t end_ms = clock_ms() + pause_ms; clock_ms() < end_ms; clock_sleep_ms(CHECK_MS))
        if (atomic_load(stop) != 0)
            return false;
    return true;
}

model_end model_ask(completion *out, net *n, const model *m, slice request,
                    const model_watch *watch)
{
    long retry_after_s;

    for (unsigned number = 0;; number++) {
        model_end end = try_request(out, n, m, request, watch, &retry_after_s);
        if (end != MODEL_FAILED || out->is_final)
            return end;
        if (number >= (unsigned long)m->retries) {
            size_t len = strlen(out->error);
            format_line(out->error + len, sizeof(out->error) - len, " (after %u attempts)",
                        number + 1);
            return MODEL_FAILED;
        }
        watch->on_retry(watch->arg, out->error);
        completion_free(out);
        if (!pause_before_retry(m, number, retry_after_s, watch->stop))
            return MODEL_STOPPED;
    }
}
