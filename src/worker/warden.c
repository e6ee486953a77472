/*
 * warden.c: the subreaper of one program. Whoever of its descendants loses its parent becomes the
 * warden's own child, so killing its children until there are none reaches them all.
 */
#include "worker/warden.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    CHILDREN_SIZE = 4096, /* of the kernel's list of children that is read at once */
    GRACE_ROUNDS = 10,    /* after SIGTERM, before SIGKILL */
    GRACE_MS = 50,        /* of each round */
    NOT_REAPED = -1       /* no status of waitpid */
};

/* Where the program's descriptors are put in the warden, so that all others can be closed. */
enum { FD_INPUT = 0, FD_OUTPUT, FD_COMPLAINTS, FD_ORDERS, FD_REPORT, FD_COUNT };

/* The worker's, whose copy this process has. */
extern char **environ;

static void on_child(int number)
{
    (void)number;
}

static void report(warden_news news, int number)
{
    warden_report r = {(int)news, number};

    while (write(FD_REPORT, &r, sizeof(r)) < 0 && errno == EINTR)
        continue;
}

/* Closes all but what is needed: sockets of the database and of models are not for programs, and a
 * pipe's end that is held here would never be seen to be closed there. */
static bool take_descriptors(const warden_start *start)
{
    int from[FD_COUNT] = {start->input, start->output, start->complaints, start->orders,
                          start->report};

    for (int i = 0; i < FD_COUNT; i++) {
        from[i] = fcntl(from[i], F_DUPFD, FD_COUNT);
        if (from[i] < 0)
            return false;
    }
    for (int i = 0; i < FD_COUNT; i++)
        if (dup2(from[i], i) < 0)
            return false;
    fcntl(FD_ORDERS, F_SETFD, FD_CLOEXEC);
    fcntl(FD_REPORT, F_SETFD, FD_CLOEXEC);
    closefrom(FD_COUNT);
    return true;
}

/* Signals as a program expects to find them. */
static void reset_signals(void)
{
    sigset_t none;

    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The kernel shows this memory as /proc/PID/environ: to the same user only by PR_SET_DUMPABLE, but
 * to root always. It is a copy; the worker's own stays as it is. */
static void wipe_environment(void)
{
    for (char **variable = environ; variable != NULL && *variable != NULL; variable++)
        explicit_bzero(*variable, strlen(*variable));
}

static _Noreturn void become_program(const warden_start *start)
{
    setpgid(0, 0);
    reset_signals();
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* of the warden, should somebody kill it */
    execve(start->argv[0], start->argv, start->environment);
    report(WARDEN_NOT_STARTED, errno);
    _exit(127);
}

/* --- ending them --- */

/* Sends SIGKILL to each of our children, as the kernel lists them. A number that the end of the
 * list cuts is left for the next time. False: this kernel has no such list. */
static bool kill_children(void)
{
    char list[CHILDREN_SIZE];
    int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    ssize_t len = fd >= 0 ? read(fd, list, sizeof(list)) : -1;
    pid_t pid = 0;

    if (fd >= 0)
        close(fd);
    for (ssize_t i = 0; i < len; i++) {
        if (list[i] >= '0' && list[i] <= '9') {
            pid = pid * 10 + (list[i] - '0');
        } else {
            if (pid > 1)
                kill(pid, SIGKILL);
            pid = 0;
        }
    }
    return len >= 0;
}

/* Kills and reaps until no descendant is left. The program's status is kept if it comes by; once it
 * is reaped its number may be somebody else's. */
static void kill_all(pid_t program, int *status)
{
    for (;;) {
        int ended;
        if (*status == NOT_REAPED)
            kill(-program, SIGKILL);
        bool has_list = kill_children();
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
    struct pollfd orders = {.fd = FD_ORDERS, .events = POLLIN};
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
        struct pollfd orders = {.fd = FD_ORDERS, .events = POLLIN};
        if (poll(&orders, 1, 0) > 0 && read(FD_ORDERS, &order, 1) == 0)
            return false;
    }
    return false;
}

static void keep(pid_t program, const sigset_t *waiting)
{
    int status = NOT_REAPED;
    char order = 0;
    bool has_ended = wait_for_end(program, &status, -1, waiting);

    if (!has_ended && read(FD_ORDERS, &order, 1) == 1 && order == WARDEN_ORDER_TERM)
        end_gently(program, &status, waiting);
    kill_all(program, &status);
    if (status != NOT_REAPED && WIFEXITED(status))
        report(WARDEN_EXITED, WEXITSTATUS(status));
    else
        report(WARDEN_KILLED,
               status != NOT_REAPED && WIFSIGNALED(status) ? WTERMSIG(status) : SIGKILL);
}

_Noreturn void warden_main(const warden_start *start)
{
    struct sigaction action = {.sa_handler = on_child};
    sigset_t blocked, waiting;

    /* Signals for the worker (Ctrl-C on its terminal) are the worker's to act on. */
    setsid();
    sigfillset(&blocked);
    sigprocmask(SIG_SETMASK, &blocked, NULL);
    sigfillset(&waiting);
    sigdelset(&waiting, SIGCHLD);
    sigaction(SIGCHLD, &action, NULL);
    if (!take_descriptors(start) || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
        _exit(1);
    /* Its memory and environment are the worker's: the program, of the same user, is not to read
     * the keys out of /proc. */
    prctl(PR_SET_DUMPABLE, 0);
    wipe_environment();
    pid_t program = fork();
    if (program == 0)
        become_program(start);
    if (program < 0)
        report(WARDEN_NOT_STARTED, errno);
    /* Held here too, its pipes would look open when it has closed them. */
    close(FD_INPUT);
    close(FD_OUTPUT);
    close(FD_COMPLAINTS);
    if (program > 0) {
        setpgid(program, program);
        keep(program, &waiting);
    }
    _exit(0);
}
