/*
 * transfers.h: a transfer is a running export or import. Each transfer has a thread, in which
 * blocking functions of the store run, and a bounded_pipe between the thread and the loop of its
 * client.
 */
#ifndef SERVER_TRANSFERS_H
#define SERVER_TRANSFERS_H

#include <pthread.h>
#include <sys/queue.h>
#include "server/background/bounded_pipe.h"
#include "cardbox/client.h"
#include "cardbox/limits.h"
#include "server/request/request.h"

/* --- the pool, one for each process --- */

typedef struct transfer_pool {
    server_state *server;
    pthread_mutex_t lock; /* held only briefly, because loops wait for it */
    char tenant[TRANSFERS_MOST][CARDBOX_TENANT_MAX + 1]; /* project of each slot; "": free */
    /* number of threads that have not ended. A thread frees its slot a little before it ends */
    atomic_size_t threads;
} transfer_pool;

/* Waits for the threads of transfers. To be called after all loops have ended, and before the loops
 * are freed. Returns false if a thread still runs after 2 seconds: then the process must end by
 * _exit. */
bool transfer_pool_end(transfer_pool *pool);

/* --- the transfers of one loop --- */

typedef struct transfers {
    int wake_fd; /* an eventfd in the loop's epoll set */
    LIST_HEAD(, transfer) all;
    int64_t due_ms; /* when transfers_tick checks clients and tokens next */
} transfers;

/* Calls `update` of each transfer of a loop. Aborts a transfer if its token is not valid any more,
 * and an export also if its client has left or reads too slowly. */
void transfers_tick(transfers *all, int64_t now_ms);
int64_t transfers_next_ms(const transfers *all);

/* Aborts all transfers of a loop, because the server stops. */
void transfers_abort(transfers *all);

/* --- one --- */

typedef struct transfer transfer;

/* A kind of transfer, such as the export of a session. */
typedef struct transfer_type {
    size_t size; /* size of the kind's struct, whose first member is a transfer */
    /* Runs the transfer in its thread, with t->db open. On failure the function sets t->err. */
    cardbox_status (*run)(transfer *t);
    /* Called in each transfers_tick of the loop, until the request has ended. */
    void (*update)(transfer *t);
    /* Frees the members of the kind's struct after the transfer. Called in the thread or on the
     * loop. */
    void (*clear)(transfer *t);
} transfer_type;

struct transfer {
    const transfer_type *kind;
    transfer_pool *pool;
    size_t slot; /* index in pool->tenant */
    bounded_pipe *bounded_pipe;
    char tenant[CARDBOX_TENANT_MAX + 1];
    /* Only the thread changes the next four members; the loop may read them after `over`. */
    cardbox *db;    /* the database connection of the thread, open during `run` */
    bool connected; /* `db` was opened */
    cardbox_error err;
    /* why the database is incompatible, if a check after `err` has found that; else
     * DATABASE_UNKNOWN */
    database_state cause;
    /* only the loop uses the members from here to `checked_ms` */
    transfers *owner;
    LIST_ENTRY(transfer) of_loop;
    request *request;
    bool waits;              /* the HTTP connection is suspended in the middle of a body */
    bool aborted;            /* abort_transfer was called */
    bool revoked;            /* the transfer was aborted, because its token is not valid any more */
    uint64_t moved;          /* number of bytes of the answer that the loop has sent */
    uint64_t moved_at_check; /* `moved` at the last check of the client's speed */
    int64_t wait_left_ms;    /* how long the server waits for the client: see transfer_wait_left */
    int64_t checked_ms;      /* when the speed of the client was checked last */
    /* the thread and the loop use the members from here on */
    /* begun: the loop may begin the answer. over: the transfer has ended */
    atomic_bool begun, over;
    cardbox_status status; /* valid after `over` */
    /* number of references: one of the loop, and one of the thread while it runs */
    atomic_int refs;
};

/* Creates a transfer, which becomes the plan of the request. The members of the kind's struct after
 * the transfer are zeros. On failure, answers the request with an error and returns NULL. */
transfer *transfer_new(request *r, const transfer_type *kind);

/* Starts the thread of a transfer. On failure, answers the request and returns false. */
bool transfer_start(transfer *t);

/* Returns for how long the server still waits for the client of an export; below 0: the client is
 * too slow. At first this time is `most_ms`. Waiting for the client uses it up, and 64 KiB that the
 * client reads add a second, up to `most_ms` again. So a client that reads less than 64 KiB a
 * second on average is disconnected, and one that stops reading is disconnected after `most_ms`. */
int64_t transfer_wait_left(int64_t left_ms, int64_t waited_ms, uint64_t moved, int64_t most_ms);

/* Called in the thread: lets the loop begin the answer. */
void transfer_begin_answer(transfer *t);

/* Called on the loop: resumes the HTTP connection if it is suspended in the middle of a body. */
void transfer_resume(transfer *t);

/* Answers the request of a transfer that was aborted or has failed. */
void transfer_answer_failed(transfer *t);

/* Answers the request of an import that has failed. If sending the import again may help, the error
 * message begins with the text `how_far`. */
void transfer_answer_stopped(transfer *t, const char *how_far);

/* --- a request's body, which the thread reads --- */

/* Receives the body of a request whose plan is a transfer. */
extern const request_sink INCOMING_SINK;

/* Called in the thread: reads a part of the body from `arg`, a bounded_pipe. Returns 0 at the end
 * of the body. Returns -1 and sets errno if the transfer was aborted; the line that was read last
 * may then be incomplete. */
ssize_t incoming_read(void *arg, char *to, size_t size_max);

/* Called on the loop: when an import has ended, calls `done`, or after a failure `stopped`, to
 * answer the request. If the import was aborted, transfer_answer_failed answers it. */
void incoming_update(transfer *t, void (*done)(transfer *t, request *r),
                     void (*stopped)(transfer *t));

/* --- an answer, which the thread writes --- */

/* A transfer whose thread collects an answer in chunks, which the loop sends as fast as the client
 * reads. The first member of the struct of an export. */
typedef struct outgoing {
    transfer transfer;
    buf chunk;
} outgoing;

/* Called in the thread: adds text to the answer. The first full chunk begins the answer; a failure
 * before the first chunk is answered as an error. Returns false if the transfer was aborted or
 * memory ran out. */
bool outgoing_put(outgoing *o, slice text);

/* Called in the thread: sends the last chunk, if `status` is CARDBOX_OK. Returns the status of the
 * whole answer. */
cardbox_status outgoing_end(outgoing *o, cardbox_status status);

void outgoing_clear(transfer *t);

/* Called on the loop: begins and sends the answer. `head` adds the headers of the answer; NULL: no
 * headers are added. */
void outgoing_update(transfer *t, void (*head)(outgoing *o, request *r));

#endif
