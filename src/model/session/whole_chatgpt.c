/*
 * whole_chatgpt.c: writes a conversation of ChatGPT's export as lines. Its "mapping" has the nodes
 * of a tree by their ids. Each node becomes an entry, so that the tree stays as it is.
 */
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

/* Appends the text of a message as the inside of a JSON string. Returns false if the content has
 * anything else than texts. */
static bool put_text(buf *out, scan_value content)
{
    scan_value parts = scan_find(content, "parts"), part;
    scan_walk walk = scan_enter(parts.kind == SCAN_ARRAY ? parts : (scan_value){0});
    bool is_text =
        session_string_is(scan_find(content, "content_type"), "text") && parts.kind == SCAN_ARRAY;

    while (is_text && scan_element(&walk, &part)) {
        is_text = part.kind == SCAN_STRING;
        if (is_text)
            buf_slice(out, scan_string_inside(part));
    }
    return is_text;
}

static void put_times(buf *out, scan_value time)
{
    int64_t seconds;
    const char *dot = time.kind == SCAN_NUMBER ? memchr(time.text.ptr, '.', time.text.len) : NULL;
    slice whole = {time.text.ptr, dot != NULL ? (size_t)(dot - time.text.ptr) : time.text.len};

    if (time.kind == SCAN_NUMBER && scan_integer(whole, &seconds) && seconds > 0 &&
        seconds < INT64_C(253402300800))
        buf_member_int(out, "timestamp", seconds * 1000);
}

/* A text of the user, the assistant or the system becomes a message. A node without a text, such as
 * the root, becomes an entry of the type metadata. */
static void put_node(buf *out, const chat_node *node, arena *memory)
{
    static const char *const NAMES[] = {"author", "content", "create_time"};
    scan_value message = scan_find(node->value, "message"), found[3];
    buf text = BUF_INIT(SIZE_MAX / 4);

    session_pick(message, NAMES, found, 3);
    scan_value role = scan_find(found[0], "role");
    bool is_sent = session_string_is(role, "user") || session_string_is(role, "assistant") ||
                   session_string_is(role, "system");
    bool is_text = found[1].kind == SCAN_OBJECT && put_text(&text, found[1]);
    bool is_empty = message.kind != SCAN_OBJECT || (is_text && text.len == 0);
    buf_char(out, '{');
    buf_member_text(out, "id", node->id);
    if (node->has_parent)
        buf_member_text(out, "parentId", node->parent);
    put_times(out, found[2]);
    if (is_empty) {
        buf_member(out, "type", SLICE("\"metadata\""));
    } else if (is_sent && is_text) {
        buf_text(out, ",\"type\":\"message\",\"format\":\"openai\",\"message\":{\"role\":");
        buf_slice(out, role.text);
        buf_text(out, ",\"content\":\"");
        buf_slice(out, buf_as_slice(&text));
        buf_text(out, "\"}");
    } else {
        buf_text(out, ",\"type\":\"chatgpt\",\"message\":");
        scan_compact(out, message.text);
    }
    buf_text(out, "}\n");
    memory->failed = memory->failed || !buf_ok(&text);
    buf_free(&text);
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

static void put_title(buf *out, scan_value conversation, arena *memory)
{
    scan_value title = scan_find(conversation, "title");
    slice owner = session_conversation_id(conversation, memory);
    const char *id = session_make_id(owner, SLICE("title"), memory);

    if (title.kind != SCAN_STRING || id == NULL)
        return;
    buf_char(out, '{');
    buf_member_text(out, "id", slice_of(id));
    buf_member(out, "type", SLICE("\"session_info\""));
    buf_member(out, "name", title.text);
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
