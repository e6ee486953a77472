/*
 * projects.c: the statement behind projects.h. Must not read what a project holds.
 */
#include "store/operate/projects.h"

#include "cardbox/limits.h"
#include "store/call.h"
#include "store/list.h"

/* Columns of STATEMENT_projects_list; behind the id two of each kind. */
enum { COL_ID, COL_COUNTS };

const char *project_kind_name(project_kind kind)
{
    static const char *const NAMES[] = {[PROJECT_CARDS] = "cards",
                                        [PROJECT_BOXES] = "boxes",
                                        [PROJECT_SESSIONS] = "sessions",
                                        [PROJECT_TASKS] = "tasks"};

    return NAMES[kind];
}

/* One row more than the page has tells that there is another page. */
static cardbox_status ask(project_list *out, cardbox *db, const list_cursor *from, unsigned limit,
                          cardbox_error *err)
{
    params p;
    params_init(&p, 4096);
    if (from->given)
        params_text(&p, from->id);
    else
        params_null(&p);
    params_int8(&p, (int64_t)limit + 1);
    params_int8(&p, PROJECTS_COUNTED);
    cardbox_status status = client_run(db, STATEMENT_projects_list, &p, RUN_AGAIN, &out->rows, err);
    params_free(&p);
    return status;
}

cardbox_status projects_list(project_list *out, cardbox *db, const char *cursor, unsigned limit,
                             cardbox_error *err)
{
    list_cursor from = {.given = false};
    *out = (project_list){.memory = ARENA_INIT};
    cardbox_status status = check_page(&limit, err);
    if (status == CARDBOX_OK && cursor != NULL &&
        !list_cursor_read(&from, view_of(cursor), &out->memory))
        status = out->memory.failed ? error_nomem(err) : error_cursor(err, cursor);
    if (status == CARDBOX_OK)
        status = ask(out, db, &from, limit, err);
    if (status != CARDBOX_OK)
        return status;
    out->count = (size_t)rows_count(out->rows);
    if (out->count > limit) {
        out->count = limit;
        out->cursor = list_cursor_text(&out->memory, 0, project_id(out, limit - 1));
        if (out->cursor == NULL)
            return error_nomem(err);
    }
    return CARDBOX_OK;
}

void projects_free(project_list *list)
{
    rows_free(list->rows);
    arena_reset(&list->memory);
}

view project_id(const project_list *list, size_t i)
{
    return rows_text(list->rows, (int)i, COL_ID);
}

int64_t project_count(const project_list *list, size_t i, project_kind kind, bool *more)
{
    int column = COL_COUNTS + 2 * (int)kind;
    *more = rows_bool(list->rows, (int)i, column + 1);
    return rows_int8(list->rows, (int)i, column);
}
