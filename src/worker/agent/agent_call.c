/*
 * agent_call.c: a call from its beginning to its end, as the ledger tells it: pending, a start
 * message, in progress, the tool's work, completed or failed, an end message. What changes together
 * is written together. A call is run only once it is written that it began.
 */
#include "app/json_text.h"
#include "cardbox/ids.h"
#include "cardbox/limits.h"
#include "worker/agent/agent_internal.h"
#include "worker/format_line.h"
#include "worker/tools/toolrun.h"

enum { NAME_SIZE = 300, TEXT_SIZE = 1024, TOKEN_MAX = 4096, ARGUMENTS_DEPTH_MAX = 64 };

/* A call under way. */
typedef struct call_run {
    agent *a;
    const agent_call *call;
    const tool *tool;     /* NULL: there is none of that name */
    char name[NAME_SIZE]; /* of the tool, or as the model says it */
    slice arguments;      /* as the model wrote them: JSON of an object, most often */
    buf parameters;       /* the arguments as a JSON string */
    char start_id[UUID_TEXT_SIZE];
} call_run;

static call_input call_as(const call_run *r, slice status)
{
    return (call_input){.call_id = slice_of(r->call->id),
                        .task_id = r->a->lease.task_id,
                        .ability = slice_of(r->name),
                        .status = status,
                        .parameters = buf_as_slice(&r->parameters),
                        .start_id = slice_of(r->start_id)};
}

/* Writes what has changed of the call, with the message that tells people so: its metadata says
 * which call that is. */
static bool tell(call_run *r, task_write write, slice id, const char *text, agent_end *end)
{
    buf content = BUF_INIT(TOKEN_MAX), metadata = BUF_INIT(TOKEN_MAX);

    buf_json_string(&content, slice_of(text));
    buf_json_take(&metadata,
                  json_pack("{s:s, s:s}", "type", "agent.thought", "call_id", r->call->id));
    message_input message = {.message_id = id,
                             .task_id = r->a->lease.task_id,
                             .role = SLICE("assistant"),
                             .content = buf_as_slice(&content),
                             .metadata = buf_as_slice(&metadata)};
    write.messages = &message;
    write.message_count = 1;
    write.seen = -1;
    bool goes_on = agent_write(r->a, &write, end);
    buf_free(&content);
    buf_free(&metadata);
    return goes_on;
}

/* --- before --- */

static bool write_start(call_run *r, agent_end *end)
{
    char text[TEXT_SIZE];
    const call_input calls[] = {call_as(r, SLICE("pending")), call_as(r, SLICE("in_progress"))};
    task_write write = {.calls = calls, .call_count = 2, .ending = CARDBOX_GOES_ON};

    format_line(text, sizeof(text), "🔧 Calling %s...", r->name);
    return tell(r, write, slice_of(r->start_id), text, end);
}

/* Whether it can be run; else `out` says why not. */
static bool check_call(tool_outcome *out, call_run *r)
{
    char reason[NAME_SIZE + 100];
    scan_value value;

    if (r->tool == NULL) {
        format_line(reason, sizeof(reason), "there is no tool \"%s\"", r->name);
        tool_fail(out, reason);
        return false;
    }
    if (!scan_check(r->arguments, ARGUMENTS_DEPTH_MAX, &value, NULL, NULL) ||
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

    buf_json_string(out, buf_as_slice(&outcome->details));
    if (buf_ok(out))
        return;
    format_line(reason, sizeof(reason),
                "its result is over the %u bytes that the ledger keeps of one",
                CARDBOX_CONTENT_MAX);
    tool_fail(outcome, reason);
    buf_reset(out, CARDBOX_CONTENT_MAX);
    buf_json_string(out, buf_as_slice(&outcome->details));
}

/* A call whose worker stops may have done its work or not, and is not run again. */
static bool write_end(call_run *r, tool_outcome *outcome, agent_end *end)
{
    char text[TEXT_SIZE], end_id[UUID_TEXT_SIZE];
    buf details = BUF_INIT(CARDBOX_CONTENT_MAX);

    put_details(&details, outcome);
    call_input call = call_as(r, outcome->has_failed ? SLICE("failed") : SLICE("completed"));
    task_write write = {.calls = &call,
                        .call_count = 1,
                        .ending = outcome->is_stopped ? CARDBOX_HANDED_BACK : CARDBOX_GOES_ON};
    if (outcome->has_failed)
        format_line(text, sizeof(text), "✗ %s failed: %s", r->name, outcome->reason);
    else
        format_line(text, sizeof(text), "✓ %s completed", r->name);
    cardbox_uuid7(end_id);
    call.details = buf_as_slice(&details);
    call.end_id = slice_of(end_id);
    bool goes_on = tell(r, write, slice_of(end_id), text, end);
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
                      .arguments = r->arguments,
                      .db = a->shared->db,
                      .net = a->net,
                      .stop = &a->stop};

    a->tool_calls++;
    tool_run(out, &call);
    if (out->is_stopped)
        tool_fail(out, "Worker stopped during execution");
}

/* The tool and its name; a name that no tool has is cut to one line. */
static void find_tool(call_run *r)
{
    const buf *name = &r->call->asked->name;

    r->tool = tools_find(r->a->shared->tools, buf_as_slice(name));
    format_line(r->name, sizeof(r->name), "%s", r->tool != NULL ? r->tool->name : buf_str(name));
}

bool agent_run_call(agent *a, const agent_call *call, agent_end *end)
{
    slice arguments = buf_as_slice(&call->asked->arguments);
    call_run r = {.a = a,
                  .call = call,
                  .arguments = arguments.len > 0 ? arguments : SLICE("{}"),
                  .parameters = BUF_INIT((size_t)6 * COMPLETION_ARGUMENTS_MAX + 2)};
    tool_outcome outcome;
    bool goes_on = false;

    *end = AGENT_LOST;
    tool_outcome_init(&outcome);
    cardbox_uuid7(r.start_id);
    find_tool(&r);
    buf_json_string(&r.parameters, r.arguments);
    if (!write_start(&r, end))
        goto done;
    if (check_call(&outcome, &r))
        run_tool(&outcome, &r);
    if (atomic_load(&a->stop) == STOP_LOST)
        goto done;
    goes_on = write_end(&r, &outcome, end);
done:
    tool_outcome_free(&outcome);
    buf_free(&r.parameters);
    return goes_on;
}
