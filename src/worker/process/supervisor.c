/*
 * supervisor.c: the subreaper of one command. Orphaned descendants become children of the
 * supervisor. So the supervisor kills its children until none is left. The supervisor is forked
 * from a process with threads, so it allocates no memory and acquires no locks.
 */
#include "worker/process/supervisor.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    WAIT_MS = 50,    /* maximum duration of one wait for an order or a signal */
    TERM_WAITS = 10, /* maximum number of waits of WAIT_MS between SIGTERM and SIGKILL */
    LIST_SIZE = 4096,
    NOT_REAPED = -1 /* value of the command's status until waitpid has reaped the command */
};

static void ignore_signal(int number)
{
    (void)number;
}

static void report(pid_t group, subprocess_end end, int number)
{
    supervisor_report r = {group, end, number};

    while (write(SUPERVISOR_REPORT, &r, sizeof(r)) < 0 && errno == EINTR)
        continue;
}

/* The command itself reports its group: it could kill the supervisor before that one reports it. */
static _Noreturn void exec_command(char *const *argv, char *const *environment, pid_t parent)
{
    sigset_t none;

    setpgid(0, 0);
    report(getpid(), SUBPROCESS_LOST, 0);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == parent)
        execve(argv[0], argv, environment);
    report(0, SUBPROCESS_NOT_STARTED, errno);
    _exit(127);
}

/* --- killing --- */

/* Kills the children in the kernel's list of process ids, in which a space follows each id. If the
 * list does not fit into the buffer, later calls kill the other children. Returns false if the list
 * can't be read, for example because the kernel has no such list. */
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

/* Kills and reaps children until none is left. If the kernel has no list of children, returns when
 * the command is reaped. When the command is reaped, `status` receives its status. After that, the
 * command's process id is not used any more, because another process may get this id. */
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

/* Waits until the command ends, an order arrives, the pipe of orders is closed, or `waits` waits
 * are over. Also reaps orphans. Returns true if the command has ended, with its status in `status`.
 */
static bool wait_for_end(pid_t command, int *status, int waits, const sigset_t *wait_mask)
{
    struct pollfd orders = {.fd = SUPERVISOR_ORDERS, .events = POLLIN};
    const struct timespec wait = {.tv_nsec = WAIT_MS * 1000000L};

    for (int i = 0; i < waits; i++) {
        int ended;
        pid_t pid = waitpid(-1, &ended, WNOHANG);
        if (pid == command) {
            *status = ended;
            return true;
        }
        if (pid <= 0 && ppoll(&orders, 1, &wait, wait_mask) > 0)
            return false;
    }
    return false;
}

static void supervise(pid_t command, const sigset_t *wait_mask)
{
    int status = NOT_REAPED;
    char order;

    if (!wait_for_end(command, &status, INT_MAX, wait_mask) &&
        read(SUPERVISOR_ORDERS, &order, 1) == 1) {
        kill(-command, SIGTERM);
        wait_for_end(command, &status, TERM_WAITS, wait_mask);
    }
    kill_all(command, &status);
    if (WIFEXITED(status))
        report(0, SUBPROCESS_EXITED, WEXITSTATUS(status));
    else
        report(0, SUBPROCESS_KILLED, WTERMSIG(status));
}

/* --- the process --- */

/* The supervisor gets its own session, so that the signal of Ctrl-C reaches only the worker.
 * Signals are blocked and not ignored, because the command would inherit ignored signals. The
 * worker's descriptors are closed, because the reader of a pipe sees no end of file while a copy of
 * the writing end is open. */
static bool detach_from_worker(const int fds[SUPERVISOR_FDS], sigset_t *wait_mask)
{
    struct sigaction action = {.sa_handler = ignore_signal};

    for (int i = 0; i < SUPERVISOR_FDS; i++)
        if (dup2(fds[i], i) < 0)
            return false;
    closefrom(SUPERVISOR_FDS);
    setsid();
    prctl(PR_SET_DUMPABLE, 0); /* commands of the same user can't read the supervisor's memory */
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
        report(0, SUBPROCESS_NOT_STARTED, errno);
        _exit(1);
    }
    pid_t self = getpid(), command = fork();
    if (command == 0)
        exec_command(argv, environment, self);
    if (command < 0)
        report(0, SUBPROCESS_NOT_STARTED, errno);
    /* While the supervisor has copies of the standard streams, the worker would not see the end of
     * these pipes when the command closes them. */
    close(SUPERVISOR_INPUT);
    close(SUPERVISOR_OUTPUT);
    close(SUPERVISOR_ERRORS);
    if (command > 0) {
        setpgid(command, command);
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
