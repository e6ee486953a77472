/*
 * call.c: checks of arguments, for public functions. The checks send no statement.
 */
#include "store/client/call.h"

#include <string.h>

cardbox_status check_call(cardbox *db, const char *tenant, cardbox_error *err)
{
    if (db == NULL)
        return error_set(err, CARDBOX_INVALID, "db must not be NULL");
    return check_id("tenant", tenant, CARDBOX_TENANT_MAX, err);
}

cardbox_status check_read(void *out, cardbox *db, const char *tenant, cardbox_error *err)
{
    if (out == NULL)
        return error_set(err, CARDBOX_INVALID, "out must not be NULL");
    return check_call(db, tenant, err);
}

cardbox_status check_made(const void *given, size_t size, const char *init, cardbox_error *err)
{
    size_t said = size;
    if (given != NULL)
        memcpy(&said, given, sizeof(said));
    if (said >= size)
        return CARDBOX_OK;
    return error_set(err, CARDBOX_INVALID, "struct_size is %zu: start from %s", said, init);
}

cardbox_status check_ids(const char *what, const char *const *ids, size_t count, size_t max,
                         cardbox_error *err)
{
    cardbox_status status = CARDBOX_OK;
    if (count > max)
        return error_set(err, CARDBOX_TOO_LARGE, "%zu ids in one call, the limit is %zu", count,
                         max);
    if (ids == NULL && count > 0)
        return error_set(err, CARDBOX_INVALID, "%ss must not be NULL", what);
    for (size_t i = 0; status == CARDBOX_OK && i < count; i++)
        status = check_id(what, ids[i], CARDBOX_CARD_ID_MAX, err);
    return status;
}

cardbox_status cursor_failure(const char *cursor, const arena *memory, cardbox_error *err)
{
    return memory->failed ? error_nomem(err) : error_cursor(err, cursor);
}

cardbox_status check_page(unsigned *limit, cardbox_error *err)
{
    if (*limit > CARDBOX_PAGE_MAX)
        return error_set(err, CARDBOX_INVALID, "limit must be 1 to %d, not %u", CARDBOX_PAGE_MAX,
                         *limit);
    if (*limit == 0)
        *limit = CARDBOX_PAGE_DEFAULT;
    return CARDBOX_OK;
}
