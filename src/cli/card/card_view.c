/*
 * card_view.c: makes JSON of cards and boxes, and rows of tables of cards.
 */
#include "cli/card/card_view.h"

#include <inttypes.h>
#include <time.h>
#include "base/isotime.h"
#include "cli/cli.h"
#include "store/card/card_json.h"
#include "model/content/content.h"
#include "model/session/preview.h"

static const size_t line_max = 4 * (size_t)CARDBOX_CONTENT_MAX;

/* --- for programs --- */

static int64_t micros_of(const char *moment)
{
    isotime time;

    return isotime_parse(slice_of(moment), &time) ? isotime_to_micros(&time) : 0;
}

static slice text_of(const char *text, size_t length)
{
    return text ? (slice){text, length} : (slice){NULL, 0};
}

void card_view_json(buf *out, const cardbox_card *card, const char *project)
{
    card_row row = {
        .card_id = slice_of(card->card_id),
        .content = text_of(card->content, card->content_length),
        .tool_calls = text_of(card->tool_calls, card->tool_calls_length),
        .tool_call_id = slice_of(card->tool_call_id),
        .metadata = text_of(card->metadata, card->metadata_length),
        .has_ttl = card->ttl_seconds != 0,
        .ttl_seconds = card->ttl_seconds,
        .has_expiry = card->expires_at != NULL,
        .expires_micros = card->expires_at ? micros_of(card->expires_at) : 0,
        .created_micros = micros_of(card->created_at),
        .sealed = card->sealed,
    };

    size_t start = out->len;
    card_json(out, &row, slice_of(project));
    /* Line ends of JSON stand between its tokens, where spaces mean the same. */
    for (size_t i = start; buf_ok(out) && i < out->len; i++)
        if (out->data[i] == '\n' || out->data[i] == '\r')
            out->data[i] = ' ';
}

static json_t *ids_of(const char *const *ids, size_t count)
{
    json_t *list = json_array();

    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_string(ids[i]));
    if (json_array_size(list) == count)
        return list;
    json_decref(list); /* out of memory */
    return NULL;
}

void card_view_box(buf *out, const cardbox_box *box, bool with_ids)
{
    json_t *ids = ids_of(box->card_ids, with_ids ? box->card_count : 0);
    json_t *object =
        json_pack("{s:s, s:o, s:I, s:I, s:o, s:s, s:s, s:b}", "box_id", box->box_id, "card_ids",
                  ids, "version", (json_int_t)box->version, "length", (json_int_t)box->length,
                  "parent_ids", ids_of(box->parent_ids, box->parent_count), "created_at",
                  box->created_at, "updated_at", box->updated_at, "sealed", box->sealed);

    if (!with_ids)
        json_object_del(object, "card_ids");
    buf_json_take(out, object);
}

/* --- for people --- */

const char *card_view_role(const cardbox_card *card)
{
    const char *role = card->role ? card->role : cardbox_role_of_type(card->type);

    return role ? role : "";
}

term_style card_view_style(slice role)
{
    static const struct {
        const char *role;
        term_style style;
    } styles[] = {{"user", STYLE_GREEN},
                  {"assistant", STYLE_CYAN},
                  {"tool", STYLE_YELLOW},
                  {"result", STYLE_YELLOW}, /* role of tool results in sessions */
                  {"system", STYLE_MAGENTA}};

    for (size_t i = 0; i < sizeof(styles) / sizeof(styles[0]); i++) {
        if (slice_equal(slice_of(styles[i].role), role))
            return styles[i].style;
    }
    return STYLE_PLAIN;
}

const char *card_view_age(char out[AGE_SIZE], const char *moment)
{
    static const struct {
        int64_t seconds, below;
        const char *unit;
    } units[] = {{1, 60, "s"},
                 {60, 3600, "m"},
                 {3600, 2 * 86400, "h"},
                 {86400, 60 * 86400, "d"},
                 {30 * 86400, 2 * 365 * 86400, "mo"},
                 {365 * 86400, INT64_MAX, "y"}};
    int64_t age = moment ? (int64_t)time(NULL) - micros_of(moment) / 1000000 : 0;
    size_t i = 0;

    age = age < 0 ? 0 : age; /* the time can be in the future by the clock of another machine */
    while (age >= units[i].below)
        i++;
    snprintf(out, AGE_SIZE, "%" PRId64 " %s", age / units[i].seconds, units[i].unit);
    if (moment == NULL)
        out[0] = '\0';
    return out;
}

