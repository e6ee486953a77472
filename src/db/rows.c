/*
 * rows.c: reads the cells of a PGresult in binary format. All statements are CardBox's own, so a
 * cell has the type that the caller asks for. A number, bool or UUID that is NULL or has another
 * size is read as zero.
 */
#include "db/rows.h"

#include <endian.h>
#include <libpq-fe.h>
#include "db/params.h"

/* The OID of a PostgreSQL type that params_type lacks. */
enum { TYPE_NAME = 19 };

/* Only tests can check that a statement's columns match the C code that reads them. A build with
 * AddressSanitizer aborts if a column that is read is missing or has another type. */
#ifdef __SANITIZE_ADDRESS__
static void check_type(const store_rows *rows, int column, params_type type)
{
    params_type found = (params_type)PQftype(rows, column);
    bool fits = type == PARAMS_TEXT ? found == PARAMS_TEXT || found == PARAMS_JSON ||
                                          found == PARAMS_BYTEA || (int)found == TYPE_NAME
                                    : found == type;
    bool made_by_a_test = found == 0 && column < PQnfields(rows);
    if (!fits && !made_by_a_test)
        __builtin_trap();
}
#else
static void check_type(const store_rows *rows, int column, params_type type)
{
    (void)rows, (void)column, (void)type;
}
#endif

int rows_count(const store_rows *rows)
{
    return rows == NULL ? 0 : PQntuples(rows);
}

size_t rows_memory(const store_rows *rows)
{
    return PQresultMemorySize(rows);
}

void rows_free(store_rows *rows)
{
    PQclear(rows);
}

bool rows_null(const store_rows *rows, int row, int column)
{
    return PQgetisnull(rows, row, column) != 0;
}

static slice read_cell(const store_rows *rows, int row, int column)
{
    int length = PQgetlength(rows, row, column);
    if (length == 0 && rows_null(rows, row, column))
        return (slice){NULL, 0};
    return (slice){PQgetvalue(rows, row, column), (size_t)length};
}

slice rows_text(const store_rows *rows, int row, int column)
{
    check_type(rows, column, PARAMS_TEXT);
    return read_cell(rows, row, column);
}

slice rows_jsonb(const store_rows *rows, int row, int column)
{
    check_type(rows, column, PARAMS_JSONB);
    slice cell = read_cell(rows, row, column);
    return cell.len == 0 ? (slice){NULL, 0} : (slice){cell.ptr + 1, cell.len - 1};
}

static void read_fixed(void *out, size_t size, params_type type, const store_rows *rows, int row,
                       int column)
{
    check_type(rows, column, type);
    slice cell = read_cell(rows, row, column);
    memset(out, 0, size);
    if (cell.len == size)
        memcpy(out, cell.ptr, size);
}

int32_t rows_int4(const store_rows *rows, int row, int column)
{
    uint32_t wire;
    read_fixed(&wire, sizeof(wire), PARAMS_INT4, rows, row, column);
    return (int32_t)be32toh(wire);
}

static int64_t read_int8(params_type type, const store_rows *rows, int row, int column)
{
    uint64_t wire;
    read_fixed(&wire, sizeof(wire), type, rows, row, column);
    return (int64_t)be64toh(wire);
}

int64_t rows_int8(const store_rows *rows, int row, int column)
{
    return read_int8(PARAMS_INT8, rows, row, column);
}

bool rows_bool(const store_rows *rows, int row, int column)
{
    char wire;
    read_fixed(&wire, sizeof(wire), PARAMS_BOOL, rows, row, column);
    return wire != 0;
}

uuid16 rows_uuid(const store_rows *rows, int row, int column)
{
    uuid16 id;
    read_fixed(&id, sizeof(id), PARAMS_UUID, rows, row, column);
    return id;
}

int64_t rows_micros(const store_rows *rows, int row, int column)
{
    int64_t since_2000 = read_int8(PARAMS_TIMESTAMPTZ, rows, row, column);
    if (since_2000 == INT64_MIN || since_2000 == INT64_MAX)
        return since_2000; /* -infinity or infinity */
    return since_2000 >= INT64_MAX - POSTGRES_EPOCH_MICROS ? INT64_MAX - 1
                                                           : since_2000 + POSTGRES_EPOCH_MICROS;
}

void rows_copy_text(char *out, size_t size, const store_rows *rows, int row, int column)
{
    slice text = rows_text(rows, row, column);
    size_t len = slice_cut(text, size - 1);
    if (text.ptr != NULL)
        memcpy(out, text.ptr, len);
    out[len] = '\0';
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
