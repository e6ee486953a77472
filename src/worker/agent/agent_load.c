/*
 * agent_load.c: reads the messages and calls of a task from the ledger in pages, and builds the
 * dialogue for the model.
 */
#include <stdlib.h>
#include "base/errors.h"
#include "model/session/context.h"
#include "worker/agent/agent.h"
#include "base/text.h"

enum { PAGE = 1000, PAGES_MAX = 1000 };

/* The texts of `messages` and `calls` point into `rows`, so they are valid only until agent_load()
 * returns. */
typedef struct pages {
    store_rows *rows[PAGES_MAX];
    size_t count;
    size_t bytes; /* size of the messages and calls read so far */
    store_rows *task;
    arena memory;
    dialogue_input input;
    size_t message_capacity, call_capacity;
    message_row *messages;
    call_row *calls;
} pages;

static cardbox_status too_large(cardbox_error *err)
{
    return error_set(err, CARDBOX_TOO_LARGE,
                     "the context is too large: over %zu MiB or %d messages and calls",
                     CONTEXT_BYTES_MAX >> 20, PAGE * PAGES_MAX);
}

static bool add_message(pages *p, const store_rows *rows, int row)
{
    p->messages = arena_more(&p->memory, p->messages, p->input.message_count, &p->message_capacity,
                             sizeof(*p->messages));
    if (p->messages == NULL)
        return false;
    message_row *message = &p->messages[p->input.message_count++];
    message_row_read(message, rows, row);
    p->bytes += message->content.len + message->tool_calls.len;
    return true;
}

static bool add_call(pages *p, const store_rows *rows, int row)
{
    p->calls =
        arena_more(&p->memory, p->calls, p->input.call_count, &p->call_capacity, sizeof(*p->calls));
    if (p->calls == NULL)
        return false;
    call_row *call = &p->calls[p->input.call_count++];
    call_row_read(call, rows, row);
    p->bytes += call->parameters.len + call->details.len;
    return true;
}

static cardbox_status read_all(pages *p, const agent *a, bool are_calls, cardbox_error *err)
{
    const task_lease *of = &a->lease;
    cardbox_status status;
    bool is_last = false;

    while (!is_last) {
        store_rows *rows = NULL;
        if (p->count == PAGES_MAX || p->bytes > CONTEXT_BYTES_MAX)
            return too_large(err);
        if (are_calls) {
            size_t count = p->input.call_count;
            status = work_calls(&rows, a->shared->db, of->tenant, of->task_id,
                                count > 0 ? &p->calls[count - 1] : NULL, PAGE, err);
        } else {
            size_t count = p->input.message_count;
            status = work_messages(&rows, a->shared->db, of->tenant, of->task_id,
                                   count > 0 ? p->messages[count - 1].seq : 0, PAGE, err);
        }
        if (status != CARDBOX_OK)
            return status;
        p->rows[p->count++] = rows;
        is_last = rows_count(rows) < PAGE;
        for (int i = 0; i < rows_count(rows); i++)
            if (!(are_calls ? add_call(p, rows, i) : add_message(p, rows, i)))
                return error_nomem(err);
    }
    return CARDBOX_OK;
}

static cardbox_status read_prompt(pages *p, const agent *a, cardbox_error *err)
{
    task_row row;

    if (dialogue_has_system(&p->input))
        return CARDBOX_OK;
    cardbox_status status =
        work_task(&p->task, a->shared->db, a->lease.tenant, a->lease.task_id, err);
    if (status == CARDBOX_OK && rows_count(p->task) == 1 && task_row_read(&row, p->task, 0))
        p->input.prompt = row.prompt;
    return status;
}

/* If the model may call task:send or task:spawn, makes a note with the ids of the task and of its
 * parent task, if any. Otherwise the note is empty. */
static void make_note(char *out, size_t size, const agent *a)
{
    bool has_parent = a->parent_id.len > 0;

    out[0] = '\0';
    if (tools_find(a->shared->tools, SLICE("task__send")) != NULL ||
        tools_find(a->shared->tools, SLICE("task__spawn")) != NULL)
        format_line(out, size, "You are task %s.%s%s%s", a->lease.task_id.ptr,
                    has_parent ? " Task " : "", has_parent ? a->parent_id.ptr : "",
                    has_parent ? " gave you this work." : "");
}

cardbox_status agent_load(dialogue *out, const agent *a, cardbox_error *err)
{
    char note[1200];
    pages *p = calloc(1, sizeof(*p));

    if (p == NULL)
        return error_nomem(err);
    p->memory = ARENA_INIT;
    cardbox_status status = read_all(p, a, false, err);
    if (status == CARDBOX_OK)
        status = read_all(p, a, true, err);
    p->input.messages = p->messages;
    p->input.calls = p->calls;
    if (status == CARDBOX_OK)
        status = read_prompt(p, a, err);
    if (status == CARDBOX_OK) {
        make_note(note, sizeof(note), a);
        p->input.note = slice_of(note);
        status = dialogue_build(out, &p->input);
        if (status == CARDBOX_NOMEM)
            error_nomem(err);
        else if (status == CARDBOX_TOO_LARGE)
            too_large(err);
    }
    for (size_t i = 0; i < p->count; i++)
        rows_free(p->rows[i]);
    rows_free(p->task);
    arena_reset(&p->memory);
    free(p);
    return status;
}
