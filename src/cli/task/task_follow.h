/*
 * task_follow.h: prints the past and future events of a task.
 */
#ifndef CLI_TASK_FOLLOW_H
#define CLI_TASK_FOLLOW_H

#include "cli/cli.h"
#include "cli/view/term.h"

/* Prints the events of a task; with `wait` until it is finished, and then CLI_FAILED unless it is a
 * success. */
cli_exit task_follow_print(cli_call *call, const char *task_id, bool wait);

/* The final status of a task, or else "running", "lost" (its worker does not answer), "waiting" for
 * a worker or "asleep" until there is something to do. */
const char *task_state(const cardbox_task *task);
term_style task_state_style(const cardbox_task *task);

#endif
