/*
 * sessions_change.c: the abilities that create, change and delete sessions.
 */
#include <inttypes.h>
#include "bus/abilities.h"
#include "base/errors.h"
#include "store/session/session_write.h"

/* --- create --- */

/* Reads the members that describe a new session. The schema has checked their types. */
static cardbox_status read_members(session_create *create, input_reader *in)
{
    slice dialect = input_json(in, "dialect"), header = input_json(in, "header");
    slice cwd = input_text(in, "cwd");
    create->restore = input_flag(in, "restore");
    int known = scan_string_is(dialect, SLICE("pi"))      ? SESSION_PI
                : scan_string_is(dialect, SLICE("plain")) ? SESSION_PLAIN
                                                          : -1;
    return in->status != CARDBOX_OK
               ? in->status
               : session_create_set(create, known, header, cwd, in->call->memory, in->err);
}

BUS_READS(session_create)
{
    session_create *create = in->call->plan;
    create->tenant = in->call->tenant;
    create->session = input_id(in, "session_id", SESSION_ID_MAX);
    create->may_exist = !input_flag(in, "strict");
    in->call->again = create->may_exist;
    in->status = read_members(create, in);
}

BUS_BUILDS_FROM_PLAN(session_create, session_create_params)

static void begin_object(buf *out, slice session)
{
    buf_text(out, "{\"session_id\":");
    buf_json_string(out, session);
}

BUS_RENDERS(session_create)
{
    const session_create *create = call->plan;
    int64_t version = 0;
    bool is_new = false;
    cardbox_status status = session_create_status(rows, create, &version, &is_new, err);
    if (status != CARDBOX_OK)
        return status;
    begin_object(out, create->session);
    buf_printf(out, ",\"outcome\":\"%s\",\"version\":%" PRId64 "}", is_new ? "created" : "exists",
               version);
    return CARDBOX_OK;
}

/* --- append --- */

static cardbox_status of_entry(cardbox_status status, size_t place, cardbox_error *err)
{
    if (err == NULL || status == CARDBOX_OK || status == CARDBOX_NOMEM ||
        status == CARDBOX_NOT_FOUND)
        return status;
    cardbox_error own = *err;
    return error_set(err, status, "/entries/%zu: %s", place, own.message);
}

/* Reads the member `create`, an object with members of the input of session:create. */
static cardbox_status read_create(session_batch *batch, input_reader *in)
{
    input_reader inner = *in;
    inner.object = input_value(in, "create");
    if (inner.object.kind == SCAN_NONE)
        return CARDBOX_OK;
    session_create *create = arena_zeros(in->call->memory, 1, sizeof(*create));
    if (create == NULL)
        return error_nomem(in->err);
    *create =
        (session_create){.tenant = batch->tenant, .session = batch->session, .may_exist = true};
    cardbox_status status = read_members(create, &inner);
    session_batch_create(batch, create);
    return status;
}

BUS_READS(session_append)
{
    size_t bad = 0;
    session_batch *batch = in->call->plan;
    slice session = input_id(in, "session_id", SESSION_ID_MAX);
    slice key = input_id(in, "idempotency_key", CARDBOX_KEY_MAX);
    if (!session_batch_init(batch, in->call->tenant, session)) {
        in->status = error_nomem(in->err);
        return;
    }
    batch->expected_version = input_integer(in, "expected_version", 0);
    batch->key = key;
    if (in->status == CARDBOX_OK)
        in->status = read_create(batch, in);
    if (in->status != CARDBOX_OK)
        return;
    in->status = session_append_list(batch, input_value(in, "entries"), &bad, in->err);
    in->status = of_entry(in->status, bad, in->err);
    in->call->again = session_append_is_repeatable(batch);
    in->call->step.statement = session_append_statement(batch);
}

static void bus_session_append_drop(void *plan)
{
    session_batch_free(plan);
}

BUS_BUILDS_FROM_PLAN(session_append, session_append_params)

