/*
 * registry.c: the table of abilities, and the texts that belong to them. Who adds an ability writes
 * src/bus/abilities/MODULE.NAME.json, its functions, and a line here.
 */
#include "bus/abilities.h"

#define ABILITY(name, id, json) static const bus_text TEXT_##name = {id, json};
#include "abilities.inc"
#undef ABILITY

static const bus_ability TABLE[] = {
    {&TEXT_bus_list, BUS_READ, BUS_AGAIN, BUS_NO_STATEMENT, NULL, NULL, bus_list_render, NULL},
    {&TEXT_bus_abilities, BUS_READ, BUS_AGAIN, BUS_NO_STATEMENT, NULL, NULL, bus_abilities_render,
     NULL},
    {&TEXT_bus_schema, BUS_READ, BUS_AGAIN, BUS_NO_STATEMENT, NULL, NULL, bus_schema_render, NULL},
    {&TEXT_bus_inspect, BUS_READ, BUS_AGAIN, BUS_NO_STATEMENT, NULL, NULL, bus_inspect_render,
     NULL},

    {&TEXT_card_get, BUS_READ, BUS_AGAIN, STATEMENT_cards_get, card_get_read, card_get_build,
     card_get_render, NULL},
    {&TEXT_card_batch, BUS_READ, BUS_AGAIN, STATEMENT_cards_get, card_batch_read, card_get_build,
     card_batch_render, NULL},
    {&TEXT_card_list, BUS_READ, BUS_AGAIN, STATEMENT_cards_list, card_list_read, card_list_build,
     card_list_render, NULL},
    {&TEXT_card_revisions, BUS_READ, BUS_AGAIN, STATEMENT_card_revisions, card_revisions_read,
     card_revisions_build, card_revisions_render, NULL},
    {&TEXT_card_boxes, BUS_READ, BUS_AGAIN, STATEMENT_boxes_with_card, card_boxes_read,
     card_boxes_build, card_boxes_render, NULL},
    {&TEXT_card_add, BUS_WRITE, BUS_AGAIN, STATEMENT_cards_add, card_add_read, card_add_build,
     card_add_render, card_add_drop},
    {&TEXT_card_add_many, BUS_WRITE, BUS_AGAIN, STATEMENT_cards_add, card_add_many_read,
     card_add_build, card_add_many_render, card_add_drop},
    {&TEXT_card_delete, BUS_WRITE, BUS_AGAIN, STATEMENT_card_delete, card_delete_read,
     card_delete_build, card_delete_render, NULL},

    {&TEXT_box_get, BUS_READ, BUS_AGAIN, STATEMENT_boxes_read, box_get_read, box_read_build,
     box_get_render, NULL},
    {&TEXT_box_cards, BUS_READ, BUS_AGAIN, STATEMENT_boxes_read, box_cards_read, box_read_build,
     box_cards_render, NULL},
    {&TEXT_box_context, BUS_READ, BUS_AGAIN, STATEMENT_boxes_read, box_context_read, box_read_build,
     box_context_render, NULL},
    {&TEXT_box_list, BUS_READ, BUS_AGAIN, STATEMENT_boxes_list, box_list_read, box_list_build,
     box_list_render, NULL},
    {&TEXT_box_log, BUS_READ, BUS_AGAIN, STATEMENT_box_log, box_log_read, box_log_build,
     box_log_render, NULL},
    {&TEXT_box_create, BUS_WRITE, BUS_ONCE, STATEMENT_box_create, box_create_read, box_create_build,
     box_create_render, NULL},
    {&TEXT_box_append, BUS_WRITE, BUS_ONCE, STATEMENT_box_append, box_append_read, box_append_build,
     box_append_render, NULL},
    {&TEXT_box_replace, BUS_WRITE, BUS_ONCE, STATEMENT_box_save, box_replace_read,
     box_replace_build, box_replace_render, NULL},
    {&TEXT_box_fork, BUS_WRITE, BUS_ONCE, STATEMENT_box_fork, box_fork_read, box_fork_build,
     box_fork_render, NULL},
    {&TEXT_box_delete, BUS_WRITE, BUS_AGAIN, STATEMENT_box_delete, box_delete_read,
     box_delete_build, box_delete_render, NULL},

    {&TEXT_session_list, BUS_READ, BUS_AGAIN, STATEMENT_sessions_list, bus_session_list_read,
     bus_session_list_build, bus_session_list_render, NULL},
    {&TEXT_session_get, BUS_READ, BUS_AGAIN, STATEMENT_session_get, bus_session_get_read,
     bus_session_get_build, bus_session_get_render, NULL},
    {&TEXT_session_context, BUS_READ, BUS_AGAIN, STATEMENT_session_context,
     bus_session_context_read, bus_session_context_build, bus_session_context_render, NULL},
    {&TEXT_session_entry, BUS_READ, BUS_AGAIN, STATEMENT_session_entries_get,
     bus_session_entry_read, bus_session_entry_build, bus_session_entry_render, NULL},
    {&TEXT_session_tree, BUS_READ, BUS_AGAIN, STATEMENT_session_tree, bus_session_tree_read,
     bus_session_pages_build, bus_session_pages_render, NULL},
    {&TEXT_session_children, BUS_READ, BUS_AGAIN, STATEMENT_session_children,
     bus_session_children_read, bus_session_pages_build, bus_session_pages_render, NULL},
    {&TEXT_session_leaves, BUS_READ, BUS_AGAIN, STATEMENT_session_leaves, bus_session_leaves_read,
     bus_session_pages_build, bus_session_pages_render, NULL},
    {&TEXT_session_branch_points, BUS_READ, BUS_AGAIN, STATEMENT_session_branch_points,
     bus_session_branch_points_read, bus_session_pages_build, bus_session_pages_render, NULL},
    {&TEXT_session_labels, BUS_READ, BUS_AGAIN, STATEMENT_session_labels, bus_session_labels_read,
     bus_session_pages_build, bus_session_pages_render, NULL},
    {&TEXT_session_path, BUS_READ, BUS_AGAIN, STATEMENT_session_path, bus_session_path_read,
     bus_session_path_build, bus_session_path_render, NULL},
    {&TEXT_session_diff, BUS_READ, BUS_AGAIN, STATEMENT_session_diff, bus_session_diff_read,
     bus_session_diff_build, bus_session_diff_render, NULL},
    {&TEXT_session_create, BUS_WRITE, BUS_ONCE, STATEMENT_session_create, bus_session_create_read,
     bus_session_create_build, bus_session_create_render, NULL},
    {&TEXT_session_append, BUS_WRITE, BUS_ONCE, STATEMENT_session_write, bus_session_append_read,
     bus_session_append_build, bus_session_append_render, bus_session_append_drop},
    {&TEXT_session_head, BUS_WRITE, BUS_ONCE, STATEMENT_session_head, bus_session_head_read,
     bus_session_head_build, bus_session_head_render, NULL},
    {&TEXT_session_fork, BUS_WRITE, BUS_ONCE, STATEMENT_session_fork, bus_session_fork_read,
     bus_session_fork_build, bus_session_fork_render, NULL},

    {&TEXT_ldg_task_save, BUS_WRITE, BUS_AGAIN, STATEMENT_ledger_save, ldg_task_save_read,
     ldg_save_build, ldg_save_render, NULL},
    {&TEXT_ldg_task_get, BUS_READ, BUS_AGAIN, STATEMENT_task_get, ldg_task_get_read,
     ldg_task_get_build, ldg_task_get_render, NULL},
    {&TEXT_ldg_task_query, BUS_READ, BUS_AGAIN, STATEMENT_tasks_query, ldg_task_query_read,
     ldg_task_query_build, ldg_task_query_render, NULL},
    {&TEXT_ldg_call_save, BUS_WRITE, BUS_AGAIN, STATEMENT_ledger_save, ldg_call_save_read,
     ldg_save_build, ldg_save_render, NULL},
    {&TEXT_ldg_call_list, BUS_READ, BUS_AGAIN, STATEMENT_calls_list, ldg_task_get_read,
     ldg_call_list_build, ldg_call_list_render, NULL},
    {&TEXT_ldg_msg_save, BUS_WRITE, BUS_AGAIN, STATEMENT_ledger_save, ldg_msg_save_read,
     ldg_save_build, ldg_msg_save_render, NULL},
    {&TEXT_ldg_msg_list, BUS_READ, BUS_AGAIN, STATEMENT_messages_list, ldg_msg_list_read,
     ldg_msg_list_build, ldg_msg_list_render, NULL},

    {&TEXT_task_spawn, BUS_TASKS, BUS_AGAIN | BUS_WAKES, STATEMENT_task_spawn, task_spawn_read,
     task_spawn_build, task_spawn_render, NULL},
    {&TEXT_task_send, BUS_TASKS, BUS_AGAIN | BUS_WAKES, STATEMENT_task_send, task_send_read,
     task_send_build, task_send_render, NULL},
    {&TEXT_task_cancel, BUS_TASKS, BUS_ONCE, STATEMENT_task_cancel, task_cancel_read,
     task_cancel_build, task_cancel_render, NULL},
    {&TEXT_task_active, BUS_TASKS, BUS_AGAIN, STATEMENT_tasks_active, task_active_read,
     task_active_build, task_active_render, NULL},
};

