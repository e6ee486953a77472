/*
 * whole_chatgpt.c: writes a conversation of ChatGPT's export as lines. Its "mapping" has the nodes
 * of a tree by their ids. Each node becomes an entry, so that the tree stays as it is.
 */
#include <stdlib.h>
#include "base/string_map.h"
#include "model/session/whole.h"

typedef struct chat_node {
    slice id, parent; /* decoded */
    scan_value value;
    uint32_t first_child, last_child, next; /* indexes; STRING_MAP_NONE: none */
    bool is_current;                        /* true: the node is on the path to the current node */
    bool has_parent;
    bool is_written;
} chat_node;

typedef struct chat {
    chat_node *nodes;
    size_t count, capacity;
    string_map ids;
    arena *memory;
} chat;

slice session_conversation_id(scan_value conversation, arena *memory)
{
    static const char *const NAMES[] = {"conversation_id", "id"};
    scan_value found[2];
    slice id;

    session_pick(conversation, NAMES, found, 2);
    session_text_of(&id, found[0].kind == SCAN_STRING ? found[0] : found[1], memory);
    return id;
}

/* --- the tree --- */

static bool read_nodes(chat *c, scan_value mapping)
{
    scan_walk walk = scan_enter(mapping);
    scan_value value;
    slice key;

    while (scan_member(&walk, &key, &value)) {
        chat_node node = {.value = value,
                          .first_child = STRING_MAP_NONE,
                          .last_child = STRING_MAP_NONE,
                          .next = STRING_MAP_NONE};
        chat_node *more = arena_more(c->memory, c->nodes, c->count, &c->capacity, sizeof(*more));

        if (more == NULL)
            return false;
        c->nodes = more;
        if (value.kind != SCAN_OBJECT ||
            !session_text_of(&node.id, (scan_value){SCAN_STRING, key}, c->memory) ||
            !slice_is_id(node.id, SESSION_ID_MAX) ||
            string_map_get(&c->ids, node.id) != STRING_MAP_NONE)
            continue;
        session_text_of(&node.parent, scan_find(value, "parent"), c->memory);
        string_map_set(&c->ids, node.id, (uint32_t)c->count);
        more[c->count++] = node;
    }
    return !c->memory->failed;
}

/* Marks the path of the current node. A cycle ends at a marked node. */
static void mark_current(chat *c, scan_value current)
{
    slice id;

    session_text_of(&id, current, c->memory);
    for (uint32_t at = string_map_get(&c->ids, id);
         at != STRING_MAP_NONE && !c->nodes[at].is_current;
         at = string_map_get(&c->ids, c->nodes[at].parent))
        c->nodes[at].is_current = true;
}

static void add_child(chat *c, chat_node *parent, uint32_t child)
{
    if (parent->last_child != STRING_MAP_NONE)
        c->nodes[parent->last_child].next = child;
    else
        parent->first_child = child;
    parent->last_child = child;
}

/* Links the children in the order of the file, the child on the current path last. */
static void link_children(chat *c)
{
    for (int current = 0; current <= 1; current++) {
        for (uint32_t i = 0; i < c->count; i++) {
            uint32_t parent = string_map_get(&c->ids, c->nodes[i].parent);

            c->nodes[i].has_parent = parent != STRING_MAP_NONE && parent != i;
            if (c->nodes[i].has_parent && c->nodes[i].is_current == (current == 1))
                add_child(c, &c->nodes[parent], i);
        }
    }
}

/* --- the entries --- */

/* The contents of a message of ChatGPT. */
typedef struct chat_message {
    scan_value role;
    slice model;
    buf text;         /* the texts as the inside of a JSON string */
    buf rest;         /* parts that are no texts, and attachments, as members of an object */
    bool is_of_model; /* the message is a text that the user, the assistant or the system wrote */
} chat_message;

enum { M_AUTHOR, M_CONTENT, M_TIME, M_RECIPIENT, M_METADATA, M_MEMBERS };

static const char *const MESSAGE_NAMES[M_MEMBERS] = {"author", "content", "create_time",
                                                     "recipient", "metadata"};

