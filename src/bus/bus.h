/*
 * bus.h: abilities: named operations with JSON input and JSON output, each with a description, JSON
 * Schemas and a scope. One table serves the SDK, the server, the command line and the worker. An
 * ability consists of functions that read its input, build a statement and render its rows. Running
 * the statement is the caller's task.
 */
#ifndef BUS_BUS_H
#define BUS_BUS_H

#include "base/arena.h"
#include "base/scan.h"
#include "cardbox/status.h"
#include "db/params.h"
#include "db/rows.h"
#include "db/statement.h"

/* The scope that a token needs. */
typedef enum bus_scope { BUS_READ, BUS_WRITE, BUS_TASKS } bus_scope;

/* Levels of nested JSON in an input. More than a content may have, so that the content's own
 * check reports the error. */
#define BUS_DEPTH_MAX 256

/* The default and the maximum number of rows of a list. */
enum { BUS_LIMIT_DEFAULT = 200, BUS_LIMIT_MOST = 500 };

/* Traits. BUS_AGAIN: idempotent for every input, as reads always are. BUS_WAKES: workers may
 * have work afterwards, for example the parent of a task that ends. */
enum { BUS_ONCE = 0, BUS_AGAIN = 1, BUS_WAKES = 2 };

typedef struct bus_ability bus_ability;

typedef struct bus_call bus_call;

typedef struct input_reader input_reader; /* input.h */

/* One statement of a call. */
typedef struct bus_step {
    statement_id statement; /* no statement is needed */
    bool writes;
    void (*build)(params *p, const bus_call *call);
    /* Appends the output, or reports an error, or requests another step with bus_next. */
    cardbox_status (*render)(bus_call *call, const store_rows *rows, buf *out, cardbox_error *err);
} bus_step;

/* One invocation, from its input to its output. */
struct bus_call {
    const bus_ability *ability;
    slice tenant;
    scan_value input; /* valid according to the schema */
    arena *memory;    /* lives as long as the call */
    void *plan;       /* the parameters from the input, in a struct of the ability */
    bool again;       /* the call is idempotent */
    bus_step step;    /* the next step; at first the ability's own */
    bool wakes;       /* workers may have work after it */
    bool more;        /* another step follows */
    slice faults;     /* violations of the schema: JSON objects with `place` and `message`,
                        separated by commas; empty if there are none */
};

/* Description and schemas, of src/bus/abilities/NAME.json. */
typedef struct bus_text {
    const char *id; /* "card:get" */
    const char *json;
} bus_text;

struct bus_ability {
    const bus_text *text;
    bus_scope scope;
    unsigned traits;
    size_t plan;            /* size of the plan in bytes */
    statement_id statement; /* statement of the first step; build and render belong to this step */
    /* Reads the input into the plan. The caller has filled the plan with zeros. The function
     * reports CARDBOX_INVALID only for rules that a schema can't express. NULL: the ability has no
     * plan. */
    void (*read)(input_reader *in);
    void (*build)(params *p, const bus_call *call);
    cardbox_status (*render)(bus_call *call, const store_rows *rows, buf *out, cardbox_error *err);
    void (*drop)(void *plan); /* frees what the arena does not hold; NULL: nothing */
};

#define BUS_NO_STATEMENT STATEMENT_COUNT

/* All abilities, in order of registration, grouped by module. NULL: past the last. */
const bus_ability *bus_at(size_t index);

/* Returns the ability with an id. NULL: there is none. */
const bus_ability *bus_find(slice id);

/* "card" of "card:get", and "get". */
slice bus_module(const bus_ability *ability);
slice bus_name(const bus_ability *ability);

/* "read", "write", "tasks". */
const char *bus_scope_name(bus_scope scope);

/* Members of the ability's text, with white space. They are never freed. */
scan_value bus_input_schema(const bus_ability *ability);
scan_value bus_output_schema(const bus_ability *ability);
scan_value bus_description(const bus_ability *ability);

/* Begins a call without an input. The caller fills the plan, which is filled with zeros. NULL: out
 * of memory. Call bus_end in any case. */
void *bus_plan(bus_call *call, const bus_ability *ability, slice tenant, arena *memory);

/*
 * Begins a call: checks the input against the schema and reads it. `input` was scanned with a depth
 * of at most BUS_DEPTH_MAX, and must live as long as the call; kind SCAN_NONE means {}.
 * CARDBOX_INVALID: the input is invalid, and the message names the member. Other statuses are the
 * ability's. Call bus_end in any case.
 */
cardbox_status bus_begin(bus_call *call, const bus_ability *ability, slice tenant, scan_value input,
                         arena *memory, cardbox_error *err);
void bus_end(bus_call *call);

/* Renders the rows of call->step. With call->more, the output is not complete: run the next
 * step. */
cardbox_status bus_render(bus_call *call, const store_rows *rows, buf *out, cardbox_error *err);

/* For abilities: requests another step. */
cardbox_status bus_next(bus_call *call, const bus_step *step);

#endif
