/*
 * box_stream.h: the answer for one very long box: its ids go out page by page, each read when the
 * client has taken those before, all as of the version that the first read saw.
 */
#ifndef SERVER_BOX_STREAM_H
#define SERVER_BOX_STREAM_H

#include "server/request/request.h"
#include "store/box/box_view.h"

/* Ids of a page; a box that has no more is answered in one piece. A page is some hundred KB of text
 * and takes PostgreSQL a few ms. */
#define BOX_STREAM_PAGE 10000

/* Answers with a box of which `first` is the beginning, read by `read`. */
void box_stream_answer(request *r, const box_view *first, const box_read *read);

/* Answers that the rows of the box contradict each other. */
void box_stream_refuse(request *r);

#endif
