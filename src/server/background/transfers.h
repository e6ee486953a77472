/*
 * transfers.h: exports and imports that are under way. Each has a thread of its own, where the
 * store's blocking functions run for as long as it takes, and a bounded_pipe to the loop that
 * serves its client. Knows neither what is transferred nor HTTP.
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

typedef struct transfer_pool transfer_pool;

/* NULL: no memory. */
transfer_pool *transfer_pool_new(server_state *server);

/* Waits for the threads that still run; all loops must have ended. False: one is stuck in the
 * database, and the process must end without it; what it writes is then written or not, as when its
 * client had left. */
bool transfer_pool_free(transfer_pool *pool);

/* --- of a loop: those whose clients it serves --- */

typedef struct transfers transfers;

/* `wake_fd` is an eventfd that the loop waits for. NULL: no memory. */
transfers *transfers_new(int wake_fd);
void transfers_free(transfers *all);

/* Does what has become possible, and ends those whose clients left or read too slowly, or whose
 * tokens are good no more. */
void transfers_tick(transfers *all, int64_t now_ms);
int64_t transfers_next_ms(const transfers *all);

/* Ends all: the server stops. */
void transfers_abort(transfers *all);

/* --- one --- */

typedef struct transfer transfer;

/* What a kind of transfer does. */
typedef struct transfer_type {
    size_t size; /* of its struct, which begins with a transfer */
    /* In the thread, with db open. Gives what it came to; fills t->err. */
    cardbox_status (*run)(transfer *t);
    /* On the loop, while there is a request: something has changed. */
    void (*look)(transfer *t);
    /* Frees what is the kind's; on either side. */
    void (*clear)(transfer *t);
} transfer_type;

struct transfer {
    const transfer_type *kind;
    transfer_pool *pool;
    size_t slot; /* of the pool */
    bounded_pipe *bounded_pipe;
    char tenant[CARDBOX_TENANT_MAX + 1];
    /* the thread's */
    cardbox *db;       /* open while the kind runs, with one connection */
    bool connected;    /* it could be opened */
    cardbox_error err; /* the loop may read it once it is over, and the next two */
    bool incompatible; /* it failed, and the database did not pass the server's check after it: */
    incompatible_cause cause;
    /* the loop's */
    transfers *owner;
    LIST_ENTRY(transfer) of_loop;
    request *request;
    bool waits;              /* its connection is suspended in the middle of a body */
    bool aborted;            /* the server stops, or the client was given up: */
    bool revoked;            /* its token is good no more */
    uint64_t moved;          /* bytes of a stream to the client */
    uint64_t moved_at_check; /* of them, when its pace was last looked at */
    bool was_waiting;        /* since then it had to wait for us */
    int64_t check_ms;        /* when it is looked at next */
    /* both sides', under the lock */
    pthread_mutex_t lock;
    int wake_fd; /* -1: the loop has let go of it */
    bool begun;  /* what the kind says by transfer_begin_answer */
    bool over;
    cardbox_status status; /* once it is over */
    int refs;              /* the loop, and once it is started the thread */
};

/* One for a request, which holds it as its plan until it ends; what is the kind's is all zeros.
 * NULL: answered. */
transfer *transfer_new(request *r, const transfer_type *kind);

/* Starts its thread. False: answered. */
bool transfer_start(transfer *t);

/* In the thread: there is something for `look`. */
void transfer_begin_answer(transfer *t);

/* How far it has come, as the loop may know it. */
typedef struct transfer_state {
    bool begun, over;
    cardbox_status status;
} transfer_state;

transfer_state transfer_state_of(transfer *t);

/* On the loop: resumes the request if it waits in the middle of a body. */
void transfer_resume(transfer *t);

/* Answers for one that was aborted, or could not begin. */
void transfer_answer_failed(transfer *t);

/* Answers for an import that has failed. Where it may be sent again as it is, it is said `how_far`
 * it came. */
void transfer_answer_stopped(transfer *t, const char *how_far);

#endif
