/*
 * usage.c: reads the usage of answers: sums that mean the same in all APIs.
 */
#include "model/session/usage.h"

#include <stdio.h>
#include "base/isotime.h"

/* --- members --- */

typedef enum usage_part {
    PART_INPUT,
    PART_OUTPUT,
    PART_CACHED,     /* a part of the input tokens */
    PART_ADD_CACHED, /* cached tokens that are not part of the input tokens */
    PART_ADD         /* other input tokens that are not part of the input tokens */
} usage_part;

/* The members of each API, which its first member or its second one recognises: chat completions;
 * the Responses API, the Messages API and codex; pi. */
enum { SHAPES = 3, MEMBERS_MAX = 6 };
static const struct {
    const char *object; /* the member is in this object; NULL: in the usage itself */
    const char *name;
    usage_part part;
} SHAPE[SHAPES][MEMBERS_MAX] = {
    {{NULL, "prompt_tokens", PART_INPUT},
     {NULL, "completion_tokens", PART_OUTPUT},
     {"prompt_tokens_details", "cached_tokens", PART_CACHED},
     {NULL, "prompt_cache_hit_tokens", PART_CACHED},
     {NULL, "cached_tokens", PART_CACHED}},
    {{NULL, "input_tokens", PART_INPUT},
     {NULL, "output_tokens", PART_OUTPUT},
     {"input_tokens_details", "cached_tokens", PART_CACHED},
     {NULL, "cached_input_tokens", PART_CACHED},
     {NULL, "cache_read_input_tokens", PART_ADD_CACHED},
     {NULL, "cache_creation_input_tokens", PART_ADD}},
    {{NULL, "input", PART_INPUT},
     {NULL, "output", PART_OUTPUT},
     {NULL, "cacheRead", PART_ADD_CACHED},
     {NULL, "cacheWrite", PART_ADD}},
};

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t bounded_sum(int64_t a, int64_t b)
{
    return a + b < USAGE_MAX ? a + b : USAGE_MAX;
}

/* Returns the number of a member, or 0 if it is absent or null. Any other value is ignored. */
static int64_t read_count(token_usage *out, scan_value value, const char *name)
{
    int64_t count = 0;

    if (value.kind == SCAN_NONE || value.kind == SCAN_NULL)
        return 0;
    if (value.kind == SCAN_NUMBER && scan_integer(value.text, &count) && count >= 0 &&
        count <= USAGE_MAX) {
        out->is_given = out->is_given || count > 0;
        return count;
    }
    if (out->ignored == NULL)
        out->ignored = name;
    return 0;
}

static void read_shape(token_usage *out, scan_value value, int shape)
{
    for (int i = 0; i < MEMBERS_MAX && SHAPE[shape][i].name != NULL; i++) {
        const char *object = SHAPE[shape][i].object, *name = SHAPE[shape][i].name;
        scan_value in = object == NULL ? value : scan_find(value, object);
        int64_t count = read_count(out, scan_find(in, name), name);

        switch (SHAPE[shape][i].part) {
        case PART_INPUT:
            out->input = count;
            break;
        case PART_OUTPUT:
            out->output = count;
            break;
        case PART_CACHED:
            out->cached = larger(out->cached, count);
            break;
        case PART_ADD_CACHED:
            out->cached = bounded_sum(out->cached, count);
            out->input = bounded_sum(out->input, count);
            break;
        case PART_ADD:
            out->input = bounded_sum(out->input, count);
            break;
        }
    }
}

/* Some servers of chat completions count reasoning beside the completion tokens. Then the total is
 * the sum of all three. */
static void add_reasoning(token_usage *out, scan_value value)
{
    scan_value details = scan_find(value, "completion_tokens_details");
    token_usage aside = {.is_given = false}; /* a total alone is nothing to count */
    int64_t total = read_count(&aside, scan_find(value, "total_tokens"), "total_tokens");
    int64_t reasoning =
        read_count(&aside, scan_find(details, "reasoning_tokens"), "reasoning_tokens");

    if (reasoning > 0 && total - reasoning == out->input + out->output)
        out->output = bounded_sum(out->output, reasoning);
}

bool usage_is_cost(scan_value value)
{
    return value.kind == SCAN_NUMBER && value.text.len <= USAGE_COST_MAX &&
           scan_number_order(value.text, SLICE("0")) >= 0 &&
           scan_number_order(value.text, SLICE("9007199254740992")) <= 0;
}

/* Reads the cost: a number, or in pi an object with a total. The database keeps 12 digits after the
 * point. */
static void read_cost(token_usage *out, scan_value cost)
{
    if (cost.kind == SCAN_OBJECT)
        cost = scan_find(cost, "total");
    if (cost.kind == SCAN_NONE || cost.kind == SCAN_NULL)
        return;
    if (!usage_is_cost(cost)) {
        out->ignored = out->ignored == NULL ? "cost" : out->ignored;
    } else if (scan_number_order(cost.text, SLICE("1e-12")) >= 0) {
        out->cost = cost.text;
        out->is_given = true;
    }
}

