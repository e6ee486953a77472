/*
 * box_stream.h: the answer for a box of more than 10,000 ids. The ids are read and sent in pages.
 * After the first page, a page is read when the earlier pages were sent, at the version of the
 * first page.
 */
#ifndef SERVER_BOX_STREAM_H
#define SERVER_BOX_STREAM_H

#include "server/request/request.h"
#include "store/box/box_json.h"

/* Ids of a page. A box with at most this number of ids is answered without pages. With ids of usual
 * length, a page has some hundred KB of JSON. */
#define BOX_STREAM_PAGE 10000

/* Answers with a box whose ids fill several pages. `first` is the first page, which was read with
 * the parameters `read`. */
void box_stream_answer(request *r, const box_view *first, const box_read *read);

/* Answers 500, because the rows of the box contradict each other. */
void box_stream_refuse(request *r);

#endif
