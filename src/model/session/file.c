/*
 * file.c: lines to entries to a tree to a report.
 */
#include "model/session/file.h"
#include "model/session/places.h"

#include <stdlib.h>

static const struct {
    const char *name;
    const char *reason;
} ISSUES[SESSION_ISSUE_KINDS] = {
    [SESSION_ISSUE_BAD] = {"bad", NULL},
    [SESSION_ISSUE_TORN] = {"torn", NULL},
    [SESSION_ISSUE_HEADER] = {"header", "a header that is not the file's first line"},
    [SESSION_ISSUE_DUPLICATE] = {"duplicate", "an earlier line is the same entry"},
    [SESSION_ISSUE_CONFLICT] = {"conflict", "an earlier line has this id and other content"},
    [SESSION_ISSUE_CYCLE] = {"cycle", "its parents lead back to itself"},
    [SESSION_ISSUE_DANGLING] = {"dangling", "its parent is not in the session, it became a root"},
    [SESSION_ISSUE_NULS] = {"nuls", "NUL bytes around the entry were passed over"},
    [SESSION_ISSUE_NOT_KEPT] = {"not_kept", "no entry, and the session is no longer like the file: "
                                            "it was left out"},
    [SESSION_ISSUE_UNSEEN] = {"unseen", SESSION_UNSEEN_TYPE},
};

/* An array with room for one more. NULL: out of memory, and the old one stays. */
static void *grown(void *array, size_t count, size_t *capacity, size_t size)
{
    size_t wanted = *capacity < 32 ? 32 : *capacity * 2;
    void *more;

    if (count < *capacity)
        return array;
    more = reallocarray(array, wanted, size);
    if (more != NULL)
        *capacity = wanted;
    return more;
}

bool session_issue_counts(uint64_t totals[SESSION_ISSUE_KINDS], session_issue_kind kind)
{
    return ++totals[kind] <= SESSION_UNSEEN_MAX || kind != SESSION_ISSUE_UNSEEN;
}

/* Remembers an issue, of which `reason` NULL means its kind's. */
static bool add_issue(session_file *file, session_issue issue)
{
    bool is_worth_it = session_issue_counts(file->issue_totals, issue.kind);

    if (!is_worth_it || file->issue_count == SESSION_ISSUES_MAX)
        return true;
    session_issue *more =
        grown(file->issues, file->issue_count, &file->issue_capacity, sizeof(*more));
    if (more == NULL)
        return false;
    file->issues = more;
    file->issues[file->issue_count++] = issue;
    return true;
}

static bool add_header(session_file *file, const session_line *line)
{
    if (file->has_header || file->count > 0)
        return add_issue(file, (session_issue){SESSION_ISSUE_HEADER, .line = line->number});
    file->has_header = true;
    return session_header_read(&file->header, line, &file->memory);
}

/* What an entry says of itself, before it has a place. */
static bool add_unseen(session_file *file, const session_entry *entry, uint64_t line)
{
    const char *reason = session_entry_unseen(entry);

    return reason == NULL ||
           add_issue(file, (session_issue){SESSION_ISSUE_UNSEEN, line, 0, reason, {"", 0}});
}

static bool add_entry(session_file *file, const session_line *line, view file_id,
                      session_places *places)
{
    session_entry *more = grown(file->entries, file->count, &file->capacity, sizeof(*more));
    const char *reason;

    if (more == NULL)
        return false;
    file->entries = more;
    session_entry *entry = &file->entries[file->count];
    if (session_entry_read(entry, line, file_id, &file->memory, &reason)) {
        file->count++;
        return session_places_resolve(places, entry, file_id, &file->memory) &&
               session_places_add(places, entry) && add_unseen(file, entry, line->number);
    }
    if (reason == NULL)
        return false;
    return session_places_add(places, NULL) &&
           add_issue(file, (session_issue){SESSION_ISSUE_BAD, line->number, 0, reason, {"", 0}});
}

static bool add_bad(session_file *file, const session_line *line)
{
    session_issue_kind kind = line->is_torn ? SESSION_ISSUE_TORN : SESSION_ISSUE_BAD;

    return add_issue(file,
                     (session_issue){kind, line->number, line->reason_at, line->reason, {"", 0}});
}

static bool read_line(session_file *file, const session_line *line, view session_id,
                      session_places *places)
{
    bool fine = true;

    file->lines++;
    if (line->kind == SESSION_LINE_BLANK)
        file->blank++;
    else if (line->kind == SESSION_LINE_BAD)
        fine = add_bad(file, line);
    else if (line->kind == SESSION_LINE_HEADER)
        fine = session_places_add(places, NULL) && add_header(file, line);
    else
        fine =
            add_entry(file, line, file->header.id.len > 0 ? file->header.id : session_id, places);
    if (fine && line->has_nul && line->kind != SESSION_LINE_BAD && line->kind != SESSION_LINE_BLANK)
        fine = add_issue(file, (session_issue){SESSION_ISSUE_NULS, .line = line->number});
    return fine;
}

