/*
 * message.h: the messages of a context, made from entries of either dialect or from cards. Texts
 * are slices of the originals and are not decoded, so numbers, the order of keys and escapes are
 * unchanged. The format_*.c files write the messages for an API.
 */
#ifndef MODEL_MESSAGE_H
#define MODEL_MESSAGE_H

#include "model/session/entry.h"
#include "base/string_map.h"

typedef enum context_role {
    CONTEXT_SYSTEM,
    CONTEXT_USER,
    CONTEXT_ASSISTANT,
    CONTEXT_RESULT /* the result of one call */
} context_role;

typedef enum context_part_kind {
    CONTEXT_TEXT,
    CONTEXT_THINKING,
    CONTEXT_IMAGE,
    CONTEXT_CALL
} context_part_kind;

/* A text that is written inside a JSON string. */
typedef struct context_text {
    slice bytes;
    bool is_raw; /* true: not escaped yet; false: the inside of a JSON string */
} context_text;

typedef struct context_part {
    struct context_part *next;
    context_part_kind kind;
    context_text text;     /* the text of a text part or of thinking */
    slice signature;       /* signature of thinking, inside of a JSON string; empty: none */
    bool is_redacted;      /* redacted thinking: it has a signature and no text */
    slice mime, data, url; /* an image, insides of JSON strings: mime and data, or url */
    slice call;            /* the id of a call, decoded if possible; its results have the same id */
    slice call_id;         /* inside of a JSON string: the id to write, which a repair may change */
    slice name;            /* inside of a JSON string: the tool's name */
    scan_value arguments;  /* arguments of a call; SCAN_NONE: absent; a string contains JSON */
} context_part;

typedef enum context_origin { CONTEXT_OF_PI, CONTEXT_OF_PLAIN, CONTEXT_OF_CARD } context_origin;

/* An entry or a card that a message was made from. */
typedef struct context_source {
    struct context_source *next;
    slice id;
    slice text; /* the JSON of the entry or card, unchanged */
} context_source;

typedef struct context_message {
    struct context_message *next;
    context_role role;
    context_origin origin;
    context_source *sources, *last_source; /* a synthetic result has no source */
    slice id;   /* id of the first source; of a synthetic result: a made id */
    slice time; /* JSON; {NULL, 0}: unknown */
    context_part *parts, *last_part;
    size_t part_count;
    bool has_failed;              /* an assistant's message that ended in error or was aborted */
    bool is_synthetic;            /* a result that was added for a call without one */
    bool is_error;                /* the result of a failed call */
    slice call, call_id, name;    /* id and tool of the call of a result, as in context_part */
    struct context_call *calls;   /* used only by pair.c: the calls of the message */
    struct context_call *answers; /* used only by pair.c: the call that a result answers */
} context_message;

typedef struct context_list {
    context_message *first, *last;
    size_t count;
} context_list;

/* Changes that make a model's API accept the messages. */
typedef enum context_repair_kind {
    CONTEXT_DROPPED_MESSAGE,  /* an assistant's message that ended in error or was aborted */
    CONTEXT_DROPPED_RESULT,   /* the result of a call in a dropped message */
    CONTEXT_ORPHAN_RESULT,    /* a result without a call: dropped */
    CONTEXT_SECOND_RESULT,    /* a second result of a call: dropped */
    CONTEXT_MOVED_RESULT,     /* a result after other messages: moved directly behind its call */
    CONTEXT_SYNTHETIC_RESULT, /* a synthetic result was added */
    CONTEXT_CALL_ID,          /* a call id that occurs twice or that APIs reject: replaced */
    CONTEXT_TOOL_NAME,        /* a tool's name that APIs reject: replaced */
    CONTEXT_DROPPED_BLOCK,    /* an unknown block, or one not allowed in this message: left out */
    CONTEXT_EMPTY_MESSAGE,    /* a message without content for this format: left out */
    CONTEXT_EMPTY_RESULT,     /* a result without content: "(no output)" was inserted */
    CONTEXT_FIRST_MESSAGE /* a user's message was inserted before a first message of the assistant
                           */
} context_repair_kind;
enum { CONTEXT_REPAIR_KINDS = CONTEXT_FIRST_MESSAGE + 1 };

