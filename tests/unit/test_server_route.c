/*
 * test_server_route.c: the router against a table of its own, and the server's own table.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "server/request/request.h"

static const route TABLE[] = {
    {"GET", "/p/{a}/cards/{b}", "card", ROUTE_NO_BODY, SCOPE_READ, CLASS_READ, TAKES_NONE, NULL,
     NULL, false},
    {"POST", "/p/{a}/cards/batch", "batch", ROUTE_JSON, SCOPE_READ, CLASS_READ, TAKES_NONE, NULL,
     NULL, false},
    {"GET", "/health", "health", ROUTE_NO_BODY, SCOPE_OPEN, CLASS_OTHER, TAKES_NONE, NULL, NULL,
     false},
    {"GET", "/folder/", "folder", ROUTE_NO_BODY, SCOPE_OPEN, CLASS_OTHER, TAKES_NONE, NULL, NULL,
     false},
    {NULL, NULL, NULL, ROUTE_NO_BODY, SCOPE_OPEN, CLASS_OTHER, TAKES_NONE, NULL, NULL, false},
};

static url_path cut(const char *text)
{
    url_path out = {.count = 0};
    char *at = NULL;
    static char copy[200];
    snprintf(copy, sizeof(copy), "%s", text + 1);
    for (char *rest = copy; (at = strsep(&rest, "/")) != NULL;)
        if (at[0] != '\0')
            out.segments[out.count++] = slice_of(at);
    out.folder = text[strlen(text) - 1] == '/';
    return out;
}

static const char *found(const char *method, const char *text, route_match *match)
{
    url_path where = cut(text);
    route_find(match, TABLE, method, &where);
    return match->route == NULL ? (match->path_known ? "405" : "404") : match->route->name;
}

static void finds_routes(void **state)
{
    route_match match;
    (void)state;
    assert_string_equal(found("GET", "/p/x/cards/y", &match), "card");
    assert_true(slice_equal(match.params[0], SLICE("x")));
    assert_true(slice_equal(match.params[1], SLICE("y")));
    assert_string_equal(found("HEAD", "/p/x/cards/y", &match), "card");
    assert_string_equal(found("GET", "/p/x/cards/batch", &match), "card");
    assert_true(slice_equal(match.params[1], SLICE("batch")));
    assert_string_equal(found("POST", "/p/x/cards/batch", &match), "batch");
    assert_null(match.params[1].ptr);
    assert_string_equal(found("POST", "/p/x/cards/y", &match), "405");
    assert_string_equal(found("get", "/health", &match), "405");
    assert_string_equal(found("BREW", "/health", &match), "405");
    assert_string_equal(found("GET", "/p/x/cards", &match), "404");
    assert_string_equal(found("GET", "/p/x/cards/y/z", &match), "404");
    assert_string_equal(found("GET", "/Health", &match), "404");
    assert_string_equal(found("GET", "/p", &match), "404");
    assert_string_equal(found("GET", "/folder/", &match), "folder");
    assert_string_equal(found("GET", "/folder", &match), "404");
    assert_string_equal(found("GET", "/health/", &match), "404");
    assert_string_equal(found("GET", "/p/x/cards/", &match), "404");
}

static void lists_methods(void **state)
{
    char allow[ROUTE_ALLOW_SIZE];
    url_path where = cut("/p/x/cards/batch");
    (void)state;
    route_allow(allow, TABLE, &where);
    assert_string_equal(allow, "GET, HEAD, POST");
    where = cut("/p/x/cards/y");
    route_allow(allow, TABLE, &where);
    assert_string_equal(allow, "GET, HEAD");
}

/* What the matcher and the metrics rely on: parameters fit, patterns are absolute, nothing is
 * listed twice, and a class goes with what its route does. */
static void table_is_sound(void **state)
{
    (void)state;
    for (const route *r = ROUTES; r->method != NULL; r++) {
        size_t braces = 0;
        for (const char *at = r->pattern; *at != '\0'; at++)
            braces += *at == '{';
        assert_true(braces <= ROUTE_PARAMS_MAX);
        assert_int_equal(r->pattern[0], '/');
        bool reads = strcmp(r->method, "GET") == 0, removes = strcmp(r->method, "DELETE") == 0;
        bool sends = strcmp(r->method, "POST") == 0 || strcmp(r->method, "PUT") == 0;
        assert_true(reads || removes || sends);
        assert_int_equal(r->body == ROUTE_NO_BODY, reads || removes);
        assert_false(reads && r->scope == SCOPE_WRITE);
        assert_false(removes && r->scope == SCOPE_READ);
        bool writes = r->scope == SCOPE_WRITE || (r->scope == SCOPE_ADMIN && !reads);
        assert_int_equal(r->class == CLASS_WRITE, writes && r->body != ROUTE_STREAM);
        assert_true(r->scope == SCOPE_READ || (r->class != CLASS_READ && r->class != CLASS_LIST));
        assert_non_null(r->handle);
        for (const route *other = ROUTES; other != r; other++)
            assert_false(strcmp(other->method, r->method) == 0 &&
                         strcmp(other->pattern, r->pattern) == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_routes),
        cmocka_unit_test(lists_methods),
        cmocka_unit_test(table_is_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
