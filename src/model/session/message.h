/*
 * message.h: the messages of a context, whatever they were made of: the entries of a session in
 * either dialect, or the cards of a box. Texts are spans of the originals, never decoded, so that
 * numbers, the order of keys and escapes survive. Knows no API of any model.
 */
#ifndef MODEL_MESSAGE_H
#define MODEL_MESSAGE_H

#include "model/session/entry.h"
#include "base/string_map.h"

typedef enum context_role {
    CONTEXT_SYSTEM,
    CONTEXT_USER,
    CONTEXT_ASSISTANT,
    CONTEXT_RESULT /* of one call */
} context_role;

typedef enum context_part_kind {
    CONTEXT_TEXT,
    CONTEXT_THINKING,
    CONTEXT_IMAGE,
    CONTEXT_CALL
} context_part_kind;

/* A text to be put between the quotes of a JSON string. */
typedef struct context_text {
    slice bytes;
    bool is_raw; /* still to be escaped; else it is the inside of a JSON string already */
} context_text;

typedef struct context_part {
    struct context_part *next;
    context_part_kind kind;
    context_text text;     /* of a text or of thinking */
    slice signature;       /* inside: of thinking that its own API takes back; empty: none */
    bool is_redacted;      /* thinking of which there is the signature only */
    slice mime, data, url; /* insides: of an image, either mime and data or url */
    slice call;            /* the id of a call, decoded where it can be: what results name */
    slice call_id;         /* inside: how it is written, after repair perhaps another one */
    slice name;            /* inside: the tool's */
    scan_value arguments;  /* SCAN_NONE if absent; a string holds JSON itself */
} context_part;

typedef enum context_origin { CONTEXT_OF_PI, CONTEXT_OF_PLAIN, CONTEXT_OF_CARD } context_origin;

/* What a message was made of: an entry or a card. */
typedef struct context_source {
    struct context_source *next;
    slice id;
    slice text; /* JSON, exactly */
} context_source;

typedef struct context_message {
    struct context_message *next;
    context_role role;
    context_origin origin;
    context_source *sources, *last_source; /* a synthetic result has none */
    slice id;                              /* of the first source; of a synthetic result: made */
    slice time;                            /* JSON; {NULL, 0}: unknown */
    context_part *parts, *last_part;
    size_t part_count;
    bool has_failed;              /* an assistant's message that ended in error or was aborted */
    bool is_synthetic;            /* a result that there is not */
    bool is_error;                /* of a result */
    slice call, call_id, name;    /* of a result, as those of a part */
    struct context_call *calls;   /* pair.c's: the calls that it makes, */
    struct context_call *answers; /* and the one that it answers */
} context_message;

typedef struct context_list {
    context_message *first, *last;
    size_t count;
} context_list;

/* What was changed so that a model's API takes the messages. */
typedef enum context_repair_kind {
    CONTEXT_DROPPED_MESSAGE,  /* an assistant's message that ended in error or was aborted */
    CONTEXT_DROPPED_RESULT,   /* the result of a call in such a message */
    CONTEXT_ORPHAN_RESULT,    /* a result without its call: dropped */
    CONTEXT_SECOND_RESULT,    /* another result of a call that has one: dropped */
    CONTEXT_MOVED_RESULT,     /* a result that came after other messages: put behind its call */
    CONTEXT_SYNTHETIC_RESULT, /* a call without a result got one */
    CONTEXT_CALL_ID,          /* an id that occurs twice, or that no API takes: replaced */
    CONTEXT_TOOL_NAME,        /* a name that no API takes: replaced */
    CONTEXT_DROPPED_BLOCK,    /* a block that nobody knows, or that has no place there: left out */
    CONTEXT_EMPTY_MESSAGE,    /* nothing that can be sent in this format: left out */
    CONTEXT_EMPTY_RESULT,     /* "(no output)" was put in */
    CONTEXT_FIRST_MESSAGE     /* a user's message was put before the assistant's first one */
} context_repair_kind;
enum { CONTEXT_REPAIR_KINDS = CONTEXT_FIRST_MESSAGE + 1 };

typedef struct context_repair {
    struct context_repair *next;
    context_repair_kind kind;
    slice id;   /* the entry's or card's */
    slice call; /* the call's id, where it is about one */
} context_repair;

/* What is known of where it leads: JSON values of the originals; SCAN_NONE: never said. */
typedef struct context_settings {
    scan_value provider, model, thinking_level;
} context_settings;

typedef struct context {
    context_list list;
    context_settings settings;
    size_t before; /* messages before pairing */
    size_t most;   /* bytes that what is written may have, */
    size_t made;   /* and those of it that nobody has stored, so far */
    bool is_over;  /* of that alone it has more; memory->failed too */
    bool is_repaired;
    context_repair *repairs, *last_repair;
    string_map shown; /* calls that were seen: 1 while they wait for a result */
    arena *memory;    /* out of memory: memory->failed, whatever else is here */
} context;

/* Adds an empty message at the end, with its source. NULL: out of memory. */
context_message *context_add(context *ctx, context_role role, context_origin origin, slice id,
                             slice text);

/* Adds a source to a message. */
void context_add_source(context *ctx, context_message *message, slice id, slice text);

/* Adds an empty part. NULL: out of memory. */
context_part *context_add_part(context *ctx, context_message *message, context_part_kind kind);

/* Adds a text; of a string token its inside, of any other value its JSON. */
void context_add_value(context *ctx, context_message *message, scan_value value);

/* Adds what content is made of: a string, or an array of blocks as pi has them. Blocks that
 * can't be sent are reported. */
void context_add_content(context *ctx, context_message *message, scan_value content);

/* Adds a call to an assistant's message. */
void context_add_call(context *ctx, context_message *message, scan_value id, scan_value name,
                      scan_value arguments);

/* Whether a call of this id was made and has no result so far: seen again, it is the same one. */
bool context_is_waiting(const context *ctx, slice call);

/* Makes a message the result of a call. */
void context_set_call(context *ctx, context_message *result, scan_value id, scan_value name);

/* Counts bytes that will be written of what nobody has stored. False: it is over what it may have,
 * and nothing more is to be added. */
bool context_makes(context *ctx, size_t bytes);

void context_repaired(context *ctx, context_repair_kind kind, slice id, slice call);

/* The id in a string token as results are compared by, {"", 0} if there is none. */
slice context_call_of(context *ctx, scan_value id);

/* A plain text as a string token: what the ids and names of calls are read from. SCAN_NONE: it is
 * empty, or out of memory. */
scan_value context_token(context *ctx, slice text);

/* JSON text around the summary of a branch that was left. */
#define SESSION_BRANCH_BEGINS                                                                      \
    "Another branch of this conversation was left and the conversation went on from here. This "   \
    "is a summary of that branch:\\n\\n<summary>\\n"
#define SESSION_SUMMARY_ENDS "\\n</summary>"

/* Adds the message that an entry gives, if it gives one. A compaction gives its summary. */
void context_add_entry(context *ctx, const session_entry *entry);

/* A card of a box, as plain data. JSON columns that are NULL are {NULL, 0}. */
typedef struct context_card {
    slice card_id;
    slice content;
    slice metadata;
    slice tool_calls;
    slice tool_call_id; /* text */
    slice created_at;   /* JSON; {NULL, 0}: unknown */
    slice text;         /* the card as JSON, for the format of entries */
} context_card;

/* Adds the message that a card gives; sys.tools and meta.parent_pointer give none. */
void context_add_card(context *ctx, const context_card *card);

/* Rule 4: every call answered once and right behind it. */
void context_pair(context *ctx);

#endif
