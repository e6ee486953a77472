/*
 * task_follow.h: prints the events of a task, and its state.
 */
#ifndef CLI_TASK_FOLLOW_H
#define CLI_TASK_FOLLOW_H

#include "cli/cli.h"
#include "cli/view/term.h"

/* Prints the events of a task so far. If `wait` is true, also prints later events until the task is
 * finished, and returns CLI_FAILED if the task's status is not success. */
cli_exit task_follow_print(cli_call *call, const char *task_id, bool wait);

/* Returns the completion status of a finished task. For an unfinished task, returns "running",
 * "lost" (the worker's lease has expired), "waiting" (for a worker, or until a time) or "asleep"
 * (until a message comes or a subtask ends). A router that is asleep is "waiting". */
const char *task_state(const cardbox_task *task);
term_style task_state_style(const cardbox_task *task);

#endif
