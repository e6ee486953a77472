/*
 * supervisor.c: the subreaper of one command. If a descendant's parent ends, the descendant becomes
 * a child of the supervisor, so killing children until none is left kills all. It is forked from a
 * process with threads, so it calls only async-signal-safe functions.
 */
#include "worker/process/supervisor.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    TERM_WAITS = 10,   /* waits between SIGTERM and SIGKILL */
    TERM_WAIT_MS = 50, /* duration of each wait */
    LIST_SIZE = 4096,
    NOT_REAPED = -1 /* waitpid has not returned the command's status */
};

static void ignore_signal(int number)
{
    (void)number;
}

static void report(supervisor_event event, int number)
{
    supervisor_report r = {(int)event, number};

    while (write(SUPERVISOR_REPORT, &r, sizeof(r)) < 0 && errno == EINTR)
        continue;
}

static _Noreturn void exec_command(char *const *argv, char *const *environment, pid_t parent)
{
    sigset_t none;

    setpgid(0, 0);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* if the supervisor dies; it may be dead already */
    if (getppid() == parent)
        execve(argv[0], argv, environment);
    report(SUPERVISOR_NOT_STARTED, errno);
    _exit(127);
}

/* --- killing --- */

/* Kills the children in the kernel's list of process ids, each followed by a space. An id that
 * the end of the buffer cuts is read in a later round. Returns false if the kernel has no such
 * list. */
static bool kill_children(void)
{
    char list[LIST_SIZE];
    pid_t pid = 0;
    int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    ssize_t len = fd >= 0 ? read(fd, list, sizeof(list)) : -1;

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

/* Kills and reaps until no descendant is left. `status` receives the command's status when the
 * command is reaped. After that its process id may be reused. */
static void kill_all(pid_t command, int *status)
{
    for (;;) {
        int ended;
        if (*status == NOT_REAPED)
            kill(-command, SIGKILL);
        bool has_list = kill_children();
        pid_t pid = waitpid(-1, &ended, WNOHANG);
        if (pid < 0 && errno == ECHILD)
            return;
        if (pid == command)
            *status = ended;
        if (pid == 0 && !has_list && *status != NOT_REAPED)
            return;
        if (pid == 0)
            poll(NULL, 0, 1);
    }
}

/* Waits until the command ends or an order arrives, and reaps orphans. Returns true if the
 * command ended, with its `status`. */
static bool wait_for_end(pid_t command, int *status, int timeout_ms, const sigset_t *wait_mask)
{
    struct pollfd orders = {.fd = SUPERVISOR_ORDERS, .events = POLLIN};
    struct timespec timeout = {timeout_ms / 1000, (long)(timeout_ms % 1000) * 1000000};

    for (;;) {
        int ended;
        pid_t pid = waitpid(-1, &ended, WNOHANG);
        if (pid == command) {
            *status = ended;
            return true;
        }
        if (pid > 0)
            continue;
        int ready = ppoll(&orders, 1, timeout_ms < 0 ? NULL : &timeout, wait_mask);
        if (ready >= 0 || timeout_ms >= 0)
            return false;
    }
}

/* Sends SIGTERM and waits for the end of the command, or of the orders. */
static void terminate(pid_t command, int *status, const sigset_t *wait_mask)
{
    kill(-command, SIGTERM);
    for (int i = 0; i < TERM_WAITS; i++) {
        char order;
        if (wait_for_end(command, status, TERM_WAIT_MS, wait_mask))
            return;
        struct pollfd orders = {.fd = SUPERVISOR_ORDERS, .events = POLLIN};
        if (poll(&orders, 1, 0) > 0 && read(SUPERVISOR_ORDERS, &order, 1) == 0)
            return;
    }
}

static void supervise(pid_t command, const sigset_t *wait_mask)
{
    int status = NOT_REAPED;
    char order = 0;
    bool has_ended = wait_for_end(command, &status, -1, wait_mask);

    if (!has_ended && read(SUPERVISOR_ORDERS, &order, 1) == 1 && order == SUPERVISOR_ORDER_TERM)
        terminate(command, &status, wait_mask);
    kill_all(command, &status);
    if (status != NOT_REAPED && WIFEXITED(status))
        report(SUPERVISOR_EXITED, WEXITSTATUS(status));
    else
        report(SUPERVISOR_KILLED,
               status != NOT_REAPED && WIFSIGNALED(status) ? WTERMSIG(status) : SIGKILL);
}

/* --- the process --- */

/* Detaches from the worker. The supervisor gets its own session, because only the worker reacts
 * to signals such as Ctrl-C. Signals are blocked, but not ignored, since commands expect that.
 * The worker's descriptors are closed: while a copy of a pipe's end is open here, its reader
 * sees no end of file. */
static bool detach_from_worker(const int fds[SUPERVISOR_FDS], sigset_t *wait_mask)
{
    struct sigaction action = {.sa_handler = ignore_signal};

    for (int i = 0; i < SUPERVISOR_FDS; i++)
        if (dup2(fds[i], i) < 0)
            return false;
    closefrom(SUPERVISOR_FDS);
    setsid();
    prctl(PR_SET_DUMPABLE, 0); /* commands of the same user can't read its memory */
    prctl(PR_SET_NAME, SUPERVISOR_NAME);
    sigfillset(wait_mask);
    sigdelset(wait_mask, SIGCHLD);
    sigaction(SIGCHLD, &action, NULL);
    signal(SIGPIPE, SIG_DFL);
    return fcntl(SUPERVISOR_ORDERS, F_SETFD, FD_CLOEXEC) == 0 &&
           fcntl(SUPERVISOR_REPORT, F_SETFD, FD_CLOEXEC) == 0 &&
           prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
}

static _Noreturn void run_supervisor(char *const *argv, char *const *environment,
                                     const int fds[SUPERVISOR_FDS])
{
    sigset_t wait_mask;

    if (!detach_from_worker(fds, &wait_mask)) {
        report(SUPERVISOR_NOT_STARTED, errno);
        _exit(1);
    }
    pid_t self = getpid(), command = fork();
    if (command == 0)
        exec_command(argv, environment, self);
    if (command < 0)
        report(SUPERVISOR_NOT_STARTED, errno);
    /* Closed here, so that the command's pipes close with the command. */
    close(SUPERVISOR_INPUT);
    close(SUPERVISOR_OUTPUT);
    close(SUPERVISOR_ERRORS);
    if (command > 0) {
        setpgid(command, command);
        report(SUPERVISOR_STARTED, command);
        supervise(command, &wait_mask);
    }
    _exit(0);
}

pid_t supervisor_start(char *const *argv, char *const *environment, const int fds[SUPERVISOR_FDS])
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    if (pid == 0)
        run_supervisor(argv, environment, fds);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return pid;
}

void supervisor_end(pid_t supervisor)
{
    kill(supervisor, SIGKILL);
    while (waitpid(supervisor, NULL, 0) < 0 && errno == EINTR)
        continue;
}
