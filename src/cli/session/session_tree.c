/*
 * session_tree.c: `cardbox session tree`: reads a session's entries page by page, keeps of each
 * what is drawn, and has them drawn.
 */
#include "cli/commands.h"
#include "cli/session/session_pages.h"
#include "cli/session/session_rows.h"
#include "cli/session/session_draw.h"
#include "base/errors.h"
#include "base/string_map.h"
#include "model/session/preview.h"

typedef struct tree_options {
    cli_common common;
    bool all, ids;
} tree_options;

/* A session's entries as they are drawn. */
typedef struct gathered {
    session_tree_entry *entries;
    slice *parents; /* their ids; empty: roots */
    size_t count, capacity, parents_capacity;
    string_map places;
    arena memory;
} gathered;

static slice copy(arena *memory, const char *text)
{
    slice given = slice_of(text);

    return given.len == 0 ? SLICE("") : (slice){arena_copy(memory, given), given.len};
}

static void gather(gathered *g, const cardbox_entry *entry, const char *head)
{
    arena *memory = &g->memory;
    session_tree_entry *entries =
        arena_more(memory, g->entries, g->count, &g->capacity, sizeof(*entries));
    slice *parents =
        arena_more(memory, g->parents, g->count, &g->parents_capacity, sizeof(*parents));
    session_preview words;

    if (entries == NULL || parents == NULL)
        return;
    g->entries = entries;
    g->parents = parents;
    session_entry_says(&words, entry, memory);
    entries[g->count] = (session_tree_entry){
        .id = copy(memory, entry->entry_id),
        .parent = SESSION_TREE_ROOT,
        .role = (slice){arena_copy(memory, words.role), words.role.len},
        .text = words.text,
        .label = copy(memory, entry->label),
        .tools = words.tools,
        .is_head = head != NULL && strcmp(head, entry->entry_id) == 0,
    };
    parents[g->count] = copy(memory, entry->parent_id);
    string_map_set(&g->places, entries[g->count].id, (uint32_t)g->count);
    g->count++;
}

/* A parent may have been written after its child. */
static void link_parents(gathered *g)
{
    for (size_t i = 0; i < g->count; i++) {
        uint32_t place =
            g->parents[i].len > 0 ? string_map_get(&g->places, g->parents[i]) : STRING_MAP_NONE;

        if (place != STRING_MAP_NONE)
            g->entries[i].parent = place;
    }
}

typedef struct drawing {
    gathered of;
    const char *head;
} drawing;

static bool gather_page(void *arg, const cardbox_entries *page)
{
    drawing *d = arg;

    for (size_t i = 0; i < cardbox_entries_count(page); i++)
        gather(&d->of, cardbox_entries_at(page, i), d->head);
    return !d->of.memory.failed;
}

static bool print_page(void *arg, const cardbox_entries *page)
{
    session_listed of = {.entries = page};
    listing listed = session_listing(&of);

    (void)arg;
    return listing_objects(&listed);
}

/* session-123   1,018 entries   3 leaves */
static void print_title(const cardbox_session *session, const cardbox_session_counts *counts)
{
    char entries[TERM_NUMBER_SIZE], leaves[TERM_NUMBER_SIZE];
    buf name = BUF_INIT(SIZE_MAX / 4);

    if (session->name != NULL) {
        buf_text(&name, "   ");
        session_say_value(&name, scan_whole(slice_of(session->name)));
    }
    term_put_title("", session->session_id);
    printf("   %s entr%s   %s lea%s", term_number(entries, (uint64_t)session->entries),
           session->entries == 1 ? "y" : "ies", term_number(leaves, (uint64_t)counts->leaves),
           counts->leaves == 1 ? "f" : "ves");
    term_print_text(stdout, buf_as_slice(&name));
    buf_free(&name);
}

static cli_exit draw(cardbox *db, const cardbox_session *session, const tree_options *options)
{
    const char *project = options->common.project, *id = session->session_id;
    session_tree_look look = {term_width(), options->all, options->ids};
    cardbox_session_counts counts = {.entries = 0};
    cardbox_error err = CARDBOX_ERROR_INIT;
    drawing d = {.of = {.memory = ARENA_INIT}, .head = session->head_entry_id};
    cardbox_status status = cardbox_session_count(&counts, db, project, id, &err);

    if (!string_map_init(&d.of.places, (size_t)session->entries, &d.of.memory))
        status = error_nomem(&err);
    if (status == CARDBOX_OK)
        status = session_each_page(db, project, id, SESSION_PREVIEW_MAX, gather_page, &d, &err);
    if (status == CARDBOX_OK) {
        link_parents(&d.of);
        print_title(session, &counts);
        if (!session_tree_print(stdout, d.of.entries, d.of.count, &look))
            status = error_nomem(&err);
    }
    arena_reset(&d.of.memory);
    return status == CARDBOX_OK ? CLI_DONE : cli_failed(&err);
}

static cli_exit print_all(cardbox *db, const cardbox_session *session, const tree_options *options)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_status status = session_each_page(db, options->common.project, session->session_id, 0,
                                              print_page, NULL, &err);

    return status == CARDBOX_OK ? CLI_DONE : cli_failed(&err);
}

static cli_exit run_tree(cardbox *db, const void *given, char **arguments)
{
    const tree_options *options = given;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_sessions *found = NULL;
    cli_exit status;

    if (cardbox_get_session(&found, db, options->common.project, arguments[0], &err) != CARDBOX_OK)
        status = cli_failed(&err);
    else
        status =
            (options->common.json ? print_all : draw)(db, cardbox_sessions_at(found, 0), options);
    cardbox_sessions_free(found);
    return status;
}

static const opt_spec tree_specs[] =
    CLI_IN_PROJECT(CLI_FLAG(tree_options, "all", all, "fold no long runs"),
                   CLI_FLAG(tree_options, "ids", ids, "show the ids of the entries"));

const cli_command cli_session_tree = {
    .name = "session tree",
    .arguments = "SESSION",
    .summary = "draw a session: branches, labels, the head",
    .description = "In a large tree long runs without a branch or a label are folded. With --json "
                   "one object an "
                   "entry, in the order in which they were written.",
    .examples = "session tree --project demo demo-session\n"
                "session tree --project demo --all --ids demo-session | less -R",
    .options = tree_specs,
    .with_database = run_tree,
};
