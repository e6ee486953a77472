/*
 * agent_call.c: a call from its beginning to its end, as the ledger tells it: pending, a start
 * message, in progress, the tool's work, completed or failed, an end message. What changes together
 * is written together. A call is run only once it is written that it began.
 */
#include "base/log.h"
#include "cardbox/limits.h"
#include "worker/agent_parts.h"
#include "worker/say.h"
#include "worker/toolrun.h"

enum { NAME_SIZE = 300, TEXT_SIZE = 1024, TOKEN_MAX = 4096, ARGUMENTS_DEPTH_MAX = 64 };

/* A call under way. */
typedef struct call_run {
    agent *a;
    const agent_call *call;
    const tool *tool;     /* NULL: there is none of that name */
    char name[NAME_SIZE]; /* of the tool, or as the model says it */
    buf parameters;       /* a token */
    buf arguments;        /* JSON */
    char start_id[UUID_TEXT_SIZE];
} call_run;

static void make_id(char out[UUID_TEXT_SIZE])
{
    uuid16 id;

    uuid16_v7(&id);
    uuid16_format(out, &id);
}

static void put_token(buf *out, const buf *inside)
{
    buf_char(out, '"');
    buf_view(out, (view){buf_str(inside), inside->len});
    buf_char(out, '"');
}

/* A message for people: its metadata says which call it tells of. */
static void fill_message(message_input *m, buf *content, buf *metadata, const call_run *r, view id,
                         const char *text)
{
    buf_json_string(content, view_of(text));
    buf_printf(metadata, "{\"type\":\"agent.thought\",\"call_id\":\"%s\"}", r->call->id);
    *m = (message_input){.message_id = id,
                         .task_id = r->a->lease.task_id,
                         .role = VIEW("assistant"),
                         .content = {buf_str(content), content->len},
                         .metadata = {buf_str(metadata), metadata->len}};
}

static call_input call_as(const call_run *r, view status)
{
    return (call_input){.call_id = view_of(r->call->id),
                        .task_id = r->a->lease.task_id,
                        .ability = view_of(r->name),
                        .status = status,
                        .parameters = {buf_str(&r->parameters), r->parameters.len},
                        .start_id = view_of(r->start_id)};
}

/* --- before --- */

static bool write_start(call_run *r, agent_end *end)
{
    char text[TEXT_SIZE];
    buf content = BUF_INIT(TOKEN_MAX), metadata = BUF_INIT(TOKEN_MAX);
    message_input message;
    call_input calls[] = {call_as(r, VIEW("pending")), call_as(r, VIEW("in_progress"))};
    task_write write = {.messages = &message,
                        .message_count = 1,
                        .calls = calls,
                        .call_count = 2,
                        .ending = TASK_GOES_ON,
                        .seen = -1};
    ledger_outcome ended;

    say(text, sizeof(text), "🔧 Calling %s...", r->name);
    fill_message(&message, &content, &metadata, r, view_of(r->start_id), text);
    bool goes_on = agent_write(r->a, &write, end, &ended);
    buf_free(&content);
    buf_free(&metadata);
    return goes_on;
}

/* Whether it can be run; else `out` says why not. */
static bool check_call(tool_outcome *out, call_run *r)
{
    char reason[NAME_SIZE + 100];
    scan_value value;
    buf token = BUF_INIT(COMPLETION_ARGUMENTS_MAX + 2);

    put_token(&token, &r->call->asked->arguments);
    bool is_text = scan_decode(&r->arguments, (view){buf_str(&token), token.len});
    buf_free(&token);
    if (is_text && r->arguments.len == 0)
        buf_text(&r->arguments, "{}");
    if (r->tool == NULL) {
        say(reason, sizeof(reason), "there is no tool \"%s\"", r->name);
        tool_fail(out, reason);
        return false;
    }
    if (!is_text || !buf_ok(&r->arguments) ||
        !scan_check((view){buf_str(&r->arguments), r->arguments.len}, ARGUMENTS_DEPTH_MAX, &value,
                    NULL, NULL) ||
        value.kind != SCAN_OBJECT) {
        tool_fail(out, "the arguments are no JSON object");
        return false;
    }
    return true;
}

/* --- after --- */

/* The details as the ledger keeps them. What it would refuse for its size is no reason to leave the
 * call open: the call fails, and the model hears why. */
