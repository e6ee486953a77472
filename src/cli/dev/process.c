/*
 * process.c: starts child processes and waits for them, and prints the end of their logs.
 */
#include "cli/dev/dev_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include "base/clock.h"

/* Exit status of a child that could not execute its program. */
#define EXIT_NO_PROGRAM 127

#define WAIT_STEP_MS 10

#define TAIL_BYTES 65536 /* bytes at the end of a log that are read: many lines may be equal */
#define TAIL_LINES 8     /* maximum number of printed lines */

/* --- the child before exec --- */

static bool change_user(const process_user *user)
{
    if (user == NULL || !user->change)
        return true;
    return initgroups(user->name, user->gid) == 0 && setgid(user->gid) == 0 &&
           setuid(user->uid) == 0;
}

static void execute_program(const process_plan *plan, int input, pid_t parent)
{
    sigset_t none;

    setsid();
    if (!change_user(plan->user))
        _exit(EXIT_NO_PROGRAM);
    /* after change_user(), which would clear the death signal */
    prctl(PR_SET_PDEATHSIG, plan->death_signal);
    if (getppid() != parent)
        _exit(EXIT_NO_PROGRAM);
    dup2(input, STDIN_FILENO);
    dup2(plan->output, STDOUT_FILENO);
    dup2(plan->errors, STDERR_FILENO);
    /* The child still has the signal handlers of `cardbox dev`, and all signals are blocked. */
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (plan->user != NULL && plan->user->change && chdir("/") != 0)
        _exit(EXIT_NO_PROGRAM);
    execvp(plan->argv[0], (char *const *)(const void *)plan->argv);
    dprintf(STDERR_FILENO, "cannot run %s: %s\n", plan->argv[0], strerror(errno));
    _exit(EXIT_NO_PROGRAM);
}

/* Returns a descriptor from which the child can read `text`; NULL: nothing. A pipe's buffer could
 * be smaller than the text. */
static int open_input(const char *text)
{
    int fd = text ? memfd_create("input", MFD_CLOEXEC) : open("/dev/null", O_RDONLY | O_CLOEXEC);

    if (fd < 0 || text == NULL)
        return fd;
    if (write(fd, text, strlen(text)) == (ssize_t)strlen(text) && lseek(fd, 0, SEEK_SET) == 0)
        return fd;
    close(fd);
    return -1;
}

pid_t process_start(const process_plan *plan)
{
    pid_t parent = getpid(), pid;
    int input = open_input(plan->input);
    sigset_t all, before;

    if (input < 0)
        return -1;
    fflush(NULL);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid = fork();
    if (pid == 0)
        execute_program(plan, input, parent);
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(input);
    return pid;
}

static int exit_status(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int process_run(const process_plan *plan)
{
    int status;
    pid_t pid = process_start(plan);

    if (pid < 0)
        return -1;
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR)
            return -1;
    }
    return exit_status(status);
}

bool process_first_line(char *out, size_t size, const char *const *argv)
{
    int ends[2], quiet = open("/dev/null", O_WRONLY | O_CLOEXEC);
    process_plan plan = {.argv = argv, .errors = quiet, .death_signal = SIGKILL};
    FILE *lines = NULL;
    bool found = false;

    if (quiet < 0 || pipe2(ends, O_CLOEXEC) != 0)
        return false;
    plan.output = ends[1];
    pid_t pid = process_start(&plan);
    close(ends[1]);
    close(quiet);
    lines = fdopen(ends[0], "r");
    if (lines != NULL && fgets(out, (int)size, lines) != NULL) {
        out[strcspn(out, "\n")] = '\0';
        found = *out != '\0';
    }
    if (lines != NULL)
        fclose(lines);
    return pid > 0 && process_wait(pid, 10000) && found;
}

bool process_may_enter(const char *path, const process_user *user)
{
    int status;

    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        _exit(change_user(user) && access(path, X_OK) == 0 ? 0 : 1);
    return pid > 0 && waitpid(pid, &status, 0) == pid && exit_status(status) == 0;
}

bool process_wait(pid_t pid, int64_t timeout_ms)
{
    int64_t deadline = clock_ms() + timeout_ms;

    while (waitpid(pid, NULL, WNOHANG) == 0) {
        if (clock_ms() >= deadline)
            return false;
        clock_sleep_ms(WAIT_STEP_MS);
    }
    return true;
}

/* --- files --- */

/* Returns the part of a log line after its time. Lines of PostgreSQL begin with "TIME [PID] ",
 * lines of cardboxd with "ts=TIME ". */
static const char *line_message(const char *line)
{
    const char *end = strstr(line, "] ");

    if (end == NULL)
        end = strchr(line, ' ');
    return end != NULL ? end : line;
}

void process_print_tail(const char *path)
{
    static char text[TAIL_BYTES + 1];
    const char *shown[TAIL_LINES];
    FILE *log = fopen(path, "re");
    int count = 0;

    if (log == NULL)
        return;
    if (fseek(log, -TAIL_BYTES, SEEK_END) != 0)
        rewind(log);
    size_t length = fread(text, 1, TAIL_BYTES, log);
    fclose(log);
    text[length] = '\0';
    while (count < TAIL_LINES && length > 0) {
        while (length > 0 && text[length - 1] == '\n')
            text[--length] = '\0';
        while (length > 0 && text[length - 1] != '\n')
            length--;
        if (count > 0 && strcmp(line_message(shown[count - 1]), line_message(text + length)) == 0)
            count--;
        shown[count++] = text + length;
    }
    while (count > 0)
        cli_note("    %s", shown[--count]);
}

bool path_join(char out[PATH_MAX], const char *dir, const char *name)
{
    int length = snprintf(out, PATH_MAX, "%s/%s", dir, name);

    if (length > 0 && length < PATH_MAX)
        return true;
    return cli_error_and(false, "the path %.*s.../%s is too long",
                         (int)slice_cut(slice_of(dir), 100), dir, name);
}
