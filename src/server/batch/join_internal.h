/*
 * join_internal.h: what join.c (requests come and wait), join_turns.c (whose turn it is) and
 * join_batch.c (statements go and answers come) share. Nobody else includes it.
 */
#ifndef SERVER_JOIN_INTERNAL_H
#define SERVER_JOIN_INTERNAL_H

#include "cardbox/limits.h"
#include "server/batch/db_conns.h"
#include "server/response/fault.h"

/* How the requests of a lane go to the database. */
typedef struct lane_kind {
    db_group group; /* Lists have one of their own, and not all but one of the reads: there they
                     * would leave a single connection to cards and none to boxes. */
    bool writes;
    bool may_be_slow; /* never on the last free connection of its group */
    bool in_turn; /* who has none of its group running goes first, and the last free connection of
                   * it is kept for such a tenant */
    int place_column; /* of its rows, which say of no key but where they lie; what is not found so
                       * is looked for again, by key. 0: its rows say of which key they are */
    join_lane twin;   /* the same of the other group, for DB_READS and DB_REPLICA */
    statement_id statement; /* joined; and the next three: */
    size_t key_size;        /* 0: not joined */
    /* wary: what others have locked is passed over. */
    void (*build)(params *p, const void *keys, size_t count, bool wary);
    size_t (*weigh)(const void *keys, size_t count); /* of a write: KiB, for no ticket says it */
    /* NULL: it can't be wary. Its requests have one key each. */
    bool (*passed_over)(const store_rows *rows, int row);
} lane_kind;

extern const lane_kind LANES[JOIN_LANES];

/* Requests that wait for one kind of statement. Those that stand apart have a list of their own, in
 * which tenants take turns: nobody else stands behind them. */
typedef struct lane {
    join_lane which;
    bool apart;
    request *first, *last;
} lane;

enum {
    LANE_LISTS = 2 * JOIN_LANES,
    TURNS_MAX = 64 /* tenants in trouble that are remembered */
};

/* A tenant in trouble, or with a turn just now. */
typedef struct turn {
    view tenant;                 /* the name below */
    size_t running[DB_GROUPS];   /* statements */
    int64_t until_ms[DB_GROUPS]; /* until when all its requests stand apart */
    bool waited;                 /* its last turn was that of a patient one */
    char name[CARDBOX_TENANT_MAX];
} turn;

struct joiner {
    server_state *server;
    stats *stats;
    db_conns *primary;
    db_conns *replica;   /* NULL: none */
    uint64_t replayed;   /* up to where a standby had the log when it was asked last, */
    int64_t replayed_ms; /* and when that was */
    lane lanes[LANE_LISTS];
    int turn[DB_GROUPS];             /* which list is first to get a free connection */
    size_t turns_running[DB_GROUPS]; /* connections that those apart have */
    turn turns[TURNS_MAX];
    size_t turns_used;
    int64_t wary_ms[JOIN_LANES]; /* until when statements do not wait for locks */
    request *oldest, *newest;    /* all that wait or run, by arrival and so by deadline */
    size_t waiting;
    int64_t look_again_ms; /* for a connection to become worth using */
    buf scratch;           /* for keys on their way out and row numbers on their way in */
};

enum { SCRATCH_KEEP = 64 * 1024 }; /* bytes kept between statements */

static inline db_conns *join_conns(const joiner *j, db_group group)
{
    return group == DB_REPLICA ? j->replica : j->primary;
}

/* --- join.c --- */

/* A request in no lane, which a standby was to answer, is now for the primary. */
void join_to_primary(joiner *j, request *r);

/* Puts a request behind all others of its list; or before them: it has waited once already. */
void lane_push(joiner *j, request *r);
void lane_push_front(joiner *j, request *r);
void lane_remove(joiner *j, request *r);

/* Takes a request out of the joiner, wherever it is. It must be answered next. */
void join_let_go(joiner *j, request *r);

/* 503: the database is away, or can't be used. */
void join_answer_away(request *r);

/* Lets go of a request and answers that its time is over (FAULT_TIMEOUT) or that it can't be waited
 * for; with what to do about a write that has been sent, and so may have been done. */
void join_give_up(joiner *j, request *r, fault what, const char *why);

/* --- join_turns.c --- */

/* Whether all requests of a tenant stand apart, in the lanes of a group. */
bool turn_is_troubled(joiner *j, db_group group, view tenant);

/* A statement for this tenant alone waited for a lock in vain, or gave more than there was memory
 * for: for a while all its requests stand apart. */
void turn_trouble(joiner *j, db_group group, view tenant);

/* Whose turn it is in a list apart, or of a lane that goes in turn, where none waits for a lock.
 * NULL: nobody's, as those who wait have theirs just now. */
request *turn_next(joiner *j, const lane *l);
request *turn_of_others(joiner *j, const lane *l, bool is_last);

/* `of` is what turn_begin gave; it may be NULL. */
turn *turn_begin(joiner *j, db_group group, const request *first);
void turn_end(joiner *j, join_lane which, bool apart, turn *of);

/* --- join_rows.c --- */

/* A key that waits for whatever lies at its place, and its number in the statement. */
typedef struct placed_key {
    uint64_t place;
    const card_key *key;
    size_t number;
} placed_key;

/* Rows that say of which key they are (column 0, from 1), sorted in linear time. False: no memory,
 * and then the buffer has failed, or one is of none. */
bool rows_by_number(buf *scratch, const store_rows *rows, size_t keys, join_rows *out);

/* All rows are of the one key, in order. False: no memory. */
bool rows_in_order(buf *scratch, const store_rows *rows, join_rows *out);

/* Rows that say where they lie, in a column (cards_placed, cards_versions). A row is only given to
 * who asked for its tenant and its id; one that is not what was thought is nobody's. First the room
 * for so many keys, of a statement of so many, to be filled in; NULL: no memory. */
placed_key *placed_keys(buf *scratch, size_t keys);
void rows_by_place(placed_key *list, size_t count, const store_rows *rows, int place_column,
                   size_t keys, join_rows *out);

/* --- join_aside.c --- */

/* Renders a request that has left the joiner, here or, if it would take long, in a thread. */
void join_render_rows(join_batch *batch, request *r, const join_rows *mine);

/* --- join_batch.c --- */

/* Sends one statement for a request that waits, and for those of its list that may go with it:
 * those behind it, or, apart, its tenant's. */
void batch_send(joiner *j, request *first, db_conn *to);

/* Its rows are needed by one more; by one fewer. */
void batch_hold(join_batch *batch);
void batch_let_go(join_batch *batch);

/* A member is answered already. */
void batch_forget(join_batch *batch, size_t slot);

/* Answers the members of a statement that has come back already, though what was sent behind it has
 * not. False: it has not come back. */
bool batch_answer_early(join_batch *batch);

#endif
