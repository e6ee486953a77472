/*
 * fuzz_path.c: any request target. Segments that come out are UTF-8 without NUL, no longer than
 * what went in; the router and the query parser stand whatever comes out.
 */
#include "fuzz/fuzz.h"
#include "server/request/query.h"
#include "server/request/route.h"

static void check_path(const url_path *found, slice raw)
{
    char allow[ROUTE_ALLOW_SIZE];
    size_t bytes = 0;
    route_match match;
    require(found->count <= PATH_SEGMENTS_MAX);
    for (size_t i = 0; i < found->count; i++) {
        slice segment = found->segments[i];
        require(segment.len > 0 && slice_is_utf8(segment));
        require(memchr(segment.ptr, '\0', segment.len) == NULL);
        bytes += segment.len;
    }
    require(bytes <= raw.len);
    route_find(&match, ROUTES, "GET", found);
    require(match.route == NULL || match.path_known);
    route_allow(allow, ROUTES, found);
    require((allow[0] != '\0') == match.path_known);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    slice raw, query, name, value, decoded;
    const char *reason = NULL;
    int64_t number;
    url_path found;
    arena memory = ARENA_INIT;

    target_split((slice){(const char *)data, size}, &raw, &query);
    require(raw.len + query.len <= size + 1);
    path_result result = path_decode(&found, raw, &memory, &reason);
    require(result != PATH_MALFORMED || reason != NULL);
    if (result == PATH_OK)
        check_path(&found, raw);
    while (query_next(&query, &name, &value)) {
        if (query_decode(&decoded, value, &memory) != QUERY_FOUND)
            continue;
        require(slice_is_utf8(decoded) && decoded.len <= value.len);
        query_integer(decoded, &number);
    }
    arena_reset(&memory);
    return 0;
}
