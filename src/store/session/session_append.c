/*
 * session_append.c: checks the headers and entries that clients send, and adds members that the
 * clients omitted. Uses no connection.
 */
#include "store/session/session_write.h"

#include <inttypes.h>
#include <stdio.h>
#include "base/clock.h"
#include "base/isotime.h"
#include "cardbox/ids.h"
#include "cardbox/limits.h"
#include "base/errors.h"
#include "model/session/api.h"
#include "model/session/foreign.h"
#include "model/session/plain_types.h"

/* --- a client's JSON as one line --- */

bool session_one_line(slice *json, arena *memory)
{
    buf text = BUF_INIT(CARDBOX_CONTENT_MAX);

    if (json->len == 0 ||
        (memchr(json->ptr, '\n', json->len) == NULL && memchr(json->ptr, '\r', json->len) == NULL))
        return true;
    if (!scan_check(*json, CARDBOX_JSON_DEPTH_MAX, NULL, NULL, NULL))
        return true;
    scan_compact(&text, *json);
    *json = arena_keep(memory, &text);
    return json->ptr != NULL;
}

static cardbox_status read_line(session_line *out, slice json, const char *what, cardbox_error *err)
{
    if (json.len > CARDBOX_CONTENT_MAX)
        return error_set(err, CARDBOX_TOO_LARGE, "%s has %zu bytes, the limit is %u", what,
                         json.len, CARDBOX_CONTENT_MAX);
    if (!session_line_of(out, json) || out->kind == SESSION_LINE_BLANK)
        return error_set(err, CARDBOX_INVALID, "%s is empty: give a JSON object", what);
    if (out->kind != SESSION_LINE_BAD)
        return CARDBOX_OK;
    error_set(err, CARDBOX_INVALID, "%s cannot be read: %s at byte %llu", what, out->reason,
              (unsigned long long)out->reason_at);
    if (err != NULL)
        err->position = (size_t)out->reason_at;
    return CARDBOX_INVALID;
}

static cardbox_status check_header(slice *header, arena *memory, cardbox_error *err)
{
    session_line line;
    cardbox_status status = session_one_line(header, memory) ? CARDBOX_OK : error_nomem(err);

    if (status == CARDBOX_OK)
        status = read_line(&line, *header, "header", err);
    if (status == CARDBOX_OK && line.kind != SESSION_LINE_HEADER)
        status = error_set(err, CARDBOX_INVALID,
                           "header must be an object of type \"session\" without a parentId");
    if (status == CARDBOX_OK)
        *header = line.text;
    return status;
}

static void make_header(buf *text, slice session, slice cwd)
{
    buf_text(text, "{\"type\":\"session\",\"version\":3");
    buf_member_text(text, "id", session);
    isotime_member(text, "timestamp", clock_wall_micros());
    buf_member_text(text, "cwd", cwd);
    buf_char(text, '}');
}

/* The length limit applies only if the caller passed a header or a cwd: a long session id alone
 * does not fail the call. */
static cardbox_status prepare_header(slice *header, slice session, slice cwd, arena *memory,
                                     cardbox_error *err)
{
    buf text = BUF_INIT((size_t)64 * 1024);
    const char *what = header->ptr != NULL ? "header" : "the header made with cwd";
    bool given = header->ptr != NULL || cwd.len > 0;
    cardbox_status status = CARDBOX_OK;

    if (header->ptr != NULL) {
        status = check_header(header, memory, err);
    } else if (!slice_is_utf8(cwd)) {
        status = error_set(err, CARDBOX_INVALID, "cwd must be UTF-8");
    } else {
        make_header(&text, session, cwd.ptr == NULL ? SLICE("") : cwd);
        status = buf_ok(&text) ? CARDBOX_OK : error_buf(err, &text, what);
        *header = arena_keep(memory, &text);
        if (status == CARDBOX_OK && header->ptr == NULL)
            status = error_nomem(err);
    }
    if (status == CARDBOX_OK && given && header->len > CARDBOX_SESSION_HEADER_MAX)
        status = error_set(err, CARDBOX_TOO_LARGE, "%s has %zu bytes, the limit is %d", what,
                           header->len, CARDBOX_SESSION_HEADER_MAX);
    return status;
}

