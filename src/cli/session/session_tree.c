/*
 * session_tree.c: `cardbox session tree`: reads a session's entries page by page, and draws the
 * tree or prints JSON.
 */
#include "cli/session/session_internal.h"
#include "base/string_map.h"

typedef struct tree_data {
    session_tree_entry *entries;
    size_t count, capacity;
    const char *head;
    string_map indexes; /* indexes of entries by id */
    arena memory;
} tree_data;

static slice copy_text(arena *memory, slice text)
{
    return text.len == 0 ? SLICE("") : (slice){arena_copy(memory, text), text.len};
}

static void gather_entry(tree_data *g, const cardbox_entry *entry)
{
    arena *memory = &g->memory;
    session_tree_entry *entries =
        arena_more(memory, g->entries, g->count, &g->capacity, sizeof(*entries));
    session_preview preview;

    if (entries == NULL)
        return;
    g->entries = entries;
    session_entry_preview(&preview, entry, memory);
    entries[g->count] = (session_tree_entry){
        .id = copy_text(memory, slice_of(entry->entry_id)),
        .parent = SESSION_TREE_ROOT,
        .role = copy_text(memory, preview.role),
        .text = preview.text,
        .label = copy_text(memory, slice_of(entry->label)),
        .tools = preview.tools,
        .parent_id = copy_text(memory, slice_of(entry->parent_id)),
        .is_head = g->head != NULL && strcmp(g->head, entry->entry_id) == 0,
    };
    string_map_set(&g->indexes, entries[g->count].id, (uint32_t)g->count);
    g->count++;
}

static void gather_page(void *arg, const cardbox_entries *page)
{
    tree_data *g = arg;

    for (size_t i = 0; i < cardbox_entries_count(page); i++)
        gather_entry(g, cardbox_entries_at(page, i));
    cli_check_memory(!g->memory.failed);
}

static void print_page(void *arg, const cardbox_entries *page)
{
    session_listed of = {.entries = page};

    (void)arg;
    listing_objects(&session_listing, &of, cardbox_entries_count(page));
}

/* Prints a title such as "session-123   1,018 entries   3 leaves", and the session's name. */
static void print_title(const cardbox_session *session, const cardbox_session_counts *counts)
{
    char entries[TERM_NUMBER_SIZE], leaves[TERM_NUMBER_SIZE];
    buf name = BUF_INIT(SIZE_MAX / 4);

    if (session->name != NULL) {
        buf_text(&name, "   ");
        session_value_text(&name, scan_whole(slice_of(session->name)));
    }
    term_put_title("", session->session_id);
    printf("   %s entr%s   %s lea%s", term_number(entries, (uint64_t)session->entries),
           session->entries == 1 ? "y" : "ies", term_number(leaves, (uint64_t)counts->leaves),
           counts->leaves == 1 ? "f" : "ves");
    term_print_text(stdout, buf_as_slice(&name));
    buf_free(&name);
}

static cardbox_status draw_tree(cli_call *call, const cardbox_session *session)
{
    session_tree_options how = {term_width(), call->all, call->ids};
    cardbox_session_counts counts = {.entries = 0};
    tree_data g = {.memory = ARENA_INIT, .head = session->head_entry_id};
    cardbox_status status =
        cardbox_session_count(&counts, call->db, call->project, session->session_id, &call->err);

    cli_check_memory(string_map_init(&g.indexes, (size_t)session->entries, &g.memory));
    if (status == CARDBOX_OK)
        status = session_each_page(call, SESSION_PREVIEW_MAX, gather_page, &g);
    if (status == CARDBOX_OK) {
        /* A parent may be stored after its child, so parents are looked up when all entries are
         * read. */
        for (size_t i = 0; i < g.count; i++) {
            uint32_t index = g.entries[i].parent_id.len > 0
                                 ? string_map_get(&g.indexes, g.entries[i].parent_id)
                                 : STRING_MAP_NONE;

            if (index != STRING_MAP_NONE)
                g.entries[i].parent = index;
        }
        print_title(session, &counts);
        session_tree_print(stdout, g.entries, g.count, &how);
    }
    arena_reset(&g.memory);
    return status;
}

static cli_exit show_tree(cli_call *call)
{
    cardbox_sessions *found = NULL;
    cardbox_status status =
        cardbox_session_get(&found, call->db, call->project, call->arguments[0], &call->err);

    if (status == CARDBOX_OK && call->json)
        status = session_each_page(call, 0, print_page, NULL);
    else if (status == CARDBOX_OK)
        status = draw_tree(call, cardbox_sessions_at(found, 0));
    cardbox_sessions_free(found);
    return status == CARDBOX_OK ? CLI_DONE : cli_failed(call);
}

const cli_command cli_session_tree = {
    .name = "session tree",
    .arguments = "SESSION",
    .summary = "draw a session: branches, labels, the head",
    .description = "In a tree of more than 40 entries, long runs without branches, labels and the "
                   "head are folded. With --json, one object is printed for each entry, in the "
                   "order of the session's lines.",
    .examples = "session tree --project demo demo-session\n"
                "session tree --project demo --all --ids demo-session | less -R",
    .options = CLI_IN_PROJECT(CLI_FLAG("all", all, "do not fold long runs"),
                              CLI_FLAG("ids", ids, "show the ids of the entries")),
    .run = show_tree,
};
