/*
 * toolrun.c: runs commands, URLs and abilities. If the output of a tool is JSON, nested at most
 * DEPTH_MAX levels, the result is this JSON. The result of any other output is a JSON string.
 */
#include "worker/tools/toolrun.h"
#include <stdlib.h>
#include "app/json_text.h"
#include "base/scan.h"
#include "bus/schema/schema.h"
#include "cardbox.h"
#include "outbound/ability_call.h"
#include "worker/process/subprocess.h"

enum { VARIABLE_MAX = 32 * 1024, CONNECT_MS = 10000, DEPTH_MAX = 64 };

/* A command inherits only these environment variables from the worker, so it gets no variable with
 * the database's password or the model's key. */
static const char *const PASSED_ON[] = {"PATH", "HOME",   "USER",  "LANG",   "LC_ALL",
                                        "TZ",   "TMPDIR", "SHELL", "LOGNAME"};
enum { PASSED_ON_COUNT = sizeof(PASSED_ON) / sizeof(PASSED_ON[0]), OWN_COUNT = 3 };

void tool_set_failed(tool_outcome *outcome)
{
    outcome->has_failed = true;
    buf_reset(&outcome->details, 0);
    buf_json_take(&outcome->details, json_pack("{s:s}", "error", outcome->reason));
}

/* Appends `text`, with U+FFFD for each byte that is not part of valid UTF-8. */
static void put_clean(buf *out, slice text)
{
    while (text.len > 0) {
        size_t step = slice_utf8_step(text);
        if (step == 0)
            buf_text(out, "\xEF\xBF\xBD");
        else
            buf_add(out, text.ptr, step);
        text = (slice){text.ptr + (step > 0 ? step : 1), text.len - (step > 0 ? step : 1)};
    }
}

static slice trimmed(slice text)
{
    while (text.len > 0 && strchr(" \t\r\n", text.ptr[text.len - 1]) != NULL)
        text.len--;
    return text;
}

static void set_result(tool_outcome *out, slice given)
{
    scan_value value;
    buf clean = BUF_INIT(TOOL_DETAILS_MAX);

    if (scan_check(given, DEPTH_MAX, &value, NULL, NULL)) {
        buf_slice(&out->details, value.text);
    } else {
        put_clean(&clean, trimmed(given));
        buf_json_string(&out->details, buf_as_slice(&clean));
    }
    if (!buf_ok(&clean) || !buf_ok(&out->details))
        tool_fail(out, "out of memory");
    buf_free(&clean);
}

/* --- commands --- */

typedef struct environment {
    char *list[PASSED_ON_COUNT + OWN_COUNT + 1];
    size_t count;
    arena memory;
} environment;

static void add_variable(environment *e, const char *name, const char *value)
{
    buf text = BUF_INIT(VARIABLE_MAX);

    if (value == NULL)
        return;
    buf_printf(&text, "%s=%s", name, value);
    if (buf_ok(&text))
        e->list[e->count] = arena_copy(&e->memory, buf_as_slice(&text));
    e->count += e->list[e->count] != NULL;
    buf_free(&text);
}

/* Marks the call of a command as failed. The reason consists of `how`, r->number, and the end of
 * the command's standard error. */
static void fail_after_exit(tool_outcome *out, const char *how, const subprocess_result *r)
{
    slice last_lines = trimmed((slice){r->errors, r->errors_len});
    size_t most = TOOL_REASON_SIZE - 80;

    if (last_lines.len > most)
        last_lines = (slice){last_lines.ptr + last_lines.len - most, most};
    tool_fail(out, "%s %d%s%.*s", how, r->number, last_lines.len > 0 ? ": " : "",
              (int)last_lines.len, last_lines.ptr);
}

static void set_command_result(tool_outcome *out, const tool_call *call, const subprocess_result *r,
                               slice output)
{
    switch (r->end) {
    case SUBPROCESS_EXITED:
        if (r->number == 0)
            set_result(out, output);
        else
            fail_after_exit(out, "exit status", r);
        break;
    case SUBPROCESS_KILLED:
        fail_after_exit(out, "ended by signal", r);
        break;
    case SUBPROCESS_NOT_STARTED:
        tool_fail(out, "cannot be started: %s", strerrordesc_np(r->number));
        break;
    case SUBPROCESS_TIMEOUT:
        tool_fail(out, "not done within %ld ms", call->tool->time_ms);
        break;
    case SUBPROCESS_OUTPUT_LIMIT:
        tool_fail(out, "over %ld bytes of output", call->tool->output_max);
        break;
    case SUBPROCESS_STOPPED:
        out->is_stopped = true;
        break;
    case SUBPROCESS_LOST:
        tool_fail(out, "its supervisor process was killed");
        break;
    }
}

