/*
 * task.c: `cardbox task run`, `send`, `cancel`, `finish`, `list`, `show` and `follow`.
 */
#include <inttypes.h>
#include "base/isotime.h"
#include "cli/card/card_view.h"
#include "cli/task/task_follow.h"
#include "cli/view/table.h"

enum { STATE_COLUMNS = 12 };

/* --- run --- */

static cli_exit run_task(cli_call *call)
{
    char id[CARDBOX_UUID_SIZE];
    call->spawn.goal = call->arguments[0];
    if (cardbox_task_spawn(id, call->db, call->project, &call->spawn, &call->err) != CARDBOX_OK)
        return cli_failed(call);
    cli_print(call->json, json_pack("{s:s}", "taskId", id), "%s", id);
    fflush(stdout);
    return call->follow ? task_follow_print(call, id, true) : CLI_DONE;
}

const cli_command cli_task_run = {
    .name = "task run",
    .arguments = "GOAL",
    .summary = "create a task for an agent, and print the task's id",
    .description = "The task runs when a cardbox-worker is free.",
    .examples = "task run --project demo --follow 'say hello'",
    .options = CLI_IN_PROJECT(
        CLI_TEXT("system", spawn.system_prompt, "TEXT",
                 "the system prompt; default: You are task TASK."),
        CLI_TEXT("parent", spawn.parent_task_id, "TASK", "the parent of the new subtask"),
        CLI_TEXT("box", spawn.box_id, "BOX",
                 "the box with the messages for the model; default: a new box"),
        CLI_TEXT("context-box", spawn.context_box_id, "BOX",
                 "a box that the model reads before the task's box"),
        CLI_FLAG("router", spawn.router, "after an answer, wait for the next message"),
        CLI_FLAG("follow", follow, "show the task's events until it is finished")),
    .run = run_task,
};

/* --- send, cancel and finish --- */

/* If the task is finished, prints an error that ends with `advice`, and returns true. */
static bool is_finished(cli_call *call, const char *task_id, const char *advice)
{
    cardbox_ledger *found = NULL;
    const cardbox_task *task = NULL;
    if (cardbox_task_get(&found, call->db, call->project, task_id, NULL) == CARDBOX_OK)
        task = cardbox_ledger_task(found, 0);
    bool over = task != NULL && task->completion_status != NULL;
    if (over)
        cli_error("task %s is %s already%s", task_id,
                  strcmp(task->completion_status, "cancelled") == 0 ? "cancelled" : "finished",
                  advice);
    cardbox_ledger_free(found);
    return over;
}

/* Prints the outcome of `task send`, `task cancel` or `task finish`. `done` completes the sentence
 * "task X ...". `advice` is for a task that is finished already. */
static cli_exit print_outcome(cli_call *call, const char *task_id, cardbox_status status,
                              const char *done, const char *advice)
{
    if (status == CARDBOX_CONFLICT && is_finished(call, task_id, advice))
        return CLI_FAILED;
    if (status != CARDBOX_OK)
        return cli_failed(call);
    return cli_print(call->json, json_pack("{s:b}", "success", 1), "task %s %s", task_id, done);
}

/* Splits a line "@TASK MESSAGE" or "@TASK: MESSAGE" into task id and message. Returns false if the
 * line has another form. The texts in `out` are parts of `line`, which the function changes. */
static bool read_address(cardbox_message *out, char *line)
{
    static const char BLANKS[] = " \t\r\n";
    size_t word = strcspn(line, BLANKS), length = word;
    if (word > 0 && line[word - 1] == ':')
        length--;
    if (line[0] != '@' || length <= 1)
        return false;
    out->task_id = line + 1;
    out->content = line + word + strspn(line + word, BLANKS);
    line[length] = '\0';
    return *out->content != '\0';
}

