/*
 * agent.c: the loop of a task. Each turn begins with what the ledger says, so a task that another
 * worker began, or that got a message meanwhile, is no special case.
 */
#include "worker/agent.h"
#include <stdlib.h>
#include "base/log.h"
#include "worker/agent_parts.h"
#include "worker/chunks.h"
#include "worker/say.h"

enum { METADATA_MAX = 4096, CALLS_JSON_MAX = 96 * 1024 * 1024 };

/* One turn: a request to the model and what follows from it. */
typedef struct turn {
    agent *a;
    dialogue dialogue;
    int64_t seen;
    completion answer;
    chunks shown;
    agent_call calls[COMPLETION_CALLS_MAX];
} turn;

void agent_halt(agent *a, halt why)
{
    int now = atomic_load(&a->stop);

    while (now < (int)why && !atomic_compare_exchange_weak(&a->stop, &now, (int)why))
        continue;
}

/* --- writing --- */

static void log_fault(const agent *a, const char *event, const cardbox_error *err)
{
    char task[LOG_QUOTE_SIZE], reason[LOG_QUOTE_SIZE];

    log_error(
        event, "task=%s error=%s %s", log_quote(task, a->lease.task_id.ptr, a->lease.task_id.len),
        cardbox_status_name(err->status), log_quote(reason, err->message, strlen(err->message)));
}

/* What the ledger will never take, or never give, is no reason to try again when the lease is over:
 * the task fails. */
static agent_end give_up(agent *a, const cardbox_error *err)
{
    ledger_outcome ended;
    bool is_final = err->status == CARDBOX_INVALID || err->status == CARDBOX_TOO_LARGE ||
                    err->status == CARDBOX_NOT_FOUND || err->status == CARDBOX_INTERNAL;

    say(a->status, AGENT_STATUS_SIZE, "failed: the ledger refused: %s", err->message);
    task_write write = {
        .lease = a->lease, .ending = TASK_FINISHED, .status = view_of(a->status), .seen = -1};
    if (is_final && work_write(&ended, a->house->db, &write, NULL) == CARDBOX_OK)
        return AGENT_FINISHED;
    return AGENT_FAILED;
}

bool agent_write(agent *a, task_write *write, agent_end *end, ledger_outcome *ended)
{
    cardbox_error err = CARDBOX_ERROR_INIT;

    *ended = 0;
    *end = AGENT_LOST;
    if (atomic_load(&a->stop) == HALT_LOST)
        return false;
    write->lease = a->lease;
    cardbox_status status = work_write(ended, a->house->db, write, &err);
    if (status == CARDBOX_CONFLICT) {
        agent_halt(a, HALT_LOST);
        return false;
    }
    if (status != CARDBOX_OK) {
        log_fault(a, "task_write_failed", &err);
        *end = give_up(a, &err);
        return false;
    }
    if (*ended == LEDGER_UPDATED)
        *end = AGENT_FINISHED;
    else if (*ended == LEDGER_ASLEEP)
        *end = write->ending == TASK_HANDED_BACK ? AGENT_RETURNED : AGENT_ASLEEP;
    return *ended != LEDGER_UPDATED && *ended != LEDGER_ASLEEP;
}

/* Ends the task, unless there is a newer message to answer: then true. */
static bool finish(turn *t, const char *status, bool is_success, agent_end *end)
{
    ledger_outcome ended;
    task_write write = {.ending = TASK_FINISHED,
                        .status = view_of(status),
                        .seen = is_success ? t->seen : -1,
                        .awaits = is_success};

    say(t->a->status, AGENT_STATUS_SIZE, "%s", status);
    return agent_write(t->a, &write, end, &ended);
}

static bool hand_back(turn *t, agent_end *end)
{
    ledger_outcome ended;
    task_write write = {.ending = TASK_HANDED_BACK, .seen = -1};

    return agent_write(t->a, &write, end, &ended);
}

/* --- the model's answer --- */

/* `seen` tells what it answers: a message that came while it was said stands before it in time, and
 * yet is to be answered after it (dialogue.c). */
static void put_metadata(buf *out, const turn *t)
{
    const completion *c = &t->answer;

    buf_text(out, "{\"model\":");
    buf_json_string(out, view_of(t->a->house->model->name));
    buf_printf(out, ",\"finish_reason\":\"%s\",\"seen\":%lld", c->finish_reason,
               (long long)t->seen);
    if (c->usage.total_tokens >= 0)
        buf_printf(out,
                   ",\"usage\":{\"prompt_tokens\":%lld,\"completion_tokens\":%lld,"
                   "\"total_tokens\":%lld}",
                   (long long)c->usage.prompt_tokens, (long long)c->usage.completion_tokens,
                   (long long)c->usage.total_tokens);
    buf_char(out, '}');
}

/* The calls in the form of OpenAI's API, with ids of ours: those of models repeat. */
static void put_calls(buf *out, turn *t)
{
    completion *c = &t->answer;

    for (size_t i = 0; i < c->call_count; i++) {
        uuid16 id;
        uuid16_v7(&id);
        uuid16_format(t->calls[i].id, &id);
        t->calls[i].asked = &c->calls[i];
        buf_text(out, i == 0 ? "[" : ",");
        buf_printf(out, "{\"id\":\"%s\",\"type\":\"function\",\"function\":{\"name\":\"",
                   t->calls[i].id);
        buf_view(out, (view){buf_str(&c->calls[i].name), c->calls[i].name.len});
        buf_text(out, "\",\"arguments\":\"");
        buf_view(out, (view){buf_str(&c->calls[i].arguments), c->calls[i].arguments.len});
        buf_text(out, "\"}}");
    }
    if (c->call_count == 0)
        return;
    buf_char(out, ']');
    /* The card keeps them as jsonb; the calls themselves keep what that can't hold. */
    buf clean = BUF_INIT(CALLS_JSON_MAX);
    scan_sanitise(&clean, (view){buf_str(out), out->len});
    buf_free(out);
    *out = clean;
}

