/*
 * message_card.c: makes messages from the cards of a box.
 */
#include <cardbox/card.h>
#include "model/content/content.h"
#include "model/session/api.h"
#include "model/session/message.h"

static context_role role_of(const char *role)
{
    static const struct {
        const char *name;
        context_role role;
    } ROLES[] = {
        {"user", CONTEXT_USER},     {"assistant", CONTEXT_ASSISTANT}, {"tool", CONTEXT_RESULT},
        {"system", CONTEXT_SYSTEM}, {"developer", CONTEXT_SYSTEM},
    };

    for (size_t i = 0; role != NULL && i < sizeof(ROLES) / sizeof(ROLES[0]); i++) {
        if (strcmp(role, ROLES[i].name) == 0)
            return ROLES[i].role;
    }
    return CONTEXT_USER;
}

/* Returns the decoded text of a JSON string. Returns NULL for other values, and for a string with
 * NUL or half a surrogate pair. */
static const char *text_of(context *ctx, scan_value string)
{
    slice text;

    return session_text_of(&text, string, ctx->memory) ? arena_copy(ctx->memory, text) : NULL;
}

typedef enum card_kind { CARD_CALL, CARD_RESULT, CARD_OTHER } card_kind;

/* Returns whether a card is a tool call or a result. The class of its content decides. Content
 * without a class is a call or a result if the card has the type of one, and the content has the
 * members of one. */
static card_kind kind_of(scan_value content, const char *class, scan_value type)
{
    static const char *const NAMES[] = {"tool_name", "arguments", "status", "result"};
    scan_value found[4];

    if (class != NULL && strcmp(class, "ToolCallContent") == 0)
        return CARD_CALL;
    if (class != NULL)
        return strcmp(class, "ToolResultContent") == 0 ? CARD_RESULT : CARD_OTHER;
    session_pick(content, NAMES, found, 4);
    if (session_string_is(type, CARDBOX_TYPE_TOOL_CALL) && found[0].kind == SCAN_STRING &&
        found[1].kind == SCAN_OBJECT)
        return CARD_CALL;
    if (session_string_is(type, CARDBOX_TYPE_TOOL_RESULT) && found[2].kind == SCAN_STRING &&
        found[3].kind != SCAN_NONE)
        return CARD_RESULT;
    return CARD_OTHER;
}

/* Returns the role of a card's message. A call belongs to the assistant. For other cards than calls
 * and results, the role is the member "role" of the metadata. Without this member, the role depends
 * on the card's type. Unknown roles count as user. */
static context_role card_role(context *ctx, card_kind kind, scan_value metadata, scan_value type)
{
    if (kind != CARD_OTHER)
        return kind == CARD_CALL ? CONTEXT_ASSISTANT : CONTEXT_RESULT;
    const char *role = text_of(ctx, scan_find(metadata, "role"));
    return role_of(role != NULL ? role : cardbox_role_of_type(text_of(ctx, type)));
}

/* --- content --- */

static void add_plain_text(context *ctx, context_message *message, slice content)
{
    buf text = BUF_INIT(2 * (size_t)CARDBOX_CONTENT_MAX);

    content_text(&text, content);
    context_add_part(
        ctx, message,
        (context_part){.kind = CONTEXT_TEXT, .text = {arena_keep(ctx->memory, &text), true}});
}

/* Adds an image as its https URL, from which the API fetches the image. Returns false, with nothing
 * added, if the uri of the image does not begin with "https://". */
static bool add_image(context *ctx, context_message *message, scan_value content)
{
    scan_value uri = scan_find(content, "uri");
    slice inside = scan_string_inside(uri);

    if (inside.len < 8 || memcmp(inside.ptr, "https://", 8) != 0)
        return false;
    context_add_part(ctx, message, (context_part){.kind = CONTEXT_IMAGE, .url = inside});
    return true;
}

/* Returns the text of a TextContent, or of an object without a class whose only member is "text";
 * SCAN_NONE for other content. If such an object were sent as JSON, the model would read the braces
 * of the object as part of the text. */
static scan_value plain_text_of(scan_value content, const char *class)
{
    scan_value text = scan_find(content, "text"), value;
    bool is_text = class != NULL && strcmp(class, "TextContent") == 0;
    scan_walk walk;
    slice key;

    if (class == NULL && content.kind == SCAN_OBJECT) {
        walk = scan_enter(content);
        is_text = scan_member(&walk, &key, &value) && !scan_member(&walk, &key, &value);
    }
    return is_text && text.kind == SCAN_STRING ? text : (scan_value){0};
}

