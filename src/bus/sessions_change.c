/*
 * sessions_change.c: session:*, what makes sessions and changes them, as their HTTP endpoints.
 */
#include <inttypes.h>
#include "bus/abilities.h"
#include "store/errors.h"
#include "store/session_append.h"

/* --- create --- */

/* Sessions of pi have a header: the one that is given, or one that is made. */
static cardbox_status take_header(session_create *create, input_reader *in)
{
    arena *memory = in->call->memory;
    view dialect = input_json(in, "dialect"), header = input_json(in, "header");
    view cwd = input_text(in, "cwd");
    bool described = header.ptr != NULL || cwd.ptr != NULL;
    bool plain = scan_string_is(dialect, VIEW("plain"));
    if (in->status != CARDBOX_OK)
        return in->status;
    if ((plain && described) || (header.ptr != NULL && cwd.ptr != NULL))
        return error_set(in->err, CARDBOX_INVALID,
                         "give a header or a cwd, and neither with dialect plain");
    bool pi = described || scan_string_is(dialect, VIEW("pi"));
    create->dialect = pi ? SESSION_PI : plain ? SESSION_PLAIN : -1;
    create->header = header;
    return pi ? session_header_take(&create->header, create->session, cwd, memory, in->err)
              : CARDBOX_OK;
}

BUS_READS(bus_session_create)
{
    session_create *create = in->call->plan;
    create->tenant = in->call->tenant;
    create->session = input_id(in, "session_id", SESSION_ID_MAX);
    create->may_exist = !input_flag(in, "strict");
    in->call->again = create->may_exist;
    in->status = take_header(create, in);
}

BUS_BUILDS(bus_session_create)
{
    session_create_params(p, call->plan);
}

/* {"session_id": begins the object. */
static void begin_object(buf *out, view session)
{
    buf_text(out, "{\"session_id\":");
    buf_json_string(out, session);
}

BUS_RENDERS(bus_session_create)
{
    const session_create *create = call->plan;
    int64_t version = 0;
    bool is_new = false;
    cardbox_status status = session_create_status(rows, &version, &is_new, err);
    if (status != CARDBOX_OK)
        return status;
    begin_object(out, create->session);
    buf_printf(out, ",\"outcome\":\"%s\",\"version\":%" PRId64 "}", is_new ? "created" : "exists",
               version);
    return CARDBOX_OK;
}

/* --- append --- */

BUS_BUILDS(bus_session_append);
BUS_RENDERS(bus_session_append);

static void build_head(params *p, const bus_call *call)
{
    const session_append *a = call->plan;
    session_get_params(p, call->tenant, a->batch.session);
}

static cardbox_status of_entry(cardbox_status status, size_t place, cardbox_error *err)
{
    if (err == NULL || status == CARDBOX_OK || status == CARDBOX_NOMEM ||
        status == CARDBOX_NOT_FOUND)
        return status;
    cardbox_error own = *err;
    return error_set(err, status, "/entries/%zu: %s", place, own.message);
}

static cardbox_status render_head(bus_call *call, const store_rows *rows, buf *out,
                                  cardbox_error *err)
{
    static const bus_step WRITE = {STATEMENT_session_write, true, bus_session_append_build,
                                   bus_session_append_render};
    size_t bad = 0;
    (void)out;
    cardbox_status status = session_append_head(call->plan, rows, &bad, err);
    return status == CARDBOX_OK ? bus_next(call, &WRITE) : of_entry(status, bad, err);
}

static const bus_step ASK_HEAD = {STATEMENT_session_get, false, build_head, render_head};

/* The entries as they came. NULL: out of memory. */
static scan_value *list_entries(input_reader *in, size_t *count, bool keyed)
{
    scan_value list = input_value(in, "entries");
    *count = session_append_list(NULL, list);
    scan_value *entries = arena_zeros(in->call->memory, *count + 1, sizeof(*entries));
    if (entries == NULL)
        return NULL;
    session_append_list(entries, list);
    for (size_t i = 0; in->status == CARDBOX_OK && i < *count; i++) {
        const char *fault = session_append_fault(entries[i], keyed);
        if (fault != NULL)
            in->status = error_set(in->err, CARDBOX_INVALID, "/entries/%zu: %s", i, fault);
    }
    return entries;
}