/* What the tree has to say of its entries. */
static bool add_places(session_file *file)
{
    static const session_issue_kind KINDS[] = {
        [SESSION_DUPLICATE] = SESSION_ISSUE_DUPLICATE,
        [SESSION_CONFLICT] = SESSION_ISSUE_CONFLICT,
        [SESSION_CYCLE] = SESSION_ISSUE_CYCLE,
    };
    bool fine = true;

    for (uint32_t i = 0; fine && i < file->tree.count; i++) {
        const session_node *node = &file->tree.nodes[i];
        session_issue issue = {.line = file->entries[i].line, .id = file->entries[i].id};

        if (node->place == SESSION_IN_TREE && !node->is_dangling)
            continue;
        issue.kind = node->place == SESSION_IN_TREE ? SESSION_ISSUE_DANGLING : KINDS[node->place];
        fine = add_issue(file, issue);
    }
    return fine;
}

int session_issue_order(const void *left, const void *right)
{
    const session_issue *a = left, *b = right;

    if (a->line != b->line)
        return a->line - 1 < b->line - 1 ? -1 : 1; /* 0 last */
    return (int)a->kind - (int)b->kind;
}

/* A file with a header is pi's; without one its entries say. */
static session_dialect dialect_of(const session_file *file)
{
    if (file->has_header)
        return SESSION_PI;
    for (size_t i = 0; i < file->count; i++) {
        if (session_kind_has_dialect(file->entries[i].kind))
            return session_kind_dialect(file->entries[i].kind);
    }
    return SESSION_PLAIN;
}

bool session_file_read(session_file *out, view bytes, view session_id)
{
    session_lines lines = session_lines_of(bytes);
    session_places places = SESSION_PLACES_INIT;
    session_line line;
    bool fine = true;

    *out = (session_file){.memory = ARENA_INIT};
    while (fine && session_lines_next(&lines, &line))
        fine = read_line(out, &line, session_id, &places);
    session_places_free(&places);
    fine = fine && session_tree_build(&out->tree, out->entries, out->count, &out->memory);
    fine = fine && add_places(out);
    if (fine && out->issue_count > 0)
        qsort(out->issues, out->issue_count, sizeof(*out->issues), session_issue_order);
    out->dialect = dialect_of(out);
    return fine;
}

void session_file_free(session_file *file)
{
    free(file->entries);
    free(file->issues);
    arena_reset(&file->memory);
    *file = (session_file){.memory = ARENA_INIT};
}

/* --- the report --- */

void session_issue_json(buf *out, const session_issue *issue)
{
    buf_text(out, "{\"line\":");
    if (issue->line > 0)
        buf_printf(out, "%llu", (unsigned long long)issue->line);
    else
        buf_text(out, "null");
    buf_printf(out, ",\"kind\":\"%s\",\"reason\":", ISSUES[issue->kind].name);
    buf_json_string(out,
                    view_of(issue->reason == NULL ? ISSUES[issue->kind].reason : issue->reason));
    if (issue->id.len > 0) {
        buf_text(out, ",\"id\":");
        buf_json_string(out, issue->id);
    } else if (issue->kind == SESSION_ISSUE_BAD || issue->kind == SESSION_ISSUE_TORN) {
        buf_printf(out, ",\"at\":%llu", (unsigned long long)issue->at);
    }
    buf_char(out, '}');
}

void session_file_report(buf *out, const session_file *file, size_t most)
{
    const session_tree *tree = &file->tree;
    const uint64_t *totals = file->issue_totals;
    const struct {
        const char *name;
        uint64_t count;
    } counts[] = {
        {"lines", file->lines},
        {"blank", file->blank},
        {"headers", file->has_header + totals[SESSION_ISSUE_HEADER]},
        {"entries", tree->in_tree},
        {"roots", tree->roots},
        {"leaves", tree->leaves},
        {"branch_points", tree->branch_points},
        {"dangling_parents", tree->dangling},
        {"duplicates", tree->duplicates},
        {"conflicts", tree->conflicts},
        {"cycles", tree->cycles},
        {"bad", totals[SESSION_ISSUE_BAD] + totals[SESSION_ISSUE_TORN]},
        {"torn", totals[SESSION_ISSUE_TORN]},
        {"unseen", totals[SESSION_ISSUE_UNSEEN]},
        {"max_depth", tree->depth_max},
    };

    buf_printf(out, "{\"dialect\":\"%s\"", session_dialect_name((int)file->dialect));
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        buf_printf(out, ",\"%s\":%llu", counts[i].name, (unsigned long long)counts[i].count);
    buf_text(out, ",\"issues\":[");
    for (size_t i = 0; i < file->issue_count && i < most; i++) {
        if (i > 0)
            buf_char(out, ',');
        session_issue_json(out, &file->issues[i]);
    }
    buf_text(out, "]}");
}
