/*
 * fuzz_session_convert.c: any bytes as a session file, converted and back. Each line that comes out
 * is an entry, and what comes back is what went in, where nobody wrote our own members into it.
 */
#include "fuzz/fuzz.h"
#include "unit/session_test.h"

/* Whether nothing in a session looks as if it had been converted before. */
static bool is_native(const session_file *file)
{
    for (size_t i = 0; i < file->count; i++) {
        if (scan_find(file->entries[i].value, "pi").kind != SCAN_NONE ||
            scan_find(file->entries[i].value, "plain").kind != SCAN_NONE)
            return false;
    }
    return !file->has_header || scan_find(scan_whole(file->header.text), "plain").kind == SCAN_NONE;
}

/* What an entry leaves to its place is written at its end, where that is another one now. */
static bool is_said(slice line, const session_entry *entry)
{
    static const char *const MORE[] = {",\"id\":", ",\"firstKeptEntryId\":"};
    size_t same = entry->text.len - 1;

    if (slice_equal(line, entry->text))
        return true;
    for (size_t i = 0; i < 2; i++) {
        slice more = slice_of(MORE[i]);
        if (line.len > same + more.len && memcmp(line.ptr, entry->text.ptr, same) == 0 &&
            memcmp(line.ptr + same, more.ptr, more.len) == 0)
            return i == 1 || entry->id_is_made;
    }
    return false;
}

/* The entries in the tree, and nothing else, are in the other text in their order. */
static void check_back(const session_file *file, slice back)
{
    session_lines lines = session_lines_of(back);
    session_line line;

    for (size_t i = 0; i < file->count; i++) {
        if (file->tree.nodes[i].state != SESSION_IN_TREE)
            continue;
        do
            require(session_lines_next(&lines, &line));
        while (line.kind == SESSION_LINE_HEADER);
        require(is_said(line.text, &file->entries[i]));
    }
    while (session_lines_next(&lines, &line))
        require(line.kind == SESSION_LINE_HEADER);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    session_file file, other;
    buf there, back;

    require(session_file_read(&file, (slice){(const char *)data, size}));
    require(convert_file(&there, &file, file.dialect));
    require(session_file_read(&other, buf_as_slice(&there)));
    require(other.report.totals[SESSION_ISSUE_BAD] + other.report.totals[SESSION_ISSUE_TORN] == 0);
    require(convert_file(&back, &other, file.dialect == SESSION_PI ? SESSION_PLAIN : SESSION_PI));
    if (is_native(&file))
        check_back(&file, buf_as_slice(&back));
    session_file_free(&file);
    session_file_free(&other);
    buf_free(&there);
    buf_free(&back);
    return 0;
}
