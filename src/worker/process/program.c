/*
 * program.c: the worker's side of a program that runs: its pipes, its limits, and the orders to its
 * warden. Knows nothing of how the warden does its work.
 */
#include "worker/process/program.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "worker/process/warden.h"

enum {
    LOOK_MS = 20,       /* between two looks at `stop` and the clock */
    PATIENCE_MS = 5000, /* for the warden to end what can't be ended at once */
    TRIAL_MS = 60000,   /* for a warden to begin, on a machine that has much to do */
    CHUNK = 65536
};

/* A program that runs: our ends of its pipes, -1 where closed. */
typedef struct run {
    const program_spec *spec;
    program_result *out;
    buf *output;
    warden warden;
    int warden_status;
    int ends[WARDEN_FDS];
    size_t written; /* of the input */
    int64_t deadline_ms;
    int64_t give_up_ms; /* 0: it was not told to end yet */
    bool has_report;
    warden_report report;
} run;

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void close_all(int fds[WARDEN_FDS])
{
    for (int i = 0; i < WARDEN_FDS; i++)
        close_end(&fds[i]);
}

/* The pipes that we write to; we read from the others. */
static bool is_ours_to_write(int name)
{
    return name == WARDEN_INPUT || name == WARDEN_ORDERS;
}

/* Theirs are beyond the numbers that they will have in the warden, so that none is overwritten on
 * the way there. */
