/*
 * toolrun.c: runs commands, URLs and abilities. An output that is valid JSON is kept as JSON, any
 * other as a string.
 */
#include "worker/tools/toolrun.h"
#include <stdlib.h>
#include "app/json_text.h"
#include "base/scan.h"
#include "bus/schema/schema.h"
#include "cardbox.h"
#include "worker/process/subprocess.h"
#include "worker/format_line.h"

enum {
    VARIABLE_MAX = 32 * 1024,
    VARIABLES_MAX = 16,
    CONNECT_MS = 10000,
    DETAILS_MAX = 8 * TOOL_OUTPUT_MAX /* every byte may become a JSON escape */
};

/* Variables that a command inherits. The database's password and the model's key are not among
 * them. */
static const char *const PASSED_ON[] = {"PATH", "HOME",   "USER",  "LANG",   "LC_ALL",
                                        "TZ",   "TMPDIR", "SHELL", "LOGNAME"};
enum { PASSED_ON_COUNT = sizeof(PASSED_ON) / sizeof(PASSED_ON[0]) };

void tool_outcome_init(tool_outcome *outcome)
{
    *outcome = (tool_outcome){.details = BUF_INIT(DETAILS_MAX)};
}

void tool_outcome_free(tool_outcome *outcome)
{
    buf_free(&outcome->details);
}

void tool_fail(tool_outcome *outcome, const char *reason)
{
    outcome->has_failed = true;
    format_line(outcome->reason, sizeof(outcome->reason), "%s", reason);
    buf_reset(&outcome->details, 0);
    buf_json_take(&outcome->details, json_pack("{s:s}", "error", outcome->reason));
}

/* Appends text. Invalid UTF-8 is replaced by U+FFFD. */
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
    buf clean = BUF_INIT(DETAILS_MAX);

    if (scan_check(given, TOOLRUN_DEPTH_MAX, &value, NULL, NULL)) {
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
    char *list[VARIABLES_MAX + 1];
    size_t count;
    arena memory;
} environment;

static void add_variable(environment *e, const char *name, const char *value)
{
    buf text = BUF_INIT(VARIABLE_MAX);

    if (value == NULL || e->count == VARIABLES_MAX)
        return;
    buf_printf(&text, "%s=%s", name, value);
    if (buf_ok(&text))
        e->list[e->count] = arena_copy(&e->memory, buf_as_slice(&text));
    if (e->list[e->count] != NULL)
        e->count++;
    buf_free(&text);
}

static void fill_environment(environment *e, const tool_call *call)
{
    *e = (environment){.memory = ARENA_INIT};
    for (size_t i = 0; i < PASSED_ON_COUNT; i++)
        add_variable(e, PASSED_ON[i], getenv(PASSED_ON[i]));
    add_variable(e, "CARDBOX_PROJECT", call->tenant);
    add_variable(e, "CARDBOX_TASK_ID", call->task_id);
    add_variable(e, "CARDBOX_CALL_ID", call->call_id);
}

/* Writes in one line how the command ended and the end of its standard error. */
static void format_exit(char reason[TOOLRUN_REASON_SIZE], const char *how,
                        const subprocess_result *r)
{
    slice last_lines = trimmed((slice){r->errors, r->errors_len});
    size_t most = TOOLRUN_REASON_SIZE - 80;

    if (last_lines.len > most)
        last_lines = (slice){last_lines.ptr + last_lines.len - most, most};
    format_line(reason, TOOLRUN_REASON_SIZE, "%s %d%s%.*s", how, r->number,
                last_lines.len > 0 ? ": " : "", (int)last_lines.len, last_lines.ptr);
}

static void set_command_result(tool_outcome *out, const tool_call *call, const subprocess_result *r,
                               slice output)
{
    char reason[TOOLRUN_REASON_SIZE] = "";

    switch (r->end) {
    case SUBPROCESS_EXITED:
        if (r->number == 0) {
            set_result(out, output);
            return;
        }
        format_exit(reason, "exit status", r);
        break;
    case SUBPROCESS_KILLED:
        format_exit(reason, "ended by signal", r);
        break;
    case SUBPROCESS_NOT_STARTED:
        format_line(reason, sizeof(reason), "cannot be started: %s", strerrordesc_np(r->number));
        break;
    case SUBPROCESS_TIMEOUT:
        format_line(reason, sizeof(reason), "not done within %ld ms", call->tool->time_ms);
        break;
    case SUBPROCESS_OUTPUT_LIMIT:
        format_line(reason, sizeof(reason), "over %ld bytes of output", call->tool->output_max);
        break;
    case SUBPROCESS_STOPPED:
        out->is_stopped = true;
        format_line(reason, sizeof(reason), "stopped");
        break;
    case SUBPROCESS_LOST:
        format_line(reason, sizeof(reason), "its supervisor process was killed");
        break;
    }
    tool_fail(out, reason);
}

static void run_command(tool_outcome *out, const tool_call *call)
{
    environment variables;
    buf output = BUF_INIT((size_t)call->tool->output_max);
    subprocess_result result;

    fill_environment(&variables, call);
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
    char task[700], id[700], reason[TOOLRUN_REASON_SIZE];
    buf body = BUF_INIT((size_t)call->tool->output_max);
    net_answer answer;
    net_request request = {.url = call->tool->url,
                           .headers = {"Content-Type: application/json", task, id},
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
        format_line(reason, sizeof(reason), "over %ld bytes of output", call->tool->output_max);
    else if (answer.end != NET_ANSWERED)
        format_line(reason, sizeof(reason), "%s", answer.error);
    else
        format_line(reason, sizeof(reason), "HTTP status %ld: %.*s", answer.status,
                    (int)slice_cut(given, 300), given.ptr);
    if (answer.end == NET_ANSWERED && answer.status >= 200 && answer.status < 300)
        set_result(out, given);
    else
        tool_fail(out, reason);
    buf_free(&body);
}

/* --- abilities --- */

/* Adds the running task as the parent of a task that it spawns, unless the model names another
 * parent. The end of a task wakes its parent. */
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
    buf input = BUF_INIT(DETAILS_MAX);
    char *output = NULL;

    put_ability_input(&input, call);
    if (cardbox_invoke(&output, call->db, call->tenant, call->tool->name, call->call_id,
                       call->task_id, buf_str(&input), &err) == CARDBOX_OK)
        set_result(out, slice_of(output));
    else
        tool_fail(out, err.message);
    cardbox_free(output);
    buf_free(&input);
}

/* Checks the arguments against the tool's schema. The bus checks those of abilities. */
static bool are_valid(tool_outcome *out, const tool_call *call)
{
    cardbox_error err = CARDBOX_ERROR_INIT;

    if (call->tool->kind == TOOL_ABILITY ||
        schema_validate(NULL, scan_whole(call->tool->parameters), scan_whole(call->arguments),
                        &err) == CARDBOX_OK)
        return true;
    tool_fail(out, err.message);
    return false;
}

void tool_run(tool_outcome *out, const tool_call *call)
{
    if (!are_valid(out, call))
        return;
    switch (call->tool->kind) {
    case TOOL_COMMAND:
        run_command(out, call);
        break;
    case TOOL_URL:
        run_url(out, call);
        break;
    case TOOL_ABILITY:
        run_ability(out, call);
        break;
    }
}
