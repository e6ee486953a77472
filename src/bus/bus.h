/*
 * bus.h: built-in abilities: named operations with JSON input and JSON output, each with a
 * description, JSON Schemas and a scope. One table serves the SDK, the server, the command line and
 * the worker. An ability consists of functions that read its input, build a statement and render
 * the rows of the result. The caller of these functions runs the statement. registered.h: abilities
 * of projects.
 */
#ifndef BUS_BUS_H
#define BUS_BUS_H

#include "base/arena.h"
#include "base/scan.h"
#include "cardbox/status.h"
#include "db/params.h"
#include "db/rows.h"
#include "db/statement.h"

/* The scope that a token needs to run an ability. */
typedef enum bus_scope { BUS_READ, BUS_WRITE, BUS_TASKS } bus_scope;

/* Maximum levels of nested JSON in an input. An input may have more levels than the content of a
 * card, so that the check of the content reports content that is nested too deeply. */
#define BUS_DEPTH_MAX 256

/* Default and maximum of input_limit(), which most lists use. */
enum { BUS_LIMIT_DEFAULT = 200, BUS_LIMIT_MOST = 500 };

/* Traits of an ability. BUS_AGAIN: for every input, running a call twice has the effect of running
 * it once. BUS_WAKES: the ability may create work for workers, for example because the parent of a
 * cancelled task resumes. BUS_OFFLINE: without a database, the render function gets NULL as rows.
 */
enum { BUS_ONCE = 0, BUS_AGAIN = 1, BUS_WAKES = 2, BUS_OFFLINE = 4 };

typedef struct bus_ability bus_ability;

typedef struct bus_call bus_call;

typedef struct input_reader input_reader; /* input.h */

/* One statement of a call. */
typedef struct bus_step {
    statement_id statement; /* BUS_NO_STATEMENT: the step needs no statement */
    bool writes;
    void (*build)(params *p, const bus_call *call);
    /* Appends the output to `out`, or returns an error, or requests another step with bus_next. */
    cardbox_status (*render)(bus_call *call, const store_rows *rows, buf *out, cardbox_error *err);
} bus_step;

/* One invocation, from its input to its output. */
struct bus_call {
    const bus_ability *ability;
    slice tenant;
    scan_value input; /* the input, which the input schema of the ability accepts */
    arena *memory;    /* must exist as long as the call */
    void *plan;       /* parameters read from the input, in a struct that the ability defines */
    bool again;       /* true: running the call twice has the effect of running it once */
    bus_step step;    /* the step to run next; the first step is from the ability's table row */
    bool wakes;       /* true: the call may create work for workers */
    bool more;        /* true: another step follows */
    /* set by a failed render: the object does not exist or has another version than expected */
    bool precondition_failed;
    bool is_replayed; /* set by a render: a call with the same key was applied before */
    int64_t version;  /* version of the object that was read, for its ETag; 0: none */
    slice faults; /* violations of the schema, as in the `faults` of HTTP errors: JSON objects with
                     `type`, `loc` and `msg`, separated by commas; empty: no violation */
};

/* The id of an ability and the JSON of src/bus/abilities/NAME.json: its description and its
 * schemas. */
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
    /* Reads the input into the plan, which the caller has filled with zeros. The function reports
     * CARDBOX_INVALID for rules that the schema does not express. NULL: the ability has no plan. */
    void (*read)(input_reader *in);
    void (*build)(params *p, const bus_call *call);
    cardbox_status (*render)(bus_call *call, const store_rows *rows, buf *out, cardbox_error *err);
    void (*drop)(void *plan); /* frees what a plan owns outside the arena; NULL: nothing to free */
};

#define BUS_NO_STATEMENT STATEMENT_COUNT

/* Returns the ability at an index of the table, in which the abilities of a module are consecutive.
 * NULL: no more abilities. */
const bus_ability *bus_at(size_t index);

/* Returns the ability with this id, such as "card:get". NULL: there is none. */
const bus_ability *bus_find(slice id);

/* These functions return the module and the name of an ability: for "card:get", "card" and "get".
 */
slice bus_module(const bus_ability *ability);
slice bus_name(const bus_ability *ability);

/* "read", "write", "tasks". */
const char *bus_scope_name(bus_scope scope);

/* These functions return members of the JSON of an ability, which contain white space. The returned
 * values point into static text. */
scan_value bus_input_schema(const bus_ability *ability);
scan_value bus_output_schema(const bus_ability *ability);
scan_value bus_description(const bus_ability *ability);

/* Begins a call without an input. Returns its plan, zeroed, which the caller then fills in; NULL:
 * out of memory. The caller must call bus_end in all cases. */
void *bus_plan(bus_call *call, const bus_ability *ability, slice tenant, arena *memory);

/*
 * Begins a call: checks the input against the schema and reads it into the plan. scan_check must
 * have accepted `input` with the depth BUS_DEPTH_MAX. `input` must exist as long as the call; kind
 * SCAN_NONE means {}. Returns CARDBOX_INVALID if the input is invalid; the message names the
 * member. Other errors: CARDBOX_NOMEM, and errors of the ability's read function. The caller must
 * call bus_end in all cases.
 */
cardbox_status bus_begin(bus_call *call, const bus_ability *ability, slice tenant, scan_value input,
                         arena *memory, cardbox_error *err);
void bus_end(bus_call *call);

/* Returns violations of a schema as in bus_call.faults. */
struct schema_errors;
slice bus_faults(arena *memory, const struct schema_errors *faults);

/* Renders the rows that the statement of call->step returned. If call->more is true afterwards, the
 * output is not complete, and the caller must run the next step. */
cardbox_status bus_render(bus_call *call, const store_rows *rows, buf *out, cardbox_error *err);

/* Requests another step. Only render functions of abilities call bus_next. */
cardbox_status bus_next(bus_call *call, const bus_step *step);

#endif
