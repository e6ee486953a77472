/*
 * agent.c: runs the turns of a task. A turn reads the task's boxes, sends a request to the model,
 * and runs the tool calls of the answer. Since each turn reads the whole boxes, a task that another
 * worker began, or that got a message in the meantime, is no special case.
 */
#include "worker/agent/agent.h"
#include "app/json_text.h"
#include "app/log.h"
#include "base/clock.h"
#include "cardbox/ids.h"
#include "cardbox/ledger.h"
#include "base/text.h"

enum {
    METADATA_MAX = 4096,
    CALLS_JSON_MAX = 96 * 1024 * 1024,
    PREVIEW_MS = 100, /* minimum time between two publications of a preview */
    PREVIEW_MAX = 1024 * 1024,
    CUT_ANSWERS_MAX =
        2 /* if this number of answers in succession end within a call, the task fails */
};

/* The text of an answer without text that ends a task. */
#define EMPTY_ANSWER "(The model's last answer has no text.)"

typedef struct turn {
    agent *a;
    agent_input input;
    completion answer;
    char message_id[UUID_TEXT_SIZE];                     /* message id of the answer */
    char call_ids[COMPLETION_CALLS_MAX][UUID_TEXT_SIZE]; /* ledger ids of the answer's tool calls */
    buf preview;            /* text of the answer that is not yet published */
    int64_t preview_number; /* number of publications of this answer so far */
    int64_t published_ms;   /* time of the last publication, or of the start of the preview */
} turn;

/* --- writing --- */

/* Returns true for errors that would probably occur again if another worker continued the task. */
static bool is_final(cardbox_status status)
{
    return status == CARDBOX_INVALID || status == CARDBOX_TOO_LARGE ||
           status == CARDBOX_NOT_FOUND || status == CARDBOX_GONE || status == CARDBOX_CONFLICT ||
           status == CARDBOX_INTERNAL;
}

/* Handles an error of the ledger. If is_final() is true for the error, tries to end the task as
 * failed. If not, writes nothing: a worker can claim the task again when the lease has expired. */
static agent_end fail_after_error(agent *a, const char *event, const cardbox_error *err)
{
    ledger_outcome ended;

    log_error(event, "task=%s error=%s %s", log_quoted(a->lease.task_id),
              cardbox_status_name(err->status), log_quoted(slice_of(err->message)));
    format_line(a->status, AGENT_STATUS_SIZE, "failed: the ledger refused: %s", err->message);
    task_write write = {
        .lease = a->lease, .ending = CARDBOX_FINISHED, .status = slice_of(a->status), .seen = -1};
    if (is_final(err->status) && work_write(&ended, a->shared->db, &write, NULL) == CARDBOX_OK)
        return AGENT_FINISHED;
    return AGENT_FAILED;
}

agent_end agent_write(agent *a, task_write *write)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    ledger_outcome ended;

    if (atomic_load(&a->stop) == STOP_LOST)
        return AGENT_LOST;
    write->lease = a->lease;
    if (work_write(&ended, a->shared->db, write, &err) != CARDBOX_OK) {
        if (!err.lease_lost)
            return fail_after_error(a, "task_write_failed", &err);
        atomic_fetch_or(&a->stop, STOP_LOST);
        return AGENT_LOST;
    }
    if (ended == LEDGER_UPDATED)
        return AGENT_FINISHED;
    if (ended != LEDGER_ASLEEP)
        return AGENT_CONTINUES;
    return write->ending == CARDBOX_HANDED_BACK ? AGENT_HANDED_BACK : AGENT_WAITING;
}

/* Returns a write that ends the task, with success if `failure` is NULL. A success does not end the
 * task while a newer message of a user is unanswered or a subtask is unfinished. A router waits for
 * the next message instead of ending with success. */
