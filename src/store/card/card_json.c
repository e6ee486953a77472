/*
 * card_json.c: cards and their lists as JSON. The columns of a row may contain any JSON: the output
 * is valid JSON nevertheless.
 */
#include "store/card/card_json.h"

#include "base/isotime.h"
#include "model/content/content.h"

/* Values in the metadata from which other members of the card's JSON are derived; SCAN_NONE:
 * absent. */
typedef struct card_facts {
    scan_value type;
    scan_value semantic_type;
    scan_value author_id;
    scan_value producer;
    scan_value created_at;
    scan_value timestamp;
} card_facts;

static const struct {
    slice name;
    size_t offset;
} FACTS[] = {
    {SLICE("type"), offsetof(card_facts, type)},
    {SLICE("semantic_type"), offsetof(card_facts, semantic_type)},
    {SLICE("author_id"), offsetof(card_facts, author_id)},
    {SLICE("producer"), offsetof(card_facts, producer)},
    {SLICE("created_at"), offsetof(card_facts, created_at)},
    {SLICE("timestamp"), offsetof(card_facts, timestamp)},
};

static void read_facts(card_facts *facts, scan_value metadata)
{
    slice key;
    scan_value value;
    *facts = (card_facts){{0}, {0}, {0}, {0}, {0}, {0}};
    if (metadata.kind != SCAN_OBJECT)
        return;
    for (scan_walk walk = scan_enter(metadata); scan_member(&walk, &key, &value);)
        for (size_t i = 0; i < sizeof(FACTS) / sizeof(FACTS[0]); i++)
            if (scan_string_is(key, FACTS[i].name))
                memcpy((char *)facts + FACTS[i].offset, &value, sizeof(value));
}

static bool is_filled(scan_value value)
{
    return value.kind == SCAN_STRING && value.text.len > 2;
}

static slice type_of(const card_facts *facts)
{
    if (facts->type.kind == SCAN_STRING)
        return facts->type.text;
    if (facts->semantic_type.kind == SCAN_STRING)
        return facts->semantic_type.text;
    return SLICE("\"unknown\"");
}

slice card_json_type(scan_value metadata)
{
    card_facts facts;
    read_facts(&facts, metadata);
    return type_of(&facts);
}

static void add_author(buf *out, const card_facts *facts)
{
    scan_value author = facts->author_id;
    if (!is_filled(author) && facts->producer.kind == SCAN_OBJECT)
        author = scan_find(facts->producer, "id");
    if (is_filled(author))
        buf_slice(out, author.text);
    else
        buf_text(out, "\"unknown\"");
}

/* A string with escapes is not read as a date-time. */
static bool read_time(isotime *out, scan_value value)
{
    return is_filled(value) && isotime_parse(scan_inside(value.text), out);
}

static void add_created_at(buf *out, const card_facts *facts, int64_t row_micros)
{
    isotime time;
    if (!read_time(&time, facts->created_at) && !read_time(&time, facts->timestamp))
        isotime_from_micros(&time, row_micros);
    isotime_json(out, &time);
}

/* Copies an object of a known class byte by byte, without its member "__type__" and the comma and
 * white space of that member. */
static void add_members(buf *out, scan_value object)
{
    slice key;
    scan_value value;
    const char *from = object.text.ptr; /* the first byte that is not copied yet */
    const char *end = from + 1;         /* the end of the last member that is to be copied */
    slice between = {NULL, 0}; /* the comma and white space before the first omitted member */
    for (scan_walk walk = scan_enter(object); scan_member(&walk, &key, &value);) {
        const char *value_end = value.text.ptr + value.text.len;
        if (scan_string_is(key, SLICE("__type__"))) {
            buf_slice(out, (slice){from, (size_t)(end - from)});
            if (between.ptr == NULL)
                between = (slice){end, (size_t)(key.ptr - end)};
            from = end = value_end;
            continue;
        }
        if (between.ptr != NULL) {
            buf_slice(out, between);
            between.ptr = NULL;
            from = key.ptr;
        }
        end = value_end;
    }
    buf_slice(out, (slice){from, (size_t)(object.text.ptr + object.text.len - from)});
}

