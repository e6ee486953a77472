/*
 * web.c: the pages for people, /ui/ and /docs: the files of src/web, compiled in, each with its
 * type and with headers that let a browser load nothing that is not this server's. Knows nothing of
 * what they show.
 */
#include "server/api/handlers.h"

typedef struct page {
    view name;
    view text;
} page;

static const page PAGES[] = {
#define WEB_FILE(name, text) {{name, sizeof(name) - 1}, {text, sizeof(text) - 1}},
#include "web.inc"
#undef WEB_FILE
};

static const struct {
    const char *ending;
    const char *type;
} TYPES[] = {
    {".html", "text/html; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".svg", "image/svg+xml"},
};

/* Scripts and styles come from files of this server alone, and none stands in a page: so a script
 * that a card smuggles into one would not run either. */
static const char POLICY[] =
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

static bool ends_with(view name, const char *ending)
{
    size_t len = strlen(ending);
    return name.len > len && memcmp(name.ptr + name.len - len, ending, len) == 0;
}

static const char *type_of(view name)
{
    for (size_t i = 0; i < sizeof(TYPES) / sizeof(TYPES[0]); i++)
        if (ends_with(name, TYPES[i].ending))
            return TYPES[i].type;
    return "application/octet-stream";
}

/* Browsers ask each time whether their copy is still good, so that a new version of the server is
 * never seen with scripts of the old one. */
static void answer_page(request *r, view name)
{
    for (size_t i = 0; i < sizeof(PAGES) / sizeof(PAGES[0]); i++) {
        if (!view_equal(PAGES[i].name, name))
            continue;
        r->answer.type = type_of(name);
        request_tag(r, 0);
        request_header(r, "Cache-Control", "no-cache");
        request_header(r, "Content-Security-Policy", POLICY);
        request_header(r, "X-Content-Type-Options", "nosniff");
        request_answer_fixed(r, 200, PAGES[i].text);
        return;
    }
    fault_answer_unknown_path(r, NULL);
}

void handle_docs(request *r)
{
    answer_page(r, VIEW("docs.html"));
}

void handle_ui(request *r)
{
    answer_page(r, VIEW("index.html"));
}

/* A page has one place alone: there its links are right. */
void handle_ui_file(request *r)
{
    view name = r->match.params[0];
    if (ends_with(name, ".html"))
        fault_answer_unknown_path(r, NULL);
    else
        answer_page(r, name);
}

/* The page names its files from "/ui/" on. Relative, for servers behind a longer path. */
void handle_ui_redirect(request *r)
{
    request_header(r, "Location", "ui/");
    request_answer_fixed(r, 308, VIEW("{\"detail\":\"see ui/\"}"));
}