cardbox_status session_create_set(session_create *create, int dialect, slice header, slice cwd,
                                  arena *memory, cardbox_error *err)
{
    bool has_header = header.ptr != NULL, has_cwd = cwd.ptr != NULL;

    if ((has_header && has_cwd) || (dialect == SESSION_PLAIN && (has_header || has_cwd)))
        return error_set(err, CARDBOX_INVALID,
                         "header and cwd exclude each other, and need the dialect pi");
    create->dialect = has_header || has_cwd ? SESSION_PI : dialect;
    create->header = header;
    return create->dialect == SESSION_PI
               ? prepare_header(&create->header, create->session, cwd, memory, err)
               : CARDBOX_OK;
}

/* --- omitted members --- */

static void add_id(buf *out, const session_batch *batch)
{
    char text[CARDBOX_UUID_SIZE], part[32];

    if (batch->run_key == NULL) {
        cardbox_uuid7(text);
    } else {
        snprintf(part, sizeof(part), "entry %" PRIu64, batch->new_ids);
        cardbox_uuid7_from_key(text, batch->run_key, part);
    }
    buf_member_text(out, "id", slice_of(text));
}

/* Members that add_omitted_members adds, or that the database must add. */
typedef struct new_members {
    bool has_id;
    bool has_time;   /* the database adds time_ms */
    int64_t time_ms; /* milliseconds since 1970 */
} new_members;

/* Adds a timestamp in the format of the dialect. */
static void add_time(buf *out, const session_batch *batch, int dialect, int64_t ms)
{
    if (dialect == SESSION_PLAIN) {
        buf_member_int(out, "timestamp", ms);
    } else if (batch->run_time != NULL) {
        buf_name(out, "timestamp");
        buf_json_text(out, batch->run_time);
    } else {
        isotime_member(out, "timestamp", ms * 1000);
    }
}

/* Returns the dialect of an entry in a batch; negative: only the database knows it, because both
 * dialects have entries of this kind. */
static int dialect_of(const session_batch *batch, session_kind kind)
{
    if (batch->dialect >= 0 || !session_kind_has_dialect(kind))
        return batch->dialect;
    return (int)session_kind_dialect(kind);
}

/* Adds a new id to an entry without an id, and the current time if that entry has no timestamp. An
 * entry with an id gets no timestamp, so that a repeated request sends the same bytes. If an entry
 * has no parentId, its parentId becomes the id of the entry that was added to the batch before; for
 * the first entry, the database sets the parent. Nothing is added as the parentId of a root. */
static cardbox_status add_omitted_members(session_batch *batch, session_line *line, bool is_root,
                                          new_members *added, cardbox_error *err)
{
    static const char *const NAMES[] = {"id", "parentId", "timestamp", "type", "format"};
    scan_value found[5];
    buf text = BUF_INIT(2 * (size_t)CARDBOX_CONTENT_MAX);

    session_pick(line->value, NAMES, found, 5);
    *added = (new_members){.has_id = found[0].kind == SCAN_NONE};
    bool follows = found[1].kind == SCAN_NONE && !is_root && batch->previous_id[0] != '\0';
    int dialect = dialect_of(
        batch, session_kind_of(scan_string_inside(found[3]), found[4].kind == SCAN_STRING));
    if (added->has_id && batch->key.ptr != NULL)
        return error_set(err, CARDBOX_INVALID,
                         "with a key an entry needs an id of its own: a new id would differ "
                         "when the request is repeated");
    if (!added->has_id && !follows)
        return CARDBOX_OK;
    batch->has_new_ids = batch->has_new_ids || added->has_id;
    buf_char(&text, '{');
    if (added->has_id)
        add_id(&text, batch);
    if (follows)
        buf_member_text(&text, "parentId", slice_of(batch->previous_id));
    if (added->has_id && found[2].kind == SCAN_NONE) {
        int64_t ms = batch->run_time != NULL ? batch->run_ms : clock_wall_micros() / 1000;
        if (dialect >= 0)
            add_time(&text, batch, dialect, ms);
        added->has_time = dialect < 0;
        added->time_ms = ms;
    }
    buf_char(&text, ',');
    buf_slice(&text, (slice){line->text.ptr + 1, line->text.len - 1});
    slice kept = arena_keep(&batch->memory, &text);
    if (kept.ptr != NULL)
        session_line_from_store(line, kept);
    return kept.ptr == NULL ? error_nomem(err) : CARDBOX_OK;
}

