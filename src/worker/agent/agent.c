/*
 * agent.c: the loop of a task. Each turn begins by reading the ledger. So it needs no special case
 * for a task that another worker began, or that got a message in the meantime.
 */
#include "worker/agent/agent.h"
#include <stdlib.h>
#include "app/json_text.h"
#include "app/log.h"
#include "cardbox/ids.h"
#include "cardbox/ledger.h"
#include "worker/agent/agent_internal.h"
#include "worker/agent/stream_preview.h"
#include "worker/format_line.h"

enum { METADATA_MAX = 4096, CALLS_JSON_MAX = 96 * 1024 * 1024 };

/* One turn: a request to the model and what follows from it. */
typedef struct turn {
    agent *a;
    dialogue dialogue;
    int64_t seen;
    completion answer;
    stream_preview preview;
    agent_call calls[COMPLETION_CALLS_MAX];
} turn;

void agent_stop(agent *a, stop_reason why)
{
    int now = atomic_load(&a->stop);

    while (now < (int)why && !atomic_compare_exchange_weak(&a->stop, &now, (int)why))
        continue;
}

/* --- writing --- */

static void log_database_error(const agent *a, const char *event, const cardbox_error *err)
{
    char task[LOG_QUOTE_SIZE], reason[LOG_QUOTE_SIZE];

    log_error(
        event, "task=%s error=%s %s", log_quote(task, a->lease.task_id.ptr, a->lease.task_id.len),
        cardbox_status_name(err->status), log_quote(reason, err->message, strlen(err->message)));
}

/* Errors that a retry after the lease has expired would not remove. */
static bool is_final(cardbox_status status)
{
    return status == CARDBOX_INVALID || status == CARDBOX_TOO_LARGE ||
           status == CARDBOX_NOT_FOUND || status == CARDBOX_CONFLICT || status == CARDBOX_INTERNAL;
}

/* Ends the task as failed if the error is final. Otherwise another worker continues it after
 * the lease expires. */
static agent_end fail_after_error(agent *a, const char *event, const cardbox_error *err)
{
    ledger_outcome ended;

    log_database_error(a, event, err);
    format_line(a->status, AGENT_STATUS_SIZE, "failed: the ledger refused: %s", err->message);
    task_write write = {
        .lease = a->lease, .ending = CARDBOX_FINISHED, .status = slice_of(a->status), .seen = -1};
    if (is_final(err->status) && work_write(&ended, a->shared->db, &write, NULL) == CARDBOX_OK)
        return AGENT_FINISHED;
    return AGENT_FAILED;
}

bool agent_write(agent *a, task_write *write, agent_end *end)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    ledger_outcome ended;

    *end = AGENT_LOST;
    if (atomic_load(&a->stop) == STOP_LOST)
        return false;
    write->lease = a->lease;
    if (work_write(&ended, a->shared->db, write, &err) != CARDBOX_OK) {
        if (err.lease_lost)
            agent_stop(a, STOP_LOST);
        else
            *end = fail_after_error(a, "task_write_failed", &err);
        return false;
    }
    if (ended == LEDGER_UPDATED)
        *end = AGENT_FINISHED;
    else if (ended == LEDGER_ASLEEP)
        *end = write->ending == CARDBOX_HANDED_BACK ? AGENT_HANDED_BACK : AGENT_WAITING;
    return ended != LEDGER_UPDATED && ended != LEDGER_ASLEEP;
}

/* Returns a write that ends the task with the agent's status. A success does not end the task
 * while it has a newer message to answer or an unfinished subtask. */
static task_write ending_write(const turn *t, bool is_success)
{
    return (task_write){.ending = CARDBOX_FINISHED,
                        .status = slice_of(t->a->status),
                        .seen = is_success ? t->seen : -1,
                        .awaits = is_success};
}

/* Tries to end the task as a success. Returns true if the task continues. */
static bool succeed_task(turn *t, agent_end *end)
{
    format_line(t->a->status, AGENT_STATUS_SIZE, "success");
    task_write write = ending_write(t, true);
    return agent_write(t->a, &write, end);
}

static bool fail_task(turn *t, const char *reason, agent_end *end)
{
    format_line(t->a->status, AGENT_STATUS_SIZE, "failed: %s", reason);
    task_write write = ending_write(t, false);
    return agent_write(t->a, &write, end);
}

