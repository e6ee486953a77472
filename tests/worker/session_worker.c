/*
 * session_worker.c: an example of a worker. Reads an agent's session (JSON Lines), writes every
 * line as a card and appends it to an output box, a transaction a turn:
 *
 *     cc session_worker.c $(pkg-config --cflags --libs cardbox) -ljansson -o session_worker
 *     ./session_worker "host=... dbname=cardbox" acme 0197f2c1-0000-7000-8000-000000000001 FILE
 *
 * Card ids and append keys depend only on the box and the line, so the worker may be killed
 * anywhere and started again: cards that are there are unchanged, appends that were done are
 * replayed, and the box holds every line once, in order. It keeps no state of its own.
 */
#include <cardbox.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A turn is a user message and all that follows it up to the next; a longer one is cut here. */
enum { TURN_LINES_MAX = 500, TRIES_MAX = 10 };

typedef struct worker {
    cardbox *db;
    const char *tenant;
    const char *box_id;
    long line; /* number of the last line that was read, from 1 */
    long turn;
} worker;

typedef struct turn {
    size_t count;
    char *lines[TURN_LINES_MAX];
    char ids[TURN_LINES_MAX][CARDBOX_UUID_SIZE];
    const char *appended[TURN_LINES_MAX];
    cardbox_card cards[TURN_LINES_MAX];
} turn;

static const struct {
    const char *role;
    const char *type;
} TYPES[] = {
    {"user", CARDBOX_TYPE_INSTRUCTION},
    {"assistant", CARDBOX_TYPE_THOUGHT},
    {"toolResult", "session.tool_result"}, /* no CARDBOX_TYPE_TOOL_RESULT: those have a call id */
};

/* The type of card that a session's line becomes: by the role of its message, if it is one. */
static const char *type_of_line(const char *line)
{
    const char *type = "session.entry", *role = NULL;
    json_t *entry = json_loads(line, 0, NULL);
    json_unpack(entry, "{s:{s:s}}", "message", "role", &role);
    for (size_t i = 0; role != NULL && i < sizeof(TYPES) / sizeof(TYPES[0]); i++)
        if (strcmp(role, TYPES[i].role) == 0)
            type = TYPES[i].type;
    json_decref(entry);
    return type;
}

static void add_line(turn *t, const worker *w, char *line, const char *type)
{
    char part[32];
    size_t at = t->count++;
    snprintf(part, sizeof(part), "line %ld", w->line);
    cardbox_uuid7_from_key(t->ids[at], w->box_id, part);
    t->lines[at] = line;
    t->appended[at] = t->ids[at];
    t->cards[at] = (cardbox_card)CARDBOX_CARD_INIT;
    t->cards[at].card_id = t->ids[at];
    t->cards[at].content = line;
    t->cards[at].type = type;
}

static cardbox_status write_turn(const worker *w, const turn *t, cardbox_error *err)
{
    char key[32];
    cardbox *tx = NULL;
    cardbox_append_options how = CARDBOX_APPEND_OPTIONS_INIT;
    cardbox_status status;

    snprintf(key, sizeof(key), "turn %ld", w->turn);
    how.key = key;
    if ((status = cardbox_begin(&tx, w->db, err)) != CARDBOX_OK)
        goto done;
    if ((status = cardbox_add_cards(NULL, tx, w->tenant, t->cards, t->count, NULL, err)) !=
        CARDBOX_OK)
        goto done;
    if ((status = cardbox_append_to_box(NULL, tx, w->tenant, w->box_id, t->appended, t->count, &how,
                                        err)) != CARDBOX_OK)
        goto done;
    status = cardbox_commit(tx, err); /* ends tx, whatever the outcome */
    tx = NULL;
done:
    cardbox_rollback(tx); /* NULL is fine */
    return status;
}

/* A lost connection, even a lost commit, is answered by the same turn again: its ids and its key
 * make sure that it is done once. */
static cardbox_status write_turn_surely(const worker *w, const turn *t, cardbox_error *err)
{
    cardbox_status status = CARDBOX_UNAVAILABLE;
    for (int try = 0; try < TRIES_MAX && status == CARDBOX_UNAVAILABLE; try++) {
        status = write_turn(w, t, err);
        if (status == CARDBOX_UNAVAILABLE)
            nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    }
    return status;
}

static void forget_turn(turn *t)
{
    for (size_t i = 0; i < t->count; i++)
        free(t->lines[i]);
    t->count = 0;
}

static int flush_turn(worker *w, turn *t)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    if (t->count == 0)
        return 0;
    w->turn++;
    if (write_turn_surely(w, t, &err) != CARDBOX_OK) {
        fprintf(stderr, "session_worker: lines %ld to %ld: %s\n", w->line - (long)t->count + 1,
                w->line, err.message);
        return -1;
    }
    forget_turn(t);
    return 0;
}

static int work(worker *w, FILE *file)
{
    static turn t; /* too large for the stack */
    char *line = NULL;
    size_t size = 0;
    ssize_t length;
    int result = 0;
    while (result == 0 && (length = getline(&line, &size, file)) > 0) {
        if (line[length - 1] == '\n')
            line[length - 1] = '\0';
        const char *type = type_of_line(line);
        if (t.count == TURN_LINES_MAX || strcmp(type, CARDBOX_TYPE_INSTRUCTION) == 0)
            result = flush_turn(w, &t);
        w->line++;
        add_line(&t, w, line, type);
        line = NULL; /* the turn's now */
        size = 0;
    }
    if (result == 0)
        result = flush_turn(w, &t);
    forget_turn(&t);
    free(line);
    return result;
}

int main(int argc, char **argv)
{
    cardbox_options options = CARDBOX_OPTIONS_INIT;
    cardbox_error err = CARDBOX_ERROR_INIT;
    worker w = {NULL, NULL, NULL, 0, 0};
    FILE *file = NULL;
    int result = 1;
    if (argc != 5) {
        fprintf(stderr, "usage: session_worker DSN TENANT BOX_ID FILE\n");
        return 2;
    }
    options.conninfo = argv[1];
    options.application_name = "session_worker";
    w.tenant = argv[2];
    w.box_id = argv[3];
    file = fopen(argv[4], "r");
    if (file == NULL) {
        perror(argv[4]);
        goto done;
    }
    if (cardbox_open(&w.db, &options, &err) != CARDBOX_OK ||
        cardbox_box_ensure(NULL, w.db, w.tenant, w.box_id, &err) != CARDBOX_OK) {
        fprintf(stderr, "session_worker: %s\n", err.message);
        goto done;
    }
    if (work(&w, file) != 0)
        goto done;
    printf("%ld lines in %ld turns\n", w.line, w.turn);
    result = 0;
done:
    cardbox_close(w.db);
    if (file != NULL)
        fclose(file);
    return result;
}
