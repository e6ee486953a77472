/*
 * rows.h: the result of a statement, in binary form. A store_rows is a PGresult. Cells are borrowed
 * from it until rows_free. Folders above the store see only this header.
 */
#ifndef DB_ROWS_H
#define DB_ROWS_H

#include "base/uuid.h"
#include "cardbox/status.h"

typedef struct pg_result store_rows;

int rows_count(const store_rows *rows);
void rows_free(store_rows *rows);

bool rows_null(const store_rows *rows, int row, int column);
slice rows_text(const store_rows *rows, int row, int column);  /* text, json; NULL: {NULL, 0} */
slice rows_jsonb(const store_rows *rows, int row, int column); /* jsonb's text; NUL-terminated */
int32_t rows_int4(const store_rows *rows, int row, int column);
int64_t rows_int8(const store_rows *rows, int row, int column);
bool rows_bool(const store_rows *rows, int row, int column);
uuid16 rows_uuid(const store_rows *rows, int row, int column);
int64_t rows_micros(const store_rows *rows, int row, int column); /* timestamptz, since 1970 */

/* A text cell as a C string of at most `size` bytes with its NUL, cut between characters. */
void rows_copy_text(char *out, size_t size, const store_rows *rows, int row, int column);

/* The approximate bytes of memory of the result. Cheap. */
size_t rows_memory(const store_rows *rows);

/* Bytes of all cells, or of a row's, for a budget. */
size_t rows_bytes(const store_rows *rows);
size_t rows_bytes_of(const store_rows *rows, int row);

#endif