static void put_details(buf *out, tool_outcome *outcome)
{
    char reason[NAME_SIZE];

    buf_json_string(out, (view){buf_str(&outcome->details), outcome->details.len});
    if (buf_ok(out))
        return;
    bool was_stopped = outcome->is_stopped;
    say(reason, sizeof(reason), "its result is over the %u bytes that the ledger keeps of one",
        CARDBOX_CONTENT_MAX);
    tool_outcome_free(outcome);
    tool_fail(outcome, reason);
    outcome->is_stopped = was_stopped;
    buf_reset(out, CARDBOX_CONTENT_MAX);
    buf_json_string(out, (view){buf_str(&outcome->details), outcome->details.len});
}

/* The status of a call whose worker stops: it may have done its work or not, and is not run again.
 */
static bool write_end(call_run *r, tool_outcome *outcome, agent_end *end)
{
    char text[TEXT_SIZE], end_id[UUID_TEXT_SIZE];
    buf content = BUF_INIT(TOKEN_MAX), metadata = BUF_INIT(TOKEN_MAX);
    buf details = BUF_INIT(CARDBOX_CONTENT_MAX);
    message_input message;
    put_details(&details, outcome);
    call_input call = call_as(r, outcome->has_failed ? VIEW("failed") : VIEW("completed"));
    task_write write = {.messages = &message,
                        .message_count = 1,
                        .calls = &call,
                        .call_count = 1,
                        .ending = outcome->is_stopped ? TASK_HANDED_BACK : TASK_GOES_ON,
                        .seen = -1};
    ledger_outcome ended;

    make_id(end_id);
    if (outcome->has_failed)
        say(text, sizeof(text), "✗ %s failed: %s", r->name, outcome->reason);
    else
        say(text, sizeof(text), "✓ %s completed", r->name);
    fill_message(&message, &content, &metadata, r, view_of(end_id), text);
    call.details = (view){buf_str(&details), details.len};
    call.end_id = view_of(end_id);
    bool goes_on = agent_write(r->a, &write, end, &ended);
    buf_free(&content);
    buf_free(&metadata);
    buf_free(&details);
    return goes_on;
}

static void run_tool(tool_outcome *out, call_run *r)
{
    agent *a = r->a;
    tool_call call = {.tool = r->tool,
                      .tenant = a->lease.tenant.ptr,
                      .task_id = a->lease.task_id.ptr,
                      .call_id = r->call->id,
                      .arguments = {buf_str(&r->arguments), r->arguments.len},
                      .db = a->house->db,
                      .net = a->net,
                      .stop = &a->stop};

    a->tool_calls++;
    tool_run(out, &call);
    if (out->is_stopped) {
        tool_outcome_free(out);
        tool_fail(out, "Worker stopped during execution");
        out->is_stopped = true;
    }
}

/* The tool's name as it is called here; a name that there is not, without what no name holds. */
static void find_tool(call_run *r)
{
    buf token = BUF_INIT(COMPLETION_NAME_MAX + 2), name = BUF_INIT(COMPLETION_NAME_MAX);

    put_token(&token, &r->call->asked->name);
    if (!scan_decode(&name, (view){buf_str(&token), token.len}))
        buf_text(&name, "?");
    r->tool = tools_find(r->a->house->tools, (view){buf_str(&name), name.len});
    say(r->name, sizeof(r->name), "%s", r->tool != NULL ? r->tool->name : buf_str(&name));
    if (r->name[0] == '\0')
        say(r->name, sizeof(r->name), "?");
    buf_free(&token);
    buf_free(&name);
}

bool agent_run_call(agent *a, const agent_call *call, agent_end *end)
{
    call_run r = {.a = a,
                  .call = call,
                  .parameters = BUF_INIT(COMPLETION_ARGUMENTS_MAX + 2),
                  .arguments = BUF_INIT(COMPLETION_ARGUMENTS_MAX)};
    tool_outcome outcome = {.details = BUF_INIT(0)};
    bool goes_on = false;

    *end = AGENT_LOST;
    make_id(r.start_id);
    find_tool(&r);
    if (call->asked->arguments.len > 0)
        put_token(&r.parameters, &call->asked->arguments);
    else
        buf_text(&r.parameters, "\"{}\"");
    if (!write_start(&r, end))
        goto done;
    if (check_call(&outcome, &r))
        run_tool(&outcome, &r);
    if (atomic_load(&a->stop) == HALT_LOST)
        goto done;
    goes_on = write_end(&r, &outcome, end);
done:
    tool_outcome_free(&outcome);
    buf_free(&r.parameters);
    buf_free(&r.arguments);
    return goes_on;
}
