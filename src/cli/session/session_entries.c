/*
 * session_entries.c: `cardbox session path`, `leaves`, `branch-points`, `children`, `labels` and
 * `diff`, which list entries of a session.
 */
#include "cli/session/session_internal.h"

/* --- lists, a page at a time --- */

/* Returns the indexes of the entries, sorted by line number. NULL: out of memory. */
static const size_t *conversation_order(arena *memory, const cardbox_entries *entries)
{
    size_t count = cardbox_entries_count(entries);
    size_t *order = arena_zeros(memory, count + 1, sizeof(*order));

    for (size_t i = 0; order != NULL && i < count; i++) {
        int64_t line = cardbox_entries_at(entries, i)->line;
        size_t at = i;

        for (; at > 0 && cardbox_entries_at(entries, order[at - 1])->line > line; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    return order;
}

/* Prints entries with a mark at the session's head, and frees the entries. Labelled entries come
 * from the store in another order, and are printed in the order of their lines. */
static cli_exit print_with_head(cli_call *call, cardbox_entries *entries, bool are_labelled,
                                const char *none)
{
    arena memory = ARENA_INIT;
    session_listed of = {.entries = entries, .lines = true};
    cardbox_sessions *found = NULL;
    cli_exit status;

    if (are_labelled)
        of.order = conversation_order(&memory, entries);
    cli_check_memory(!memory.failed);
    if (cardbox_session_get(&found, call->db, call->project, call->arguments[0], &call->err) ==
        CARDBOX_OK) {
        of.head = cardbox_sessions_at(found, 0)->head_entry_id;
        status = session_listing_print(&of, call->json, none);
    } else {
        status = cli_failed(call);
    }
    cardbox_sessions_free(found);
    cardbox_entries_free(entries);
    arena_reset(&memory);
    return status;
}

/* Prints a page of a list of entries. For CARDBOX_ENTRIES_CHILDREN, the command's second argument
 * is the parent, or NULL for the roots. */
static cli_exit list_entries(cli_call *call, cardbox_entry_list list, const char *none)
{
    cardbox_entry_page page = CARDBOX_ENTRY_PAGE_INIT;
    cardbox_entries *entries = NULL;

    page.entry_id = call->arguments[1];
    page.cursor = call->cursor;
    page.limit = (unsigned)call->limit;
    page.json_max = SESSION_PREVIEW_MAX;
    if (!session_find_entry(call, &page.entry_id))
        return CLI_FAILED;
    if (cardbox_session_entries(&entries, call->db, call->project, call->arguments[0], list, &page,
                                &call->err) != CARDBOX_OK)
        return cli_failed(call);
    return print_with_head(call, entries, list == CARDBOX_ENTRIES_LABELLED, none);
}

#define LIST_COMMAND(variable, list, none, command_name, command_arguments, text, example)         \
    static cli_exit list_##variable(cli_call *call)                                                \
    {                                                                                              \
        return list_entries(call, list, none);                                                     \
    }                                                                                              \
    const cli_command cli_session_##variable = {.name = (command_name),                            \
                                                .arguments = (command_arguments),                  \
                                                .summary = (text),                                 \
                                                .examples = (example),                             \
                                                .options = CLI_IN_PROJECT(CLI_CURSOR, CLI_LIMIT),  \
                                                .run = list_##variable}

LIST_COMMAND(leaves, CARDBOX_ENTRIES_LEAVES, "the session is empty", "session leaves", "SESSION",
             "list the entries without children", "session leaves --project demo demo-session");
LIST_COMMAND(branch_points, CARDBOX_ENTRIES_BRANCH_POINTS, "the session has no branches",
             "session branch-points", "SESSION", "list the entries with several children",
             "session branch-points --project demo demo-session");
LIST_COMMAND(children, CARDBOX_ENTRIES_CHILDREN, "there are no children", "session children",
             "SESSION [ENTRY]", "list the children of an entry, or the roots",
             "session children --project demo demo-session 5e55000a");
LIST_COMMAND(labels, CARDBOX_ENTRIES_LABELLED, "no entry has a label", "session labels", "SESSION",
             "list the entries that have a label", "session labels --project demo demo-session");

/* --- path --- */

static cli_exit show_path(cli_call *call)
{
    const char *entry = call->arguments[1];
    cardbox_entries *entries = NULL;

    if (!session_find_entry(call, &entry))
        return CLI_FAILED;
    if (cardbox_session_path(&entries, call->db, call->project, call->arguments[0], entry,
                             (size_t)call->from_depth, (size_t)call->limit, true,
                             &call->err) != CARDBOX_OK)
        return cli_failed(call);
    return print_with_head(call, entries, false, "the path has no such entries");
}

const cli_command cli_session_path = {
    .name = "session path",
    .arguments = "SESSION [ENTRY]",
    .summary = "show the path from the root to an entry, or to the head",
    .examples = "session path --project demo demo-session\n"
                "session path --project demo --from 10 --json demo-session 5e550010",
    .options = CLI_IN_PROJECT(
        CLI_INT("from", from_depth, "DEPTH", "only entries from this depth on (roots: 0)", 0,
                INT32_MAX),
        CLI_INT("limit", limit, "N", "maximum number of entries (default all)", 1, INT32_MAX)),
    .run = show_path,
};

/* --- diff --- */

static cli_exit show_diff(cli_call *call)
{
    const char *a = call->arguments[1], *b = call->arguments[2];
    cardbox_entries *entries = NULL;

    if (!session_find_entry(call, &a) || !session_find_entry(call, &b))
        return CLI_FAILED;
    if (cardbox_session_diff(&entries, call->db, call->project, call->arguments[0], a, b,
                             (unsigned)call->limit, SESSION_PREVIEW_MAX, &call->err) != CARDBOX_OK)
        return cli_failed(call);
    session_listed of = {.entries = entries, .sides = true};
    cli_exit status = session_listing_print(&of, call->json, "the paths are the same");
    cardbox_entries_free(entries);
    return status;
}

const cli_command cli_session_diff = {
    .name = "session diff",
    .arguments = "SESSION A B",
    .summary = "compare the paths to two entries",
    .description =
        "Prints the last common entry of both paths, then the rest of the path to A, then of B.",
    .examples = "session diff --project demo demo-session 5e550010 5e550015",
    .options = CLI_IN_PROJECT(CLI_INT(
        "limit", limit, "N", "maximum rows of each path (default 1000)", 1, CARDBOX_PAGE_MAX)),
    .run = show_diff,
};
