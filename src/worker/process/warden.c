/*
 * warden.c: the subreaper of one program. Whoever of its descendants loses its parent becomes the
 * warden's own child, so killing its children until there are none reaches them all.
 */
#include "worker/process/warden.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "worker/process/children.h"

enum {
    GRACE_ROUNDS = 10, /* after SIGTERM, before SIGKILL */
    GRACE_MS = 50,     /* of each round */
    NOT_REAPED = -1    /* no status of waitpid */
};

extern char **environ;

static void on_child(int number)
{
    (void)number;
}

static void report(warden_news news, int number)
{
    warden_report r = {(int)news, number};

    while (write(WARDEN_REPORT, &r, sizeof(r)) < 0 && errno == EINTR)
        continue;
}

static _Noreturn void become_program(char *const *argv, pid_t parent)
{
    sigset_t none;

    setpgid(0, 0);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* should somebody kill the warden; if that is done: */
    if (getppid() == parent)
        execve(argv[0], argv, environ);
    report(WARDEN_NOT_STARTED, errno);
    _exit(127);
}

/* --- ending them --- */

static void kill_child(void *arg, pid_t pid)
{
    (void)arg;
    kill(pid, SIGKILL);
}

/* Kills and reaps until no descendant is left. The program's status is kept if it comes by; once it
 * is reaped its number may be somebody else's. */
static void kill_all(pid_t program, int *status)
{
    for (;;) {
        int ended;
        if (*status == NOT_REAPED)
            kill(-program, SIGKILL);
        bool has_list = children_each(kill_child, NULL);
        pid_t pid = waitpid(-1, &ended, WNOHANG);
        if (pid < 0 && errno == ECHILD)
            return;
        if (pid == program)
            *status = ended;
        if (pid == 0 && !has_list && *status != NOT_REAPED)
            return;
        if (pid == 0)
            poll(NULL, 0, 1);
    }
}

/* Waits until the program has ended or an order comes, reaping orphans by the way. True: it ended
 * and `status` says how. */
static bool wait_for_end(pid_t program, int *status, int timeout_ms, const sigset_t *waiting)
{
    struct pollfd orders = {.fd = WARDEN_ORDERS, .events = POLLIN};
    struct timespec timeout = {timeout_ms / 1000, (long)(timeout_ms % 1000) * 1000000};

    for (;;) {
        int ended;
        pid_t pid = waitpid(-1, &ended, WNOHANG);
        if (pid == program) {
            *status = ended;
            return true;
        }
        if (pid > 0)
            continue;
        int ready = ppoll(&orders, 1, timeout_ms < 0 ? NULL : &timeout, waiting);
        if (ready >= 0 || timeout_ms >= 0)
            return false;
    }
}

/* After SIGTERM the program may tidy up for a moment. */
static bool end_gently(pid_t program, int *status, const sigset_t *waiting)
{
    kill(-program, SIGTERM);
    for (int i = 0; i < GRACE_ROUNDS; i++) {
        char order;
        if (wait_for_end(program, status, GRACE_MS, waiting))
            return true;
        struct pollfd orders = {.fd = WARDEN_ORDERS, .events = POLLIN};
        if (poll(&orders, 1, 0) > 0 && read(WARDEN_ORDERS, &order, 1) == 0)
            return false;
    }
    return false;
}

static void keep(pid_t program, const sigset_t *waiting)
{
    int status = NOT_REAPED;
    char order = 0;
    bool has_ended = wait_for_end(program, &status, -1, waiting);

    if (!has_ended && read(WARDEN_ORDERS, &order, 1) == 1 && order == WARDEN_ORDER_TERM)
        end_gently(program, &status, waiting);
    kill_all(program, &status);
    if (status != NOT_REAPED && WIFEXITED(status))
        report(WARDEN_EXITED, WEXITSTATUS(status));
    else
        report(WARDEN_KILLED,
               status != NOT_REAPED && WIFSIGNALED(status) ? WTERMSIG(status) : SIGKILL);
}

/* What is behind the program's variables was for the warden's own start. */
static void cut_environment(const char *count)
{
    char **end = environ;

    for (long left = strtol(count, NULL, 10); left > 0 && *end != NULL; left--)
        end++;
    *end = NULL;
}

_Noreturn void warden_main(char *const *argv)
{
    struct sigaction action = {.sa_handler = on_child};
    sigset_t waiting;

    /* The program, of the same user, is to have no hand in what the warden does. */
    prctl(PR_SET_DUMPABLE, 0);
    prctl(PR_SET_NAME, WARDEN_NAME);
    sigfillset(&waiting);
    sigdelset(&waiting, SIGCHLD);
    sigaction(SIGCHLD, &action, NULL);
    close(WARDEN_SELF);
    if (argv[1] == NULL || argv[2] == NULL)
        _exit(1);
    cut_environment(argv[1]);
    argv += 2;
    if (fcntl(WARDEN_ORDERS, F_SETFD, FD_CLOEXEC) != 0 ||
        fcntl(WARDEN_REPORT, F_SETFD, FD_CLOEXEC) != 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
        _exit(1);
    pid_t self = getpid(), program = fork();
    if (program == 0)
        become_program(argv, self);
    if (program < 0)
        report(WARDEN_NOT_STARTED, errno);
    /* Held here too, its pipes would look open when it has closed them. */
    close(WARDEN_INPUT);
    close(WARDEN_OUTPUT);
    close(WARDEN_COMPLAINTS);
    if (program > 0) {
        setpgid(program, program);
        keep(program, &waiting);
    }
    _exit(0);
}
