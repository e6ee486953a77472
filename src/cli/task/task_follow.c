/*
 * task_follow.c: prints the events of a task: messages, calls of tools, and the end of the task. On
 * a terminal, messages are printed while the model generates them.
 */
#include "cli/task/task_follow.h"
#include <limits.h>
#include "base/clock.h"
#include "cli/card/card_view.h"

enum {
    POLL_MS = 200,
    MARGIN = 10,               /* columns left of the text, which show the role */
    LEAST_WIDTH = 20,          /* if the margin leaves fewer columns, text is not wrapped */
    VALUE_BYTES_MAX = 1 << 20, /* maximum size of a printed member of a call */
    VALUE_COLUMNS = 1000,      /* maximum columns for a member of a call */
    PATIENCE_MS = 2000,        /* time until the note that no worker has claimed the task */
    KEPT_BYTES = 1 << 16       /* bytes of memory that the preview keeps for the next message */
};

/* --- text that arrives in chunks, beside a margin --- */

typedef struct text_flow {
    int width; /* INT_MAX: text is not wrapped */
    int column;
    bool is_new_line; /* true: put_word() prints the margin before the next word */
} text_flow;

static text_flow text_flow_begin(void)
{
    /* The last column stays empty: after text in it, terminals differ in the cursor's position. */
    int width = term_width() - 1;

    return (text_flow){.width = width < MARGIN + LEAST_WIDTH ? INT_MAX : width, .column = MARGIN};
}

static void text_flow_end(text_flow *f)
{
    putchar('\n');
    f->is_new_line = true;
    f->column = MARGIN;
}

static void put_word(text_flow *f, slice word)
{
    int columns = term_columns(word);

    if (f->column + columns > f->width && f->column > MARGIN)
        text_flow_end(f);
    if (f->is_new_line)
        printf("%*s", MARGIN, "");
    f->is_new_line = false;
    term_put_text(stdout, word);
    f->column += columns;
}

static void text_flow_add(text_flow *f, slice text)
{
    while (text.len > 0) {
        size_t length = 0;

        while (length < text.len && strchr(" \t\r\n", text.ptr[length]) == NULL)
            length++;
        if (length > 0)
            put_word(f, (slice){text.ptr, length});
        else if (*text.ptr == '\n' || (*text.ptr != '\r' && f->column >= f->width))
            text_flow_end(f);
        else if (*text.ptr != '\r')
            put_word(f, SLICE(" "));
        length = length > 0 ? length : 1;
        text = (slice){text.ptr + length, text.len - length};
    }
}

/* --- events --- */

typedef struct watcher {
    cli_call *call;
    cardbox_follow follow;
    bool live;                                /* true: stdout is a terminal */
    char preview_id[CARDBOX_CARD_ID_MAX + 1]; /* id of a message whose chunks were printed */
    buf preview;                              /* text of the printed chunks of message preview_id */
    bool is_preview_open; /* true: the cursor is behind printed text of a preview */
    text_flow line;       /* position of the cursor in the text of a preview */
    char call_id[CARDBOX_CARD_ID_MAX + 1]; /* id of the last call whose start was printed */
    int64_t call_ms;                       /* start time of the call `call_id` */
    bool claimed, finished, success;
    int64_t start_ms;                               /* time when the task was created */
    char chunk_message_id[CARDBOX_CARD_ID_MAX + 1]; /* storage of follow.message_id */
} watcher;

static bool is_chunk(const cardbox_task_event *e)
{
    return strcmp(e->what, "chunk") == 0;
}

static void add_stored(buf *line, const char *name, const char *json)
{
    if (json != NULL)
        buf_printf(line, ",\"%s\":%s", name, json);
}

static void print_json(const cardbox_task_event *e)
{
    buf line = BUF_INIT(SIZE_MAX / 2);
    if (is_chunk(e))
        buf_json_open_take(&line, json_pack("{s:s, s:s?}", "event", e->what, "ref", e->ref));
    else
        buf_json_open_take(&line, json_pack("{s:I, s:s, s:s?, s:s?, s:I}", "n", (json_int_t)e->n,
                                            "event", e->what, "ref", e->ref, "how", e->how, "at",
                                            (json_int_t)e->at));
    add_stored(&line, "text", e->text_json);
    add_stored(&line, "metadata", e->metadata);
    add_stored(&line, "call", e->call);
    buf_char(&line, '}');
    term_print_json(buf_str(&line));
    buf_free(&line);
}

