/*
 * connect.h: the libpq parameters of every connection, blocking or not.
 */
#ifndef DB_CONNECT_H
#define DB_CONNECT_H

#include <libpq-fe.h>
#include "cardbox/client.h"
#include "db/params.h"
#include "db/statement.h"

/* Bytes of the options that a connection string may have for the server. */
#define CONNECT_OPTIONS_MAX 1000

/* Arrays for PQconnectdbParams, with expand_dbname = 1. They point to static texts, to members of
 * this struct, or to texts of the options. */
typedef struct connect_params {
    const char *keys[16];
    const char *values[16];
    char timeout[12];
    char settings[CONNECT_OPTIONS_MAX + 600];
} connect_params;

/* Defaults first, then the caller's connection string, which wins, except for connect_timeout and
 * the settings that statements need. conninfo_check has passed the string. False: out of memory. */
bool connect_params_fill(connect_params *out, const cardbox_options *options);

/* Copies the caller's options. Members that an older struct lacks, and those that are 0, get their
 * defaults. Pointers are not copied. */
void options_complete(cardbox_options *out, const cardbox_options *given);

/* True if libpq can read a connection string, and its options leave space for ours. Values such as
 * a port or an sslmode are checked by libpq when it connects. */
cardbox_status conninfo_check(const char *conninfo, cardbox_error *err);

/* Keeps notices off stderr: the library prints nothing. */
void connect_silence(PGconn *pg);

/* One host of a connection string, as libpq reports it. */
typedef struct connect_host {
    char name[256]; /* or the folder of a socket */
    char address[64];
    char port[8];
} connect_host;

/* Connects to this host only, whatever hosts the connection string has. */
void connect_params_host(connect_params *out, const connect_host *host);

/* The host of an open connection. False: its name is too long to be kept. */
bool connect_host_of(connect_host *out, const PGconn *pg);

/* Blocks until a connection is open or has failed on each host; libpq limits the time for each
 * address, to at least 2 s. If PostgreSQL refuses the connection it is tried again: libpq reports
 * the SQLSTATE only in verbose messages, which need a PGconn. NULL: out of memory. */
PGconn *connect_open(const connect_params *how);

/* The reason why no connection could be made, as CARDBOX_UNAVAILABLE: the first line of libpq's
 * message ("": none), and PostgreSQL's SQLSTATE ("": it did not refuse the connection). */
void connect_failure(cardbox_error *out, const PGconn *pg);

/* Bytes of a message of libpq's that are worth showing: its first line, without the end. */
int connect_first_line(const char *message);

/* Sends a statement: by its name if it is prepared, else its text. `p` NULL: no parameters. 0: it
 * failed, as libpq's functions. */
int connect_send(PGconn *pg, const statement *s, bool is_prepared, const params *p);

/* Fills err from a failed result (may be NULL) or, without an SQLSTATE, from the connection. */
cardbox_status connect_error(cardbox_error *err, const PGconn *pg, const PGresult *result);

#endif
