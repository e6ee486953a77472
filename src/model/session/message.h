/*
 * message.h: the messages of a context, made from entries of any dialect or from cards. Most
 * texts are slices of the originals and are not decoded, so that numbers, the order of keys and
 * escapes are unchanged. The format_*.c files write the messages for an API.
 */
#ifndef MODEL_MESSAGE_H
#define MODEL_MESSAGE_H

#include "base/string_map.h"
#include "cardbox/context.h"
#include "model/session/entry.h"

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
    CONTEXT_DOCUMENT, /* a PDF */
    CONTEXT_CALL,
    CONTEXT_OTHER /* a block or a member that only the format of the message has */
} context_part_kind;
enum { CONTEXT_PART_KINDS = CONTEXT_OTHER + 1 };

/* A text that is to be written inside a JSON string. */
typedef struct context_text {
    slice bytes;
    bool is_raw; /* true: `bytes` is not escaped; false: `bytes` is the inside of a JSON string */
} context_text;

typedef struct context_part {
    struct context_part *next;
    context_part_kind kind;
    context_text text; /* the text of a text part or of thinking */
    slice signature;   /* signature of thinking, inside of a JSON string; empty: none */
    bool is_redacted;  /* true for redacted thinking: only the signature is written */
    slice mime, data,
        url;       /* an image or document, insides of JSON strings: mime and data, or url */
    slice call;    /* the id by which a call and its results match, decoded if possible */
    slice alias;   /* another such id, which only the store has; empty: none */
    slice call_id; /* inside of a JSON string: the id to write, which a repair may change */
    slice name; /* inside of a JSON string: the name of the called tool or of a document. The kind
                   of a CONTEXT_OTHER part, such as "citations". Thinking: its member in chat
                   completions, such as "reasoning_content" */
    scan_value arguments; /* arguments of a call, perhaps JSON in a string; SCAN_NONE: absent */
    bool is_custom;       /* true: the arguments are a text of any kind, and no JSON */
    bool has_made_id;     /* true: the call has no id, so an id was made */
    slice block;          /* the block of an original message with its bytes; empty: none */
} context_part;

typedef enum context_origin {
    CONTEXT_OF_PI,
    CONTEXT_OF_PLAIN,
    CONTEXT_OF_CARD,
    CONTEXT_OF_API /* the messages have an original */
} context_origin;

/* A change of an original message: bytes of it, and the bytes that replace them. */
typedef struct context_edit {
    struct context_edit *next;
    slice old, new;
} context_edit;

/* A message of an API as it is stored. A user's message of the format anthropic with results
 * becomes several messages of a context, called its sections: one for each result, and one for the
 * blocks between two results. */
typedef struct context_original {
    slice text;
    cardbox_format format;
    size_t sections;
    context_edit *edits; /* in the order of their positions */
    bool is_trimmed;     /* used only by omit.c: its edits were made */
} context_original;

/* An entry or a card that a message was made from. */
typedef struct context_source {
    struct context_source *next;
    slice id;
    slice text; /* the JSON of the entry or card, with its original bytes */
} context_source;