static void print_role(const char *role)
{
    term_style style = card_view_style(slice_of(role));
    printf("%s%-10s%s", term_on(style), role, term_off(style));
}

static void end_line(watcher *w)
{
    if (w->is_preview_open)
        text_flow_end(&w->line);
    w->is_preview_open = false;
}

static void clear_preview(watcher *w)
{
    end_line(w);
    w->preview_id[0] = '\0';
    buf_reset(&w->preview, KEPT_BYTES);
}

/* If a message is in preview, ends the preview with a mark that the answer begins again. */
static void mark_broken_off(watcher *w)
{
    if (w->preview_id[0] == '\0')
        return;
    clear_preview(w);
    printf("%*s%s(broken off: begun again)%s\n", MARGIN, "", term_on(STYLE_DIM),
           term_off(STYLE_DIM));
}

/* Prints a part of an assistant's message. After other output, the part begins on a new line with
 * the role, and with "(goes on)" if it is not the first part. */
static void print_assistant(watcher *w, slice text)
{
    if (!w->is_preview_open) {
        print_role("assistant");
        w->line = text_flow_begin();
        w->is_preview_open = true;
        if (w->preview.len > 0)
            text_flow_add(&w->line, SLICE("(goes on) "));
    }
    text_flow_add(&w->line, text);
}

static void show_chunk(watcher *w, const cardbox_task_event *e)
{
    if (!w->live)
        return;
    if (strcmp(w->preview_id, e->ref) != 0) {
        mark_broken_off(w);
        snprintf(w->preview_id, sizeof(w->preview_id), "%s", e->ref);
    }
    print_assistant(w, slice_of(e->text));
    buf_text(&w->preview, e->text);
}

/* If the text that was printed as a preview is the beginning of this message, prints the rest of
 * the message and returns true. If not, for example because a chunk was missed, returns false. */
static bool print_remainder(watcher *w, const cardbox_task_event *e)
{
    slice whole = slice_of(e->text);
    slice preview = buf_as_slice(&w->preview);
    if (strcmp(w->preview_id, e->ref) != 0 || preview.len > whole.len ||
        memcmp(whole.ptr, preview.ptr, preview.len) != 0)
        return false;
    if (preview.len < whole.len)
        print_assistant(w, (slice){whole.ptr + preview.len, whole.len - preview.len});
    clear_preview(w);
    return true;
}

static void show_message(watcher *w, const cardbox_task_event *e)
{
    if (print_remainder(w, e))
        return;
    if (strcmp(e->how, "assistant") == 0)
        mark_broken_off(w);
    end_line(w);
    bool is_of_call = e->metadata != NULL && /* print_call() prints the call itself */
                      scan_find(scan_whole(slice_of(e->metadata)), "call_id").kind == SCAN_STRING;
    if (is_of_call || e->text[strspn(e->text, " \t\r\n")] == '\0')
        return;
    print_role(e->how);
    text_flow line = text_flow_begin();
    text_flow_add(&line, slice_of(e->text));
    text_flow_end(&line);
}

/* -- calls -- */

/* Replaces the details {"error":TEXT} of a failed call by TEXT. */
static void unwrap_reason(buf *details)
{
    json_error_t unused;
    const char *reason = NULL;
    json_t *object = json_text_read(buf_as_slice(details), JSON_REJECT_DUPLICATES, &unused);
    if (json_unpack_ex(object, NULL, JSON_STRICT, "{s:s}", "error", &reason) == 0) {
        buf_reset(details, VALUE_BYTES_MAX);
        buf_text(details, reason);
    }
    json_decref(object);
}

/* Appends a space and the value of a member of a call, unless the value is empty or {}. The member
 * is JSON in a string. */