BUS_READS(bus_session_append)
{
    view session = input_id(in, "session_id", SESSION_ID_MAX);
    view key = input_id(in, "idempotency_key", CARDBOX_KEY_MAX);
    size_t count = 0, bad = 0;
    const scan_value *entries = list_entries(in, &count, key.ptr != NULL);
    session_append *a = in->call->plan;
    if (in->status != CARDBOX_OK || entries == NULL)
        return;
    if (!session_append_init(a, in->call->tenant, session, entries, count,
                             input_integer(in, "expected_version", 0), key)) {
        in->status = error_nomem(in->err);
        return;
    }
    in->call->again = a->again;
    if (a->by_head)
        in->status = bus_next(in->call, &ASK_HEAD);
    else
        in->status = of_entry(session_append_fill(a, (view){NULL, 0}, &bad, in->err), bad, in->err);
}

static void bus_session_append_drop(void *plan)
{
    session_append_free(plan);
}

BUS_BUILDS(bus_session_append)
{
    const session_append *a = call->plan;
    session_write_params(p, &a->batch);
}

BUS_RENDERS(bus_session_append)
{
    session_append *a = call->plan;
    if (session_append_moved(a, rows))
        return bus_next(call, &ASK_HEAD);
    cardbox_status status = session_write_status(rows, &a->batch, err);
    if (status == CARDBOX_OK)
        session_append_json(out, a, rows);
    return status;
}

/* --- the head --- */

BUS_READS(bus_session_head)
{
    session_move *move = in->call->plan;
    move->tenant = in->call->tenant;
    move->session = input_id(in, "session_id", SESSION_ID_MAX);
    move->entry = input_id(in, "entry_id", SESSION_ID_MAX);
    move->expected = input_text(in, "expected_head");
    move->expected_version = input_integer(in, "expected_version", 0);
    in->call->again = move->expected.ptr == NULL && move->expected_version == 0;
}

BUS_BUILDS(bus_session_head)
{
    session_head_params(p, call->plan);
}

BUS_RENDERS(bus_session_head)
{
    const session_move *move = call->plan;
    int64_t version = 0;
    cardbox_status status = session_head_status(rows, &version, err);
    if (status != CARDBOX_OK)
        return status;
    begin_object(out, move->session);
    buf_text(out, ",\"head_entry_id\":");
    buf_json_string(out, move->entry);
    buf_printf(out, ",\"version\":%" PRId64 "}", version);
    return CARDBOX_OK;
}

/* --- fork --- */

typedef struct fork_wish {
    view session, entry, new_session;
} fork_wish;

BUS_READS(bus_session_fork)
{
    fork_wish *fork = in->call->plan;
    fork->session = input_id(in, "session_id", SESSION_ID_MAX);
    fork->entry = input_id(in, "entry_id", SESSION_ID_MAX);
    fork->new_session = input_id(in, "new_session_id", SESSION_ID_MAX);
    if (fork->new_session.ptr == NULL)
        fork->new_session = uuid16_new(in->call->memory);
}

BUS_BUILDS(bus_session_fork)
{
    const fork_wish *fork = call->plan;
    session_fork_params(p, call->tenant, fork->session, fork->entry, fork->new_session);
}

BUS_RENDERS(bus_session_fork)
{
    const fork_wish *fork = call->plan;
    int64_t entries = 0;
    cardbox_status status = session_fork_status(rows, &entries, err);
    if (status != CARDBOX_OK)
        return status;
    begin_object(out, fork->new_session);
    buf_text(out, ",\"forked_from\":");
    buf_json_string(out, fork->session);
    buf_printf(out, ",\"entries\":%" PRId64 ",\"version\":1}", entries);
    return CARDBOX_OK;
}

static const bus_ability TABLE[] = {
    {BUS_TEXT(session_create), BUS_WRITE, BUS_ONCE, sizeof(session_create),
     STATEMENT_session_create, bus_session_create_read, bus_session_create_build,
     bus_session_create_render, NULL},
    {BUS_TEXT(session_append), BUS_WRITE, BUS_ONCE, sizeof(session_append), STATEMENT_session_write,
     bus_session_append_read, bus_session_append_build, bus_session_append_render,
     bus_session_append_drop},
    {BUS_TEXT(session_head), BUS_WRITE, BUS_ONCE, sizeof(session_move), STATEMENT_session_head,
     bus_session_head_read, bus_session_head_build, bus_session_head_render, NULL},
    {BUS_TEXT(session_fork), BUS_WRITE, BUS_ONCE, sizeof(fork_wish), STATEMENT_session_fork,
     bus_session_fork_read, bus_session_fork_build, bus_session_fork_render, NULL},
};

const bus_table BUS_OF_SESSION_CHANGES = BUS_TABLE(TABLE);
