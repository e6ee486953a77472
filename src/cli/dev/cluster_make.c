/*
 * cluster_make.c: finds PostgreSQL's programs and the user that runs them, and makes a cluster. A
 * new cluster gets its final name when it is complete, so after a failure the next start makes a
 * new one.
 */
#include "cli/dev/dev_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <pwd.h>
#include <sys/stat.h>
#include "app/line_reader.h"
#include "db/statement.h"

/* Folder for a new cluster if the user that runs PostgreSQL may not enter the folder of `cardbox
 * dev`.
 */
#define SHARED_FOLDER "/var/lib/cardbox"

#define ARGUMENTS_MAX 12

/* The oldest major version of PostgreSQL with all features that the schema needs. */
#define VERSION_MIN 15

/* Returns the major version of the PostgreSQL that made the data; 0: there is no data yet. */
static long data_version(const cluster *c)
{
    char path[PATH_MAX], text[16];

    if (!path_join(path, c->data, "PG_VERSION") || !line_reader_first(text, sizeof(text), path))
        return 0;
    return strtol(text, NULL, 10);
}

/* Reads the version in the output "postgres (PostgreSQL) 15.18 (Debian ...)" of the program in the
 * folder `bin`. Returns the major version; 0: a program is missing or does not work. */
static long programs_version(char version[32], const char *bin)
{
    char initdb[PATH_MAX], postgres[PATH_MAX], line[128];
    const char *const argv[] = {postgres, "--version", NULL};

    if (!path_join(initdb, bin, "initdb") || !path_join(postgres, bin, "postgres"))
        return 0;
    if (access(initdb, X_OK) != 0 || access(postgres, X_OK) != 0 ||
        !process_first_line(line, sizeof(line), argv))
        return 0;
    const char *number = strstr(line, ") ");
    snprintf(version, 32, "%.*s", number ? (int)strcspn(number + 2, " ") : 0,
             number ? number + 2 : "");
    return strtol(version, NULL, 10);
}

/* Uses the programs in the folder `bin` if their major version is at least VERSION_MIN and equals
 * `required` (0: any version). *newest is the newest version found so far. */
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

static bool find_programs(cluster *c)
{
    long required = data_version(c), newest = 0;

    if (try_folders(c, required, &newest))
        return true;
    if (newest == 0)
        cli_error("PostgreSQL's server was not found: apt-get install postgresql");
    else if (required != 0)
        cli_error("%s was made by PostgreSQL %ld and there is only %ld: install postgresql-%ld, or "
                  "choose another folder with --data",
                  c->data, required, newest, required);
    else
        cli_error("PostgreSQL %ld is too old: install %d or later", newest, VERSION_MIN);
    return false;
}

/* --- who runs it --- */

/* PostgreSQL refuses to run as root. Chooses the owner of the data, or the user postgres if there
 * is no data yet or root owns the data. */
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

static bool find_user(cluster *c)
{
    struct stat data;
    bool exists = stat(c->data, &data) == 0;

    c->user.change = false;
    if (geteuid() == 0)
        return find_user_for_root(c, exists ? &data : NULL);
    if (!exists || data.st_uid == geteuid())
        return true;
    return cli_error_and(false, "%s belongs to another user: choose another folder with --data",
                         c->data);
}

/* --- running the programs --- */

int cluster_open_log(const cluster *c)
{
    int log = open(c->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

    if (log < 0)
        cli_error("cannot write %s: %s", c->log, strerror(errno));
    return log;
}

/* Runs a program of PostgreSQL to its end, and appends the program's output to the log. `arguments`
 * does not contain the program's name. Returns the exit status; -1: the program did not start. */
static int run_program(const cluster *c, const char *program, const char *const *arguments,
                       const char *input)
{
    const char *argv[ARGUMENTS_MAX + 2] = {NULL};
    char path[PATH_MAX];
    process_plan plan = {.argv = argv, .user = &c->user, .input = input, .death_signal = SIGKILL};

    if (!path_join(path, c->bin, program))
        return -1;
    argv[0] = path;
    for (size_t i = 0; i < ARGUMENTS_MAX && arguments[i] != NULL; i++)
        argv[i + 1] = arguments[i];
    int log = cluster_open_log(c);
    if (log < 0)
        return -1;
    plan.output = log;
    plan.errors = log;
    int status = process_run(&plan);
    close(log);
    return status;
}

/* --- the folder --- */

static int remove_entry(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about;
    (void)kind;
    (void)place;
    return remove(path);
}

static void remove_tree(const char *path)
{
    nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* True if the user that runs PostgreSQL may enter the folder c->dir. If a permission to enter
 * c->dir itself is missing, adds this permission. Does not change folders above c->dir. */
static bool may_enter(const cluster *c)
{
    struct stat about;

    if (!c->user.change || process_may_enter(c->dir, &c->user))
        return true;
    if (stat(c->dir, &about) != 0 || chmod(c->dir, (about.st_mode & 07777) | 0011) != 0)
        return false;
    if (process_may_enter(c->dir, &c->user))
        return true;
    chmod(c->dir, about.st_mode & 07777);
    return false;
}

/* Makes an empty folder for the new cluster: in c->dir if `here`, else in SHARED_FOLDER. */
static bool make_folder(const cluster *c, bool here, char fresh[PATH_MAX])
{
    bool made;

    if (here) {
        if (!path_join(fresh, c->dir, "pg.new"))
            return false;
        remove_tree(fresh);
        made = mkdir(fresh, 0700) == 0;
    } else {
        snprintf(fresh, PATH_MAX, "%s/dev-XXXXXX", SHARED_FOLDER);
        made = (mkdir(SHARED_FOLDER, 0755) == 0 || errno == EEXIST) && mkdtemp(fresh) != NULL;
    }
    if (made && c->user.change)
        made = chown(fresh, c->user.uid, c->user.gid) == 0;
    if (!made)
        cli_error("cannot make %s: %s", fresh, strerror(errno));
    return made;
}

/* --- the cluster --- */

/* If initdb fails with the locale C.UTF-8, which some systems lack, tries the locale C. Both sort
 * texts in the same order. */
static bool init_cluster(const cluster *c, const char *fresh)
{
    const char *arguments[] = {"-D", fresh,  "-U", "cardbox",           "-A", "trust",
                               "-E", "UTF8", NULL, "--no-instructions", NULL};
    static const char *const locales[] = {"--locale=C.UTF-8", "--locale=C"};

    for (size_t i = 0; i < sizeof(locales) / sizeof(locales[0]); i++) {
        arguments[8] = locales[i];
        if (run_program(c, "initdb", arguments, NULL) == 0)
            return true;
    }
    return false;
}

bool cluster_prepare(cluster *c)
{
    char fresh[PATH_MAX];
    const char *const make_database[] = {"--single", "-D", fresh, "postgres", NULL};

    if (!find_user(c) || !find_programs(c))
        return false;
    bool here = may_enter(c);
    if (access(c->data, F_OK) == 0)
        return true;
    if (!make_folder(c, here, fresh))
        return false;
    if (!init_cluster(c, fresh) || run_program(c, "postgres", make_database,
                                               statement_get(STATEMENT_dev_database)->text) != 0) {
        cli_error("cannot make a PostgreSQL cluster; the end of %s:", c->log);
        process_print_tail(c->log);
        remove_tree(fresh);
        return false;
    }
    unlink(c->data); /* c->data may be a symbolic link to a removed folder */
    if ((here ? rename(fresh, c->data) : symlink(fresh, c->data)) == 0)
        return true;
    cli_error("cannot make %s: %s", c->data, strerror(errno));
    remove_tree(fresh);
    return false;
}
