/*
 * plain_server.c: the least server of conversations, as the reference of turn_200: HTTP for one
 * client over one PostgreSQL connection, with a plain table of messages. Prints its port.
 *
 *   plain_server DSN
 *   POST /SESSION   a JSON array of messages: one INSERT of all of them. Answers {}
 *   GET  /SESSION   one SELECT of the messages. Answers them as a JSON array
 *
 * The client is the benchmark: requests are neither checked nor limited, except by the buffer.
 */
#include <arpa/inet.h>
#include <libpq-fe.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REQUEST_MAX = 4 << 20 };

static const char *const INSERT = "INSERT INTO public.plain_messages (session_id, content)"
                                  " SELECT $1, m.content FROM jsonb_array_elements($2::jsonb) WITH "
                                  "ORDINALITY AS m (content, n) ORDER BY m.n";
static const char *const SELECT =
    "SELECT content FROM public.plain_messages WHERE session_id = $1 ORDER BY id";

static void fail(const char *what)
{
    fprintf(stderr, "plain_server: %s\n", what);
    exit(1);
}

static void write_all(FILE *client, const char *text, size_t length)
{
    if (fwrite(text, 1, length, client) != length)
        fail("the client is gone");
}

static void answer_rows(FILE *client, const PGresult *rows)
{
    int count = PQntuples(rows);
    size_t length = 2 + (count > 1 ? (size_t)count - 1 : 0);
    for (int i = 0; i < count; i++)
        length += (size_t)PQgetlength(rows, i, 0);
    fprintf(client,
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n[",
            length);
    for (int i = 0; i < count; i++) {
        if (i > 0)
            fputc(',', client);
        write_all(client, PQgetvalue(rows, i, 0), (size_t)PQgetlength(rows, i, 0));
    }
    fputc(']', client);
}

static void answer(FILE *client, PGconn *db, const char *method, const char *session,
                   const char *body)
{
    bool is_post = strcmp(method, "POST") == 0;
    const char *values[] = {session, body};
    PGresult *result =
        PQexecPrepared(db, is_post ? "insert" : "select", is_post ? 2 : 1, values, NULL, NULL, 0);
    if (PQresultStatus(result) != (is_post ? PGRES_COMMAND_OK : PGRES_TUPLES_OK))
        fail(PQerrorMessage(db));
    if (is_post)
        fputs("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
              client);
    else
        answer_rows(client, result);
    PQclear(result);
    if (fflush(client) != 0)
        fail("the client is gone");
}

/* Answers the requests of one connection until it ends. */
static void serve(FILE *from, FILE *to, PGconn *db)
{
    static char body[REQUEST_MAX + 1];
    char line[1024], method[8], session[128];
    while (fgets(line, sizeof(line), from) != NULL) {
        size_t length = 0;
        if (sscanf(line, "%7s /%127s", method, session) != 2)
            fail("not a request");
        while (fgets(line, sizeof(line), from) != NULL && line[0] != '\r')
            if (strncasecmp(line, "content-length:", 15) == 0)
                length = strtoul(line + 15, NULL, 10);
        if (length > REQUEST_MAX || fread(body, 1, length, from) != length)
            fail("not a body");
        body[length] = '\0';
        answer(to, db, method, session, body);
    }
}

static int listen_anywhere(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) != 0 || listen(fd, 1) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        fail("no port");
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    return fd;
}

int main(int argc, char **argv)
{
    PGconn *db = PQconnectdb(argc == 2 ? argv[1] : "");
    if (PQstatus(db) != CONNECTION_OK)
        fail(PQerrorMessage(db));
    PQclear(PQprepare(db, "insert", INSERT, 0, NULL));
    PQclear(PQprepare(db, "select", SELECT, 0, NULL));
    for (int fd = listen_anywhere();;) {
        int one = accept(fd, NULL, NULL), no_delay = 1;
        setsockopt(one, IPPROTO_TCP, TCP_NODELAY, &no_delay, sizeof(no_delay));
        FILE *from = one < 0 ? NULL : fdopen(one, "r");
        FILE *to = from == NULL ? NULL : fdopen(dup(one), "w");
        if (to == NULL || setvbuf(to, NULL, _IOFBF, REQUEST_MAX) != 0)
            fail("no connection");
        serve(from, to, db);
        fclose(to);
        fclose(from);
    }
}
