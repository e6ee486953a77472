/*
 * cluster_find.c: which PostgreSQL programs there are, and which user they may run as.
 */
#include "cli/dev/cluster.h"

#include <glob.h>
#include <pwd.h>
#include <sys/stat.h>
#include "cli/cli.h"

/* The oldest that has what the schema needs. */
#define VERSION_MIN 14

/* The major version that made the data: 0 if there is none yet. */
static long data_version(const cluster *c)
{
    char path[PATH_MAX], text[16] = "";
    FILE *file = NULL;

    if (!path_join(path, c->data, "PG_VERSION"))
        return 0;
    file = fopen(path, "re");
    if (file == NULL)
        return 0;
    if (fgets(text, sizeof(text), file) == NULL)
        text[0] = '\0';
    fclose(file);
    return strtol(text, NULL, 10);
}

/* Reads the version of the programs in a folder: "postgres (PostgreSQL) 15.18 (Debian ...)".
 * Returns the major version, 0 if a program is missing. */
static long programs_version(char version[32], const char *bin)
{
    char initdb[PATH_MAX], postgres[PATH_MAX], line[128];
    const char *const argv[] = {postgres, "--version", NULL};
    const char *number;

    if (!path_join(initdb, bin, "initdb") || !path_join(postgres, bin, "postgres"))
        return 0;
    if (access(initdb, X_OK) != 0 || access(postgres, X_OK) != 0 ||
        !process_first_line(line, sizeof(line), argv))
        return 0;
    number = strstr(line, ") ");
    snprintf(version, 32, "%.*s", number ? (int)strcspn(number + 2, " ") : 0,
             number ? number + 2 : "");
    return strtol(version, NULL, 10);
}

/* Uses the programs of a folder if their version fits. `seen` keeps the newest version. */
static bool try_folder(cluster *c, const char *bin, long required, long *newest)
{
    char version[32];
    long major = programs_version(version, bin);

    if (major > *newest)
        *newest = major;
    if (major < VERSION_MIN || (required != 0 && major != required))
        return false;
    snprintf(c->bin, sizeof(c->bin), "%s", bin);
    memcpy(c->version, version, sizeof(version));
    return true;
}

static bool try_folders(cluster *c, long required, long *newest)
{
    const char *const pg_config[] = {"pg_config", "--bindir", NULL};
    char bin[PATH_MAX];
    glob_t found;
    bool found_folder =
        process_first_line(bin, sizeof(bin), pg_config) && try_folder(c, bin, required, newest);

    if (found_folder || glob("/usr/lib/postgresql/*/bin", 0, NULL, &found) != 0)
        return found_folder;
    for (size_t i = found.gl_pathc; i > 0 && !found_folder; i--)
        found_folder = try_folder(c, found.gl_pathv[i - 1], required, newest);
    globfree(&found);
    return found_folder;
}

bool cluster_find_programs(cluster *c)
{
    long required = data_version(c), newest = 0;

    if (try_folders(c, required, &newest))
        return true;
    if (newest == 0)
        cli_error("PostgreSQL's server is not installed: apt-get install postgresql");
    else if (required != 0)
        cli_error("%s was made by PostgreSQL %ld and there is only %ld: install postgresql-%ld, or "
                  "choose another folder with --data",
                  c->data, required, newest, required);
    else
        cli_error("PostgreSQL %ld is too old: install %d or later", newest, VERSION_MIN);
    return false;
}

/* --- who runs it --- */

/* PostgreSQL refuses to run as root: it runs as the owner of the data, at first as postgres. */
static bool find_user_for_root(cluster *c, const struct stat *data)
{
    const struct passwd *account =
        data != NULL && data->st_uid != 0 ? getpwuid(data->st_uid) : getpwnam("postgres");

    if (account != NULL) {
        c->user = (process_user){.change = true, .uid = account->pw_uid, .gid = account->pw_gid};
        snprintf(c->user.name, sizeof(c->user.name), "%s", account->pw_name);
        return true;
    }
    cli_error("PostgreSQL does not run as root and there is no user postgres: run this as another "
              "user");
    return false;
}

bool cluster_find_user(cluster *c)
{
    struct stat data;
    bool exists = stat(c->data, &data) == 0;

    c->user.change = false;
    if (geteuid() == 0)
        return find_user_for_root(c, exists ? &data : NULL);
    if (!exists || data.st_uid == geteuid())
        return true;
    cli_error("%s belongs to another user: choose another folder with --data", c->data);
    return false;
}