static cli_exit send_message(cli_call *call)
{
    cardbox_message message = CARDBOX_MESSAGE_INIT;
    if (call->arguments[1] == NULL && !read_address(&message, call->arguments[0]))
        return cli_error_and(CLI_USAGE, "expected TASK MESSAGE or '@TASK MESSAGE'");
    if (call->arguments[1] != NULL) {
        message.task_id = call->arguments[0];
        message.content = call->arguments[1];
    }
    cardbox_status status = cardbox_task_send(call->db, call->project, &message, &call->err);
    return print_outcome(call, message.task_id, status, "has the message",
                         "; for more, run a new task");
}

static cli_exit cancel_task(cli_call *call)
{
    cardbox_status status =
        cardbox_task_cancel(call->db, call->project, call->arguments[0], call->reason, &call->err);
    return print_outcome(call, call->arguments[0], status, "is cancelled", "");
}

static cli_exit finish_task(cli_call *call)
{
    cardbox_status status =
        cardbox_task_finish(call->db, call->project, call->arguments[0], call->status, &call->err);
    return print_outcome(call, call->arguments[0], status, "is finished", "");
}

const cli_command cli_task_send = {
    .name = "task send",
    .arguments = "TASK [MESSAGE]",
    .summary = "send a message to an unfinished task",
    .description =
        "If the task is asleep, the message resumes it. A finished task can't be resumed: run a "
        "new task. TASK and MESSAGE may be one argument: '@TASK MESSAGE' or '@TASK: MESSAGE'.",
    .examples = "task send --project demo demo-task-waiting 'shorter, please'\n"
                "task send --project demo '@demo-task-waiting shorter'",
    .options = CLI_OPTIONS(CLI_DSN, CLI_PROJECT, CLI_JSON),
    .run = send_message,
};

const cli_command cli_task_cancel = {
    .name = "task cancel",
    .arguments = "TASK",
    .summary = "cancel an unfinished task",
    .description = "Later writes of the task's worker are rejected.",
    .examples = "task cancel --project demo --reason 'wrong idea' demo-task-waiting",
    .options = CLI_IN_PROJECT(CLI_TEXT("reason", reason, "TEXT", "the reason, which is stored")),
    .run = cancel_task,
};

const cli_command cli_task_finish = {
    .name = "task finish",
    .arguments = "TASK",
    .summary = "end an unfinished task, such as a router",
    .description = "Later writes of the task's worker are rejected.",
    .examples = "task finish --project demo demo-task-waiting",
    .options = CLI_IN_PROJECT(
        CLI_TEXT("status", status, "TEXT", "the completion status; default: success")),
    .run = finish_task,
};

/* --- list --- */

static void add_task_object(buf *out, const void *of, size_t i)
{
    const cardbox_task *task = cardbox_ledger_task(of, i);
    buf_json_open_take(
        out,
        json_pack("{s:s, s:s*, s:s*, s:s, s:s*, s:s*, s:o*, s:I, s:I, s:I}", "id", task->task_id,
                  "parentTaskId", task->parent_task_id, "completionStatus", task->completion_status,
                  "state", task->state, "boxId", task->box_id, "contextBoxId", task->context_box_id,
                  "router", task->router ? json_true() : NULL, "createdAt",
                  (json_int_t)task->created_at, "updatedAt", (json_int_t)task->updated_at,
                  "messageCount", (json_int_t)task->message_count));
    buf_printf(out, ",\"goal\":%s}", task->goal_json != NULL ? task->goal_json : "\"\"");
}

/* Adds a cell with the task's state without a reason and further lines, such as "failed" for
 * "failed: Maximum iterations reached". */
static void add_state(table *rows, const cardbox_task *task)
{
    const char *state = task_state(task);
    buf word = BUF_INIT(4096);
    term_add_line(&word, (slice){state, strcspn(state, ":\r\n")}, STATE_COLUMNS);
    table_add(rows, slice_of(buf_str(&word)), task_state_style(task));
    buf_free(&word);
}

