/*
 * subprocess.c: the worker's side of a command that runs: its pipes, its limits, and the orders to
 * its supervisor.
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
    LOOK_MS = 20,       /* between two looks at `stop` and the clock */
    PATIENCE_MS = 5000, /* for the supervisor to kill what can't be killed at once */
    CHUNK = 65536
};

/* A command that runs: our ends of its pipes, -1 where closed. */
typedef struct run {
    const subprocess_spec *spec;
    subprocess_result *out;
    buf *output;
    int ends[SUPERVISOR_FDS];
    size_t written; /* of the input */
    int64_t deadline_ms;
    int64_t give_up_ms; /* 0: it was not told to end yet */
    pid_t group;        /* of the command; 0: it was not started */
    bool has_report;
    supervisor_report report;
} run;

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void close_all(int fds[SUPERVISOR_FDS])
{
    for (int i = 0; i < SUPERVISOR_FDS; i++)
        close_end(&fds[i]);
}

/* The pipes that we write to; we read from the others. */
static bool is_ours_to_write(int name)
{
    return name == SUPERVISOR_INPUT || name == SUPERVISOR_ORDERS;
}

/* Theirs are beyond the numbers that they will have in the supervisor, so that none is overwritten
 * on the way there. */
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

static void write_input(run *r)
{
    slice input = r->spec->input;
    ssize_t some = 0;

    if (r->written < input.len)
        some = write(r->ends[SUPERVISOR_INPUT], input.ptr + r->written, input.len - r->written);
    if (some > 0)
        r->written += (size_t)some;
    bool must_wait = some < 0 && (errno == EAGAIN || errno == EINTR);
    if ((some < 0 && !must_wait) || r->written == input.len)
        close_end(&r->ends[SUPERVISOR_INPUT]);
}

/* Keeps the last that was said. */
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

/* 0: the pipe is closed; negative: nothing now. */
static ssize_t read_end(int *fd, char *to, size_t size)
{
    ssize_t len = read(*fd, to, size);

    if (len < 0 && (errno == EAGAIN || errno == EINTR))
        return -1;
    if (len <= 0) {
        close_end(fd);
        return 0;
    }
    return len;
}

static void read_output(run *r, char *chunk)
{
    ssize_t len = read_end(&r->ends[SUPERVISOR_OUTPUT], chunk, CHUNK);

    if (len > 0)
        buf_add(r->output, chunk, (size_t)len);
}

static void read_errors(run *r, char *chunk)
{
    ssize_t len = read_end(&r->ends[SUPERVISOR_ERRORS], chunk, CHUNK);

    if (len > 0)
        keep_errors(r->out, chunk, (size_t)len);
}

/* The first report of an end counts: after a command that could not be started the supervisor
 * reports the exit too. */
static void read_report(run *r)
{
    supervisor_report report;
    ssize_t len = read_end(&r->ends[SUPERVISOR_REPORT], (char *)&report, sizeof(report));

    if (len != (ssize_t)sizeof(report))
        return;
    if (report.event == SUPERVISOR_STARTED) {
        r->group = report.number;
    } else if (!r->has_report) {
        r->report = report;
        r->has_report = true;
    }
}

static void serve_pipes(run *r)
{
    char chunk[CHUNK];
    struct pollfd fds[SUPERVISOR_FDS];

    for (int i = 0; i < SUPERVISOR_FDS; i++)
        fds[i] =
            (struct pollfd){.fd = r->ends[i], .events = is_ours_to_write(i) ? POLLOUT : POLLIN};
    fds[SUPERVISOR_ORDERS].fd = -1;
    if (poll(fds, SUPERVISOR_FDS, LOOK_MS) <= 0)
        return;
    if (fds[SUPERVISOR_INPUT].revents != 0)
        write_input(r);
    if (fds[SUPERVISOR_OUTPUT].revents != 0)
        read_output(r, chunk);
    if (fds[SUPERVISOR_ERRORS].revents != 0)
        read_errors(r, chunk);
    if (fds[SUPERVISOR_REPORT].revents != 0)
        read_report(r);
}

/* --- the limits --- */

static void tell_to_end(run *r, subprocess_end why)
{
    const char order = SUPERVISOR_ORDER_TERM;

    if (r->give_up_ms > 0)
        return;
    r->out->end = why;
    r->give_up_ms = clock_ms() + PATIENCE_MS;
    /* One that floods is not asked: the end of the orders means to kill at once. */
    if (why == SUBPROCESS_TOO_MUCH || write(r->ends[SUPERVISOR_ORDERS], &order, 1) != 1)
        close_end(&r->ends[SUPERVISOR_ORDERS]);
}

static void look_at_limits(run *r)
{
    if (!buf_ok(r->output))
        tell_to_end(r, SUBPROCESS_TOO_MUCH);
    else if (r->spec->stop != NULL && atomic_load(r->spec->stop) != 0)
        tell_to_end(r, SUBPROCESS_STOPPED);
    else if (clock_ms() >= r->deadline_ms)
        tell_to_end(r, SUBPROCESS_TIMEOUT);
}

static void attend(run *r)
{
    serve_pipes(r);
    look_at_limits(r);
}

static bool has_given_up(const run *r)
{
    return r->give_up_ms > 0 && clock_ms() >= r->give_up_ms;
}

/* The supervisor holds the report's pipe open as long as it lives. After its report all that could
 * write have ended, and what they wrote is to be read. If it was killed, the command's group is
 * killed here. */
static void follow(run *r, pid_t supervisor)
{
    while (r->ends[SUPERVISOR_REPORT] >= 0 && !has_given_up(r))
        attend(r);
    supervisor_end(supervisor);
    if (!r->has_report && r->group > 0)
        kill(-r->group, SIGKILL);
    while (r->has_report && !has_given_up(r) &&
           (r->ends[SUPERVISOR_OUTPUT] >= 0 || r->ends[SUPERVISOR_ERRORS] >= 0))
        attend(r);
}

static void conclude(run *r)
{
    subprocess_result *out = r->out;

    if (r->give_up_ms > 0)
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
    run r = {.spec = spec, .out = out, .output = output, .deadline_ms = clock_ms() + spec->time_ms};

    *out = (subprocess_result){.end = SUBPROCESS_NOT_STARTED};
    pid_t supervisor =
        make_pipes(r.ends, theirs) ? supervisor_start(spec->argv, spec->environment, theirs) : -1;
    out->number = errno; /* if there is none */
    close_all(theirs);
    if (supervisor > 0) {
        follow(&r, supervisor);
        conclude(&r);
    }
    close_all(r.ends);
}
