/*
 * agent_call.c: runs one tool call and records it in the ledger. The first write records the call
 * as pending, then in progress, with a start message. The tool runs only if this write succeeds.
 * The second write records the call as completed or failed, with an end message.
 */
#include "app/json_text.h"
#include "cardbox/ids.h"
#include "cardbox/limits.h"
#include "worker/agent/agent.h"
#include "worker/tools/toolrun.h"

enum { NAME_SIZE = 300, TEXT_SIZE = 1024, TOKEN_MAX = 4096 };

typedef struct call_run {
    agent *a;
    tool_call call;       /* call.tool is NULL if the model named an unknown tool */
    char name[NAME_SIZE]; /* name of the tool; for an unknown tool, the name that the model used */
    buf parameters;       /* the arguments of the call as a JSON string */
    bool has_object;      /* the arguments are a JSON object */
    const char *cut_reason; /* why the answer with the call ended early; NULL: it is complete */
    char start_id[UUID_TEXT_SIZE];
} call_run;

static call_input call_with_status(const call_run *r, slice status)
{
    return (call_input){.call_id = slice_of(r->call.call_id),
                        .task_id = r->a->lease.task_id,
                        .ability = slice_of(r->name),
                        .status = status,
                        .parameters = buf_as_slice(&r->parameters),
                        .start_id = slice_of(r->start_id)};
}

/* Writes changes of a call together with a message for people. The metadata of the message contains
 * the id of the call. */
static agent_end write_with_message(call_run *r, task_write write, const char *id, const char *text)
{
    buf content = BUF_INIT(TOKEN_MAX), metadata = BUF_INIT(TOKEN_MAX);

    buf_json_string(&content, slice_of(text));
    buf_json_take(&metadata,
                  json_pack("{s:s, s:s}", "type", "agent.thought", "call_id", r->call.call_id));
    message_input message = {.message_id = slice_of(id),
                             .task_id = r->a->lease.task_id,
                             .role = SLICE("assistant"),
                             .content = buf_as_slice(&content),
                             .metadata = buf_as_slice(&metadata)};
    write.messages = &message;
    write.message_count = 1;
    write.seen = -1;
    agent_end end = agent_write(r->a, &write);
    buf_free(&content);
    buf_free(&metadata);
    return end;
}

static agent_end write_start(call_run *r)
{
    char text[TEXT_SIZE];
    const call_input calls[] = {call_with_status(r, SLICE("pending")),
                                call_with_status(r, SLICE("in_progress"))};
    task_write write = {.calls = calls, .call_count = 2, .ending = CARDBOX_GOES_ON};

    format_line(text, sizeof(text), "🔧 Calling %s...", r->name);
    return write_with_message(r, write, r->start_id, text);
}

static void run_tool(tool_outcome *out, call_run *r)
{
    if (r->call.tool == NULL) {
        tool_fail(out, "there is no tool \"%s\"", r->name);
    } else if (!r->has_object && r->cut_reason != NULL) {
        tool_fail(out, "the arguments are no JSON object: %s", r->cut_reason);
    } else if (!r->has_object) {
        tool_fail(out, "the arguments are no JSON object");
    } else {
        r->a->tool_calls++;
        tool_run(out, &r->call);
    }
    if (out->is_stopped)
        tool_fail(out, "Worker stopped during execution");
}

/* Appends the result of a tool as a JSON string, as the ledger stores results. If this string is
 * too large for the ledger, the call counts as failed, so that the model gets the reason. */
static void put_details(buf *out, tool_outcome *outcome)
{
    buf_json_string(out, buf_as_slice(&outcome->details));
    if (buf_ok(out))
        return;
    tool_fail(outcome, "its result is over the limit of %u bytes in the ledger",
              CARDBOX_CONTENT_MAX);
    buf_reset(out, CARDBOX_CONTENT_MAX);
    buf_json_string(out, buf_as_slice(&outcome->details));
}

/* If the worker stopped during the call, the effect of the call is unknown. So the call is recorded
 * as failed, and the task is handed back. */
static agent_end write_end(call_run *r, tool_outcome *outcome)
{
    char text[TEXT_SIZE], end_id[UUID_TEXT_SIZE];
    buf details = BUF_INIT(CARDBOX_CONTENT_MAX);

    put_details(&details, outcome);
    call_input call =
        call_with_status(r, outcome->has_failed ? SLICE("failed") : SLICE("completed"));
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
    agent_end end = write_with_message(r, write, end_id, text);
    buf_free(&details);
    return end;
}

agent_end agent_run_call(agent *a, const completion_call *requested, const char *call_id,
                         const char *cut_reason)
{
    const tool *found = tools_find(a->tools.list, buf_as_slice(&requested->name));
    slice arguments = buf_as_slice(&requested->arguments);
    call_run r = {.a = a,
                  .call = {.tool = found,
                           .tenant = a->lease.tenant.ptr,
                           .task_id = a->lease.task_id.ptr,
                           .call_id = call_id,
                           .arguments = arguments.len > 0 ? arguments : SLICE("{}"),
                           .db = a->shared->db,
                           .net = a->net,
                           .allows_private = a->tools.list->allows_private,
                           .stop = &a->stop},
                  .parameters = BUF_INIT((size_t)6 * COMPLETION_ARGUMENTS_MAX + 2),
                  .has_object = completion_has_object(requested),
                  .cut_reason = cut_reason};
    tool_outcome outcome = {.details = BUF_INIT(TOOL_DETAILS_MAX)};

    cardbox_uuid7(r.start_id);
    format_line(r.name, sizeof(r.name), "%s",
                found != NULL ? found->name : buf_str(&requested->name));
    buf_json_string(&r.parameters, r.call.arguments);
    agent_end end = write_start(&r);
    if (end == AGENT_CONTINUES) {
        run_tool(&outcome, &r);
        end = write_end(&r, &outcome);
    }
    buf_free(&outcome.details);
    buf_free(&r.parameters);
    return end;
}