static bool make_pipes(int ours[WARDEN_FDS], int theirs[WARDEN_FDS])
{
    for (int i = 0; i < WARDEN_FDS; i++)
        ours[i] = theirs[i] = -1;
    for (int i = 0; i < WARDEN_FDS; i++) {
        int fds[2];
        if (pipe2(fds, O_CLOEXEC) != 0)
            return false;
        ours[i] = fds[is_ours_to_write(i) ? 1 : 0];
        theirs[i] = fcntl(fds[is_ours_to_write(i) ? 0 : 1], F_DUPFD_CLOEXEC, WARDEN_FDS);
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
    view input = r->spec->input;
    ssize_t some = 0;

    if (r->written < input.len)
        some = write(r->ends[WARDEN_INPUT], input.ptr + r->written, input.len - r->written);
    if (some > 0)
        r->written += (size_t)some;
    bool must_wait = some < 0 && (errno == EAGAIN || errno == EINTR);
    if ((some < 0 && !must_wait) || r->written == input.len)
        close_end(&r->ends[WARDEN_INPUT]);
}

/* Keeps the last that was said. */
static void keep_complaint(program_result *out, const char *text, size_t len)
{
    size_t room = sizeof(out->complaint) - 1;

    if (len > room) {
        text += len - room;
        len = room;
    }
    if (out->complaint_len + len > room) {
        size_t gone = out->complaint_len + len - room;
        out->complaint_len -= gone;
        memmove(out->complaint, out->complaint + gone, out->complaint_len);
    }
    memcpy(out->complaint + out->complaint_len, text, len);
    out->complaint_len += len;
    out->complaint[out->complaint_len] = '\0';
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
    ssize_t len = read_end(&r->ends[WARDEN_OUTPUT], chunk, CHUNK);

    if (len > 0)
        buf_add(r->output, chunk, (size_t)len);
}

static void read_complaints(run *r, char *chunk)
{
    ssize_t len = read_end(&r->ends[WARDEN_COMPLAINTS], chunk, CHUNK);

    if (len > 0)
        keep_complaint(r->out, chunk, (size_t)len);
}

/* The first report counts: of a program that could not be started the warden says that it exited.
 */
static void read_report(run *r)
{
    warden_report report;
    ssize_t len = read_end(&r->ends[WARDEN_REPORT], (char *)&report, sizeof(report));

    if (len == (ssize_t)sizeof(report) && !r->has_report) {
        r->report = report;
        r->has_report = true;
    }
}

static void serve_pipes(run *r)
{
    char chunk[CHUNK];
    struct pollfd fds[WARDEN_FDS];

    for (int i = 0; i < WARDEN_FDS; i++)
        fds[i] =
            (struct pollfd){.fd = r->ends[i], .events = is_ours_to_write(i) ? POLLOUT : POLLIN};
    fds[WARDEN_ORDERS].fd = -1;
    if (poll(fds, WARDEN_FDS, LOOK_MS) <= 0)
        return;
    if (fds[WARDEN_INPUT].revents != 0)
        write_input(r);
    if (fds[WARDEN_OUTPUT].revents != 0)
        read_output(r, chunk);
    if (fds[WARDEN_COMPLAINTS].revents != 0)
        read_complaints(r, chunk);
    if (fds[WARDEN_REPORT].revents != 0)
        read_report(r);
}

/* --- the limits --- */

static void tell_to_end(run *r, program_end why)
{
    const char order = WARDEN_ORDER_TERM;

    if (r->give_up_ms > 0)
        return;
    r->out->end = why;
    r->give_up_ms = clock_ms() + PATIENCE_MS;
    /* One that floods is not asked: the end of the orders means to kill at once. */
    if (why == PROGRAM_TOO_MUCH || write(r->ends[WARDEN_ORDERS], &order, 1) != 1)
        close_end(&r->ends[WARDEN_ORDERS]);
}

static void look_at_limits(run *r)
{
    if (!buf_ok(r->output))
        tell_to_end(r, PROGRAM_TOO_MUCH);
    else if (r->spec->stop != NULL && atomic_load(r->spec->stop) != 0)
        tell_to_end(r, PROGRAM_STOPPED);
    else if (clock_ms() >= r->deadline_ms)
        tell_to_end(r, PROGRAM_TIMEOUT);
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

/* The warden holds the report's pipe open as long as it lives. When it has gone, so have all who
 * could write, and what they wrote is to be read. */
static void follow(run *r)
{
    while (r->ends[WARDEN_REPORT] >= 0 && !has_given_up(r))
        attend(r);
    r->warden_status = warden_end(&r->warden, PATIENCE_MS);
    while ((r->ends[WARDEN_OUTPUT] >= 0 || r->ends[WARDEN_COMPLAINTS] >= 0) && !has_given_up(r))
        attend(r);
}

static void conclude(run *r)
{
    program_result *out = r->out;

    if (r->give_up_ms > 0)
        return;
    out->number = r->report.number;
    if (!r->has_report && WIFEXITED(r->warden_status)) {
        out->end = PROGRAM_UNWATCHED;
        out->number = WEXITSTATUS(r->warden_status);
    } else if (!r->has_report)
        out->end = PROGRAM_LOST;
    else if (r->report.news == WARDEN_EXITED)
        out->end = PROGRAM_EXITED;
    else
        out->end = r->report.news == WARDEN_KILLED ? PROGRAM_KILLED : PROGRAM_NOT_STARTED;
}

/* True: its warden told how it ended. */
static bool run_it(program_result *out, buf *output, const program_spec *spec)
{
    int theirs[WARDEN_FDS];
    run r = {.spec = spec, .out = out, .output = output, .deadline_ms = clock_ms() + spec->time_ms};

    *out = (program_result){.end = PROGRAM_NOT_STARTED};
    out->number = make_pipes(r.ends, theirs)
                      ? warden_start(&r.warden, spec->argv, spec->environment, theirs)
                      : errno;
    close_all(theirs);
    if (out->number == 0) {
        follow(&r);
        conclude(&r);
    }
    close_all(r.ends);
    return r.has_report;
}

void program_run(program_result *out, buf *output, const program_spec *spec)
{
    run_it(out, output, spec);
}

bool program_can_run(program_result *out)
{
    static char no_name[] = "";
    char *const argv[] = {no_name, NULL}, *const environment[] = {NULL};
    const program_spec spec = {argv, environment, VIEW(""), TRIAL_MS, NULL};
    buf output = BUF_INIT(1);

    bool can = run_it(out, &output, &spec);
    buf_free(&output);
    return can;
}
