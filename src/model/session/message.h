/*
 * message.h: the messages of a context, made from entries of either dialect or from cards. Texts
 * are slices of the originals and are not decoded, so numbers, the order of keys and escapes are
 * unchanged. The formats of APIs are format.h's.
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

/* A text for a JSON string. */
typedef struct context_text {
    slice bytes;
    bool is_raw; /* has to be escaped; otherwise it is the inside of a JSON string */
} context_text;

typedef struct context_part {
    struct context_part *next;
    context_part_kind kind;
    context_text text;     /* content of a text or of thinking */
    slice signature;       /* inside: the signature of thinking, for its own API; empty: none */
    bool is_redacted;      /* thinking with only a signature */
    slice mime, data, url; /* insides: of an image, either mime and data, or url */
    slice call;            /* the id of a call, decoded if possible; results name it */
    slice call_id;         /* inside: the id to write, which a repair may change */
    slice name;            /* inside: the tool's name */
    scan_value arguments;  /* SCAN_NONE: absent; a string contains JSON */
} context_part;

typedef enum context_origin { CONTEXT_OF_PI, CONTEXT_OF_PLAIN, CONTEXT_OF_CARD } context_origin;

/* An entry or a card that a message was made from. */
typedef struct context_source {
    struct context_source *next;
    slice id;
    slice text; /* its JSON, unchanged */
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
    slice call, call_id, name;    /* the call that a result belongs to, like those of a part */
    struct context_call *calls;   /* for pair.c: the calls of the message */
    struct context_call *answers; /* for pair.c: the call that a result answers */
} context_message;

typedef struct context_list {
    context_message *first, *last;
    size_t count;
} context_list;

/* Changes that make a model's API accept the messages. */
typedef enum context_repair_kind {
    CONTEXT_DROPPED_MESSAGE,  /* an assistant's message that ended in error or was aborted */
    CONTEXT_DROPPED_RESULT,   /* the result of a call in such a message */
    CONTEXT_ORPHAN_RESULT,    /* a result without a call: dropped */
    CONTEXT_SECOND_RESULT,    /* a second result of a call: dropped */
    CONTEXT_MOVED_RESULT,     /* a result after other messages: moved behind its call */
    CONTEXT_SYNTHETIC_RESULT, /* a synthetic result was added */
    CONTEXT_CALL_ID,          /* an id that occurs twice or that APIs reject: replaced */
    CONTEXT_TOOL_NAME,        /* a name that APIs reject: replaced */
    CONTEXT_DROPPED_BLOCK,    /* an unknown block, or one that is not allowed there: left out */
    CONTEXT_EMPTY_MESSAGE,    /* a message without content for this format: left out */
    CONTEXT_EMPTY_RESULT,     /* "(no output)" was inserted */
    CONTEXT_FIRST_MESSAGE     /* a user's message was inserted before the assistant's first one */
} context_repair_kind;
enum { CONTEXT_REPAIR_KINDS = CONTEXT_FIRST_MESSAGE + 1 };

typedef struct context_repair {
    struct context_repair *next;
    context_repair_kind kind;
    slice id;   /* id of the entry or card */
    slice call; /* id of the call, if the repair is about one */
} context_repair;

/* The settings at the end of the path: JSON values of the originals; SCAN_NONE: never set. */
typedef struct context_settings {
    scan_value provider, model, thinking_level;
} context_settings;

typedef struct context {
    context_list list;
    context_settings settings;
    size_t before; /* number of messages before pairing */
    size_t most;   /* maximum bytes of the written context */
    size_t made;   /* bytes of added messages that are not in the store */
    bool is_over;  /* `made` exceeded `most`; memory->failed is set too */
    bool is_repaired;
    context_repair *repairs, *last_repair;
    string_map open_calls; /* calls by id: 1 while a call has no result */
    arena *memory;         /* if memory->failed, the context is incomplete */
} context;

void context_append(context_list *list, context_message *message);

/* Appends an empty message with its source. NULL: out of memory. */
context_message *context_add(context *ctx, context_role role, context_origin origin, slice id,
                             slice text);

/* Adds a source to a message. */
void context_add_source(context *ctx, context_message *message, slice id, slice text);

/* Adds a part. If `message` is NULL, adds nothing. */
void context_add_part(context *ctx, context_message *message, context_part part);

/* Adds a text: the inside of a string token, or the JSON of any other value. */
void context_add_value(context *ctx, context_message *message, scan_value value);

/* Adds content: a string, or an array of blocks as in pi. Blocks that no model accepts are
 * reported. */
void context_add_content(context *ctx, context_message *message, scan_value content);

/* Adds a call to an assistant's message. */
void context_add_call(context *ctx, context_message *message, scan_value id, scan_value name,
                      scan_value arguments);

/* Returns whether a call with this id has no result yet. If the call occurs again then, it is
 * the same call. */
bool context_call_is_open(const context *ctx, slice call);

/* Makes a message the result of a call. */
void context_set_call(context *ctx, context_message *result, scan_value id, scan_value name);

/* Counts bytes of added messages. Returns false over the limit: then add nothing more. */
bool context_count_added(context *ctx, size_t bytes);

void context_add_repair(context *ctx, context_repair_kind kind, slice id, slice call);

/* Returns the id in a string token, by which calls and results are compared; {"", 0}: none. */
slice context_call_of(context *ctx, scan_value id);

/* Returns a plain text as a string token, for functions that read ids and names. SCAN_NONE: it
 * is empty, or out of memory. */
scan_value context_token(context *ctx, slice text);

/* JSON text before and after the summary of an abandoned branch. */
#define SESSION_BRANCH_BEGINS                                                                      \
    "Another branch of this conversation was left and the conversation went on from here. This "   \
    "is a summary of that branch:\\n\\n<summary>\\n"
#define SESSION_SUMMARY_ENDS "\\n</summary>"

/* Adds the message of an entry, if it has one. A compaction adds its summary. */
void context_add_entry(context *ctx, const session_entry *entry);

/* A card of a box. JSON columns that are NULL are {NULL, 0}. */
typedef struct context_card {
    slice card_id;
    slice content;
    slice metadata;
    slice tool_calls;
    slice tool_call_id; /* text */
    slice created_at;   /* JSON; {NULL, 0}: unknown */
    slice text;         /* the card as JSON, for the format "entries" */
} context_card;

/* Adds the message of a card. Cards of type sys.tools and meta.parent_pointer have no message. */
void context_add_card(context *ctx, const context_card *card);

/* Pairs calls and results (rule 4): every call gets one result directly after it. */
void context_pair(context *ctx);

#endif