static task_write ending_write(turn *t, const char *failure)
{
    bool is_success = failure == NULL;

    if (is_success && t->input.turn.router)
        return (task_write){.ending = CARDBOX_SLEEPS, .seen = t->input.turn.seen};
    format_line(t->a->status, AGENT_STATUS_SIZE, "%s%s",
                is_success ? "success" : "failed: ", is_success ? "" : failure);
    return (task_write){.ending = CARDBOX_FINISHED,
                        .status = slice_of(t->a->status),
                        .seen = is_success ? t->input.turn.seen : -1,
                        .awaits = is_success};
}

static agent_end end_task(turn *t, const char *failure)
{
    task_write write = ending_write(t, failure);

    return agent_write(t->a, &write);
}

static agent_end hand_task_back(agent *a)
{
    task_write write = {.ending = CARDBOX_HANDED_BACK, .seen = -1};

    return agent_write(a, &write);
}

/* --- the model's answer --- */

static void set_count(json_t *usage, const char *name, int64_t count)
{
    if (count >= 0)
        json_object_set_new(usage, name, json_integer((json_int_t)count));
}

/* Returns the numbers that the model's server has reported. */
static json_t *usage_of(const completion *answer)
{
    json_t *usage = json_object();

    set_count(usage, "prompt_tokens", answer->prompt_tokens);
    set_count(usage, "completion_tokens", answer->completion_tokens);
    set_count(usage, "total_tokens", answer->total_tokens);
    set_count(usage, "cached_tokens", answer->cached_tokens);
    if (answer->cost >= 0)
        json_object_set_new(usage, "cost", json_real(answer->cost));
    if (json_object_size(usage) > 0)
        return usage;
    json_decref(usage);
    return NULL;
}

/* The request had the messages of the task's box at the version "box_version", after those of the
 * context box at its version. */
static void put_metadata(buf *out, const turn *t)
{
    const completion *answer = &t->answer;
    const cardbox_turn *read = &t->input.turn;
    json_t *metadata = json_pack("{s:s, s:s, s:I, s:o*}", "model", t->a->shared->model->name,
                                 "finish_reason", answer->finish_reason, "box_version",
                                 (json_int_t)read->version, "usage", usage_of(answer));

    if (read->context_version > 0)
        json_object_set_new(metadata, "context_box_version",
                            json_integer((json_int_t)read->context_version));
    buf_json_take(out, metadata);
}

/* Writes the tool calls of the answer in the format of OpenAI's API. Each call gets a new id for
 * the ledger, because the ids in answers of models may be repeated. */
static void put_calls(buf *out, turn *t)
{
    json_t *list = json_array();

    for (size_t i = 0; i < t->answer.call_count; i++) {
        const completion_call *call = &t->answer.calls[i];
        cardbox_uuid7(t->call_ids[i]);
        json_array_append_new(list, json_pack("{s:s, s:s, s:{s:s%, s:s%}}", "id", t->call_ids[i],
                                              "type", "function", "function", "name",
                                              buf_str(&call->name), call->name.len, "arguments",
                                              buf_str(&call->arguments), call->arguments.len));
    }
    if (json_array_size(list) < t->answer.call_count) { /* out of memory */
        json_decref(list);
        list = NULL;
    }
    buf_json_take(out, list);
}

/* Returns true if the answer ended early within the arguments of a call. */
static bool has_cut_call(const completion *answer)
{
    size_t i = 0;

    while (i < answer->call_count && completion_has_object(&answer->calls[i]))
        i++;
    return completion_cut_reason(answer) != NULL && i < answer->call_count;
}

/* Returns the end of the task that is written with an answer. An answer without tool calls ends the
 * task, see ending_write(). If the model's server cut off an answer without tool calls, the task
 * fails, since few servers can continue a text. If it cut off the arguments of calls repeatedly,
 * the model would probably repeat such calls, so the task fails too. */
