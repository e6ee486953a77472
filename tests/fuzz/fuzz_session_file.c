/*
 * fuzz_session_file.c: any bytes as a session file. The lines are the file again, each line is
 * accounted for in the report, and what is in the tree is a tree.
 */
#include "fuzz/fuzz.h"
#include "model/session/file.h"
#include "model/session/foreign.h"
#include "model/session/plain_types.h"

static void check_lines(slice bytes)
{
    session_lines lines = session_lines_of(bytes), stream = session_lines_stream();
    session_line line, same;
    size_t at = 0, half = bytes.len / 2;

    session_lines_give(&stream, (slice){bytes.ptr, half}, false);
    while (session_lines_next(&lines, &line)) {
        require(line.whole.ptr == bytes.ptr + at && line.length == line.whole.len);
        require(line.offset == at && (line.kind == SESSION_LINE_BAD) == (line.reason != NULL));
        at += line.whole.len;
        if (!session_lines_next(&stream, &same)) {
            size_t rest = stream.rest.len;
            session_lines_give(&stream, (slice){bytes.ptr + half - rest, bytes.len - half + rest},
                               true);
            require(session_lines_next(&stream, &same));
        }
        require(same.number == line.number && same.kind == line.kind);
        require(slice_equal(same.whole, line.whole));
    }
    require(at == bytes.len);
}

static void check_entry(const session_file *file, uint32_t i)
{
    const session_entry *entry = &file->entries[i];
    const session_node *node = &file->tree.nodes[i];
    const plain_type *type = plain_type_named(entry->type);
    session_api_sign sign;
    slice unknown;

    require(slice_is_id(entry->id, SESSION_ID_MAX));
    if (type != NULL && plain_type_unknown_member(&unknown, type, entry->value))
        require(unknown.ptr > entry->text.ptr && unknown.len < entry->text.len);
    if (session_is_api_message(&sign, entry->value))
        require(sign.name.len > 0);
    if (node->state != SESSION_IN_TREE)
        return;
    require(session_tree_find(&file->tree, entry->id) == i);
    require((node->parent == STRING_MAP_NONE) == (node->depth == 0));
    if (node->parent != STRING_MAP_NONE)
        require(file->tree.nodes[node->parent].depth + 1 == node->depth);
    require(!(node->is_dangling || node->is_cycle) || node->parent == STRING_MAP_NONE);
}

/* Counts the lines that a dialect knows, and that are no entries. */
static uint64_t count_kept(slice bytes)
{
    session_lines lines = session_lines_of(bytes);
    arena memory = ARENA_INIT;
    uint64_t count = 0;
    session_line line;
    session_entry entry;
    const char *reason;

    while (session_lines_next(&lines, &line)) {
        if (line.kind == SESSION_LINE_ENTRY &&
            !session_entry_read(&entry, &line, SLICE(""), &memory, &reason))
            count += reason == SESSION_KEPT_LINE;
    }
    arena_reset(&memory);
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    slice bytes = {(const char *)data, size};
    buf report = BUF_INIT(1u << 26);
    session_file file;
    uint32_t children = 0;

    check_lines(size > 0 ? bytes : (slice){"", 0});
    require(session_file_read(&file, bytes));
    for (uint32_t i = 0; i < file.tree.count; i++) {
        check_entry(&file, i);
        children += file.tree.nodes[i].children;
    }
    require(children + file.tree.roots == file.tree.in_tree);
    require(file.report.lines ==
            file.report.blank + file.has_header + file.report.totals[SESSION_ISSUE_HEADER] +
                file.report.totals[SESSION_ISSUE_BAD] + file.report.totals[SESSION_ISSUE_TORN] +
                count_kept(bytes) + file.count);
    require(file.count == file.tree.in_tree + file.report.totals[SESSION_ISSUE_DUPLICATE] +
                              file.report.totals[SESSION_ISSUE_CONFLICT]);
    session_report_json(&report, &file.report);
    require(buf_ok(&report));
    require(scan_check(buf_as_slice(&report), 4, NULL, NULL, NULL));
    buf_free(&report);
    session_file_free(&file);
    return 0;
}
