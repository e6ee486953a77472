/*
 * doctor.c: `cardbox doctor`: checks a database and the role that connects to it, and prints
 * problems with their remedies.
 */
#include <inttypes.h>
#include "base/text.h"
#include "app/word_wrap.h"
#include "cli/cli.h"
#include "cli/view/term.h"
#include "db/schema.h"
#include "store/admin/checks.h"

typedef enum finding { FINDING_OK, FINDING_WARNING, FINDING_ERROR } finding;

enum { DETAIL_SIZE = CARDBOX_MESSAGE_SIZE + 1024 };

/* Widths of the columns of results and of names of checks. */
enum { RESULT_WIDTH = sizeof("warning") - 1, CHECK_WIDTH = sizeof("search path") - 1 };

typedef struct doctor {
    bool json;
    bool failed;    /* true: a check has found an error */
    bool is_excess; /* true: the role has rights that it should not have */
} doctor;

static void print_row(const char *result, term_style style, const char *check, const char *text)
{
    const int column = RESULT_WIDTH + 2 + CHECK_WIDTH + 2;
    buf line = BUF_INIT((size_t)4 * DETAIL_SIZE);

    term_add_line(&line, slice_of(text), DETAIL_SIZE);
    printf("%s", term_on(style));
    int at = printf("%s", result);
    printf("%s", term_off(style));
    at += printf("%*s%s", RESULT_WIDTH + 2 - at, "", check);
    word_wrap_beside(stdout, buf_str(&line), at, column);
    buf_free(&line);
}

__attribute__((format(printf, 4, 5))) static void report(doctor *d, finding what, const char *check,
                                                         const char *format, ...)
{
    static const struct {
        const char *name;
        term_style style;
    } results[] = {{"ok", STYLE_GREEN}, {"warning", STYLE_YELLOW}, {"error", STYLE_RED}};
    char text[DETAIL_SIZE];
    va_list args;

    va_start(args, format);
    text_format(text, sizeof(text), format, args);
    va_end(args);
    d->failed = d->failed || what == FINDING_ERROR;
    if (d->json)
        d->failed = cli_print_json(json_pack("{s:s, s:s, s:s}", "check", check, "result",
                                             results[what].name, "detail", text)) != CLI_DONE ||
                    d->failed;
    else
        print_row(results[what].name, results[what].style, check, text);
}

/* --- the checks --- */

static void check_server(doctor *d, const admin_facts *facts)
{
    report(d, FINDING_OK, "connection", "database %s, %" PRId64 " MB, as role %s", facts->database,
           facts->bytes / 1000000, facts->role);
    if (strtol(facts->version, NULL, 10) >= 15)
        report(d, FINDING_OK, "server", "PostgreSQL %s", facts->version);
    else
        report(d, FINDING_ERROR, "server", "PostgreSQL %s is too old: 15 or later is needed",
               facts->version);
    if (facts->in_recovery)
        report(d, FINDING_WARNING, "server",
               "a standby: nothing can be written; give the primary, or all hosts with "
               "target_session_attrs=read-write");
    else if (facts->reads_only)
        report(d, FINDING_WARNING, "server",
               "default_transaction_read_only is on: nothing can be written; ALTER DATABASE %s SET "
               "default_transaction_read_only = off, or change it where it was set",
               facts->database);
    if (strcmp(facts->encoding, "UTF8") != 0)
        report(d, FINDING_ERROR, "server",
               "the database's encoding is %s, which lacks characters of JSON: move the data to a "
               "database that is made with ENCODING 'UTF8' TEMPLATE template0",
               facts->encoding);
}

static void check_schema(doctor *d, const admin_facts *facts)
{
    if (facts->migration == schema_newest())
        report(d, FINDING_OK, "migrations", "at migration %d, the newest", facts->migration);
    else
        report(d, FINDING_WARNING, "migrations",
               "at migration %d, newer than this build's %d: use a newer cardbox", facts->migration,
               schema_newest());
    if (*facts->open_tables == '\0')
        report(d, FINDING_OK, "isolation", "row-level security is on and forced on every table");
    else
        report(d, FINDING_ERROR, "isolation",
               "row-level security is not on and forced on %s: ALTER TABLE ... ENABLE, and FORCE, "
               "ROW LEVEL SECURITY",
               facts->open_tables);
    if (*facts->bad_writers == '\0')
        report(d, FINDING_OK, "isolation", "the functions that write run as cardbox_writer");
    else
        report(
            d, FINDING_ERROR, "isolation",
            "%s do not run as cardbox_writer, for example after pg_restore --no-owner: run cardbox "
            "migrate as the owner of these functions",
            facts->bad_writers);
}

/* Checks the search_path of the role. CardBox uses the role's search_path only behind a pooler:
 * without a pooler, each connection of CardBox sets another search_path. */
