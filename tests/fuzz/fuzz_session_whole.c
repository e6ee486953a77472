/*
 * fuzz_session_whole.c: any bytes as a file that is one JSON value. The lines that are made of it
 * are entries without an issue of their JSON, and each node of a conversation is one of them.
 */
#include "fuzz/fuzz.h"
#include "model/session/file.h"
#include "model/session/whole.h"

static void check_lines(const buf *made)
{
    session_file file;

    require(session_file_read(&file, buf_as_slice(made)));
    require(file.report.totals[SESSION_ISSUE_BAD] == 0);
    require(file.report.totals[SESSION_ISSUE_TORN] == 0);
    require(file.report.totals[SESSION_ISSUE_CONFLICT] == 0);
    require(file.count == file.report.lines);
    session_file_free(&file);
}

static void check_messages(scan_value messages)
{
    const char *reason = NULL;
    buf made = BUF_INIT(1u << 26);
    arena memory = ARENA_INIT;
    size_t bad = 0;
    int format = session_messages_format(messages, &reason);

    require((format < 0) == (reason != NULL));
    if (format >= 0 &&
        session_messages_lines(&made, messages, (cardbox_format)format, SLICE("s"), &bad, &memory))
        check_lines(&made);
    buf_free(&made);
    arena_reset(&memory);
}

static void check_conversation(scan_value conversation)
{
    buf made = BUF_INIT(1u << 26);
    arena memory = ARENA_INIT;

    require(session_conversation_lines(&made, conversation, &memory));
    check_lines(&made);
    buf_free(&made);
    arena_reset(&memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    slice bytes = {(const char *)data, size};
    scan_value value, one;

    session_may_be_whole(bytes, true);
    session_whole_kind kind = session_whole_of(&value, bytes);
    if (kind == SESSION_WHOLE_MESSAGES)
        check_messages(value);
    if (kind == SESSION_WHOLE_CONVERSATION)
        check_conversation(value);
    scan_walk walk = scan_enter(kind == SESSION_WHOLE_CONVERSATIONS ? value : (scan_value){0});
    while (scan_element(&walk, &one)) {
        if (one.kind == SCAN_OBJECT)
            check_conversation(one);
    }
    return 0;
}
