/*
 * agent_load.c: reads a task from the ledger in pages and builds its dialogue.
 */
#include <stdlib.h>
#include "model/session/context.h"
#include "worker/agent/agent_internal.h"
#include "worker/format_line.h"

enum { PAGE = 1000, PAGES_MAX = 1000 };

/* The pages read so far. The rows own the texts. */
typedef struct pages {
    store_rows *rows[PAGES_MAX];
    size_t count;
    size_t bytes; /* bytes of the texts, limited to the size of a request */
    store_rows *task;
    arena memory;
    dialogue_input input;
    size_t message_capacity, call_capacity;
    message_row *messages;
    call_row *calls;
} pages;

static cardbox_status out_of_memory(cardbox_error *err)
{
    err->status = CARDBOX_NOMEM;
    format_line(err->message, sizeof(err->message), "out of memory");
    return CARDBOX_NOMEM;
}

static cardbox_status too_large(cardbox_error *err)
{
    err->status = CARDBOX_TOO_LARGE;
    format_line(err->message, sizeof(err->message),
                "the context is too large: over %zu MiB or %d "
                "messages and calls",
                CONTEXT_BYTES_MAX >> 20, PAGE * PAGES_MAX);
    return CARDBOX_TOO_LARGE;
}

static bool may_read_more(const pages *p)
{
    return p->count < PAGES_MAX && p->bytes <= CONTEXT_BYTES_MAX;
}

/* Keeps a page. Returns true if it is the last one. */
static bool add_page(pages *p, store_rows *rows)
{
    p->rows[p->count++] = rows;
    return rows_count(rows) < PAGE;
}

static cardbox_status read_messages(pages *p, const agent *a, int64_t *seen, cardbox_error *err)
{
    store_rows *rows = NULL;
    bool is_last = false;

    while (!is_last && may_read_more(p)) {
        cardbox_status status = work_messages(&rows, a->shared->db, a->lease.tenant,
                                              a->lease.task_id, *seen, PAGE, err);
        if (status != CARDBOX_OK)
            return status;
        is_last = add_page(p, rows);
        for (int i = 0; i < rows_count(rows); i++) {
            p->messages = arena_more(&p->memory, p->messages, p->input.message_count,
                                     &p->message_capacity, sizeof(*p->messages));
            if (p->messages == NULL)
                return out_of_memory(err);
            message_row *message = &p->messages[p->input.message_count++];
            message_row_read(message, rows, i);
            p->bytes += message->content.len + message->tool_calls.len;
            *seen = message->seq;
        }
    }
    p->input.messages = p->messages;
    return is_last ? CARDBOX_OK : too_large(err);
}

static cardbox_status read_calls(pages *p, const agent *a, cardbox_error *err)
{
    store_rows *rows = NULL;
    const call_row *last = NULL;
    bool is_last = false;

    while (!is_last && may_read_more(p)) {
        cardbox_status status =
            work_calls(&rows, a->shared->db, a->lease.tenant, a->lease.task_id, last, PAGE, err);
        if (status != CARDBOX_OK)
            return status;
        is_last = add_page(p, rows);
        for (int i = 0; i < rows_count(rows); i++) {
            p->calls = arena_more(&p->memory, p->calls, p->input.call_count, &p->call_capacity,
                                  sizeof(*p->calls));
            if (p->calls == NULL)
                return out_of_memory(err);
            call_row *call = &p->calls[p->input.call_count++];
            call_row_read(call, rows, i);
            p->bytes += call->parameters.len + call->details.len;
            last = call;
        }
    }
    p->input.calls = p->calls;
    return is_last ? CARDBOX_OK : too_large(err);
}

/* Reads the system prompt from the task's row if the task has no system message, as for tasks
 * that were saved without task:spawn. */
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

/* Adds the ids of the task and of its parent task for a model that can send messages to tasks. */
static void make_note(char *out, size_t size, const agent *a)
{
    static const char *const NAMES[] = {"task:send", "task:spawn"};
    bool can_reach_tasks = false;

    out[0] = '\0';
    for (size_t i = 0; i < a->shared->tools->count; i++)
        for (size_t k = 0; k < sizeof(NAMES) / sizeof(NAMES[0]); k++)
            can_reach_tasks |= strcmp(a->shared->tools->at[i].name, NAMES[k]) == 0;
    if (!can_reach_tasks)
        return;
    format_line(out, size, "You are task %s.", a->lease.task_id.ptr);
    if (a->parent_id.len > 0)
        format_line(out, size, "You are task %s. Task %s gave you this work.", a->lease.task_id.ptr,
                    a->parent_id.ptr);
}

cardbox_status agent_load(dialogue *out, int64_t *seen, const agent *a, cardbox_error *err)
{
    char note[1200];
    pages *p = calloc(1, sizeof(*p));

    *out = (dialogue){.messages = BUF_INIT(0)};
    *seen = 0;
    if (p == NULL)
        return out_of_memory(err);
    p->memory = ARENA_INIT;
    cardbox_status status = read_messages(p, a, seen, err);
    if (status == CARDBOX_OK)
        status = read_calls(p, a, err);
    if (status == CARDBOX_OK)
        status = read_prompt(p, a, err);
    if (status == CARDBOX_OK) {
        make_note(note, sizeof(note), a);
        p->input.note = slice_of(note);
        status = dialogue_build(out, &p->input);
        if (status == CARDBOX_NOMEM)
            status = out_of_memory(err);
        else if (status == CARDBOX_TOO_LARGE)
            status = too_large(err);
    }
    for (size_t i = 0; i < p->count; i++)
        rows_free(p->rows[i]);
    rows_free(p->task);
    arena_reset(&p->memory);
    free(p);
    return status;
}
