/*
 * session_file.c: `cardbox session check`, which uses no database.
 */
#include "cli/session/session_internal.h"
#include "cli/files.h"
#include "model/session/file.h"

/* Maximum size of a session's file. The whole file is read into memory. */
#define FILE_MAX ((size_t)1 << 32)

static void print_tree(const session_file *file, cli_call *call)
{
    arena memory = ARENA_INIT;
    session_tree_entry *entries = arena_zeros(&memory, file->count + 1, sizeof(*entries));
    size_t *indexes = arena_zeros(&memory, file->count + 1, sizeof(*indexes));
    session_tree_options how = {term_width(), call->all, call->ids};
    size_t count = 0;

    cli_check_memory(entries != NULL && indexes != NULL);
    for (uint32_t i = 0; i < file->count; i++) {
        indexes[i] = count;
        count += file->tree.nodes[i].state == SESSION_IN_TREE;
    }
    for (uint32_t i = 0; i < file->count; i++) {
        uint32_t parent = file->tree.nodes[i].parent, label = file->tree.nodes[i].label;
        session_tree_entry *entry = &entries[indexes[i]];
        session_preview preview;

        if (file->tree.nodes[i].state != SESSION_IN_TREE)
            continue;
        session_preview_of(&preview, &file->entries[i], &memory);
        *entry = (session_tree_entry){.id = file->entries[i].id,
                                      .parent = parent == STRING_MAP_NONE ? SESSION_TREE_ROOT
                                                                          : indexes[parent],
                                      .role = preview.role,
                                      .text = preview.text,
                                      .tools = preview.tools,
                                      .is_head = i == file->tree.leaf};
        if (label == STRING_MAP_NONE ||
            !session_text_of(&entry->label, file->entries[label].label, &memory))
            entry->label = SLICE("");
    }
    cli_check_memory(!memory.failed);
    session_tree_print(stdout, entries, count, &how);
    arena_reset(&memory);
}

static cli_exit print_check(session_file *file, cli_call *call)
{
    buf report = BUF_INIT(SIZE_MAX / 4);

    session_report_json(&report, &file->report);
    cli_check_memory(buf_ok(&report));
    bool bad = session_report_is_bad(buf_as_slice(&report));
    if (call->json)
        term_print_json(buf_str(&report));
    else if (call->tree)
        print_tree(file, call);
    else
        session_report_print(buf_as_slice(&report));
    buf_free(&report);
    return bad ? CLI_FAILED : CLI_DONE;
}

static cli_exit check_session_file(cli_call *call)
{
    buf bytes = BUF_INIT(FILE_MAX);
    session_file file = {.memory = ARENA_INIT};
    cli_exit status = CLI_FAILED;

    if (source_read(&bytes, call->arguments[0])) {
        cli_check_memory(session_file_read(&file, buf_as_slice(&bytes)));
        status = print_check(&file, call);
    }
    session_file_free(&file);
    buf_free(&bytes);
    return status;
}

const cli_command cli_session_check = {
    .name = "session check",
    .arguments = "FILE",
    .summary = "check a session's file without a database",
    .description =
        "FILE is JSON Lines of any dialect; - is the standard input. The exit status is 1 if "
        "there are bad lines, cycles, or two entries with one id and different content.",
    .examples = "session check session.jsonl\n"
                "session check --tree session.jsonl | less -R\n"
                "session check --json - < session.jsonl",
    .options = CLI_OPTIONS(CLI_FLAG("tree", tree, "draw the tree instead of the report"),
                           CLI_FLAG("all", all, "do not fold long runs of the tree"),
                           CLI_FLAG("ids", ids, "show the ids of entries in the tree"), CLI_JSON),
    .without_database = true,
    .run = check_session_file,
};
