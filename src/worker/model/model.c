/*
 * model.c: a request to a model, with retries if the server is unreachable, busy (429) or failing
 * (5xx), or if its stream is cut, invalid or silent. Other refusals are final.
 */
#include "worker/model/model.h"
#include "app/json_text.h"
#include "base/clock.h"
#include "worker/format_line.h"
#include "worker/model/sse.h"

enum {
    URL_MAX = 4096,
    KEY_MAX = 8192,
    REFUSAL_MAX = 16 * 1024,       /* bytes read of an answer that is not a stream */
    EVENT_MAX = 2 * 1024 * 1024,   /* bytes of one event */
    STREAM_MAX = 64 * 1024 * 1024, /* bytes of a stream */
    CHECK_MS = 20
};

/* State of one attempt. */
typedef struct attempt {
    completion *answer;
    const model_watch *watch;
    sse stream;
    size_t received;
    bool is_stream; /* an event was received */
    buf refusal;    /* the beginning of an answer that is not a stream */
} attempt;

typedef enum verdict { IS_COMPLETE, IS_FINAL, MAY_RETRY, IS_STOPPED } verdict;

/* Messages and tools are inserted as text. So equal input makes equal bytes, as prompt caches
 * of servers require. */
void model_put_request(buf *out, const model *m, slice messages, slice tools)
{
    buf_json_open_take(out, json_pack("{s:s, s:b, s:{s:b}}", "model", m->name, "stream", 1,
                                      "stream_options", "include_usage", 1));
    buf_text(out, ",\"messages\":");
    buf_slice(out, messages);
    if (tools.len > 2) {
        buf_text(out, ",\"tools\":");
        buf_slice(out, tools);
    }
    buf_char(out, '}');
}

static bool on_event(void *arg, slice data)
{
    attempt *a = arg;
    slice piece;

    a->is_stream = true;
    bool goes_on = completion_add_chunk(a->answer, data, &piece);

    if (piece.len > 0)
        a->watch->on_text(a->watch->arg, piece);
    return goes_on;
}