/* Adds the parts of a content. */
static void read_parts(chat_message *out, scan_value parts)
{
    scan_walk walk = scan_enter(parts.kind == SCAN_ARRAY ? parts : (scan_value){0});
    scan_value part;

    while (scan_element(&walk, &part)) {
        bool is_spoken = part.kind == SCAN_OBJECT &&
                         session_string_is(scan_find(part, "content_type"), "audio_transcription");
        slice text = scan_string_inside(is_spoken ? scan_find(part, "text") : part);

        if (part.kind == SCAN_STRING || is_spoken) {
            buf_text(&out->text, out->text.len > 0 && text.len > 0 ? "\\n" : "");
            buf_slice(&out->text, text);
        } else {
            if (out->rest.len == 0)
                buf_member(&out->rest, "parts", SLICE("["));
            buf_comma(&out->rest);
            scan_compact(&out->rest, part.text);
        }
    }
    if (out->rest.len > 0)
        buf_char(&out->rest, ']');
}

static void read_message(chat_message *out, const scan_value *found)
{
    static const char *const NAMES[] = {"model_slug", "attachments"};
    const scan_value content = found[M_CONTENT], recipient = found[M_RECIPIENT];
    scan_value metadata[2], type = {SCAN_NONE, {NULL, 0}}, parts = {SCAN_NONE, {NULL, 0}};

    *out = (chat_message){.text = BUF_INIT(SIZE_MAX / 4), .rest = BUF_INIT(SIZE_MAX / 4)};
    if (found[M_AUTHOR].kind == SCAN_OBJECT)
        out->role = scan_find(found[M_AUTHOR], "role");
    if (content.kind == SCAN_OBJECT) {
        type = scan_find(content, "content_type");
        parts = scan_find(content, "parts");
    }
    bool has_texts = parts.kind == SCAN_ARRAY && (session_string_is(type, "text") ||
                                                  session_string_is(type, "multimodal_text"));
    if (has_texts)
        read_parts(out, parts);
    out->is_of_model =
        has_texts && (recipient.kind != SCAN_STRING || session_string_is(recipient, "all")) &&
        (session_string_is(out->role, "user") || session_string_is(out->role, "assistant") ||
         session_string_is(out->role, "system"));
    session_pick(found[M_METADATA], NAMES, metadata, 2);
    if (session_string_is(out->role, "assistant"))
        out->model = scan_string_inside(metadata[0]);
    if (metadata[1].kind == SCAN_ARRAY && scan_count(metadata[1]) > 0) {
        buf_name(&out->rest, "attachments");
        scan_compact(&out->rest, metadata[1].text);
    }
}

static void put_time(buf *out, scan_value seconds)
{
    double time = seconds.kind == SCAN_NUMBER ? strtod(seconds.text.ptr, NULL) : 0;

    if (time > 0 && time < 253402300800.0)
        buf_member_int(out, "timestamp", (int64_t)(time * 1000 + 0.5));
}

static void begin_node(buf *out, slice id, slice parent, scan_value time)
{
    buf_char(out, '{');
    buf_member_text(out, "id", id);
    if (parent.ptr != NULL)
        buf_member_text(out, "parentId", parent);
    put_time(out, time);
}

/* Writes what a message has beside its text as an entry of its own, before the message, because no
 * model sees it. Returns the id of this entry. */
static slice put_beside(buf *out, const chat_node *node, slice parent, scan_value time,
                        chat_message *message, arena *memory)
{
    const char *id = session_make_id(node->id, SLICE("beside the text"), memory);

    if (id == NULL)
        return parent;
    begin_node(out, slice_of(id), parent, time);
    buf_member(out, "type", SLICE("\"chatgpt\""));
    session_put_object(out, "beside", &message->rest, memory);
    buf_text(out, "}\n");
    return slice_of(id);
}

/* Appends a message of the format openai, and as metadata all of the original but its text. */
static void put_text_message(buf *out, chat_message *message, scan_value original, arena *memory)
{
    static const char *const KEPT[] = {"id", "content"};
    buf metadata = BUF_INIT(SIZE_MAX / 4);

    buf_text(out, ",\"type\":\"message\",\"format\":\"openai\",\"message\":{\"role\":");
    buf_slice(out, message->role.text);
    buf_name(out, "content");
    buf_json_quoted(out, buf_as_slice(&message->text));
    buf_char(out, '}');
    if (message->model.len > 0) {
        buf_member(out, "answer", SLICE("{"));
        buf_name(out, "model");
        buf_json_quoted(out, message->model);
        buf_char(out, '}');
    }
    session_put_rest(&metadata, original, KEPT, 2);
    session_put_object(out, "metadata", &metadata, memory);
}