static task_write write_of_answer(turn *t)
{
    agent *a = t->a;

    a->cut_answers = has_cut_call(&t->answer) ? a->cut_answers + 1 : 0;
    if (t->answer.call_count > 0 && a->cut_answers < CUT_ANSWERS_MAX)
        return (task_write){.ending = CARDBOX_GOES_ON, .seen = -1};
    return ending_write(t, completion_cut_reason(&t->answer));
}

/* Fills the texts of an answer's message. An empty answer is stored with a text for people instead
 * of a message, because APIs accept no empty message back. */
static void put_answer(message_input *out, turn *t, buf *text, buf *message, buf *calls)
{
    const completion *answer = &t->answer;
    bool is_empty = answer->call_count == 0 && completion_is_blank(answer);

    buf_json_string(text, is_empty ? SLICE(EMPTY_ANSWER) : buf_as_slice(&answer->text));
    out->content = buf_as_slice(text);
    if (is_empty)
        return;
    completion_put_message(message, answer);
    out->api_message = buf_as_slice(message);
    if (answer->call_count > 0) {
        put_calls(calls, t);
        out->tool_calls = buf_as_slice(calls);
    }
}

/* Saves the model's answer, unless it is empty because it was cut off. */
static agent_end save_answer(turn *t)
{
    buf text = BUF_INIT((size_t)6 * COMPLETION_TEXT_MAX + 2), metadata = BUF_INIT(METADATA_MAX);
    buf calls = BUF_INIT(CALLS_JSON_MAX), api_message = BUF_INIT(CARDBOX_CONTENT_MAX);
    bool is_last = t->answer.call_count == 0;
    bool is_saved =
        !is_last || !completion_is_blank(&t->answer) || completion_cut_reason(&t->answer) == NULL;
    task_write write = write_of_answer(t);
    message_input message = {.message_id = slice_of(t->message_id),
                             .task_id = t->a->lease.task_id,
                             .role = SLICE("assistant")};

    put_metadata(&metadata, t);
    message.metadata = buf_as_slice(&metadata);
    put_answer(&message, t, &text, &api_message, &calls);
    write.messages = &message;
    write.message_count = is_saved ? 1 : 0;
    agent_end end = buf_ok(&api_message) ? agent_write(t->a, &write)
                                         : end_task(t, "the model's message is too large");
    if (end == AGENT_CONTINUES && is_last)
        t->a->iterations = 0; /* a newer message of a user needs an answer */
    t->a->has_results = !is_last;
    buf_free(&text);
    buf_free(&metadata);
    buf_free(&calls);
    buf_free(&api_message);
    return end;
}

/* --- the preview: the text of an answer, published in parts while the model generates it --- */

static void begin_preview(turn *t)
{
    buf_free(&t->preview);
    t->preview = BUF_INIT(PREVIEW_MAX);
    t->preview_number = 0;
    t->published_ms = clock_ms();
    cardbox_uuid7(t->message_id);
}

static void add_preview_text(void *arg, slice text)
{
    turn *t = arg;

    buf_slice(&t->preview, text);
}

/* Publishes the text collected since the last publication, at most ten times a second. If a
 * publication fails, its text is not published again: a complete answer is saved later anyway. */
static void publish_preview(void *arg)
{
    turn *t = arg;
    agent *a = t->a;
    int64_t now = clock_ms();
    buf token = BUF_INIT((size_t)6 * PREVIEW_MAX + 2);

    if (t->preview.len == 0 || now - t->published_ms < PREVIEW_MS)
        return;
    t->published_ms = now;
    buf_json_string(&token, buf_as_slice(&t->preview));
    if (buf_ok(&t->preview) &&
        work_chunk(a->shared->db, &a->lease, slice_of(t->message_id), ++t->preview_number,
                   buf_as_slice(&token), NULL) == CARDBOX_CONFLICT)
        atomic_fetch_or(&a->stop, STOP_LOST);
    buf_free(&token);
    buf_reset(&t->preview, SIZE_MAX);
}