static net_sink_result on_bytes(void *arg, long status, slice bytes)
{
    attempt *a = arg;
    size_t room = REFUSAL_MAX - a->refusal.len;

    if (!a->is_stream)
        buf_add(&a->refusal, bytes.ptr, bytes.len < room ? bytes.len : room);
    if (status != 200)
        return room > bytes.len ? NET_CONTINUE : NET_DONE;
    a->received += bytes.len;
    if (a->received <= STREAM_MAX && sse_feed(&a->stream, bytes))
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

/* Extracts the message of an error answer: {"error":{"message":"..."}}, {"error":"..."},
 * {"message":"..."}, or the beginning of the body. */
static void refusal_text(char *out, size_t size, const buf *body)
{
    json_error_t unused;
    json_t *whole = json_text_read(buf_as_slice(body), 0, &unused);
    const json_t *message = json_object_get(whole, "error");

    if (json_is_object(message))
        message = json_object_get(message, "message");
    if (message == NULL)
        message = json_object_get(whole, "message");
    slice text = json_is_string(message) ? json_text_of(message) : buf_as_slice(body);
    format_line(out, size, "%.*s", (int)slice_cut(text, 200), text.ptr);
    json_decref(whole);
}

static verdict classify_refusal(const attempt *a, long status, char *reason)
{
    char message_text[256], number[32];

    refusal_text(message_text, sizeof(message_text), &a->refusal);
    format_line(number, sizeof(number), "%ld", status);
    format_line(reason, MODEL_REASON_SIZE, "the model's server answered %s%s%s",
                status != 200 ? number : "without a stream", message_text[0] != '\0' ? ": " : "",
                message_text);
    return status == 200 || status == 408 || status == 429 || status >= 500 ? MAY_RETRY : IS_FINAL;
}

static verdict classify_answer(attempt *a, const net_answer *answer, char *reason)
{
    completion *c = a->answer;

    switch (answer->end) {
    case NET_STOPPED:
        format_line(reason, MODEL_REASON_SIZE, "stopped");
        return IS_STOPPED;
    case NET_UNUSABLE:
    case NET_UNREACHABLE:
    case NET_TIMEOUT:
        format_line(reason, MODEL_REASON_SIZE, "no answer from the model's server: %s",
                    answer->error);
        return answer->end == NET_UNUSABLE ? IS_FINAL : MAY_RETRY;
    case NET_ABORTED:
    case NET_ANSWERED:
        break;
    }
    if (answer->status != 200 || (answer->end == NET_ANSWERED && !a->is_stream))
        return classify_refusal(a, answer->status, reason);
    if (answer->end == NET_ANSWERED && completion_end(c))
        return IS_COMPLETE;
    format_line(reason, MODEL_REASON_SIZE, "%s", c->error);
    return c->is_final ? IS_FINAL : MAY_RETRY;
}

static void url_of(char out[URL_MAX], const char *base)
{
    size_t len = strlen(base);

    while (len > 0 && base[len - 1] == '/')
        len--;
    format_line(out, URL_MAX, "%.*s/chat/completions", (int)len, base);
}

static verdict try_request(completion *out, net *n, const model *m, slice body,
                           const model_watch *watch, char *reason, long *retry_after_s)
{
    char url[URL_MAX], key[KEY_MAX];
    net_answer answer;
    verdict result;
    attempt a = {.answer = out, .watch = watch, .refusal = BUF_INIT(REFUSAL_MAX)};
    net_request request = {.url = url,
                           .headers = {"Content-Type: application/json",
                                       "Accept: text/event-stream", m->key != NULL ? key : NULL},
                           .body = body,
                           .connect_ms = m->connect_ms,
                           .idle_ms = m->idle_ms,
                           .total_ms = m->total_ms,
                           .sink = on_bytes,
                           .arg = &a,
                           .on_tick = on_tick,
                           .stop = watch->stop};

    url_of(url, m->url);
    if (m->key != NULL)
        format_line(key, sizeof(key), "Authorization: Bearer %s", m->key);
    sse_init(&a.stream, EVENT_MAX, on_event, &a);
    completion_init(out);
    net_post(&answer, n, &request);
    *retry_after_s = answer.retry_after_s;
    result = classify_answer(&a, &answer, reason);
    sse_free(&a.stream);
    buf_free(&a.refusal);
    return result;
}

/* Waits before a retry. Returns false if `stop` was set. */
static bool pause_before_retry(const model *m, unsigned number, long retry_after_s,
                               atomic_int *stop)
{
    int64_t pause_ms = clock_backoff_ms(number, m->retry_ms, m->retry_longest_ms);
    int64_t asked_ms = (int64_t)retry_after_s * 1000;

    if (pause_ms < asked_ms)
        pause_ms = asked_ms < m->retry_longest_ms ? asked_ms : m->retry_longest_ms;
    for (int64_t end_ms = clock_ms() + pause_ms; clock_ms() < end_ms; clock_sleep_ms(CHECK_MS))
        if (atomic_load(stop) != 0)
            return false;
    return true;
}

model_end model_ask(completion *out, net *n, const model *m, slice request,
                    const model_watch *watch, char reason[MODEL_REASON_SIZE])
{
    char last[MODEL_REASON_SIZE - 32];
    long retry_after_s;

    for (unsigned number = 0;; number++) {
        switch (try_request(out, n, m, request, watch, reason, &retry_after_s)) {
        case IS_COMPLETE:
            return MODEL_ANSWERED;
        case IS_STOPPED:
            return MODEL_STOPPED;
        case IS_FINAL:
            return MODEL_FAILED;
        case MAY_RETRY:
            break;
        }
        if (number >= (unsigned long)m->retries) {
            format_line(last, sizeof(last), "%s", reason);
            format_line(reason, MODEL_REASON_SIZE, "%s (after %u attempts)", last, number + 1);
            return MODEL_FAILED;
        }
        watch->on_retry(watch->arg, reason);
        completion_free(out);
        if (!pause_before_retry(m, number, retry_after_s, watch->stop)) {
            completion_init(out);
            return MODEL_STOPPED;
        }
    }
}
