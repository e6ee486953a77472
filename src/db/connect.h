/*
 * connect.h: the libpq parameters with which CardBox opens connections, blocking or not, and the
 * errors of libpq.
 */
#ifndef DB_CONNECT_H
#define DB_CONNECT_H

#include <libpq-fe.h>
#include "cardbox/client.h"
#include "db/params.h"
#include "db/statement.h"

/* Maximum length in bytes of `options` in a connection string, or of PGOPTIONS. */
#define CONNECT_OPTIONS_MAX 1000

/* Arrays for PQconnectdbParams, with expand_dbname = 1. The pointers refer to static texts, to
 * members of this struct, or to texts of the cardbox_options or connect_host from which it was
 * filled. */
typedef struct connect_params {
    const char *keys[16];
    const char *values[16];
    char timeout[12];
    char settings[CONNECT_OPTIONS_MAX + 600];
} connect_params;

/* Fills the arrays with defaults, and then the caller's connection string, which overrides the
 * defaults. The last entries are connect_timeout and, without no_named_statements, the settings
 * that statements need; they override the string. The string must have passed conninfo_check.
 * False: out of memory. */
bool connect_params_fill(connect_params *out, const cardbox_options *options);

/* Copies the caller's options (NULL: defaults). Members that an older struct lacks, and most
 * members that are 0, get their defaults. The texts of the options are not copied. */
void options_complete(cardbox_options *out, const cardbox_options *given);

/* Returns CARDBOX_OK if libpq can parse a connection string, and its `options`, or else PGOPTIONS,
 * have at most CONNECT_OPTIONS_MAX bytes. Values such as a port or an sslmode are checked only when
 * libpq connects. */
cardbox_status conninfo_check(const char *conninfo, cardbox_error *err);

/* Makes a connection discard notices of the server, which libpq would print on stderr: the library
 * prints nothing. */
void connect_silence(PGconn *pg);

/* One host of a connection string, as libpq reports it. */
typedef struct connect_host {
    char name[256]; /* host name, address, or folder of the Unix socket */
    char address[64];
    char port[8];
} connect_host;

/* Adds parameters with which libpq tries only this host, not the other hosts of the connection
 * string. */
void connect_params_host(connect_params *out, const connect_host *host);

/* Stores the host of an open connection. False: the host has no name, or its name, address or port
 * is too long. */
bool connect_host_of(connect_host *out, const PGconn *pg);

/* Blocks until a connection is open, or the attempt has failed on each host. libpq applies
 * connect_timeout to each address. If PostgreSQL refuses the connection, a second attempt is made
 * with verbose messages, because only these have the SQLSTATE. NULL: out of memory. */
PGconn *connect_open(const connect_params *how);

/* Fills `out` with the status CARDBOX_UNAVAILABLE and the reason why a connection could not be
 * opened: the first line of libpq's message, and the SQLSTATE ("": the message has none). */
void connect_failure(cardbox_error *out, const PGconn *pg);

/* Returns the length in bytes of the first line of a message of libpq. */
int connect_first_line(const char *message);

/* Sends the name of a prepared statement, or else the statement's text, with parameters. `p` NULL:
 * no parameters. Returns 0 if sending failed, as libpq's functions do. */
int connect_send(PGconn *pg, const statement *s, bool is_prepared, const params *p);

/* Fills `err` from a failed result, and returns the status. If `result` is NULL, has no SQLSTATE or
 * is a PANIC, the message is that of the connection. */
cardbox_status connect_error(cardbox_error *err, const PGconn *pg, const PGresult *result);

#endif