void usage_read(token_usage *out, scan_value value)
{
    *out = (token_usage){.is_given = false};
    if (value.kind == SCAN_NONE || value.kind == SCAN_NULL)
        return;
    if (value.kind != SCAN_OBJECT) {
        out->ignored = "usage";
        return;
    }
    for (int shape = 0; shape < SHAPES; shape++) {
        if (scan_find(value, SHAPE[shape][0].name).kind == SCAN_NONE &&
            scan_find(value, SHAPE[shape][1].name).kind == SCAN_NONE)
            continue;
        read_shape(out, value, shape);
        if (shape == 0)
            add_reasoning(out, value);
        break;
    }
    read_cost(out, scan_find(value, "cost"));
}

/* --- entries --- */

/* Keeps what the earlier lines of the same answer have not reported. */
static void read_new_part(token_usage *of, slice answer, usage_seen *seen)
{
    size_t i = 0;

    if (answer.len == 0 || answer.len >= sizeof(seen->answers[0].id))
        return;
    while (i < USAGE_ANSWERS && !slice_equal(answer, slice_of(seen->answers[i].id)))
        i++;
    if (i == USAGE_ANSWERS) {
        i = seen->next++ % USAGE_ANSWERS;
        snprintf(seen->answers[i].id, sizeof(seen->answers[i].id), "%.*s", (int)answer.len,
                 answer.ptr);
        seen->answers[i].of = *of;
        return;
    }
    token_usage *old = &seen->answers[i].of;
    const token_usage new = *of;
    of->input = larger(new.input - old->input, 0);
    of->cached = larger(new.cached - old->cached, 0);
    of->output = larger(new.output - old->output, 0);
    of->cost = (slice){NULL, 0};
    of->is_given = of->input > 0 || of->cached > 0 || of->output > 0;
    old->input = larger(old->input, new.input);
    old->cached = larger(old->cached, new.cached);
    old->output = larger(old->output, new.output);
}

static void keep_text(char to[USAGE_TEXT_MAX + 1], slice text)
{
    if (text.len > USAGE_TEXT_MAX)
        text.len = 0;
    snprintf(to, USAGE_TEXT_MAX + 1, "%.*s", (int)text.len, text.ptr == NULL ? "" : text.ptr);
}

/* An event of codex has the numbers of the last answer, and the total of the session. */
static bool read_event(entry_usage *out, const session_entry *entry, usage_seen *seen,
                       arena *memory)
{
    static const char *const NAMES[] = {"last_token_usage", "total_token_usage"};
    scan_value found[2];

    session_pick(entry->usage, NAMES, found, 2);
    if (found[0].kind != SCAN_OBJECT)
        return false;
    if (seen != NULL && found[1].kind == SCAN_OBJECT) {
        if (slice_equal(found[1].text, slice_of(seen->total)))
            return false;
        keep_text(seen->total, found[1].text);
    }
    usage_read(&out->of, found[0]);
    if (seen != NULL) { /* a later line may change seen->model */
        out->model = slice_of(seen->model);
        out->model.ptr = arena_copy(memory, out->model);
    }
    return !memory->failed;
}

slice usage_model(scan_value name, arena *memory)
{
    slice model = {"", 0};

    if (session_text_of(&model, name, memory))
        model.len = slice_cut(model, USAGE_MODEL_MAX);
    return slice_is_id(model, USAGE_MODEL_MAX) ? model : (slice){"", 0};
}

static void set_day(entry_usage *out, slice timestamp)
{
    char text[ISOTIME_SIZE];
    int64_t ms;

    if (!session_time_ms(&ms, timestamp))
        return;
    isotime_format_micros(text, ms * 1000);
    memcpy(out->day, text, sizeof(out->day) - 1);
}

bool usage_of_entry(entry_usage *out, const session_entry *entry, usage_seen *seen, arena *memory)
{
    bool is_codex = entry->dialect == SESSION_CODEX;

    *out = (entry_usage){.model = {"", 0}};
    if (is_codex && seen != NULL && entry->model.kind == SCAN_STRING)
        keep_text(seen->model, usage_model(entry->model, memory));
    if (entry->usage.kind == SCAN_NONE)
        return false;
    if (is_codex) {
        if (!read_event(out, entry, seen, memory))
            return false;
    } else {
        usage_read(&out->of, entry->usage);
        out->model = usage_model(entry->model, memory);
    }
    if (seen != NULL && entry->dialect == SESSION_CLAUDE)
        read_new_part(&out->of, scan_string_inside(scan_find(entry->body, "id")), seen);
    if (seen != NULL)
        set_day(out, entry->timestamp);
    return out->of.is_given || out->of.ignored != NULL;
}

void usage_put(buf *out, const entry_usage *used)
{
    buf_member_text(out, "model", used->model);
    buf_member_int(out, "input_tokens", used->of.input);
    buf_member_int(out, "cached_input_tokens", used->of.cached);
    buf_member_int(out, "output_tokens", used->of.output);
    if (used->of.cost.ptr != NULL)
        buf_member(out, "cost", used->of.cost);
    if (used->day[0] != '\0')
        buf_member_text(out, "on_day", slice_of(used->day));
}
