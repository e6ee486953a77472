/*
 * cards_write.c: adds one card or a list of cards, and deletes cards. Content is passed to
 * PostgreSQL unchanged, as a slice of the body. Requests with a single card may share a statement.
 * A request with a list has its own statement: all its cards are added, or none.
 */
#include "cardbox/limits.h"
#include "server/api/handlers.h"
#include "store/card/card_write.h"

/* Maximum levels of JSON in the body: twice the limit of content, so that an error message can name
 * the card whose content has too many levels. */
enum { BODY_DEPTH_MAX = 2 * CARDBOX_JSON_DEPTH_MAX };

/* The members of a card. A card as reads show it has the member `content_class`: only then the
 * first three members are known. A single card can have `strict` and `restore` too. */
enum {
    C_CLASS,
    C_PROJECT,
    C_EXPIRES,
    C_CARD_ID,
    C_CONTENT,
    C_TOOL_CALLS,
    C_TOOL_CALL_ID,
    C_TTL,
    C_METADATA,
    C_TYPE,
    C_ROLE,
    C_STEP,
    C_TRACE,
    C_TURN,
    C_AUTHOR,
    C_CREATED,
    C_SEALED,
    LISTED_FIELDS, /* the end of the members of a card in a list */
    C_STRICT = LISTED_FIELDS,
    C_RESTORE,
    SINGLE_FIELDS
};

/* The members that are the same in both forms of a card. */
#define CARD_FIELDS                                                                                \
    [C_CARD_ID] = {"card_id", FIELD_ID, .most = CARDBOX_CARD_ID_MAX},                              \
    [C_CONTENT] = {"content", FIELD_ANY, .required = true},                                        \
    [C_TOOL_CALLS] = {.name = "tool_calls", .kind = FIELD_ARRAY},                                  \
    [C_TTL] = {"ttl_seconds", FIELD_INTEGER, .most = INT32_MAX},                                   \
    [C_METADATA] = {.name = "metadata", .kind = FIELD_OBJECT},                                     \
    [C_ROLE] = {"role", FIELD_TEXT, .most = CARDBOX_KEY_MAX},                                      \
    [C_STEP] = {"step_id", FIELD_TEXT, .most = CARDBOX_KEY_MAX},                                   \
    [C_TRACE] = {"trace_id", FIELD_TEXT, .most = CARDBOX_KEY_MAX},                                 \
    [C_TURN] = {"agent_turn_id", FIELD_TEXT, .most = CARDBOX_KEY_MAX},                             \
    [C_SEALED] = {.name = "sealed", .kind = FIELD_BOOL},                                           \
    [C_STRICT] = {.name = "strict", .kind = FIELD_BOOL},                                           \
    [C_RESTORE] = {.name = "restore", .kind = FIELD_BOOL}

static const field CARD[SINGLE_FIELDS] = {
    CARD_FIELDS,
    [C_TOOL_CALL_ID] = {"tool_call_id", FIELD_ID, .most = CARDBOX_KEY_MAX},
    [C_TYPE] = {"type", FIELD_TEXT, .most = CARDBOX_KEY_MAX},
    [C_AUTHOR] = {"author_id", FIELD_TEXT, .most = CARDBOX_KEY_MAX},
    [C_CREATED] = {.name = "created_at", .kind = FIELD_TIME},
};

/* Read-only members of a stored card may be longer than members that clients write. An imported
 * card may have an empty tool_call_id. */
static const field CARD_READ_FORM[SINGLE_FIELDS] = {
    CARD_FIELDS,
    [C_TOOL_CALL_ID] = {"tool_call_id", FIELD_TEXT, .most = CARDBOX_KEY_MAX},
    [C_CLASS] = {"content_class", FIELD_TEXT, .most = CARDBOX_CONTENT_MAX},
    [C_PROJECT] = {"project_id", FIELD_TEXT, .most = CARDBOX_CONTENT_MAX},
    [C_EXPIRES] = {"expires_at", FIELD_TEXT, .most = CARDBOX_CONTENT_MAX},
    [C_TYPE] = {"type", FIELD_TEXT, .most = CARDBOX_CONTENT_MAX},
    [C_AUTHOR] = {"author_id", FIELD_TEXT, .most = CARDBOX_CONTENT_MAX},
    [C_CREATED] = {"created_at", FIELD_TEXT, .most = CARDBOX_CONTENT_MAX},
};

