/*
 * session_unseen.c: has a context built of what was appended, and takes from its repairs what was
 * left out. Must not know why: that is the context's business.
 */
#include "cli/session/session_unseen.h"

#include <inttypes.h>
#include "base/scan.h"
#include "model/session/context.h"

typedef enum unseen { SEEN, UNSEEN_TYPE, UNSEEN_EMPTY, UNSEEN_ORPHAN, UNSEEN_SECOND } unseen;
enum { UNSEEN_KINDS = UNSEEN_SECOND + 1 };
enum { TYPE_SHOWN_MOST = 60 }; /* bytes */

static const struct {
    const char *what;
    int repair;     /* what tells of it; negative: the type */
    bool is_result; /* of a call that may stand before what was appended */
} KINDS[UNSEEN_KINDS] = {
    [SEEN] = {"", -1, false},
    [UNSEEN_TYPE] = {SESSION_UNSEEN_TYPE, -1, false},
    [UNSEEN_EMPTY] = {SESSION_UNSEEN_EMPTY, CONTEXT_EMPTY_MESSAGE, false},
    [UNSEEN_ORPHAN] = {"no model sees a result without its call before it", CONTEXT_ORPHAN_RESULT,
                       true},
    [UNSEEN_SECOND] = {"no model sees a second result of a call", CONTEXT_SECOND_RESULT, true},
};

typedef struct lookout {
    const session_appended *of;
    session_entry *entries;
    unseen *found; /* of each entry */
    arena memory;
} lookout;

static unseen kind_of(view repair)
{
    for (int kind = UNSEEN_EMPTY; kind < UNSEEN_KINDS; kind++) {
        context_repair_kind told = (context_repair_kind)KINDS[kind].repair;
        if (view_equal(repair, view_of(context_repair_name(told))))
            return (unseen)kind;
    }
    return SEEN;
}

static bool read_entry(lookout *l, size_t i)
{
    session_line line;
    const char *reason = NULL;

    if (!session_line_kept(&line, view_of(l->of->lines[i])) ||
        !session_entry_read(&l->entries[i], &line, VIEW(""), &l->memory, &reason))
        return false;
    if (l->entries[i].kind == SESSION_OTHER)
        l->found[i] = UNSEEN_TYPE;
    return true;
}

/* The first entry that the last compaction keeps: what it names may be before all of these. */
static view *find_kept(const lookout *l, size_t *first)
{
    view *kept = NULL;

    *first = 0;
    for (size_t i = l->of->count; kept == NULL && i-- > 0;) {
        if (l->entries[i].kind == SESSION_COMPACTION)
            kept = &l->entries[i].kept;
    }
    if (kept == NULL || kept->len == 0)
        return NULL;
    for (size_t i = 0; i < l->of->count; i++) {
        if (view_equal(l->entries[i].id, *kept))
            *first = i;
    }
    return kept;
}

/* Entries are told apart by their place: an id may have been made on the way. */
static bool put_places(lookout *l)
{
    size_t first = 0;
    view *kept = find_kept(l, &first);

    for (size_t i = 0; i < l->of->count; i++) {
        buf place = BUF_INIT(32);

        buf_int(&place, (int64_t)i);
        l->entries[i].id = arena_keep(&l->memory, &place);
    }
    if (kept != NULL)
        *kept = l->entries[first].id;
    return !l->memory.failed;
}

/* What is said of the entries by themselves. False: it can't be known. */
static bool look_at_entries(lookout *l)
{
    size_t count = l->of->count;
    const session_entry **path = arena_zeros(&l->memory, count, sizeof(session_entry *));
    context_output output;
    context built;
    int64_t place = 0;
    bool fine = path != NULL;

    for (size_t i = 0; fine && i < count; i++) {
        path[i] = &l->entries[i];
        fine = read_entry(l, i);
    }
    if (!fine || !put_places(l) || !context_of_path(&built, NULL, path, count, true, &l->memory))
        return false;
    fine = context_write(&output, &built, CARDBOX_FORMAT_OPENAI);
    for (const context_repair *at = built.repairs; fine && at != NULL; at = at->next) {
        unseen kind = kind_of(view_of(context_repair_name(at->kind)));
        if (kind != SEEN && scan_integer(at->id, &place))
            l->found[place] = kind;
    }
    context_output_free(&output);
    return fine;
}