static void add_content(context *ctx, context_message *message, const context_card *card,
                        const char *class)
{
    scan_value content = scan_whole(card->content), text = plain_text_of(content, class);

    if (class != NULL && strcmp(class, "ImageFileContent") == 0 && message->role == CONTEXT_USER &&
        add_image(ctx, message, content))
        return;
    if (text.kind == SCAN_STRING)
        context_add_value(ctx, message, text);
    else if (class == NULL)
        context_add_value(ctx, message, content);
    else
        add_plain_text(ctx, message, card->content);
}

/* Adds the texts of a result. Content without a class may have any status, which the model must
 * see, and any member "error", which is part of the result only if the call has failed. */
static void add_result(context *ctx, context_message *message, scan_value content,
                       const char *class)
{
    static const char *const NAMES[] = {"status", "result", "error"};
    scan_value found[3];

    session_pick(content, NAMES, found, 3);
    message->is_error = !session_string_is(found[0], "success");
    if (class == NULL && message->is_error)
        message->status = scan_string_inside(found[0]);
    bool has_failed = message->is_error;
    context_add_output(ctx, message, found[1]);
    if (class != NULL || has_failed)
        context_add_value(ctx, message, found[2]);
}

/* --- calls --- */

static scan_value listed_id(scan_value call)
{
    static const char *const NAMES[] = {"id", "tool_call_id"};
    scan_value found[2];

    session_pick(call, NAMES, found, 2);
    return found[0].kind == SCAN_STRING ? found[0] : found[1];
}

/* Adds a call from a card's tool_calls. The call has the members id, name, and params or arguments,
 * or is in OpenAI's format. */
static void add_listed_call(context *ctx, context_message *message, scan_value call)
{
    static const char *const NAMES[] = {"name", "tool_name", "params", "function", "arguments"};
    scan_value found[5], name, arguments;

    session_pick(call, NAMES, found, 5);
    name = found[0].kind == SCAN_STRING ? found[0] : found[1];
    arguments = found[4].kind != SCAN_NONE ? found[4] : found[2];
    if (found[3].kind == SCAN_OBJECT) {
        name = scan_find(found[3], "name");
        arguments = scan_find(found[3], "arguments");
    }
    context_add_call(ctx, message, listed_id(call), name, arguments);
}

/* Adds the calls in a card's tool_calls to a message. With `only_new`, skips calls that were added
 * before and have no result yet. If `message` is NULL, adds nothing. Returns true if the card has a
 * call that is not skipped. */
static bool add_listed_calls(context *ctx, context_message *message, const context_card *card,
                             bool only_new)
{
    scan_value calls = scan_whole(card->tool_calls), call;
    scan_walk walk = scan_enter(calls.kind == SCAN_ARRAY ? calls : (scan_value){0});
    bool has_one = false;

    while (scan_element(&walk, &call)) {
        if (only_new && context_call_is_open(ctx, context_call_of(ctx, listed_id(call))))
            continue;
        has_one = true;
        if (message != NULL)
            add_listed_call(ctx, message, call);
    }
    return has_one;
}

/* Adds a card that is a call. If the last message is an answer of the same author, and is no
 * message of an API, the call becomes part of that message, otherwise of a new message. If a call
 * with the same id was added before and has no result yet, both count as one call, which is not
 * added again. The earlier call may come from the tool_calls of this or another card. */
static void add_call(context *ctx, const context_card *card, slice author)
{
    static const char *const NAMES[] = {"tool_name", "arguments"};
    context_message *last = ctx->list.last;
    scan_value found[2];
    bool is_known = card->tool_call_id.len > 0 && context_call_is_open(ctx, card->tool_call_id);

    if (last != NULL && is_known && !add_listed_calls(ctx, NULL, card, true)) {
        context_add_source(ctx, last, card->card_id, card->text);
        return;
    }
    if (last != NULL && last->role == CONTEXT_ASSISTANT && last->original == NULL &&
        slice_equal(last->author, author))
        context_add_source(ctx, last, card->card_id, card->text);
    else
        last = context_add(ctx, CONTEXT_ASSISTANT, CONTEXT_OF_CARD, card->card_id, card->text);
    if (last == NULL)
        return;
    last->author = author;
    if (last->time.ptr == NULL)
        last->time = card->created_at;
    add_listed_calls(ctx, last, card, true);
    if (card->tool_call_id.len > 0 && context_call_is_open(ctx, card->tool_call_id))
        return;
    session_pick(scan_whole(card->content), NAMES, found, 2);
    context_add_call(ctx, last, context_token(ctx, card->tool_call_id), found[0], found[1]);
}

