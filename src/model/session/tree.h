/*
 * tree.h: the tree of the entries of a session file, in memory. The tree of a stored session is in
 * the database.
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
    bool is_dangling;  /* the parent is missing, or parentId is invalid: the entry is a root */
    bool is_cycle;     /* the parent was a descendant or the entry itself: the entry is a root */
    uint32_t parent;   /* index of the parent; STRING_MAP_NONE: the entry is a root */
    uint32_t children; /* number of the entry's children */
    uint32_t depth;    /* number of the entry's ancestors */
    uint32_t label;    /* index of the "label" entry that labels the entry; STRING_MAP_NONE: none */
} session_node;

typedef struct session_tree {
    const session_entry *entries;
    session_node *nodes; /* one for each entry; if not SESSION_IN_TREE, only `state` is valid */
    uint32_t count;
    string_map ids;
    uint32_t in_tree, roots, leaves, branch_points, dangling, cycles;
    uint32_t depth_max;
    uint32_t leaf; /* index of the entry that an import makes the head, see session_kind_moves_head;
                      STRING_MAP_NONE: the tree is empty */
} session_tree;

/*
 * Builds the tree of `entries`, which are in file order, in linear time. A parent may come after
 * its child. In a cycle of parents, the last entry that is not after its parent in the file becomes
 * a root. If several entries have the same id, only the first is in the tree. Returns false if
 * memory is exhausted, or for 2^32 - 1 entries or more.
 */
bool session_tree_build(session_tree *out, const session_entry *entries, size_t count,
                        arena *memory);

/* Returns the index of the entry with this id; STRING_MAP_NONE: the tree has no such entry. */
uint32_t session_tree_find(const session_tree *tree, slice id);

#endif