typedef struct context_repair {
    struct context_repair *next;
    context_repair_kind kind;
    slice id;   /* id of the entry or card */
    slice call; /* id of the call, if the repair concerns a call */
} context_repair;

/* The settings that are valid at the end of a path, as the JSON values in its entries. SCAN_NONE:
 * never set. */
typedef struct context_settings {
    scan_value provider, model, thinking_level;
} context_settings;

typedef struct context {
    context_list list;
    context_settings settings;
    size_t before; /* number of messages before pairing */
    size_t most;   /* maximum bytes of the written context */
    size_t made;   /* bytes of synthetic results, estimated */
    bool is_over;  /* `made` exceeded `most`; memory->failed is set too */
    bool is_repaired;
    context_repair *repairs, *last_repair;
    string_map open_calls; /* by call id: 1 while the call has no result, then 0 */
    arena *memory;         /* if memory->failed, the context is incomplete */
} context;

void context_append(context_list *list, context_message *message);

/* Appends a message without parts, whose source is the entry or card with `id` and `text`. NULL:
 * out of memory. */
context_message *context_add(context *ctx, context_role role, context_origin origin, slice id,
                             slice text);

/* Adds a source to a message. If `message` is NULL, adds nothing. */
void context_add_source(context *ctx, context_message *message, slice id, slice text);

/* Adds a part. If `message` is NULL, adds nothing. */
void context_add_part(context *ctx, context_message *message, context_part part);

/* Adds a text part: the text of a string, or the JSON of any other value. Adds nothing for null or
 * SCAN_NONE. */
void context_add_value(context *ctx, context_message *message, scan_value value);

/* Adds content: the blocks of an array, in the format of pi, or any other value as a text. A block
 * that no model accepts is left out and reported as CONTEXT_DROPPED_BLOCK. */
void context_add_content(context *ctx, context_message *message, scan_value content);

/* Adds a call to an assistant's message. If `id` is no string or empty, an id is made. */
void context_add_call(context *ctx, context_message *message, scan_value id, scan_value name,
                      scan_value arguments);

/* Returns whether a call with this id was added and has no result yet. Another call with this id is
 * then the same call, which the cards or entries contain twice. */
bool context_call_is_open(const context *ctx, slice call);

/* Makes a message the result of the call with this id. */
void context_set_call(context *ctx, context_message *result, scan_value id, scan_value name);

/* Counts bytes of a message that is about to be added and has no source. Returns false if ctx->most
 * is exceeded or memory ran out; then the caller adds nothing. */
bool context_count_added(context *ctx, size_t bytes);

void context_add_repair(context *ctx, context_repair_kind kind, slice id, slice call);

/* Returns the id of a call, by which calls and results are matched: a JSON string, decoded if
 * possible; {"", 0} for other values. */
slice context_call_of(context *ctx, scan_value id);

/* Returns a text as a JSON string, for functions that require an id or a name in this form. Returns
 * SCAN_NONE if the text is empty or if out of memory. */
scan_value context_token(context *ctx, slice text);

/* Texts before the summary of an abandoned branch and after any summary, as insides of JSON
 * strings. */
#define SESSION_BRANCH_BEGINS                                                                      \
    "Another branch of this conversation was left and the conversation went on from here. This "   \
    "is a summary of that branch:\\n\\n<summary>\\n"
#define SESSION_SUMMARY_ENDS "\\n</summary>"

/* Adds an entry as a message, or to the message before it; nothing if the entry is never part of a
 * context. A compaction adds its summary. */
void context_add_entry(context *ctx, const session_entry *entry);

/* A card of a box. A column of JSON that is NULL is {NULL, 0}. */
typedef struct context_card {
    slice card_id;
    slice content;
    slice metadata;
    slice tool_calls;
    slice tool_call_id; /* text */
    slice created_at;   /* JSON; {NULL, 0}: unknown */
    slice text;         /* the whole card as JSON, which the format "entries" writes */
} context_card;

/* Adds a card as a message, or to the message before it. Cards whose type is sys.tools or
 * meta.parent_pointer add nothing. */
void context_add_card(context *ctx, const context_card *card);

/* Pairs calls and results: afterwards each message with calls is directly followed by one result
 * for each call. Sets ctx->is_repaired. */
void context_pair(context *ctx);

#endif