static void restart_preview(void *arg, const char *reason)
{
    turn *t = arg;

    log_warn("model_asked_again", "task=%s reason=%s", log_quoted(t->a->lease.task_id),
             log_quoted(slice_of(reason)));
    begin_preview(t);
}

/* --- the loop --- */

static model_end ask_model(turn *t)
{
    agent *a = t->a;
    slice messages = slice_of(cardbox_context_json(t->input.context));
    buf request = BUF_INIT(messages.len + a->tools.json.len + METADATA_MAX);
    model_watch watch = {.on_text = add_preview_text,
                         .on_retry = restart_preview,
                         .on_tick = publish_preview,
                         .arg = t,
                         .stop = &a->stop,
                         .may_be_empty = t->input.has_success};

    begin_preview(t);
    model_put_request(&request, a->shared->model, messages, a->tools.json);
    a->model_calls++;
    model_end end = model_ask(&t->answer, a->net, a->shared->model, buf_as_slice(&request), &watch);
    buf_free(&request);
    if (end == MODEL_ANSWERED && t->answer.prompt_tokens > 0)
        a->prompt_tokens += t->answer.prompt_tokens;
    if (end == MODEL_ANSWERED && t->answer.completion_tokens > 0)
        a->completion_tokens += t->answer.completion_tokens;
    return end;
}

/* Ends the task, if another worker could not continue it either. */
static agent_end end_after_load_error(turn *t, const cardbox_error *err)
{
    if (err->lease_lost) {
        atomic_fetch_or(&t->a->stop, STOP_LOST);
        return AGENT_LOST;
    }
    if (is_final(err->status))
        return end_task(t, err->message);
    return fail_after_error(t->a, "task_load_failed", err);
}

static agent_end run_turn(turn *t)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    agent *a = t->a;

    if (atomic_load(&a->stop) != STOP_NONE)
        return hand_task_back(a);
    cardbox_status status = agent_load(&t->input, a, &err);
    if (status != CARDBOX_OK)
        return end_after_load_error(t, &err);
    if (t->input.turn.router && t->input.turn.has_message)
        a->iterations = 0;
    if (!t->input.is_asked) {
        a->iterations = 0;
        return end_task(t, NULL);
    }
    if (a->iterations >= a->shared->max_iterations)
        return end_task(t, "Maximum iterations reached");
    a->iterations++;
    switch (ask_model(t)) {
    case MODEL_STOPPED:
        return hand_task_back(a);
    case MODEL_FAILED:
        return end_task(t, t->answer.error);
    case MODEL_ANSWERED:
        break;
    }
    agent_end end = save_answer(t);
    for (size_t i = 0; end == AGENT_CONTINUES && i < t->answer.call_count; i++)
        end = atomic_load(&a->stop) != STOP_NONE
                  ? hand_task_back(a)
                  : agent_run_call(a, &t->answer.calls[i], t->call_ids[i],
                                   completion_cut_reason(&t->answer));
    return end;
}

/* Reads from the ledger whether the task was cancelled, because a write that fails after the loss
 * of a lease does not report the reason of the loss. */
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

static agent_end run_turns(agent *a)
{
    agent_end end;

    do {
        turn t = {.a = a};
        completion_init(&t.answer);
        end = run_turn(&t);
        buf_free(&t.preview);
        completion_free(&t.answer);
        agent_input_free(&t.input);
    } while (end == AGENT_CONTINUES);
    return end;
}

agent_end agent_run(agent *a)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    const agent_shared *shared = a->shared;
    cardbox_status status = project_tools_load(&a->tools, shared->tools, shared->tools_json,
                                               shared->db, a->lease.tenant, &err);
    agent_end end =
        status == CARDBOX_OK ? run_turns(a) : fail_after_error(a, "tools_load_failed", &err);
    project_tools_free(&a->tools);
    return end == AGENT_LOST ? end_of_lost_lease(a) : end;
}
