/*
 * cards_add.c: the abilities card:add, card:add_many and card:from_entry. card:add and
 * card:add_many store the content of a card as the text of the input, byte by byte. All cards of a
 * call are added or none.
 */
#include <stdio.h>
#include "bus/abilities.h"
#include "base/errors.h"
#include "store/session/entry_card.h"
#include "store/card/card_write.h"

typedef struct added {
    card_input *inputs;
    size_t count;
    bool strict, restore;
} added;

static void card_add_drop(void *plan)
{
    added *a = plan;
    for (size_t i = 0; i < a->count; i++)
        card_input_free(&a->inputs[i]);
}

/* --- reading --- */

/* Rejects a card with members that only a card with content_class may have. */
static void reject_read_only_members(input_reader *one)
{
    static const char *const NAMES[] = {"project_id", "expires_at"};
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++)
        if (one->status == CARDBOX_OK && input_value(one, NAMES[i]).kind != SCAN_NONE)
            one->status = error_set(one->err, CARDBOX_INVALID,
                                    "%s is allowed only in a card with content_class", NAMES[i]);
}

/* Reads a card as clients write it, or as reads show it: then it has the member content_class. */
static client_card read_given(input_reader *one, bool sealed)
{
    scan_value is_sealed = input_value(one, "sealed");
    bool is_read_form = scan_find(one->object, "content_class").kind != SCAN_NONE;
    client_card given = {
        .tenant = one->call->tenant,
        .card_id = input_text(one, "card_id"),
        .content = scan_find(one->object, "content").text, /* it may be null */
        .metadata = input_json(one, "metadata"),
        .tool_calls = input_json(one, "tool_calls"),
        .tool_call_id = input_text(one, "tool_call_id"),
        .type = input_text(one, "type"),
        .role = input_text(one, "role"),
        .step_id = input_text(one, "step_id"),
        .trace_id = input_text(one, "trace_id"),
        .agent_turn_id = input_text(one, "agent_turn_id"),
        .author_id = input_text(one, "author_id"),
        .created_at = input_text(one, "created_at"),
        .ttl_seconds = (int32_t)input_integer(one, "ttl_seconds", 0),
        .checked = true,
        .sealed = sealed,
        .is_read_form = is_read_form,
        .content_class = input_text(one, "content_class"),
    };
    if (given.card_id.ptr == NULL)
        given.card_id = uuid16_new(one->call->memory);
    if (is_sealed.kind == SCAN_TRUE || (is_sealed.kind == SCAN_FALSE && !is_read_form))
        given.sealed = is_sealed.kind == SCAN_TRUE;
    if (!is_read_form)
        reject_read_only_members(one);
    return given;
}

/* Puts `place`, the location of the card in the input, before an error message. Does nothing if
 * `place` is empty, as for card:add. */
static cardbox_status of_card(cardbox_status status, const char *place, cardbox_error *err)
{
    if (err == NULL || status == CARDBOX_OK || status == CARDBOX_NOMEM || place[0] == '\0')
        return status;
    cardbox_error own = *err;
    error_set(err, status, "%s: %s", place, own.message);
    err->position = own.position;
    return status;
}

static void read_card(input_reader *in, scan_value card, bool sealed, const char *place)
{
    added *a = in->call->plan;
    input_reader one = {in->call, card, in->err, CARDBOX_OK};
    client_card given = read_given(&one, sealed);
    given.strict = a->strict;
    given.restore = a->restore;
    if (one.status == CARDBOX_OK && !in->call->memory->failed)
        one.status = card_input_make(&a->inputs[a->count++], &given, NULL, in->err);
    in->status = of_card(one.status, place, in->err);
}

/* Allocates memory for `count` cards, and reads strict and restore. Returns false if out of memory.
 */
static bool begin(input_reader *in, size_t count)
{
    added *a = in->call->plan;
    a->inputs = arena_zeros(in->call->memory, count + 1, sizeof(*a->inputs));
    a->strict = input_flag(in, "strict");
    a->restore = input_flag(in, "restore");
    return a->inputs != NULL;
}

BUS_READS(card_add)
{
    if (begin(in, 1))
        read_card(in, in->object, false, "");
}

BUS_READS(card_add_many)
{
    scan_value cards = input_value(in, "cards"), card;
    char place[32];
    size_t number = 0;
    if (!begin(in, scan_count(cards)))
        return;
    for (scan_walk walk = scan_enter(cards);
         in->status == CARDBOX_OK && scan_element(&walk, &card);) {
        snprintf(place, sizeof(place), "/cards/%zu", number++);
        read_card(in, card, input_flag(in, "sealed"), place);
    }
}

