/*
 * routes.c: the table of routes: method, path, scope and handler. The answers 401, 403, 404 and
 * 405, the option --routes and the metrics depend on the table too. A second table has hints for
 * unknown requests.
 */
#include "server/api/handlers.h"

#define OF_PROJECT "/projects/{project_id}"
#define OF_SESSION OF_PROJECT "/sessions/{session_id}"

/* A GET route that needs a token with the scope `read`. */
#define READ(pattern, name, class, handle)                                                         \
    {                                                                                              \
        "GET", pattern, name, ROUTE_NO_BODY, SCOPE_READ, class, TAKES_NONE, handle, NULL, false    \
    }

/* A GET route that lists entries of a session with an ability. */
#define ENTRIES(pattern, name, ability)                                                            \
    {                                                                                              \
        "GET", OF_SESSION pattern, name, ROUTE_NO_BODY, SCOPE_READ, CLASS_LIST, TAKES_NONE,        \
            handle_entries_list, ability, false                                                    \
    }

/* A GET route that needs no token. */
#define OPEN(pattern, name, handle, of)                                                            \
    {                                                                                              \
        "GET", pattern, name, ROUTE_NO_BODY, SCOPE_OPEN, CLASS_OTHER, TAKES_NONE, handle, of,      \
            false                                                                                  \
    }

/* One of the five reads whose paths and answers are those of the source documents. */
#define SPECIFIED(method, pattern, name, body, handle)                                             \
    {                                                                                              \
        method, OF_PROJECT pattern, name, body, SCOPE_READ, CLASS_READ, TAKES_NONE, handle, NULL,  \
            true                                                                                   \
    }

/* A route that changes data, with a JSON body. */
#define WRITE(method, pattern, name, takes, handle)                                                \
    {                                                                                              \
        method, pattern, name, ROUTE_JSON, SCOPE_WRITE, CLASS_WRITE, takes, handle, NULL, false    \
    }