/* --- messages of APIs --- */

/* Reads a MessageContent. Returns false for other content, and if the fields are not as writes
 * through CardBox check them. */
static bool read_message(context_api_message *out, const context_card *card, scan_value content,
                         const char *class)
{
    static const char *const NAMES[] = {"format", "message"};
    scan_value found[2];

    if (class == NULL || strcmp(class, "MessageContent") != 0)
        return false;
    session_pick(content, NAMES, found, 2);
    *out = (context_api_message){
        .id = card->card_id, .source = card->text, .time = card->created_at, .value = found[1]};
    for (int i = 0; i < API_FORMATS; i++) {
        out->format = API_FORMAT_NUMBERS[i];
        if (session_string_is(found[0], API_FORMAT_NAMES[i]))
            return found[1].kind == SCAN_OBJECT;
    }
    return false;
}

/* The tool_calls of a card with a message have the ids by which the store knows the calls of the
 * message, in their order. A card of a result may name either id. */
static void add_aliases(context *ctx, context_message *message, const context_card *card)
{
    scan_value calls = scan_whole(card->tool_calls), call;
    scan_walk walk = scan_enter(calls.kind == SCAN_ARRAY ? calls : (scan_value){0});

    for (; message != NULL; message = message->next) {
        for (context_part *part = message->parts; part != NULL; part = part->next) {
            if (part->kind != CONTEXT_CALL)
                continue;
            if (!scan_element(&walk, &call))
                return;
            slice alias = context_call_of(ctx, listed_id(call));
            if (alias.len == 0 || slice_equal(alias, part->call))
                continue;
            part->alias = alias;
            string_map_set(&ctx->open_calls, alias, 1);
        }
    }
}

static void add_message(context *ctx, const context_card *card, const context_api_message *added,
                        slice author)
{
    context_message *before = ctx->list.last;

    context_add_api(ctx, added);
    context_message *first = before != NULL ? before->next : ctx->list.first;
    add_aliases(ctx, first, card);
    if (first != NULL && first->role == CONTEXT_ASSISTANT)
        first->author = author;
}

/* Returns the inside of the JSON string with the author of a card. Empty: the card has no author,
 * or its author is the reader, or there is no reader. */
static slice other_author(context *ctx, scan_value metadata)
{
    scan_value author = scan_find(metadata, "author_id");
    slice text;

    if (ctx->reader.len == 0 ||
        (session_text_of(&text, author, ctx->memory) && slice_equal(text, ctx->reader)))
        return (slice){"", 0};
    return scan_string_inside(author);
}

void context_add_card(context *ctx, const context_card *card)
{
    context_api_message added;
    scan_value metadata = scan_whole(card->metadata), content = scan_whole(card->content);
    scan_value type = scan_find(metadata, "type");
    bool has_tools = session_string_is(type, CARDBOX_TYPE_TOOLS);
    /* Cards of these two types are no messages: sys.tools contains a list of tools, which an API
     * gets separately, and meta.parent_pointer contains the origin of a box. */
    if (has_tools)
        context_add_tools(ctx, card->card_id);
    if (has_tools || session_string_is(type, CARDBOX_TYPE_PARENT_POINTER))
        return;
    const char *class = content_class_of(content);
    card_kind kind = kind_of(content, class, type);
    context_role role = card_role(ctx, kind, metadata, type);

    if (kind == CARD_CALL) {
        add_call(ctx, card, other_author(ctx, metadata));
        return;
    }
    if (read_message(&added, card, content, class)) {
        add_message(ctx, card, &added, other_author(ctx, metadata));
        return;
    }
    context_message *message = context_add(ctx, role, CONTEXT_OF_CARD, card->card_id, card->text);
    if (message == NULL)
        return;
    message->time = card->created_at;
    if (role == CONTEXT_RESULT)
        context_set_call(ctx, message, context_token(ctx, card->tool_call_id),
                         scan_find(metadata, "tool_name"));
    if (kind == CARD_RESULT)
        add_result(ctx, message, content, class);
    else
        add_content(ctx, message, card, class);
    if (role == CONTEXT_ASSISTANT) {
        add_listed_calls(ctx, message, card, false);
        message->author = other_author(ctx, metadata);
    }
}