/* ToolContent becomes the member "data" of an object, as clients of the API expect. */
static void add_content(buf *out, const card_row *card, scan_value content, const char *class_name,
                        slice rest)
{
    if (class_name == NULL) {
        buf_slice(out, card->content);
        return;
    }
    bool wrapped = strcmp(class_name, "ToolContent") == 0;
    if (wrapped)
        buf_text(out, "{\"data\":");
    if (rest.ptr == NULL) {
        add_members(out, content);
    } else {
        const char *tag = memchr(content.text.ptr, '"', content.text.len);
        buf_slice(out, (slice){content.text.ptr, (size_t)(tag - content.text.ptr)});
        buf_slice(out, rest);
        buf_char(out, '}');
    }
    if (wrapped)
        buf_char(out, '}');
}

static void add_extras(buf *out, const card_row *card, const char *class_name)
{
    if (card->has_expiry)
        isotime_member(out, "expires_at", card->expires_micros);
    else
        buf_text(out, ",\"expires_at\":null");
    buf_member_text(out, "content_class", slice_of(class_name));
    buf_text(out, card->sealed ? ",\"sealed\":true}" : ",\"sealed\":false}");
}

void card_json(buf *out, const card_row *card, slice project_id)
{
    scan_value metadata = scan_whole(card->metadata);
    scan_value tool_calls = scan_whole(card->tool_calls);
    scan_value content = scan_whole(card->content);
    slice rest;
    const char *class_name = content_class_and_rest(content, &rest);
    card_facts facts;
    read_facts(&facts, metadata);

    buf_char(out, '{');
    buf_member_text(out, "card_id", card->card_id);
    buf_member_text(out, "project_id", project_id);
    buf_text(out, ",\"type\":");
    buf_slice(out, type_of(&facts));
    buf_text(out, ",\"content\":");
    add_content(out, card, content, class_name, rest);
    buf_text(out, ",\"created_at\":");
    add_created_at(out, &facts, card->created_micros);
    buf_text(out, ",\"author_id\":");
    add_author(out, &facts);
    buf_text(out, ",\"metadata\":");
    if (metadata.kind == SCAN_OBJECT)
        scan_compact(out, metadata.text);
    else
        buf_text(out, "{}");
    buf_text(out, ",\"tool_calls\":");
    if (tool_calls.kind == SCAN_ARRAY)
        scan_compact(out, tool_calls.text);
    else
        buf_text(out, "null");
    buf_member_text(out, "tool_call_id", card->tool_call_id);
    if (card->has_ttl)
        buf_member_int(out, "ttl_seconds", card->ttl_seconds);
    else
        buf_text(out, ",\"ttl_seconds\":null");
    add_extras(out, card, class_name);
}

/* --- lists --- */

void list_json_cards(buf *out, const store_rows *rows, int64_t limit, slice tenant, arena *memory)
{
    card_page page;
    card_page_read(&page, rows, limit);
    buf_text(out, "{\"cards\":[");
    for (int row = 0; row < page.count; row++) {
        card_row card;
        card_row_read(&card, rows, row, CARD_FIRST);
        buf_comma(out);
        card_json(out, &card, tenant);
    }
    list_json_end(out,
                  page.next.given ? list_cursor_text(memory, page.next.micros, page.next.id) : NULL,
                  memory);
}

void list_json_revisions(buf *out, const store_rows *rows, int64_t limit, slice tenant)
{
    int64_t number = 0;
    int count = rows_count(rows);
    buf_text(out, "{\"revisions\":[");
    for (int row = 0; row < count && row < limit && !rows_null(rows, row, REVISION_COL_NUMBER);
         row++) {
        card_row card;
        number = rows_int8(rows, row, REVISION_COL_NUMBER);
        card_row_read(&card, rows, row, REVISION_COL_CARD);
        buf_comma(out);
        buf_char(out, '{');
        buf_member_int(out, "revision", number);
        isotime_member(out, "replaced_at", rows_micros(rows, row, REVISION_COL_AT));
        buf_text(out, ",\"card\":");
        card_json(out, &card, tenant);
        buf_char(out, '}');
    }
    list_json_end_at(out, count > limit, number);
}