const bus_ability *const BUS_ABILITIES = TABLE;
const size_t BUS_COUNT = sizeof(TABLE) / sizeof(TABLE[0]);

const bus_ability *bus_find(view id)
{
    for (size_t i = 0; i < BUS_COUNT; i++)
        if (view_equal(id, view_of(TABLE[i].text->id)))
            return &TABLE[i];
    return NULL;
}

view bus_module(const bus_ability *ability)
{
    return (view){ability->text->id, strcspn(ability->text->id, ":")};
}

view bus_name(const bus_ability *ability)
{
    return view_of(ability->text->id + bus_module(ability).len + 1);
}

const char *bus_scope_name(bus_scope scope)
{
    static const char *const NAMES[] = {
        [BUS_READ] = "read", [BUS_WRITE] = "write", [BUS_TASKS] = "tasks"};
    return NAMES[scope];
}

static scan_value member(const bus_ability *ability, const char *name)
{
    return scan_find(scan_whole(view_of(ability->text->json)), name);
}

scan_value bus_input_schema(const bus_ability *ability)
{
    return member(ability, "input");
}

scan_value bus_output_schema(const bus_ability *ability)
{
    return member(ability, "output");
}

scan_value bus_description(const bus_ability *ability)
{
    return member(ability, "description");
}