typedef struct context_message {
    struct context_message *next;
    context_role role;
    context_origin origin;
    context_source *sources, *last_source; /* a synthetic result has no source */
    slice id;   /* id of the first source; a synthetic result gets an id from its call */
    slice time; /* JSON; {NULL, 0}: the time is unknown */
    context_part *parts, *last_part;
    size_t part_count;
    bool has_failed;  /* true: an assistant's message ended in error or was aborted */
    bool is_left_out; /* true: a repair left out the message */
    const struct context_message *after; /* if is_left_out: the last message before this one that
                                            was not left out; NULL: none. For a synthetic
                                            result, this is the message of its call */
    const struct context_message *moved; /* the copy of a moved result that is in the list */
    size_t number; /* set by writing: 1 for the first written message; 0: not written. See
                      context_mark */
    bool is_kept;  /* true: a system message or the summary of a compaction, which no cut omits */
    bool is_synthetic; /* true: a result that was added for a call without a result */
    bool is_error;     /* true: the result of a failed call */
    slice status; /* a failed call's status, which the formats openai and messages write; inside of
                     a JSON string; empty: no status is written */
    context_original *original; /* NULL: the message was not made from a message of an API */
    size_t section;             /* number of the section of the original, from 0 */
    bool
        is_reasoning; /* true: reasoning of the Responses API, which stays with the item after it */
    bool is_custom;   /* a result: the call is custom, see context_part */
    slice block;      /* a result's block in its original with its bytes; empty: none */
    slice speaker;    /* inside of a JSON string: the name of who speaks; empty: none */
    slice author; /* inside of a JSON string: the author of an answer, if this is not the reader of
                     the context; otherwise empty. See context_take_speakers */
    slice call, call_id, name; /* for a result: id and tool of its call, as in context_part */
    const struct context_message *answer; /* used only by pair.c: the first message of the answer
                                             that contains the message */
    struct context_message *in_answer;    /* used only by pair.c: the next message of the answer */
    struct context_call *calls;           /* used only by pair.c: the calls of the message */
    struct context_call *answers;         /* used only by pair.c: the call that a result answers */
} context_message;

typedef struct context_list {
    context_message *first, *last;
    size_t count;
} context_list;

/* The changes that make a model's API accept the messages of a context. */
typedef enum context_repair_kind {
    CONTEXT_DROPPED_MESSAGE, /* an assistant's message with has_failed was left out */
    CONTEXT_DROPPED_RESULT,  /* a result was left out, because the message of its call is dropped */
    CONTEXT_ORPHAN_RESULT,   /* a result without a call was left out */
    CONTEXT_SECOND_RESULT,   /* a further result of a call with a result was left out */
    CONTEXT_MOVED_RESULT,    /* a result after other messages was moved to its call */
    CONTEXT_SYNTHETIC_RESULT, /* a synthetic result was added */
    CONTEXT_CALL_ID,          /* a call id that occurs twice or that an API rejects was replaced */
    CONTEXT_TOOL_NAME,        /* a tool's name that an API rejects was replaced */
    CONTEXT_DROPPED_BLOCK,    /* a block that can't be sent in its message was left out */
    CONTEXT_EMPTY_MESSAGE,    /* a message without content for the format was left out */
    CONTEXT_EMPTY_RESULT,     /* "(no output)" was inserted into a result without content */
    CONTEXT_FIRST_MESSAGE, /* a user's message was inserted before the assistant's first message */
    CONTEXT_ARGUMENTS,     /* arguments that are no JSON object were replaced */
    CONTEXT_NO_CALLS,      /* an empty list of calls was left out */
    CONTEXT_NO_CONTENT,    /* an answer without content got an empty text */
    CONTEXT_MERGED,        /* results of several messages were merged into one message */
    CONTEXT_REASONING,     /* reasoning without the item after it was left out */
    CONTEXT_OTHER_SPEAKER, /* an answer of another author, a call of it or its result became text */
    CONTEXT_LEFT_OUT       /* no repair: the format has no counterpart for a part of a message */
} context_repair_kind;
enum { CONTEXT_REPAIR_KINDS = CONTEXT_LEFT_OUT + 1 };

typedef struct context_repair {
    struct context_repair *next;
    context_repair_kind kind;
    const context_message *message; /* the message that was repaired, left out or added */
    slice call; /* id of the call, if the repair concerns a call or its result. For
                   CONTEXT_LEFT_OUT, the inside of a JSON string: what was left out */
} context_repair;

/* A call without a result in the last answer of the assistant. */
typedef struct context_open_call {
    struct context_open_call *next;
    const context_message *message;
    const context_part *part;
} context_open_call;

/* The settings that are valid at the end of a path, as JSON values of its entries or of the header.
 * SCAN_NONE: the setting is unknown. */
