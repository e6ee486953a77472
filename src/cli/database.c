/*
 * database.c: finds and opens the database of a command, and finds remedies for errors.
 */
#include "cli/cli.h"
#include "base/errors.h"

/* The time limit of a statement. It may be long, because the user can press Ctrl-C. */
#define STATEMENT_TIMEOUT_MS (10u * 60 * 1000)

/* True if the command uses the database of `cardbox dev` in ./var by default. */
static bool is_of_dev;

static const char *list_hint(const char *message)
{
    static const struct {
        const char *begin, *hint;
    } LISTS[] = {
        {"session not found", "; see `cardbox session list`; give an entry as SESSION ENTRY"},
        {"box not found", "; see `cardbox box list`"},
        {"card not found", "; see `cardbox card list`"},
        {"Task not found", "; see `cardbox task list --all`"},
        {"there is no ability", "; see `cardbox ability list`"},
    };

    for (size_t i = 0; i < sizeof(LISTS) / sizeof(LISTS[0]); i++) {
        if (strncmp(message, LISTS[i].begin, strlen(LISTS[i].begin)) == 0)
            return LISTS[i].hint;
    }
    return "";
}

const char *cli_hint(const cardbox_error *err)
{
    if (err->status == CARDBOX_NOT_FOUND)
        return list_hint(err->message);
    if (err->status == CARDBOX_UNAVAILABLE && error_has_answer(err))
        return "";
    if (err->status == CARDBOX_UNAVAILABLE && is_of_dev)
        return "; " DEV_STOPPED_HINT;
    if (err->status == CARDBOX_UNAVAILABLE)
        return "; " DEV_ELSEWHERE_HINT;
    if (err->status == CARDBOX_FORBIDDEN)
        return cli_is_of_project()
                   ? "; `cardbox doctor` with the same --dsn lists the projects of this role"
                   : "; run the command as the role that migrates the database";
    return "";
}

bool cli_dsn(const char **out, cli_call *call, char storage[DEV_DSN_SIZE])
{
    *out = call->dsn;
    if (call->dsn != NULL && *call->dsn != '\0')
        return true;
    dev_found found = dev_dsn_find(storage);
    is_of_dev = found != DEV_NONE;
    if (found == DEV_DSN)
        *out = storage;
    if (found == DEV_STOPPED)
        error_set(&call->err, CARDBOX_UNAVAILABLE, "no --dsn, CARDBOX_DSN or PG* variable");
    return found != DEV_STOPPED;
}

bool cli_open(cli_call *call)
{
    cardbox_options sdk_options = CARDBOX_OPTIONS_INIT;
    char dsn[DEV_DSN_SIZE];

    sdk_options.application_name = "cardbox-cli";
    sdk_options.pool_max = 1;
    sdk_options.statement_timeout_ms = STATEMENT_TIMEOUT_MS;
    sdk_options.no_named_statements = true; /* prepared statements gain little for the few
                                               statements of a command, and can fail behind
                                               PgBouncer */
    if (cli_dsn(&sdk_options.conninfo, call, dsn) &&
        cardbox_open(&call->db, &sdk_options, &call->err) == CARDBOX_OK)
        return true;
    cli_failed(call);
    return false;
}