static bool hand_task_back(turn *t, agent_end *end)
{
    task_write write = {.ending = CARDBOX_HANDED_BACK, .seen = -1};

    return agent_write(t->a, &write, end);
}

/* --- the model's answer --- */

/* `seen` is the sequence number of the newest message that the model read. A message that
 * arrived during the request has a larger number and is answered later (dialogue.c). */
static void put_metadata(buf *out, const turn *t)
{
    const completion_usage *used = &t->answer.usage;
    json_t *usage = NULL;

    if (used->total_tokens >= 0)
        usage = json_pack("{s:I, s:I, s:I}", "prompt_tokens", (json_int_t)used->prompt_tokens,
                          "completion_tokens", (json_int_t)used->completion_tokens, "total_tokens",
                          (json_int_t)used->total_tokens);
    buf_json_take(out, json_pack("{s:s, s:s, s:I, s:o*}", "model", t->a->shared->model->name,
                                 "finish_reason", t->answer.finish_reason, "seen",
                                 (json_int_t)t->seen, "usage", usage));
}

/* Writes the calls in the format of OpenAI's API. They get new ids, because the ids of models
 * repeat. */
static void put_calls(buf *out, turn *t)
{
    json_t *list = json_array();

    for (size_t i = 0; i < t->answer.call_count; i++) {
        const completion_call *requested = &t->answer.calls[i];
        agent_call *call = &t->calls[i];
        cardbox_uuid7(call->id);
        call->requested = requested;
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:{s:s%, s:s%}}", "id", call->id, "type", "function",
                            "function", "name", buf_str(&requested->name), requested->name.len,
                            "arguments", buf_str(&requested->arguments), requested->arguments.len));
    }
    if (json_array_size(list) < t->answer.call_count) { /* out of memory */
        json_decref(list);
        list = NULL;
    }
    buf_json_take(out, list);
}

/* Saves the message. Without calls it ends the task. An incomplete text is saved, but the task
 * fails, since few servers can continue a text. Returns true if the task continues. */
static bool save_answer(turn *t, agent_end *end)
{
    buf content = BUF_INIT((size_t)6 * COMPLETION_TEXT_MAX + 2), metadata = BUF_INIT(METADATA_MAX);
    buf calls = BUF_INIT(CALLS_JSON_MAX);
    const char *cut = completion_cut_reason(&t->answer);
    bool is_last = t->answer.call_count == 0;
    task_write write = {.ending = CARDBOX_GOES_ON, .seen = -1};

    buf_json_string(&content, buf_as_slice(&t->answer.text));
    put_metadata(&metadata, t);
    message_input message = {.message_id = slice_of(t->preview.message_id),
                             .task_id = t->a->lease.task_id,
                             .role = SLICE("assistant"),
                             .content = buf_as_slice(&content),
                             .metadata = buf_as_slice(&metadata)};
    if (is_last) {
        format_line(t->a->status, AGENT_STATUS_SIZE, "%s%s", cut != NULL ? "failed: " : "success",
                    cut != NULL ? cut : "");
        write = ending_write(t, cut == NULL);
    } else {
        put_calls(&calls, t);
        message.tool_calls = buf_as_slice(&calls);
    }
    write.messages = &message;
    write.message_count = is_last && completion_is_blank(&t->answer) ? 0 : 1;
    bool goes_on = agent_write(t->a, &write, end);
    if (goes_on && is_last)
        t->a->iterations = 0; /* a new message arrived: count from zero for it */
    buf_free(&content);
    buf_free(&metadata);
    buf_free(&calls);
    return goes_on;
}

static void add_preview_text(void *arg, slice text)
{
    turn *t = arg;

    stream_preview_add(&t->preview, text);
}

static void publish_preview(void *arg)
{
    turn *t = arg;

    if (!stream_preview_publish(&t->preview))
        agent_stop(t->a, STOP_LOST);
}

static void restart_preview(void *arg, const char *reason)
{
    turn *t = arg;
    char task[LOG_QUOTE_SIZE], why[LOG_QUOTE_SIZE];

    log_warn("model_asked_again", "task=%s reason=%s",
             log_quote(task, t->a->lease.task_id.ptr, t->a->lease.task_id.len),
             log_quote(why, reason, strlen(reason)));
    stream_preview_free(&t->preview);
    stream_preview_begin(&t->preview, t->a->shared->db, &t->a->lease);
}

