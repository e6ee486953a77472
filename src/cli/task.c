/*
 * task.c: `cardbox task run`, `send`, `cancel`, `list`, `show` and `follow`, over the public SDK.
 */
#include "base/clock.h"
#include "base/isotime.h"
#include "cli/card_view.h"
#include "cli/commands.h"
#include "cli/task_follow.h"
#include "cli/term.h"

typedef struct task_options {
    cli_common common;
    const char *system, *parent, *reason;
    bool follow;
} task_options;

static const task_options DEFAULTS = {.common = {.limit = 0}};

#define COMMON_SPECS CLI_DSN(task_options), CLI_PROJECT(task_options), CLI_JSON(task_options)

/* --- run --- */

static void print_id(const char *id, bool json)
{
    printf(json ? "{\"taskId\":\"%s\"}\n" : "%s\n", id);
    fflush(stdout);
}

static cli_exit run_run(const void *given, char **arguments, int count)
{
    const task_options *options = given;
    cardbox_spawn spawn = CARDBOX_SPAWN_INIT;
    cardbox_error err = CARDBOX_ERROR_INIT;
    char id[CARDBOX_UUID_SIZE];
    cardbox *db = NULL;
    cli_exit status = CLI_DONE;
    (void)count;
    spawn.goal = arguments[0];
    spawn.system_prompt = options->system;
    spawn.parent_task_id = options->parent;
    if (!cli_open(&db, &options->common))
        return CLI_FAILED;
    if (cardbox_spawn_task(id, db, options->common.project, &spawn, &err) != CARDBOX_OK)
        status = cli_failed(&err);
    else
        print_id(id, options->common.json);
    if (status == CLI_DONE && options->follow)
        status = task_follow_print(db, &options->common, id, true);
    cardbox_close(db);
    return status;
}

static const opt_spec RUN_SPECS[] = {
    COMMON_SPECS,
    {"system", OPT_TEXT, offsetof(task_options, system), NULL, "TEXT",
     "the system prompt: who the agent is", 0, 0},
    {"parent", OPT_TEXT, offsetof(task_options, parent), NULL, "TASK",
     "the task that this is a part of", 0, 0},
    {"follow", OPT_FLAG, offsetof(task_options, follow), NULL, NULL,
     "show what it does until it is finished", 0, 0},
    CLI_OPTIONS_END,
};

const cli_command cli_task_run = {
    .name = "task run",
    .arguments = "GOAL",
    .summary = "give an agent a task, and print the task's id",
    .description = "It runs as soon as a cardbox-worker is free.",
    .examples = "task run --project demo --follow 'say hello'",
    .options = RUN_SPECS,
    .defaults = &DEFAULTS,
    .size = sizeof(task_options),
    .least = 1,
    .most = 1,
    .needs_project = true,
    .run = run_run,
};

/* --- send and cancel --- */

typedef cardbox_status (*task_change)(cardbox *db, const task_options *options, char **arguments,
                                      cardbox_error *err);

static cli_exit change(const task_options *options, char **arguments, task_change how)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox *db = NULL;
    if (!cli_open(&db, &options->common))
        return CLI_FAILED;
    cli_exit status = CLI_DONE;
    if (how(db, options, arguments, &err) != CARDBOX_OK)
        status = cli_failed(&err);
    else if (options->common.json)
        puts("{\"success\":true}");
    cardbox_close(db);
    return status;
}

static cardbox_status send(cardbox *db, const task_options *options, char **arguments,
                           cardbox_error *err)
{
    cardbox_message message = CARDBOX_MESSAGE_INIT;
    message.task_id = arguments[0];
    message.content = arguments[1];
    return cardbox_send_to_task(db, options->common.project, &message, err);
}

static cli_exit run_send(const void *given, char **arguments, int count)
{
    (void)count;
    return change(given, arguments, send);
}

static cardbox_status cancel(cardbox *db, const task_options *options, char **arguments,
                             cardbox_error *err)
{
    const char *reason = options->reason == NULL ? "" : options->reason;
    return cardbox_cancel_task(db, options->common.project, arguments[0], reason, err);
}

static cli_exit run_cancel(const void *given, char **arguments, int count)
{
    (void)count;
    return change(given, arguments, cancel);
}

static const opt_spec PLAIN_SPECS[] = {
    COMMON_SPECS,
    CLI_OPTIONS_END,
};

static const opt_spec CANCEL_SPECS[] = {
    COMMON_SPECS,
    {"reason", OPT_TEXT, offsetof(task_options, reason), NULL, "TEXT", "why", 0, 0},
    CLI_OPTIONS_END,
};

const cli_command cli_task_send = {
    .name = "task send",
    .arguments = "TASK MESSAGE",
    .summary = "send a message to an unfinished task, which answers it",
    .description = "One that is finished stays so: for more, run a new one.",
    .examples = "task send --project demo 01970000-0000-7000-8000-000000000001 'shorter, please'",
    .options = PLAIN_SPECS,
    .defaults = &DEFAULTS,
    .size = sizeof(task_options),
    .least = 2,
    .most = 2,
    .needs_project = true,
    .run = run_send,
};

