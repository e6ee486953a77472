/*
 * web.c: serves files that are compiled in, plain and as gzip: /openapi.json, and the pages /ui/
 * and /docs from src/web. A Content-Security-Policy lets the pages load only files of this server.
 */
#include "server/api/handlers.h"

typedef struct page {
    slice name;
    slice text;
} page;

static const page PAGES[] = {
#define WEB_FILE(name, text) {{name, sizeof(name) - 1}, {text, sizeof(text) - 1}},
#include "web.inc"
#undef WEB_FILE
};

static const page PACKED_FILES[] = {
#define PACKED(name, text) {{name, sizeof(name) - 1}, {text, sizeof(text) - 1}},
#include "packed.inc"
#undef PACKED
};

static const char OPENAPI[] =
#include "openapi.inc"
    ;

static const struct {
    const char *ending;
    const char *type;
} TYPES[] = {
    {".html", "text/html; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".svg", "image/svg+xml"},
};

/* With this policy, browsers load scripts and styles only from files of this server, and run no
 * inline scripts. So a script in the content of a card can't run. */
static const char POLICY[] =
    "default-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

static bool ends_with(slice name, const char *ending)
{
    size_t len = strlen(ending);
    return name.len > len && memcmp(name.ptr + name.len - len, ending, len) == 0;
}

static const char *type_of(slice name)
{
    for (size_t i = 0; i < sizeof(TYPES) / sizeof(TYPES[0]); i++)
        if (ends_with(name, TYPES[i].ending))
            return TYPES[i].type;
    return "application/octet-stream";
}

static void answer_file(request *r, slice name, slice text)
{
    for (size_t i = 0; i < sizeof(PACKED_FILES) / sizeof(PACKED_FILES[0]); i++)
        if (slice_equal(PACKED_FILES[i].name, name))
            r->answer.packed = PACKED_FILES[i].text;
    request_tag(r, 0);
    request_answer_fixed(r, 200, text);
}

void handle_openapi(request *r)
{
    answer_file(r, SLICE("cardbox.json"), (slice){OPENAPI, sizeof(OPENAPI) - 1});
}

/* With Cache-Control: no-cache, browsers revalidate a file before they use a stored copy, so that
 * pages and scripts are of the same version. */
static void answer_page(request *r, slice name)
{
    for (size_t i = 0; i < sizeof(PAGES) / sizeof(PAGES[0]); i++) {
        if (!slice_equal(PAGES[i].name, name))
            continue;
        r->answer.type = type_of(name);
        request_header(r, "Cache-Control", "no-cache");
        request_header(r, "Content-Security-Policy", POLICY);
        request_header(r, "X-Content-Type-Options", "nosniff");
        answer_file(r, name, PAGES[i].text);
        return;
    }
    http_error_send_unknown_path(r, NULL);
}

void handle_page(request *r)
{
    answer_page(r, slice_of(r->match.route->of));
}

/* HTML pages are not served as /ui/{file}, because their links are relative to /docs and /ui/. */
void handle_ui_file(request *r)
{
    slice name = r->match.params[0];
    if (ends_with(name, ".html"))
        http_error_send_unknown_path(r, NULL);
    else
        answer_page(r, name);
}

/* The Location of the redirect is relative, because a proxy may serve this server below a longer
 * path. */
void handle_ui_redirect(request *r)
{
    request_header(r, "Location", "ui/");
    request_answer_fixed(r, 308, SLICE("{\"detail\":\"see ui/\"}"));
}