typedef struct context_settings {
    scan_value provider, model, thinking_level;
    /* those of requests, of the last entry of the type settings */
    scan_value system, tools, parameters;
    int format;     /* a cardbox_format, in which they were given; negative: unknown */
    slice entry_id; /* id of this entry */
} context_settings;

typedef struct context {
    context_list list;
    context_settings settings;
    size_t before;  /* number of messages before calls and results are paired */
    size_t most;    /* maximum bytes of the written context */
    size_t omitted; /* number of messages that a cut has omitted, and of entries that were not read
                       for a cut */
    bool has_orphans;       /* true: there is no call for a result */
    bool ends_in_reasoning; /* true: the last message was an item of reasoning, and was left out */
    bool has_newest;        /* set by a cut: the format writes a message that is not always kept */
    size_t tokens;     /* estimated tokens of the written context: see CONTEXT_BYTES_PER_TOKEN */
    bool does_not_fit; /* true: no cut makes the context fit into its limit or budget */
    size_t made;       /* estimated bytes of the synthetic results */
    bool is_over;      /* true: `made` exceeds `most`, and memory->failed is true too */
    bool is_repaired;
    context_repair *repairs, *last_repair;
    context_source *tools, *last_tools;  /* the cards with lists of tools, which are no messages */
    const context_message *instructions; /* the system text of the settings, first in the list, but
                                            not in the format responses; NULL: none */
    cardbox_format format;               /* the format in which the context will be written */
    slice missing_parent; /* a missing entry that the first entry of the path names as its parent;
                             empty: it names none */
    context_open_call *open;            /* see context_open_call; set by context_pair */
    const context_message *last_answer; /* first message of the last answer; NULL: there is none, or
                                           a message of a user follows it. Set by context_pair */
    string_map open_calls; /* maps call ids to 1 while the call has no result, then to 0 */
    bool closes_calls; /* true: no call stays open, so calls of the last answer get results too */
    slice reader;  /* id of the author that the context is for; empty: all answers are its own */
    arena *memory; /* if memory->failed is true, the context is incomplete */
} context;

void context_append(context_list *list, context_message *message);

/* Appends a message without parts. Its source is the entry or card with `id` and `text`. NULL: out
 * of memory. */
context_message *context_add(context *ctx, context_role role, context_origin origin, slice id,
                             slice text);

/* Adds the id of a card with a list of tools. */
void context_add_tools(context *ctx, slice id);

/* Adds a source to a message. If `message` is NULL, adds nothing. */
void context_add_source(context *ctx, context_message *message, slice id, slice text);

/* Adds a part. If `message` is NULL, adds nothing. */
void context_add_part(context *ctx, context_message *message, context_part part);

/* Adds a text part: the text of a string, or the JSON of any other value. Adds nothing for null or
 * SCAN_NONE. */
void context_add_value(context *ctx, context_message *message, scan_value value);

/* Adds content: the elements of an array as blocks, or any other value as a text. A block that
 * can't be sent in this message is left out and reported as CONTEXT_DROPPED_BLOCK. */
void context_add_content(context *ctx, context_message *message, scan_value content);

/* Adds the output of a tool. A block of MCP, a list of blocks, or an object whose `content` is such
 * a list, becomes blocks. `isError` of such an object marks the message as a failure, and the other
 * members are left out. Other values are added as context_add_value adds them. */
void context_add_output(context *ctx, context_message *message, scan_value output);

/* Adds a call to an assistant's message. If `id` is no string or empty, an id is made. */
void context_add_call(context *ctx, context_message *message, scan_value id, scan_value name,
                      scan_value arguments);

/* Returns true if a call with this id was added and has no result yet. In this case, another call
 * with this id counts as the same call, which the cards or entries contain twice. */
bool context_call_is_open(const context *ctx, slice call);

/* Makes a message the result of the call with this id. */
void context_set_call(context *ctx, context_message *result, scan_value id, scan_value name);