/* What an answer without calls makes of its task: half a text is kept, but is no success. Writing
 * on would need a server that goes on with its own words, and few do. */
static void say_status(turn *t)
{
    const char *cut = completion_cut_reason(&t->answer);

    if (cut != NULL)
        say(t->a->status, AGENT_STATUS_SIZE, "failed: %s", cut);
    else
        say(t->a->status, AGENT_STATUS_SIZE, "success");
}

/* Saves the message; without calls it is the last one of the turn. True: the task goes on. */
static bool save_answer(turn *t, agent_end *end)
{
    buf content = BUF_INIT(COMPLETION_TEXT_MAX + 2), metadata = BUF_INIT(METADATA_MAX);
    buf calls = BUF_INIT(CALLS_JSON_MAX);
    ledger_outcome ended;
    bool is_last = t->answer.call_count == 0;
    bool is_success = completion_cut_reason(&t->answer) == NULL;

    say_status(t);
    buf_char(&content, '"');
    buf_view(&content, (view){buf_str(&t->answer.text), t->answer.text.len});
    buf_char(&content, '"');
    put_metadata(&metadata, t);
    put_calls(&calls, t);
    message_input message = {.message_id = view_of(t->shown.message_id),
                             .task_id = t->a->lease.task_id,
                             .role = VIEW("assistant"),
                             .content = {buf_str(&content), content.len},
                             .metadata = {buf_str(&metadata), metadata.len}};
    if (!is_last)
        message.tool_calls = (view){buf_str(&calls), calls.len};
    task_write write = {.messages = &message,
                        .message_count = is_last && t->answer.text.len == 0 ? 0 : 1,
                        .ending = is_last ? TASK_FINISHED : TASK_GOES_ON,
                        .status = is_last ? view_of(t->a->status) : (view){NULL, 0},
                        .seen = is_last && is_success ? t->seen : -1,
                        .awaits = is_last && is_success};
    bool goes_on = agent_write(t->a, &write, end, &ended);
    if (goes_on && is_last)
        t->a->iterations = 0; /* somebody has said more: that is another turn of theirs */
    buf_free(&content);
    buf_free(&metadata);
    buf_free(&calls);
    return goes_on;
}

static void take_piece(void *arg, view inside)
{
    turn *t = arg;

    chunks_add(&t->shown, inside);
}

static void show_pieces(void *arg)
{
    turn *t = arg;

    if (!chunks_show(&t->shown))
        agent_halt(t->a, HALT_LOST);
}

static void begin_again(void *arg, const char *reason)
{
    turn *t = arg;
    char task[LOG_QUOTE_SIZE], why[LOG_QUOTE_SIZE];

    log_warn("model_asked_again", "task=%s reason=%s",
             log_quote(task, t->a->lease.task_id.ptr, t->a->lease.task_id.len),
             log_quote(why, reason, strlen(reason)));
    chunks_free(&t->shown);
    chunks_begin(&t->shown, t->a->house->db, &t->a->lease);
}

static model_end ask(turn *t, char reason[MODEL_REASON_SIZE])
{
    agent *a = t->a;
    buf request = BUF_INIT(t->dialogue.messages.len + a->house->offer.len + METADATA_MAX);
    model_watch watch = {
        .piece = take_piece, .again = begin_again, .tick = show_pieces, .arg = t, .stop = &a->stop};

    model_request(&request, a->house->model,
                  (view){buf_str(&t->dialogue.messages), t->dialogue.messages.len},
                  a->house->offer);
    a->model_calls++;
    model_end end = model_ask(&t->answer, a->net, a->house->model,
                              (view){buf_str(&request), request.len}, &watch, reason);
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
        if (atomic_load(&t->a->stop) != HALT_NONE)
            return hand_back(t, end);
        if (!agent_run_call(t->a, &t->calls[i], end))
            return false;
    }
    return true;
}

/* Asks and does what the answer says. True: again. */
static bool converse(turn *t, agent_end *end)
{
    char reason[MODEL_REASON_SIZE], status[AGENT_STATUS_SIZE];

    switch (ask(t, reason)) {
    case MODEL_STOPPED:
        return hand_back(t, end);
    case MODEL_FAILED:
        say(status, sizeof(status), "failed: %s", reason);
        return finish(t, status, false, end);
    case MODEL_ANSWERED:
        break;
    }
    return save_answer(t, end) && run_calls(t, end);
}

/* True: again. */
static bool take_turn(turn *t, agent_end *end)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    agent *a = t->a;

    if (atomic_load(&a->stop) != HALT_NONE)
        return hand_back(t, end);
    if (agent_load(&t->dialogue, &t->seen, a, &err) != CARDBOX_OK) {
        log_fault(a, "task_load_failed", &err);
        *end = give_up(a, &err);
        return false;
    }
    if (!t->dialogue.is_due) {
        a->iterations = 0;
        return finish(t, "success", true, end);
    }
    if (a->iterations >= a->house->max_iterations)
        return finish(t, "failed: Maximum iterations reached", false, end);
    a->iterations++;
    chunks_begin(&t->shown, a->house->db, &a->lease);
    return converse(t, end);
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
        again = take_turn(t, &end);
        chunks_free(&t->shown);
        completion_free(&t->answer);
        dialogue_free(&t->dialogue);
        free(t);
    }
    return end;
}