/* Which of those that were appended an id is; their count: none. */
static size_t place_of(scan_value appended, scan_value id, size_t count)
{
    scan_walk walk = scan_enter(appended);
    scan_value entry;
    size_t i = 0;

    while (i < count && scan_element(&walk, &entry) &&
           !view_equal(scan_find(entry, "entry_id").text, id.text))
        i++;
    return i;
}

/* A result's call may be in the session already: what the whole way to the last entry says. */
static void look_at_results(lookout *l, cardbox *db, const char *project, const char *session)
{
    scan_value appended = scan_find(scan_whole(view_of(l->of->answer)), "entries"), repair, last;
    cardbox_context *built = NULL;
    view leaf = VIEW("");

    for (size_t i = 0; i < l->of->count; i++) {
        if (KINDS[l->found[i]].is_result)
            l->found[i] = SEEN;
    }
    for (scan_walk walk = scan_enter(appended); scan_element(&walk, &last);)
        session_text_of(&leaf, scan_find(last, "entry_id"), &l->memory);
    if (l->memory.failed ||
        cardbox_build_context(&built, db, project, session, arena_copy(&l->memory, leaf),
                              CARDBOX_FORMAT_OPENAI, NULL) != CARDBOX_OK)
        return;
    scan_value repairs = scan_find(scan_whole(view_of(cardbox_context_report(built))), "repairs");
    for (scan_walk walk = scan_enter(repairs); scan_element(&walk, &repair);) {
        unseen kind = kind_of(scan_inside(scan_find(repair, "repair").text));
        size_t i = place_of(appended, scan_find(repair, "entry"), l->of->count);
        if (KINDS[kind].is_result && i < l->of->count)
            l->found[i] = kind;
    }
    cardbox_context_free(built);
}

/* As JSON where it is no text that can be printed. */
static view name_of_type(const session_entry *entry)
{
    return entry->type.len > 0 ? entry->type : scan_find(entry->value, "type").text;
}

static void warn(const lookout *l, unseen kind)
{
    size_t count = 0, first = 0;
    char more[48] = "";

    for (size_t i = l->of->count; i-- > 0;) {
        if (l->found[i] != kind)
            continue;
        first = i;
        count++;
    }
    if (count == 0)
        return;
    view type = kind == UNSEEN_TYPE ? name_of_type(&l->entries[first]) : VIEW("");
    size_t shown = view_cut(type, TYPE_SHOWN_MOST);
    if (count > 1)
        snprintf(more, sizeof(more), " and %zu more", count - 1);
    cli_warning("line %" PRIu64 "%s: %s%s%.*s%s", l->of->numbers[first], more, KINDS[kind].what,
                kind == UNSEEN_TYPE ? ": " : "", (int)shown, type.ptr,
                shown < type.len ? "..." : "");
}

void session_warn_unseen(cardbox *db, const char *project, const char *session,
                         const session_appended *what)
{
    lookout l = {.of = what, .memory = ARENA_INIT};
    bool is_result = false;

    l.entries = arena_zeros(&l.memory, what->count, sizeof(*l.entries));
    l.found = arena_zeros(&l.memory, what->count, sizeof(*l.found));
    if (l.entries != NULL && l.found != NULL && look_at_entries(&l)) {
        for (size_t i = 0; i < what->count; i++)
            is_result = is_result || KINDS[l.found[i]].is_result;
        if (is_result)
            look_at_results(&l, db, project, session);
        for (int kind = UNSEEN_TYPE; kind < UNSEEN_KINDS; kind++)
            warn(&l, (unseen)kind);
    }
    arena_reset(&l.memory);
}
