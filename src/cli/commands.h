/*
 * commands.h: the commands, each described in a file of its own.
 */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/cli.h"

extern const cli_command cli_dev, cli_migrate, cli_doctor, cli_gc, cli_import, cli_export;
extern const cli_command cli_project_list, cli_token_create, cli_token_list, cli_token_revoke;
extern const cli_command cli_card_get, cli_card_add, cli_card_list;
extern const cli_command cli_card_boxes, cli_card_revisions, cli_card_delete;
extern const cli_command cli_box_list, cli_box_get, cli_box_cards, cli_box_context, cli_box_log;
extern const cli_command cli_box_create, cli_box_append, cli_box_replace;
extern const cli_command cli_box_fork, cli_box_delete;
extern const cli_command cli_session_list, cli_session_show, cli_session_tree, cli_session_path;
extern const cli_command cli_session_leaves, cli_session_branch_points, cli_session_children;
extern const cli_command cli_session_labels, cli_session_diff, cli_session_context;
extern const cli_command cli_session_import, cli_session_export, cli_session_append;
extern const cli_command cli_session_label, cli_session_head, cli_session_fork, cli_session_delete;
extern const cli_command cli_session_check, cli_session_convert;
extern const cli_command cli_ability_list, cli_ability_show, cli_ability_invoke;
extern const cli_command cli_task_run, cli_task_send, cli_task_cancel;
extern const cli_command cli_task_list, cli_task_show, cli_task_follow;

#endif