enum { B_CARDS, B_STRICT, B_RESTORE, B_SEALED, BATCH_FIELDS };

static const field BATCH[BATCH_FIELDS] = {
    [B_CARDS] = {"cards", FIELD_ARRAY, .required = true},
    [B_STRICT] = {.name = "strict", .kind = FIELD_BOOL},
    [B_RESTORE] = {.name = "restore", .kind = FIELD_BOOL},
    [B_SEALED] = {.name = "sealed", .kind = FIELD_BOOL},
};

/* The cards of a request. All memory is in the request's arena, except what card_input_free frees.
 */
typedef struct posted {
    client_card *given;
    card_input *inputs;
    size_t count;
    slice tenant;
    bool batch;
    bool keyed;       /* the request has an Idempotency-Key */
    bool has_new_ids; /* a card of the request has no card_id */
    bool strict, restore;
    bool sealed; /* the value for cards without the member `sealed` */
} posted;

static void drop_posted(void *plan)
{
    posted *p = plan;
    for (size_t i = 0; p->inputs != NULL && i < p->count; i++)
        card_input_free(&p->inputs[i]);
}

/* --- reading --- */

/* Returns the card's id, or a new id if the card has none. A card without an id is a fault in a
 * request with an Idempotency-Key, because a repeated request would get another new id. */
static slice id_of(posted *p, const field_value *given, const validation_path *at, validation *s)
{
    if (given->given)
        return given->text;
    if (p->keyed)
        validation_add(s, at, "card_id", -1, "missing", "Field required with an Idempotency-Key",
                       (slice){NULL, 0});
    p->has_new_ids = true;
    slice made = uuid16_new(s->memory);
    s->nomem = s->nomem || made.ptr == NULL;
    return made;
}

/* Reads a card in either form. `end` is LISTED_FIELDS or SINGLE_FIELDS. Returns true if the card is
 * as reads show it. */
static bool read_fields(field_value values[SINGLE_FIELDS], size_t end, scan_value card,
                        const validation_path *at, validation *s)
{
    bool is_read_form = scan_may_name(card.text, SLICE("content_class")) &&
                        scan_find(card, "content_class").kind != SCAN_NONE;
    size_t first = is_read_form ? 0 : C_CARD_ID;
    memset(values, 0, sizeof(*values) * SINGLE_FIELDS);
    fields_read_object(values + first, (is_read_form ? CARD_READ_FORM : CARD) + first, end - first,
                       card, at, s);
    return is_read_form;
}

static void give_card(client_card *out, posted *p, const field_value *values, bool is_read_form,
                      const validation_path *at, validation *s)
{
    const field_value *sealed = &values[C_SEALED];
    /* In a card that was read, sealed: false is as good as absent. */
    bool ignores_sealed = is_read_form && sealed->number == 0;
    *out = (client_card){
        .tenant = p->tenant,
        .card_id = id_of(p, &values[C_CARD_ID], at, s),
        .content = values[C_CONTENT].json.text,
        .tool_call_id = values[C_TOOL_CALL_ID].text,
        .type = values[C_TYPE].text,
        .role = values[C_ROLE].text,
        .step_id = values[C_STEP].text,
        .trace_id = values[C_TRACE].text,
        .agent_turn_id = values[C_TURN].text,
        .author_id = values[C_AUTHOR].text,
        .created_at = values[C_CREATED].text,
        .ttl_seconds = (int32_t)values[C_TTL].number,
        .sealed = sealed->given && !ignores_sealed ? sealed->number != 0 : p->sealed,
        .strict = p->strict,
        .restore = p->restore,
        .checked = true,
        .is_read_form = is_read_form,
        .content_class = values[C_CLASS].text,
    };
    if (values[C_METADATA].given)
        out->metadata = values[C_METADATA].json.text;
    if (values[C_TOOL_CALLS].given)
        out->tool_calls = values[C_TOOL_CALLS].json.text;
}

static validation_path place_of(const posted *p, size_t index)
{
    return p->batch ? (validation_path){"body", "cards", index} : VALIDATION_BODY;
}

