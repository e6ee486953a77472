/*
 * task_follow.h: prints the events of a task, and its state.
 */
#ifndef CLI_TASK_FOLLOW_H
#define CLI_TASK_FOLLOW_H

#include "cli/cli.h"
#include "cli/view/term.h"

/* Prints the past events of a task; with `wait` also later events, until the task is finished. With
 * `wait`, returns CLI_FAILED unless the status of the finished task is success. */
cli_exit task_follow_print(cli_call *call, const char *task_id, bool wait);

/* Returns the completion status of a finished task. For others returns "running", "lost" (the
 * worker's lease has expired), "waiting" (for a worker or a time) or "asleep" (until a message, or
 * the end of a subtask). */
const char *task_state(const cardbox_task *task);
term_style task_state_style(const cardbox_task *task);

#endif
