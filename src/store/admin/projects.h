/*
 * projects.h: the statement that lists projects: builds its parameters, and reads its rows. A role
 * that is not a member of cardbox_service sees only projects that were granted to it. Not a part of
 * the public API. The functions use no connection.
 */
#ifndef STORE_PROJECTS_H
#define STORE_PROJECTS_H

#include "db/params.h"
#include "store/client/list.h"

/* Maximum rows of each kind that are examined in a project: this limits the cost of listing a large
 * project. */
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
    const slice *only; /* the projects to list, each given once; NULL: all that the role can read */
    size_t only_count;
    list_cursor from; /* the page begins after the project with this id; the time is not used */
    int64_t limit; /* maximum number of projects of the page; the statement may return one more */
} project_list;

void projects_params(params *p, const project_list *list);

/* Returns the cursor of the next page. NULL: this page is the last one, or memory ran out. */
const char *projects_next(const store_rows *rows, int64_t limit, arena *memory);

slice project_id(const store_rows *rows, int row);

/* Returns the number of live rows of a kind among the rows that were examined. *more: the project
 * has rows of this kind that were not examined. */
int64_t project_count(const store_rows *rows, int row, project_kind kind, bool *more);

/* {"project_id","cards","boxes","sessions","tasks","capped"}. */
void project_json(buf *out, const store_rows *rows, int row);

/* Appends a page: {"projects":[...],"next_cursor":...}. */
void list_json_projects(buf *out, const store_rows *rows, int64_t limit, arena *memory);

#endif