static model_end ask_model(turn *t, char reason[MODEL_REASON_SIZE])
{
    agent *a = t->a;
    slice messages = buf_as_slice(&t->dialogue.messages);
    buf request = BUF_INIT(messages.len + a->shared->tools_json.len + METADATA_MAX);
    model_watch watch = {.on_text = add_preview_text,
                         .on_retry = restart_preview,
                         .on_tick = publish_preview,
                         .arg = t,
                         .stop = &a->stop};

    model_put_request(&request, a->shared->model, messages, a->shared->tools_json);
    a->model_calls++;
    model_end end =
        model_ask(&t->answer, a->net, a->shared->model, buf_as_slice(&request), &watch, reason);
    buf_free(&request);
    if (end == MODEL_ANSWERED && t->answer.usage.prompt_tokens > 0)
        a->prompt_tokens += t->answer.usage.prompt_tokens;
    if (end == MODEL_ANSWERED && t->answer.usage.completion_tokens > 0)
        a->completion_tokens += t->answer.usage.completion_tokens;
    return end;
}

/* --- the loop --- */

static bool run_calls(turn *t, agent_end *end)
{
    for (size_t i = 0; i < t->answer.call_count; i++) {
        if (atomic_load(&t->a->stop) != STOP_NONE)
            return hand_task_back(t, end);
        if (!agent_run_call(t->a, &t->calls[i], end))
            return false;
    }
    return true;
}

/* Asks the model, saves its answer and runs its calls. Returns true for another turn. */
static bool ask_and_act(turn *t, agent_end *end)
{
    char reason[MODEL_REASON_SIZE];

    switch (ask_model(t, reason)) {
    case MODEL_STOPPED:
        return hand_task_back(t, end);
    case MODEL_FAILED:
        return fail_task(t, reason, end);
    case MODEL_ANSWERED:
        break;
    }
    return save_answer(t, end) && run_calls(t, end);
}

/* Runs one turn. Returns true for another turn. */
static bool run_turn(turn *t, agent_end *end)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    agent *a = t->a;

    if (atomic_load(&a->stop) != STOP_NONE)
        return hand_task_back(t, end);
    cardbox_status status = agent_load(&t->dialogue, &t->seen, a, &err);
    if (status == CARDBOX_TOO_LARGE)
        return fail_task(t, err.message, end);
    if (status != CARDBOX_OK) {
        *end = fail_after_error(a, "task_load_failed", &err);
        return false;
    }
    if (!t->dialogue.needs_answer) {
        a->iterations = 0;
        return succeed_task(t, end);
    }
    if (a->iterations >= a->shared->max_iterations)
        return fail_task(t, "Maximum iterations reached", end);
    a->iterations++;
    stream_preview_begin(&t->preview, a->shared->db, &a->lease);
    return ask_and_act(t, end);
}

/* Reads from the ledger why the lease is lost: the task was cancelled, or another worker has
 * it. Only the lease keeper learns the reason with the loss, and other writes often notice the
 * loss first. */
static agent_end end_of_lost_lease(const agent *a)
{
    cardbox_ledger *found = NULL;
    bool is_cancelled = false;

    if (cardbox_task_get(&found, a->shared->db, a->lease.tenant.ptr, a->lease.task_id.ptr, NULL) ==
        CARDBOX_OK) {
        const char *status = cardbox_ledger_task(found, 0)->completion_status;
        is_cancelled = status != NULL && strcmp(status, "cancelled") == 0;
    }
    cardbox_ledger_free(found);
    return is_cancelled ? AGENT_CANCELLED : AGENT_LOST;
}

agent_end agent_run(agent *a)
{
    agent_end end = AGENT_LOST;
    turn *t = NULL;
    bool again = true;

    while (again) {
        t = calloc(1, sizeof(*t));
        if (t == NULL)
            return AGENT_FAILED;
        t->a = a;
        completion_init(&t->answer);
        again = run_turn(t, &end);
        stream_preview_free(&t->preview);
        completion_free(&t->answer);
        dialogue_free(&t->dialogue);
        free(t);
    }
    return end == AGENT_LOST ? end_of_lost_lease(a) : end;
}