const route ROUTES[] = {
    SPECIFIED("GET", "/cards/{card_id}", "getCard", ROUTE_NO_BODY, handle_card_get),
    SPECIFIED("POST", "/cards/batch", "getCards", ROUTE_JSON, handle_cards_get),
    SPECIFIED("GET", "/boxes/{box_id}", "getBox", ROUTE_NO_BODY, handle_box_get),
    SPECIFIED("GET", "/boxes/{box_id}/cards", "getBoxCards", ROUTE_NO_BODY, handle_box_cards),
    SPECIFIED("POST", "/boxes/batch", "getBoxes", ROUTE_JSON, handle_boxes_get),
    READ("/projects", "listProjects", CLASS_OTHER, handle_projects_list),
    READ(OF_PROJECT, "getProject", CLASS_OTHER, handle_project_get),
    READ(OF_PROJECT "/export", "exportProject", CLASS_LIST, handle_project_export),
    {"POST", OF_PROJECT "/import", "importProject", ROUTE_STREAM, SCOPE_WRITE, CLASS_OTHER,
     TAKES_KEY, handle_project_import, NULL, false},
    WRITE("POST", OF_PROJECT "/cards", "addCards", TAKES_KEY, handle_cards_add),
    READ(OF_PROJECT "/search", "search", CLASS_LIST, handle_search),
    READ(OF_PROJECT "/usage", "getUsage", CLASS_LIST, handle_usage),
    READ(OF_PROJECT "/cards", "listCards", CLASS_LIST, handle_cards_list),
    {"DELETE", OF_PROJECT "/cards/{card_id}", "deleteCard", ROUTE_NO_BODY, SCOPE_WRITE, CLASS_WRITE,
     TAKES_KEY, handle_card_delete, NULL, false},
    READ(OF_PROJECT "/cards/{card_id}/revisions", "getCardRevisions", CLASS_LIST,
         handle_card_revisions),
    READ(OF_PROJECT "/cards/{card_id}/boxes", "getCardBoxes", CLASS_LIST, handle_card_boxes),
    WRITE("POST", OF_PROJECT "/boxes", "createBox", TAKES_NONE, handle_box_create),
    READ(OF_PROJECT "/boxes", "listBoxes", CLASS_LIST, handle_boxes_list),
    WRITE("PUT", OF_PROJECT "/boxes/{box_id}", "replaceBox", TAKES_KEY | TAKES_IF_MATCH,
          handle_box_replace),
    {"DELETE", OF_PROJECT "/boxes/{box_id}", "deleteBox", ROUTE_NO_BODY, SCOPE_WRITE, CLASS_WRITE,
     TAKES_KEY, handle_box_delete, NULL, false},
    WRITE("POST", OF_PROJECT "/boxes/{box_id}/append", "appendToBox", TAKES_KEY | TAKES_IF_MATCH,
          handle_box_append),
    WRITE("POST", OF_PROJECT "/boxes/{box_id}/fork", "forkBox", TAKES_NONE, handle_box_fork),
    WRITE("POST", OF_PROJECT "/boxes/{box_id}/seal", "sealBox", TAKES_KEY, handle_box_seal),
    READ(OF_PROJECT "/boxes/{box_id}/log", "getBoxLog", CLASS_LIST, handle_box_log),
    READ(OF_PROJECT "/boxes/{box_id}/context", "getBoxContext", CLASS_READ, handle_box_context),
    READ(OF_PROJECT "/abilities", "listAbilities", CLASS_LIST, handle_abilities_list),
    READ(OF_PROJECT "/abilities/{ability_id}", "getAbility", CLASS_READ, handle_ability_get),
    {"PUT", OF_PROJECT "/abilities/{ability_id}", "registerAbility", ROUTE_JSON, SCOPE_ADMIN,
     CLASS_WRITE, TAKES_KEY, handle_ability_put, NULL, false},
    {"DELETE", OF_PROJECT "/abilities/{ability_id}", "deleteAbility", ROUTE_NO_BODY, SCOPE_ADMIN,
     CLASS_WRITE, TAKES_KEY, handle_ability_delete, NULL, false},
    {"POST", OF_PROJECT "/abilities/{ability_id}", "invokeAbility", ROUTE_JSON, SCOPE_ABILITY,
     CLASS_OTHER, TAKES_NONE, handle_ability_invoke, NULL, false},
    READ(OF_PROJECT "/sessions", "listSessions", CLASS_LIST, handle_sessions_list),
    WRITE("PUT", OF_SESSION, "createSession", TAKES_KEY, handle_session_create),
    READ(OF_SESSION, "getSession", CLASS_READ, handle_session_get),
    {"DELETE", OF_SESSION, "deleteSession", ROUTE_NO_BODY, SCOPE_WRITE, CLASS_WRITE, TAKES_NONE,
     handle_session_delete, NULL, false},
    WRITE("POST", OF_SESSION "/entries", "appendToSession", TAKES_KEY | TAKES_IF_MATCH,
          handle_session_append),
    WRITE("POST", OF_SESSION "/messages", "addMessages", TAKES_KEY | TAKES_IF_MATCH,
          handle_session_add),
    ENTRIES("/tree", "listSessionTree", "session:tree"),
    ENTRIES("/leaves", "listSessionLeaves", "session:leaves"),
    ENTRIES("/branch-points", "listSessionBranchPoints", "session:branch_points"),
    ENTRIES("/labels", "listSessionLabels", "session:labels"),
    READ(OF_SESSION "/entries/{entry_id}", "getEntry", CLASS_READ, handle_entry_get),
    ENTRIES("/entries/{entry_id}/children", "listEntryChildren", "session:children"),
    ENTRIES("/entries/{entry_id}/path", "listEntryPath", "session:path"),
    ENTRIES("/path", "listHeadPath", "session:path"),
    READ(OF_SESSION "/diff", "compareEntries", CLASS_READ, handle_session_diff),
    READ(OF_SESSION "/context", "getSessionContext", CLASS_READ, handle_session_context),
    READ(OF_SESSION "/export", "exportSession", CLASS_LIST, handle_session_export),
    {"POST", OF_SESSION "/import", "importSession", ROUTE_STREAM, SCOPE_WRITE, CLASS_OTHER,
     TAKES_KEY, handle_session_import, NULL, false},
    WRITE("PUT", OF_SESSION "/head", "moveSessionHead", TAKES_KEY | TAKES_IF_MATCH,
          handle_session_move_head),
    WRITE("POST", OF_SESSION "/fork", "forkSession", TAKES_NONE, handle_session_fork),
    READ(OF_PROJECT "/tasks/{task_id}/stream", "streamTask", CLASS_OTHER, handle_task_stream),
    OPEN("/", "root", handle_ui_redirect, NULL),
    OPEN("/healthz", "healthz", handle_health, NULL),
    OPEN("/health", "health", handle_health, NULL),
    OPEN("/readyz", "readyz", handle_ready, NULL),
    OPEN("/version", "version", handle_version, NULL),
    OPEN("/openapi.json", "openapi", handle_openapi, NULL),
    {"GET", "/metrics", "metrics", ROUTE_NO_BODY, SCOPE_ADMIN, CLASS_OTHER, TAKES_NONE,
     handle_metrics, NULL, false},
    OPEN("/docs", "docs", handle_page, "docs.html"),
    OPEN("/ui", "uiRedirect", handle_ui_redirect, NULL),
    OPEN("/ui/", "ui", handle_page, "index.html"),
    OPEN("/ui/{file}", "uiFile", handle_ui_file, NULL),
    {NULL, NULL, NULL, ROUTE_NO_BODY, SCOPE_OPEN, CLASS_OTHER, TAKES_NONE, NULL, NULL, false},
};

