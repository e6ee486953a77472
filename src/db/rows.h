/*
 * rows.h: the result of a statement, in binary format. A store_rows is a PGresult. The texts of its
 * cells are valid until rows_free. Folders above the store do not use libpq: they read results with
 * these functions, or with functions of the store that read rows.
 */
#ifndef DB_ROWS_H
#define DB_ROWS_H

#include "base/uuid.h"
#include "cardbox/status.h"

typedef struct pg_result store_rows;

int rows_count(const store_rows *rows);
void rows_free(store_rows *rows);

bool rows_null(const store_rows *rows, int row, int column);
/* text, json, bytea or name; NULL: {NULL, 0} */
slice rows_text(const store_rows *rows, int row, int column);
slice rows_jsonb(const store_rows *rows, int row, int column); /* jsonb as text; NULL: {NULL, 0} */
int32_t rows_int4(const store_rows *rows, int row, int column);
int64_t rows_int8(const store_rows *rows, int row, int column);
bool rows_bool(const store_rows *rows, int row, int column);
uuid16 rows_uuid(const store_rows *rows, int row, int column);
int64_t rows_micros(const store_rows *rows, int row, int column); /* microseconds since 1970 */

/* Copies a text cell as a C string of at most `size` bytes with its NUL; NULL: "". A longer text is
 * cut between characters. */
void rows_copy_text(char *out, size_t size, const store_rows *rows, int row, int column);

/* The bytes of memory that the result uses, approximately. */
size_t rows_memory(const store_rows *rows);

/* Total length in bytes of all cells, or of the cells of one row. */
size_t rows_bytes(const store_rows *rows);
size_t rows_bytes_of(const store_rows *rows, int row);

#endif