/* A text of the user, the assistant or the system becomes a message. A node without a text, such as
 * the root, becomes an entry of the type metadata. */
static void put_node(buf *out, const chat_node *node, arena *memory)
{
    scan_value original = scan_find(node->value, "message"), found[M_MEMBERS];
    slice parent = node->has_parent ? node->parent : (slice){NULL, 0};
    chat_message message;

    session_pick(original, MESSAGE_NAMES, found, M_MEMBERS);
    read_message(&message, found);
    bool is_text = message.is_of_model && message.text.len > 0;
    if (is_text && message.rest.len > 0)
        parent = put_beside(out, node, parent, found[M_TIME], &message, memory);
    begin_node(out, node->id, parent, found[M_TIME]);
    if (is_text) {
        put_text_message(out, &message, original, memory);
    } else if (original.kind != SCAN_OBJECT || (message.is_of_model && message.rest.len == 0)) {
        buf_member(out, "type", SLICE("\"metadata\""));
    } else {
        buf_member(out, "type", SLICE("\"chatgpt\""));
        buf_name(out, "message");
        scan_compact(out, original.text);
    }
    buf_text(out, "}\n");
    memory->failed = memory->failed || !buf_ok(&message.text) || !buf_ok(&message.rest);
    buf_free(&message.text);
    buf_free(&message.rest);
}

/* Writes a root and its descendants, parents first. The tree may be as deep as it has nodes, so no
 * function calls itself: a stack has the next sibling of each ancestor. */
static void put_tree(chat *c, buf *out, uint32_t root, uint32_t *stack)
{
    size_t depth = 0;
    uint32_t at = root;

    while (at != STRING_MAP_NONE) {
        chat_node *node = &c->nodes[at];
        bool is_new = !node->is_written;

        node->is_written = true;
        if (is_new)
            put_node(out, node, c->memory);
        if (is_new && node->next != STRING_MAP_NONE && at != root)
            stack[depth++] = node->next;
        at = is_new ? node->first_child : STRING_MAP_NONE;
        if (at == STRING_MAP_NONE && depth > 0)
            at = stack[--depth];
    }
}

/* Nodes whose parents form a cycle have no root: the import makes one of them a root. */
static void put_cycles(chat *c, buf *out, uint32_t *stack)
{
    for (uint32_t i = 0; i < c->count; i++) {
        if (!c->nodes[i].is_written)
            put_tree(c, out, i, stack);
    }
}

static void put_trees(chat *c, buf *out, bool is_current, uint32_t *stack)
{
    for (uint32_t i = 0; i < c->count; i++) {
        if (!c->nodes[i].has_parent && c->nodes[i].is_current == is_current)
            put_tree(c, out, i, stack);
    }
}

/* Writes the title, and as metadata all of the conversation but its nodes. */
static void put_title(buf *out, scan_value conversation, arena *memory)
{
    static const char *const KEPT[] = {"title", "mapping"};
    scan_value title = scan_find(conversation, "title");
    slice owner = session_conversation_id(conversation, memory);
    const char *id = session_make_id(owner, SLICE("title"), memory);
    buf metadata = BUF_INIT(SIZE_MAX / 4);

    session_put_rest(&metadata, conversation, KEPT, 2);
    if (id == NULL || (title.kind != SCAN_STRING && metadata.len == 0)) {
        buf_free(&metadata);
        return;
    }
    buf_char(out, '{');
    buf_member_text(out, "id", slice_of(id));
    if (title.kind == SCAN_STRING) {
        buf_member(out, "type", SLICE("\"session_info\""));
        buf_member(out, "name", title.text);
    } else {
        buf_member(out, "type", SLICE("\"metadata\""));
    }
    session_put_object(out, "metadata", &metadata, memory);
    buf_text(out, "}\n");
}

bool session_conversation_lines(buf *out, scan_value conversation, arena *memory)
{
    chat c = {.memory = memory};

    if (!string_map_init(&c.ids, 64, memory) || !read_nodes(&c, scan_find(conversation, "mapping")))
        return false;
    uint32_t *stack = arena_zeros(memory, c.count + 1, sizeof(*stack));
    if (stack == NULL)
        return false;
    mark_current(&c, scan_find(conversation, "current_node"));
    link_children(&c);
    put_title(out, conversation, memory);
    put_trees(&c, out, false, stack);
    put_trees(&c, out, true, stack);
    put_cycles(&c, out, stack);
    return buf_ok(out) && !memory->failed;
}
