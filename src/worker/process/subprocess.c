/*
 * subprocess.c: the worker's side of a running command: its pipes, its limits and the orders to its
 * supervisor.
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
    POLL_MS = 20,           /* between two checks of `stop` and the clock */
    KILL_TIMEOUT_MS = 5000, /* time for the supervisor to kill all processes of the command */
    CHUNK = 65536
};

/* State of a command. */
typedef struct running_command {
    const subprocess_spec *spec;
    subprocess_result *out;
    buf *output;
    int pipes[SUPERVISOR_FDS];
    size_t written; /* bytes of the input written so far */
    int64_t deadline_ms;
    int64_t kill_deadline_ms; /* no end was requested */
    pid_t group;              /* process group of the command; 0: not started */
    bool has_report;
    supervisor_report report;
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

/* Returns whether we write to a pipe. We read from the others. */
static bool is_ours_to_write(int name)
{
    return name == SUPERVISOR_INPUT || name == SUPERVISOR_ORDERS;
}

/* Makes the pipes. The supervisor's ends get numbers above those that they are moved to later,
 * so that no dup2 overwrites one. */
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

/* Keeps the last bytes of standard error. */
static void keep_errors(subprocess_result *out, const char *text, size_t len)
{
    size_t room = sizeof(out->errors) - 1;

    if (len > room) {
        text += len - room;
        len = room;
    }
    if (out->errors_len + len > room) {
        size_t gone = out->errors_len + len - room;
        out->errors_len -= gone;
        memmove(out->errors, out->errors + gone, out->errors_len);
    }
    memcpy(out->errors + out->errors_len, text, len);
    out->errors_len += len;
    out->errors[out->errors_len] = '\0';
}

/* Returns the bytes read; 0: the pipe was closed; negative: nothing to read. */
static ssize_t read_pipe(int *fd, char *to, size_t size)
{
    ssize_t len = read(*fd, to, size);

    if (len < 0 && (errno == EAGAIN || errno == EINTR))
        return -1;
    if (len <= 0) {
        close_pipe(fd);
        return 0;
    }
    return len;
}

/* Reads a report. Only the first report of an end is used: if the command could not be started,
 * the supervisor reports its exit too. */
static void read_report(running_command *r)
{
    supervisor_report report;
    ssize_t len = read_pipe(&r->pipes[SUPERVISOR_REPORT], (char *)&report, sizeof(report));

    if (len != (ssize_t)sizeof(report))
        return;
    if (report.event == SUPERVISOR_STARTED) {
        r->group = report.number;
    } else if (!r->has_report) {
        r->report = report;
        r->has_report = true;
    }
}

static void poll_pipes(running_command *r)
{
    char chunk[CHUNK];
    ssize_t len;
    struct pollfd fds[SUPERVISOR_FDS];

    for (int i = 0; i < SUPERVISOR_FDS; i++)
        fds[i] =
            (struct pollfd){.fd = r->pipes[i], .events = is_ours_to_write(i) ? POLLOUT : POLLIN};
    fds[SUPERVISOR_ORDERS].fd = -1;
    if (poll(fds, SUPERVISOR_FDS, POLL_MS) <= 0)
        return;
    if (fds[SUPERVISOR_INPUT].revents != 0)
        write_input(r);
    if (fds[SUPERVISOR_OUTPUT].revents != 0) {
        len = read_pipe(&r->pipes[SUPERVISOR_OUTPUT], chunk, CHUNK);
        buf_add(r->output, chunk, len > 0 ? (size_t)len : 0);
    }
    if (fds[SUPERVISOR_ERRORS].revents != 0) {
        len = read_pipe(&r->pipes[SUPERVISOR_ERRORS], chunk, CHUNK);
        keep_errors(r->out, chunk, len > 0 ? (size_t)len : 0);
    }
    if (fds[SUPERVISOR_REPORT].revents != 0)
        read_report(r);
}

/* --- the limits --- */

static void request_end(running_command *r, subprocess_end why)
{
    const char order = SUPERVISOR_ORDER_TERM;

    if (r->kill_deadline_ms > 0)
        return;
    r->out->end = why;
    r->kill_deadline_ms = clock_ms() + KILL_TIMEOUT_MS;
    /* A command that writes too much is killed at once: closing the pipe of orders means that. */
    if (why == SUBPROCESS_OUTPUT_LIMIT || write(r->pipes[SUPERVISOR_ORDERS], &order, 1) != 1)
        close_pipe(&r->pipes[SUPERVISOR_ORDERS]);
}

static void check_limits(running_command *r)
{
    if (!buf_ok(r->output))
        request_end(r, SUBPROCESS_OUTPUT_LIMIT);
    else if (r->spec->stop != NULL && atomic_load(r->spec->stop) != 0)
        request_end(r, SUBPROCESS_STOPPED);
    else if (clock_ms() >= r->deadline_ms)
        request_end(r, SUBPROCESS_TIMEOUT);
}

static void serve_command(running_command *r)
{
    poll_pipes(r);
    check_limits(r);
}

static bool is_past_kill_deadline(const running_command *r)
{
    return r->kill_deadline_ms > 0 && clock_ms() >= r->kill_deadline_ms;
}

/* Waits until the supervisor closes the pipe of reports, then reads the remaining output. If
 * the supervisor was killed, kills the command's process group. */
static void await_end(running_command *r, pid_t supervisor)
{
    while (r->pipes[SUPERVISOR_REPORT] >= 0 && !is_past_kill_deadline(r))
        serve_command(r);
    supervisor_end(supervisor);
    if (!r->has_report && r->group > 0)
        kill(-r->group, SIGKILL);
    while (r->has_report && !is_past_kill_deadline(r) &&
           (r->pipes[SUPERVISOR_OUTPUT] >= 0 || r->pipes[SUPERVISOR_ERRORS] >= 0))
        serve_command(r);
}

static void set_end(running_command *r)
{
    subprocess_result *out = r->out;

    if (r->kill_deadline_ms > 0)
        return;
    out->number = r->report.number;
    if (!r->has_report)
        out->end = SUBPROCESS_LOST;
    else if (r->report.event == SUPERVISOR_EXITED)
        out->end = SUBPROCESS_EXITED;
    else
        out->end =
            r->report.event == SUPERVISOR_KILLED ? SUBPROCESS_KILLED : SUBPROCESS_NOT_STARTED;
}

void subprocess_run(subprocess_result *out, buf *output, const subprocess_spec *spec)
{
    int theirs[SUPERVISOR_FDS];
    running_command r = {
        .spec = spec, .out = out, .output = output, .deadline_ms = clock_ms() + spec->time_ms};

    *out = (subprocess_result){.end = SUBPROCESS_NOT_STARTED};
    pid_t supervisor =
        make_pipes(r.pipes, theirs) ? supervisor_start(spec->argv, spec->environment, theirs) : -1;
    out->number = errno; /* if there is none */
    close_all(theirs);
    if (supervisor > 0) {
        await_end(&r, supervisor);
        set_end(&r);
    }
    close_all(r.pipes);
}