static void add_value(buf *out, const cardbox_task_event *e, const char *name)
{
    buf value = BUF_INIT(VALUE_BYTES_MAX), shown = BUF_INIT(VALUE_BYTES_MAX);
    scan_decode(&value, scan_find(scan_whole(slice_of(e->call)), name).text);
    scan_readable(&shown, buf_as_slice(&value));
    if (strcmp(e->how, "failed") == 0)
        unwrap_reason(&shown);
    if (shown.len > 0 && strcmp(buf_str(&shown), "{}") != 0) {
        buf_char(out, ' ');
        term_add_line(out, buf_as_slice(&shown), VALUE_COLUMNS);
    }
    buf_free(&shown);
    buf_free(&value);
}

static void print_cut(slice text, int columns)
{
    buf line = BUF_INIT(SIZE_MAX / 2);

    term_add_line(&line, text, columns);
    fputs(buf_str(&line), stdout);
    buf_free(&line);
}

static void print_call(const cardbox_task_event *e, const char *mark, term_style style,
                       const char *took, const char *member)
{
    buf text = BUF_INIT(SIZE_MAX / 2);
    int width = term_width() - MARGIN - 2;

    scan_decode(&text, scan_find(scan_whole(slice_of(e->call)), "abilityName").text);
    buf_text(&text, took);
    add_value(&text, e, member);
    printf("%*s%s%s%s ", MARGIN, "", term_on(style), mark, term_off(style));
    print_cut(buf_as_slice(&text), width > 1 ? width - 1 : 3 * VALUE_COLUMNS);
    putchar('\n');
    buf_free(&text);
}

static void show_call(watcher *w, const cardbox_task_event *e)
{
    bool is_known = strcmp(w->call_id, e->ref) == 0;
    char took[32] = "";

    end_line(w);
    if (is_known)
        snprintf(took, sizeof(took), " %.1f s", (double)(e->at - w->call_ms) / 1000);
    if (strcmp(e->how, "completed") == 0) {
        print_call(e, "\xe2\x9c\x93", STYLE_GREEN, took, "details");
    } else if (strcmp(e->how, "failed") == 0) {
        print_call(e, "\xe2\x9c\x97", STYLE_RED, took, "details");
    } else if (!is_known) {
        snprintf(w->call_id, sizeof(w->call_id), "%s", e->ref);
        w->call_ms = e->at;
        print_call(e, "\xe2\x86\x92", STYLE_CYAN, "", "parameters");
    }
}

static void show_end(watcher *w, const cardbox_task_event *e)
{
    term_style style = strcmp(e->how, "success") == 0 ? STYLE_GREEN : STYLE_RED;
    slice state = {e->how, strcspn(e->how, ":\r\n")};

    clear_preview(w);
    fputs(term_on(style), stdout);
    print_cut(state, VALUE_COLUMNS);
    printf("%s after %.1f s", term_off(style), (double)(e->at - w->start_ms) / 1000);
    if (e->how[state.len] == ':') /* further lines are not shown */
        print_cut(slice_of(e->how + state.len), VALUE_COLUMNS);
    if (e->text != NULL && *e->text != '\0') {
        fputs(": ", stdout);
        print_cut(slice_of(e->text), VALUE_COLUMNS);
    }
    putchar('\n');
}

static void print_event(watcher *w, const cardbox_task_event *e)
{
    if (w->call->json)
        print_json(e);
    else if (is_chunk(e))
        show_chunk(w, e);
    else if (strcmp(e->what, "message") == 0)
        show_message(w, e);
    else if (strcmp(e->what, "call") == 0)
        show_call(w, e);
    else if (strcmp(e->what, "claimed") == 0)
        mark_broken_off(w);
    else if (strcmp(e->what, "completed") == 0)
        show_end(w, e);
}

/* True for events which show that a worker has claimed the task. */
static bool is_of_worker(const cardbox_task_event *e)
{
    return strcmp(e->what, "claimed") == 0 || strcmp(e->what, "call") == 0 ||
           (strcmp(e->what, "message") == 0 && strcmp(e->how, "assistant") == 0);
}

