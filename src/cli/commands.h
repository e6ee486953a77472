/*
 * commands.h: the list of commands, in the order of the overview.
 */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/cli.h"

/* clang-format off */
#define CLI_COMMANDS(one)                                                                   \
    one(dev) one(migrate) one(doctor) one(gc)                                               \
    one(project_list)                                                                       \
    one(token_create) one(token_list) one(token_revoke)                                     \
    one(import) one(export)                                                                 \
    one(card_get) one(card_list) one(card_add) one(card_boxes) one(card_revisions)          \
    one(card_delete)                                                                        \
    one(box_list) one(box_get) one(box_cards) one(box_context) one(box_log) one(box_create) \
    one(box_append) one(box_replace) one(box_fork) one(box_delete)                          \
    one(session_import) one(session_export) one(session_list) one(session_show)             \
    one(session_tree) one(session_path) one(session_leaves) one(session_branch_points)      \
    one(session_children) one(session_labels) one(session_diff) one(session_context)        \
    one(session_append) one(session_label) one(session_head) one(session_fork)              \
    one(session_delete) one(session_check) one(session_convert)                             \
    one(task_run) one(task_send) one(task_cancel) one(task_list) one(task_show)             \
    one(task_follow)                                                                        \
    one(ability_list) one(ability_show) one(ability_invoke)
/* clang-format on */

#define CLI_DECLARE(name) extern const cli_command cli_##name;
CLI_COMMANDS(CLI_DECLARE)
#undef CLI_DECLARE

#endif
