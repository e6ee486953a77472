/*
 * task_follow.c: an agent at work, in the terminal: who says what, as it is being said, the calls
 * of tools, and the end. Where the output is no terminal only what is complete is printed.
 */
#include "cli/task_follow.h"
#include <inttypes.h>
#include "base/clock.h"
#include "cli/card_view.h"
#include "cli/term.h"

enum { LOOK_MS = 200 };

typedef struct watcher {
    cardbox_follow follow;
    bool json, live;                      /* live: a terminal, where pieces are shown */
    char saying[CARDBOX_CARD_ID_MAX + 1]; /* message whose pieces are on the screen; "": none */
    bool finished, success;
    int64_t began_ms; /* of the task */
} watcher;

static void print_json(const cardbox_task_event *e)
{
    buf line = BUF_INIT(SIZE_MAX / 2);
    buf_printf(&line, "{\"n\":%" PRId64 ",\"event\":\"%s\",\"ref\":", e->n, e->what);
    if (e->ref == NULL)
        buf_text(&line, "null");
    else
        buf_json_string(&line, view_of(e->ref));
    buf_text(&line, ",\"how\":");
    if (e->how == NULL)
        buf_text(&line, "null");
    else
        buf_json_string(&line, view_of(e->how));
    buf_printf(&line, ",\"at\":%" PRId64, e->at);
    if (e->text_json != NULL)
        buf_printf(&line, ",\"text\":%s", e->text_json);
    if (e->call != NULL)
        buf_printf(&line, ",\"call\":%s", e->call);
    buf_char(&line, '}');
    puts(buf_str(&line));
    buf_free(&line);
}

static void print_role(const char *role)
{
    term_style style = card_view_style(role);
    printf("%s%-10s%s", term_on(style), role, term_off(style));
}

/* Without the end of line that term_print_text sets. */
static void print_piece(const char *text)
{
    view rest = view_of(text);
    while (rest.len > 0) {
        size_t bytes = view_utf8_step(rest);
        bool layout = *rest.ptr == '\n' || *rest.ptr == '\t';
        if (!layout && (bytes == 0 || term_is_unfit((view){rest.ptr, bytes})))
            fputs(TERM_REPLACEMENT, stdout);
        else
            fwrite(rest.ptr, 1, bytes, stdout);
        bytes = bytes > 0 ? bytes : 1;
        rest = (view){rest.ptr + bytes, rest.len - bytes};
    }
    fflush(stdout);
}

static void stop_saying(watcher *w)
{
    if (w->saying[0] != '\0')
        putchar('\n');
    w->saying[0] = '\0';
}

static void show_piece(watcher *w, const cardbox_task_event *e)
{
    if (!w->live)
        return;
    if (strcmp(w->saying, e->ref) != 0) {
        stop_saying(w);
        snprintf(w->saying, sizeof(w->saying), "%s", e->ref);
        print_role("assistant");
    }
    print_piece(e->text);
}

static void show_message(watcher *w, const cardbox_task_event *e)
{
    bool shown = strcmp(w->saying, e->ref) == 0;
    stop_saying(w);
    if (shown)
        return;
    print_role(e->how);
    term_print_text(stdout, view_of(e->text));
}

static void show_call(watcher *w, const cardbox_task_event *e)
{
    static const struct {
        const char *status, *mark;
        term_style style;
    } MARKS[] = {{"completed", "\xe2\x9c\x93", STYLE_GREEN}, {"failed", "\xe2\x9c\x97", STYLE_RED}};
    buf name = BUF_INIT(4096);
    stop_saying(w);
    scan_decode(&name, scan_find(scan_whole(view_of(e->call)), "abilityName").text);
    for (size_t i = 0; i < sizeof(MARKS) / sizeof(MARKS[0]); i++) {
        if (strcmp(MARKS[i].status, e->how) != 0)
            continue;
        printf("%10s%s%s%s ", "", term_on(MARKS[i].style), MARKS[i].mark, term_off(MARKS[i].style));
        term_print_text(stdout, view_of(buf_str(&name)));
    }
    buf_free(&name);
}

static void show_end(watcher *w, const cardbox_task_event *e)
{
    buf line = BUF_INIT(2 * CARDBOX_TASK_STATUS_MAX);
    term_style style = strcmp(e->how, "success") == 0 ? STYLE_GREEN : STYLE_RED;
    stop_saying(w);
    term_add_line(&line, view_of(e->how), CARDBOX_TASK_STATUS_MAX);
    printf("%s%s%s after %.1f s\n", term_on(style), buf_str(&line), term_off(style),
           (double)(e->at - w->began_ms) / 1000);
    buf_free(&line);
}

static void show(watcher *w, const cardbox_task_event *e)
{
    if (w->json)
        print_json(e);
    else if (strcmp(e->what, "chunk") == 0)
        show_piece(w, e);
    else if (strcmp(e->what, "message") == 0)
        show_message(w, e);
    else if (strcmp(e->what, "call") == 0)
        show_call(w, e);
    else if (strcmp(e->what, "completed") == 0)
        show_end(w, e);
}

/* What it is to ask for next. */
static void note(watcher *w, const cardbox_task_event *e, char known[CARDBOX_CARD_ID_MAX + 1])
{
    if (strcmp(e->what, "chunk") == 0) {
        snprintf(known, CARDBOX_CARD_ID_MAX + 1, "%s", e->ref);
        w->follow.message_id = known;
        w->follow.after_piece = e->n;
        return;
    }
    w->follow.after = e->n;
    if (strcmp(e->what, "created") == 0)
        w->began_ms = e->at;
    w->finished = strcmp(e->what, "completed") == 0;
    w->success = w->finished && strcmp(e->how, "success") == 0;
}

/* Events that there are now. False: *status says why. */
static bool look(watcher *w, cardbox *db, const char *project, size_t *count, cli_exit *status)
{
    char known[CARDBOX_CARD_ID_MAX + 1] = "";
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_task_events *events = NULL;
    static char asked[CARDBOX_CARD_ID_MAX + 1];
    if (cardbox_follow_task(&events, db, project, &w->follow, &err) != CARDBOX_OK) {
        *status = cli_failed(&err);
        return false;
    }
    *count = cardbox_task_events_count(events);
    for (size_t i = 0; i < *count; i++) {
        const cardbox_task_event *e = cardbox_task_events_at(events, i);
        note(w, e, known);
        show(w, e);
    }
    if (known[0] != '\0') {
        memcpy(asked, known, sizeof(asked));
        w->follow.message_id = asked;
    }
    fflush(stdout);
    cardbox_task_events_free(events);
    return true;
}

static bool exists(cardbox *db, const char *project, const char *task_id, cli_exit *status)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_ledger *found = NULL;
    if (cardbox_get_task(&found, db, project, task_id, &err) != CARDBOX_OK) {
        *status = cli_failed(&err);
        return false;
    }
    cardbox_ledger_free(found);
    return true;
}

cli_exit task_follow_print(cardbox *db, const cli_common *common, const char *task_id, bool wait)
{
    watcher w = {.follow = CARDBOX_FOLLOW_INIT, .json = common->json, .live = term_width() > 0};
    cli_exit status = CLI_DONE;
    size_t count;
    w.follow.task_id = task_id;
    if (!exists(db, common->project, task_id, &status))
        return status;
    while (look(&w, db, common->project, &count, &status)) {
        if (count == 0 && (!wait || w.finished))
            break;
        if (count == 0 || (wait && !w.finished))
            clock_sleep_ms(LOOK_MS);
    }
    stop_saying(&w);
    if (status == CLI_DONE && wait && !w.success)
        status = CLI_FAILED;
    return status;
}