BUS_RENDERS(session_append)
{
    cardbox_status status = session_append_status(rows, call->plan, err);
    if (status == CARDBOX_OK)
        session_append_json(out, call->plan, rows);
    return status;
}

/* --- the head --- */

BUS_READS(session_head)
{
    session_move *move = in->call->plan;
    move->tenant = in->call->tenant;
    move->session = input_id(in, "session_id", SESSION_ID_MAX);
    move->entry = input_id(in, "entry_id", SESSION_ID_MAX);
    move->expected = input_text(in, "expected_head");
    move->expected_version = input_integer(in, "expected_version", 0);
    in->call->again = move->expected.ptr == NULL && move->expected_version == 0;
}

BUS_BUILDS_FROM_PLAN(session_head, session_head_params)

BUS_RENDERS(session_head)
{
    const session_move *move = call->plan;
    int64_t version = 0;
    cardbox_status status = session_head_status(rows, move, &version, err);
    call->precondition_failed = session_precondition_failed(rows_text(rows, 0, 0));
    if (status != CARDBOX_OK)
        return status;
    begin_object(out, move->session);
    buf_text(out, ",\"head_entry_id\":");
    buf_json_string(out, move->entry);
    buf_printf(out, ",\"version\":%" PRId64 "}", version);
    return CARDBOX_OK;
}

/* --- fork --- */

BUS_READS(session_fork)
{
    session_fork *fork = in->call->plan;
    fork->tenant = in->call->tenant;
    fork->session = input_id(in, "session_id", SESSION_ID_MAX);
    fork->entry = input_id(in, "entry_id", SESSION_ID_MAX);
    fork->new_session = input_id(in, "new_session_id", SESSION_ID_MAX);
    if (fork->new_session.ptr == NULL)
        fork->new_session = uuid16_new(in->call->memory);
}

BUS_BUILDS_FROM_PLAN(session_fork, session_fork_params)

BUS_RENDERS(session_fork)
{
    const session_fork *fork = call->plan;
    int64_t entries = 0;
    cardbox_status status = session_fork_status(rows, fork, &entries, err);
    if (status != CARDBOX_OK)
        return status;
    begin_object(out, fork->new_session);
    buf_text(out, ",\"forked_from\":");
    buf_json_string(out, fork->session);
    buf_printf(out, ",\"entries\":%" PRId64 ",\"version\":1}", entries);
    return CARDBOX_OK;
}

/* --- delete --- */

BUS_READS(session_delete)
{
    session_deletion *deletion = in->call->plan;
    deletion->tenant = in->call->tenant;
    deletion->session = input_id(in, "session_id", SESSION_ID_MAX);
}

BUS_BUILDS_FROM_PLAN(session_delete, session_delete_params)

BUS_RENDERS(session_delete)
{
    session_deletion *deletion = call->plan;
    bool more;
    cardbox_status status = session_delete_status(deletion, &more, rows, err);
    if (status != CARDBOX_OK)
        return status;
    if (more)
        return bus_next(call, &call->step);
    begin_object(out, deletion->session);
    buf_printf(out, ",\"deleted\":true,\"entries\":%" PRId64 "}", deletion->entries);
    return CARDBOX_OK;
}

static const bus_ability TABLE[] = {
    BUS_ABILITY(session_create, WRITE, BUS_ONCE, session_create, session_create),
    BUS_ABILITY_WITH(session_append, WRITE, BUS_ONCE, session_batch, session_append, session_append,
                     session_append, session_append, bus_session_append_drop),
    BUS_ABILITY(session_head, WRITE, BUS_ONCE, session_move, session_head),
    BUS_ABILITY(session_fork, WRITE, BUS_ONCE, session_fork, session_fork),
    BUS_ABILITY(session_delete, WRITE, BUS_ONCE, session_deletion, session_delete),
};

const bus_table BUS_OF_SESSION_CHANGES = BUS_TABLE(TABLE);
