/*
 * tree.h: the tree of a file's entries in memory, for checks and conversion of files. The tree of a
 * stored session is in the database.
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
    bool is_dangling;  /* its parent is missing, so it is a root */
    bool is_cycle;     /* its parent is below it, so it is a root */
    uint32_t parent;   /* STRING_MAP_NONE: a root */
    uint32_t children; /* number of its children */
    uint32_t depth;    /* number of entries above it */
    uint32_t label;    /* the entry that labels it; STRING_MAP_NONE: none */
} session_node;

typedef struct session_tree {
    const session_entry *entries;
    session_node *nodes; /* one for each entry; for those outside the tree only `state` is valid */
    uint32_t count;
    string_map ids;
    uint32_t in_tree, roots, leaves, branch_points, dangling, cycles;
    uint32_t depth_max;
    uint32_t leaf; /* the last entry in the tree */
} session_tree;

/*
 * Builds the tree of entries in file order, in linear time. A parent may come after its child: such
 * links are made last, in file order. A link that would close a cycle is not made, and its entry
 * becomes a root. If several lines have one id, the first is used. Returns false if out of memory,
 * or for 2^32 - 1 entries or more.
 */
bool session_tree_build(session_tree *out, const session_entry *entries, size_t count,
                        arena *memory);

/* Returns the index of the entry with an id; STRING_MAP_NONE: the tree has none. */
uint32_t session_tree_find(const session_tree *tree, slice id);

#endif