const cli_command cli_task_cancel = {
    .name = "task cancel",
    .arguments = "TASK",
    .summary = "stop a task",
    .description = "Nothing of it lands any more, whatever it was doing.",
    .examples = "task cancel --project demo --reason 'wrong idea' "
                "01970000-0000-7000-8000-000000000001",
    .options = CANCEL_SPECS,
    .defaults = &DEFAULTS,
    .size = sizeof(task_options),
    .least = 1,
    .most = 1,
    .needs_project = true,
    .run = run_cancel,
};

/* --- list --- */

static void add_task(table *rows, const cardbox_task *task)
{
    char age[AGE_SIZE], text[ISOTIME_SIZE];
    isotime moment;
    isotime_from_micros(&moment, task->created_at * 1000);
    isotime_format(text, &moment);
    table_text(rows, task->task_id);
    table_add(rows, view_of(card_view_age(age, text)), STYLE_DIM);
    table_int(rows, task->message_count);
    table_add(rows, view_of(task->lease_owner), STYLE_CYAN);
    buf goal = BUF_INIT(4096);
    term_add_line(&goal, view_of(task->goal), 200);
    table_text(rows, buf_str(&goal));
    buf_free(&goal);
}

static bool print_table(const cardbox_ledger *tasks)
{
    static const table_column COLUMNS[] = {{"task", TABLE_WHOLE},
                                           {"age", TABLE_RIGHT},
                                           {"messages", TABLE_RIGHT},
                                           {"worker", TABLE_LEFT},
                                           {"goal", TABLE_FLEXIBLE}};
    table rows;
    table_init(&rows, COLUMNS, sizeof(COLUMNS) / sizeof(COLUMNS[0]));
    for (size_t i = 0; i < cardbox_ledger_count(tasks); i++)
        add_task(&rows, cardbox_ledger_task(tasks, i));
    bool printed = cardbox_ledger_count(tasks) == 0 || table_print(stdout, &rows, 0, term_width());
    table_free(&rows);
    return printed;
}

static cli_exit list_json(cardbox *db, const task_options *options)
{
    char input[64], *output = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    scan_value task;
    snprintf(input, sizeof(input), "{\"limit\":%ld}", options->common.limit);
    if (cardbox_invoke(&output, db, options->common.project, "task:active", NULL, NULL, input,
                       &err) != CARDBOX_OK)
        return cli_failed(&err);
    for (scan_walk walk = scan_enter(scan_find(scan_whole(view_of(output)), "tasks"));
         scan_element(&walk, &task);)
        printf("%.*s\n", (int)task.text.len, task.text.ptr);
    cardbox_free(output);
    return CLI_DONE;
}

static cli_exit list_table(cardbox *db, const task_options *options)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_ledger *tasks = NULL;
    if (cardbox_active_tasks(&tasks, db, options->common.project, (unsigned)options->common.limit,
                             &err) != CARDBOX_OK)
        return cli_failed(&err);
    bool printed = print_table(tasks);
    cardbox_ledger_free(tasks);
    return printed ? CLI_DONE : cli_nomem();
}

static cli_exit run_list(const void *given, char **arguments, int count)
{
    const task_options *options = given;
    cardbox *db = NULL;
    (void)arguments, (void)count;
    if (!cli_open(&db, &options->common))
        return CLI_FAILED;
    cli_exit status = options->common.json ? list_json(db, options) : list_table(db, options);
    cardbox_close(db);
    return status;
}

static const task_options LIST_DEFAULTS = {.common = {.limit = 200}};

static const opt_spec LIST_SPECS[] = {
    COMMON_SPECS,
    CLI_LIMIT(task_options),
    CLI_OPTIONS_END,
};

const cli_command cli_task_list = {
    .name = "task list",
    .arguments = "",
    .summary = "list the tasks that are not finished",
    .examples = "task list --project demo",
    .options = LIST_SPECS,
    .defaults = &LIST_DEFAULTS,
    .size = sizeof(task_options),
    .least = 0,
    .most = 0,
    .needs_project = true,
    .run = run_list,
};

/* --- show and follow --- */

static cli_exit watch(const task_options *options, const char *task, bool wait)
{
    cardbox *db = NULL;
    if (!cli_open(&db, &options->common))
        return CLI_FAILED;
    cli_exit status = task_follow_print(db, &options->common, task, wait);
    cardbox_close(db);
    return status;
}

static cli_exit run_show(const void *given, char **arguments, int count)
{
    (void)count;
    return watch(given, arguments[0], false);
}

static cli_exit run_follow(const void *given, char **arguments, int count)
{
    (void)count;
    return watch(given, arguments[0], true);
}

const cli_command cli_task_show = {
    .name = "task show",
    .arguments = "TASK",
    .summary = "show what a task has done so far",
    .examples = "task show --project demo 01970000-0000-7000-8000-000000000001",
    .options = PLAIN_SPECS,
    .defaults = &DEFAULTS,
    .size = sizeof(task_options),
    .least = 1,
    .most = 1,
    .needs_project = true,
    .run = run_show,
};

const cli_command cli_task_follow = {
    .name = "task follow",
    .arguments = "TASK",
    .summary = "show a task at work, until it is finished",
    .description = "What a model says appears as it says it; where the output is no terminal, once "
                   "it is\ncomplete. Exit status 1 unless the task is a success.",
    .examples = "task follow --project demo 01970000-0000-7000-8000-000000000001",
    .options = PLAIN_SPECS,
    .defaults = &DEFAULTS,
    .size = sizeof(task_options),
    .least = 1,
    .most = 1,
    .needs_project = true,
    .run = run_follow,
};
