/*
 * net.h: sends HTTP requests, one at a time for each `net`. Another thread can stop a request. Only
 * net.c uses libcurl.
 */
#ifndef OUTBOUND_NET_H
#define OUTBOUND_NET_H

#include <stdatomic.h>
#include "base/slice.h"

enum { NET_ERROR_SIZE = 256 };

typedef enum net_end {
    NET_ANSWERED, /* the answer, with any status, is complete, or the sink returned NET_DONE */
    NET_FAILED,   /* a failure such as a refused or lost connection, or a timeout */
    NET_ABORTED,  /* the sink returned NET_ABORT */
    NET_STOPPED,  /* another thread set `stop` */
    NET_UNUSABLE  /* a failure that a retry would probably repeat, such as an invalid URL */
} net_end;

typedef enum net_sink_result {
    NET_CONTINUE,
    NET_DONE, /* the sink needs no more bytes; net_post waits briefly for the end of the answer */
    NET_ABORT
} net_sink_result;

/* Receives the body of an answer in parts. */
typedef net_sink_result (*net_sink)(void *arg, long status, slice bytes);

typedef struct net_request {
    const char *url;
    const char *const *headers; /* "Name: value"; NULL ends them */
    slice body;                 /* the body of the POST */
    long connect_ms, idle_ms, total_ms;
    net_sink sink;
    void *arg;
    void (*on_tick)(void *arg); /* net_post calls it at least about every 50 ms; may be NULL */
    atomic_int *stop; /* another thread stops the request by setting this to another value than 0 */
    /* A client chose the URL. The request uses no proxy and no kept connection, and only public
     * addresses are allowed unless may_be_private is set. The request does not end before the host
     * is resolved, except after net_exit. */
    bool is_client_url;
    bool may_be_private;
} net_request;

typedef struct net_answer {
    net_end end;
    long status;
    long retry_after_s; /* from the header Retry-After, at most a day; 0: none */
    bool is_timeout;    /* the answer was not complete in time */
    /* If `end` is not NET_ANSWERED: the reason of the failure, once with details such as names of
     * hosts, and once as static text without them. */
    char error[NET_ERROR_SIZE];
    const char *reason;
} net_answer;

typedef struct net net;

/* The program calls this once, before it starts threads. Returns false if libcurl can't be used. */
bool net_global_init(void);

/* The program calls this when it begins to stop. Requests that end from now on do not wait for the
 * thread that resolves the host of a client's URL. */
void net_exit(void);

/* Makes a `net`, which one thread uses and which keeps connections for later requests. NULL: out of
 * memory. */
net *net_new(void);
void net_free(net *n);

void net_post(net_answer *out, net *n, const net_request *request);

/* Returns true if libcurl can parse the text as an http or https URL with a host. The URL may
 * contain a user and a password only if `may_have_user` is true. */
bool net_is_url(const char *url, bool may_have_user);

#endif