/* --- entries --- */

/* Sets *earlier to the entry of the batch that has the id of `line`; NULL: none has it. Fails if
 * the two entries were not given as the same JSON. */
static cardbox_status find_same_id(const pending_line **earlier, session_batch *batch,
                                   const session_line *line, cardbox_error *err)
{
    static const char *const NAMES[] = {"id"};
    scan_value found;
    slice id;

    *earlier = NULL;
    if (batch->count == 0)
        return CARDBOX_OK;
    session_pick(line->value, NAMES, &found, 1);
    if (!session_text_of(&id, found, &batch->memory))
        return batch->memory.failed ? error_nomem(err) : CARDBOX_OK;
    uint32_t number = string_map_get(&batch->ids, id);
    if (number == STRING_MAP_NONE)
        return CARDBOX_OK;
    *earlier = &batch->lines[number - 1];
    if (slice_equal((*earlier)->given, line->text))
        return CARDBOX_OK;
    return error_set(err, CARDBOX_INVALID,
                     "entries[%u] and entries[%zu] have the id \"%.*s\" but different content",
                     number - 1, batch->count, error_shown(id), id.ptr);
}

/* Fails if an object is a message of a model's API instead of an entry, or has no type. */
static cardbox_status check_type(scan_value entry, cardbox_error *err)
{
    scan_value type = scan_find(entry, "type");
    session_api_sign sign;

    if (session_is_api_message(&sign, entry))
        return error_set(err, CARDBOX_INVALID,
                         "an entry has no %s \"%.*s\", which belongs to messages of models' APIs: "
                         "append these with POST .../messages, session:add, cardbox_session_add "
                         "or `cardbox session add`",
                         sign.what, (int)sign.name.len, sign.name.ptr);
    if (scan_string_inside(type).len == 0 || session_string_is(type, "session"))
        return error_set(err, CARDBOX_INVALID,
                         "an entry needs a type other than session, such as user or assistant: a "
                         "header is part of the session");
    return CARDBOX_OK;
}

/* Lines of other programs have no members that an append can add. */
static cardbox_status is_imported(int dialect, cardbox_error *err)
{
    return error_set(
        err, CARDBOX_INVALID,
        "a line of %s is imported, not appended: import the longer file, which appends "
        "its new lines",
        session_dialect_file(dialect));
}

/* Fails if an entry of the dialect plain has a member that its type does not have. An entry of a
 * type of both dialects is checked only if the batch has the dialect plain. */
static cardbox_status check_members(const session_batch *batch, const session_entry *entry,
                                    cardbox_error *err)
{
    const plain_type *type = plain_type_named(entry->type);
    buf members = BUF_INIT(1024);
    slice unknown;

    if (type == NULL || dialect_of(batch, entry->kind) != SESSION_PLAIN ||
        !plain_type_unknown_member(&unknown, type, entry->value))
        return CARDBOX_OK;
    if (scan_find(entry->value, "parentUuid").kind != SCAN_NONE)
        return is_imported(SESSION_CLAUDE, err);
    plain_type_put_members(&members, type);
    error_set(err, CARDBOX_INVALID,
              "unknown member \"%.*s\" in an entry of type %s, which has the members %s: put free "
              "data into %s",
              error_shown(unknown), unknown.ptr, type->name, buf_str(&members), type->free_data);
    buf_free(&members);
    return CARDBOX_INVALID;
}

static bool is_known_format(scan_value format)
{
    size_t i = 0;

    while (i < API_FORMATS && !session_string_is(format, API_FORMAT_NAMES[i]))
        i++;
    return i < API_FORMATS;
}