/* Counts the bytes of a message without source that is about to be added. Returns false if
 * ctx->most is exceeded or memory is exhausted: then the caller adds nothing. */
bool context_count_added(context *ctx, size_t bytes);

/* Adds a repair. `call`: the id of a call; empty: the repair concerns no call. */
void context_add_repair(context *ctx, context_repair_kind kind, const context_message *message,
                        slice call);

/* Removes the repairs that were added after `last`; NULL: all repairs. */
void context_drop_repairs(context *ctx, context_repair *last);

/* Returns the id by which calls and results are matched: the text of the JSON string `id`, decoded
 * if possible. For other values, returns {"", 0}. */
slice context_call_of(context *ctx, scan_value id);

/* Returns a text as a JSON string, for functions that require an id or a name as a JSON value.
 * Returns SCAN_NONE if the text is empty or memory is exhausted. */
scan_value context_token(context *ctx, slice text);

/* Texts that a context contains before the summary of an abandoned branch, and after each summary,
 * as insides of JSON strings. */
#define SESSION_BRANCH_BEGINS                                                                      \
    "Another branch of this conversation was left and the conversation went on from here. This "   \
    "is a summary of that branch:\\n\\n<summary>\\n"
#define SESSION_SUMMARY_ENDS "\\n</summary>"

/* A message of an API that is to be added to a context. */
typedef struct context_api_message {
    slice id;         /* id of the entry or card */
    slice source;     /* the JSON of the entry or card */
    slice time;       /* JSON; {NULL, 0}: the time is unknown */
    scan_value value; /* the message */
    cardbox_format format;
} context_api_message;

/* Adds the sections of a message of an API. */
void context_add_api(context *ctx, const context_api_message *added);

/* Reads the image of an image_url (a URL, also a data: URL), or of an Anthropic block's source.
 * Returns false if it can't be sent to other APIs. */
bool context_image_of_url(context_part *out, scan_value url);
bool context_image_of_source(context_part *out, scan_value source);

/* A card of a box. For a JSON column that is NULL, the slice is {NULL, 0}. */
typedef struct context_card {
    slice card_id;
    slice content;
    slice metadata;
    slice tool_calls;
    slice tool_call_id; /* text */
    slice created_at;   /* JSON; {NULL, 0}: the time is unknown */
    slice text;         /* the whole card as JSON, which the format "entries" writes */
} context_card;

/* Adds a card as a message, or to an earlier message. For cards of the types sys.tools and
 * meta.parent_pointer, adds nothing. */
void context_add_card(context *ctx, const context_card *card);

/* Makes texts of users of the answers of other authors than ctx->reader, and of the results of
 * their calls. */
void context_take_speakers(context *ctx);

/* Returns true if a message is written as it is stored: it has an original, in the format in which
 * the context is written. */
bool context_is_as_stored(const context *ctx, const context_message *message);

/* Adds a change to an original. The changed slices must not overlap; an empty one is a position. */
void context_edit_original(context *ctx, context_original *original, slice old, slice new);

/* Removes members of an object of an original, or elements of an array, with the commas beside
 * them. The caller passes all of them in order to context_removal_next. */
typedef struct context_removal {
    context *ctx;
    context_original *original;
    const char *kept_end;  /* end of the last one that stays; NULL: none so far */
    const char *from, *to; /* those to be removed since then; NULL: none */
} context_removal;

/* `text`: a member with its name and value, or an element. */
void context_removal_next(context_removal *removal, slice text, bool is_removed);
void context_removal_end(context_removal *removal);

/* Finds the result of each call, and the open calls. With `repair`, also pairs calls and results:
 * afterwards the results of an answer directly follow the answer, one result for each call. Sets
 * ctx->is_repaired. */
void context_pair(context *ctx, bool repair);

/* Makes one message of the items of each answer, for formats in which an answer is one message. */
void context_merge_answers(context *ctx);

/* Adds edits of an original, and repairs, for what strict servers of its API refuse. */
void context_mend_original(context *ctx, context_message *message);

#endif
