/*
 * net.h: one HTTP request at a time, by one thread, that another thread can break off. The only
 * room of the worker that knows libcurl. Knows nothing of models and tools.
 */
#ifndef WORKER_NET_H
#define WORKER_NET_H

#include <stdatomic.h>
#include "base/slice.h"

enum { NET_HEADERS_MAX = 6, NET_ERROR_SIZE = 256 };

typedef enum net_end {
    NET_ANSWERED,    /* the whole answer came: look at its status */
    NET_UNREACHABLE, /* no connection, or it broke */
    NET_TIMEOUT,     /* in connecting, in silence, or in all */
    NET_REFUSED,     /* the sink did not want the answer */
    NET_STOPPED,     /* `stop` was set */
    NET_UNUSABLE     /* no such URL, out of memory: the same again fails again */
} net_end;

typedef enum net_wish {
    NET_MORE,
    NET_ENOUGH, /* all is there: the end of the answer is waited for a moment only */
    NET_REFUSE
} net_wish;

/* Takes the answer's body piece by piece. */
typedef net_wish (*net_sink)(void *arg, long status, slice bytes);

typedef struct net_request {
    const char *url;
    const char *headers[NET_HEADERS_MAX]; /* "Name: value", up to the first NULL */
    slice body;                           /* of a POST */
    long connect_ms, idle_ms, total_ms;
    net_sink sink;
    void *arg;
    void (*tick)(void *arg); /* called about every 50 ms while it runs; NULL: nothing */
    atomic_int *stop;        /* anything but 0: break off */
} net_request;

typedef struct net_answer {
    net_end end;
    long status;
    long retry_after_s; /* 0: not said */
    char error[NET_ERROR_SIZE];
} net_answer;

typedef struct net net;

/* Once, before threads start. False: libcurl can't work here. */
bool net_global_init(void);

/* A thread's connections, kept between requests. NULL: out of memory. */
net *net_new(void);
void net_free(net *n);

void net_post(net_answer *out, net *n, const net_request *request);

/* Whether libcurl can read it and it is http or https. */
bool net_is_url(const char *url);

#endif
