/*
 * net.h: sends HTTP requests, one at a time for each `net`. Another thread can stop a request. Only
 * net.c uses libcurl.
 */
#ifndef WORKER_NET_H
#define WORKER_NET_H

#include <stdatomic.h>
#include "base/slice.h"

enum { NET_HEADERS_MAX = 6, NET_ERROR_SIZE = 256 };

typedef enum net_end {
    NET_ANSWERED, /* the answer is complete: check its status */
    NET_FAILED,   /* no connection, a lost connection, or a timeout */
    NET_ABORTED,  /* the sink returned NET_ABORT */
    NET_STOPPED,  /* `stop` was set */
    NET_UNUSABLE  /* invalid URL or certificate, or out of memory: a retry would fail too */
} net_end;

typedef enum net_sink_result {
    NET_CONTINUE,
    NET_DONE, /* the sink has all it needs: net_post waits only briefly for the end of the answer */
    NET_ABORT
} net_sink_result;

/* Receives the body of an answer in parts. */
typedef net_sink_result (*net_sink)(void *arg, long status, slice bytes);

typedef struct net_request {
    const char *url;
    const char *headers[NET_HEADERS_MAX]; /* "Name: value", up to the first NULL */
    slice body;                           /* the body of the POST */
    long connect_ms, idle_ms, total_ms;
    net_sink sink;
    void *arg;
    void (*on_tick)(void *arg); /* called at least about every 50 ms; may be NULL */
    atomic_int *stop; /* another thread stops the request by setting this to another value than 0 */
} net_request;

typedef struct net_answer {
    net_end end;
    long status;
    long retry_after_s; /* 0: no Retry-After */
    char error[NET_ERROR_SIZE];
} net_answer;

typedef struct net net;

/* Call once, before threads start. Returns false if libcurl can't be used. */
bool net_global_init(void);

/* Makes a `net`, which keeps the connections of one thread for later requests. NULL: out of memory.
 */
net *net_new(void);
void net_free(net *n);

void net_post(net_answer *out, net *n, const net_request *request);

/* Returns whether a text is an http or https URL with a host, which libcurl can parse. */
bool net_is_url(const char *url);

#endif