void card_view_add_age(table *rows, const char *moment)
{
    char age[AGE_SIZE];

    table_add(rows, slice_of(card_view_age(age, moment)), STYLE_DIM);
}

/* Appends a call: `search {"q":"Q1 report"}`. */
static void add_call(buf *out, scan_value content)
{
    session_value_text(out, scan_find(content, "tool_name"));
    buf_char(out, ' ');
    scan_compact(out, scan_find(content, "arguments").text);
}

/* Appends a result: `success, {"hits":3}` or `failed, timeout: no answer within 30 s`. */
static void add_result(buf *out, scan_value content)
{
    scan_value error = scan_find(content, "error"), result = scan_find(content, "result");

    session_value_text(out, scan_find(content, "status"));
    if (error.kind == SCAN_OBJECT) {
        buf_text(out, ", ");
        session_value_text(out, scan_find(error, "code"));
        buf_text(out, ": ");
        session_value_text(out, scan_find(error, "message"));
    } else if (result.kind != SCAN_NONE && result.kind != SCAN_NULL) {
        buf_text(out, ", ");
        session_value_text(out, result);
    }
}

/* Appends the names of tools: `3 tools: read_log, disk_usage, list_files`. */
static void add_tools(buf *out, scan_value content)
{
    scan_value tools = scan_find(content, "tools"), tool;
    size_t count = scan_count(tools);
    scan_walk walk = scan_enter(tools);

    buf_printf(out, "%zu tool%s", count, count == 1 ? "" : "s");
    for (unsigned i = 0; scan_element(&walk, &tool); i++) {
        scan_value function = tool.kind == SCAN_OBJECT ? scan_find(tool, "function") : tool;

        buf_text(out, i == 0 ? ": " : ", ");
        if (function.kind == SCAN_OBJECT)
            tool = function;
        if (tool.kind == SCAN_OBJECT)
            session_value_text(out, scan_find(tool, "name"));
    }
}

void card_view_summary(buf *out, const cardbox_card *card)
{
    static const struct {
        const char *class_name;
        void (*add)(buf *out, scan_value content);
    } special[] = {{"ToolCallContent", add_call},
                   {"ToolResultContent", add_result},
                   {"ToolContent", add_tools}};
    scan_value content = scan_whole(text_of(card->content, card->content_length));
    const char *class_name = content_class_of(content);

    for (size_t i = 0; class_name && i < sizeof(special) / sizeof(special[0]); i++) {
        if (strcmp(special[i].class_name, class_name) == 0) {
            special[i].add(out, content);
            return;
        }
    }
    buf_text(out, cardbox_card_text(card));
}

/* --- tables --- */

static void add_card(table *rows, const cardbox_card *card)
{
    slice role = slice_of(card_view_role(card));
    buf summary = BUF_INIT(line_max);

    card_view_summary(&summary, card);
    table_text(rows, card->type);
    table_add(rows, role, card_view_style(role));
    card_view_add_age(rows, card->created_at);
    table_text(rows, buf_str(&summary));
    table_add(rows, slice_of(card->tool_call_id), STYLE_DIM);
    buf_free(&summary);
}

void card_view_add_row(table *rows, const cardbox_card *card, const char *id, int64_t position,
                       bool named)
{
    if (position > 0)
        table_int(rows, position);
    else
        table_text(rows, NULL);
    table_text(rows, named ? id : NULL);
    if (card != NULL) {
        add_card(rows, card);
        return;
    }
    table_add(rows, SLICE("missing"), STYLE_RED);
    table_text(rows, NULL);
    table_text(rows, NULL);
    table_add(rows, slice_of(named ? NULL : id), STYLE_DIM);
    table_text(rows, NULL);
}