static void add_task_row(table *rows, const void *of, size_t i)
{
    const cardbox_task *task = cardbox_ledger_task(of, i);
    char text[ISOTIME_SIZE];
    isotime_format_micros(text, task->created_at * 1000);
    table_text(rows, task->task_id);
    add_state(rows, task);
    card_view_add_age(rows, text);
    table_int(rows, task->message_count);
    table_add(rows, slice_of(task->lease_owner), STYLE_CYAN);
    table_text(rows, task->goal);
}

static cli_exit print_list(const cardbox_ledger *tasks, cli_call *call)
{
    static const listing TASKS = {add_task_object,
                                  add_task_row,
                                  0,
                                  {{"task", TABLE_ID},
                                   {"status", TABLE_WORD},
                                   {"age", TABLE_RIGHT},
                                   {"messages", TABLE_RIGHT},
                                   {"worker", TABLE_LEFT},
                                   {"goal", TABLE_FLEXIBLE}}};
    size_t count = cardbox_ledger_count(tasks);
    cli_exit status =
        listing_print(&TASKS, tasks, count, NULL, call->json,
                      call->skip > 0 ? "no further tasks in project %s"
                      : call->all    ? "no tasks in project %s"
                                     : "no unfinished tasks in project %s; --all lists all",
                      call->project);
    int64_t total = cardbox_ledger_total(tasks), to = call->skip + (int64_t)count;
    if (count > 0 && to < total)
        cli_note("%zu of %" PRId64 "; further ones: --skip %" PRId64, count, total, to);
    return status;
}

static cli_exit list_tasks(cli_call *call)
{
    cardbox_task_filter filter = CARDBOX_TASK_FILTER_INIT;
    cardbox_ledger *tasks = NULL;
    filter.active = !call->all;
    filter.goals = true;
    filter.limit = call->limit > 0 ? (unsigned)call->limit : CARDBOX_PAGE_DEFAULT;
    filter.offset = (uint64_t)call->skip;
    if (cardbox_tasks_query(&tasks, call->db, call->project, &filter, &call->err) != CARDBOX_OK)
        return cli_failed(call);
    cli_exit status = print_list(tasks, call);
    cardbox_ledger_free(tasks);
    return status;
}

const cli_command cli_task_list = {
    .name = "task list",
    .summary = "list unfinished tasks, newest first",
    .description = "The number of messages includes messages that describe calls.",
    .examples = "task list --project demo\n"
                "task list --project demo --all --limit 20 --skip 20",
    .options = CLI_IN_PROJECT(CLI_FLAG("all", all, "also list finished tasks"),
                              CLI_INT("skip", skip, "N", "skip the N newest tasks", 0, INT32_MAX),
                              CLI_LIMIT),
    .run = list_tasks,
};

/* --- show and follow --- */

static cli_exit show_task(cli_call *call)
{
    return task_follow_print(call, call->arguments[0], false);
}

static cli_exit follow_task(cli_call *call)
{
    return task_follow_print(call, call->arguments[0], true);
}

const cli_command cli_task_show = {
    .name = "task show",
    .arguments = "TASK",
    .summary = "show the events of a task so far",
    .examples = "task show --project demo demo-task-done",
    .options = CLI_OPTIONS(CLI_DSN, CLI_PROJECT, CLI_JSON),
    .run = show_task,
};

const cli_command cli_task_follow = {
    .name = "task follow",
    .arguments = "TASK",
    .summary = "show the events of a task until it is finished",
    .description =
        "On a terminal, an answer is printed while the model generates it. If the output is not a "
        "terminal, the answer is printed when it is complete. If the answer begins again, its "
        "first "
        "part is marked. The exit status is 0 only if the task ends with the status success.",
    .examples = "task follow --project demo demo-task-waiting",
    .options = CLI_OPTIONS(CLI_DSN, CLI_PROJECT, CLI_JSON),
    .run = follow_task,
};