static void read_cards(posted *p, scan_value list, validation *s)
{
    field_value values[SINGLE_FIELDS];
    scan_value item;
    size_t index = 0;
    for (scan_walk walk = scan_enter(list); scan_element(&walk, &item) && !s->nomem; index++) {
        validation_path at = place_of(p, index);
        if (item.kind != SCAN_OBJECT) {
            validation_add(s, &at, NULL, -1, "model_attributes_type",
                           "Input should be a valid object", item.text);
            continue;
        }
        bool is_read_form = read_fields(values, LISTED_FIELDS, item, &at, s);
        give_card(&p->given[index], p, values, is_read_form, &at, s);
    }
}

static void read_batch(posted *p, scan_value body, validation *s)
{
    field_value values[BATCH_FIELDS];
    p->batch = true;
    fields_read_object(values, BATCH, BATCH_FIELDS, body, &VALIDATION_BODY, s);
    if (values[B_CARDS].json.kind != SCAN_ARRAY)
        return;
    p->count = scan_count(values[B_CARDS].json);
    if (p->count > CARDBOX_CARDS_PER_ADD_MAX) {
        validation_too_many(s, "cards", CARDBOX_CARDS_PER_ADD_MAX);
        return;
    }
    p->strict = values[B_STRICT].number != 0;
    p->restore = values[B_RESTORE].number != 0;
    p->sealed = values[B_SEALED].number != 0;
    p->given = arena_zeros(s->memory, p->count, sizeof(*p->given));
    s->nomem = s->nomem || p->given == NULL;
    read_cards(p, values[B_CARDS].json, s);
}

static void read_single(posted *p, scan_value body, validation *s)
{
    field_value values[SINGLE_FIELDS];
    bool is_read_form = read_fields(values, SINGLE_FIELDS, body, &VALIDATION_BODY, s);
    p->given = arena_zeros(s->memory, 1, sizeof(*p->given));
    s->nomem = s->nomem || p->given == NULL;
    if (s->nomem)
        return;
    p->count = 1;
    p->strict = values[C_STRICT].number != 0;
    p->restore = values[C_RESTORE].number != 0;
    give_card(p->given, p, values, is_read_form, &VALIDATION_BODY, s);
}

/* Makes the inputs of the statement from the cards. False: the card with the index `*too_large` is
 * too large. */
static bool make_inputs(posted *p, validation *s, size_t *too_large, cardbox_error *err)
{
    p->inputs = arena_zeros(s->memory, p->count, sizeof(*p->inputs));
    s->nomem = s->nomem || p->inputs == NULL;
    for (size_t i = 0; !s->nomem && i < p->count; i++) {
        const char *member = NULL;
        validation_path at = place_of(p, i);
        switch (card_input_make(&p->inputs[i], &p->given[i], &member, err)) {
        case CARDBOX_OK:
            break;
        case CARDBOX_INVALID:
            validation_add(s, &at, member, -1, "value_error", err->message, (slice){NULL, 0});
            break;
        case CARDBOX_TOO_LARGE:
            *too_large = i;
            return false;
        default:
            s->nomem = true;
        }
    }
    return true;
}

static bool read_posted(request *r, posted *p)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    size_t index = 0;
    validation s;
    handler_validation(r, &s);
    scan_value body = validation_body(&s, BODY_DEPTH_MAX);
    if (body.kind != SCAN_NONE && scan_find(body, "cards").kind != SCAN_NONE)
        read_batch(p, body, &s);
    else if (body.kind != SCAN_NONE)
        read_single(p, body, &s);
    if (validation_check(&s) != VALIDATION_OK || make_inputs(p, &s, &index, &err))
        return handler_end_validation(r, &s);
    validation_free(&s);
    if (p->batch)
        return http_error_send(r, HTTP_ERROR_TOO_LARGE, NULL, "cards[%zu]: %s", index, err.message);
    return http_error_send_status(r, HTTP_ERROR_TOO_LARGE, &err);
}

/* --- answers --- */

static void add_outcome(buf *out, const posted *p, size_t index, cardbox_outcome outcome)
{
    buf_member_text(out, "card_id", p->inputs[index].card_id);
    buf_member_text(out, "outcome", slice_of(cardbox_outcome_name(outcome)));
}