/* Stores the position after an event, where the next query continues, and the state of the task. */
static void remember_position(watcher *w, const cardbox_task_event *e)
{
    if (is_chunk(e)) {
        w->claimed = true;
        snprintf(w->chunk_message_id, sizeof(w->chunk_message_id), "%s", e->ref);
        w->follow.message_id = w->chunk_message_id;
        w->follow.after_chunk = e->n;
        return;
    }
    w->follow.after = e->n;
    if (strcmp(e->what, "created") == 0)
        w->start_ms = e->at;
    w->claimed = w->claimed || is_of_worker(e);
    bool ends = strcmp(e->what, "completed") == 0;
    if (ends || strcmp(e->what, "reopened") == 0) {
        w->finished = ends;
        w->success = ends && strcmp(e->how, "success") == 0;
    }
}

/* Prints the new events and chunks. *count receives the number of events that are no chunks.
 * Returns false if the query failed; *status is then the exit status. */
static bool show_new_events(watcher *w, size_t *count, cli_exit *status)
{
    cli_call *call = w->call;
    cardbox_task_events *events = NULL;
    if (cardbox_task_follow(&events, call->db, call->project, &w->follow, &call->err) !=
        CARDBOX_OK) {
        *status = cli_failed(call);
        return false;
    }
    *count = 0;
    for (size_t i = 0; i < cardbox_task_events_count(events); i++) {
        const cardbox_task_event *e = cardbox_task_events_at(events, i);
        *count += !is_chunk(e);
        remember_position(w, e);
        print_event(w, e);
    }
    fflush(stdout);
    cardbox_task_events_free(events);
    return true;
}

const char *task_state(const cardbox_task *task)
{
    int64_t now_ms = clock_wall_micros() / 1000;
    if (task->completion_status != NULL)
        return task->completion_status;
    if (task->lease_owner != NULL)
        return task->wake_at > now_ms ? "running" : "lost";
    return task->wake_at > 0 || task->router ? "waiting" : "asleep";
}

term_style task_state_style(const cardbox_task *task)
{
    if (task->completion_status == NULL)
        return task->lease_owner != NULL ? STYLE_CYAN : STYLE_PLAIN;
    return strcmp(task->completion_status, "success") == 0 ? STYLE_GREEN : STYLE_RED;
}

static void show_state(const cardbox_task *task)
{
    const char *state = task_state(task);
    bool is_lost = strcmp(state, "lost") == 0;

    if (task->completion_status != NULL)
        return;
    if (task->lease_owner == NULL) {
        puts(task->wake_at > 0 ? "waiting for a worker"
             : task->router    ? "waiting for the next message"
                               : "asleep until a subtask ends or a message comes");
        return;
    }
    fputs(is_lost ? "waiting for a worker: the lease of " : "running on ", stdout);
    term_put_text(stdout, slice_of(task->lease_owner));
    puts(is_lost ? " has run out" : "");
}

static void show_until_end(watcher *w, cli_exit *status)
{
    int64_t patient_until = clock_ms() + PATIENCE_MS;
    size_t count;
    while (show_new_events(w, &count, status) && !(count == 0 && w->finished)) {
        if (count == 0 && !w->claimed && clock_ms() >= patient_until) {
            cli_note("waiting for a worker (none has claimed it)");
            patient_until = INT64_MAX;
        }
        if (!w->finished)
            clock_sleep_ms(POLL_MS);
    }
}

cli_exit task_follow_print(cli_call *call, const char *task_id, bool wait)
{
    watcher w = {.call = call,
                 .follow = CARDBOX_FOLLOW_INIT,
                 .live = term_width() > 0,
                 .preview = BUF_INIT(SIZE_MAX / 2)};
    cli_exit status = CLI_DONE;
    cardbox_ledger *found = NULL;
    size_t count = 1;
    if (cardbox_task_get(&found, call->db, call->project, task_id, &call->err) != CARDBOX_OK)
        return cli_failed(call);
    w.follow.task_id = task_id;
    if (wait)
        show_until_end(&w, &status);
    else
        while (count > 0 && show_new_events(&w, &count, &status))
            continue;
    end_line(&w);
    buf_free(&w.preview);
    if (status == CLI_DONE && !wait && !call->json && !w.finished)
        show_state(cardbox_ledger_task(found, 0));
    if (status == CLI_DONE && wait && !w.success)
        status = CLI_FAILED;
    cardbox_ledger_free(found);
    return status;
}