BUS_BUILDS(card_add)
{
    const added *a = call->plan;
    cards_add_params(p, a->inputs, a->count, true);
}

/* --- outcomes --- */

static void add_outcome(buf *out, const card_input *input, cardbox_outcome outcome)
{
    buf_text(out, "{\"card_id\":");
    buf_json_string(out, input->card_id);
    buf_printf(out, ",\"outcome\":\"%s\"}", cardbox_outcome_name(outcome));
}

/* Returns the outcomes of the cards, in the order of the input. Returns NULL, with the reason in
 * `status`, if a card was rejected (then none was written) or if out of memory. */
static card_outcome *read_outcomes(const bus_call *call, const store_rows *rows,
                                   cardbox_status *status, cardbox_error *err)
{
    const added *a = call->plan;
    card_outcome *all = arena_zeros(call->memory, a->count + 1, sizeof(*all));
    *status = all == NULL ? error_nomem(err) : CARDBOX_OK;
    if (all != NULL)
        card_outcomes_read(all, a->count, rows);
    for (size_t i = 0; *status == CARDBOX_OK && i < a->count; i++)
        *status = card_outcome_status(&all[i], &a->inputs[i], err);
    return *status == CARDBOX_OK ? all : NULL;
}

BUS_RENDERS(card_add)
{
    const added *a = call->plan;
    cardbox_status status;
    const card_outcome *all = read_outcomes(call, rows, &status, err);
    if (all != NULL)
        add_outcome(out, a->inputs, all->outcome);
    return status;
}

BUS_RENDERS(card_add_many)
{
    const added *a = call->plan;
    cardbox_status status;
    const card_outcome *all = read_outcomes(call, rows, &status, err);
    if (all == NULL)
        return status;
    buf_text(out, "{\"cards\":[");
    for (size_t i = 0; i < a->count; i++) {
        buf_text(out, i == 0 ? "" : ",");
        add_outcome(out, &a->inputs[i], all[i].outcome);
    }
    buf_text(out, "]}");
    return CARDBOX_OK;
}

/* --- from an entry of a session --- */

typedef struct from_entry {
    added added; /* must be the first member: the second step uses the plan as a struct added */
    entry_card card;
} from_entry;

BUS_READS(card_from_entry)
{
    from_entry *f = in->call->plan;
    f->card = (entry_card){in->call->tenant, input_id(in, "session_id", SESSION_ID_MAX),
                           input_id(in, "entry_id", SESSION_ID_MAX),
                           input_id(in, "card_id", CARDBOX_CARD_ID_MAX)};
    if (f->card.card_id.ptr == NULL && in->status == CARDBOX_OK)
        f->card.card_id =
            slice_of(session_make_id(f->card.session, f->card.entry, in->call->memory));
    begin(in, 1);
}

BUS_BUILDS(card_from_entry)
{
    const from_entry *f = call->plan;
    session_entries_params(p, call->tenant, f->card.session, &f->card.entry, 1);
}

BUS_RENDERS(card_from_entry)
{
    static const bus_step ADD = {STATEMENT_cards_add, true, bus_card_add_build,
                                 bus_card_add_render};
    from_entry *f = call->plan;
    session_node_row entry;
    if (rows_count(rows) == 0)
        return session_entry_not_found(f->card.session, f->card.entry, err);
    session_node_read(&entry, rows, 0);
    f->added.count = 1;
    cardbox_status status =
        entry_card_make(f->added.inputs, &f->card, entry.text, call->memory, err);
    return status == CARDBOX_OK ? bus_next(call, &ADD) : status;
}

static const bus_ability TABLE[] = {
    BUS_ABILITY_WITH(card_add, WRITE, BUS_AGAIN, added, cards_add, card_add, card_add, card_add,
                     card_add_drop),
    BUS_ABILITY_WITH(card_add_many, WRITE, BUS_AGAIN, added, cards_add, card_add_many, card_add,
                     card_add_many, card_add_drop),
    BUS_ABILITY_WITH(card_from_entry, WRITE, BUS_AGAIN, from_entry, session_entries_get,
                     card_from_entry, card_from_entry, card_from_entry, card_add_drop),
};

const bus_table BUS_OF_NEW_CARDS = BUS_TABLE(TABLE);
