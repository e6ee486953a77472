/*
 * projects.h: which projects there are, for operators, and for a worker's role which it may see.
 * Not a part of the public API: services know theirs. Must not know how a list is shown.
 */
#ifndef STORE_PROJECTS_H
#define STORE_PROJECTS_H

#include "base/arena.h"
#include "cardbox/client.h"
#include "store/pg/rows.h"

/* Rows of each kind that are counted in a project: a list is to cost the same where they are large.
 */
#define PROJECTS_COUNTED 1000

typedef enum project_kind {
    PROJECT_CARDS,
    PROJECT_BOXES,
    PROJECT_SESSIONS,
    PROJECT_TASKS,
    PROJECT_KINDS
} project_kind;

/* "cards" */
const char *project_kind_name(project_kind kind);

/* A page of projects, by their ids. Free it with projects_free. */
typedef struct project_list {
    store_rows *rows;
    size_t count;
    const char *cursor; /* of the next page; NULL: this is the last one */
    arena memory;
} project_list;

/* `cursor` NULL: from the first; `limit` as check_page has it. */
cardbox_status projects_list(project_list *out, cardbox *db, const char *cursor, unsigned limit,
                             cardbox_error *err);
void projects_free(project_list *list);

view project_id(const project_list *list, size_t i);

/* How much is live of what was counted, and whether there is more. */
int64_t project_count(const project_list *list, size_t i, project_kind kind, bool *more);

#endif
