/*
 * transfers.h: running exports and imports. Each has a thread, in which blocking functions of the
 * store run, and a bounded_pipe to the loop that serves its client.
 */
#ifndef SERVER_TRANSFERS_H
#define SERVER_TRANSFERS_H

#include <pthread.h>
#include <sys/queue.h>
#include "server/background/bounded_pipe.h"
#include "cardbox/client.h"
#include "cardbox/limits.h"
#include "server/request/request.h"

/* --- of the process: how many there may be --- */

typedef struct transfer_pool {
    server_state *server;
    pthread_mutex_t lock; /* held only briefly, because loops need it too */
    char tenant[TRANSFERS_MOST][CARDBOX_TENANT_MAX + 1]; /* by slot; "": the slot is free */
    atomic_size_t threads; /* threads that run; a transfer frees its slot before its thread ends */
} transfer_pool;

/* Waits for running threads; all loops must have ended, and must not be freed yet. False: a thread
 * hangs in the database, and the process must end without it. */
bool transfer_pool_end(transfer_pool *pool);

/* --- of a loop: those whose clients it serves --- */

typedef struct transfers {
    int wake_fd; /* an eventfd that the loop waits for */
    LIST_HEAD(, transfer) all;
    int64_t due_ms; /* the next round */
} transfers;

/* Updates all transfers, and ends those whose client has left or reads too slowly, or whose token
 * is not valid any more. */
void transfers_tick(transfers *all, int64_t now_ms);
int64_t transfers_next_ms(const transfers *all);

/* Ends all: the server stops. */
void transfers_abort(transfers *all);

/* --- one --- */

typedef struct transfer transfer;

/* A kind of transfer: an export or import of something. */
typedef struct transfer_type {
    size_t size; /* bytes of its struct, which begins with a transfer */
    /* In the thread, with `db` open. Fills t->err on failure. */
    cardbox_status (*run)(transfer *t);
    /* On the loop, while there is a request: called after any change. */
    void (*update)(transfer *t);
    /* Frees the members of the kind, in the thread or on the loop. */
    void (*clear)(transfer *t);
} transfer_type;

struct transfer {
    const transfer_type *kind;
    transfer_pool *pool;
    size_t slot; /* index in the pool */
    bounded_pipe *bounded_pipe;
    char tenant[CARDBOX_TENANT_MAX + 1];
    /* the thread's */
    cardbox *db;          /* open while the kind runs, with one connection */
    bool connected;       /* it could be opened */
    cardbox_error err;    /* the loop may read it once it is over, and the next two */
    database_state cause; /* if the database did not pass the server's check after it failed; else
                             DATABASE_UNKNOWN */
    /* the loop's */
    transfers *owner;
    LIST_ENTRY(transfer) of_loop;
    request *request;
    bool waits;              /* its connection is suspended in the middle of a body */
    bool aborted;            /* the server stops, or the client was disconnected */
    bool revoked;            /* its token is revoked or expired */
    uint64_t moved;          /* bytes of a stream to the client */
    uint64_t moved_at_check; /* `moved` at the last check of the client's speed */
    bool was_waiting;        /* since then the client has waited for the server */
    int64_t check_ms;        /* when the client and its speed are checked next */
    /* used by both sides */
    atomic_bool begun, over; /* the answer may begin; the thread has ended */
    cardbox_status status;   /* once it is over */
    atomic_int refs;         /* the loop, and once it is started the thread */
};

/* A transfer for a request, which owns it as its plan. The members of the kind are zeros. NULL: the
 * request is answered. */
transfer *transfer_new(request *r, const transfer_type *kind);

/* Starts its thread. False: answered. */
bool transfer_start(transfer *t);

/* In the thread: the answer may begin. Wakes the loop. */
void transfer_begin_answer(transfer *t);

/* On the loop: resumes the request if it waits in the middle of a body. */
void transfer_resume(transfer *t);

/* Answers for a transfer that was aborted or has failed. */
void transfer_answer_failed(transfer *t);

/* Answers for an import that has failed. If it may be sent again, the message begins with
 * `how_far`. */
void transfer_answer_stopped(transfer *t, const char *how_far);

/* --- a request's body, which the thread reads --- */

/* The request's sink; its plan is the transfer. */
extern const request_sink INCOMING_SINK;

/* In the thread: reads from the bounded_pipe `arg`. 0: the end. Negative, and errno is set: the
 * client left, and the last line may be incomplete. */
ssize_t incoming_read(void *arg, char *to, size_t size_max);

/* On the loop: answers when the thread has ended: by `done`, or after a failure by `stopped`. */
void incoming_update(transfer *t, void (*done)(transfer *t, request *r),
                     void (*stopped)(transfer *t));

/* --- an answer, which the thread writes --- */

/* The thread collects chunks, and the loop sends them as fast as the client reads. The struct of
 * such a transfer begins with one. */
typedef struct outgoing {
    transfer transfer;
    buf chunk;
} outgoing;

/* In the thread. Begins the answer with the first full chunk, unless transfer_begin_answer has: an
 * earlier failure is answered as an error. False: the client does not read any more. */
bool outgoing_put(outgoing *o, slice text);

/* In the thread: sends the last chunk, if `status` is CARDBOX_OK. Returns the status of the whole
 * answer. */
cardbox_status outgoing_end(outgoing *o, cardbox_status status);

void outgoing_clear(transfer *t);

/* On the loop: begins and sends the answer. `head` adds headers. */
void outgoing_update(transfer *t, void (*head)(outgoing *o, request *r));

#endif
