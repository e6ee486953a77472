/*
 * file.c: reads a file's lines, builds the tree of its entries, and fills the report.
 */
#include <stdlib.h>
#include "model/session/file.h"

static bool add_issue(session_file *file, session_issue issue)
{
    session_report_issue(&file->report, issue);
    return !file->report.memory.failed;
}

static bool add_header(session_file *file, const session_line *line)
{
    file->report.headers++;
    if (file->has_header || file->count > 0)
        return add_issue(file, (session_issue){SESSION_ISSUE_HEADER, .line = line->number});
    file->has_header = true;
    return session_header_read(&file->header, line, &file->memory);
}

/* Reports an entry that is never part of a context. */
static bool add_not_in_context(session_file *file, const session_entry *entry)
{
    const char *reason = session_entry_not_in_context(entry);

    return reason == NULL ||
           add_issue(file, (session_issue){
                               SESSION_ISSUE_NOT_IN_CONTEXT, entry->line, 0, reason, {"", 0}});
}

static int compare_lines(const void *key, const void *entry)
{
    const uint64_t *line = key;
    const session_entry *at = entry;

    return (*line > at->line) - (*line < at->line);
}

/* Finds the entry that a compaction names by an index. Only an entry before the compaction can
 * be kept. */
static void resolve_first_kept(const session_file *file, session_entry *entry)
{
    const session_entry *kept = NULL;
    uint64_t line;

    if (entry->kind != SESSION_COMPACTION || entry->target.kind != SCAN_NUMBER)
        return;
    line = (uint64_t)session_ordinals_find(&file->ordinals, entry->target);
    if (line > 0 && file->count > 0)
        kept = bsearch(&line, file->entries, file->count, sizeof(*kept), compare_lines);
    entry->first_kept = kept == NULL ? SLICE("") : kept->id;
}

static bool add_entry(session_file *file, const session_line *line, slice file_id)
{
    session_entry *more =
        arena_more(&file->memory, file->entries, file->count, &file->capacity, sizeof(*more));
    const char *reason;

    if (more == NULL)
        return false;
    file->entries = more;
    session_entry *entry = &file->entries[file->count];
    if (session_entry_read(entry, line, file_id, &file->memory, &reason)) {
        resolve_first_kept(file, entry);
        file->count++;
        return add_not_in_context(file, entry);
    }
    return reason != NULL &&
           add_issue(file, (session_issue){SESSION_ISSUE_BAD, line->number, 0, reason, {"", 0}});
}

static bool read_line(session_file *file, const session_line *line, slice session_id)
{
    bool ok = true, is_object = false;

    file->report.lines++;
    switch (line->kind) {
    case SESSION_LINE_BLANK:
        file->report.blank++;
        break;
    case SESSION_LINE_BAD:
        ok = add_issue(file, (session_issue){line->is_torn ? SESSION_ISSUE_TORN : SESSION_ISSUE_BAD,
                                             line->number,
                                             line->reason_at,
                                             line->reason,
                                             {"", 0}});
        break;
    case SESSION_LINE_HEADER:
        is_object = true;
        ok = add_header(file, line);
        break;
    case SESSION_LINE_ENTRY:
        is_object = true;
        ok = add_entry(file, line, file->header.id.len > 0 ? file->header.id : session_id);
        break;
    }
    ok = ok && (!is_object || session_ordinals_add(&file->ordinals, (int64_t)line->number));
    if (ok && line->has_nul && is_object)
        ok = add_issue(file, (session_issue){SESSION_ISSUE_NULS, .line = line->number});
    return ok;
}

/* Reports duplicates, conflicts, cycles and missing parents. */
static bool add_node_issues(session_file *file)
{
    bool ok = true;

    for (uint32_t i = 0; ok && i < file->tree.count; i++) {
        const session_node *node = &file->tree.nodes[i];
        session_issue issue = {.line = file->entries[i].line, .id = file->entries[i].id};

        if (node->state == SESSION_IN_TREE && !node->is_dangling && !node->is_cycle)
            continue;
        if (node->state == SESSION_IN_TREE)
            issue.kind = node->is_cycle ? SESSION_ISSUE_CYCLE : SESSION_ISSUE_DANGLING;
        else
            issue.kind =
                node->state == SESSION_DUPLICATE ? SESSION_ISSUE_DUPLICATE : SESSION_ISSUE_CONFLICT;
        ok = add_issue(file, issue);
    }
    return ok;
}

/* Returns the dialect: a file with a header is pi's. Without a header, the first entry whose
 * kind has a dialect decides. */
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

bool session_file_read(session_file *out, slice bytes, slice session_id)
{
    session_lines lines = session_lines_of(bytes);
    session_line line;
    bool ok = true;

    *out = (session_file){.memory = ARENA_INIT};
    while (ok && session_lines_next(&lines, &line))
        ok = read_line(out, &line, session_id);
    ok = ok && session_tree_build(&out->tree, out->entries, out->count, &out->memory);
    ok = ok && add_node_issues(out);
    out->dialect = dialect_of(out);
    out->report.dialect = (int)out->dialect;
    out->report.counts = (cardbox_session_counts){
        .entries = out->tree.in_tree,
        .roots = out->tree.roots,
        .leaves = out->tree.leaves,
        .branch_points = out->tree.branch_points,
        .max_depth = out->tree.depth_max,
        .dangling_parents = (int64_t)out->tree.dangling + out->tree.cycles,
    };
    return ok;
}

void session_file_free(session_file *file)
{
    session_report_free(&file->report);
    arena_reset(&file->memory);
    session_ordinals_free(&file->ordinals);
    *file = (session_file){.memory = ARENA_INIT};
}