/* Fails if an entry should have a format of an API but has none that is known. In the dialect pi,
 * `format` is a member like any other. */
static cardbox_status check_format(const session_batch *batch, const session_entry *entry,
                                   cardbox_error *err)
{
    static const char *const NAMES[] = {"format"};
    bool is_message = entry->kind == SESSION_MESSAGE && batch->dialect != SESSION_PI;
    scan_value format;

    if (!is_message && entry->kind != SESSION_PLAIN_SETTINGS)
        return CARDBOX_OK;
    session_pick(entry->value, NAMES, &format, 1);
    if (format.kind == SCAN_NONE)
        return !is_message || batch->dialect != SESSION_PLAIN
                   ? CARDBOX_OK
                   : error_set(err, CARDBOX_INVALID,
                               "in the dialect plain, an entry of type message needs a format: "
                               "openai, responses or anthropic");
    if (!is_known_format(format))
        return error_set(err, CARDBOX_INVALID,
                         "an entry of type %s has the unknown format %.*s: use openai, responses "
                         "or anthropic",
                         session_kind_name(entry->kind), error_shown(format.text), format.text.ptr);
    return !is_message ? CARDBOX_OK
                       : error_set(err, CARDBOX_INVALID,
                                   "an entry of type message needs an object as its message");
}

static cardbox_status check_entry(const session_batch *batch, const session_entry *entry,
                                  cardbox_error *err)
{
    slice target, role = scan_find(entry->body, "role").text;
    arena memory = ARENA_INIT;
    cardbox_status status = CARDBOX_OK;
    const char *lacks = session_entry_lacks(entry);

    if (entry->dialect >= SESSION_CLAUDE)
        status = is_imported(entry->dialect, err);
    else if (entry->parent_state == SESSION_PARENT_UNUSABLE)
        status = error_set(err, CARDBOX_INVALID,
                           "entry's parentId is not an id: give an entry's, or null");
    else if (entry->parent_state == SESSION_PARENT_NAMED && slice_equal(entry->parent, entry->id))
        status = error_set(err, CARDBOX_INVALID, "entry is its own parent");
    else if (entry->kind == SESSION_COMPACTION && entry->target.kind == SCAN_NUMBER)
        status = error_set(err, CARDBOX_INVALID,
                           "a compaction needs firstKeptEntryId, the id of the first entry that it "
                           "keeps: an index is accepted in files only");
    else if (entry->id_is_made)
        status = error_set(err, CARDBOX_INVALID,
                           "entry's id is null: give it one of 1 to %d bytes, or leave it out",
                           SESSION_ID_MAX);
    else if (batch->dialect >= 0 && entry->dialect >= 0 &&
             /* the message omits the entry's id, which the client may not know */
             batch->dialect != entry->dialect)
        status = error_set(
            err, CARDBOX_INVALID,
            "an entry of type %s is of the dialect %s, the session or the entries before it are "
            "of %s",
            session_kind_name(entry->kind), session_dialect_name(entry->dialect),
            session_dialect_name(batch->dialect));
    else if (entry->kind == SESSION_LABEL && !(session_text_of(&target, entry->target, &memory) &&
                                               slice_is_id(target, SESSION_ID_MAX)))
        status = error_set(err, memory.failed ? CARDBOX_NOMEM : CARDBOX_INVALID,
                           "a label needs a targetId, the id of the entry that it is for");
    else if (lacks != NULL)
        status = error_set(err, CARDBOX_INVALID, "an entry of type %s needs the member %s",
                           session_kind_name(entry->kind), lacks);
    else if (entry->kind == SESSION_MESSAGE && entry->role == SESSION_ROLE_NONE)
        status = error_set(err, CARDBOX_INVALID,
                           "a model sees messages of the roles user, assistant, toolResult, "
                           "bashExecution and custom, not %.*s",
                           (int)role.len, role.ptr);
    arena_reset(&memory);
    return status;
}