static void check_path(doctor *d, const admin_facts *facts)
{
    if (*facts->open_schemas == '\0')
        report(d, FINDING_OK, "search path", "no other role may create objects in its schemas");
    else
        report(
            d, FINDING_WARNING, "search path",
            "other roles may create objects in %s, where %s looks up names behind a pooler: revoke "
            "that right, or ALTER ROLE %s SET search_path = pg_catalog",
            facts->open_schemas, facts->role, facts->role);
}

static void check_worker(doctor *d, const admin_facts *facts)
{
    if (!facts->in_worker_role)
        report(
            d, FINDING_WARNING, "role",
            "%s does not have the rights of cardbox_service or cardbox_worker (for a service, run "
            "the statement GRANT cardbox_service TO %s)",
            facts->role, facts->role);
    else if (facts->granted == 0)
        report(d, FINDING_WARNING, "role",
               "%s is a worker's role and sees no project: INSERT INTO cardbox.tenant_grants "
               "(tenant_id, role_name) VALUES ('PROJECT', '%s')",
               facts->role, facts->role);
    else
        report(d, FINDING_OK, "role", "worker: sees project%s %s%s", facts->granted == 1 ? "" : "s",
               facts->grants, facts->granted > ADMIN_GRANTS_NAMED ? ", ..." : "");
}

/* Reports a right that the role should not have. The remedy is the same for all such
 * rights: each JSON report contains the remedy, and check_bounds() prints it once as text.
 * Superusers get warnings, because a superuser may migrate the database. */
static void say_excess(doctor *d, const admin_facts *facts, const char *check, const char *who,
                       const char *what)
{
    bool permitted = facts->is_dev || facts->rights.superuser;
    d->is_excess = true;
    report(d, permitted ? FINDING_WARNING : FINDING_ERROR, check, "%s %s%s", who, what,
           d->json ? ": " ROLE_REMEDY : "");
}

/* True for the role that migrates the database: it needs the rights of the tables' owner. */
static bool is_owner(const admin_facts *facts)
{
    return facts->rights.owner && !facts->rights.superuser && !facts->rights.bypasses_rls;
}

/* Administrators see whether the roles of servers and workers have rights that these roles should
 * not have. */
static void check_members(doctor *d, const admin_facts *facts)
{
    if (*facts->bad_members == '\0')
        report(d, FINDING_OK, "role",
               "the roles of servers and workers have no right that breaks the isolation");
    else
        report(d, facts->is_dev ? FINDING_WARNING : FINDING_ERROR, "role",
               "roles of servers or workers can break the isolation: %s. Use roles that are only "
               "members of cardbox_service or cardbox_worker",
               facts->bad_members);
}

/* cardboxd refuses a role with excess rights if other machines can reach the server. */
static void check_role(doctor *d, const admin_facts *facts)
{
    const char *excess = role_excess(&facts->rights);

    if (is_owner(facts))
        report(d, FINDING_OK, "role",
               "%s owns the tables: use this role for cardbox migrate, token and gc, and other "
               "roles for servers and workers",
               facts->role);
    else if (excess != NULL)
        say_excess(d, facts, "role", facts->role, excess);
    else if (!facts->in_service_role)
        check_worker(d, facts);
    else
        report(d, FINDING_OK, "role", "%s has the rights of cardbox_service only", facts->role);
    if (facts->rights.owner || facts->rights.superuser)
        check_members(d, facts);
}

/* Tries forbidden operations and rolls them back. The owner may make tokens and grants. On a
 * standby or with default_transaction_read_only, only the read is tried, because writes of any role
 * would fail. */
static void check_bounds(doctor *d, const admin_facts *facts, cardbox *db)
{
    static const char *const attempts[] = {"read past row-level security", "make a token",
                                           "grant itself a project"};
    bool tries_writes = !facts->in_recovery && !facts->reads_only && !is_owner(facts);
    for (int what = 0; what < ADMIN_ATTEMPTS; what++) {
        if (what != ADMIN_READ_PAST && !tries_writes)
            continue;
        if (admin_try(db, (admin_attempt)what))
            say_excess(d, facts, "isolation", "a test shows that this role can", attempts[what]);
        else
            report(d, FINDING_OK, "isolation", "a test shows that this role can't %s",
                   attempts[what]);
    }
    if (d->is_excess && !d->json)
        print_row("remedy", STYLE_CYAN, "role", ROLE_REMEDY);
}

