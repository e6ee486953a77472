/*
 * rows.c: reads the cells of a PGresult in binary form. The statements are ours, so a cell has the
 * type that the caller asks for; a short one reads as zero.
 */
#include "store/pg/rows.h"

#include <endian.h>
#include <libpq-fe.h>

#define POSTGRES_EPOCH_MICROS INT64_C(946684800000000)

int rows_count(const store_rows *rows)
{
    return rows == NULL ? 0 : PQntuples(rows);
}

void rows_free(store_rows *rows)
{
    PQclear(rows);
}

bool rows_null(const store_rows *rows, int row, int column)
{
    return PQgetisnull(rows, row, column) != 0;
}

view rows_text(const store_rows *rows, int row, int column)
{
    int length = PQgetlength(rows, row, column);
    if (length == 0 && rows_null(rows, row, column))
        return (view){NULL, 0};
    return (view){PQgetvalue(rows, row, column), (size_t)length};
}

view rows_jsonb(const store_rows *rows, int row, int column)
{
    view cell = rows_text(rows, row, column);
    return cell.len == 0 ? (view){NULL, 0} : (view){cell.ptr + 1, cell.len - 1};
}

/* Copies a cell of exactly `size` bytes; zeros for any other. */
static void read_fixed(void *out, size_t size, const store_rows *rows, int row, int column)
{
    view cell = rows_text(rows, row, column);
    memset(out, 0, size);
    if (cell.len == size)
        memcpy(out, cell.ptr, size);
}

int32_t rows_int4(const store_rows *rows, int row, int column)
{
    uint32_t wire;
    read_fixed(&wire, sizeof(wire), rows, row, column);
    return (int32_t)be32toh(wire);
}

int64_t rows_int8(const store_rows *rows, int row, int column)
{
    uint64_t wire;
    read_fixed(&wire, sizeof(wire), rows, row, column);
    return (int64_t)be64toh(wire);
}

bool rows_bool(const store_rows *rows, int row, int column)
{
    char wire;
    read_fixed(&wire, sizeof(wire), rows, row, column);
    return wire != 0;
}

uuid16 rows_uuid(const store_rows *rows, int row, int column)
{
    uuid16 id;
    read_fixed(&id, sizeof(id), rows, row, column);
    return id;
}

int64_t rows_micros(const store_rows *rows, int row, int column)
{
    int64_t since_2000 = rows_int8(rows, row, column);
    if (since_2000 == INT64_MIN || since_2000 == INT64_MAX)
        return since_2000; /* the infinities stay so */
    return since_2000 >= INT64_MAX - POSTGRES_EPOCH_MICROS ? INT64_MAX - 1
                                                           : since_2000 + POSTGRES_EPOCH_MICROS;
}

size_t rows_bytes_of(const store_rows *rows, int row)
{
    size_t bytes = 0;
    for (int column = PQnfields(rows) - 1; column >= 0; column--)
        bytes += (size_t)PQgetlength(rows, row, column);
    return bytes;
}

size_t rows_bytes(const store_rows *rows)
{
    size_t bytes = 0;
    for (int row = 0; row < rows_count(rows); row++)
        bytes += rows_bytes_of(rows, row);
    return bytes;
}
