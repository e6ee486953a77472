/*
 * abilities.h: the functions that the table names, by the module and name of their ability. Only
 * for the table and the files that have them.
 */
#ifndef BUS_ABILITIES_H
#define BUS_ABILITIES_H

#include "bus/bus.h"

#define BUS_READS(name)  cardbox_status name##_read(bus_call *call, cardbox_error *err)
#define BUS_BUILDS(name) void name##_build(params *p, const bus_call *call)
#define BUS_RENDERS(name)                                                                          \
    cardbox_status name##_render(bus_call *call, const store_rows *rows, buf *out,                 \
                                 cardbox_error *err)

/* --- introspect.c --- */

BUS_RENDERS(bus_list);
BUS_RENDERS(bus_abilities);
BUS_RENDERS(bus_schema);
BUS_RENDERS(bus_inspect);

/* --- cards.c, cards_add.c --- */

BUS_READS(card_get);
BUS_BUILDS(card_get);
BUS_RENDERS(card_get);
BUS_READS(card_batch);
BUS_RENDERS(card_batch);
BUS_READS(card_list);
BUS_BUILDS(card_list);
BUS_RENDERS(card_list);
BUS_READS(card_revisions);
BUS_BUILDS(card_revisions);
BUS_RENDERS(card_revisions);
BUS_READS(card_boxes);
BUS_BUILDS(card_boxes);
BUS_RENDERS(card_boxes);
BUS_READS(card_add);
BUS_BUILDS(card_add);
BUS_RENDERS(card_add);
BUS_READS(card_add_many);
BUS_RENDERS(card_add_many);
void card_add_drop(void *plan);
BUS_READS(card_delete);
BUS_BUILDS(card_delete);
BUS_RENDERS(card_delete);

/* --- boxes.c, boxes_change.c --- */

BUS_BUILDS(box_read);
BUS_READS(box_get);
BUS_RENDERS(box_get);
BUS_READS(box_cards);
BUS_RENDERS(box_cards);
BUS_READS(box_context);
BUS_RENDERS(box_context);
BUS_READS(box_list);
BUS_BUILDS(box_list);
BUS_RENDERS(box_list);
BUS_READS(box_log);
BUS_BUILDS(box_log);
BUS_RENDERS(box_log);
BUS_READS(box_create);
BUS_BUILDS(box_create);
BUS_RENDERS(box_create);
BUS_READS(box_append);
BUS_BUILDS(box_append);
BUS_RENDERS(box_append);
BUS_READS(box_replace);
BUS_BUILDS(box_replace);
BUS_RENDERS(box_replace);
BUS_READS(box_fork);
BUS_BUILDS(box_fork);
BUS_RENDERS(box_fork);
BUS_READS(box_delete);
BUS_BUILDS(box_delete);
BUS_RENDERS(box_delete);

/* --- ledger.c --- */

BUS_BUILDS(ldg_save);
BUS_RENDERS(ldg_save);
BUS_READS(ldg_task_save);
BUS_READS(ldg_task_get);
BUS_BUILDS(ldg_task_get);
BUS_RENDERS(ldg_task_get);
BUS_READS(ldg_task_query);
BUS_BUILDS(ldg_task_query);
BUS_RENDERS(ldg_task_query);
BUS_READS(ldg_call_save);
BUS_BUILDS(ldg_call_list);
BUS_RENDERS(ldg_call_list);
BUS_READS(ldg_msg_save);
BUS_RENDERS(ldg_msg_save);
BUS_READS(ldg_msg_list);
BUS_BUILDS(ldg_msg_list);
BUS_RENDERS(ldg_msg_list);

/* --- tasks.c --- */

BUS_READS(task_spawn);
BUS_BUILDS(task_spawn);
BUS_RENDERS(task_spawn);
BUS_READS(task_send);
BUS_BUILDS(task_send);
BUS_RENDERS(task_send);
BUS_READS(task_cancel);
BUS_BUILDS(task_cancel);
BUS_RENDERS(task_cancel);
BUS_READS(task_active);
BUS_BUILDS(task_active);
BUS_RENDERS(task_active);

/* --- sessions.c --- */

BUS_READS(bus_session_list);
BUS_BUILDS(bus_session_list);
BUS_RENDERS(bus_session_list);
BUS_READS(bus_session_get);
BUS_BUILDS(bus_session_get);
BUS_RENDERS(bus_session_get);
BUS_READS(bus_session_context);
BUS_BUILDS(bus_session_context);
BUS_RENDERS(bus_session_context);

/* --- sessions_tree.c --- */

BUS_READS(bus_session_entry);
BUS_BUILDS(bus_session_entry);
BUS_RENDERS(bus_session_entry);
BUS_BUILDS(bus_session_pages);
BUS_RENDERS(bus_session_pages);
BUS_READS(bus_session_tree);
BUS_READS(bus_session_children);
BUS_READS(bus_session_leaves);
BUS_READS(bus_session_branch_points);
BUS_READS(bus_session_labels);
BUS_READS(bus_session_path);
BUS_BUILDS(bus_session_path);
BUS_RENDERS(bus_session_path);
BUS_READS(bus_session_diff);
BUS_BUILDS(bus_session_diff);
BUS_RENDERS(bus_session_diff);

/* --- sessions_change.c --- */

BUS_READS(bus_session_create);
BUS_BUILDS(bus_session_create);
BUS_RENDERS(bus_session_create);
BUS_READS(bus_session_append);
BUS_BUILDS(bus_session_append);
BUS_RENDERS(bus_session_append);
void bus_session_append_drop(void *plan);
BUS_READS(bus_session_head);
BUS_BUILDS(bus_session_head);
BUS_RENDERS(bus_session_head);
BUS_READS(bus_session_fork);
BUS_BUILDS(bus_session_fork);
BUS_RENDERS(bus_session_fork);

#endif