static void card_add_response(request *r, const batch_rows *found)
{
    const posted *p = r->plan;
    cardbox_error err = CARDBOX_ERROR_INIT;
    card_outcome got;
    buf *out = request_body(r);
    card_outcome_read(&got, found->rows, found->row[found->start[0]]);
    cardbox_status status = card_outcome_status(&got, p->inputs, &err);
    if (status != CARDBOX_OK) {
        out = http_error_begin(r, http_error_of_status(status), err.message);
        buf_printf(out, ",\"outcome\":\"%s\"", cardbox_outcome_name(got.outcome));
        http_error_end(r, http_error_of_status(status));
        return;
    }
    buf_char(out, '{');
    add_outcome(out, p, 0, got.outcome);
    buf_char(out, '}');
    request_finish(r);
}

/* Returns the error of a list of cards: that of the first card with a conflict, or else of the
 * first deleted or expired card, which `restore` could bring back. */
static http_error error_of_batch(const posted *p, const card_outcome *all, cardbox_error *err)
{
    http_error worst = HTTP_ERROR_INTERNAL;
    for (size_t i = 0; i < p->count; i++) {
        cardbox_error own = CARDBOX_ERROR_INIT;
        cardbox_status status = card_outcome_status(&all[i], &p->inputs[i], &own);
        bool first = err->status == CARDBOX_OK;
        if (status == CARDBOX_OK ||
            (!first && !(status == CARDBOX_CONFLICT && worst == HTTP_ERROR_GONE)))
            continue;
        *err = own;
        err->status = status;
        worst = http_error_of_status(status);
    }
    return worst;
}

static void answer_refused(request *r, const card_outcome *all, http_error what,
                           const char *message)
{
    const posted *p = r->plan;
    buf *out = http_error_begin(r, what, message);
    buf_text(out, ",\"outcomes\":[");
    for (size_t i = 0; i < p->count; i++) {
        cardbox_error own = CARDBOX_ERROR_INIT;
        buf_printf(out, "%s{\"index\":%zu", i == 0 ? "" : ",", i);
        add_outcome(out, p, i, all[i].outcome);
        if (card_outcome_status(&all[i], &p->inputs[i], &own) != CARDBOX_OK)
            buf_member_text(out, "message", slice_of(own.message));
        buf_char(out, '}');
    }
    buf_char(out, ']');
    http_error_end(r, what);
}

static void cards_add_response(request *r, const batch_rows *found)
{
    const posted *p = r->plan;
    cardbox_error err = CARDBOX_ERROR_INIT;
    buf *out = request_body(r);
    card_outcome *all = handler_take(r, p->count, sizeof(*all));
    if (all == NULL)
        return;
    card_outcomes_read(all, p->count, found->rows);
    http_error what = error_of_batch(p, all, &err);
    if (err.status != CARDBOX_OK) {
        answer_refused(r, all, what, err.message);
        return;
    }
    buf_text(out, "{\"cards\":[");
    for (size_t i = 0; i < p->count; i++) {
        buf_text(out, i == 0 ? "{" : ",{");
        add_outcome(out, p, i, all[i].outcome);
        buf_char(out, '}');
    }
    buf_text(out, "]}");
    request_finish(r);
}

static void build_batch(params *out, const void *keys)
{
    const posted *p = keys;
    cards_add_params(out, p->inputs, p->count, true);
}

void handle_cards_add(request *r)
{
    posted *p = handler_no_query(r) ? handler_take(r, 1, sizeof(*p)) : NULL;
    if (p == NULL)
        return;
    r->plan = p;
    r->drop_plan = drop_posted;
    p->tenant = request_tenant(r);
    p->keyed = r->headers.idempotency_key.ptr != NULL;
    if (!read_posted(r, p))
        return;
    r->ticket.replayable = true;
    r->ticket.has_new_ids = p->has_new_ids;
    if (p->batch && p->count == 0) {
        request_answer_fixed(r, 200, SLICE("{\"cards\":[]}"));
    } else if (p->batch) {
        handler_queue_single(r, BATCH_SINGLE_WRITE, STATEMENT_cards_add, build_batch, p,
                             cards_add_response);
    } else {
        handler_queue_batched(r, BATCH_ADD_CARDS, p->inputs, 1, 1 + r->body.len / 1024,
                              card_add_response);
    }
}

void handle_card_delete(request *r)
{
    slice *card_id = handler_no_query(r) ? handler_ability_plan(r, "card:delete") : NULL;
    if (card_id == NULL || !handler_card(r, card_id))
        return;
    r->ticket.replayable = true;
    handler_run_ability(r);
}
