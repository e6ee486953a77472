/*
 * database.c: where a command's database is: where it was told, or in the folder of a `cardbox
 * dev`; and what to do when it can't be reached. Knows no command.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/cli.h"
#include "store/pg/connect.h"
#include "store/errors.h"

/* A person waits, and can press Ctrl-C: longer than a service would. */
#define STATEMENT_TIMEOUT_MS (10u * 60 * 1000)

/* Whether the database that was looked for is the one in ./var: a process looks for one. */
static bool is_of_dev;

const char *cli_hint(const cardbox_error *err)
{
    if (err->status == CARDBOX_UNAVAILABLE && is_of_dev)
        return "; the database of ./" CLI_DEV_FOLDER
               " is not running: start it with `cardbox dev` (make run)";
    if (err->status == CARDBOX_UNAVAILABLE)
        return "; is PostgreSQL running there? give --dsn DSN or set CARDBOX_DSN";
    if (err->status == CARDBOX_FORBIDDEN)
        return cli_is_of_project()
                   ? "; `cardbox doctor` with the same --dsn says which projects this role may see"
                   : "; run it as the role that owns the database";
    return "";
}

/* Whether the environment says where PostgreSQL is. */
static bool has_pg_variables(void)
{
    static const char *const names[] = {"PGHOST", "PGHOSTADDR", "PGSERVICE", "PGDATABASE",
                                        "PGPORT"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (getenv(names[i]) != NULL)
            return true;
    }
    return false;
}

/* Reads what a running `cardbox dev` has left, and not what somebody else has laid there. */
static const char *read_dev_dsn(FILE *file, char storage[CLI_DSN_SIZE])
{
    struct stat about;

    if (fstat(fileno(file), &about) != 0 || about.st_uid != geteuid() ||
        fgets(storage, CLI_DSN_SIZE, file) == NULL)
        *storage = '\0';
    storage[strcspn(storage, "\n")] = '\0';
    is_of_dev = *storage != '\0';
    return storage;
}

bool cli_dsn(const char **out, const cli_common *common, char storage[CLI_DSN_SIZE],
             cardbox_error *err)
{
    struct stat about;
    FILE *file = NULL;

    *out = common->dsn;
    if ((common->dsn != NULL && *common->dsn != '\0') || has_pg_variables())
        return true;
    file = fopen(CLI_DEV_FOLDER "/dsn", "re");
    if (file != NULL) {
        *out = read_dev_dsn(file, storage);
        fclose(file);
        return true;
    }
    /* What libpq would find by itself is another database than the one that is meant here. */
    is_of_dev = errno == ENOENT && lstat(CLI_DEV_FOLDER "/pg", &about) == 0;
    if (is_of_dev)
        error_set(err, CARDBOX_UNAVAILABLE, "no --dsn, CARDBOX_DSN or PG* variable");
    return !is_of_dev;
}

bool cli_is_dsn(const cli_common *common)
{
    cardbox_error err = CARDBOX_ERROR_INIT;

    if (common->dsn == NULL || conninfo_check(common->dsn, &err) == CARDBOX_OK)
        return true;
    cli_error("--dsn or CARDBOX_DSN: %s", err.message);
    return false;
}

bool cli_open(cardbox **db, const cli_common *common)
{
    cardbox_options options = CARDBOX_OPTIONS_INIT;
    cardbox_error err = CARDBOX_ERROR_INIT;
    char dsn[CLI_DSN_SIZE];

    options.application_name = "cardbox-cli";
    options.pool_max = 1;
    options.statement_timeout_ms = STATEMENT_TIMEOUT_MS;
    options.no_named_statements = true; /* few statements: preparing gains nothing, and PgBouncer
                                           needs no option */
    if (cli_dsn(&options.conninfo, common, dsn, &err) &&
        cardbox_open(db, &options, &err) == CARDBOX_OK)
        return true;
    cli_failed(&err);
    return false;
}