_Static_assert(sizeof(ROUTES) / sizeof(ROUTES[0]) - 1 <= STATS_ROUTES_MAX,
               "requests are counted by the number of their route");

/* In hints, "..." stands for the path of the project. */
const route_hint ROUTE_HINTS[] = {
    /* For a path without an id there is no hint, as the source documents require. */
    {"GET", OF_PROJECT "/cards/", ""},
    {"GET", OF_PROJECT "/boxes/", ""},
    {"POST", "/projects", "the first write creates a project: POST /projects/{project}/cards"},
    {"PUT", OF_PROJECT, "the first write creates a project: POST .../cards"},
    {"POST", OF_PROJECT, "the first write creates a project: POST .../cards"},
    {"POST", OF_PROJECT "/cards/{card_id}", "with that card_id: POST .../cards"},
    {"PUT", OF_PROJECT "/cards/{card_id}", "with that card_id: POST .../cards"},
    {"POST", OF_PROJECT "/boxes/{box_id}", "with that box_id: POST .../boxes"},
    {"POST", OF_PROJECT "/boxes/{box_id}/cards", "POST .../boxes/{box}/append"},
    {"POST", OF_PROJECT "/sessions", "PUT .../sessions/{session}"},
    {"POST", OF_SESSION, "PUT .../sessions/{session}, POST .../sessions/{session}/entries"},
    {"GET", OF_SESSION "/entries",
     "all: GET .../sessions/{session}/tree, those on the path to the head: GET "
     ".../sessions/{session}/path, one: GET .../sessions/{session}/entries/{entry}"},
    {"POST", OF_SESSION "/append", "POST .../sessions/{session}/entries"},
    {"GET", OF_SESSION "/messages", "GET .../sessions/{session}/context"},
    {"GET", OF_SESSION "/branches",
     "GET .../sessions/{session}/leaves, GET .../sessions/{session}/branch-points"},
    {"GET", OF_SESSION "/head", "its head_entry_id: GET .../sessions/{session}"},
    {"GET", OF_PROJECT "/tasks",
     "all: POST .../abilities/ldg:task:query, unfinished: POST .../abilities/task:active"},
    {"POST", OF_PROJECT "/tasks", "POST .../abilities/task:spawn"},
    {"", OF_PROJECT "/tasks/{task_id}",
     "POST .../abilities/ldg:task:get, or at work: GET .../tasks/{task}/stream"},
    {"GET", OF_PROJECT "/tasks/{task_id}/messages", "POST .../abilities/ldg:msg:list"},
    {"POST", OF_PROJECT "/tasks/{task_id}/messages", "POST .../abilities/task:send"},
    {"", OF_PROJECT "/tasks/{task_id}/events", "GET .../tasks/{task}/stream"},
    {"", OF_PROJECT "/tasks/{task_id}/calls", "POST .../abilities/ldg:call:list"},
    {"", OF_PROJECT "/cards/{card_id}/history", "GET .../cards/{card}/revisions"},
    {"", OF_PROJECT "/boxes/{box_id}/history", "GET .../boxes/{box}/log"},
    {"", OF_PROJECT "/boxes/{box_id}/versions", "GET .../boxes/{box}/log"},
    {"", OF_PROJECT "/boxes/{box_id}/revisions", "GET .../boxes/{box}/log"},
    {"", OF_PROJECT "/entries/{entry_id}", "GET .../sessions/{session}/entries/{entry}"},
    {"", "/cards/{card_id}", "GET /projects/{project}/cards/{card}"},
    {"", "/boxes/{box_id}", "GET /projects/{project}/boxes/{box}"},
    {"", "/sessions/{session_id}", "GET /projects/{project}/sessions/{session}"},
    {"", "/openapi.yaml", "as JSON: GET /openapi.json, as a page: GET /docs"},
    {"", "/swagger", "GET /docs"},
    {"", "/redoc", "GET /docs"},
    {"", OF_PROJECT "/ability", "GET .../abilities"},
    {"", OF_PROJECT "/task", "POST .../abilities/ldg:task:query, POST .../abilities/task:spawn"},
    {NULL, NULL, NULL},
};
