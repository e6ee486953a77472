/*
 * foreign.c: recognises the first object of a file of another program by its members. An entry from
 * which a model would read something is never foreign. An entry of an unknown type with an
 * id is never foreign either: an export of CardBox may begin with it.
 */
#include "model/session/foreign.h"

#define CLAUDE "a transcript of Claude Code"
#define CODEX  "a rollout of codex"
#define API    "messages of a model's API"

enum { FOREIGN_MEMBERS = 2 };

/* A file whose first object has these members. The first description that fits counts. */
static const struct {
    const char *members[FOREIGN_MEMBERS]; /* NULL: any */
    const char *file;
} FILES[] = {
    {{"parentUuid", NULL}, CLAUDE},
    {{"leafUuid", NULL}, CLAUDE},
    {{"isSnapshotUpdate", NULL}, CLAUDE},
    {{"uuid", "sessionId"}, CLAUDE},
    {{"type", "sessionId"}, CLAUDE},
    {{"uuid", "message"}, CLAUDE},
    {{"payload", "type"}, CODEX},
    {{"instructions", "timestamp"}, CODEX},
    {{"record_type", NULL}, CODEX},
    {{"role", "content"}, API},
    {{"messages", NULL}, API},
    {{"kind", "created_at"}, "an export of a project"},
};

const char *session_foreign_file(scan_value object, const session_entry *entry)
{
    scan_value found[FOREIGN_MEMBERS];

    if (entry != NULL && session_entry_not_in_context(entry) == NULL)
        return NULL;
    if (entry != NULL && entry->kind == SESSION_OTHER && !entry->id_is_made &&
        scan_find(object, "type").kind == SCAN_STRING)
        return NULL;
    for (size_t i = 0; i < sizeof(FILES) / sizeof(FILES[0]); i++) {
        session_pick(object, FILES[i].members, found, FOREIGN_MEMBERS);
        if (found[0].kind != SCAN_NONE &&
            (FILES[i].members[1] == NULL || found[1].kind != SCAN_NONE))
            return FILES[i].file;
    }
    return entry != NULL && entry->id_is_made ? "a file of another program" : NULL;
}
