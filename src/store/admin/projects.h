/*
 * projects.h: which projects there are, for operators, and for a worker's role which it may see, as
 * plain data: the command line and the server list by it. Not a part of the public API. Knows no
 * connection.
 */
#ifndef STORE_PROJECTS_H
#define STORE_PROJECTS_H

#include "store/list.h"

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

/* The parameters of STATEMENT_projects_list. */
typedef struct project_list {
    list_cursor from; /* by the id alone */
    int64_t limit;    /* the statement reads one row more, to find out if there is a next page */
} project_list;

void projects_params(params *p, const project_list *list);

/* A cursor of the page behind these rows; NULL: they are the last one, or out of memory. */
const char *projects_next(const store_rows *rows, int64_t limit, arena *memory);

slice project_id(const store_rows *rows, int row);

/* How much is live of what was counted, and whether there is more. */
int64_t project_count(const store_rows *rows, int row, project_kind kind, bool *more);

/* {"project_id","cards","boxes","sessions","tasks","capped"}. */
void project_json(buf *out, const store_rows *rows, int row);

#endif
