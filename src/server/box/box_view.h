/*
 * box_view.h: one box of what a request's statement gave. Knows no requests.
 */
#ifndef SERVER_BOX_VIEW_H
#define SERVER_BOX_VIEW_H

#include "server/join/join.h"
#include "store/box/box_view.h"

/* Takes the rows of the key-th key apart. False: out of memory. */
bool box_view_open(box_view *out, const join_rows *found, size_t key, arena *memory);

#endif
