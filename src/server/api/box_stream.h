/*
 * box_stream.h: the answer for one very long box. The ids are sent in pages. A page is read when
 * the client has received the pages before it, at the version that the first read returned.
 */
#ifndef SERVER_BOX_STREAM_H
#define SERVER_BOX_STREAM_H

#include "server/request/request.h"
#include "store/box/box_json.h"

/* Ids of a page; a box with fewer is answered without pages. A page is some hundred KB of text and
 * costs PostgreSQL a few ms. */
#define BOX_STREAM_PAGE 10000

/* Answers with a box. `first` is its beginning, and was read by `read`. */
void box_stream_answer(request *r, const box_view *first, const box_read *read);

/* Answers that the rows of the box contradict each other. */
void box_stream_refuse(request *r);

#endif
