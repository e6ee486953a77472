/*
 * subprocess.c: the part of running a command that is done in the worker: the command's pipes and
 * limits, and the orders to its supervisor.
 */
#include "worker/process/subprocess.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "worker/process/supervisor.h"

enum {
    POLL_MS = 20,           /* maximum wait for pipes between two checks of `stop` and the clock */
    KILL_TIMEOUT_MS = 5000, /* maximum wait for the supervisor to kill all processes */
    CHUNK = 65536
};

typedef struct running_command {
    const subprocess_spec *spec;
    subprocess_result *out;
    buf *output;
    int pipes[SUPERVISOR_FDS];
    size_t written; /* bytes of the input written so far */
    int64_t deadline_ms;
    int64_t kill_deadline_ms; /* 0 until the worker orders the end of the command */
    pid_t group;              /* process group of the command; 0: not started */
    bool has_ended;           /* true: the supervisor has reported the command's end */
} running_command;

static void close_pipe(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void close_all(int fds[SUPERVISOR_FDS])
{
    for (int i = 0; i < SUPERVISOR_FDS; i++)
        close_pipe(&fds[i]);
}

/* Returns true if the worker writes to this pipe. The worker reads from all other pipes. */
static bool is_ours_to_write(int name)
{
    return name == SUPERVISOR_INPUT || name == SUPERVISOR_ORDERS;
}

/* Makes the pipes between the worker (`ours`) and the supervisor (`theirs`). The numbers in
 * `theirs` are SUPERVISOR_FDS or above, as supervisor_start() requires. */
static bool make_pipes(int ours[SUPERVISOR_FDS], int theirs[SUPERVISOR_FDS])
{
    for (int i = 0; i < SUPERVISOR_FDS; i++)
        ours[i] = theirs[i] = -1;
    for (int i = 0; i < SUPERVISOR_FDS; i++) {
        int fds[2];
        if (pipe2(fds, O_CLOEXEC) != 0)
            return false;
        ours[i] = fds[is_ours_to_write(i) ? 1 : 0];
        theirs[i] = fcntl(fds[is_ours_to_write(i) ? 0 : 1], F_DUPFD_CLOEXEC, SUPERVISOR_FDS);
        close(fds[is_ours_to_write(i) ? 0 : 1]);
        fcntl(ours[i], F_SETFL, O_NONBLOCK);
        if (theirs[i] < 0)
            return false;
    }
    return true;
}

/* --- the pipes --- */

static void write_input(running_command *r)
{
    slice input = r->spec->input;
    ssize_t some = 0;

    if (r->written < input.len)
        some = write(r->pipes[SUPERVISOR_INPUT], input.ptr + r->written, input.len - r->written);
    if (some > 0)
        r->written += (size_t)some;
    bool must_wait = some < 0 && (errno == EAGAIN || errno == EINTR);
    if ((some < 0 && !must_wait) || r->written == input.len)
        close_pipe(&r->pipes[SUPERVISOR_INPUT]);
}

/* Returns the number of bytes read. Closes the pipe at its end, or after an error. */
static size_t read_pipe(int *fd, void *to, size_t size)
{
    ssize_t len = read(*fd, to, size);

    if (len < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (len <= 0)
        close_pipe(fd);
    return len > 0 ? (size_t)len : 0;
}

static void read_errors(running_command *r)
{
    enum { MOST = SUBPROCESS_ERRORS_MAX - 1 };
    subprocess_result *out = r->out;
    char chunk[MOST];
    size_t len = read_pipe(&r->pipes[SUPERVISOR_ERRORS], chunk, sizeof(chunk));

    if (out->errors_len + len > MOST) {
        size_t gone = out->errors_len + len - MOST;
        out->errors_len -= gone;
        memmove(out->errors, out->errors + gone, out->errors_len);
    }
    memcpy(out->errors + out->errors_len, chunk, len);
    out->errors_len += len;
    out->errors[out->errors_len] = '\0';
}

/* If the command can't be started, two reports of its end may arrive: the first one is used. If the
 * worker has ordered the end of the command, the reason of this order remains the result. */
static void read_report(running_command *r)
{
    supervisor_report report;

    if (read_pipe(&r->pipes[SUPERVISOR_REPORT], &report, sizeof(report)) != sizeof(report))
        return;
    if (report.group > 0) {
        r->group = report.group;
        return;
    }
    if (!r->has_ended && r->kill_deadline_ms == 0) {
        r->out->end = report.end;
        r->out->number = report.number;
    }
    r->has_ended = true;
}

static void poll_pipes(running_command *r)
{
    char chunk[CHUNK];
    struct pollfd fds[SUPERVISOR_FDS];

    for (int i = 0; i < SUPERVISOR_FDS; i++)
        fds[i] =
            (struct pollfd){.fd = r->pipes[i], .events = is_ours_to_write(i) ? POLLOUT : POLLIN};
    fds[SUPERVISOR_ORDERS].fd = -1;
    if (poll(fds, SUPERVISOR_FDS, POLL_MS) <= 0)
        return;
    if (fds[SUPERVISOR_INPUT].revents != 0)
        write_input(r);
    if (fds[SUPERVISOR_OUTPUT].revents != 0)
        buf_add(r->output, chunk, read_pipe(&r->pipes[SUPERVISOR_OUTPUT], chunk, CHUNK));
    if (fds[SUPERVISOR_ERRORS].revents != 0)
        read_errors(r);
    if (fds[SUPERVISOR_REPORT].revents != 0)
        read_report(r);
}

static void check_limits(running_command *r)
{
    const char order = 0;

    if (r->kill_deadline_ms > 0)
        return;
    if (!buf_ok(r->output))
        r->out->end = SUBPROCESS_OUTPUT_LIMIT;
    else if (r->spec->stop != NULL && atomic_load(r->spec->stop) != 0)
        r->out->end = SUBPROCESS_STOPPED;
    else if (clock_ms() >= r->deadline_ms)
        r->out->end = SUBPROCESS_TIMEOUT;
    else
        return;
    r->kill_deadline_ms = clock_ms() + KILL_TIMEOUT_MS;
    /* A command that writes too much is killed at once, by closing the pipe of orders. */
    if (r->out->end == SUBPROCESS_OUTPUT_LIMIT ||
        write(r->pipes[SUPERVISOR_ORDERS], &order, 1) != 1)
        close_pipe(&r->pipes[SUPERVISOR_ORDERS]);
}

/* After the supervisor's end, output is read to its end only if the supervisor has reported the end
 * of the command. */
static bool must_wait(const running_command *r)
{
    if (r->kill_deadline_ms > 0 && clock_ms() >= r->kill_deadline_ms)
        return false;
    return r->pipes[SUPERVISOR_REPORT] >= 0 ||
           (r->has_ended && (r->pipes[SUPERVISOR_OUTPUT] >= 0 || r->pipes[SUPERVISOR_ERRORS] >= 0));
}

/* If the supervisor ends without a report of the command's end, the worker itself kills the
 * command's process group. */
void subprocess_run(subprocess_result *out, buf *output, const subprocess_spec *spec)
{
    int theirs[SUPERVISOR_FDS];
    running_command r = {
        .spec = spec, .out = out, .output = output, .deadline_ms = clock_ms() + spec->time_ms};

    *out = (subprocess_result){.end = SUBPROCESS_LOST};
    pid_t supervisor =
        make_pipes(r.pipes, theirs) ? supervisor_start(spec->argv, spec->environment, theirs) : -1;
    if (supervisor < 0) {
        out->end = SUBPROCESS_NOT_STARTED;
        out->number = errno;
    }
    close_all(theirs);
    while (supervisor > 0 && must_wait(&r)) {
        poll_pipes(&r);
        check_limits(&r);
    }
    if (supervisor > 0)
        supervisor_end(supervisor);
    if (!r.has_ended && r.group > 0)
        kill(-r.group, SIGKILL);
    close_all(r.pipes);
}
