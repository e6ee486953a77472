/*
 * ids.c: finds equal ids by sorting.
 */
#include "store/client/ids.h"

#include <stdlib.h>

typedef struct id_place {
    const char *id;
    size_t index;
} id_place;

static int compare_ids(const void *left, const void *right)
{
    const id_place *a = left, *b = right;
    int by_id = strcmp(a->id, b->id);
    if (by_id != 0)
        return by_id;
    return a->index < b->index ? -1 : a->index > b->index;
}

size_t *ids_first(arena *memory, const char *const *ids, size_t count)
{
    size_t *first = arena_zeros(memory, count, sizeof(*first));
    id_place *sorted = arena_zeros(memory, count, sizeof(*sorted));
    if (first == NULL || sorted == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        sorted[i] = (id_place){ids[i], i};
    qsort(sorted, count, sizeof(*sorted), compare_ids);
    for (size_t i = 0; i < count; i++) {
        bool again = i > 0 && strcmp(sorted[i].id, sorted[i - 1].id) == 0;
        first[sorted[i].index] = again ? first[sorted[i - 1].index] : sorted[i].index;
    }
    return first;
}
