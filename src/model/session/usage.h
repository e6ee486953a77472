/*
 * usage.h: numbers of tokens that models' APIs report with their answers, in the members of chat
 * completions, of the Responses API, of the Messages API and of pi.
 */
#ifndef MODEL_USAGE_H
#define MODEL_USAGE_H

#include "model/session/entry.h"

/* The largest number of tokens: 2^53, the largest integer that JSON numbers of all programs hold.
 */
#define USAGE_MAX INT64_C(9007199254740992)

/* Maximum bytes of the name of a model, and of the number of a cost. */
enum { USAGE_MODEL_MAX = 255, USAGE_COST_MAX = 64 };

typedef struct token_usage {
    bool is_given;       /* false: nothing to count */
    int64_t input;       /* with cached tokens */
    int64_t cached;      /* input tokens that were read from a cache */
    int64_t output;      /* with reasoning */
    slice cost;          /* a JSON number; ptr NULL: none */
    const char *ignored; /* name of the first member whose value is no such number; NULL: none */
} token_usage;

/* Reads what an API calls `usage`. SCAN_NONE and null give nothing. */
void usage_read(token_usage *out, scan_value value);

/* True if a value is a number from 0 to 2^53 in up to USAGE_COST_MAX bytes. */
bool usage_is_cost(scan_value value);

/* Returns the decoded name of a model, a JSON string, in up to USAGE_MODEL_MAX bytes. Empty: it is
 * no such name, or has control characters. The result points into the name or `memory`. */
slice usage_model(scan_value name, arena *memory);

/* The usage of one entry, and the model. */
typedef struct entry_usage {
    token_usage of;
    slice model;  /* decoded; empty: unknown */
    char day[11]; /* YYYY-MM-DD; empty: today */
} entry_usage;

/* The usage of earlier lines of a file. Claude Code writes one answer as several lines with the
 * same usage, and codex repeats the numbers of an answer. */
enum { USAGE_ANSWERS = 64, USAGE_TEXT_MAX = USAGE_MODEL_MAX };
typedef struct usage_seen {
    struct {
        char id[64]; /* empty: none */
        token_usage of;
    } answers[USAGE_ANSWERS]; /* the last answers of Claude Code */
    size_t next;
    char total[USAGE_TEXT_MAX + 1]; /* the last total of codex, JSON */
    char model[USAGE_TEXT_MAX + 1]; /* the model of codex */
} usage_seen;

/* Reads the usage of an entry. `seen` is NULL, or describes the lines of the file before the entry.
 * Returns false if the entry has no usage. The model points into the entry, `memory` or `seen`. */
bool usage_of_entry(entry_usage *out, const session_entry *entry, usage_seen *seen, arena *memory);

/* Appends the members of the SQL function add_usage: model, input_tokens, cached_input_tokens,
 * output_tokens, and perhaps cost and on_day. */
void usage_put(buf *out, const entry_usage *used);

#endif