static void check_durability(doctor *d, const admin_facts *facts)
{
    if (facts->commits_late)
        report(
            d, FINDING_WARNING, "durability",
            "synchronous_commit is off: a crash loses the last acknowledged writes; ALTER DATABASE "
            "%s SET synchronous_commit = on, or change it where it was set",
            facts->database);
    if (facts->fsync_off)
        report(
            d, FINDING_WARNING, "durability",
            "fsync is off: a crash of the machine can lose acknowledged writes or all data; as a "
            "superuser: ALTER SYSTEM SET fsync = on; SELECT pg_reload_conf()");
    if (facts->full_pages_off)
        report(d, FINDING_WARNING, "durability",
               "full_page_writes is off: a crash of the machine can leave broken pages, unless its "
               "file system writes pages atomically; as a superuser: ALTER SYSTEM SET "
               "full_page_writes = on; SELECT pg_reload_conf()");
    if (facts->no_standby)
        report(
            d, FINDING_ERROR, "durability",
            "synchronous_standby_names requires a standby and none is connected: writes wait for "
            "it and get 504; start a standby, or as a superuser: ALTER SYSTEM SET "
            "synchronous_standby_names = ''; SELECT pg_reload_conf()");
    if (!facts->commits_late && !facts->fsync_off && !facts->full_pages_off && !facts->no_standby)
        report(d, FINDING_OK, "durability", "acknowledged writes are on disk");
}

/* Transaction and multixact ids have 32 bits, so VACUUM must freeze old ones. PostgreSQL rejects
 * writes when fewer than three million ids are left. */
static void check_age(doctor *d, const admin_facts *facts)
{
    const int million = 1000000, late = 1000 * million, last = 2100 * million;
    if (facts->age < late)
        report(d, FINDING_OK, "wraparound",
               "the oldest unfrozen transaction id has the age %d of 2147 million",
               facts->age / million);
    else
        report(
            d, facts->age < last ? FINDING_WARNING : FINDING_ERROR, "wraparound",
            "the oldest unfrozen transaction id of database %s has the age %d million. PostgreSQL "
            "refuses writes from 2144 million on. End old transactions in pg_stat_activity and "
            "pg_prepared_xacts, and drop unused replication slots. Then run VACUUM in that "
            "database as a superuser",
            facts->oldest, facts->age / million);
}

/* Checks jit and random_page_cost of the database. Connections of a server without a pooler set
 * both themselves. */
static void check_settings(doctor *d, const admin_facts *facts)
{
    if (facts->has_settings)
        report(d, FINDING_OK, "settings",
               "jit is off and random_page_cost 1, as migrations set them");
    else
        report(
            d, FINDING_WARNING, "settings",
            "jit is on or random_page_cost is above 1, as after a restore without -C. Statements "
            "of this program, and those behind a pooler, are slower. Run ALTER DATABASE %s SET jit "
            "= off; ALTER DATABASE %s SET random_page_cost = 1",
            facts->database, facts->database);
}

/* --- the command --- */

static void say_why_not(doctor *d, const cardbox_error *err)
{
    if (err->status == CARDBOX_INTERNAL)
        report(d, FINDING_ERROR, "migrations", "%s", err->message);
    else if (err->status == CARDBOX_FORBIDDEN)
        report(d, FINDING_ERROR, "role",
               "%s; a service's role must be a member of cardbox_service, a worker's of "
               "cardbox_worker: GRANT cardbox_service TO ...",
               err->message);
    else
        report(d, FINDING_ERROR, "connection", "%s%s", err->message, cli_hint(err));
}

static cli_exit run_doctor(cli_call *call)
{
    doctor d = {.json = call->json};
    cardbox_options sdk_options = CARDBOX_OPTIONS_INIT;
    char dsn[DEV_DSN_SIZE];
    admin_facts facts;

    sdk_options.application_name = "cardbox-doctor";
    sdk_options.no_named_statements = true;
    if (!cli_dsn(&sdk_options.conninfo, call, dsn) ||
        cardbox_open(&call->db, &sdk_options, &call->err) != CARDBOX_OK) {
        say_why_not(&d, &call->err);
    } else if (admin_inspect(call->db, &facts, &call->err) != CARDBOX_OK) {
        report(&d, FINDING_ERROR, "connection", "%s", call->err.message);
    } else {
        check_server(&d, &facts);
        check_role(&d, &facts);
        check_bounds(&d, &facts, call->db);
        check_schema(&d, &facts);
        check_path(&d, &facts);
        check_durability(&d, &facts);
        check_age(&d, &facts);
        check_settings(&d, &facts);
    }
    return d.failed ? CLI_FAILED : CLI_DONE;
}

const cli_command cli_doctor = {
    .name = "doctor",
    .summary = "check the database, the role and the isolation",
    .description = "Use the connection string of the service, because doctor checks the role that "
                   "connects. As the owner of the tables or a superuser, doctor also checks the "
                   "roles of all services and workers. The exit status is 1 if there is an error, "
                   "not for warnings.",
    .examples = "doctor --dsn 'host=db user=cardbox_app dbname=cardbox'\n"
                "doctor --json",
    .options = CLI_OPTIONS(CLI_DSN, CLI_JSON),
    .without_database = true,
    .run = run_doctor,
};
