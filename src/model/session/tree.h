/*
 * tree.h: the tree of a file's entries in memory, for its analysis and conversion. Statements read
 * the tree of a stored session.
 */
#ifndef MODEL_TREE_H
#define MODEL_TREE_H

#include "model/session/entry.h"
#include "base/string_map.h"

typedef enum session_node_state {
    SESSION_IN_TREE = 0,
    SESSION_DUPLICATE, /* an earlier line has this id and the same bytes */
    SESSION_CONFLICT   /* an earlier line has this id and other bytes */
} session_node_state;

typedef struct session_node {
    session_node_state state;
    bool is_dangling;                               /* a root only because its parent is missing */
    bool is_cycle;                                  /* a root only because its parent is below it */
    uint32_t parent;                                /* STRING_MAP_NONE: a root */
    uint32_t first_child, last_child, next_sibling; /* in the file's order */
    uint32_t children;
    uint32_t depth; /* entries above it */
    uint32_t label; /* the label entry that holds for it */
} session_node;

typedef struct session_tree {
    const session_entry *entries;
    session_node *nodes; /* as many as entries; of those out of the tree only `state` means much */
    uint32_t count;
    string_map ids;
    uint32_t in_tree, roots, leaves, branch_points, dangling, cycles;
    uint32_t depth_max;
    uint32_t leaf; /* the last entry in the tree: where one goes on */
} session_tree;

/*
 * Builds the tree of entries in the file's order, in time that grows as they do. A parent may come
 * later than its child: such links are made last, in the file's order. One that would close a cycle
 * is not made, and its entry is a root. Of lines with one id the first counts. False: out of
 * memory, or 2^32 - 1 entries.
 */
bool session_tree_build(session_tree *out, const session_entry *entries, size_t count,
                        arena *memory);

/* The entry of an id, STRING_MAP_NONE if the tree has none. */
uint32_t session_tree_find(const session_tree *tree, slice id);

#endif
