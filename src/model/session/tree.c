/*
 * tree.c: builds the tree in passes over all entries: ids, parents, cycles, depths. These functions
 * are not recursive, because a session may be a chain of a million entries.
 */
#include "model/session/tree.h"

/* --- parents --- */

/* Maps each id to the first entry with this id. Later entries with the same id are duplicates or
 * conflicts. */
static bool index_ids(session_tree *tree)
{
    bool ok = true;

    for (uint32_t i = 0; ok && i < tree->count; i++) {
        uint32_t first = string_map_get(&tree->ids, tree->entries[i].id);
        session_node *node = &tree->nodes[i];

        node->parent = node->label = STRING_MAP_NONE;
        if (first == STRING_MAP_NONE)
            ok = string_map_set(&tree->ids, tree->entries[i].id, i);
        else
            node->state = slice_equal(tree->entries[first].text, tree->entries[i].text)
                              ? SESSION_DUPLICATE
                              : SESSION_CONFLICT;
    }
    return ok;
}

/* Sets the parent of each entry: the entry that its parentId names. The parent of an entry without
 * id and without parentId is the previous entry, or the earlier entry with the id of the previous
 * one. */
static void find_parents(session_tree *tree)
{
    uint32_t before = STRING_MAP_NONE;

    for (uint32_t i = 0; i < tree->count; i++) {
        const session_entry *entry = &tree->entries[i];
        session_node *node = &tree->nodes[i];

        if (node->state != SESSION_IN_TREE) {
            before = string_map_get(&tree->ids, entry->id);
            continue;
        }
        if (entry->parent_state == SESSION_PARENT_NAMED)
            node->parent = string_map_get(&tree->ids, entry->parent);
        else if (entry->parent_state == SESSION_PARENT_ABSENT && entry->id_is_made)
            node->parent = before;
        node->is_dangling =
            entry->parent_state == SESSION_PARENT_UNUSABLE ||
            (entry->parent_state == SESSION_PARENT_NAMED && node->parent == STRING_MAP_NONE);
        before = i;
    }
}

/* --- cycles --- */

/* Returns the index of the last entry of a cycle, in file order, that is not after its parent.
 * `start` is any entry of the cycle. */
static uint32_t last_link_of_cycle(const session_tree *tree, uint32_t start)
{
    uint32_t last = 0, at = start;

    do {
        if (tree->nodes[at].parent >= at && at >= last)
            last = at;
        at = tree->nodes[at].parent;
    } while (at != start);
    return last;
}

/* Follows the parents of each entry. An entry that is reached twice from the same start is on a
 * cycle. In each cycle, the entry that last_link_of_cycle() returns becomes a root. */
static bool cut_cycles(session_tree *tree, arena *memory)
{
    uint32_t *walks = arena_zeros(memory, tree->count, sizeof(*walks));

    for (uint32_t i = 0; walks != NULL && i < tree->count; i++) {
        uint32_t at = i;

        while (at != STRING_MAP_NONE && walks[at] == 0) {
            walks[at] = i + 1;
            at = tree->nodes[at].parent;
        }
        if (at != STRING_MAP_NONE && walks[at] == i + 1) {
            session_node *root = &tree->nodes[last_link_of_cycle(tree, at)];
            root->is_cycle = true;
            root->parent = STRING_MAP_NONE;
        }
    }
    return walks != NULL;
}

/* --- depths and counts --- */

/* Sets the depths of an entry and of all its ancestors. Ancestors may come after the entry in the
 * file. If an entry has a parent and the depth 0, its depth was not set yet. */
static void set_depth(session_tree *tree, uint32_t i)
{
    session_node *nodes = tree->nodes;
    uint32_t at = i, steps = 0;

    for (; nodes[at].parent != STRING_MAP_NONE && nodes[at].depth == 0; at = nodes[at].parent)
        steps++;
    for (uint32_t depth = nodes[at].depth; steps > 0; steps--, i = nodes[i].parent)
        nodes[i].depth = depth + steps;
}

static void link_and_count(session_tree *tree, uint32_t i)
{
    const session_node *node = &tree->nodes[i];

    if (node->state != SESSION_IN_TREE)
        return;
    if (node->parent != STRING_MAP_NONE)
        tree->nodes[node->parent].children++;
    set_depth(tree, i);
    tree->depth_max = node->depth > tree->depth_max ? node->depth : tree->depth_max;
    tree->in_tree++;
    if (tree->leaf == STRING_MAP_NONE || node->parent == tree->leaf ||
        (session_kind_moves_head(tree->entries[i].kind) && !tree->entries[i].is_aside))
        tree->leaf = i;
    tree->roots += node->parent == STRING_MAP_NONE;
    tree->dangling += node->is_dangling;
    tree->cycles += node->is_cycle;
}

/* A later "label" entry replaces earlier labels of the same target. An empty or missing label
 * removes the label of the target. */
static void read_label(session_tree *tree, uint32_t i, arena *memory)
{
    const session_entry *entry = &tree->entries[i];
    bool has_text = entry->label.kind == SCAN_STRING && entry->label.text.len > 2;
    slice target;

    if (tree->nodes[i].state != SESSION_IN_TREE || entry->kind != SESSION_LABEL ||
        !session_text_of(&target, entry->target, memory))
        return;
    uint32_t at = session_tree_find(tree, target);
    if (at != STRING_MAP_NONE)
        tree->nodes[at].label = has_text ? i : STRING_MAP_NONE;
}

bool session_tree_build(session_tree *out, const session_entry *entries, size_t count,
                        arena *memory)
{
    *out = (session_tree){.entries = entries, .leaf = STRING_MAP_NONE};
    if (count >= STRING_MAP_NONE || !string_map_init(&out->ids, count, memory))
        return false;
    out->count = (uint32_t)count;
    out->nodes = arena_zeros(memory, count, sizeof(*out->nodes));
    if (out->nodes == NULL || !index_ids(out))
        return false;
    find_parents(out);
    if (!cut_cycles(out, memory))
        return false;
    for (uint32_t i = 0; i < out->count; i++) {
        link_and_count(out, i);
        read_label(out, i, memory);
    }
    for (uint32_t i = 0; i < out->count; i++) {
        out->leaves += out->nodes[i].state == SESSION_IN_TREE && out->nodes[i].children == 0;
        out->branch_points += out->nodes[i].children > 1;
    }
    return !memory->failed;
}

uint32_t session_tree_find(const session_tree *tree, slice id)
{
    uint32_t at = string_map_get(&tree->ids, id);

    return at != STRING_MAP_NONE && tree->nodes[at].state == SESSION_IN_TREE ? at : STRING_MAP_NONE;
}
