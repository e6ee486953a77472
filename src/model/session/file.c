/*
 * file.c: reads the lines of a session file, builds the tree of the entries, and fills the report.
 */
#include <stdlib.h>
#include "model/session/file.h"

static int compare_lines(const void *key, const void *entry)
{
    const uint64_t *line = key;
    const session_entry *at = entry;

    return (*line > at->line) - (*line < at->line);
}

/* Sets first_kept of a compaction of version 1, which names its first kept entry by an index. The
 * kept entry must be before the compaction. */
static void resolve_first_kept(const session_file *file, session_entry *entry)
{
    const session_entry *kept = NULL;

    if (entry->kind != SESSION_COMPACTION || entry->target.kind != SCAN_NUMBER)
        return;
    uint64_t line =
        (uint64_t)(1 + session_gaps_line(&file->gaps, entry->target, (int64_t)entry->line - 1));
    if (line > 0 && file->count > 0)
        kept = bsearch(&line, file->entries, file->count, sizeof(*kept), compare_lines);
    entry->first_kept = kept == NULL ? SLICE("") : kept->id;
}

static bool add_entry(session_file *file, const session_line *line)
{
    session_entry *more =
        arena_more(&file->memory, file->entries, file->count, &file->capacity, sizeof(*more));

    if (more == NULL)
        return false;
    file->entries = more;
    session_entry *entry = &file->entries[file->count];
    if (session_report_entry(&file->report, entry, line, file->header.id, &file->memory)) {
        resolve_first_kept(file, entry);
        file->count++;
    }
    return !file->memory.failed;
}

static bool read_line(session_file *file, const session_line *line)
{
    bool ok = true;

    session_report_line(&file->report, line);
    if (line->kind == SESSION_LINE_ENTRY) {
        ok = add_entry(file, line);
    } else if (line->kind != SESSION_LINE_HEADER) {
        ok = session_gaps_add(&file->gaps, (int64_t)line->number - 1, &file->memory);
    } else if (file->has_header || file->count > 0) {
        session_report_issue(&file->report,
                             (session_issue){SESSION_ISSUE_HEADER, .line = line->number});
    } else {
        file->has_header = true;
        ok = session_header_read(&file->header, line, &file->memory);
    }
    return ok && !file->report.memory.failed;
}

static void add_node_issues(session_file *file)
{
    for (uint32_t i = 0; i < file->tree.count; i++) {
        const session_node *node = &file->tree.nodes[i];
        session_issue issue = {.line = file->entries[i].line, .id = file->entries[i].id};

        if (node->state == SESSION_IN_TREE && !node->is_dangling && !node->is_cycle)
            continue;
        if (node->state == SESSION_IN_TREE)
            issue.kind = node->is_cycle ? SESSION_ISSUE_CYCLE : SESSION_ISSUE_DANGLING;
        else
            issue.kind =
                node->state == SESSION_DUPLICATE ? SESSION_ISSUE_DUPLICATE : SESSION_ISSUE_CONFLICT;
        session_report_issue(&file->report, issue);
    }
}

/* A file with a header has the dialect pi. A file without a header has the dialect of the first
 * entry whose type only one dialect has; without such an entry, the dialect is plain. */
static session_dialect dialect_of(const session_file *file)
{
    if (file->has_header)
        return SESSION_PI;
    for (size_t i = 0; i < file->count; i++) {
        if (file->entries[i].dialect >= 0)
            return (session_dialect)file->entries[i].dialect;
    }
    return SESSION_PLAIN;
}

bool session_file_read(session_file *out, slice bytes)
{
    session_lines lines = session_lines_of(bytes);
    session_line line;
    bool ok = true;

    *out = (session_file){.header.id = {"", 0}};
    while (ok && session_lines_next(&lines, &line))
        ok = read_line(out, &line);
    ok = ok && session_tree_build(&out->tree, out->entries, out->count, &out->memory);
    if (ok)
        add_node_issues(out);
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
    return ok && !out->report.memory.failed;
}

void session_file_free(session_file *file)
{
    session_report_free(&file->report);
    arena_reset(&file->memory);
    *file = (session_file){.memory = ARENA_INIT};
}