static void run_command(tool_outcome *out, const tool_call *call)
{
    environment variables = {.memory = ARENA_INIT};
    buf output = BUF_INIT((size_t)call->tool->output_max);
    subprocess_result result;

    for (size_t i = 0; i < PASSED_ON_COUNT; i++)
        add_variable(&variables, PASSED_ON[i], getenv(PASSED_ON[i]));
    add_variable(&variables, "CARDBOX_PROJECT", call->tenant);
    add_variable(&variables, "CARDBOX_TASK_ID", call->task_id);
    add_variable(&variables, "CARDBOX_CALL_ID", call->call_id);
    subprocess_spec spec = {call->tool->argv, variables.list, call->arguments, call->tool->time_ms,
                            call->stop};
    subprocess_run(&result, &output, &spec);
    set_command_result(out, call, &result, buf_as_slice(&output));
    buf_free(&output);
    arena_reset(&variables.memory);
}

/* --- URLs --- */

static net_sink_result take_answer(void *arg, long status, slice bytes)
{
    buf *answer = arg;

    (void)status;
    buf_slice(answer, bytes);
    return buf_ok(answer) ? NET_CONTINUE : NET_ABORT;
}

static void run_url(tool_outcome *out, const tool_call *call)
{
    char task[700], id[700];
    const char *const headers[] = {"Content-Type: application/json", task, id, NULL};
    buf body = BUF_INIT((size_t)call->tool->output_max);
    net_answer answer;
    net_request request = {.url = call->tool->url,
                           .headers = headers,
                           .body = call->arguments,
                           .connect_ms = CONNECT_MS,
                           .idle_ms = call->tool->time_ms,
                           .total_ms = call->tool->time_ms,
                           .sink = take_answer,
                           .arg = &body,
                           .stop = call->stop};

    format_line(task, sizeof(task), "X-Caller-Id: %s", call->task_id);
    format_line(id, sizeof(id), "X-Call-Id: %s", call->call_id);
    net_post(&answer, call->net, &request);
    slice given = buf_as_slice(&body);
    out->is_stopped = answer.end == NET_STOPPED;
    if (answer.end == NET_ABORTED)
        tool_fail(out, "over %ld bytes of output", call->tool->output_max);
    else if (answer.end != NET_ANSWERED)
        tool_fail(out, "%s", answer.error);
    else if (answer.status >= 200 && answer.status < 300)
        set_result(out, given);
    else
        tool_fail(out, "HTTP status %ld: %.*s", answer.status, (int)slice_cut(given, 300),
                  given.ptr);
    buf_free(&body);
}

/* --- abilities --- */

/* In calls of task:spawn, the running task becomes the parent of the new task, unless the model
 * names a parent. So the running task, if it waits, is woken by the end of the new task. */
static void put_ability_input(buf *out, const tool_call *call)
{
    scan_value input = scan_whole(call->arguments), first;
    slice key;
    scan_walk walk = scan_enter(input);

    if (strcmp(call->tool->name, "task:spawn") != 0 ||
        scan_find(input, "parentTaskId").kind != SCAN_NONE) {
        buf_slice(out, call->arguments);
        return;
    }
    buf_text(out, "{\"parentTaskId\":");
    buf_json_string(out, slice_of(call->task_id));
    if (scan_member(&walk, &key, &first))
        buf_char(out, ',');
    buf_slice(out, (slice){input.text.ptr + 1, input.text.len - 1});
}

static void run_ability(tool_outcome *out, const tool_call *call)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    buf input = BUF_INIT(TOOL_DETAILS_MAX);
    char *output = NULL;

    put_ability_input(&input, call);
    if (cardbox_invoke(&output, call->db, call->tenant, call->tool->name, call->call_id,
                       call->task_id, buf_str(&input), &err) == CARDBOX_OK)
        set_result(out, slice_of(output));
    else
        tool_fail(out, "%s", err.message);
    cardbox_free(output);
    buf_free(&input);
}

static void run_registered(tool_outcome *out, const tool_call *call)
{
    ability_outcome result;
    buf output = BUF_INIT(ABILITY_OUTPUT_MAX);
    const ability_call sent = {.definition = call->tool->definition,
                               .project = slice_of(call->tenant),
                               .call_id = slice_of(call->call_id),
                               .caller_id = slice_of(call->task_id),
                               .input = scan_whole(call->arguments),
                               .may_be_private = call->allows_private,
                               .stop = call->stop};

    ability_call_run(&result, &output, call->net, &sent);
    out->is_stopped = result.end == ABILITY_STOPPED;
    if (result.end == ABILITY_DONE)
        set_result(out, buf_as_slice(&output));
    else
        tool_fail(out, "%s", result.end == ABILITY_NO_MEMORY ? "out of memory" : result.message);
    buf_free(&output);
}

/* If the tool is a command or a URL, checks the arguments against the tool's schema. If the tool is
 * an ability, cardbox_invoke() or ability_call_run() checks them. */
void tool_run(tool_outcome *out, const tool_call *call)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    const tool *t = call->tool;

    if (t->kind == TOOL_ABILITY)
        run_ability(out, call);
    else if (t->kind == TOOL_REGISTERED)
        run_registered(out, call);
    else if (schema_validate(NULL, scan_whole(t->parameters), scan_whole(call->arguments),
                             SCHEMA_PATIENT, &err) != CARDBOX_OK)
        tool_fail(out, "%s", err.message);
    else if (t->kind == TOOL_COMMAND)
        run_command(out, call);
    else
        run_url(out, call);
}
