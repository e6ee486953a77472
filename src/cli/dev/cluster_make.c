/*
 * cluster_make.c: creates a cluster under another name and renames it when it is complete, so that
 * a start after a failure begins again.
 */
#include "cli/dev/cluster.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include "cli/cli.h"
#include "db/statement.h"

/* Where clusters are kept whose user may not go where the folder is. */
#define SHARED_FOLDER "/var/lib/cardbox"

#define ARGUMENTS_MAX 12

int cluster_open_log(const cluster *c)
{
    int log = open(c->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

    if (log < 0)
        cli_error("cannot write %s: %s", c->log, strerror(errno));
    return log;
}

/* Runs a program of PostgreSQL's to its end, with its output in the log. `arguments` without its
 * name. */
static int run_program(const cluster *c, const char *program, const char *const *arguments,
                       const char *input)
{
    const char *argv[ARGUMENTS_MAX + 2] = {NULL};
    char path[PATH_MAX];
    int log, status;
    process_plan plan = {.argv = argv, .user = &c->user, .input = input, .death_signal = SIGKILL};

    if (!path_join(path, c->bin, program))
        return -1;
    argv[0] = path;
    for (size_t i = 0; i < ARGUMENTS_MAX && arguments[i] != NULL; i++)
        argv[i + 1] = arguments[i];
    log = cluster_open_log(c);
    if (log < 0)
        return -1;
    plan.output = log;
    plan.errors = log;
    status = process_run(&plan);
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

/* True if the cluster's user may enter our folder. Adds the permission if only the folder itself
 * lacks it. */
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

/* Makes an empty folder for the new cluster: in ours, or in SHARED_FOLDER. */
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

/* --- the cluster in it --- */

/* Some systems have no C.UTF-8; the order of texts is the same in C. */
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

bool cluster_make(cluster *c)
{
    char fresh[PATH_MAX];
    const char *const make_database[] = {"--single", "-D", fresh, "postgres", NULL};
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
    unlink(c->data); /* a link whose end is gone */
    if ((here ? rename(fresh, c->data) : symlink(fresh, c->data)) == 0)
        return true;
    cli_error("cannot make %s: %s", c->data, strerror(errno));
    remove_tree(fresh);
    return false;
}
