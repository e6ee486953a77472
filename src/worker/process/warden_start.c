/*
 * warden_start.c: the worker's side of wardens: begins them, and ends what a warden that was killed
 * has left. Children are the process's and not a thread's or a handle's, and so is the list of
 * those among them that are wardens.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "worker/process/children.h"
#include "worker/process/warden.h"

/* Held from before a warden is there until it is in the list: nobody takes it for an orphan. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static warden *wardens;

/* Children that were there before the first warden: of whoever became this process, and not ours to
 * end. Their numbers stay theirs, since nobody reaps them here. */
enum { FOUND_MAX = 1024 };
static pid_t found[FOUND_MAX];
static size_t found_count;
static bool has_looked;

/* --- the start --- */

extern char **environ;

/* What the loader must know to find the libraries of the worker again for a warden. */
static const char *const OF_LOADER[] = {"LD_LIBRARY_PATH=", "LD_PRELOAD="};
enum { OF_LOADER_COUNT = sizeof(OF_LOADER) / sizeof(OF_LOADER[0]) };

/* A warden's words and environment, as warden_main takes them apart again. */
typedef struct beginning {
    char **words, **environment;
    char count[24]; /* of the program's variables */
} beginning;

static size_t count_of(char *const *list)
{
    size_t count = 0;
    while (list[count] != NULL)
        count++;
    return count;
}

static bool is_of_loader(const char *variable)
{
    for (size_t i = 0; i < OF_LOADER_COUNT; i++)
        if (strncmp(variable, OF_LOADER[i], strlen(OF_LOADER[i])) == 0)
            return true;
    return false;
}

static bool prepare(beginning *out, char *const *argv, char *const *environment)
{
    static char name[] = WARDEN_NAME;
    size_t words = count_of(argv), count = count_of(environment);

    out->words = calloc(words + 3, sizeof(*out->words));
    out->environment = calloc(count + count_of(environ) + 1, sizeof(*out->environment));
    if (out->words == NULL || out->environment == NULL)
        return false;
    snprintf(out->count, sizeof(out->count), "%zu", count);
    out->words[0] = name;
    out->words[1] = out->count;
    memcpy(out->words + 2, argv, words * sizeof(*argv));
    memcpy(out->environment, environment, count * sizeof(*environment));
    for (char **variable = environ; *variable != NULL; variable++)
        if (is_of_loader(*variable))
            out->environment[count++] = *variable;
    return true;
}

/* The file that runs, also when another one has taken its place. By a descriptor, since what runs
 * it (valgrind) may be the executable in the kernel's eyes, and lets only this be opened. */
static int open_self(void)
{
    int low = open("/proc/self/exe", O_PATH | O_CLOEXEC);
    int fd = low >= 0 ? fcntl(low, F_DUPFD_CLOEXEC, WARDEN_FDS) : -1;

    if (low >= 0)
        close(low);
    return fd;
}

/* Signals for the worker (Ctrl-C on its terminal) are the worker's to act on: a session of its own,
 * all of them blocked, and none ignored, as a program expects. Sockets of the database and of
 * models are not for programs, and a pipe's end that is held there would never be seen to be
 * closed here. */
static int spawn(pid_t *pid, int self, const beginning *with, const int fds[WARDEN_FDS])
{
    static const char path[] = "/proc/self/fd/5";
    _Static_assert(WARDEN_SELF == 5, "the path names it");
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t all;
    int fault = posix_spawn_file_actions_init(&files);

    if (fault != 0)
        return fault;
    sigfillset(&all);
    posix_spawnattr_init(&how);
    posix_spawnattr_setsigmask(&how, &all);
    posix_spawnattr_setsigdefault(&how, &all);
    posix_spawnattr_setflags(&how,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    for (int i = 0; i < WARDEN_FDS && fault == 0; i++)
        fault = posix_spawn_file_actions_adddup2(&files, fds[i], i);
    if (fault == 0)
        fault = posix_spawn_file_actions_adddup2(&files, self, WARDEN_SELF);
    if (fault == 0)
        fault = posix_spawn_file_actions_addclosefrom_np(&files, WARDEN_SELF + 1);
    if (fault == 0)
        fault = posix_spawn(pid, path, &files, &how, with->words, with->environment);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    return fault;
}

static void note_found(void *arg, pid_t pid)
{
    (void)arg;
    if (found_count < FOUND_MAX)
        found[found_count++] = pid;
}

static void look_once(void)
{
    if (!has_looked)
        children_each(note_found, NULL);
    has_looked = true;
}

int warden_start(warden *out, char *const *argv, char *const *environment,
                 const int fds[WARDEN_FDS])
{
    int self = open_self(), fault = 0;
    beginning with = {.words = NULL};

    pthread_mutex_lock(&lock);
    look_once();
    if (self < 0 || !prepare(&with, argv, environment) || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
        fault = errno;
    else
        fault = spawn(&out->pid, self, &with, fds);
    if (fault == 0) {
        out->next = wardens;
        wardens = out;
    }
    pthread_mutex_unlock(&lock);
    free(with.words);
    free(with.environment);
    if (self >= 0)
        close(self);
    return fault;
}

/* --- the end --- */

static bool is_warden(pid_t pid)
{
    const warden *w = wardens;

    while (w != NULL && w->pid != pid)
        w = w->next;
    return w != NULL;
}

static bool was_found(pid_t pid)
{
    for (size_t i = 0; i < found_count; i++)
        if (found[i] == pid)
            return true;
    return false;
}

static void end_orphan(void *arg, pid_t pid)
{
    bool *is_left = arg;

    if (is_warden(pid) || was_found(pid))
        return;
    *is_left = true;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, WNOHANG);
}

/* The end of each makes orphans of its children, until there are none. */
static void end_orphans(int patience_ms)
{
    int64_t end_ms = clock_ms() + patience_ms;
    bool is_left = true;

    while (is_left && clock_ms() < end_ms) {
        is_left = false;
        pthread_mutex_lock(&lock);
        children_each(end_orphan, &is_left);
        pthread_mutex_unlock(&lock);
        if (is_left)
            clock_sleep_ms(1);
    }
}

int warden_end(warden *w, int patience_ms)
{
    int status = 0;
    warden **at = &wardens;

    kill(w->pid, SIGKILL);
    while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    pthread_mutex_lock(&lock);
    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
    pthread_mutex_unlock(&lock);
    if (!WIFEXITED(status))
        end_orphans(patience_ms);
    return status;
}
