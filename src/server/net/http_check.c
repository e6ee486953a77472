/*
 * http_check.c: sends two requests over socket pairs. libmicrohttpd must store headers and chunks
 * at the addresses that http_frame.c expects, and http_frame.c must notice a NUL in the headers. If
 * a handler has queued no answer, libmicrohttpd must call the handler again.
 */
#include "server/net/http_check.h"
#include <microhttpd.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/errors.h"
#include "server/net/http_frame.h"

#define SUPPORTED "0.9.75"

enum { RUNS_MAX = 200, RUNS_AT_ONCE = 50, WAIT_MS = 5 };

typedef struct trial {
    size_t shift; /* added to addresses of header names; 0 except in a test of this check */
    slice target;
    frame frame;
    chunks chunks;
    bool begun;
    bool framed;       /* the headers are at the expected addresses */
    bool pieces_wrong; /* a part of the body is at an unexpected address */
    size_t body;       /* number of bytes of the body */
    unsigned calls;    /* number of calls of the handler after the body */
} trial;

static void *on_target(void *arg, const char *target, struct MHD_Connection *connection)
{
    trial *t = arg;
    (void)connection;
    t->target = slice_of(target);
    return t;
}

static enum MHD_Result on_field(void *arg, enum MHD_ValueKind kind, const char *name,
                                size_t name_len, const char *value, size_t value_len)
{
    trial *t = arg;
    (void)kind;
    frame_field(&t->frame, (slice){name + t->shift, name_len}, (slice){value, value_len});
    return MHD_YES;
}

static void check_headers(trial *t, struct MHD_Connection *connection, const char *method,
                          const char *version)
{
    const union MHD_ConnectionInfo *info;
    t->begun = true;
    frame_start(&t->frame, t->target, version);
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, on_field, t);
    info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    if (info == NULL)
        return;
    t->chunks.base = method + info->header_size;
    t->framed = frame_end(&t->frame, method + info->header_size);
}

static enum MHD_Result answer(struct MHD_Connection *connection)
{
    struct MHD_Response *empty =
        MHD_create_response_from_buffer(0, (void *)(uintptr_t) "", MHD_RESPMEM_PERSISTENT);
    enum MHD_Result result = MHD_queue_response(connection, MHD_HTTP_OK, empty);
    MHD_destroy_response(empty);
    return result;
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *piece,
                                  size_t *piece_len, void **context)
{
    trial *t = arg;
    (void)url;
    (void)context;
    if (!t->begun) {
        check_headers(t, connection, method, version);
    } else if (*piece_len > 0) {
        t->pieces_wrong |= !chunks_piece(&t->chunks, (slice){piece, *piece_len});
        chunks_took(&t->chunks, (slice){piece, *piece_len}, *piece_len);
        t->body += *piece_len;
        *piece_len = 0;
    } else if (++t->calls > 1) {
        return answer(connection);
    }
    return MHD_YES;
}

static bool exchange_one(struct MHD_Daemon *daemon, slice request)
{
    static const struct sockaddr NOBODY = {.sa_family = AF_UNSPEC};
    int ends[2];
    char head[12];
    bool answered = false;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    bool sent = write(ends[0], request.ptr, request.len) == (ssize_t)request.len &&
                MHD_add_connection(daemon, ends[1], &NOBODY, sizeof(NOBODY)) == MHD_YES;
    for (int i = 0; i < RUNS_MAX && sent && !answered; i++) {
        struct pollfd client = {ends[0], POLLIN, 0};
        MHD_run(daemon);
        answered = poll(&client, 1, i < RUNS_AT_ONCE ? 0 : WAIT_MS) > 0 &&
                   read(ends[0], head, sizeof(head)) == (ssize_t)sizeof(head);
    }
    close(ends[0]);
    MHD_run(daemon);
    return answered && memcmp(head, "HTTP/1.1 ", 9) == 0;
}

static bool try_request(trial *t, slice request)
{
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL,
        on_request, t, MHD_OPTION_URI_LOG_CALLBACK, on_target, t, MHD_OPTION_END);
    if (daemon == NULL)
        return false;
    bool answered = exchange_one(daemon, request);
    MHD_stop_daemon(daemon);
    return answered;
}

/* Returns in which respect libmicrohttpd does not behave as expected; NULL: in none. */
static const char *find_difference(size_t shift)
{
    static const char GOOD[] =
        "POST /check HTTP/1.1\r\nHost: x\r\nX-Blanks: \t a b \r\nX-Empty:\r\n"
        "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3;x=y\r\nyou\r\n"
        "0\r\n\r\n";
    static const char BAD[] = "GET /check HTTP/1.1\r\nHost: x\r\n\0hidden: 1\r\n\r\n";
    trial good = {.shift = shift}, bad = {.shift = shift};
    if (!try_request(&good, (slice){GOOD, sizeof(GOOD) - 1}))
        return "does not answer a request in this process";
    if (!good.framed)
        return "stores the headers of a request in another layout";
    if (good.pieces_wrong || good.body != sizeof("helloyou") - 1)
        return "stores the chunks of a body in another layout";
    if (good.calls < 2)
        return "does not call a handler again that queued no answer";
    try_request(&bad, (slice){BAD, sizeof(BAD) - 1});
    return bad.framed ? "stores headers with a NUL in another layout" : NULL;
}

cardbox_status http_check_as(const char *version, size_t shift, cardbox_error *err)
{
    const char *difference = "is not the version that this server was tested with";
    if (strcmp(version, SUPPORTED) == 0)
        difference = find_difference(shift);
    if (difference == NULL)
        return CARDBOX_OK;
    return error_set(err, CARDBOX_UNAVAILABLE,
                     "libmicrohttpd %s %s: install version " SUPPORTED
                     " (libmicrohttpd12 of Debian 12), or run the container image",
                     version, difference);
}

cardbox_status http_check_library(cardbox_error *err)
{
    return http_check_as(MHD_get_version(), 0, err);
}