cardbox_status session_batch_append(session_batch *batch, slice json, bool is_root,
                                    cardbox_error *err)
{
    session_line line;
    session_entry entry;
    const char *reason = NULL;
    const pending_line *earlier;
    new_members members = {.has_id = false};

    if (batch->count == CARDBOX_ENTRIES_PER_APPEND_MAX)
        return error_set(err, CARDBOX_TOO_LARGE, "more than %d entries in one call",
                         CARDBOX_ENTRIES_PER_APPEND_MAX);
    cardbox_status status = session_one_line(&json, &batch->memory) ? CARDBOX_OK : error_nomem(err);
    if (status == CARDBOX_OK)
        status = read_line(&line, json, "entry", err);
    if (status != CARDBOX_OK)
        return status;
    status = check_type(line.value, err);
    if (status == CARDBOX_OK)
        status = find_same_id(&earlier, batch, &line, err);
    if (status != CARDBOX_OK)
        return status;
    slice given = line.text;
    if (earlier != NULL)
        session_line_from_store(&line, earlier->content);
    else
        status = add_omitted_members(batch, &line, is_root, &members, err);
    if (status != CARDBOX_OK)
        return status;
    if (!session_entry_read(&entry, &line, SLICE(""), &batch->memory, &reason))
        return reason == NULL ? error_nomem(err)
                              : error_set(err, CARDBOX_INVALID, "entry: %s", reason);
    status = check_members(batch, &entry, err);
    if (status == CARDBOX_OK)
        status = check_format(batch, &entry, err);
    if (status == CARDBOX_OK)
        status = check_entry(batch, &entry, err);
    if (status != CARDBOX_OK)
        return status;
    if (is_root && entry.parent_state == SESSION_PARENT_ABSENT)
        entry.parent_state = SESSION_PARENT_NULL;
    pending_line *added = session_batch_add(batch, &entry);
    if (added == NULL)
        return error_nomem(err);
    added->given = given;
    added->has_new_id = members.has_id;
    added->has_time = members.has_time;
    added->time_ms = members.time_ms;
    batch->new_ids += members.has_id;
    return CARDBOX_OK;
}

/* --- services --- */

cardbox_status session_append_list(session_batch *batch, scan_value entries, size_t *bad,
                                   cardbox_error *err)
{
    scan_value entry;
    scan_walk walk = scan_enter(entries);
    cardbox_status status = CARDBOX_OK;

    *bad = 0;
    if (entries.kind == SCAN_OBJECT)
        return session_batch_append(batch, entries.text, false, err);
    while (status == CARDBOX_OK && scan_element(&walk, &entry)) {
        *bad = batch->count;
        status = session_batch_append(batch, entry.text, false, err);
    }
    return status;
}

bool session_append_is_repeatable(const session_batch *batch)
{
    return batch->expected_version == 0 || batch->key.ptr != NULL;
}

void session_put_ignored(buf *out, const session_batch *batch)
{
    bool is_open = false;

    for (size_t i = 0; i < batch->count; i++) {
        const pending_line *line = &batch->lines[i];
        if (line->usage == NULL || line->usage->of.ignored == NULL)
            continue;
        if (!is_open)
            buf_member(out, "usage_ignored", SLICE("["));
        is_open = true;
        buf_comma(out);
        buf_char(out, '{');
        buf_member_text(out, "entry", line->id);
        buf_member_text(out, "what", slice_of(line->usage->of.ignored));
        buf_char(out, '}');
    }
    if (is_open)
        buf_char(out, ']');
}

void session_append_json(buf *out, const session_batch *batch, const store_rows *rows)
{
    session_written written;

    session_append_read(&written, rows);
    buf_char(out, '{');
    buf_member_text(out, "session_id", batch->session);
    buf_member_int(out, "version", written.version);
    buf_member(out, "entries", SLICE("["));
    for (size_t i = 0; i < batch->count; i++) {
        buf_text(out, i == 0 ? "{" : ",{");
        buf_member_text(out, "entry_id", batch->lines[i].id);
        buf_member_text(out, "outcome", session_line_outcome(rows, i));
        buf_member_int(out, "line", session_line_number(rows, i));
        buf_char(out, '}');
    }
    buf_char(out, ']');
    session_put_ignored(out, batch);
    buf_char(out, '}');
}
