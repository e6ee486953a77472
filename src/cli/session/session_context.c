/*
 * session_context.c: `cardbox session context`: prints the context of an entry, or compares the
 * contexts of two entries.
 */
#include "cli/session/session_internal.h"
#include "cli/view/context_view.h"

/* --- two contexts --- */

static json_t *side_of(const cardbox_context *built, const char *leaf)
{
    size_t count = cardbox_context_count(built);
    char digest[33] = "";

    if (count > 0 && cardbox_context_digest(digest, built, count - 1) != CARDBOX_OK)
        digest[0] = '\0';
    return json_pack("{s:s?, s:I, s:s}", "entry_id", leaf, "messages", (json_int_t)count, "digest",
                     digest);
}

static cli_exit print_difference(const cardbox_context *a, const char *a_leaf,
                                 const cardbox_context *b, const char *b_leaf, bool json)
{
    size_t shared = cardbox_context_difference(a, b);
    size_t a_count = cardbox_context_count(a), b_count = cardbox_context_count(b);
    json_t *sides = NULL;

    if (json)
        sides = json_pack("{s:I, s:o, s:o}", "shared", (json_int_t)shared, "a", side_of(a, a_leaf),
                          "b", side_of(b, b_leaf));
    if (shared == a_count && shared == b_count)
        return cli_print(json, sides, "the contexts are the same: %zu message%s", shared,
                         shared == 1 ? "" : "s");
    return cli_print(json, sides,
                     "equal messages at the beginning: %zu; then %s has %zu more, %s %zu", shared,
                     a_leaf ? a_leaf : "the head", a_count - shared, b_leaf, b_count - shared);
}

/* --- the command --- */

static cli_exit show_context(cli_call *call)
{
    const char *project = call->project, *session = call->arguments[0], *leaf = call->arguments[1];
    const char *compare = call->compare;
    cardbox_context *built = NULL, *other = NULL;
    cli_exit end = CLI_DONE;

    if (!session_find_entry(call, &leaf) || !session_find_entry(call, &compare))
        return CLI_FAILED;
    cardbox_status status = cardbox_build_context_options(&built, call->db, project, session, leaf,
                                                          &call->context, &call->err);
    if (status == CARDBOX_OK && compare != NULL)
        status = cardbox_build_context_options(&other, call->db, project, session, compare,
                                               &call->context, &call->err);
    if (status != CARDBOX_OK)
        end = cli_failed(call);
    else if (other != NULL)
        end = print_difference(built, leaf, other, compare, call->json);
    else
        context_view_print(built, call->json);
    cardbox_context_free(other);
    cardbox_context_free(built);
    return end;
}

const cli_command cli_session_context = {
    .name = "session context",
    .arguments = "SESSION [ENTRY]",
    .summary = "print the messages for a model that continues an entry, or the head",
    .description =
        "Prints a JSON array of messages. If there is a separate system text, prints an "
        "object with \"system\" and \"messages\", in the format responses with \"instructions\" "
        "and "
        "\"messages\". In the format messages, the object has \"metadata\" too. A report on stderr "
        "has the model, the repairs, and what the loop of an agent does next. With --json, one "
        "object has messages and report.",
    .examples = "session context --project demo demo-session | jq '.[].role'\n"
                "session context --project demo --format anthropic --json demo-session 5e550010\n"
                "session context --project demo --compare 5e550010 demo-session",
    .options = CLI_IN_PROJECT(CONTEXT_VIEW_OPTIONS,
                              CLI_TEXT("compare", compare, "ENTRY",
                                       "count the messages in common with this entry's context")),
    .run = show_context,
};
